/* Families level by level (Louvain): members move to the family where modularity gains most, then
 * families become the members of the next level, until nothing improves. */
#include "model/families.h"

#include <string.h>

#include "base/memory.h"

enum { ROUNDS = 32, LEVELS = 16 }; /* at most */

/* An undirected graph. Every link is stored at both ends. Links of a member to itself, which result
 * from merging, count only in `weight`. */
typedef struct graph {
    size_t count;
    size_t *start; /* [count + 1] */
    uint32_t *to;
    double *strength;
    double *weight; /* [count]: total weight of a member's links */
} graph;

typedef struct level {
    size_t members, families;
    uint32_t *family; /* [members] */
} level;

typedef struct finder {
    level levels[LEVELS];
    size_t count;
    double total;     /* total weight of all members */
    double *sum;      /* [V]: link weight of the current member per family; zero between members */
    double *all;      /* [V]: weight of each family */
    uint32_t *marked; /* [V]: families linked to the current member */
} finder;

static void free_graph(graph *g)
{
    pr_free(g->start);
    pr_free(g->to);
    pr_free(g->strength);
    pr_free(g->weight);
    *g = (graph){0};
}

static parsrec_status take_graph(graph *g, size_t count, size_t links, parsrec_error *err)
{
    *g = (graph){.count = count};
    g->start = pr_alloc_zero(count + 1, sizeof *g->start);
    g->to = pr_alloc(links, sizeof *g->to);
    g->strength = pr_alloc(links, sizeof *g->strength);
    g->weight = pr_alloc_zero(count, sizeof *g->weight);
    return g->start != NULL && g->to != NULL && g->strength != NULL && g->weight != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

/* ---- the first graph ---- */

/* Called twice: counts the links, then with `fill` stores them. Filling moves each start to its
 * end. */
static void link_items(graph *g, const pr_near *near, bool fill)
{
    uint32_t k = 0;
    for (size_t h = 0; h < near->items; h++)
        for (; k < near->ends[h]; k++) {
            size_t ends[2] = {h, near->to[k]};
            if (!(near->weights[k] > 0))
                continue;
            for (size_t e = 0; e < 2; e++) {
                size_t at = g->start[ends[e]]++;
                if (!fill)
                    continue;
                g->to[at] = (uint32_t)ends[1 - e];
                g->strength[at] = (double)near->weights[k];
                g->weight[ends[e]] += (double)near->weights[k];
            }
        }
}

/* Turns counts into start offsets. Returns the total. */
static size_t begin_lines(size_t *start, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t n = i < count ? start[i] : 0;
        start[i] = at;
        at += n;
    }
    return at;
}

/* Turns end offsets, left by filling, back into start offsets. */
static void end_lines(size_t *start, size_t count)
{
    memmove(start + 1, start, count * sizeof *start);
    start[0] = 0;
}

static parsrec_status graph_of_items(graph *g, const pr_near *near, parsrec_error *err)
{
    size_t links = near->items > 0 ? 2 * (size_t)near->ends[near->items - 1] : 0;
    PR_TRY(take_graph(g, near->items, links, err));
    link_items(g, near, false);
    begin_lines(g->start, g->count);
    link_items(g, near, true);
    end_lines(g->start, g->count);
    return PARSREC_OK;
}

/* ---- one level ---- */

/* The family where member m gains most; its own if none is better. */
static uint32_t best_family(finder *f, const graph *g, const uint32_t *family, size_t m)
{
    size_t marked = 0;
    for (size_t k = g->start[m]; k < g->start[m + 1]; k++) {
        uint32_t q = family[g->to[k]];
        if (g->to[k] == m)
            continue;
        if (f->sum[q] == 0)
            f->marked[marked++] = q;
        f->sum[q] += g->strength[k];
    }
    double share = g->weight[m] / f->total;
    uint32_t best = family[m];
    double most = f->sum[best] - share * f->all[best];
    for (size_t i = 0; i < marked; i++) {
        uint32_t q = f->marked[i];
        double gain = f->sum[q] - share * f->all[q];
        if (gain > most * (1 + 1e-12) + 1e-12) {
            most = gain;
            best = q;
        }
    }
    for (size_t i = 0; i < marked; i++)
        f->sum[f->marked[i]] = 0;
    return best;
}

/* Renumbers families from 0 in order of their first members. */
static size_t number_families(uint32_t *family, uint32_t *number, size_t count)
{
    uint32_t next = 0;
    memset(number, 0xff, count * sizeof *number);
    for (size_t m = 0; m < count; m++) {
        if (number[family[m]] == UINT32_MAX)
            number[family[m]] = next++;
        family[m] = number[family[m]];
    }
    return next;
}

