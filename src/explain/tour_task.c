/* One task: its baskets by size, as many side by side as a session holds. */
#include <math.h>
#include <string.h>

#include "data/histories.h"
#include "explain/class_mass.h"
#include "explain/tour_inside.h"

/* ---- baskets ---- */

static size_t list_baskets(const pr_tour *tour, const pr_tour_task *task, pr_tour_desk *desk,
                           pr_tour_sums *sums)
{
    size_t n = 0, weights = 0;
    for (size_t i = task->first; i < task->end; i++) {
        int32_t user = tour->group->users[i];
        const int64_t *own = tour->data->user_offsets + user;
        for (int64_t s = own[0]; s < own[1]; s++) {
            size_t size = pr_tour_size(tour, s);
            if (size < 2)
                continue;
            desk->unsorted[n++] = (pr_tour_basket){user, (uint32_t)size, s, weights, 0};
            weights += pr_tour_weights(size);
            sums->steps += size - 1;
            sums->cut += (size_t)(tour->data->session_offsets[s + 1] -
                                  tour->data->session_offsets[s]) > size;
        }
    }
    sums->baskets += n;
    return n;
}

/* Baskets of one size stand together, so that few rows of a session run on after their end. */
static void sort_by_size(pr_tour_desk *desk, size_t n)
{
    size_t first[PR_TOUR_BASKET_MOST + 2] = {0};
    for (size_t i = 0; i < n; i++)
        first[PR_TOUR_BASKET_MOST + 1 - desk->unsorted[i].size]++;
    for (size_t k = PR_TOUR_BASKET_MOST + 1; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    for (size_t k = 1; k <= PR_TOUR_BASKET_MOST + 1; k++)
        first[k] += first[k - 1];
    for (size_t i = 0; i < n; i++)
        desk->baskets[first[PR_TOUR_BASKET_MOST + 1 - desk->unsorted[i].size]++] =
            desk->unsorted[i];
}

/* Without drop effects a basket has one row; with them one more for each item to leave out, which the
 * last never is: nothing follows it. */
static size_t rows_of(const pr_tour *tour, const pr_tour_basket *b)
{
    return tour->drop ? b->size : 1;
}

static void begin(const pr_tour *tour, pr_tour_desk *desk, pr_tour_basket *baskets, size_t count,
                  size_t rows)
{
    size_t row = 0;
    for (size_t i = 0; i < count; i++) {
        baskets[i].row = row;
        pr_start start = {.user = pr_known_user(tour->data, (size_t)baskets[i].user)};
        start.history =
            pr_history_before(tour->data, (size_t)baskets[i].user, (size_t)baskets[i].session);
        start.features =
            pr_features_of_session(tour->data, (size_t)baskets[i].user, (size_t)baskets[i].session);
        for (size_t r = 0; r < rows_of(tour, &baskets[i]); r++)
            desk->starts[row++] = start;
    }
    pr_scorer_start(desk->session, desk->starts, rows);
}

/* Item number t of each basket; its row t + 1 leaves that item out. */
static void place(const pr_tour *tour, pr_tour_desk *desk, const pr_tour_basket *baskets,
                  size_t count, size_t t)
{
    for (size_t i = 0; i < count; i++) {
        const pr_tour_basket *b = &baskets[i];
        bool over = t + 1 >= b->size;
        for (size_t r = 0; r < rows_of(tour, b); r++)
            desk->items[b->row + r] = over || r == t + 1 ? -1 : pr_tour_items(tour, b->session)[t];
    }
    pr_scorer_place(desk->session, desk->items);
}

/* ---- drop effects ---- */

/* logs[N] of the chances of the classes that the basket does not touch, as shares of all of those, the rest
 * with them; -INFINITY for the others and for what has no chance. */
static void log_chances(double *logs, const pr_class_mass *m, const bool *held, size_t N)
{
    double all = m->mass[N];
    for (size_t i = 0; i < N; i++)
        all += held[i] ? 0 : m->mass[i];
    for (size_t i = 0; i < N; i++)
        logs[i] = held[i] || !(all > 0) ? -INFINITY : log(m->mass[i] / all);
}

static void add_cell(pr_tour_sums *sums, size_t cell, double with, double without)
{
    if (!isfinite(with) || !isfinite(without))
        return;
    sums->effect[cell] += with - without;
    sums->counted[cell]++;
}

/* Adds the effect of an item of class c on all classes; on its own by its share of everything. */
static void add_effect(pr_tour_sums *sums, size_t stage, size_t c, const pr_class_mass *with,
                       const pr_class_mass *without, const pr_tour_desk *desk)
{
    size_t N = sums->N, column = (stage * N + c) * N;
    const double *logs = desk->logs, *logs_without = desk->logs + N;
    for (size_t i = 0; i < N; i++)
        add_cell(sums, column + i, logs[i], logs_without[i]);
    add_cell(sums, column + c, log(with->mass[c] / with->all),
             log(without->mass[c] / without->all));
    sums->placed[c]++;
}

/* Pairs of placed items: does the larger weight have the larger effect? */
static void add_agreement(pr_tour_sums *sums, const float *weight, const double *effect, size_t t)
{
    for (size_t a = 0; a < t; a++)
        for (size_t b = 0; b < a; b++) {
            double w = (double)weight[a] - (double)weight[b], e = effect[a] - effect[b];
            bool alike = (w > 0 && e > 0) || (w < 0 && e < 0);
            bool unlike = (w > 0 && e < 0) || (w < 0 && e > 0);
            sums->agreeing += alike ? 1 : unlike ? -1 : 0;
        }
    sums->pairs += (double)pr_tour_weights(t);
}

static void hold(bool *held, const pr_tour *tour, const int32_t *items, size_t t, bool value)
{
    for (size_t p = 0; p < t; p++)
        held[tour->axis->class[items[p]]] = value;
}

/* After t items, of which rows 1..t leave out one each. */
static void add_effects(pr_tour_sums *sums, const pr_tour *tour, pr_tour_desk *desk,
                        const pr_tour_basket *b, size_t t)
{
    size_t V = tour->data->items, N = sums->N;
    size_t stage = t < PR_TOUR_STAGES ? t - 1 : PR_TOUR_STAGES - 1;
    const int32_t *items = pr_tour_items(tour, b->session);
    bool shares = tour->model->kind->scores_are_shares;
    pr_class_mass with = {.mass = desk->mass, .shares = shares};
    pr_class_mass without = {.mass = desk->mass + N + 1, .shares = shares};
    double next = 0; /* log of the chance of what came next */
    hold(desk->held, tour, items, t, true);
    for (size_t r = 0; r <= t; r++) {
        pr_real *scores = desk->scores + (b->row + r) * V, score = scores[items[t]];
        pr_class_mass *mass = r == 0 ? &with : &without;
        for (size_t p = 0; p < t; p++)
            scores[items[p]] = -(pr_real)INFINITY;
        pr_class_mass_set(mass, desk->work, scores, tour->axis);
        log_chances(desk->logs + (r == 0 ? 0 : N), mass, desk->held, N);
        if (r == 0) {
            next = pr_class_mass_log(&with, score);
            continue;
        }
        uint32_t c = tour->axis->class[items[r - 1]];
        desk->effect[r - 1] = next - pr_class_mass_log(&without, score);
        if (c < N)
            add_effect(sums, stage, c, &with, &without, desk);
    }
    hold(desk->held, tour, items, t, false);
    if (tour->attention && t > 1)
        add_agreement(sums, desk->weights + b->weights + pr_tour_weights(t), desk->effect, t);
}

/* ---- the task ---- */

static void look(pr_tour_sums *sums, const pr_tour *tour, pr_tour_desk *desk,
                 const pr_tour_basket *baskets, size_t count, size_t t)
{
    if (tour->drop)
        pr_scorer_score_all(desk->session, desk->scores);
    for (size_t i = 0; i < count && t < baskets[i].size; i++) { /* the largest come first */
        const pr_tour_basket *b = &baskets[i];
        if (tour->attention)
            pr_scorer_attention(desk->session, b->row,
                                desk->weights + b->weights + pr_tour_weights(t));
        if (tour->drop)
            add_effects(sums, tour, desk, b, t);
    }
}

/* Some more baskets are done. Hooks are called by the thread that called the library. */
static void report(pr_tour_desk *desk, size_t baskets)
{
    pr_tour_watch *watch = desk->watch;
    size_t done = atomic_fetch_add(&watch->baskets, baskets) + baskets;
    if (desk->reports && pr_progress_note(watch->hooks, "explaining", "baskets", done, watch->total,
                                          watch->group, watch->err) != PARSREC_OK)
        atomic_store(&watch->stop, true);
}

void pr_tour_do(pr_tour_sums *sums, const pr_tour *tour, const pr_tour_task *task,
                pr_tour_desk *desk)
{
    size_t n = list_baskets(tour, task, desk, sums);
    sort_by_size(desk, n);
    for (size_t first = 0; first < n && !atomic_load(&desk->watch->stop);) {
        pr_tour_basket *baskets = desk->baskets + first;
        size_t count = 0, rows = 0;
        while (first + count < n && rows + rows_of(tour, &baskets[count]) <= desk->rows)
            rows += rows_of(tour, &baskets[count++]);
        begin(tour, desk, baskets, count, rows);
        for (size_t t = 1; t < baskets[0].size; t++) {
            place(tour, desk, baskets, count, t - 1);
            look(sums, tour, desk, baskets, count, t);
        }
        first += count;
        report(desk, count);
    }
    if (tour->attention && !atomic_load(&desk->watch->stop))
        pr_tour_add_attention(sums, tour, task, desk);
}
