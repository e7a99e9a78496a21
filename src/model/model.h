/* What a model is to the rest of the library: a list of parameters, scorers that place items and score
 * what comes next, and, for models that learn, one training batch. Adding a model is one table of
 * functions (pr_model_kind) and one line in model.c.
 *
 * The life of a model, in this order:
 *
 *   1. pr_model_new_bare      checks the settings and lists the parameters; no weights yet. A file can be
 *                             compared with the list before memory is spent on it.
 *   2. rows of open parameters  some parameters have as many rows as the data or the file say:
 *                             pr_model_set_tree (categories and item features, before training),
 *                             pr_params_set_rows (from a file, or while counting).
 *   3. pr_model_alloc_weights one aligned block for all parameters. The list must not change any more.
 *   4. the weights            pr_params_fill (training), kind->count (counting models, which do steps 2
 *                             and 3 themselves) or pr_block_read with pr_model_verify (a file).
 *   5. training               pr_trainer (trainer.h) is the only one that changes weights after this.
 *   6. pr_model_make_ready    optional: tables for quick answers, made from the final weights.
 *   7. pr_scorer_new          any number of scorers, one thread each; they share the model, read-only.
 *   8. pr_model_free          after the last scorer. It frees a model in any of these states.
 *
 * pr_model_new does 1, 3 and 4 for a model without categories or features. A model borrows the category
 * tree of step 2 while it learns and nothing else; loaded.h keeps a model together with its data set. */
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
struct pr_counted; /* data/counted.h */

/* How a row of a session begins. To leave the user out of a score, pass PR_ANYONE; to leave the
 * history out, an empty one; to leave a basket item out, do not place it. */
typedef struct pr_start {
    int32_t user; /* 0..users-1 or PR_ANYONE */
    pr_history history;
    const pr_real *vector; /* [dim.item]: a history vector kept elsewhere, instead; or NULL */
    pr_known_features features;
    uint64_t alike; /* not 0: all starts of a session that have this number are alike */
} pr_start;

/* The largest sizes a trainer must be ready for. */
typedef struct pr_limits {
    size_t rows;    /* baskets of a batch */
    size_t steps;   /* steps of a basket that are learnt from */
    size_t basket;  /* items of a basket */
    size_t history; /* items of a history */
} pr_limits;

/* A multiplication of the forward pass is one with its addition, and two such backward. */
enum { PR_OPERATIONS_A_PRODUCT = 6 };

/* A score as the sum of its parts and of what each placed item adds directly. */
typedef struct pr_score_terms {
    pr_real network, history, memory, item;
} pr_score_terms;

enum { PR_STATE_MOST = 16384 }; /* bytes of a kind's state, without what it takes from the arena */

/* What a mix is fitted to: baskets that nothing was learnt from, and how often each item was bought in
 * the training sessions. */
typedef struct pr_mix_data {
    const pr_basket *baskets;
    size_t count;
    const uint32_t *bought; /* [V] */
    uint64_t seed;
    struct pr_pool *pool;
} pr_mix_data;

