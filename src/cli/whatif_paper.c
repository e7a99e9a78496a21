/* The paper's scenario in a folder: groups.json, data.st, model-1.st, model-2.st, ... Files that exist
 * and fit are used; the others are made. */
#include "cli/whatif_paper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/writer.h"

enum { PATH_BYTES = 4200, MODELS_MOST = 20 };

/* C0 and C2 with covariance .6, C1 and 17 more categories independent; in B all are. */
static const char groups_text[] = "{\"groups\": [\n"
                                  "  {\"name\": \"A\", \"share\": 0.5, \"blocks\": [[[1, 0, 0.6], "
                                  "[0, 1, 0], [0.6, 0, 1]], 17]},\n"
                                  "  {\"name\": \"B\", \"share\": 0.5, \"blocks\": [20]}\n"
                                  "]}\n";

cli_whatif_paper_options cli_whatif_paper_default(void)
{
    return (cli_whatif_paper_options){
        .users = 1024, .sessions = 100, .models = 1, .epochs = 40, .seed = 1};
}

typedef struct preset_run {
    const char *folder;
    const cli_whatif_paper_options *paper;
    const parsrec_hooks *hooks;
    unsigned threads;
    parsrec_data *data;
    parsrec_model *models[MODELS_MOST];
} preset_run;

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- data ---- */

static parsrec_synth_options wanted(const preset_run *w)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.users = w->paper->users;
    o.sessions = w->paper->sessions;
    o.outside = w->paper->outside;
    o.seed = w->paper->seed;
    o.threads = w->threads;
    return o;
}

static parsrec_status make_data(const preset_run *w, const char *path, parsrec_error *err)
{
    char groups[PATH_BYTES];
    parsrec_synth_options o = wanted(w);
    pr_writer text = {0};
    snprintf(groups, sizeof groups, "%s/groups.json", w->folder);
    pr_write(&text, "%s", groups_text);
    PR_TRY(pr_writer_save(&text, groups, err));
    o.groups_path = groups;
    pr_say(w->hooks, PARSREC_LOG_INFO, "%s: synthesising %llu users with %llu sessions each", path,
           (unsigned long long)o.users, (unsigned long long)o.sessions);
    return parsrec_synth(path, &o, NULL, w->hooks, err);
}

static parsrec_status check_data(const preset_run *w, const char *path, parsrec_error *err)
{
    parsrec_synth_options has, o = wanted(w);
    PR_TRY(parsrec_synth_options_of(w->data, &has, err));
    if (has.users == o.users && has.sessions == o.sessions && has.outside == o.outside &&
        has.seed == o.seed)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "%s holds other data (%llu users, %llu sessions, seed %llu%s); choose another "
                   "folder, or the same settings",
                   path, (unsigned long long)has.users, (unsigned long long)has.sessions,
                   (unsigned long long)has.seed, has.outside ? ", outside" : "");
}

/* ---- models ---- */

static parsrec_status train(const preset_run *w, size_t number, const char *path,
                            parsrec_error *err)
{
    pr_path hold;
    const char *checkpoint = pr_checkpoint_path(&hold, path);
    parsrec_train_options o = parsrec_train_default();
    o.epochs = w->paper->epochs;
    o.seed = w->paper->seed + number;
    o.threads = w->threads;
    o.skip_baselines = true;
    o.preset = "paper"; /* the paper's scenario, and its model */
    if (there(checkpoint)) {
        o.resume = checkpoint;
        o.preset = NULL;
    }
    pr_say(w->hooks, PARSREC_LOG_INFO, "%s: training, model %zu of %llu, %s", path, number + 1,
           (unsigned long long)w->paper->models, o.resume != NULL ? "resumed" : "from the start");
    return parsrec_train(w->data, path, &o, NULL, w->hooks, err);
}

/* A finished model must have been trained as long as is wanted now. */
static parsrec_status check_model(const preset_run *w, const parsrec_model *model, const char *path,
                                  parsrec_error *err)
{
    parsrec_setting setting;
    for (size_t i = 0; parsrec_model_setting(model, i, &setting); i++)
        if (strcmp(setting.key, "epochs") == 0 &&
            strtoull(setting.value, NULL, 10) != w->paper->epochs)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s was trained for %s epochs, not %llu; choose another folder, or the "
                           "same --epochs",
                           path, setting.value, (unsigned long long)w->paper->epochs);
    return PARSREC_OK;
}

static parsrec_status get_models(preset_run *w, parsrec_error *err)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < w->paper->models; i++) {
        snprintf(path, sizeof path, "%s/model-%zu.st", w->folder, i + 1);
        if (!there(path))
            PR_TRY(train(w, i, path, err));
        PR_TRY(parsrec_model_load(&w->models[i], path, err));
        PR_TRY(check_model(w, w->models[i], path, err));
    }
    return PARSREC_OK;
}

/* ---- the answer ---- */

static parsrec_status ask(parsrec_whatif_answer **out, const preset_run *w,
                          const parsrec_whatif_options *options, parsrec_error *err)
{
    static const char *const drop[] = {"category=C0"}, *const groups[] = {"truth"};
    static const char *const watch[] = {"category=C1", "category=C2"};
    parsrec_whatif_options o = *options;
    if (o.drop_count + o.only_count + o.add_count == 0) {
        o.drop = drop;
        o.drop_count = 1;
        o.watch = o.watch_count > 0 ? o.watch : watch;
        o.watch_count = o.watch_count > 0 ? o.watch_count : 2;
    }
    if (o.group_count == 0) {
        o.groups = groups;
        o.group_count = 1;
    }
    const parsrec_model *models[MODELS_MOST];
    for (size_t i = 0; i < w->paper->models; i++)
        models[i] = w->models[i];
    return parsrec_whatif(out, models, (size_t)w->paper->models, w->data, &o, w->hooks, err);
}

parsrec_status cli_whatif_paper(parsrec_whatif_answer **out, const char *folder,
                                const cli_whatif_paper_options *paper,
                                const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    *out = NULL;
    if (paper->models < 1 || paper->models > MODELS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "from 1 to %d models can be trained", MODELS_MOST);
    preset_run w = {.folder = folder, .paper = paper, .hooks = hooks, .threads = options->threads};
    parsrec_status status;
    PR_TRY_GOTO(pr_folder_make(folder, err));
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/data.st", w.folder);
    if (!there(path))
        PR_TRY_GOTO(make_data(&w, path, err));
    PR_TRY_GOTO(parsrec_data_load(&w.data, path, err));
    PR_TRY_GOTO(check_data(&w, path, err));
    PR_TRY_GOTO(get_models(&w, err));
    status = ask(out, &w, options, err);
done:
    for (size_t i = 0; i < MODELS_MOST; i++)
        parsrec_model_free(w.models[i]);
    parsrec_data_free(w.data);
    return status;
}
