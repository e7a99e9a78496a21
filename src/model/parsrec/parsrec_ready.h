/* PARSRec made ready to answer: what the maps of query, keys, values and join make of an item is worked out
 * once for every item, and two maps that follow each other become one. Weights must not change any more. */
#ifndef PR_PARSREC_READY_H
#define PR_PARSREC_READY_H

#include "math/coarse.h"
#include "model/parsrec/parsrec_net.h"

typedef struct pr_arnn_ready {
    size_t stride;
    pr_real
        *items; /* [V + 1, stride], see math/item_attention.h; the last is the start of a basket */
    /* Panels (math/panels.h): from a user's row to the cell; from the hidden state and the normed sum beside it to
     * the next hidden state, and to the output; from there to the scores. */
    pr_real *user_w, *move_w, *answer_w, *table;
    pr_real *cell_b; /* [2dv]: what the cell gets besides, hidden state and output */
    pr_real *gate_w; /* [gates, dv + dq]; with recall */
    pr_real *gate_b;
    pr_coarse coarse;
} pr_arnn_ready;

/* Sets model->ready, or leaves it NULL where the settings or the size do not allow it. */
parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err);

/* Rows of a session to work on, in order, and room for count * (3dv + dq) numbers. */
typedef struct pr_arnn_rows {
    const size_t *list;
    size_t count;
    pr_real *room;
} pr_arnn_rows;

/* Steps of some rows, each with the bits that it has alone. joint[.,dv + dq] belongs to the caller. */
void pr_arnn_quick_user(pr_arnn_net *net, const pr_arnn_ready *ready, const pr_arnn_rows *rows);
/* Of one row: `ids` are the items that it looks at, the start of a basket where it has none. Sets its joint. */
void pr_arnn_quick_look(pr_arnn_net *net, const pr_arnn_ready *ready, size_t row, pr_real *joint,
                        const int32_t *ids, size_t n);
void pr_arnn_quick_move(const pr_arnn_net *net, const pr_arnn_ready *ready,
                        const pr_arnn_rows *rows, pr_real *hidden, const pr_real *joint);
/* Of the first rows, all of them. */
void pr_arnn_quick_answer(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows,
                          const pr_real *joint);

#endif
