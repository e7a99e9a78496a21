/* How fast training is, as a share of what this machine's own matrix product reaches: slices of
 * training between slices of plain products, both on all threads, so that both see the same
 * machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "data/batches.h"
#include "math/blas.h"
#include "train/train_setup.h"

enum { SLICES = 5, SHAPES = 4 };
/* Of each shape, before and after each slice, at most. */
static const double product_seconds = 0.15;

/* ---- this machine's product ---- */

typedef struct product {
    size_t M, N, K;
    pr_real *block;    /* [threads, per_thread]: both factors and the product */
    size_t per_thread; /* numbers */
    double *rate;      /* [threads]: billions of operations per second */
    double seconds;    /* of each shape */
} product;

static size_t product_room(size_t M, size_t N, size_t K)
{
    return M * K + K * N + M * N;
}

static void run_product(void *context, size_t task, unsigned worker)
{
    product *p = context;
    (void)task;
    pr_real *a = p->block + worker * p->per_thread, *b = a + p->M * p->K, *c = b + p->K * p->N;
    double work = 2.0 * (double)p->M * (double)p->N * (double)p->K, done = 0, start = pr_now(), t;
    do {
        pr_gemm(c, p->N, pr_mat(a, p->K), pr_flip(b, p->K), 0, p->M, p->N, p->K);
        done += work;
        t = pr_now();
    } while (t - start < p->seconds);
    p->rate[worker] = done / (t - start) * 1e-9;
}

/* The best shape's rate, summed over threads that run at the same time. */
static double product_rate(product *p, pr_pool *pool, const size_t (*shapes)[3])
{
    double best = 0;
    unsigned threads = pr_pool_threads(pool);
    for (size_t s = 0; s < SHAPES; s++) {
        p->M = shapes[s][0];
        p->N = shapes[s][1];
        p->K = shapes[s][2];
        /* A thread could take two tasks while another sleeps: then its rate is counted once. */
        for (unsigned i = 0; i < threads; i++)
            p->rate[i] = 0;
        pr_pool_run(pool, run_product, p, threads);
        double sum = 0;
        for (unsigned i = 0; i < threads; i++)
            sum += p->rate[i];
        best = fmax(best, sum);
    }
    return best;
}

/* ---- training ---- */

typedef struct bench {
    const pr_dataset *data;
    pr_pool *pool;
    pr_model *model;
    pr_beginning beginning;
    pr_trainer *trainer;
    pr_batches batches;
    pr_basket *baskets;
    product product;
    size_t shapes[SHAPES][3];
    uint32_t epoch;
    size_t batch;
    uint32_t number;
    double loss;
} bench;

/* What a slice of training did; once it is over, what it did per second. */
typedef struct work {
    double items, operations;
} work;

static parsrec_status train_one(bench *b, work *done, parsrec_error *err)
{
    if (b->batch == b->batches.batch_count) {
        b->batch = 0;
        pr_batches_arrange(&b->batches, ++b->epoch);
    }
    pr_batch_result result;
    pr_batch batch = pr_batch_view(&b->batches, b->batch++, b->data, b->baskets);
    batch.number = b->number++;
    PR_TRY(pr_trainer_learn(b->trainer, &batch, &result, err));
    done->items += (double)result.items;
    done->operations += b->model->kind->operations(b->model, &batch, result.items);
    b->loss = result.total / (double)result.items;
    return PARSREC_OK;
}

static parsrec_status train_for(bench *b, double seconds, work *rate, parsrec_error *err)
{
    double start = pr_now(), t;
    *rate = (work){0};
    do {
        PR_TRY(train_one(b, rate, err));
        t = pr_now();
    } while (t - start < seconds);
    rate->items /= t - start;
    rate->operations /= t - start;
    return PARSREC_OK;
}

