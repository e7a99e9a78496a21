/* One shopping trip: what it needs (constants, generators, factors, a shopper per thread), then
 * basket size, shopping list, products and order. */
#include "synth/synth.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "synth/matrices.h"

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
    assert(group < choice->groups);
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

/* ---- size ---- */

const pr_size_law *pr_size_law_of(parsrec_size_rule rule)
{
    static const pr_size_law reference = {"reference", 0.8047, 1.4738, 2, 3, false};
    static const pr_size_law paper = {"paper", 0.80, 1.47, 0, 2, true};
    switch (rule) {
    case PARSREC_SIZE_REFERENCE:
        return &reference;
    case PARSREC_SIZE_PAPER:
        return &paper;
    }
    return NULL;
}

/* P(ceil(plus + W) <= size) */
static double sizes_up_to(const pr_size_law *law, size_t size)
{
    double x = (double)size - law->plus;
    return x > 0 ? -expm1(-pow(x / law->scale, law->shape)) : 0;
}

double pr_size_chance(const pr_size_law *law, size_t size)
{
    if (size < law->least || size > PR_SYNTH_BASKET_MOST)
        return 0;
    double below = size > law->least || law->redraw ? sizes_up_to(law, size - 1) : 0;
    double upto = size < PR_SYNTH_BASKET_MOST || law->redraw ? sizes_up_to(law, size) : 1;
    double total = 1;
    if (law->redraw)
        total = sizes_up_to(law, PR_SYNTH_BASKET_MOST) - sizes_up_to(law, law->least - 1);
    return (upto - below) / total;
}

size_t pr_draw_size(const pr_choice *choice, size_t user, size_t session)
{
    const pr_size_law *law = pr_size_law_of(choice->size_rule);
    pr_stream s = pr_stream_at(&choice->size, (uint32_t)user, (uint32_t)session, 0);
    for (;;) {
        double weibull = law->scale * pow(-log(pr_stream_unit(&s)), 1 / law->shape);
        double size = ceil(law->plus + weibull);
        if (size >= (double)law->least && size <= PR_SYNTH_BASKET_MOST)
            return (size_t)size;
        if (!law->redraw)
            return size < (double)law->least ? law->least : PR_SYNTH_BASKET_MOST;
    }
}

/* ---- categories ---- */

/* Categories that move as one (a correlation of 1) would differ only by rounding, so that the same
 * one always won. A nudge far below anything that matters makes it a fair coin. */
static void nudge(double *utility, const pr_choice *choice, size_t user, size_t session)
{
    pr_stream s = pr_stream_at(&choice->tie, (uint32_t)user, (uint32_t)session, 0);
    for (size_t c = 0; c < choice->categories; c++)
        utility[c] += 1e-9 * pr_unit32(pr_stream_u32(&s));
}

size_t pr_draw_occasion(const pr_choice *choice, size_t user, size_t session)
{
    pr_bits bits = pr_rng_at(&choice->occasion, (uint32_t)user, (uint32_t)session, 0, 0);
    return bits.word[0] % PR_SYNTH_OCCASIONS;
}

void pr_draw_utilities(double *utility, double *normal, const pr_choice *choice, size_t group,
                       size_t user, size_t session)
{
    assert(group < choice->groups);
    size_t n = choice->categories, rank = choice->rank[group];
    const double *factor = choice->factor + group * n * n;
    pr_stream s = pr_stream_at(&choice->category, (uint32_t)user, (uint32_t)session, 0);
    for (size_t k = 0; k < rank; k++)
        normal[k] = pr_stream_normal(&s);
    for (size_t c = 0; c < n; c++)
        utility[c] = choice->alpha[c];
    for (size_t k = 0; k < rank; k++)
        for (size_t c = 0; c < n; c++)
            utility[c] += factor[k * n + c] * normal[k];
    if (choice->occasions) {
        /* Every fourth category has its occasion. */
        size_t first = pr_draw_occasion(choice, user, session);
        for (size_t c = first; c < choice->categories; c += PR_SYNTH_OCCASIONS)
            utility[c] += PR_SYNTH_OCCASION_SHIFT;
    }
    nudge(utility, choice, user, session);
}

size_t pr_best_categories(size_t *list, size_t n, const double *utility, size_t categories,
                          const bool *may)
{
    size_t count = 0;
    for (size_t c = 0; c < categories; c++) {
        if (may != NULL && !may[c])
            continue;
        size_t at = count < n ? count++ : n;
        for (; at > 0 && utility[c] > utility[list[at - 1]]; at--)
            if (at < n)
                list[at] = list[at - 1];
        if (at < n)
            list[at] = c;
    }
    return count;
}

