/* The scores of one open basket as chances of the next item: a softmax over what is not in it yet. */
#ifndef PR_NEXT_CHANCES_H
#define PR_NEXT_CHANCES_H

#include "math/shapes.h"
#include "whatif/scenario.h"

/* In place: scores[V] become chances that add up to 1. What is placed gets none; scores that are no
 * numbers neither. */
void pr_next_chances(pr_real *scores, size_t items, const int32_t *placed, size_t n);

/* The item at which the sum of chances passes `unit`, which is in (0, 1); -1 where all are 0. */
int32_t pr_chances_draw(const pr_real *chances, size_t items, double unit);

/* row[lines->count]: the chance that the next item belongs to a line; 0 for new items. */
void pr_chances_lines(float *row, const pr_lines *lines, const pr_real *chances);

/* part[scenario->parts]: the chance that it is of the part of a bin that is off. */
void pr_chances_parts(float *part, const pr_scenario *scenario, const pr_real *chances);

#endif
