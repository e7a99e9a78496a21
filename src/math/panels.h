/* Linear maps in a layout for serving. 64 outputs of one input are adjacent, so a few rows pass
 * through a map at cache speed and no sum runs across a vector. Products and sums are fused where
 * the processor supports it, so the last bits depend on the processor (docs/adr/0009), but never on
 * the other rows. */
#ifndef PR_PANELS_H
#define PR_PANELS_H

#include "math/shapes.h"

enum { PR_PANEL = 64 };

/* How many numbers the panels of a map with I inputs and O outputs take. */
size_t pr_panels_size(size_t I, size_t O);
/* Fills panels[pr_panels_size(I, O)] from w[O,I], whose rows are `stride` apart. `panels` must be
 * aligned to a vector. */
void pr_panels_make(pr_real *panels, const pr_real *w, size_t stride, size_t I, size_t O);

/* y[B,O] = x[B,I] times the map; with `add`, added to y. */
void pr_panels_map(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                   const pr_real *panels, size_t B, size_t I, size_t O);
/* y[n] += selected outputs of one row, whose weights are rows `ids` of w[.,I]. The bits are the
 * same as those of pr_panels_map. */
void pr_panels_add_some(pr_real *y, const pr_real *x, const pr_real *w, const int32_t *ids,
                        size_t n, size_t I);

/* The sum of exp(x[i] - top), for serving: its last digits depend on the processor. */
double pr_exp_sum(const pr_real *x, pr_real top, size_t n);

#endif
