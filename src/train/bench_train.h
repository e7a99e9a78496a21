/* How fast training is, as a share of what this machine's own matrix product reaches. */
#ifndef PR_BENCH_TRAIN_H
#define PR_BENCH_TRAIN_H

#include "base/hooks.h"
#include "data/dataset.h"
#include "model/trainer.h"

typedef struct pr_bench_train_result {
    double items_per_s;  /* predicted items */
    double gflops;       /* what the plain network needs for them (docs/math.md) */
    double sgemm_gflops; /* best of 1024³ and the model's own shapes, on as many threads */
    double share;        /* gflops / sgemm_gflops */
    double loss;         /* of the last batch, an item */
    unsigned threads;
    double part_share[PR_STEP_PARTS]; /* of the time of all threads */
} pr_bench_train_result;

/* Trains for about `seconds` in slices, with the product measured before and after each, so that both
 * see the same machine. */
parsrec_status pr_bench_train(pr_bench_train_result *result, const pr_dataset *data,
                              const char *kind, const pr_config *config, double seconds,
                              unsigned threads, const parsrec_hooks *hooks, parsrec_error *err);

#endif
