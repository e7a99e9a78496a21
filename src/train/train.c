/* Training for callers: settings, the files beside a model, and models that only count. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "data/dataset_edit.h"
#include "eval/baselines.h"
#include "math/blas.h"
#include "model/counting/counting.h"
#include "model/model_file.h"
#include "model/storage.h"
#include "model/user_rows.h"
#include "report/charts.h"
#include "train/run_record.h"

parsrec_train_options parsrec_train_default(void)
{
    return (parsrec_train_options){.checkpoint_minutes = 5, .seed = 1};
}

void parsrec_text_free(char *text)
{
    pr_free(text);
}

/* ---- settings ---- */

static parsrec_status read_config_file(pr_config *config, const char *path, parsrec_error *err)
{
    pr_mapping file;
    PR_TRY(pr_file_map(&file, path, err));
    parsrec_status status = pr_config_read(config, (const char *)file.bytes, file.size, path, err);
    pr_file_unmap(&file);
    return status;
}

parsrec_status pr_train_settings(pr_config *config, const parsrec_train_options *o,
                                 parsrec_error *err)
{
    const char *kind = pr_train_kind(o);
    PR_TRY(pr_model_defaults(config, kind, err));
    if (o->preset != NULL)
        PR_TRY(pr_config_preset(config, o->preset, err));
    if (o->config_path != NULL)
        PR_TRY(read_config_file(config, o->config_path, err));
    for (size_t i = 0; i < o->set_count; i++)
        PR_TRY(pr_config_assign(config, o->set[i], err));
    if (o->epochs > 0) {
        char number[32];
        snprintf(number, sizeof number, "%llu", (unsigned long long)o->epochs);
        PR_TRY(pr_config_set(config, "epochs", number, err));
    }
    return pr_model_check(kind, config, err);
}