static void move_members(finder *f, const graph *g, level *l)
{
    for (size_t m = 0; m < g->count; m++) {
        l->family[m] = (uint32_t)m;
        f->all[m] = g->weight[m];
    }
    size_t moved = 1;
    for (size_t round = 0; round < ROUNDS && moved > 0; round++) {
        moved = 0;
        for (size_t m = 0; m < g->count; m++) {
            uint32_t from = l->family[m];
            f->all[from] -= g->weight[m];
            l->family[m] = best_family(f, g, l->family, m);
            f->all[l->family[m]] += g->weight[m];
            moved += l->family[m] != from;
        }
    }
    l->families = number_families(l->family, f->marked, g->count);
}

/* Makes families the members of the next graph. Parallel links between two families are kept as
 * they are. */
static parsrec_status put_together(graph *out, const graph *g, const level *l, parsrec_error *err)
{
    PR_TRY(take_graph(out, l->families, g->start[g->count], err));
    for (size_t m = 0; m < g->count; m++) {
        out->weight[l->family[m]] += g->weight[m];
        out->start[l->family[m]] += g->start[m + 1] - g->start[m];
    }
    begin_lines(out->start, out->count);
    for (size_t m = 0; m < g->count; m++)
        for (size_t k = g->start[m]; k < g->start[m + 1]; k++) {
            size_t at = out->start[l->family[m]]++;
            out->to[at] = l->family[g->to[k]];
            out->strength[at] = g->strength[k];
        }
    end_lines(out->start, out->count);
    return PARSREC_OK;
}

/* ---- the tree ---- */

static parsrec_status climb(finder *f, graph *g, parsrec_error *err)
{
    for (size_t m = 0; m < g->count; m++)
        f->total += g->weight[m];
    while (f->count < LEVELS && f->total > 0) {
        level *l = &f->levels[f->count];
        *l = (level){.members = g->count, .family = pr_alloc(g->count, sizeof *l->family)};
        if (l->family == NULL)
            return pr_fail_memory(err);
        f->count++;
        move_members(f, g, l);
        if (l->families == l->members) {
            pr_free(l->family);
            f->count--;
            return PARSREC_OK;
        }
        graph next;
        parsrec_status status = put_together(&next, g, l, err);
        free_graph(g);
        *g = next;
        PR_TRY(status);
    }
    return PARSREC_OK;
}

/* The families of the top level come first. */
static parsrec_status write_tree(pr_families *out, const finder *f, size_t items,
                                 parsrec_error *err)
{
    for (size_t l = 0; l < f->count; l++)
        out->count += f->levels[l].families;
    out->parent = pr_alloc(out->count, sizeof *out->parent);
    out->item_family = pr_alloc(items, sizeof *out->item_family);
    if (out->parent == NULL || out->item_family == NULL)
        return pr_fail_memory(err);
    size_t above = 0, at = 0;
    for (size_t l = f->count; l-- > 0; at += f->levels[l].families) {
        const level *up = l + 1 < f->count ? &f->levels[l + 1] : NULL;
        for (size_t q = 0; q < f->levels[l].families; q++)
            out->parent[at + q] = up != NULL ? (int32_t)(above + up->family[q]) : -1;
        above = at;
    }
    for (size_t v = 0; v < items; v++)
        out->item_family[v] = f->count > 0 ? (int32_t)(above + f->levels[0].family[v]) : -1;
    return PARSREC_OK;
}

static parsrec_status find(finder *f, graph *g, pr_families *out, const pr_near *near,
                           parsrec_error *err)
{
    f->sum = pr_alloc_zero(near->items, sizeof *f->sum);
    f->all = pr_alloc(near->items, sizeof *f->all);
    f->marked = pr_alloc(near->items, sizeof *f->marked);
    if (f->sum == NULL || f->all == NULL || f->marked == NULL)
        return pr_fail_memory(err);
    PR_TRY(graph_of_items(g, near, err));
    PR_TRY(climb(f, g, err));
    return write_tree(out, f, near->items, err);
}

parsrec_status pr_families_find(pr_families *out, const pr_near *near, parsrec_error *err)
{
    finder f = {0};
    graph g = {0};
    *out = (pr_families){0};
    parsrec_status status = find(&f, &g, out, near, err);
    for (size_t l = 0; l < f.count; l++)
        pr_free(f.levels[l].family);
    pr_free(f.sum);
    pr_free(f.all);
    pr_free(f.marked);
    free_graph(&g);
    if (status != PARSREC_OK)
        pr_families_free(out);
    return status;
}

void pr_families_free(pr_families *families)
{
    pr_free(families->parent);
    pr_free(families->item_family);
    *families = (pr_families){0};
}
