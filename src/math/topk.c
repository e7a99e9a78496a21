/* Top-k with a heap of the k best so far, whose root is the smallest of them. */
#include "math/topk.h"

#include <stdbool.h>

#include "math/wide.h"

/* True when position a ranks below position b. */
static bool below(const pr_real *scores, int32_t a, int32_t b)
{
    return scores[a] < scores[b] || (!(scores[b] < scores[a]) && a > b);
}

static void sink(int32_t *heap, const pr_real *scores, size_t count, size_t at)
{
    int32_t moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && below(scores, heap[child + 1], heap[child]))
            child++;
        if (!below(scores, heap[child], moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void rise(int32_t *heap, const pr_real *scores, size_t at)
{
    int32_t moving = heap[at];
    for (size_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!below(scores, moving, heap[parent]))
            break;
        heap[at] = heap[parent];
    }
    heap[at] = moving;
}

/* Removes the worst from the heap until it is empty, so that the best come first. */
static void unwind(int32_t *heap, const pr_real *scores, size_t count)
{
    for (size_t end = count; end > 1; end--) {
        int32_t worst = heap[0];
        heap[0] = heap[end - 1];
        sink(heap, scores, end - 1, 0);
        heap[end - 1] = worst;
    }
}

/* ---- columns ----
 *
 * Scores are read in chunks of sixteen lines with sixteen columns. The maximum of a column decides
 * whether the column is looked at; few are. */
enum { LINES = 16, CHUNK = LINES * PR_LANES, COLUMNS_MOST = 4096 };

static size_t columns_of(size_t n)
{
    return (n + CHUNK - 1) / CHUNK * PR_LANES;
}

/* The lane-wise maximum; a NaN in `a` is never taken. */
PR_INLINE void keep_larger(pr_lanes *top, const pr_lanes *a)
{
    __typeof__(*a > *top) larger = *a > *top;
    *top = (pr_lanes)(((__typeof__(larger))*a & larger) | ((__typeof__(larger))*top & ~larger));
}

PR_INLINE void chunk_tops(pr_real *tops, const pr_real *scores, size_t n)
{
    pr_lanes top = (pr_lanes){0} - (pr_real)INFINITY, a;
    size_t at = 0;
    for (; at + PR_LANES <= n; at += PR_LANES) {
        pr_lanes_load(&a, scores + at);
        keep_larger(&top, &a);
    }
    pr_lanes_store(tops, &top);
    for (size_t i = 0; at + i < n; i++)
        tops[i] = scores[at + i] > tops[i] ? scores[at + i] : tops[i];
}

PR_INLINE void column_tops_any(pr_real *tops, const pr_real *scores, size_t n)
{
    for (size_t at = 0; at < n; at += CHUNK, tops += PR_LANES)
        chunk_tops(tops, scores + at, n - at < CHUNK ? n - at : CHUNK);
}
PR_LOCAL_LEVELS(void, column_tops, column_tops_any,
                (pr_real * tops, const pr_real *scores, size_t n), (tops, scores, n))

static size_t first_of(size_t column)
{
    return column / PR_LANES * CHUNK + column % PR_LANES;
}

static size_t end_of(size_t column, size_t n)
{
    size_t end = (column / PR_LANES + 1) * CHUNK;
    return end < n ? end : n;
}

/* ---- the best ---- */

static void offer(pr_topk_heap *h, size_t i)
{
    if (h->count < h->most) {
        h->best[h->count] = (int32_t)i;
        rise(h->best, h->scores, h->count++);
    } else if (below(h->scores, h->best[0], (int32_t)i)) {
        h->best[0] = (int32_t)i;
        sink(h->best, h->scores, h->count, 0);
    }
}

void pr_topk_offer(pr_topk_heap *heap, size_t i)
{
    if (heap->most > 0 && heap->scores[i] > -(pr_real)INFINITY)
        offer(heap, i);
}

pr_real pr_topk_least(const pr_topk_heap *heap)
{
    return heap->count == heap->most && heap->count > 0 ? heap->scores[heap->best[0]]
                                                        : -(pr_real)INFINITY;
}

size_t pr_topk_finish(pr_topk_heap *heap)
{
    unwind(heap->best, heap->scores, heap->count);
    return heap->count;
}

static void offer_all(pr_topk_heap *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (h->scores[i] > -(pr_real)INFINITY)
            offer(h, i);
}

/* The k-th largest of the column maxima: at least k scores are as large. */
static pr_real sure_bar(int32_t *best, const pr_real *tops, size_t columns, size_t k)
{
    pr_topk_heap h = {best, tops, 0, k};
    offer_all(&h, columns);
    return h.count == k ? tops[best[0]] : -(pr_real)INFINITY;
}

size_t pr_topk(int32_t *best, const pr_real *scores, size_t n, size_t k)
{
    pr_real tops[COLUMNS_MOST];
    pr_topk_heap h = {best, scores, 0, k};
    size_t columns = columns_of(n);
    if (k == 0)
        return 0;
    if (columns > COLUMNS_MOST || 4 * k > columns) {
        offer_all(&h, n);
    } else {
        column_tops(tops, scores, n);
        pr_real bar = sure_bar(best, tops, columns, k);
        for (size_t c = 0; c < columns; c++)
            for (size_t i = first_of(c); tops[c] >= bar && i < end_of(c, n); i += PR_LANES)
                if (scores[i] >= bar && scores[i] > -(pr_real)INFINITY)
                    offer(&h, i);
    }
    unwind(best, scores, h.count);
    return h.count;
}

/* Within a chunk, matches are found column by column; this sorts them. */
static void order_last(int32_t *found, size_t from, size_t count)
{
    for (size_t i = from + 1; i < count; i++) {
        int32_t moving = found[i];
        size_t at = i;
        for (; at > from && found[at - 1] > moving; at--)
            found[at] = found[at - 1];
        found[at] = moving;
    }
}

size_t pr_at_least(int32_t *found, const pr_real *scores, size_t n, pr_real bar)
{
    pr_real tops[PR_LANES];
    size_t count = 0;
    for (size_t chunk = 0; chunk < n; chunk += CHUNK) {
        size_t size = n - chunk < CHUNK ? n - chunk : CHUNK, from = count;
        column_tops(tops, scores + chunk, size);
        for (size_t c = 0; c < PR_LANES; c++)
            for (size_t i = c; tops[c] >= bar && i < size; i += PR_LANES)
                if (scores[chunk + i] >= bar)
                    found[count++] = (int32_t)(chunk + i);
        order_last(found, from, count);
    }
    return count;
}

/* ---- ranks ---- */

/* How many of x[n] rank before a score: larger ones and, with `ties`, equal ones too. */
PR_INLINE size_t before(const pr_real *x, size_t n, pr_real score, bool ties)
{
    pr_lanes a, own = (pr_lanes){0} + score;
    __typeof__(a > own) counts = own < own; /* zeros */
    size_t at = 0, sum = 0;
    for (; at + PR_LANES <= n; at += PR_LANES) {
        pr_lanes_load(&a, x + at);
        counts -= ties ? a >= own : a > own; /* a true comparison is -1 */
    }
    for (; at < n; at++)
        sum += ties ? x[at] >= score : x[at] > score;
    for (size_t i = 0; i < PR_LANES; i++)
        sum += (size_t)counts[i];
    return sum;
}

/* In parts that stay in the nearest cache while they are compared with every item. */
PR_INLINE void ranks_any(size_t *ranks, const pr_real *scores, size_t n, const int32_t *items,
                         size_t count)
{
    enum { PART = 512 };
    for (size_t i = 0; i < count; i++)
        ranks[i] = scores[items[i]] > -(pr_real)INFINITY;
    for (size_t at = 0; at < n; at += PART) {
        size_t size = n - at < PART ? n - at : PART;
        for (size_t i = 0; i < count; i++) {
            size_t item = (size_t)items[i], ties = item < at          ? 0
                                                   : item - at < size ? item - at
                                                                      : size;
            pr_real own = scores[item];
            if (ranks[i] > 0)
                ranks[i] += before(scores + at, ties, own, true) +
                            before(scores + at + ties, size - ties, own, false);
        }
    }
}
PR_LEVELS(void, pr_topk_ranks, ranks_any,
          (size_t * ranks, const pr_real *scores, size_t n, const int32_t *items, size_t count),
          (ranks, scores, n, items, count))

/* ---- other scans ---- */

PR_INLINE void bar_any(pr_real *scores, const uint8_t *marks, uint8_t which, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = (marks[i] & which) != 0 ? -(pr_real)INFINITY : scores[i];
}
PR_LEVELS(void, pr_topk_bar, bar_any,
          (pr_real * scores, const uint8_t *marks, uint8_t which, size_t n),
          (scores, marks, which, n))

PR_INLINE pr_real top_any(const pr_real *scores, size_t n)
{
    pr_real tops[PR_LANES];
    chunk_tops(tops, scores, n);
    for (size_t i = 1; i < PR_LANES; i++)
        tops[0] = tops[i] > tops[0] ? tops[i] : tops[0];
    return tops[0];
}
PR_LEVELS(pr_real, pr_top, top_any, (const pr_real *scores, size_t n), (scores, n))

/* ---- plain versions, for the tests ---- */

static bool taken(const int32_t *best, size_t count, size_t i)
{
    for (size_t j = 0; j < count; j++)
        if ((size_t)best[j] == i)
            return true;
    return false;
}

size_t pr_topk_plain(int32_t *best, const pr_real *scores, size_t n, size_t k)
{
    size_t count = 0;
    while (count < k) {
        size_t top = n;
        for (size_t i = 0; i < n; i++)
            if (scores[i] > -(pr_real)INFINITY && !taken(best, count, i) &&
                (top == n || scores[i] > scores[top]))
                top = i;
        if (top == n)
            break;
        best[count++] = (int32_t)top;
    }
    return count;
}
