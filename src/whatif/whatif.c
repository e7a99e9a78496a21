/* The order of work: everything that can be wrong in the options is found first; then past sales
 * are counted, models are asked in one pass for all scenarios, and the truth is simulated where it
 * is known. At the end the public functions: answers, texts and files. */
#include "whatif/whatif.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "model/model.h"
#include "model/model_file.h"
#include "report/canvas.h"

/* Baskets are drawn for each user, by default as many as make about BASKETS_DRAWN in all. */
enum { BASKETS_DRAWN = 40000, DRAWS_LEAST = 4, DRAWS_MOST = 100, RESAMPLES_LEAST = 20 };

/* ---- options ---- */

/* Probabilities come from models that learnt them, and from the oracle, which knows them. */
static parsrec_status check_models(const pr_model *const *models, size_t count, parsrec_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const pr_model *m = models[i];
        bool binary = m->kind->learn != NULL && m->config.loss == PR_LOSS_BCE;
        bool pairs = m->kind->learn != NULL &&
                     (m->config.loss == PR_LOSS_BPR || m->config.loss >= PR_LOSS_BPR_MAX);
        if ((m->kind->count != NULL && !m->kind->needs_truth) || binary || pairs)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "a model of kind %s%s ranks items but gives no probabilities; train "
                           "parsrec or sasrec with loss=ce",
                           m->kind->name,
                           binary  ? " with loss=bce"
                           : pairs ? " with a loss of pairs"
                                   : "");
        if (m->config.last != models[0]->config.last)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "the models keep %lld and %lld sessions for the test; use models "
                           "trained with the same setting last",
                           (long long)models[0]->config.last, (long long)m->config.last);
    }
    return PARSREC_OK;
}

static parsrec_status check_options(const parsrec_whatif_options *o, parsrec_error *err)
{
    if (!o->selection && !o->rechoice)
        return pr_fail(err, PARSREC_E_ARGUMENT, "ask one question at least");
    if ((size_t)o->estimator >= PR_ESTIMATORS)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no estimator number %d",
                       (int)o->estimator);
    if (o->estimator == PARSREC_COUNTED && !o->selection)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "counting past baskets answers selection only; ask --question selection, or "
                       "take another estimator");
    if (!(o->interval > 0 && o->interval < 1) || o->resamples < RESAMPLES_LEAST)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "intervals need a share between 0 and 1 and at least %d resamples",
                       RESAMPLES_LEAST);
    return PARSREC_OK;
}

/* What the options say beside words; the cohort is known. */
static void set_numbers(pr_whatif_result *a, const parsrec_whatif_options *o)
{
    assert(a->cohort.user_count > 0);
    size_t users = a->cohort.user_count, draws = BASKETS_DRAWN / users;
    bool dropped = o->drop_count + o->only_count > 0;
    /* New items are a matter of re-choice: no basket was ever without them. */
    a->asked[PARSREC_SELECTION] = o->selection && dropped;
    a->asked[PARSREC_RECHOICE] = o->rechoice || !dropped;
    draws = draws < DRAWS_LEAST ? DRAWS_LEAST : draws > DRAWS_MOST ? DRAWS_MOST : draws;
    a->draws = o->draws > 0 ? (size_t)o->draws : draws;
    a->estimator = o->estimator;
    a->missing = o->missing;
    a->raw = o->raw;
    a->interval = o->interval;
    a->resamples = (size_t)o->resamples;
    a->seed = o->seed;
}

/* ---- passes ---- */

typedef struct pass {
    pr_whatif_result *a;
    const pr_model *const *models;
    const pr_dataset *data;
    size_t last;
    pr_pool *pool;
    const parsrec_hooks *hooks;
    double *rows; /* [3 · lines]: work space */
} pass;

