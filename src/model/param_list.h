/* One list of a model's tensors, walked twice: the first time it adds each to the parameters, later
 * it finds where they are in a block. */
#ifndef PR_PARAM_LIST_H
#define PR_PARAM_LIST_H

#include "model/params.h"

typedef struct pr_lister {
    pr_params *add; /* or NULL: finds */
    const pr_params *have;
    pr_real *block;
    size_t next;
    parsrec_status status;
    parsrec_error *err;
} pr_lister;

static inline void pr_list_tensor(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                  size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add(l->add, name, rows, cols, fill, l->err);
}

/* The same, numbered apart (pr_params_add_apart). */
static inline void pr_list_apart(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                 size_t cols, pr_fill fill)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_apart(l->add, name, rows, cols, fill, l->err);
}

/* Numbers, or words, that are counted before training. */
static inline void pr_list_counted(pr_lister *l, pr_real **place, const char *name, size_t rows,
                                   size_t cols, bool words)
{
    if (l->add == NULL)
        *place = l->block + l->have->list[l->next++].at;
    else if (l->status == PARSREC_OK)
        l->status = words ? pr_params_add_words(l->add, name, rows, cols, l->err)
                          : pr_params_add_numbers(l->add, name, rows, cols, l->err);
}

/* What the rows of a table listed before have in common; numbered apart or not. */
static inline void pr_list_shared(pr_lister *l, const char *table, bool apart)
{
    if (l->add == NULL)
        l->next++;
    else if (l->status == PARSREC_OK)
        l->status = pr_params_add_shared(l->add, table, apart, l->err);
}

#endif
