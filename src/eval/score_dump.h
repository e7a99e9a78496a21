/* What was ranked, as JSON lines, so that a second program can compute every measure again
 * (docs/evaluation.md): a head, then for each basket a line and a line for each of its steps.
 *
 * The calls append to a writer: pr_dump_head once; for each basket pr_dump_basket; for each of its
 * steps pr_dump_sampled or pr_dump_full, which begin a line, and pr_dump_placed, which ends it.
 * Lines of baskets that are walked side by side may mix, because every line names its basket;
 * between the two calls of a step nothing else may be written. */
#ifndef PR_SCORE_DUMP_H
#define PR_SCORE_DUMP_H

#include "base/writer.h"
#include "eval/candidates.h"
#include "eval/evaluation.h"

/* `model` is the name of its kind. */
void pr_dump_head(pr_writer *to, const pr_evaluation *e, const char *model,
                  const char *fingerprint);

/* After the candidates of the basket were drawn and before the sampler begins another one: it says
 * what the user had before. others[basket->others] is not read where the catalogue is ranked. */
void pr_dump_basket(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket,
                    const pr_candidate_sampler *candidates, const int32_t *own,
                    const int32_t *others);

/* A step: the scores as the model gave them, of the own items and the others, or of the whole
 * catalogue, which includes the own items. Then the position in the basket of the item that is
 * placed. */
void pr_dump_sampled(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket, size_t step,
                     const float *own, const float *others);
void pr_dump_full(pr_writer *to, const pr_evaluation *e, const pr_evaluated *basket, size_t step,
                  const float *all);
void pr_dump_placed(pr_writer *to, const pr_evaluation *e, size_t place);

#endif
