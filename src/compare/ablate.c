/* The rows of an ablation become a list of models, and the list a comparison. */
#include "compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

/* ---- the rows that are known by name ---- */

/* The paper's table, in its order. */
static const pr_ablation_row paper[] = {
    {"remove-ln", "layer_norm=off"},
    {"remove-dropout", "dropout.user=0:dropout.history=0:dropout.keys=0:dropout.output=none"},
    {"remove-q-in-ln", "layer_norm.query=off"},
    {"layers-2", "layers=2:stack=paper"},
    {"heads-1", "heads=1"},
    {"heads-4", "heads=4"},
    {"ffn-pre", "ffn=pre"},
    {"ffn-post", "ffn=post"},
    {"extra-features", "features.user=on:features.session=on:features.item=on"},
};

/* What the default settings add to the paper's, removed one at a time, and alternatives for cell and loss. */
static const pr_ablation_row parts[] = {
    {"no-bias", "bias=off"},
    {"no-pull", "pull=off"},
    {"no-past", "past=off"},
    {"no-recall", "recall=off:neighbours=0"},
    {"no-neighbours", "neighbours=0"},
    {"no-pairs", "pairs=0"},
    {"no-kin", "kin=off"},
    {"no-order", "order=any"},
    {"no-dates", "recall.time=off"},
    {"no-unique", "unique=off"},
    {"no-weight-decay", "weight_decay=0"},
    {"winner-targets", "targets.soft=0"},
    {"whole-user-rows", "user.shrink=0"},
    {"no-average", "average=off"},
    {"no-mix", "mix=off"},
    {"no-lifts", "lifts=0"},
    {"no-newest", "newest=off"},
    {"gru", "cell=gru"},
    {"lstm", "cell=lstm"},
    {"bpr", "loss=bpr"},
    {"sampled", "loss=sampled"},
    {"user-features", "features.user=on"},
    {"session-features", "features.session=on"},
    {"item-features", "features.item=on"},
};

#define ROWS(list) list, sizeof list / sizeof *list
const pr_ablation_group pr_ablation_groups[] = {
    {"paper", "paper", "parsrec:preset=paper", true, ROWS(paper)},
    {"parts", "default", "parsrec", false, ROWS(parts)},
};
const size_t pr_ablation_group_count = sizeof pr_ablation_groups / sizeof *pr_ablation_groups;

/* Whether a row has this name; if not, all names are in `list`. */
static bool is_known(const char *name, size_t name_size, char *list, size_t size)
{
    size_t used = 0;
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        for (size_t i = 0; i < pr_ablation_groups[g].count; i++) {
            const char *known = pr_ablation_groups[g].rows[i].name;
            if (strlen(known) == name_size && memcmp(known, name, name_size) == 0)
                return true;
            if (used < size)
                used +=
                    (size_t)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", known);
        }
    return false;
}

/* ---- which rows are wanted, and what the data allow ---- */

static bool has_feature(const char *setting, const pr_ablation_group *group,
                        const parsrec_data_stats *stats)
{
    if (strncmp(setting, "features.user=", 14) == 0)
        return stats->user_features > 0;
    if (strncmp(setting, "features.session=", 17) == 0)
        return stats->session_features > 0;
    if (strncmp(setting, "features.item=", 14) == 0)
        return stats->item_features > 0 || (group->categories && stats->categories > 0);
    return true;
}

/* The settings that these data allow, separated by colons; none for a row that is only about features
 * which the data do not have. */
static void possible_settings(char *out, size_t size, const char *settings,
                              const pr_ablation_group *group, const parsrec_data_stats *stats)
{
    out[0] = '\0';
    for (const char *at = settings; *at != '\0';) {
        size_t n = strcspn(at, ":"), used = strlen(out);
        if (has_feature(at, group, stats))
            snprintf(out + used, size - used, "%s%.*s", used > 0 ? ":" : "", (int)n, at);
        at += n + (at[n] == ':');
    }
}

static parsrec_status add_known(pr_model_list *list, const pr_ablation_group *group,
                                const pr_ablation_row *row, const char *spec, size_t base,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    char settings[256];
    possible_settings(settings, sizeof settings, row->settings, group, stats);
    if (settings[0] == '\0') {
        pr_say(hooks, PARSREC_LOG_INFO, "%s is left out: the data set has no such features",
               row->name);
        return PARSREC_OK;
    }
    return pr_model_list_append(list, row->name, spec, settings, base, err);
}

