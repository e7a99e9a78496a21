/* Open addressing over one block of names; a slot carries half the hash, so that a miss seldom
 * touches the names. */
#include "base/intern.h"

#include <string.h>

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

static uint64_t hash_of(pr_slice name)
{
    return XXH3_64bits(name.bytes, name.size);
}

/* Where a name's search begins. The upper half of the hash decides, which the slot carries: so
 * growing needs no name again, and walks both tables from end to end instead of jumping about. */
static size_t home_of(uint64_t hash, size_t slot_count)
{
    return (size_t)((hash >> 32) * slot_count >> 32);
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

/* By half: memory stays within 18 bytes a name, which matters with millions of them. */
static parsrec_status enlarge(pr_intern *table, parsrec_error *err)
{
    size_t bigger = table->slot_count == 0 ? 64 : table->slot_count / 2 * 3;
    uint64_t *slots = pr_alloc_zero(bigger, sizeof *slots);
    if (slots == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i] == 0)
            continue;
        size_t at = home_of(table->slots[i], bigger);
        while (slots[at] != 0)
            at = at + 1 < bigger ? at + 1 : 0;
        slots[at] = table->slots[i];
    }
    pr_free(table->slots);
    table->slots = slots;
    table->slot_count = bigger;
    return PARSREC_OK;
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
    if (table->count >= table->slot_count / 3 * 2)
        PR_TRY(enlarge(table, err));
    uint64_t hash = hash_of(name);
    size_t at = probe(table, name, hash);
    if (table->slots[at] == 0) {
        PR_TRY(append(table, name, err));
        table->slots[at] = (hash & 0xFFFFFFFF00000000u) | table->count;
    }
    *number = (uint32_t)table->slots[at] - 1;
    return PARSREC_OK;
}

bool pr_intern_find(const pr_intern *table, pr_slice name, uint32_t *number)
{
    if (table->slot_count == 0)
        return false;
    uint64_t slot = table->slots[probe(table, name, hash_of(name))];
    if (slot == 0)
        return false;
    *number = (uint32_t)slot - 1;
    return true;
}

parsrec_status pr_intern_load(pr_intern *table, const pr_names *names, parsrec_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        uint32_t number;
        PR_TRY(pr_intern_add(table, pr_name(names, i), &number, err));
        pr_excerpt hold;
        if (number != i)
            return pr_fail(err, PARSREC_E_FORMAT, "the name %s stands twice in one table",
                           pr_show(&hold, pr_name(names, i)));
    }
    return PARSREC_OK;
}
