/* The store in a file of SQLite: a write-ahead log that is synced with every commit, one connection that
 * writes and one that reads beside it. */
#include <sqlite3.h>
#include <string.h>

#include "base/memory.h"
#include "serve/store_inside.h"

enum { SCHEMA = 1, BUSY_MILLISECONDS = 10000 };

typedef struct sqlite {
    char *path;
    sqlite3 *writer, *reader;
    sqlite3_stmt *insert, *remove, *select;
} sqlite;

/* ---- calling SQLite ---- */

static parsrec_status fail(const sqlite *self, sqlite3 *connection, const char *what,
                           parsrec_error *err)
{
    int code = sqlite3_errcode(connection) & 0xff;
    const char *why = sqlite3_errmsg(connection);
    if (code == SQLITE_NOMEM)
        return pr_fail_memory(err);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s: %s", self->path, what, why);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return pr_fail(err, PARSREC_E_IO, "%s: %s: another program holds it; try again", self->path,
                       what);
    return pr_fail(err, PARSREC_E_IO, "%s: %s: %s", self->path, what, why);
}

static parsrec_status run(const sqlite *self, sqlite3 *connection, const char *sql,
                          const char *what, parsrec_error *err)
{
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK)
        return PARSREC_OK;
    return fail(self, connection, what, err);
}

static parsrec_status prepare(const sqlite *self, sqlite3 *connection, sqlite3_stmt **out,
                              const char *sql, parsrec_error *err)
{
    if (sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK)
        return PARSREC_OK;
    return fail(self, connection, "cannot use it as a store", err);
}

/* The one number a statement gives. */
static parsrec_status ask_number(const sqlite *self, const char *sql, int *number,
                                 parsrec_error *err)
{
    sqlite3_stmt *statement = NULL;
    PR_TRY(prepare(self, self->writer, &statement, sql, err));
    parsrec_status status = PARSREC_OK;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *number = sqlite3_column_int(statement, 0);
    else
        status = fail(self, self->writer, "cannot use it as a store", err);
    sqlite3_finalize(statement);
    return status;
}

/* ---- opening ---- */

static const char create[] =
    "CREATE TABLE parsrec_events ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT," /* never used again, also after a removal */
    "  origin INTEGER NOT NULL,"
    "  user_key TEXT NOT NULL,"
    "  session TEXT,"
    "  time INTEGER,"
    "  items TEXT);" /* NULL: the user is forgotten */
    "CREATE INDEX parsrec_events_user ON parsrec_events (user_key);"
    "PRAGMA user_version = 1;";

