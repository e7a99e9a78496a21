/* A question to PostgreSQL that ends although the database hangs. */
#include "serve/store_pq.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/status.h"

/* Waits for news from the database; false when the time is over, and the connection is given up. */
static bool wait_for_answer(PGconn *connection, bool unsent, double until)
{
    struct pollfd p = {.fd = pr_pq.socket(connection),
                       .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN)};
    double left = until - pr_now();
    if (p.fd >= 0 && (left <= 0 || poll(&p, 1, (int)(left * 1e3) + 1) == 0)) {
        shutdown(p.fd, SHUT_RDWR);
        pr_pq.consumeInput(connection); /* which finds that it is closed */
        return false;
    }
    return true;
}

PGresult *store_pq_ask(PGconn *connection, const char *sql, int count, const char *const *values,
                       double seconds, bool *late)
{
    double until = pr_now() + seconds;
    PGresult *last = NULL, *next;
    *late = false;
    pr_pq.setnonblocking(connection, 1);
    int sent = values != NULL
                   ? pr_pq.sendQueryParams(connection, sql, count, NULL, values, NULL, NULL, 0)
                   : pr_pq.sendQuery(connection, sql);
    while (sent == 1) {
        int unsent = pr_pq.flush(connection);
        if (unsent == 1 || (unsent == 0 && pr_pq.isBusy(connection))) {
            *late = !wait_for_answer(connection, unsent == 1, until);
            if (*late)
                break;
            if (pr_pq.consumeInput(connection) == 1)
                continue;
        }
        next = pr_pq.getResult(connection);
        if (next == NULL)
            break;
        pr_pq.clear(last);
        last = next;
    }
    return last;
}

parsrec_status store_pq_fail(PGconn *connection, const PGresult *result, const char *what,
                             parsrec_error *err)
{
    const char *why = result != NULL ? pr_pq.resultErrorMessage(result) : "";
    if (why[0] == '\0')
        why = pr_pq.errorMessage(connection);
    return pr_fail(err, PARSREC_E_IO, "postgresql: %s: %.*s", what, (int)strcspn(why, "\n"), why);
}
