/* The number type of all arithmetic, and the letters that shapes are written in.
 *
 *   B  rows of a batch (baskets)       Du  width of a user row
 *   L  steps of a basket               Di  width of an item row, and of the hidden state
 *   U  users                           Dq  width of a query, Du + Di
 *   V  items of the catalogue          H   heads of the attention
 *   I, O  inputs and outputs of a map  T   rows of a tile
 *
 * Matrices are row-major; x[B,I] has B rows of I numbers. Ops take outputs, inputs, sizes, in this
 * order; they allocate nothing and keep nothing. */
#ifndef PR_SHAPES_H
#define PR_SHAPES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library computes in float. Gradient tests compile the same files with PR_REAL_DOUBLE. */
#ifdef PR_REAL_DOUBLE
typedef double pr_real;
#define pr_sqrt      sqrt
#define pr_log       log
#define pr_nextafter nextafter
#else
typedef float pr_real;
#define pr_sqrt      sqrtf
#define pr_log       logf
#define pr_nextafter nextafterf
#endif

#endif
