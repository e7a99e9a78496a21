/* PARSRec from the inside: its dimensions, its tensors, and the attention-fused recurrent network (the
 * paper's ARNN, hence the names). docs/math.md has tensors and formulas.
 *
 * Files. parsrec_params.c lists the tensors once; layout, views, files and reports read that list.
 * parsrec_net.c is the network: one step forward and backward over rows of baskets. parsrec_learn.c
 * trains it on a chunk of baskets (parsrec_drawn.c: losses against drawn items, parsrec_local.c: the
 * items they look at). parsrec_scorer.c answers
 * for open baskets, parsrec_answer.c makes that fast. parsrec_mix.c fits the mix at the end of training.
 *
 * Two ways to run. A training chunk knows its baskets: rows are sorted longest basket first, so the rows
 * of step j + 1 are the first ones of step j, and every step keeps what the backward pass needs. A scorer
 * does not know what comes next: its tape has one step, keys and values of placed items are copied aside.
 * With few rows and a model that was made ready, it does not run the plain network at all but tables in
 * which maps are multiplied out for every item (parsrec_answer.c); the sums are the same, in another
 * order.
 *
 * The tape (pr_arnn_tape) is all memory of a pass, taken from an arena that was sized by the same calls
 * with a counting arena. T rows in all, R at most in a step; rows of step j stand together from
 * first[j] on. What depends on the user alone is computed once per basket ([R,.]), its gradients come
 * once from sums over the steps (names that begin with s).
 *
 * Twins: rows of an explanation leave out one thing each and agree for most of the way. A row whose twin
 * is another row has what that row has; it is computed once, until they place different items.
 * Kept baskets: for the users who asked last, the user's share of the cell and the hidden states of the
 * last basket stay, so that one more item is one more step. Neither changes a bit of any answer.
 *
 * Invariants. Same bits at any number of threads: chunks are cut by a rule that does not know the number
 * of threads and their gradients are added in order; a row of a scorer has the bits that it has alone.
 * Nothing here allocates once an arena is sized. Weights do not change while a model is ready. */
#ifndef PR_PARSREC_NET_H
#define PR_PARSREC_NET_H

#include "math/blas.h"
#include "model/history.h"
#include "model/lifts.h"
#include "model/model.h"
#include "model/neighbours.h"
#include "model/pairs.h"
#include "model/purchase_times.h"

extern const pr_model_kind pr_parsrec;

enum { PR_ARNN_MAX_LAYERS = 8 };

typedef struct pr_arnn_dims {
    size_t users, items;   /* without the rows for anyone and for the start of a basket */
    size_t du, dv, dq, dz; /* dq = du + dv, dz = dq + dv */
    size_t heads, layers;
    bool norm, residual, paper; /* settings layer_norm, layer_norm.query, stack = paper */
    pr_ffn ffn;
    pr_cell_kind cell;
    size_t blocks; /* of dv rows in cell_w: pr_arnn_cell_blocks */
    /* What the model has beyond the paper (docs/math.md): an item bias; direct effects of the placed
     * items, of the one placed last, and of the history on the output; the repeat-purchase term;
     * its features of dates; embeddings shared by category or item feature; the final mix with
     * counts. */
    bool bias, pull, follow, past, recall, times, kin, mix;
    bool
        after; /* lifts are those of what comes after the item placed last; else the mean over all placed */
    size_t gates; /* of the repeat-purchase term */
    pr_real fade; /* share of an item's pull that is left a step later; 1 where baskets are sets */
    bool kin_apart;    /* what is shared comes from features.item: the setting kin is off */
    size_t neighbours; /* of an item, at most */
    size_t lifts;      /* of an item, at most; with a mix */
    size_t pairs;      /* classes whose pairs are remembered; 0: none */
    const pr_feature_inputs *inputs;
    size_t width; /* of the map of numbers among them */
    pr_real eps;
} pr_arnn_dims;

pr_arnn_dims pr_arnn_dims_of(const pr_model *model);

/* How much of a user's own row counts after so much history; the rest is the row of unknown users. */
static inline pr_real pr_arnn_user_share(const pr_config *config, const pr_history *history)
{
    double n = (double)history->count, half = config->user_shrink;
    return half > 0 ? (pr_real)(n / (n + half)) : 1;
}

