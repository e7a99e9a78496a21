/* Maps laid out for answering. Sixty-four outputs of an input stand together, so that a few rows go through a map
 * as fast as the cache hands it over, and no sum runs across a vector. Products and sums are fused where the
 * processor can, so last bits depend on the processor (docs/adr/0009), but never on what other rows there are. */
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
/* y[n] += some outputs of one row, whose weights are rows `ids` of w[.,I]: bit for bit as pr_panels_map has them. */
void pr_panels_add_some(pr_real *y, const pr_real *x, const pr_real *w, const int32_t *ids,
                        size_t n, size_t I);

#endif
