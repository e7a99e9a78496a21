/* Sums over the parts that items share, and their gradients. */
#include "model/shared_parts.h"

#include <math.h>
#include <string.h>

#include "math/layers.h"
#include "math/optimise.h"

enum { SHARED_COLUMNS = 16, SHARED_ROWS = 512 }; /* per task */

typedef struct shared_work {
    const pr_model *model;
    pr_pool *pool;
    const pr_param *table, *shared;
    pr_real *block; /* the gradient, or the common parts */
    pr_real sign;
} shared_work;

/* Calls `each` for every table that has shared parts. */
static void for_tables(shared_work *w, void (*each)(shared_work *w))
{
    const pr_params *params = &w->model->params;
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED && params->list[i].rows > 0) {
            w->shared = &params->list[i];
            w->table = &params->list[w->shared->table];
            each(w);
        }
}

/* Which part of a column item v has, and its factor; 0 if it has none. */
static pr_real part_of(const pr_shared_column *column, size_t v, size_t *part)
{
    const pr_feature_column *f = column->feature;
    *part = column->at;
    if (f->number != NULL)
        return isfinite(f->number[v]) ? ((pr_real)f->number[v] - column->mean) * column->rate : 0;
    *part += f->code[v] >= 0 ? (size_t)f->code[v] : 0;
    return f->code[v] >= 0;
}

/* ---- one item ---- */

pr_part_walk pr_part_walk_of(const pr_model *model, size_t item)
{
    const pr_category_tree *tree = &model->tree;
    bool listed = tree->categories > 0 && item < model->items;
    return (pr_part_walk){.tree = tree,
                          .item = item,
                          .category = listed ? tree->item_category[item] : -1,
                          .column = item < model->items ? 0 : tree->column_count};
}

bool pr_part_next(pr_part_walk *w)
{
    if (w->category >= 0) {
        w->part = (size_t)w->category;
        w->factor = 1;
        w->category = w->tree->parent[w->category];
        return true;
    }
    while (w->column < w->tree->column_count) {
        w->factor = part_of(&w->tree->columns[w->column++], w->item, &w->part);
        if (w->factor != 0)
            return true;
    }
    return false;
}

const pr_param *pr_shared_of(const pr_model *model, const pr_param *table)
{
    const pr_params *params = &model->params;
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED && params->list[i].rows > 0 &&
            &params->list[params->list[i].table] == table)
            return &params->list[i];
    return NULL;
}

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

void pr_item_add_parts(pr_real *row, const pr_model *model, const pr_param *shared, size_t item)
{
    if (shared == NULL)
        return;
    pr_part_walk walk = pr_part_walk_of(model, item);
    while (pr_part_next(&walk))
        add_scaled(row, model->weights + shared->at + walk.part * shared->cols, walk.factor,
                   shared->cols);
}

void pr_item_row(pr_real *out, const pr_model *model, const pr_param *table, const pr_param *shared,
                 size_t item)
{
    memcpy(out, model->weights + table->at + item * table->cols, table->cols * sizeof *out);
    pr_item_add_parts(out, model, shared, item);
}

/* ---- gradient ---- */

/* Processes some columns of the whole table, so that every sum runs over items in order. */
static void sum_columns(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const shared_work *w = context;
    const pr_category_tree *tree = &w->model->tree;
    size_t cols = w->table->cols, first = task * SHARED_COLUMNS;
    size_t n = cols - first < SHARED_COLUMNS ? cols - first : SHARED_COLUMNS;
    const pr_real *from = w->block + w->table->at + first;
    pr_real *to = w->block + w->shared->at + first;
    for (size_t c = 0; c < tree->parts; c++)
        for (size_t i = 0; i < n; i++)
            to[c * cols + i] = 0;
    for (size_t v = 0; v < w->model->items; v++) {
        if (tree->categories > 0 && tree->item_category[v] >= 0)
            pr_add(to + (size_t)tree->item_category[v] * cols, from + v * cols, n);
        for (size_t k = 0, part; k < tree->column_count; k++) {
            pr_real much = part_of(&tree->columns[k], v, &part);
            if (much != 0)
                pr_add_scaled(to + part * cols, from + v * cols, much, n);
        }
    }
    for (size_t c = tree->categories; c-- > 0;)
        if (tree->parent[c] >= 0)
            pr_add(to + (size_t)tree->parent[c] * cols, to + c * cols, n);
}

static void sum_table(shared_work *w)
{
    pr_pool_run(w->pool, sum_columns, w, (w->table->cols + SHARED_COLUMNS - 1) / SHARED_COLUMNS);
}

double pr_shared_gradient(const pr_model *model, pr_real *gradient, pr_pool *pool)
{
    const pr_params *params = &model->params;
    shared_work w = {.model = model, .pool = pool, .block = gradient};
    double squares = 0;
    for_tables(&w, sum_table);
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED)
            squares +=
                pr_sum_squares(gradient + params->list[i].at, pr_param_size(&params->list[i]));
    return squares;
}

/* ---- shared parts of rows ---- */

static void add_rows(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const shared_work *w = context;
    const pr_model *model = w->model;
    const pr_category_tree *tree = &model->tree;
    const pr_real *common = w->block;
    size_t cols = w->table->cols, end = (task + 1) * SHARED_ROWS;
    pr_real *rows = model->weights + w->table->at;
    for (size_t v = task * SHARED_ROWS; v < end && v < model->items; v++) {
        if (tree->categories > 0 && tree->item_category[v] >= 0)
            pr_add_scaled(rows + v * cols, common + (size_t)tree->item_category[v] * cols, w->sign,
                          cols);
        for (size_t k = 0, part; k < tree->column_count; k++) {
            pr_real much = part_of(&tree->columns[k], v, &part);
            if (much != 0)
                pr_add_scaled(rows + v * cols, common + part * cols, w->sign * much, cols);
        }
    }
}

/* Adds to every row, or subtracts from it, the shared parts of its categories and features. */
static void add_table(shared_work *w)
{
    const pr_category_tree *tree = &w->model->tree;
    size_t cols = w->table->cols;
    memcpy(w->block, w->model->weights + w->shared->at, tree->parts * cols * sizeof *w->block);
    for (size_t c = 0; c < tree->categories; c++)
        if (tree->parent[c] >= 0)
            pr_add(w->block + c * cols, w->block + (size_t)tree->parent[c] * cols, cols);
    pr_pool_run(w->pool, add_rows, w, (w->model->items + SHARED_ROWS - 1) / SHARED_ROWS);
}

void pr_shared_add(const pr_model *model, pr_real *common, pr_real sign, pr_pool *pool)
{
    shared_work w = {.model = model, .pool = pool, .block = common, .sign = sign};
    for_tables(&w, add_table);
}

/* Of the table with the most columns. */
size_t pr_shared_room(const pr_model *model)
{
    size_t most = 0;
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        if (p->fill == PR_FILL_SHARED && p->cols > most)
            most = p->cols;
    }
    return model->tree.parts * most;
}
