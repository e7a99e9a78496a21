/* A model with its catalogue, its users and their histories, as parsrec_model_load makes it. */
#ifndef PR_LOADED_H
#define PR_LOADED_H

#include "data/dataset_edit.h"
#include "data/directory.h"
#include "data/histories.h"
#include "model/model_file.h"

struct parsrec_model {
    pr_model_file file;
    bool borrows_data;      /* file.data is owned by the caller */
    pr_directory directory; /* after histories were loaded it may have more users than the model */
    pr_histories pasts;
    pr_real *popularity; /* [items]: the share of history sessions that contain the item */
};

/* Recomputes popularity after the histories changed. */
parsrec_status pr_model_count_popular(parsrec_model *model, parsrec_error *err);

/* A data set in the numbering of a model (data/dataset_edit.h). Names that the model does not know
 * are reported once, through the hooks. A model that is counted again from the result knows all its
 * users. E_INPUT if the data lack a feature that the model reads, or have none of its items. */
typedef struct pr_fitted {
    const pr_dataset *data; /* owned by the caller, or the one in `match` */
    pr_derived match;
} pr_fitted;
parsrec_status pr_fit_data(pr_fitted *out, const pr_model_file *file, const pr_dataset *data,
                           bool counted_again, const parsrec_hooks *hooks, parsrec_error *err);
void pr_fitted_free(pr_fitted *fitted); /* a zeroed struct is allowed */

#endif
