/* parsrec_eval: a model evaluated by one or several protocols, the reports, and reports as JSON. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "eval/evaluation.h"
#include "eval/score_dump.h"
#include "eval/significance.h"
#include "model/model_file.h"
#include "model/same_ranks.h"

/* ---- the report ---- */

/* Sets the names and cutoffs of a report's measures. */
static void name_measures(parsrec_eval_report *report, const pr_eval_protocol *p)
{
    report->measure_count = pr_protocol_measures(p);
    for (size_t i = 0; i < report->measure_count; i++) {
        size_t k;
        const pr_measure_info *m = &pr_measure_table[pr_protocol_measure(p, i, &k)];
        report->measures[i] = (parsrec_measure){.name = m->name, .k = m->at_k ? p->k[k] : 0};
    }
}

parsrec_status parsrec_eval_measures(const parsrec_eval_options *options,
                                     parsrec_measure measures[PARSREC_MEASURES_MOST], size_t *count,
                                     parsrec_error *err)
{
    if (options == NULL || measures == NULL || count == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval_measures needs options and room");
    pr_eval_protocol p;
    parsrec_eval_report report;
    PR_TRY(pr_protocol_rule(&p, options, err));
    name_measures(&report, &p);
    *count = report.measure_count;
    memcpy(measures, report.measures, report.measure_count * sizeof *measures);
    return PARSREC_OK;
}

/* NaN where nothing was measured: the aspect has no steps, or the measure is not split by
 * aspect. */
static double value_of(const pr_scores *s, pr_aspect aspect, pr_measure_id m, size_t k)
{
    bool measured = s->weight[aspect] > 0 && (aspect == PR_ALL || pr_measure_table[m].split);
    return measured ? s->value[aspect][m][k] : NAN;
}

static void fill_report(parsrec_eval_report *report, const pr_eval_protocol *p,
                        const pr_scores *scores, const pr_scores *chance)
{
    report->baskets = scores->baskets;
    report->steps = scores->steps;
    report->negatives = p->negatives;
    report->repeat_steps = (uint64_t)scores->weight[PR_REPEAT];
    report->fresh_steps = (uint64_t)scores->weight[PR_FRESH];
    name_measures(report, p);
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

/* Intervals over users, and each user's shares for a caller that asked for them. */
static parsrec_status report_users(parsrec_eval_report *report, const pr_evaluation *e,
                                   const parsrec_eval_options *o, pr_pool *pool, parsrec_error *err)
{
    pr_user_tallies t;
    pr_interval intervals[PARSREC_MEASURES_MOST];
    pr_resampling how = pr_resampling_default();
    parsrec_status status = PARSREC_OK;
    PR_TRY_GOTO(pr_user_tallies_make(&t, &e->protocol, e->baskets, e->count, PR_ALL, err));
    PR_TRY_GOTO(
        pr_bootstrap(intervals, &(pr_tallies){t.rows, t.user_count, t.measures}, &how, pool, err));
    for (size_t i = 0; i < report->measure_count; i++) {
        report->measures[i].low = intervals[i].low;
        report->measures[i].high = intervals[i].high;
    }
    report->users = t.user_count;
    for (size_t row = 0; row < t.user_count && o->on_user != NULL; row++)
        o->on_user(o->user_context, t.users[row], t.rows + row * t.measures, t.measures);
done:
    pr_user_tallies_free(&t);
    return status;
}

/* ---- nobody to evaluate ---- */

/* `done`: evaluated or validated. */
static parsrec_status fail_nobody(const pr_evaluation *e, const char *done, parsrec_error *err)
{
    const pr_eval_protocol *p = &e->protocol;
    const char *listed = p->users != NULL ? " of the list" : "";
    size_t smallest = p->rule->smallest;
    if (e->data->by_users) {
        smallest += p->rule == &pr_rule_next; /* its first item is given */
        return pr_fail(err, PARSREC_E_INPUT,
                       "nobody can be %s: no held-out session%s has at least %zu item%s", done,
                       listed, smallest, smallest == 1 ? "" : "s");
    }
    return pr_fail(err, PARSREC_E_INPUT,
                   "nobody can be %s: no user%s has %zu sessions, the %s one with at least %zu "
                   "item%s; sessions without customers can be split by --test-days or --test-users",
                   done, listed, p->held_out + 2, done, smallest, smallest == 1 ? "" : "s");
}

/* The number of baskets to evaluate; of none, `why` says why. */
static parsrec_status count_baskets(size_t *count, parsrec_error *why, const pr_dataset *data,
                                    const parsrec_eval_options *options, size_t held_out,
                                    parsrec_error *err)
{
    pr_eval_protocol p = {0};
    pr_evaluation e = {0};
    parsrec_status status;
    PR_TRY_GOTO(pr_protocol_init(&p, options, data, held_out, err));
    PR_TRY_GOTO(pr_evaluation_init(&e, data, &p, err));
    *count = e.count;
    if (e.count == 0)
        fail_nobody(&e, "evaluated", why);
done:
    pr_evaluation_free(&e);
    pr_protocol_free(&p);
    return status;
}

parsrec_status pr_eval_check(const pr_dataset *data, const parsrec_eval_options *options,
                             size_t held_out, parsrec_error *err)
{
    parsrec_error why = {0}, unused;
    parsrec_eval_options next = *options;
    size_t count, others = 0;
    next.protocol = PARSREC_PROTOCOL_NEXT;
    PR_TRY(count_baskets(&count, &why, data, options, held_out, err));
    if (count > 0)
        return PARSREC_OK;
    if (options->protocol == PARSREC_PROTOCOL_REMAINING)
        PR_TRY(count_baskets(&others, &unused, data, &next, held_out, err));
    if (others > 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "nobody can be evaluated by the protocol remaining: no session to evaluate "
                       "has two items; pass --protocol next");
    return pr_fail(err, why.status, "%s", why.message);
}

parsrec_status pr_eval_check_validation(const pr_dataset *data, size_t held_out, parsrec_error *err)
{
    pr_evaluation e = {0};
    PR_TRY(pr_evaluation_validation(&e, data, held_out, NULL, err));
    parsrec_status status = e.count > 0 ? PARSREC_OK : fail_nobody(&e, "validated", err);
    pr_evaluation_free(&e);
    return status;
}

/* ---- a run ---- */

/* The model with its counts made again (pr_evaluation_recount), kept for the next protocol that has
 * the same part and the same file of users whose sessions count. Paths are compared as pointers:
 * equal names in different memory only cost one more count. */
typedef struct recounted {
    pr_model *model; /* NULL: none yet, or the model needs no recount */
    pr_split_part part;
    const char *users_path;
} recounted;

static parsrec_status recount(recounted *r, const pr_model *model, const pr_evaluation *e,
                              const char *users_path, pr_pool *pool, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    const pr_eval_protocol *p = &e->protocol;
    if (r->model != NULL && r->part == p->part && r->users_path == users_path)
        return PARSREC_OK;
    pr_model_free(r->model);
    r->part = p->part;
    r->users_path = users_path;
    return pr_evaluation_recount(&r->model, model, e->data, p->part, p->counted, pool, hooks, err);
}

static parsrec_status run_and_report(const pr_model *model, recounted *counted, pr_evaluation *e,
                                     const parsrec_eval_options *options,
                                     parsrec_eval_report *report, const parsrec_hooks *hooks,
                                     parsrec_error *err)
{
    const pr_eval_protocol *p = &e->protocol;
    pr_pool *pool;
    pr_scores scores, chance;
    if (e->count == 0)
        return fail_nobody(e, "evaluated", err);
    PR_TRY(pr_pool_new(&pool, options->threads, err));
    parsrec_status status = PARSREC_OK;
    PR_TRY_GOTO(recount(counted, model, e, options->count_users_path, pool, hooks, err));
    if (counted->model != NULL)
        model = counted->model;
    PR_TRY_GOTO(pr_evaluation_run(e, model, pool, hooks, &scores, err));
    PR_TRY_GOTO(pr_evaluation_chance(e, &chance, err));
    fill_report(report, p, &scores, &chance);
    status = report_users(report, e, options, pool, err);
done:
    pr_pool_free(pool);
    return status;
}

/* The same, and writes what was ranked to a file. */
static parsrec_status run_and_dump(const pr_model *model, recounted *counted, pr_evaluation *e,
                                   const parsrec_eval_options *options, parsrec_eval_report *report,
                                   const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_writer head = {0};
    PR_TRY(pr_ordered_open(&e->dump, options->dump_path, err));
    pr_dump_head(&head, e, model->kind->name, report->fingerprint);
    pr_ordered_write(e->dump, 0, &head, false);
    pr_writer_free(&head);
    parsrec_status status = pr_ordered_check(e->dump, err);
    if (status == PARSREC_OK)
        status = run_and_report(model, counted, e, options, report, hooks, err);
    if (status == PARSREC_OK)
        return pr_ordered_commit(e->dump, err);
    pr_ordered_abort(e->dump);
    return status;
}

/* Evaluates a model by one protocol. Sets *nobody if it fails because there is nobody to
 * evaluate. */
static parsrec_status evaluate(const pr_model *model, recounted *counted, const pr_dataset *data,
                               const parsrec_eval_options *options, parsrec_eval_report *report,
                               bool *nobody, const parsrec_hooks *hooks, parsrec_error *err)
{
    double began = pr_now();
    pr_eval_protocol p = {0};
    pr_evaluation e = {0};
    parsrec_status status;
    PR_TRY_GOTO(pr_protocol_init(&p, options, data, (size_t)model->config.last, err));
    PR_TRY_GOTO(pr_protocol_fingerprint(report->fingerprint, &p, data, model, err));
    PR_TRY_GOTO(pr_evaluation_init(&e, data, &p, err));
    e.ranks = options->ranks;
    *nobody = e.count == 0;
    bool dumps = options->dump_path != NULL && e.count > 0;
    status =
        (dumps ? run_and_dump : run_and_report)(model, counted, &e, options, report, hooks, err);
done:
    pr_evaluation_free(&e);
    pr_protocol_free(&p);
    report->seconds = pr_now() - began;
    return status;
}

/* Data split by time evaluate a model only if it was trained on data split there or earlier: then
 * in its own data no user has two sessions from that time on. */
static parsrec_status check_split(const pr_dataset *own, int64_t time, parsrec_error *err)
{
    for (size_t u = 0; u < own->users; u++) {
        int64_t end = own->user_offsets[u + 1];
        if (own->times == NULL || (end - own->user_offsets[u] > 1 && own->times[end - 2] >= time))
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "the model has learnt from sessions after the time of the split; train "
                           "it with the same --split-at");
    }
    return PARSREC_OK;
}

/* With a split by users, the model must not know a user who tests. */
static parsrec_status check_test_users(const pr_dataset *fitted, parsrec_error *err)
{
    for (size_t u = 0; fitted->by_users && u < fitted->users; u++)
        if (pr_part_of_user(fitted, u) == PR_USER_TESTS &&
            (fitted->known_as == NULL || fitted->known_as[u] >= 0))
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "the model has learnt from test sessions; train it with the same split");
    return PARSREC_OK;
}

