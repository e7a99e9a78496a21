/* A model as the rest of the library sees it: a list of parameters, scorers that place items and
 * score the next one, and, for models that are trained, one training batch. Adding a model is one
 * table of functions (pr_model_kind) and one line in model.c.
 *
 * The life of a model, in this order:
 *
 *   1. pr_model_new_bare       checks the settings and lists the parameters; no weights yet. The
 *                              list can be compared with a file before memory is allocated.
 *   2. rows of open parameters some parameters have as many rows as the data or the file says:
 *                              pr_model_set_tree (categories and item features, before training),
 *                              pr_params_set_rows (from a file, or while counting).
 *   3. pr_model_alloc_weights  one aligned block for all parameters. The list is now fixed.
 *   4. the weights             pr_params_fill (training), kind->count (counting models, which do
 *                              steps 2 and 3 themselves) or pr_block_read with pr_model_verify
 *                              (a file).
 *   5. training                from here on only pr_trainer (trainer.h) changes weights.
 *   6. pr_model_make_ready     optional: tables for fast scoring, computed from the final weights.
 *   7. pr_scorer_new           any number of scorers, each used by one thread; they share the
 *                              model, which is read-only.
 *   8. pr_model_free           after the last scorer. It frees a model in any of these states.
 *
 * pr_model_new does 1, 3 and 4 for a model without categories or features. A model borrows the
 * category tree of step 2 during training and nothing else; model_file.h keeps a model together with
 * its data set. */
#ifndef PR_MODEL_H
#define PR_MODEL_H

#include "base/clock.h"
#include "base/memory.h"
#include "data/batch.h"
#include "model/config.h"
#include "model/feature_inputs.h"
#include "model/params.h"

typedef struct pr_model pr_model;
typedef struct pr_scorer pr_scorer;
typedef struct pr_chunk pr_chunk;
struct pr_counted; /* data/split.h */

/* How a row of a scorer starts. To exclude the user from a score, pass PR_ANYONE; to exclude the
 * history, an empty one; to exclude a basket item, do not place it. */
typedef struct pr_start {
    int32_t user; /* 0..users-1 or PR_ANYONE */
    pr_history history;
    const pr_real *vector; /* [dim.item]: a history vector computed elsewhere, used instead; or
                            * NULL */
    pr_known_features features;
    uint64_t
        alike; /* not 0: a name of this start. All starts that a scorer gets under one name, also
                     * in later calls, are identical, so that it may reuse what it computed */
} pr_start;

/* The largest batch a trainer must have memory for. */
typedef struct pr_limits {
    size_t rows;    /* baskets per batch */
    size_t steps;   /* steps per basket that are learnt from */
    size_t basket;  /* items per basket */
    size_t history; /* items per history */
    size_t items;   /* in the baskets and histories of a batch together; 0: as the others allow */
} pr_limits;

/* The most items, each as often as it occurs, in the baskets and histories of a batch. */
static inline size_t pr_limits_items(const pr_limits *limits)
{
    size_t most = limits->rows * (limits->basket + limits->history);
    return limits->items > 0 && limits->items < most ? limits->items : most;
}

/* One multiply-add forward and two backward per product, two operations each. */
enum { PR_OPERATIONS_A_PRODUCT = 6 };

/* A score as the sum of its terms; `placed` (pr_scorer_terms) has the direct contribution of each
 * placed item. */
typedef struct pr_score_terms {
    pr_real network, history, memory, item;
} pr_score_terms;

enum { PR_STATE_MOST = 16384 }; /* bytes of a kind's state, without its arena memory */

/* What a mix is fitted to: baskets that were not trained on, and what its counts are counted from. */
enum { PR_MIX_QUESTIONS = 8000 };
typedef struct pr_mix_data {
    const pr_basket *baskets;
    size_t count;
    size_t questions; /* of a stage, at most: from `count` to PR_MIX_QUESTIONS */
    const struct pr_counted *from;
    uint64_t seed;
    struct pr_pool *pool;
} pr_mix_data;

