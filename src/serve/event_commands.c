/* What commands do with a store while no server of theirs runs: `export-events` writes its events as CSV,
 * `fold-events` replays them into a file beside the model, and `doctor` looks at a store or at a server
 * without changing anything (no table is made, no lock is taken). */
#include <microhttpd.h>
#include <netdb.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/address.h"
#include "base/dates.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/pq.h"
#include "base/text.h"
#include "base/writer.h"
#include "serve/app.h"
#include "serve/event_flow.h"
#include "serve/serve.h"
#include "serve/store.h"
#include "serve/store_pq.h"

/* ---- export-events: a store as CSV ---- */

enum { PIECE = 1 << 16 };

typedef struct export
{
    serve_export *x;
    pr_atomic_file *file;
    pr_writer text;
}
export;

/* RFC 4180: quoted if it contains a character that would end the field. Keys are not changed,
 * whatever they start with, so that import reads them back. */
static void write_field(pr_writer *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        pr_write(out, "%s", text);
        return;
    }
    pr_write(out, "\"");
    for (; *text != '\0'; text++)
        pr_write(out, *text == '"' ? "\"\"" : "%c", *text);
    pr_write(out, "\"");
}

static void write_row(pr_writer *out, const store_entry *entry, size_t i)
{
    const store_event *e = &entry->event;
    pr_date_text date;
    write_field(out, e->user);
    pr_write(out, ",");
    if (e->session != NULL)
        write_field(out, e->session);
    else
        pr_write(out, "event %llu", (unsigned long long)entry->number);
    pr_write(out, ",");
    if (e->time != STORE_NO_TIME)
        pr_write(out, "%s", pr_date_of(&date, e->time));
    pr_write(out, ",");
    write_field(out, e->items[i]);
    pr_write(out, ",%.15g,%s\n", e->quantities[i], store_type_names[e->type]);
}

static parsrec_status flush(export *x, parsrec_error *err)
{
    if (x->text.failed)
        return pr_fail_memory(err);
    PR_TRY(pr_atomic_write(x->file, x->text.text, x->text.size, err));
    x->text.size = 0;
    return PARSREC_OK;
}

static parsrec_status write_entry(void *context, const store_entry *entry, parsrec_error *err)
{
    export *x = context;
    x->x->through = entry->number;
    if (entry->forget || !x->x->types[entry->event.type])
        return PARSREC_OK;
    for (size_t i = 0; i < entry->event.count; i++)
        write_row(&x->text, entry, i);
    x->x->events++;
    x->x->rows += entry->event.count;
    return x->text.size >= PIECE ? flush(x, err) : PARSREC_OK;
}

parsrec_status serve_export_events(serve_export *x, parsrec_error *err)
{
    export own = {.x = x};
    store *s = NULL;
    uint64_t last;
    x->events = x->rows = x->through = 0;
    PR_TRY(store_open_existing(&s, x->store, err));
    snprintf(x->id, sizeof x->id, "%s", store_identity_of(s)->id);
    parsrec_status status = pr_atomic_open(&own.file, x->output, err);
    pr_write(&own.text, "user,session,time,item,quantity,type\n");
    if (status == PARSREC_OK)
        status = store_replay(s, 0, write_entry, &own, &last, err);
    if (status == PARSREC_OK)
        status = flush(&own, err);
    if (status == PARSREC_OK)
        status = pr_atomic_commit(own.file, err);
    else
        pr_atomic_abort(own.file);
    pr_writer_free(&own.text);
    store_close(s);
    return status;
}

/* ---- fold-events: a store's events in a file beside the model ---- */

/* By the code with which a server starts: it loads the model, takes the file that is there, replays
 * the rest of the store; and then writes. */
