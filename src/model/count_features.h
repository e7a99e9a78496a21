/* Seven counts of an item for a user with an open basket: the features of the model `mix`, and of
 * any model that mixes a network with counts.
 *
 *   times        log(1 + sessions of the user that contain the item)
 *   recent       log(1 + the same, each session decayed by its age)
 *   had          1 if the user ever bought it
 *   popular      log(share of all sessions that contain it)
 *   lift         mean over the placed items of log((n + 1) / (e + 1)): n sessions contain both, e
 *                would by chance; 0 while the basket is empty
 *   neighbours   log of the count expected from the user's other counts (neighbours.h)
 *   sessions     log(1 + sessions of the user) for items the user bought: how much a habit is worth
 *                depends on the length of the history
 *
 * The tables are parameters of a model, so that they are in its file: list them with
 * pr_count_tables_layout, count them with pr_count_tables_count, read them through the view of
 * pr_count_tables_of. Everything is sparse in pairs of items: at most PR_LIFT_WIDTH links and
 * PR_COUNT_NEIGHBOURS_K neighbours per item.
 *
 * Features are written for the whole catalogue at once, as planes[PR_COUNT_FEATURES, V]: start
 * them when a basket starts and add the lift of each item that is placed. A mix is a weighted sum
 * of planes; pr_choice_fit (choice_fit.h) finds the weights. */
#ifndef PR_COUNT_FEATURES_H
#define PR_COUNT_FEATURES_H

#include "data/split.h"
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

/* Weights of the counts are drawn to these while they are fitted, as if by this many cases
 * (choice_fit.h); so few sessions do not decide alone. */
extern const double pr_count_prior[PR_COUNT_FEATURES];
enum { PR_COUNT_PRIOR_CASES = 10 };

enum { PR_LIFT_WIDTH = 256, PR_COUNT_NEIGHBOURS_K = 10 };

/* Views of a model's parameters. */
typedef struct pr_count_tables {
    size_t items;
    double sessions;         /* number of sessions counted */
    const pr_real *held;     /* [V]: sessions that contain the item */
    pr_transitions together; /* sessions that contain both of two items */
    pr_near near;
} pr_count_tables;

/* Adds the parameters counts.sessions, counts.held, counts.together.* and counts.near.*. */
parsrec_status pr_count_tables_layout(pr_model *model, parsrec_error *err);
/* In two steps, since the memory of all parameters is allocated in between. pr_count_tables_size
 * counts the links and sets the sizes of the parameters. After pr_model_alloc_weights,
 * pr_count_tables_fill sets their values. */
parsrec_status pr_count_tables_size(pr_links *together, pr_model *model, const pr_counted *from,
                                    parsrec_error *err);
parsrec_status pr_count_tables_count(pr_model *model, const pr_links *together,
                                     const pr_counted *from, parsrec_error *err);
/* Checks that links from a file point to items of the catalogue. */
parsrec_status pr_count_tables_verify(const pr_model *model, parsrec_error *err);
pr_count_tables pr_count_tables_of(const pr_model *model);

/* Scratch memory for one user's history at a time. */
typedef struct pr_count_scratch {
    int32_t *items;                          /* [V] */
    pr_real (*features)[PR_REPEAT_FEATURES]; /* [V] */
    int32_t *slots;                          /* [V], zero between calls */
} pr_count_scratch;
void pr_count_scratch_take(pr_count_scratch *own, pr_arena *arena, size_t items);

/* Fills planes[PR_COUNT_FEATURES, V] for a user with an empty basket; `decay` is the setting
 * recall.decay. */
void pr_count_features_start(pr_real *planes, const pr_count_tables *t, const pr_history *history,
                             double decay, pr_count_scratch *own);

/* sum[V] += the log lift of every item with the placed one. Divided by the number of placed items
 * this is the plane PR_COUNT_LIFT. */
void pr_count_lift_add(pr_real *sum, const pr_count_tables *t, int32_t placed);
/* The log lift of one item with a placed one. */
double pr_count_lift(const pr_count_tables *t, int32_t placed, int32_t item);

#endif
