/* The state of one chunk of baskets while PARSRec learns from it. */
#ifndef PR_PARSREC_CHUNK_H
#define PR_PARSREC_CHUNK_H

#include "math/bag.h"
#include "math/dropout.h"
#include "math/softmax_loss.h"
#include "model/parsrec/parsrec_drawn.h"
#include "model/parsrec/parsrec_net.h"
#include "model/parsrec/parsrec_teacher.h"
#include "model/repeats.h"

/* Dropout of one kind of looked-up rows; keep is NULL when nothing is dropped. */
typedef struct pr_arnn_drop {
    pr_drop how;
    pr_rng rng;
    uint8_t *keep; /* [rows, bytes] */
    size_t bytes;
} pr_arnn_drop;

typedef struct pr_arnn_run {
    pr_arnn_net net;
    pr_chunk *chunk;
    const pr_config *config;
    size_t steps;
    size_t *first, *rows; /* [steps + 2]: step j has rows[j] rows from first[j] on the tape */
    int32_t *users;       /* [R] rows of the user table */
    int32_t *keys;        /* [T] the item placed before each tape row */
    int32_t *target;      /* [R] */
    pr_arnn_drop drop_user, drop_history, drop_keys;
    pr_drop drop_output;
    int32_t *bag_items, *slots;
    pr_real *bag_weights;
    size_t *bag_offsets;
    pr_bags bags;
    pr_repeats recalled;
    pr_arnn_teacher teacher;
    pr_softmax softmax;  /* loss = ce ... */
    pr_arnn_drawn drawn; /* ... or another */
} pr_arnn_run;

/* Everything from the arena, for at most these sizes. */
void pr_arnn_run_take(pr_arnn_run *run, pr_arena *arena, const pr_model *model,
                      const pr_limits *limits);

#endif
