/* The split by time: of each user with enough sessions the last ones are test sessions, the one
 * before them validation, the rest train. How many are kept for the test is the setting `last` of a
 * model, 1 unless a panel has few users: training, counting and evaluation must agree on it. Users
 * with fewer than last + 2 sessions only train. */
#ifndef PR_SPLIT_H
#define PR_SPLIT_H

#include "data/dataset.h"

typedef enum pr_split_part {
    PR_TRAIN,
    PR_VALID,
    PR_TEST,
} pr_split_part;

static inline bool pr_split_evaluated(const pr_dataset *data, size_t user, size_t last)
{
    return (size_t)(data->user_offsets[user + 1] - data->user_offsets[user]) >= last + 2;
}

/* One past the last training session of a user. */
static inline int64_t pr_split_train_end(const pr_dataset *data, size_t user, size_t last)
{
    int64_t kept = pr_split_evaluated(data, user, last) ? (int64_t)last + 1 : 0;
    return data->user_offsets[user + 1] - kept;
}

/* The user's validation or first test session, -1 for a user who is not evaluated. Everything
 * before it is its history. */
static inline int64_t pr_split_session(const pr_dataset *data, size_t user, pr_split_part part,
                                       size_t last)
{
    if (!pr_split_evaluated(data, user, last))
        return -1;
    return data->user_offsets[user + 1] - (int64_t)last - (part == PR_VALID ? 1 : 0);
}

#endif
