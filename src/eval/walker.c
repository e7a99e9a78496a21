/* Tasks, groups, steps. All memory is allocated before the first task. */
#include "eval/walker.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/histories.h"

/* Scratch memory of one thread. */
typedef struct lane {
    pr_scorer *small, *large; /* for ordinary and for long groups; large may be NULL */
    pr_walk_basket *baskets;  /* [task_most] */
    pr_start *starts;         /* [rows] */
    int32_t *items;           /* [rows] */
    pr_real *scores;          /* [rows, items], or NULL */
} lane;

typedef struct running {
    const pr_walk *walk;
    lane *lanes;        /* [threads] */
    size_t first;       /* task of the current round */
    atomic_size_t done; /* baskets */
    atomic_bool stop;   /* no further group begins */
    const parsrec_hooks *hooks;
    parsrec_error *err; /* set before `stop` is; written by worker 0 only */
} running;

size_t pr_walk_rows_within(size_t most, size_t items, size_t scores_most)
{
    size_t fit = scores_most / (items > 0 ? items : 1);
    return fit >= most ? most : fit > 0 ? fit : 1;
}

static bool is_long(const pr_walk *w, size_t steps)
{
    return w->long_rows > 0 && steps > PR_WALK_SHORT;
}

/* Items that a row of the small scorer can hold. */
static size_t small_capacity(const pr_walk *w)
{
    return is_long(w, w->longest) ? PR_WALK_SHORT : w->longest;
}

/* ---- groups ---- */

