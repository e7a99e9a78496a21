/* The strongest relationships of a map, each checked against the counts, and sentences about
 * them. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "explain/explain.h"

enum { BASKETS_LEAST = 10, TREE_CELLS_LEAST = 6, NUMBER = 32 };
static const double WORTH_NAMING = 0.0488; /* log 1.05: a twentieth more */

const char *parsrec_relation_verdict_name(parsrec_relation_verdict verdict)
{
    static const char *const names[] = {"confirmed", "few", "uncertain", "contradicted",
                                        "category"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "";
}

/* ---- what the category tree alone explains ---- */

parsrec_status pr_tree_sums_init(pr_tree_sums *tree, pr_region *region, const pr_axis *axis,
                                 const double *map, parsrec_error *err)
{
    size_t N = axis->count;
    tree->sum = pr_region_take(region, axis->categories, sizeof *tree->sum);
    tree->cells = pr_region_take(region, axis->categories, sizeof *tree->cells);
    PR_TRY(pr_region_check(region, err));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            if (i == j || isnan(map[i * N + j]))
                continue;
            /* The cell counts in all categories that contain both of its classes. */
            for (int l = pr_axis_common(axis, i, j); l >= 0; l--) {
                size_t category = (size_t)axis->paths[i * PR_CATEGORY_LEVELS + (size_t)l];
                tree->sum[category] += map[i * N + j];
                tree->cells[category]++;
            }
        }
    return PARSREC_OK;
}

/* The mean of the other pairs of the lowest category that contains both and has three other pairs
 * or more. What such pairs have against each other is not credited to this one. */
static void set_category_part(parsrec_relation *r, const pr_tree_sums *tree, const pr_axis *axis,
                              const double *map)
{
    size_t N = axis->count;
    for (int l = pr_axis_common(axis, r->row, r->column); l >= 0; l--) {
        size_t category = (size_t)axis->paths[r->row * PR_CATEGORY_LEVELS + (size_t)l];
        const double own[] = {map[r->row * N + r->column], map[r->column * N + r->row]};
        double sum = tree->sum[category];
        size_t cells = tree->cells[category];
        for (size_t k = 0; k < 2; k++)
            if (!isnan(own[k])) {
                sum -= own[k];
                cells--;
            }
        if (cells < TREE_CELLS_LEAST)
            continue;
        if (sum > 0) {
            r->category_part = sum / (double)cells;
            r->category = axis->category_names[category];
        }
        return;
    }
}

/* ---- judging ---- */

static parsrec_relation_verdict judge(const parsrec_relation *r, double own)
{
    if (!((double)r->both >= BASKETS_LEAST || r->expected >= BASKETS_LEAST))
        return PARSREC_RELATION_FEW;
    if (r->high < 1)
        return PARSREC_RELATION_CONTRADICTED;
    if (!(r->low > 1))
        return PARSREC_RELATION_UNCERTAIN;
    if (r->both < BASKETS_LEAST)
        return PARSREC_RELATION_FEW;
    return own > 0 ? PARSREC_RELATION_CONFIRMED : PARSREC_RELATION_CATEGORY;
}

void pr_relation_set(parsrec_relation *r, const pr_explanation *e, size_t group, size_t kind,
                     size_t row, size_t column)
{
    assert(group < e->group_count && row < e->axis.count && column < e->axis.count);
    const pr_explained_group *g = &e->groups[group];
    const double *map = pr_explained_map(e, group, kind);
    *r = (parsrec_relation){.row = row, .column = column};
    r->value = map[row * e->axis.count + column];
    pr_evidence_of(r, &g->evidence);
    if (kind == PARSREC_MAP_DROP)
        set_category_part(r, &g->tree, &e->axis, map);
    double own = r->value - r->category_part;
    double counted = r->low > 0 ? log(r->low) : -INFINITY;
    r->strength = kind == PARSREC_MAP_DROP   ? fmin(own, counted)
                  : kind == PARSREC_MAP_LIFT ? counted
                                             : own;
    r->verdict = judge(r, own);
}

/* ---- the strongest ---- */

/* Keeps `list` in order of strength, or of what the map says. */
static void insert(parsrec_relation *list, size_t *count, size_t most, const parsrec_relation *r,
                   bool by_strength)
{
    double key = by_strength ? r->strength : r->value;
    size_t at = *count;
    while (at > 0 && (by_strength ? list[at - 1].strength : list[at - 1].value) < key)
        at--;
    if (at == most)
        return;
    *count += *count < most;
    for (size_t k = *count - 1; k > at; k--)
        list[k] = list[k - 1];
    list[at] = *r;
}