parsrec_status parsrec_config_text(char **out, const parsrec_train_options *options,
                                   parsrec_error *err)
{
    if (out == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_config_text needs out and options");
    pr_config config;
    *out = NULL;
    PR_TRY(pr_train_settings(&config, options, err));
    *out = pr_config_text(&config);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* ---- what a run reports and writes ---- */

typedef struct paths {
    pr_path checkpoint, log;
    char png[4096], svg[4096];
} paths;

static parsrec_status make_paths(paths *p, const char *out_path, parsrec_error *err)
{
    struct stat there;
    if (strlen(out_path) > sizeof p->png - 16)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the output path is too long");
    if (stat(out_path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: is a device or a pipe, beside which no log and checkpoint can stand; "
                       "name a file",
                       out_path);
    pr_checkpoint_path(&p->checkpoint, out_path);
    pr_log_path(&p->log, out_path);
    snprintf(p->png, sizeof p->png, "%s.png", out_path);
    snprintf(p->svg, sizeof p->svg, "%s.svg", out_path);
    return PARSREC_OK;
}

/* One call of parsrec_train. */
typedef struct call {
    const parsrec_data *data;
    const char *out_path;
    paths paths;
    pr_train_plan plan;
    pr_storage storage;
    pr_pool *pool;
    pr_run_log log;
    const parsrec_hooks *hooks;
    bool keep_checkpoint, skip_baselines;
    bool writes; /* rank 0: the others have no files and no hooks */
} call;

static parsrec_epoch public_epoch(const pr_epoch_result *e)
{
    const size_t k = PR_CHOICE_CUTOFF;
    return (parsrec_epoch){.number = e->number,
                           .loss = e->loss,
                           .hit_rate_10 = e->valid.value[PR_ALL][PR_HR][k],
                           .ndcg_10 = e->valid.value[PR_ALL][PR_NDCG][k],
                           .session_precision_10 = e->valid.value[PR_ALL][PR_SESS_PREC][k],
                           .seconds = e->seconds,
                           .items_per_s = e->items_per_s,
                           .earlier = e->earlier};
}

/* The log is opened once all settings are known to be right: a mistake leaves no file behind. */
static void on_begin(void *context, const pr_model *model, uint64_t seed)
{
    call *s = context;
    parsrec_error err;
    pr_run_record record = {.config = model->config, .seed = seed, .patience = s->plan.patience};
    snprintf(record.kind, sizeof record.kind, "%s", model->kind->name);
    snprintf(record.data, sizeof record.data, "%s", pr_dataset_checksum(s->data));
    if (!s->writes)
        return;
    if (pr_run_log_open(&s->log, s->paths.log.text, s->plan.resume != NULL, &err) != PARSREC_OK)
        pr_say(s->hooks, PARSREC_LOG_WARNING, "%s", err.message);
    if (s->plan.resume == NULL && access(s->paths.checkpoint.text, F_OK) == 0)
        pr_say(s->hooks, PARSREC_LOG_WARNING,
               "%s of an unfinished run will be replaced; --resume would have continued it",
               s->paths.checkpoint.text);
    pr_run_log_begin(&s->log, &record, pr_pool_threads(s->pool), s->plan.resume);
}

static void on_epoch(void *context, const pr_epoch_result *epoch)
{
    call *s = context;
    pr_run_log_epoch(&s->log, epoch);
    parsrec_epoch shown = public_epoch(epoch);
    if (s->hooks != NULL && s->hooks->on_epoch != NULL)
        s->hooks->on_epoch(s->hooks->context, &shown);
}

static parsrec_status draw(const pr_train_result *result, const paths *p, parsrec_error *err)
{
    parsrec_epoch *epochs = pr_alloc(result->epoch_count, sizeof *epochs);
    if (epochs == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < result->epoch_count; i++)
        epochs[i] = public_epoch(&result->epochs[i]);
    parsrec_status status = pr_learning_curves(epochs, result->epoch_count, p->png, p->svg, err);
    pr_free(epochs);
    return status;
}

/* The model is written already: an error here is a warning, and so is a request to stop. */
static void compare_with_counts(call *s, const pr_model *model, parsrec_train_report *report)
{
    parsrec_error err = {0};
    if (s->skip_baselines || !s->writes)
        return;
    if (pr_baselines(&report->baselines, model, s->data, PR_VALID, s->pool, s->hooks, &err) !=
        PARSREC_OK)
        pr_say(s->hooks, PARSREC_LOG_WARNING,
               "the model is written, but it was not compared with counting models: %s",
               err.message);
    pr_run_log_baselines(&s->log, &report->baselines);
}

/* With ranks, all of them come here together. First what takes all of them: rank 0 writes the model
 * while the others hand in the rows of their users, and gets the rows of those whom it will
 * evaluate alone. Then they part, and rank 0 writes the rest. */
static parsrec_status write_results(const call *s, pr_train_result *result,
                                    parsrec_train_report *report, parsrec_error *err)
{
    pr_model *model = result->model;
    /* Before the model: where one stands, a run that was killed is not taken up again to draw. */
    if (s->writes && draw(result, &s->paths, err) != PARSREC_OK && err != NULL)
        pr_say(s->hooks, PARSREC_LOG_WARNING, "the learning curves: %s", err->message);
    if (s->writes)
        PR_TRY(pr_model_save(model, s->data, s->out_path, err));
    else if (model->user_rows != NULL)
        PR_TRY(pr_user_rows_hand_in(model->user_rows, model, model->weights, err));
    if (!s->skip_baselines) { /* on validation sessions, which the model just written may know */
        pr_aside_exchange(&result->aside, model);
        PR_TRY(pr_baselines_bring(model, s->data, PR_VALID, err));
    }
    parsrec_ranks_close(s->plan.ranks);
    if (!s->writes)
        return PARSREC_OK;
    if (!s->keep_checkpoint)
        unlink(s->paths.checkpoint.text); /* the model is safe now */
    *report = (parsrec_train_report){
        .epochs = (uint32_t)result->epoch_count,
        .best_epoch = result->best_epoch,
        .stopped_early = result->stopped_early,
        .best = public_epoch(&result->epochs[result->best_epoch - 1]),
        .best_by = result->best_by,
        .memory = result->memory,
        .memory_least = result->memory_least,
    };
    return PARSREC_OK;
}

/* ---- the run ---- */

static parsrec_status run(call *s, parsrec_train_report *report, parsrec_error *err)
{
    pr_train_listener listener = {s, on_begin, on_epoch};
    pr_train_result result;
    parsrec_error why = {0};
    const char *event = "finished", *message = "the model is written";
    parsrec_status status =
        pr_train(&result, s->data, &s->plan, s->pool, &listener, s->hooks, &why);
    if (status == PARSREC_OK)
        status = write_results(s, &result, report, &why);
    if (status == PARSREC_OK)
        compare_with_counts(s, result.model, report);
    else if (status == PARSREC_E_STOPPED && access(s->paths.checkpoint.text, F_OK) == 0)
        snprintf(report->checkpoint, sizeof report->checkpoint, "%.4095s",
                 s->paths.checkpoint.text);
    pr_train_result_free(&result);
    /* All ranks stop or diverge together, so all of them make this call. */
    if (status == PARSREC_E_STOPPED || status == PARSREC_E_DIVERGED)
        status = parsrec_ranks_agree(s->plan.ranks, status, &why);
    if (status != PARSREC_OK) {
        event = status == PARSREC_E_STOPPED ? "stopped" : "failed";
        message = why.message;
        if (err != NULL)
            *err = why;
    }
    pr_run_log_end(&s->log, event, message);
    pr_run_log_close(&s->log);
    return status;
}

/* ---- models that count ---- */

/* A model that counts has no checkpoint, so a resumed run always learns. */
static bool counts(const pr_train_plan *plan)
{
    return plan->resume == NULL && parsrec_model_counts(plan->kind);
}

static parsrec_status check_counting(const parsrec_train_options *o, parsrec_error *err)
{
    if (o->ranks != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the model '%s' counts in one pass, which is not divided among ranks; start "
                       "it without a launcher",
                       o->model);
    if (o->epochs == 0 && o->patience == 0 && o->max_memory == 0)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "the model '%s' counts in one pass; leave out --epochs, --patience and "
                   "--max-memory",
                   o->model);
}

/* Everything before the test sessions is counted; an evaluation counts again for its own split. */
static parsrec_status count(call *s, parsrec_train_report *report, parsrec_error *err)
{
    pr_scope scope = pr_scope_before(PR_TEST, (size_t)s->plan.config.last);
    pr_model *model;
    PR_TRY(pr_count_model(&model, s->plan.kind, &s->plan.config, s->data, &scope, s->pool, s->hooks,
                          err));
    on_begin(s, model, s->plan.seed);
    parsrec_status status = pr_model_save(model, s->data, s->out_path, err);
    if (status == PARSREC_OK)
        compare_with_counts(s, model, report);
    pr_run_log_end(&s->log, status == PARSREC_OK ? "finished" : "failed",
                   status == PARSREC_OK ? "the model is written" : "the model cannot be written");
    pr_run_log_close(&s->log);
    pr_model_free(model);
    return status;
}

/* Whether the model can be written is better known before the training than after it. */
static parsrec_status try_output(const char *path, bool ranks, parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_atomic_open(&file, path, err));
    bool plain = pr_atomic_temporary(file) != NULL;
    pr_atomic_abort(file);
    if (ranks && !plain)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: several ranks write a plain file; name one",
                       path);
    return PARSREC_OK;
}