/* The shapes of the model's own products, beside a large one. */
static parsrec_status take_products(bench *b, parsrec_error *err)
{
    const pr_config *c = &b->model->config;
    bool sequence = b->model->kind->sequence;
    enum { ITEMS_MOST = 24576 }; /* larger products are not faster */
    size_t dv = (size_t)c->dim_item, items = b->data->items;
    items = items < ITEMS_MOST ? items : ITEMS_MOST;
    size_t rows = sequence ? 512 : (size_t)c->batch;
    size_t in = sequence ? dv : dv + (size_t)c->dim_user, out = sequence ? 3 * dv : in;
    const size_t shapes[SHAPES][3] = {
        {1024, 1024, 1024}, {rows, items, dv}, {items, dv, rows}, {rows, out, in}};
    memcpy(b->shapes, shapes, sizeof shapes);
    for (size_t s = 0; s < SHAPES; s++) {
        size_t room = product_room(shapes[s][0], shapes[s][1], shapes[s][2]);
        b->product.per_thread = room > b->product.per_thread ? room : b->product.per_thread;
    }
    b->product.per_thread = (b->product.per_thread + 15) / 16 * 16;
    unsigned threads = pr_pool_threads(b->pool);
    b->product.block = pr_alloc_aligned(b->product.per_thread * threads, sizeof *b->product.block);
    b->product.rate = pr_alloc(threads, sizeof *b->product.rate);
    return b->product.block != NULL && b->product.rate != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status set_up(bench *b, const char *kind, const pr_config *wanted, unsigned threads,
                             parsrec_error *err)
{
    enum { SEED = 1 };
    pr_config config = *wanted;
    PR_TRY(pr_settle(&config, kind, b->data, NULL, err));
    size_t rows = (size_t)config.batch;
    PR_TRY(pr_pool_new(&b->pool, threads, err));
    pr_shop shop = pr_shop_of(b->data);
    PR_TRY(pr_model_new_bare(&b->model, kind, &config, &shop, err));
    PR_TRY(pr_beginning_make(&b->beginning, b->model, b->data, false, b->pool, NULL, err));
    PR_TRY(pr_model_alloc_weights(b->model, err));
    pr_begin(b->model, &b->beginning, b->data, SEED);
    pr_limits limits = pr_limits_of(b->data, b->model);
    PR_TRY(pr_trainer_new(&b->trainer, b->model, b->pool, &limits, SEED, err));
    pr_scope scope = pr_scope_before(PR_VALID, (size_t)config.last);
    PR_TRY(pr_batches_init(&b->batches, b->data, rows, pr_model_steps(b->model), &scope,
                           pr_windows_of(b->model), pr_separates(b->model), SEED, err));
    pr_batches_arrange(&b->batches, 0);
    b->baskets = pr_alloc(rows, sizeof *b->baskets);
    return b->baskets != NULL ? take_products(b, err) : pr_fail_memory(err);
}

static void tear_down(bench *b)
{
    pr_trainer_free(b->trainer);
    pr_batches_free(&b->batches);
    pr_model_free(b->model);
    pr_beginning_free(&b->beginning);
    pr_pool_free(b->pool);
    pr_free_aligned(b->product.block);
    pr_free(b->product.rate);
    pr_free(b->baskets);
}

static parsrec_status measure(parsrec_train_speed *speed, bench *b, double seconds,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    double sgemm = 0, sum = 0;
    work rate, mean = {0};
    b->product.seconds = fmin(seconds / (2 * SLICES), product_seconds);
    PR_TRY(train_for(b, fmin(seconds / 4, 2), &rate, err)); /* warms up caches and clocks */
    PR_TRY(pr_trainer_measure(b->trainer, err));
    double before = product_rate(&b->product, b->pool, b->shapes);
    for (int i = 0; i < SLICES; i++) {
        PR_TRY(pr_progress(hooks, "measuring", "slices", (uint64_t)i, SLICES, err));
        PR_TRY(train_for(b, seconds / SLICES, &rate, err));
        double after = product_rate(&b->product, b->pool, b->shapes);
        mean.items += rate.items / SLICES;
        mean.operations += rate.operations / SLICES;
        sgemm += fmax(before, after) / SLICES;
        before = after;
    }
    *speed = (parsrec_train_speed){.items_per_s = mean.items,
                                   .gflops = mean.operations * 1e-9,
                                   .sgemm_gflops = sgemm,
                                   .share = mean.operations * 1e-9 / sgemm,
                                   .loss = b->loss,
                                   .threads = pr_pool_threads(b->pool)};
    pr_trainer_parts(b->trainer, speed->part_share);
    for (size_t p = 0; p < PARSREC_STEP_PARTS; p++)
        sum += speed->part_share[p];
    for (size_t p = 0; p < PARSREC_STEP_PARTS; p++)
        speed->part_share[p] /= sum;
    const char *core = pr_blas_core();
    snprintf(speed->kernels, sizeof speed->kernels, "%s", core != NULL ? core : "");
    return PARSREC_OK;
}

parsrec_status parsrec_bench_training(const parsrec_data *data,
                                      const parsrec_train_options *options, double seconds,
                                      parsrec_train_speed *speed, const parsrec_hooks *hooks,
                                      parsrec_error *err)
{
    if (data == NULL || options == NULL || speed == NULL || !(seconds > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "a benchmark of training needs data and a time");
    bench b = {.data = data};
    pr_config config;
    PR_TRY(pr_train_settings(&config, options, err));
    parsrec_status status = set_up(&b, pr_train_kind(options), &config, options->threads, err);
    if (status == PARSREC_OK)
        status = measure(speed, &b, seconds, hooks, err);
    tear_down(&b);
    return status;
}

/* PARSRec with the paper's settings, another kind with its own. */
parsrec_status parsrec_bench_train(const parsrec_data *data, const char *model, double seconds,
                                   unsigned threads, const char *const *set, size_t set_count,
                                   parsrec_train_speed *speed, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    parsrec_train_options options = parsrec_train_default();
    options.model = model;
    options.preset = model == NULL || strcmp(model, "parsrec") == 0 ? "paper" : NULL;
    options.set = set;
    options.set_count = set_count;
    options.threads = threads;
    return parsrec_bench_training(data, &options, seconds, speed, hooks, err);
}

_Static_assert(PARSREC_STEP_PARTS == (int)PR_STEP_PARTS, "the public count of parts is right");

const char *parsrec_step_part(size_t part)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        PR_STEP_PARTS_MAP(NAME)
#undef NAME
    };
    return part < PR_STEP_PARTS ? names[part] : NULL;
}
