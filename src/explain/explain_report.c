/* The explanation for readers: lines of text, and a page with findings first, one map, and
 * everything else folded away. */
#include <stdio.h>

#include "explain/explain.h"
#include "report/report.h"

enum { WORDS = 1024, TEXT_WIDTH = 100, UNCONFIRMED = 5, BESIDE_MOST = 25 };

static void intro(pr_report *r, const pr_explanation *e)
{
    const char *what = e->axis.items ? "items" : "categories";
    char there[32];
    pr_explain_count(e->axis.there, there, sizeof there);
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_TITLE, "Relationships of %s", what);
    pr_report_add(r, PR_REPORT_LEAD,
                  "How %zu %s relate to each other: what the model %s has learnt about them, and "
                  "what was counted in the baskets.",
                  e->axis.count, what, e->model_kind);
    if (e->axis.there > e->axis.count)
        pr_report_add(r, PR_REPORT_NOTE,
                      "These are the %zu of %s %s that are bought most or were asked for; the "
                      "others still count among what could have been bought.",
                      e->axis.count, there, what);
    pr_report_only(r, PR_IN_TEXT);
    pr_writer *text = pr_report_open(r, PR_REPORT_TEXT);
    pr_write(text, "relationships of %zu %s", e->axis.count, what);
    if (e->axis.there > e->axis.count)
        pr_write(text, " out of %s", there);
    pr_write(text, " by model %s", e->model_kind);
}

/* ---- findings ---- */

/* Who a group is: "30 users, 700 baskets; the model is asked about 600 of two items or more, in 1,922
 * steps". Evidence is counted in all baskets; maps that only count ask the model nothing. */
static char *group_size(const pr_explanation *e, const pr_explained_group *g, char *buffer,
                        size_t size)
{
    char count[5][32], asked[128] = "", cut[96] = "";
    if (g->baskets > 0)
        snprintf(asked, sizeof asked,
                 "; the model is asked about %s of two items or more, in %s step%s",
                 pr_explain_count(g->baskets, count[1], sizeof count[1]),
                 pr_explain_count(g->steps, count[2], sizeof count[2]), g->steps == 1 ? "" : "s");
    if (g->cut > 0)
        snprintf(cut, sizeof cut, "; only the first %zu items of %s basket%s", e->basket_most,
                 pr_explain_count(g->cut, count[3], sizeof count[3]), g->cut == 1 ? "" : "s");
    snprintf(buffer, size, "%s user%s, %s basket%s%s%s",
             pr_explain_count(g->users, count[0], sizeof count[0]), g->users == 1 ? "" : "s",
             pr_explain_count(g->evidence.baskets, count[4], sizeof count[4]),
             g->evidence.baskets == 1 ? "" : "s", asked, cut);
    return buffer;
}

static void describe_group(pr_report *r, const pr_explanation *e, const pr_explained_group *g)
{
    char counted[WORDS];
    pr_report_only(r, PR_IN_TEXT);
    pr_report_add(r, PR_REPORT_TEXT, "%s: %s", g->label, group_size(e, g, counted, sizeof counted));
    pr_report_only(r, 0);
}

static void add_confirmed(pr_report *r, const pr_explanation *e, size_t group, size_t kind)
{
    parsrec_relation list[PR_STRONGEST];
    char sentence[WORDS], counted[WORDS];
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, true);
    if (n == 0)
        pr_report_add(r, PR_REPORT_TEXT, "None that the baskets confirm.");
    for (size_t i = 0; i < n; i++)
        pr_report_finding(
            r, parsrec_relation_sentence(e, (parsrec_map)kind, &list[i], sentence, sizeof sentence),
            parsrec_relation_evidence(e, &list[i], counted, sizeof counted));
}

/* What the model says and the baskets do not. */
static void add_unconfirmed(pr_report *r, const pr_explanation *e, size_t group, size_t kind,
                            size_t most)
{
    parsrec_relation list[PR_STRONGEST];
    char sentence[WORDS], why[WORDS], counted[WORDS], both[2 * WORDS];
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, false);
    if (n == 0)
        pr_report_add(r, PR_REPORT_TEXT, "None.");
    for (size_t i = 0; i < n && i < most; i++) {
        snprintf(both, sizeof both, "Not confirmed, %s; %s",
                 pr_verdict_words(&list[i], why, sizeof why),
                 parsrec_relation_evidence(e, &list[i], counted, sizeof counted));
        pr_report_finding(
            r, parsrec_relation_sentence(e, (parsrec_map)kind, &list[i], sentence, sizeof sentence),
            both);
    }
}

