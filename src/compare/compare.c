/* A comparison from its options to its reports. The head of compare.h describes the steps. */
#include "compare/compare.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "base/threads.h"
#include "data/dataset_edit.h"
#include "eval/evaluation.h"
#include "model/model.h"
#include "synth/truth.h"

enum { TEST_RESAMPLES = 10000, SEEDS_MOST = 1000, SEEDS_USUAL = 3 };

/* ---- presets: comparisons that papers print, ready to run ---- */

typedef struct preset {
    const char *name;
    const char *models;
    uint64_t users, sessions; /* of the synthetic data */
} preset;

/* The paper's models, and the count of a user's own purchases, which it leaves out. The oracle is added on
 * all synthetic data. */
#define PAPER_MODELS "pop,personal,sasrec,bert4rec,paper=parsrec:preset=paper,parsrec"

static const preset presets[] = {
    {"paper-small", PAPER_MODELS, 1024, 100},
    {"paper-synthetic", PAPER_MODELS, 8192, 170},
};

static parsrec_status find_preset(const preset **out, const char *name, parsrec_error *err)
{
    pr_excerpt hold;
    pr_suggest near;
    pr_suggest_start(&near, pr_slice_of(name));
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        pr_suggest_offer(&near, pr_slice_of(presets[i].name));
        *out = &presets[i];
        if (strcmp(presets[i].name, name) == 0)
            return PARSREC_OK;
    }
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "there is no preset %s%s; there are: paper-small, paper-synthetic",
                   pr_show(&hold, pr_slice_of(name)), pr_suggest_sentence(&near));
}

static bool same_data(const pr_dataset *data, const parsrec_synth_options *wanted)
{
    pr_truth truth;
    if (pr_truth_read(&truth, data, NULL) != PARSREC_OK)
        return false;
    const parsrec_synth_options *o = &truth.options;
    return o->users == wanted->users && o->sessions == wanted->sessions &&
           o->categories == wanted->categories && o->products == wanted->products &&
           o->size_rule == wanted->size_rule && o->outside == wanted->outside &&
           o->seed == wanted->seed;
}

/* Makes the preset's data at path, unless the same data are there already. With ranks, rank 0 does. */
static parsrec_status make_data(const preset *from, const char *path,
                                const parsrec_compare_options *options, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.users = from->users;
    o.sessions = from->sessions;
    o.seed = options->seed;
    o.threads = options->eval.threads;
    if (access(path, F_OK) != 0) {
        pr_say(hooks, PARSREC_LOG_INFO, "%s: synthesising %llu users with %llu sessions each", path,
               (unsigned long long)o.users, (unsigned long long)o.sessions);
        return parsrec_synth(path, &o, NULL, hooks, err);
    }
    pr_dataset *data;
    PR_TRY(pr_dataset_load(&data, path, err));
    bool same = same_data(data, &o);
    pr_dataset_free(data);
    if (same)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "%s holds other data than %s with seed %llu makes; choose another folder, or "
                   "name the data",
                   path, from->name, (unsigned long long)o.seed);
}

/* ---- hooks that put the name of a model before messages and progress ---- */

typedef struct named_hooks {
    parsrec_hooks hooks; /* for the callee; its context is this struct */
    const parsrec_hooks *outer;
    const char *name;
    size_t number, count;
} named_hooks;

static void say_named(void *context, parsrec_log_level level, const char *text)
{
    const named_hooks *h = context;
    pr_say(h->outer, level, "%s: %s", h->name, text);
}

static int progress_named(void *context, const parsrec_progress *progress)
{
    const named_hooks *h = context;
    char stage[160];
    parsrec_progress shown = *progress;
    snprintf(stage, sizeof stage, "%s (%zu of %zu), %s", h->name, h->number, h->count,
             progress->stage);
    shown.stage = stage;
    return h->outer->on_progress(h->outer->context, &shown);
}

static void epoch_named(void *context, const parsrec_epoch *epoch)
{
    const named_hooks *h = context;
    h->outer->on_epoch(h->outer->context, epoch);
}

/* ---- the plan ---- */

