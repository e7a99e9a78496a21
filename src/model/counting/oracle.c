/* oracle: the best that can be known of synthetic data. It reads the truth the data were made from,
 * score = log P(category | group, categories so far) + log P(product | category, user), and is the row
 * that no model can be above, but for luck. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/counting/counting.h"
#include "model/counting/oracle.h"

_Static_assert(sizeof(pr_trip) == 32, "a trip is eight whole numbers of a parameter");
enum { TRIP_WORDS = 8 };

/* ---- trips: which categories come next ---- */

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

/* ---- chances by trips ---- */

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

/* ---- products: the largest of independent normals with variance 1 ---- */

/* The largest of all lies within these of the largest mean, but for a chance of 1e-9. */
#define BELOW 6.0
#define ABOVE 8.0
#define STEP  0.25

/* P_j = integral over x of phi(x - b_j) prod_{k != j} Phi(x - b_k), by the trapezoidal rule, which is
 * as good as exact for functions that are smooth and vanish at both ends. */
void pr_argmax_chances(pr_real *log_chance, const float *base, size_t n, double *work)
{
    double *chance = work, *ratio = work + n, top = -DBL_MAX;
    for (size_t j = 0; j < n; j++) {
        top = base[j] > top ? base[j] : top;
        chance[j] = 0;
    }
    /* By number of steps: where a mean is so large that a step does not change it, x stays. */
    for (int step = 0; step <= (int)((BELOW + ABOVE) / STEP); step++) {
        double x = top - BELOW + step * STEP, all = STEP / sqrt(2 * M_PI);
        for (size_t j = 0; j < n; j++) {
            double z = x - base[j], below = z < BELOW ? erfc(-z * M_SQRT1_2) / 2 : 1;
            all *= below;
            ratio[j] = exp(-z * z / 2) / below;
        }
        for (size_t j = 0; j < n; j++)
            chance[j] += all * ratio[j];
    }
    for (size_t j = 0; j < n; j++)
        log_chance[j] = (pr_real)log(chance[j] > DBL_MIN ? chance[j] : DBL_MIN);
}

/* ---- the kind ---- */

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    pr_params *p = &model->params;
    PR_TRY(pr_params_add_words(p, "shape", 1, 2, err)); /* groups, categories */
    PR_TRY(pr_params_add_words(p, "user_group", 1, model->users, err));
    PR_TRY(pr_params_add_words(p, "item_category", 1, model->items, err));
    PR_TRY(pr_params_add_numbers(p, "size_chance", 1, PR_SYNTH_BASKET_MOST + 1, err));
    PR_TRY(pr_params_add_words(p, "trip", PR_ROWS_OPEN, TRIP_WORDS, err));
    return pr_params_add_numbers(p, "product", model->users + 1, model->items, err);
}

/* ---- counting, or rather reading ---- */

static void copy_facts(pr_model *model, const pr_truth *t)
{
    uint32_t *shape = pr_model_u32(model, "shape"), *group = pr_model_u32(model, "user_group");
    uint32_t *category = pr_model_u32(model, "item_category");
    pr_real *chance = pr_model_reals(model, "size_chance");
    const pr_size_law *law = pr_size_law_of(t->options.size_rule);
    shape[0] = (uint32_t)t->groups;
    shape[1] = (uint32_t)t->categories;
    for (size_t u = 0; u < t->users; u++)
        group[u] = (uint32_t)t->group[u];
    for (size_t i = 0; i < t->items; i++)
        category[i] = (uint32_t)(i / t->products);
    for (size_t n = 0; n <= PR_SYNTH_BASKET_MOST;
         n++) /* no basket has more than there are categories */
        chance[n < t->categories ? n : t->categories] += (pr_real)pr_size_chance(law, n);
}

typedef struct reading {
    pr_real *product; /* [users + 1, items] */
    const pr_truth *truth;
    double *work; /* [threads, 2 * products] */
    size_t first;
} reading;

static void read_user(void *context, size_t task, unsigned worker)
{
    const reading *r = context;
    const pr_truth *t = r->truth;
    double *work = r->work + worker * 2 * t->products;
    size_t at = (r->first + task) * t->items;
    for (size_t c = 0; c < t->categories; c++, at += t->products)
        pr_argmax_chances(r->product + at, t->base_utility + at, t->products, work);
}

