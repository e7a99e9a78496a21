/* The split by time: of each user with at least three sessions the last is the test session, the
 * one before validation, the rest train. Users with fewer sessions only train. */
#ifndef PR_SPLIT_H
#define PR_SPLIT_H

#include "data/dataset.h"

typedef enum pr_part {
    PR_TRAIN,
    PR_VALID,
    PR_TEST,
} pr_part;

enum { PR_SPLIT_SESSIONS = 3 }; /* a user with fewer is not evaluated */

static inline bool pr_split_evaluated(const pr_dataset *data, size_t user)
{
    return data->user_offsets[user + 1] - data->user_offsets[user] >= PR_SPLIT_SESSIONS;
}

/* One past the last training session of a user. */
static inline int64_t pr_split_train_end(const pr_dataset *data, size_t user)
{
    return data->user_offsets[user + 1] - (pr_split_evaluated(data, user) ? 2 : 0);
}

/* The user's validation or test session, -1 for a user who is not evaluated. Everything before it is
 * its history. */
static inline int64_t pr_split_session(const pr_dataset *data, size_t user, pr_part part)
{
    if (!pr_split_evaluated(data, user))
        return -1;
    return data->user_offsets[user + 1] - (part == PR_VALID ? 2 : 1);
}

#endif
