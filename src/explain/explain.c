/* Group by group: evidence, sums over baskets, maps, and how far they can be trusted. */
#include "explain/explain.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "math/rank_agreement.h"
#include "model/model.h"
#include "model/model_file.h"
#include "model/same_ranks.h"
#include "report/heatmap.h"

/* What is needed while it is made. */
typedef struct making {
    pr_explanation *e;
    const pr_model *model;
    const pr_dataset *data;
    const parsrec_explain_options *options;
    pr_pool *pool;
    const parsrec_hooks *hooks;
    pr_user_groups groups;
    pr_truth truth;
    pr_group_truth *truths; /* [groups], or NULL */
} making;

/* ---- which maps ---- */

static parsrec_status choose_maps(making *m, parsrec_error *err)
{
    const bool *asked = m->options->maps;
    bool any = false;
    for (size_t k = 0; k < PARSREC_MAPS; k++)
        any = any || asked[k];
    for (size_t k = 0; k < PARSREC_MAPS; k++) {
        bool there = k == PARSREC_MAP_ATTENTION ? m->model->kind->attention != NULL
                     : k == PARSREC_MAP_EMBEDDING
                         ? pr_params_find(&m->model->params, "item_emb") != NULL
                         : true;
        if (asked[k] && !there)
            return pr_fail(err, PARSREC_E_UNSUPPORTED,
                           "model %s has no %s, so it has no such map; take --map drop instead",
                           m->model->kind->name,
                           k == PARSREC_MAP_ATTENTION ? "attention of parsrec's form"
                                                      : "embedding of items");
        m->e->has[k] = any ? asked[k] : there;
    }
    m->e->has[PR_MAP_EVEN] = m->e->has[PARSREC_MAP_ATTENTION];
    return PARSREC_OK;
}

/* ---- who ---- */

static parsrec_status cluster(void *context, int32_t *number, size_t clusters, parsrec_error *err)
{
    return pr_user_clusters(number, context, clusters, err);
}

static parsrec_status choose_groups(making *m, parsrec_error *err)
{
    const parsrec_explain_options *o = m->options;
    /* The callback takes what it is given back as const. */
    pr_group_source from = {m->data, (size_t)m->model->config.last, cluster,
                            (void *)(uintptr_t)m->model};
    PR_TRY(pr_user_groups_init(&m->groups, &from, o->groups, o->group_count, err));
    m->e->groups = pr_region_take(&m->e->region, m->groups.count, sizeof *m->e->groups);
    PR_TRY(pr_region_check(&m->e->region, err));
    m->e->group_count = m->groups.count;
    for (size_t g = 0; g < m->groups.count; g++) {
        pr_explained_group *to = &m->e->groups[g];
        const pr_user_group *from_group = &m->groups.list[g];
        to->step_agreement = to->map_agreement = NAN;
        to->users = from_group->count;
        to->name = pr_region_string(&m->e->region, from_group->name, strlen(from_group->name));
        to->label = pr_region_string(&m->e->region, from_group->label, strlen(from_group->label));
    }
    return pr_region_check(&m->e->region, err);
}

static bool find_pair(making *m, const char *text, const char *comma)
{
    pr_slice first = {text, (size_t)(comma - text)}, second = pr_slice_of(comma + 1);
    const pr_user_group *a = pr_user_group_named(&m->groups, first);
    const pr_user_group *b = pr_user_group_named(&m->groups, second);
    if (a == NULL || b == NULL || a == b)
        return false;
    m->e->difference.a = (size_t)(a - m->groups.list);
    m->e->difference.b = (size_t)(b - m->groups.list);
    return true;
}

/* Names may hold commas: any of them may be the one between the two. */
static parsrec_status choose_difference(making *m, parsrec_error *err)
{
    const char *text = m->options->difference;
    pr_excerpt hold;
    m->e->has_difference = text != NULL || m->groups.count == 2;
    m->e->difference.b = 1;
    if (text == NULL)
        return PARSREC_OK;
    for (const char *comma = strchr(text, ','); comma != NULL; comma = strchr(comma + 1, ','))
        if (find_pair(m, text, comma))
            return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "the difference %s does not name two of the groups, as in A,B",
                   pr_show(&hold, pr_slice_of(text)));
}

/* ---- the maps of a group ---- */

static parsrec_status new_map(making *m, double **map, parsrec_error *err)
{
    *map = pr_region_take(&m->e->region, m->e->axis.count * m->e->axis.count, sizeof **map);
    return pr_region_check(&m->e->region, err);
}