/* The name of one model may equal that of another's second seed. */
static parsrec_status check_paths(const parsrec_comparison *c, const pr_contender *r,
                                  parsrec_error *err)
{
    for (const pr_contender *other = c->rows; other < r; other++)
        for (size_t i = 0; i < r->attempt_count; i++)
            for (size_t j = 0; j < other->attempt_count; j++)
                if (r->entry->path == NULL && r->attempts[i].path[0] != '\0' &&
                    strcmp(r->attempts[i].path, other->attempts[j].path) == 0)
                    return pr_fail(err, PARSREC_E_ARGUMENT,
                                   "%s and %s would be the same file, %s; give one another name",
                                   other->entry->name, r->entry->name, r->attempts[i].path);
    return PARSREC_OK;
}

/* Somebody can be evaluated, by the protocol whose users are compared. The models that are not files hold
 * out one number of sessions, or are refused when they are evaluated; the smallest is asked for. */
static parsrec_status check_evaluated(const parsrec_comparison *c, const parsrec_data *data,
                                      parsrec_error *err)
{
    size_t held_out = 0;
    for (size_t row = 0; row < c->count; row++) {
        size_t own = c->rows[row].held_out;
        held_out = own > 0 && (held_out == 0 || own < held_out) ? own : held_out;
    }
    return held_out > 0 ? pr_eval_check(data, &c->eval, held_out, err) : PARSREC_OK;
}

static parsrec_status plan_all(parsrec_comparison *c, const parsrec_data *data,
                               const parsrec_compare_options *o, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    c->rows = pr_alloc_zero(c->list.count, sizeof *c->rows);
    if (c->rows == NULL)
        return pr_fail_memory(err);
    c->count = c->list.count;
    for (size_t row = 0; row < c->count; row++) {
        pr_contender *r = &c->rows[row];
        r->entry = &c->list.entries[row];
        PR_TRY(pr_contender_plan(r, c, data, o, hooks, err));
        PR_TRY(check_paths(c, r, err));
    }
    PR_TRY(check_evaluated(c, data, err));
    /* Only after everything else is known to be right. */
    return pr_folder_begin(c->folder, &c->made_folder, err);
}

/* ---- rounds, one per seed ---- */

typedef struct seed_round {
    parsrec_comparison *c;
    const parsrec_data *data;
    const parsrec_compare_options *options; /* with the threads of one training */
    size_t number;
    size_t *rows; /* [count] that are trained in this round */
    char (*names)[PR_ENTRY_NAME + 32];
    size_t count;
} seed_round;

static parsrec_status train_one(void *context, size_t task, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    const seed_round *all = context;
    const pr_contender *r = &all->c->rows[all->rows[task]];
    const pr_attempt *a = &r->attempts[all->number];
    pr_say(hooks, PARSREC_LOG_INFO, "%s (model %zu of %zu)",
           a->task == PR_CONTENDER_RESUME ? "training resumes" : "training", all->rows[task] + 1,
           all->c->count);
    return pr_contender_train(r, a, all->data, all->options, hooks, err);
}

static const char *name_of(void *context, size_t task)
{
    return ((const seed_round *)context)->names[task];
}

/* The rows that need training, and their names in messages. Ranks take them in turn. */
static parsrec_status gather(seed_round *all, parsrec_error *err)
{
    const parsrec_comparison *c = all->c;
    size_t rank = parsrec_ranks_rank(c->eval.ranks), size = parsrec_ranks_size(c->eval.ranks);
    size_t found = 0;
    all->rows = pr_alloc(c->count, sizeof *all->rows);
    all->names = pr_alloc(c->count, sizeof *all->names);
    if (all->rows == NULL || all->names == NULL)
        return pr_fail_memory(err);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        if (all->number >= r->attempt_count ||
            r->attempts[all->number].task == PR_CONTENDER_READY || found++ % size != rank)
            continue;
        char *name = all->names[all->count];
        snprintf(name, sizeof *all->names, "%s", r->entry->name);
        if (all->options->seeds > 1)
            snprintf(name, sizeof *all->names, "%s, seed %llu", r->entry->name,
                     (unsigned long long)r->attempts[all->number].seed);
        all->rows[all->count++] = row;
    }
    return PARSREC_OK;
}

