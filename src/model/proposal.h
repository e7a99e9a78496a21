/* Which items a sampled loss is computed against: half of the draws take any item, half one in
 * proportion to how often it was bought in training. What is bought often has most of the softmax's
 * weight and is drawn often; everything else is drawn now and then. The chances are the same for all
 * batches, so whoever knows seed and batch number knows what is drawn. */
#ifndef PR_PROPOSAL_H
#define PR_PROPOSAL_H

#include "base/rng.h"
#include "base/status.h"
#include "data/dataset.h"

typedef struct pr_proposal {
    size_t items;
    float *keep;      /* [items]: chance that a draw of this cell is the item itself ... */
    uint32_t *alias;  /* [items]: ... and otherwise this one (Walker's alias method) */
    float *purchases; /* [items]: share of all purchases, or of their powers */
} pr_proposal;

/* From the training sessions, by counts to the power; `last` is the number of test sessions per user. */
parsrec_status pr_proposal_make(pr_proposal *out, const pr_dataset *data, size_t last, double power,
                                parsrec_error *err);
void pr_proposal_free(pr_proposal *proposal); /* a zeroed one is fine */

/* One draw, and the chance of an item in each; of any of `items` items evenly if there is no
 * proposal. */
int32_t pr_proposal_draw(const pr_proposal *proposal, pr_stream *stream, size_t items);
double pr_proposal_chance(const pr_proposal *proposal, int32_t item, size_t items);
/* One draw by purchases alone, without the even half. */
int32_t pr_proposal_draw_bought(const pr_proposal *proposal, pr_stream *stream);

#endif
