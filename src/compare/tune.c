/* Rounds of successive halving: all trials train for a few epochs, the best of them continue. */
#include "compare/tune.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/evaluation.h"
#include "model/model.h"

/* ---- the plan ---- */

/* The last round has all epochs, each one before it a `cut`th of them with `cut` times the trials. */
static void plan_rounds(parsrec_tuning *t, size_t cut)
{
    size_t epochs = t->rounds[0].epochs, trials = t->count, share = 1;
    t->round_count = 1;
    while (t->round_count < PR_ROUNDS_MOST && trials / (share * cut) >= 1 &&
           epochs / (share * cut) >= 1) {
        share *= cut;
        t->round_count++;
    }
    for (size_t i = 0; i < t->round_count; i++, share /= cut) {
        t->rounds[i] = (pr_tune_round){(epochs + share - 1) / share, trials};
        trials = trials / cut > 1 ? trials / cut : 1;
    }
}

static parsrec_status read_space(parsrec_tuning *t, const parsrec_tune_options *o,
                                 parsrec_error *err)
{
    const char *kind = o->model != NULL ? o->model : "parsrec";
    const pr_model_kind *known = pr_model_kind_named(kind);
    pr_config unused;
    PR_TRY(pr_model_defaults(&unused, kind, err)); /* which knows what kinds there are */
    if (known == NULL || known->learn == NULL)
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "tune trains models, and %s counts; parsrec eval %s DATA --split valid --set "
            "KEY=VALUE measures settings of a model that counts",
            kind, kind);
    snprintf(t->kind, sizeof t->kind, "%s", kind);
    for (size_t i = 0; i < o->set_count; i++)
        PR_TRY(pr_space_add(&t->space, o->set[i], err));
    return t->space.count > 0 ? PARSREC_OK : pr_space_usual(&t->space, kind, err);
}

static parsrec_status copy_word(char **to, const char *from, parsrec_error *err)
{
    *to = from != NULL ? pr_copy_string(from, strlen(from)) : NULL;
    return from == NULL || *to != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status choose_measure(parsrec_tuning *t, const char *measure, parsrec_error *err)
{
    for (size_t i = 0; i < PR_VALIDATION_MEASURES; i++)
        if (measure == NULL || strcmp(measure, pr_validation_measures[i]) == 0) {
            t->measure = pr_validation_measures[i];
            return PARSREC_OK;
        }
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "training is validated by NDCG@10, HR@10 and Sess-Prec@10; choose one of them");
}

static parsrec_status begin(parsrec_tuning *t, const char *data_path, const char *folder,
                            const parsrec_tune_options *o, parsrec_error *err)
{
    t->began = pr_now();
    t->seed = o->seed;
    t->ranks = o->ranks;
    if (o->trials < 1 || o->trials > 10000 || o->cut < 2 || o->cut > 100)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "there can be 1 to 10,000 trials and a cut of 2 to "
                       "100");
    PR_TRY(choose_measure(t, o->measure, err));
    PR_TRY(copy_word(&t->data_path, data_path, err));
    PR_TRY(copy_word(&t->folder, folder, err));
    PR_TRY(copy_word(&t->command, o->command, err));
    PR_TRY(copy_word(&t->preset, o->preset, err));
    PR_TRY(copy_word(&t->config_path, o->config_path, err));
    PR_TRY(copy_word(&t->users_path, o->split.users_path, err));
    t->split = o->split;
    t->split.users_path = NULL;
    PR_TRY(read_space(t, o, err));
    PR_TRY(pr_tuning_draw(t, o, err));
    plan_rounds(t, (size_t)o->cut);
    return PARSREC_OK;
}

/* ---- a round ---- */

typedef struct work {
    parsrec_tuning *t;
    const parsrec_data *data;
    size_t epochs;
    unsigned threads;
    bool last;
    size_t *trials; /* that have not come so far yet */
    size_t count;
} work;

static parsrec_status train_one(void *context, size_t task, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    const work *w = context;
    return pr_trial_train(w->t, &w->t->trials[w->trials[task]], w->data, w->epochs, w->threads,
                          hooks, err);
}

static const char *name_of(void *context, size_t task)
{
    const work *w = context;
    return w->t->trials[w->trials[task]].name;
}

/* Trials of this round that are not through, by their logs; the last round wants their models too. Ranks
 * take them in turn. */
static parsrec_status gather(work *w, size_t trials, parsrec_error *err)
{
    size_t rank = parsrec_ranks_rank(w->t->ranks), size = parsrec_ranks_size(w->t->ranks),
           found = 0;
    for (size_t i = 0; i < trials; i++) {
        pr_trial *trial = &w->t->trials[w->t->order[i]];
        PR_TRY(pr_trial_read(trial, w->t->measure, w->epochs, err));
        bool through =
            trial->record.epoch_count >= w->epochs && (!w->last || access(trial->path, F_OK) == 0);
        if (!through && found++ % size == rank)
            w->trials[w->count++] = w->t->order[i];
    }
    return PARSREC_OK;
}

static bool comes_before(const parsrec_tuning *t, size_t a, size_t b)
{
    const pr_trial *x = &t->trials[a], *y = &t->trials[b];
    if (x->rounds != y->rounds)
        return x->rounds > y->rounds;
    return x->value != y->value ? x->value > y->value : a < b;
}

