/* Models that predict from the newest items alone: a window of `lookback` tokens before each target.
 *
 *   caser   filters over the window as over a picture, and a row per user (Tang and Wang, 2018)
 *   stamp   attention by the last item and the mean of the window (Liu and others, 2018)
 *   narm    a recurrent cell over the window, and attention by its last state (Li and others, 2017)
 *   dream   a recurrent cell over the baskets of the window (Yu and others, 2016)
 *
 * window.c has what they share: tables, scorers, a chunk of training windows, dropout and the losses of
 * sequence.h. A net is what is left: from the embeddings x[n,L,D] of n windows to y[n,D], and back. Windows are
 * independent of each other, as in the papers, which train on every prefix of a session; a block of them is one
 * product per map. */
#ifndef PR_WINDOW_H
#define PR_WINDOW_H

#include "model/sequence/sequence.h"

enum { PR_WINDOW_MAPS = 12, PR_WINDOW_PARTS = 16 };
enum { PR_LOOKBACK_MOST = 200 }; /* as the setting allows */

typedef struct pr_window_dims {
    size_t D, L;          /* width of an item row; tokens of a window */
    size_t across, along; /* caser: filters per height, filters over one column */
    int32_t start;        /* the start row, which the separator follows */
    bool mean;            /* dream: baskets are means, not largest values */
    bool separated;       /* sessions are apart in the window; else every item is one of its own */
} pr_window_dims;

/* A weight of a net. */
typedef struct pr_window_map {
    const char *name;
    size_t rows, cols;
    pr_fill fill;
} pr_window_map;

/* A block of windows. */
typedef struct pr_window_block {
    size_t n;
    const int32_t *ids; /* [n,L]: rows of the item table, the newest last; -1 before the first */
    pr_real *x;         /* [n,L,D]: their embeddings, 0 where there is none */
    pr_real *dx;        /* [n,L,D], zero before backward; NULL in scorers */
    pr_real *part[PR_WINDOW_PARTS]; /* what forward keeps for backward, by the net's `parts` */
} pr_window_block;

typedef struct pr_window_net {
    bool
        users; /* y is followed by the user's row, and items have a table of their own to be scored by */
    /* Lists the maps; returns how many. forward() and backward() get them in this order. */
    size_t (*maps)(pr_window_map *maps, const pr_window_dims *d);
    /* Numbers per window of each part; returns how many parts. */
    size_t (*parts)(size_t *sizes, const pr_window_dims *d);
    /* Sets y[n] with rows `stride` apart. */
    void (*forward)(pr_real *y, size_t stride, const pr_window_block *in, pr_real *const *w,
                    const pr_window_dims *d);
    /* Adds into in->dx and g; parts may be overwritten. */
    void (*backward)(const pr_real *dy, size_t stride, const pr_window_block *in, pr_real *const *g,
                     pr_real *const *w, const pr_window_dims *d);
    double (*products)(const pr_window_dims *d); /* multiplications per window, forward */
} pr_window_net;

/* ---- additive attention, of stamp and narm ---- */

/* Where numbers of window r and position t stand: D from cell r · row + t · step on. */
typedef struct pr_window_steps {
    size_t n, L, D, row, step;
} pr_window_steps;

/* weight[n,L] = v · logistic(q + s), sum[n] = sum over t of weight · h. On entry s has the part of each position,
 * on return the logistic; q[n,D] is the part of the window. Rows of sum are `stride` apart. Positions with ids < 0
 * are left out. */
void pr_window_attend(pr_real *sum, size_t stride, pr_real *s, pr_real *weight, const pr_real *q,
                      const pr_real *v, const pr_real *h, const int32_t *ids,
                      const pr_window_steps *at);
/* Sets dq[n,D]; s becomes the gradient of its entry, 0 where positions are left out; adds into dv and dh. */
void pr_window_attend_backward(pr_real *s, pr_real *dq, pr_real *dv, pr_real *dh,
                               const pr_real *dsum, size_t stride, const pr_real *weight,
                               const pr_real *v, const pr_real *h, const int32_t *ids,
                               const pr_window_steps *at);

/* ---- kinds ---- */

/* Open baskets. A row's window moves as items are placed; y is computed when scores are asked for. */
typedef struct pr_window_state {
    pr_window_dims d;
    pr_window_block in;
    pr_real *item, *bias, *out; /* out: what scores */
    pr_real *w[PR_WINDOW_MAPS];
    int32_t *window; /* [rows,L] */
    pr_real *y;      /* [rows,W] */
    bool stale;      /* y is not that of the windows */
} pr_window_state;

/* The functions of a kind, whose `window` is its net. */
parsrec_status pr_window_check(const pr_config *config, parsrec_error *err);
parsrec_status pr_window_layout(pr_model *model, parsrec_error *err);
void pr_window_take(void *state, pr_arena *arena, const pr_model *model, size_t rows,
                    size_t capacity);
void pr_window_start(pr_scorer *scorer, const pr_start *starts);
void pr_window_place(pr_scorer *scorer, const int32_t *items);
void pr_window_score_all(pr_scorer *scorer, pr_real *scores);
void pr_window_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n,
                     pr_real *scores);
size_t pr_window_chunk_bytes(const pr_model *model, const pr_limits *limits);
void pr_window_learn(const pr_model *model, pr_chunk *chunk);
double pr_window_operations(const pr_model *model, const pr_batch *batch, uint64_t items);
#define PR_WINDOW_KIND                                                                        \
    .sequence = true, .check = pr_window_check, .layout = pr_window_layout,                   \
    .state_bytes = sizeof(pr_window_state), .take = pr_window_take, .start = pr_window_start, \
    .place = pr_window_place, .score_all = pr_window_score_all, .score = pr_window_score,     \
    .chunk_bytes = pr_window_chunk_bytes, .mask_bytes = pr_sequence_mask_bytes,               \
    .learn = pr_window_learn, .operations = pr_window_operations

#endif
