/* Whether the order in which baskets are stored is informative: the order in which items were
 * picked, or only how a program wrote the file.
 *
 * Three questions, in this order. Are neighbours sorted by a column that we know: the item's key as
 * a number, its key as text, its name? Are frequent pairs of items in one fixed order, as a sort by
 * a column that we do not know leaves them, or a hash table? If neither: are two neighbours more
 * often neighbours in earlier baskets than two other items of the basket?
 *
 * People do not write lists in one fixed order. In the real lists that we measured at most 8 % of
 * frequent pairs are in one order at least 95 % of the time; after a sort all do. The slot order of
 * a hash table depends on the table's size and that on the basket's, so pairs are counted apart for
 * baskets of 2 to 3 items, 4 to 7, 8 to 15 and so on: four in ten are fixed then (docs/training.md
 * has the table). */
#ifndef PR_BASKET_ORDER_H
#define PR_BASKET_ORDER_H

#include "data/dataset.h"

typedef struct pr_order_facts {
    /* Pairs of neighbours, and of an item and another one of its basket, that were neighbours
     * before. */
    uint64_t neighbours, others;
    uint64_t pairs; /* of either kind */
    /* Neighbours whose first item has the smaller number, key or name. */
    uint64_t compared[3], ascending[3];
    /* Pairs among the most frequent items that are often enough in one basket, not side by side,
     * and those of them that are in one order at least 95 % of the time. */
    uint64_t frequent, fixed;
} pr_order_facts;

/* Of training sessions; the newest `last` of a user are held out for the test. */
parsrec_status pr_order_count(pr_order_facts *out, const pr_dataset *data, size_t last,
                              parsrec_error *err);

parsrec_basket_order pr_order_found(const pr_order_facts *facts);
/* The highest share of neighbours that one column sorts, ascending or descending; 0 without
 * neighbours. */
double pr_order_sorted_share(const pr_order_facts *facts);
double pr_order_fixed_share(const pr_order_facts *facts); /* 0 without frequent pairs */

/* The order is free, and neighbours repeat by more than chance and more than a little. */
bool pr_order_informative(const pr_order_facts *facts);

#endif
