/* Sampling without replacement: draws that hit the basket or an earlier draw are made again, or the
 * catalogue is walked once when most of it is wanted. */
#include "eval/candidates.h"

#include <string.h>

#include "base/memory.h"

enum { PURPOSE = 0xCA4D }; /* keeps these draws apart from all others of the same seed */

parsrec_status pr_candidates_init(pr_candidates *c, size_t items, uint64_t seed, parsrec_error *err)
{
    *c = (pr_candidates){.rng = pr_rng_make(seed, PURPOSE), .items = items};
    c->stamp = pr_alloc_zero(items, sizeof *c->stamp);
    return c->stamp == NULL ? pr_fail_memory(err) : PARSREC_OK;
}

void pr_candidates_free(pr_candidates *c)
{
    pr_free(c->stamp);
    *c = (pr_candidates){0};
}

/* Selection sampling: each item left is taken with the chance that keeps all subsets equal. */
static size_t walk(pr_candidates *c, pr_stream *stream, size_t left, size_t wanted, int32_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < c->items && count < wanted; i++) {
        if (c->stamp[i] == c->draw)
            continue;
        if (pr_stream_below(stream, (uint32_t)left) < wanted - count)
            out[count++] = (int32_t)i;
        left--;
    }
    return count;
}

size_t pr_candidates_draw(pr_candidates *c, uint32_t user, uint32_t session, const int32_t *basket,
                          size_t basket_size, size_t wanted, int32_t *out)
{
    if (++c->draw == 0) { /* after 2^32 baskets the stamps begin anew */
        memset(c->stamp, 0, c->items * sizeof *c->stamp);
        c->draw = 1;
    }
    pr_stream stream = pr_stream_at(&c->rng, user, session, 0);
    size_t left = c->items;
    for (size_t i = 0; i < basket_size; i++) {
        left -= c->stamp[basket[i]] != c->draw;
        c->stamp[basket[i]] = c->draw;
    }
    if (wanted > left)
        wanted = left;
    if (wanted > left / 2)
        return walk(c, &stream, left, wanted, out);
    for (size_t count = 0; count < wanted;) {
        uint32_t item = pr_stream_below(&stream, (uint32_t)c->items);
        if (c->stamp[item] == c->draw)
            continue;
        c->stamp[item] = c->draw;
        out[count++] = (int32_t)item;
    }
    return wanted;
}