/* The row for guests: the mean over all users. */
static void read_anyone(const reading *r, double *mean)
{
    const pr_truth *t = r->truth;
    pr_real *anyone = r->product + t->users * t->items;
    memset(mean, 0, t->items * sizeof *mean);
    for (size_t u = 0; u < t->users; u++)
        for (size_t i = 0; i < t->items; i++)
            mean[i] += exp((double)r->product[u * t->items + i]);
    for (size_t i = 0; i < t->items; i++)
        anyone[i] = (pr_real)log(mean[i] / (double)t->users);
}

static parsrec_status read_users(reading *r, const pr_counted *from, parsrec_error *err)
{
    enum { USERS_A_ROUND = 64 };
    size_t users = r->truth->users;
    for (r->first = 0; r->first < users; r->first += USERS_A_ROUND) {
        PR_TRY(pr_progress(from->hooks, "asking the oracle", "users", r->first, users, err));
        size_t left = users - r->first;
        pr_pool_run(from->pool, read_user, r, left < USERS_A_ROUND ? left : USERS_A_ROUND);
    }
    return PARSREC_OK;
}

static parsrec_status read_products(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    const pr_truth *t = from->truth;
    reading r = {.product = pr_model_reals(model, "product"), .truth = t};
    r.work = pr_alloc(pr_pool_threads(from->pool) * 2 * t->products, sizeof *r.work);
    double *mean = pr_alloc(t->items, sizeof *mean);
    parsrec_status status = r.work != NULL && mean != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = read_users(&r, from, err);
    if (status == PARSREC_OK)
        read_anyone(&r, mean);
    pr_free(mean);
    pr_free(r.work);
    return status;
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    const pr_truth *t = from->truth;
    PR_TRY(pr_params_set_rows(&model->params, "trip", t->groups * PR_TRIPS, err));
    PR_TRY(pr_model_alloc_weights(model, err));
    copy_facts(model, t);
    pr_trip *trips = (pr_trip *)(void *)pr_model_u32(model, "trip");
    PR_TRY(pr_trips_draw(trips, t, from->pool, err));
    return read_products(model, from, err);
}

/* ---- files ---- */

static parsrec_status no_oracle(const char *what, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT, "the oracle's %s do not fit together", what);
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    const uint32_t *shape = pr_model_u32(model, "shape");
    const uint32_t *group = pr_model_u32(model, "user_group");
    const uint32_t *category = pr_model_u32(model, "item_category");
    size_t groups = shape[0], categories = shape[1];
    size_t trips = pr_params_find(&model->params, "trip")->rows;
    if (groups == 0 || categories == 0 || categories > model->items || trips % groups != 0)
        return no_oracle("sizes", err);
    for (size_t u = 0; u < model->users; u++)
        if (group[u] >= groups)
            return no_oracle("groups", err);
    for (size_t i = 0; i < model->items; i++)
        if (category[i] >= categories)
            return no_oracle("categories", err);
    const pr_trip *trip = (const pr_trip *)(const void *)pr_model_u32(model, "trip");
    for (size_t i = 0; i < trips; i++)
        for (size_t p = 0; p < PR_SYNTH_BASKET_MOST; p++)
            if (trip[i].order[p] >= categories || trip[i].first > PR_SYNTH_BASKET_MOST + 1)
                return no_oracle("trips", err);
    return PARSREC_OK;
}

/* ---- sessions ---- */

typedef struct row {
    int32_t user;
    size_t count; /* of the categories seen */
    bool asked;   /* the present step's chances are there */
} row;

