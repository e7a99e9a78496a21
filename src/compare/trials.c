/* Trials: the space they are drawn from, the draws, and their training, each resumed from where it is in
 * the folder. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "compare/tune.h"
#include "model/model.h"
#include "train/train.h"

enum { PURPOSE = 0x7C4E };

/* ---- the space: reading what a search may try ---- */

static parsrec_status find_setting(size_t *setting, pr_slice key, parsrec_error *err)
{
    pr_excerpt hold;
    for (*setting = 0; *setting < pr_config_count(); ++*setting)
        if (pr_slice_is(key, pr_config_key(*setting)))
            return PARSREC_OK;
    return pr_fail(err, PARSREC_E_CONFIG,
                   "there is no setting %s; parsrec train --print-config lists them",
                   pr_show(&hold, key));
}

/* Any value must be one that the setting can have. */
static parsrec_status check_value(const pr_tune_range *r, const char *value, parsrec_error *err)
{
    pr_config any = pr_config_default();
    return pr_config_set(&any, r->key, value, err);
}

static parsrec_status cut_list(pr_tune_range *r, parsrec_error *err)
{
    size_t capacity = 0;
    for (char *word = r->text; word != NULL;) {
        char *next = strchr(word, ',');
        if (next != NULL)
            *next++ = '\0';
        PR_TRY(check_value(r, word, err));
        PR_TRY(pr_grow(&r->words, &capacity, r->word_count + 1, sizeof *r->words, err));
        r->words[r->word_count++] = word;
        word = next;
    }
    return PARSREC_OK;
}

static parsrec_status read_span(pr_tune_range *r, char *dots, parsrec_error *err)
{
    pr_setting_type type = pr_config_type(r->setting);
    char *high = dots + 2, *log = strstr(high, "(log)");
    r->log = log != NULL && log[5] == '\0';
    if (r->log)
        *log = '\0';
    *dots = '\0';
    if (type != PR_WHOLE && type != PR_NUMBER)
        return pr_fail(err, PARSREC_E_CONFIG, "%s has no numbers to choose from; list its values",
                       r->key);
    r->whole = type == PR_WHOLE;
    PR_TRY(check_value(r, r->text, err));
    PR_TRY(check_value(r, high, err));
    if (!pr_parse_f64(pr_slice_of(r->text), &r->low) ||
        !pr_parse_f64(pr_slice_of(high), &r->high) || r->low >= r->high || (r->log && r->low <= 0))
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s: a range goes from a smaller number to a larger one%s", r->key,
                       r->log ? ", with (log) from above 0" : "");
    return PARSREC_OK;
}

static parsrec_status read_range(pr_tune_range *r, const char *values, parsrec_error *err)
{
    r->key = pr_config_key(r->setting);
    if (strcmp(r->key, "epochs") == 0 || strcmp(r->key, "last") == 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s is the same for all trials; a search cannot choose it", r->key);
    r->text = pr_copy_string(values, strlen(values));
    if (r->text == NULL)
        return pr_fail_memory(err);
    char *dots = strstr(r->text, "..");
    return dots != NULL ? read_span(r, dots, err) : cut_list(r, err);
}

static void free_range(pr_tune_range *r)
{
    pr_free(r->words);
    pr_free(r->text);
}

parsrec_status pr_space_add(pr_space *space, const char *text, parsrec_error *err)
{
    const char *equals = strchr(text, '=');
    pr_excerpt hold;
    pr_tune_range r = {0};
    if (equals == NULL)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "--set: %s is not key=value, key=a,b or key=low..high",
                       pr_show(&hold, pr_slice_of(text)));
    if (strchr(equals, ',') == NULL && strstr(equals, "..") == NULL) {
        PR_TRY(pr_grow(&space->fixed, &space->fixed_capacity, space->fixed_count + 1,
                       sizeof *space->fixed, err));
        space->fixed[space->fixed_count++] = text;
        return PARSREC_OK;
    }
    PR_TRY(find_setting(&r.setting, (pr_slice){text, (size_t)(equals - text)}, err));
    for (size_t i = 0; i < space->count; i++)
        if (space->ranges[i].setting == r.setting)
            return pr_fail(err, PARSREC_E_CONFIG, "%s has two ranges", space->ranges[i].key);
    PR_TRY(pr_grow(&space->ranges, &space->capacity, space->count + 1, sizeof r, err));
    parsrec_status status = read_range(&r, equals + 1, err);
    if (status == PARSREC_OK)
        space->ranges[space->count++] = r;
    else
        free_range(&r);
    return status;
}

void pr_space_free(pr_space *space)
{
    for (size_t i = 0; i < space->count; i++)
        free_range(&space->ranges[i]);
    pr_free(space->ranges);
    pr_free(space->fixed);
    *space = (pr_space){0};
}

/* ---- the space where the caller names none ---- */

