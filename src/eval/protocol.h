/* Evaluation: which sessions, against which items, by which rule, and what is measured
 * (docs/evaluation.md).
 *
 * The room. Each subject is a header with its source file:
 *
 *   eval.c           parsrec_eval: from the options to a report, and the report as JSON
 *   protocol.h       what is asked: options checked, the files they name read; the three rules
 *   evaluation.h     the baskets of a protocol, and models that are run over them
 *   walker.h         takes many baskets through a model side by side
 *   candidates.h     the items that a basket's own items are ranked against
 *   measures.h       ranks and gains, the sums of a basket, the measures made of them
 *   significance.h   confidence intervals and paired tests over users
 *   baselines.h      a model compared with models that only count
 *   score_dump.h     what was ranked, as JSON lines
 *   user_groups.h    groups of users, and lists of users in files
 *
 * Explanations and what-if studies use the walker and the groups as well.
 *
 * Life cycle. pr_protocol_init makes a protocol from the public parsrec_eval_options.
 * pr_evaluation_init lists the baskets of the protocol once. pr_evaluation_run runs a model over
 * them, as often as there are models or epochs: at each step of a basket the protocol's rule counts
 * into the basket's sums and chooses the item that is placed next. pr_evaluation_chance runs the
 * same rules with random ranks instead of a model. Sums stay per basket, so that intervals and
 * tests can resample users.
 *
 * Words. The items of an evaluated basket are its own items. They are ranked against the others:
 * `negatives` candidates or, with 0, the rest of the catalogue. In a rule's step the scores of the
 * two are `mine` and `theirs`.
 *
 * Invariants. Candidates depend on the seed, the user and the session, never on the model, the rule
 * or the threads; so results of two models are paired. A tie counts against the model. Models that
 * count are counted again from what precedes the evaluated sessions.
 *
 * Threads. A run only reads the protocol, the data and the model. The sums of a basket are written
 * by the one thread that walks the basket.
 *
 * A rule is one function over a step: to add one, write it in protocol.c and list it in
 * pr_rules. */
#ifndef PR_PROTOCOL_H
#define PR_PROTOCOL_H

#include "data/split.h"
#include "eval/candidates.h"
#include "eval/measures.h"
#include "model/model.h"

typedef struct pr_rule_step pr_rule_step;

typedef struct pr_rule {
    const char *name;
    const char *summary; /* what is a right answer, in a few words */
    size_t smallest;     /* baskets with fewer items are left out */
    bool one_step;       /* the whole basket at once; else a step for each item */
    size_t columns;      /* of sums that it keeps, at most PR_COLUMNS_MOST (measures.h) */
    const pr_rule_measure *measures;
    size_t measure_count;
    /* Counts one step into the basket's sums. Returns the position in the basket of the item that
     * is placed next; it is not taken yet. */
    size_t (*count_step)(const pr_rule_step *step, float *sums);
} pr_rule;

extern const pr_rule pr_rule_remaining, pr_rule_next, pr_rule_basket;

/* By parsrec_protocol. */
extern const pr_rule *const pr_rules[PARSREC_PROTOCOLS];

/* `source`, `users` and `counted` are owned in a protocol of pr_protocol_init, which
 * pr_protocol_free frees. A caller that sets them in a protocol of pr_protocol_paper keeps them and
 * frees nothing. */
typedef struct pr_eval_protocol {
    const pr_rule *rule;
    pr_split_part part;
    /* Training left out the newest `held_out` sessions of a user: the model's setting `last`. With
     * PR_TEST the newest `tested` of these are evaluated. */
    size_t held_out, tested;
    const bool *users;   /* [users]: who is evaluated; NULL: everybody who can be */
    const bool *counted; /* [users]: whose sessions counting models may count; NULL: everybody's */
    /* How many items a basket's own items are ranked against; 0: the whole catalogue. With lists
     * from a file the copy in a pr_evaluation has the length of the longest list instead. */
    size_t negatives;
    pr_candidate_source source; /* where these items come from */
    bool exclude_seen;          /* items that the user had before leave the ranking */
    uint64_t seed;              /* of the candidates */
    /* `remaining` places the best remaining item if its rank is below place_k, else the first
     * remaining one in stored order. */
    size_t place_k;
    size_t k[PR_CUTOFFS]; /* cutoffs reported, k_count of them */
    size_t k_count;
} pr_eval_protocol;

/* The paper's: rule `remaining`, 100 negatives, place_k 10, k = 1, 5, 10. Owns nothing. */
pr_eval_protocol pr_protocol_paper(pr_split_part part);

/* The part of a protocol that needs no data: rule, split, cutoffs, place_k, exclude_seen, seed. It
 * owns nothing. */
parsrec_status pr_protocol_rule(pr_eval_protocol *p, const parsrec_eval_options *options,
                                parsrec_error *err);

/* All of it. `held_out` is the setting `last` of the models to be evaluated. Reads the files that
 * the options name. Free with pr_protocol_free, also on failure. */
parsrec_status pr_protocol_init(pr_eval_protocol *p, const parsrec_eval_options *options,
                                const pr_dataset *data, size_t held_out, parsrec_error *err);
void pr_protocol_free(pr_eval_protocol *p); /* a zeroed one is fine */

/* Of the users marked in users[data->users], keeps those who can be evaluated, and of these at most
 * `most`, evenly spread. Returns how many are kept; *of, if not NULL, is how many could be. */
size_t pr_users_spread(bool *users, const pr_dataset *data, pr_split_part part, size_t held_out,
                       size_t most, size_t *of);

/* A digest of all that a result depends on, except for the trained weights: protocol, data, and the
 * model's kind and settings. So results of different models differ in it even if they can be
 * compared. */
parsrec_status pr_protocol_fingerprint(char out[17], const pr_eval_protocol *p,
                                       const pr_dataset *data, const pr_model *model,
                                       parsrec_error *err);

/* ---- one step, as a rule sees it ---- */

struct pr_rule_step {
    const pr_eval_protocol *protocol;
    size_t number;       /* of the step, from 0 */
    bool unasked;        /* the step is walked but not counted */
    size_t size;         /* items of the basket */
    const bool *taken;   /* [size]: placed already */
    const bool *seen;    /* [size]: in an earlier session of the user */
    const float *mine;   /* [size]: scores of the own items; -INFINITY: not recommended at all */
    const float *theirs; /* [their_count]: scores of the others */
    size_t their_count;
    /* [size]: how many of the others rank above each own item that has a score, for a ranker that
     * has no scores of the others. NULL: count them in `theirs`. */
    const size_t *above;
};

#endif
