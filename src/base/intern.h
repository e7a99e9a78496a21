/* Names to dense numbers: the first new name is 0, the next 1, and so on. The names stand one after
 * the other in one block with offsets, the very form in which files carry them. */
#ifndef PR_INTERN_H
#define PR_INTERN_H

#include "base/status.h"
#include "base/text.h"

/* A table of names somebody else owns: name i is bytes[offsets[i] .. offsets[i+1]). */
typedef struct pr_names {
    const char *bytes;
    const int64_t *offsets; /* count + 1 */
    size_t count;
} pr_names;

static inline pr_slice pr_name(const pr_names *names, size_t i)
{
    return (pr_slice){names->bytes + names->offsets[i],
                      (size_t)(names->offsets[i + 1] - names->offsets[i])};
}

typedef struct pr_intern {
    char *bytes;
    int64_t *offsets;
    size_t count, bytes_capacity, offsets_capacity;
    uint64_t *slots; /* high half: part of the hash; low half: number + 1, 0 for empty */
    size_t slot_count;
} pr_intern;

/* A zeroed pr_intern is empty and ready. */
void pr_intern_free(pr_intern *table);

/* The number of a name, given to it now if it is new. At most 2^31 - 2 names. */
parsrec_status pr_intern_add(pr_intern *table, pr_slice name, uint32_t *number, parsrec_error *err);
bool pr_intern_find(const pr_intern *table, pr_slice name, uint32_t *number);

/* Fills an empty table with the names of a view, each once, number i for name i. A name that comes
 * twice is E_FORMAT. */
parsrec_status pr_intern_load(pr_intern *table, const pr_names *names, parsrec_error *err);

/* Gives up the slots, which are the larger part of the memory: no adding or finding afterwards. */
void pr_intern_seal(pr_intern *table);

static inline pr_slice pr_intern_name(const pr_intern *table, size_t i)
{
    return (pr_slice){table->bytes + table->offsets[i],
                      (size_t)(table->offsets[i + 1] - table->offsets[i])};
}

/* A view that lives as long as the table is not added to. */
pr_names pr_intern_view(const pr_intern *table);

#endif
