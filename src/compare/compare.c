/* The order of work: everything that can be wrong is found before the first training begins, what
 * needs no training is evaluated first, and every model is finished before the next. */
#include "compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "compare/contender.h"
#include "compare/named_hooks.h"
#include "compare/preset.h"
#include "model/model.h"

enum { TEST_RESAMPLES = 10000 };

/* ---- all models ---- */

static parsrec_status finish_row(parsrec_comparison *c, size_t row, pr_task_kind task,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_named_hooks named;
    pr_named_hooks_init(&named, hooks, c->rows[row].entry->name, row + 1, c->count);
    if (task != PR_CONTENDER_READY) {
        pr_say(&named.hooks, PARSREC_LOG_INFO, "%s (model %zu of %zu)",
               task == PR_CONTENDER_RESUME ? "training goes on" : "training", row + 1, c->count);
        PR_TRY(pr_contender_train(&c->rows[row], task, data, recipe, &named.hooks, err));
    }
    return pr_contender_evaluate(c, &c->rows[row], data, recipe, &named.hooks, err);
}

static parsrec_status finish_rows(parsrec_comparison *c, const pr_task_kind *tasks,
                                  const parsrec_data *data, const pr_recipe *recipe,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    c->first = PR_NONE;
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = 0; row < c->count; row++) {
            if ((tasks[row] == PR_CONTENDER_READY) != (pass == 0))
                continue;
            if (c->first == PR_NONE)
                c->first = row;
            PR_TRY(finish_row(c, row, tasks[row], data, recipe, hooks, err));
        }
    return PARSREC_OK;
}

static parsrec_status run_models(parsrec_comparison *c, const parsrec_data *data,
                                 const pr_recipe *recipe, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    c->count = c->list.count;
    c->rows = pr_alloc_zero(c->count, sizeof *c->rows);
    pr_task_kind *tasks = pr_alloc(c->count, sizeof *tasks);
    if (c->rows == NULL || tasks == NULL) {
        c->count = 0;
        pr_free(tasks);
        return pr_fail_memory(err);
    }
    for (size_t row = 0; row < c->count; row++)
        c->rows[row].entry = &c->list.entries[row];
    for (size_t row = 0; row < c->count; row++)
        PR_TRY_GOTO(pr_contender_plan(&c->rows[row], &tasks[row], c, data, recipe, hooks, err));
    PR_TRY_GOTO(pr_folder_make(c->folder, err)); /* not before all else is known to be right */
    status = finish_rows(c, tasks, data, recipe, hooks, err);
done:
    pr_free(tasks);
    return status;
}

static parsrec_status judge(parsrec_comparison *c, parsrec_error *err)
{
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, c->eval.threads, err));
    parsrec_status status = pr_comparison_judge(c, pool, err);
    pr_pool_free(pool);
    return status;
}

/* ---- reports ---- */

static parsrec_status write_report(const parsrec_comparison *c, const char *name,
                                   parsrec_text_kind kind, parsrec_error *err)
{
    char path[4200];
    pr_writer out = {0};
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    parsrec_status status = pr_comparison_write(&out, c, kind, err);
    if (status == PARSREC_OK)
        return pr_writer_save(&out, path, err);
    pr_writer_free(&out);
    return status;
}

parsrec_status pr_comparison_write(pr_writer *out, const parsrec_comparison *c,
                                   parsrec_text_kind kind, parsrec_error *err)
{
    switch (kind) {
    case PARSREC_TEXT_PLAIN:
    case PARSREC_TEXT_TERMINAL:
        pr_table_text(out, c, kind == PARSREC_TEXT_TERMINAL);
        break;
    case PARSREC_TEXT_MARKDOWN:
        pr_table_markdown(out, c);
        break;
    case PARSREC_TEXT_CSV:
        pr_report_csv(out, c);
        break;
    case PARSREC_TEXT_JSON:
    case PARSREC_TEXT_JSON_MODELS:
        PR_TRY(pr_report_json(out, c, kind == PARSREC_TEXT_JSON_MODELS, err));
        break;
    case PARSREC_TEXT_HTML:
        PR_TRY(pr_report_html(out, c, err));
        break;
    }
    return out->failed ? pr_fail_memory(err) : PARSREC_OK;
}

