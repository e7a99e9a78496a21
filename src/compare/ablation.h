/* Ablation: a model with one part changed at a time, against the model as it was. */
#ifndef PR_ABLATION_H
#define PR_ABLATION_H

#include "compare/compare.h"

/* As pr_compare, with the rows that the options name for the list of models. */
parsrec_status pr_ablate(parsrec_comparison *c, const char *data_path, const char *folder,
                         const parsrec_ablate_options *options, const parsrec_hooks *hooks,
                         parsrec_error *err);

/* The list of models that the options stand for, each entry with its base. Rows that need features which
 * the data do not have are left out and told. Free with pr_model_list_free, also on failure. */
parsrec_status pr_ablation_list(pr_model_list *list, const parsrec_ablate_options *options,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
