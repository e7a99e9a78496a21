/* Pasts that grow while they are read: those of a data set, and after them what was bought since. Any
 * number of threads may read and write. */
#ifndef PR_LIVE_PASTS_H
#define PR_LIVE_PASTS_H

#include "base/siphash.h"
#include "data/histories.h"

typedef struct pr_live_histories pr_live_histories;

/* A table with a row for every item, of which a past has the sum, kept up to date with every item that is
 * added. */
typedef struct pr_live_rows {
    const float *table; /* NULL: no sums are kept */
    size_t width;
    bool mean; /* pasts have the mean, not the sum */
} pr_live_rows;

/* `base`, `users`, whose numbers it is in, and the table must outlive it and not change; `items` bounds
 * the numbers of items. */
parsrec_status pr_live_new(pr_live_histories **out, const pr_histories *base,
                           const pr_intern *users, size_t items, const pr_live_rows *rows,
                           parsrec_error *err);
void pr_live_free(pr_live_histories *live); /* NULL is fine */

/* Adds to the session of that name, NULL for one that stays alone. Items below 0 are left out; all others
 * must be below `items`. Nothing is changed on failure. */
parsrec_status pr_live_add(pr_live_histories *live, pr_slice user, const char *session,
                           const int32_t *items, size_t count, parsrec_error *err);

/* Puts items into an open basket, which is no part of the past. What pr_live_add adds under the same name leaves
 * it. Only the newest few of a user are kept; one without a name is not. */
parsrec_status pr_live_cart(pr_live_histories *live, pr_slice user, const char *session,
                            const int32_t *items, size_t count, parsrec_error *err);

/* Drops what was added, and hides what the base has, for good. */
parsrec_status pr_live_forget(pr_live_histories *live, pr_slice user, parsrec_error *err);
/* The same for the user whose key has this hash (base/siphash.h), if there is one. The secret is the same in
 * all calls. */
parsrec_status pr_live_forget_hash(pr_live_histories *live, const uint8_t secret[PR_SIPHASH_BYTES],
                                   const uint8_t hash[PR_SIPHASH_BYTES], parsrec_error *err);
/* Whether what the base has of this user is hidden. */
bool pr_live_forgotten(pr_live_histories *live, pr_slice user);

/* Numbers go up to, not including, this one. */
size_t pr_live_users(pr_live_histories *live);

/* False for a user who is not known, or was forgotten and has bought nothing and opened no basket since. */
bool pr_live_find(pr_live_histories *live, pr_slice user, int32_t *number);

/* Calls with each user who is known, in order of numbers, until it returns false. The key lives for the
 * call, which must not come back here. */
typedef bool pr_live_visit(void *context, int32_t user, pr_slice key, size_t sessions);
void pr_live_each(pr_live_histories *live, pr_live_visit *visit, void *context);

/* A past that stays as it was when it was read. Begins zeroed; one thread uses it again and again. */
typedef struct pr_history_copy {
    int32_t *items;
    int64_t *sessions;
    size_t item_capacity, session_capacity;
    float *vector; /* [width]: sum or mean of the rows of its items ... */
    size_t vector_capacity;
    bool has_vector;    /* ... where something was added and sums are kept */
    pr_history history; /* of `items`, or of the base where nothing was added */
    bool own_row;       /* false once the user was forgotten */
    uint64_t stamp;     /* pasts of a user that differ have different ones; never 0 */
} pr_history_copy;

void pr_history_copy_free(pr_history_copy *copy); /* a zeroed one is fine */

/* The past of a number below pr_live_users, without the session of that name, if not NULL. */
parsrec_status pr_live_past(pr_live_histories *live, int32_t user, const char *without,
                            pr_history_copy *copy, parsrec_error *err);

/* The items of one session so far, in the order they were added, those of its open basket last, into a list that grows; the newest `most`
 * where there are more, none where there is no session of that name. */
parsrec_status pr_live_session(pr_live_histories *live, int32_t user, const char *name, size_t most,
                               int32_t **items, size_t *capacity, size_t *count,
                               parsrec_error *err);

#endif