#define PR_WHOLE_CATALOGUE SIZE_MAX

typedef struct pr_model_kind {
    const char *name, *summary;
    const char *const *settings; /* "key=value": defaults that differ from the common ones; or
                                  * NULL */
    bool sequence;               /* learns from a user's training sessions as one sequence */
    bool scores_are_shares;      /* a score is proportional to a probability; otherwise it is a log
                                  * probability */
    bool popular;                /* the best sellers, the same for every user */
    bool reads_features;         /* reads features of users and sessions */
    const char *history_table;   /* the parameter whose rows make up a history vector; NULL: there
                                  * is no such vector */

    const char *shown; /* a parameter that people can interpret; NULL: there is none */
    /* The name of its number i; NULL after the last. */
    const char *(*shown_name)(const pr_model *model, size_t i);

    parsrec_status (*check)(const pr_config *config, parsrec_error *err); /* or NULL */
    parsrec_status (*layout)(pr_model *model, parsrec_error *err);        /* lists the parameters */

    /* Computes tables for fast scoring into model->ready; NULL: nothing to do. */
    parsrec_status (*make_ready)(pr_model *model, parsrec_error *err);
    /* About how large they are, from the sizes of a model without weights; NULL: there are none. */
    size_t (*ready_bytes)(const pr_model *model);

    const struct pr_window_net *window; /* the net of a kind made by sequence/window.h; else NULL */
    const struct pr_pairs_net *pairs;   /* the same of factors/pairwise.h */

    /* ---- scorers: scorer->own is the kind's state, of state_bytes ---- */
    size_t state_bytes; /* at most PR_STATE_MOST */
    /* Sets up a state with room for `rows` baskets of `capacity` items, with all memory from the
     * arena. It is called twice: first with an arena that only counts and returns NULL
     * (pr_arena_counts), to find out how much memory is needed. */
    void (*take)(void *state, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity);
    /* start is NULL where users and histories do not matter, place where the basket does not. */
    void (*start)(pr_scorer *scorer, const pr_start *starts);
    void (*place)(pr_scorer *scorer, const int32_t *items);
    void (*score_all)(pr_scorer *scorer, pr_real *scores);
    void (*score)(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores);
    /* For kinds that keep the scores of a row for all items: returns them, [V]. The two above are
     * then NULL. */
    const pr_real *(*row_scores)(pr_scorer *scorer, size_t row);
    bool (*best)(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best, pr_real *scores,
                 size_t *count); /* a fast path; returns false if it cannot be
                                                   * used; NULL: there is none */
    size_t (*attention)(pr_scorer *scorer, size_t row, pr_real *weights); /* NULL: no attention */
    bool (*parts)(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *parts,
                  pr_real *placed); /* NULL: scores are not sums */

    /* ---- counting models; NULL for models that are trained ---- */
    /* Sizes every parameter, allocates the weights and sets them. */
    parsrec_status (*count)(pr_model *model, const struct pr_counted *from, parsrec_error *err);
    bool needs_truth; /* only works with synthetic data, which include the truth */
    /* Checks that integers from a file are valid indices; NULL: there are none. */
    parsrec_status (*verify)(const pr_model *model, parsrec_error *err);

    /* For kinds that keep lists by user: a model of fewer users (pr_model_without). Both or neither are NULL. */
    parsrec_status (*size_without)(pr_model *model, const pr_model *from, const bool *gone,
                                   parsrec_error *err); /* sets the rows of open parameters */
    parsrec_status (*fill_without)(pr_model *model, const pr_model *from, const bool *gone,
                                   parsrec_error *err);

    /* ---- training; NULL for counting models ---- */
    size_t (*chunk_bytes)(const pr_model *model, const pr_limits *limits);
    size_t (*mask_bytes)(const pr_model *model); /* per step, shared by the batch's chunks */
    void (*draw_mask)(const pr_model *model, uint8_t *mask, uint64_t seed, uint32_t batch,
                      uint32_t step); /* not called if mask_bytes is 0 */
    void (*learn)(const pr_model *model, pr_chunk *chunk);
    /* Sparse gradients: how many items a chunk of that many targets looks at besides those of its baskets and histories.
     * learn() then fills chunk->item_rows, reads rows of item tables with pr_item_row (item_tables.h), and
     * neither it nor the trainer goes over the catalogue. PR_WHOLE_CATALOGUE, or NULL: gradients are
     * dense. */
    size_t (*drawn_items)(const pr_model *model, size_t targets);
    /* After the last epoch: weighs the score and plain counts against each other, if the settings say
     * so; worth[2] is the gain in the mean log chance of an item over counts alone, at first and later
     * steps, NaN where nothing was fitted. NULL: there is no mix. */
    parsrec_status (*fit_mix)(pr_model *model, const struct pr_mix_data *data, double *worth,
                              parsrec_error *err);
    /* The memory that its questions take. NULL where fit_mix is. */
    size_t (*mix_bytes)(const pr_model *model, size_t baskets, size_t questions);
    /* For kinds that learn: counts again what they count, from other sessions. NULL: nothing. */
    parsrec_status (*recount)(pr_model *model, const struct pr_counted *from, parsrec_error *err);
    /* Operations of the plain network for a batch in which `items` items were predicted, forward and
     * backward; for the measurement of speed                (docs/math.md, Nominal operations) */
    double (*operations)(const pr_model *model, const pr_batch *batch, uint64_t items);
} pr_model_kind;

