/* One model of a comparison: planned, trained where it is missing, evaluated, and its attempts pooled.
 * Whether a model in the folder is the wanted one is decided by its run record, which is in the checkpoint
 * or, for a finished model, in the log beside it. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "compare/compare.h"
#include "eval/evaluation.h"
#include "model/model_file.h"
#include "train/train.h"

/* ---- what is wanted ---- */

/* The strings live in the entry, `last` and `set` in the caller. */
typedef struct order {
    parsrec_train_options train;
    const char *set[PR_ENTRY_SETTINGS + 1];
    char last[32];
} order;

/* An entry's own number of epochs goes before the one for all. */
static bool sets_epochs(const pr_listed_model *e)
{
    for (size_t i = 0; i < e->set_count; i++)
        if (strncmp(e->set[i], "epochs=", 7) == 0)
            return true;
    return false;
}

static void make_order(order *o, const pr_listed_model *e, const parsrec_compare_options *options,
                       uint64_t seed, bool counts)
{
    o->train = parsrec_train_default();
    o->train.model = e->kind;
    o->train.preset = e->preset;
    o->train.epochs = counts || sets_epochs(e) ? 0 : options->epochs;
    o->train.patience = counts ? 0 : options->patience;
    o->train.seed = seed;
    o->train.threads = options->eval.threads;
    o->train.set = o->set;
    for (size_t i = 0; i < e->set_count; i++)
        o->set[o->train.set_count++] = e->set[i];
    if (options->eval.last > 0) {
        snprintf(o->last, sizeof o->last, "last=%llu", (unsigned long long)options->eval.last);
        o->set[o->train.set_count++] = o->last;
    }
}

/* ---- the plan ---- */

static parsrec_status look_into_folder(const pr_listed_model *e, pr_attempt *a,
                                       const parsrec_data *data, const order *o,
                                       const pr_config *wanted, bool retrain,
                                       const parsrec_hooks *hooks, parsrec_error *err)
{
    char reason[160] = "its log is missing";
    pr_path hold;
    pr_run_record record = {0};
    const char *checkpoint = pr_checkpoint_path(&hold, a->path);
    bool interrupted = access(checkpoint, F_OK) == 0, finished = access(a->path, F_OK) == 0;
    a->task = interrupted ? PR_CONTENDER_RESUME
              : finished  ? PR_CONTENDER_READY
                          : PR_CONTENDER_TRAIN;
    if (a->task == PR_CONTENDER_TRAIN)
        return PARSREC_OK;
    parsrec_error why = {0};
    bool known = pr_run_record_read(&record, a->path, data, &why) == PARSREC_OK &&
                 record.source != PR_RECORD_NONE;
    bool fits =
        known && pr_run_record_fits(&record, wanted, &o->train, data, reason, sizeof reason);
    pr_run_record_free(&record);
    if (fits)
        return PARSREC_OK;
    if (why.status == PARSREC_E_MEMORY)
        return pr_fail_memory(err);
    if (retrain) {
        if ((unlink(checkpoint) != 0 && access(checkpoint, F_OK) == 0) ||
            (unlink(a->path) != 0 && access(a->path, F_OK) == 0))
            return pr_fail_errno(err, PARSREC_E_IO, "%s: the old model cannot be removed", a->path);
        pr_say(hooks, PARSREC_LOG_INFO, "%s: the model that was there is made again", e->name);
        a->task = PR_CONTENDER_TRAIN;
        return PARSREC_OK;
    }
    if (!known && interrupted)
        return pr_fail(err, why.status, "%s; pass --retrain to begin again", why.message);
    const char *path = interrupted ? checkpoint : a->path;
    return pr_fail(
        err, PARSREC_E_CONFIG,
        "%s was trained differently (%s); pass --retrain to train it again, give the model "
        "another name (NAME=%s), or take the file as it is (%s=@%s)",
        path, reason, e->kind, e->name, path);
}

/* The first seed's file has the name alone, so that seeds can be added later. */
static parsrec_status make_path(pr_attempt *a, const pr_listed_model *e,
                                const parsrec_comparison *c, const parsrec_compare_options *options,
                                parsrec_error *err)
{
    int n = e->path != NULL ? snprintf(a->path, sizeof a->path, "%s", e->path)
            : a->seed == options->seed
                ? snprintf(a->path, sizeof a->path, "%s/%s.st", c->folder, e->name)
                : snprintf(a->path, sizeof a->path, "%s/%s.seed%llu.st", c->folder, e->name,
                           (unsigned long long)a->seed);
    if (n < 0 || (size_t)n >= sizeof a->path)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the path of the model %s is too long", e->name);
    return PARSREC_OK;
}

