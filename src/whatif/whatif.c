/* The order of work: everything that can be wrong in the words is found first; then sales are counted,
 * models asked, one pass for all scenarios, and the truth made again where it is known. */
#include "whatif/whatif.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/user_clusters.h"
#include "whatif/past_sales.h"
#include "whatif/test_walk.h"

enum { BASKETS_DRAWN = 40000, DRAWS_LEAST = 4, DRAWS_MOST = 100, RESAMPLES_LEAST = 20 };

/* ---- words ---- */

static parsrec_status copy_words(pr_whatif_result *a, const parsrec_whatif_options *o,
                                 parsrec_error *err)
{
    if (o->command != NULL)
        a->command = pr_copy_string(o->command, strlen(o->command));
    if (o->data_name != NULL)
        a->data_name = pr_copy_string(o->data_name, strlen(o->data_name));
    return (o->command == NULL || a->command != NULL) &&
                   (o->data_name == NULL || a->data_name != NULL)
               ? PARSREC_OK
               : pr_fail_memory(err);
}

/* Chances come from models that learnt them, and from the oracle, which knows them. */
static parsrec_status check_models(const pr_model *const *models, size_t count, parsrec_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const pr_model *m = models[i];
        bool binary = m->kind->learn != NULL && m->config.loss == PR_LOSS_BCE;
        bool pairs = m->kind->learn != NULL && m->config.loss == PR_LOSS_BPR;
        if ((m->kind->count != NULL && !m->kind->needs_truth) || binary || pairs)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "a model of kind %s%s ranks items but has no chances of them; train "
                           "parsrec or sasrec with loss=ce",
                           m->kind->name,
                           binary  ? " with loss=bce"
                           : pairs ? " with loss=bpr"
                                   : "");
        if (m->config.last != models[0]->config.last)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "the models keep %lld and %lld sessions for the test; take models "
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
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "counting past baskets answers selection alone; ask --question selection, or "
            "take another estimator");
    if (!(o->interval > 0 && o->interval < 1) || o->resamples < RESAMPLES_LEAST)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "intervals need a share between 0 and 1 and at least %d resamples",
                       RESAMPLES_LEAST);
    return PARSREC_OK;
}

/* New items are a matter of re-choice: no basket was ever without them. */
static void set_questions(pr_whatif_result *a, const parsrec_whatif_options *o)
{
    bool dropped = o->drop_count + o->only_count > 0;
    a->asked[PARSREC_SELECTION] = o->selection && dropped;
    a->asked[PARSREC_RECHOICE] = o->rechoice || !dropped;
}

static void set_numbers(pr_whatif_result *a, const parsrec_whatif_options *o)
{
    size_t users = a->cohort.user_count, draws = BASKETS_DRAWN / users;
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
    double *rows; /* [3 · lines] */
} pass;

static parsrec_status open_books(pass *p, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    size_t lines = a->lines.count, scenarios = a->scenarios.count;
    size_t books = a->model_count * (PR_ESTIMATORS - 1), groups = a->cohort.group_count;
    PR_TRY(pr_book_init(&a->past, &a->cohort, lines, scenarios, err));
    PR_TRY(pr_book_init(&a->test, &a->cohort, lines, scenarios, err));
    a->books = pr_alloc_zero(books, sizeof *a->books);
    a->facts = pr_alloc_zero(groups * scenarios, sizeof *a->facts);
    a->estimates =
        pr_alloc(scenarios * PR_QUESTIONS * PR_ESTIMATORS, groups * lines * sizeof *a->estimates);
    a->watched = pr_alloc_zero(scenarios * lines, sizeof *a->watched);
    a->single = pr_alloc(lines, sizeof *a->single);
    a->fills = pr_alloc_zero(a->model_count * scenarios, groups * sizeof *a->fills);
    a->sizes = pr_alloc_zero(groups, 2 * sizeof *a->sizes);
    a->sold = pr_alloc_zero(groups * a->items, sizeof *a->sold);
    a->totals = pr_alloc_zero(scenarios * PR_QUESTIONS, groups * sizeof *a->totals);
    a->grown = pr_alloc_zero(scenarios, sizeof *a->grown);
    p->rows = pr_alloc(3 * lines, sizeof *p->rows);
    if (a->books == NULL || a->facts == NULL || a->estimates == NULL || a->watched == NULL ||
        a->single == NULL || a->fills == NULL || a->sizes == NULL || a->grown == NULL ||
        a->sold == NULL || a->totals == NULL || p->rows == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < scenarios; s++)
        PR_TRY(pr_ledger_init(&a->grown[s], &a->cohort, lines, err));
    for (size_t i = 0; i < books; i++)
        PR_TRY(pr_book_init(&a->books[i], &a->cohort, lines, scenarios, err));
    return PARSREC_OK;
}

static parsrec_status ask_model(pass *p, size_t model, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    pr_account account = {.cohort = &a->cohort,
                          .lines = &a->lines,
                          .scenarios = &a->scenarios,
                          .missing = a->missing,
                          .book = pr_book_of(a, model, PARSREC_ROLLOUT),
                          .spill = &a->spill,
                          .facts = a->facts,
                          .row = p->rows,
                          .after = p->rows + a->lines.count,
                          .refill = p->rows + 2 * a->lines.count};
    pr_rollout rollout = {p->models[model], p->data,  &a->cohort, &a->lines,
                          &a->scenarios,    a->draws, a->seed};
    pr_walks walks = {p->models[model],
                      p->data,
                      &a->cohort,
                      &a->lines,
                      &a->scenarios,
                      a->seed,
                      pr_book_of(a, model, PARSREC_EXPECTED),
                      pr_book_of(a, model, PARSREC_TOP10)};
    PR_TRY(pr_rollout_run(&rollout, p->pool, pr_account_basket, &account, p->hooks, err));
    return pr_walks_run(&walks, p->pool, p->hooks, err);
}

