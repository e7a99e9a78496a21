/* What items share: a row of an item table is the sum of what was learnt for the item itself and of the
 * rows of its category, of all categories above it, and of its features: its shared parts (docs/math.md,
 * Kin). A model stores the sums, so only training knows about the parts.
 *
 * With dense gradients the weights hold the sums all the time. The gradient of a part is the sum over
 * its items; an update takes the parts off every row and afterwards puts the new ones on. With sparse
 * gradients the weights hold the items' own rows while training runs (item_tables.h). */
#ifndef PR_SHARED_PARTS_H
#define PR_SHARED_PARTS_H

#include "base/threads.h"
#include "model/model.h"

/* The parts of an item, one after the other: categories from the item's own upwards, then features. */
typedef struct pr_part_walk {
    const pr_category_tree *tree;
    size_t item;
    int32_t category; /* the next one, or -1 */
    size_t column;    /* the next one */
    size_t part;      /* the present part and its factor */
    pr_real factor;
} pr_part_walk;

pr_part_walk pr_part_walk_of(const pr_model *model, size_t item);
bool pr_part_next(pr_part_walk *walk); /* false after the last */

/* The parameter of a table's shared parts; NULL if there are none. */
const pr_param *pr_shared_of(const pr_model *model, const pr_param *table);
/* row[columns] += the parts of an item; nothing if `shared` is NULL. */
void pr_item_add_parts(pr_real *row, const pr_model *model, const pr_param *shared, size_t item);
/* out[columns] = own row of an item plus its parts, where the weights hold own rows. `shared` is that
 * of the table, or NULL. */
void pr_item_row(pr_real *out, const pr_model *model, const pr_param *table, const pr_param *shared,
                 size_t item);

/* ---- dense gradients ---- */

/* Sums the gradients of items into those of their parts, in a block with the layout of the weights.
 * Returns the sum of squares of the parts. */
double pr_shared_gradient(const pr_model *model, pr_real *gradient, pr_pool *pool);
/* Adds the parts to every row of the weights (sign 1), or takes them off (-1). common: scratch of
 * pr_shared_room numbers. */
void pr_shared_add(const pr_model *model, pr_real *common, pr_real sign, pr_pool *pool);
size_t pr_shared_room(const pr_model *model);

#endif
