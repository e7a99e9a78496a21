/* The parameters of a model, listed once: one aligned block of numbers each for weights, gradients
 * and moments, all of the same layout, so that update, clip, save and compare are single loops. */
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
    PR_FILL_CELL,  /* two such maps in one, half of the rows each */
    PR_FILL_QKV,   /* three such maps in one */
    PR_FILL_FOUR,  /* four */
    PR_FILL_FIVE,  /* five */
    PR_FILL_BIAS,  /* zero */
    PR_FILL_CELL_BIAS,
    PR_FILL_ONE,
    PR_FILL_SHARED,  /* zero, yet it decays as tables do */
    PR_FILL_ZERO,    /* the same, of maps */
    PR_FILL_COUNTED, /* zero, and not learnt */
    PR_FILLS,
} pr_fill;

typedef struct pr_param {
    char name[32]; /* as in docs/math.md and in model files */
    size_t rows, cols;
    size_t at; /* in the block, a multiple of 16 */
    pr_fill fill;
    bool lazy;      /* an embedding table: Adam leaves rows without a gradient alone */
    bool counted;   /* not learnt */
    bool words;     /* whole numbers: rows * cols uint32_t from `at` on, U32 in files; counted */
    bool open;      /* how many rows there are is not known yet: they are counted or read */
    uint32_t draws; /* the place of its first random numbers */
    size_t table;   /* of PR_FILL_SHARED: the number of the table whose rows have these parts */
} pr_param;

/* The table of users, if a model has one, comes last: a batch touches few of its rows, so workers
 * share it, while each has gradients of its own for the `shared` numbers before it. */
typedef struct pr_params {
    pr_param *list;
    size_t count, capacity;
    size_t size;    /* of the block */
    uint32_t apart; /* how many are numbered apart: see pr_params_add_apart */
    size_t shared;  /* numbers before the user table */
} pr_params;

void pr_params_free(pr_params *params);
parsrec_status pr_params_add(pr_params *params, const char *name, size_t rows, size_t cols,
                             pr_fill fill, parsrec_error *err);
/* One that leaves the first random numbers of those behind it as they would be without it, so that what
 * it brings can be told. */
parsrec_status pr_params_add_apart(pr_params *params, const char *name, size_t rows, size_t cols,
                                   pr_fill fill, parsrec_error *err);
/* The last one to add. */
parsrec_status pr_params_add_users(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err);
/* What is counted, not learnt: zero until then. PR_ROWS_OPEN rows are set later. */
#define PR_ROWS_OPEN SIZE_MAX
parsrec_status pr_params_add_numbers(pr_params *params, const char *name, size_t rows, size_t cols,
                                     parsrec_error *err);
parsrec_status pr_params_add_words(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err);
/* The parts that rows of a table have in common (pr_category_tree); rows are open. */
parsrec_status pr_params_add_shared(pr_params *params, const char *table, bool apart,
                                    parsrec_error *err);
/* Gives an open parameter its rows; the places of those behind it change. */
parsrec_status pr_params_set_rows(pr_params *params, const char *name, size_t rows,
                                  parsrec_error *err);
const pr_param *pr_params_find(const pr_params *params, const char *name); /* or NULL */
const pr_param *pr_params_users(const pr_params *params);                  /* or NULL */

/* First weights, a function of seed, parameter and place alone. */
void pr_params_fill(const pr_params *params, pr_real *block, pr_init_kind init, uint64_t seed);

static inline size_t pr_param_size(const pr_param *p)
{
    return p->rows * p->cols;
}

/* ---- one list of tensors, walked twice ----
 *
 * A kind lists its tensors in one function. The first walk adds each to the parameters; later walks find
 * where each is in a block of weights or gradients. */

typedef struct pr_lister {
    pr_params *add; /* or NULL: finds */
    const pr_params *have;
    pr_real *block;
    size_t next;
    parsrec_status status;
    parsrec_error *err;
} pr_lister;

static inline void pr_list_tensor(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                  size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add(l->add, name, rows, cols, fill, l->err);
}

/* The same, numbered apart (pr_params_add_apart). */
static inline void pr_list_apart(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                 size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_apart(l->add, name, rows, cols, fill, l->err);
}

/* Numbers, or words, that are counted before training. */
static inline void pr_list_counted(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                   size_t cols, bool words)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = words ? pr_params_add_words(l->add, name, rows, cols, l->err)
                          : pr_params_add_numbers(l->add, name, rows, cols, l->err);
}

/* What the rows of a table listed before have in common; numbered apart or not. */
static inline void pr_list_shared(pr_lister *l, const char *table, bool apart)
{
    if (l->add == NULL)
        l->next++;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_shared(l->add, table, apart, l->err);
}

#endif