static parsrec_status start_spill(pass *p, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    for (size_t l = 0; l < a->lines.count; l++) {
        p->rows[l] = 0;
        for (size_t g = 0; g < a->cohort.group_count; g++)
            p->rows[l] += pr_ledger_units(&a->past.before, &a->cohort, g, l);
    }
    PR_TRY(pr_spill_init(&a->spill, &a->lines, a->cohort.group_count, p->rows, err));
    pr_spill_past(&a->spill, &a->cohort, &a->lines, p->data, p->last);
    return PARSREC_OK;
}

static parsrec_status fill_books(pass *p, const parsrec_whatif_options *o, parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    PR_TRY(open_books(p, err));
    PR_TRY(pr_past_sales(a, p->data, p->last, err));
    PR_TRY(start_spill(p, err));
    for (size_t m = 0; m < a->model_count; m++)
        PR_TRY(ask_model(p, m, err));
    if (!a->synthetic || o->truth_sets == 0)
        return PARSREC_OK;
    return pr_true_sales_init(&a->truth, p->data, &a->cohort, &a->lines, &a->scenarios,
                              (size_t)o->truth_sets, p->last, p->pool, p->hooks, err);
}

/* ---- from the beginning ---- */

/* Users who are alike to the first model. */
static parsrec_status cluster_users(void *context, int32_t *cluster, size_t clusters,
                                    parsrec_error *err)
{
    const pr_model *const *models = context;
    return pr_user_clusters(cluster, models[0], clusters, err);
}

static parsrec_status read_words(pr_whatif_result *a, size_t **watched, const pass *p,
                                 const parsrec_whatif_options *o, parsrec_error *err)
{
    const pr_dataset *data = p->data;
    const pr_model *first = p->models[0];
    pr_group_source source = {
        .data = data, .last = p->last, .cluster = cluster_users, .context = &first};
    PR_TRY(pr_directory_init(&a->directory, data, err));
    PR_TRY(pr_lines_init(&a->lines, data, &a->directory, (size_t)o->level, err));
    *watched = pr_alloc(o->watch_count, sizeof **watched);
    if (*watched == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < o->watch_count; i++)
        PR_TRY(pr_lines_find(&a->lines, o->watch[i], &(*watched)[i], err));
    PR_TRY(pr_scenarios_init(&a->scenarios, &a->lines, o, err));
    PR_TRY(pr_user_groups_init(&a->groups, &source, o->groups, o->group_count, err));
    return pr_cohort_init(&a->cohort, data, &a->groups, p->last, a->lines.count, err);
}

static parsrec_status answer(pass *p, const size_t *watched, const parsrec_whatif_options *o,
                             parsrec_error *err)
{
    pr_whatif_result *a = p->a;
    PR_TRY(fill_books(p, o, err));
    PR_TRY(pr_whatif_estimate(a, err));
    PR_TRY(pr_whatif_watch(a, watched, o->watch_count, err));
    PR_TRY(pr_whatif_intervals(a, p->pool, p->hooks, err));
    PR_TRY(pr_whatif_hanging(a, err));
    return pr_whatif_judge(a, err);
}

parsrec_status pr_whatif(pr_whatif_result *a, const pr_model *const *models, size_t model_count,
                         const pr_dataset *data, const parsrec_whatif_options *o,
                         const parsrec_hooks *hooks, parsrec_error *err)
{
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
    PR_TRY_GOTO(copy_words(a, o, err));
    PR_TRY_GOTO(read_words(a, &watched, &p, o, err));
    a->items = data->items;
    PR_TRY_GOTO(pr_whatif_prices(a, a->synthetic ? &truth : NULL, err));
    set_questions(a, o);
    set_numbers(a, o);
    PR_TRY_GOTO(pr_pool_new(&p.pool, o->threads, err));
    status = answer(&p, watched, o, err);
    a->seconds = pr_now() - began;
done:
    pr_pool_free(p.pool);
    pr_free(p.rows);
    pr_free(watched);
    return status;
}

void pr_whatif_clear(pr_whatif_result *a)
{
    size_t scenarios = a->scenarios.count;
    for (size_t i = 0; a->books != NULL && i < a->model_count * (PR_ESTIMATORS - 1); i++)
        pr_book_free(&a->books[i], scenarios);
    pr_free(a->books);
    pr_book_free(&a->past, scenarios);
    pr_book_free(&a->test, scenarios);
    pr_spill_free(&a->spill);
    pr_true_sales_free(&a->truth);
    pr_free(a->facts);
    pr_free(a->estimates);
    pr_free(a->watched);
    for (size_t s = 0; a->grown != NULL && s < scenarios; s++)
        pr_ledger_free(&a->grown[s]);
    pr_free(a->grown);
    pr_free(a->sizes);
    pr_free(a->sold);
    pr_free(a->price);
    pr_free(a->totals);
    pr_free(a->fills);
    pr_free(a->single);
    pr_free(a->agreement);
    pr_free(a->hanging);
    pr_cohort_free(&a->cohort);
    pr_user_groups_free(&a->groups);
    pr_scenarios_free(&a->scenarios);
    pr_lines_free(&a->lines);
    pr_directory_free(&a->directory);
    pr_free(a->command);
    pr_free(a->data_name);
}
