/* The paper's statistics table and what an analyst asks first. */
#ifndef PR_STATISTICS_H
#define PR_STATISTICS_H

#include "data/dataset.h"

/* Sessions of one item; and whether they are 95 in 100 or more, which mostly means that the import missed
 * the column of the session. */
uint64_t pr_one_item_sessions(const pr_dataset *data);
bool pr_mostly_single_items(const pr_dataset *data);

#endif