static parsrec_status train_round(parsrec_comparison *c, size_t number, const parsrec_data *data,
                                  const parsrec_compare_options *o, unsigned jobs,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    char stage[96];
    seed_round all = {.c = c, .data = data, .options = o, .number = number};
    parsrec_status status = gather(&all, err);
    snprintf(stage, sizeof stage, "training %zu models", all.count);
    if (o->seeds > 1)
        snprintf(stage, sizeof stage, "seed %zu of %llu, training %zu models", number + 1,
                 (unsigned long long)o->seeds, all.count);
    pr_queue queue = {.context = &all,
                      .run = train_one,
                      .name = name_of,
                      .jobs = all.count,
                      .workers = jobs,
                      .stage = stage,
                      .counted = "training"};
    pr_ranks_work work;
    hooks = pr_ranks_work_begin(&work, c->eval.ranks, hooks);
    if (status == PARSREC_OK)
        status = pr_queue_run(&queue, hooks, err);
    status = pr_ranks_work_end(&work, status, err);
    pr_free(all.rows);
    pr_free(all.names);
    return status;
}

/* Evaluates the models of a round: with `ready` those that need no training, otherwise the others. */
static parsrec_status evaluate_round(parsrec_comparison *c, size_t number, bool ready,
                                     const parsrec_data *data, const parsrec_compare_options *o,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    for (size_t row = 0; row < c->count; row++) {
        pr_contender *r = &c->rows[row];
        if (number >= r->attempt_count || (r->attempts[number].task == PR_CONTENDER_READY) != ready)
            continue;
        named_hooks named = {
            .outer = hooks, .name = r->entry->name, .number = row + 1, .count = c->count};
        named.hooks.context = &named;
        named.hooks.on_log = hooks != NULL && hooks->on_log != NULL ? say_named : NULL;
        named.hooks.on_progress =
            hooks != NULL && hooks->on_progress != NULL ? progress_named : NULL;
        named.hooks.on_epoch = hooks != NULL && hooks->on_epoch != NULL ? epoch_named : NULL;
        if (c->first == PR_NONE)
            c->first = row;
        PR_TRY(pr_contender_evaluate(c, r, data, o, &named.hooks, err));
    }
    return PARSREC_OK;
}

/* What the seeds after the first would take, by the time that the first took. What is in the folder
 * already takes none. */
static double more_seconds(const parsrec_comparison *c, unsigned jobs)
{
    double seconds = 0;
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        for (size_t i = 1; i < r->attempt_count; i++)
            if (r->attempts[i].task != PR_CONTENDER_READY)
                seconds += r->attempts[0].record.seconds;
    }
    return seconds / jobs;
}

parsrec_status pr_comparison_run(parsrec_comparison *c, const parsrec_data *data,
                                 const parsrec_compare_options *options, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    unsigned threads = options->eval.threads > 0 ? options->eval.threads : pr_cores();
    double largest = 0;
    bool usual = options->seeds == 0;
    parsrec_compare_options all = *options, *o = &all;
    all.seeds = usual ? SEEDS_USUAL : options->seeds;
    parsrec_compare_options each = all; /* of the trainings side by side: they share the threads */
    assert(c->folder != NULL && c->column_count > 0); /* pr_comparison_begin was called */
    assert(c->list.count > 0 && c->rows == NULL);
    if (c->stats.synthetic && pr_model_kind_named("oracle") != NULL)
        PR_TRY(pr_model_list_add(&c->list, "oracle", err));
    c->first = PR_NONE;
    /* Nobody trains before all have seen what is in the folder. */
    PR_TRY(parsrec_ranks_agree(c->eval.ranks, plan_all(c, data, o, hooks, err), err));
    PR_TRY(pr_ranks_compare(c->eval.ranks, c->stats.checksum, "data set", err));
    for (size_t row = 0; row < c->count; row++)
        largest = c->rows[row].bytes > largest ? c->rows[row].bytes : largest;
    unsigned jobs = pr_queue_workers((unsigned)o->jobs, threads, largest);
    each.eval.threads = threads / jobs > 1 ? threads / jobs : 1;
    for (size_t number = 0; number < o->seeds; number++) {
        PR_TRY(evaluate_round(c, number, true, data, o, hooks, err));
        PR_TRY(train_round(c, number, data, &each, jobs, hooks, err));
        PR_TRY(evaluate_round(c, number, false, data, o, hooks, err));
        c->seeds = number + 1;
        double more = usual && number == 0 ? more_seconds(c, jobs) : 0;
        c->more_seconds = more > PARSREC_MORE_SEEDS_SECONDS ? more : 0;
        pr_pool *pool;
        PR_TRY(pr_pool_new(&pool, c->eval.threads, err));
        parsrec_status status = pr_comparison_judge(c, pool, err);
        pr_pool_free(pool);
        if (status == PARSREC_OK && parsrec_ranks_rank(c->eval.ranks) == 0)
            status = pr_comparison_save(c, err);
        PR_TRY(parsrec_ranks_agree(c->eval.ranks, status, err));
        if (c->more_seconds > 0)
            break;
    }
    return PARSREC_OK;
}

