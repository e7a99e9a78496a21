/* The store in a PostgreSQL database, which several servers may share.
 *
 * Order. A sequence gives numbers out of order: a transaction may take 7, another take 8 and commit
 * first, and who then reads up to 8 would never see 7. So every writer takes one advisory lock
 * before it takes numbers, and PostgreSQL releases the locks of a transaction after its rows have
 * become visible. Hence numbers become visible in order, and `id > N` misses nothing. It costs
 * little, because each server commits one batch at a time anyhow, and the wait is for the commit of
 * another server's batch (docs/adr/0017-one-writer-at-a-time.md).
 *
 * News. The transaction that adds rows also notifies, so that a notification exists if and only if
 * its rows are visible. It carries a number; the rows are read as in any replay. A server that has
 * lost its connection first listens again and then reads from where it was: what was committed in
 * between is in the table, and what is committed after that is announced.
 *
 * A batch that is sent again after a broken connection is stored once. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/pq.h"
#include "base/text.h"
#include "serve/store_inside.h"
#include "serve/store_pq.h"

#define TURN \
    "pg_advisory_xact_lock(7021249510338126690)" /* "parsreb", unlikely to be used by others */
#define CHANNEL   "parsrec_events"
#define PAGE_TEXT "4096"

enum {
    PAGE_ROWS = 4096,
    ANSWER_SECONDS = 35, /* more than statement_timeout, below */
};

typedef struct postgres {
    char *url;
    PGconn *writer, *reader;
    PGconn *listener; /* NULL until somebody waits */
    bool listens;
} postgres;

/* ---- calling the database ---- */

static parsrec_status fail_late(const char *what, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_IO, "postgresql: %s: no answer within %d s", what,
                   ANSWER_SECONDS);
}

static parsrec_status command(PGconn *connection, const char *sql, const char *what,
                              parsrec_error *err)
{
    bool late;
    PGresult *result = store_pq_ask(connection, sql, 0, NULL, ANSWER_SECONDS, &late);
    if (late) {
        pr_pq.clear(result);
        return fail_late(what, err);
    }
    ExecStatusType code = pr_pq.resultStatus(result);
    parsrec_status status = code == PGRES_TUPLES_OK || code == PGRES_COMMAND_OK
                                ? PARSREC_OK
                                : store_pq_fail(connection, result, what, err);
    pr_pq.clear(result);
    return status;
}