static int most_steps_first(const void *left, const void *right)
{
    const pr_walk_basket *a = left, *b = right;
    if (a->steps != b->steps)
        return a->steps > b->steps ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Walks the baskets of a group, most steps first, from the first step to the last. Baskets that
 * have ended keep their rows, into which nothing is placed. */
static void walk_group(const running *r, size_t task, unsigned worker,
                       const pr_walk_basket *baskets, size_t count, size_t rows)
{
    const pr_walk *w = r->walk;
    const lane *own = &r->lanes[worker];
    size_t V = w->data->items, longest = baskets[0].steps;
    pr_walk_step at = {.task = task, .worker = worker};
    at.scorer = is_long(w, longest) ? own->large : own->small;
    for (size_t i = 0; i < count; at.row += baskets[i++].rows) {
        const pr_walk_basket *b = &baskets[i];
        pr_start start = {.user = pr_known_user(w->data, b->user),
                          .history = pr_history_before(w->data, b->user, b->session),
                          .features = pr_features_of_session(w->data, b->user, b->session)};
        for (size_t k = 0; k < b->rows; k++)
            own->starts[at.row + k] = start;
        at.basket = b;
        at.start = &own->starts[at.row];
        if (w->begin != NULL)
            w->begin(w->context, &at);
    }
    pr_scorer_start(at.scorer, own->starts, rows);
    for (at.number = 0; at.number < longest; at.number++) {
        bool scored = at.number >= w->scored_from;
        if (scored)
            pr_scorer_score_all(at.scorer, own->scores);
        for (size_t k = 0; k < rows; k++)
            own->items[k] = -1;
        at.row = 0;
        for (size_t i = 0; i < count && at.number < baskets[i].steps; at.row += baskets[i++].rows) {
            at.basket = &baskets[i];
            at.start = &own->starts[at.row];
            at.scores = scored ? own->scores + at.row * V : NULL;
            w->step(w->context, &at, own->items + at.row);
            for (size_t k = 0; k < baskets[i].rows && at.number + 1 == baskets[i].steps; k++)
                own->items[at.row + k] = -1;
        }
        if (at.number + 1 < longest)
            pr_scorer_place(at.scorer, own->items);
    }
}

static void run_task(void *context, size_t number, unsigned worker)
{
    running *r = context;
    const pr_walk *w = r->walk;
    lane *own = &r->lanes[worker];
    size_t task = r->first + number;
    if (atomic_load(&r->stop))
        return;
    for (size_t i = 0; i < w->task_most; i++)
        own->baskets[i] = (pr_walk_basket){.rows = 1, .index = (uint32_t)i};
    size_t count = w->list(w->context, task, worker, own->baskets);
    assert(count <= w->task_most);
    qsort(own->baskets, count, sizeof *own->baskets, most_steps_first);
    for (size_t first = 0; first < count && !atomic_load(&r->stop);) {
        const pr_walk_basket *group = own->baskets + first;
        size_t most = is_long(w, group->steps) ? w->long_rows : w->rows, taken = 0, rows = 0;
        assert(group->steps <= w->longest && group->rows <= most);
        while (first + taken < count && rows + group[taken].rows <= most)
            rows += group[taken++].rows;
        assert(group[taken - 1].steps > 0);
        walk_group(r, task, worker, group, taken, rows);
        first += taken;
        size_t done = atomic_fetch_add(&r->done, taken) + taken;
        /* Worker 0 is the caller's thread; the last report, of everything, is left out. */
        if (worker == 0 && done < w->basket_count &&
            pr_progress_note(r->hooks, w->stage, "baskets", done, w->basket_count, w->note,
                             r->err) != PARSREC_OK)
            atomic_store(&r->stop, true);
    }
    if (w->end != NULL && !atomic_load(&r->stop))
        w->end(w->context, task, worker);
}

/* ---- memory ---- */

static parsrec_status make_lane(lane *own, const pr_walk *w, parsrec_error *err)
{
    PR_TRY(pr_scorer_new(&own->small, w->model, w->rows, small_capacity(w), err));
    if (is_long(w, w->longest))
        PR_TRY(pr_scorer_new(&own->large, w->model, w->long_rows, w->longest, err));
    own->baskets = pr_alloc(w->task_most, sizeof *own->baskets);
    own->starts = pr_alloc(w->rows, sizeof *own->starts);
    own->items = pr_alloc(w->rows, sizeof *own->items);
    if (own->baskets == NULL || own->starts == NULL || own->items == NULL)
        return pr_fail_memory(err);
    if (w->scored_from == PR_WALK_UNSCORED)
        return PARSREC_OK;
    own->scores = pr_alloc_aligned(w->rows * w->data->items, sizeof *own->scores);
    return own->scores != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static void free_lane(lane *own)
{
    pr_scorer_free(own->small);
    pr_scorer_free(own->large);
    pr_free(own->baskets);
    pr_free(own->starts);
    pr_free(own->items);
    pr_free_aligned(own->scores);
}

size_t pr_walk_bytes(const pr_walk *w, unsigned threads)
{
    size_t bytes = pr_scorer_bytes(w->model, w->rows, small_capacity(w));
    if (is_long(w, w->longest))
        bytes += pr_scorer_bytes(w->model, w->long_rows, w->longest);
    if (w->scored_from != PR_WALK_UNSCORED)
        bytes += w->rows * w->data->items * sizeof(pr_real);
    return threads * (bytes + w->task_most * sizeof(pr_walk_basket));
}

parsrec_status pr_walk_run(const pr_walk *w, pr_pool *pool, const parsrec_hooks *hooks,
                           parsrec_error *err)
{
    assert(w->rows > 0 && w->long_rows <= w->rows && w->tasks_per_round > 0);
    assert(w->list != NULL && w->step != NULL && w->data->items == w->model->items);
    unsigned threads = pr_pool_threads(pool);
    running r = {.walk = w, .hooks = hooks, .err = err};
    parsrec_status status = PARSREC_OK;
    r.lanes = pr_alloc_zero(threads, sizeof *r.lanes);
    if (r.lanes == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads && w->tasks > 0; i++)
        PR_TRY_GOTO(make_lane(&r.lanes[i], w, err));
    PR_TRY_GOTO(pr_progress_note(hooks, w->stage, "baskets", 0, w->basket_count, w->note, err));
    while (r.first < w->tasks) {
        size_t left = w->tasks - r.first;
        size_t count = left < w->tasks_per_round ? left : w->tasks_per_round;
        pr_pool_run(pool, run_task, &r, count);
        if (atomic_load(&r.stop)) {
            status = PARSREC_E_STOPPED;
            goto done;
        }
        if (w->collect != NULL)
            PR_TRY_GOTO(w->collect(w->context, r.first, count, err));
        r.first += count;
    }
done:
    for (unsigned i = 0; i < threads; i++)
        free_lane(&r.lanes[i]);
    pr_free(r.lanes);
    return status;
}
