/* What models learn from and score: views of ids, no files. All pointers belong to somebody else
 * and must outlive the view. */
#ifndef PR_BATCH_H
#define PR_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_ANYONE = -1 }; /* the user of a guest, or one never seen before */

/* What a user bought before: items of one session after the other, oldest first, with repetition. */
typedef struct pr_history {
    const int32_t *items;
    size_t count;
    /* Session s holds items[sessions[s] - sessions[0] .. sessions[s + 1] - sessions[0]); offsets as
     * a data set has them. NULL: all of one age. */
    const int64_t *sessions;
    size_t session_count;
} pr_history;

/* A finished basket: no item twice. */
typedef struct pr_basket {
    int32_t user;
    pr_history history;
    const int32_t *items;
    size_t size; /* at least 1 */
} pr_basket;

/* Baskets of one size, or nearly one: rows that end early cost nothing afterwards. */
typedef struct pr_batch {
    const pr_basket *baskets;
    size_t rows;
    uint32_t number;          /* of the batch since training began: the place of its random draws */
    bool in_order;            /* targets are the items as stored, not the teacher's choice */
    const float *step_weight; /* [steps]: factor of each step's loss; NULL: 1 / rows */
} pr_batch;

#endif
