/* A stack of self-attention blocks over sequences of items: what SASRec and BERT4Rec share. The
 * positions of all sequences stand below each other, without padding, so that maps are single
 * products; only attention goes sequence by sequence (docs/math.md, Sequence models). */
#ifndef PR_ENCODER_H
#define PR_ENCODER_H

#include "base/memory.h"
#include "base/rng.h"
#include "math/dropout.h"
#include "model/model.h"

enum { PR_ENCODER_MAX_LAYERS = 8 };

typedef struct pr_encoder_dims {
    size_t items; /* of the catalogue. The table has more rows: the start of a history (SASRec) or
                       * the mask (BERT4Rec), and the separator of sessions if there is one */
    size_t positions; /* longest sequence */
    size_t width, inner, heads, layers;
    size_t intervals; /* TiSASRec: intervals that attention tells apart (intervals.h); else 0 */
    bool cloze;       /* sees both sides and has a head (BERT4Rec), else only what came before */
    bool separated;   /* a separator stands between two sessions */
    pr_real eps;
} pr_encoder_dims;

typedef struct pr_encoder_layer {
    pr_real *ask_gain, *ask_shift; /* layer norm before the attention */
    pr_real *qkv_w, *qkv_b, *join_w, *join_b;
    pr_real *ffn_gain, *ffn_shift; /* layer norm before the feed-forward map */
    pr_real *in_w, *in_b, *out_w, *out_b;
} pr_encoder_layer;

/* Where the tensors are in a block of weights or gradients. */
typedef struct pr_encoder_view {
    pr_real *item, *position, *gain, *shift;
    pr_real *position_key, *position_value; /* TiSASRec, instead of position */
    pr_real *interval_key, *interval_value;
    pr_real *head_w, *head_b, *head_gain, *head_shift;
    pr_encoder_layer layer[PR_ENCODER_MAX_LAYERS];
} pr_encoder_view;

/* Sequences, one after the other: s has positions first[s] .. first[s + 1]. */
typedef struct pr_sequences {
    size_t count;
    size_t *first; /* [count + 1] */
    int32_t *ids;  /* rows of the item table */
    int64_t *when; /* their times; NULL: nobody asks */
} pr_sequences;

/* Dropout of a pass. Site 0 is the embedding; each layer has its weights, join, inner and out. */
typedef struct pr_encoder_drop {
    pr_drop hidden, weights;
    bool on_hidden, on_weights;
    pr_rng rng;
    uint32_t batch;
    const uint32_t *rows; /* [count]: the place of each sequence's draws */
} pr_encoder_drop;

/* What forward keeps of one layer for backward; T positions. */
typedef struct pr_encoder_kept {
    pr_real *ask_unit, *ask_rate, *ask; /* [T,D], [T], [T,D] */
    pr_real *qkv, *weight, *mix;        /* [T,3D], a matrix a head and sequence, [T,D] */
    pr_real *ffn_unit, *ffn_rate, *ffn; /* [T,D], [T], [T,D] */
    pr_real *raw, *act;                 /* [T,I]: before and after the activation */
    uint8_t *keep_weight, *keep_join, *keep_act, *keep_out;
} pr_encoder_kept;

typedef struct pr_encoder_tape {
    size_t T; /* positions there is room for */
    pr_encoder_kept layer[PR_ENCODER_MAX_LAYERS];
    pr_real *x;               /* [T,D]: the stream that layers add to */
    pr_real *unit, *rate, *y; /* [T,D], [T], [T,D]: last layer norm and its outcome */
    pr_real *work;            /* scratch of the attention */
    uint8_t *keep;            /* of the embedding */
    size_t *weight_at;        /* [count]: where a sequence's weights begin */
    /* backward */
    pr_real *dx, *dt, *dwide; /* [T,D], [T,D], [T,max(3D,I)] */
} pr_encoder_tape;

/* Keys and values of all positions, for sequences that grow; NULL where nobody asks. */
typedef struct pr_encoder_cache {
    pr_real *kv[PR_ENCODER_MAX_LAYERS]; /* [rows,positions,2D] */
    size_t *at;                         /* [positions]: 0, 1, 2, ... */
    const uint32_t *rows;               /* [count]: where each sequence of a pass belongs */
} pr_encoder_cache;

typedef struct pr_encoder {
    pr_encoder_dims d;
    pr_encoder_view w, g; /* weights; gradients (training only) */
    pr_encoder_tape t;
    pr_encoder_drop drop;
    pr_encoder_cache cache;
} pr_encoder;

pr_encoder_dims pr_encoder_dims_of(const pr_model *model);

/* Rows of the item table that are no items. */
static inline int32_t pr_extra_row(const pr_encoder_dims *d)
{
    return (int32_t)d->items;
}
static inline int32_t pr_separator_row(const pr_encoder_dims *d)
{
    return (int32_t)d->items + 1;
}

parsrec_status pr_encoder_check(const pr_config *config, parsrec_error *err);
parsrec_status pr_encoder_layout(pr_model *model, parsrec_error *err);
pr_encoder_view pr_encoder_view_of(const pr_model *model, pr_real *block);

/* Room for `count` sequences of `longest` positions. Without `learn` layers share their memory and
 * there is none for backward. */
void pr_encoder_tape_take(pr_encoder_tape *t, pr_arena *arena, const pr_encoder_dims *d,
                          size_t count, size_t longest, bool learn);

void pr_encoder_cache_take(pr_encoder_cache *c, pr_arena *arena, const pr_encoder_dims *d,
                           size_t rows);

/* Fills t.y[T,D], and the cache if there is one. */
void pr_encoder_forward(pr_encoder *e, const pr_sequences *s);
/* Item ids[i] at position at[i] of the cache's row i, n of them: fills t.y[n,D]. Causal only. */
void pr_encoder_step(pr_encoder *e, const int32_t *ids, const size_t *at, size_t n);
/* From dy[T,D] in t.dx: adds into all gradients of g but the item table as output. */
void pr_encoder_backward(pr_encoder *e, const pr_sequences *s);

#endif
