/* The order in which the gradients of a batch's chunks are added: a fixed binary tree over the numbers
 * of the chunks (docs/adr/0018). First 1 is added to 0, 3 to 2, 5 to 4, ...; then 2 to 0, 6 to 4, ...;
 * then 4 to 0; and so on. Chunk c is added to c without its lowest set bit, once c has everything that
 * belongs to it. Whoever holds all chunks of a subtree can add them up alone, and the bits stay the
 * same: that is what ranks do. */
#ifndef PR_CHUNK_TREE_H
#define PR_CHUNK_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Where chunk c > 0 is added. */
static inline size_t pr_tree_parent(size_t c)
{
    return c & (c - 1);
}

/* Whether chunk c, of `count`, is added to its parent by whoever holds the chunks from..to-1 alone:
 * everything that both have by then lies in this range. */
static inline bool pr_tree_within(size_t c, size_t count, size_t from, size_t to)
{
    if (c == 0)
        return false;
    size_t parent = pr_tree_parent(c), end = c + (c - parent);
    return parent >= from && (end < count ? end : count) <= to;
}

/* Two chunks that hold one item, a < b: the lower the result, the earlier they are added. */
static inline size_t pr_tree_height(size_t a, size_t b)
{
    size_t differ = a ^ b, height = 0;
    while (differ >>= 1)
        height++;
    return height;
}

#endif
