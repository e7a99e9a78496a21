/* A question to PostgreSQL that ends although the database hangs. Call pr_pq_load before. */
#ifndef SERVE_STORE_PQ_H
#define SERVE_STORE_PQ_H

#include "base/pq.h"

/* As PQexecParams, or as PQexec where there are no values, which both would wait for ever for a database that
 * hangs: it is frozen, or so is its disk, or somebody holds a lock. `late`: it gave no answer within so many seconds,
 * and the connection is given up. */
PGresult *store_pq_ask(PGconn *connection, const char *sql, int count, const char *const *values,
                       double seconds, bool *late);

/* The first line of libpq's message. Never the address, which may contain a password. */
parsrec_status store_pq_fail(PGconn *connection, const PGresult *result, const char *what,
                             parsrec_error *err);

#endif