static parsrec_status make_attempts(pr_contender *r, const parsrec_comparison *c, size_t count,
                                    const parsrec_compare_options *options, parsrec_error *err)
{
    r->attempts = pr_alloc_zero(count, sizeof *r->attempts);
    if (r->attempts == NULL)
        return pr_fail_memory(err);
    r->attempt_count = count;
    for (size_t i = 0; i < count; i++) {
        r->attempts[i].seed = options->seed + i;
        PR_TRY(make_path(&r->attempts[i], r->entry, c, options, err));
    }
    return PARSREC_OK;
}

parsrec_status pr_contender_plan(pr_contender *r, const parsrec_comparison *c,
                                 const parsrec_data *data, const parsrec_compare_options *options,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    const pr_listed_model *e = r->entry;
    pr_config wanted;
    if (e->path != NULL)
        return make_attempts(r, c, 1, options, err);
    const pr_model_kind *kind = pr_model_kind_named(e->kind);
    order o = {0};
    r->counts = kind != NULL && kind->count != NULL;
    make_order(&o, e, options, options->seed, r->counts);
    parsrec_error why = {0};
    parsrec_status status = pr_train_settings(&wanted, &o.train, &why);
    PR_TRY(status == PARSREC_OK ? status
                                : pr_fail(err, status, "the model %s: %s", e->name, why.message));
    r->held_out = (size_t)wanted.last;
    if (!r->counts)
        PR_TRY(pr_train_bytes(&r->bytes, e->kind, &wanted, data, 1, err));
    PR_TRY(make_attempts(r, c, r->counts ? 1 : options->seeds, options, err));
    if (r->counts)
        r->attempts[0].path[0] = '\0';
    for (size_t i = 0; i < r->attempt_count && !r->counts; i++) {
        o.train.seed = r->attempts[i].seed;
        PR_TRY(
            look_into_folder(e, &r->attempts[i], data, &o, &wanted, options->retrain, hooks, err));
    }
    return PARSREC_OK;
}

/* ---- training and loading ---- */

parsrec_status pr_contender_train(const pr_contender *r, const pr_attempt *a,
                                  const parsrec_data *data, const parsrec_compare_options *options,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    order o = {0};
    pr_path checkpoint;
    parsrec_error why = {0};
    make_order(&o, r->entry, options, a->seed, false);
    if (a->task == PR_CONTENDER_RESUME) {
        o.train = parsrec_train_default();
        o.train.resume = pr_checkpoint_path(&checkpoint, a->path);
        o.train.threads = options->eval.threads;
    }
    o.train.skip_baselines = true; /* the comparison has its own */
    parsrec_status status = parsrec_train(data, a->path, &o.train, NULL, hooks, &why);
    if (status == PARSREC_OK)
        return PARSREC_OK;
    if (status == PARSREC_E_STOPPED)
        return pr_fail(err, status, "stopped while training %s; the same command resumes",
                       r->entry->name);
    return pr_fail(err, status, "%s: %s", r->entry->name, why.message);
}

/* The model, loaded or counted from the data, which must outlive it. */
static parsrec_status open_model(parsrec_model **model, const pr_contender *r, const pr_attempt *a,
                                 const parsrec_data *data, const parsrec_compare_options *options,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    order o = {0};
    if (!r->counts)
        return parsrec_model_load(model, a->path, err);
    make_order(&o, r->entry, options, a->seed, true);
    return parsrec_model_count(model, data, &o.train, hooks, err);
}

/* ---- evaluation ---- */

/* Collects what each user adds, and checks that every model is judged on the same users. */
typedef struct collector {
    parsrec_comparison *c;
    pr_attempt *attempt;
    size_t count, capacity;
    bool first, failed, other_users;
} collector;

