/* Steps of an import into shards: what they accept and what they write. */
#include "import/shard_target.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"

static parsrec_status refuse(parsrec_error *err, const char *sentence)
{
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s", sentence);
}

static parsrec_status check_options(const char *path, const parsrec_import_options *o,
                                    parsrec_error *err)
{
    bool in_steps = o->step != PARSREC_IMPORT_ALL;
    if (o->shards > PARSREC_SHARDS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there can be 1 to %d shards", PARSREC_SHARDS_MOST);
    if (o->step == PARSREC_IMPORT_SHARD && o->shard >= o->shards)
        return pr_fail(err, PARSREC_E_ARGUMENT, "of %u shards the last is %u/%u", o->shards,
                       o->shards - 1, o->shards);
    if (strcmp(path, "-") == 0)
        return refuse(err, "shards are written to a folder, not to standard output");
    if (o->sessions_path != NULL)
        return refuse(err, "a table of sessions cannot be imported into shards; leave out "
                           "--sessions");
    if (in_steps && o->events != NULL)
        return refuse(err, "--events is read by --shards alone; to import in steps, write the "
                           "events to a file with parsrec export-events first");
    if (in_steps && o->min_actions > 1)
        return refuse(err, "--min-actions needs all rows at once; use --shards alone, or drop the "
                           "rows before");
    if (o->step == PARSREC_IMPORT_DICTIONARY && o->users_path != NULL)
        return refuse(err, "--users belongs to the shards; pass it with --shard K/S");
    if (o->step == PARSREC_IMPORT_SHARD && o->items_path != NULL)
        return refuse(err, "--items belongs to the dictionary; pass it with --dictionary");
    return PARSREC_OK;
}

/* Rules that are given again must be those of the dictionary. */
static parsrec_status adopt_rules(pr_shard_target *t, parsrec_import_options *o, parsrec_error *err)
{
    const pr_shard_rules *r = &t->dictionary.rules;
    if (r->shards != o->shards)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: has %u shards, not %u; pass --shard K/%u",
                       t->path, r->shards, o->shards, r->shards);
    if (r->min_actions > 1)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: was imported with --min-actions, which needs all rows at once; import "
                       "it anew with --shards",
                       t->path);
    if ((o->session_rule != PARSREC_SESSION_COLUMN &&
         (o->session_rule != r->session_rule || o->session_gap != r->session_gap)) ||
        (o->ordered && !t->dictionary.data->ordered))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: the dictionary was made with another --session-by, --session-gap or "
                       "--ordered; leave them out here",
                       t->path);
    o->session_rule = r->session_rule;
    o->session_gap = r->session_gap;
    o->ordered = t->dictionary.data->ordered;
    return PARSREC_OK;
}

parsrec_status pr_shard_target_open(pr_shard_target *t, const char *path, parsrec_import_options *o,
                                    parsrec_error *err)
{
    *t = (pr_shard_target){.path = path, .step = o->step, .shard = o->shard};
    PR_TRY(check_options(path, o, err));
    o->sort = true;
    if (o->step == PARSREC_IMPORT_SHARD) {
        PR_TRY(pr_dictionary_load(&t->dictionary, path, err));
        return adopt_rules(t, o, err);
    }
    t->rules = (pr_shard_rules){.shards = o->shards,
                                .session_rule = o->session_rule,
                                .session_gap = o->session_gap,
                                .min_actions = o->min_actions};
    PR_TRY(pr_shards_may_replace(path, o->step == PARSREC_IMPORT_DICTIONARY, err));
    if (o->step == PARSREC_IMPORT_ALL)
        return pr_new_folder_open(&t->folder, path, err);
    t->made = !pr_shards_at(path);
    return pr_folder_make(path, err);
}

void pr_shard_target_free(pr_shard_target *t)
{
    if (t->made)
        rmdir(t->path);
    pr_dictionary_free(&t->dictionary);
    pr_new_folder_abort(&t->folder);
    *t = (pr_shard_target){0};
}

const char *pr_shard_target_beside(const pr_shard_target *t, pr_path *hold)
{
    return pr_dictionary_path(hold, t->step == PARSREC_IMPORT_ALL ? t->folder.temporary : t->path);
}

bool pr_shard_target_reads(const pr_shard_target *t, const char *input, bool *dealt)
{
    static const char label[] = "shard=";
    *dealt = false;
    if (t->step != PARSREC_IMPORT_SHARD)
        return true;
    for (const char *at = input; (at = strstr(at, label)) != NULL;) {
        bool begins = at == input || at[-1] == '/' || at[-1] == ':';
        at += strlen(label);
        size_t digits = strspn(at, "0123456789");
        uint64_t shard;
        if (begins && at[digits] == '/' && pr_parse_u64((pr_slice){at, digits}, &shard)) {
            *dealt = shard == t->shard;
            return *dealt;
        }
    }
    return true;
}

parsrec_status pr_shard_target_write(pr_shard_target *t, const pr_dataset *data, uint64_t *missing,
                                     parsrec_error *err)
{
    uint32_t lacking = 0;
    *missing = 0;
    switch (t->step) {
    case PARSREC_IMPORT_ALL:
        PR_TRY(pr_shards_save(data, &t->rules, t->folder.temporary, err));
        return pr_new_folder_commit(&t->folder, err);
    case PARSREC_IMPORT_DICTIONARY:
        *missing = t->rules.shards;
        t->made = false;
        return pr_dictionary_save(data, &t->rules, t->path, err);
    default:
        PR_TRY(pr_shard_save(data, &t->dictionary, t->shard, t->path, err));
        PR_TRY(pr_shards_finish(t->path, &lacking, err));
        *missing = lacking;
        return PARSREC_OK;
    }
}