/* A column of item features. Items with the same word share a part of their embedding; a number
 * multiplies the part of its column. */
typedef struct pr_shared_column {
    const pr_feature_column *feature;
    size_t at;          /* its first part, after those of categories */
    pr_real mean, rate; /* of numeric columns: (value - mean) · rate */
} pr_shared_column;

/* Which items share parts of their embeddings: borrowed views of a data set's category tree,
 * parents before children, and of its item features. */
typedef struct pr_category_tree {
    size_t categories;            /* 0: no categories */
    const int32_t *parent;        /* [categories], -1 at the top */
    const int32_t *item_category; /* [items], -1 for no category */
    const pr_shared_column *columns;
    size_t column_count;
    size_t parts; /* of categories and columns together */
} pr_category_tree;

typedef struct pr_storage pr_storage;
typedef struct pr_user_rows pr_user_rows;

struct pr_model {
    const pr_model_kind *kind;
    pr_config config;
    size_t users, items;
    pr_feature_inputs inputs; /* columns of users and sessions that it reads; empty for most
                               * kinds */
    pr_params params;
    pr_real *weights;                   /* one aligned block; read-only after training */
    const pr_storage *storage;          /* where that lies; borrowed. NULL: in memory */
    pr_user_rows *user_rows;            /* of other ranks; borrowed. NULL: all users are here */
    bool shares;                        /* item rows share parts */
    pr_category_tree tree;              /* borrowed, during training only */
    const struct pr_proposal *proposal; /* likewise; NULL: items are drawn evenly */
    void *ready;                        /* aligned memory owned by the kind, or NULL */
};

/* All kinds, ending with NULL. */
extern const pr_model_kind *const pr_model_kinds[];
const pr_model_kind *pr_model_kind_named(const char *name); /* or NULL */

/* The default settings of a kind, and a check that settings fit the kind and each other. */
parsrec_status pr_model_defaults(pr_config *config, const char *kind, parsrec_error *err);
parsrec_status pr_model_check(const char *kind, const pr_config *config, parsrec_error *err);

/* Decides `loss = auto` by the number of items: the whole catalogue where that is cheap or the kind does
 * not draw items, else sampled with at least 2,048 drawn ones (docs/training.md). Does nothing for other losses. pr_model_new_bare
 * calls it. */
void pr_model_settle_loss(pr_config *config, const pr_model_kind *kind, size_t items);

