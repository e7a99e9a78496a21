/* Which categories come next, by simulated trips. */
#include <string.h>

#include "base/memory.h"
#include "model/counting/oracle_inside.h"

/* ---- drawing them ---- */

enum { TASKS = 64 }; /* of a group */

typedef struct drawing {
    pr_trip *trips;
    const pr_choice *choice;
    double *work; /* [threads, 2 * categories] */
} drawing;

static uint64_t bit_of(size_t category)
{
    return UINT64_C(1) << category % 64;
}

/* The smallest basket worth leaving home for. */
static uint32_t first_size(const pr_choice *choice, const double *utility, const size_t *list,
                           size_t count, size_t group, size_t draw)
{
    if (!choice->outside)
        return 0;
    double home = pr_draw_home(choice, group, draw), worth = 0;
    for (size_t n = 0; n < count; n++) {
        worth += fmax(0, utility[list[n]]);
        if (worth > home)
            return (uint32_t)n + 1;
    }
    return PR_SYNTH_BASKET_MOST + 1;
}

static void draw_one(pr_trip *trip, const pr_choice *choice, size_t group, size_t draw,
                     double *work)
{
    size_t list[PR_SYNTH_BASKET_MOST], categories = choice->categories;
    double *utility = work, *normal = work + categories;
    pr_draw_utilities(utility, normal, choice, group, group, draw);
    size_t count = pr_best_categories(list, PR_SYNTH_BASKET_MOST, utility, categories, NULL);
    *trip = (pr_trip){.first = first_size(choice, utility, list, count, group, draw)};
    for (size_t i = 0; i < count; i++) {
        trip->order[i] = (uint16_t)list[i];
        trip->filter |= bit_of(list[i]);
    }
}

static void draw_some(void *context, size_t task, unsigned worker)
{
    const drawing *d = context;
    double *work = d->work + worker * 2 * d->choice->categories;
    size_t each = PR_TRIPS / TASKS;
    for (size_t i = task * each; i < (task + 1) * each; i++)
        draw_one(&d->trips[i], d->choice, i / PR_TRIPS, i % PR_TRIPS, work);
}

parsrec_status pr_trips_draw(pr_trip *trips, const pr_truth *truth, pr_pool *pool,
                             parsrec_error *err)
{
    pr_choice choice;
    parsrec_synth_options other = truth->options;
    other.seed = ~other.seed;
    parsrec_status status = pr_choice_init(&choice, &other, truth->sigma, truth->groups, err);
    double *work = pr_alloc(pr_pool_threads(pool) * 2 * truth->categories, sizeof *work);
    if (status == PARSREC_OK && work == NULL)
        status = pr_fail_memory(err);
    if (status == PARSREC_OK) {
        memcpy(choice.alpha, truth->alpha, truth->categories * sizeof *choice.alpha);
        drawing d = {trips, &choice, work};
        pr_pool_run(pool, draw_some, &d, truth->groups * TASKS);
    }
    pr_choice_free(&choice);
    pr_free(work);
    return status;
}

/* ---- chances ---- */

/* A basket is met as a random part of it, of `placed` items. share[m] is the sum, over the sizes n >= m
 * that leave an item, of P(n) / (C(n, placed) (n - placed)): the chance of the size, of this part among
 * all of that many items, and of one of the others to come next. */
static void shares_of(double *share, size_t placed, const pr_real *size_chance)
{
    share[PR_SYNTH_BASKET_MOST + 1] = 0;
    for (size_t n = PR_SYNTH_BASKET_MOST + 1; n-- > 0;) {
        double parts = 1;
        for (size_t i = 0; i < placed && i < n; i++)
            parts *= (double)(n - i) / (double)(i + 1);
        share[n] = share[n + 1];
        if (n > placed)
            share[n] += (double)size_chance[n] / (parts * (double)(n - placed));
    }
}

/* Adds what a trip says when `lacking` of the categories seen may be missing from it; false when more
 * are. */
static bool add_trip(double *chance, const pr_trip *trip, size_t width, const pr_seen *seen,
                     size_t lacking, const double *share, double weight)
{
    size_t found = 0, least = trip->first;
    for (size_t p = 0; p < width; p++)
        if (seen->has[trip->order[p]] != 0) {
            found++;
            least = p + 1 > least ? p + 1 : least;
        }
    if (found + lacking != seen->count)
        return false;
    for (size_t p = 0; p < width; p++)
        if (seen->has[trip->order[p]] == 0)
            chance[trip->order[p]] += weight * share[p + 1 > least ? p + 1 : least];
    return true;
}

/* Trips that hold everything in the basket. Returns how many. */
static size_t add_matching(double *chance, const pr_trips *trips, const pr_seen *seen,
                           const double *share)
{
    uint64_t filter = 0;
    size_t matches = 0;
    for (size_t i = 0; i < seen->count; i++)
        filter |= bit_of(seen->list[i]);
    for (size_t i = 0; i < trips->count; i++)
        if ((trips->list[i].filter & filter) == filter)
            matches += add_trip(chance, &trips->list[i], trips->width, seen, 0, share, 1);
    return matches;
}

/* A basket so rare that few trips hold it says less: those that lack some of its categories are asked
 * too, each that is missing making the answer count a hundred times less. */
static void add_near(double *chance, const pr_trips *trips, const pr_seen *seen,
                     const double *share)
{
    double weight = 0.01;
    for (size_t lacking = 1; lacking <= seen->count; lacking++, weight *= 0.01)
        for (size_t i = 0; i < trips->count; i++)
            add_trip(chance, &trips->list[i], trips->width, seen, lacking, share, weight);
}

void pr_trips_chances(double *chance, size_t categories, const pr_trips *trips, const pr_seen *seen,
                      const pr_real *size_chance)
{
    enum { ENOUGH = 200 };
    double share[PR_SYNTH_BASKET_MOST + 2], sum = 0;
    memset(chance, 0, categories * sizeof *chance);
    shares_of(share, seen->count, size_chance);
    if (add_matching(chance, trips, seen, share) < ENOUGH)
        add_near(chance, trips, seen, share);
    for (size_t c = 0; c < categories; c++)
        sum += chance[c];
    for (size_t c = 0; c < categories && sum > 0; c++)
        chance[c] /= sum;
}
