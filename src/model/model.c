/* The table of kinds, creating models, scorers, and clusters of users. */
#include "model/model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "math/kmeans.h"
#include "math/topk.h"
#include "model/counting/counting.h"
#include "model/factors/factors.h"
#include "model/parsrec/parsrec_net.h"
#include "model/sequence/sequence.h"
#include "model/storage.h"

const pr_model_kind *const pr_model_kinds[] = {
    &pr_parsrec, &pr_gru4rec, &pr_narm,     &pr_stamp,    &pr_caser,     &pr_dream,    &pr_bpr,
    &pr_fpmc,    &pr_ncf,     &pr_hrm,      &pr_transrec, &pr_sasrec,    &pr_tisasrec, &pr_bert4rec,
    &pr_random,  &pr_pop,     &pr_personal, &pr_recent,   &pr_markov,    &pr_mix,      &pr_tifuknn,
    &pr_upcf,    &pr_pernir,  &pr_sknn,     &pr_vsknn,    &pr_itemrules, &pr_seqrules, &pr_itemknn,
    &pr_ease,    &pr_oracle,  NULL};

const pr_model_kind *pr_model_kind_named(const char *name)
{
    for (size_t i = 0; pr_model_kinds[i] != NULL; i++)
        if (strcmp(pr_model_kinds[i]->name, name) == 0)
            return pr_model_kinds[i];
    return NULL;
}

static parsrec_status known_kinds(const char *wrong, parsrec_error *err)
{
    char list[320] = "";
    pr_excerpt hold;
    pr_suggest near;
    pr_suggest_start(&near, pr_slice_of(wrong));
    for (size_t i = 0; pr_model_kinds[i] != NULL; i++) {
        pr_suggest_offer(&near, pr_slice_of(pr_model_kinds[i]->name));
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, pr_model_kinds[i]->name, sizeof list - strlen(list) - 1);
    }
    if (near.count > 0) /* the whole list would not fit beside it */
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no model %s%s",
                       pr_show(&hold, pr_slice_of(wrong)), pr_suggest_sentence(&near));
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

void pr_model_settle_loss(pr_config *config, const pr_model_kind *kind, size_t items)
{
    /* A catalogue of CHEAP times the drawn items costs about five times as much per predicted item as
     * the drawn ones do (bench/scale.sh, stage train). Recurrent models and those of windows do little else than
     * score, so that they draw items earlier. */
    enum { DRAWN_LEAST = 2048, CHEAP = 12, CHEAP_SEQUENCE = 4 };
    int drawn = config->negatives > DRAWN_LEAST ? config->negatives : DRAWN_LEAST;
    if (config->loss != PR_LOSS_AUTO)
        return;
    bool sequence = kind->window != NULL || kind == &pr_gru4rec;
    config->loss = PR_LOSS_CE;
    if ((kind->drawn_items != NULL && items > CHEAP * (size_t)drawn) ||
        (sequence && items > CHEAP_SEQUENCE * (size_t)drawn)) {
        config->loss = PR_LOSS_SAMPLED;
        config->negatives = drawn;
    }
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
    pr_model_settle_loss(&model->config, known, items);
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
    return pr_storage_take(&model->weights, model, PR_BLOCK_USERS, model->params.size, err);
}

parsrec_status pr_model_resize(pr_model *model, const char *const *names, size_t rows,
                               parsrec_error *err)
{
    assert(model->ready == NULL && model->weights != NULL);
    pr_params now = model->params;
    now.list = pr_alloc(now.count, sizeof *now.list);
    now.capacity = now.count;
    if (now.list == NULL)
        return pr_fail_memory(err);
    memcpy(now.list, model->params.list, now.count * sizeof *now.list);
    parsrec_status status = PARSREC_OK;
    for (; *names != NULL && status == PARSREC_OK; names++) {
        ((pr_param *)(uintptr_t)pr_params_find(&now, *names))->open = true;
        status = pr_params_set_rows(&now, *names, rows, err);
    }
    pr_real *block = NULL;
    if (status == PARSREC_OK)
        status = pr_storage_take(&block, model, PR_BLOCK_USERS, now.size, err);
    if (status != PARSREC_OK) {
        pr_params_free(&now);
        return status;
    }
    for (size_t i = 0; i < now.count; i++) {
        const pr_param *from = &model->params.list[i], *to = &now.list[i];
        if (from->rows == to->rows)
            memcpy(block + to->at, model->weights + from->at, pr_param_size(to) * sizeof *block);
    }
    pr_storage_give(model->storage, model->weights);
    pr_params_free(&model->params);
    model->weights = block;
    model->params = now;
    return PARSREC_OK;
}

