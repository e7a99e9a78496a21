/* The paper's statistics table and what an analyst asks first. */
#ifndef PR_STATISTICS_H
#define PR_STATISTICS_H

#include "data/dataset.h"

/* Linear time; memory for one number an item. Medians are the lower of two middle values. */
parsrec_status pr_dataset_statistics(const pr_dataset *data, parsrec_data_stats *stats,
                                     parsrec_error *err);

/* Sessions of one item; and whether they are 95 in 100 or more, which mostly means that the import missed
 * the column of the session. */
uint64_t pr_one_item_sessions(const pr_dataset *data);
bool pr_mostly_single_items(const pr_dataset *data);

#endif
