/* Blocks of a training, in memory or in files. */
#include "model/storage.h"

parsrec_status pr_storage_take(pr_real **out, const pr_model *model, pr_block_use use,
                               size_t numbers, parsrec_error *err)
{
    const pr_storage *s = model->storage;
    size_t kept = numbers;
    if (s != NULL && s->in_files[use])
        kept = use == PR_BLOCK_USERS ? model->params.shared : 0;
    void *block = NULL;
    parsrec_status status =
        pr_pager_take(&block, s != NULL ? s->pager : NULL, numbers, sizeof(pr_real),
                      kept * sizeof(pr_real), use != PR_BLOCK_USERS, err);
    *out = block;
    return status;
}

void pr_storage_give(const pr_storage *storage, pr_real *block)
{
    pr_pager_give(storage != NULL ? storage->pager : NULL, block);
}