parsrec_status pr_space_usual(pr_space *space, const char *kind, parsrec_error *err)
{
    static const char *const network[] = {"rate=0.0003..0.003(log)",
                                          "weight_decay=0.01..1(log)",
                                          "dim.item=32,64,96,128",
                                          "batch=128,256,512",
                                          "dropout.history=0..0.4",
                                          "dropout.keys=0..0.4",
                                          NULL};
    static const char *const sequence[] = {
        "rate=0.0003..0.003(log)", "dim.item=32,64,128",    "layers=1,2,3",
        "batch=32,64,128",         "dropout.hidden=0..0.5", NULL};
    static const char *const windows[] = {"rate=0.0005..0.01(log)", "dim.item=32,64,128",
                                          "lookback=3..50(log)",    "batch=32,64,128",
                                          "dropout.hidden=0..0.6",  NULL};
    static const char *const recurrent[] = {"rate=0.001..0.02(log)", "dim.item=32,64,128",
                                            "batch=32,64,128", "dropout.hidden=0..0.6", NULL};
    static const char *const pairs[] = {"rate=0.0005..0.01(log)",     "dim.item=16,32,64,128",
                                        "negatives=1..32(log)",       "batch=256,512,1024",
                                        "weight_decay=0.003..1(log)", NULL};
    const pr_model_kind *known = pr_model_kind_named(kind);
    const char *const *usual = sequence;
    if (strcmp(kind, "parsrec") == 0)
        usual = network;
    else if (strcmp(kind, "gru4rec") == 0)
        usual = recurrent;
    else if (known != NULL && known->window != NULL)
        usual = windows;
    else if (known != NULL && known->pairs != NULL)
        usual = pairs;
    for (; *usual != NULL; usual++)
        PR_TRY(pr_space_add(space, *usual, err));
    return PARSREC_OK;
}

/* ---- one draw ---- */

void pr_space_draw(char out[PR_VALUE_SIZE], const pr_tune_range *r, uint64_t seed, size_t trial,
                   size_t draw)
{
    pr_rng rng = pr_rng_make(seed, PURPOSE);
    pr_bits bits = pr_rng_at(&rng, (uint32_t)trial, (uint32_t)r->setting, (uint32_t)draw, 0);
    double share = pr_unit53(bits.word[0], bits.word[1]);
    if (r->word_count > 0) {
        snprintf(out, PR_VALUE_SIZE, "%s", r->words[(size_t)(share * (double)r->word_count)]);
        return;
    }
    assert(r->low <= r->high && (!r->log || r->low > 0));
    /* A whole number is as likely as the others: the range reaches half a number or one beyond it. */
    double low = r->low - (r->whole && r->log ? 0.5 : 0);
    double above = r->high + (!r->whole ? 0 : r->log ? 0.5 : 1);
    double value = r->log ? low * pow(above / low, share) : low + (above - low) * share;
    if (r->whole)
        value = r->log ? round(value) : floor(value);
    /* Three digits are enough to distinguish values, and easy to read. */
    snprintf(out, PR_VALUE_SIZE, r->whole ? "%.0f" : "%.3g", fmin(fmax(value, r->low), r->high));
}

enum { DRAWS_MOST = 200 };

/* ---- drawing trials ---- */

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
    trial->words = pr_alloc_zero(fixed + ranges + 1, sizeof *trial->words); /* and validated_only */
    if (trial->values == NULL || trial->set == NULL || trial->words == NULL)
        return pr_fail_memory(err);
    if (fixed > 0)
        memcpy(trial->words, t->space.fixed, fixed * sizeof *trial->words);
    trial->word_count = fixed;
    return PARSREC_OK;
}

/* The settings as they are, which the first trial has. */
static parsrec_status keep_settings(parsrec_tuning *t, pr_trial *trial, size_t *epochs,
                                    parsrec_error *err)
{
    pr_config config;
    parsrec_train_options o = pr_trial_order(t, trial, *epochs, 1);
    PR_TRY(pr_train_settings(&config, &o, err));
    for (size_t i = 0; i < t->space.count; i++)
        pr_config_value(&config, t->space.ranges[i].setting, trial->values[i], PR_VALUE_SIZE);
    t->held_out = (size_t)config.last;
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
    assert(t->trials == NULL && wanted > 0 && t->space.count > 0);
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
    record.config.newest = wanted.newest; /* which is off in trials */
    fits = fits && pr_run_record_fits(&record, &wanted, &o, data, reason, sizeof reason);
    /* A log alone, without a beginning, is of a run that was killed before it wrote the first line. */
    bool nothing = record.source == PR_RECORD_NONE && access(checkpoint, F_OK) != 0 &&
                   access(trial->path, F_OK) != 0;
    pr_run_record_free(&record);
    if (fits || nothing)
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

/* Trials are compared by their epochs; what follows these would be learnt in every round for nothing. */
static const char validated_only[] = "newest=off";

parsrec_status pr_trial_train(const parsrec_tuning *t, const pr_trial *trial,
                              const parsrec_data *data, size_t epochs, unsigned threads,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(epochs > 0);
    pr_path hold;
    parsrec_error why = {0};
    parsrec_train_options o = pr_trial_order(t, trial, epochs, threads);
    trial->words[o.set_count++] = validated_only;
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
        return pr_fail(err, status, "stopped while training %s; the same command resumes",
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
    pr_free(t->users_path);
}