/* Checkpoints of those that are cut are of no use any more. */
static parsrec_status finish_round(parsrec_tuning *t, size_t number, parsrec_error *err)
{
    size_t trials = t->rounds[number].trials;
    for (size_t i = 0; i < trials; i++) {
        pr_trial *trial = &t->trials[t->order[i]];
        PR_TRY(pr_trial_read(trial, t->measure, t->rounds[number].epochs, err));
        trial->rounds = number + 1;
        if (number == 0)
            trial->first = trial->value;
    }
    t->done = number + 1;
    for (size_t i = 1; i < t->count; i++) /* sorts the trials: they are few and nearly in order */
        for (size_t at = i; at > 0 && comes_before(t, t->order[at], t->order[at - 1]); at--) {
            size_t moved = t->order[at];
            t->order[at] = t->order[at - 1];
            t->order[at - 1] = moved;
        }
    PR_TRY(parsrec_ranks_agree(t->ranks, PARSREC_OK, err)); /* all have read what is removed now */
    for (size_t i = number + 1 < t->round_count ? t->rounds[number + 1].trials : trials;
         i < trials && parsrec_ranks_rank(t->ranks) == 0; i++) {
        pr_path checkpoint;
        unlink(pr_checkpoint_path(&checkpoint, t->trials[t->order[i]].path));
    }
    return PARSREC_OK;
}

static parsrec_status run_round(parsrec_tuning *t, size_t number, const parsrec_data *data,
                                const parsrec_tune_options *o, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    unsigned threads = o->threads > 0 ? o->threads : pr_cores();
    unsigned jobs = pr_queue_workers((unsigned)o->jobs, threads, t->bytes);
    const pr_tune_round *r = &t->rounds[number];
    assert(number < t->round_count && r->trials <= t->count);
    char stage[96];
    work w = {.t = t,
              .data = data,
              .epochs = r->epochs,
              .threads = threads / jobs > 1 ? threads / jobs : 1,
              .last = number + 1 == t->round_count,
              .trials = pr_alloc(r->trials, sizeof *w.trials)};
    if (w.trials == NULL)
        return pr_fail_memory(err);
    /* Nobody trains before all have seen what is in the folder. */
    parsrec_status status = parsrec_ranks_agree(t->ranks, gather(&w, r->trials, err), err);
    snprintf(stage, sizeof stage, "round %zu of %zu, %zu trials to epoch %zu", number + 1,
             t->round_count, r->trials, r->epochs);
    if (status == PARSREC_OK && w.count > 0)
        pr_say(hooks, PARSREC_LOG_INFO, "%s", stage);
    pr_queue queue = {&w, train_one, name_of, w.count, jobs, stage, "training"};
    if (status == PARSREC_OK) {
        pr_ranks_work own;
        hooks = pr_ranks_work_begin(&own, t->ranks, hooks);
        status = pr_ranks_work_end(&own, pr_queue_run(&queue, hooks, err), err);
    }
    pr_free(w.trials);
    return status == PARSREC_OK ? finish_round(t, number, err) : status;
}

/* ---- the whole search ---- */

static parsrec_status tune_on(parsrec_tuning *t, const parsrec_data *data,
                              const parsrec_tune_options *o, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    parsrec_data_stats stats;
    PR_TRY(parsrec_data_statistics(data, &stats, err));
    memcpy(t->checksum, stats.checksum, sizeof t->checksum);
    PR_TRY(pr_eval_check_validation(data, t->held_out, err));
    PR_TRY(pr_ranks_compare(t->ranks, t->checksum, "data set", err));
    for (size_t i = 0; i < t->count; i++) {
        PR_TRY(pr_trial_weigh(t, &t->trials[i], data, err));
        PR_TRY(pr_trial_look(t, &t->trials[i], data, o->retrain, err));
    }
    PR_TRY(pr_folder_make(t->folder, err));
    for (size_t number = 0; number < t->round_count; number++) {
        PR_TRY(run_round(t, number, data, o, hooks, err));
        parsrec_status saved = PARSREC_OK;
        if (parsrec_ranks_rank(t->ranks) == 0)
            saved = pr_tuning_save(t, err);
        PR_TRY(parsrec_ranks_agree(t->ranks, saved, err));
    }
    return PARSREC_OK;
}

static parsrec_status tune(parsrec_tuning *t, const char *data_path, const char *folder,
                           const parsrec_tune_options *o, const parsrec_hooks *hooks,
                           parsrec_error *err)
{
    parsrec_data *data;
    PR_TRY(begin(t, data_path, folder, o, err));
    PR_TRY(parsrec_data_load(&data, data_path, err));
    parsrec_status status = parsrec_data_split(data, &o->split, hooks, err);
    if (status == PARSREC_OK)
        status = tune_on(t, data, o, hooks, err);
    parsrec_data_free(data);
    return status;
}

/* ---- public ---- */

parsrec_tune_options parsrec_tune_default(void)
{
    return (parsrec_tune_options){.trials = 16, .cut = 3, .seed = 1};
}

parsrec_status parsrec_tune(parsrec_tuning **out, const char *data_path, const char *folder,
                            const parsrec_tune_options *options, const parsrec_hooks *hooks,
                            parsrec_error *err)
{
    if (out == NULL || data_path == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_tune needs out, data, folder and options");
    *out = NULL;
    parsrec_tuning *t = pr_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return pr_fail_memory(err);
    parsrec_status status = tune(t, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = t;
    else
        parsrec_tuning_free(t);
    return status;
}

void parsrec_tuning_free(parsrec_tuning *tuning)
{
    if (tuning == NULL)
        return;
    pr_tuning_clear(tuning);
    pr_free(tuning);
}
