/* The split by time. A user with at least last + 2 sessions is evaluated: the newest `last` sessions
 * are for the test, the one before them for validation, the others for training. All sessions of
 * other users are for training. `last` is a setting of the model, 1 unless the data have few users;
 * training, counting and evaluation must use the same.
 *
 * A split by date is this split of data that were cut (parsrec_data_split): the test session is then
 * the first from that time on, and users without one are marked as training only.
 *
 * A split by users holds out whole users (pr_user_part), as for sessions without customers, where each
 * session is a user: the last session of a testing user is for the test, that of a validating user for
 * validation, and what comes before it is its history. Nothing of either trains. */
#ifndef PR_SPLIT_H
#define PR_SPLIT_H

#include <assert.h>

#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"

typedef enum pr_split_part {
    PR_TRAIN,
    PR_VALID,
    PR_TEST,
} pr_split_part;

static inline bool pr_split_whole_user(const pr_dataset *data, size_t user)
{
    pr_user_part part = pr_part_of_user(data, user);
    return part == PR_USER_VALIDATES || part == PR_USER_TESTS;
}

/* Whether a user has sessions for the test and, unless whole users are held out, for validation. */
static inline bool pr_split_evaluated(const pr_dataset *data, size_t user, size_t last)
{
    assert(user < data->users);
    size_t sessions = (size_t)(data->user_offsets[user + 1] - data->user_offsets[user]);
    pr_user_part part = pr_part_of_user(data, user);
    if (part != PR_USER_BY_SESSIONS)
        return part == PR_USER_TESTS && sessions > 0;
    return sessions >= last + 2;
}

/* One past the last training session of a user. */
static inline int64_t pr_split_train_end(const pr_dataset *data, size_t user, size_t last)
{
    if (pr_split_whole_user(data, user))
        return data->user_offsets[user];
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

/* The user's validation session (PR_VALID) or first test session (PR_TEST), -1 for a user who has
 * none. The sessions before it are its history. Not for PR_TRAIN. */
static inline int64_t pr_split_session(const pr_dataset *data, size_t user, pr_split_part part,
                                       size_t last)
{
    assert(part != PR_TRAIN);
    if (pr_split_whole_user(data, user)) {
        bool tests = pr_part_of_user(data, user) == PR_USER_TESTS;
        int64_t end = data->user_offsets[user + 1];
        return tests == (part == PR_TEST) && end > data->user_offsets[user] ? end - 1 : -1;
    }
    if (!pr_split_evaluated(data, user, last))
        return -1;
    return data->user_offsets[user + 1] - (int64_t)last - (part == PR_VALID ? 1 : 0);
}

/* ---- what a counting model may look at: of each user all that is before the sessions to be predicted ---- */

struct pr_truth; /* synth/truth.h */

/* Which sessions are counted: of each user the oldest, up to pr_counted_end. */
typedef struct pr_scope {
    size_t held; /* newest sessions left out for each evaluated user; 0: none */
    size_t last; /* test sessions per user, which decides who is evaluated */
    /* Then this many more are left out for every user who keeps at least one: settings are fitted on
     * the rest and tried on these. */
    size_t more;
    const bool *users; /* [users]: false leaves the user out; NULL: all users count */
} pr_scope;

/* Everything before the sessions of a part: for PR_VALID the training sessions, for PR_TEST also the
 * validation sessions. */
static inline pr_scope pr_scope_before(pr_split_part part, size_t last)
{
    assert(part != PR_TRAIN);
    return (pr_scope){.held = part == PR_VALID ? last + 1 : last, .last = last};
}

typedef struct pr_counted {
    const pr_dataset *data;
    pr_scope scope;
    const struct pr_truth *truth; /* of a synthetic shop, for models that need it; else NULL */
    pr_pool *pool;
    const parsrec_hooks *hooks;
} pr_counted;

/* The user's sessions from user_offsets[user] up to, but not including, this one are counted. */
static inline int64_t pr_counted_end(const pr_counted *c, size_t user)
{
    const int64_t *offsets = c->data->user_offsets;
    pr_user_part part = pr_part_of_user(c->data, user);
    if (c->scope.users != NULL && !c->scope.users[user])
        return offsets[user];
    if ((part == PR_USER_TESTS && c->scope.held > 0) ||
        (part == PR_USER_VALIDATES && c->scope.held > c->scope.last))
        return offsets[user];
    bool holds = part == PR_USER_BY_SESSIONS && pr_split_evaluated(c->data, user, c->scope.last);
    int64_t held = holds ? (int64_t)c->scope.held : 0;
    int64_t end = offsets[user + 1] - held, more = (int64_t)c->scope.more;
    if (end - offsets[user] > more)
        end -= more;
    return end > offsets[user] ? end : offsets[user];
}

#endif
