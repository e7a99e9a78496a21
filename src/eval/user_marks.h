/* Which users a property fits: members[users] is set for each. */
#ifndef PR_USER_MARKS_H
#define PR_USER_MARKS_H

#include "data/dataset.h"

/* Who bought of a category, named as people do, or of one below it, in a training session; `last` as in
 * data/split.h. */
parsrec_status pr_mark_buyers(bool *members, const pr_dataset *data, size_t last, pr_slice category,
                              parsrec_error *err);

const pr_feature_column *pr_user_feature_named(const pr_dataset *data, pr_slice name); /* or NULL */

/* Who has this value: a word, a number, or LOW..HIGH of numbers, both ends included. */
parsrec_status pr_mark_feature(bool *members, const pr_dataset *data,
                               const pr_feature_column *feature, pr_slice value,
                               parsrec_error *err);

#endif