static parsrec_status make_plan(pr_train_plan *plan, const parsrec_train_options *o,
                                parsrec_error *err)
{
    *plan = (pr_train_plan){.kind = pr_train_kind(o),
                            .seed = o->seed,
                            .patience = (size_t)o->patience,
                            .checkpoint_seconds = o->checkpoint_minutes * 60,
                            .resume = o->resume};
    if (o->resume == NULL)
        return pr_train_settings(&plan->config, o, err);
    if (o->model != NULL || o->preset != NULL || o->config_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "a resumed run keeps its model and settings; leave out --model, --preset "
                       "and --config");
    PR_TRY(pr_train_settings(&plan->config, o, err)); /* whether the changes can be read at all */
    plan->set = o->set;
    plan->set_count = o->set_count;
    plan->epochs = (size_t)o->epochs;
    return PARSREC_OK;
}

/* Everything that can be wrong before the data are looked at; then pager and pool are made. */
static parsrec_status prepare(call *s, const parsrec_train_options *options, parsrec_error *err)
{
    PR_TRY(make_plan(&s->plan, options, err));
    if (counts(&s->plan))
        PR_TRY(check_counting(options, err));
    PR_TRY(make_paths(&s->paths, s->out_path, err));
    s->plan.checkpoint = s->paths.checkpoint.text;
    s->plan.ranks = options->ranks;
    if (s->writes)
        PR_TRY(try_output(s->out_path, options->ranks != NULL, err));
    if (options->max_memory > 0) {
        s->plan.max_memory = options->max_memory;
        s->plan.storage = &s->storage;
        PR_TRY(pr_pager_new(&s->storage.pager, s->out_path, options->max_memory, err));
    }
    return pr_pool_new(&s->pool, options->threads, err);
}

