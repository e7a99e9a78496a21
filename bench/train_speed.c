/* How fast a training batch is, as a share of this machine's own matrix product.
 *
 *   zcat actions.csv.gz | train_speed [THREADS] [SECONDS] [key=value ...]
 *
 * The table has a header `user,session,time,item` and a user's sessions in order. Settings are those
 * of the preset paper. Prints one JSON object. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/intern.h"
#include "base/memory.h"
#include "math/blas.h"
#include "model/trainer.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void die(const char *message)
{
    fprintf(stderr, "train_speed: %s\n", message);
    exit(1);
}

/* ---- data: all but the last two sessions of each user ---- */

typedef struct session {
    uint32_t user;
    size_t first, size, history; /* in items; history reaches back to the user's first item */
} session;

typedef struct data {
    int32_t *items;
    session *sessions;
    size_t item_count, session_count, item_capacity, session_capacity;
    pr_intern users, names;
} data;

static void add_row(data *d, char *line, char *last)
{
    parsrec_error err;
    uint32_t user, item;
    char *rest = line, *field[4];
    for (int i = 0; i < 4; i++)
        if ((field[i] = strtok_r(rest, ",\r\n", &rest)) == NULL)
            die("a row lacks a field");
    if (pr_intern_add(&d->users, pr_slice_of(field[0]), &user, &err) != PARSREC_OK ||
        pr_intern_add(&d->names, pr_slice_of(field[3]), &item, &err) != PARSREC_OK ||
        pr_grow(&d->items, &d->item_capacity, d->item_count + 1, sizeof *d->items, &err) !=
            PARSREC_OK ||
        pr_grow(&d->sessions, &d->session_capacity, d->session_count + 1, sizeof *d->sessions,
                &err) != PARSREC_OK)
        die(err.message);
    session *s = d->session_count > 0 ? &d->sessions[d->session_count - 1] : NULL;
    if (s == NULL || s->user != user || strcmp(last, field[1]) != 0) {
        size_t history = s != NULL && s->user == user ? s->history + s->size : 0;
        d->sessions[d->session_count++] = (session){user, d->item_count, 0, history};
        snprintf(last, 64, "%s", field[1]);
    }
    d->sessions[d->session_count - 1].size++;
    d->items[d->item_count++] = (int32_t)item;
}

static void read_data(data *d)
{
    char line[512], last[64] = "";
    if (fgets(line, sizeof line, stdin) == NULL)
        die("no header on stdin");
    while (fgets(line, sizeof line, stdin) != NULL)
        add_row(d, line, last);
}

static int by_size(const void *a, const void *b)
{
    const pr_basket *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1)
                              : (x->items < y->items ? -1 : x->items > y->items);
}

static pr_basket *training_baskets(const data *d, size_t *count)
{
    pr_basket *out = pr_alloc_zero(d->session_count, sizeof *out);
    pr_rng rng = pr_rng_make(1, 1);
    pr_stream stream = pr_stream_at(&rng, 0, 0, 0);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i + 2 < d->session_count; i++) {
        const session *s = &d->sessions[i];
        if (d->sessions[i + 2].user != s->user)
            continue;
        out[n++] = (pr_basket){(int32_t)s->user,
                               {d->items + s->first - s->history, s->history, NULL, 0},
                               d->items + s->first,
                               s->size};
    }
    pr_stream_shuffle(&stream, out, n, sizeof *out);
    *count = n;
    return out;
}

/* ---- this machine's product ---- */

typedef struct product_case {
    size_t M, N, K;
    double best;
} product_case;

static void *run_products(void *argument)
{
    product_case *c = argument;
    pr_real *a = pr_alloc_aligned(c->M * c->K, sizeof *a);
    pr_real *b = pr_alloc_aligned(c->N * c->K, sizeof *b);
    pr_real *y = pr_alloc_aligned(c->M * c->N, sizeof *y);
    double work = 2.0 * (double)c->M * (double)c->N * (double)c->K;
    size_t times = (size_t)(4e9 / work) + 1;
    for (int round = 0; round < 4; round++) {
        double start = now();
        for (size_t i = 0; i < times; i++)
            pr_gemm(y, c->N, pr_mat(a, c->K), pr_flip(b, c->K), 0, c->M, c->N, c->K);
        double rate = work * (double)times / (now() - start) * 1e-9;
        c->best = rate > c->best ? rate : c->best;
    }
    pr_free_aligned(a), pr_free_aligned(b), pr_free_aligned(y);
    return NULL;
}