/* Takes all arrays of the answer whose sizes are known before baskets are counted. */
static parsrec_status reserve_tables(pass *p, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    size_t lines = a->lines.count, scenarios = a->scenarios.count;
    size_t sales = a->model_count * (PR_ESTIMATORS - 1), groups = a->cohort.group_count;
    pr_region *region = &a->region;
    PR_TRY(pr_sales_set_init(&a->past, region, &a->cohort, lines, scenarios, err));
    PR_TRY(pr_sales_set_init(&a->test, region, &a->cohort, lines, scenarios, err));
    a->sales = pr_region_take(region, sales, sizeof *a->sales);
    a->facts = pr_region_take(region, groups * scenarios, sizeof *a->facts);
    a->estimates = pr_region_take(region, scenarios * PR_QUESTIONS * PR_ESTIMATORS,
                                  groups * lines * sizeof *a->estimates);
    a->watched = pr_region_take(region, scenarios * lines, sizeof *a->watched);
    a->single = pr_region_take(region, lines, sizeof *a->single);
    a->fills = pr_region_take(region, a->model_count * scenarios, groups * sizeof *a->fills);
    a->sizes = pr_region_take(region, groups, 2 * sizeof *a->sizes);
    a->sold = pr_region_take(region, groups * a->items, sizeof *a->sold);
    a->totals = pr_region_take(region, scenarios * PR_QUESTIONS, groups * sizeof *a->totals);
    a->by_size = pr_region_take(region, scenarios, sizeof *a->by_size);
    p->rows = pr_region_take(region, 3 * lines, sizeof *p->rows);
    PR_TRY(pr_region_check(region, err));
    for (size_t s = 0; s < scenarios; s++)
        PR_TRY(pr_sales_init(&a->by_size[s], region, &a->cohort, lines, err));
    for (size_t i = 0; i < sales; i++)
        PR_TRY(pr_sales_set_init(&a->sales[i], region, &a->cohort, lines, scenarios, err));
    return PARSREC_OK;
}

static parsrec_status ask_model(pass *p, size_t model, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    pr_rechoice account = {.cohort = &a->cohort,
                           .lines = &a->lines,
                           .scenarios = &a->scenarios,
                           .missing = a->missing,
                           .sales = pr_sales_of(a, model, PARSREC_ROLLOUT),
                           .cross = &a->cross,
                           .facts = a->facts,
                           .row = p->rows,
                           .after = p->rows + a->lines.count,
                           .refill = p->rows + 2 * a->lines.count};
    pr_rollout rollout = {p->models[model], p->data,  &a->cohort, &a->lines,
                          &a->scenarios,    a->draws, a->seed};
    pr_test_walk walks = {p->models[model],
                          p->data,
                          &a->cohort,
                          &a->lines,
                          &a->scenarios,
                          a->seed,
                          pr_sales_of(a, model, PARSREC_EXPECTED),
                          pr_sales_of(a, model, PARSREC_TOP10)};
    PR_TRY(pr_rollout_run(&rollout, p->pool, pr_rechoice_basket, &account, p->hooks, err));
    return pr_test_walk_run(&walks, p->pool, p->hooks, err);
}

/* ---- the answer ---- */

/* Groups "cluster:N": users who are alike to the first model. */
static parsrec_status cluster_users(void *context, int32_t *cluster, size_t clusters,
                                    parsrec_error *err)
{
    const pr_model *const *first = context;
    return pr_user_clusters(cluster, *first, clusters, err);
}

/* Words of the options become lines, scenarios, groups and the cohort; watched[watch_count]: the
 * lines to show. */
static parsrec_status read_words(pr_whatif_result *a, size_t **watched, const pass *p,
                                 const parsrec_whatif_options *o, parsrec_error *err)
{
    const pr_dataset *data = p->data;
    const pr_model *first = p->models[0];
    pr_group_source source = {
        .data = data, .last = p->last, .cluster = cluster_users, .context = &first};
    if (o->command != NULL)
        a->command = pr_region_string(&a->region, o->command, strlen(o->command));
    if (o->data_name != NULL)
        a->data_name = pr_region_string(&a->region, o->data_name, strlen(o->data_name));
    PR_TRY(pr_directory_init(&a->directory, data, err));
    PR_TRY(pr_lines_init(&a->lines, &a->region, data, &a->directory, (size_t)o->level, err));
    *watched = pr_region_take(&a->region, o->watch_count, sizeof **watched);
    PR_TRY(pr_region_check(&a->region, err));
    for (size_t i = 0; i < o->watch_count; i++)
        PR_TRY(pr_lines_find(&a->lines, o->watch[i], &(*watched)[i], err));
    PR_TRY(pr_scenarios_init(&a->scenarios, &a->lines, o, err));
    PR_TRY(pr_user_groups_init(&a->groups, &source, o->groups, o->group_count, err));
    return pr_cohort_init(&a->cohort, &a->region, data, &a->groups, p->last, a->lines.count, err);
}

/* With so little on the shelf that past baskets would not find items enough, nothing can be said of
 * shoppers who fill their baskets as before. */
