/* Lloyd's algorithm from k-means++ starts. Distances are one matrix product per block of rows. */
#include "math/kmeans.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "math/blas.h"

enum { STARTS = 8, ROUNDS = 100, BLOCK = 256 };

typedef struct work {
    const pr_real *x; /* [n,D] */
    size_t n, D, k;
    pr_real *centre;  /* [k,D] */
    pr_real *product; /* [BLOCK,k] */
    double *sum;      /* [k,D] */
    double *near;     /* [n]: squared distance to the nearest centre */
    double *length;   /* [k]: squared length of each centre */
    size_t *count;    /* [k] */
    int32_t *cluster; /* [n] */
} work;

static parsrec_status reserve(work *w, parsrec_error *err)
{
    w->centre = pr_alloc_aligned(w->k * w->D, sizeof *w->centre);
    w->product = pr_alloc_aligned(BLOCK * w->k, sizeof *w->product);
    w->sum = pr_alloc(w->k * w->D, sizeof *w->sum);
    w->near = pr_alloc(w->n, sizeof *w->near);
    w->length = pr_alloc(w->k, sizeof *w->length);
    w->count = pr_alloc(w->k, sizeof *w->count);
    w->cluster = pr_alloc(w->n, sizeof *w->cluster);
    bool all = w->centre != NULL && w->product != NULL && w->sum != NULL && w->near != NULL &&
               w->length != NULL && w->count != NULL && w->cluster != NULL;
    return all ? PARSREC_OK : pr_fail_memory(err);
}

static void release(work *w)
{
    pr_free_aligned(w->centre);
    pr_free_aligned(w->product);
    pr_free(w->sum);
    pr_free(w->near);
    pr_free(w->length);
    pr_free(w->count);
    pr_free(w->cluster);
}

static double squared(const pr_real *a, const pr_real *b, size_t D)
{
    double sum = 0;
    for (size_t d = 0; d < D; d++)
        sum += ((double)a[d] - (double)b[d]) * ((double)a[d] - (double)b[d]);
    return sum;
}

/* ---- starts ---- */

static void set_centre(work *w, size_t c, size_t row)
{
    memcpy(w->centre + c * w->D, w->x + row * w->D, w->D * sizeof *w->centre);
}

/* Draws a row with probability proportional to its squared distance from the centres so far. */
static size_t draw_far(const work *w, pr_stream *s)
{
    double total = 0;
    for (size_t i = 0; i < w->n; i++)
        total += w->near[i];
    double left = pr_stream_unit(s) * total;
    for (size_t i = 0; i < w->n; i++) {
        left -= w->near[i];
        if (left < 0)
            return i;
    }
    return pr_stream_below(s, (uint32_t)w->n); /* every row coincides with a centre */
}

static void begin(work *w, pr_stream *s)
{
    set_centre(w, 0, pr_stream_below(s, (uint32_t)w->n));
    for (size_t i = 0; i < w->n; i++)
        w->near[i] = INFINITY;
    for (size_t c = 1; c <= w->k; c++) {
        const pr_real *last = w->centre + (c - 1) * w->D;
        for (size_t i = 0; i < w->n; i++)
            w->near[i] = fmin(w->near[i], squared(w->x + i * w->D, last, w->D));
        if (c < w->k)
            set_centre(w, c, draw_far(w, s));
    }
}

/* ---- rounds ---- */

static int32_t nearest(const work *w, const pr_real *product)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t c = 0; c < w->k; c++) {
        double apart = w->length[c] - 2 * (double)product[c];
        if (apart < least) {
            least = apart;
            best = c;
        }
    }
    return (int32_t)best;
}

/* Compares |x - c|² without |x|², which is the same for all centres. Returns true if a row changed
 * its cluster. */
