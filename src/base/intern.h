/* Names to dense numbers: the first new name is 0, the next 1, and so on. The names are stored one
 * after the other in one block with offsets, the form in which files carry them.
 *
 * Names come from untrusted input, which must not be able to make them share a slot. The hash is
 * therefore seeded from the system's random source, once per process. Numbers and bytes do not
 * depend on the seed, only the order of slots does, and slots are never written to a file. Where
 * one search nevertheless takes more than PR_PROBE_MOST steps, the table takes another seed. */
#ifndef PR_INTERN_H
#define PR_INTERN_H

#include <assert.h>

#include "base/status.h"
#include "base/text.h"

/* A view of a table of names: name i is bytes[offsets[i] .. offsets[i+1]). */
typedef struct pr_names {
    const char *bytes;
    const int64_t *offsets; /* count + 1 */
    size_t count;
} pr_names;

static inline pr_slice pr_name(const pr_names *names, size_t i)
{
    assert(i < names->count);
    return (pr_slice){names->bytes + names->offsets[i],
                      (size_t)(names->offsets[i + 1] - names->offsets[i])};
}

/* At two thirds full, the longest run that chance makes among 2^31 names has about 300 slots. */
enum { PR_PROBE_MOST = 1024 };

typedef struct pr_intern {
    char *bytes;
    int64_t *offsets;
    size_t count, bytes_capacity, offsets_capacity;
    uint64_t *slots; /* high half: part of the hash; low half: number + 1, 0 for empty */
    size_t slot_count;
    uint64_t seed;        /* of the hash; set with the first slots */
    size_t reseed_beyond; /* names to have before another seed may be taken: bounds that work */
} pr_intern;

/* A zeroed pr_intern is empty and ready. */
void pr_intern_free(pr_intern *table);

/* The number of a name, given to it now if it is new. At most 2^31 - 2 names. */
parsrec_status pr_intern_add(pr_intern *table, pr_slice name, uint32_t *number, parsrec_error *err);
bool pr_intern_find(const pr_intern *table, pr_slice name, uint32_t *number);

/* Fills an empty table with the names of a view, each once, number i for name i. A name that occurs
 * twice is E_FORMAT. */
parsrec_status pr_intern_load(pr_intern *table, const pr_names *names, parsrec_error *err);

/* Gives up the slots, which are the larger part of the memory: no adding or finding afterwards. */
void pr_intern_seal(pr_intern *table);

static inline pr_slice pr_intern_name(const pr_intern *table, size_t i)
{
    assert(i < table->count);
    return (pr_slice){table->bytes + table->offsets[i],
                      (size_t)(table->offsets[i + 1] - table->offsets[i])};
}

/* The seed of this process, for other tables of names in memory. Never 0. */
uint64_t pr_name_seed(void);

/* For tests: another seed for tables begun from now on (0: as if new), and how many searches of any
 * table have taken more than PR_PROBE_MOST steps. */
void pr_name_seed_set(uint64_t seed);
uint64_t pr_long_probes(void);
/* The steps that finding the farthest name takes. */
size_t pr_intern_longest_probe(const pr_intern *table);

/* A view that lives as long as the table is not added to. */
pr_names pr_intern_view(const pr_intern *table);

#endif
