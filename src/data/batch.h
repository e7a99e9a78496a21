/* What models learn from and score: views of ids, no files. What pointers refer to is owned
 * elsewhere and must outlive the view. */
#ifndef PR_BATCH_H
#define PR_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

enum { PR_ANYONE = -1 }; /* the user of a guest, or one never seen before */

typedef enum pr_feature_of {
    PR_OF_USER,
    PR_OF_SESSION,
    PR_OF_ITEM,
    PR_FEATURE_TABLES,
} pr_feature_of;

/* One column: numbers (NaN where unknown) or codes into a table of values (-1 where unknown). */
typedef struct pr_feature_column {
    char *name;
    const float *number; /* or NULL */
    const int32_t *code; /* or NULL */
    pr_names values;     /* of the codes */
} pr_feature_column;

/* A row of some columns; zeroed: nothing is known. */
typedef struct pr_feature_row {
    const pr_feature_column *columns;
    size_t count, row;
} pr_feature_row;

/* What is known of a session before its first item. */
typedef struct pr_known_features {
    pr_feature_row user, session;
} pr_known_features;

/* How many users and items there are, and the feature columns of users, sessions and items. */
typedef struct pr_shop {
    size_t users, items, categories;
    const pr_feature_column *features[PR_FEATURE_TABLES];
    size_t feature_count[PR_FEATURE_TABLES];
} pr_shop;

/* What a user bought before: items of one session after the other, oldest first, with
 * repetition. */
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
    pr_known_features features;
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
