/* Looking at a store without changing it, and at a server, for `parsrec doctor`: no table is made, no lock
 * is taken. */
#include <microhttpd.h>
#include <netdb.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/address.h"
#include "base/pq.h"
#include "base/text.h"
#include "serve/serve.h"

#define COUNT_EVENTS "SELECT count(*) FROM parsrec_events"

const char *serve_http_version(void)
{
    static char text[64];
    snprintf(text, sizeof text, "libmicrohttpd %s", MHD_get_version());
    return text;
}

/* ---- SQLite ---- */

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

/* ---- PostgreSQL ---- */

/* The text that a query gives, in `text`; false if it fails. */
static bool postgres_text(PGconn *connection, const char *sql, char *text, size_t room)
{
    PGresult *result = pr_pq.exec(connection, sql);
    bool found = pr_pq.resultStatus(result) == PGRES_TUPLES_OK && pr_pq.ntuples(result) == 1;
    if (found)
        snprintf(text, room, "%s", pr_pq.getvalue(result, 0, 0));
    pr_pq.clear(result);
    return found;
}

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
    if (pr_pq.status(connection) != CONNECTION_OK) {
        const char *why = pr_pq.errorMessage(connection);
        status = pr_fail(err, PARSREC_E_IO, "postgresql: cannot connect: %.*s",
                         (int)strcspn(why, "\n"), why);
    } else {
        postgres_text(connection, "SHOW server_version", text, sizeof text);
        snprintf(look->version, sizeof look->version, "PostgreSQL %s", text);
        look->made = postgres_text(connection, COUNT_EVENTS, text, sizeof text) &&
                     pr_parse_u64(pr_slice_of(text), &look->events);
    }
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

/* ---- a server ---- */

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
    char host[256], request[512], answer[64] = "";
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || (size_t)(colon - address) >= sizeof host)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a server's address is HOST:PORT");
    snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
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
    if (got <= 0 || sscanf(answer, "HTTP/1.1 %d", &code) != 1)
        return pr_fail(err, PARSREC_E_IO, "%s does not answer as a server of parsrec", address);
    if (code != 200)
        return pr_fail(err, PARSREC_E_IO, "the server at %s is not ready (HTTP status %d)", address,
                       code);
    return PARSREC_OK;
}
