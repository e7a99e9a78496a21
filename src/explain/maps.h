/* Maps: what each class has to do with each other one, as numbers. Row i is what is bought next,
 * column j what is in the basket. */
#ifndef PR_MAPS_H
#define PR_MAPS_H

#include "explain/evidence.h"
#include "explain/tour.h"
#include "report/heat_scale.h"

typedef enum pr_map_kind {
    PR_MAP_TRUTH,     /* covariance that synthetic data were made with */
    PR_MAP_ATTENTION, /* share of the attention of row i that goes to column j */
    PR_MAP_EVEN,      /* the same with equal weights: what attention owes to mere counting */
    PR_MAP_DROP,      /* log of how many times as likely j makes i as other items do */
    PR_MAP_LIFT,      /* log of how many times as often both are bought as by chance */
    PR_MAP_EMBEDDING, /* dot product of the rows that the model learnt for them */
    PR_MAP_KINDS
} pr_map_kind;

typedef struct pr_map_words {
    const char *name;  /* "drop": in options and names of files */
    const char *title; /* "Drop effect" */
    const char *scale; /* what its numbers are */
    const char *how;   /* sentences on how to read it */
    pr_heat_unit unit; /* how its numbers are shown */
} pr_map_words;
extern const pr_map_words pr_map_words_of[PR_MAP_KINDS];

/* map[N,N]; NaN where nothing is known. */
void pr_map_attention(double *map, const pr_tour_sums *sums);
void pr_map_even(double *map, const pr_tour_sums *sums);
void pr_map_drop(double *map, const pr_tour_sums *sums);

/* Baskets that hold both, against what chance would make of how often each is held, half a basket added to
 * both numbers. On the diagonal: NaN. */
void pr_map_lift(double *map, const pr_evidence *evidence);

/* Means over the items of each class. E_UNSUPPORTED for a model without rows of items. */
parsrec_status pr_map_embedding(double *map, const pr_model *model, const pr_axis *axis,
                                parsrec_error *err);

#endif
