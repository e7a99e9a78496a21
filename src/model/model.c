/* The table of kinds, and creating models. */
#include "model/model.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/counting/counting.h"
#include "model/parsrec/parsrec_net.h"
#include "model/sequence/sequence.h"

const pr_model_kind *const pr_model_kinds[] = {&pr_parsrec, &pr_sasrec,   &pr_bert4rec, &pr_random,
                                               &pr_pop,     &pr_personal, &pr_recent,   &pr_markov,
                                               &pr_mix,     &pr_oracle,   NULL};

const pr_model_kind *pr_model_kind_named(const char *name)
{
    for (size_t i = 0; pr_model_kinds[i] != NULL; i++)
        if (strcmp(pr_model_kinds[i]->name, name) == 0)
            return pr_model_kinds[i];
    return NULL;
}

static parsrec_status known_kinds(const char *wrong, parsrec_error *err)
{
    char list[128] = "";
    pr_excerpt hold;
    for (size_t i = 0; pr_model_kinds[i] != NULL; i++) {
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, pr_model_kinds[i]->name, sizeof list - strlen(list) - 1);
    }
    return pr_fail(err, PARSREC_E_ARGUMENT, "there is no model %s; there are: %s",
                   pr_show(&hold, pr_slice_of(wrong)), list);
}

parsrec_status pr_model_defaults(pr_config *config, const char *kind, parsrec_error *err)
{
    const pr_model_kind *known = pr_model_kind_named(kind);
    if (known == NULL)
        return known_kinds(kind, err);
    *config = pr_config_default();
    for (size_t i = 0; known->settings != NULL && known->settings[i] != NULL; i++)
        PR_TRY(pr_config_assign(config, known->settings[i], err));
    return PARSREC_OK;
}

static parsrec_status check(const pr_model_kind *kind, const pr_config *config, parsrec_error *err)
{
    return kind->check != NULL ? kind->check(config, err) : PARSREC_OK;
}

parsrec_status pr_model_check(const char *kind, const pr_config *config, parsrec_error *err)
{
    const pr_model_kind *known = pr_model_kind_named(kind);
    return known != NULL ? check(known, config, err) : known_kinds(kind, err);
}

size_t pr_model_steps(const pr_model *model)
{
    const pr_config *c = &model->config;
    return model->kind->sequence ? (size_t)c->length + 1 : (size_t)c->steps;
}

static parsrec_status lay_out(pr_model *model, const pr_shop *shop, parsrec_error *err)
{
    PR_TRY(check(model->kind, &model->config, err));
    model->shares =
        model->config.kin || (model->config.features_item &&
                              (shop->categories > 0 || shop->feature_count[PR_OF_ITEM] > 0));
    if (model->kind->reads_features)
        PR_TRY(pr_feature_inputs_make(&model->inputs, &model->config, shop, err));
    return model->kind->layout(model, err);
}

parsrec_status pr_model_new_bare(pr_model **out, const char *kind, const pr_config *config,
                                 const pr_shop *shop, parsrec_error *err)
{
    size_t users = shop->users, items = shop->items;
    *out = NULL;
    const pr_model_kind *known = pr_model_kind_named(kind);
    if (known == NULL)
        return known_kinds(kind, err);
    if (items == 0 || items >= INT32_MAX || users >= INT32_MAX)
        return pr_fail(err, PARSREC_E_ARGUMENT, "cannot make a model of %zu users and %zu items",
                       users, items);
    pr_model *model = pr_alloc_zero(1, sizeof *model);
    if (model == NULL)
        return pr_fail_memory(err);
    *model = (pr_model){.kind = known, .config = *config, .users = users, .items = items};
    parsrec_status status = lay_out(model, shop, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        pr_model_free(model);
    return status;
}

parsrec_status pr_model_alloc_weights(pr_model *model, parsrec_error *err)
{
    assert(model->weights == NULL);
    model->weights = pr_alloc_aligned(model->params.size, sizeof *model->weights);
    return model->weights != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_model_verify(const pr_model *model, const char *origin, parsrec_error *err)
{
    parsrec_error why;
    if (model->kind->verify == NULL || model->kind->verify(model, &why) == PARSREC_OK)
        return PARSREC_OK;
    return pr_fail(err, why.status, "%s: %s", origin, why.message);
}

parsrec_status pr_model_set_tree(pr_model *model, const pr_category_tree *tree, parsrec_error *err)
{
    assert(model->weights == NULL); /* open rows may still change */
    model->tree = *tree;
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        if (p->open && p->fill == PR_FILL_SHARED)
            PR_TRY(pr_params_set_rows(&model->params, p->name, tree->parts, err));
    }
    return PARSREC_OK;
}

parsrec_status pr_model_new(pr_model **out, const char *kind, const pr_config *config, size_t users,
                            size_t items, uint64_t seed, parsrec_error *err)
{
    pr_model *model;
    pr_shop shop = {.users = users, .items = items};
    *out = NULL;
    PR_TRY(pr_model_new_bare(&model, kind, config, &shop, err));
    parsrec_status status = pr_model_alloc_weights(model, err);
    if (status != PARSREC_OK) {
        pr_model_free(model);
        return status;
    }
    pr_params_fill(&model->params, model->weights, (pr_init_kind)config->init, seed);
    *out = model;
    return PARSREC_OK;
}

pr_real *pr_model_reals(const pr_model *model, const char *name)
{
    const pr_param *p = pr_params_find(&model->params, name);
    assert(model->weights != NULL && p != NULL && !p->words);
    return model->weights + p->at;
}

uint32_t *pr_model_u32(const pr_model *model, const char *name)
{
    const pr_param *p = pr_params_find(&model->params, name);
    assert(model->weights != NULL && p != NULL && p->words);
    return (uint32_t *)(void *)(model->weights + p->at);
}

parsrec_status pr_model_make_ready(pr_model *model, parsrec_error *err)
{
    return model->kind->make_ready != NULL ? model->kind->make_ready(model, err) : PARSREC_OK;
}

void pr_model_free(pr_model *model)
{
    if (model == NULL)
        return;
    pr_params_free(&model->params);
    pr_feature_inputs_free(&model->inputs);
    pr_free_aligned(model->ready);
    pr_free_aligned(model->weights);
    pr_free(model);
}