/* What the mix at the end of training adds to a score: weights of the score itself, of the features of
 * repeat purchases, of what neighbours lead to expect, of log popularity, with dates of recent sales,
 * and of the mean log lift with placed items; one row for the first step of a basket, one for later ones. All
 * zero: not fitted, the score as it is. (docs/math.md, The mix) */
enum { PR_MIX_SCORE, PR_MIX_GATES, PR_MIX_WEIGHTS_MOST = PR_MIX_GATES + PR_GATES + 3 };
static inline size_t pr_arnn_mix_popular(const pr_arnn_dims *d)
{
    return PR_MIX_GATES + d->gates;
}
static inline size_t pr_arnn_mix_lift(const pr_arnn_dims *d)
{
    return pr_arnn_mix_popular(d) + (d->times ? 2 : 1);
}
static inline size_t pr_arnn_mix_weights(const pr_arnn_dims *d)
{
    return pr_arnn_mix_lift(d) + (d->lifts > 0 ? 1 : 0);
}
/* "first step: count" */
const char *pr_arnn_mix_name(const pr_arnn_dims *d, size_t stage, size_t weight);
enum { PR_MIX_FIRST, PR_MIX_LATER, PR_MIX_STAGES };

/* Where the tensors of one block (weights or gradients) are. */
typedef struct pr_arnn_layer {
    pr_real *query_w, *query_b; /* [dq,dq]; NULL in upper layers of stack = paper */
    pr_real *kv_w, *kv_b; /* [2dq,dv]: keys, then values; in those layers values alone, [dq,dv] */
    pr_real *join_w, *join_b; /* [dq,dq] */
    pr_real *gain, *shift;    /* [dq]; none without layer norm */
    pr_real *map_w, *map_b;   /* [out,dq] */
} pr_arnn_layer;

typedef struct pr_arnn_view {
    pr_real *item;
    pr_real *cell_w, *cell_b; /* [blocks·dv,dz]: next hidden state, then output */
    pr_real *bias;            /* [items] */
    pr_real *pull, *scale_w;  /* [items,dv], [dv,du] */
    pr_real *follow;          /* [items + 1,dv], the last for the start of a basket */
    pr_real *past_w;          /* [dv,dv] */
    pr_real *mix, *popular;   /* [stages,weights], [items]: counted at the end of training */
    pr_real *gate_w, *gate_b; /* [gates,dz], [gates] */
    pr_near near;
    pr_purchase_times times;
    pr_lifts lifts;
    pr_pair_memory pairs;
    pr_real *pair_gate;               /* [PR_PAIR_GATES] */
    pr_real *word, *about_scale;      /* [words,dv], [numbers,2]: features */
    pr_real *about_in_w, *about_in_b; /* [width,2 numbers], [width] */
    pr_real *about_out_w;             /* [dv,width] */
    pr_real *ffn_in_w, *ffn_in_b, *ffn_out_w, *ffn_out_b;
    pr_arnn_layer layer[PR_ARNN_MAX_LAYERS];
} pr_arnn_view;

parsrec_status pr_arnn_layout(pr_model *model, parsrec_error *err);
/* The tensors inside a block of the model's layout. */
pr_arnn_view pr_arnn_view_of(const pr_model *model, pr_real *block);
/* The same inside the gradient of a chunk (pr_params_pack), which need not have item tables. */
pr_arnn_view pr_arnn_gradient_view(const pr_model *model, pr_real *block);
/* Columns a layer's map gives: dv for the last layer and under stack = paper, else dq. */
size_t pr_arnn_map_width(const pr_arnn_dims *d, size_t layer);
/* True for layers whose one key is the output of the layer below. */
bool pr_arnn_is_upper(const pr_arnn_dims *d, size_t layer);

/* What one layer computes, a row for every row of every step. The upper layers of stack = paper have no
 * q, kv, weight and dquery. */