/* A copy that owns all its memory; not made ready. */
static parsrec_status copy_model(pr_model **out, const pr_model *model, parsrec_error *err)
{
    const pr_params *params = &model->params;
    pr_model *copy = pr_alloc(1, sizeof *copy);
    *out = copy;
    if (copy == NULL)
        return pr_fail_memory(err);
    *copy = *model;
    copy->ready = NULL;
    copy->weights = NULL;
    copy->params.capacity = params->count;
    copy->params.list = pr_alloc(params->count, sizeof *params->list);
    copy->inputs.list = NULL;
    if (model->inputs.count > 0)
        copy->inputs.list = pr_alloc(model->inputs.count, sizeof *copy->inputs.list);
    if (copy->params.list == NULL || (model->inputs.count > 0 && copy->inputs.list == NULL))
        return pr_fail_memory(err);
    memcpy(copy->params.list, params->list, params->count * sizeof *params->list);
    if (model->inputs.count > 0)
        memcpy(copy->inputs.list, model->inputs.list,
               model->inputs.count * sizeof *copy->inputs.list);
    PR_TRY(pr_model_alloc_weights(copy, err));
    memcpy(copy->weights, model->weights, params->size * sizeof *copy->weights);
    return PARSREC_OK;
}

parsrec_status pr_model_recounted(pr_model **out, const pr_model *model,
                                  const struct pr_counted *from, parsrec_error *err)
{
    assert(model->kind->recount != NULL);
    parsrec_status status = copy_model(out, model, err);
    if (status == PARSREC_OK)
        status = model->kind->recount(*out, from, err);
    if (status == PARSREC_OK && model->ready != NULL)
        status = pr_model_make_ready(*out, err);
    if (status != PARSREC_OK) {
        pr_model_free(*out);
        *out = NULL;
    }
    return status;
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
    assert(model->weights != NULL && model->ready == NULL);
    return model->kind->make_ready != NULL ? model->kind->make_ready(model, err) : PARSREC_OK;
}

void pr_model_free(pr_model *model)
{
    if (model == NULL)
        return;
    pr_params_free(&model->params);
    pr_feature_inputs_free(&model->inputs);
    pr_free_aligned(model->ready);
    pr_storage_give(model->storage, model->weights);
    pr_free(model);
}

/* ---- scorers: memory and checks common to all kinds ---- */

/* The state itself comes from the arena too. */
static void *take(pr_arena *arena, void *sizing, const pr_model *model, size_t rows,
                  size_t capacity)
{
    void *state = pr_arena_take(arena, 1, model->kind->state_bytes);
    state = state != NULL ? state : sizing;
    model->kind->take(state, arena, model, rows, capacity);
    return state;
}

size_t pr_scorer_bytes(const pr_model *model, size_t rows, size_t capacity)
{
    union {
        max_align_t align;
        unsigned char bytes[PR_STATE_MOST];
    } sizing;
    assert(model->kind->state_bytes <= sizeof sizing);
    pr_arena counter = pr_arena_counter();
    take(&counter, &sizing, model, rows, capacity);
    return counter.used;
}

parsrec_status pr_scorer_new(pr_scorer **out, const pr_model *model, size_t rows, size_t capacity,
                             parsrec_error *err)
{
    assert(rows > 0 && model->weights != NULL);
    *out = NULL;
    size_t bytes = pr_scorer_bytes(model, rows, capacity);
    pr_scorer *scorer = pr_alloc_zero(1, sizeof *scorer);
    if (scorer == NULL || bytes == SIZE_MAX ||
        pr_arena_init(&scorer->arena, bytes, NULL) != PARSREC_OK) {
        pr_free(scorer);
        return pr_fail_memory(err);
    }
    scorer->model = model;
    scorer->rows = rows;
    scorer->capacity = capacity;
    scorer->own = take(&scorer->arena, NULL, model, rows, capacity);
    *out = scorer;
    return PARSREC_OK;
}