/* Whether a comma-separated list names it. */
static bool names(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t n = strcspn(at, ",");
        if (n == size && memcmp(at, name, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

static bool wanted(const parsrec_ablate_options *o, const pr_ablation_group *group,
                   const pr_ablation_row *row)
{
    if (o->preset != NULL && strcmp(o->preset, "all") != 0 && strcmp(o->preset, group->preset) != 0)
        return false;
    if (o->rows != NULL)
        return names(o->rows, row->name);
    return o->preset != NULL || o->row_count == 0; /* the caller may want only own rows */
}

/* ---- the caller's own rows ---- */

static parsrec_status add_own(pr_model_list *list, const char *row, const char *spec, size_t base,
                              parsrec_error *err)
{
    pr_excerpt hold;
    char name[PR_ENTRY_NAME];
    size_t n = strcspn(row, ":=,@/");
    if (n == 0 || row[n] != ':' || row[n + 1] == '\0' || strchr(row, ',') != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s is not a row; write --row NAME:key=value, with :key=value for more",
                       pr_show(&hold, pr_slice_of(row)));
    if (n >= sizeof name)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the name of a model has 1 to %d characters",
                       PR_ENTRY_NAME - 1);
    snprintf(name, sizeof name, "%.*s", (int)n, row);
    return pr_model_list_append(list, name, spec, row + n + 1, base, err);
}

/* They change the preset's base, or otherwise the default settings. */
static bool takes_own(const parsrec_ablate_options *o, const pr_ablation_group *group)
{
    if (o->row_count == 0)
        return false;
    bool one = o->preset != NULL && strcmp(o->preset, "all") != 0;
    return strcmp(group->preset, one ? o->preset : "parts") == 0;
}

/* ---- groups ---- */

static parsrec_status add_group(pr_model_list *list, const pr_ablation_group *group,
                                const parsrec_ablate_options *o, const parsrec_data_stats *stats,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    const char *spec = o->base != NULL ? o->base : group->spec;
    const char *name = o->base != NULL ? "base" : group->base;
    size_t base = o->base != NULL ? 0 : list->count, some = takes_own(o, group);
    for (size_t i = 0; i < group->count; i++)
        some += wanted(o, group, &group->rows[i]);
    if (some == 0)
        return PARSREC_OK;
    if (base == list->count)
        PR_TRY(pr_model_list_append(list, name, spec, "", PR_NONE, err));
    for (size_t i = 0; i < group->count; i++)
        if (wanted(o, group, &group->rows[i]))
            PR_TRY(add_known(list, group, &group->rows[i], spec, base, stats, hooks, err));
    for (size_t i = 0; takes_own(o, group) && i < o->row_count; i++)
        PR_TRY(add_own(list, o->row[i], spec, base, err));
    return PARSREC_OK;
}

/* A word that names no row is a mistake, not an empty table. */
static parsrec_status check_words(const parsrec_ablate_options *o, parsrec_error *err)
{
    char list[400] = "";
    pr_excerpt hold;
    bool preset_known = o->preset == NULL || strcmp(o->preset, "all") == 0;
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        preset_known |= o->preset != NULL && strcmp(pr_ablation_groups[g].preset, o->preset) == 0;
    if (!preset_known)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "there is no preset %s of rows; there are: all, paper, parts",
                       pr_show(&hold, pr_slice_of(o->preset)));
    for (const char *at = o->rows != NULL ? o->rows : ""; *at != '\0';) {
        size_t n = strcspn(at, ",");
        if (!is_known(at, n, list, sizeof list))
            return pr_fail(err, PARSREC_E_ARGUMENT, "there is no row %s; there are: %s",
                           pr_show(&hold, (pr_slice){at, n}), list);
        at += n + (at[n] == ',');
    }
    if (o->base == NULL || strpbrk(o->base, ",@/") == NULL)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "--base is a kind of model with its settings, as in parsrec:dim.item=32");
}

parsrec_status pr_ablation_list(pr_model_list *list, const parsrec_ablate_options *o,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    *list = (pr_model_list){0};
    PR_TRY(check_words(o, err));
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        PR_TRY(add_group(list, &pr_ablation_groups[g], o, stats, hooks, err));
    if (list->count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "these rows are not in the preset %s", o->preset);
    return PARSREC_OK;
}

/* ---- public ---- */

static parsrec_status ablate(parsrec_comparison *c, const char *data_path, const char *folder,
                             const parsrec_ablate_options *o, const parsrec_hooks *hooks,
                             parsrec_error *err)
{
    parsrec_data *data;
    c->ablation = true;
    PR_TRY(pr_comparison_begin(c, data_path, folder, &o->how, err));
    PR_TRY(parsrec_data_load(&data, data_path, err));
    parsrec_status status = parsrec_data_split(data, &o->how.split, hooks, err);
    if (status == PARSREC_OK)
        status = parsrec_data_statistics(data, &c->stats, err);
    if (status == PARSREC_OK)
        status = pr_ablation_list(&c->list, o, &c->stats, hooks, err);
    if (status == PARSREC_OK)
        status = pr_comparison_run(c, data, &o->how, hooks, err);
    parsrec_data_free(data);
    return status;
}

parsrec_ablate_options parsrec_ablate_default(void)
{
    parsrec_ablate_options o = {.how = parsrec_compare_default()};
    o.how.jobs = 0;
    o.how.seeds = 1; /* rows are many */
    return o;
}

parsrec_status parsrec_ablate(parsrec_comparison **out, const char *data_path, const char *folder,
                              const parsrec_ablate_options *options, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    if (out == NULL || data_path == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_ablate needs out, data, folder and options");
    *out = NULL;
    if (options->how.models != NULL || options->how.preset != NULL ||
        options->how.eval.dump_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the rows of an ablation come from its own options: models, preset and "
                       "dump_path of how must be NULL");
    parsrec_comparison *c = pr_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return pr_fail_memory(err);
    parsrec_status status = ablate(c, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = c;
    else
        parsrec_comparison_free(c);
    return status;
}