/* ---- from the options to the run ---- */

parsrec_status pr_comparison_begin(parsrec_comparison *c, const char *data_path, const char *folder,
                                   const parsrec_compare_options *o, parsrec_error *err)
{
    char path[4096];
    assert(c->folder == NULL && c->rows == NULL); /* a zeroed comparison */
    c->began = pr_now();
    c->eval = o->eval;
    if (o->other_count > PR_OTHER_PROTOCOLS || (o->other_count > 0 && o->others == NULL))
        return pr_fail(err, PARSREC_E_ARGUMENT, "at most %d further protocols can be shown",
                       PR_OTHER_PROTOCOLS);
    for (size_t i = 0; i < o->other_count; i++)
        c->others[c->other_count++] = o->others[i];
    c->seed = o->seed;
    c->resampling = c->testing = pr_resampling_default();
    c->testing.resamples = TEST_RESAMPLES;
    if (o->seeds > SEEDS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there can be 1 to %d seeds", SEEDS_MOST);
    if (data_path == NULL) {
        if ((size_t)snprintf(path, sizeof path, "%s/data.st", folder) >= sizeof path)
            return pr_fail(err, PARSREC_E_ARGUMENT, "the path of the folder is too long");
        data_path = path;
    }
    c->data_path = pr_copy_string(data_path, strlen(data_path));
    c->folder = pr_copy_string(folder, strlen(folder));
    if (o->command != NULL)
        c->command = pr_copy_string(o->command, strlen(o->command));
    if (c->data_path == NULL || c->folder == NULL || (o->command != NULL && c->command == NULL))
        return pr_fail_memory(err);
    return pr_comparison_columns(c, o->measure, err);
}

/* Models that have to be trained cannot be compared on data that were fitted to another model. */
static parsrec_status check_ready(const parsrec_comparison *c, const pr_listed_model *file,
                                  parsrec_error *err)
{
    for (size_t i = 0; i < c->list.count; i++) {
        const pr_listed_model *e = &c->list.entries[i];
        if (e->path == NULL && !parsrec_model_counts(e->kind))
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s was trained on other data; on these it can be compared with other "
                           "model files and with models that count, and %s would have to be "
                           "trained: train it first, or leave it out",
                           file->path, e->name);
    }
    return PARSREC_OK;
}

/* How the data of model files were split before training. */
static parsrec_status split_of_files(parsrec_split_options *split, const parsrec_comparison *c,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    const char *first = NULL;
    for (size_t i = 0; i < c->list.count; i++) {
        const char *path = c->list.entries[i].path;
        parsrec_model *model;
        parsrec_split_options own;
        if (path == NULL)
            continue;
        PR_TRY(parsrec_model_load(&model, path, err));
        bool marked = parsrec_model_split(model, &own);
        parsrec_model_free(model);
        if (marked && first != NULL && own.time != split->time)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s was trained with --split-at %lld and %s with --split-at %lld; pass "
                           "the later of the two",
                           first, (long long)split->time, path, (long long)own.time);
        if (marked && first != NULL && own.by != split->by)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s and %s were split at one time but test different sessions; say "
                           "which by --split-at and --split-by",
                           first, path);
        if (marked) {
            first = path;
            *split = own;
        }
    }
    if (first != NULL)
        pr_say(hooks, PARSREC_LOG_INFO,
               "%s was trained with --split-at %lld, which is used here too", first,
               (long long)split->time);
    return PARSREC_OK;
}

/* Model files may have been trained on earlier data: users and items get the numbers of the first file,
 * which stays in *model while the data are used. */
