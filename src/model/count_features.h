/* Seven counts of an item for a user with an open basket: the features of the model `mix`, and of
 * whatever mixes a network with counts.
 *
 *   times        log(1 + sessions of the user that held the item)
 *   recent       log(1 + the same, a session decayed by its age)
 *   had          1 if the user ever had it
 *   popular      log(share of all sessions that held it)
 *   lift         mean over the placed items of log((n + 1) / (e + 1)): n sessions held both, e would
 *                have by chance; 0 while the basket is empty
 *   neighbours   log of the count that the user's other counts lead to expect (neighbours.h)
 *   sessions     log(1 + sessions of the user) for items the user had: how much a habit is worth
 *                depends on how long the user is known
 *
 * The tables are parameters of a model, so that they are in its file: list them with
 * pr_count_tables_layout, count them with pr_count_tables_count, read them through the view of
 * pr_count_tables_of. Everything is sparse in pairs of items: at most PR_LIFT_WIDTH links and
 * PR_COUNT_NEIGHBOURS_K neighbours per item.
 *
 * Features are written for the whole catalogue at once, as planes[PR_COUNT_FEATURES, V]: start them
 * when a basket starts and add the lift of each item that is placed. A mix is a weighted sum of
 * planes; pr_choice_fit (choice_fit.h) finds the weights. */
#ifndef PR_COUNT_FEATURES_H
#define PR_COUNT_FEATURES_H

#include "data/counted.h"
#include "model/counting/transitions.h"
#include "model/history.h"
#include "model/model.h"

typedef enum pr_count_feature {
    PR_COUNT_TIMES,
    PR_COUNT_RECENT,
    PR_COUNT_HAD,
    PR_COUNT_POPULAR,
    PR_COUNT_LIFT,
    PR_COUNT_NEIGHBOURS,
    PR_COUNT_SESSIONS,
    PR_COUNT_FEATURES,
} pr_count_feature;

/* Ends with NULL. */
extern const char *const pr_count_feature_names[PR_COUNT_FEATURES + 1];

enum { PR_LIFT_WIDTH = 256, PR_COUNT_NEIGHBOURS_K = 10 };

/* Views of a model's parameters. */
typedef struct pr_count_tables {
    size_t items;
    double sessions;         /* that were counted */
    const pr_real *held;     /* [V]: sessions that held the item */
    pr_transitions together; /* sessions that held both of two items */
    pr_near near;
} pr_count_tables;

/* Adds the parameters counts.sessions, counts.held, counts.together.* and counts.near.*. */
parsrec_status pr_count_tables_layout(pr_model *model, parsrec_error *err);
/* In two steps, since the memory of all parameters is taken between them: counts the links and sets the
 * sizes of parameters; then, after pr_model_alloc_weights, fills all of them. */
parsrec_status pr_count_tables_size(pr_links *together, pr_model *model, const pr_counted *from,
                                    parsrec_error *err);
parsrec_status pr_count_tables_count(pr_model *model, const pr_links *together,
                                     const pr_counted *from, parsrec_error *err);
/* Whether what came from a file points to items. */
parsrec_status pr_count_tables_verify(const pr_model *model, parsrec_error *err);
pr_count_tables pr_count_tables_of(const pr_model *model);

/* Memory for one user's history at a time. */
typedef struct pr_count_scratch {
    int32_t *items;                          /* [V] */
    pr_real (*features)[PR_REPEAT_FEATURES]; /* [V] */
    int32_t *slots;                          /* [V], zero between calls */
} pr_count_scratch;
void pr_count_scratch_take(pr_count_scratch *own, pr_arena *arena, size_t items);

/* planes[PR_COUNT_FEATURES, V] of a user whose basket is empty; `decay` is the setting recall.decay. */
void pr_count_features_start(pr_real *planes, const pr_count_tables *t, const pr_history *history,
                             double decay, pr_count_scratch *own);

/* sum[V] += the log lift of every item with a placed one. Divided by the number of placed items it is
 * the plane PR_COUNT_LIFT. */
void pr_count_lift_add(pr_real *sum, const pr_count_tables *t, int32_t placed);
/* The same of one item: what a placed one adds to it. */
double pr_count_lift(const pr_count_tables *t, int32_t placed, int32_t item);

#endif