static parsrec_status agreement_of_maps(double *rho, const double *a, const double *b, size_t N,
                                        parsrec_error *err)
{
    double *x = pr_alloc(2 * N * N, sizeof *x);
    size_t n = 0;
    if (x == NULL)
        return pr_fail_memory(err);
    double *y = x + N * N;
    for (size_t k = 0; k < N * N; k++) {
        if (k / N == k % N || isnan(a[k]) || isnan(b[k]))
            continue;
        x[n] = a[k];
        y[n++] = b[k];
    }
    parsrec_status status = pr_spearman(rho, x, y, n, err);
    pr_free(x);
    return status;
}

/* Every n-th user of a group represents it, n the least that leaves about baskets_most baskets or
 * fewer; all of them for 0. Without chance, and from all over the group. Free `some->users`. */
static parsrec_status choose_users(pr_user_group *some, const making *m, size_t g,
                                   parsrec_error *err)
{
    const pr_user_group *group = &m->groups.list[g];
    uint64_t baskets = 0, most = m->options->baskets_most;
    for (size_t i = 0; i < group->count; i++) {
        const int64_t *own = m->data->user_offsets + group->users[i];
        baskets += (uint64_t)(own[1] - own[0]);
    }
    size_t step = most > 0 && baskets > most ? (size_t)((baskets + most - 1) / most) : 1;
    *some = (pr_user_group){.name = group->name};
    some->users = pr_alloc(group->count, sizeof *some->users);
    if (some->users == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < group->count; i += step)
        some->users[some->count++] = group->users[i];
    return PARSREC_OK;
}

/* The maps that are made of sums over baskets. */
static parsrec_status make_maps(making *m, pr_explained_group *to, pr_map_sums *sums,
                                parsrec_error *err)
{
    typedef void make_map(double *map, const pr_map_sums *from);
    static make_map *const makers[PR_MAP_KINDS] = {[PARSREC_MAP_ATTENTION] = pr_map_attention,
                                                   [PR_MAP_EVEN] = pr_map_even,
                                                   [PARSREC_MAP_DROP] = pr_map_drop};
    for (size_t k = 0; k < PR_MAP_KINDS; k++) {
        if (makers[k] == NULL || !m->e->has[k])
            continue;
        PR_TRY(new_map(m, &to->maps[k], err));
        makers[k](to->maps[k], sums);
    }
    to->baskets = sums->baskets;
    to->cut = sums->cut;
    to->steps = sums->steps;
    if (!m->e->has[PARSREC_MAP_DROP])
        return PARSREC_OK;
    to->placed = pr_region_take(&m->e->region, sums->N, sizeof *to->placed);
    PR_TRY(pr_region_check(&m->e->region, err));
    memcpy(to->placed, sums->placed, sums->N * sizeof *to->placed);
    if (!m->e->has[PARSREC_MAP_ATTENTION])
        return PARSREC_OK;
    to->step_agreement = sums->pairs > 0 ? sums->agreeing / sums->pairs : NAN;
    return agreement_of_maps(&to->map_agreement, to->maps[PARSREC_MAP_ATTENTION],
                             to->maps[PARSREC_MAP_DROP], m->e->axis.count, err);
}

static parsrec_status walk_group(making *m, size_t g, parsrec_error *err)
{
    pr_user_group some = {0};
    pr_map_source source = {.model = m->model,
                            .data = m->data,
                            .axis = &m->e->axis,
                            .group = &some,
                            .basket_most = m->e->basket_most,
                            .attention = m->e->has[PARSREC_MAP_ATTENTION],
                            .drop = m->e->has[PARSREC_MAP_DROP],
                            .ranks = m->options->ranks};
    pr_map_sums sums = {0};
    if (!source.attention && !source.drop)
        return PARSREC_OK;
    parsrec_status status;
    PR_TRY_GOTO(choose_users(&some, m, g, err));
    PR_TRY_GOTO(pr_map_sums_make(&sums, &source, m->pool, m->hooks, err));
    PR_TRY_GOTO(make_maps(m, &m->e->groups[g], &sums, err));
done:
    pr_map_sums_free(&sums);
    pr_free(some.users);
    return status;
}

/* Maps whose numbers are logs of factors, as the log of a lift is. */
static bool is_log(size_t map)
{
    return map == PARSREC_MAP_DROP || map == PARSREC_MAP_LIFT;
}

