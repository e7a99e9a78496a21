/* Prices, product correlations and base utilities. */
#include "synth/synth_market.h"

#include <math.h>

#include "base/memory.h"
#include "synth/synth_draw.h"
#include "synth/vine.h"

static double draw_base_price(uint64_t seed, size_t category)
{
    pr_rng rng = pr_rng_make(seed, PR_SYNTH_BASE_PRICE);
    pr_stream s = pr_stream_at(&rng, (uint32_t)category, 0, 0);
    return exp(pr_synth_paper.price_mean + pr_synth_paper.price_sd * pr_stream_normal(&s));
}

/* Uniform from half the base price to twice the base price. */
static double draw_price(uint64_t seed, size_t category, size_t product, double base)
{
    pr_rng rng = pr_rng_make(seed, PR_SYNTH_PRICE);
    pr_stream s = pr_stream_at(&rng, (uint32_t)category, (uint32_t)product, 0);
    return base * (0.5 + 1.5 * pr_stream_unit(&s));
}

typedef struct market_task {
    pr_market *market;
    uint64_t seed;
} market_task;

static void draw_category(void *context, size_t c, unsigned worker)
{
    (void)worker;
    const market_task *task = context;
    pr_market *m = task->market;
    size_t n = m->products;
    m->base_price[c] = draw_base_price(task->seed, c);
    for (size_t j = 0; j < n; j++)
        m->price[c * n + j] = draw_price(task->seed, c, j, m->base_price[c]);
    pr_rng vine = pr_rng_make(task->seed, PR_SYNTH_VINE);
    pr_vine_draw(m->factor + c * n * n, m->correlation + c * n * n, n, &vine, (uint32_t)c);
}

static parsrec_status draw_brands(pr_market *m, uint64_t seed, parsrec_error *err)
{
    pr_rng rng = pr_rng_make(seed, PR_SYNTH_BRAND);
    size_t items = m->categories * m->products;
    m->brand = pr_alloc(items, sizeof *m->brand);
    for (size_t i = 0; m->brand != NULL && i < items; i++)
        m->brand[i] = (int32_t)(pr_rng_at(&rng, (uint32_t)i, 0, 0, 0).word[0] % PR_SYNTH_BRANDS);
    return m->brand != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_market_draw(pr_market *market, const parsrec_synth_options *options,
                              pr_pool *pool, parsrec_error *err)
{
    size_t categories = (size_t)options->categories, products = (size_t)options->products, cells;
    *market = (pr_market){.categories = categories, .products = products};
    if (pr_mul_overflows(categories, products, &cells) || pr_mul_overflows(cells, products, &cells))
        return pr_fail_memory(err);
    market->omega = pr_rng_make(options->seed, PR_SYNTH_OMEGA);
    market->base_price = pr_alloc(categories, sizeof *market->base_price);
    market->price = pr_alloc(categories * products, sizeof *market->price);
    market->correlation = pr_alloc(cells, sizeof *market->correlation);
    market->factor = pr_alloc(cells, sizeof *market->factor);
    if (market->base_price == NULL || market->price == NULL || market->correlation == NULL ||
        market->factor == NULL)
        return pr_fail_memory(err);
    market->taste = pr_rng_make(options->seed, PR_SYNTH_TASTE);
    if ((options->features & PARSREC_FEATURES_SIGNAL) != 0)
        PR_TRY(draw_brands(market, options->seed, err));
    market_task task = {market, options->seed};
    pr_pool_run(pool, draw_category, &task, categories);
    return PARSREC_OK;
}

void pr_market_free(pr_market *market)
{
    pr_free(market->base_price);
    pr_free(market->price);
    pr_free(market->correlation);
    pr_free(market->factor);
    pr_free(market->brand);
    *market = (pr_market){0};
}

static void add_tastes(float *base, const pr_market *m, size_t user, size_t category)
{
    double taste[PR_SYNTH_BRANDS];
    for (uint32_t b = 0; b < PR_SYNTH_BRANDS; b++) {
        pr_stream s = pr_stream_at(&m->taste, (uint32_t)user, b, 0);
        taste[b] = PR_SYNTH_TASTE_SD * pr_stream_normal(&s);
    }
    for (size_t i = 0; i < m->products; i++)
        base[i] += (float)taste[m->brand[category * m->products + i]];
}

void pr_market_utilities(float *base, const pr_market *market, size_t user, size_t category,
                         double *work)
{
    size_t n = market->products;
    const double *factor = market->factor + category * n * n;
    double *normal = work, *omega = work + n;
    pr_stream s = pr_stream_at(&market->omega, (uint32_t)user, (uint32_t)category, 0);
    for (size_t k = 0; k < n; k++) {
        normal[k] = pr_stream_normal(&s);
        omega[k] = 0;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++)
            omega[i] += factor[k * n + i] * normal[k];
    for (size_t i = 0; i < n; i++)
        base[i] = (float)(pr_synth_paper.tau * omega[i] -
                          pr_synth_paper.beta * market->price[category * n + i]);
    if (market->brand != NULL)
        add_tastes(base, market, user, category);
}
