/* Trials: drawn, found in the folder, trained on from where they are. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "compare/tune.h"
#include "train/train.h"

enum { DRAWS_MOST = 200 };

/* ---- drawing ---- */

parsrec_train_options pr_trial_order(const parsrec_tuning *t, const pr_trial *trial, size_t epochs,
                                     unsigned threads)
{
    parsrec_train_options o = parsrec_train_default();
    o.model = t->kind;
    o.preset = t->preset;
    o.config_path = t->config_path;
    o.set = trial->words;
    o.set_count = trial->word_count;
    o.epochs = epochs;
    o.seed = t->seed;
    o.threads = threads;
    o.keep_checkpoint = true;
    return o;
}

static parsrec_status take_room(const parsrec_tuning *t, pr_trial *trial, size_t number,
                                parsrec_error *err)
{
    size_t ranges = t->space.count, fixed = t->space.fixed_count;
    snprintf(trial->name, sizeof trial->name, "trial-%02zu", number + 1);
    int n = snprintf(trial->path, sizeof trial->path, "%s/%s.st", t->folder, trial->name);
    if (n < 0 || (size_t)n >= sizeof trial->path)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the path of the folder is too long");
    trial->values = pr_alloc_zero(ranges, sizeof *trial->values);
    trial->set = pr_alloc_zero(ranges, sizeof *trial->set);
    trial->words = pr_alloc_zero(fixed + ranges, sizeof *trial->words);
    if (trial->values == NULL || trial->set == NULL || trial->words == NULL)
        return pr_fail_memory(err);
    if (fixed > 0)
        memcpy(trial->words, t->space.fixed, fixed * sizeof *trial->words);
    trial->word_count = fixed;
    return PARSREC_OK;
}

/* The settings as they are: what the first trial stands for. */
static parsrec_status keep_settings(const parsrec_tuning *t, pr_trial *trial, size_t *epochs,
                                    parsrec_error *err)
{
    pr_config config;
    parsrec_train_options o = pr_trial_order(t, trial, *epochs, 1);
    PR_TRY(pr_train_settings(&config, &o, err));
    for (size_t i = 0; i < t->space.count; i++)
        pr_config_value(&config, t->space.ranges[i].setting, trial->values[i], PR_VALUE_SIZE);
    *epochs = config.epochs > 0 ? (size_t)config.epochs : 16; /* left to the data: about that */
    return PARSREC_OK;
}

static bool is_new(const parsrec_tuning *t, const pr_trial *trial)
{
    size_t bytes = t->space.count * sizeof *trial->values;
    for (const pr_trial *other = t->trials; other < trial; other++)
        if (memcmp(other->values, trial->values, bytes) == 0)
            return false;
    return true;
}

/* Settings that do not go together are drawn again, and so are settings that were drawn before. */
static parsrec_status draw_values(const parsrec_tuning *t, pr_trial *trial, size_t number,
                                  parsrec_error *err)
{
    for (size_t draw = 0; draw < DRAWS_MOST; draw++) {
        pr_config config;
        for (size_t i = 0; i < t->space.count; i++) {
            const pr_tune_range *r = &t->space.ranges[i];
            memset(trial->values[i], 0, sizeof *trial->values);
            pr_space_draw(trial->values[i], r, t->seed, number, draw);
            snprintf(trial->set[i], sizeof *trial->set, "%s=%s", r->key, trial->values[i]);
            trial->words[t->space.fixed_count + i] = trial->set[i];
        }
        trial->word_count = t->space.fixed_count + t->space.count;
        parsrec_train_options o = pr_trial_order(t, trial, 1, 1);
        if (!is_new(t, trial))
            continue;
        parsrec_status status = pr_train_settings(&config, &o, NULL);
        if (status == PARSREC_OK)
            return PARSREC_OK;
        if (status == PARSREC_E_MEMORY)
            return pr_fail_memory(err);
    }
    return pr_fail(err, PARSREC_E_CONFIG,
                   "only %zu different settings can be drawn from these ranges; ask for fewer "
                   "--trials or widen them",
                   number);
}

parsrec_status pr_tuning_draw(parsrec_tuning *t, const parsrec_tune_options *o, parsrec_error *err)
{
    size_t epochs = (size_t)o->epochs, wanted = (size_t)o->trials;
    t->trials = pr_alloc_zero(wanted, sizeof *t->trials);
    t->order = pr_alloc_zero(wanted, sizeof *t->order);
    if (t->trials == NULL || t->order == NULL)
        return pr_fail_memory(err);
    for (t->count = 0; t->count < wanted; t->count++) {
        pr_trial *trial = &t->trials[t->count];
        t->order[t->count] = t->count;
        parsrec_status status = take_room(t, trial, t->count, err);
        if (status == PARSREC_OK)
            status = t->count == 0 ? keep_settings(t, trial, &epochs, err)
                                   : draw_values(t, trial, t->count, err);
        if (status != PARSREC_OK) {
            t->count++; /* so that it is freed */
            return status;
        }
    }
    t->rounds[0] = (pr_tune_round){epochs, wanted};
    return PARSREC_OK;
}

