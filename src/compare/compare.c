/* A comparison from the beginning to its reports. */
#include "compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "compare/preset.h"
#include "compare/rounds.h"
#include "data/dataset_edit.h"
#include "model/model.h"

enum { TEST_RESAMPLES = 10000, SEEDS_MOST = 1000 };

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

/* What every table has: a model that is not ahead of these has learnt nothing they do not know. */
static const char *const counts[] = {"personal", "recent", "markov", "mix"};

/* The list of models: as given or as the preset has it, and the counts. */
static parsrec_status read_list(parsrec_comparison *c, const parsrec_compare_options *o,
                                const pr_preset *preset, parsrec_error *err)
{
    const char *models = o->models != NULL ? o->models : preset != NULL ? preset->models : NULL;
    if (models == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "which models? pass --models pop,personal,parsrec or a --preset");
    PR_TRY(pr_model_list_read(&c->list, models, err));
    for (size_t i = 0; i < sizeof counts / sizeof *counts && !o->only_listed; i++)
        PR_TRY(pr_model_list_add(&c->list, counts[i], err));
    return PARSREC_OK;
}

parsrec_status pr_comparison_begin(parsrec_comparison *c, const char *data_path, const char *folder,
                                   const parsrec_compare_options *o, parsrec_error *err)
{
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
    if (o->seeds < 1 || o->seeds > SEEDS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there can be 1 to %d seeds", SEEDS_MOST);
    PR_TRY(copy_words(c, data_path, folder, o, err));
    return pr_comparison_columns(c, o->measure, err);
}

parsrec_status pr_comparison_run(parsrec_comparison *c, const parsrec_data *data,
                                 const parsrec_compare_options *o, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    if (c->stats.synthetic && pr_model_kind_named("oracle") != NULL)
        PR_TRY(pr_model_list_add(&c->list, "oracle", err));
    pr_recipe recipe = {.epochs = o->epochs,
                        .patience = o->patience,
                        .seed = o->seed,
                        .seeds = o->seeds,
                        .last = o->eval.last,
                        .threads = o->eval.threads,
                        .retrain = o->retrain};
    return pr_comparison_rounds(c, data, &recipe, (unsigned)o->jobs, hooks, err);
}

/* Models that would have to be trained cannot be compared on data that were fitted to another one. */
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

/* Model files may have been trained on earlier data: users and items get the numbers of the first one, which
 * is kept in *model as long as the data are used. */
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

parsrec_status pr_compare(parsrec_comparison *c, const char *data_path, const char *folder,
                          const parsrec_compare_options *o, const parsrec_hooks *hooks,
                          parsrec_error *err)
{
    const pr_preset *preset = NULL;
    parsrec_data *data;
    if (o->preset != NULL)
        PR_TRY(pr_preset_find(&preset, o->preset, err));
    if (data_path == NULL && preset == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "which data set? name one, or pass a --preset");
    PR_TRY(pr_comparison_begin(c, data_path, folder, o, err));
    PR_TRY(read_list(c, o, preset, err));
    if (data_path == NULL) {
        PR_TRY(pr_folder_make(folder, err));
        PR_TRY(pr_preset_data(preset, c->data_path, o->seed, o->eval.threads, hooks, err));
    }
    PR_TRY(parsrec_data_load(&data, c->data_path, err));
    if (o->split) {
        parsrec_status split = parsrec_data_split_at(data, o->split_at, err);
        if (split != PARSREC_OK)
            parsrec_data_free(data);
        PR_TRY(split);
    }
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

void pr_comparison_clear(parsrec_comparison *c)
{
    for (size_t row = 0; row < c->count; row++)
        pr_contender_clear(&c->rows[row]);
    pr_free(c->rows);
    pr_free(c->users);
    pr_free(c->data_path);
    pr_free(c->folder);
    pr_free(c->command);
    pr_model_list_free(&c->list);
}
