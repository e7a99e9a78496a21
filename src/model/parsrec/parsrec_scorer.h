/* PARSRec while it answers: what is made ready when a model is loaded, what is kept of open baskets, and
 * the state of a scorer.
 *
 * There are two ways to a score, with the same meaning:
 *
 *   plain   scorers of many rows (evaluation, studies) run the network of training, step by step
 *           (parsrec_net.c), and score the catalogue by one matrix product
 *   quick   scorers of few rows (requests) use tables made ready from the final weights: maps of an item
 *           are computed once per item and two maps in a row become one (pr_arnn_ready). The best items
 *           are found without scoring all of them exactly: by a sieve in eight bits with a proven bound
 *           (math/coarse.h) or, for large catalogues, a search by blocks (math/search.h). The candidates
 *           that remain are scored exactly, so the answer is that of the whole catalogue
 *
 * A score is a sum of terms: the product of output and item row, item bias, repeat purchases, expectation
 * from neighbours, pairs, lifts, trends; with a mix each has its weight. Both ways add the same terms.
 *
 * Work is put off until somebody asks: placing an item only notes it, and pr_arnn_ensure_step runs the
 * step when scores, attention or terms are wanted. Rows that start alike are twins: one is computed and
 * the others copy it until they place different items (reasons leave one thing out per row). A scorer
 * of one row also keeps the last baskets of recent users (pr_arnn_kept), so that one more item in an
 * open basket costs one step. */
#ifndef PR_PARSREC_SCORER_H
#define PR_PARSREC_SCORER_H

#include "math/coarse.h"
#include "math/search.h"
#include "math/topk.h"
#include "model/history.h"
#include "model/parsrec/parsrec_net.h"

/* ---- tables for answers: what the maps of query, keys, values and join make of an item is worked out
 * once for every item, and two maps that follow each other become one. Of a large catalogue it is worked
 * out for the items of a basket when they are placed ---- */

/* Bounds of what is added to the product of an output and an item's row, by block of the search. */
typedef struct pr_arnn_bounds {
    pr_real *bias[PR_MIX_STAGES];      /* [blocks]: the largest */
    pr_real *base_most, *base_least;   /* [blocks]: of near.base; NULL without neighbours */
    pr_real *trend_most, *trend_least; /* [PR_PERIODS,blocks]; NULL without trends */
} pr_arnn_bounds;

typedef struct pr_arnn_ready {
    size_t stride;
    pr_real *items; /* [V + 1, stride], see math/attention.h; the last is the start of a basket */
    pr_real *item_w,
        *item_b; /* instead, of a large catalogue: panels from an item's row to its row of
                               * `items`, and what is added */
    pr_real *
        bias[PR_MIX_STAGES]; /* [V] each: item biases, with a mix its share of popularity in them */
    /* Panels (math/panels.h): from a user's row to the cell; from the hidden state and the normed sum beside it to
     * the next hidden state, and to the output; from there to the scores, NULL for a large catalogue. */
    pr_real *user_w, *move_w, *answer_w, *table;
    pr_real *cell_b; /* [2dv]: added in the cell, for hidden state and output */
    pr_real *gate_w; /* [gates, dv + dq]; with recall */
    pr_real *gate_b;
    pr_coarse coarse; /* of a small catalogue; else no rows */
    bool searches;    /* the best items are found by: */
    pr_search search;
    pr_arnn_bounds bounds;
} pr_arnn_ready;

/* Item biases with the mix's share of popularity, for first and later steps, into bias[stage][V]. False
 * if there is no mix, or its weights are all zero: not fitted yet. */
bool pr_arnn_mixed_biases(pr_real *const *bias, const pr_arnn_dims *d, const pr_arnn_view *w);

/* Rows of a scorer to work on, in order, and room for count * (3dv + dq) numbers. */
typedef struct pr_arnn_rows {
    const size_t *list;
    size_t count;
    pr_real *room;
} pr_arnn_rows;

/* ---- baskets that are still open: for each of the users who asked last, the user's share of the cell
 * and the hidden states of the last basket. Belongs to a scorer of one row ---- */

enum { PR_ARNN_KEPT_STEPS = 8 };

/* A basket: hidden[i], for i < steps, is what follows the first i of its items. */
typedef struct pr_arnn_kept_basket {
    uint64_t alike; /* as the start has it; 0: nothing is kept here */
    uint32_t items, steps;
    int32_t item[PR_ARNN_KEPT_STEPS];
} pr_arnn_kept_basket;

typedef struct pr_arnn_kept {
    size_t slots, dv;
    pr_arnn_kept_basket *baskets; /* [slots] */
    pr_real *
        rows; /* [slots, (3 + PR_ARNN_KEPT_STEPS) * dv]: cell, first hidden state, those that follow */
    size_t open;   /* the basket under way; slots: it is not kept */
    size_t placed; /* items of it */
} pr_arnn_kept;

/* From an arena, which may be counting. */
void pr_arnn_kept_take(pr_arnn_kept *kept, pr_arena *arena, const pr_arnn_dims *d);