/* The most steps per sample that a model learns from. */
size_t pr_model_steps(const pr_model *model);

/* A model with initial weights, for kinds that are trained. The caller frees it with
 * pr_model_free. */
parsrec_status pr_model_new(pr_model **out, const char *kind, const pr_config *config, size_t users,
                            size_t items, uint64_t seed, parsrec_error *err);
/* In two steps, for weights from a file: first the list of parameters, which can be compared with
 * the file before memory is allocated, then the weights, all zero. */
parsrec_status pr_model_new_bare(pr_model **out, const char *kind, const pr_config *config,
                                 const pr_shop *shop, parsrec_error *err);
parsrec_status pr_model_alloc_weights(pr_model *model, parsrec_error *err);
/* Sets the rows of some counted parameters, names ending with NULL, of a model that has weights. They
 * move to another block; the values of the named ones are lost. */
parsrec_status pr_model_resize(pr_model *model, const char *const *names, size_t rows,
                               parsrec_error *err);
/* Whether a trained model has counts that include sessions of the part. */
static inline bool pr_recounts(const pr_model *model, bool validation)
{
    return validation && model->kind->recount != NULL && model->config.count != PR_COUNT_TRAIN;
}
/* A copy of a trained model whose counts are those of other sessions (kind->recount). */
parsrec_status pr_model_recounted(pr_model **out, const pr_model *model,
                                  const struct pr_counted *from, parsrec_error *err);
/* Checks that weights from a file are safe to use; `origin` starts the message. */
parsrec_status pr_model_verify(const pr_model *model, const char *origin, parsrec_error *err);
/* Sets the category tree and item features of a model that will be trained, before its weights are
 * allocated. `tree` is borrowed until training ends. */
parsrec_status pr_model_set_tree(pr_model *model, const pr_category_tree *tree, parsrec_error *err);
/* Precomputes tables that make scorers with few rows fast. The weights must be final. */
parsrec_status pr_model_make_ready(pr_model *model, parsrec_error *err);
void pr_model_free(pr_model *model); /* NULL is allowed */

/* The weights of one parameter, which must be in the list. */
pr_real *pr_model_reals(const pr_model *model, const char *name);
uint32_t *pr_model_u32(const pr_model *model, const char *name);

/* ---- scorers: open baskets, many rows at a time ---- */

/* A scorer belongs to one thread at a time. Threads share the model. */
struct pr_scorer {
    const pr_model *model;
    size_t rows, capacity; /* most rows at once; most items per row */
    size_t active;         /* rows in use since the last start */
    pr_arena arena;
    void *own; /* the kind's state */
};

parsrec_status pr_scorer_new(pr_scorer **out, const pr_model *model, size_t rows, size_t capacity,
                             parsrec_error *err);
/* The memory of such a scorer, for an estimate beforehand. */
size_t pr_scorer_bytes(const pr_model *model, size_t rows, size_t capacity);
void pr_scorer_free(pr_scorer *scorer); /* NULL is allowed */

/* Opens `rows` empty baskets, at most scorer->rows; they replace all open ones. */
void pr_scorer_start(pr_scorer *scorer, const pr_start *starts, size_t rows);
/* Adds items[r] to basket r; -1 leaves the row unchanged. At most `capacity` items per row. */
void pr_scorer_place(pr_scorer *scorer, const int32_t *items);
/* Sets scores[active,V] for every item as the next one. */
void pr_scorer_score_all(pr_scorer *scorer, pr_real *scores);
/* Sets scores[n] of items[n] for one row. */
void pr_scorer_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n,
                     pr_real *scores);
/* The best k items that are not barred, best first; only for a scorer with one active row.
 * barred[V] is nonzero for barred items. scores[V] is set for the items in best[] and undefined
 * elsewhere. Returns how many were found. */
size_t pr_scorer_best(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best,
                      pr_real *scores);
/* The attention weight of each placed item in the current step, mean over heads. Returns how many,
 * 0 if the basket is empty or the model has no attention. */
