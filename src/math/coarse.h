/* A table in eight bits, for finding which rows can be among the best. A row is a whole number a column times a step of
 * its own; what the rounding can do to a score is bounded, so that rows outside of the bound need not be looked at
 * again and the answer is that of the table itself. Sums are of whole numbers: the same on every processor. */
#ifndef PR_COARSE_H
#define PR_COARSE_H

#include "math/shapes.h"

typedef struct pr_coarse {
    size_t rows, width;
    int8_t *codes;    /* sixty-four rows together, four columns at a time */
    int32_t *offsets; /* [rows]: what shifting a query above zero adds to a sum */
    pr_real *steps;   /* [rows] */
    pr_real length,
        error; /* most that codes, and what rounding took from them, are long, in steps */
} pr_coarse;

/* Memory of the parts, and the largest width that is allowed: sums of products must fit. */
enum { PR_COARSE_WIDTH_MOST = 1 << 16 };
size_t pr_coarse_bytes(size_t rows, size_t width);
/* Of table[rows,width], into aligned memory of so many bytes. */
void pr_coarse_make(pr_coarse *coarse, void *memory, const pr_real *table, size_t rows,
                    size_t width);

/* A query of the same width in eight bits. */
typedef struct pr_coarse_query {
    uint8_t *codes; /* [width, rounded up to four] */
    pr_real step;
    pr_real
        slack; /* steps of a row by which its coarse score may be off; not finite: nothing is known */
} pr_coarse_query;

void pr_coarse_ask(pr_coarse_query *query, const pr_coarse *coarse, const pr_real *x);
/* least[rows]: what the product with a row is at least. It is at most 2 · slack · steps[row] more. */
void pr_coarse_least(pr_real *least, const pr_coarse *coarse, const pr_coarse_query *query);
/* Rows whose scores can reach `bar`, in order. What was added to least[rows] since counts for both ends; it is lost.
 * Returns how many. */
size_t pr_coarse_reach(int32_t *rows, const pr_coarse *coarse, const pr_coarse_query *query,
                       pr_real *least, pr_real bar);

#endif
