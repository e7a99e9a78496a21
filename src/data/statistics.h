/* The paper's statistics table and what an analyst asks first. */
#ifndef PR_STATISTICS_H
#define PR_STATISTICS_H

#include "data/dataset.h"

/* Linear time; memory for one number an item. Medians are the lower of two middle values. */
parsrec_status pr_dataset_statistics(const pr_dataset *data, parsrec_data_stats *stats,
                                     parsrec_error *err);

#endif
