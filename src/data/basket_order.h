/* Whether the order in which baskets are stored is informative: the order in which items were
 * picked, or only how a program wrote the file.
 *
 * Three questions, in this order. Are neighbours sorted by a column that we know: the item's key as
 * a number, its key as text, its name? Are frequent pairs of items in one fixed order, as a sort by
 * a column that we do not know leaves them, or a hash table, or do pairs that meet again nearly always
 * keep their order? If neither: are two neighbours more often neighbours in earlier baskets than two
 * other items of the basket?
 *
 * Neighbours of a free list ascend half of the time (measured: 50 to 52 %). From three quarters on it is
 * a sort, perhaps by a quantity or an amount first: 82 to 92 % of product numbers ascend then.
 *
 * People do not write lists in one fixed order. In the real lists that we measured at most 8 % of
 * frequent pairs are in one order at least 95 % of the time; after a sort all do. The slot order of
 * a hash table depends on the table's size and that on the basket's, so pairs are counted apart for
 * baskets of 2 to 3 items, 4 to 7, 8 to 15 and so on: four in ten are fixed then (docs/training.md
 * has the table).
 *
 * A small shop has few frequent pairs. There the pairs that met at least twice are pooled: of two
 * baskets with the same pair, how many have it in the same order? Half if the order is free, all
 * after a sort. Measured: 46 to 72 % in real lists and parts of them, 81 % and more in the slot
 * order of hash tables, 89 % and more in shops sorted by price, hash or department. With fewer than
 * 20 such pairs nothing is known, and nothing is learnt. */
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
    /* Pairs that are in at least two baskets of similar size, not side by side; over all of these
     * pairs, any two baskets of one pair, and those that have it in the same order. */
    uint64_t repeated, compared_baskets, kept;
} pr_order_facts;

enum { PR_ORDER_FREQUENT_LEAST = 20 }; /* frequent pairs; fewer are too few for their share */

/* Of training sessions; the newest `last` of a user are held out for the test. */
parsrec_status pr_order_count(pr_order_facts *out, const pr_dataset *data, size_t last,
                              parsrec_error *err);

parsrec_basket_order pr_order_found(const pr_order_facts *facts);
/* The highest share of neighbours that one column sorts, ascending or descending; 0 without
 * neighbours. */
double pr_order_sorted_share(const pr_order_facts *facts);
double pr_order_fixed_share(const pr_order_facts *facts); /* 0 without frequent pairs */
double pr_order_kept_share(const pr_order_facts *facts);  /* 0 without repeated pairs */

/* The order is free, and neighbours repeat by more than chance and more than a little. */
bool pr_order_informative(const pr_order_facts *facts);

#endif
