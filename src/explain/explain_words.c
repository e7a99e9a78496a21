/* Sentences out of numbers. */
#include "explain/explain_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 32 };
static const double WORTH_SAYING = 0.0488; /* log 1.05: of what a category shares */

/* Two digits behind the point up to ten, then one: "2.08", "31.4". */
static char *times(double factor, char buffer[NUMBER])
{
    snprintf(buffer, NUMBER, "%.*f", factor < 9.995 ? 2 : 1, factor);
    return buffer;
}

char *pr_explain_count(uint64_t count, char *buffer, size_t size)
{
    char digits[24], grouped[NUMBER];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    snprintf(buffer, size, "%s", grouped);
    return buffer;
}

char *pr_relation_words(const pr_explanation *e, pr_map_kind kind, const parsrec_relation *r,
                        char *buffer, size_t size)
{
    const char *row = e->axis.names[r->row], *column = e->axis.names[r->column];
    char factor[NUMBER], shared[NUMBER];
    if (kind == PR_MAP_DROP && r->category != NULL && r->category_part > WORTH_SAYING)
        snprintf(buffer, size,
                 "%s is %s times as likely with %s in the basket; %s times is usual for pairs "
                 "within %s",
                 row, times(exp(r->value), factor), column, times(exp(r->category_part), shared),
                 r->category);
    else if (kind == PR_MAP_DROP)
        snprintf(buffer, size, "%s is %s times as likely with %s in the basket", row,
                 times(exp(r->value), factor), column);
    else if (kind == PR_MAP_LIFT)
        snprintf(buffer, size, "%s and %s are in one basket %s times as often as by chance", row,
                 column, times(r->lift, factor));
    else
        snprintf(buffer, size, "%s gets %.1f %% of the attention when %s is expected next", column,
                 100 * r->value, row);
    return buffer;
}

char *pr_evidence_words(const pr_explanation *e, const parsrec_relation *r, char *buffer,
                        size_t size)
{
    char both[NUMBER], all[NUMBER], row[NUMBER], column[NUMBER], lift[NUMBER], low[NUMBER],
        high[NUMBER];
    int n = snprintf(buffer, size, "both in %s of %s baskets (%s in %s, %s in %s)",
                     pr_explain_count(r->both, both, sizeof both),
                     pr_explain_count(r->baskets, all, sizeof all), e->axis.names[r->row],
                     pr_explain_count(r->row_baskets, row, sizeof row), e->axis.names[r->column],
                     pr_explain_count(r->column_baskets, column, sizeof column));
    if (!isnan(r->lift) && n > 0 && (size_t)n < size)
        snprintf(buffer + n, size - (size_t)n,
                 ": %s times as often as by chance (95 %% interval %s to %s)", times(r->lift, lift),
                 times(r->low, low), times(r->high, high));
    return buffer;
}

char *pr_verdict_words(const parsrec_relation *r, char *buffer, size_t size)
{
    static const char *const words[] = {
        [PARSREC_RELATION_CONFIRMED] = "confirmed",
        [PARSREC_RELATION_FEW] = "too few baskets to tell",
        [PARSREC_RELATION_UNCERTAIN] = "the count may be chance",
        [PARSREC_RELATION_CONTRADICTED] = "the count says the opposite",
    };
    if (r->verdict == PARSREC_RELATION_CATEGORY)
        snprintf(buffer, size, "other pairs within %s have as much", r->category);
    else
        snprintf(buffer, size, "%s", words[r->verdict]);
    return buffer;
}

char *pr_contrast_words(const pr_explanation *e, const pr_contrast *c, char *buffer, size_t size)
{
    char a[NUMBER], b[NUMBER];
    snprintf(buffer, size, "%s with %s in the basket: %s times as likely for %s, %s times for %s",
             e->axis.names[c->first.row], e->axis.names[c->first.column],
             times(exp(c->first.value), a), e->groups[e->difference.a].name,
             times(exp(c->second.value), b), e->groups[e->difference.b].name);
    return buffer;
}

char *pr_contrast_evidence(const pr_explanation *e, const pr_contrast *c, char *buffer, size_t size)
{
    char counts[2][2][NUMBER], lift[2][NUMBER];
    const parsrec_relation *sides[] = {&c->first, &c->second};
    for (size_t i = 0; i < 2; i++) {
        pr_explain_count(sides[i]->both, counts[i][0], NUMBER);
        pr_explain_count(sides[i]->baskets, counts[i][1], NUMBER);
        times(sides[i]->lift, lift[i]);
    }
    snprintf(buffer, size,
             "both in %s of %s baskets for %s, %s times as often as by chance; in %s of %s for %s, "
             "%s times",
             counts[0][0], counts[0][1], e->groups[e->difference.a].name, lift[0], counts[1][0],
             counts[1][1], e->groups[e->difference.b].name, lift[1]);
    return buffer;
}

char *pr_rule_words(const pr_explanation *e, char *buffer, size_t size)
{
    char pairs[NUMBER];
    snprintf(
        buffer, size,
        "A sentence is shown only if at least 10 baskets hold both and the count by itself is "
        "above chance. The intervals hold the true figures of all %s pairs at once with 95 %%. "
        "Sentences are ordered by the smaller of two figures: what the map says, less what is "
        "usual for other pairs of the same category, and the lower end of the interval.",
        pr_explain_count((uint64_t)e->axis.count * (e->axis.count - 1) / 2, pairs, sizeof pairs));
    return buffer;
}

char *pr_explain_number(double value, char *buffer, size_t size)
{
    if (isnan(value))
        snprintf(buffer, size, "-");
    else
        snprintf(buffer, size, "%.3f", value);
    return buffer;
}

char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (!isnan(group->step_agreement))
        snprintf(buffer, size,
                 "Attention against effect: within a step Kendall's tau is %.2f, over the whole "
                 "map Spearman's rho is %.2f (1: they agree, 0: they are unrelated).",
                 group->step_agreement, group->map_agreement);
    return buffer;
}

pr_map_kind pr_first_list(const pr_explanation *e)
{
    static const pr_map_kind best[] = {PR_MAP_DROP, PR_MAP_LIFT, PR_MAP_ATTENTION};
    for (size_t i = 0; i < sizeof best / sizeof *best; i++)
        if (e->has[best[i]])
            return best[i];
    return PR_MAP_KINDS;
}