static void say_nothing(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* Settings of every connection. Asks the database to report a commit only once it is on disk. */
static const char settings[] = "SET statement_timeout = '30s'; SET client_min_messages = warning;"
                               /* who is frozen in a transaction must not keep the others' turn */
                               "SET idle_in_transaction_session_timeout = '10s';"
                               "SELECT set_config('synchronous_commit', 'on', false)"
                               " WHERE current_setting('synchronous_commit') = 'off'";

static parsrec_status set_up(PGconn *connection, parsrec_error *err)
{
    if (pr_pq.status(connection) != CONNECTION_OK)
        return store_pq_fail(connection, NULL, "cannot connect", err);
    return command(connection, settings, "cannot use the store", err);
}

static parsrec_status reconnect(PGconn *connection, parsrec_error *err)
{
    if (pr_pq.status(connection) == CONNECTION_OK)
        return PARSREC_OK;
    pr_pq.reset(connection);
    return set_up(connection, err);
}

typedef struct statement {
    const char *sql;
    const char *const *values;
    int count;
    bool inside; /* a transaction is lost with its connection */
} statement;

/* For a command that failed. When the other side has closed the connection, libpq may call it good
 * until it reads from it again. */
static bool is_lost(PGconn *connection)
{
    return pr_pq.consumeInput(connection) == 0 || pr_pq.status(connection) != CONNECTION_OK;
}

/* Runs it, and once more if the connection was lost. Free the result with PQclear. */
static parsrec_status run(PGconn *connection, const statement *s, PGresult **out, const char *what,
                          parsrec_error *err)
{
    for (int attempt = 0;; attempt++) {
        if (!s->inside)
            PR_TRY(reconnect(connection, err));
        static const char *const none[1];
        bool late;
        *out = store_pq_ask(connection, s->sql, s->count, s->values != NULL ? s->values : none,
                            ANSWER_SECONDS, &late);
        if (late) {
            pr_pq.clear(*out);
            *out = NULL;
            return fail_late(what, err);
        }
        ExecStatusType code = pr_pq.resultStatus(*out);
        if (code == PGRES_TUPLES_OK || code == PGRES_COMMAND_OK)
            return PARSREC_OK;
        parsrec_status status = store_pq_fail(connection, *out, what, err);
        bool again = attempt == 0 && !s->inside && is_lost(connection);
        pr_pq.clear(*out);
        *out = NULL;
        if (!again)
            return status;
    }
}

/* ---- opening ---- */

/* Also adds what version 1 lacked. A row without items records that the user whose key has the hash
 * user_key was forgotten. */
#define create_tables                                                                       \
    "SELECT " TURN ";"                                                                      \
    "CREATE TABLE IF NOT EXISTS parsrec_events ("                                           \
    "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"                                 \
    "  origin bigint NOT NULL,"                                                             \
    "  batch bigint NOT NULL,"                                                              \
    "  place integer NOT NULL,"                                                             \
    "  user_key text NOT NULL,"                                                             \
    "  session text,"                                                                       \
    "  time bigint,"                                                                        \
    "  items text,"                                                                         \
    "  UNIQUE (origin, batch, place));"                                                     \
    "CREATE INDEX IF NOT EXISTS parsrec_events_user ON parsrec_events (user_key);"          \
    "ALTER TABLE parsrec_events ADD COLUMN IF NOT EXISTS type text NOT NULL DEFAULT 'buy'," \
    "  ADD COLUMN IF NOT EXISTS event_id text;"                                             \
    "CREATE UNIQUE INDEX IF NOT EXISTS parsrec_events_id ON parsrec_events (event_id);"     \
    "CREATE TABLE IF NOT EXISTS parsrec_meta (name text PRIMARY KEY, value text NOT NULL);"

enum { SCHEMA = 2 };

/* Reads a text from the table of store properties, after setting it if missing. Another server may
 * do the same concurrently. */
static parsrec_status settle_text(PGconn *connection, const char *name, char text[STORE_HASH_TEXT],
                                  parsrec_error *err)
{
    PGresult *result;
    const char *values[] = {name, text};
    PR_TRY(run(connection,
               &(statement){"INSERT INTO parsrec_meta VALUES ($1, $2) ON CONFLICT DO NOTHING",
                            values, 2, true},
               &result, "cannot make the store", err));
    pr_pq.clear(result);
    PR_TRY(run(connection,
               &(statement){"SELECT value FROM parsrec_meta WHERE name = $1", values, 1, true},
               &result, "cannot use the store", err));
    bool good =
        pr_pq.ntuples(result) == 1 && strlen(pr_pq.getvalue(result, 0, 0)) < STORE_HASH_TEXT;
    if (good)
        strcpy(text, pr_pq.getvalue(result, 0, 0));
    pr_pq.clear(result);
    return good ? PARSREC_OK
                : pr_fail(err, PARSREC_E_FORMAT, "postgresql: the store's id or secret is missing");
}

/* Version 1 stored the keys of forgotten users as plain text. */
static parsrec_status hash_forgotten(PGconn *connection, const store_identity *identity,
                                     parsrec_error *err)
{
    PGresult *keys, *result = NULL;
    PR_TRY(run(connection,
               &(statement){"SELECT DISTINCT user_key FROM parsrec_events WHERE items IS NULL",
                            NULL, 0, true},
               &keys, "cannot upgrade the store", err));
    parsrec_status status = PARSREC_OK;
    for (int i = 0; i < pr_pq.ntuples(keys) && status == PARSREC_OK; i++) {
        char hash[STORE_HASH_TEXT];
        const char *values[] = {pr_pq.getvalue(keys, i, 0), hash};
        store_hash_text(hash, identity, values[0], strlen(values[0]));
        status = run(connection,
                     &(statement){"UPDATE parsrec_events SET user_key = $2"
                                  " WHERE user_key = $1 AND items IS NULL",
                                  values, 2, true},
                     &result, "cannot upgrade the store", err);
        pr_pq.clear(result);
        result = NULL;
    }
    pr_pq.clear(keys);
    return status;
}

static parsrec_status make_now(PGconn *connection, store_identity *identity, parsrec_error *err)
{
    char secret[STORE_HASH_TEXT], version[STORE_HASH_TEXT] = "1";
    PR_TRY(command(connection, "BEGIN; " create_tables, "cannot make the store", err));
    store_bytes_text(secret, identity->secret);
    PR_TRY(settle_text(connection, "store_id", identity->id, err));
    PR_TRY(settle_text(connection, "secret", secret, err));
    PR_TRY(settle_text(connection, "version", version, err));
    if (!store_text_bytes(identity->secret, secret))
        return pr_fail(err, PARSREC_E_FORMAT, "postgresql: the store's secret is damaged");
    if (strcmp(version, "1") == 0)
        PR_TRY(hash_forgotten(connection, identity, err));
    return command(connection, "UPDATE parsrec_meta SET value = '2' WHERE name = 'version'; COMMIT",
                   "cannot make the store", err);
}

/* Reads the properties of a store in the current format, which needs no right to create tables. */
static parsrec_status look(PGconn *connection, bool *ready, parsrec_error *err)
{
    PGresult *result;
    PR_TRY(run(connection,
               &(statement){"SELECT to_regclass('parsrec_meta') IS NOT NULL", NULL, 0, false},
               &result, "cannot use the store", err));
    *ready = strcmp(pr_pq.getvalue(result, 0, 0), "t") == 0;
    pr_pq.clear(result);
    if (!*ready)
        return PARSREC_OK;
    uint64_t version = 0;
    PR_TRY(
        run(connection,
            &(statement){"SELECT value FROM parsrec_meta WHERE name = 'version'", NULL, 0, false},
            &result, "cannot use the store", err));
    if (pr_pq.ntuples(result) == 1)
        pr_parse_u64(pr_slice_of(pr_pq.getvalue(result, 0, 0)), &version);
    pr_pq.clear(result);
    *ready = version == SCHEMA;
    if (version > SCHEMA)
        return pr_fail(err, PARSREC_E_VERSION,
                       "postgresql: the store has version %d, this parsrec knows up to %d",
                       (int)version, SCHEMA);
    return PARSREC_OK;
}

static parsrec_status read_identity(PGconn *connection, store_identity *identity,
                                    parsrec_error *err)
{
    PGresult *result;
    PR_TRY(run(connection,
               &(statement){"SELECT a.value, b.value FROM parsrec_meta a, parsrec_meta b"
                            " WHERE a.name = 'store_id' AND b.name = 'secret'",
                            NULL, 0, false},
               &result, "cannot use the store", err));
    bool good = pr_pq.ntuples(result) == 1 &&
                strlen(pr_pq.getvalue(result, 0, 0)) < sizeof identity->id &&
                store_text_bytes(identity->secret, pr_pq.getvalue(result, 0, 1));
    if (good)
        strcpy(identity->id, pr_pq.getvalue(result, 0, 0));
    pr_pq.clear(result);
    return good ? PARSREC_OK
                : pr_fail(err, PARSREC_E_FORMAT, "postgresql: the store's id or secret is missing");
}

static parsrec_status make_tables(PGconn *connection, store_identity *identity, parsrec_error *err)
{
    bool ready;
    PR_TRY(look(connection, &ready, err));
    if (ready)
        return read_identity(connection, identity, err);
    parsrec_status status = make_now(connection, identity, err);
    if (status != PARSREC_OK)
        command(connection, "ROLLBACK", "cannot make the store", NULL);
    return status;
}

static parsrec_status connect_to(PGconn **out, const char *url, parsrec_error *err)
{
    /* Parameters in the address come later and override these. The three about keepalives end a
     * connection whose other side has vanished, also one on which only notifications would come. */
    const char *const keys[] = {
        "connect_timeout",     "tcp_user_timeout",          "keepalives_idle",
        "keepalives_interval", "keepalives_count",          "dbname",
        "client_encoding",     "fallback_application_name", NULL};
    const char *const values[] = {"10",   "30000",         "10", "5", "3", url,
                                  "UTF8", "parsrec serve", NULL};
    *out = pr_pq.connectdbParams(keys, values, 1);
    if (*out == NULL)
        return pr_fail_memory(err);
    pr_pq.setNoticeProcessor(*out, say_nothing, NULL);
    return set_up(*out, err);
}

static void close_store(void *own)
{
    postgres *self = own;
    pr_pq.finish(self->writer);
    pr_pq.finish(self->reader);
    pr_pq.finish(self->listener);
    pr_free(self->url);
    pr_free(self);
}

static parsrec_status open_store(void **own, const char *url, store_identity *identity,
                                 parsrec_error *err)
{
    PR_TRY(pr_pq_load(err));
    PQconninfoOption *parsed =
        pr_pq.conninfoParse(url, NULL); /* its message would contain the password */
    if (parsed == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the store's address is not of the form "
                       "postgresql://user@host:port/database");
    pr_pq.conninfoFree(parsed);
    if (pr_address_is_doubtful(url))
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "write @ and / of a user or password as %%40 and %%2F in the store's address");
    postgres *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->url = pr_copy_string(url, strlen(url));
    parsrec_status status =
        self->url != NULL ? connect_to(&self->writer, url, err) : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = make_tables(self->writer, identity, err);
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

/* [[user, session, time, items, type, event_id], ...]; NULL when out of memory. */
static char *batch_text(const store_batch *batch)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const store_row *row = batch->rows[i];
        bool forgets = row->items == NULL;
        json_t *time = row->time != STORE_NO_TIME ? json_integer(row->time) : json_null();
        bad |= json_array_append_new(
            list, json_pack("[o, o, o, o, s, o]", text_json(forgets ? row->user_hash : row->user),
                            text_json(row->session), time, text_json(row->items),
                            forgets ? "forget" : row->type,
                            text_json(row->event_id[0] != '\0' ? row->event_id : NULL)));
    }
    char *text = bad == 0 && list != NULL ? pr_json_text(list) : NULL;
    json_decref(list);
    return text;
}

