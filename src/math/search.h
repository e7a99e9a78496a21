/* Exact search for the rows of a large table that score best with a query. A score is the product of
 * a row and the query plus a term that the caller can bound for a block of rows.
 *
 * Made once per table:
 *   Rows lose their mean, which is the same for all of them, and are turned by an orthogonal map, the
 *   principal axes of the table: products do not change, and the first columns carry most of them.
 *   Rows of a group are halved, along the column or the key in which they differ most, until blocks of
 *   64 are left: rows of a block are alike.
 *   Level 0: the box around a block in the first columns, eight bits, 64 blocks together.
 *   Level 1: half of the columns in eight bits, one step size per block, so that a block needs one
 *   comparison per row and no other number of a row. Half of these are read first, the others where a
 *   row is left. Level 2: the other columns of a row in eight bits, in one or two cache lines with the
 *   row's own step size.
 *
 * Asked: each level adds to its sum a bound on what it leaves out: rounding by the lengths of what was
 * rounded, columns that were not read by the Cauchy-Schwarz inequality. A row whose bound is below
 * the bar, the k-th best exact score so far, cannot be among the best k. The others are returned as
 * candidates. The caller scores them exactly, which raises the bar, and asks for more until there are
 * none. So the answer is that of the full table, bit for bit, with a proof: everything that was not
 * scored exactly has a bound below the final bar.
 *
 * A query belongs to one thread; the search is shared. Nothing here allocates after pr_search_make. */
#ifndef PR_SEARCH_H
#define PR_SEARCH_H

#include "base/memory.h"
#include "math/shapes.h"

enum {
    PR_SEARCH_BLOCK = 64,
    PR_SEARCH_TAILS = 4,        /* parts of the columns that level 0 does not read */
    PR_SEARCH_WIDTH_MOST = 256, /* columns */
    PR_SEARCH_GROUPS_MOST = 256,
    PR_SEARCH_ROOM = 128, /* candidates that one call returns at most */
};

typedef struct pr_search {
    size_t rows, width, blocks;
    size_t box;       /* columns of level 0, a multiple of four */
    size_t early;     /* columns of level 1 that are read first, and ... */
    size_t first;     /* ... all of them, multiples of four */
    size_t line;      /* bytes of a row in level 2 */
    int32_t *items;   /* [blocks, 64]: the row at each place; -1: none */
    int32_t *places;  /* [rows] */
    uint32_t *groups; /* [blocks] */
    pr_real *mean;    /* [width] */
    pr_real *axes;    /* [width,width]: one axis per row */
    pr_real *units;   /* [first]: units of the columns of level 1 */
    uint8_t *boxes; /* [blocks / 64, 2 box / 4, 64, 4]: codes plus 128 of middles and half widths */
    pr_real *box_steps; /* [blocks] */
    uint8_t *codes;     /* [blocks, early / 4, 64, 4]: codes plus 128 */
    uint8_t
        *later; /* [blocks, (first - early) / 4, 64, 4]: those of the other columns of level 1 */
    uint8_t *lines;  /* [blocks, 64, line]: codes plus 128, then step size and error of the row */
    pr_real *steps;  /* [blocks] and so on: step size of level 1 */
    pr_real *errors; /* longest rounding error of a row, in units */
    pr_real *spans;  /* longest row of codes times the step, in units */
    pr_real *tails[PR_SEARCH_TAILS]; /* longest part of a row in these columns */
    pr_real *lengths;                /* longest row */
    pr_real mean_length;
} pr_search;

/* How many blocks rows of these groups take; group[rows] is below `groups`. NULL: one group. */
size_t pr_search_blocks(const uint32_t *group, size_t rows, size_t groups);
/* Takes the parts from an arena, which may be counting. */
void pr_search_take(pr_search *search, pr_arena *arena, size_t rows, size_t width, size_t blocks);
/* After pr_search_take with the blocks of these groups. Rows with larger keys are expected to score
 * better. *fit is false if the table has numbers that are not finite; the search cannot be used then. */
parsrec_status pr_search_make(pr_search *search, bool *fit, const pr_real *table,
                              const uint32_t *group, const pr_real *key, parsrec_error *err);
/* most[blocks] and least[blocks] of column[rows] in each block; either may be NULL. */
void pr_search_extremes(pr_real *most, pr_real *least, const pr_search *search,
                        const pr_real *column);

typedef struct pr_search_query {
    const pr_search *search;
    const uint8_t *barred; /* [rows]: nonzero is never a candidate */
    pr_real *rest;         /* [blocks]: bound on what is added to the product; set by the caller */
    pr_real *reach; /* [blocks]: bound on the scores of the block's rows; -INFINITY: it was read */
    pr_real *early; /* [blocks]: what a sum of the first columns of level 1 can lack, with `rest` */
    pr_real *above; /* [blocks]: the same of all its columns */
    int32_t *order, *listed; /* [blocks]: `ordered` of them in the order of reading; memory */
    size_t ordered;
    int stage;         /* of the order */
    uint64_t *own;     /* [blocks]: rows with a bound of their own ... */
    pr_real *own_rest; /* [blocks, 64]: ... which is this */
    uint32_t *owners;  /* [blocks]: blocks with such rows */
    size_t owner_count;
    int32_t *sums;   /* [blocks]: of the boxes */
    pr_real *turned; /* [width]: the query along the axes */
    int8_t *codes;   /* [first], then [line] */
    int8_t *box;     /* [2 box] */
    pr_real level, length, unit_length, unit_error, tail_length, tail_error;
    pr_real step, tail_step; /* of the codes */
    int32_t shift, early_shift, tail_shift, box_shift;
    size_t next, ahead;               /* place in the order; the block before that place */
    size_t read, looked_twice, found; /* rows of which level 1 and 2 were read, and candidates */
} pr_search_query;

void pr_search_query_take(pr_search_query *query, pr_arena *arena, const pr_search *search);
/* Begins with a query x[width]. False if it has numbers that are not finite. After it the caller sets
 * rest[blocks] and calls pr_search_bound. */
bool pr_search_ask(pr_search_query *query, const pr_real *x, const uint8_t *barred);
void pr_search_bound(pr_search_query *query);
/* The bound of one row, instead of its block's; -INFINITY: it is no candidate. Rows that cannot reach
 * the bar with it are forgotten. */
void pr_search_own(pr_search_query *query, int32_t row, pr_real rest, pr_real bar);
/* The next candidates, rows whose scores can reach the bar, at most PR_SEARCH_ROOM; 0: there are no
 * more. The bar must not fall from call to call. */
size_t pr_search_next(pr_search_query *query, pr_real bar, int32_t *rows);
/* Always the last call of a question. */
void pr_search_end(pr_search_query *query);

#endif