typedef struct pr_model_kind {
    const char *name, *summary;
    const char *const *settings; /* "key=value": its defaults where they are its own; or NULL */
    bool sequence;               /* learns from a user's training sessions as one sequence */
    bool scores_are_shares;      /* a score is proportional to a chance; else to its logarithm */
    bool popular;                /* the same for everybody: what is bought most */
    bool reads_features;         /* of users and sessions */
    const char *history_table;   /* the parameter whose rows make a history vector; NULL: there is
                                    no such vector */

    const char *shown;              /* the parameter whose numbers a person can read, one for ... */
    const char *const *shown_names; /* ... each of these, ending with NULL; both NULL: none is */

    parsrec_status (*check)(const pr_config *config, parsrec_error *err); /* or NULL */
    parsrec_status (*layout)(pr_model *model, parsrec_error *err);        /* lists the parameters */

    /* Computes tables for quick answers into model->ready; NULL: nothing to do. */
    parsrec_status (*make_ready)(pr_model *model, parsrec_error *err);

    /* ---- scorers: scorer->own is the kind's state, of state_bytes ---- */
    size_t state_bytes; /* at most PR_STATE_MOST */
    /* Sets up a state with room for `rows` baskets of `capacity` items, all of its memory from the
     * arena. It is run twice: first with an arena that only counts, whose pieces are NULL
     * (pr_arena_counts), to learn how much memory that is. */
    void (*take)(void *state, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity);
    void (*start)(pr_scorer *session, const pr_start *starts);
    void (*place)(pr_scorer *session, const int32_t *items);
    void (*score_all)(pr_scorer *session, pr_real *scores);
    void (*score)(pr_scorer *session, size_t row, const int32_t *items, size_t n, pr_real *scores);
    bool (*best)(pr_scorer *session, const uint8_t *barred, size_t k, int32_t *best,
                 pr_real *scores, size_t *count); /* a short cut, or false; NULL: there is none */
    size_t (*attention)(pr_scorer *session, size_t row, pr_real *weights); /* or NULL: has none */
    bool (*parts)(pr_scorer *session, size_t row, int32_t item, pr_score_terms *parts,
                  pr_real *placed); /* or NULL: scores have none */

    /* ---- models that only count; NULL for those that learn ---- */
    /* Gives every parameter its size, takes the weights' memory and sets them. */
    parsrec_status (*count)(pr_model *model, const struct pr_counted *from, parsrec_error *err);
    bool needs_truth; /* of synthetic data; there is none in others */
    /* Whether whole numbers that came from a file point to what is there; NULL: there are none. */
    parsrec_status (*verify)(const pr_model *model, parsrec_error *err);

    /* ---- training; NULL for models that only count ---- */
    size_t (*chunk_bytes)(const pr_model *model, const pr_limits *limits);
    size_t (*mask_bytes)(const pr_model *model); /* of one step, shared by the batch's chunks */
    void (*draw_mask)(const pr_model *model, uint8_t *mask, uint64_t seed, uint32_t batch,
                      uint32_t step); /* unused where mask_bytes is 0 */
    void (*learn)(const pr_model *model, pr_chunk *chunk);
    /* After the last epoch: weighs the score and plain counts against each other, if the settings say
     * so; worth[2] is the gain in the mean log chance of an item over counts alone, at first and later
     * steps, NaN where nothing was fitted. NULL: there is no mix. */
    parsrec_status (*fit_mix)(pr_model *model, const struct pr_mix_data *data, double *worth,
                              parsrec_error *err);
    /* What the plain network needs for a batch, forward and backward, of which so many items were
     * predicted; for the measurement of speed                (docs/math.md, Nominal operations) */
    double (*operations)(const pr_model *model, const pr_batch *batch, uint64_t items);
} pr_model_kind;

/* A column of what is known of items: those with the same word have a part in common; a number multiplies
 * the part of its column. */
typedef struct pr_shared_column {
    const pr_feature_column *feature;
    size_t at;          /* its first part, behind those of categories */
    pr_real mean, rate; /* of numbers: a value less the mean, times the rate */
} pr_shared_column;

/* Which items belong together: views of a data set's tree of categories, parents before children, and
 * columns. */
typedef struct pr_category_tree {
    size_t categories;            /* 0: nothing is known */
    const int32_t *parent;        /* [categories], -1 at the top */
    const int32_t *item_category; /* [items], -1 for none */
    const pr_shared_column *columns;
    size_t column_count;
    size_t parts; /* of categories and columns together */
} pr_category_tree;

struct pr_model {
    const pr_model_kind *kind;
    pr_config config;
    size_t users, items;
    pr_feature_inputs inputs; /* what it reads of users and sessions; none in most kinds */
    pr_params params;
    pr_real *weights;      /* one aligned block; read-only once training is over */
    bool shares;           /* rows of items have parts in common */
    pr_category_tree tree; /* while it learns */
    void *ready;           /* aligned memory of the kind's, or NULL */
};

/* All kinds, ending with NULL. */
extern const pr_model_kind *const pr_model_kinds[];
const pr_model_kind *pr_model_kind_named(const char *name); /* or NULL */

/* The settings a kind begins with, and whether settings fit it and each other. */
parsrec_status pr_model_defaults(pr_config *config, const char *kind, parsrec_error *err);
parsrec_status pr_model_check(const char *kind, const pr_config *config, parsrec_error *err);

/* Most items of a sample that a model learns from. */
size_t pr_model_steps(const pr_model *model);

/* A model with initial weights. */
parsrec_status pr_model_new(pr_model **out, const char *kind, const pr_config *config, size_t users,
                            size_t items, uint64_t seed, parsrec_error *err);
/* In two steps, for weights that come from a file: the list of parameters, which can be compared with
 * the file before memory is spent on it, then room for the weights, all zero. */
parsrec_status pr_model_new_bare(pr_model **out, const char *kind, const pr_config *config,
                                 const pr_shop *shop, parsrec_error *err);
