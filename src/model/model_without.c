/* What belongs to users shows in the list of parameters: whatever has fewer rows, or columns, in a model of
 * fewer users. Users stand first there; a row for anyone comes after them. */
#include "model/model_without.h"

#include <string.h>

static size_t count_left(const pr_model *model, const bool *gone)
{
    size_t left = 0;
    for (size_t u = 0; u < model->users; u++)
        left += !gone[u];
    return left;
}

static parsrec_status open_rows(pr_model *model, const pr_model *from, parsrec_error *err)
{
    for (size_t i = 0; i < from->params.count; i++)
        if (model->params.list[i].open)
            PR_TRY(pr_params_set_rows(&model->params, from->params.list[i].name,
                                      from->params.list[i].rows, err));
    return PARSREC_OK;
}

static bool stays(const bool *gone, size_t users, size_t at)
{
    return at >= users || !gone[at];
}

/* Numbers and words have the same size. */
static void copy_param(pr_real *to, const pr_param *p, const pr_real *from, const pr_param *q,
                       const bool *gone, size_t users)
{
    size_t n = 0;
    bool by_row = p->rows != q->rows, by_column = p->cols != q->cols;
    for (size_t r = 0; r < q->rows; r++)
        for (size_t c = 0; c < q->cols; c++)
            if ((!by_row || stays(gone, users, r)) && (!by_column || stays(gone, users, c)))
                memcpy(to + p->at + n++, from + q->at + r * q->cols + c, sizeof *to);
}

parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                parsrec_error *err)
{
    pr_model *model;
    PR_TRY(pr_model_outline(&model, from->kind->name, &from->config, count_left(from, gone),
                            from->items, err));
    parsrec_status status = open_rows(model, from, err);
    if (status == PARSREC_OK)
        status = pr_model_weigh(model, err);
    if (status != PARSREC_OK) {
        pr_model_free(model);
        return status;
    }
    for (size_t i = 0; i < model->params.count; i++)
        copy_param(model->weights, &model->params.list[i], from->weights, &from->params.list[i],
                   gone, from->users);
    *out = model;
    return PARSREC_OK;
}
