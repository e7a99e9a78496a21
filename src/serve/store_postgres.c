/* The store in a PostgreSQL database, which several servers may share. Writers take turns by a lock of the
 * database, so that numbers become visible in their order and whoever follows them misses none. A batch that
 * is sent again after a broken connection is stored once. */
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "serve/store_inside.h"

#define TURN \
    "pg_advisory_xact_lock(7021249510338126690)" /* "parsreb", a number nobody else takes */
#define A_PAGE "4096"

typedef struct postgres {
    PGconn *writer, *reader;
} postgres;

/* ---- calling the database ---- */

/* The first line of what libpq says: never the address, which may hold a password. */
static parsrec_status fail(PGconn *connection, const PGresult *result, const char *what,
                           parsrec_error *err)
{
    const char *why = result != NULL ? PQresultErrorMessage(result) : "";
    if (why[0] == '\0')
        why = PQerrorMessage(connection);
    return pr_fail(err, PARSREC_E_IO, "postgresql: %s: %.*s", what, (int)strcspn(why, "\n"), why);
}

static parsrec_status command(PGconn *connection, const char *sql, const char *what,
                              parsrec_error *err)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType code = PQresultStatus(result);
    parsrec_status status = code == PGRES_TUPLES_OK || code == PGRES_COMMAND_OK
                                ? PARSREC_OK
                                : fail(connection, result, what, err);
    PQclear(result);
    return status;
}

static void say_nothing(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* What every connection begins with. A database that answers before a commit is on disk is asked not to. */
static const char settings[] = "SET statement_timeout = '30s'; SET client_min_messages = warning;"
                               "SELECT set_config('synchronous_commit', 'on', false)"
                               " WHERE current_setting('synchronous_commit') = 'off'";

static parsrec_status set_up(PGconn *connection, parsrec_error *err)
{
    if (PQstatus(connection) != CONNECTION_OK)
        return fail(connection, NULL, "cannot connect", err);
    return command(connection, settings, "cannot use the store", err);
}

static parsrec_status reconnect(PGconn *connection, parsrec_error *err)
{
    if (PQstatus(connection) == CONNECTION_OK)
        return PARSREC_OK;
    PQreset(connection);
    return set_up(connection, err);
}

typedef struct statement {
    const char *sql;
    const char *const *values;
    int count;
} statement;

/* Runs it, a second time where the connection turned out to be gone. Free the result with PQclear. */
static parsrec_status run(PGconn *connection, const statement *s, PGresult **out, const char *what,
                          parsrec_error *err)
{
    for (int attempt = 0;; attempt++) {
        PR_TRY(reconnect(connection, err));
        *out = PQexecParams(connection, s->sql, s->count, NULL, s->values, NULL, NULL, 0);
        ExecStatusType code = PQresultStatus(*out);
        if (code == PGRES_TUPLES_OK || code == PGRES_COMMAND_OK)
            return PARSREC_OK;
        bool again = attempt == 0 && PQstatus(connection) != CONNECTION_OK;
        parsrec_status status = fail(connection, *out, what, err);
        PQclear(*out);
        *out = NULL;
        if (!again)
            return status;
    }
}

/* ---- opening ---- */

static const char create[] =
    "SELECT " TURN ";"
    "CREATE TABLE IF NOT EXISTS parsrec_events ("
    "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    "  origin bigint NOT NULL,"
    "  batch bigint NOT NULL,"
    "  place integer NOT NULL,"
    "  user_key text NOT NULL,"
    "  session text,"
    "  time bigint,"
    "  items text," /* NULL: the user is forgotten */
    "  UNIQUE (origin, batch, place));"
    "CREATE INDEX IF NOT EXISTS parsrec_events_user ON parsrec_events (user_key);";

/* Where the table is there, the right to make one is not needed. */
static parsrec_status make_tables(PGconn *connection, parsrec_error *err)
{
    PGresult *result;
    PR_TRY(run(connection, &(statement){"SELECT to_regclass('parsrec_events') IS NULL", NULL, 0},
               &result, "cannot use the store", err));
    bool missing = strcmp(PQgetvalue(result, 0, 0), "t") == 0;
    PQclear(result);
    if (!missing)
        return PARSREC_OK;
    return command(connection, create, "cannot make the store", err);
}

static parsrec_status connect_to(PGconn **out, const char *url, parsrec_error *err)
{
    /* What the address says comes later and wins. */
    const char *const keys[] = {"connect_timeout", "tcp_user_timeout",          "dbname",
                                "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {"10", "30000", url, "UTF8", "parsrec serve", NULL};
    *out = PQconnectdbParams(keys, values, 1);
    if (*out == NULL)
        return pr_fail_memory(err);
    PQsetNoticeProcessor(*out, say_nothing, NULL);
    return set_up(*out, err);
}

static void close_store(void *own)
{
    postgres *self = own;
    PQfinish(self->writer);
    PQfinish(self->reader);
    pr_free(self);
}

static parsrec_status open_store(void **own, const char *url, parsrec_error *err)
{
    PQconninfoOption *parsed =
        PQconninfoParse(url, NULL); /* its message would quote the password */
    if (parsed == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the store's address is not of the form "
                       "postgresql://user@host:port/database");
    PQconninfoFree(parsed);
    if (pr_address_is_doubtful(url))
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "write @ and / of a user or password as %%40 and %%2F in the store's address");
    postgres *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    parsrec_status status = connect_to(&self->writer, url, err);
    if (status == PARSREC_OK)
        status = make_tables(self->writer, err);
    if (status == PARSREC_OK)
        status = connect_to(&self->reader, url, err);
    if (status == PARSREC_OK)
        *own = self;
    else
        close_store(self);
    return status;
}

/* ---- writing ---- */

static json_t *text_json(const char *text)
{
    return text != NULL ? json_string_nocheck(text) : json_null();
}

/* [[user, session, time, items], ...]; NULL when out of memory. */
static char *batch_text(const store_batch *batch)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const store_row *row = batch->rows[i];
        json_t *time = row->time != STORE_NO_TIME ? json_integer(row->time) : json_null();
        bad |= json_array_append_new(list, json_pack("[o, o, o, o]", text_json(row->user),
                                                     text_json(row->session), time,
                                                     text_json(row->items)));
    }
    char *text = bad == 0 && list != NULL ? pr_json_text(list) : NULL;
    json_decref(list);
    return text;
}

