/* The presets, and their data. */
#include "compare/preset.h"

#include <string.h>
#include <unistd.h>

#include "base/hooks.h"
#include "base/text.h"
#include "synth/truth.h"

/* The paper's models, and the count of a user's own purchases, which it leaves out. The oracle joins
 * them on all synthetic data. */
#define PAPER_MODELS "pop,personal,sasrec,bert4rec,paper=parsrec:preset=paper,parsrec"

static const pr_preset presets[] = {
    {"paper-small", PAPER_MODELS, 1024, 100},
    {"paper-synthetic", PAPER_MODELS, 8192, 170},
};

parsrec_status pr_preset_find(const pr_preset **out, const char *name, parsrec_error *err)
{
    pr_excerpt hold;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        *out = &presets[i];
        if (strcmp(presets[i].name, name) == 0)
            return PARSREC_OK;
    }
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "there is no preset %s; there are: paper-small, paper-synthetic",
                   pr_show(&hold, pr_slice_of(name)));
}

static parsrec_synth_options options_of(const pr_preset *preset, uint64_t seed)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.users = preset->users;
    o.sessions = preset->sessions;
    o.seed = seed;
    return o;
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

parsrec_status pr_preset_data(const pr_preset *preset, const char *path, uint64_t seed,
                              unsigned threads, const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_synth_options o = options_of(preset, seed);
    o.threads = threads;
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
                   path, preset->name, (unsigned long long)seed);
}
