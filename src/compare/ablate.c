/* The rows of an ablation become a list of models, and the list a comparison. */
#include "compare/ablation.h"

#include <stdio.h>
#include <string.h>

#include "base/hooks.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/ablation_rows.h"
#include "compare/compare.h"

/* The list as text, with the number of each entry's base beside it. */
typedef struct draft {
    pr_writer text;
    size_t *bases;
    size_t count, capacity;
} draft;

static parsrec_status add_entry(draft *d, const char *name, size_t name_size, const char *spec,
                                const char *settings, size_t base, parsrec_error *err)
{
    PR_TRY(pr_grow(&d->bases, &d->capacity, d->count + 1, sizeof *d->bases, err));
    d->bases[d->count] = base;
    pr_write(&d->text, "%s", d->count++ > 0 ? "," : "");
    pr_write_bytes(&d->text, name, name_size);
    pr_write(&d->text, "=%s%s%s", spec, settings[0] != '\0' ? ":" : "", settings);
    return PARSREC_OK;
}

/* ---- known rows ---- */

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

/* The settings that these data can have, separated by colons; none are left of a row that is about
 * features alone which are not there. */
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

static parsrec_status add_known(draft *d, const pr_ablation_group *group,
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
    return add_entry(d, row->name, strlen(row->name), spec, settings, base, err);
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
    return o->preset != NULL || o->row_count == 0; /* rows of one's own may be all that is wanted */
}

/* ---- rows of one's own ---- */

static parsrec_status add_own(draft *d, const char *row, const char *spec, size_t base,
                              parsrec_error *err)
{
    pr_excerpt hold;
    size_t n = strcspn(row, ":=,@/");
    if (n == 0 || row[n] != ':' || row[n + 1] == '\0' || strchr(row, ',') != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s is no row; write --row NAME:key=value, with :key=value for more",
                       pr_show(&hold, pr_slice_of(row)));
    return add_entry(d, row, n, spec, row + n + 1, base, err);
}

/* They depart from the preset's base, or else from the default settings. */
static bool takes_own(const parsrec_ablate_options *o, const pr_ablation_group *group)
{
    if (o->row_count == 0)
        return false;
    bool one = o->preset != NULL && strcmp(o->preset, "all") != 0;
    return strcmp(group->preset, one ? o->preset : "parts") == 0;
}

/* ---- groups ---- */

static parsrec_status add_group(draft *d, const pr_ablation_group *group,
                                const parsrec_ablate_options *o, const parsrec_data_stats *stats,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    const char *spec = o->base != NULL ? o->base : group->spec;
    const char *name = o->base != NULL ? "base" : group->base;
    size_t base = o->base != NULL ? 0 : d->count, some = takes_own(o, group);
    for (size_t i = 0; i < group->count; i++)
        some += wanted(o, group, &group->rows[i]);
    if (some == 0)
        return PARSREC_OK;
    if (base == d->count)
        PR_TRY(add_entry(d, name, strlen(name), spec, "", PR_NONE, err));
    for (size_t i = 0; i < group->count; i++)
        if (wanted(o, group, &group->rows[i]))
            PR_TRY(add_known(d, group, &group->rows[i], spec, base, stats, hooks, err));
    for (size_t i = 0; takes_own(o, group) && i < o->row_count; i++)
        PR_TRY(add_own(d, o->row[i], spec, base, err));
    return PARSREC_OK;
}

static parsrec_status check_base(const char *base, parsrec_error *err)
{
    if (base == NULL || strpbrk(base, ",@/") == NULL)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "--base is a kind of model with its settings, as in parsrec:dim.item=32");
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
        if (!pr_ablation_knows(at, n, list, sizeof list))
            return pr_fail(err, PARSREC_E_ARGUMENT, "there is no row %s; there are: %s",
                           pr_show(&hold, (pr_slice){at, n}), list);
        at += n + (at[n] == ',');
    }
    return check_base(o->base, err);
}

static parsrec_status write_draft(draft *d, const parsrec_ablate_options *o,
                                  const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    PR_TRY(check_words(o, err));
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        PR_TRY(add_group(d, &pr_ablation_groups[g], o, stats, hooks, err));
    if (d->count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the preset %s has none of these rows", o->preset);
    return d->text.failed ? pr_fail_memory(err) : PARSREC_OK;
}

parsrec_status pr_ablation_list(pr_model_list *list, const parsrec_ablate_options *o,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    draft d = {0};
    *list = (pr_model_list){0};
    parsrec_status status = write_draft(&d, o, stats, hooks, err);
    if (status == PARSREC_OK)
        status = pr_model_list_read(list, d.text.text, err);
    for (size_t i = 0; status == PARSREC_OK && i < list->count; i++)
        list->entries[i].base = d.bases[i];
    pr_writer_free(&d.text);
    pr_free(d.bases);
    return status;
}

parsrec_status pr_ablate(parsrec_comparison *c, const char *data_path, const char *folder,
                         const parsrec_ablate_options *o, const parsrec_hooks *hooks,
                         parsrec_error *err)
{
    parsrec_data *data;
    c->ablation = true;
    PR_TRY(pr_comparison_begin(c, data_path, folder, &o->how, err));
    PR_TRY(parsrec_data_load(&data, data_path, err));
    parsrec_status status = parsrec_data_statistics(data, &c->stats, err);
    if (status == PARSREC_OK)
        status = pr_ablation_list(&c->list, o, &c->stats, hooks, err);
    if (status == PARSREC_OK)
        status = pr_comparison_run(c, data, &o->how, hooks, err);
    parsrec_data_free(data);
    return status;
}
