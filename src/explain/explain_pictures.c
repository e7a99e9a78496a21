/* Maps as pictures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "explain/explanation.h"
#include "plot/heatmap.h"

enum { NAME = 512 };

char *pr_difference_name(const pr_explanation *e, char *buffer, size_t size)
{
    const pr_explained_difference *d = &e->difference;
    snprintf(buffer, size, "%s less %s", e->groups[d->a].name, e->groups[d->b].name);
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
                           const pr_heatmap_panel *panels, size_t count, const char *path,
                           pr_writer *page, parsrec_error *err)
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
                      .scale_title = words->scale};
    map.rows.title = "bought next";
    map.columns.title = "in the basket";
    PR_TRY(find_limit(&map.limit, panels, count, e->axis.count, err));
    return path != NULL ? pr_heatmap_draw(&map, path, err) : pr_heatmap_inline(&map, page, err);
}

parsrec_status pr_explanation_draw(const pr_explanation *e, const pr_explained_picture *picture,
                                   const char *path, pr_writer *page, parsrec_error *err)
{
    char name[NAME];
    if (picture->group_count == 0) {
        pr_heatmap_panel one = {pr_difference_name(e, name, sizeof name),
                                e->difference.maps[picture->kind]};
        return draw(e, picture->kind, &one, 1, path, page, err);
    }
    pr_heatmap_panel *panels = pr_alloc(picture->group_count, sizeof *panels);
    if (panels == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < picture->group_count; i++) {
        size_t g = picture->first_group + i;
        bool shared = picture->kind == PR_MAP_EMBEDDING;
        panels[i] = (pr_heatmap_panel){shared ? NULL : e->groups[g].name,
                                       pr_explained_map(e, g, picture->kind)};
    }
    parsrec_status status = draw(e, picture->kind, panels, picture->group_count, path, page, err);
    pr_free(panels);
    return status;
}
