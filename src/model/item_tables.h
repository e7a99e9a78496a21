/* Item tables under a loss against drawn items: gradients as lists of items and rows (docs/adr/0013).
 *
 * While such a training runs, the weights hold the items' own rows, and code that needs a row asks for the
 * sum with its shared parts: pr_item_row. Every chunk has a list of items with gradient rows. The lists
 * of a batch are joined along the tree of the chunks; the parts get their gradients from the items of the
 * joined list. Moments and weights change in these rows alone.
 *
 * Two things still go over the catalogue. Weight decay: every update does the next PR_DECAY_ROWS rows of
 * a table, by as much as is due since their last turn, so that rows decay alike however often they are
 * drawn. And the sums, which are put into the weights once per epoch for validation
 * (pr_item_tables_show); the own rows are kept aside meanwhile, so that showing does not change a bit of
 * the run. */
#ifndef PR_ITEM_TABLES_H
#define PR_ITEM_TABLES_H

#include "base/threads.h"
#include "math/optimise.h"
#include "model/shared_parts.h"
#include "ranks/ranks.h"

enum { PR_DECAY_ROWS = 4096 };

typedef struct pr_item_tables pr_item_tables;

/* For batches of at most `chunks` chunks within the limits; `drawn` as kind->drawn_items says. Borrows
 * model and pool. */
parsrec_status pr_item_tables_new(pr_item_tables **out, const pr_model *model, pr_pool *pool,
                                  const pr_limits *limits, size_t chunks, size_t drawn,
                                  parsrec_error *err);
void pr_item_tables_free(pr_item_tables *tables); /* NULL is fine */
size_t pr_item_tables_bytes(const pr_model *model, const pr_limits *limits, size_t chunks,
                            size_t drawn, unsigned threads);

/* Gives every chunk of a batch room for its rows. */
void pr_item_tables_deal(pr_item_tables *tables, const pr_batch *batch, pr_chunk *chunks,
                         size_t count);
/* Two arrays of items + 1 zeros for a thread. */
int32_t *pr_item_tables_slots(pr_item_tables *tables, unsigned worker, size_t which);
/* The chunks of a batch are dealt to ranks in order, unless there is but one; every rank joins them. */
parsrec_status pr_item_tables_divide(pr_item_tables *tables, pr_ranks *ranks, parsrec_error *err);
/* Joins the rows of the chunks along their tree and sums those of the shared parts. *squares is the sum
 * of squares of all. With ranks, `count` of every chunk's rows is known, and the rows of own chunks. */
parsrec_status pr_item_tables_join(pr_item_tables *tables, const pr_chunk *chunks, size_t count,
                                   double *squares, parsrec_error *err);
/* Weight decay that is due, then the update of the rows that the batch touched. adam->decay is that of
 * tables. */
void pr_item_tables_update(pr_item_tables *tables, pr_real *const moment[2], const pr_adam *adam,
                           pr_real clip);
/* Writes the joined gradient into a block with the layout of the weights, zero elsewhere; for tests. */
void pr_item_tables_scatter(const pr_item_tables *tables, pr_real *block);

/* Puts the sums into the weights, for validation; then the own rows again, as they were. */
void pr_item_tables_show(pr_item_tables *tables);
void pr_item_tables_hide(pr_item_tables *tables);

#endif
