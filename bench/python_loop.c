/* The loop in C that bench/python.py compares with: every user of a model on one thread, then one user
 * at a time with a basket. Prints seconds of the processor and microseconds per call (median).
 * usage: python_loop MODEL USERS CALLS ITEM... */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "parsrec.h"

enum { K = 10, BASKET_MOST = 64 };

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void must(parsrec_status status, const parsrec_error *err)
{
    if (status == PARSREC_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

int main(int argc, char **argv)
{
    parsrec_error err;
    parsrec_model *model;
    parsrec_scratch *own;
    parsrec_hit hits[K];
    parsrec_answer answer;
    if (argc < 4)
        return 2;
    size_t users = strtoul(argv[2], NULL, 10), calls = strtoul(argv[3], NULL, 10);
    must(parsrec_model_load(&model, argv[1], &err), &err);
    must(parsrec_scratch_new(&own, model, 0, &err), &err);
    parsrec_request r = parsrec_request_default();
    double began = now(CLOCK_PROCESS_CPUTIME_ID), sum = 0;
    for (size_t u = 0; u < users; u++) {
        r.user = (int32_t)u;
        must(parsrec_recommend(model, own, &r, hits, K, &answer, &err), &err);
        sum += (double)hits[0].score;
    }
    double loop = now(CLOCK_PROCESS_CPUTIME_ID) - began;
    int32_t basket[BASKET_MOST];
    for (int i = 4; i < argc && i - 4 < BASKET_MOST; i++)
        must(parsrec_model_find(model, PARSREC_ITEM, argv[i], &basket[r.basket.count++], &err),
             &err);
    r.basket.list = basket;
    double *each = malloc(calls * sizeof *each);
    if (each == NULL)
        return 1;
    for (size_t i = 0; i < calls; i++) {
        double start = now(CLOCK_MONOTONIC);
        r.user = (int32_t)(i % users);
        must(parsrec_recommend(model, own, &r, hits, K, &answer, &err), &err);
        each[i] = now(CLOCK_MONOTONIC) - start;
        sum += (double)hits[0].score;
    }
    qsort(each, calls, sizeof *each, ascending);
    printf("%.6f %.3f %.6g\n", loop, 1e6 * each[calls / 2], sum);
    free(each);
    parsrec_scratch_free(own);
    parsrec_model_free(model);
    return 0;
}
