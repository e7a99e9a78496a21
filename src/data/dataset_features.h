/* What the files of the data set share: reading columns and name tables, feature columns, words. */
#ifndef PR_DATASET_FEATURES_H
#define PR_DATASET_FEATURES_H

#include "data/dataset.h"

enum {
    PR_TIME_KINDS = 3,
    PR_PART_NAME_BYTES = 256, /* holds every tensor name of a data set */
};
extern const char *const pr_time_kind_names[PR_TIME_KINDS];

/* A tensor of one dimension. `column` is the address of the pointer to set; the second form knows
 * how many elements it must have. */
parsrec_status pr_vector_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t *count, parsrec_error *err);
parsrec_status pr_column_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t count, parsrec_error *err);

/* NAME.bytes and NAME.offsets; the offsets begin and end right, their order is checked later. */
parsrec_status pr_names_need(const pr_container *file, const char *name, pr_names *names,
                             parsrec_error *err);

/* Finds all feature columns of data->file, in order of their names. */
parsrec_status pr_features_read(pr_dataset *data, parsrec_error *err);
void pr_features_free(pr_dataset *data);

/* Rows of a table: users, sessions or items. */
size_t pr_feature_rows(const pr_dataset *data, pr_feature_of table);

#endif