static parsrec_status fit_data(const parsrec_data **used, pr_derived *match, parsrec_model **model,
                               const parsrec_comparison *c, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    const pr_listed_model *file = NULL;
    for (size_t i = 0; i < c->list.count && file == NULL; i++)
        file = c->list.entries[i].path != NULL ? &c->list.entries[i] : NULL;
    if (file == NULL)
        return PARSREC_OK;
    pr_match_facts facts;
    char sentence[512];
    PR_TRY(parsrec_model_load(model, file->path, err));
    PR_TRY(pr_dataset_match(match, &facts, *used, parsrec_model_data(*model), err));
    if (facts.same)
        return PARSREC_OK;
    PR_TRY(check_ready(c, file, err));
    match->data.known_as = NULL; /* models that count are counted from these users */
    pr_match_sentence(&facts, *used, sentence, sizeof sentence);
    if (sentence[0] != '\0')
        pr_say(hooks, PARSREC_LOG_WARNING, "%s: %s", file->name, sentence);
    *used = &match->data;
    return PARSREC_OK;
}

/* Every table has these: a model that is not better than they are has learnt nothing beyond them. */
static const char *const counts[] = {"personal", "recent", "markov", "mix"};

static parsrec_status compare(parsrec_comparison *c, const char *data_path, const char *folder,
                              const parsrec_compare_options *o, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    const preset *chosen = NULL;
    parsrec_data *data;
    if (o->preset != NULL)
        PR_TRY(find_preset(&chosen, o->preset, err));
    if (data_path == NULL && chosen == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "which data set? name one, or pass a --preset");
    PR_TRY(pr_comparison_begin(c, data_path, folder, o, err));
    if (o->models == NULL && chosen == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "which models? pass --models pop,personal,parsrec or a --preset");
    PR_TRY(pr_model_list_read(&c->list, o->models != NULL ? o->models : chosen->models, err));
    for (size_t i = 0; i < sizeof counts / sizeof *counts && !o->only_listed; i++)
        PR_TRY(pr_model_list_add(&c->list, counts[i], err));
    if (data_path == NULL) {
        PR_TRY(pr_folder_begin(folder, &c->made_folder, err));
        parsrec_status made = PARSREC_OK;
        if (parsrec_ranks_rank(o->eval.ranks) == 0)
            made = make_data(chosen, c->data_path, o, hooks, err);
        PR_TRY(parsrec_ranks_agree(o->eval.ranks, made, err));
    }
    parsrec_split_options how = o->split;
    if (!how.at && how.days == 0 && how.users_path == NULL)
        PR_TRY(split_of_files(&how, c, hooks, err));
    PR_TRY(parsrec_data_load(&data, c->data_path, err));
    parsrec_status split = parsrec_data_split(data, &how, hooks, err);
    if (split != PARSREC_OK)
        parsrec_data_free(data);
    PR_TRY(split);
    parsrec_model *model = NULL;
    pr_derived match = {0};
    const parsrec_data *used = data;
    parsrec_status status = fit_data(&used, &match, &model, c, hooks, err);
    if (status == PARSREC_OK)
        status = parsrec_data_statistics(used, &c->stats, err);
    if (status == PARSREC_OK)
        status = pr_comparison_run(c, used, o, hooks, err);
    pr_derived_free(&match);
    parsrec_model_free(model);
    parsrec_data_free(data);
    return status;
}

/* ---- public ---- */

parsrec_compare_options parsrec_compare_default(void)
{
    return (parsrec_compare_options){.seed = 1, .jobs = 1, .eval = parsrec_eval_default()};
}

parsrec_status parsrec_compare(parsrec_comparison **out, const char *data_path, const char *folder,
                               const parsrec_compare_options *options, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    if (out == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_compare needs out, folder and options");
    *out = NULL;
    if (options->eval.dump_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "scores are written by parsrec_eval, model by model, not by a comparison");
    parsrec_comparison *c = pr_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return pr_fail_memory(err);
    parsrec_status status = compare(c, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = c;
    else
        parsrec_comparison_free(c);
    return status;
}

void pr_comparison_clear(parsrec_comparison *c)
{
    for (size_t row = 0; row < c->count; row++)
        pr_contender_clear(&c->rows[row]);
    if (c->folder != NULL)
        pr_folder_end(c->folder, c->made_folder);
    pr_free(c->rows);
    pr_free(c->users);
    pr_free(c->data_path);
    pr_free(c->folder);
    pr_free(c->command);
    pr_model_list_free(&c->list);
}

void parsrec_comparison_free(parsrec_comparison *comparison)
{
    if (comparison == NULL)
        return;
    pr_comparison_clear(comparison);
    pr_free(comparison);
}

parsrec_status parsrec_comparison_text(char **out, const parsrec_comparison *comparison,
                                       parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || comparison == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_comparison_text needs out and comparison");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = pr_comparison_write(&text, comparison, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
