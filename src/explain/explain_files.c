/* Pictures of maps, JSON, and the folder of an explanation: pages, numbers and pictures, each file
 * written whole or not at all. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "explain/explain.h"
#include "report/canvas.h"
#include "report/heatmap.h"

/* ---- pictures ---- */

enum { NAME = 512 };

char *pr_difference_name(const pr_explanation *e, char *buffer, size_t size)
{
    const pr_explained_difference *d = &e->difference;
    snprintf(buffer, size, "%s against %s", e->groups[d->a].label, e->groups[d->b].label);
    return buffer;
}

/* One cell in a hundred may be stronger than the strongest colour, so that a single large one, or
 * the diagonal, does not pale all others. 0 where nothing is known. */
static parsrec_status find_limit(double *limit, const pr_heatmap_panel *panels, size_t count,
                                 size_t N, parsrec_error *err)
{
    double *size = pr_alloc(count * N * N, sizeof *size);
    size_t n = 0;
    if (size == NULL)
        return pr_fail_memory(err);
    for (size_t p = 0; p < count; p++)
        for (size_t k = 0; k < N * N; k++)
            if (k / N != k % N && isfinite(panels[p].cells[k]))
                size[n++] = fabs(panels[p].cells[k]);
    qsort(size, n, sizeof *size, pr_ascending_f64);
    *limit = n > 0 ? size[n - 1 - n / 100] : 0;
    pr_free(size);
    return PARSREC_OK;
}

/* Lines are drawn between branches of the category tree, where those hold several rows. */
static bool has_blocks(const pr_explanation *e)
{
    bool as_catalogue = true;
    for (size_t i = 0; i < e->axis.count; i++)
        as_catalogue = as_catalogue && e->order[i] == i;
    return as_catalogue && e->axis.block[e->axis.count - 1] + 1 < e->axis.count;
}

static parsrec_status draw(const pr_explanation *e, size_t kind, const pr_heatmap_panel *panels,
                           size_t count, double limit, const char *path, pr_writer *page,
                           parsrec_error *err)
{
    const pr_map_words *words = &pr_map_words_of[kind];
    pr_heatmap_side side = {.names = (const char *const *)e->axis.names,
                            .count = e->axis.count,
                            .order = e->order,
                            .groups = has_blocks(e) ? e->axis.block : NULL};
    pr_heatmap map = {.title = words->title,
                      .rows = side,
                      .columns = side,
                      .panels = panels,
                      .panel_count = count,
                      .scale_title = words->scale,
                      .unit = words->unit};
    map.rows.title = "bought next";
    map.columns.title = "in the basket";
    map.limit = limit;
    if (words->unit == PR_HEAT_TIMES) /* a fifth more or less is hardly worth a colour */
        map.limit = fmax(map.limit, log(1.2));
    return path != NULL ? pr_heatmap_draw(&map, path, err) : pr_heatmap_inline(&map, page, err);
}

/* The maps of all groups have one scale, so that they can be compared. */
static parsrec_status draw_groups(const pr_explanation *e, const pr_explained_picture *picture,
                                  const char *path, pr_writer *page, parsrec_error *err)
{
    bool shared = picture->kind == PARSREC_MAP_EMBEDDING;
    size_t count = shared ? 1 : e->group_count;
    double limit = 0;
    pr_heatmap_panel *panels = pr_alloc(count, sizeof *panels);
    if (panels == NULL)
        return pr_fail_memory(err);
    for (size_t g = 0; g < count; g++)
        panels[g] = (pr_heatmap_panel){shared ? NULL : e->groups[g].label,
                                       pr_explained_map(e, g, picture->kind)};
    parsrec_status status = find_limit(&limit, panels, count, e->axis.count, err);
    if (status == PARSREC_OK)
        status = draw(e, picture->kind, panels + picture->first_group, picture->group_count, limit,
                      path, page, err);
    pr_free(panels);
    return status;
}