void pr_scorer_free(pr_scorer *scorer)
{
    if (scorer == NULL)
        return;
    pr_arena_free(&scorer->arena);
    pr_free(scorer);
}

void pr_scorer_start(pr_scorer *scorer, const pr_start *starts, size_t rows)
{
    assert(rows <= scorer->rows);
    scorer->active = rows;
    if (scorer->model->kind->start != NULL)
        scorer->model->kind->start(scorer, starts);
}

void pr_scorer_place(pr_scorer *scorer, const int32_t *items)
{
    assert(scorer->active > 0);
    if (scorer->model->kind->place != NULL)
        scorer->model->kind->place(scorer, items);
}

void pr_scorer_score_all(pr_scorer *scorer, pr_real *scores)
{
    assert(scorer->active > 0);
    const pr_model_kind *kind = scorer->model->kind;
    size_t V = scorer->model->items;
    if (kind->row_scores == NULL)
        kind->score_all(scorer, scores);
    else
        for (size_t r = 0; r < scorer->active; r++)
            memcpy(scores + r * V, kind->row_scores(scorer, r), V * sizeof *scores);
}

void pr_scorer_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const pr_model_kind *kind = scorer->model->kind;
    assert(row < scorer->active);
    if (kind->row_scores == NULL) {
        kind->score(scorer, row, items, n, scores);
        return;
    }
    const pr_real *all = kind->row_scores(scorer, row);
    for (size_t i = 0; i < n; i++)
        scores[i] = all[items[i]];
}

size_t pr_scorer_best(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best,
                      pr_real *scores)
{
    const pr_model *model = scorer->model;
    size_t count;
    assert(scorer->active == 1 && k <= model->items);
    if (model->kind->best != NULL && model->kind->best(scorer, barred, k, best, scores, &count))
        return count;
    pr_scorer_score_all(scorer, scores);
    pr_topk_bar(scores, barred, UINT8_MAX, model->items);
    return pr_topk(best, scores, model->items, k);
}

size_t pr_scorer_attention(pr_scorer *scorer, size_t row, pr_real *weights)
{
    assert(row < scorer->active);
    if (scorer->model->kind->attention == NULL)
        return 0;
    return scorer->model->kind->attention(scorer, row, weights);
}

bool pr_scorer_terms(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *parts,
                     pr_real *placed)
{
    assert(item >= 0 && (size_t)item < scorer->model->items);
    assert(row < scorer->active);
    return scorer->model->kind->parts != NULL &&
           scorer->model->kind->parts(scorer, row, item, parts, placed);
}

/* ---- clusters of users ---- */

enum { SEED = 1 };

static size_t gather(pr_real *rows, int32_t *list, const int32_t *cluster, const pr_model *model,
                     const pr_param *table)
{
    size_t n = 0;
    for (size_t u = 0; u < model->users; u++) {
        if (cluster[u] < 0)
            continue;
        memcpy(rows + n * table->cols, model->weights + table->at + u * table->cols,
               table->cols * sizeof *rows);
        list[n++] = (int32_t)u;
    }
    return n;
}

static parsrec_status cluster_rows(int32_t *found, const pr_real *rows, size_t n, size_t width,
                                   size_t clusters, parsrec_error *err)
{
    if (clusters < 1 || clusters > n)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%zu clusters of %zu users: choose a number from 1 to %zu", clusters, n, n);
    return pr_kmeans(found, rows, n, width, clusters, SEED, err);
}

parsrec_status pr_user_clusters(int32_t *cluster, const pr_model *model, size_t clusters,
                                parsrec_error *err)
{
    const pr_param *table = pr_params_users(&model->params);
    if (table == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED,
                       "model %s learns nothing of single users, so they cannot be clustered by it",
                       model->kind->name);
    pr_real *rows = pr_alloc_aligned(model->users * table->cols, sizeof *rows);
    int32_t *list = pr_alloc(2 * model->users, sizeof *list);
    parsrec_status status = rows == NULL || list == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK) {
        size_t n = gather(rows, list, cluster, model, table);
        int32_t *found = list + model->users;
        status = cluster_rows(found, rows, n, table->cols, clusters, err);
        for (size_t i = 0; i < n && status == PARSREC_OK; i++)
            cluster[list[i]] = found[i];
    }
    pr_free_aligned(rows);
    pr_free(list);
    return status;
}
