/* A change of the assortment: what leaves the shelf, what is added. */
#ifndef PR_SCENARIO_H
#define PR_SCENARIO_H

#include "whatif/lines.h"

enum { PR_ADDS_MOST = 8 };

typedef enum pr_on_shelf {
    PR_SHELF_ALL,
    PR_SHELF_PART,
    PR_SHELF_NONE,
} pr_on_shelf;

typedef struct pr_scenario {
    char *name;       /* "without C0" */
    char *leaving;    /* "leaves: C0" */
    bool *off;        /* [items] */
    size_t off_count; /* items off the shelf */
    uint8_t *state;   /* [lines.count]: pr_on_shelf */
    size_t *part;     /* bins of which a part is off ... */
    size_t parts;
    int32_t *part_items; /* ... and the items that are off in them, with the part they belong to */
    uint32_t *part_of;
    size_t part_item_count;
    size_t adds[PR_ADDS_MOST]; /* lines of new items */
    size_t add_count;
} pr_scenario;

typedef struct pr_scenarios {
    pr_scenario *list;
    size_t count;
    size_t parts, adds; /* the most of any scenario */
} pr_scenarios;

/* From the words of the options; makes the lines they name. With options->each every --drop is a
 * scenario of its own. Free also on failure. */
parsrec_status pr_scenarios_init(pr_scenarios *out, pr_lines *lines,
                                 const parsrec_whatif_options *options, parsrec_error *err);
void pr_scenarios_free(pr_scenarios *scenarios); /* a zeroed one is fine */

/* How many of the items are off the shelf. */
static inline size_t pr_scenario_missing(const pr_scenario *s, const int32_t *items, size_t n)
{
    size_t missing = 0;
    for (size_t i = 0; i < n; i++)
        missing += s->off[items[i]];
    return missing;
}

#endif