static parsrec_status fold(serve_fold *f, app *a, engine *e, parsrec_error *err)
{
    PR_TRY(event_flow_open_existing(a, err));
    if (a->store == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is nothing to fold without a store");
    atomic_fetch_add(&e->users, 1); /* for the slot */
    parsrec_status status = event_flow_put(a, e, err);
    if (status != PARSREC_OK) {
        engine_drop(e);
        return status;
    }
    parsrec_live_note note;
    PR_TRY(event_flow_note(a, e, &note, err));
    PR_TRY(parsrec_live_save(e->live, &note, f->output, err));
    f->entries = note.entries;
    f->fresh = e->entries - e->folded;
    f->through = note.through;
    f->users = note.users;
    f->sessions = note.sessions;
    f->actions = note.actions;
    snprintf(f->id, sizeof f->id, "%s", note.store);
    return PARSREC_OK;
}

parsrec_status serve_fold_events(serve_fold *f, parsrec_error *err)
{
    serve_options o = serve_default();
    o.model_path = f->model_path;
    o.data_path = f->data_path;
    o.store = f->store;
    o.store_path = f->store_path;
    const engine_files files = {.model = o.model_path,
                                .data = o.data_path,
                                .limits = {(size_t)o.basket_most, (size_t)o.k_most}};
    engine *e = NULL;
    if (!event_flow_fold_path(f->output, f->model_path))
        return pr_fail(err, PARSREC_E_LIMIT, "the name of the model is too long");
    app *a = pr_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return pr_fail_memory(err);
    parsrec_status status = app_init(a, &o, err);
    if (status == PARSREC_OK)
        status = engine_load(&e, &files, err);
    mode_t before = umask(S_IRWXG | S_IRWXO); /* purchases, as in a store: for its owner only */
    if (status == PARSREC_OK)
        status = fold(f, a, e, err);
    umask(before);
    engine_drop(e);
    app_free(a);
    pr_free(a);
    return status;
}

/* ---- doctor: a look at a store and at a server ---- */

#define COUNT_EVENTS "SELECT count(*) FROM parsrec_events"
enum { LOOK_SECONDS = 10 };

const char *serve_http_version(void)
{
    static char text[64];
    snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}

/* The number that a query gives; false if the table is not there or has no rows. */
static bool sqlite_number(sqlite3 *db, const char *sql, uint64_t *number)
{
    sqlite3_stmt *statement = NULL;
    bool found = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        *number = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

static parsrec_status look_at_sqlite(const char *path, serve_store_look *look, parsrec_error *err)
{
    sqlite3 *db = NULL;
    uint64_t tables = 0;
    parsrec_status status = PARSREC_OK;
    snprintf(look->version, sizeof look->version, "SQLite %s", sqlite3_libversion());
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        !sqlite_number(db, "SELECT count(*) FROM sqlite_schema", &tables))
        status = pr_fail(err, PARSREC_E_IO, "%s: cannot be opened: %s", path, sqlite3_errmsg(db));
    else
        look->made = sqlite_number(db, COUNT_EVENTS, &look->events);
    sqlite3_close(db);
    return status;
}

/* The text that a query gives, in `text`; empty if there is no such table. */
static parsrec_status postgres_text(PGconn *connection, const char *sql, char *text, size_t room,
                                    parsrec_error *err)
{
    const char no_table[] = "42P01";
    bool late;
    PGresult *result = store_pq_ask(connection, sql, 0, NULL, LOOK_SECONDS, &late);
    const char *code = pr_pq.resultErrorField(result, PG_DIAG_SQLSTATE);
    parsrec_status status = PARSREC_OK;
    text[0] = '\0';
    if (late)
        status = pr_fail(err, PARSREC_E_IO,
                         "postgresql: no answer within %d s: it hangs, or the table is locked",
                         LOOK_SECONDS);
    else if (pr_pq.resultStatus(result) == PGRES_TUPLES_OK && pr_pq.ntuples(result) == 1)
        snprintf(text, room, "%s", pr_pq.getvalue(result, 0, 0));
    else if (code == NULL || strcmp(code, no_table) != 0)
        status = store_pq_fail(connection, result, "cannot be asked", err);
    pr_pq.clear(result);
    return status;
}

/* To count some hundred million rows takes longer than an answer may; of so many, the number that the database
 * itself has noted is near enough. */
static const char count_or_estimate[] =
    "SELECT CASE WHEN reltuples > 1e7 THEN reltuples::bigint ELSE (" COUNT_EVENTS ") END"
    " FROM pg_class WHERE oid = 'parsrec_events'::regclass";

static parsrec_status look_at_postgres(const char *url, serve_store_look *look, parsrec_error *err)
{
    const char *const keys[] = {"connect_timeout", "dbname", "fallback_application_name", NULL};
    const char *const values[] = {"5", url, "parsrec doctor", NULL};
    char text[128] = "";
    PR_TRY(pr_pq_load(err));
    if (pr_address_is_doubtful(url))
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "write @ and / of a user or password as %%40 and %%2F in the store's address");
    PGconn *connection = pr_pq.connectdbParams(keys, values, 1);
    parsrec_status status = PARSREC_OK;
    if (connection == NULL)
        return pr_fail_memory(err);
    if (pr_pq.status(connection) != CONNECTION_OK)
        status = store_pq_fail(connection, NULL, "cannot connect", err);
    if (status == PARSREC_OK)
        status = postgres_text(connection, "SHOW server_version", text, sizeof text, err);
    snprintf(look->version, sizeof look->version, "PostgreSQL %s", text);
    if (status == PARSREC_OK)
        status = postgres_text(connection, count_or_estimate, text, sizeof text, err);
    look->made = status == PARSREC_OK && pr_parse_u64(pr_slice_of(text), &look->events);
    pr_pq.finish(connection);
    return status;
}

