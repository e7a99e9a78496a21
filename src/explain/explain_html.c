/* The explanation as a page: how to read it, pictures, lists, and what it is all worth. */
#include <stdio.h>

#include "explain/explain_words.h"
#include "plot/page.h"

enum { WORDS = 1024, PANELS_A_PICTURE = 4 };

static void intro(pr_writer *page, const pr_explanation *e)
{
    char words[WORDS];
    const char *what = e->axis.items ? "items" : "categories";
    snprintf(
        words, sizeof words,
        "What %zu %s have to do with each other, to the model %s and in the data. In every map a "
        "row is what is bought next and a column what is in the basket already. Orange: the "
        "column speaks for the row; blue: against it; pale: neither.",
        e->axis.count, what, e->model_kind);
    pr_page_text(page, words);
    if (e->axis.there > e->axis.count) {
        snprintf(
            words, sizeof words,
            "Of %zu %s those are shown; the others still count among what could have been bought.",
            e->axis.there, what);
        pr_page_quiet(page, words);
    }
}

static parsrec_status pictures(pr_writer *page, const pr_explanation *e, pr_map_kind kind,
                               parsrec_error *err)
{
    size_t groups = kind == PR_MAP_EMBEDDING ? 1 : e->group_count;
    for (size_t first = 0; first < groups; first += PANELS_A_PICTURE) {
        size_t left = groups - first;
        pr_explained_picture picture = {kind, first,
                                        left < PANELS_A_PICTURE ? left : PANELS_A_PICTURE};
        PR_TRY(pr_explanation_draw(e, &picture, NULL, page, err));
    }
    pr_explained_picture difference = {kind, 0, 0};
    if (e->difference.maps[kind] == NULL)
        return PARSREC_OK;
    return pr_explanation_draw(e, &difference, NULL, page, err);
}

static void links(pr_writer *page, const pr_explanation *e, size_t group, pr_map_kind kind)
{
    const char *const headings[] = {e->group_count > 1 ? e->groups[group].name : "strongest",
                                    "what the map says"};
    pr_link best[PR_STRONGEST];
    char words[WORDS], place[32];
    const double *map = pr_explained_map(e, group, kind);
    const double *placed = kind == PR_MAP_DROP ? e->groups[group].placed : NULL;
    size_t n = pr_strongest(best, PR_STRONGEST, map, placed, e->axis.count, false);
    pr_page_table(page, headings, 2);
    for (size_t i = 0; i < n; i++) {
        snprintf(place, sizeof place, "%zu", i + 1);
        pr_page_row(page, place);
        pr_page_cell(page, pr_link_words(e, kind, &best[i], words, sizeof words), PR_CELL_TEXT);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
}

static parsrec_status section(pr_writer *page, const pr_explanation *e, pr_map_kind kind,
                              parsrec_error *err)
{
    if (!e->has[kind])
        return PARSREC_OK;
    pr_page_section(page, pr_map_words_of[kind].title);
    pr_page_text(page, pr_map_words_of[kind].how);
    PR_TRY(pictures(page, e, kind, err));
    for (size_t g = 0; g < e->group_count && pr_map_is_listed(kind); g++)
        links(page, e, g, kind);
    return PARSREC_OK;
}

/* ---- what it is worth ---- */

static void agreement(pr_writer *page, const pr_explanation *e)
{
    char words[WORDS], line[2 * WORDS];
    if (!e->has[PR_MAP_ATTENTION] || !e->has[PR_MAP_DROP])
        return;
    pr_page_section(page, "Can attention be trusted?");
    pr_page_text(page,
                 "Attention says where the model looks, a drop effect what it would have done "
                 "otherwise. Where the two disagree, the drop effect is what the model does.");
    for (size_t g = 0; g < e->group_count; g++) {
        snprintf(line, sizeof line, "%s: %s", e->groups[g].name,
                 pr_agreement_words(&e->groups[g], words, sizeof words));
        pr_page_text(page, line);
    }
}

static void recovery_row(pr_writer *page, const char *name, pr_map_kind kind, const double *cells,
                         size_t count)
{
    char number[32];
    pr_page_row(page, name);
    pr_page_cell(page, pr_map_words_of[kind].title, PR_CELL_TEXT);
    for (size_t i = 0; i < count; i++)
        pr_page_cell(page, pr_explain_number(cells[i], number, sizeof number), PR_CELL_PLAIN);
    pr_page_row_end(page);
}

static void recovery(pr_writer *page, const pr_explanation *e)
{
    static const char *const headings[] = {"group", "map", "rank correlation", "covariance above 0",
                                           "related"};
    pr_page_section(page, "How well maps recover the truth");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t g = 0; g < e->group_count; g++)
        for (size_t k = PR_MAP_TRUTH + 1; k < PR_MAP_KINDS; k++) {
            const pr_recovery *r = &e->groups[g].recovery[k];
            const double cells[] = {r->rank, r->positive, r->related};
            if (r->pairs > 0)
                recovery_row(page, e->groups[g].name, (pr_map_kind)k, cells, 3);
        }
    pr_page_table_end(page);
    pr_page_quiet(
        page, "Rank correlation (Spearman) with the covariance the data were made with; areas "
              "under the curve for pairs with a positive covariance, and for pairs bought "
              "together more than 1.05 times as often as by chance when the same users shop on. "
              "1 is perfect, .5 is chance.");
}

