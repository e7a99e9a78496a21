/* The folder: pages, numbers and pictures, each written whole or not at all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "explain/explain.h"

enum { PATH = 4096, SLUG = 48 };

/* Where everything goes, and how much of it is done. */
typedef struct saving {
    const pr_explanation *e;
    const char *folder;
    const parsrec_hooks *hooks;
    size_t done, total; /* maps, and the report */
} saving;

void pr_explanation_csv(pr_writer *csv, const pr_explanation *e, const double *map)
{
    size_t N = e->axis.count;
    pr_write_csv(csv, "bought next");
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
    const char *name = pr_map_words_of[picture->kind].name, *dash = slug[0] != '\0' ? "-" : "";
    pr_writer csv = {0};
    PR_TRY(pr_progress(s->hooks, "drawing", "maps", s->done++, s->total, err));
    pr_explanation_csv(&csv, s->e, map);
    snprintf(path, sizeof path, "%s/%s%s%s.csv", s->folder, name, dash, slug);
    PR_TRY(pr_writer_save(&csv, path, err));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
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
    for (size_t k = 0; k < PR_MAP_KINDS; k++) {
        const double *map = s->e->groups[group].maps[k];
        pr_explained_picture picture = {(pr_map_kind)k, group, 1};
        if (map != NULL && k != PR_MAP_EVEN)
            PR_TRY(save_map(s, slug, &picture, map, err));
    }
    return PARSREC_OK;
}

static parsrec_status save_shared(saving *s, parsrec_error *err)
{
    const pr_explanation *e = s->e;
    pr_explained_picture embedding = {PR_MAP_EMBEDDING, 0, 1};
    if (e->embedding != NULL)
        PR_TRY(save_map(s, "", &embedding, e->embedding, err));
    for (size_t k = 0; k < PR_MAP_KINDS; k++) {
        pr_explained_picture picture = {(pr_map_kind)k, 0, 0};
        if (e->difference.maps[k] != NULL && k != PR_MAP_EVEN)
            PR_TRY(save_map(s, "difference", &picture, e->difference.maps[k], err));
    }
    return PARSREC_OK;
}

static parsrec_status save_json(const pr_explanation *e, const char *folder, parsrec_error *err)
{
    char path[PATH];
    json_t *json = pr_explanation_json(e, true);
    char *text = json != NULL ? pr_json_text(json) : NULL;
    pr_writer out = {0};
    json_decref(json);
    if (text == NULL)
        return pr_fail_memory(err);
    pr_write(&out, "%s\n", text);
    pr_free(text);
    snprintf(path, sizeof path, "%s/report.json", folder);
    return pr_writer_save(&out, path, err);
}

static parsrec_status save_html(const pr_explanation *e, const char *folder, parsrec_error *err)
{
    char path[PATH];
    pr_writer page = {0};
    parsrec_status status = pr_explanation_html(&page, e, err);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (status == PARSREC_OK)
        return pr_writer_save(&page, path, err);
    pr_writer_free(&page);
    return status;
}

parsrec_status pr_explanation_save(const pr_explanation *e, const char *folder,
                                   const parsrec_hooks *hooks, parsrec_error *err)
{
    if (strlen(folder) > PATH - 128)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the name of the folder is too long");
    PR_TRY(pr_folder_make(folder, err));
    saving s = {.e = e, .folder = folder, .hooks = hooks};
    s.total = (e->embedding != NULL ? 2u : 1u) + count_maps(e->difference.maps);
    for (size_t g = 0; g < e->group_count; g++)
        s.total += count_maps(e->groups[g].maps);
    for (size_t g = 0; g < e->group_count; g++)
        PR_TRY(save_group(&s, g, err));
    PR_TRY(save_shared(&s, err));
    PR_TRY(pr_progress(hooks, "drawing", "maps", s.done, s.total, err));
    PR_TRY(save_json(e, folder, err));
    return save_html(e, folder, err);
}