static parsrec_status connect_to(const sqlite *self, sqlite3 **out, int flags, parsrec_error *err)
{
    int code = sqlite3_open_v2(self->path, out, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (*out == NULL)
        return pr_fail_memory(err);
    sqlite3_busy_timeout(*out, BUSY_MILLISECONDS);
    return code == SQLITE_OK ? PARSREC_OK : fail(self, *out, "cannot open the store", err);
}

static parsrec_status make_tables(const sqlite *self, parsrec_error *err)
{
    int version = 0;
    PR_TRY(run(self, self->writer, "BEGIN IMMEDIATE", "cannot write to the store", err));
    parsrec_status status = ask_number(self, "PRAGMA user_version", &version, err);
    if (status == PARSREC_OK && version > SCHEMA)
        status = pr_fail(err, PARSREC_E_VERSION,
                         "%s: the store has version %d, this parsrec knows up to %d", self->path,
                         version, SCHEMA);
    if (status == PARSREC_OK && version == 0)
        status = run(self, self->writer, create, "cannot make the store", err);
    if (status == PARSREC_OK)
        return run(self, self->writer, "COMMIT", "cannot make the store", err);
    sqlite3_exec(self->writer, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static parsrec_status connect_both(sqlite *self, parsrec_error *err)
{
    static const char settings[] =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA secure_delete = ON"; /* what is forgotten is overwritten */
    PR_TRY(connect_to(self, &self->writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err));
    PR_TRY(run(self, self->writer, settings, "cannot use it as a store", err));
    PR_TRY(make_tables(self, err));
    PR_TRY(prepare(self, self->writer, &self->insert,
                   "INSERT INTO parsrec_events (origin, user_key, session, time, items)"
                   " VALUES (?, ?, ?, ?, ?)",
                   err));
    PR_TRY(prepare(self, self->writer, &self->remove,
                   "DELETE FROM parsrec_events WHERE user_key = ?", err));
    PR_TRY(connect_to(self, &self->reader, SQLITE_OPEN_READWRITE, err));
    return prepare(self, self->reader, &self->select,
                   "SELECT id, origin, user_key, session, time, items FROM parsrec_events"
                   " WHERE id > ? ORDER BY id",
                   err);
}

static void close_store(void *own)
{
    sqlite *self = own;
    sqlite3_finalize(self->insert);
    sqlite3_finalize(self->remove);
    sqlite3_finalize(self->select);
    sqlite3_close(self->reader);
    sqlite3_close(self->writer);
    pr_free(self->path);
    pr_free(self);
}

static parsrec_status open_store(void **own, const char *url, parsrec_error *err)
{
    const char *path = url + strlen(store_sqlite.prefix);
    if (path[0] == '\0' || path[0] == ':')
        return pr_fail(err, PARSREC_E_ARGUMENT, "sqlite: needs the name of a file, sqlite:FILE");
    sqlite *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->path = pr_copy_string(path, strlen(path));
    parsrec_status status = self->path == NULL ? pr_fail_memory(err) : connect_both(self, err);
    if (status == PARSREC_OK)
        *own = self;
    else
        close_store(self);
    return status;
}

/* ---- writing ---- */

static parsrec_status insert_row(sqlite *self, const store_row *row, int64_t origin,
                                 parsrec_error *err)
{
    sqlite3_stmt *s = self->insert;
    sqlite3_bind_int64(s, 1, origin);
    sqlite3_bind_text(s, 2, row->user, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, row->session, -1, SQLITE_STATIC); /* NULL pointers are NULLs */
    if (row->time == STORE_NO_TIME)
        sqlite3_bind_null(s, 4);
    else
        sqlite3_bind_int64(s, 4, row->time);
    sqlite3_bind_text(s, 5, row->items, -1, SQLITE_STATIC);
    parsrec_status status = PARSREC_OK;
    if (sqlite3_step(s) != SQLITE_DONE)
        status = fail(self, self->writer, "cannot write to the store", err);
    sqlite3_reset(s);
    return status;
}

static parsrec_status insert_rows(sqlite *self, const store_batch *batch, parsrec_error *err)
{
    for (size_t i = 0; i < batch->count; i++)
        PR_TRY(insert_row(self, batch->rows[i], batch->origin, err));
    return PARSREC_OK;
}

static parsrec_status remove_rows(sqlite *self, const store_batch *batch, parsrec_error *err)
{
    sqlite3_bind_text(self->remove, 1, batch->rows[0]->user, -1, SQLITE_STATIC);
    parsrec_status status = PARSREC_OK;
    if (sqlite3_step(self->remove) != SQLITE_DONE)
        status = fail(self, self->writer, "cannot forget a user", err);
    sqlite3_reset(self->remove);
    return status == PARSREC_OK ? insert_rows(self, batch, err) : status;
}

typedef parsrec_status change(sqlite *self, const store_batch *batch, parsrec_error *err);

static parsrec_status commit(sqlite *self, change *what, const store_batch *batch,
                             parsrec_error *err)
{
    PR_TRY(run(self, self->writer, "BEGIN IMMEDIATE", "cannot write to the store", err));
    parsrec_status status = what(self, batch, err);
    if (status == PARSREC_OK)
        status = run(self, self->writer, "COMMIT", "cannot write to the store", err);
    if (status != PARSREC_OK)
        sqlite3_exec(self->writer, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static parsrec_status append(void *own, const store_batch *batch, parsrec_error *err)
{
    return commit(own, insert_rows, batch, err);
}

static parsrec_status forget(void *own, const store_batch *batch, parsrec_error *err)
{
    sqlite *self = own;
    PR_TRY(commit(self, remove_rows, batch, err));
    /* The log still holds the rows; they leave it now, or else when it is next written back. */
    sqlite3_exec(self->writer, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    return PARSREC_OK;
}

/* ---- reading ---- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

static parsrec_status take_row(sqlite3_stmt *s, store_take *take, void *context, parsrec_error *err)
{
    bool timed = sqlite3_column_type(s, 4) != SQLITE_NULL;
    bool forgets = sqlite3_column_type(s, 5) == SQLITE_NULL;
    store_row row = {.user = text_at(s, 2),
                     .session = text_at(s, 3),
                     .items = text_at(s, 5),
                     .time = timed ? sqlite3_column_int64(s, 4) : STORE_NO_TIME};
    if (row.user == NULL || (row.items == NULL && !forgets))
        return pr_fail_memory(err); /* text could not be read */
    return take(context, (uint64_t)sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1), &row,
                err);
}

static parsrec_status read_rows(void *own, uint64_t after, store_take *take, void *context,
                                parsrec_error *err)
{
    sqlite *self = own;
    parsrec_status status = PARSREC_OK;
    int code;
    sqlite3_bind_int64(self->select, 1, (sqlite3_int64)after);
    while ((code = sqlite3_step(self->select)) == SQLITE_ROW && status == PARSREC_OK)
        status = take_row(self->select, take, context, err);
    if (status == PARSREC_OK && code != SQLITE_DONE)
        status = fail(self, self->reader, "cannot read the store", err);
    sqlite3_reset(self->select);
    return status;
}

static parsrec_status check(void *own, parsrec_error *err)
{
    sqlite *self = own;
    return run(self, self->reader, "SELECT 1 FROM parsrec_events LIMIT 1", "cannot read the store",
               err);
}

const store_backend store_sqlite = {
    .prefix = "sqlite:",
    .open = open_store,
    .close = close_store,
    .append = append,
    .forget = forget,
    .read = read_rows,
    .check = check,
};