parsrec_status pr_explanation_draw(const pr_explanation *e, const pr_explained_picture *picture,
                                   const char *path, pr_writer *page, parsrec_error *err)
{
    assert(picture->kind < PR_MAP_KINDS);
    char name[NAME];
    double limit = 0;
    if (picture->group_count > 0)
        return draw_groups(e, picture, path, page, err);
    pr_heatmap_panel one = {pr_difference_name(e, name, sizeof name),
                            e->difference.maps[picture->kind]};
    PR_TRY(find_limit(&limit, &one, 1, e->axis.count, err));
    return draw(e, picture->kind, &one, 1, limit, path, page, err);
}

/* ---- files ---- */

enum { PATH = 4096, SLUG = 48 };

/* Where everything goes, and how much of it is done. */
typedef struct saving {
    const pr_explanation *e;
    const char *folder;
    const parsrec_hooks *hooks;
    size_t done, total; /* maps, and the report */
    bool pictures;      /* files beside the report */
} saving;

void pr_explanation_csv(pr_writer *csv, const pr_explanation *e,
                        const pr_explained_picture *picture, const double *map)
{
    size_t N = e->axis.count;
    const pr_map_words *words = &pr_map_words_of[picture->kind];
    bool differs = picture->group_count == 0, logs = words->unit == PR_HEAT_TIMES;
    pr_write(csv, "bought next (%s%s%s)", differs ? "difference of " : "",
             !logs     ? ""
             : differs ? "natural logarithms of "
                       : "natural logarithm of ",
             words->scale);
    for (size_t j = 0; j < N; j++) {
        pr_write(csv, ",");
        pr_write_csv(csv, e->axis.names[j]);
    }
    pr_write(csv, "\n");
    for (size_t i = 0; i < N; i++) {
        pr_write_csv(csv, e->axis.names[i]);
        for (size_t j = 0; j < N; j++) {
            if (isnan(map[i * N + j]))
                pr_write(csv, ",");
            else
                pr_write(csv, ",%.9g", map[i * N + j]);
        }
        pr_write(csv, "\n");
    }
}

/* What file systems like of a name, with its number where something had to go. */
static void make_slug(char slug[SLUG], const char *name, size_t number)
{
    size_t n = 0;
    bool changed = false;
    for (; name[n] != '\0' && n < SLUG - 12; n++) {
        char c = name[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.';
        slug[n] = plain ? c : '_';
        changed = changed || !plain;
    }
    slug[n] = '\0';
    if (changed || name[n] != '\0')
        snprintf(slug + n, SLUG - n, ".%zu", number + 1);
}

static parsrec_status save_map(saving *s, const char *slug, const pr_explained_picture *picture,
                               const double *map, parsrec_error *err)
{
    static const char *const endings[] = {"png", "svg", "pdf"};
    char path[PATH];
    const char *name = pr_map_name(picture->kind), *dash = slug[0] != '\0' ? "-" : "";
    pr_writer csv = {0};
    PR_TRY(pr_progress(s->hooks, "drawing", "maps", s->done++, s->total, err));
    pr_explanation_csv(&csv, s->e, picture, map);
    snprintf(path, sizeof path, "%s/%s%s%s.csv", s->folder, name, dash, slug);
    PR_TRY(pr_writer_save(&csv, path, err));
    for (size_t i = 0; s->pictures && i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/%s%s%s.%s", s->folder, name, dash, slug, endings[i]);
        PR_TRY(pr_explanation_draw(s->e, picture, path, NULL, err));
    }
    return PARSREC_OK;
}

static size_t count_maps(double *const maps[PR_MAP_KINDS])
{
    size_t count = 0;
    for (size_t k = 0; k < PR_MAP_KINDS; k++)
        count += maps[k] != NULL && k != PR_MAP_EVEN;
    return count;
}

static parsrec_status save_group(saving *s, size_t group, parsrec_error *err)
{
    char slug[SLUG];
    make_slug(slug, s->e->groups[group].name, group);
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        const double *map = s->e->groups[group].maps[k];
        pr_explained_picture picture = {k, group, 1};
        if (map != NULL && k != PR_MAP_EVEN)
            PR_TRY(save_map(s, slug, &picture, map, err));
    }
    return PARSREC_OK;
}