static void on_user(void *context, uint64_t user, const parsrec_share *shares, size_t measures)
{
    collector *to = context;
    parsrec_comparison *c = to->c;
    parsrec_share **rows = &to->attempt->tallies;
    if (to->failed)
        return;
    to->other_users = !to->first && (to->count >= c->user_count || c->users[to->count] != user);
    if (to->other_users ||
        pr_grow(rows, &to->capacity, (to->count + 1) * measures, sizeof **rows, NULL) !=
            PARSREC_OK ||
        (to->first && pr_grow(&c->users, &c->user_capacity, to->count + 1, sizeof *c->users,
                              NULL) != PARSREC_OK)) {
        to->failed = true;
        return;
    }
    for (size_t m = 0; m < measures; m++)
        (*rows)[to->count * measures + m] = (parsrec_share){shares[m].sum, shares[m].weight};
    if (to->first)
        c->users[c->user_count++] = user;
    to->count++;
}

static parsrec_status evaluate_model(parsrec_comparison *c, pr_contender *r, pr_attempt *a,
                                     const parsrec_model *model, const parsrec_data *data,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    collector to = {.c = c, .attempt = a, .first = c->user_count == 0};
    parsrec_eval_options o[PARSREC_PROTOCOLS] = {c->eval};
    parsrec_eval_report reports[PARSREC_PROTOCOLS];
    o[0].on_user = on_user;
    o[0].user_context = &to;
    for (size_t i = 0; i < c->other_count; i++)
        o[1 + i] = c->others[i];
    parsrec_model_facts facts;
    parsrec_model_describe(model, &facts);
    snprintf(r->kind, sizeof r->kind, "%s", facts.kind);
    r->parameters = facts.parameters;
    r->ceiling = strcmp(facts.kind, "oracle") == 0;
    r->learnt = pr_eval_is_learnt(model->file.model, c->eval.split);
    PR_TRY(parsrec_eval_several(model, data, o, 1 + c->other_count, reports, hooks, err));
    a->report = reports[0];
    memcpy(a->others, reports + 1, c->other_count * sizeof *a->others);
    if (to.failed && !to.other_users) {
        if (to.first)
            c->user_count = 0; /* not all of them are known */
        return pr_fail_memory(err);
    }
    if (to.other_users || to.count != c->user_count)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s is evaluated on other users than %s; models that are compared need the "
                       "same setting last and the same users and items",
                       r->entry->name, c->rows[c->first].entry->name);
    return PARSREC_OK;
}

parsrec_status pr_contender_evaluate(parsrec_comparison *c, pr_contender *r,
                                     const parsrec_data *data,
                                     const parsrec_compare_options *options,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_model *model;
    parsrec_error why = {0};
    assert(r->judged < r->attempt_count);
    pr_attempt *a = &r->attempts[r->judged];
    double began = pr_now();
    parsrec_status status = open_model(&model, r, a, data, options, hooks, &why);
    if (r->counts)
        r->cost.seconds = pr_now() - began;
    if (status == PARSREC_OK) {
        status = evaluate_model(c, r, a, model, data, hooks, &why);
        if (status == PARSREC_OK && r->judged == 0)
            status = pr_cost_measure(&r->cost, model, &why);
        parsrec_model_free(model);
    }
    if (status != PARSREC_OK)
        return pr_fail(err, status, "%s: %s", r->entry->name, why.message);
    if (a->path[0] != '\0')
        PR_TRY(pr_run_record_read(&a->record, a->path, NULL, err));
    r->judged++;
    return PARSREC_OK;
}

/* ---- attempts taken together: means, sums over users, spread over seeds ---- */

/* An attempt's report by one protocol: 0 is the chosen one, then the others. */
static const parsrec_eval_report *report_by(const pr_attempt *a, size_t protocol)
{
    return protocol == 0 ? &a->report : &a->others[protocol - 1];
}

static void pool_report(parsrec_eval_report *out, const pr_contender *r, size_t protocol)
{
    *out = *report_by(&r->attempts[0], protocol);
    for (size_t i = 1; i < r->judged; i++)
        out->seconds += report_by(&r->attempts[i], protocol)->seconds;
    for (size_t m = 0; r->judged > 1 && m < out->measure_count; m++) {
        parsrec_measure *mean = &out->measures[m];
        mean->value = mean->random = mean->repeat = mean->fresh = mean->low = mean->high = 0;
        for (size_t i = 0; i < r->judged; i++) {
            const parsrec_measure *one = &report_by(&r->attempts[i], protocol)->measures[m];
            double share = 1 / (double)r->judged;
            mean->value += share * one->value;
            mean->random += share * one->random;
            mean->repeat += share * one->repeat;
            mean->fresh += share * one->fresh;
            mean->low += share * one->low;
            mean->high += share * one->high;
        }
    }
}

