/* The list of parameters and their initial values. */
#include "model/params.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum {
    ALIGN = 16,      /* numbers: 64 bytes of float */
    APART = 1 << 20, /* more than the parameters numbered in order will ever be */
};

void pr_params_free(pr_params *params)
{
    pr_free(params->list);
    *params = (pr_params){0};
}

/* Places a parameter after those that already have a position. */
static parsrec_status place(pr_params *params, pr_param *p, parsrec_error *err)
{
    size_t n, end;
    if (pr_mul_overflows(p->rows, p->cols, &n) || n > SIZE_MAX / 64 ||
        __builtin_add_overflow(params->size, (n + ALIGN - 1) / ALIGN * ALIGN, &end))
        return pr_fail(err, PARSREC_E_LIMIT, "parameter %s is too large: %zu x %zu", p->name,
                       p->rows, p->cols);
    p->at = params->size;
    params->size = end;
    return PARSREC_OK;
}

static parsrec_status add(pr_params *params, const char *name, size_t rows, size_t cols,
                          pr_fill fill, parsrec_error *err)
{
    pr_param p = {.rows = rows, .cols = cols, .fill = fill, .lazy = fill == PR_FILL_TABLE};
    p.counted = fill == PR_FILL_COUNTED;
    p.group = PR_NOT_BY_ITEM;
    snprintf(p.name, sizeof p.name, "%s", name);
    p.draws = (uint32_t)params->count - params->apart;
    PR_TRY(pr_grow(&params->list, &params->capacity, params->count + 1, sizeof *params->list, err));
    PR_TRY(place(params, &p, err));
    params->list[params->count++] = p;
    return PARSREC_OK;
}

parsrec_status pr_params_add(pr_params *params, const char *name, size_t rows, size_t cols,
                             pr_fill fill, parsrec_error *err)
{
    PR_TRY(add(params, name, rows, cols, fill, err));
    params->shared = params->size;
    return PARSREC_OK;
}

parsrec_status pr_params_add_apart(pr_params *params, const char *name, size_t rows, size_t cols,
                                   pr_fill fill, parsrec_error *err)
{
    PR_TRY(pr_params_add(params, name, rows, cols, fill, err));
    params->list[params->count - 1].draws = APART + params->apart++;
    return PARSREC_OK;
}

parsrec_status pr_params_add_users(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err)
{
    assert(pr_params_users(params) == NULL);
    return add(params, name, rows, cols, PR_FILL_TABLE, err);
}

parsrec_status pr_params_add_numbers(pr_params *params, const char *name, size_t rows, size_t cols,
                                     parsrec_error *err)
{
    bool open = rows == PR_ROWS_OPEN;
    PR_TRY(pr_params_add(params, name, open ? 0 : rows, cols, PR_FILL_COUNTED, err));
    params->list[params->count - 1].open = open;
    return PARSREC_OK;
}

parsrec_status pr_params_add_words(pr_params *params, const char *name, size_t rows, size_t cols,
                                   parsrec_error *err)
{
    PR_TRY(pr_params_add_numbers(params, name, rows, cols, err));
    params->list[params->count - 1].words = true;
    return PARSREC_OK;
}

parsrec_status pr_params_add_shared(pr_params *params, const char *table, bool apart,
                                    parsrec_error *err)
{
    char name[sizeof params->list->name];
    const pr_param *listed = pr_params_find(params, table);
    assert(listed != NULL);
    size_t of = (size_t)(listed - params->list);
    snprintf(name, sizeof name, "%s.kin", table);
    PR_TRY(pr_params_add(params, name, 0, params->list[of].cols, PR_FILL_SHARED, err));
    params->list[params->count - 1].open = true;
    params->list[params->count - 1].table = of;
    params->apart += apart;
    return PARSREC_OK;
}

parsrec_status pr_params_set_rows(pr_params *params, const char *name, size_t rows,
                                  parsrec_error *err)
{
    assert(pr_params_find(params, name) != NULL);
    const pr_param *users = pr_params_users(params);
    params->size = 0;
    for (size_t i = 0; i < params->count; i++) {
        pr_param *p = &params->list[i];
        if (p->open && strcmp(p->name, name) == 0) {
            p->rows = rows;
            p->open = false;
        }
        PR_TRY(place(params, p, err));
    }
    params->shared = users != NULL ? users->at : params->size;
    return PARSREC_OK;
}

void pr_params_by_item(pr_params *params, const char *name, pr_item_group group)
{
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->list[i].name, name) == 0)
            params->list[i].group = group;
}