/* The larger of the cells (i, j) and (j, i) as far as they count; false where neither does. */
static bool larger_cell(const pr_explanation *e, size_t group, size_t kind, size_t *i, size_t *j)
{
    size_t N = e->axis.count;
    const double *map = pr_explained_map(e, group, kind);
    const double *placed = kind == PARSREC_MAP_DROP ? e->groups[group].placed : NULL;
    double there = map[*i * N + *j], back = map[*j * N + *i];
    if (placed != NULL && placed[*j] < PR_PLACED_LEAST)
        there = (double)NAN;
    if (placed != NULL && placed[*i] < PR_PLACED_LEAST)
        back = (double)NAN;
    if (isnan(there) && isnan(back))
        return false;
    if (isnan(there) || back > there) {
        size_t swap = *i;
        *i = *j;
        *j = swap;
    }
    return true;
}

size_t pr_relations(parsrec_relation *list, size_t most, const pr_explanation *e, size_t group,
                    size_t kind, bool confirmed)
{
    size_t N = e->axis.count, count = 0;
    if (most == 0 || pr_explained_map(e, group, kind) == NULL || !pr_map_is_listed(kind))
        return 0;
    double least = kind == PARSREC_MAP_ATTENTION ? 0 : WORTH_NAMING;
    for (size_t a = 0; a < N; a++)
        for (size_t b = a + 1; b < N; b++) {
            size_t i = a, j = b;
            parsrec_relation r;
            if (!larger_cell(e, group, kind, &i, &j))
                continue;
            pr_relation_set(&r, e, group, kind, i, j);
            if (r.value > least && confirmed == (r.verdict == PARSREC_RELATION_CONFIRMED))
                insert(list, &count, most, &r, confirmed);
        }
    return count;
}

size_t parsrec_explanation_relations(const parsrec_explanation *explanation, size_t group,
                                     parsrec_map map, bool confirmed, parsrec_relation *relations,
                                     size_t capacity)
{
    if (group >= explanation->group_count || (size_t)map >= PARSREC_MAPS)
        return 0;
    return pr_relations(relations, capacity, explanation, group, map, confirmed);
}

/* ---- two groups ---- */

/* The lifts of the two groups differ by more than both intervals together allow, in the same
 * direction as the map, and both groups have baskets enough. */
static bool differ(const parsrec_group_contrast *c)
{
    const parsrec_relation *a = &c->first, *b = &c->second;
    bool enough = (a->both >= BASKETS_LEAST || a->expected >= BASKETS_LEAST) &&
                  (b->both >= BASKETS_LEAST || b->expected >= BASKETS_LEAST);
    if (!enough || !(a->lift > 0) || !(b->lift > 0))
        return false;
    double apart = log(a->lift / b->lift);
    double reach = hypot(log(a->high / a->lift), log(b->high / b->lift));
    return fabs(apart) > reach && (apart > 0) == (c->value > 0);
}

size_t parsrec_explanation_contrasts(const parsrec_explanation *e, size_t first_group,
                                     size_t second_group, parsrec_map map,
                                     parsrec_group_contrast *contrasts, size_t capacity)
{
    size_t N = e->axis.count, count = 0;
    if (first_group >= e->group_count || second_group >= e->group_count ||
        (size_t)map >= PARSREC_MAPS || !pr_map_is_listed(map) || capacity == 0)
        return 0;
    const double *one = pr_explained_map(e, first_group, map);
    const double *other = pr_explained_map(e, second_group, map);
    if (one == NULL || other == NULL)
        return 0;
    for (size_t a = 0; a < N; a++)
        for (size_t b = a + 1; b < N; b++) {
            double there = one[a * N + b] - other[a * N + b];
            double back = one[b * N + a] - other[b * N + a];
            bool turn = isnan(there) || fabs(back) > fabs(there);
            size_t i = turn ? b : a, j = turn ? a : b, at;
            parsrec_group_contrast c = {.first_group = first_group,
                                        .second_group = second_group,
                                        .value = turn ? back : there};
            if (isnan(c.value))
                continue;
            pr_relation_set(&c.first, e, first_group, map, i, j);
            pr_relation_set(&c.second, e, second_group, map, i, j);
            if (!differ(&c))
                continue;
            for (at = count; at > 0 && fabs(contrasts[at - 1].value) < fabs(c.value); at--)
                ;
            if (at == capacity)
                continue;
            count += count < capacity;
            for (size_t k = count - 1; k > at; k--)
                contrasts[k] = contrasts[k - 1];
            contrasts[at] = c;
        }
    return count;
}

/* ---- sentences ---- */

/* Two digits behind the point up to ten, then one: "2.08", "31.4". */
static char *times(double factor, char buffer[NUMBER])
{
    snprintf(buffer, NUMBER, "%.*f", factor < 9.995 ? 2 : 1, factor);
    return buffer;
}

char *pr_explain_count(uint64_t count, char *buffer, size_t size)
{
    pr_digits digits;
    snprintf(buffer, size, "%s", pr_digits_of(&digits, count));
    return buffer;
}

