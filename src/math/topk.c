/* Top-k by a heap of the k best so far, whose root is the one to beat. */
#include "math/topk.h"

#include <stdbool.h>

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

size_t pr_topk(int32_t *best, const pr_real *scores, size_t n, size_t k)
{
    size_t count = 0;
    for (size_t i = 0; i < n && k > 0; i++) {
        if (!(scores[i] > -(pr_real)INFINITY))
            continue;
        if (count < k) {
            best[count] = (int32_t)i;
            rise(best, scores, count++);
        } else if (below(scores, best[0], (int32_t)i)) {
            best[0] = (int32_t)i;
            sink(best, scores, count, 0);
        }
    }
    unwind(best, scores, count);
    return count;
}

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