/* One statement is one transaction and one round trip. Its rows get their numbers after the lock is
 * taken. It returns places and numbers of the rows that it stored, and announces the last. */
#define INSERT                                                                      \
    "inserted AS (INSERT INTO parsrec_events"                                       \
    "   (origin, batch, place, user_key, session, time, items, type, event_id)"     \
    " SELECT $1::bigint, $2::bigint, e.place, e.fields->>0, e.fields->>1,"          \
    "   (e.fields->>2)::bigint, e.fields->>3, e.fields->>4, e.fields->>5"           \
    " FROM turn, json_array_elements($3::json) WITH ORDINALITY AS e(fields, place)" \
    " ORDER BY e.place ON CONFLICT DO NOTHING RETURNING place, id),"                \
    " told AS (SELECT pg_notify('" CHANNEL "', max(id)::text) FROM inserted)"       \
    " SELECT place, id FROM inserted, told"

/* For a batch of which something was stored before: what an earlier attempt stored of it, and the
 * newest row of all, which is not older than what it repeats. The statement above cannot tell,
 * because it sees the table as it was before it waited for the lock. */
static const char select_earlier[] =
    "SELECT 0, max(id) FROM parsrec_events UNION ALL"
    " SELECT place, id FROM parsrec_events WHERE origin = $1::bigint AND batch = $2::bigint";