static void group_heading(pr_report *r, const pr_explanation *e, size_t group)
{
    pr_report_only(r, PR_IN_HTML);
    if (e->group_count > 1)
        pr_report_add(r, PR_REPORT_HEADING, "%s", e->groups[group].label);
    pr_report_only(r, 0);
}

static void add_contrasts(pr_report *r, const pr_explanation *e)
{
    parsrec_group_contrast list[PR_STRONGEST];
    char sentence[WORDS], counted[WORDS], name[WORDS];
    parsrec_map map = PARSREC_MAP_DROP;
    if (e->difference.maps[map] == NULL)
        return;
    size_t n =
        parsrec_explanation_contrasts(e, e->difference.a, e->difference.b, map, list, PR_STRONGEST);
    pr_report_add(r, PR_REPORT_SECTION, "%s", pr_difference_name(e, name, sizeof name));
    if (n == 0)
        pr_report_add(r, PR_REPORT_TEXT, "No difference that the baskets confirm.");
    for (size_t i = 0; i < n; i++)
        pr_report_finding(r, parsrec_contrast_sentence(e, map, &list[i], sentence, sizeof sentence),
                          parsrec_contrast_evidence(e, &list[i], counted, sizeof counted));
}

/* Text has all about a group together; the page has what can be relied on first, and folds the rest
 * away. */
static void add_findings(pr_report *r, const pr_explanation *e)
{
    char words[WORDS];
    size_t kind = pr_first_list(e);
    bool listed = kind != PR_MAP_KINDS, model = kind != PARSREC_MAP_LIFT; /* lift has no model */
    pr_report_only(r, PR_IN_HTML);
    if (listed)
        pr_report_add(r, PR_REPORT_SECTION, "What stands out");
    for (size_t g = 0; g < e->group_count; g++) {
        describe_group(r, e, &e->groups[g]);
        if (!listed)
            continue;
        group_heading(r, e, g);
        pr_report_only(r, PR_IN_TEXT);
        pr_report_add(r, PR_REPORT_HEADING, "Strongest by %s", pr_map_name(kind));
        pr_report_only(r, 0);
        add_confirmed(r, e, g, kind);
        pr_report_only(r, PR_IN_TEXT);
        if (model) {
            pr_report_add(r, PR_REPORT_HEADING,
                          "Expected by the model, not confirmed by the baskets");
            add_unconfirmed(r, e, g, kind, UNCONFIRMED);
        }
        if (pr_agreement_words(&e->groups[g], words, sizeof words)[0] != '\0')
            pr_report_add(r, PR_REPORT_TEXT, "%s", words);
    }
    pr_report_only(r, PR_IN_HTML);
    if (listed)
        pr_report_add(r, PR_REPORT_NOTE, "%s", pr_rule_words(e, words, sizeof words));
    if (listed && model) {
        pr_report_add(r, PR_REPORT_FOLD, "What the model expects and the baskets do not confirm");
        pr_report_add(r, PR_REPORT_TEXT,
                      "Do not rely on these. A model can expect two things together because they "
                      "belong to one category, or because of a handful of baskets.");
        for (size_t g = 0; g < e->group_count; g++) {
            group_heading(r, e, g);
            pr_report_only(r, PR_IN_HTML);
            add_unconfirmed(r, e, g, kind, PR_STRONGEST);
        }
        pr_report_add(r, PR_REPORT_FOLD_END, " ");
    }
    pr_report_only(r, 0);
    if (e->has_difference)
        add_contrasts(r, e);
}

/* ---- maps, in the page only ---- */

static parsrec_status add_pictures(pr_report *r, const pr_explanation *e, size_t kind,
                                   parsrec_error *err)
{
    size_t groups = kind == PARSREC_MAP_EMBEDDING ? 1 : e->group_count;
    bool beside = e->axis.count <= BESIDE_MOST && groups > 1; /* larger maps lie below each other */
    if (beside)
        pr_report_add(r, PR_REPORT_GALLERY, " ");
    for (size_t g = 0; g < groups; g++) {
        pr_explained_picture picture = {kind, g, 1};
        PR_TRY(pr_explanation_draw(e, &picture, NULL, pr_report_open(r, PR_REPORT_CHART), err));
    }
    pr_explained_picture difference = {kind, 0, 0};
    if (e->difference.maps[kind] != NULL)
        PR_TRY(pr_explanation_draw(e, &difference, NULL, pr_report_open(r, PR_REPORT_CHART), err));
    if (beside)
        pr_report_add(r, PR_REPORT_GALLERY_END, " ");
    return PARSREC_OK;
}

