/* Training for the public: settings, the files beside a model, curves. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "plot/curves.h"
#include "train/model_file.h"
#include "train/run_log.h"
#include "train/train.h"

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

static parsrec_status gather_config(pr_config *config, const parsrec_train_options *o,
                                    parsrec_error *err)
{
    *config = pr_config_default();
    if (o->preset != NULL)
        PR_TRY(pr_config_preset(config, o->preset, err));
    if (o->config_path != NULL)
        PR_TRY(read_config_file(config, o->config_path, err));
    for (size_t i = 0; i < o->set_count; i++)
        PR_TRY(pr_config_assign(config, o->set[i], err));
    if (o->epochs > 0)
        config->epochs = o->epochs < 100000 ? (int)o->epochs : 100000;
    return pr_config_check(config, err);
}

parsrec_status parsrec_config_text(char **out, const parsrec_train_options *options,
                                   parsrec_error *err)
{
    pr_config config;
    *out = NULL;
    PR_TRY(gather_config(&config, options, err));
    *out = pr_config_text(&config);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* ---- curves ---- */

enum { MEASURES = 3 };

/* The columns of all epochs, so that each can be a curve. */
typedef struct columns {
    double *block, *number, *loss, *measure[MEASURES];
    pr_curve losses[1], measures[MEASURES];
    pr_panel panels[2];
} columns;

static const char *const measure_names[MEASURES] = {"HR@10", "NDCG@10", "Sess-Prec@10"};

static parsrec_status make_columns(columns *c, const parsrec_epoch *epochs, size_t count,
                                   parsrec_error *err)
{
    c->block = pr_alloc(count * (2 + MEASURES), sizeof *c->block);
    if (c->block == NULL)
        return pr_fail_memory(err);
    c->number = c->block;
    c->loss = c->block + count;
    c->losses[0] = (pr_curve){"training", c->number, c->loss, count};
    for (size_t m = 0; m < MEASURES; m++) {
        c->measure[m] = c->block + (2 + m) * count;
        c->measures[m] = (pr_curve){measure_names[m], c->number, c->measure[m], count};
    }
    for (size_t i = 0; i < count; i++) {
        c->number[i] = epochs[i].number;
        c->loss[i] = epochs[i].loss;
        c->measure[0][i] = epochs[i].hit_rate_10;
        c->measure[1][i] = epochs[i].ndcg_10;
        c->measure[2][i] = epochs[i].session_precision_10;
    }
    c->panels[0] = (pr_panel){"loss of a predicted item", c->losses, 1};
    c->panels[1] = (pr_panel){"validation", c->measures, MEASURES};
    return PARSREC_OK;
}