static parsrec_status check_enough_left(const pr_whatif_result *a, parsrec_error *err)
{
    if (!a->asked[PARSREC_RECHOICE] || a->missing != PARSREC_MISSING_REFILL)
        return PARSREC_OK;
    for (size_t s = 0; s < a->scenarios.count; s++) {
        const pr_scenario *scenario = &a->scenarios.list[s];
        size_t left = a->items - scenario->off_count + scenario->add_count;
        for (size_t g = 0; g < a->cohort.group_count; g++)
            if ((double)left < a->sizes[2 * g])
                return pr_fail(
                    err, PARSREC_E_ARGUMENT,
                    "%s: baskets of %.1f items on average cannot keep their size with %zu "
                    "item%s on the shelf; pass --missing leave",
                    scenario->name, a->sizes[2 * g], left, left == 1 ? "" : "s");
    }
    return PARSREC_OK;
}

/* Everything after the options were read. */
static parsrec_status answer(pass *p, const size_t *watched, const parsrec_whatif_options *o,
                             parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    PR_TRY(reserve_tables(p, err));
    PR_TRY(pr_past_sales(a, p->data, p->last, err));
    PR_TRY(check_enough_left(a, err));
    double *sold = p->rows; /* [lines], by all groups */
    for (size_t l = 0; l < a->lines.count; l++) {
        sold[l] = 0;
        for (size_t g = 0; g < a->cohort.group_count; g++)
            sold[l] += pr_sales_units(&a->past.before, &a->cohort, g, l);
    }
    PR_TRY(pr_cross_sums_init(&a->cross, &a->lines, a->cohort.group_count, sold, err));
    pr_cross_sums_past(&a->cross, &a->cohort, &a->lines, p->data, p->last);
    for (size_t m = 0; m < a->model_count; m++)
        PR_TRY(ask_model(p, m, err));
    if (a->synthetic && o->truth_sets > 0)
        PR_TRY(pr_true_sales_init(&a->truth, p->data, &a->cohort, &a->lines, &a->scenarios,
                                  (size_t)o->truth_sets, p->last, p->pool, p->hooks, err));
    PR_TRY(pr_whatif_estimate(a, err));
    PR_TRY(pr_whatif_watch(a, watched, o->watch_count, err));
    PR_TRY(pr_whatif_intervals(a, p->pool, p->hooks, err));
    PR_TRY(pr_whatif_cross_effects(a, err));
    return pr_whatif_judge(a, err);
}

parsrec_status pr_whatif(pr_whatif_result *a, const pr_model *const *models, size_t model_count,
                         const pr_dataset *data, const parsrec_whatif_options *o,
                         const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(model_count > 0 && a->region.newest == NULL); /* the answer is zeroed */
    double began = pr_now();
    pr_truth truth;
    size_t *watched = NULL;
    pass p = {.a = a, .models = models, .data = data, .hooks = hooks};
    parsrec_status status;
    PR_TRY(check_options(o, err));
    PR_TRY(check_models(models, model_count, err));
    p.last = (size_t)models[0]->config.last;
    a->model_count = model_count;
    status = pr_truth_read(&truth, data, err);
    if (status != PARSREC_OK && status != PARSREC_E_NOT_FOUND)
        return status;
    a->synthetic = status == PARSREC_OK;
    snprintf(a->checksum, sizeof a->checksum, "%s", pr_dataset_checksum(data));
    PR_TRY_GOTO(read_words(a, &watched, &p, o, err));
    a->items = data->items;
    PR_TRY_GOTO(pr_whatif_prices(a, a->synthetic ? &truth : NULL, err));
    set_numbers(a, o);
    PR_TRY_GOTO(pr_pool_new(&p.pool, o->threads, err));
    status = answer(&p, watched, o, err);
    a->seconds = pr_now() - began;
done:
    pr_pool_free(p.pool);
    return status;
}

void pr_whatif_clear(pr_whatif_result *a)
{
    pr_user_groups_free(&a->groups);
    pr_directory_free(&a->directory);
    pr_region_free(&a->region);
}

/* ---- the public functions ---- */

parsrec_whatif_options parsrec_whatif_default(void)
{
    return (parsrec_whatif_options){
        .rechoice = true, .resamples = 1000, .interval = 0.9, .truth_sets = 200, .seed = 1};
}

/* Models that answer together must know the same users and items. */
static parsrec_status same_shop(const parsrec_model *const *models, size_t count,
                                parsrec_error *err)
{
    const pr_dataset *first = models[0]->file.data;
    for (size_t i = 1; i < count; i++) {
        pr_match_facts facts;
        pr_derived unused;
        PR_TRY(pr_dataset_match(&unused, &facts, models[i]->file.data, first, err));
        pr_derived_free(&unused);
        if (!facts.same)
            return pr_fail(err, PARSREC_E_INPUT,
                           "model %zu was trained on other users or items than the first; models "
                           "that answer together are trained on one data set",
                           i + 1);
    }
    return PARSREC_OK;
}