static void mark_stored(store_batch *batch, const PGresult *stored)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->rows[i]->duplicate = true;
    for (int i = 0; i < pr_pq.ntuples(stored); i++) {
        uint64_t place = 0, number = 0;
        pr_parse_u64(pr_slice_of(pr_pq.getvalue(stored, i, 0)), &place);
        pr_parse_u64(pr_slice_of(pr_pq.getvalue(stored, i, 1)), &number);
        if (place > 0 && place <= batch->count)
            batch->rows[place - 1]->duplicate = false;
        if (number > batch->last)
            batch->last = number;
    }
}

static parsrec_status write_batch(postgres *self, statement s, store_batch *batch, const char *what,
                                  parsrec_error *err)
{
    char origin[24], number[24];
    char *text = batch_text(batch);
    if (text == NULL)
        return pr_fail_memory(err);
    snprintf(origin, sizeof origin, "%" PRId64, batch->origin);
    snprintf(number, sizeof number, "%" PRId64, batch->number);
    const char *values[] = {origin, number, text, batch->rows[0]->user};
    PGresult *result = NULL;
    s.values = values;
    s.count = 4;
    parsrec_status status = run(self->writer, &s, &result, what, err);
    pr_free(text);
    if (status == PARSREC_OK && (size_t)pr_pq.ntuples(result) < batch->count) {
        pr_pq.clear(result);
        s.sql = select_earlier;
        s.count = 2;
        status = run(self->writer, &s, &result, what, err);
    }
    if (status == PARSREC_OK)
        mark_stored(batch, result);
    pr_pq.clear(result);
    return status;
}

