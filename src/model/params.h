/* The parameters of a model, listed once. Weights, gradients and moments are each one aligned block
 * of numbers with the same layout, so that update, clip, save and compare are single loops.
 *
 * Life cycle. A kind lists its tensors in `layout` (pr_list_tensor and the like, below). Tensors that are
 * counted may leave their number of rows open; it is set from the data, from a file or by counting
 * (pr_params_set_rows), which moves all offsets after it. Once a block is allocated the list is fixed.
 *
 * Invariants. Offsets are multiples of 16 numbers, so that every tensor is aligned. The user table is
 * the last tensor: a batch touches few of its rows, so its gradient is shared by the workers while
 * everything before it (`shared` numbers) exists once per chunk. Initial values depend on seed, tensor
 * and position, not on the other tensors, except that those added plainly are numbered in order;
 * pr_params_add_apart keeps an optional tensor from changing the start of the ones after it.
 *
 * Names are those of docs/math.md and of model files, and therefore never change. */
#ifndef PR_PARAMS_H
#define PR_PARAMS_H

#include <stdbool.h>

#include "base/rng.h"
#include "base/status.h"
#include "math/shapes.h"
#include "model/config.h"

typedef enum pr_fill {
    PR_FILL_TABLE, /* uniform within ±1/sqrt(rows) */
    PR_FILL_MAP,   /* normal, variance 2 / (rows + cols) */
    PR_FILL_CELL,  /* two such maps stacked, half of the rows each */
    PR_FILL_QKV,   /* three such maps stacked */
    PR_FILL_FOUR,  /* four */
    PR_FILL_FIVE,  /* five */
    PR_FILL_BIAS,  /* zero */
    PR_FILL_CELL_BIAS,
    PR_FILL_ONE,
    PR_FILL_SHARED,  /* zero, but with weight decay as tables have */
    PR_FILL_ZERO,    /* the same for maps */
    PR_FILL_COUNTED, /* zero, not trained */
    PR_FILLS,
} pr_fill;

/* Which rows of item tables a chunk of a sampled loss has gradients of (pr_item_rows in model.h). */
typedef enum pr_item_group {
    PR_ITEMS_SCORED, /* whatever was looked at */
    PR_ITEMS_PLACED, /* items of baskets, and the start of a basket */
    PR_ITEM_GROUPS,
    PR_NOT_BY_ITEM = PR_ITEM_GROUPS,
} pr_item_group;

typedef struct pr_param {
    char name[32]; /* as in docs/math.md and in model files */
    size_t rows, cols;
    size_t at; /* offset in the block, a multiple of 16 */
    pr_fill fill;
    bool lazy;      /* an embedding table: Adam skips rows without a gradient */
    bool counted;   /* counted, not trained */
    bool words;     /* integers: rows * cols uint32_t from `at` on, U32 in files; counted */
    bool open;      /* the number of rows is not known yet: it is counted or read from a file */
    uint32_t draws; /* where its initial random numbers start */
    size_t table;   /* for PR_FILL_SHARED: the index of the table whose rows share these parts */
    pr_item_group group; /* of a table that has numbers for each item; others PR_NOT_BY_ITEM */
    size_t packed_at;    /* offset in a chunk's gradient (pr_params_pack) */
    size_t first; /* of a user table among ranks: the user of the first row here, and how many */
    size_t elsewhere; /* rows other ranks have; 0: all are here */
} pr_param;

/* The user table, if a model has one, comes last. A batch touches few of its rows, so workers share
 * its gradient, while each chunk has its own gradient for the `shared` numbers before it. */
typedef struct pr_params {
    pr_param *list;
    size_t count, capacity;
    size_t size;    /* of the block */
    uint32_t apart; /* how many are numbered apart; see pr_params_add_apart */
    size_t shared;  /* numbers before the user table */
    size_t packed;  /* numbers of a chunk's gradient */
} pr_params;

void pr_params_free(pr_params *params);
parsrec_status pr_params_add(pr_params *params, const char *name, size_t rows, size_t cols,
                             pr_fill fill, parsrec_error *err);
/* Adds a parameter without changing the initial random numbers of those after it, so that models
 * with and without it can be compared. */
parsrec_status pr_params_add_apart(pr_params *params, const char *name, size_t rows, size_t cols,
                                   pr_fill fill, parsrec_error *err);
