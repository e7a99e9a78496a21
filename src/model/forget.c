/* Removes users from a model file.
 *
 * The list of parameters shows which numbers belong to users: a parameter that has fewer rows, or
 * columns, in a model of fewer users. Users come first there; the row for unknown users follows.
 * Feature values that only removed users had are removed too. Kinds with lists by user drop their own
 * entries (fill_without). */
#include "model/model.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/dataset_edit.h"
#include "data/shards.h"
#include "model/model_file.h"

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

/* Floats and words have the same size. */
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

/* Sets lost[rows of the word table] for words that `after` no longer has; the remaining ones are in
 * the same order. */
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
        if (from->kind->fill_without != NULL && (p->rows != q->rows || p->cols != q->cols))
            continue; /* the kind's own lists */
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
    parsrec_status status = lost == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = from->kind->size_without != NULL ? from->kind->size_without(model, from, gone, err)
                                                  : open_rows(model, from, err);
    if (status == PARSREC_OK)
        status = pr_model_alloc_weights(model, err);
    if (status == PARSREC_OK) {
        mark_words(lost, &from->inputs, before, after);
        copy_all(model, from, gone, lost);
        if (from->kind->fill_without != NULL)
            status = from->kind->fill_without(model, from, gone, err);
    }
    if (status == PARSREC_OK)
        *out = model;
    else
        pr_model_free(model);
    pr_free(lost);
    return status;
}

/* ---- the file ---- */

static parsrec_status mark_users(bool *gone, const pr_dataset *data, const char *path,
                                 const char *const *users, size_t count, parsrec_error *err)
{
    pr_intern keys = {0};
    parsrec_status status = pr_intern_load(&keys, &data->user_keys, err);
    for (size_t i = 0; i < count && status == PARSREC_OK; i++) {
        uint32_t number;
        pr_excerpt hold;
        if (pr_intern_find(&keys, pr_slice_of(users[i]), &number))
            gone[number] = true;
        else
            status = pr_fail(err, PARSREC_E_NOT_FOUND, "%s: there is no user %s in this model",
                             path, pr_show(&hold, pr_slice_of(users[i])));
    }
    pr_intern_free(&keys);
    return status;
}

static parsrec_status save_without(const pr_model_file *file, const bool *gone, const char *path,
                                   parsrec_error *err)
{
    pr_derived pruned;
    pr_model *model = NULL;
    PR_TRY(pr_dataset_without(&pruned, file->data, gone, err));
    pr_shop before = pr_shop_of(file->data), after = pr_shop_of(&pruned.data);
    parsrec_status status = pr_model_without(&model, file->model, gone, &before, &after, err);
    if (status == PARSREC_OK)
        status = pr_model_save(model, &pruned.data, path, err);
    pr_model_free(model);
    pr_derived_free(&pruned);
    return status;
}

/* A data set is imported without a user, not edited. In a folder that concerns one shard. */
static parsrec_status fail_shards(const char *folder, const char *user, parsrec_error *err)
{
    pr_dictionary dictionary;
    pr_excerpt hold;
    PR_TRY(pr_dictionary_load(&dictionary, folder, err));
    uint32_t shards = dictionary.rules.shards;
    pr_dictionary_free(&dictionary);
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: is a data set, and users are removed from models; to have it without user "
                   "%s, remove the rows and run parsrec import --shard %u/%u again",
                   folder, pr_show(&hold, pr_slice_of(user)),
                   pr_shard_of(pr_slice_of(user), shards), shards);
}

parsrec_status parsrec_model_forget(const char *model_path, const char *out_path,
                                    const char *const *users, size_t count, parsrec_error *err)
{
    if (model_path == NULL || out_path == NULL || users == NULL || count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_model_forget needs a model file, a file to write and users");
    pr_model_file file;
    if (pr_shards_is_data(model_path))
        return fail_shards(model_path, users[0], err);
    PR_TRY(pr_model_load(&file, model_path, err));
    bool *gone = pr_alloc_zero(file.data->users, sizeof *gone);
    parsrec_status status = gone == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = mark_users(gone, file.data, model_path, users, count, err);
    if (status == PARSREC_OK)
        status = save_without(&file, gone, out_path, err);
    pr_free(gone);
    pr_model_file_free(&file);
    return status;
}