static parsrec_status append(void *own, store_batch *batch, parsrec_error *err)
{
    const statement s = {.sql = "WITH turn AS MATERIALIZED (SELECT " TURN ", $4::text), " INSERT};
    return write_batch(own, s, batch, "cannot write to the store", err);
}

/* A statement sees the state at its start, so a separate statement takes the lock first. A batch
 * that is sent again does not remove its own row. The hash of an event's id is kept, so that an
 * event that is sent again later is not stored. */
static parsrec_status forget_now(postgres *self, store_batch *batch, parsrec_error *err)
{
    static const char sql[] =
        "WITH turn AS (SELECT 1), theirs AS (SELECT id FROM parsrec_events"
        "   WHERE (user_key = $4::text AND items IS NOT NULL) OR (user_key = $3::json->0->>0"
        "     AND items IS NULL AND NOT (origin = $1::bigint AND batch = $2::bigint))),"
        " gone AS (DELETE FROM parsrec_events e USING theirs"
        "   WHERE e.id = theirs.id AND event_id IS NULL),"
        " emptied AS (UPDATE parsrec_events e"
        "   SET user_key = '', session = NULL, time = NULL, items = '' FROM theirs"
        "   WHERE e.id = theirs.id AND event_id IS NOT NULL), " INSERT;
    static const char what[] = "cannot forget a user";
    PR_TRY(reconnect(self->writer, err));
    parsrec_status status = command(self->writer, "BEGIN; SELECT " TURN, what, err);
    if (status == PARSREC_OK)
        status = write_batch(self, (statement){.sql = sql, .inside = true}, batch, what, err);
    if (status == PARSREC_OK)
        status = command(self->writer, "COMMIT", what, err);
    if (status != PARSREC_OK)
        command(self->writer, "ROLLBACK", what, NULL);
    return status;
}

static parsrec_status forget(void *own, store_batch *batch, parsrec_error *err)
{
    postgres *self = own;
    parsrec_status status = forget_now(self, batch, err);
    if (status != PARSREC_OK && is_lost(self->writer))
        status = forget_now(self, batch, err);
    return status;
}

/* ---- reading ---- */

static const char *text_at(const PGresult *page, int row, int column)
{
    return pr_pq.getisnull(page, row, column) ? NULL : pr_pq.getvalue(page, row, column);
}