static parsrec_status pool_tallies(pr_contender *r, size_t users, parsrec_error *err)
{
    size_t count = users * r->report.measure_count;
    pr_free(r->tallies);
    r->tallies = pr_alloc_zero(count, sizeof *r->tallies);
    if (r->tallies == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < r->judged; i++)
        for (size_t at = 0; at < count; at++) {
            r->tallies[at].sum += r->attempts[i].tallies[at].sum;
            r->tallies[at].weight += r->attempts[i].tallies[at].weight;
        }
    return PARSREC_OK;
}

static parsrec_status pool_spread(pr_contender *r, double level, parsrec_error *err)
{
    double *values = pr_alloc(r->judged, sizeof *values);
    pr_free(r->spread);
    r->spread = pr_alloc(r->report.measure_count, sizeof *r->spread);
    if (values == NULL || r->spread == NULL) {
        pr_free(values);
        return pr_fail_memory(err);
    }
    for (size_t m = 0; m < r->report.measure_count; m++) {
        for (size_t i = 0; i < r->judged; i++)
            values[i] = r->attempts[i].report.measures[m].value;
        r->spread[m] = pr_student(values, r->judged, level);
    }
    pr_free(values);
    return PARSREC_OK;
}

/* Whether a training ended while it still gained: more than one part in 200 over the best epoch before
 * the last. */
static bool still_gains(const pr_run_record *run)
{
    double best = 0, last = 0;
    for (size_t i = 0; i < run->epoch_count; i++) {
        best = last > best ? last : best;
        last = pr_validation_value(&run->epochs[i], pr_validation_measures[0]);
    }
    return run->epoch_count > 0 && last > best * (1 + 1.0 / 200);
}

/* The mean curve ends where the shortest does. */
static parsrec_status pool_learning(pr_contender *r, parsrec_error *err)
{
    size_t count = r->attempts[0].record.epoch_count;
    for (size_t i = 1; i < r->judged; i++)
        if (r->attempts[i].record.epoch_count < count)
            count = r->attempts[i].record.epoch_count;
    pr_free(r->learning.epoch);
    pr_free(r->learning.value);
    r->learning.epoch = pr_alloc_zero(count, sizeof *r->learning.epoch);
    r->learning.value = pr_alloc_zero(count, sizeof *r->learning.value);
    r->learning.count = count;
    r->learning.seconds = 0;
    if (r->learning.epoch == NULL || r->learning.value == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < r->judged; i++) {
        const pr_run_record *run = &r->attempts[i].record;
        r->learning.seconds += run->seconds;
        for (size_t at = 0; at < count; at++) {
            r->learning.epoch[at] = (double)(at + 1);
            r->learning.value[at] +=
                pr_validation_value(&run->epochs[at], pr_validation_measures[0]) /
                (double)r->judged;
        }
    }
    return PARSREC_OK;
}

parsrec_status pr_contender_pool(pr_contender *r, size_t users, double level, parsrec_error *err)
{
    assert(r->judged > 0 && r->judged <= r->attempt_count);
    for (size_t i = 0; i <= PR_OTHER_PROTOCOLS; i++)
        pool_report(i == 0 ? &r->report : &r->others[i - 1], r, i);
    PR_TRY(pool_tallies(r, users, err));
    r->gaining = false;
    for (size_t i = 0; i < r->judged; i++)
        r->gaining = r->gaining || still_gains(&r->attempts[i].record);
    PR_TRY(pool_spread(r, level, err));
    PR_TRY(pool_learning(r, err));
    if (r->learning.count > 0)
        r->cost.seconds = r->learning.seconds / (double)r->judged;
    return PARSREC_OK;
}

void pr_contender_clear(pr_contender *r)
{
    for (size_t i = 0; i < r->attempt_count; i++) {
        pr_free(r->attempts[i].tallies);
        pr_run_record_free(&r->attempts[i].record);
    }
    pr_free(r->attempts);
    pr_free(r->tallies);
    pr_free(r->intervals);
    pr_free(r->spread);
    pr_free(r->learning.epoch);
    pr_free(r->learning.value);
}
