/* From an outline of a model to one that can learn. */
#include "train/beginning.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/basket_order.h"
#include "data/counted.h"
#include "data/split.h"

parsrec_status pr_settle(pr_config *config, const pr_dataset *data, const parsrec_hooks *hooks,
                         parsrec_error *err)
{
    pr_order_facts facts;
    if (config->order != PR_ORDER_AUTO)
        return PARSREC_OK;
    if (data->ordered) {
        config->order = PR_ORDER_STORED;
        pr_say(hooks, PARSREC_LOG_INFO,
               "the data set was imported with --ordered: the order within baskets is learnt "
               "(order = stored)");
        return PARSREC_OK;
    }
    PR_TRY(pr_order_count(&facts, data, (size_t)config->last, err));
    parsrec_basket_order kind = pr_order_found(&facts);
    config->order = pr_order_informative(&facts) ? PR_ORDER_STORED : PR_ORDER_ANY;
    if (config->order == PR_ORDER_STORED)
        pr_say(hooks, PARSREC_LOG_INFO,
               "the order within baskets tells something, and is learnt (order = stored): "
               "neighbours were neighbours before %.1f times as often as other items of a basket",
               (double)facts.neighbours / (double)facts.others);
    else if (kind == PARSREC_ORDER_FIXED)
        pr_say(
            hooks, PARSREC_LOG_INFO,
            "items within baskets stand %s (%.0f %% of frequent pairs never change their order); "
            "that is no shopping order, and it is not learnt (order = any)",
            parsrec_basket_order_text(kind), 100 * pr_order_fixed_share(&facts));
    else if (kind > PARSREC_ORDER_FREE)
        pr_say(hooks, PARSREC_LOG_INFO,
               "items within baskets are %s (%.0f %% of neighbours); that is no shopping order, "
               "and it is not learnt (order = any)",
               parsrec_basket_order_text(kind), 100 * pr_order_sorted_share(&facts));
    return PARSREC_OK;
}

static parsrec_status count_neighbours(pr_near *near, const pr_model *model, const pr_dataset *data,
                                       pr_pool *pool, const parsrec_hooks *hooks,
                                       parsrec_error *err)
{
    size_t V = data->items, K = (size_t)model->config.neighbours;
    *near = (pr_near){.items = V,
                      .ends = pr_alloc(V, sizeof *near->ends),
                      .to = pr_alloc(V * K, sizeof *near->to),
                      .weights = pr_alloc(V * K, sizeof *near->weights),
                      .base = pr_alloc(V, sizeof *near->base)};
    if (near->ends == NULL || near->to == NULL || near->weights == NULL || near->base == NULL)
        return pr_fail_memory(err);
    pr_counted from = {.data = data,
                       .scope = pr_scope_before(PR_VALID, (size_t)model->config.last),
                       .pool = pool,
                       .hooks = hooks};
    return pr_near_count(near, K, &from, err);
}

/* ---- numbers among features ---- */

typedef struct spread {
    double count, mean, squares; /* of what is off the mean */
} spread;

static void add_number(spread *s, double x)
{
    if (!isfinite(x))
        return;
    s->count++;
    double off = x - s->mean;
    s->mean += off / s->count;
    s->squares += off * (x - s->mean);
}

/* 0 where all are the same: they tell nothing. */
static double rate_of(const spread *s)
{
    double deviation = s->count > 0 ? sqrt(s->squares / s->count) : 0;
    return deviation > fmax(1e-6 * fabs(s->mean), 1e-30) ? 1 / deviation : 0;
}

/* ---- items ---- */

/* All columns of items, behind the categories. */
static parsrec_status list_columns(pr_beginning *out, pr_category_tree *tree,
                                   const pr_dataset *data, parsrec_error *err)
{
    size_t count = data->feature_count[PR_OF_ITEM];
    out->columns = pr_alloc(count, sizeof *out->columns);
    if (out->columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const pr_feature_column *f = &data->features[PR_OF_ITEM][i];
        spread s = {0};
        for (size_t v = 0; f->number != NULL && v < data->items; v++)
            add_number(&s, (double)f->number[v]);
        out->columns[i] = (pr_shared_column){f, tree->parts, (pr_real)s.mean, (pr_real)rate_of(&s)};
        tree->parts += f->number != NULL ? 1 : f->values.count;
    }
    tree->columns = out->columns;
    tree->column_count = count;
    return PARSREC_OK;
}

parsrec_status pr_beginning_make(pr_beginning *out, pr_model *model, const pr_dataset *data,
                                 bool resumed, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    bool neighbours = pr_params_find(&model->params, "near.to") != NULL;
    bool find = neighbours && model->config.kin && data->categories == 0;
    pr_category_tree tree = {.categories = data->categories,
                             .parent = data->category_parent,
                             .item_category = data->item_category};
    *out = (pr_beginning){0};
    if (neighbours && (find || !resumed))
        PR_TRY(count_neighbours(&out->near, model, data, pool, hooks, err));
    if (find) {
        PR_TRY(pr_families_find(&out->families, &out->near, err));
        tree = (pr_category_tree){.categories = out->families.count,
                                  .parent = out->families.parent,
                                  .item_category = out->families.item_family};
    }
    tree.parts = tree.categories;
    if (model->config.features_item)
        PR_TRY(list_columns(out, &tree, data, err));
    return pr_model_set_tree(model, &tree, err);
}

/* Mean and inverse of the deviation in training. */
static void measure(pr_real *scale, const pr_feature_input *input, const pr_dataset *data,
                    size_t last)
{
    const float *number = data->features[input->of][input->column].number;
    spread s = {0};
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = pr_split_train_end(data, u, last);
        if (input->of == PR_OF_USER && end > data->user_offsets[u])
            add_number(&s, (double)number[u]);
        for (int64_t i = data->user_offsets[u]; input->of == PR_OF_SESSION && i < end; i++)
            add_number(&s, (double)number[i]);
    }
    scale[0] = (pr_real)s.mean;
    scale[1] = (pr_real)rate_of(&s);
}

static void measure_numbers(pr_model *model, const pr_dataset *data)
{
    const pr_feature_inputs *inputs = &model->inputs;
    if (inputs->numbers == 0)
        return;
    pr_real *scale = pr_model_reals(model, "feature.scale");
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->list[i].number)
            measure(scale + PR_INPUT_SCALE * inputs->list[i].at, &inputs->list[i], data,
                    (size_t)model->config.last);
}

void pr_begin(pr_model *model, const pr_beginning *from, const pr_dataset *data, uint64_t seed)
{
    const pr_near *near = &from->near;
    size_t V = near->items, links = V * (size_t)model->config.neighbours;
    pr_params_fill(&model->params, model->weights, (pr_init_kind)model->config.init, seed);
    measure_numbers(model, data);
    if (V == 0)
        return;
    memcpy(pr_model_u32(model, "near.ends"), near->ends, V * sizeof *near->ends);
    memcpy(pr_model_u32(model, "near.to"), near->to, links * sizeof *near->to);
    memcpy(pr_model_reals(model, "near.weights"), near->weights, links * sizeof *near->weights);
    memcpy(pr_model_reals(model, "near.base"), near->base, V * sizeof *near->base);
}

void pr_beginning_free(pr_beginning *b)
{
    pr_free(b->near.ends);
    pr_free(b->near.to);
    pr_free(b->near.weights);
    pr_free(b->near.base);
    pr_families_free(&b->families);
    pr_free(b->columns);
    *b = (pr_beginning){0};
}