void pr_params_pack(pr_params *params, bool sparse)
{
    params->packed = sparse ? 0 : params->shared;
    for (size_t i = 0; i < params->count; i++) {
        pr_param *p = &params->list[i];
        bool apart = p->group != PR_NOT_BY_ITEM || p->fill == PR_FILL_SHARED || p->counted ||
                     p->at >= params->shared;
        p->packed_at = sparse ? params->packed : p->at;
        if (sparse && !apart)
            params->packed += (pr_param_size(p) + ALIGN - 1) / ALIGN * ALIGN;
    }
}

const pr_param *pr_params_find(const pr_params *params, const char *name)
{
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->list[i].name, name) == 0)
            return &params->list[i];
    return NULL;
}

const pr_param *pr_params_users(const pr_params *params)
{
    return params->size > params->shared ? &params->list[params->count - 1] : NULL;
}

void pr_params_keep_users(pr_params *params, size_t first, size_t end)
{
    pr_param *users = &params->list[params->count - 1];
    size_t all = pr_param_all_rows(users);
    assert(pr_params_users(params) == users && first <= end && end < all);
    users->first = first;
    users->rows = end - first + 1;
    users->elsewhere = all - users->rows;
    params->size = users->at + (pr_param_size(users) + ALIGN - 1) / ALIGN * ALIGN;
}

/* x[n] are the numbers from `from` on. */
static void fill_uniform(pr_real *x, size_t from, size_t n, double limit, const pr_rng *rng,
                         uint32_t name)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at = from + i;
        pr_bits b = pr_rng_at(rng, name, (uint32_t)(at >> 32), (uint32_t)at, 0);
        x[i] = (pr_real)(limit * (2 * pr_unit53(b.word[0], b.word[1]) - 1));
    }
}

static void fill_normal(pr_real *x, size_t n, double deviation, const pr_rng *rng, uint32_t name)
{
    for (size_t i = 0; i < n; i++) {
        pr_bits b = pr_rng_at(rng, name, (uint32_t)((uint64_t)i >> 32), (uint32_t)i, 0);
        x[i] = (pr_real)(deviation * pr_normal_quantile(pr_unit53(b.word[0], b.word[1])));
    }
}

/* As in the authors' code: recurrent maps as ours, with biases of variance 1/outputs; other maps
 * uniform within ±1/sqrt(inputs), their biases zero. */
static void fill_reference(const pr_param *p, pr_real *x, const pr_rng *rng, uint32_t name)
{
    size_t n = pr_param_size(p);
    if (p->fill == PR_FILL_MAP)
        fill_uniform(x, 0, n, 1 / sqrt((double)p->cols), rng, name);
    else if (p->fill == PR_FILL_CELL_BIAS)
        fill_normal(x, n, sqrt(2 / (double)p->cols), rng, name); /* two maps are stacked in one */
}

/* How many maps are stacked in a parameter, each with an equal share of the rows; 0 if it is not a
 * map. */
static size_t maps_in(pr_fill fill)
{
    static const size_t maps[PR_FILLS] = {[PR_FILL_MAP] = 1,
                                          [PR_FILL_CELL] = 2,
                                          [PR_FILL_QKV] = 3,
                                          [PR_FILL_FOUR] = 4,
                                          [PR_FILL_FIVE] = 5};
    return maps[fill];
}

/* A row does not depend on which others are here. */
static void fill_table(const pr_param *p, pr_real *x, const pr_rng *rng, uint32_t name)
{
    double limit = 1 / sqrt((double)pr_param_all_rows(p));
    size_t last = p->rows > 0 ? (p->rows - 1) * p->cols : 0;
    fill_uniform(x, p->first * p->cols, last, limit, rng, name);
    if (p->rows > 0)
        fill_uniform(x + last, (pr_param_all_rows(p) - 1) * p->cols, p->cols, limit, rng, name);
}

static void fill_one(const pr_param *p, pr_real *x, pr_init_kind init, const pr_rng *rng,
                     uint32_t name)
{
    size_t n = pr_param_size(p);
    size_t maps = maps_in(p->fill);
    memset(x, 0, n * sizeof *x);
    if (p->fill == PR_FILL_TABLE)
        fill_table(p, x, rng, name);
    else if (maps > 0)
        fill_normal(x, n, sqrt(2 / (double)(p->rows / maps + p->cols)), rng, name);
    else if (p->fill == PR_FILL_ONE)
        for (size_t i = 0; i < n; i++)
            x[i] = 1;
    if (init == PR_INIT_REFERENCE)
        fill_reference(p, x, rng, name);
}

void pr_params_fill(const pr_params *params, pr_real *block, pr_init_kind init, uint64_t seed)
{
    pr_rng rng = pr_rng_make(seed, UINT64_C(0x77656967687473)); /* "weights" */
    for (size_t i = 0; i < params->count; i++)
        fill_one(&params->list[i], block + params->list[i].at, init, &rng, params->list[i].draws);
}