double pr_draw_home(const pr_choice *choice, size_t user, size_t session)
{
    pr_stream s = pr_stream_at(&choice->home, (uint32_t)user, (uint32_t)session, 0);
    return pr_synth_paper.outside_mean + pr_synth_paper.outside_sd * pr_stream_normal(&s);
}

/* With an outside option the list is written at home, before the shelf is seen: what is not there
 * stays unbought, and a list whose rest is worth less than staying at home makes no trip. */
static size_t outside_list(size_t *list, size_t count, const pr_shopper *shopper,
                           const pr_choice *choice, size_t session, const bool *shelf)
{
    size_t kept = 0;
    double worth = 0;
    for (size_t i = 0; i < count; i++) {
        if (shelf != NULL && !shelf[list[i]])
            continue;
        worth += fmax(0, shopper->utility[list[i]]);
        list[kept++] = list[i];
    }
    return worth > pr_draw_home(choice, shopper->user, session) ? kept : 0;
}

/* ---- products ---- */

size_t pr_draw_product_plain(const pr_shopper *shopper, const pr_choice *choice, size_t session,
                             size_t category)
{
    const float *mean = shopper->base + category * choice->products;
    double best = -INFINITY;
    size_t pick = 0;
    for (size_t j = 0; j < choice->products; j++) {
        pr_bits bits = pr_rng_at(&choice->noise, shopper->user, (uint32_t)session,
                                 (uint32_t)category, (uint32_t)(j / PR_SHELF_BLOCK));
        double noise = pr_normal_quantile(pr_unit32(bits.word[j % PR_SHELF_BLOCK]));
        if (mean[j] + noise > best) {
            best = mean[j] + noise;
            pick = j;
        }
    }
    return pick;
}

/* The leader among the products looked at so far. */
typedef struct leader {
    double utility;
    size_t product;
} leader;

static void look_at_block(leader *lead, const pr_choice *choice, const float *mean, size_t number,
                          pr_bits bits)
{
    size_t from = number * PR_SHELF_BLOCK;
    for (size_t i = 0; i < PR_SHELF_BLOCK && from + i < choice->products; i++) {
        uint32_t word = bits.word[i];
        size_t j = from + i;
        /* Most words need no quantile: even the largest of their bucket would not win. */
        if (mean[j] + choice->noise_most[word / (UINT32_MAX / PR_NOISE_BUCKETS + 1)] <
            lead->utility)
            continue;
        double utility = mean[j] + pr_normal_quantile(pr_unit32(word));
        if (utility > lead->utility || (utility == lead->utility && j < lead->product))
            *lead = (leader){utility, j};
    }
}

size_t pr_draw_product(const pr_shopper *shopper, const pr_choice *choice, size_t session,
                       size_t category)
{
    assert(category < choice->categories);
    const float *mean = shopper->base + category * choice->products;
    size_t blocks = pr_shelf_blocks(choice);
    const pr_shelf_block *block = shopper->blocks + category * blocks;
    double most = choice->noise_most[PR_NOISE_BUCKETS - 1];
    leader lead = {-INFINITY, 0};
    for (size_t b = 0; b < blocks && block[b].top + most >= lead.utility; b++)
        look_at_block(&lead, choice, mean, block[b].number,
                      pr_rng_at(&choice->noise, shopper->user, (uint32_t)session,
                                (uint32_t)category, block[b].number));
    return lead.product;
}

/* ---- the trip ---- */

size_t pr_shopper_list(size_t *list, pr_shopper *shopper, const pr_choice *choice, size_t session,
                       const bool *shelf)
{
    size_t count = pr_draw_size(choice, shopper->user, session);
    pr_draw_utilities(shopper->utility, shopper->normal, choice, shopper->group, shopper->user,
                      session);
    count = pr_best_categories(list, count, shopper->utility, choice->categories,
                               choice->outside ? NULL : shelf);
    return choice->outside ? outside_list(list, count, shopper, choice, session, shelf) : count;
}

size_t pr_shopper_trip(pr_shopper *shopper, const pr_choice *choice, size_t session,
                       const bool *shelf, int32_t *items)
{
    size_t list[PR_SYNTH_BASKET_MOST];
    size_t count = pr_shopper_list(list, shopper, choice, session, shelf);
    for (size_t i = 0; i < count; i++) {
        size_t product = pr_draw_product(shopper, choice, session, list[i]);
        items[i] = (int32_t)(list[i] * choice->products + product);
    }
    pr_stream s = pr_stream_at(&choice->order, shopper->user, (uint32_t)session, 0);
    pr_stream_shuffle(&s, items, count, sizeof *items);
    return count;
}
