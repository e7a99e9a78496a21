/* The number type of all arithmetic, and the letters that shapes are written in.
 *
 *   B, R  rows of a batch, of a step        du  width of a user row
 *   T     rows of all steps of a pass       dv  width of an item row and of the hidden state
 *   L     steps of a basket or sequence     dq  width of a query, du + dv
 *   U, V  users, items of the catalogue     dz  width of the cell's input, dq + dv
 *   I, O  inputs and outputs of a map       D   width where there is only one
 *   H     heads of the attention            N   drawn items
 *
 * A d before the name of an array is its gradient: dx, dkv. Matrices are row-major; x[B,I] has B rows
 * of I numbers. Ops take outputs, inputs, sizes, in this order; they allocate nothing and keep nothing. */
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
