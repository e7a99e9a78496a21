/* The explanation as a page: what stands out, one map, and everything else folded away. */
#include <stdio.h>

#include "explain/explain_words.h"
#include "report/page.h"

enum { WORDS = 1024, BESIDE_MOST = 25 }; /* maps of more rows lie below each other */

static void intro(pr_writer *page, const pr_explanation *e)
{
    char words[WORDS];
    const char *what = e->axis.items ? "items" : "categories";
    snprintf(words, sizeof words,
             "What %zu %s have to do with each other: what the model %s has learnt of them, and "
             "what was counted in the baskets.",
             e->axis.count, what, e->model_kind);
    pr_page_lead(page, words);
    if (e->axis.there > e->axis.count) {
        snprintf(words, sizeof words,
                 "These are the %zu of %zu %s that are bought most or were asked for; the others "
                 "still count among what could have been bought.",
                 e->axis.count, e->axis.there, what);
        pr_page_quiet(page, words);
    }
}

/* ---- sentences ---- */

static void group_heading(pr_writer *page, const pr_explanation *e, size_t group, const char *words)
{
    char heading[WORDS];
    snprintf(heading, sizeof heading, "%s%s%s", words, words[0] != '\0' ? ": " : "",
             e->groups[group].name);
    if (e->group_count > 1)
        pr_page_heading(page, heading);
}

static void confirmed(pr_writer *page, const pr_explanation *e, size_t group, pr_map_kind kind)
{
    parsrec_relation list[PR_STRONGEST];
    char sentence[WORDS], counted[WORDS];
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, true);
    group_heading(page, e, group, "");
    if (n == 0)
        pr_page_text(page, "None that the baskets confirm.");
    pr_page_findings(page);
    for (size_t i = 0; i < n; i++)
        pr_page_finding(page, pr_relation_words(e, kind, &list[i], sentence, sizeof sentence),
                        pr_evidence_words(e, &list[i], counted, sizeof counted));
    pr_page_findings_end(page);
}

/* What the model says and the baskets do not. Lift has no model. */
static void unconfirmed(pr_writer *page, const pr_explanation *e, pr_map_kind kind)
{
    parsrec_relation list[PR_STRONGEST];
    char sentence[WORDS], why[WORDS], counted[WORDS], both[2 * WORDS];
    if (kind == PR_MAP_LIFT)
        return;
    pr_page_fold(page, "What the model expects and the baskets do not confirm");
    pr_page_text(page, "Do not rely on these. A model can expect two things together because they "
                       "belong to one category, or because of a handful of baskets.");
    for (size_t g = 0; g < e->group_count; g++) {
        size_t n = pr_relations(list, PR_STRONGEST, e, g, kind, false);
        group_heading(page, e, g, "");
        if (n == 0)
            pr_page_text(page, "None.");
        pr_page_findings(page);
        for (size_t i = 0; i < n; i++) {
            snprintf(both, sizeof both, "Not confirmed, %s; %s",
                     pr_verdict_words(&list[i], why, sizeof why),
                     pr_evidence_words(e, &list[i], counted, sizeof counted));
            pr_page_finding(page, pr_relation_words(e, kind, &list[i], sentence, sizeof sentence),
                            both);
        }
        pr_page_findings_end(page);
    }
    pr_page_fold_end(page);
}

static void contrasts(pr_writer *page, const pr_explanation *e)
{
    pr_contrast list[PR_STRONGEST];
    char sentence[WORDS], counted[WORDS], name[WORDS];
    if (e->difference.maps[PR_MAP_DROP] == NULL)
        return;
    size_t n = pr_contrasts(list, PR_STRONGEST, e, PR_MAP_DROP);
    pr_page_section(page, pr_difference_name(e, name, sizeof name));
    if (n == 0)
        pr_page_text(page, "No difference that the baskets confirm.");
    pr_page_findings(page);
    for (size_t i = 0; i < n; i++)
        pr_page_finding(page, pr_contrast_words(e, &list[i], sentence, sizeof sentence),
                        pr_contrast_evidence(e, &list[i], counted, sizeof counted));
    pr_page_findings_end(page);
}

static void standing_out(pr_writer *page, const pr_explanation *e)
{
    char words[WORDS];
    pr_map_kind kind = pr_first_list(e);
    if (kind == PR_MAP_KINDS)
        return;
    pr_page_section(page, "What stands out");
    for (size_t g = 0; g < e->group_count; g++)
        confirmed(page, e, g, kind);
    pr_page_quiet(page, pr_rule_words(e, words, sizeof words));
    unconfirmed(page, e, kind);
    contrasts(page, e);
}

/* ---- maps ---- */

static parsrec_status pictures(pr_writer *page, const pr_explanation *e, pr_map_kind kind,
                               parsrec_error *err)
{
    size_t groups = kind == PR_MAP_EMBEDDING ? 1 : e->group_count;
    bool beside = e->axis.count <= BESIDE_MOST && groups > 1;
    if (beside)
        pr_page_gallery(page);
    for (size_t g = 0; g < groups; g++) {
        pr_explained_picture picture = {kind, g, 1};
        PR_TRY(pr_explanation_draw(e, &picture, NULL, page, err));
    }
    pr_explained_picture difference = {kind, 0, 0};
    if (e->difference.maps[kind] != NULL)
        PR_TRY(pr_explanation_draw(e, &difference, NULL, page, err));
    if (beside)
        pr_page_gallery_end(page);
    return PARSREC_OK;
}

/* The first map is open; of the others a reader opens what is wanted. */
static parsrec_status map(pr_writer *page, const pr_explanation *e, pr_map_kind kind, bool first,
                          parsrec_error *err)
{
    bool listed = pr_map_is_listed(kind) && kind != pr_first_list(e);
    if (first)
        pr_page_section(page, pr_map_words_of[kind].title);
    else
        pr_page_fold(page, pr_map_words_of[kind].title);
    pr_page_text(page, pr_map_words_of[kind].how);
    if (first)
        pr_page_text(page, "Rows: what is bought next. Columns: what is in the basket. Orange: the "
                           "column speaks for the row; blue: against it; pale: neither.");
    PR_TRY(pictures(page, e, kind, err));
    for (size_t g = 0; g < e->group_count && listed; g++)
        confirmed(page, e, g, kind);
    if (!first)
        pr_page_fold_end(page);
    return PARSREC_OK;
}

static parsrec_status maps(pr_writer *page, const pr_explanation *e, parsrec_error *err)
{
    static const pr_map_kind shown[] = {PR_MAP_DROP, PR_MAP_LIFT, PR_MAP_ATTENTION,
                                        PR_MAP_EMBEDDING, PR_MAP_TRUTH};
    size_t done = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (!e->has[shown[i]])
            continue;
        if (done == 1)
            pr_page_section(page, "More maps");
        PR_TRY(map(page, e, shown[i], done == 0, err));
        done++;
    }
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
                 "Attention says where the model looks, the effect on the next item what it would "
                 "have expected otherwise. Where the two disagree, the effect is what the model "
                 "does.");
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
    pr_page_begin(page, e->axis.items ? "Relationships of items" : "Relationships of categories");
    intro(page, e);
    standing_out(page, e);
    PR_TRY(maps(page, e, err));
    agreement(page, e);
    if (e->has_truth)
        recovery(page, e);
    if (e->has_truth && e->has_difference)
        difference_recovery(page, e);
    traces(page, e);
    pr_page_end(page);
    return page->failed ? pr_fail_memory(err) : PARSREC_OK;
}