bool pr_eval_is_learnt(const pr_model *model, parsrec_split split)
{
    return split == PARSREC_SPLIT_VALID && model->config.newest;
}

parsrec_status parsrec_eval_several(const parsrec_model *loaded, const parsrec_data *data,
                                    const parsrec_eval_options *options, size_t count,
                                    parsrec_eval_report *reports, const parsrec_hooks *hooks,
                                    parsrec_error *err)
{
    if (loaded == NULL || data == NULL || options == NULL || reports == NULL || count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval needs model, data and options");
    const pr_model *model = loaded->file.model;
    pr_ranks *ranks = options->ranks;
    pr_fitted fitted;
    recounted counted = {0};
    size_t empty = 0;
    parsrec_status status = PARSREC_OK;
    memset(reports, 0, count * sizeof *reports);
    for (size_t i = 0; i < count; i++)
        if (options[i].ranks != ranks || (ranks != NULL && options[i].dump_path != NULL))
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "rankings are written by one process; start it without a launcher");
    if (data->cut != NULL && !data->by_users && model->kind->count == NULL)
        PR_TRY(check_split(loaded->file.data, data->split_at, err));
    PR_TRY(pr_fit_data(&fitted, &loaded->file, data, model->kind->count != NULL, hooks, err));
    if (model->kind->count == NULL)
        status = check_test_users(fitted.data, err);
    if (status == PARSREC_OK)
        status = pr_same_ranks(ranks, model, fitted.data, "", err);
    if (pr_eval_is_learnt(model, options->split))
        pr_say(
            hooks, PARSREC_LOG_WARNING,
            "with newest = on the model learns from the validation sessions at the end, so these "
            "figures are too good; train with --set newest=off to evaluate on them");
    for (size_t i = 0; i < count && status == PARSREC_OK; i++) {
        bool nobody = false;
        status =
            evaluate(model, &counted, fitted.data, &options[i], &reports[i], &nobody, hooks, err);
        if (nobody && ++empty < count) /* that is a failure only if it is so for all protocols */
            status = PARSREC_OK;
    }
    pr_model_free(counted.model);
    pr_fitted_free(&fitted);
    return status;
}

