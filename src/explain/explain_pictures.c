/* Maps as pictures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "explain/explain.h"
#include "report/heatmap.h"

enum { NAME = 512 };

char *pr_difference_name(const pr_explanation *e, char *buffer, size_t size)
{
    const pr_explained_difference *d = &e->difference;
    snprintf(buffer, size, "%s against %s", e->groups[d->a].name, e->groups[d->b].name);
    return buffer;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One cell in a hundred may be stronger than the strongest colour, so that a single large one, or the
 * diagonal, does not pale all others. 0 where nothing is known. */
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
    qsort(size, n, sizeof *size, ascending);
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

static parsrec_status draw(const pr_explanation *e, pr_map_kind kind,
                           const pr_heatmap_panel *panels, size_t count, double limit,
                           const char *path, pr_writer *page, parsrec_error *err)
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
    bool shared = picture->kind == PR_MAP_EMBEDDING;
    size_t count = shared ? 1 : e->group_count;
    double limit = 0;
    pr_heatmap_panel *panels = pr_alloc(count, sizeof *panels);
    if (panels == NULL)
        return pr_fail_memory(err);
    for (size_t g = 0; g < count; g++)
        panels[g] = (pr_heatmap_panel){shared ? NULL : e->groups[g].name,
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
    char name[NAME];
    double limit = 0;
    if (picture->group_count > 0)
        return draw_groups(e, picture, path, page, err);
    pr_heatmap_panel one = {pr_difference_name(e, name, sizeof name),
                            e->difference.maps[picture->kind]};
    PR_TRY(find_limit(&limit, &one, 1, e->axis.count, err));
    return draw(e, picture->kind, &one, 1, limit, path, page, err);
}
