/* Open addressing over one block of names; a slot carries half the hash, so that a miss seldom
 * touches the names. */
#include "base/intern.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/xxh3.h"

static const int64_t no_names[1] = {0};

void pr_intern_free(pr_intern *table)
{
    pr_free(table->bytes);
    pr_free(table->offsets);
    pr_free(table->slots);
    *table = (pr_intern){0};
}

void pr_intern_seal(pr_intern *table)
{
    pr_free(table->slots);
    table->slots = NULL;
    table->slot_count = 0;
}

pr_names pr_intern_view(const pr_intern *table)
{
    return (pr_names){table->bytes != NULL ? table->bytes : "",
                      table->offsets != NULL ? table->offsets : no_names, table->count};
}

/* ---- the seed ---- */

static _Atomic uint64_t process_seed, long_probes;

/* A system without random numbers yet still gets a seed that is hard to know from outside. */
static uint64_t draw_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        double now = pr_now();
        memcpy(&seed, &now, sizeof seed);
        seed ^= (uintptr_t)&seed;
    }
    return seed | 1;
}

uint64_t pr_name_seed(void)
{
    uint64_t seed = atomic_load_explicit(&process_seed, memory_order_relaxed);
    if (seed != 0)
        return seed;
    uint64_t drawn = draw_seed(); /* the first thread to store decides for all */
    return atomic_compare_exchange_strong(&process_seed, &seed, drawn) ? drawn : seed;
}

void pr_name_seed_set(uint64_t seed)
{
    atomic_store(&process_seed, seed);
}

uint64_t pr_long_probes(void)
{
    return atomic_load(&long_probes);
}

/* ---- slots ---- */

static uint64_t hash_of(const pr_intern *table, pr_slice name)
{
    return XXH3_64bits_withSeed(name.bytes, name.size, table->seed);
}

/* Where a name's search begins. The upper half of the hash decides, which the slot carries: so
 * growing needs no name again, and walks both tables from end to end instead of jumping about. */
static size_t home_of(uint64_t hash, size_t slot_count)
{
    return (size_t)((hash >> 32) * slot_count >> 32);
}

static size_t steps_between(size_t from, size_t to, size_t slot_count)
{
    return to >= from ? to - from : to + slot_count - from;
}

/* The slot that holds the name, or the empty one where it belongs. */
static inline size_t probe(const pr_intern *table, pr_slice name, uint64_t hash)
{
    for (size_t at = home_of(hash, table->slot_count);;) {
        uint64_t slot = table->slots[at];
        if (slot == 0)
            return at;
        if ((slot ^ hash) >> 32 == 0 &&
            pr_slice_equal(pr_intern_name(table, (uint32_t)slot - 1), name))
            return at;
        if (++at == table->slot_count)
            at = 0;
    }
}

static void settle(uint64_t *slots, size_t slot_count, uint64_t slot)
{
    size_t at = home_of(slot, slot_count);
    while (slots[at] != 0)
        at = at + 1 < slot_count ? at + 1 : 0;
    slots[at] = slot;
}

size_t pr_intern_longest_probe(const pr_intern *table)
{
    size_t longest = 0;
    for (size_t i = 0; i < table->slot_count; i++) {
        size_t steps =
            steps_between(home_of(table->slots[i], table->slot_count), i, table->slot_count);
        if (table->slots[i] != 0 && steps > longest)
            longest = steps;
    }
    return longest;
}

/* By half: memory stays within 18 bytes a name, which matters with millions of them. */
static parsrec_status enlarge(pr_intern *table, parsrec_error *err)
{
    size_t bigger = table->slot_count == 0 ? 64 : table->slot_count / 2 * 3;
    uint64_t *slots = pr_alloc_zero(bigger, sizeof *slots);
    if (slots == NULL)
        return pr_fail_memory(err);
    if (table->slot_count == 0)
        table->seed = pr_name_seed();
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i] != 0)
            settle(slots, bigger, table->slots[i]);
    pr_free(table->slots);
    table->slots = slots;
    table->slot_count = bigger;
    return PARSREC_OK;
}

/* Takes another seed after a search that was too long. Names that collide with every seed would ask
 * for it repeatedly, so it waits until the table has doubled. Without memory the table stays as it
 * is, which is slow but correct. */
static void reseed(pr_intern *table)
{
    atomic_fetch_add(&long_probes, 1);
    if (table->count < table->reseed_beyond)
        return;
    uint64_t *slots = pr_alloc_zero(table->slot_count, sizeof *slots);
    if (slots == NULL)
        return;
    pr_free(table->slots);
    table->slots = slots;
    table->seed = draw_seed();
    table->reseed_beyond = 2 * table->count;
    for (size_t i = 0; i < table->count; i++)
        settle(slots, table->slot_count,
               (hash_of(table, pr_intern_name(table, i)) & 0xFFFFFFFF00000000u) | (i + 1));
}

static parsrec_status append(pr_intern *table, pr_slice name, parsrec_error *err)
{
    if (table->count >= INT32_MAX - 1)
        return pr_fail(err, PARSREC_E_LIMIT, "more than 2^31 - 2 different names");
    PR_TRY(pr_grow(&table->offsets, &table->offsets_capacity, table->count + 2,
                   sizeof *table->offsets, err));
    if (table->count == 0)
        table->offsets[0] = 0;
    size_t used = (size_t)table->offsets[table->count];
    if (name.size > SIZE_MAX / 2 - used)
        return pr_fail_memory(err);
    PR_TRY(pr_grow(&table->bytes, &table->bytes_capacity, used + name.size, 1, err));
    if (name.size > 0)
        memcpy(table->bytes + used, name.bytes, name.size);
    table->offsets[++table->count] = (int64_t)(used + name.size);
    return PARSREC_OK;
}

parsrec_status pr_intern_add(pr_intern *table, pr_slice name, uint32_t *number, parsrec_error *err)
{
    assert(table->slot_count > 0 || table->count == 0); /* not sealed */
    if (table->count >= table->slot_count / 3 * 2)
        PR_TRY(enlarge(table, err));
    uint64_t hash = hash_of(table, name);
    size_t at = probe(table, name, hash);
    if (table->slots[at] != 0) {
        *number = (uint32_t)table->slots[at] - 1;
        return PARSREC_OK;
    }
    PR_TRY(append(table, name, err));
    table->slots[at] = (hash & 0xFFFFFFFF00000000u) | table->count;
    *number = (uint32_t)table->count - 1;
    if (steps_between(home_of(hash, table->slot_count), at, table->slot_count) > PR_PROBE_MOST)
        reseed(table);
    return PARSREC_OK;
}

bool pr_intern_find(const pr_intern *table, pr_slice name, uint32_t *number)
{
    assert(name.bytes != NULL || name.size == 0);
    assert(table->slot_count > 0 || table->count == 0); /* not sealed */
    if (table->slot_count == 0)
        return false;
    uint64_t slot = table->slots[probe(table, name, hash_of(table, name))];
    if (slot == 0)
        return false;
    *number = (uint32_t)slot - 1;
    return true;
}

parsrec_status pr_intern_load(pr_intern *table, const pr_names *names, parsrec_error *err)
{
    assert(table->count == 0);
    for (size_t i = 0; i < names->count; i++) {
        uint32_t number;
        PR_TRY(pr_intern_add(table, pr_name(names, i), &number, err));
        pr_excerpt hold;
        if (number != i)
            return pr_fail(err, PARSREC_E_FORMAT, "the name %s occurs twice in one table",
                           pr_show(&hold, pr_name(names, i)));
    }
    return PARSREC_OK;
}
