/* The explanation as lines of text. */
#include <stdio.h>
#include <string.h>

#include "explain/explain_words.h"

enum { WORDS = 1024, UNCONFIRMED = 5 };

static void write_count(pr_writer *text, uint64_t n)
{
    char count[64];
    pr_write(text, "%s", pr_explain_count(n, count, sizeof count));
}

static void write_head(pr_writer *text, const pr_explanation *e, const pr_explained_group *g)
{
    pr_write(text, "%s: ", g->name);
    write_count(text, g->users);
    pr_write(text, g->users == 1 ? " user" : " users");
    if (g->baskets > 0) {
        pr_write(text, ", ");
        write_count(text, g->baskets);
        pr_write(text, " baskets of two items or more, ");
        write_count(text, g->steps);
        pr_write(text, " steps");
    }
    if (g->cut > 0) {
        pr_write(text, "; of ");
        write_count(text, g->cut);
        pr_write(text, " the first %zu items", e->basket_most);
    }
    pr_write(text, "\n");
}

/* A line of its own, its words broken at the width of a terminal. */
static void write_wrapped(pr_writer *text, const char *words)
{
    enum { WIDTH = 94 };
    while (*words != '\0') {
        size_t n = strlen(words), cut = n;
        if (n > WIDTH)
            for (cut = WIDTH; cut > 0 && (words[cut] != ' ' || words[cut + 1] == '%'); cut--)
                ;
        cut = cut > 0 ? cut : n;
        pr_write(text, "      %.*s\n", (int)cut, words);
        for (words += cut; *words == ' '; words++)
            ;
    }
}

static void write_relations(pr_writer *text, const pr_explanation *e, size_t group,
                            pr_map_kind kind)
{
    parsrec_relation list[PR_STRONGEST];
    char words[WORDS];
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, true);
    pr_write(text, "\n  strongest by %s\n", pr_map_words_of[kind].name);
    for (size_t i = 0; i < n; i++) {
        pr_write(text, "  %2zu  %s\n", i + 1,
                 pr_relation_words(e, kind, &list[i], words, sizeof words));
        write_wrapped(text, pr_evidence_words(e, &list[i], words, sizeof words));
    }
    if (n == 0)
        pr_write(text, "      none that the baskets confirm\n");
    n = pr_relations(list, PR_STRONGEST, e, group, kind, false);
    if (n == 0 || kind == PR_MAP_LIFT)
        return;
    pr_write(text, "\n  to the model alone: the baskets do not confirm these\n");
    for (size_t i = 0; i < n && i < UNCONFIRMED; i++) {
        char why[WORDS];
        pr_write(text, "   -  %s: %s\n", pr_relation_words(e, kind, &list[i], words, sizeof words),
                 pr_verdict_words(&list[i], why, sizeof why));
        write_wrapped(text, pr_evidence_words(e, &list[i], words, sizeof words));
    }
}

static void write_group(pr_writer *text, const pr_explanation *e, size_t group)
{
    const pr_explained_group *g = &e->groups[group];
    char words[WORDS];
    write_head(text, e, g);
    if (pr_first_list(e) != PR_MAP_KINDS)
        write_relations(text, e, group, pr_first_list(e));
    if (pr_agreement_words(g, words, sizeof words)[0] != '\0')
        pr_write(text, "\n  %s\n", words);
    pr_write(text, "\n");
}

static void write_difference(pr_writer *text, const pr_explanation *e)
{
    pr_contrast list[PR_STRONGEST];
    char words[WORDS];
    if (e->difference.maps[PR_MAP_DROP] == NULL)
        return;
    size_t n = pr_contrasts(list, PR_STRONGEST, e, PR_MAP_DROP);
    pr_write(text, "%s: largest differences\n\n", pr_difference_name(e, words, sizeof words));
    for (size_t i = 0; i < n; i++) {
        pr_write(text, "  %2zu  %s\n", i + 1, pr_contrast_words(e, &list[i], words, sizeof words));
        write_wrapped(text, pr_contrast_evidence(e, &list[i], words, sizeof words));
    }
    if (n == 0)
        pr_write(text, "      none that the baskets confirm\n");
    pr_write(text, "\n");
}

static void write_recovery(pr_writer *text, const pr_explanation *e)
{
    char a[32], b[32], c[32], name[WORDS];
    pr_write(text, "how well maps recover the truth of these data\n\n");
    pr_write(text, "  %-24s %-10s %8s %12s %10s\n", "", "map", "rank", "covariance>0", "related");
    for (size_t g = 0; g < e->group_count; g++)
        for (size_t k = PR_MAP_TRUTH + 1; k < PR_MAP_KINDS; k++) {
            const pr_recovery *r = &e->groups[g].recovery[k];
            if (r->pairs > 0)
                pr_write(text, "  %-24s %-10s %8s %12s %10s\n", e->groups[g].name,
                         pr_map_words_of[k].name, pr_explain_number(r->rank, a, sizeof a),
                         pr_explain_number(r->positive, b, sizeof b),
                         pr_explain_number(r->related, c, sizeof c));
        }
    for (size_t k = PR_MAP_TRUTH + 1; k < PR_MAP_KINDS && e->has_difference; k++) {
        const pr_difference_recovery *r = &e->difference.recovery[k];
        if (r->pairs > 0)
            pr_write(text, "  %-24s %-10s %8s %12s %10s  different %s\n",
                     pr_difference_name(e, name, sizeof name), pr_map_words_of[k].name,
                     pr_explain_number(r->rank, a, sizeof a), "", "",
                     pr_explain_number(r->different, b, sizeof b));
    }
    pr_write(text,
             "\n  rank: Spearman's correlation with the covariance; the others are areas under the "
             "curve:\n  covariance above 0; related, that is lift above %.2f when the users shop "
             "on; covariances of\n  the groups more than %.1f apart\n\n",
             PR_RELATED_LIFT, PR_DIFFERENT_SIGMA);
}

void pr_explanation_plain(pr_writer *text, const pr_explanation *e)
{
    const char *what = e->axis.items ? "items" : "categories";
    pr_write(text, "relationships of %zu %s", e->axis.count, what);
    if (e->axis.there > e->axis.count)
        pr_write(text, " out of %zu", e->axis.there);
    pr_write(text, " by model %s\n\n", e->model_kind);
    for (size_t g = 0; g < e->group_count; g++)
        write_group(text, e, g);
    if (e->has_difference)
        write_difference(text, e);
    if (e->has_truth)
        write_recovery(text, e);
}