static parsrec_status save_shared(saving *s, parsrec_error *err)
{
    const pr_explanation *e = s->e;
    pr_explained_picture embedding = {PARSREC_MAP_EMBEDDING, 0, 1};
    if (e->embedding != NULL)
        PR_TRY(save_map(s, "", &embedding, e->embedding, err));
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        pr_explained_picture picture = {k, 0, 0};
        if (e->difference.maps[k] != NULL && k != PR_MAP_EVEN)
            PR_TRY(save_map(s, "difference", &picture, e->difference.maps[k], err));
    }
    return PARSREC_OK;
}

/* report.json or report.html. */
static parsrec_status save_report(const pr_explanation *e, const char *folder, bool html,
                                  parsrec_error *err)
{
    char path[PATH];
    pr_writer out = {0};
    parsrec_status status = html ? pr_explanation_write(&out, e, PARSREC_TEXT_HTML, err)
                                 : pr_explanation_write_json(&out, e, true, err);
    snprintf(path, sizeof path, "%s/report.%s", folder, html ? "html" : "json");
    if (status == PARSREC_OK)
        return pr_writer_save(&out, path, err);
    pr_writer_free(&out);
    return status;
}

parsrec_status parsrec_explanation_save(const parsrec_explanation *e, const char *folder,
                                        const parsrec_hooks *hooks, parsrec_error *err)
{
    if (e == NULL || folder == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_explanation_save needs explanation and folder");
    if (strlen(folder) > PATH - 128)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the name of the folder is too long");
    PR_TRY(pr_folder_make(folder, err));
    saving s = {.e = e, .folder = folder, .hooks = hooks, .pictures = pr_canvas_ready(hooks)};
    s.total = (e->embedding != NULL ? 2u : 1u) + count_maps(e->difference.maps);
    for (size_t g = 0; g < e->group_count; g++)
        s.total += count_maps(e->groups[g].maps);
    for (size_t g = 0; g < e->group_count; g++)
        PR_TRY(save_group(&s, g, err));
    PR_TRY(save_shared(&s, err));
    PR_TRY(pr_progress(hooks, "drawing", "maps", s.done, s.total, err));
    PR_TRY(save_report(e, folder, false, err));
    return save_report(e, folder, true, err);
}

/* ---- JSON ---- */

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *text(const char *words)
{
    return words == NULL ? json_null() : pr_json_string(words);
}

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *matrix(const double *map, size_t N)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < N; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < N; j++)
            json_array_append_new(row, number(map[i * N + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *relation(const pr_explanation *e, const parsrec_relation *r)
{
    json_t *out = json_pack("{s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "row",
                            text(e->axis.names[r->row]), "column", text(e->axis.names[r->column]),
                            "value", r->value, "both", whole(r->both), "row_baskets",
                            whole(r->row_baskets), "column_baskets", whole(r->column_baskets),
                            "baskets", whole(r->baskets), "expected", number(r->expected), "lift",
                            number(r->lift), "lift_low", number(r->low), "lift_high",
                            number(r->high), "verdict", parsrec_relation_verdict_name(r->verdict));
    json_object_set_new(out, "strength", number(r->strength));
    json_object_set_new(out, "category_part", number(r->category_part));
    json_object_set_new(out, "category", text(r->category));
    return out;
}

static json_t *relations(const pr_explanation *e, size_t group, size_t kind, bool confirmed)
{
    parsrec_relation list[PR_STRONGEST];
    json_t *out = json_array();
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, confirmed);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, relation(e, &list[i]));
    return out;
}

/* What the counted lifts of both groups confirm. */
static json_t *contrasts(const pr_explanation *e, size_t kind)
{
    parsrec_group_contrast list[PR_STRONGEST];
    json_t *out = json_array();
    size_t n = kind < PARSREC_MAPS
                   ? parsrec_explanation_contrasts(e, e->difference.a, e->difference.b,
                                                   (parsrec_map)kind, list, PR_STRONGEST)
                   : 0;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_pack("{s:o, s:o, s:f, s:o, s:o}", "row",
                                             text(e->axis.names[list[i].first.row]), "column",
                                             text(e->axis.names[list[i].first.column]), "value",
                                             list[i].value, "first", relation(e, &list[i].first),
                                             "second", relation(e, &list[i].second)));
    return out;
}