parsrec_status parsrec_train(const parsrec_data *data, const char *out_path,
                             const parsrec_train_options *options, parsrec_train_report *report,
                             const parsrec_hooks *hooks, parsrec_error *err)
{
    if (data == NULL || out_path == NULL || options == NULL || strcmp(out_path, "-") == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "training needs data, a file to write and options");
    parsrec_train_report unused;
    bool writes = parsrec_ranks_rank(options->ranks) == 0;
    call s = {.data = data,
              .out_path = out_path,
              .hooks = writes ? hooks : NULL,
              .keep_checkpoint = options->keep_checkpoint,
              .skip_baselines = options->skip_baselines,
              .writes = writes};
    report = report != NULL ? report : &unused;
    *report = (parsrec_train_report){.best_by = ""};
    pr_derived seen = {0};
    parsrec_status status = prepare(&s, options, err);
    if (status == PARSREC_OK && data->by_users) {
        /* Users who test do not get into the model file. */
        status = pr_dataset_without_tests(&seen, data, err);
        s.data = &seen.data;
    }
    status = parsrec_ranks_agree(options->ranks, status, err);
    if (status == PARSREC_OK)
        status = counts(&s.plan) ? count(&s, report, err) : run(&s, report, err);
    pr_pager_free(s.storage.pager);
    pr_derived_free(&seen);
    pr_pool_free(s.pool);
    return status;
}

/* ---- counting models in memory ---- */

static parsrec_status count_into(parsrec_model *model, const parsrec_data *data,
                                 const parsrec_train_options *options, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    pr_config config;
    pr_pool *pool;
    PR_TRY(pr_train_settings(&config, options, err));
    PR_TRY(pr_directory_init(&model->directory, data, err));
    model->pasts = pr_histories_of(data);
    PR_TRY(pr_model_count_popular(model, err));
    PR_TRY(pr_pool_new(&pool, options->threads, err));
    pr_scope scope = pr_scope_before(PR_TEST, (size_t)config.last);
    parsrec_status status =
        pr_count_model(&model->file.model, options->model, &config, data, &scope, pool, hooks, err);
    pr_pool_free(pool);
    return status;
}

bool parsrec_model_counts(const char *kind)
{
    const pr_model_kind *known = kind != NULL ? pr_model_kind_named(kind) : NULL;
    return known != NULL && known->count != NULL;
}

parsrec_status parsrec_model_count(parsrec_model **out, const parsrec_data *data,
                                   const parsrec_train_options *options, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    if (out == NULL || data == NULL || options == NULL || options->model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_model_count needs out, data and a kind");
    *out = NULL;
    parsrec_model *model = pr_alloc_zero(1, sizeof *model);
    if (model == NULL)
        return pr_fail_memory(err);
    pr_blas_load();
    model->borrows_data = true;
    model->file.data = (pr_dataset *)(uintptr_t)data; /* only read, and never freed */
    parsrec_status status = count_into(model, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        parsrec_model_free(model);
    return status;
}
