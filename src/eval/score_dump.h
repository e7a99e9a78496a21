/* What was ranked, as JSON lines, so that a second program can compute every measure again
 * (docs/evaluation.md): a head, then for each basket a line and a line for each of its steps. */
#ifndef PR_SCORE_DUMP_H
#define PR_SCORE_DUMP_H

#include "base/writer.h"
#include "eval/candidates.h"
#include "eval/evaluation.h"

/* `model` is its kind. */
void pr_dump_head(pr_writer *to, const pr_evaluation *e, const char *model,
                  const char *fingerprint);

/* After its candidates were drawn; `candidates` still know what the user had before. */
void pr_dump_basket(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket,
                    const pr_candidate_sampler *candidates, const int32_t *own,
                    const int32_t *others);

/* A step: the scores as the model gave them, of the own items and the others, or of the whole
 * catalogue with its own items in it; then which place of the basket was filled. */
void pr_dump_sampled(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket, size_t step,
                     const float *own, const float *others);
void pr_dump_full(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket, size_t step,
                  const float *all);
void pr_dump_placed(pr_writer *to, const pr_evaluation *e, size_t place);

#endif
