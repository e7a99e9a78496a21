/* The rows of a PostgreSQL query: COPY (query) TO STDOUT as CSV, fed to the CSV reader. Nothing
 * here blocks for long: while the server makes us wait, the caller's hooks are asked. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/memory.h"
#include "base/pq.h"
#include "base/status.h"
#include "import/rows.h"

enum { WAIT_MILLISECONDS = 100 };

typedef struct postgres {
    pr_bytes base;
    PGconn *connection;
    const parsrec_hooks *hooks;
    char *piece; /* of libpq, PQfreemem */
    size_t piece_size, piece_used;
    uint64_t done;
    bool ended;
} postgres;

static void postgres_close(pr_bytes *base)
{
    postgres *self = (postgres *)base;
    if (self->piece != NULL)
        pr_pq.freemem(self->piece);
    pr_pq.finish(self->connection);
}

/* The first line of what libpq says: never the connection string, which may hold a password. */
static parsrec_status fail(const postgres *self, parsrec_status status, const char *what,
                           const char *why, parsrec_error *err)
{
    size_t length = why != NULL ? strcspn(why, "\n") : 0;
    if (length == 0)
        return pr_fail(err, status, "%s: %s", self->base.name, what);
    return pr_fail(err, status, "%s: %s: %.*s", self->base.name, what, (int)length, why);
}

static parsrec_status cancel(postgres *self, parsrec_status status)
{
    char ignored[256];
    PGcancel *request = pr_pq.getCancel(self->connection);
    if (request != NULL)
        (void)pr_pq.cancel(request, ignored, sizeof ignored);
    pr_pq.freeCancel(request);
    return status;
}

/* Waits until the socket is ready; the caller may stop us meanwhile. */
static parsrec_status wait_for(postgres *self, short events, parsrec_error *err)
{
    for (;;) {
        parsrec_status status =
            pr_progress(self->hooks, "waiting for the database", "bytes", self->done, 0, err);
        if (status != PARSREC_OK)
            return cancel(self, status);
        struct pollfd p = {.fd = pr_pq.socket(self->connection), .events = events};
        if (p.fd < 0 || poll(&p, 1, WAIT_MILLISECONDS) > 0)
            return PARSREC_OK;
    }
}

/* ---- connecting ---- */

/* "postgresql://host/database": what may be shown of an address. */
static char *shown_name(const char *input)
{
    if (pr_address_is_doubtful(input)) /* a host may be the end of the password */
        return pr_copy_string("postgresql://", strlen("postgresql://"));
    const char *host = NULL, *database = NULL;
    PQconninfoOption *all = pr_pq.conninfoParse(input, NULL), *o = all;
    for (; o != NULL && o->keyword != NULL; o++) {
        if (o->val != NULL && strcmp(o->keyword, "host") == 0)
            host = o->val;
        if (o->val != NULL && strcmp(o->keyword, "dbname") == 0)
            database = o->val;
    }
    char text[256];
    snprintf(text, sizeof text, "postgresql://%s/%s", host != NULL && *host != '/' ? host : "",
             database != NULL ? database : "");
    pr_pq.conninfoFree(all);
    return pr_copy_string(text, strlen(text));
}

static parsrec_status connect_to(postgres *self, const char *input, parsrec_error *err)
{
    /* libpq quotes an address it cannot read, password and all: so its words are left out. */
    PQconninfoOption *parsed = pr_pq.conninfoParse(input, NULL);
    if (parsed == NULL)
        return fail(self, PARSREC_E_ARGUMENT,
                    "the address is not of the form postgresql://user@host:port/database", NULL,
                    err);
    pr_pq.conninfoFree(parsed);
    if (pr_address_is_doubtful(input))
        return fail(self, PARSREC_E_ARGUMENT,
                    "write @ and / of a user or password as %40 and %2F in the address", NULL, err);
    const char *const keys[] = {"dbname", "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {input, "UTF8", "parsrec", NULL};
    self->connection = pr_pq.connectStartParams(keys, values, 1);
    if (self->connection == NULL)
        return pr_fail_memory(err);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED || pr_pq.status(self->connection) == CONNECTION_BAD)
            return fail(self, PARSREC_E_IO, "cannot connect", pr_pq.errorMessage(self->connection),
                        err);
        PR_TRY(wait_for(self, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, err));
        state = pr_pq.connectPoll(self->connection);
    }
    return PARSREC_OK;
}

/* ---- the query ---- */

/* "schema"."table" or "table", quoted; NULL when out of memory. */
static char *quoted_table(PGconn *connection, const char *table)
{
    const char *dot = strchr(table, '.'), *last = dot != NULL ? dot + 1 : table;
    size_t schema_size = dot != NULL ? (size_t)(dot - table) : 0;
    char *name = pr_pq.escapeIdentifier(connection, last, strlen(last));
    char *schema = pr_pq.escapeIdentifier(connection, table, schema_size);
    size_t room = strlen(table) * 2 + sizeof "\"\".\"\""; /* every quote may be doubled */
    char *quoted = name != NULL && schema != NULL ? pr_alloc(room, 1) : NULL;
    if (quoted != NULL && dot != NULL)
        snprintf(quoted, room, "%s.%s", schema, name);
    else if (quoted != NULL)
        snprintf(quoted, room, "%s", name);
    pr_pq.freemem(name);
    pr_pq.freemem(schema);
    return quoted;
}

/* COPY (what) TO STDOUT; `what` without the semicolon it may end in. NULL when out of memory. */
static char *copy_command(const char *select, const char *what)
{
    static const char format[] = "COPY (%s%.*s) TO STDOUT WITH (FORMAT csv, HEADER)";
    size_t length = strlen(what);
    while (length > 0 && strchr(" \t\r\n;", what[length - 1]) != NULL)
        length--;
    size_t room = sizeof format + strlen(select) + length;
    char *command = pr_alloc(room, 1);
    if (command != NULL)
        snprintf(command, room, format, select, (int)length, what);
    return command;
}

