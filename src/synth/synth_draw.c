/* One trip: basket size, shopping list, products, order. */
#include "synth/synth_draw.h"

#include <math.h>

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

static double weibull_below(const pr_size_law *law, double x)
{
    return x > 0 ? -expm1(-pow(x / law->scale, law->shape)) : 0;
}

/* P(ceil(plus + W) <= size) */
static double sizes_up_to(const pr_size_law *law, size_t size)
{
    return weibull_below(law, (double)size - law->plus);
}

double pr_size_chance(const pr_size_law *law, size_t size)
{
    if (size < law->least || size > PR_BASKET_MOST)
        return 0;
    double below = size > law->least || law->redraw ? sizes_up_to(law, size - 1) : 0;
    double upto = size < PR_BASKET_MOST || law->redraw ? sizes_up_to(law, size) : 1;
    double total = 1;
    if (law->redraw)
        total = sizes_up_to(law, PR_BASKET_MOST) - sizes_up_to(law, law->least - 1);
    return (upto - below) / total;
}

size_t pr_draw_size(const pr_choice *choice, size_t user, size_t session)
{
    const pr_size_law *law = pr_size_law_of(choice->size_rule);
    pr_stream s = pr_stream_at(&choice->size, (uint32_t)user, (uint32_t)session, 0);
    for (;;) {
        double weibull = law->scale * pow(-log(pr_stream_unit(&s)), 1 / law->shape);
        double size = ceil(law->plus + weibull);
        if (size >= (double)law->least && size <= PR_BASKET_MOST)
            return (size_t)size;
        if (!law->redraw)
            return size < (double)law->least ? law->least : PR_BASKET_MOST;
    }
}

/* ---- categories ---- */

/* Categories that move as one (a correlation of 1) would differ by rounding alone, so that the same
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

/* Every fourth category has its occasion. */
static void add_occasion(double *utility, const pr_choice *choice, size_t user, size_t session)
{
    size_t first = pr_draw_occasion(choice, user, session);
    for (size_t c = first; c < choice->categories; c += PR_SYNTH_OCCASIONS)
        utility[c] += PR_SYNTH_OCCASION_SHIFT;
}

void pr_draw_utilities(double *utility, double *normal, const pr_choice *choice, size_t group,
                       size_t user, size_t session)
{
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
    if (choice->occasions)
        add_occasion(utility, choice, user, session);
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
    size_t list[PR_BASKET_MOST];
    size_t count = pr_shopper_list(list, shopper, choice, session, shelf);
    for (size_t i = 0; i < count; i++) {
        size_t product = pr_draw_product(shopper, choice, session, list[i]);
        items[i] = (int32_t)(list[i] * choice->products + product);
    }
    pr_stream s = pr_stream_at(&choice->order, shopper->user, (uint32_t)session, 0);
    pr_stream_shuffle(&s, items, count, sizeof *items);
    return count;
}