parsrec_status serve_look_at_store(const char *url, serve_store_look *look, parsrec_error *err)
{
    static const char sqlite[] = "sqlite:";
    *look = (serve_store_look){0};
    if (pr_address_is_postgres(url))
        return look_at_postgres(url, look, err);
    if (strncmp(url, sqlite, strlen(sqlite)) == 0)
        return look_at_sqlite(url + strlen(sqlite), look, err);
    return pr_fail(err, PARSREC_E_ARGUMENT, "a store is sqlite:FILE or postgresql://...");
}

/* A connected socket with time limits; -1 if nobody listens there. */
static int connect_to(const char *host, const char *port)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    const struct timeval limit = {.tv_sec = 5};
    struct addrinfo *list = NULL;
    int fd = -1;
    if (getaddrinfo(host, port, &wanted, &list) != 0)
        return -1;
    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

parsrec_status serve_ask_ready(const char *address, parsrec_error *err)
{
    char host[300], request[512], answer[64] = "";
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || strlen(address) >= sizeof host)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a server's address is HOST:PORT");
    bool brackets = address[0] == '[' && colon[-1] == ']'; /* [::1]:8080 */
    snprintf(host, sizeof host, "%.*s", (int)(colon - address) - 2 * brackets, address + brackets);
    int fd = connect_to(host, colon + 1);
    if (fd < 0)
        return pr_fail(err, PARSREC_E_IO, "no server answers at %s", address);
    int size = snprintf(request, sizeof request,
                        "GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address);
    ssize_t got = -1;
    if (send(fd, request, (size_t)size, MSG_NOSIGNAL) == size)
        got = recv(fd, answer, sizeof answer - 1, MSG_WAITALL);
    close(fd);
    int code = 0;
    if (got <= 0 || sscanf(answer, "HTTP/1.1 %3d", &code) != 1)
        return pr_fail(err, PARSREC_E_IO, "%s does not answer as a server of parsrec", address);
    if (code != 200)
        return pr_fail(err, PARSREC_E_IO, "the server at %s is not ready (HTTP status %d)", address,
                       code);
    return PARSREC_OK;
}
