/* Top-k by a heap of the k best so far, whose root is the one to beat. */
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

/* Takes the worst off the heap again and again, so that the best come to stand first. */
static void unwind(int32_t *heap, const pr_real *scores, size_t count)
{
    for (size_t end = count; end > 1; end--) {
        int32_t worst = heap[0];
        heap[0] = heap[end - 1];
        sink(heap, scores, end - 1, 0);
        heap[end - 1] = worst;
    }
}

/* Whether any of sixteen scores is above a bound. */
PR_INLINE bool any_above(const pr_real *scores, pr_real bound)
{
    int above = 0;
    for (size_t i = 0; i < PR_LANES; i++)
        above |= scores[i] > bound;
    return above != 0;
}

/* The first position from `i` on whose score is above a bound, or n. */
PR_INLINE size_t next_above_any(const pr_real *scores, size_t i, size_t n, pr_real bound)
{
    while (i + PR_LANES <= n && !any_above(scores + i, bound))
        i += PR_LANES;
    while (i < n && !(scores[i] > bound))
        i++;
    return i;
}
PR_LOCAL_LEVELS(size_t, next_above, next_above_any,
                (const pr_real *scores, size_t i, size_t n, pr_real bound), (scores, i, n, bound))

/* An equal score that comes later ranks below: so what is not above the worst one kept may pass. */
size_t pr_topk(int32_t *best, const pr_real *scores, size_t n, size_t k)
{
    size_t count = 0, i = 0;
    const pr_real least = -(pr_real)INFINITY;
    for (; i < n && count < k; i++)
        if (scores[i] > least) {
            best[count] = (int32_t)i;
            rise(best, scores, count++);
        }
    while (count > 0 && (i = next_above(scores, i, n, scores[best[0]])) < n) {
        best[0] = (int32_t)i++;
        sink(best, scores, count, 0);
    }
    unwind(best, scores, count);
    return count;
}

/* ---- one rank ---- */

/* Better ones, and equal ones with smaller numbers. */
PR_INLINE uint32_t count_before_any(const pr_real *scores, size_t n, size_t position)
{
    uint32_t before = 0;
    pr_real score = scores[position];
    for (size_t i = 0; i < position; i++)
        before += scores[i] >= score;
    for (size_t i = position + 1; i < n; i++)
        before += scores[i] > score;
    return before;
}
PR_LOCAL_LEVELS(uint32_t, count_before, count_before_any,
                (const pr_real *scores, size_t n, size_t position), (scores, n, position))

size_t pr_rank_of(const pr_real *scores, size_t n, size_t position)
{
    return scores[position] > -(pr_real)INFINITY ? count_before(scores, n, position) + 1 : 0;
}

/* ---- plainly, for the tests ---- */

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