parsrec_status parsrec_curves_text(char **out, const parsrec_epoch *epochs, size_t count,
                                   size_t columns_wide, parsrec_error *err)
{
    columns c;
    PR_TRY(make_columns(&c, epochs, count, err));
    *out = pr_curves_text(&c.panels[1], columns_wide, 10);
    pr_free(c.block);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_epoch public_epoch(const pr_epoch *e)
{
    const size_t k = PR_CHOICE_CUTOFF;
    return (parsrec_epoch){.number = e->number,
                           .loss = e->loss,
                           .hit_rate_10 = e->valid.hit_rate[k],
                           .ndcg_10 = e->valid.ndcg[k],
                           .session_precision_10 = e->valid.session_precision[k],
                           .seconds = e->seconds,
                           .items_per_s = e->items_per_s};
}

/* ---- the run ---- */

typedef struct paths {
    char checkpoint[4096], log[4096], png[4096], svg[4096];
} paths;

static parsrec_status make_paths(paths *p, const char *out_path, parsrec_error *err)
{
    if (strlen(out_path) > sizeof p->log - 16)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the output path is too long");
    snprintf(p->checkpoint, sizeof p->checkpoint, "%s.ckpt", out_path);
    snprintf(p->log, sizeof p->log, "%s.log", out_path);
    snprintf(p->png, sizeof p->png, "%s.png", out_path);
    snprintf(p->svg, sizeof p->svg, "%s.svg", out_path);
    return PARSREC_OK;
}

typedef struct listener {
    pr_run_log log;
    const parsrec_hooks *hooks;
} listener;

static void on_epoch(void *context, const pr_epoch *epoch)
{
    listener *l = context;
    pr_run_log_epoch(&l->log, epoch);
    parsrec_epoch shown = public_epoch(epoch);
    if (l->hooks != NULL && l->hooks->on_epoch != NULL)
        l->hooks->on_epoch(l->hooks->context, &shown);
}

static parsrec_status draw_curves(const pr_train_result *result, const paths *p, parsrec_error *err)
{
    parsrec_epoch *epochs = pr_alloc(result->epoch_count, sizeof *epochs);
    columns c = {0};
    if (epochs == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < result->epoch_count; i++)
        epochs[i] = public_epoch(&result->epochs[i]);
    parsrec_status status = make_columns(&c, epochs, result->epoch_count, err);
    pr_curves chart = {"Learning curves", "epoch", c.panels, 2};
    if (status == PARSREC_OK)
        status = pr_curves_draw(&chart, p->png, err);
    if (status == PARSREC_OK)
        status = pr_curves_draw(&chart, p->svg, err);
    pr_free(c.block);
    pr_free(epochs);
    return status;
}

static parsrec_status write_results(const pr_train_result *result, const parsrec_data *data,
                                    const char *out_path, const paths *p,
                                    parsrec_train_report *report, parsrec_error *err)
{
    PR_TRY(pr_model_save(result->model, data, out_path, err));
    PR_TRY(draw_curves(result, p, err));
    unlink(p->checkpoint); /* the model is safe now */
    *report = (parsrec_train_report){
        .epochs = (uint32_t)result->epoch_count,
        .best_epoch = result->best_epoch,
        .stopped_early = result->stopped_early,
        .best = public_epoch(&result->epochs[result->best_epoch - 1]),
    };
    return PARSREC_OK;
}

static parsrec_status run(const parsrec_data *data, const char *out_path, const paths *p,
                          const pr_train_plan *plan, pr_pool *pool, parsrec_train_report *report,
                          const parsrec_hooks *hooks, parsrec_error *err)
{
    listener l = {.hooks = hooks};
    pr_train_result result;
    parsrec_error why = {0};
    PR_TRY(pr_run_log_open(&l.log, p->log, plan->resume != NULL, err));
    pr_run_log_begin(&l.log, data, plan, pr_pool_threads(pool));
    parsrec_status status = pr_train(&result, data, plan, pool, on_epoch, &l, hooks, &why);
    if (status == PARSREC_OK)
        status = write_results(&result, data, out_path, p, report, &why);
    else if (status == PARSREC_E_STOPPED)
        snprintf(report->checkpoint, sizeof report->checkpoint, "%s", p->checkpoint);
    pr_train_result_free(&result);
    pr_run_log_end(&l.log,
                   status == PARSREC_OK          ? "finished"
                   : status == PARSREC_E_STOPPED ? "stopped"
                                                 : "failed",
                   status == PARSREC_OK ? "the model is written" : why.message);
    pr_run_log_close(&l.log);
    if (status != PARSREC_OK && err != NULL)
        *err = why;
    return status;
}

parsrec_status parsrec_train(const parsrec_data *data, const char *out_path,
                             const parsrec_train_options *options, parsrec_train_report *report,
                             const parsrec_hooks *hooks, parsrec_error *err)
{
    if (data == NULL || out_path == NULL || options == NULL || strcmp(out_path, "-") == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "training needs data, a file to write and options");
    parsrec_train_report unused;
    paths p;
    pr_train_plan plan = {.kind = options->model != NULL ? options->model : "parsrec",
                          .seed = options->seed,
                          .patience = (size_t)options->patience,
                          .checkpoint_seconds = options->checkpoint_minutes * 60,
                          .checkpoint = p.checkpoint,
                          .resume = options->resume};
    report = report != NULL ? report : &unused;
    *report = (parsrec_train_report){0};
    PR_TRY(make_paths(&p, out_path, err));
    PR_TRY(gather_config(&plan.config, options, err));
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, options->threads, err));
    parsrec_status status = run(data, out_path, &p, &plan, pool, report, hooks, err);
    pr_pool_free(pool);
    return status;
}
