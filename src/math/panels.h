/* Maps in a layout for answers: 64 outputs of one input are adjacent, so that a few rows go through a map
 * at the speed of the cache and no sum runs across a vector. Products and sums are fused where the
 * processor can do it, so the last bits depend on the processor (docs/adr/0009), but never on the other
 * rows. */
#ifndef PR_PANELS_H
#define PR_PANELS_H

#include "math/shapes.h"

enum { PR_PANEL = 64 };

/* Numbers that a map of I inputs and O outputs takes. */
size_t pr_panels_size(size_t I, size_t O);
/* From w[O,I], whose rows are `stride` apart; aligned as a vector is. */
void pr_panels_make(pr_real *panels, const pr_real *w, size_t stride, size_t I, size_t O);

/* y[B,O] = x[B,I] times the map, or with `add` that on top of what is there. */
void pr_panels_map(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                   const pr_real *panels, size_t B, size_t I, size_t O);
/* y[n] += some outputs of one row, whose weights are rows `ids` of w[.,I]: the same bits as from
 * pr_panels_map. */
void pr_panels_add_some(pr_real *y, const pr_real *x, const pr_real *w, const int32_t *ids,
                        size_t n, size_t I);

/* The sum of exp(x[i] - top), for answers: its last digits depend on the processor. */
double pr_exp_sum(const pr_real *x, pr_real top, size_t n);

#endif