static parsrec_status explain_group(making *m, size_t g, parsrec_error *err)
{
    pr_explained_group *to = &m->e->groups[g];
    PR_TRY(pr_evidence_count(&to->evidence, m->data, &m->e->axis, &m->groups.list[g], m->pool,
                             m->hooks, err));
    if (m->e->has[PARSREC_MAP_LIFT]) {
        PR_TRY(new_map(m, &to->maps[PARSREC_MAP_LIFT], err));
        pr_map_lift(to->maps[PARSREC_MAP_LIFT], &to->evidence);
    }
    PR_TRY(walk_group(m, g, err));
    if (to->maps[PARSREC_MAP_DROP] != NULL)
        PR_TRY(pr_tree_sums_init(&to->tree, &m->e->region, &m->e->axis, to->maps[PARSREC_MAP_DROP],
                                 err));
    if (!m->e->has_truth)
        return PARSREC_OK;
    size_t N = m->e->axis.count;
    PR_TRY(pr_group_truth_init(&m->truths[g], &m->truth, &m->groups.list[g], PR_TRUTH_TRIPS,
                               m->pool, err));
    PR_TRY(new_map(m, &to->maps[PR_MAP_TRUTH], err));
    memcpy(to->maps[PR_MAP_TRUTH], m->truths[g].sigma, N * N * sizeof(double));
    for (size_t k = 0; k < PR_MAP_KINDS; k++) {
        const double *map = pr_explained_map(m->e, g, k);
        if (map != NULL)
            PR_TRY(pr_recovery_score(&to->recovery[k], map, &m->truths[g], N, err));
        if (!is_log(k))
            to->recovery[k].slope = NAN;
    }
    return PARSREC_OK;
}

/* ---- two groups ---- */

static parsrec_status subtract(making *m, parsrec_error *err)
{
    pr_explained_difference *d = &m->e->difference;
    size_t N = m->e->axis.count;
    for (size_t k = 0; k < PR_MAP_KINDS; k++) {
        const double *a = m->e->groups[d->a].maps[k], *b = m->e->groups[d->b].maps[k];
        if (a == NULL || b == NULL)
            continue;
        PR_TRY(new_map(m, &d->maps[k], err));
        for (size_t i = 0; i < N * N; i++)
            d->maps[k][i] = a[i] - b[i];
        if (m->e->has_truth)
            PR_TRY(pr_recovery_difference(&d->recovery[k], a, b, &m->truths[d->a], &m->truths[d->b],
                                          N, err));
        if (!is_log(k))
            d->recovery[k].slope = NAN;
    }
    return PARSREC_OK;
}

/* ---- all of it ---- */

/* Truth is of categories: a map of all of them, in their order, can be held against it. */
static parsrec_status read_truth(making *m, parsrec_error *err)
{
    const pr_dataset *data = m->data;
    if (m->options->no_recovery || data->file == NULL ||
        pr_container_find(data->file, "truth.group") == NULL || m->e->axis.items ||
        m->e->axis.count != data->categories)
        return PARSREC_OK;
    PR_TRY(pr_truth_read(&m->truth, data, err));
    m->truths = pr_alloc_zero(m->groups.count, sizeof *m->truths);
    m->e->has_truth = m->e->has[PR_MAP_TRUTH] = true;
    return m->truths != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* Rows that are alike by drop effect, or else by lift, of the first group. */
static parsrec_status order_rows(making *m, parsrec_error *err)
{
    size_t N = m->e->axis.count;
    const double *by = pr_explained_map(m->e, 0, PARSREC_MAP_DROP);
    by = by != NULL ? by : pr_explained_map(m->e, 0, PARSREC_MAP_LIFT);
    by = by != NULL ? by : pr_explained_map(m->e, 0, PARSREC_MAP_ATTENTION);
    by = by != NULL ? by : m->e->embedding;
    m->e->order = pr_region_take(&m->e->region, N, sizeof *m->e->order);
    PR_TRY(pr_region_check(&m->e->region, err));
    for (size_t i = 0; i < N; i++)
        m->e->order[i] = i;
    return m->options->cluster ? pr_heatmap_order_clusters(m->e->order, by, N, err) : PARSREC_OK;
}

static parsrec_status keep_words(making *m, parsrec_error *err)
{
    const parsrec_explain_options *o = m->options;
    const char *checksum = pr_dataset_checksum(m->data);
    snprintf(m->e->model_kind, sizeof m->e->model_kind, "%s", m->model->kind->name);
    snprintf(m->e->checksum, sizeof m->e->checksum, "%s", checksum);
    const char *words[] = {o->model_name, o->data_name, o->command};
    char **places[] = {&m->e->model_name, &m->e->data_name, &m->e->command};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] != NULL)
            *places[i] = pr_region_string(&m->e->region, words[i], strlen(words[i]));
    return pr_region_check(&m->e->region, err);
}

