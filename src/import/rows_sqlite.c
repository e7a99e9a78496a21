/* A table or query of an SQLite file as rows, opened for reading only. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "import/rows.h"

typedef struct sqlite {
    pr_rows base;
    sqlite3 *db;
    sqlite3_stmt *statement;
    const parsrec_hooks *hooks;
    uint64_t row;
    pr_slice *columns, *fields;
} sqlite;

static void sqlite_release(pr_rows *base)
{
    sqlite *self = (sqlite *)base;
    sqlite3_finalize(self->statement);
    sqlite3_close(self->db);
    pr_free(self->columns);
    pr_free(self->fields);
    pr_free(self);
}

static parsrec_status fail(const sqlite *self, const char *what, parsrec_error *err)
{
    int code = sqlite3_errcode(self->db);
    if (code == SQLITE_NOMEM)
        return pr_fail_memory(err);
    if (code == SQLITE_INTERRUPT)
        return pr_fail(err, PARSREC_E_STOPPED, "stopped while reading %s", self->base.name);
    parsrec_status status = code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? PARSREC_E_FORMAT
                            : code == SQLITE_ERROR                          ? PARSREC_E_ARGUMENT
                                                                            : PARSREC_E_IO;
    return pr_fail(err, status, "%s: %s: %s", self->base.name, what, sqlite3_errmsg(self->db));
}

/* A query may work long before its first row. */
static int on_work(void *context)
{
    const sqlite *self = context;
    return pr_progress(self->hooks, "running the query", "rows", self->row, 0, NULL) != PARSREC_OK;
}

/* Opens by URI with the path escaped. `immutable` reads a database whose folder we may not write,
 * where the journal files of a reader cannot be made. */
