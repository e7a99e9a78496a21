/* Random correlation matrices by the vine method. */
#ifndef PR_VINE_H
#define PR_VINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* Draws an n x n correlation matrix and a factor of it, correlation = factor * factor'. The factor
 * is lower triangular and stored by columns: factor[k * n + i] is row i, column k, zero for i < k.
 * The matrix depends on the generator and `place` alone; a smaller n gives its leading part. */
void pr_vine_draw(double *factor, double *correlation, size_t n, const pr_rng *rng, uint32_t place);

#endif
