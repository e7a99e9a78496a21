/* Sampling without replacement: draws that hit the basket or an earlier draw are made again, or the
 * catalogue is walked once when most of it is wanted. */
#include "eval/candidates.h"

#include <string.h>

#include "base/memory.h"

enum { PURPOSE = 0xCA4D }; /* keeps these draws apart from all others of the same seed */

parsrec_status pr_candidates_init(pr_candidates *c, size_t items, uint64_t seed, bool exclude_seen,
                                  parsrec_error *err)
{
    *c = (pr_candidates){
        .rng = pr_rng_make(seed, PURPOSE), .items = items, .exclude_seen = exclude_seen};
    c->barred = pr_alloc_zero(items, sizeof *c->barred);
    c->had = pr_alloc_zero(items, sizeof *c->had);
    return c->barred == NULL || c->had == NULL ? pr_fail_memory(err) : PARSREC_OK;
}

void pr_candidates_free(pr_candidates *c)
{
    pr_free(c->barred);
    pr_free(c->had);
    *c = (pr_candidates){0};
}

/* ---- a basket ---- */

static void bar(pr_candidates *c, int32_t item)
{
    c->left -= c->barred[item] != c->basket;
    c->barred[item] = c->basket;
}

void pr_candidates_turn(pr_candidates *c, const pr_history *history, const int32_t *own,
                        size_t size, bool *seen)
{
    if (++c->basket == 0) { /* after 2^32 baskets the numbers begin anew */
        memset(c->barred, 0, c->items * sizeof *c->barred);
        memset(c->had, 0, c->items * sizeof *c->had);
        c->basket = 1;
    }
    c->left = c->items;
    for (size_t i = 0; i < history->count; i++) {
        c->had[history->items[i]] = c->basket;
        if (c->exclude_seen)
            bar(c, history->items[i]);
    }
    for (size_t i = 0; i < size; i++) {
        seen[i] = c->had[own[i]] == c->basket;
        bar(c, own[i]);
    }
}

/* ---- drawing ---- */

/* Selection sampling: each item left is taken with the chance that keeps all subsets equal. */
static size_t walk(pr_candidates *c, pr_stream *stream, size_t wanted, int32_t *out)
{
    size_t count = 0, left = c->left;
    for (size_t i = 0; i < c->items && count < wanted; i++) {
        if (c->barred[i] == c->basket)
            continue;
        if (pr_stream_below(stream, (uint32_t)left) < wanted - count)
            out[count++] = (int32_t)i;
        left--;
    }
    return count;
}

size_t pr_candidates_draw(pr_candidates *c, uint32_t user, uint32_t session, size_t wanted,
                          int32_t *out)
{
    pr_stream stream = pr_stream_at(&c->rng, user, session, 0);
    if (wanted > c->left)
        wanted = c->left;
    if (wanted > c->left / 2)
        return walk(c, &stream, wanted, out);
    for (size_t count = 0; count < wanted;) {
        uint32_t item = pr_stream_below(&stream, (uint32_t)c->items);
        if (c->barred[item] == c->basket)
            continue;
        bar(c, (int32_t)item);
        out[count++] = (int32_t)item;
    }
    return wanted;
}
