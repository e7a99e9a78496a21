/* Trains what is missing. Whether a model in the folder is the one wanted is told by its checkpoint
 * or, for a finished one, by the log beside it. */
#include "compare/contender.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "train/checkpoint.h"

/* ---- what is wanted ---- */

/* The strings live in the entry, `last` and `set` in the caller. */
typedef struct order {
    parsrec_train_options train;
    const char *set[PR_ENTRY_SETTINGS + 1];
    char last[32];
} order;

/* An entry's own number of epochs goes before the one for all. */
static bool sets_epochs(const pr_entry *e)
{
    for (size_t i = 0; i < e->set_count; i++)
        if (strncmp(e->set[i], "epochs=", 7) == 0)
            return true;
    return false;
}

static void make_order(order *o, const pr_entry *e, const pr_recipe *recipe, bool counts)
{
    o->train = parsrec_train_default();
    o->train.model = e->kind;
    o->train.preset = e->preset;
    o->train.epochs = counts || sets_epochs(e) ? 0 : recipe->epochs;
    o->train.patience = counts ? 0 : recipe->patience;
    o->train.seed = recipe->seed;
    o->train.threads = recipe->threads;
    o->train.set = o->set;
    for (size_t i = 0; i < e->set_count; i++)
        o->set[o->train.set_count++] = e->set[i];
    if (recipe->last > 0) {
        snprintf(o->last, sizeof o->last, "last=%llu", (unsigned long long)recipe->last);
        o->set[o->train.set_count++] = o->last;
    }
}

/* The settings in force are those that training itself would print. */
static parsrec_status wanted_config(pr_config *config, const pr_entry *e, const order *o,
                                    parsrec_error *err)
{
    char *text;
    parsrec_error why = {0};
    parsrec_status status = parsrec_config_text(&text, &o->train, &why);
    if (status != PARSREC_OK)
        return pr_fail(err, status, "the model %s: %s", e->name, why.message);
    *config = pr_config_default();
    status = pr_config_read(config, text, strlen(text), "settings", err);
    parsrec_text_free(text);
    return status;
}

/* ---- what is there ---- */

typedef struct made {
    char kind[32];
    pr_config config;
    uint64_t seed, patience;
    bool knows_patience;
    char data[17];
} made;

static bool same_config(const pr_config *a, const pr_config *b)
{
    json_t *x = pr_config_json(a), *y = pr_config_json(b);
    bool same = x != NULL && y != NULL && json_equal(x, y) != 0;
    json_decref(x);
    json_decref(y);
    return same;
}

/* The first setting that differs, for the sentence. */
static void name_difference(char *out, size_t size, const pr_config *was, const pr_config *wanted)
{
    char old[64], new[64];
    snprintf(out, size, "other settings");
    for (size_t i = 0; i < pr_config_count(); i++) {
        pr_config_value(was, i, old, sizeof old);
        pr_config_value(wanted, i, new, sizeof new);
        if (strcmp(old, new) == 0)
            continue;
        snprintf(out, size, "%s = %s, not %s", pr_config_key(i), old, new);
        return;
    }
}

static bool read_begin(made *m, const char *bytes, size_t size)
{
    json_t *line = json_loadb(bytes, size, 0, NULL);
    const char *event = NULL, *kind = NULL, *data = NULL;
    json_t *config = NULL;
    json_int_t seed = 0;
    bool good = line != NULL &&
                json_unpack(line, "{s:s, s:s, s:o, s:I, s:s}", "event", &event, "model", &kind,
                            "config", &config, "seed", &seed, "data", &data) == 0 &&
                strcmp(event, "begin") == 0;
    if (good) {
        *m = (made){.config = pr_config_default(), .seed = (uint64_t)seed};
        snprintf(m->kind, sizeof m->kind, "%s", kind);
        snprintf(m->data, sizeof m->data, "%s", data);
        good = pr_config_from_json(&m->config, config, NULL) == PARSREC_OK;
    }
    json_decref(line);
    return good;
}

/* The last line that begins a run tells how the model beside it was made. */
static bool read_log(made *m, const char *model_path)
{
    char path[4200];
    pr_mapping file;
    bool found = false;
    snprintf(path, sizeof path, "%s.log", model_path);
    if (pr_file_map(&file, path, NULL) != PARSREC_OK)
        return false;
    const char *text = (const char *)file.bytes;
    for (size_t at = 0; at < file.size;) {
        const char *end = memchr(text + at, '\n', file.size - at);
        size_t size = end != NULL ? (size_t)(end - text) - at : file.size - at;
        found |= read_begin(m, text + at, size);
        at += size + 1;
    }
    pr_file_unmap(&file);
    return found;
}

static parsrec_status read_checkpoint(made *m, const char *path, const parsrec_data *data,
                                      const char *checksum, parsrec_error *err)
{
    pr_checkpoint file;
    PR_TRY(pr_checkpoint_open(&file, path, data, err)); /* which compares the data */
    *m = (made){.config = file.config,
                .seed = file.at.seed,
                .patience = file.at.patience,
                .knows_patience = true};
    snprintf(m->kind, sizeof m->kind, "%s", file.kind);
    snprintf(m->data, sizeof m->data, "%s", checksum);
    pr_checkpoint_close(&file);
    return PARSREC_OK;
}

