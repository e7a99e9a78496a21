/* From a model's scores to the probability of each item to come next: the one place where inference
 * takes a softmax, or shares of a sum for models that count. Training has its own
 * (math/softmax_loss.h).
 *
 * Three forms, by what the caller needs: the log probability of a few items (pr_chances_of), sums
 * over classes of items (pr_chances_by_class), and all probabilities in place, to draw from
 * (pr_next_chances). Items that are no candidates score -INFINITY. */
#ifndef PR_CHANCES_H
#define PR_CHANCES_H

#include <stdint.h>

#include "model/model.h"

typedef struct pr_chances {
    double top, log_sum; /* of scores that are exponents */
    double sum;          /* over all items: of exp(score - top), or of scores that are shares */
    bool shares;
} pr_chances;

/* The least probability: an item that a counting model never saw has probability 0, whose logarithm
 * would say nothing more. */
#define PR_CHANCE_LEAST 1e-6

/* Of scores[V]. */
pr_chances pr_chances_of(const pr_model *model, const pr_real *scores);
/* The log probability of an item with that score. */
double pr_log_chance(const pr_chances *chances, pr_real score);

/* The same, and mass[classes + 1]: sums by class, to be divided by the sum of all. order[V] has the
 * items by class, those of class c from offsets[c] on; the last class is the rest. work[V] is
 * overwritten. */
pr_chances pr_chances_by_class(double *mass, pr_real *work, const pr_model *model,
                               const pr_real *scores, const uint32_t *order, const size_t *offsets,
                               size_t classes);

/* In place: scores[V] of one open basket, exponents, become probabilities that add up to 1. What is
 * placed gets 0, and so do scores that are not finite. */
void pr_next_chances(pr_real *scores, size_t items, const int32_t *placed, size_t n);

/* The item at which the sum of probabilities passes `unit`, which is in (0, 1); -1 where all are
 * 0. */
int32_t pr_chances_draw(const pr_real *chances, size_t items, double unit);

#endif
