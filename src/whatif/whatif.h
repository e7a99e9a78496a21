/* What if a category leaves the shelf: from models and options to an answer. */
#ifndef PR_WHATIF_H
#define PR_WHATIF_H

#include "model/model.h"
#include "whatif/answer.h"

/* `answer` is zeroed, and to be cleared also on failure. The models must all be of these data. */
parsrec_status pr_whatif(pr_whatif_result *answer, const pr_model *const *models,
                         size_t model_count, const pr_dataset *data,
                         const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                         parsrec_error *err);
void pr_whatif_clear(pr_whatif_result *answer);

#endif
