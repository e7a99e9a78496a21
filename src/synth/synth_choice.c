/* What a trip needs, made ready: constants, generators, factors, a shopper for each thread. */
#include "synth/synth_draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "synth/psd.h"

const pr_synth_constants pr_synth_paper = {
#define VALUE(name, value) .name = value,
    PR_SYNTH_CONSTANTS(VALUE)
#undef VALUE
};

static void make_generators(pr_choice *choice, uint64_t seed)
{
    choice->size = pr_rng_make(seed, PR_SYNTH_SIZE);
    choice->category = pr_rng_make(seed, PR_SYNTH_CATEGORY);
    choice->tie = pr_rng_make(seed, PR_SYNTH_TIE);
    choice->noise = pr_rng_make(seed, PR_SYNTH_NOISE);
    choice->home = pr_rng_make(seed, PR_SYNTH_OUTSIDE);
    choice->order = pr_rng_make(seed, PR_SYNTH_ORDER);
    choice->occasion = pr_rng_make(seed, PR_SYNTH_OCCASION);
    /* The quantile is monotonic up to its own rounding; 1e-12 stays clear of that. */
    uint32_t width = UINT32_MAX / PR_NOISE_BUCKETS;
    for (uint32_t i = 0; i < PR_NOISE_BUCKETS; i++)
        choice->noise_most[i] = pr_normal_quantile(pr_unit32(i * (width + 1) + width)) + 1e-12;
}

parsrec_status pr_choice_init(pr_choice *choice, const parsrec_synth_options *options,
                              const double *sigma, size_t groups, parsrec_error *err)
{
    size_t n = (size_t)options->categories, cells;
    *choice = (pr_choice){.groups = groups,
                          .categories = n,
                          .products = (size_t)options->products,
                          .size_rule = options->size_rule,
                          .outside = options->outside,
                          .occasions = (options->features & PARSREC_FEATURES_SIGNAL) != 0};
    if (pr_mul_overflows(n * n, groups, &cells))
        return pr_fail_memory(err);
    choice->alpha = pr_alloc(n, sizeof *choice->alpha);
    choice->factor = pr_alloc(cells, sizeof *choice->factor);
    choice->rank = pr_alloc(groups, sizeof *choice->rank);
    if (choice->alpha == NULL || choice->factor == NULL || choice->rank == NULL)
        return pr_fail_memory(err);
    for (size_t c = 0; c < n; c++)
        choice->alpha[c] = pr_synth_paper.alpha;
    for (size_t g = 0; g < groups; g++)
        PR_TRY(
            pr_psd_factor(choice->factor + g * n * n, &choice->rank[g], sigma + g * n * n, n, err));
    make_generators(choice, options->seed);
    return PARSREC_OK;
}

void pr_choice_free(pr_choice *choice)
{
    pr_free(choice->alpha);
    pr_free(choice->factor);
    pr_free(choice->rank);
    *choice = (pr_choice){0};
}

parsrec_status pr_shopper_init(pr_shopper *shopper, const pr_choice *choice, parsrec_error *err)
{
    size_t n = choice->categories;
    *shopper = (pr_shopper){
        .blocks = pr_alloc(n * pr_shelf_blocks(choice), sizeof *shopper->blocks),
        .utility = pr_alloc(n, sizeof *shopper->utility),
        .normal = pr_alloc(n, sizeof *shopper->normal),
    };
    return shopper->blocks != NULL && shopper->utility != NULL && shopper->normal != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

void pr_shopper_free(pr_shopper *shopper)
{
    pr_free(shopper->blocks);
    pr_free(shopper->utility);
    pr_free(shopper->normal);
    *shopper = (pr_shopper){0};
}

static int by_top(const void *a, const void *b)
{
    const pr_shelf_block *x = a, *y = b;
    if (x->top != y->top)
        return x->top > y->top ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

void pr_shopper_become(pr_shopper *shopper, const pr_choice *choice, size_t user, size_t group,
                       const float *base)
{
    shopper->user = (uint32_t)user;
    shopper->group = group;
    shopper->base = base;
    size_t blocks = pr_shelf_blocks(choice);
    for (size_t c = 0; c < choice->categories; c++) {
        pr_shelf_block *block = shopper->blocks + c * blocks;
        const float *mean = base + c * choice->products;
        for (size_t b = 0; b < blocks; b++)
            block[b] = (pr_shelf_block){-INFINITY, (uint32_t)b};
        for (size_t j = 0; j < choice->products; j++)
            if (mean[j] > block[j / PR_SHELF_BLOCK].top)
                block[j / PR_SHELF_BLOCK].top = mean[j];
        qsort(block, blocks, sizeof *block, by_top);
    }
}
