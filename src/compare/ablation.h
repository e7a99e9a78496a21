/* Ablation: a model with one part changed at a time, compared with the model as it was. The rows are listed
 * in ablate.c; each becomes an entry of a list of models that names its base, and the rest is a comparison
 * (compare.h). */
#ifndef PR_ABLATION_H
#define PR_ABLATION_H

#include "compare/compare.h"

typedef struct pr_ablation_row {
    const char *name, *settings; /* "key=value:key=value", on top of the base */
} pr_ablation_row;

/* Rows that each change one base. */
typedef struct pr_ablation_group {
    const char *preset; /* as --preset names it */
    const char *base;   /* the name of the row that is the base ... */
    const char *spec;   /* ... and its model, as in a list of models */
    bool categories;    /* are features of items here; else the base shares them already (kin) */
    const pr_ablation_row *rows;
    size_t count;
} pr_ablation_group;

extern const pr_ablation_group pr_ablation_groups[];
extern const size_t pr_ablation_group_count;

/* The list of models that the options stand for, each entry with its base. Rows that need features which
 * the data do not have are left out, with a message. Free with pr_model_list_free, also on failure. */
parsrec_status pr_ablation_list(pr_model_list *list, const parsrec_ablate_options *options,
                                const parsrec_data_stats *stats, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
