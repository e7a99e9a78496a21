/* A public caller's wishes turned into a protocol, with what it stands on. */
#ifndef PR_JUDGING_H
#define PR_JUDGING_H

#include "eval/evaluation.h"

typedef struct pr_judging {
    pr_eval_protocol protocol; /* points into the rest, which must stay where it is */
    pr_candidate_source source;
    bool *users;
    bool *counted; /* users whose sessions models that count may count; NULL: everybody */
} pr_judging;

/* The part of a protocol that needs no data: rule, cutoffs, seed. */
parsrec_status pr_judging_rule(pr_eval_protocol *p, const parsrec_eval_options *options,
                               parsrec_error *err);

/* `held`: the setting `last` of the models to be judged. Reads the files that the options name. */
parsrec_status pr_judging_init(pr_judging *j, const parsrec_eval_options *options,
                               const pr_dataset *data, size_t held, parsrec_error *err);
void pr_judging_free(pr_judging *j); /* a zeroed one is fine */

/* Two results can be compared when everything but the model is the same; this is a digest of what a
 * result stands on, the model's kind and settings included. */
parsrec_status pr_judging_fingerprint(char out[17], const pr_judging *j, const pr_dataset *data,
                                      const pr_model *model, parsrec_error *err);

#endif
