/* The number type of all arithmetic, and the letters that shapes are written in.
 *
 *   B        rows of a batch                 I, O     inputs and outputs of a map
 *   R, T     rows of a step, rows of all     D        width, where there is only one
 *            steps of a forward pass         du, dv   width of a user row; of an item row and the
 *   L        positions of a sequence                  hidden state (fields of pr_arnn_dims)
 *   V        items of the catalogue          dq, dz   width of a query, du + dv, and of the cell's
 *   H        attention heads                          input, dq + dv (fields of pr_arnn_dims)
 *   N        sampled items                   Dq       dq as an argument of an op
 *   F, K     features of an alternative,     M, N, K  sizes of a matrix product: rows of c,
 *            neighbours of an item                    columns of c, and the dimension summed over
 *
 * A d before the name of an array means its gradient: dx, dkv. Matrices are row-major: x[B,I] has B
 * rows of I numbers, and x[.,I] any number of rows. Ops take outputs, inputs, sizes, in this order.
 * They allocate nothing, keep no pointers, and expect buffers that do not overlap unless their
 * comment says otherwise. */
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
