/* Weights of a model that no zero hides: first weights are partly zero, and nothing is counted yet. */
#ifndef SHAKEN_H
#define SHAKEN_H

#include "support/numbers.h"

#include "model/model.h"
#include "model/pairs.h"

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

/* Every sixth item has no class; every fifth pair is bought alike by everybody. */
static inline void shaken_pairs(pr_model *model)
{
    if (pr_params_find(&model->params, "pairs.class") == NULL)
        return;
    size_t classes = (size_t)model->config.pairs;
    uint32_t *class_of = pr_model_u32(model, "pairs.class");
    pr_real *priors = pr_model_reals(model, "pairs.priors");
    for (size_t v = 0; v < model->items; v++)
        class_of[v] = (uint32_t)(v % 6 == 5 ? classes : v % classes);
    for (size_t i = 0; i < pr_pair_count(classes); i++)
        for (size_t k = 0; k < (i % 5 == 4 ? 1 : PR_PAIR_PRIOR); k++)
            priors[i * PR_PAIR_PRIOR + k] =
                k == 0 ? (pr_real)(i % 3) / 2 - (pr_real)0.4 : (pr_real)(1 + (i + k) % 4) / 20;
}

/* Every item has a lift with one other. */
static inline void shaken_lifts(pr_model *model)
{
    static const char *const sized[] = {"lifts.to", "lifts.logs", NULL};
    if (pr_params_find(&model->params, "lifts.to") == NULL ||
        pr_model_resize(model, sized, model->items, NULL) != PARSREC_OK)
        return;
    uint32_t *ends = pr_model_u32(model, "lifts.ends"), *to = pr_model_u32(model, "lifts.to");
    pr_real *logs = pr_model_reals(model, "lifts.logs");
    for (uint32_t e = 0; e < model->items; e++) {
        ends[e] = e + 1;
        to[e] = (e + 1 + e / 3) % (uint32_t)model->items;
        logs[e] = (pr_real)(e % 5) / 4 - (pr_real)0.3;
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
    shaken_pairs(model);
    shaken_lifts(model);
    for (size_t i = 0; i < model->inputs.numbers; i++) {
        pr_model_reals(model, "feature.scale")[2 * i] = (pr_real)0.5;
        pr_model_reals(model, "feature.scale")[2 * i + 1] = (pr_real)0.6;
    }
    free(more);
}

#endif
