/* The sessions of all users as parameters of a model, for kinds that ask what similar users bought.
 *
 * past.user [1, U + 1] is the first session of each user, past.session [S + 1, 1] the first item of each
 * session, past.item [A, 1] the items; each list ends with its total. Only these are in the file; a
 * scorer derives what it needs. So forgetting a user means leaving out three ranges. */
#ifndef PR_PASTS_H
#define PR_PASTS_H

#include "data/split.h"
#include "model/model.h"

typedef struct pr_pasts {
    size_t users, sessions, actions;
    const uint32_t *user, *session;
    const int32_t *item;
} pr_pasts;

parsrec_status pr_pasts_layout(pr_model *model, parsrec_error *err);
/* In two steps, since the memory of all parameters is allocated in between. */
parsrec_status pr_pasts_size(pr_model *model, const pr_counted *from, parsrec_error *err);
void pr_pasts_fill(pr_model *model, const pr_counted *from);
/* Checks that numbers from a file point to sessions, items and the catalogue. */
parsrec_status pr_pasts_verify(const pr_model *model, parsrec_error *err);
/* The same for a model of fewer users (pr_model_without): size, then fill. */
parsrec_status pr_pasts_size_without(pr_model *model, const pr_model *from, const bool *gone,
                                     parsrec_error *err);
parsrec_status pr_pasts_fill_without(pr_model *model, const pr_model *from, const bool *gone,
                                     parsrec_error *err);

pr_pasts pr_pasts_of(const pr_model *model);

/* A user's sessions, oldest first, whichever way they are stored. */
typedef struct pr_past {
    const int32_t *items;
    size_t count, sessions;
    const uint32_t *narrow; /* [sessions + 1]: where sessions begin, from ... */
    const int64_t *wide;    /* ... one or the other; both NULL: all items are one session */
} pr_past;

pr_past pr_past_of_user(const pr_pasts *pasts, size_t user);
pr_past pr_past_of_history(const pr_history *history);
/* Where session s begins in past->items; s may be past->sessions. */
static inline size_t pr_past_start(const pr_past *past, size_t s)
{
    if (past->narrow != NULL)
        return past->narrow[s] - past->narrow[0];
    if (past->wide != NULL)
        return (size_t)(past->wide[s] - past->wide[0]);
    return s == 0 ? 0 : past->count;
}

#endif
