/* A start has one place where it may be kept; whoever comes later takes it over. */
#include "model/parsrec/parsrec_kept.h"

#include <string.h>

enum {
    BYTES = 4 << 20, /* of a session: some hundred users, in the nearer caches */
    SLOTS_MOST = 4096,
};

static size_t row_size(size_t dv)
{
    return (3 + PR_ARNN_KEPT_STEPS) * dv;
}

void pr_arnn_kept_take(pr_arnn_kept *kept, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t slots = BYTES / (row_size(d->dv) * sizeof(pr_real)) + 1;
    *kept = (pr_arnn_kept){.slots = slots < SLOTS_MOST ? slots : SLOTS_MOST, .dv = d->dv};
    kept->open = kept->slots;
    kept->baskets = pr_arena_take_zero(arena, kept->slots, sizeof *kept->baskets);
    kept->rows = pr_arena_take(arena, kept->slots * row_size(d->dv), sizeof *kept->rows);
}

static pr_real *row_of(const pr_arnn_kept *kept, size_t slot)
{
    return kept->rows + slot * row_size(kept->dv);
}

bool pr_arnn_kept_begin(pr_arnn_kept *kept, uint64_t alike, pr_real *cell, pr_real *hidden)
{
    size_t slot = alike % kept->slots, dv = kept->dv;
    kept->placed = 0;
    kept->open = kept->slots;
    if (alike == 0 || kept->baskets[slot].alike != alike)
        return false;
    kept->open = slot;
    memcpy(cell, row_of(kept, slot), 2 * dv * sizeof *cell);
    memcpy(hidden, row_of(kept, slot) + 2 * dv, dv * sizeof *hidden);
    return true;
}

void pr_arnn_kept_learn(pr_arnn_kept *kept, uint64_t alike, const pr_real *cell,
                        const pr_real *hidden)
{
    size_t slot = alike % kept->slots, dv = kept->dv;
    if (alike == 0)
        return;
    kept->open = slot;
    kept->baskets[slot] = (pr_arnn_kept_basket){.alike = alike};
    memcpy(row_of(kept, slot), cell, 2 * dv * sizeof *cell);
    memcpy(row_of(kept, slot) + 2 * dv, hidden, dv * sizeof *hidden);
}

bool pr_arnn_kept_next(const pr_arnn_kept *kept, pr_real *hidden)
{
    if (kept->open == kept->slots || kept->placed >= kept->baskets[kept->open].steps)
        return false;
    memcpy(hidden, row_of(kept, kept->open) + (3 + kept->placed) * kept->dv,
           kept->dv * sizeof *hidden);
    return true;
}

void pr_arnn_kept_follow(pr_arnn_kept *kept, const pr_real *hidden)
{
    if (kept->open == kept->slots || kept->placed >= PR_ARNN_KEPT_STEPS)
        return;
    kept->baskets[kept->open].steps = (uint32_t)kept->placed + 1;
    memcpy(row_of(kept, kept->open) + (3 + kept->placed) * kept->dv, hidden,
           kept->dv * sizeof *hidden);
}

/* Another item than last time: what followed it is of no use. */
void pr_arnn_kept_place(pr_arnn_kept *kept, int32_t item)
{
    size_t at = kept->placed++;
    if (kept->open == kept->slots || at >= PR_ARNN_KEPT_STEPS)
        return;
    pr_arnn_kept_basket *b = &kept->baskets[kept->open];
    if (at < b->items && b->item[at] == item)
        return;
    b->item[at] = item;
    b->items = (uint32_t)at + 1;
    b->steps = b->steps < at + 1 ? b->steps : (uint32_t)at + 1;
}