static parsrec_status open_file(sqlite *self, const char *path, bool immutable, parsrec_error *err)
{
    size_t room = strlen(path) * 3 + 64, used = 0;
    char *uri = pr_alloc(room, 1);
    if (uri == NULL)
        return pr_fail_memory(err);
    used += (size_t)snprintf(uri, room, "file:");
    for (const char *c = path; *c != '\0'; c++)
        used +=
            (size_t)snprintf(uri + used, room - used, strchr("%?#", *c) != NULL ? "%%%02X" : "%c",
                             (unsigned)(unsigned char)*c);
    snprintf(uri + used, room - used, "?mode=ro%s", immutable ? "&immutable=1" : "");
    sqlite3_close(self->db);
    self->db = NULL;
    int rc = sqlite3_open_v2(uri, &self->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    pr_free(uri);
    if (self->db == NULL)
        return pr_fail_memory(err);
    /* The file may come from anywhere: its views call only functions without side effects. */
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(self->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(self->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    if (rc != SQLITE_OK && !immutable && (rc & 0xFF) == SQLITE_CANTOPEN)
        return open_file(self, path, true, err);
    if (rc != SQLITE_OK)
        return fail(self, "cannot be opened", err);
    sqlite3_progress_handler(self->db, 1000000, on_work, self);
    return PARSREC_OK;
}

/* "the tables are a, b": for the message about a table that is not there. */
static void list_tables(sqlite *self, char *list, size_t size)
{
    sqlite3_stmt *tables = NULL;
    size_t used = 0;
    list[0] = '\0';
    sqlite3_prepare_v2(self->db,
                       "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name "
                       "NOT LIKE 'sqlite_%' ORDER BY name",
                       -1, &tables, NULL);
    while (tables != NULL && sqlite3_step(tables) == SQLITE_ROW && used + 1 < size) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        int n = snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "",
                         name != NULL ? name : "");
        used += n > 0 ? (size_t)n : 0;
    }
    sqlite3_finalize(tables);
    if (used == 0)
        snprintf(list, size, "no table");
}

/* SELECT * FROM "table", after a look whether it is there. */
static parsrec_status table_query(sqlite *self, const char *table, char **query, parsrec_error *err)
{
    sqlite3_stmt *look = NULL;
    int rc = sqlite3_prepare_v2(self->db,
                                "SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND "
                                "lower(name) = lower(?)",
                                -1, &look, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(look, 1, table, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(look);
    sqlite3_finalize(look);
    if (rc == SQLITE_DONE) {
        char list[256];
        list_tables(self, list, sizeof list);
        return pr_fail(err, PARSREC_E_NOT_FOUND, "%s: there is no table '%s', only %s",
                       self->base.name, table, list);
    }
    if (rc != SQLITE_ROW)
        return fail(self, "cannot be read", err);
    *query = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
    return *query != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status prepare(sqlite *self, const char *query, parsrec_error *err)
{
    const char *rest;
    if (sqlite3_prepare_v2(self->db, query, -1, &self->statement, &rest) != SQLITE_OK)
        return fail(self, "the query fails", err);
    size_t blank = strspn(rest, " \t\r\n;");
    if (self->statement == NULL || sqlite3_column_count(self->statement) == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: the query gives no columns; use SELECT",
                       self->base.name);
    if (rest[blank] != '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: more than one statement; give one SELECT",
                       self->base.name);
    size_t count = (size_t)sqlite3_column_count(self->statement);
    self->columns = pr_alloc(count, sizeof *self->columns);
    self->fields = pr_alloc(count, sizeof *self->fields);
    if (self->columns == NULL || self->fields == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(self->statement, (int)i);
        self->columns[i] = pr_slice_of(name != NULL ? name : "");
    }
    self->base.columns = self->columns;
    self->base.column_count = count;
    return PARSREC_OK;
}

static parsrec_status start(sqlite *self, const char *input, const pr_rows_options *options,
                            parsrec_error *err)
{
    if ((options->table == NULL) == (options->query == NULL))
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: name a table with --table or give --query",
                       input);
    PR_TRY(open_file(self, input + strlen("sqlite:"), false, err));
    if (options->query != NULL)
        return prepare(self, options->query, err);
    char *query = NULL;
    PR_TRY(table_query(self, options->table, &query, err));
    parsrec_status status = prepare(self, query, err);
    sqlite3_free(query);
    return status;
}

static parsrec_status check_field(const sqlite *self, size_t i, parsrec_error *err)
{
    size_t at;
    if (self->fields[i].size == 0)
        return PARSREC_OK;
    if (memchr(self->fields[i].bytes, '\0', self->fields[i].size) != NULL)
        return pr_rows_fail(&self->base, self->row, i, err, "a NUL byte; is this a text?");
    if (!pr_utf8_valid(self->fields[i].bytes, self->fields[i].size, &at))
        return pr_rows_fail(&self->base, self->row, i, err, "the text is not UTF-8");
    return PARSREC_OK;
}

static parsrec_status sqlite_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    sqlite *self = (sqlite *)base;
    int rc = sqlite3_step(self->statement);
    *end = rc == SQLITE_DONE;
    if (*end)
        return PARSREC_OK;
    if (rc != SQLITE_ROW)
        return fail(self, "reading failed", err);
    self->row++;
    for (size_t i = 0; i < base->column_count; i++) {
        const char *text = (const char *)sqlite3_column_text(self->statement, (int)i);
        if (text == NULL && sqlite3_column_type(self->statement, (int)i) != SQLITE_NULL &&
            sqlite3_errcode(self->db) == SQLITE_NOMEM)
            return pr_fail_memory(err);
        self->fields[i] = (pr_slice){text != NULL ? text : "",
                                     (size_t)sqlite3_column_bytes(self->statement, (int)i)};
        if (text == NULL)
            self->fields[i].size = 0;
    }
    for (size_t i = 0; i < base->column_count; i++)
        PR_TRY(check_field(self, i, err));
    *row = (pr_row){self->fields, base->column_count, self->row, 0};
    return PARSREC_OK;
}

static void sqlite_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    *done = ((const sqlite *)base)->row;
    *total = 0;
}

parsrec_status pr_sqlite_open(pr_rows **out, const char *input, const pr_rows_options *options,
                              parsrec_error *err)
{
    *out = NULL;
    sqlite *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->hooks = options->hooks;
    self->base = (pr_rows){
        .name = input, .next = sqlite_next, .position = sqlite_position, .free = sqlite_release};
    parsrec_status status = start(self, input, options, err);
    if (status != PARSREC_OK)
        sqlite_release(&self->base);
    else
        *out = &self->base;
    return status;
}