static void difference_recovery(pr_writer *page, const pr_explanation *e)
{
    static const char *const headings[] = {"groups", "map", "rank correlation", "different"};
    char name[WORDS];
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t k = PR_MAP_TRUTH + 1; k < PR_MAP_KINDS; k++) {
        const pr_difference_recovery *r = &e->difference.recovery[k];
        const double cells[] = {r->rank, r->different};
        if (r->pairs > 0)
            recovery_row(page, pr_difference_name(e, name, sizeof name), (pr_map_kind)k, cells, 2);
    }
    pr_page_table_end(page);
    pr_page_quiet(page,
                  "Different: pairs whose covariances are more than .3 apart in the two groups, "
                  "found by how far the maps are apart.");
}

static void traces(pr_writer *page, const pr_explanation *e)
{
    char text[WORDS];
    pr_page_section(page, "How it was made");
    if (e->command != NULL)
        pr_page_code(page, e->command);
    pr_page_list(page);
    pr_page_item(page, "model", e->model_name != NULL ? e->model_name : e->model_kind);
    pr_page_item(page, "data", e->data_name != NULL ? e->data_name : "");
    pr_page_item(page, "checksum of the data", e->checksum);
    for (size_t g = 0; g < e->group_count; g++) {
        const pr_explained_group *from = &e->groups[g];
        snprintf(
            text, sizeof text,
            "%zu users, %llu baskets of two items or more, %llu steps; %llu baskets cut to %zu "
            "items",
            from->users, (unsigned long long)from->baskets, (unsigned long long)from->steps,
            (unsigned long long)from->cut, e->basket_most);
        pr_page_item(page, from->name, text);
    }
    snprintf(text, sizeof text, "parsrec %s, %.1f s", parsrec_version(), e->seconds);
    pr_page_item(page, "program", text);
    pr_page_list_end(page);
}

parsrec_status pr_explanation_html(pr_writer *page, const pr_explanation *e, parsrec_error *err)
{
    static const pr_map_kind shown[] = {PR_MAP_DROP, PR_MAP_ATTENTION, PR_MAP_LIFT,
                                        PR_MAP_EMBEDDING, PR_MAP_TRUTH};
    pr_page_begin(page, e->axis.items ? "Relationships of items" : "Relationships of categories");
    intro(page, e);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        PR_TRY(section(page, e, shown[i], err));
    agreement(page, e);
    if (e->has_truth)
        recovery(page, e);
    if (e->has_truth && e->has_difference)
        difference_recovery(page, e);
    traces(page, e);
    pr_page_end(page);
    return page->failed ? pr_fail_memory(err) : PARSREC_OK;
}
