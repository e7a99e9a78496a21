/* Weights of a model that no zero hides: first weights are partly zero, and nothing is counted yet. */
#ifndef SHAKEN_H
#define SHAKEN_H

#include "support/numbers.h"

#include "model/model.h"

/* Every item leads to the next but one, and a little to itself when it comes round. */
static inline void shaken_links(pr_model *model)
{
    if (pr_params_find(&model->params, "near.to") == NULL)
        return;
    uint32_t *ends = pr_model_u32(model, "near.ends"), *to = pr_model_u32(model, "near.to");
    pr_real *weights = pr_model_reals(model, "near.weights");
    pr_real *base = pr_model_reals(model, "near.base");
    for (uint32_t v = 0; v < model->items; v++) {
        ends[v] = v + 1;
        to[v] = (v + 2) % (uint32_t)model->items;
        weights[v] = (pr_real)0.3 + (pr_real)(v % 5) / 10;
        base[v] = (pr_real)(v % 7) / 20 - (pr_real)0.1;
    }
}

static inline void shake(pr_model *model, double by)
{
    pr_real *more = numbers(model->params.size, by, 77);
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        for (size_t k = p->at; !p->counted && k < p->at + pr_param_size(p); k++)
            model->weights[k] += more[k];
    }
    shaken_links(model);
    for (size_t i = 0; i < model->inputs.numbers; i++) {
        pr_model_reals(model, "feature.scale")[2 * i] = (pr_real)0.5;
        pr_model_reals(model, "feature.scale")[2 * i + 1] = (pr_real)0.6;
    }
    free(more);
}

#endif