static parsrec_status write_reports(const parsrec_comparison *c, parsrec_error *err)
{
    PR_TRY(write_report(c, "report.md", PARSREC_TEXT_MARKDOWN, err));
    PR_TRY(write_report(c, "report.csv", PARSREC_TEXT_CSV, err));
    PR_TRY(write_report(c, "report.json", PARSREC_TEXT_JSON, err));
    return write_report(c, "report.html", PARSREC_TEXT_HTML, err);
}

/* ---- from the beginning ---- */

static parsrec_status copy_words(parsrec_comparison *c, const char *data_path, const char *folder,
                                 const parsrec_compare_options *o, parsrec_error *err)
{
    char path[4096];
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
    return PARSREC_OK;
}

/* The list of models: as given or as the preset has it. */
static parsrec_status read_list(parsrec_comparison *c, const parsrec_compare_options *o,
                                const pr_preset *preset, parsrec_error *err)
{
    const char *models = o->models != NULL ? o->models : preset != NULL ? preset->models : NULL;
    if (models == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "which models? pass --models pop,personal,parsrec or a --preset");
    return pr_model_list_read(&c->list, models, err);
}

static parsrec_status compare_on(parsrec_comparison *c, const parsrec_data *data,
                                 const parsrec_compare_options *o, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    PR_TRY(parsrec_data_statistics(data, &c->stats, err));
    if (c->stats.synthetic && pr_model_kind_named("oracle") != NULL)
        PR_TRY(pr_model_list_add(&c->list, "oracle", err));
    pr_recipe recipe = {.epochs = o->epochs,
                        .patience = o->patience,
                        .seed = o->seed,
                        .last = o->eval.last,
                        .threads = o->eval.threads,
                        .retrain = o->retrain};
    PR_TRY(run_models(c, data, &recipe, hooks, err));
    return judge(c, err);
}

parsrec_status pr_compare(parsrec_comparison *c, const char *data_path, const char *folder,
                          const parsrec_compare_options *o, const parsrec_hooks *hooks,
                          parsrec_error *err)
{
    double began = pr_now();
    const pr_preset *preset = NULL;
    parsrec_data *data;
    c->eval = o->eval;
    c->seed = o->seed;
    c->resampling = c->testing = pr_resampling_default();
    c->testing.resamples = TEST_RESAMPLES;
    if (o->preset != NULL)
        PR_TRY(pr_preset_find(&preset, o->preset, err));
    if (data_path == NULL && preset == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "which data set? name one, or pass a --preset");
    PR_TRY(copy_words(c, data_path, folder, o, err));
    PR_TRY(read_list(c, o, preset, err));
    PR_TRY(pr_comparison_columns(c, o->measure, err));
    if (data_path == NULL) {
        PR_TRY(pr_folder_make(folder, err));
        PR_TRY(pr_preset_data(preset, c->data_path, o->seed, o->eval.threads, hooks, err));
    }
    PR_TRY(parsrec_data_load(&data, c->data_path, err));
    parsrec_status status = compare_on(c, data, o, hooks, err);
    parsrec_data_free(data);
    PR_TRY(status);
    c->seconds = pr_now() - began;
    return write_reports(c, err);
}

void pr_comparison_clear(parsrec_comparison *c)
{
    for (size_t row = 0; row < c->count; row++) {
        pr_free(c->rows[row].tallies);
        pr_free(c->rows[row].intervals);
        pr_learning_free(&c->rows[row].learning);
    }
    pr_free(c->rows);
    pr_free(c->users);
    pr_free(c->data_path);
    pr_free(c->folder);
    pr_free(c->command);
    pr_model_list_free(&c->list);
}