/* The COPY for the caller's query or table. */
static char *make_command(PGconn *connection, const pr_rows_options *options)
{
    if (options->query != NULL)
        return copy_command("", options->query);
    char *table = quoted_table(connection, options->table);
    char *command = table != NULL ? copy_command("SELECT * FROM ", table) : NULL;
    pr_free(table);
    return command;
}

/* Waits for the next result of the connection. */
static parsrec_status get_result(postgres *self, PGresult **result, parsrec_error *err)
{
    for (;;) {
        int flushed = pr_pq.flush(self->connection);
        if (flushed < 0 || pr_pq.consumeInput(self->connection) == 0)
            return fail(self, PARSREC_E_IO, "the connection failed",
                        pr_pq.errorMessage(self->connection), err);
        if (flushed == 0 && pr_pq.isBusy(self->connection) == 0)
            break;
        PR_TRY(wait_for(self, flushed > 0 ? POLLIN | POLLOUT : POLLIN, err));
    }
    *result = pr_pq.getResult(self->connection);
    return PARSREC_OK;
}

/* Sends a command whose result must have that status, and reads it. */
static parsrec_status run(postgres *self, const char *command, ExecStatusType expected,
                          parsrec_error *err)
{
    PGresult *result;
    if (pr_pq.sendQuery(self->connection, command) == 0)
        return fail(self, PARSREC_E_IO, "the query cannot be sent",
                    pr_pq.errorMessage(self->connection), err);
    PR_TRY(get_result(self, &result, err));
    parsrec_status status = PARSREC_OK;
    if (pr_pq.resultStatus(result) != expected)
        status = fail(self, PARSREC_E_ARGUMENT, "the query fails", pr_pq.resultErrorMessage(result),
                      err);
    pr_pq.clear(result);
    while (status == PARSREC_OK && expected != PGRES_COPY_OUT) {
        PR_TRY(get_result(self, &result, err));
        if (result == NULL)
            break;
        pr_pq.clear(result);
    }
    return status;
}

static parsrec_status start(postgres *self, const char *input, const pr_rows_options *options,
                            parsrec_error *err)
{
    if ((options->table == NULL) == (options->query == NULL))
        return fail(self, PARSREC_E_ARGUMENT, "name a table with --table or give --query", NULL,
                    err);
    PR_TRY(connect_to(self, input, err));
    if (pr_pq.setnonblocking(self->connection, 1) != 0)
        return pr_fail_memory(err);
    PR_TRY(run(self, "BEGIN TRANSACTION READ ONLY", PGRES_COMMAND_OK, err));
    char *command = make_command(self->connection, options);
    if (command == NULL)
        return pr_fail_memory(err);
    parsrec_status status = run(self, command, PGRES_COPY_OUT, err);
    pr_free(command);
    return status;
}

/* ---- bytes ---- */

/* After the last piece: did the query end well? */
static parsrec_status finish(postgres *self, parsrec_error *err)
{
    PGresult *result;
    PR_TRY(get_result(self, &result, err));
    parsrec_status status = PARSREC_OK;
    if (pr_pq.resultStatus(result) != PGRES_COMMAND_OK)
        status = fail(self, PARSREC_E_IO, "the query failed midway",
                      pr_pq.resultErrorMessage(result), err);
    pr_pq.clear(result);
    self->ended = true;
    return status;
}

static parsrec_status next_piece(postgres *self, parsrec_error *err)
{
    if (self->piece != NULL)
        pr_pq.freemem(self->piece);
    self->piece = NULL;
    self->piece_used = self->piece_size = 0;
    for (;;) {
        int n = pr_pq.getCopyData(self->connection, &self->piece, 1);
        if (n > 0) {
            self->piece_size = (size_t)n;
            return PARSREC_OK;
        }
        if (n < 0)
            return finish(self, err); /* the end, or a failure that its result explains */
        PR_TRY(wait_for(self, POLLIN, err));
        if (pr_pq.consumeInput(self->connection) == 0)
            return fail(self, PARSREC_E_IO, "the connection failed",
                        pr_pq.errorMessage(self->connection), err);
    }
}

static parsrec_status postgres_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                    parsrec_error *err)
{
    postgres *self = (postgres *)base;
    if (self->piece_used == self->piece_size && !self->ended)
        PR_TRY(next_piece(self, err));
    size_t held = self->piece_size - self->piece_used;
    *got = held < size ? held : size;
    if (*got > 0)
        memcpy(buffer, self->piece + self->piece_used, *got);
    self->piece_used += *got;
    self->done += *got;
    return PARSREC_OK;
}

static void postgres_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    *done = ((const postgres *)base)->done;
    *total = 0;
}

parsrec_status pr_postgres_open(pr_rows **out, const char *input, const pr_rows_options *options,
                                parsrec_error *err)
{
    *out = NULL;
    PR_TRY(pr_pq_load(err));
    char *name = shown_name(input);
    postgres *self = name != NULL ? pr_bytes_new(sizeof *self, name, NULL) : NULL;
    pr_free(name);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = postgres_read;
    self->base.position = postgres_position;
    self->base.close = postgres_close;
    self->hooks = options->hooks;
    parsrec_status status = start(self, input, options, err);
    if (status != PARSREC_OK) {
        pr_bytes_free(&self->base);
        return status;
    }
    pr_csv_options csv = {.delimiter = ',', .database = true};
    return pr_csv_open(out, &self->base, &csv, err);
}
