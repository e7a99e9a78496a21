/* What models learn from and score: users, items and categories as numbers. All structs are views:
 * what their pointers refer to is owned elsewhere and must outlive them. */
#ifndef PR_BATCH_H
#define PR_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

enum { PR_NO_TIME = 0 }; /* a time that is not known */

enum { PR_ANYONE = -1 }; /* an unknown user: a guest, or one who was not trained on */

/* What a feature describes. */
typedef enum pr_feature_of {
    PR_OF_USER,
    PR_OF_SESSION,
    PR_OF_ITEM,
    PR_FEATURE_TABLES,
} pr_feature_of;

/* One column: either numbers (NaN where unknown) or codes, which are indices into `values` (-1 where
 * unknown). */
typedef struct pr_feature_column {
    char *name;
    const float *number; /* NULL for a column of codes */
    const int32_t *code; /* NULL for a column of numbers */
    pr_names values;
} pr_feature_column;

/* One row of `count` columns; zeroed: nothing is known. */
typedef struct pr_feature_row {
    const pr_feature_column *columns;
    size_t count, row;
} pr_feature_row;

/* What is known about a session before its first item. */
typedef struct pr_known_features {
    pr_feature_row user, session;
} pr_known_features;

/* The sizes and feature columns that a model is built for. */
typedef struct pr_shop {
    size_t users, items, categories;
    const pr_feature_column *features[PR_FEATURE_TABLES];
    size_t feature_count[PR_FEATURE_TABLES];
} pr_shop;

/* What a user bought before: the items of session after session, oldest first; an item may occur in
 * several sessions. */
typedef struct pr_history {
    const int32_t *items;
    size_t count;
    /* [session_count + 1]: session s is items[sessions[s] - sessions[0] .. sessions[s + 1] -
     * sessions[0]), so that the session_offsets of a data set can be used as they are. NULL: where
     * sessions begin is not known, and all items are of one age. */
    const int64_t *sessions;
    size_t session_count;
    /* [session_count]: when sessions were, in seconds since 1970; NULL: not known. */
    const int64_t *times;
    int64_t now; /* the time of the open basket; PR_NO_TIME: not known */
} pr_history;

/* A finished basket: no item twice. For sequence models `items` are a user's newest ones over several
 * sessions; they follow those of the history in memory, whose `sessions` run on over them. */
typedef struct pr_basket {
    int32_t user;
    pr_history history;
    const int32_t *items;
    size_t size; /* at least 1 */
    pr_known_features features;
} pr_basket;

/* Baskets of equal or nearly equal size. Rows that end early cost nothing in later steps. */
typedef struct pr_batch {
    const pr_basket *baskets;
    size_t rows;
    uint32_t number;          /* of batches since training began: selects the random draws */
    bool in_order;            /* targets are the items as stored, not the teacher's choice */
    const float *step_weight; /* [steps]: factor of each step's loss; NULL: 1 / rows */
} pr_batch;

#endif
