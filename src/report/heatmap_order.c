/* Clusters by the nearest-neighbour chain: follow from a cluster to the one most like it until two
 * point at each other, merge these, and continue from the rest of the chain. With average linkage that
 * gives the same tree as merging the most similar pair of all each time, in n² steps. */
#include "report/heatmap.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"

parsrec_status pr_heatmap_order_groups(size_t *order, const size_t *groups, size_t n,
                                       parsrec_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = groups[i] > most ? groups[i] : most;
    size_t *first = pr_alloc_zero(most + 2, sizeof *first);
    if (first == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        first[groups[i] + 1]++;
    for (size_t g = 0; g <= most; g++)
        first[g + 1] += first[g];
    for (size_t i = 0; i < n; i++)
        order[first[groups[i]]++] = i;
    pr_free(first);
    return PARSREC_OK;
}

/* ---- clusters ---- */

#define NOBODY SIZE_MAX

/* A cluster has the number of one of its rows. Its rows are a list from `head` to `tail`. */
typedef struct forest {
    const double *rows; /* [n,n]: similarity as given */
    double *alike;      /* [n,n]: between clusters */
    size_t *size;       /* [n]: 0 when merged into another */
    size_t *next, *head, *tail;
    size_t *chain, *linked; /* clusters in the chain; for each whether it is */
    size_t n, links;
} forest;

static double mean_of(const double *similarity, size_t n, size_t i, size_t j)
{
    double mean = (similarity[i * n + j] + similarity[j * n + i]) / 2;
    return isfinite(mean) ? mean : -HUGE_VAL;
}

static parsrec_status forest_init(forest *f, const double *similarity, size_t n, parsrec_error *err)
{
    *f = (forest){.rows = similarity, .n = n};
    size_t cells;
    if (pr_mul_overflows(n, n, &cells) || (f->alike = pr_alloc(cells, sizeof *f->alike)) == NULL ||
        (f->size = pr_alloc(n, 6 * sizeof *f->size)) == NULL)
        return pr_fail_memory(err);
    f->next = f->size + n;
    f->head = f->next + n;
    f->tail = f->head + n;
    f->chain = f->tail + n;
    f->linked = f->chain + n;
    for (size_t i = 0; i < n; i++) {
        f->size[i] = 1;
        f->linked[i] = 0;
        f->next[i] = NOBODY;
        f->head[i] = f->tail[i] = i;
        for (size_t j = 0; j < n; j++)
            f->alike[i * n + j] = mean_of(similarity, n, i, j);
    }
    return PARSREC_OK;
}

static void reverse(forest *f, size_t cluster)
{
    size_t before = NOBODY, at = f->head[cluster];
    f->tail[cluster] = at;
    while (at != NOBODY) {
        size_t after = f->next[at];
        f->next[at] = before;
        before = at;
        at = after;
    }
    f->head[cluster] = before;
}

/* Puts b's rows behind a's, joined at the two ends that are most alike. */
static void join(forest *f, size_t a, size_t b)
{
    size_t ends[2] = {f->tail[a], f->head[a]}, others[2] = {f->head[b], f->tail[b]}, best = 0;
    for (size_t way = 1; way < 4; way++)
        if (mean_of(f->rows, f->n, ends[way / 2], others[way % 2]) >
            mean_of(f->rows, f->n, ends[best / 2], others[best % 2]))
            best = way;
    if (best / 2 == 1)
        reverse(f, a);
    if (best % 2 == 1)
        reverse(f, b);
    f->next[f->tail[a]] = f->head[b];
    f->tail[a] = f->tail[b];
}

static void merge(forest *f, size_t a, size_t b)
{
    double wa = (double)f->size[a], wb = (double)f->size[b];
    join(f, a, b);
    for (size_t c = 0; c < f->n; c++) {
        double mean = (wa * f->alike[a * f->n + c] + wb * f->alike[b * f->n + c]) / (wa + wb);
        f->alike[a * f->n + c] = f->alike[c * f->n + a] = mean;
    }
    f->size[a] += f->size[b];
    f->size[b] = 0;
}

/* The cluster most like `to`; among equals the one before it in the chain, else the smallest number.
 * Only rounding could lead back to an earlier link, so those are not considered. */
static size_t nearest(const forest *f, size_t to, size_t before)
{
    size_t best = before;
    for (size_t c = 0; c < f->n; c++)
        if (f->linked[c] == 0 && f->size[c] > 0 &&
            (best == NOBODY || f->alike[to * f->n + c] > f->alike[to * f->n + best]))
            best = c;
    return best;
}

static void link(forest *f, size_t cluster)
{
    f->chain[f->links++] = cluster;
    f->linked[cluster] = 1;
}

/* Follows the chain until it merges two clusters. */
static void merge_two(forest *f)
{
    if (f->links == 0) {
        size_t first = 0;
        while (f->size[first] == 0)
            first++;
        link(f, first);
    }
    for (;;) {
        size_t last = f->chain[f->links - 1];
        size_t before = f->links > 1 ? f->chain[f->links - 2] : NOBODY;
        size_t near = nearest(f, last, before);
        if (near == before) {
            f->links -= 2;
            f->linked[last] = f->linked[near] = 0;
            merge(f, near < last ? near : last, near < last ? last : near);
            return;
        }
        link(f, near);
    }
}

parsrec_status pr_heatmap_order_clusters(size_t *order, const double *similarity, size_t n,
                                         parsrec_error *err)
{
    forest f;
    parsrec_status status = forest_init(&f, similarity, n, err);
    if (status == PARSREC_OK && n > 0) {
        for (size_t merged = 1; merged < n; merged++)
            merge_two(&f);
        size_t root = 0; /* the smaller number stays, so 0 is never merged away */
        for (size_t i = 0, at = f.head[root]; at != NOBODY; at = f.next[at])
            order[i++] = at;
    }
    pr_free(f.alike);
    pr_free(f.size);
    return status;
}