parsrec_status pr_trial_weigh(parsrec_tuning *t, const pr_trial *trial, const parsrec_data *data,
                              parsrec_error *err)
{
    pr_config config;
    double bytes;
    parsrec_train_options o = pr_trial_order(t, trial, 1, 1);
    PR_TRY(pr_train_settings(&config, &o, err));
    PR_TRY(pr_train_bytes(&bytes, t->kind, &config, data, 1, err));
    t->bytes = fmax(t->bytes, bytes);
    return PARSREC_OK;
}

/* ---- the folder ---- */

parsrec_status pr_trial_look(const parsrec_tuning *t, const pr_trial *trial,
                             const parsrec_data *data, bool retrain, parsrec_error *err)
{
    char reason[160] = "there is no record of it";
    pr_path hold[2];
    pr_run_record record = {0};
    pr_config wanted;
    const char *checkpoint = pr_checkpoint_path(&hold[0], trial->path);
    const char *log = pr_log_path(&hold[1], trial->path);
    if (access(checkpoint, F_OK) != 0 && access(trial->path, F_OK) != 0 && access(log, F_OK) != 0)
        return PARSREC_OK;
    parsrec_train_options o = pr_trial_order(t, trial, 1, 1);
    PR_TRY(pr_train_settings(&wanted, &o, err));
    bool fits = pr_run_record_read(&record, trial->path, data, NULL) == PARSREC_OK &&
                record.source != PR_RECORD_NONE;
    record.config.epochs = wanted.epochs; /* which grow from round to round */
    fits = fits && pr_run_record_fits(&record, &wanted, &o, data, reason, sizeof reason);
    pr_run_record_free(&record);
    if (fits)
        return PARSREC_OK;
    if (!retrain)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s belongs to another search (%s); choose another folder, or pass "
                       "--retrain to begin again",
                       trial->path, reason);
    unlink(checkpoint);
    unlink(trial->path);
    unlink(log);
    return PARSREC_OK;
}

/* ---- training ---- */

parsrec_status pr_trial_train(const parsrec_tuning *t, const pr_trial *trial,
                              const parsrec_data *data, size_t epochs, unsigned threads,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_path hold;
    parsrec_error why = {0};
    parsrec_train_options o = pr_trial_order(t, trial, epochs, threads);
    const char *checkpoint = pr_checkpoint_path(&hold, trial->path);
    if (access(checkpoint, F_OK) == 0) {
        o = parsrec_train_default();
        o.resume = checkpoint;
        o.epochs = epochs;
        o.threads = threads;
        o.keep_checkpoint = true;
    }
    o.skip_baselines = true; /* trials are compared with each other */
    parsrec_status status = parsrec_train(data, trial->path, &o, NULL, hooks, &why);
    if (status == PARSREC_OK)
        return PARSREC_OK;
    if (status == PARSREC_E_STOPPED)
        return pr_fail(err, status,
                       "stopped while training %s; the same command goes on from there",
                       trial->name);
    return pr_fail(err, status, "%s: %s", trial->name, why.message);
}

parsrec_status pr_trial_read(pr_trial *trial, const char *measure, size_t epochs,
                             parsrec_error *err)
{
    pr_run_record *r = &trial->record;
    pr_run_record_free(r);
    PR_TRY(pr_run_record_read(r, trial->path, NULL, err));
    if (r->epoch_count > epochs)
        r->epoch_count = epochs; /* of an earlier search that trained for longer */
    trial->epoch = 0;
    for (size_t i = 0; i < r->epoch_count; i++) {
        double value = pr_validation_value(&r->epochs[i], measure);
        if (trial->epoch == 0 || value > trial->value) {
            trial->value = value;
            trial->epoch = i + 1;
        }
    }
    return PARSREC_OK;
}

void pr_tuning_clear(parsrec_tuning *t)
{
    for (size_t i = 0; i < t->count; i++) {
        pr_free(t->trials[i].values);
        pr_free(t->trials[i].set);
        pr_free(t->trials[i].words);
        pr_run_record_free(&t->trials[i].record);
    }
    pr_free(t->trials);
    pr_free(t->order);
    pr_space_free(&t->space);
    pr_free(t->data_path);
    pr_free(t->folder);
    pr_free(t->command);
    pr_free(t->preset);
    pr_free(t->config_path);
}
