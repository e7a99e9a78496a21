/* What users bought before now: of a data set as it stands, or of another one, matched by keys. */
#ifndef PR_PASTS_H
#define PR_PASTS_H

#include "base/intern.h"
#include "data/batch.h"
#include "data/dataset.h"

typedef struct pr_histories {
    size_t users;
    const int64_t *user_offsets, *session_offsets; /* as in a data set; sessions may be empty */
    const int32_t *items;
    void *block; /* what they own, if anything */
} pr_histories;

/* A view of the data set. */
pr_histories pr_histories_of(const pr_dataset *data);

/* The pasts in `data` for the numbers of `users` and `items`. Users that are new get the next numbers
 * and are added; a user whom `data` lacks has no past; items that are unknown are left out. */
parsrec_status pr_histories_match(pr_histories *out, const pr_dataset *data, pr_intern *users,
                                  const pr_intern *items, parsrec_pasts_report *report,
                                  parsrec_error *err);
void pr_histories_free(pr_histories *pasts); /* a zeroed one is fine */

static inline pr_history pr_user_history(const pr_histories *pasts, int32_t user)
{
    const int64_t *first = pasts->session_offsets + pasts->user_offsets[user];
    size_t sessions = (size_t)(pasts->user_offsets[user + 1] - pasts->user_offsets[user]);
    return (pr_history){.items = pasts->items + first[0],
                        .count = (size_t)(first[sessions] - first[0]),
                        .sessions = first,
                        .session_count = sessions};
}

/* What a user of a data set bought before one of the user's sessions. */
static inline pr_history pr_history_before(const pr_dataset *data, size_t user, size_t session)
{
    const int64_t *first = data->session_offsets + data->user_offsets[user];
    size_t sessions = session - (size_t)data->user_offsets[user];
    return (pr_history){.items = data->action_items + first[0],
                        .count = (size_t)(first[sessions] - first[0]),
                        .sessions = first,
                        .session_count = sessions};
}

#endif
