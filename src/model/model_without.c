/* What belongs to users shows in the list of parameters: whatever has fewer rows, or columns, in a model of
 * fewer users. Users stand first there; a row for anyone comes after them. Words that nobody else has go
 * with them. */
#include "model/model_without.h"

#include <string.h>

#include "base/memory.h"

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

/* lost[rows of the table of words] of words that `after` has no more; those that it has kept their order. */
static void mark_words(bool *lost, const pr_feature_inputs *inputs, const pr_shop *before,
                       const pr_shop *after)
{
    for (size_t i = 0; i < inputs->count; i++) {
        const pr_feature_input *t = &inputs->list[i];
        if (t->number)
            continue;
        const pr_names *old = &before->features[t->of][t->column].values;
        const pr_names *left = &after->features[t->of][t->column].values;
        for (size_t w = 0, next = 0; w < old->count; w++) {
            bool stayed =
                next < left->count && pr_slice_equal(pr_name(old, w), pr_name(left, next));
            lost[t->at + 1 + w] = !stayed;
            next += stayed;
        }
    }
}

static void copy_all(pr_model *model, const pr_model *from, const bool *gone, const bool *lost)
{
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i], *q = &from->params.list[i];
        bool words = strcmp(p->name, PR_WORD_TABLE) == 0;
        copy_param(model->weights, p, from->weights, q, words ? lost : gone,
                   words ? q->rows : from->users);
    }
}

parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                const pr_shop *before, const pr_shop *after, parsrec_error *err)
{
    pr_model *model;
    PR_TRY(pr_model_new_bare(&model, from->kind->name, &from->config, after, err));
    bool *lost = pr_alloc_zero(from->inputs.rows, sizeof *lost);
    parsrec_status status = lost == NULL ? pr_fail_memory(err) : open_rows(model, from, err);
    if (status == PARSREC_OK)
        status = pr_model_alloc_weights(model, err);
    if (status == PARSREC_OK) {
        mark_words(lost, &from->inputs, before, after);
        copy_all(model, from, gone, lost);
        *out = model;
    } else {
        pr_model_free(model);
    }
    pr_free(lost);
    return status;
}