static bool assign(work *w)
{
    bool moved = false;
    for (size_t c = 0; c < w->k; c++) {
        w->length[c] = 0;
        for (size_t d = 0; d < w->D; d++)
            w->length[c] += (double)w->centre[c * w->D + d] * (double)w->centre[c * w->D + d];
    }
    for (size_t first = 0; first < w->n; first += BLOCK) {
        size_t rows = w->n - first < BLOCK ? w->n - first : BLOCK;
        pr_gemm(w->product, w->k, pr_mat(w->x + first * w->D, w->D), pr_flip(w->centre, w->D), 0,
                rows, w->k, w->D);
        for (size_t i = 0; i < rows; i++) {
            int32_t c = nearest(w, w->product + i * w->k);
            moved = moved || c != w->cluster[first + i];
            w->cluster[first + i] = c;
        }
    }
    return moved;
}

/* A cluster that lost its last row keeps its centre. */
static void centre(work *w)
{
    memset(w->sum, 0, w->k * w->D * sizeof *w->sum);
    memset(w->count, 0, w->k * sizeof *w->count);
    for (size_t i = 0; i < w->n; i++) {
        double *sum = w->sum + (size_t)w->cluster[i] * w->D;
        for (size_t d = 0; d < w->D; d++)
            sum[d] += (double)w->x[i * w->D + d];
        w->count[w->cluster[i]]++;
    }
    for (size_t c = 0; c < w->k; c++)
        for (size_t d = 0; d < w->D && w->count[c] > 0; d++)
            w->centre[c * w->D + d] = (pr_real)(w->sum[c * w->D + d] / (double)w->count[c]);
}

/* Returns the sum of squared distances. */
static double run(work *w, pr_stream *s)
{
    begin(w, s);
    for (size_t i = 0; i < w->n; i++)
        w->cluster[i] = -1;
    for (size_t round = 0; round < ROUNDS && assign(w); round++)
        centre(w);
    double total = 0;
    for (size_t i = 0; i < w->n; i++)
        total += squared(w->x + i * w->D, w->centre + (size_t)w->cluster[i] * w->D, w->D);
    return total;
}

/* ---- numbering the clusters ---- */

typedef struct standing {
    size_t size, first, old;
} standing;

static int by_size(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static parsrec_status rename_clusters(int32_t *cluster, size_t n, size_t k, parsrec_error *err)
{
    standing *order = pr_alloc(k, sizeof *order);
    int32_t *name = pr_alloc(k, sizeof *name);
    if (order == NULL || name == NULL) {
        pr_free(order);
        pr_free(name);
        return pr_fail_memory(err);
    }
    for (size_t c = 0; c < k; c++)
        order[c] = (standing){0, n + c, c};
    for (size_t i = n; i-- > 0;) {
        order[cluster[i]].size++;
        order[cluster[i]].first = i;
    }
    qsort(order, k, sizeof *order, by_size);
    for (size_t c = 0; c < k; c++)
        name[order[c].old] = (int32_t)c;
    for (size_t i = 0; i < n; i++)
        cluster[i] = name[cluster[i]];
    pr_free(order);
    pr_free(name);
    return PARSREC_OK;
}

parsrec_status pr_kmeans(int32_t *cluster, const pr_real *x, size_t n, size_t D, size_t k,
                         uint64_t seed, parsrec_error *err)
{
    assert(k >= 1 && k <= n);
    work w = {.x = x, .n = n, .D = D, .k = k};
    parsrec_status status = reserve(&w, err);
    pr_rng rng = pr_rng_make(seed, UINT64_C(0x6B6D65616E73)); /* "kmeans" */
    double least = INFINITY;
    for (uint32_t start = 0; start < STARTS && status == PARSREC_OK; start++) {
        pr_stream s = pr_stream_at(&rng, start, 0, 0);
        double total = run(&w, &s);
        if (total < least || start == 0) {
            least = total;
            memcpy(cluster, w.cluster, n * sizeof *cluster);
        }
    }
    release(&w);
    return status == PARSREC_OK ? rename_clusters(cluster, n, k, err) : status;
}
