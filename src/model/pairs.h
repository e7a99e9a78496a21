/* A memory of pairs: which classes of items are bought together, by everybody and by a user
 * (docs/math.md, Pairs).
 *
 * A class is a category, or a family where a catalogue has no categories. For every pair of classes
 * everybody's lift is counted in the training sessions, and how users' own lifts spread around it, as
 * weights of a few ratios: a prior. A user's own co-purchases turn it into a posterior. Its mean,
 * relative to the prior's, is the user's ratio: 1 for a user without a history and for pairs that
 * everybody buys alike, which have no weights at all.
 *
 * Sessions are sets of at most 64 classes, so one is a word of bits, and the co-purchases of a class
 * are counted when an item of it is placed, not before. */
#ifndef PR_PAIRS_H
#define PR_PAIRS_H

#include "data/batch.h"
#include "data/split.h"
#include "math/shapes.h"
#include "model/model.h"

enum {
    PR_PAIR_CLASSES_MOST = 64, /* bits of a word */
    PR_PAIR_SETS = 128,        /* newest sessions of a history whose classes are kept */
    PR_PAIR_RATIOS = 7,
    PR_PAIR_PRIOR = 1 + PR_PAIR_RATIOS, /* log of everybody's lift, then the weight of each ratio */
};

/* Views of a model's tensors. */
typedef struct pr_pair_memory {
    size_t items, classes;
    uint32_t *class_of; /* [V]: `classes` for an item without a class */
    pr_real *priors;    /* [pairs, PR_PAIR_PRIOR]; weights of 0: everybody buys the pair alike */
} pr_pair_memory;

static inline size_t pr_pair_count(size_t classes)
{
    return classes * (classes - 1) / 2;
}

/* The row of `priors` of two different classes. */
static inline size_t pr_pair_row(size_t a, size_t b)
{
    return a > b ? a * (a - 1) / 2 + b : b * (b - 1) / 2 + a;
}

/* Chooses the classes of a tree and counts the priors. Returns how many pairs have one in *personal. */
parsrec_status pr_pairs_count(const pr_pair_memory *pairs, size_t *personal,
                              const pr_category_tree *tree, const pr_counted *from,
                              parsrec_error *err);
/* Counts the priors again, for the classes that items have. */
parsrec_status pr_pairs_recount(const pr_pair_memory *pairs, const pr_counted *from,
                                parsrec_error *err);
/* Checks tensors from a file. */
parsrec_status pr_pairs_verify(const pr_pair_memory *pairs, parsrec_error *err);

/* ---- one open basket ---- */

/* Which classes have anything to say about which others. */
typedef struct pr_pair_partners {
    uint64_t of[PR_PAIR_CLASSES_MOST]; /* classes with which users differ in pairs */
    uint64_t own;                      /* classes that have such partners */
    uint64_t any;                      /* classes that are bought */
} pr_pair_partners;

pr_pair_partners pr_pair_partners_of(const pr_pair_memory *pairs);

/* What pairs say: everybody's lift, and the user's own ratio to it. */
enum { PR_PAIR_ALL, PR_PAIR_OWN, PR_PAIR_TERMS };

typedef struct pr_pair_basket {
    pr_history history;                                /* borrowed until the next start */
    bool counted;                                      /* whether bought[] and sets[] are set */
    uint64_t placed;                                   /* classes in the basket */
    size_t distinct;                                   /* how many */
    uint32_t bought[PR_PAIR_CLASSES_MOST];             /* sessions of the history with the class */
    uint64_t sets[PR_PAIR_SETS];                       /* classes in each of the newest sessions */
    pr_real sums[PR_PAIR_TERMS][PR_PAIR_CLASSES_MOST]; /* of logs, over all placed classes */
} pr_pair_basket;

void pr_pair_start(pr_pair_basket *basket, const pr_history *history);
/* Places an item. Returns false if nothing changed: its class is in the basket already, or it has
 * none. */
bool pr_pair_place(pr_pair_basket *basket, const pr_pair_memory *pairs,
                   const pr_pair_partners *partners, int32_t item);
/* log[PR_PAIR_TERMS]: what a placed class adds to the sums of a candidate. */
void pr_pair_logs(pr_real *log, pr_pair_basket *basket, const pr_pair_memory *pairs,
                  const pr_pair_partners *partners, size_t placed, size_t candidate);

/* How much each sum counts. Everybody's lifts count as they were counted, up to the sum of four classes:
 * what they do not explain is for the network to learn. A user's own ratios have a learnt gate,
 * 1 + g + h / distinct classes. */
enum { PR_PAIR_SUM_MOST = 4, PR_PAIR_GATES = 2 };

static inline pr_real pr_pair_gate(const pr_pair_basket *basket, const pr_real *gate, size_t term)
{
    pr_real m = (pr_real)(basket->distinct > 0 ? basket->distinct : 1);
    if (term == PR_PAIR_ALL)
        return m > PR_PAIR_SUM_MOST ? PR_PAIR_SUM_MOST / m : 1;
    return 1 + gate[0] + gate[1] / m;
}

/* From the gradient of the own term's gate. */
static inline void pr_pair_gate_backward(pr_real *dgate, const pr_pair_basket *basket, pr_real d)
{
    dgate[0] += d;
    dgate[1] += d / (pr_real)(basket->distinct > 0 ? basket->distinct : 1);
}

#endif