typedef struct pr_arnn_layer_tape {
    pr_real *q;      /* [T,dq]: Q W_Q + b, all heads side by side */
    pr_real *kv;     /* [T,2dq]: keys, then values, of the item placed before the step */
    pr_real *weight; /* [T,heads,keys]: softmax of the attention */
    pr_real *concat; /* [T,dq]: the paper's Concat(head_1, ..., head_h) */
    pr_real *unit;   /* [T,dq]: what the layer norm keeps for its backward pass ... */
    pr_real *rate;   /* [T] */
    pr_real *a;      /* [T,dq]: output of the layer norm */
    pr_real *out;    /* [T,width of the map] */
    /* Gradients, set by the backward pass: of out; of the sum before the layer norm; of q; of kv. In the
     * upper layers of stack = paper dkv is that of the one value, [T,dq]. */
    pr_real *dout, *djoin, *dquery, *dkv;
} pr_arnn_layer_tape;

/* The tape of a pass over T rows in all, R at most in a step. Rows of step j stand together. */
typedef struct pr_arnn_tape {
    size_t T, R, keys;   /* keys: the most a row ever looks at */
    pr_real *u;          /* [R,du] user rows */
    pr_real *ucell, *uq; /* [R,blocks·dv], [R,dq]: the user's share of cell and first query */
    pr_real *sums;       /* [T,(blocks-1)·dv]: what gates let through; not of the plain cell */
    pr_real *back;       /* [T,dv]: gru, the hidden state's share of the candidate */
    pr_real *memory;     /* [T,dv]: lstm, what the cell keeps */
    pr_real *z;          /* [T,2dv]: hidden state and what the attention gave */
    pr_real *e;          /* [T,dv]: row of the item placed before the step */
    pr_real *raw, *wide; /* [T,dv] input of the feed-forward layers and their middle */
    pr_real *ffn;        /* [T,dv] their output before the cell */
    pr_real *o;          /* [T,dv] output */
    pr_real *scale;      /* [R,dv]: what the user makes of placed items */
    pr_real *past;       /* [R,dv]: what the history adds to every output */
    pr_real *ugate;      /* [R,gates] */
    pr_real *pull;       /* [T,dv]: sum over the items placed, fading */
    pr_real *follow;     /* [T,dv]: what the item placed last adds */
    pr_real *gate;       /* [T,gates]: weights of what is recalled */
    pr_real *about;      /* [R,dv]: what features add to the first hidden state */
    int32_t *words;      /* [R,words] */
    pr_real *inputs, *middle; /* [R,2 numbers], [R,width] */
    pr_arnn_layer_tape layer[PR_ARNN_MAX_LAYERS];
    /* backward */
    pr_real *dmiddle;                         /* [R,width] */
    pr_real *dgate, *dpull;                   /* [T,.] */
    pr_real *sgate, *dscale, *dpast, *spull;  /* [R,.]: sums over the steps */
    pr_real *do_, *dcell, *dffn, *dwide, *de; /* [T,.] */
    pr_real *dback, *dmemory;                 /* [T,dv], [R,dv] */
    pr_real *duser, *dh, *scell, *sq; /* [R,.]: of u; of the hidden state; sums over the steps */
    pr_real *tmp, *tmp2;              /* [R, max(dq, 2dv)] */
    pr_real *work;                    /* [keys] */
} pr_arnn_tape;

typedef struct pr_arnn_net {
    pr_arnn_dims d;
    pr_arnn_view w, g; /* weights; gradients where a pass goes backward */
    pr_arnn_tape t;
} pr_arnn_net;

/* Takes the tape from an arena; with a counting arena this is how it is sized. */
void pr_arnn_tape_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d, size_t T, size_t R,
                       size_t keys);
void pr_arnn_tape_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d);

/* One step of some rows. Key p of row r is tape row at[p] + r * stride. */
typedef struct pr_arnn_step {
    size_t first, rows; /* its rows on the tape */
    const size_t *at;
    size_t stride, keys;               /* keys of every row ... */
    const size_t *counts;              /* ... or of each, if not NULL */
    bool query;                        /* some row has more than one key */
    pr_real *hidden;                   /* the next hidden states go here, hidden_stride apart ... */
    size_t hidden_stride, hidden_rows; /* ... and its rows */
    pr_real *memory;                   /* lstm: what the cell keeps then, dv apart */
} pr_arnn_step;

