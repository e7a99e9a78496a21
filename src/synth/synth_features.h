/* Columns that a synthetic data set can have of users, sessions and items (docs/synthetic.md, Features). */
#ifndef PR_SYNTH_FEATURES_H
#define PR_SYNTH_FEATURES_H

#include "data/dataset.h"
#include "synth/synth_baskets.h"

enum { PR_SYNTH_COLUMNS = 4 }; /* of a table, at most */

typedef struct pr_synth_columns {
    pr_feature_column list[PR_FEATURE_TABLES][PR_SYNTH_COLUMNS];
    pr_intern words[PR_FEATURE_TABLES][PR_SYNTH_COLUMNS];
    size_t count[PR_FEATURE_TABLES];
} pr_synth_columns;

/* `columns` is to be freed also on failure. */
parsrec_status pr_synth_columns_make(pr_synth_columns *columns,
                                     const parsrec_synth_options *options,
                                     const pr_baskets *baskets, const pr_market *market,
                                     const pr_choice *choice, const pr_intern *groups,
                                     parsrec_error *err);
void pr_synth_columns_free(pr_synth_columns *columns); /* a zeroed one is fine */

/* Hangs them into a data set as views. */
void pr_synth_columns_view(pr_dataset *data, pr_synth_columns *columns);

#endif