parsrec_status parsrec_eval(const parsrec_model *model, const parsrec_data *data,
                            const parsrec_eval_options *options, parsrec_eval_report *report,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    return parsrec_eval_several(model, data, options, 1, report, hooks, err);
}

/* ---- JSON ---- */

/* One column of the measures, given by its offset in parsrec_measure, as an object. */
static json_t *measures_json(const parsrec_eval_report *r, size_t column)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        char name[48];
        double value;
        memcpy(&value, (const char *)&r->measures[i] + column, sizeof value);
        json_object_set_new(object, pr_measure_title(&r->measures[i], name, sizeof name),
                            isnan(value) ? json_null() : json_real(value));
    }
    return object;
}

static json_t *intervals_json(const parsrec_eval_report *r)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        const parsrec_measure *m = &r->measures[i];
        char name[48];
        json_object_set_new(object, pr_measure_title(m, name, sizeof name),
                            json_pack("[f, f]", m->low, m->high));
    }
    return object;
}

/* The measures over repeat purchases or over new items: two columns. */
static json_t *aspect_json(const parsrec_eval_report *r, uint64_t steps, size_t column,
                           size_t random)
{
    return json_pack("{s:I, s:o, s:o}", "steps", (json_int_t)steps, "metrics",
                     measures_json(r, column), "random", measures_json(r, random));
}