typedef struct state {
    size_t groups, categories;
    row *rows;
    uint16_t *seen;    /* [rows, categories] */
    uint8_t *has;      /* [rows, categories] */
    pr_real *category; /* [rows, categories]: log chances */
    double *chance;    /* [categories] */
    pr_real *opening;  /* [groups + 1, categories]: those of empty baskets, guests' last ... */
    bool *opened;      /* [groups + 1]: ... where they have been asked for */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    state *s = own;
    (void)capacity;
    const uint32_t *shape = pr_model_u32(model, "shape");
    *s = (state){.groups = shape[0], .categories = shape[1]};
    s->rows = pr_arena_take(arena, rows, sizeof *s->rows);
    s->seen = pr_arena_take(arena, rows * s->categories, sizeof *s->seen);
    s->has = pr_arena_take(arena, rows * s->categories, sizeof *s->has);
    s->category = pr_arena_take(arena, rows * s->categories, sizeof *s->category);
    s->chance = pr_arena_take(arena, s->categories, sizeof *s->chance);
    s->opening = pr_arena_take(arena, (s->groups + 1) * s->categories, sizeof *s->opening);
    s->opened = pr_arena_take_zero(arena, s->groups + 1, sizeof *s->opened);
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        s->rows[r] = (row){.user = starts[r].user};
    memset(s->has, 0, scorer->active * s->categories);
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    const uint32_t *category = pr_model_u32(scorer->model, "item_category");
    for (size_t r = 0; r < scorer->active; r++) {
        size_t base = r * s->categories;
        if (items[r] < 0 || s->has[base + category[items[r]]] != 0)
            continue;
        s->has[base + category[items[r]]] = 1;
        s->seen[base + s->rows[r].count++] = (uint16_t)category[items[r]];
        s->rows[r].asked = false;
    }
}

/* A guest may be of any group. */
static size_t group_of(const pr_model *model, const state *s, int32_t user)
{
    return user >= 0 ? pr_model_u32(model, "user_group")[user] : s->groups;
}

static pr_trips trips_of(const pr_model *model, const state *s, size_t group)
{
    size_t all = pr_params_find(&model->params, "trip")->rows, each = all / s->groups;
    const pr_trip *list = (const pr_trip *)(const void *)pr_model_u32(model, "trip");
    size_t width = s->categories < PR_SYNTH_BASKET_MOST ? s->categories : PR_SYNTH_BASKET_MOST;
    if (group == s->groups)
        return (pr_trips){list, all, width};
    return (pr_trips){list + group * each, each, width};
}

/* What cannot come, as a second item of a category, stays below all that can. */
static void ask(const pr_scorer *scorer, size_t group, const pr_seen *seen, pr_real *scores)
{
    const state *s = scorer->own;
    pr_trips trips = trips_of(scorer->model, s, group);
    pr_trips_chances(s->chance, s->categories, &trips, seen,
                     pr_model_reals(scorer->model, "size_chance"));
    for (size_t c = 0; c < s->categories; c++)
        scores[c] = (pr_real)log(s->chance[c] + 1e-30);
}

static const pr_real *category_scores(const pr_scorer *scorer, size_t r)
{
    const state *s = scorer->own;
    row *one = &s->rows[r];
    size_t group = group_of(scorer->model, s, one->user), base = r * s->categories;
    bool opening = one->count == 0;
    pr_real *scores = opening ? s->opening + group * s->categories : s->category + base;
    bool *asked = opening ? &s->opened[group] : &one->asked;
    if (!*asked)
        ask(scorer, group, &(pr_seen){s->seen + base, one->count, s->has + base}, scores);
    *asked = true;
    return scores;
}

static const pr_real *product_scores(const pr_model *model, int32_t user)
{
    size_t at = user >= 0 ? (size_t)user : model->users;
    return pr_model_reals(model, "product") + at * model->items;
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    const pr_model *model = scorer->model;
    const uint32_t *category = pr_model_u32(model, "item_category");
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_real *mine = category_scores(scorer, r);
        const pr_real *product = product_scores(model, s->rows[r].user);
        for (size_t i = 0; i < model->items; i++)
            scores[r * model->items + i] = mine[category[i]] + product[i];
    }
}

static void score(pr_scorer *scorer, size_t r, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    const uint32_t *category = pr_model_u32(scorer->model, "item_category");
    const pr_real *mine = category_scores(scorer, r);
    const pr_real *product = product_scores(scorer->model, s->rows[r].user);
    for (size_t i = 0; i < n; i++)
        scores[i] = mine[category[items[i]]] + product[items[i]];
}

const pr_model_kind pr_oracle = {
    .name = "oracle",
    .summary = "the best possible on synthetic data, by their truth",
    .layout = layout,
    .count = count,
    .needs_truth = true,
    .verify = verify,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .place = place,
    .score_all = score_all,
    .score = score,
};
