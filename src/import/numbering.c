/* Users are dealt to shards by counting, then each shard is sorted, so that sorting needs room for the
 * keys of one shard only. */
#include "import/numbering.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/shards.h"

void pr_numbering_free(pr_spill_order *order)
{
    pr_free(order->user_from);
    pr_free(order->item_from);
    pr_free(order->item_to);
    *order = (pr_spill_order){0};
}

static int by_key(const void *left, const void *right, void *names)
{
    const uint32_t *a = left, *b = right;
    return pr_key_compare(pr_intern_name(names, *a), pr_intern_name(names, *b));
}

/* Fills user_from with the users of shard 0, 1, ... in any order; ends[k] is where shard k ends. */
static parsrec_status deal(uint32_t *user_from, size_t *ends, const pr_intern *users,
                           uint32_t shards, parsrec_error *err)
{
    uint16_t *shard_of = pr_alloc(users->count, sizeof *shard_of);
    if (shard_of == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < users->count; u++) {
        shard_of[u] = (uint16_t)pr_shard_of(pr_intern_name(users, u), shards);
        ends[shard_of[u]]++;
    }
    size_t begin = 0;
    for (uint32_t k = 0; k < shards; k++) {
        size_t count = ends[k];
        ends[k] = begin;
        begin += count;
    }
    for (size_t u = 0; u < users->count; u++)
        user_from[ends[shard_of[u]]++] = (uint32_t)u;
    pr_free(shard_of);
    return PARSREC_OK;
}

parsrec_status pr_numbering_make(pr_spill_order *out, const pr_intern *users, uint32_t shards,
                                 const pr_intern *items, parsrec_error *err)
{
    size_t *ends = pr_alloc_zero(shards, sizeof *ends);
    parsrec_status status = PARSREC_OK;
    *out = (pr_spill_order){.user_from = pr_alloc(users->count, sizeof *out->user_from),
                            .item_from = pr_alloc(items->count, sizeof *out->item_from),
                            .item_to = pr_alloc(items->count, sizeof *out->item_to)};
    if (ends == NULL || out->user_from == NULL || out->item_from == NULL || out->item_to == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < items->count; i++)
        out->item_from[i] = (uint32_t)i;
    qsort_r(out->item_from, items->count, sizeof *out->item_from, by_key, (void *)(uintptr_t)items);
    for (size_t i = 0; i < items->count; i++)
        out->item_to[out->item_from[i]] = (uint32_t)i;
    PR_TRY_GOTO(deal(out->user_from, ends, users, shards, err));
    for (uint32_t k = 0; k < shards; k++) {
        size_t begin = k > 0 ? ends[k - 1] : 0;
        qsort_r(out->user_from + begin, ends[k] - begin, sizeof *out->user_from, by_key,
                (void *)(uintptr_t)users);
    }
done:
    pr_free(ends);
    return status;
}
