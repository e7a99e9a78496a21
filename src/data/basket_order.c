/* A table of the pairs seen so far; a million of them say enough. */
#include "data/basket_order.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/xxh3.h"
#include "data/split.h"

enum {
    PAIRS_MOST = 1 << 20,
    SLOTS = 2 * PAIRS_MOST,
    HITS_LEAST = 100, /* of what chance gives: fewer say nothing */
};

typedef struct counting {
    uint64_t *slots; /* pairs as pair_of has them, never 0; 0: empty */
    pr_rng rng;
    pr_order_facts facts;
} counting;

static uint64_t pair_of(int32_t a, int32_t b)
{
    return ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) + 1;
}

static uint64_t *slot_of(const counting *c, uint64_t pair)
{
    size_t at = XXH3_64bits(&pair, sizeof pair) % SLOTS;
    while (c->slots[at] != 0 && c->slots[at] != pair)
        at = (at + 1) % SLOTS;
    return &c->slots[at];
}

/* In baskets of two every other item is the neighbour. */
static void compare(counting *c, const int32_t *items, size_t n, uint32_t session)
{
    pr_stream stream = pr_stream_at(&c->rng, session, 0, 0);
    for (size_t i = 0; i + 1 < n && n > 2; i++) {
        size_t other = pr_stream_below(&stream, (uint32_t)n - 1);
        other += other >= i;
        c->facts.pairs++;
        c->facts.neighbours += *slot_of(c, pair_of(items[i], items[i + 1])) != 0;
        c->facts.others += *slot_of(c, pair_of(items[i], items[other])) != 0;
    }
}

static void remember(counting *c, const int32_t *items, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t pair = pair_of(items[i], items[i + 1]);
        *slot_of(c, pair) = pair;
    }
}

/* Every so many users, so that all of the data has its say. */
static void count_all(counting *c, const pr_dataset *data, size_t last)
{
    size_t step = (size_t)data->actions / PAIRS_MOST + 1;
    uint64_t left = PAIRS_MOST;
    for (size_t u = 0; u < data->users; u += step)
        for (int64_t s = data->user_offsets[u]; s < pr_split_train_end(data, u, last); s++) {
            const int32_t *items = data->action_items + data->session_offsets[s];
            size_t n = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
            if (n > left)
                return;
            left -= n;
            compare(c, items, n, (uint32_t)s);
            remember(c, items, n);
        }
}

parsrec_status pr_order_count(pr_order_facts *out, const pr_dataset *data, size_t last,
                              parsrec_error *err)
{
    counting c = {.slots = pr_alloc_zero(SLOTS, sizeof *c.slots),
                  .rng = pr_rng_make(1, UINT64_C(0x6F72646572))}; /* "order" */
    if (c.slots == NULL)
        return pr_fail_memory(err);
    count_all(&c, data, last);
    *out = c.facts;
    pr_free(c.slots);
    return PARSREC_OK;
}

bool pr_order_tells(const pr_order_facts *facts)
{
    return facts->others >= HITS_LEAST && facts->neighbours * 5 > facts->others * 6;
}
