/* libpq, loaded when the first address of a PostgreSQL database is used. Call pr_pq_load before
 * anything else; then pr_pq.exec is PQexec, and so on. */
#ifndef PR_PQ_H
#define PR_PQ_H

#include <libpq-fe.h>

#include "base/library.h"

/* clang-format off */
#define PR_PQ(X)                                                                               \
    X(cancel) X(clear) X(connectPoll) X(connectStartParams) X(connectdbParams) X(conninfoFree) \
    X(conninfoParse) X(consumeInput) X(errorMessage) X(escapeIdentifier) X(exec)               \
    X(finish) X(flush) X(freeCancel) X(freemem) X(getCancel) X(getCopyData) X(getResult)       \
    X(getisnull) X(getvalue) X(isBusy) X(libVersion) X(notifies) X(ntuples) X(reset)           \
    X(resultErrorField) X(resultErrorMessage) X(resultStatus) X(sendQuery) X(sendQueryParams)  \
    X(setNoticeProcessor) X(setnonblocking) X(socket) X(status)
/* clang-format on */

typedef struct pr_pq_table {
#define PR_PQ_MEMBER(name) __typeof__(&PQ##name) name;
    PR_PQ(PR_PQ_MEMBER)
#undef PR_PQ_MEMBER
} pr_pq_table;

extern pr_pq_table pr_pq;
extern pr_library pr_pq_library;

static inline parsrec_status pr_pq_load(parsrec_error *err)
{
    return pr_library_load(&pr_pq_library, err);
}

#endif
