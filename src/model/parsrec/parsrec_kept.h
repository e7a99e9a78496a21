/* What was worked out for baskets that are still open, so that one more item is one more step: for each of the users who
 * asked lately, what the cell gets of them and the hidden states of their last basket. Belongs to a session of one row. */
#ifndef PR_PARSREC_KEPT_H
#define PR_PARSREC_KEPT_H

#include "model/parsrec/parsrec_net.h"

enum { PR_ARNN_KEPT_STEPS = 8 };

/* A basket: hidden[i], for i < steps, is what follows the first i of its items. */
typedef struct pr_arnn_kept_basket {
    uint64_t alike; /* as the start has it; 0: nothing is kept here */
    uint32_t items, steps;
    int32_t item[PR_ARNN_KEPT_STEPS];
} pr_arnn_kept_basket;

typedef struct pr_arnn_kept {
    size_t slots, dv;
    pr_arnn_kept_basket *baskets; /* [slots] */
    pr_real *
        rows; /* [slots, (3 + PR_ARNN_KEPT_STEPS) * dv]: cell, first hidden state, those that follow */
    size_t open;   /* the basket under way; slots: it is not kept */
    size_t placed; /* items of it */
} pr_arnn_kept;

/* From an arena, which may be counting. */
void pr_arnn_kept_take(pr_arnn_kept *kept, pr_arena *arena, const pr_arnn_dims *d);

/* Begins a basket. True, and cell[2dv] and hidden[dv] are set, if a start like this one has been seen; else they are to
 * be handed over when they are known. */
bool pr_arnn_kept_begin(pr_arnn_kept *kept, uint64_t alike, pr_real *cell, pr_real *hidden);
void pr_arnn_kept_learn(pr_arnn_kept *kept, uint64_t alike, const pr_real *cell,
                        const pr_real *hidden);
/* The next hidden state, if it is known; and to hand it over if it was not. */
bool pr_arnn_kept_next(const pr_arnn_kept *kept, pr_real *hidden);
void pr_arnn_kept_follow(pr_arnn_kept *kept, const pr_real *hidden);
void pr_arnn_kept_place(pr_arnn_kept *kept, int32_t item);

#endif