/* The first map is open; readers unfold the others. */
static parsrec_status add_map(pr_report *r, const pr_explanation *e, size_t kind, bool first,
                              parsrec_error *err)
{
    bool listed = pr_map_is_listed(kind) && kind != pr_first_list(e);
    pr_report_add(r, first ? PR_REPORT_SECTION : PR_REPORT_FOLD, "%s", pr_map_words_of[kind].title);
    pr_report_add(r, PR_REPORT_TEXT, "%s", pr_map_words_of[kind].how);
    if (first)
        pr_report_add(r, PR_REPORT_TEXT,
                      "Rows: what is bought next. Columns: what is in the basket. Orange: the "
                      "column makes the row more likely; blue: less likely; pale: neither.");
    PR_TRY(add_pictures(r, e, kind, err));
    for (size_t g = 0; g < e->group_count && listed; g++) {
        group_heading(r, e, g);
        pr_report_only(r, PR_IN_HTML);
        add_confirmed(r, e, g, kind);
    }
    if (!first)
        pr_report_add(r, PR_REPORT_FOLD_END, " ");
    return PARSREC_OK;
}

static parsrec_status add_maps(pr_report *r, const pr_explanation *e, parsrec_error *err)
{
    static const size_t shown[] = {PARSREC_MAP_DROP, PARSREC_MAP_LIFT, PARSREC_MAP_ATTENTION,
                                   PARSREC_MAP_EMBEDDING, PR_MAP_TRUTH};
    size_t done = 0;
    pr_report_only(r, PR_IN_HTML);
    if (!pr_report_is_wanted(r)) /* pictures take time */
        return PARSREC_OK;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (!e->has[shown[i]])
            continue;
        if (done == 1)
            pr_report_add(r, PR_REPORT_SECTION, "More maps");
        PR_TRY(add_map(r, e, shown[i], done == 0, err));
        done++;
    }
    return PARSREC_OK;
}

/* ---- how far to trust it ---- */

static void add_agreement(pr_report *r, const pr_explanation *e)
{
    char words[WORDS];
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_SECTION, "Can attention be trusted?");
    pr_report_add(r, PR_REPORT_TEXT,
                  "Attention says where the model looks; the effect on the next item says what it "
                  "would have expected otherwise. Where the two disagree, the effect is what the "
                  "model does.");
    for (size_t g = 0; g < e->group_count; g++)
        if (pr_agreement_words(&e->groups[g], words, sizeof words)[0] != '\0')
            pr_report_add(r, PR_REPORT_TEXT, "%s: %s", e->groups[g].label, words);
}

static void add_recovery(pr_report *r, const pr_explanation *e)
{
    static const pr_report_column columns[] = {{"group", PR_REPORT_WORDS, 0, NULL, 24},
                                               {"map", PR_REPORT_WORDS, 0, NULL, 0},
                                               {"rank correlation", PR_REPORT_NUMBER, 3, NULL, 0},
                                               {"covariance above 0", PR_REPORT_NUMBER, 3, NULL, 0},
                                               {"related", PR_REPORT_NUMBER, 3, NULL, 0},
                                               {"slope", PR_REPORT_NUMBER, 3, NULL, 0}};
    pr_report_only(r, 0);
    pr_report_add(r, PR_REPORT_SECTION, "How well maps recover the truth");
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t g = 0; g < e->group_count; g++)
        for (size_t i = 0; i < PR_MAP_KINDS; i++) {
            const pr_recovery *recovered = &e->groups[g].recovery[pr_map_order[i]];
            if (recovered->pairs == 0 || pr_map_order[i] == PR_MAP_TRUTH)
                continue;
            pr_report_row(r, PR_ROW_PLAIN, e->groups[g].label);
            pr_report_words(r, PR_PLAIN, "%s", pr_map_words_of[pr_map_order[i]].title);
            pr_report_number(r, recovered->rank, PR_PLAIN);
            pr_report_number(r, recovered->positive, PR_PLAIN);
            pr_report_number(r, recovered->related, PR_PLAIN);
            pr_report_number(r, recovered->slope, PR_PLAIN);
        }
    pr_report_add(r, PR_REPORT_NOTE,
                  "Rank correlation (Spearman) with the covariance the data were made with; areas "
                  "under the ROC curve for pairs with a positive covariance, and for pairs bought "
                  "together more than %.2f times as often as by chance on further trips of the "
                  "same users. 1 is perfect, .5 is chance. Slope: of the map on the log of that "
                  "lift, for maps of logs; below 1 relations are found too weak.",
                  PR_RELATED_LIFT);
}

