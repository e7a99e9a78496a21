/* The shelf: lines of goods, and scenarios that change what is for sale.
 *
 * Lines are what the rows of a sales table are about. The first lines, the bins, partition
 * the catalogue: every item belongs to the bin of its category, or is a bin itself where there are
 * no categories. After them come the lines that the caller named (an item, a category that is no
 * bin) and new items, in the order in which the words of the options name them; then items beside one that leaves.
 *
 * Lines are made first, then scenarios, which may add lines; sales tables are sized after that, and
 * from then on both are only read. Everything lives in one region. */
#ifndef PR_SHELF_H
#define PR_SHELF_H

#include <assert.h>

#include "base/memory.h"
#include "data/dataset.h"
#include "data/directory.h"

enum {
    PR_BINS_MOST = 2000, /* of items without categories: the rest is one bin, "other items" */
    PR_NAMED_MOST = 60,  /* lines after the bins, new items included; an item has a bit for each */
};

typedef enum pr_line_kind {
    PR_LINE_BIN,
    PR_LINE_NAMED,
    PR_LINE_NEW, /* an item that is not in the catalogue yet */
} pr_line_kind;

typedef struct pr_line {
    char *name;
    pr_line_kind kind;
    int32_t *items; /* ascending; of a new item the one that it is like */
    size_t count;
    bool offered; /* an item that may replace one that leaves: shown where no lines are named */
} pr_line;

typedef struct pr_lines {
    const pr_dataset *data;
    const pr_directory *directory;
    pr_region *region; /* that holds the lines; the caller frees it */
    pr_line *list;
    size_t bins, count, capacity;
    int32_t *bin_of; /* [items] */
    uint64_t *named; /* [items]: bit i is set where the item belongs to line bins + i */
    bool by_item;    /* bins are items: there are no categories */
    size_t other;    /* the bin of all items without a bin of their own; SIZE_MAX: there is none */
} pr_lines;

/* `level`: categories are those of that depth, 1 at the top; 0: as deep as they go. Region, data
 * and directory must outlive the lines. */
parsrec_status pr_lines_init(pr_lines *lines, pr_region *region, const pr_dataset *data,
                             const pr_directory *directory, size_t level, parsrec_error *err);

/* word: "category=X", "item=Y", or just the name of a category or else of an item. Sets *line to
 * the bin that has exactly these items, or else to a named line, which is made if it does not
 * exist. */
parsrec_status pr_lines_find(pr_lines *lines, const char *word, size_t *line, parsrec_error *err);

/* word: "item=Z:like=W". Adds a line for the new item Z, which the model is to treat like the item
 * W of the catalogue. */
parsrec_status pr_lines_add(pr_lines *lines, const char *word, size_t *line, parsrec_error *err);

/* Whether a named line contains all items of a bin. Categories are nested, so the first and the
 * last item of the bin decide. */
static inline bool pr_lines_cover(const pr_lines *lines, size_t named, size_t bin)
{
    assert(bin < lines->bins && named >= lines->bins && named < lines->count);
    const pr_line *b = &lines->list[bin];
    uint64_t bit = (uint64_t)1 << (named - lines->bins);
    return (lines->named[b->items[0]] & lines->named[b->items[b->count - 1]] & bit) != 0 &&
           lines->list[named].count >= b->count;
}

/* Adds `units` of an item to row[lines->count]: to its bin and to all named lines that contain
 * it. */
static inline void pr_lines_sell(const pr_lines *lines, double *row, int32_t item, double units)
{
    row[lines->bin_of[item]] += units;
    for (uint64_t left = lines->named[item]; left != 0; left &= left - 1)
        row[lines->bins + (size_t)__builtin_ctzll(left)] += units;
}

/* ---- scenarios: what leaves the shelf, what is added ---- */

enum { PR_ADDS_MOST = 8 };

typedef enum pr_on_shelf {
    PR_SHELF_ALL,
    PR_SHELF_PART,
    PR_SHELF_NONE,
} pr_on_shelf;

#define PR_LEAVES "leaves: "

typedef struct pr_scenario {
    char *name;       /* "without C0" */
    char *leaving;    /* "leaves: C0", which begins with PR_LEAVES */
    bool *off;        /* [items] */
    size_t off_count; /* items off the shelf */
    uint8_t *state;   /* [lines.count]: pr_on_shelf */
    size_t *part;     /* [parts]: the bins of which a part is off the shelf */
    size_t parts;
    int32_t *part_items; /* [part_item_count]: the items that are off in them ... */
    uint32_t *part_of;   /* ... and the index in `part` of the bin of each */
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
 * scenario of its own. Lives in the region of the lines. */
parsrec_status pr_scenarios_init(pr_scenarios *out, pr_lines *lines,
                                 const parsrec_whatif_options *options, parsrec_error *err);

/* How many of the items are off the shelf. */
static inline size_t pr_scenario_missing(const pr_scenario *s, const int32_t *items, size_t n)
{
    size_t missing = 0;
    for (size_t i = 0; i < n; i++)
        missing += s->off[items[i]];
    return missing;
}

#endif
