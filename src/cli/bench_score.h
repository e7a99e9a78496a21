/* parsrec bench score. */
#ifndef CLI_BENCH_SCORE_H
#define CLI_BENCH_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_score_args {
    const char *path; /* of a model; NULL: one is made */
    uint64_t basket, k;
    double seconds;
    bool json;
} bench_score_args;

/* Returns the exit status. */
int cli_bench_score(const bench_score_args *args);

#endif
