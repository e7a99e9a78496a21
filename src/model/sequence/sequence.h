/* Models that see a user's history and open basket as one sequence: SASRec, TiSASRec, BERT4Rec and GRU4Rec.
 *
 *   encoder.h    blocks of self-attention, with forward, backward and a cache of keys and values
 *   sequence.c   scorers of the two encoder models; cutting and writing training sequences; cross entropy
 *   sasrec.c, bert4rec.c, gru4rec.c   what differs: targets, masks, losses, the recurrent network
 *
 * Tokens are rows of the item table: items, then one extra row (the start of a history, or the mask of
 * BERT4Rec), then the separator of sessions if the settings have one. A window is the newest `length`
 * tokens. Sequences of a chunk are stored one after the other without padding. */
#ifndef PR_SEQUENCE_H
#define PR_SEQUENCE_H

#include "math/softmax_loss.h"
#include "model/sequence/encoder.h"

extern const pr_model_kind pr_sasrec, pr_bert4rec, pr_gru4rec, pr_caser, pr_stamp, pr_narm,
    pr_dream, pr_tisasrec;

/* BERT4Rec's last map before the table: o = LayerNorm(GELU(y·wᵀ + b)). Keeps raw, unit and rate for
 * backward; all [n,D] but rate[n]. */
typedef struct pr_head {
    pr_real *y, *raw, *act, *unit, *rate, *o;
} pr_head;
void pr_head_take(pr_head *h, pr_arena *arena, size_t n, size_t D);
void pr_head_forward(pr_head *h, const pr_encoder *e, size_t n);
/* From do_[n,D] in h->o's place to dy in h->y's. */
void pr_head_backward(pr_head *h, pr_encoder *e, size_t n);

/* ---- scorers: the same for both ---- */

typedef struct pr_sequence_state {
    pr_encoder e;
    pr_sequences s;
    int32_t *window;   /* [rows,positions]: items and separators, oldest first */
    int64_t *when;     /* [rows,positions]: their times, if attention asks ... */
    int64_t *now;      /* [rows]: ... and that of the open basket */
    size_t *count;     /* [rows]: how many of them */
    bool *whole;       /* [rows]: the window has the user's first item, after the start row */
    bool *stale;       /* [rows]: the window is to be encoded */
    size_t *tokens;    /* [rows]: positions encoded */
    uint32_t *chosen;  /* [rows]: those of one pass */
    size_t *chosen_at; /* [rows]: the position of each one's new token */
    pr_real *o;        /* [rows,D]: what scores the catalogue */
    pr_head head;
} pr_sequence_state;

void pr_sequence_take(void *state, pr_arena *arena, const pr_model *model, size_t rows,
                      size_t capacity);
void pr_sequence_start(pr_scorer *scorer, const pr_start *starts);
void pr_sequence_place(pr_scorer *scorer, const int32_t *items);
void pr_sequence_score_all(pr_scorer *scorer, pr_real *scores);
void pr_sequence_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n,
                       pr_real *scores);

/* ---- a chunk of training sequences ---- */

enum { PR_LOSS_ROWS = 256 }; /* positions whose catalogue scores are held at a time */

/* Losses other than cross entropy: items that all positions of a block are ranked against. */
typedef struct pr_sequence_drawn {
    int32_t *ids;              /* [N] */
    pr_real *rows, *drows;     /* [N,D] */
    pr_real *score, *t, *work; /* [N,B], [B], [PR_RANKING_WORK,B] */
} pr_sequence_drawn;

typedef struct pr_sequence_run {
    pr_encoder e;
    pr_sequences s;
    uint32_t *rows;          /* [count]: their places in the batch */
    int32_t *target;         /* [T]: items to predict, side by side ... */
    size_t *asked;           /* [T]: ... and the positions that predict them ... */
    size_t asked_count;      /* ... their number */
    pr_softmax softmax;      /* cross entropy only */
    pr_sequence_drawn drawn; /* other losses, of models with a bias */
    const pr_real *bias;     /* [V], of the scores, and its gradient; or NULL */
    pr_real *dbias;
    pr_chunk *chunk;
} pr_sequence_run;

