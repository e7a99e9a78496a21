/* Evaluation for the public. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "eval/baselines.h"
#include "eval/eval_json.h"
#include "eval/judging.h"
#include "eval/score_dump.h"
#include "eval/tallies.h"
#include "model/counting/count_model.h"
#include "model/loaded.h"

_Static_assert(sizeof(parsrec_share) == sizeof(pr_tally), "a tally by another name");

/* What a model that counts may know here is what was before the sessions evaluated: counted again. */
static parsrec_status run_model(const pr_model *model, pr_evaluation *e, const bool *users,
                                pr_pool *pool, const parsrec_hooks *hooks, pr_scores *scores,
                                parsrec_error *err)
{
    pr_scope scope = pr_scope_before(e->protocol.part, e->protocol.held);
    scope.users = users;
    pr_model *counted;
    if (model->kind->count == NULL)
        return pr_evaluation_run(e, model, pool, hooks, scores, err);
    PR_TRY(pr_count_model(&counted, model->kind->name, &model->config, e->data, &scope, pool, hooks,
                          err));
    parsrec_status status = pr_evaluation_run(e, counted, pool, hooks, scores, err);
    pr_model_free(counted);
    return status;
}

/* ---- the report ---- */

static double value_of(const pr_scores *s, pr_aspect aspect, pr_measure_id m, size_t k)
{
    bool told = s->weight[aspect] > 0 && (aspect == PR_ALL || pr_measure_split(m));
    return told ? s->value[aspect][m][k] : NAN;
}

/* Names and cutoffs; numbers follow. */
static void name_measures(parsrec_eval_report *report, const pr_eval_protocol *p)
{
    report->measure_count = pr_protocol_measures(p);
    for (size_t i = 0; i < report->measure_count; i++) {
        size_t k;
        pr_measure_id m = pr_protocol_measure(p, i, &k);
        report->measures[i] =
            (parsrec_measure){.name = pr_measure_name(m), .k = pr_measure_at_k(m) ? p->k[k] : 0};
    }
}

static void fill_measures(parsrec_eval_report *report, const pr_eval_protocol *p,
                          const pr_scores *scores, const pr_scores *chance)
{
    for (size_t i = 0; i < report->measure_count; i++) {
        parsrec_measure *to = &report->measures[i];
        size_t k;
        pr_measure_id m = pr_protocol_measure(p, i, &k);
        to->value = value_of(scores, PR_ALL, m, k);
        to->random = value_of(chance, PR_ALL, m, k);
        to->repeat = value_of(scores, PR_REPEAT, m, k);
        to->fresh = value_of(scores, PR_FRESH, m, k);
        to->repeat_random = value_of(chance, PR_REPEAT, m, k);
        to->fresh_random = value_of(chance, PR_FRESH, m, k);
    }
}

static parsrec_status fill_intervals(parsrec_eval_report *report, const pr_user_tallies *t,
                                     pr_pool *pool, parsrec_error *err)
{
    pr_interval intervals[PARSREC_MEASURES_MOST];
    pr_resampling how = pr_resampling_default();
    PR_TRY(pr_bootstrap(intervals, &(pr_tallies){t->rows, t->count, t->measures}, &how, pool, err));
    for (size_t i = 0; i < report->measure_count; i++) {
        report->measures[i].low = intervals[i].low;
        report->measures[i].high = intervals[i].high;
    }
    report->users = t->count;
    return PARSREC_OK;
}

static void tell_users(const pr_user_tallies *t, const parsrec_eval_options *o)
{
    parsrec_share shares[PARSREC_MEASURES_MOST];
    for (size_t row = 0; row < t->count && o->on_user != NULL; row++) {
        memcpy(shares, t->rows + row * t->measures, t->measures * sizeof *shares);
        o->on_user(o->user_context, t->users[row], shares, t->measures);
    }
}

static parsrec_status report_users(parsrec_eval_report *report, const pr_evaluation *e,
                                   const parsrec_eval_options *options, pr_pool *pool,
                                   parsrec_error *err)
{
    pr_user_tallies t;
    parsrec_status status = pr_user_tallies_make(&t, e, PR_ALL, err);
    if (status == PARSREC_OK)
        status = fill_intervals(report, &t, pool, err);
    if (status == PARSREC_OK)
        tell_users(&t, options);
    pr_user_tallies_free(&t);
    return status;
}

static parsrec_status report_run(parsrec_eval_report *report, const pr_evaluation *e,
                                 const pr_scores *scores, parsrec_error *err)
{
    pr_scores chance;
    PR_TRY(pr_evaluation_chance(e, &chance, err));
    report->baskets = scores->baskets;
    report->steps = scores->steps;
    report->negatives = e->protocol.negatives;
    report->repeat_steps = (uint64_t)scores->weight[PR_REPEAT];
    report->fresh_steps = (uint64_t)scores->weight[PR_FRESH];
    name_measures(report, &e->protocol);
    fill_measures(report, &e->protocol, scores, &chance);
    return PARSREC_OK;
}

