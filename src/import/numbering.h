/* Numbers that do not depend on the order of rows: items by key, users by shard and then by key. */
#ifndef PR_NUMBERING_H
#define PR_NUMBERING_H

#include "base/intern.h"
#include "import/spill.h"

/* `out` must be freed also on failure. */
parsrec_status pr_numbering_make(pr_spill_order *out, const pr_intern *users, uint32_t shards,
                                 const pr_intern *items, parsrec_error *err);
void pr_numbering_free(pr_spill_order *order); /* a zeroed one is fine */

#endif