/* False with the reason when it is not what is wanted. */
static bool fits(const made *m, const pr_config *wanted, const order *o, const char *checksum,
                 char *reason, size_t size)
{
    if (strcmp(m->kind, o->train.model) != 0)
        snprintf(reason, size, "it is of the kind %s", m->kind);
    else if (strcmp(m->data, checksum) != 0)
        snprintf(reason, size, "it was trained on other data");
    else if (!same_config(&m->config, wanted))
        name_difference(reason, size, &m->config, wanted);
    else if (m->seed != o->train.seed)
        snprintf(reason, size, "seed = %llu, not %llu", (unsigned long long)m->seed,
                 (unsigned long long)o->train.seed);
    else if (m->knows_patience && m->patience != o->train.patience)
        snprintf(reason, size, "patience = %llu, not %llu", (unsigned long long)m->patience,
                 (unsigned long long)o->train.patience);
    else
        return true;
    return false;
}

/* ---- the plan ---- */

static parsrec_status refuse(const char *path, const pr_entry *e, const char *reason,
                             parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_CONFIG,
                   "%s was made otherwise (%s); pass --retrain to make it again, give the model "
                   "another name (NAME=%s), or take the file as it is (%s=@%s)",
                   path, reason, e->kind, e->name, path);
}

static parsrec_status remove_old(const pr_contender *r, const char *checkpoint, pr_task_kind *task,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    if ((unlink(checkpoint) != 0 && access(checkpoint, F_OK) == 0) ||
        (unlink(r->path) != 0 && access(r->path, F_OK) == 0))
        return pr_fail_errno(err, PARSREC_E_IO, "%s: the old model cannot be removed", r->path);
    pr_say(hooks, PARSREC_LOG_INFO, "%s: the model that was there is made again", r->entry->name);
    *task = PR_CONTENDER_TRAIN;
    return PARSREC_OK;
}

static parsrec_status look_into_folder(pr_contender *r, pr_task_kind *task,
                                       const parsrec_comparison *c, const parsrec_data *data,
                                       const order *o, const pr_config *wanted, bool retrain,
                                       const parsrec_hooks *hooks, parsrec_error *err)
{
    char checkpoint[4200], reason[160] = "no log beside it tells how";
    made m;
    snprintf(checkpoint, sizeof checkpoint, "%s.ckpt", r->path);
    bool interrupted = access(checkpoint, F_OK) == 0, finished = access(r->path, F_OK) == 0;
    *task = interrupted ? PR_CONTENDER_RESUME : finished ? PR_CONTENDER_READY : PR_CONTENDER_TRAIN;
    if (*task == PR_CONTENDER_TRAIN)
        return PARSREC_OK;
    parsrec_error why = {0};
    bool known = interrupted
                     ? read_checkpoint(&m, checkpoint, data, c->stats.checksum, &why) == PARSREC_OK
                     : read_log(&m, r->path);
    if (known && fits(&m, wanted, o, c->stats.checksum, reason, sizeof reason))
        return PARSREC_OK;
    if (retrain)
        return remove_old(r, checkpoint, task, hooks, err);
    if (!known && interrupted)
        return pr_fail(err, why.status, "%s; pass --retrain to begin again", why.message);
    return refuse(interrupted ? checkpoint : r->path, r->entry, reason, err);
}

parsrec_status pr_contender_plan(pr_contender *r, pr_task_kind *task, const parsrec_comparison *c,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    const pr_entry *e = r->entry;
    order o = {0};
    pr_config wanted;
    *task = PR_CONTENDER_READY;
    int n = e->path != NULL ? snprintf(r->path, sizeof r->path, "%s", e->path)
                            : snprintf(r->path, sizeof r->path, "%s/%s.st", c->folder, e->name);
    if (n < 0 || (size_t)n >= sizeof r->path)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the path of the model %s is too long", e->name);
    if (e->path != NULL)
        return PARSREC_OK;
    const pr_model_kind *kind = pr_model_kind_named(e->kind);
    make_order(&o, e, recipe, kind != NULL && kind->count != NULL);
    PR_TRY(wanted_config(&wanted, e, &o, err));
    pr_model *outline; /* an unknown kind, or settings that do not fit it, are known here at last */
    PR_TRY(pr_model_outline(&outline, e->kind, &wanted, data->users, data->items, err));
    r->counts = outline->kind->count != NULL;
    pr_model_free(outline);
    if (r->counts) {
        r->path[0] = '\0';
        return PARSREC_OK;
    }
    return look_into_folder(r, task, c, data, &o, &wanted, recipe->retrain, hooks, err);
}

/* ---- training and loading ---- */

parsrec_status pr_contender_train(pr_contender *r, pr_task_kind task, const parsrec_data *data,
                                  const pr_recipe *recipe, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    order o = {0};
    char checkpoint[4200];
    parsrec_error why = {0};
    make_order(&o, r->entry, recipe, false);
    if (task == PR_CONTENDER_RESUME) {
        snprintf(checkpoint, sizeof checkpoint, "%s.ckpt", r->path);
        o.train = parsrec_train_default();
        o.train.resume = checkpoint;
        o.train.threads = recipe->threads;
    }
    parsrec_status status = parsrec_train(data, r->path, &o.train, NULL, hooks, &why);
    if (status == PARSREC_OK)
        return PARSREC_OK;
    if (status == PARSREC_E_STOPPED)
        return pr_fail(err, status,
                       "stopped while training %s; the same command goes on from there",
                       r->entry->name);
    return pr_fail(err, status, "%s: %s", r->entry->name, why.message);
}

parsrec_status pr_contender_open(parsrec_model **model, const pr_contender *r,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    order o = {0};
    if (!r->counts)
        return parsrec_model_load(model, r->path, err);
    make_order(&o, r->entry, recipe, true);
    return parsrec_model_count(model, data, &o.train, hooks, err);
}