/* Memory, views and dropout of a chunk; with sequences still empty. */
void pr_sequence_run_take(pr_sequence_run *run, pr_arena *arena, const pr_model *model,
                          const pr_limits *limits);
void pr_sequence_run_begin(pr_sequence_run *run, const pr_model *model, pr_chunk *chunk);
/* The items of a training sequence that fit into `room` tokens: those from `from` on, counted from the
 * beginning of the history. */
typedef struct pr_sequence_cut {
    pr_history past; /* history and sequence as one */
    size_t from, end, tokens;
} pr_sequence_cut;
pr_sequence_cut pr_sequence_cut_of(const pr_basket *basket, size_t room, bool separated);
/* What a model that looks back learns of a sequence: each token predicts the next one, if that is an item. The
 * last token is only predicted, so one more than the positions is used. A sequence that has the user's first
 * item begins with the start row, as the empty basket of a newcomer does; a cut one with its first item. */

/* Positions that are encoded of a sequence. */
size_t pr_lesson_positions(const pr_basket *basket, size_t positions, bool separated);
/* 1 / the number of items that a batch predicts. */
double pr_lessons_factor(const pr_batch *batch, size_t positions, bool separated);
/* Writes the sequences of a chunk; rows `items` and `items + 1` of the table are the start and the separator. */
void pr_lessons_write(pr_sequences *s, int32_t *target, size_t *asked, size_t *asked_count,
                      const pr_chunk *chunk, size_t items, size_t positions, bool separated);
/* Rows of x[T,D] at the asked positions, side by side in out[asked_count,D]; and back, the other rows
 * being set to 0. */
void pr_sequence_gather(const pr_sequence_run *run, pr_real *out, const pr_real *x);
void pr_sequence_scatter(const pr_sequence_run *run, pr_real *x, const pr_real *from);
/* Where each sequence's attention weights go, once their lengths are known. */
void pr_sequence_run_plan(pr_sequence_run *run);
/* The memory of the softmax for a catalogue of `items`. */
void pr_sequence_softmax_take(pr_softmax *s, pr_arena *arena, size_t items, size_t width);
/* Cross entropy of o[n,D] against target[n]: sets do_[n,D], which may not be o, adds into the
 * gradient of the item table and to the chunk's loss. */
void pr_sequence_cross_entropy(pr_sequence_run *run, pr_real *do_, const pr_real *o,
                               const int32_t *target, size_t n, double factor);

/* ---- the losses of models with a bias: ce, sampled, bpr-max, top1-max ---- */

parsrec_status pr_sequence_check_loss(const char *kind, const pr_config *config,
                                      parsrec_error *err);
void pr_sequence_loss_take(pr_sequence_run *run, pr_arena *arena, const pr_model *model,
                           size_t width);
/* The loss of y[n], the outcomes for run->target[from..from + n - 1], against run->e.w.item and run->bias.
 * `from` must be a multiple of PR_LOSS_ROWS: each block of that many rows draws its own items. Sets dy[n], adds into
 * the gradients of table and bias and to the chunk's loss. */
void pr_sequence_loss(pr_sequence_run *run, const pr_model *model, pr_real *dy, const pr_real *y,
                      size_t from, size_t n, double factor);
/* Items that are scored per target. */
double pr_sequence_scored(const pr_model *model);

static inline const pr_basket *pr_sequence_basket(const pr_sequence_run *run, size_t i)
{
    return &run->chunk->batch->baskets[run->chunk->order[i]];
}

/* Multiplications of the encoder forward, for a number of positions and of pairs that attend to each other. */
double pr_sequence_products(const pr_model *model, double positions, double pairs);

/* Neither kind has masks of a whole batch. */
size_t pr_sequence_mask_bytes(const pr_model *model);

#endif
