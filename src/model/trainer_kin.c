/* Parts of rows that items of a category share, or items with a feature in common. A model keeps the sums alone, so that nothing but
 * training knows of parts: their gradient is the sum of the rows' gradients. */
#include <math.h>
#include <string.h>

#include "math/linear.h"
#include "math/optimise.h"
#include "model/trainer_inside.h"

enum { COLUMNS = 16, ROWS = 512 }; /* of one task */

typedef struct work {
    pr_trainer *trainer;
    const pr_param *table, *shared;
    pr_real sign;
} work;

size_t pr_shared_width(const pr_model *model)
{
    size_t most = 0;
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        if (p->fill == PR_FILL_SHARED && p->cols > most)
            most = p->cols;
    }
    return most;
}

/* Calls `each` for every table that has shared parts. */
static void for_tables(pr_trainer *t, void (*each)(work *w), pr_real sign)
{
    const pr_params *params = &t->model->params;
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED && params->list[i].rows > 0) {
            const pr_param *shared = &params->list[i];
            work w = {t, &params->list[shared->table], shared, sign};
            each(&w);
        }
}

/* Which part of a column item v has, and how much of it; 0 for none. */
static pr_real part_of(const pr_shared_column *column, size_t v, size_t *part)
{
    const pr_feature_column *f = column->feature;
    *part = column->at;
    if (f->number != NULL)
        return isfinite(f->number[v]) ? ((pr_real)f->number[v] - column->mean) * column->rate : 0;
    *part += f->code[v] >= 0 ? (size_t)f->code[v] : 0;
    return f->code[v] >= 0;
}

/* ---- gradient ---- */

/* Some columns of the whole table, so that every sum runs over items in order. */
static void sum_columns(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const work *w = context;
    const pr_category_tree *tree = &w->trainer->model->tree;
    size_t cols = w->table->cols, first = task * COLUMNS;
    size_t n = cols - first < COLUMNS ? cols - first : COLUMNS;
    const pr_real *from = w->trainer->gradient + w->table->at + first;
    pr_real *to = w->trainer->gradient + w->shared->at + first;
    for (size_t c = 0; c < tree->parts; c++)
        for (size_t i = 0; i < n; i++)
            to[c * cols + i] = 0;
    for (size_t v = 0; v < w->trainer->model->items; v++) {
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

static void sum_table(work *w)
{
    pr_pool_run(w->trainer->pool, sum_columns, w, (w->table->cols + COLUMNS - 1) / COLUMNS);
}

double pr_shared_gradient(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    double squares = 0;
    for_tables(t, sum_table, 0);
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED)
            squares +=
                pr_sum_squares(t->gradient + params->list[i].at, pr_param_size(&params->list[i]));
    return squares;
}

/* ---- parts of rows ---- */

static void add_rows(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const work *w = context;
    const pr_model *model = w->trainer->model;
    const pr_category_tree *tree = &model->tree;
    const pr_real *common = w->trainer->common;
    size_t cols = w->table->cols, end = (task + 1) * ROWS;
    pr_real *rows = model->weights + w->table->at;
    for (size_t v = task * ROWS; v < end && v < model->items; v++) {
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

/* Adds to every row, or takes from it, what its category and all above it share, and its features. */
static void add_table(work *w)
{
    pr_trainer *t = w->trainer;
    const pr_category_tree *tree = &t->model->tree;
    size_t cols = w->table->cols;
    memcpy(t->common, t->model->weights + w->shared->at, tree->parts * cols * sizeof *t->common);
    for (size_t c = 0; c < tree->categories; c++)
        if (tree->parent[c] >= 0)
            pr_add(t->common + c * cols, t->common + (size_t)tree->parent[c] * cols, cols);
    pr_pool_run(t->pool, add_rows, w, (t->model->items + ROWS - 1) / ROWS);
}

void pr_shared_subtract(pr_trainer *t)
{
    for_tables(t, add_table, -1);
}

void pr_shared_add(pr_trainer *t)
{
    for_tables(t, add_table, 1);
}