static json_t *recovery(const pr_recovery *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", number(r->rank), "positive",
                     number(r->positive), "related", number(r->related), "slope", number(r->slope),
                     "positives", whole(r->positives), "relateds", whole(r->relateds), "pairs",
                     whole(r->pairs));
}

static json_t *group(const pr_explanation *e, size_t g, bool with_maps)
{
    const pr_explained_group *from = &e->groups[g];
    json_t *strongest = json_object(), *recovered = json_object(), *maps = json_object();
    json_t *unconfirmed = json_object();
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        const double *map = pr_explained_map(e, g, k);
        const char *name = pr_map_name(k);
        if (map == NULL)
            continue;
        if (pr_map_is_listed(k)) {
            json_object_set_new(strongest, name, relations(e, g, k, true));
            json_object_set_new(unconfirmed, name, relations(e, g, k, false));
        }
        if (from->recovery[k].pairs > 0 && k != PR_MAP_TRUTH)
            json_object_set_new(recovered, name, recovery(&from->recovery[k]));
        if (with_maps)
            json_object_set_new(maps, name, matrix(map, e->axis.count));
    }
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o}", "group",
                            text(from->name), "users", whole(from->users), "baskets",
                            whole(from->baskets), "steps", whole(from->steps), "cut",
                            whole(from->cut), "agreement", "steps", number(from->step_agreement),
                            "maps", number(from->map_agreement), "strongest", strongest);
    json_object_set_new(out, "unconfirmed", unconfirmed);
    json_object_set_new(out, "recovery", e->has_truth ? recovered : json_null());
    if (!e->has_truth)
        json_decref(recovered);
    if (with_maps)
        json_object_set_new(out, "maps", maps);
    else
        json_decref(maps);
    return out;
}

static json_t *difference(const pr_explanation *e, bool with_maps)
{
    const pr_explained_difference *d = &e->difference;
    json_t *out = json_pack("{s:o, s:o}", "first", text(e->groups[d->a].name), "second",
                            text(e->groups[d->b].name));
    json_t *strongest = json_object(), *recovered = json_object(), *maps = json_object();
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        const char *name = pr_map_name(k);
        const pr_difference_recovery *r = &d->recovery[k];
        if (d->maps[k] == NULL)
            continue;
        if (pr_map_is_listed(k))
            json_object_set_new(strongest, name, contrasts(e, k));
        if (r->pairs > 0 && k != PR_MAP_TRUTH)
            json_object_set_new(recovered, name,
                                json_pack("{s:o, s:o, s:o, s:o, s:o}", "rank", number(r->rank),
                                          "different", number(r->different), "slope",
                                          number(r->slope), "differents", whole(r->differents),
                                          "pairs", whole(r->pairs)));
        if (with_maps)
            json_object_set_new(maps, name, matrix(d->maps[k], e->axis.count));
    }
    json_object_set_new(out, "strongest", strongest);
    json_object_set_new(out, "recovery", recovered);
    json_object_set_new(out, "maps", maps);
    return out;
}

json_t *pr_explanation_json(const pr_explanation *e, bool with_maps)
{
    json_t *names = json_array(), *groups = json_array();
    for (size_t i = 0; i < e->axis.count; i++)
        json_array_append_new(names, text(e->axis.names[i]));
    for (size_t g = 0; g < e->group_count; g++)
        json_array_append_new(groups, group(e, g, with_maps));
    return json_pack("{s:o, s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "command",
                     text(e->command), "version", parsrec_version(), "model", text(e->model_name),
                     "kind", e->model_kind, "checksum", e->checksum, "by",
                     e->axis.items ? "item" : "category", "data", text(e->data_name), "basket_most",
                     whole(e->basket_most), "names", names, "groups", groups, "difference",
                     e->has_difference ? difference(e, with_maps) : json_null(), "seconds",
                     e->seconds);
}

parsrec_status pr_explanation_write_json(pr_writer *out, const pr_explanation *e, bool with_maps,
                                         parsrec_error *err)
{
    json_t *json = pr_explanation_json(e, with_maps);
    char *line = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (line == NULL)
        return pr_fail_memory(err);
    pr_write(out, "%s\n", line);
    pr_free(line);
    return PARSREC_OK;
}