parsrec_status parsrec_eval_measures(const parsrec_eval_options *options,
                                     parsrec_measure measures[PARSREC_MEASURES_MOST], size_t *count,
                                     parsrec_error *err)
{
    if (options == NULL || measures == NULL || count == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval_measures needs options and room");
    pr_eval_protocol p;
    parsrec_eval_report report;
    PR_TRY(pr_judging_rule(&p, options, err));
    name_measures(&report, &p);
    *count = report.measure_count;
    memcpy(measures, report.measures, report.measure_count * sizeof *measures);
    return PARSREC_OK;
}

/* ---- a run ---- */

static parsrec_status check_somebody(const pr_evaluation *e, parsrec_error *err)
{
    const pr_eval_protocol *p = &e->protocol;
    if (e->count > 0)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "nobody can be evaluated: no user%s has %zu sessions, an evaluated one with at "
                   "least %zu item%s",
                   p->users != NULL ? " of the list" : "", p->held + 2, p->rule->smallest,
                   p->rule->smallest == 1 ? "" : "s");
}

static parsrec_status evaluate(const pr_model *model, pr_evaluation *e, const bool *counted,
                               const parsrec_eval_options *options, parsrec_eval_report *report,
                               const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_pool *pool;
    pr_scores scores;
    PR_TRY(pr_pool_new(&pool, options->threads, err));
    parsrec_status status = run_model(model, e, counted, pool, hooks, &scores, err);
    if (status == PARSREC_OK)
        status = report_run(report, e, &scores, err);
    if (status == PARSREC_OK)
        status = report_users(report, e, options, pool, err);
    pr_pool_free(pool);
    return status;
}

/* Opens the file of a dump and writes its head. */
static parsrec_status open_dump(pr_evaluation *e, const char *path, const pr_model *model,
                                const char *fingerprint, parsrec_error *err)
{
    pr_writer head = {0};
    PR_TRY(pr_ordered_open(&e->dump, path, err));
    pr_dump_head(&head, e, model->kind->name, fingerprint);
    pr_ordered_write(e->dump, 0, &head, false);
    pr_writer_free(&head);
    return pr_ordered_check(e->dump, err);
}

static parsrec_status close_dump(pr_evaluation *e, parsrec_status status, parsrec_error *err)
{
    if (e->dump == NULL)
        return status;
    if (status == PARSREC_OK)
        return pr_ordered_commit(e->dump, err);
    pr_ordered_abort(e->dump);
    return status;
}

static parsrec_status judge(const pr_model *model, const pr_dataset *data, const pr_judging *j,
                            const parsrec_eval_options *options, parsrec_eval_report *report,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_evaluation e;
    PR_TRY(pr_judging_fingerprint(report->fingerprint, j, data, model, err));
    PR_TRY(pr_evaluation_init(&e, data, &j->protocol, err));
    parsrec_status status = check_somebody(&e, err);
    if (status == PARSREC_OK && options->dump_path != NULL)
        status = open_dump(&e, options->dump_path, model, report->fingerprint, err);
    if (status == PARSREC_OK)
        status = evaluate(model, &e, j->counted, options, report, hooks, err);
    status = close_dump(&e, status, err);
    pr_evaluation_free(&e);
    return status;
}

parsrec_status parsrec_eval(const parsrec_model *loaded, const parsrec_data *data,
                            const parsrec_eval_options *options, parsrec_eval_report *report,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    if (loaded == NULL || data == NULL || options == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval needs model, data and options");
    const pr_model *model = loaded->file.model;
    double began = pr_now();
    pr_judging j;
    pr_fitted fitted;
    *report = (parsrec_eval_report){0};
    PR_TRY(pr_fit_data(&fitted, &loaded->file, data, model->kind->count != NULL, hooks, err));
    parsrec_status status =
        pr_judging_init(&j, options, fitted.data, (size_t)model->config.last, err);
    if (status == PARSREC_OK)
        status = judge(model, fitted.data, &j, options, report, hooks, err);
    pr_judging_free(&j);
    pr_fitted_free(&fitted);
    report->seconds = pr_now() - began;
    return status;
}

parsrec_status parsrec_baselines(parsrec_baseline_report *report, const parsrec_model *model,
                                 parsrec_split split, unsigned threads, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    if (report == NULL || model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_baselines needs a report and a model");
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, threads, err));
    parsrec_status status =
        pr_baselines(report, model->file.model, model->file.data,
                     split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST, pool, hooks, err);
    pr_pool_free(pool);
    return status;
}

parsrec_status parsrec_eval_json(char **out, const char *model, const char *data,
                                 const parsrec_eval_options *options,
                                 const parsrec_eval_report *report, parsrec_error *err)
{
    if (out == NULL || model == NULL || data == NULL || options == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval_json needs names and a report");
    *out = pr_json_indented(pr_eval_json(model, data, options, report));
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
