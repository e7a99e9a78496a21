/* The explanation as lines of text. */
#include <stdio.h>

#include "explain/explain_words.h"

enum { WORDS = 1024 };

static void write_count(pr_writer *text, uint64_t n)
{
    if (n >= 1000) {
        write_count(text, n / 1000);
        pr_write(text, ",%03u", (unsigned)(n % 1000));
    } else {
        pr_write(text, "%u", (unsigned)n);
    }
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

static void write_links(pr_writer *text, const pr_explanation *e, size_t group, pr_map_kind kind)
{
    pr_link links[PR_STRONGEST];
    char words[WORDS];
    const double *map = pr_explained_map(e, group, kind);
    const double *placed = kind == PR_MAP_DROP ? e->groups[group].placed : NULL;
    size_t n = pr_strongest(links, PR_STRONGEST, map, placed, e->axis.count, false);
    pr_write(text, "\n  strongest by %s\n", pr_map_words_of[kind].name);
    for (size_t i = 0; i < n; i++)
        pr_write(text, "  %2zu  %s\n", i + 1,
                 pr_link_words(e, kind, &links[i], words, sizeof words));
    if (n == 0)
        pr_write(text, "      too little was bought to tell\n");
}

static void write_group(pr_writer *text, const pr_explanation *e, size_t group)
{
    const pr_explained_group *g = &e->groups[group];
    char words[WORDS];
    write_head(text, e, g);
    /* Of the maps that can be listed, the one that says most. */
    static const pr_map_kind best[] = {PR_MAP_DROP, PR_MAP_LIFT, PR_MAP_ATTENTION};
    for (size_t i = 0; i < sizeof best / sizeof *best; i++)
        if (pr_explained_map(e, group, best[i]) != NULL) {
            write_links(text, e, group, best[i]);
            break;
        }
    if (pr_agreement_words(g, words, sizeof words)[0] != '\0')
        pr_write(text, "\n  %s\n", words);
    pr_write(text, "\n");
}

static void write_difference(pr_writer *text, const pr_explanation *e)
{
    pr_link links[PR_STRONGEST];
    char name[WORDS];
    const double *map = e->difference.maps[PR_MAP_DROP];
    if (map == NULL)
        return;
    size_t n = pr_strongest(links, PR_STRONGEST, map, NULL, e->axis.count, true);
    pr_write(text, "%s: largest differences of drop effects\n\n",
             pr_difference_name(e, name, sizeof name));
    for (size_t i = 0; i < n; i++)
        pr_write(text, "  %2zu  %s with %s in the basket: %+.3f\n", i + 1,
                 e->axis.names[links[i].row], e->axis.names[links[i].column], links[i].value);
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
