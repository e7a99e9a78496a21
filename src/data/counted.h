/* What a model that only counts may look at: a view of a data set that ends, for each user, where
 * the sessions to be predicted begin. */
#ifndef PR_COUNTED_H
#define PR_COUNTED_H

#include "base/hooks.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "data/split.h"

struct pr_truth; /* data/truth.h */

/* Which sessions may be counted. */
typedef struct pr_scope {
    size_t held;       /* last sessions of each user who is evaluated that are not; 0: count all */
    size_t last;       /* test sessions of a user, which say who is evaluated (split.h) */
    size_t more;       /* of the sessions that are left, so many of the newest of every user who has
                          more are not counted either: what is fitted is tried on them */
    const bool *users; /* [users]: whose sessions are; NULL: everybody's */
} pr_scope;

/* All that may be known before the sessions of a part: for PR_VALID the training sessions, for
 * PR_TEST the validation sessions as well. */
static inline pr_scope pr_scope_before(pr_split_part part, size_t last)
{
    return (pr_scope){.held = part == PR_VALID ? last + 1 : last, .last = last};
}

typedef struct pr_counted {
    const pr_dataset *data;
    pr_scope scope;
    const struct pr_truth *truth; /* what the data were made from, for kinds that need it */
    pr_pool *pool;
    const parsrec_hooks *hooks;
} pr_counted;

/* The sessions of a user that count go from user_offsets[user] up to, not including, this one. */
static inline int64_t pr_counted_end(const pr_counted *c, size_t user)
{
    const int64_t *offsets = c->data->user_offsets;
    if (c->scope.users != NULL && !c->scope.users[user])
        return offsets[user];
    int64_t held = pr_split_evaluated(c->data, user, c->scope.last) ? (int64_t)c->scope.held : 0;
    int64_t end = offsets[user + 1] - held, more = (int64_t)c->scope.more;
    if (end - offsets[user] > more)
        end -= more;
    return end > offsets[user] ? end : offsets[user];
}

#endif