/* Begins a basket. True, and cell[2dv] and hidden[dv] are set, if a start like this one is kept. */
bool pr_arnn_kept_begin(pr_arnn_kept *kept, uint64_t alike, pr_real *cell, pr_real *hidden);
void pr_arnn_kept_place(pr_arnn_kept *kept, int32_t item);

/* ---- the state of a scorer ---- */

enum { PR_ARNN_LIKELY = 1024 }; /* items at most that are looked at twice, to find the best */

typedef struct pr_arnn_state {
    pr_arnn_net net;
    const pr_arnn_ready *ready;         /* NULL: rows are steps of the plain network */
    pr_real *made;                      /* of a large catalogue, rows of `items` made when placed:
                                         * [rows·capacity + 1,stride], the last for the start */
    int32_t *made_at;                   /* [rows,capacity]: where those of the placed items are */
    pr_real *panel;                     /* of a large catalogue, items that are scored together */
    pr_real *joint;                     /* [rows,dv + dq] */
    pr_real *fresh[PR_ARNN_MAX_LAYERS]; /* [rows,2dq]: keys and values just projected */
    pr_real *kept[PR_ARNN_MAX_LAYERS];  /* [rows,capacity,2dq] */
    pr_real *hidden;                    /* [rows,dv]: after the present step */
    pr_real *memory;                    /* [rows,dv]: what an lstm keeps then */
    size_t *at;                         /* [capacity]: 0, 1, 2, ... */
    size_t *keys, *placed;              /* [rows] */
    int32_t *ids;                       /* [rows] */
    int32_t *chosen;            /* [rows,capacity]: what was placed, or the start of a basket */
    int32_t *bag_items, *slots; /* [V] */
    pr_real *bag_weights;
    int32_t *had;      /* [rows,V]: items of each row's past, had_count of them */
    size_t *had_count; /* [rows] */
    pr_real (*recall)[PR_REPEAT_FEATURES]; /* [rows,V] */
    pr_near_few *few;                      /* [rows]: what neighbours lead to expect; or NULL */
    bool dense; /* `few` has the values of all items, by item: small catalogues, where most of them
                 * are linked to something in a history */
    pr_real *counts, *expected;   /* [V], with them: memory for one row at a time */
    size_t *expected_of;          /* [1]: the row that `expected` is of, by past_of */
    size_t *past_of;              /* [rows]: itself, or a row before it with the same past */
    pr_pair_partners partners;    /* none: there are no pairs */
    pr_pair_basket *pair_baskets; /* [rows] */
    pr_real *pair_values;         /* [rows,classes + 1]: the last one is 0 */
    pr_lift_sums *lift_sums;      /* [rows]; NULL: there are no lifts */
    const pr_real **trend;        /* [rows]: of the row's time, [V] each; NULL: not weighed */
    pr_arnn_kept lately;          /* no slots: nothing is kept */
    pr_coarse_query query;        /* of one row that was made ready */
    pr_search_query search;       /* or this */
    int32_t *likely;              /* [V]: items that may be among the best ... */
    pr_real *exact;               /* [PR_ARNN_LIKELY]: ... and their scores */
    /* What is there of the present step: outputs; and of each row that was made ready, normed sums and next
     * hidden states. A row with a twin has what the twin has, until one of them goes its own way. */
    const pr_real
        *bias[PR_MIX_STAGES];  /* [V] each; the model's own without a mix, NULL without biases */
    bool mixed;                /* outputs and gates are to be weighed by the mix */
    bool ran, *looked, *moved; /* [rows] */
    size_t *twin, *list;       /* [rows]: itself, or a row before it; rows to work on */
    pr_real *room;             /* see pr_arnn_rows */
} pr_arnn_state;

/* What neighbours lead to expect of all items; expected[V] is the scorer's own. */
const pr_real *pr_arnn_expected(const pr_arnn_state *s, size_t row);
/* How many of the placed items, at least one, the sums of lifts are over. */
static inline pr_real pr_arnn_lifted(const pr_arnn_state *s, size_t row)
{
    return s->net.d.after ? 1 : (pr_real)s->placed[row];
}
/* Runs the present step, unless it has been. */
void pr_arnn_ensure_step(pr_scorer *scorer);
/* Rows that leave something out have the same past, most of them. */
bool pr_arnn_same_past(const pr_start *a, const pr_start *b);

/* ---- scorers of few rows, which use the tables that were made ready ---- */

/* After histories and users are set. `known`: what users bring to the cell is set too. */
void pr_arnn_quick_begin(pr_scorer *scorer, const pr_start *starts, bool known);
/* The next hidden states, of rows without a twin before them. */
void pr_arnn_quick_moves(pr_scorer *scorer);
/* Rows that place something else than their twins go their own way; NULL: all rows do. */
void pr_arnn_quick_part(pr_scorer *scorer, const int32_t *items);
/* Makes made[at] for an item. */
void pr_arnn_quick_make(const pr_arnn_state *s, size_t at, int32_t item);
/* A row places an item of a large catalogue. */
void pr_arnn_quick_place(pr_scorer *scorer, size_t r, const int32_t *items);
/* Outputs of all rows. */
void pr_arnn_quick_run(pr_scorer *scorer);

#endif