/* Adds the user table; must be the last one added. */
parsrec_status pr_params_add_users(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err);
/* Adds a parameter that is counted, not trained, and zero until then. With PR_ROWS_OPEN the number
 * of rows is set later. */
#define PR_ROWS_OPEN SIZE_MAX
parsrec_status pr_params_add_numbers(pr_params *params, const char *name, size_t rows, size_t cols,
                                     parsrec_error *err);
parsrec_status pr_params_add_words(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err);
/* Adds the parts that rows of a table share (pr_category_tree); rows are open. */
parsrec_status pr_params_add_shared(pr_params *params, const char *table, bool apart,
                                    parsrec_error *err);
/* Sets the number of rows of an open parameter. The offsets of all parameters after it change, so
 * no block may exist yet. */
parsrec_status pr_params_set_rows(pr_params *params, const char *name, size_t rows,
                                  parsrec_error *err);
/* Says that a parameter has numbers for each item, so that gradients can be lists of items and rows. */
void pr_params_by_item(pr_params *params, const char *name, pr_item_group group);
/* Lays out the gradient of a chunk. With `sparse` it has neither item tables nor their shared parts
 * nor anything counted; otherwise it is laid out as the weights before the user table. */
void pr_params_pack(pr_params *params, bool sparse);
const pr_param *pr_params_find(const pr_params *params, const char *name); /* or NULL */
const pr_param *pr_params_users(const pr_params *params);                  /* or NULL */
/* Leaves the rows of users `first` up to `end` here, and the last one, that of unknown users. No block may
 * exist yet. */
void pr_params_keep_users(pr_params *params, size_t first, size_t end);

/* Initial weights, which depend only on seed, parameter and position. */
void pr_params_fill(const pr_params *params, pr_real *block, pr_init_kind init, uint64_t seed);

static inline size_t pr_param_size(const pr_param *p)
{
    return p->rows * p->cols;
}

/* As in files: also those that other ranks have. */
static inline size_t pr_param_all_rows(const pr_param *p)
{
    return p->rows + p->elsewhere;
}

/* Where a row of the whole user table is among those here; PR_ROW_ELSEWHERE: another rank has it. */
#define PR_ROW_ELSEWHERE SIZE_MAX
static inline size_t pr_param_row_here(const pr_param *users, size_t row)
{
    size_t last = users->rows - 1;
    if (row - users->first < last)
        return row - users->first;
    return row == last + users->elsewhere ? last : PR_ROW_ELSEWHERE;
}

/* Of a table by item: numbers per item. A bias is one row of a number per item; any other table has a row per item,
 * also a single one where there is one item. */
static inline size_t pr_param_item_width(const pr_param *p)
{
    return p->fill == PR_FILL_BIAS ? 1 : p->cols;
}

/* ---- one list of tensors, walked twice ----
 *
 * A kind lists its tensors in one function. The first walk adds each to the parameters; later
 * walks find where each is in a block of weights or gradients. Every walk must list the same
 * tensors in the same order. */

typedef struct pr_lister {
    pr_params *add; /* NULL: later walks */
    const pr_params *have;
    pr_real *block;
    bool packed; /* the block is the gradient of a chunk */
    size_t next;
    parsrec_status status;
    parsrec_error *err;
} pr_lister;

/* Where the next tensor of a later walk is. */
static inline pr_real *pr_list_next(pr_lister *l)
{
    const pr_param *p = &l->have->list[l->next++];
    return l->block + (l->packed ? p->packed_at : p->at);
}

static inline void pr_list_tensor(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                  size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = pr_list_next(l);
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add(l->add, name, rows, cols, fill, l->err);
}

/* The same, numbered apart (pr_params_add_apart). */
static inline void pr_list_apart(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                 size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = pr_list_next(l);
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_apart(l->add, name, rows, cols, fill, l->err);
}

/* Numbers or integers that are counted before training. */
static inline void pr_list_counted(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                   size_t cols, bool words)
{
    if (l->add == NULL)
        *place = pr_list_next(l);
    else if (l->status == PARSREC_OK)
        l->status = words ? pr_params_add_words(l->add, name, rows, cols, l->err)
                          : pr_params_add_numbers(l->add, name, rows, cols, l->err);
}

/* The parts that rows of an earlier table share; numbered apart or not. */
static inline void pr_list_shared(pr_lister *l, const char *table, bool apart)
{
    if (l->add == NULL)
        l->next++;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_shared(l->add, table, apart, l->err);
}

#endif
