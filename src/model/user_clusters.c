/* Collects the rows of the selected users and clusters them. */
#include "model/user_clusters.h"

#include <string.h>

#include "base/memory.h"
#include "math/kmeans.h"

enum { SEED = 1 };

static size_t gather(pr_real *rows, int32_t *list, const int32_t *cluster, const pr_model *model,
                     const pr_param *table)
{
    size_t n = 0;
    for (size_t u = 0; u < model->users; u++) {
        if (cluster[u] < 0)
            continue;
        memcpy(rows + n * table->cols, model->weights + table->at + u * table->cols,
               table->cols * sizeof *rows);
        list[n++] = (int32_t)u;
    }
    return n;
}

static parsrec_status cluster_rows(int32_t *found, const pr_real *rows, size_t n, size_t width,
                                   size_t clusters, parsrec_error *err)
{
    if (clusters < 1 || clusters > n)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%zu clusters of %zu users: choose a number from 1 to %zu", clusters, n, n);
    return pr_kmeans(found, rows, n, width, clusters, SEED, err);
}

parsrec_status pr_user_clusters(int32_t *cluster, const pr_model *model, size_t clusters,
                                parsrec_error *err)
{
    const pr_param *table = pr_params_users(&model->params);
    if (table == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED,
                       "model %s learns nothing of single users, so they cannot be clustered by it",
                       model->kind->name);
    pr_real *rows = pr_alloc_aligned(model->users * table->cols, sizeof *rows);
    int32_t *list = pr_alloc(2 * model->users, sizeof *list);
    parsrec_status status = rows == NULL || list == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK) {
        size_t n = gather(rows, list, cluster, model, table);
        int32_t *found = list + model->users;
        status = cluster_rows(found, rows, n, table->cols, clusters, err);
        for (size_t i = 0; i < n && status == PARSREC_OK; i++)
            cluster[list[i]] = found[i];
    }
    pr_free_aligned(rows);
    pr_free(list);
    return status;
}
