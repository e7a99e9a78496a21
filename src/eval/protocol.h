/* How models are evaluated: which sessions, against which items, by which rule, and what is measured
 * (docs/evaluation.md).
 *
 * The room. A *protocol* (here) is made of the public parsrec_eval_options, with the files they name
 * read. An *evaluation* (evaluation.h) lists the baskets of a protocol once and runs models over them
 * with the *walker* (walker.h), which explanations and what-if studies use as well. At each step the
 * protocol's *rule* (protocol.c) counts into the basket's sums (measures.h) and says which item is placed
 * next. Sums stay per basket, so that intervals and tests (significance.h) can resample users. The
 * random ranker (pr_evaluation_chance) runs the same rules without a model; baselines.h compares a model with
 * counting models by all rules.
 *
 * Invariants. Candidates depend on the seed, the user and the session, never on the model, the rule or
 * the threads; so results of two models are paired. A tie counts against the model. Models that count
 * are counted again from what precedes the sessions evaluated.
 *
 * A rule is one function over a step: to add one, write it in protocol.c and list it in pr_rules. */
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
    size_t columns;
    const pr_rule_measure *measures;
    size_t measure_count;
    /* Counts one step into the basket's sums. Returns the position in the basket of the item that is
     * placed next, one that is not taken. */
    size_t (*count_step)(const pr_rule_step *step, float *sums);
} pr_rule;

extern const pr_rule pr_rule_remaining, pr_rule_next, pr_rule_basket;

/* By parsrec_protocol. */
extern const pr_rule *const pr_rules[PARSREC_PROTOCOLS];

typedef struct pr_eval_protocol {
    const pr_rule *rule;
    pr_split_part part;
    /* Training left out the newest `held_out` sessions of a user: the model's setting `last`. Of these
     * the newest `tested` are evaluated with PR_TEST. */
    size_t held_out, tested;
    const bool *users;   /* [users]: who is evaluated; NULL: everybody who can be */
    const bool *counted; /* [users]: whose sessions counting models may count; NULL: everybody's */
    /* How many items a basket's own items are ranked against; 0: the whole catalogue. With a list from a
     * file pr_evaluation_init sets it to the length of the longest one. */
    size_t negatives;
    pr_candidate_source source; /* of these items */
    bool exclude_seen;          /* items that the user had before leave the ranking */
    uint64_t seed;              /* of the candidates */
    /* `remaining` places the best remaining item if its rank is below place_k, else the first remaining
     * one in stored order. */
    size_t place_k;
    size_t k[PR_CUTOFFS]; /* cutoffs reported, k_count of them */
    size_t k_count;
} pr_eval_protocol;

/* Any remaining item counts; 100 negatives, place 10, k = 1, 5, 10. Owns nothing. */
pr_eval_protocol pr_protocol_paper(pr_split_part part);

/* The part of a protocol that needs no data: rule, split, cutoffs, place_k, exclude_seen, seed. Owns
 * nothing. */
parsrec_status pr_protocol_rule(pr_eval_protocol *p, const parsrec_eval_options *options,
                                parsrec_error *err);

/* All of it. `held_out` is the setting `last` of the models to be evaluated. Reads the files that the
 * options name; free what it owns with pr_protocol_free, also on failure. */
parsrec_status pr_protocol_init(pr_eval_protocol *p, const parsrec_eval_options *options,
                                const pr_dataset *data, size_t held_out, parsrec_error *err);
void pr_protocol_free(pr_eval_protocol *p); /* a zeroed one is fine */

/* users[data->users]: of the users marked, keeps at most `most` of those who can be evaluated, evenly
 * spread over them. Returns how many are kept; *of, if not NULL, is how many could be. */
size_t pr_users_spread(bool *users, const pr_dataset *data, pr_split_part part, size_t held_out,
                       size_t most, size_t *of);

/* A digest of all that a result depends on, except for the trained weights: protocol, data, and the
 * model's kind and settings. Results of different models have different fingerprints, comparable or
 * not. */
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
    const float *mine;   /* [size]: scores; -INFINITY: not recommended at all */
    const float *theirs; /* [their_count]: of the items they are ranked against */
    size_t their_count;
    /* [size]: instead of `theirs`, how many of them rank above an own item that has a score; or NULL */
    const size_t *above;
};

#endif
