/* The rows and columns of a map: items, or the categories they belong to. Both are classes of
 * items; a class of one item is that item. */
#ifndef PR_AXIS_H
#define PR_AXIS_H

#include "base/memory.h"
#include "data/dataset.h"

enum { PR_AXIS_MOST = 1000 }; /* classes; a map has the square of that */

typedef struct pr_axis_options {
    bool items;   /* else categories */
    size_t level; /* of the category tree, 1 at the top; 0: the category of an item itself */
    size_t top;   /* number of classes: those with most actions */
    const char *const *list; /* only these classes, by name; NULL: as `top` says */
    size_t list_count;
} pr_axis_options;

typedef struct pr_axis {
    bool items;
    size_t count; /* classes shown */
    size_t there; /* classes there are, shown or not */
    size_t item_count;
    uint32_t *class; /* [items]: 0..count-1, or `count` for those not shown: the rest */
    uint32_t *order; /* [items]: items by class ... */
    size_t
        *offsets;  /* [count + 2]: ... class c has those from offsets[c] on; the rest comes last */
    char **names;  /* [count] */
    size_t *block; /* [count]: the branch of the category tree it belongs to; lines between them */
    /* [count,PR_CATEGORY_LEVELS]: categories from the top of the tree to the class, then -1 */
    int32_t *paths;
    char **category_names; /* [categories]: of those on a path; others NULL */
    size_t categories;
    pr_region region; /* holds all of the above */
} pr_axis;

/* Classes are in order of the catalogue: categories by number, items by category. E_INPUT where
 * there are no categories or fewer than two classes. Free also on failure. */
parsrec_status pr_axis_init(pr_axis *axis, const pr_dataset *data, const pr_axis_options *options,
                            parsrec_error *err);
void pr_axis_free(pr_axis *axis); /* a zeroed one is fine */

/* The lowest category that contains both classes, as a place on the path of each; -1: none. */
int pr_axis_common(const pr_axis *axis, size_t i, size_t j);

#endif