static parsrec_status take_page(const PGresult *page, store_take *take, void *context,
                                uint64_t *after, parsrec_error *err)
{
    for (int i = 0; i < pr_pq.ntuples(page); i++) {
        int64_t origin = 0, time = STORE_NO_TIME;
        pr_parse_u64(pr_slice_of(pr_pq.getvalue(page, i, 0)), after);
        pr_parse_i64(pr_slice_of(pr_pq.getvalue(page, i, 1)), &origin);
        if (!pr_pq.getisnull(page, i, 4))
            pr_parse_i64(pr_slice_of(pr_pq.getvalue(page, i, 4)), &time);
        store_row row = {.user = pr_pq.getvalue(page, i, 2),
                         .session = text_at(page, i, 3),
                         .items = text_at(page, i, 5),
                         .time = time,
                         .type = pr_pq.getvalue(page, i, 6)};
        if (row.items == NULL && strlen(row.user) < STORE_HASH_TEXT)
            strcpy(row.user_hash, row.user);
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
        "SELECT id, origin, user_key, session, time, items, type FROM parsrec_events"
        " WHERE id > $1::bigint AND (user_key <> '' OR items IS NULL) ORDER BY id LIMIT " PAGE_TEXT,
        values, 1, false};
    for (int rows = PAGE_ROWS; rows == PAGE_ROWS;) {
        PGresult *page;
        snprintf(text, sizeof text, "%" PRIu64, after);
        PR_TRY(run(self->reader, &select, &page, "cannot read the store", err));
        rows = pr_pq.ntuples(page);
        parsrec_status status = take_page(page, take, context, &after, err);
        pr_pq.clear(page);
        PR_TRY(status);
    }
    return PARSREC_OK;
}

static parsrec_status newest(void *own, uint64_t *number, parsrec_error *err)
{
    postgres *self = own;
    PGresult *result = NULL;
    *number = 0;
    PR_TRY(run(self->reader,
               &(statement){"SELECT coalesce(max(id), 0) FROM parsrec_events", NULL, 0, false},
               &result, "cannot read the store", err));
    pr_parse_u64(pr_slice_of(pr_pq.getvalue(result, 0, 0)), number);
    pr_pq.clear(result);
    return PARSREC_OK;
}

static parsrec_status check(void *own, parsrec_error *err)
{
    postgres *self = own;
    PGresult *result = NULL;
    parsrec_status status =
        run(self->reader, &(statement){"SELECT 1 FROM parsrec_events LIMIT 1", NULL, 0, false},
            &result, "cannot read the store", err);
    pr_pq.clear(result);
    return status;
}

/* ---- news ---- */

static parsrec_status listen_now(postgres *self, parsrec_error *err)
{
    if (self->listener == NULL) {
        PR_TRY(connect_to(&self->listener, self->url, err));
    } else {
        pr_pq.reset(self->listener);
        PR_TRY(set_up(self->listener, err));
    }
    return command(self->listener, "LISTEN " CHANNEL, "cannot follow the store", err);
}

/* The newest number among the notifications that have arrived; 0: none has. */
static uint64_t take_news(PGconn *listener)
{
    uint64_t newest = 0;
    for (PGnotify *n; (n = pr_pq.notifies(listener)) != NULL; pr_pq.freemem(n)) {
        uint64_t number = STORE_ANYTHING; /* a payload that is not ours says only that */
        pr_parse_u64(pr_slice_of(n->extra), &number);
        if (number > newest)
            newest = number;
    }
    return newest;
}

/* Where a pooler stands between that gives every transaction another connection, notifications are
 * lost without notice; hence a look into the table when the time is over. */
static parsrec_status wait_for_news(void *own, int wake, int milliseconds, uint64_t *news,
                                    parsrec_error *err)
{
    postgres *self = own;
    *news = STORE_ANYTHING;
    if (!self->listens) {
        PR_TRY(listen_now(self, err));
        self->listens = true;
        return PARSREC_OK; /* what was committed before it listened was announced to others only */
    }
    struct pollfd p[] = {{.fd = pr_pq.socket(self->listener), .events = POLLIN},
                         {.fd = wake, .events = POLLIN}};
    int ready = poll(p, 2, milliseconds);
    if (ready < 0 && errno != EINTR)
        return pr_fail_errno(err, PARSREC_E_IO, "postgresql: cannot wait");
    if (ready > 0 && p[0].revents != 0 && pr_pq.consumeInput(self->listener) == 0) {
        self->listens = false;
        return store_pq_fail(self->listener, NULL, "the connection is lost", err);
    }
    if (ready > 0)
        *news = take_news(self->listener);
    return PARSREC_OK;
}

const store_backend store_postgres = {
    .prefix = "postgresql://",
    .open = open_store,
    .close = close_store,
    .append = append,
    .forget = forget,
    .read = read_rows,
    .newest = newest,
    .check = check,
    .wait = wait_for_news,
};