static parsrec_status make(making *m, parsrec_error *err)
{
    const parsrec_explain_options *o = m->options;
    pr_axis_options axis = {o->items, (size_t)o->level, (size_t)o->top, o->show, o->show_count};
    m->e->basket_most = (size_t)o->basket_most;
    PR_TRY(keep_words(m, err));
    PR_TRY(choose_maps(m, err));
    PR_TRY(pr_axis_init(&m->e->axis, m->data, &axis, err));
    PR_TRY(choose_groups(m, err));
    PR_TRY(choose_difference(m, err));
    PR_TRY(read_truth(m, err));
    if (m->e->has[PARSREC_MAP_EMBEDDING]) {
        PR_TRY(new_map(m, &m->e->embedding, err));
        PR_TRY(pr_map_embedding(m->e->embedding, m->model, &m->e->axis, err));
    }
    for (size_t g = 0; g < m->groups.count; g++)
        PR_TRY(explain_group(m, g, err));
    if (m->e->has_difference)
        PR_TRY(subtract(m, err));
    return order_rows(m, err);
}

parsrec_status pr_explain(pr_explanation *out, const pr_model *model, const pr_dataset *data,
                          const parsrec_explain_options *options, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(out->groups == NULL); /* it is zeroed */
    double began = pr_now();
    making m = {out, model, data, options, pool, hooks, {0}, {0}, NULL};
    parsrec_status status = make(&m, err);
    for (size_t g = 0; m.truths != NULL && g < m.groups.count; g++)
        pr_group_truth_free(&m.truths[g]);
    pr_free(m.truths);
    pr_user_groups_free(&m.groups);
    out->seconds = pr_now() - began;
    return status;
}

void pr_explanation_clear(pr_explanation *e)
{
    for (size_t g = 0; g < e->group_count; g++)
        pr_evidence_free(&e->groups[g].evidence);
    pr_axis_free(&e->axis);
    pr_region_free(&e->region);
    *e = (pr_explanation){0};
}

/* ---- for the public ---- */

parsrec_explain_options parsrec_explain_default(void)
{
    return (parsrec_explain_options){.top = 60, .basket_most = 10};
}

static parsrec_status explain(pr_explanation *e, const parsrec_model *model,
                              const parsrec_data *data, const parsrec_explain_options *o,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_pool *pool;
    pr_fitted fitted;
    if (o->top < 2 || o->top > PR_AXIS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a map shows 2 to %d rows, not %llu", PR_AXIS_MOST,
                       (unsigned long long)o->top);
    if (o->basket_most < 2 || o->basket_most > PR_MAP_BASKET_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "2 to %d items of a basket can be looked at",
                       PR_MAP_BASKET_MOST);
    PR_TRY(pr_fit_data(&fitted, &model->file, data, false, hooks, err));
    parsrec_status status = pr_same_ranks(o->ranks, model->file.model, fitted.data, "", err);
    if (status == PARSREC_OK)
        status = pr_pool_new(&pool, o->threads, err);
    if (status == PARSREC_OK) {
        status = pr_explain(e, model->file.model, fitted.data, o, pool, hooks, err);
        pr_pool_free(pool);
    }
    pr_fitted_free(&fitted);
    return status;
}

parsrec_status parsrec_explain(parsrec_explanation **out, const parsrec_model *model,
                               const parsrec_data *data, const parsrec_explain_options *options,
                               const parsrec_hooks *hooks, parsrec_error *err)
{
    if (out == NULL || model == NULL || data == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_explain needs out, model, data, options");
    *out = NULL;
    pr_explanation *e = pr_alloc_zero(1, sizeof *e);
    if (e == NULL)
        return pr_fail_memory(err);
    parsrec_status status = explain(e, model, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = e;
    else
        parsrec_explanation_free(e);
    return status;
}

void parsrec_explanation_free(parsrec_explanation *explanation)
{
    if (explanation == NULL)
        return;
    pr_explanation_clear(explanation);
    pr_free(explanation);
}

size_t parsrec_explanation_size(const parsrec_explanation *explanation)
{
    return explanation->axis.count;
}

const char *parsrec_explanation_name(const parsrec_explanation *explanation, size_t row)
{
    return row < explanation->axis.count ? explanation->axis.names[row] : NULL;
}

const char *parsrec_explanation_group(const parsrec_explanation *explanation, size_t group)
{
    return group < explanation->group_count ? explanation->groups[group].name : NULL;
}

const double *parsrec_explanation_map(const parsrec_explanation *explanation, size_t group,
                                      parsrec_map map)
{
    if (group >= explanation->group_count || (size_t)map >= PARSREC_MAPS)
        return NULL;
    return pr_explained_map(explanation, group, map);
}
