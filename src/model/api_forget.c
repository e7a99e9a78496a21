/* A model file without some users, for the public. */
#include "base/memory.h"
#include "data/dataset_without.h"
#include "model/loaded.h"
#include "model/model_without.h"

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
    pr_pruned pruned;
    pr_model *model = NULL;
    PR_TRY(pr_dataset_without(&pruned, file->data, gone, err));
    pr_shop before = pr_shop_of(file->data), after = pr_shop_of(&pruned.data);
    parsrec_status status = pr_model_without(&model, file->model, gone, &before, &after, err);
    if (status == PARSREC_OK)
        status = pr_model_save(model, &pruned.data, path, err);
    pr_model_free(model);
    pr_pruned_free(&pruned);
    return status;
}

parsrec_status parsrec_model_forget(const char *model_path, const char *out_path,
                                    const char *const *users, size_t count, parsrec_error *err)
{
    if (model_path == NULL || out_path == NULL || users == NULL || count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_model_forget needs a model file, a file to write and users");
    pr_model_file file;
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
