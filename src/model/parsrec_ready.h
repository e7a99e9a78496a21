/* PARSRec made ready to answer: what the maps of query, keys, values and join make of an item is worked out
 * once for every item, and two maps that follow each other become one. Weights must not change any more. */
#ifndef PR_PARSREC_READY_H
#define PR_PARSREC_READY_H

#include "model/parsrec_net.h"

typedef struct pr_arnn_ready {
    size_t stride;
    pr_real
        *items; /* [V + 1, stride], see math/item_attention.h; the last is the start of a basket */
    pr_real
        *move_w; /* [dv, dv + dq]: from hidden state and normed sum to the next hidden state ... */
    pr_real *move_b; /* [dv]: ... without the user's share */
} pr_arnn_ready;

/* Sets model->ready, or leaves it NULL where the settings or the size do not allow it. */
parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err);

/* Steps of the first rows of a session, each with the bits that it has alone. umove[rows,dv] and
 * joint[rows,dv + dq] belong to the caller. */
void pr_arnn_quick_user(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows, pr_real *umove);
/* Of one row: `ids` are the items that it looks at, the start of a basket where it has none. */
void pr_arnn_quick_look(pr_arnn_net *net, const pr_arnn_ready *ready, size_t row,
                        const int32_t *ids, size_t n);
void pr_arnn_quick_move(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows, pr_real *hidden,
                        const pr_real *umove, pr_real *joint);
void pr_arnn_quick_answer(pr_arnn_net *net, size_t rows);

#endif