static void add_difference_recovery(pr_report *r, const pr_explanation *e)
{
    static const pr_report_column columns[] = {{"groups", PR_REPORT_WORDS, 0, NULL, 24},
                                               {"map", PR_REPORT_WORDS, 0, NULL, 0},
                                               {"rank correlation", PR_REPORT_NUMBER, 3, NULL, 0},
                                               {"different", PR_REPORT_NUMBER, 3, NULL, 0},
                                               {"slope", PR_REPORT_NUMBER, 3, NULL, 0}};
    char name[WORDS];
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        const pr_difference_recovery *recovered = &e->difference.recovery[pr_map_order[i]];
        if (recovered->pairs == 0 || pr_map_order[i] == PR_MAP_TRUTH)
            continue;
        pr_report_row(r, PR_ROW_PLAIN, pr_difference_name(e, name, sizeof name));
        pr_report_words(r, PR_PLAIN, "%s", pr_map_words_of[pr_map_order[i]].title);
        pr_report_number(r, recovered->rank, PR_PLAIN);
        pr_report_number(r, recovered->different, PR_PLAIN);
        pr_report_number(r, recovered->slope, PR_PLAIN);
    }
    pr_report_add(r, PR_REPORT_NOTE,
                  "Different: pairs whose covariances are more than %.1f apart in the two groups, "
                  "found by how far the maps are apart. Slope: of the difference of the maps on "
                  "that of the log lifts.",
                  PR_DIFFERENT_SIGMA);
}

static void add_origin(pr_report *r, const pr_explanation *e)
{
    char counted[WORDS];
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_SECTION, "How it was made");
    if (e->command != NULL)
        pr_report_add(r, PR_REPORT_CODE, "%s", e->command);
    pr_report_fact(r, "model", "%s", e->model_name != NULL ? e->model_name : e->model_kind);
    pr_report_fact(r, "data", "%s", e->data_name != NULL ? e->data_name : "");
    pr_report_fact(r, "checksum of the data", "%s", e->checksum);
    for (size_t g = 0; g < e->group_count; g++)
        pr_report_fact(r, e->groups[g].label, "%s",
                       group_size(e, &e->groups[g], counted, sizeof counted));
    pr_report_fact(r, "program", "parsrec %s, %.1f s", parsrec_version(), e->seconds);
}

parsrec_status pr_explanation_write(pr_writer *out, const pr_explanation *e, parsrec_text_kind kind,
                                    parsrec_error *err)
{
    pr_report r = {.wanted = kind == PARSREC_TEXT_HTML ? PR_IN_HTML : PR_IN_TEXT,
                   .width = TEXT_WIDTH};
    intro(&r, e);
    add_findings(&r, e);
    parsrec_status status = add_maps(&r, e, err);
    if (e->has[PARSREC_MAP_ATTENTION] && e->has[PARSREC_MAP_DROP])
        add_agreement(&r, e);
    if (e->has_truth)
        add_recovery(&r, e);
    if (e->has_truth && e->has_difference)
        add_difference_recovery(&r, e);
    add_origin(&r, e);
    if (status == PARSREC_OK)
        status = pr_report_write(out, &r, kind, err);
    pr_report_free(&r);
    return status;
}

parsrec_status parsrec_explanation_text(char **out, const parsrec_explanation *explanation,
                                        parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || explanation == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_explanation_text needs out and explanation");
    pr_writer text = {0};
    parsrec_status status = PARSREC_OK;
    *out = NULL;
    if (kind == PARSREC_TEXT_JSON)
        status = pr_explanation_write_json(&text, explanation, false, err);
    else if (kind == PARSREC_TEXT_PLAIN || kind == PARSREC_TEXT_HTML)
        status = pr_explanation_write(&text, explanation, kind, err);
    else
        status = pr_fail(err, PARSREC_E_ARGUMENT, "an explanation is plain text, JSON or HTML");
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