/* The user's share of cell and query, for rows of t.u. */
void pr_arnn_user_forward(pr_arnn_net *net, size_t first, size_t rows);
/* Keys and values of e's rows, for all layers that look at items; keys may be left out. */
void pr_arnn_place_forward(pr_arnn_net *net, size_t first, size_t rows, bool keys);
void pr_arnn_step_forward(pr_arnn_net *net, const pr_arnn_step *s);

/* From t.do_ of the step and t.dh of the step after it (its hidden_rows) to t.dh of this step. */
void pr_arnn_step_backward(pr_arnn_net *net, const pr_arnn_step *s);
/* After the last step backward: gradients of all maps, of t.u into t.duser, of t.e into t.de.
 * key_first: tape rows from here on have keys; query_first: from here on queries were asked. */
void pr_arnn_maps_backward(pr_arnn_net *net, size_t key_first, size_t query_first);

/* Blocks of dv rows in cell_w: one for each sum of the cell, then the output's. */
size_t pr_arnn_cell_blocks(pr_cell_kind cell);
/* After the first hidden states of rows 0..rows are set: an lstm remembers them. */
void pr_arnn_cell_begin(pr_arnn_net *net, size_t rows);
/* After the last step backward, before anything else is done with t.dh: what the first hidden states
 * gave to the memory. */
void pr_arnn_cell_end(pr_arnn_net *net);
/* After t.u and the first hidden states of these rows are set. */
void pr_arnn_parts_begin(pr_arnn_net *net, size_t first, size_t rows);
/* Adds what history and placed items say to the outputs of tape rows from `first` on. */
void pr_arnn_parts_sum(pr_arnn_net *net, size_t first, size_t rows);
/* Features: reads those of one row; then t.about of the first rows; then gradients, from dabout[rows,dv].
 * The latter two only where there are any. */
void pr_arnn_about_read(pr_arnn_net *net, size_t row, const pr_known_features *about);
void pr_arnn_about_forward(pr_arnn_net *net, size_t rows);
void pr_arnn_about_backward(pr_arnn_net *net, const pr_real *dabout, size_t rows);

/* Sets model->ready, or leaves it NULL where the settings or the size do not allow it. */
parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err);
size_t pr_arnn_ready_bytes(const pr_model *model);

/* Scorers and training, for the table of functions. */
void pr_arnn_take(void *state, pr_arena *arena, const pr_model *model, size_t rows,
                  size_t capacity);
void pr_arnn_start(pr_scorer *scorer, const pr_start *starts);
void pr_arnn_place(pr_scorer *scorer, const int32_t *items);
void pr_arnn_score_all(pr_scorer *scorer, pr_real *scores);
void pr_arnn_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores);
bool pr_arnn_best(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best,
                  pr_real *scores, size_t *count);
size_t pr_arnn_attention(pr_scorer *scorer, size_t row, pr_real *weights);
bool pr_arnn_score_parts(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *parts,
                         pr_real *placed);
/* The present step's output o and next hidden state of a row, [dv] each. */
void pr_arnn_peek(pr_scorer *scorer, size_t row, const pr_real **o, const pr_real **hidden);
size_t pr_arnn_chunk_bytes(const pr_model *model, const pr_limits *limits);
size_t pr_arnn_mask_bytes(const pr_model *model);
void pr_arnn_draw_mask(const pr_model *model, uint8_t *mask, uint64_t seed, uint32_t batch,
                       uint32_t step);
void pr_arnn_learn(const pr_model *model, pr_chunk *chunk);
size_t pr_arnn_drawn_items(const pr_model *model, size_t targets);
parsrec_status pr_arnn_fit_mix(pr_model *model, const pr_mix_data *data, double *worth,
                               parsrec_error *err);
size_t pr_arnn_mix_bytes(const pr_model *model, size_t baskets, size_t questions);
/* What the mix weighs: popularity and lifts. Weights may move in memory. */
parsrec_status pr_arnn_count_sales(pr_model *model, const pr_counted *from, parsrec_error *err);
/* All that is counted, again, from other sessions. */
parsrec_status pr_arnn_recount(pr_model *model, const pr_counted *from, parsrec_error *err);
double pr_arnn_operations(const pr_model *model, const pr_batch *batch, uint64_t items);

#endif