/* One statement is one transaction and one trip. Its rows get numbers after the turn came. */
#define INSERT                                                                          \
    "INSERT INTO parsrec_events (origin, batch, place, user_key, session, time, items)" \
    " SELECT $1::bigint, $2::bigint, e.place, e.fields->>0, e.fields->>1,"              \
    "   (e.fields->>2)::bigint, e.fields->>3"                                           \
    " FROM turn, json_array_elements($3::json) WITH ORDINALITY AS e(fields, place)"     \
    " ORDER BY e.place ON CONFLICT (origin, batch, place) DO NOTHING"

static parsrec_status write_batch(postgres *self, const char *sql, const store_batch *batch,
                                  const char *what, parsrec_error *err)
{
    char origin[24], number[24];
    char *text = batch_text(batch);
    if (text == NULL)
        return pr_fail_memory(err);
    snprintf(origin, sizeof origin, "%" PRId64, batch->origin);
    snprintf(number, sizeof number, "%" PRId64, batch->number);
    const char *values[] = {origin, number, text};
    PGresult *result = NULL;
    parsrec_status status = run(self->writer, &(statement){sql, values, 3}, &result, what, err);
    PQclear(result);
    pr_free(text);
    return status;
}

static parsrec_status append(void *own, const store_batch *batch, parsrec_error *err)
{
    return write_batch(own, "WITH turn AS MATERIALIZED (SELECT " TURN ") " INSERT, batch,
                       "cannot write to the store", err);
}

/* A statement sees what was there when it began: so the turn is taken by one before it. A batch that was
 * sent before is not removed by itself. */
static parsrec_status forget_now(postgres *self, const store_batch *batch, parsrec_error *err)
{
    static const char sql[] =
        "WITH turn AS (SELECT 1), gone AS (DELETE FROM parsrec_events"
        " WHERE user_key = $3::json->0->>0 AND NOT (origin = $1::bigint AND batch = $2::bigint)"
        " RETURNING 1) " INSERT;
    static const char what[] = "cannot forget a user";
    PR_TRY(reconnect(self->writer, err));
    PR_TRY(command(self->writer, "BEGIN; SELECT " TURN, what, err));
    parsrec_status status = write_batch(self, sql, batch, what, err);
    if (status == PARSREC_OK)
        return command(self->writer, "COMMIT", what, err);
    command(self->writer, "ROLLBACK", what, NULL);
    return status;
}

static parsrec_status forget(void *own, const store_batch *batch, parsrec_error *err)
{
    postgres *self = own;
    parsrec_status status = forget_now(self, batch, err);
    if (status != PARSREC_OK && PQstatus(self->writer) != CONNECTION_OK)
        status = forget_now(self, batch, err);
    return status;
}

/* ---- reading ---- */

static const char *text_at(const PGresult *page, int row, int column)
{
    return PQgetisnull(page, row, column) ? NULL : PQgetvalue(page, row, column);
}

static parsrec_status take_page(const PGresult *page, store_take *take, void *context,
                                uint64_t *after, parsrec_error *err)
{
    for (int i = 0; i < PQntuples(page); i++) {
        int64_t origin = 0, time = STORE_NO_TIME;
        pr_parse_u64(pr_slice_of(PQgetvalue(page, i, 0)), after);
        pr_parse_i64(pr_slice_of(PQgetvalue(page, i, 1)), &origin);
        if (!PQgetisnull(page, i, 4))
            pr_parse_i64(pr_slice_of(PQgetvalue(page, i, 4)), &time);
        store_row row = {.user = PQgetvalue(page, i, 2),
                         .session = text_at(page, i, 3),
                         .items = text_at(page, i, 5),
                         .time = time};
        PR_TRY(take(context, *after, origin, &row, err));
    }
    return PARSREC_OK;
}

static parsrec_status read_rows(void *own, uint64_t after, store_take *take, void *context,
                                parsrec_error *err)
{
    postgres *self = own;
    char text[24];
    const char *values[] = {text};
    const statement select = {
        "SELECT id, origin, user_key, session, time, items"
        " FROM parsrec_events WHERE id > $1::bigint ORDER BY id LIMIT " A_PAGE,
        values, 1};
    for (int rows = 1; rows > 0;) {
        PGresult *page;
        snprintf(text, sizeof text, "%" PRIu64, after);
        PR_TRY(run(self->reader, &select, &page, "cannot read the store", err));
        rows = PQntuples(page);
        parsrec_status status = take_page(page, take, context, &after, err);
        PQclear(page);
        PR_TRY(status);
    }
    return PARSREC_OK;
}

static parsrec_status check(void *own, parsrec_error *err)
{
    postgres *self = own;
    PGresult *result = NULL;
    parsrec_status status =
        run(self->reader, &(statement){"SELECT 1 FROM parsrec_events LIMIT 1", NULL, 0}, &result,
            "cannot read the store", err);
    PQclear(result);
    return status;
}

const store_backend store_postgres = {
    .prefix = "postgresql://",
    .open = open_store,
    .close = close_store,
    .append = append,
    .forget = forget,
    .read = read_rows,
    .check = check,
};
