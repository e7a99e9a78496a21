/* Trains what is missing. Whether a model in the folder is the one wanted is told by its checkpoint
 * or, for a finished one, by the log beside it. */
#include "compare/contender.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "model/model.h"
#include "train/train.h"

/* ---- what is wanted ---- */

/* The strings live in the entry, `last` and `set` in the caller. */
typedef struct order {
    parsrec_train_options train;
    const char *set[PR_ENTRY_SETTINGS + 1];
    char last[32];
} order;

/* An entry's own number of epochs goes before the one for all. */
static bool sets_epochs(const pr_listed_model *e)
{
    for (size_t i = 0; i < e->set_count; i++)
        if (strncmp(e->set[i], "epochs=", 7) == 0)
            return true;
    return false;
}

static void make_order(order *o, const pr_listed_model *e, const pr_recipe *recipe, uint64_t seed,
                       bool counts)
{
    o->train = parsrec_train_default();
    o->train.model = e->kind;
    o->train.preset = e->preset;
    o->train.epochs = counts || sets_epochs(e) ? 0 : recipe->epochs;
    o->train.patience = counts ? 0 : recipe->patience;
    o->train.seed = seed;
    o->train.threads = recipe->threads;
    o->train.set = o->set;
    for (size_t i = 0; i < e->set_count; i++)
        o->set[o->train.set_count++] = e->set[i];
    if (recipe->last > 0) {
        snprintf(o->last, sizeof o->last, "last=%llu", (unsigned long long)recipe->last);
        o->set[o->train.set_count++] = o->last;
    }
}

static parsrec_status wanted_config(pr_config *config, const pr_listed_model *e, const order *o,
                                    parsrec_error *err)
{
    parsrec_error why = {0};
    parsrec_status status = pr_train_settings(config, &o->train, &why);
    return status == PARSREC_OK ? status
                                : pr_fail(err, status, "the model %s: %s", e->name, why.message);
}

/* ---- the plan ---- */

static parsrec_status refuse(const char *path, const pr_listed_model *e, const char *reason,
                             parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_CONFIG,
                   "%s was made otherwise (%s); pass --retrain to make it again, give the model "
                   "another name (NAME=%s), or take the file as it is (%s=@%s)",
                   path, reason, e->kind, e->name, path);
}

static parsrec_status remove_old(const pr_listed_model *e, pr_attempt *a, const char *checkpoint,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    if ((unlink(checkpoint) != 0 && access(checkpoint, F_OK) == 0) ||
        (unlink(a->path) != 0 && access(a->path, F_OK) == 0))
        return pr_fail_errno(err, PARSREC_E_IO, "%s: the old model cannot be removed", a->path);
    pr_say(hooks, PARSREC_LOG_INFO, "%s: the model that was there is made again", e->name);
    a->task = PR_CONTENDER_TRAIN;
    return PARSREC_OK;
}

static parsrec_status look_into_folder(const pr_listed_model *e, pr_attempt *a,
                                       const parsrec_comparison *c, const parsrec_data *data,
                                       const order *o, const pr_config *wanted, bool retrain,
                                       const parsrec_hooks *hooks, parsrec_error *err)
{
    char reason[160] = "no log beside it tells how";
    pr_path hold;
    pr_run_record record = {0};
    const char *checkpoint = pr_checkpoint_path(&hold, a->path);
    bool interrupted = access(checkpoint, F_OK) == 0, finished = access(a->path, F_OK) == 0;
    a->task = interrupted ? PR_CONTENDER_RESUME
              : finished  ? PR_CONTENDER_READY
                          : PR_CONTENDER_TRAIN;
    if (a->task == PR_CONTENDER_TRAIN)
        return PARSREC_OK;
    parsrec_error why = {0};
    bool known = pr_run_record_read(&record, a->path, data, &why) == PARSREC_OK &&
                 record.source != PR_RECORD_NONE;
    bool fits = known && pr_run_record_fits(&record, wanted, &o->train, c->stats.checksum, reason,
                                            sizeof reason);
    pr_run_record_free(&record);
    if (fits)
        return PARSREC_OK;
    if (why.status == PARSREC_E_MEMORY)
        return pr_fail_memory(err);
    if (retrain)
        return remove_old(e, a, checkpoint, hooks, err);
    if (!known && interrupted)
        return pr_fail(err, why.status, "%s; pass --retrain to begin again", why.message);
    return refuse(interrupted ? checkpoint : a->path, e, reason, err);
}

