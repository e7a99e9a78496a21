/* What a counting model may look at: a view of a data set that ends, for each user, before the
 * sessions to be predicted. */
#ifndef PR_COUNTED_H
#define PR_COUNTED_H

#include "base/hooks.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "data/split.h"

struct pr_truth; /* synth/truth.h */

/* Which sessions are counted: of each user the oldest, up to pr_counted_end. */
typedef struct pr_scope {
    size_t held; /* newest sessions left out for each evaluated user; 0: none */
    size_t last; /* test sessions per user, which decides who is evaluated (split.h) */
    /* Then this many more are left out for every user who keeps at least one: settings are fitted on
     * the rest and tried on these. */
    size_t more;
    const bool *users; /* [users]: false leaves the user out; NULL: all users count */
} pr_scope;

/* Everything before the sessions of a part: for PR_VALID the training sessions, for PR_TEST also the
 * validation sessions. */
static inline pr_scope pr_scope_before(pr_split_part part, size_t last)
{
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
    if (c->scope.users != NULL && !c->scope.users[user])
        return offsets[user];
    int64_t held = pr_split_evaluated(c->data, user, c->scope.last) ? (int64_t)c->scope.held : 0;
    int64_t end = offsets[user + 1] - held, more = (int64_t)c->scope.more;
    if (end - offsets[user] > more)
        end -= more;
    return end > offsets[user] ? end : offsets[user];
}

#endif