/* The best of several shapes, summed over threads that run at the same time. */
static double product_rate(unsigned threads, size_t items)
{
    size_t shapes[][3] = {
        {1024, 1024, 1024}, {256, items, 128}, {items, 128, 256}, {256, 256, 256}};
    double best = 0;
    for (size_t s = 0; s < 4; s++) {
        product_case cases[64];
        pthread_t thread[64];
        double sum = 0;
        for (unsigned i = 0; i < threads; i++) {
            cases[i] = (product_case){shapes[s][0], shapes[s][1], shapes[s][2], 0};
            if (pthread_create(&thread[i], NULL, run_products, &cases[i]) != 0)
                die("cannot start a thread");
        }
        for (unsigned i = 0; i < threads; i++) {
            pthread_join(thread[i], NULL);
            sum += cases[i].best;
        }
        best = sum > best ? sum : best;
    }
    return best;
}

/* ---- training ---- */

typedef struct outcome {
    uint64_t items;
    double seconds, loss;
} outcome;

static outcome train(pr_trainer *trainer, pr_basket *baskets, size_t count, size_t batch,
                     double seconds)
{
    outcome o = {0};
    uint32_t *starts = pr_alloc(count / batch + 1000, sizeof *starts);
    size_t batches = 0;
    qsort(baskets, count, sizeof *baskets, by_size);
    for (size_t i = 0; starts != NULL && i < count; i += batch)
        starts[batches++] = (uint32_t)i;
    pr_rng rng = pr_rng_make(2, 2);
    double warm = 0, begin = now();
    for (uint32_t number = 0; now() - begin < seconds; number++) {
        pr_stream stream = pr_stream_at(&rng, number / (uint32_t)batches, 0, 0);
        if (number % batches == 0)
            pr_stream_shuffle(&stream, starts, batches, sizeof *starts);
        size_t first = starts[number % batches];
        pr_batch b = {.baskets = baskets + first,
                      .rows = count - first < batch ? count - first : batch,
                      .number = number};
        pr_batch_result result;
        parsrec_error err;
        if (pr_trainer_learn(trainer, &b, &result, &err) != PARSREC_OK)
            die(err.message);
        if (warm > 0)
            o.items += result.items;
        else if (now() - begin > seconds / 4)
            warm = now();
        o.loss = result.loss * (double)b.rows / (double)result.items;
    }
    o.seconds = now() - warm;
    pr_free(starts);
    return o;
}

static pr_limits limits_of(const pr_basket *baskets, size_t count, size_t batch)
{
    pr_limits limits = {.rows = batch};
    for (size_t i = 0; i < count; i++) {
        limits.basket = baskets[i].size > limits.basket ? baskets[i].size : limits.basket;
        limits.history =
            baskets[i].history.count > limits.history ? baskets[i].history.count : limits.history;
    }
    limits.steps = limits.basket;
    return limits;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    double seconds = argc > 2 ? atof(argv[2]) : 10;
    parsrec_error err;
    data d = {0};
    pr_config config = pr_config_default();
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    if (threads < 1 || threads > 64)
        die("threads must be 1..64");
    if (pr_config_preset(&config, "paper", &err) != PARSREC_OK)
        die(err.message);
    for (int i = 3; i < argc; i++)
        if (pr_config_assign(&config, argv[i], &err) != PARSREC_OK)
            die(err.message);
    read_data(&d);
    size_t count, batch = (size_t)config.batch;
    pr_basket *baskets = training_baskets(&d, &count);
    if (baskets == NULL || count == 0)
        die("no training baskets");
    pr_limits limits = limits_of(baskets, count, batch);
    if (pr_model_new(&model, "parsrec", &config, d.users.count, d.names.count, 1, &err) !=
            PARSREC_OK ||
        pr_pool_new(&pool, threads, &err) != PARSREC_OK ||
        pr_trainer_new(&trainer, model, pool, &limits, 1, &err) != PARSREC_OK)
        die(err.message);
    double before = product_rate(threads, model->items);
    outcome o = train(trainer, baskets, count, batch, seconds);
    double after = product_rate(threads, model->items), product = before > after ? before : after;
    double rate = (double)o.items / o.seconds, gflops = rate * 3.5e-3;
    printf("{\"threads\":%u,\"items_per_s\":%.0f,\"gflops\":%.1f,\"sgemm_gflops\":%.1f,"
           "\"share\":%.3f,\"loss\":%.4f,\"blas\":\"%s\"}\n",
           threads, rate, gflops, product, gflops / product, o.loss,
           pr_blas_core() != NULL ? pr_blas_core() : "?");
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
    pr_intern_free(&d.users);
    pr_intern_free(&d.names);
    pr_free(d.items);
    pr_free(d.sessions);
    pr_free(baskets);
    return 0;
}
