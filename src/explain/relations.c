/* The strongest relationships of a map, each held against what was counted. */
#include <math.h>

#include "base/memory.h"
#include "explain/explain.h"

enum { BASKETS_LEAST = 10, TREE_CELLS_LEAST = 6 };
static const double WORTH_NAMING = 0.0488; /* log 1.05: a twentieth more */

const char *parsrec_relation_verdict_name(parsrec_relation_verdict verdict)
{
    static const char *const names[] = {"confirmed", "few", "uncertain", "contradicted",
                                        "category"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "";
}

/* ---- what the category tree alone explains ---- */

/* Adds a cell to all categories that hold both of its classes. */
static void add_to_tree(pr_tree_sums *tree, const pr_axis *axis, size_t i, size_t j, double value)
{
    for (int l = pr_axis_common(axis, i, j); l >= 0; l--) {
        size_t category = (size_t)axis->paths[i * PR_CATEGORY_LEVELS + (size_t)l];
        tree->sum[category] += value;
        tree->cells[category]++;
    }
}

parsrec_status pr_tree_sums_init(pr_tree_sums *tree, const pr_axis *axis, const double *map,
                                 parsrec_error *err)
{
    size_t N = axis->count;
    tree->sum = pr_alloc_zero(axis->categories, sizeof *tree->sum);
    tree->cells = pr_alloc_zero(axis->categories, sizeof *tree->cells);
    if (tree->sum == NULL || tree->cells == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            if (i != j && !isnan(map[i * N + j]))
                add_to_tree(tree, axis, i, j, map[i * N + j]);
    return PARSREC_OK;
}

void pr_tree_sums_free(pr_tree_sums *tree)
{
    pr_free(tree->sum);
    pr_free(tree->cells);
    *tree = (pr_tree_sums){0};
}

/* The mean of the other pairs of the lowest category that holds both and has three other pairs or more. What
 * such pairs have against each other is not credited to this one. */
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

void pr_relation_set(parsrec_relation *r, const pr_explanation *e, size_t group, pr_map_kind kind,
                     size_t row, size_t column)
{
    const pr_explained_group *g = &e->groups[group];
    const double *map = pr_explained_map(e, group, kind);
    *r = (parsrec_relation){.row = row, .column = column};
    r->value = map[row * e->axis.count + column];
    pr_evidence_of(r, &g->evidence);
    if (kind == PR_MAP_DROP)
        set_category_part(r, &g->tree, &e->axis, map);
    double own = r->value - r->category_part;
    double counted = r->low > 0 ? log(r->low) : -INFINITY;
    r->strength = kind == PR_MAP_DROP ? fmin(own, counted) : kind == PR_MAP_LIFT ? counted : own;
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
static bool larger_cell(const pr_explanation *e, size_t group, pr_map_kind kind, size_t *i,
                        size_t *j)
{
    size_t N = e->axis.count;
    const double *map = pr_explained_map(e, group, kind);
    const double *placed = kind == PR_MAP_DROP ? e->groups[group].placed : NULL;
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
                    pr_map_kind kind, bool confirmed)
{
    size_t N = e->axis.count, count = 0;
    if (most == 0 || pr_explained_map(e, group, kind) == NULL || !pr_map_is_listed(kind))
        return 0;
    double least = kind == PR_MAP_ATTENTION ? 0 : WORTH_NAMING;
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

/* ---- two groups ---- */

/* The lifts of the two groups differ by more than both intervals together allow, in the same direction as the
 * map, and both groups have baskets enough. */
static bool differ(const pr_contrast *c)
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

size_t pr_contrasts(pr_contrast *list, size_t most, const pr_explanation *e, pr_map_kind kind)
{
    const pr_explained_difference *d = &e->difference;
    size_t N = e->axis.count, count = 0;
    if (d->maps[kind] == NULL)
        return 0;
    for (size_t a = 0; a < N; a++)
        for (size_t b = a + 1; b < N; b++) {
            double there = d->maps[kind][a * N + b], back = d->maps[kind][b * N + a];
            bool turn = isnan(there) || fabs(back) > fabs(there);
            size_t i = turn ? b : a, j = turn ? a : b, at;
            pr_contrast c = {.value = turn ? back : there};
            if (isnan(c.value))
                continue;
            pr_relation_set(&c.first, e, d->a, kind, i, j);
            pr_relation_set(&c.second, e, d->b, kind, i, j);
            if (!differ(&c))
                continue;
            for (at = count; at > 0 && fabs(list[at - 1].value) < fabs(c.value); at--)
                ;
            if (at == most)
                continue;
            count += count < most;
            for (size_t k = count - 1; k > at; k--)
                list[k] = list[k - 1];
            list[at] = c;
        }
    return count;
}
