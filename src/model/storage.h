/* Where the large blocks of a training lie: in memory, or in files whose pages may leave it (base/pager.h).
 * Numbers do not depend on it.
 *
 * A block has the layout of the weights (params.h). Most of it can be the user table, of which a batch touches
 * a few rows; the item tables before it are used by every batch and always stay in memory. */
#ifndef PR_STORAGE_H
#define PR_STORAGE_H

#include "base/pager.h"
#include "model/model.h"

typedef enum pr_block_use {
    PR_BLOCK_BEST,    /* weights of the best epoch: written at most once per epoch */
    PR_BLOCK_ASIDE,   /* own rows of item tables while sums are shown: once per epoch */
    PR_BLOCK_AVERAGE, /* eight times per epoch */
    PR_BLOCK_USERS,   /* user rows of the weights and of their moments: some in every batch */
    PR_BLOCK_USES,
} pr_block_use;

struct pr_storage {
    pr_pager *pager; /* NULL: everything is in memory */
    bool in_files[PR_BLOCK_USES];
};

/* Zeroed; `numbers` of them. USERS: those before the user table stay in memory. */
parsrec_status pr_storage_take(pr_real **out, const pr_model *model, pr_block_use use,
                               size_t numbers, parsrec_error *err);
void pr_storage_give(const pr_storage *storage, pr_real *block); /* either may be NULL */

#endif
