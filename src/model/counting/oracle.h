/* The oracle's parts, for its tests: which categories come next, and which product of a category. */
#ifndef PR_ORACLE_H
#define PR_ORACLE_H

#include "data/split.h"
#include "model/model.h"
#include "synth/truth.h"

/* What a shopper of a group would buy from: the categories in order of their utility in one draw. A
 * basket of n items has the first n of them, whatever n is. */
typedef struct pr_trip {
    uint64_t filter; /* bit c % 64 of each; a category without its bit is not there */
    uint16_t order[PR_SYNTH_BASKET_MOST]; /* as many as there are, best first */
    uint32_t first; /* the smallest basket for which the trip is made; above the largest: none is */
} pr_trip;

/* Draws of all groups, one group after the other. */
typedef struct pr_trips {
    const pr_trip *list;
    size_t count, width; /* width: categories of a trip */
} pr_trips;

/* Draws per group; four times as many change no measure by .003. They are independent of the draws
 * that made the data. */
enum { PR_TRIPS = 32768 };
parsrec_status pr_trips_draw(pr_trip *trips, const pr_truth *truth, pr_pool *pool,
                             parsrec_error *err);

/* What has been put into a basket. */
typedef struct pr_seen {
    const uint16_t *list; /* categories, each once */
    size_t count;
    const uint8_t *has; /* [categories]: 1 for those in the list */
} pr_seen;

/* chance[categories]: of the category of the next item, given a uniformly random part of a basket. The
 * largest sums to about 1 over categories; those in the basket have 0. size_chance[n]: of a basket of n
 * categories. */
void pr_trips_chances(double *chance, size_t categories, const pr_trips *trips, const pr_seen *seen,
                      const pr_real *size_chance);

/* log_chance[n]: of product j to have the largest of base[j] + N(0,1). work[n]. */
void pr_argmax_chances(pr_real *log_chance, const float *base, size_t n, double *work);

#endif