char *parsrec_relation_sentence(const parsrec_explanation *e, parsrec_map kind,
                                const parsrec_relation *r, char *buffer, size_t size)
{
    const char *row = e->axis.names[r->row], *column = e->axis.names[r->column];
    char factor[NUMBER], shared[NUMBER];
    if (kind == PARSREC_MAP_DROP && r->category != NULL && r->category_part > WORTH_NAMING)
        snprintf(buffer, size,
                 "%s is %s times as likely with %s in the basket; %s times is usual for pairs "
                 "within %s",
                 row, times(exp(r->value), factor), column, times(exp(r->category_part), shared),
                 r->category);
    else if (kind == PARSREC_MAP_DROP)
        snprintf(buffer, size, "%s is %s times as likely with %s in the basket", row,
                 times(exp(r->value), factor), column);
    else if (kind == PARSREC_MAP_LIFT)
        snprintf(buffer, size, "%s and %s are in one basket %s times as often as by chance", row,
                 column, times(r->lift, factor));
    else
        snprintf(buffer, size, "%s gets %.1f %% of the attention when %s is expected next", column,
                 100 * r->value, row);
    return buffer;
}

char *parsrec_relation_evidence(const parsrec_explanation *e, const parsrec_relation *r,
                                char *buffer, size_t size)
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

char *parsrec_contrast_sentence(const parsrec_explanation *e, parsrec_map map,
                                const parsrec_group_contrast *c, char *buffer, size_t size)
{
    char a[NUMBER], b[NUMBER];
    const char *row = e->axis.names[c->first.row], *column = e->axis.names[c->first.column];
    const char *first = e->groups[c->first_group].label, *second = e->groups[c->second_group].label;
    if (map == PARSREC_MAP_DROP)
        snprintf(buffer, size,
                 "%s with %s in the basket: %s times as likely for %s, %s times for %s", row,
                 column, times(exp(c->first.value), a), first, times(exp(c->second.value), b),
                 second);
    else if (map == PARSREC_MAP_LIFT)
        snprintf(buffer, size,
                 "%s and %s in one basket: %s times as often as by chance for %s, %s times for %s",
                 row, column, times(c->first.lift, a), first, times(c->second.lift, b), second);
    else
        snprintf(buffer, size,
                 "%s when %s is expected next: %.1f %% of the attention for %s, %.1f %% for %s",
                 column, row, 100 * c->first.value, first, 100 * c->second.value, second);
    return buffer;
}

char *parsrec_contrast_evidence(const parsrec_explanation *e, const parsrec_group_contrast *c,
                                char *buffer, size_t size)
{
    char counts[2][2][NUMBER], lift[2][NUMBER];
    const char *first = e->groups[c->first_group].label, *second = e->groups[c->second_group].label;
    const parsrec_relation *sides[] = {&c->first, &c->second};
    for (size_t i = 0; i < 2; i++) {
        pr_explain_count(sides[i]->both, counts[i][0], NUMBER);
        pr_explain_count(sides[i]->baskets, counts[i][1], NUMBER);
        times(sides[i]->lift, lift[i]);
    }
    snprintf(buffer, size,
             "both in %s of %s baskets for %s, %s times as often as by chance; in %s of %s for %s, "
             "%s times",
             counts[0][0], counts[0][1], first, lift[0], counts[1][0], counts[1][1], second,
             lift[1]);
    return buffer;
}

char *pr_rule_words(const pr_explanation *e, char *buffer, size_t size)
{
    char pairs[NUMBER];
    snprintf(
        buffer, size,
        "A sentence is shown only if at least 10 baskets contain both and the count by itself is "
        "above chance. The intervals contain the true figures of all %s pairs at once with 95 %%. "
        "Sentences are ordered by the smaller of two figures: what the map says, less what is "
        "usual for other pairs of the same category, and the lower end of the interval.",
        pr_explain_count((uint64_t)e->axis.count * (e->axis.count - 1) / 2, pairs, sizeof pairs));
    return buffer;
}

char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size)
{
    char map[64] = ""; /* a map of two has one pair, which has no correlation */
    buffer[0] = '\0';
    if (isnan(group->step_agreement))
        return buffer;
    if (!isnan(group->map_agreement))
        snprintf(map, sizeof map, ", over the whole map Spearman's rho is %.2f",
                 group->map_agreement);
    snprintf(buffer, size,
             "Attention against effect: within a step Kendall's tau is %.2f%s (1: they agree, 0: "
             "they are unrelated).",
             group->step_agreement, map);
    return buffer;
}

size_t pr_first_list(const pr_explanation *e)
{
    static const parsrec_map best[] = {PARSREC_MAP_DROP, PARSREC_MAP_LIFT, PARSREC_MAP_ATTENTION};
    for (size_t i = 0; i < sizeof best / sizeof *best; i++)
        if (e->has[best[i]])
            return best[i];
    return PR_MAP_KINDS;
}