/* The first seed's file bears the name alone, so that seeds can be added later. */
static parsrec_status make_path(pr_attempt *a, const pr_listed_model *e,
                                const parsrec_comparison *c, const pr_recipe *recipe,
                                parsrec_error *err)
{
    int n = e->path != NULL ? snprintf(a->path, sizeof a->path, "%s", e->path)
            : a->seed == recipe->seed
                ? snprintf(a->path, sizeof a->path, "%s/%s.st", c->folder, e->name)
                : snprintf(a->path, sizeof a->path, "%s/%s.seed%llu.st", c->folder, e->name,
                           (unsigned long long)a->seed);
    if (n < 0 || (size_t)n >= sizeof a->path)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the path of the model %s is too long", e->name);
    return PARSREC_OK;
}

static parsrec_status make_attempts(pr_contender *r, const parsrec_comparison *c, size_t count,
                                    const pr_recipe *recipe, parsrec_error *err)
{
    r->attempts = pr_alloc_zero(count, sizeof *r->attempts);
    if (r->attempts == NULL)
        return pr_fail_memory(err);
    r->attempt_count = count;
    for (size_t i = 0; i < count; i++) {
        r->attempts[i].seed = recipe->seed + i;
        PR_TRY(make_path(&r->attempts[i], r->entry, c, recipe, err));
    }
    return PARSREC_OK;
}

parsrec_status pr_contender_plan(pr_contender *r, const parsrec_comparison *c,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    const pr_listed_model *e = r->entry;
    pr_config wanted;
    if (e->path != NULL)
        return make_attempts(r, c, 1, recipe, err);
    const pr_model_kind *kind = pr_model_kind_named(e->kind);
    order o = {0};
    r->counts = kind != NULL && kind->count != NULL;
    make_order(&o, e, recipe, recipe->seed, r->counts);
    PR_TRY(wanted_config(&wanted, e, &o, err));
    if (!r->counts)
        PR_TRY(pr_train_bytes(&r->bytes, e->kind, &wanted, data, 1, err));
    PR_TRY(make_attempts(r, c, r->counts ? 1 : recipe->seeds, recipe, err));
    if (r->counts)
        r->attempts[0].path[0] = '\0';
    for (size_t i = 0; i < r->attempt_count && !r->counts; i++) {
        o.train.seed = r->attempts[i].seed;
        PR_TRY(look_into_folder(e, &r->attempts[i], c, data, &o, &wanted, recipe->retrain, hooks,
                                err));
    }
    return PARSREC_OK;
}

/* ---- training and loading ---- */

parsrec_status pr_contender_train(const pr_contender *r, const pr_attempt *a,
                                  const parsrec_data *data, const pr_recipe *recipe,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    order o = {0};
    pr_path checkpoint;
    parsrec_error why = {0};
    make_order(&o, r->entry, recipe, a->seed, false);
    if (a->task == PR_CONTENDER_RESUME) {
        o.train = parsrec_train_default();
        o.train.resume = pr_checkpoint_path(&checkpoint, a->path);
        o.train.threads = recipe->threads;
    }
    o.train.skip_baselines = true; /* the comparison has its own */
    parsrec_status status = parsrec_train(data, a->path, &o.train, NULL, hooks, &why);
    if (status == PARSREC_OK)
        return PARSREC_OK;
    if (status == PARSREC_E_STOPPED)
        return pr_fail(err, status,
                       "stopped while training %s; the same command goes on from there",
                       r->entry->name);
    return pr_fail(err, status, "%s: %s", r->entry->name, why.message);
}

parsrec_status pr_contender_open(parsrec_model **model, const pr_contender *r, const pr_attempt *a,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    order o = {0};
    if (!r->counts)
        return parsrec_model_load(model, a->path, err);
    make_order(&o, r->entry, recipe, a->seed, true);
    return parsrec_model_count(model, data, &o.train, hooks, err);
}