parsrec_status pr_model_alloc_weights(pr_model *model, parsrec_error *err);
/* Whether weights from a file are safe to use; `origin` begins the message. */
parsrec_status pr_model_verify(const pr_model *model, const char *origin, parsrec_error *err);
/* Before memory is taken for a model that will learn: what it is told of its items, which is borrowed
 * for as long as it learns. */
parsrec_status pr_model_set_tree(pr_model *model, const pr_category_tree *tree, parsrec_error *err);
/* For a model whose weights are final: makes scorers of few rows quick. */
parsrec_status pr_model_make_ready(pr_model *model, parsrec_error *err);
void pr_model_free(pr_model *model); /* NULL is fine */

/* The weights of one parameter, which must be in the list. */
pr_real *pr_model_reals(const pr_model *model, const char *name);
uint32_t *pr_model_u32(const pr_model *model, const char *name);

/* ---- sessions: open baskets, many rows at a time ---- */

/* One thread uses a scorer; threads share the model. */
struct pr_scorer {
    const pr_model *model;
    size_t rows, capacity; /* rows at most at once; items a row can hold */
    size_t active;         /* rows in use since the last start */
    pr_arena arena;
    void *own; /* the kind's state */
};

parsrec_status pr_scorer_new(pr_scorer **out, const pr_model *model, size_t rows, size_t capacity,
                             parsrec_error *err);
/* The memory that such a scorer takes, for an estimate beforehand. */
size_t pr_scorer_bytes(const pr_model *model, size_t rows, size_t capacity);
void pr_scorer_free(pr_scorer *session); /* NULL is fine */

/* Opens `rows` baskets, at most session->rows. */
void pr_scorer_start(pr_scorer *session, const pr_start *starts, size_t rows);
/* Puts items[r] into basket r; -1 leaves a row as it is. At most `capacity` items a row. */
void pr_scorer_place(pr_scorer *session, const int32_t *items);
/* scores[active,V] of every item as the next one. */
void pr_scorer_score_all(pr_scorer *session, pr_real *scores);
/* scores[n] of some items for one row. */
void pr_scorer_score(pr_scorer *session, size_t row, const int32_t *items, size_t n,
                     pr_real *scores);
/* The best k items that are not barred, best first, in a session of one row; scores[V] has their scores, and is undefined
 * elsewhere. Returns how many. */
size_t pr_scorer_best(pr_scorer *session, const uint8_t *barred, size_t k, int32_t *best,
                      pr_real *scores);
/* The weight of each placed item in the present step, mean over heads; returns their number, 0
 * while the basket is empty or when the model has no attention. */
size_t pr_scorer_attention(pr_scorer *session, size_t row, pr_real *weights);

/* The parts of an item's score, with what each placed item adds, in their order; false where scores are
 * no sums. */
bool pr_scorer_terms(pr_scorer *session, size_t row, int32_t item, pr_score_terms *parts,
                     pr_real *placed);

/* Where the time of training goes, for those who want to know. */
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

/* ---- one piece of a training batch, as the trainer hands it to a kind ---- */

struct pr_chunk {
    const pr_batch *batch;
    const uint32_t *order; /* [rows]: rows of the batch, longest basket first */
    size_t rows, steps;
    uint64_t seed;
    const uint8_t *masks;   /* [steps, mask_bytes] */
    pr_arena *arena;        /* reset by the trainer */
    pr_real *gradient;      /* like the shared part of the weights; learn() adds */
    pr_real *user_gradient; /* [rows of the batch, columns of the user table]: learn() sets */
    int32_t *users;         /* [rows of the batch]: the user rows they belong to */
    double loss, total;     /* learn() sets: weighted as the model does, and as a plain sum ... */
    uint64_t items;         /* ... over so many predicted items */
    double *parts;          /* [PR_STEP_PARTS]: seconds so far; NULL: not measured */
    double mark;            /* when the part under way began */
};

/* `loss` is the plain sum over `items` predicted items. */
static inline void pr_chunk_add_loss(pr_chunk *chunk, double loss, double factor, size_t items)
{
    chunk->loss += factor * loss;
    chunk->total += loss;
    chunk->items += items;
}

/* The time since the last mark was spent on `part`. */
static inline void pr_chunk_mark(pr_chunk *chunk, pr_step_part part)
{
    if (chunk->parts == NULL)
        return;
    double t = pr_now();
    chunk->parts[part] += t - chunk->mark;
    chunk->mark = t;
}

#endif
