/* Models that count instead of learning (docs/models.md has the formulas).
 *
 * A kind is a pr_model_kind with `count` in place of training: it gives every parameter its size, takes
 * the memory of the weights and fills them in one pass over the sessions that a pr_counted allows.
 * Nothing of the sessions to be predicted is in them, because every evaluation counts again for the
 * split at hand: pr_count_model is called for training, for evaluation and for every baseline, so it
 * must take seconds. Counts of pairs are sparse (transitions.h); nothing is quadratic in items.
 *
 *   counting.c   pr_count_model; popularity and ties, which several kinds share
 *   popular.c    pop, random             personal.c   personal, recent
 *   markov.c     markov                  mix.c        mix (count_features.h, choice_fit.h)
 *   user_neighbours.c      tifuknn, upcf, pernir (pasts.h)
 *   session_neighbours.c   sknn, vsknn
 *   item_links.c           rules, seqrules, itemknn, ease (transitions.h, linear_items.h)
 *   oracle.c     oracle, on synthetic data with their truth */
#ifndef PR_COUNTING_H
#define PR_COUNTING_H

#include "data/split.h"
#include "model/model.h"

extern const pr_model_kind pr_random, pr_pop, pr_personal, pr_recent, pr_markov, pr_mix, pr_oracle;
extern const pr_model_kind pr_tifuknn, pr_upcf, pr_pernir, pr_sknn, pr_vsknn;
extern const pr_model_kind pr_itemrules, pr_seqrules, pr_itemknn, pr_ease;

/* Counts what `scope` allows, or as much less or more as the setting `count` says. E_ARGUMENT for a kind that learns. */
parsrec_status pr_count_model(pr_model **out, const char *kind, const pr_config *config,
                              const pr_dataset *data, const pr_scope *scope, pr_pool *pool,
                              const parsrec_hooks *hooks, parsrec_error *err);

/* The parameter popularity [1,V]: how often each item was bought. Layout first; counting takes the
 * weights' memory, so all parameters must have their sizes by then. */
parsrec_status pr_popularity_layout(pr_model *model, parsrec_error *err);
parsrec_status pr_popularity_count(pr_model *model, const pr_counted *from, parsrec_error *err);
const pr_real *pr_popularity(const pr_model *model);
/* scores[V] of items that got no vote: below all positive ones, the popular first. -1 / (1 + count)
 * differs for all counts up to ten million. */
void pr_scores_without_votes(pr_real *scores, const pr_model *model);

/* Open baskets that neighbours vote on, be they users or sessions. The votes of a row are counted when its scores are
 * asked for and not fresh: pr_votes_begin gives it zeros to add to, pr_votes_end makes scores of the sums. */
typedef struct pr_votes {
    pr_real *never;        /* [V]: scores of items without a vote */
    pr_real *scores;       /* [rows,V] */
    bool *fresh;           /* [rows]: scores are of the basket as it is now */
    size_t capacity;       /* of a basket */
    pr_history *histories; /* [rows] */
    int32_t *placed;       /* [rows,capacity] */
    size_t *placed_count;  /* [rows] */
} pr_votes;

void pr_votes_take(pr_votes *v, pr_arena *arena, const pr_model *model, size_t rows,
                   size_t capacity);
void pr_votes_start(pr_votes *v, size_t row, const pr_history *history);
void pr_votes_place(pr_votes *v, size_t row,
                    int32_t item); /* whether scores stay fresh: the kind's */
pr_real *pr_votes_begin(pr_votes *v, const pr_model *model, size_t row);
void pr_votes_end(pr_votes *v, const pr_model *model, size_t row);

/* Scores for values in an order, order[0] the best of them: a value, or the next larger number where that
 * is not above the score of the one before. Where tie is given, equal values with equal ties keep equal
 * scores. All but order are indexed by what is in it. */
void pr_settle_ties(pr_real *scores, const int32_t *order, const pr_real *values,
                    const pr_real *tie, size_t n);

#endif