static parsrec_status answer_with(pr_whatif_result *answer, const parsrec_model *const *models,
                                  size_t count, const parsrec_data *data,
                                  const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    pr_fitted fitted = {0};
    const pr_model **inside = pr_alloc(count, sizeof *inside);
    if (inside == NULL)
        return pr_fail_memory(err);
    parsrec_status status = same_shop(models, count, err);
    for (size_t i = 0; i < count; i++)
        inside[i] = models[i]->file.model;
    if (status == PARSREC_OK)
        status = pr_fit_data(&fitted, &models[0]->file, data, false, hooks, err);
    if (status == PARSREC_OK)
        status = pr_whatif(answer, inside, count, fitted.data, options, hooks, err);
    pr_fitted_free(&fitted);
    pr_free(inside);
    return status;
}

parsrec_status parsrec_whatif(parsrec_whatif_answer **out, const parsrec_model *const *models,
                              size_t model_count, const parsrec_data *data,
                              const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    if (out == NULL || models == NULL || model_count == 0 || data == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif needs models, data and options");
    *out = NULL;
    pr_whatif_result *answer = pr_alloc_zero(1, sizeof *answer);
    if (answer == NULL)
        return pr_fail_memory(err);
    parsrec_status status = answer_with(answer, models, model_count, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = answer;
    else
        parsrec_whatif_free(answer);
    return status;
}

void parsrec_whatif_free(parsrec_whatif_answer *answer)
{
    if (answer == NULL)
        return;
    pr_whatif_clear(answer);
    pr_free(answer);
}

static parsrec_status write_text(pr_writer *text, const parsrec_whatif_answer *answer,
                                 parsrec_text_kind kind, parsrec_error *err)
{
    switch (kind) {
    case PARSREC_TEXT_PLAIN:
    case PARSREC_TEXT_TERMINAL:
    case PARSREC_TEXT_HTML:
        PR_TRY(pr_whatif_write(text, answer, kind, err));
        break;
    case PARSREC_TEXT_CSV:
        pr_whatif_csv(text, answer);
        break;
    case PARSREC_TEXT_JSON:
    case PARSREC_TEXT_JSON_MODELS:
        PR_TRY(pr_whatif_json(text, answer, kind == PARSREC_TEXT_JSON_MODELS, err));
        break;
    case PARSREC_TEXT_MARKDOWN:
        return pr_fail(err, PARSREC_E_ARGUMENT, "an answer is not written as Markdown");
    }
    return text->failed ? pr_fail_memory(err) : PARSREC_OK;
}

parsrec_status parsrec_whatif_text(char **out, const parsrec_whatif_answer *answer,
                                   parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || answer == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif_text needs out and answer");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = write_text(&text, answer, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* ---- files ---- */

static parsrec_status save_text(const parsrec_whatif_answer *answer, const char *folder,
                                const char *name, parsrec_text_kind kind, parsrec_error *err)
{
    char path[4200];
    pr_writer text = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    parsrec_status status = write_text(&text, answer, kind, err);
    if (status == PARSREC_OK)
        return pr_writer_save(&text, path, err);
    pr_writer_free(&text);
    return status;
}

static parsrec_status save_charts(const parsrec_whatif_answer *a, const char *folder,
                                  parsrec_error *err)
{
    char path[4200];
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t g = 0; g < a->cohort.group_count && a->asked[q]; g++) {
                snprintf(path, sizeof path, "%s/%s-%zu-%zu.svg", folder,
                         parsrec_question_name((parsrec_question)q), s + 1, g + 1);
                PR_TRY(pr_whatif_chart(NULL, path, a, s, q, g, err));
            }
    return PARSREC_OK;
}

parsrec_status parsrec_whatif_save(const parsrec_whatif_answer *answer, const char *folder,
                                   parsrec_error *err)
{
    if (answer == NULL || folder == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif_save needs answer and folder");
    PR_TRY(pr_folder_make(folder, err));
    PR_TRY(save_text(answer, folder, "report.csv", PARSREC_TEXT_CSV, err));
    PR_TRY(save_text(answer, folder, "report.json", PARSREC_TEXT_JSON, err));
    if (pr_canvas_ready(NULL)) /* the page has the charts in any case */
        PR_TRY(save_charts(answer, folder, err));
    return save_text(answer, folder, "report.html", PARSREC_TEXT_HTML, err);
}
