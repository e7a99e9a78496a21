/* A table quantised to eight bits, used to find the rows that can be among the best. A row is one
 * integer per column times the row's step size. The effect of rounding on a score is bounded, so
 * only rows within the bound need an exact score and the result is exactly that of the full table.
 * Sums are integer sums: the same on every processor. */
#ifndef PR_COARSE_H
#define PR_COARSE_H

#include "math/shapes.h"

typedef struct pr_coarse {
    size_t rows, width;
    uint8_t *codes; /* as byte_products.h stores them */
    pr_real *steps; /* [rows] */
    pr_real length; /* largest length of a row's codes ... */
    pr_real error;  /* ... and of its rounding error, in steps */
} pr_coarse;

/* The bytes pr_coarse_make needs, and the largest width allowed, so that sums of products fit 32
 * bits. */
enum { PR_COARSE_WIDTH_MOST = 1 << 16 };
size_t pr_coarse_bytes(size_t rows, size_t width);
/* Quantises table[rows,width] into `memory`: pr_coarse_bytes() bytes, aligned, owned by the caller,
 * which must outlive `coarse`. */
void pr_coarse_make(pr_coarse *coarse, void *memory, const pr_real *table, size_t rows,
                    size_t width);

/* A query of the same width, quantised. */
typedef struct pr_coarse_query {
    int8_t *codes; /* [width rounded up to a multiple of four], provided by the caller */
    pr_real step;
    pr_real slack; /* bound on the error of a row's score, in steps of that row; not finite: no
                    * bound is known */
    int32_t shift; /* what the shift of the table's codes adds to a sum */
} pr_coarse_query;

void pr_coarse_ask(pr_coarse_query *query, const pr_coarse *coarse, const pr_real *x);
/* least[rows] = a lower bound of the product with each row. The true product exceeds it by at most
 * 2 · slack · steps[row]. */
void pr_coarse_least(pr_real *least, const pr_coarse *coarse, const pr_coarse_query *query);
/* Writes the rows whose scores can reach `bar`, in ascending order, and returns how many. Terms
 * that were added to least[rows] in the meantime count in both bounds. Overwrites `least`. */
size_t pr_coarse_reach(int32_t *rows, const pr_coarse *coarse, const pr_coarse_query *query,
                       pr_real *least, pr_real bar);

#endif
