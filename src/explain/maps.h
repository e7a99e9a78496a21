/* Maps: how each class of items relates to each other class, as numbers. Row i is what is bought
 * next, column j what is in the basket.
 *
 * Lift is counted in all baskets of a group (evidence.h) and an embedding map is read from the
 * model's tables. Attention and drop effects take a walk: the model is led through the group's
 * baskets, item by item in stored order, and pr_map_sums holds what is summed on the way. At a step
 * with the items S in the basket, leaving out one item j of S changes the probability of class i
 * from p(i | S) to p(i | S without j). Both are shares of all classes that S does not touch: a
 * customer who has bread seldom takes another one, which would make everything else look likelier.
 * docs/explanations.md has the formulas. */
#ifndef PR_MAPS_H
#define PR_MAPS_H

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/user_groups.h"
#include "explain/axis.h"
#include "explain/evidence.h"
#include "model/model.h"
#include "ranks/ranks.h"
#include "report/heatmap.h"

/* A map is a parsrec_map or one of the two that only reports show. */
enum {
    PR_MAP_TRUTH = PARSREC_MAPS, /* covariance that synthetic data were made with */
    PR_MAP_EVEN,                 /* attention with equal weights: how much of it is mere counting */
    PR_MAP_KINDS,
};

/* All maps in the order of reports. */
extern const size_t pr_map_order[PR_MAP_KINDS];

const char *pr_map_name(size_t kind); /* "drop": in options, JSON and names of files */

typedef struct pr_map_words {
    const char *title; /* "Drop effect" */
    const char *scale; /* what its numbers are */
    const char *how;   /* sentences on how to read it */
    pr_heat_unit unit; /* how its numbers are shown */
} pr_map_words;
extern const pr_map_words pr_map_words_of[PR_MAP_KINDS];

/* ---- sums over baskets ---- */

/* Stages of a basket: one item in it, two, or more. What is always bought first becomes less likely
 * once a basket has begun, whatever begins it, so effects are compared within a stage. */
enum { PR_MAP_BASKET_MOST = 64, PR_MAP_STAGES = 3 };

/* What sums are made from. */
typedef struct pr_map_source {
    const pr_model *model;
    const pr_dataset *data; /* users and items as the model numbers them */
    const pr_axis *axis;
    const pr_user_group *group;
    size_t basket_most; /* items of a basket that are looked at, 2..PR_MAP_BASKET_MOST */
    bool attention, drop;
    size_t task_baskets; /* baskets per task, about; 0: the default */
    pr_ranks *ranks;     /* that divide the tasks among them; NULL: none */
} pr_map_source;

/* Sums over a group; N classes. Rows are what is predicted, columns what was placed before. */
typedef struct pr_map_sums {
    size_t N;
    double *attention;      /* [N,N]: over users, rows of each user normalised ... */
    double *even;           /* [N,N]: ... the same if all items of a step had equal weights ... */
    double *users_with_row; /* [N]: ... and the number of users who have that row */
    double *effect;  /* [stages,N,N], columns first: sums of log p(i | S) - log p(i | S without j)
                               for j of the column's class ... */
    double *counted; /* [stages,N,N]: ... and the number of steps and items they are over */
    double *placed;  /* [N]: how often an item of the class was left out */
    double *spare;   /* [N]: work space for making a map */
    double agreeing, pairs; /* pairs of items of a step that attention and effect order alike, less
                               those they order differently; and all pairs */
    uint64_t baskets, cut, steps; /* walked through; of them longer than basket_most; predictions */
    pr_region region;             /* holds the arrays */
} pr_map_sums;

/* The same bits at any number of threads and ranks. Memory is a few maps per thread, and the attention of the
 * baskets of a few users. E_INPUT where no basket has two items. Free also on failure. */
parsrec_status pr_map_sums_make(pr_map_sums *sums, const pr_map_source *source, pr_pool *pool,
                                const parsrec_hooks *hooks, parsrec_error *err);
void pr_map_sums_free(pr_map_sums *sums); /* a zeroed one is fine */

/* ---- maps: map[N,N]; NaN where nothing is known ---- */

void pr_map_attention(double *map, const pr_map_sums *sums);
void pr_map_even(double *map, const pr_map_sums *sums);
void pr_map_drop(double *map, const pr_map_sums *sums);

/* Baskets with both, against the number expected by chance from how often each is bought, half a
 * basket added to both numbers. On the diagonal: NaN. */
void pr_map_lift(double *map, const pr_evidence *evidence);

/* Means over the items of each class. E_UNSUPPORTED for a model without embeddings of items. */
parsrec_status pr_map_embedding(double *map, const pr_model *model, const pr_axis *axis,
                                parsrec_error *err);

#endif
