/* What ranks compare before they begin. */
#include "model/same_ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "math/blas.h"

parsrec_status pr_same_ranks(pr_ranks *ranks, const pr_model *model, const pr_dataset *data,
                             const char *more, parsrec_error *err)
{
    char text[256];
    if (ranks == NULL)
        return PARSREC_OK;
    const char *core = pr_blas_core();
    snprintf(text, sizeof text, "%s, %s", parsrec_version(), core != NULL ? core : "no kernels");
    PR_TRY(pr_ranks_compare(ranks, text, "version or processor", err));
    PR_TRY(pr_ranks_compare(ranks, pr_dataset_checksum(data), "data set", err));
    char *config = pr_config_text(&model->config);
    if (config == NULL)
        return pr_fail_memory(err);
    snprintf(text, sizeof text, "%s, %s%016llx", model->kind->name, more,
             (unsigned long long)XXH3_64bits(config, strlen(config)));
    pr_free(config);
    PR_TRY(pr_ranks_compare(ranks, text, "model or settings", err));
    /* Where users are divided, what all have is compared. */
    size_t same = model->user_rows == NULL ? model->params.size : model->params.shared;
    snprintf(text, sizeof text, "%016llx",
             (unsigned long long)XXH3_64bits(model->weights, same * sizeof(pr_real)));
    return pr_ranks_compare(ranks, text, "weights (model file or checkpoint)", err);
}
