/* A model with its catalogue, its users and their histories, as parsrec_model_load makes it. */
#ifndef PR_LOADED_H
#define PR_LOADED_H

#include "data/dataset_edit.h"
#include "data/directory.h"
#include "data/histories.h"
#include "model/model_file.h"

struct parsrec_model {
    pr_model_file file;
    bool borrows_data;      /* file.data belongs to the caller */
    pr_directory directory; /* its users go on beyond the model's when pasts were taken */
    pr_histories pasts;
    pr_real *popularity; /* [items]: the share of sessions in the pasts that hold it */
};

/* Counts again what is bought most, after the pasts were set. */
parsrec_status pr_model_count_popular(parsrec_model *model, parsrec_error *err);

/* A data set in the numbering of a model (data/dataset_edit.h). What the model does not know is said once,
 * by the hooks. A model that is counted again from the result knows all of its users. E_INPUT if it lacks a
 * feature that the model reads, or has no item of it. */
typedef struct pr_fitted {
    const pr_dataset *data; /* the caller's, or the one in `match` */
    pr_derived match;
} pr_fitted;
parsrec_status pr_fit_data(pr_fitted *out, const pr_model_file *file, const pr_dataset *data,
                           bool counted_again, const parsrec_hooks *hooks, parsrec_error *err);
void pr_fitted_free(pr_fitted *fitted); /* a zeroed one is fine */

#endif
