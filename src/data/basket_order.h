/* Whether the order in which baskets are stored tells anything: how items were picked, or merely how a shop sorts them. */
#ifndef PR_BASKET_ORDER_H
#define PR_BASKET_ORDER_H

#include "data/dataset.h"

/* Two neighbours, one after the other, were neighbours in an earlier basket of anybody's so many times as often as an item
 * and another one of its basket; 1 if order says nothing. Of training sessions; `last` are kept for the test. */
typedef struct pr_order_facts {
    uint64_t neighbours, others; /* pairs of either kind that were neighbours before */
    uint64_t pairs;              /* of either kind */
} pr_order_facts;

parsrec_status pr_order_count(pr_order_facts *out, const pr_dataset *data, size_t last,
                              parsrec_error *err);
/* More than chance and more than a little. */
bool pr_order_tells(const pr_order_facts *facts);

#endif