size_t pr_scorer_attention(pr_scorer *scorer, size_t row, pr_real *weights);

/* The terms of an item's score; placed[] gets the direct contribution of each placed item, in the
 * order of placement. Returns false if the model's scores are not sums. */
bool pr_scorer_terms(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *parts,
                     pr_real *placed);

/* The parts of a training step, for measuring where time is spent. */
#define PR_STEP_PARTS_MAP(X)                    \
    X(BEGIN, "users and history")               \
    X(FORWARD, "attention and cell, forward")   \
    X(SCORES, "scores of the catalogue")        \
    X(LOSS, "softmax and its gradients")        \
    X(BACKWARD, "attention and cell, backward") \
    X(UPDATE, "masks, sums, update, waiting")
typedef enum pr_step_part {
#define PR_PART_ENUM(name, text) PR_PART_##name,
    PR_STEP_PARTS_MAP(PR_PART_ENUM)
#undef PR_PART_ENUM
        PR_STEP_PARTS
} pr_step_part;

/* ---- one chunk of a training batch, as the trainer passes it to a kind ---- */

enum { PR_ITEM_TABLES = 4 }; /* of a group, at most */

/* Gradients of some rows of item tables: those of one group of parameters (pr_item_group). Row i of
 * each table is that of item ids[i]; the number of items stands for the start of a basket. Tables are
 * in the order of the parameters. */
typedef struct pr_item_rows {
    int32_t *ids; /* [most], each item once */
    size_t count, most;
    pr_real *values[PR_ITEM_TABLES]; /* [most, pr_param_item_width] */
} pr_item_rows;

struct pr_chunk {
    const pr_batch *batch;
    const uint32_t *order; /* [rows]: indices into the batch, longest basket first */
    size_t rows, steps;
    uint64_t seed;
    const uint8_t *masks; /* [steps, mask_bytes] */
    pr_arena *arena;      /* reset by the trainer */
    pr_real *gradient;    /* laid out by pr_params_pack; learn() adds to it */
    pr_item_rows
        item_rows[PR_ITEM_GROUPS]; /* sparse gradients: learn() sets ids, count and values */
    int32_t
        *slots[2]; /* sparse gradients: [items + 1] each, scratch; zero before and after learn() */
    pr_real *user_gradient; /* [rows of the batch, columns of the user table]: learn() sets it */
    int32_t *users;         /* [rows of the batch]: their rows of the user table */
    double loss, total;     /* set by learn(): weighted as the model does, and as a plain sum ... */
    uint64_t items;         /* ... over this many predicted items */
    double *parts;          /* [PR_STEP_PARTS]: seconds so far; NULL: not measured */
    double mark;            /* when the current part began */
};

/* `loss` is the plain sum over `items` predicted items. */
static inline void pr_chunk_add_loss(pr_chunk *chunk, double loss, double factor, size_t items)
{
    chunk->loss += factor * loss;
    chunk->total += loss;
    chunk->items += items;
}

/* Adds the time since the last mark to `part`. */
static inline void pr_chunk_mark(pr_chunk *chunk, pr_step_part part)
{
    if (chunk->parts == NULL)
        return;
    double t = pr_now();
    chunk->parts[part] += t - chunk->mark;
    chunk->mark = t;
}

/* ---- without some users (forget.c) ---- */

/* A copy of `from` without the users marked in gone[users]; everything else is the same. `before`
 * and `after` are the shop with and without them. The caller frees *out. */
parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                const pr_shop *before, const pr_shop *after, parsrec_error *err);

/* ---- clusters of users with similar embeddings ---- */

/* On entry cluster[users] is -1 for users to leave out. The others get 0..clusters-1, the largest
 * cluster first, by k-means over their rows of the user table. E_UNSUPPORTED for a model without a
 * user table, E_ARGUMENT for more clusters than users. */
parsrec_status pr_user_clusters(int32_t *cluster, const pr_model *model, size_t clusters,
                                parsrec_error *err);

#endif
