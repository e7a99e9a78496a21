/* The user table of a training by several ranks. Users do not move: the rows of a range of them, with their
 * moments, the best epoch and the average, are on one rank, their holder, and no other rank has memory for
 * them. What a rank needs of other users for a while visits it: before a batch, a validation or the mix the
 * holders send copies of the rows that somebody asked for. The row of unknown users is on all ranks, who
 * update it alike.
 *
 * Which rank holds a row changes no number: whoever reads one reads the same. The blocks of a rank have the
 * usual layout with fewer rows (pr_params_keep_users), so whatever goes over a block goes over the rank's
 * own part of it.
 *
 * Life cycle: pr_user_rows_divide before a model has weights; then, as often as needed, all ranks say alike
 * who wants which users and bring them; files are written by rank 0, with the others handing in. */
#ifndef PR_USER_ROWS_H
#define PR_USER_ROWS_H

#include "data/container.h"
#include "model/model.h"
#include "ranks/ranks.h"

/* The row of a user, or of unknown users (model->users), that is here or visits. */
const pr_real *pr_user_row(const pr_model *model, size_t row);

/* The same of a list of them, one after the other. */
void pr_user_rows_copy(pr_real *out, const pr_model *model, const int32_t *list, size_t n);

/* Leaves the model, which has no weights yet, its rank's part of the user table and sets model->user_rows,
 * which is the caller's to free. NULL without ranks or a user table; then the calls below do nothing. */
parsrec_status pr_user_rows_divide(pr_user_rows **out, pr_model *model, pr_ranks *ranks,
                                   parsrec_error *err);
void pr_user_rows_free(pr_user_rows *rows); /* after the model */

/* ---- visits ---- */

/* A rank will want a user; not for unknown ones (below 0). All ranks must make the same calls, in any
 * order. */
parsrec_status pr_user_rows_want(pr_user_rows *rows, unsigned rank, int32_t user,
                                 parsrec_error *err);
parsrec_status pr_user_rows_want_all(pr_user_rows *rows, int32_t user,
                                     parsrec_error *err); /* every rank will */
/* Takes the memory of that many wishes beforehand, of which no more than `visits` are of one rank. */
parsrec_status pr_user_rows_reserve(pr_user_rows *rows, size_t wishes, size_t visits,
                                    parsrec_error *err);
/* Adds to the next exchange what brings the rows wanted, as model->weights has them now. They replace
 * those of the last call. */
parsrec_status pr_user_rows_post(pr_user_rows *rows, const pr_model *model, parsrec_error *err);
/* The same with the exchange. */
parsrec_status pr_user_rows_bring(pr_user_rows *rows, const pr_model *model, parsrec_error *err);
/* The memory of the last two for an estimate beforehand, with that many wishes in all. */
size_t pr_user_rows_bytes(const pr_user_rows *rows, size_t wishes);
/* How often rows were posted, to tell whether those of an earlier call are still here. */
uint64_t pr_user_rows_posted(const pr_user_rows *rows);

/* ---- files ---- */

/* For rank 0: the whole user table of a block, whose other rows arrive as they are written. */
typedef struct pr_user_rows_reader {
    pr_user_rows *rows;
    const pr_param *users;
    const pr_real *here; /* the rows of this rank */
    unsigned holder;     /* of the next row */
    size_t next;         /* row of the whole table */
} pr_user_rows_reader;
pr_tensor_source pr_user_rows_source(pr_user_rows_reader *reader, const pr_model *model,
                                     const pr_real *block);
/* For the others, while rank 0 reads that block. */
parsrec_status pr_user_rows_hand_in(pr_user_rows *rows, const pr_model *model, const pr_real *block,
                                    parsrec_error *err);

#endif
