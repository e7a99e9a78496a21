/* The split by time. A user with at least last + 2 sessions is evaluated: the newest `last` sessions
 * are for the test, the one before them for validation, the others for training. All sessions of
 * other users are for training. `last` is a setting of the model, 1 unless the data have few users;
 * training, counting and evaluation must use the same.
 *
 * A split by date is this split of data that were cut (parsrec_data_split_at): the test session is then
 * the first from that time on, and users without one are marked as training only. */
#ifndef PR_SPLIT_H
#define PR_SPLIT_H

#include <assert.h>

#include "data/dataset.h"

typedef enum pr_split_part {
    PR_TRAIN,
    PR_VALID,
    PR_TEST,
} pr_split_part;

static inline bool pr_split_evaluated(const pr_dataset *data, size_t user, size_t last)
{
    if (data->trains_only != NULL && data->trains_only[user])
        return false;
    return (size_t)(data->user_offsets[user + 1] - data->user_offsets[user]) >= last + 2;
}

/* One past the last training session of a user. */
static inline int64_t pr_split_train_end(const pr_dataset *data, size_t user, size_t last)
{
    int64_t kept = pr_split_evaluated(data, user, last) ? (int64_t)last + 1 : 0;
    return data->user_offsets[user + 1] - kept;
}

/* Training sessions of all users. */
static inline size_t pr_split_train_sessions(const pr_dataset *data, size_t last)
{
    size_t sessions = 0;
    for (size_t u = 0; u < data->users; u++)
        sessions += (size_t)(pr_split_train_end(data, u, last) - data->user_offsets[u]);
    return sessions;
}

/* The user's validation session (PR_VALID) or first test session (PR_TEST), -1 for a user who is not
 * evaluated. The sessions before it are its history. Not for PR_TRAIN. */
static inline int64_t pr_split_session(const pr_dataset *data, size_t user, pr_split_part part,
                                       size_t last)
{
    assert(part != PR_TRAIN);
    if (!pr_split_evaluated(data, user, last))
        return -1;
    return data->user_offsets[user + 1] - (int64_t)last - (part == PR_VALID ? 1 : 0);
}

#endif