json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *o,
                     const parsrec_eval_report *r)
{
    const char *candidates = o->negatives == 0                             ? "all"
                             : o->candidates == PARSREC_CANDIDATES_POPULAR ? "popular"
                             : o->candidates == PARSREC_CANDIDATES_FILE    ? o->candidates_path
                                                                           : "uniform";
    json_t *asked = json_pack(
        "{s:o, s:o, s:s, s:s, s:I, s:b, s:o, s:b}", "model", pr_json_string(model), "data",
        pr_json_string(data), "split", o->split == PARSREC_SPLIT_TEST ? "test" : "valid",
        "protocol", parsrec_protocol_name(o->protocol), "negatives", (json_int_t)r->negatives,
        "full", (int)(o->negatives == 0), "candidates", pr_json_string(candidates), "exclude_seen",
        (int)o->exclude_seen);
    json_t *found = json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:f}", "users", (json_int_t)r->users,
        "baskets", (json_int_t)r->baskets, "steps", (json_int_t)r->steps, "metrics",
        measures_json(r, offsetof(parsrec_measure, value)), "intervals", intervals_json(r),
        "random", measures_json(r, offsetof(parsrec_measure, random)), "repeat",
        aspect_json(r, r->repeat_steps, offsetof(parsrec_measure, repeat),
                    offsetof(parsrec_measure, repeat_random)),
        "new",
        aspect_json(r, r->fresh_steps, offsetof(parsrec_measure, fresh),
                    offsetof(parsrec_measure, fresh_random)),
        "fingerprint", r->fingerprint, "seconds", r->seconds);
    bool whole = asked != NULL && found != NULL && json_object_update(asked, found) == 0;
    json_decref(found);
    if (!whole)
        json_decref(asked);
    return whole ? asked : NULL;
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

parsrec_status parsrec_eval_several_json(char **out, const char *model, const char *data,
                                         const parsrec_eval_options *options,
                                         const parsrec_eval_report *reports, size_t count,
                                         parsrec_error *err)
{
    if (out == NULL || model == NULL || data == NULL || options == NULL || reports == NULL ||
        count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_eval_several_json needs names and reports");
    size_t first = 0;
    while (first + 1 < count && reports[first].users == 0)
        first++;
    json_t *json = pr_eval_json(model, data, &options[first], &reports[first]);
    json_t *all = json_object();
    int bad = json == NULL || all == NULL;
    for (size_t i = 0; i < count && bad == 0; i++)
        bad = json_object_set_new(all, parsrec_protocol_name(options[i].protocol),
                                  reports[i].users > 0
                                      ? pr_eval_json(model, data, &options[i], &reports[i])
                                      : json_null());
    bad = bad != 0 || json_object_set(json, "protocols", all) != 0;
    json_decref(all);
    *out = bad == 0 ? pr_json_indented(json_incref(json)) : NULL;
    json_decref(json);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
