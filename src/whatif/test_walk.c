/* Walks along test baskets. The path through a basket is that of training: the model's first choice
 * if it is in the basket, else a random item that remains. It is the same before and after, so both
 * share one walk. */
#include "whatif/rollout.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/split.h"
#include "eval/walker.h"
#include "math/topk.h"
#include "model/chances.h"

enum { ROWS = 16, TASKS_PER_ROUND = 8, PURPOSE_WALK = 0x771F03, MOST_STEPS = 100 };

/* A test basket under way, and what was summed on it: rows of lines, before and after each
 * scenario. */
typedef struct path {
    size_t user, session, size;
    const int32_t *items;
    int32_t placed[MOST_STEPS];
    bool taken[MOST_STEPS];
    double *chances, *tops; /* [1 + scenarios, lines], one behind the other in r->numbers */
} path;

/* Memory of one thread. */
typedef struct worker {
    pr_real *masked; /* [V] */
    float *row;      /* [lines] */
} worker;

typedef struct test_basket {
    uint32_t user, size;
    size_t session;
} test_basket;

typedef struct run {
    const pr_test_walk *how;
    pr_rng rng;
    test_basket *baskets; /* longest first */
    size_t count;
    path *paths;     /* [TASKS_PER_ROUND · ROWS] */
    double *numbers; /* of all paths */
    worker *workers;
    size_t last;
    pr_region region; /* holds all but the aligned scores of the workers */
} run;

static path *path_of(const run *r, size_t task, size_t place)
{
    return &r->paths[task % TASKS_PER_ROUND * ROWS + place];
}

/* ---- one step ---- */

/* Which item of the basket is placed: the first choice if it remains, else a random one. */
static size_t choose(const run *r, path *p, size_t step, const pr_real *chances)
{
    int32_t best;
    size_t left = p->size - step, found = pr_topk(&best, chances, r->how->data->items, 1);
    for (size_t i = 0; i < p->size && found > 0; i++)
        if (!p->taken[i] && p->items[i] == best)
            return i;
    pr_bits bits = pr_rng_at(&r->rng, (uint32_t)p->user, (uint32_t)(p->session), (uint32_t)step,
                             (uint32_t)((uint64_t)p->session >> 32));
    size_t pick = (size_t)((uint64_t)bits.word[0] * left >> 32);
    for (size_t i = 0;; i++)
        if (!p->taken[i] && pick-- == 0)
            return i;
}

static void add_tops(const run *r, double *row, const pr_real *chances)
{
    int32_t best[PR_TOP_ITEMS];
    size_t found = pr_topk(best, chances, r->how->data->items, PR_TOP_ITEMS);
    for (size_t i = 0; i < found; i++)
        pr_lines_sell(r->how->lines, row, best[i], 1.0 / (double)found);
}

/* Probabilities and top items of what is on the shelf only. */
static void add_scenario(const run *r, worker *own, path *p, size_t number, const pr_real *chances)
{
    const pr_lines *lines = r->how->lines;
    const pr_scenario *s = &r->how->scenarios->list[number];
    double total = 0, *row = p->chances + (1 + number) * lines->count;
    for (size_t i = 0; i < lines->data->items; i++) {
        bool open = !s->off[i] && chances[i] > 0;
        own->masked[i] = open ? chances[i] : -INFINITY;
        total += open ? chances[i] : 0;
    }
    add_tops(r, p->tops + (1 + number) * lines->count, own->masked);
    for (size_t i = 0; i < lines->data->items; i++)
        own->masked[i] = own->masked[i] > 0 ? own->masked[i] / (pr_real)total : 0;
    pr_chances_lines(own->row, lines, own->masked);
    for (size_t l = 0; l < lines->count; l++)
        row[l] += own->row[l];
}

static void step(void *context, const pr_walk_step *at, int32_t *placed)
{
    run *r = context;
    worker *own = &r->workers[at->worker];
    path *p = path_of(r, at->task, at->basket->index);
    const pr_lines *lines = r->how->lines;
    pr_real *scores = at->scores;
    pr_next_chances(scores, lines->data->items, p->placed, at->number);
    pr_chances_lines(own->row, lines, scores);
    for (size_t l = 0; l < lines->count; l++)
        p->chances[l] += own->row[l];
    for (size_t i = 0; i < at->number; i++)
        scores[p->placed[i]] = -INFINITY; /* never among the top items, however few are left */
    add_tops(r, p->tops, scores);
    for (size_t s = 0; s < r->how->scenarios->count; s++)
        add_scenario(r, own, p, s, scores);
    size_t chosen = choose(r, p, at->number, scores);
    p->taken[chosen] = true;
    *placed = p->placed[at->number] = p->items[chosen];
}

/* ---- tasks ---- */

static size_t list_task(void *context, size_t task, unsigned thread, pr_walk_basket *out)
{
    run *r = context;
    size_t first = task * ROWS, count = r->count - first < ROWS ? r->count - first : ROWS;
    size_t numbers = (1 + r->how->scenarios->count) * r->how->lines->count;
    (void)thread;
    for (size_t i = 0; i < count; i++) {
        const test_basket *b = &r->baskets[first + i];
        path *p = path_of(r, task, i);
        out[i].user = b->user;
        out[i].session = (uint32_t)b->session;
        out[i].steps = b->size;
        p->user = b->user;
        p->session = b->session;
        p->size = b->size;
        p->items = r->how->data->action_items + r->how->data->session_offsets[b->session];
        memset(p->taken, 0, sizeof p->taken);
        memset(p->chances, 0, 2 * numbers * sizeof *p->chances);
    }
    return count;
}

static void add_path(const run *r, const path *p)
{
    const pr_test_walk *how = r->how;
    size_t lines = how->lines->count;
    pr_sales_add(&how->chances->before, how->cohort, p->user, p->chances, 1);
    pr_sales_add(&how->tops->before, how->cohort, p->user, p->tops, 1);
    for (size_t s = 0; s < how->scenarios->count; s++) {
        bool whole = pr_scenario_missing(&how->scenarios->list[s], p->items, p->size) == 0;
        const double *chances = p->chances + (1 + s) * lines, *tops = p->tops + (1 + s) * lines;
        for (size_t q = 0; q < PR_QUESTIONS; q++) {
            if (q == PARSREC_SELECTION && !whole)
                continue;
            pr_sales_add(&how->chances->after[q][s], how->cohort, p->user, chances, 1);
            pr_sales_add(&how->tops->after[q][s], how->cohort, p->user, tops, 1);
        }
    }
}

static parsrec_status add_paths(void *context, size_t first, size_t count, parsrec_error *err)
{
    run *r = context;
    (void)err;
    for (size_t i = first * ROWS; i < (first + count) * ROWS && i < r->count; i++)
        add_path(r, path_of(r, i / ROWS, i % ROWS));
    return PARSREC_OK;
}

/* ---- all of them ---- */

static int longest_first(const void *a, const void *b)
{
    const test_basket *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->session < y->session ? -1 : 1;
}

static parsrec_status list_baskets(run *r, parsrec_error *err)
{
    const pr_dataset *data = r->how->data;
    r->baskets =
        pr_region_take(&r->region, r->how->cohort->user_count * r->last, sizeof *r->baskets);
    PR_TRY(pr_region_check(&r->region, err));
    for (size_t i = 0; i < r->how->cohort->user_count; i++) {
        size_t user = (size_t)r->how->cohort->users[i];
        size_t first = (size_t)pr_split_session(data, user, PR_TEST, r->last);
        size_t end = (size_t)data->user_offsets[user + 1]; /* a user held out as a whole has one */
        for (size_t s = first; s < first + r->last && s < end; s++) {
            size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
            size = size < MOST_STEPS ? size : MOST_STEPS;
            r->baskets[r->count++] = (test_basket){(uint32_t)user, (uint32_t)size, s};
        }
    }
    qsort(r->baskets, r->count, sizeof *r->baskets, longest_first);
    return PARSREC_OK;
}

static parsrec_status reserve(run *r, unsigned threads, parsrec_error *err)
{
    size_t lines = r->how->lines->count, V = r->how->data->items;
    size_t numbers = (1 + r->how->scenarios->count) * lines;
    r->paths = pr_region_take(&r->region, TASKS_PER_ROUND * ROWS, sizeof *r->paths);
    r->numbers =
        pr_region_take(&r->region, TASKS_PER_ROUND * ROWS * numbers, 2 * sizeof *r->numbers);
    r->workers = pr_region_take(&r->region, threads, sizeof *r->workers);
    PR_TRY(pr_region_check(&r->region, err));
    for (size_t i = 0; i < TASKS_PER_ROUND * ROWS; i++) {
        r->paths[i].chances = r->numbers + 2 * i * numbers;
        r->paths[i].tops = r->paths[i].chances + numbers;
    }
    for (unsigned i = 0; i < threads; i++) {
        r->workers[i].masked = pr_alloc_aligned(V, sizeof *r->workers[i].masked);
        r->workers[i].row = pr_region_take(&r->region, lines, sizeof *r->workers[i].row);
        if (r->workers[i].masked == NULL)
            return pr_fail_memory(err);
    }
    return pr_region_check(&r->region, err);
}

parsrec_status pr_test_walk_run(const pr_test_walk *how, pr_pool *pool, const parsrec_hooks *hooks,
                                parsrec_error *err)
{
    assert(how->cohort->user_count > 0);
    run r = {.how = how,
             .rng = pr_rng_make(how->seed, PURPOSE_WALK),
             .last = (size_t)how->model->config.last};
    unsigned threads = pr_pool_threads(pool);
    parsrec_status status;
    PR_TRY_GOTO(list_baskets(&r, err));
    PR_TRY_GOTO(reserve(&r, threads, err));
    pr_walk walk = {.model = how->model,
                    .data = how->data,
                    .tasks = (r.count + ROWS - 1) / ROWS,
                    .tasks_per_round = TASKS_PER_ROUND,
                    .task_most = ROWS,
                    .rows = ROWS,
                    .longest = r.baskets[0].size,
                    .stage = "walking test baskets",
                    .basket_count = r.count,
                    .context = &r,
                    .list = list_task,
                    .step = step,
                    .collect = add_paths};
    PR_TRY_GOTO(pr_walk_run(&walk, pool, hooks, err));
done:
    for (unsigned i = 0; r.workers != NULL && i < threads; i++)
        pr_free_aligned(r.workers[i].masked);
    pr_region_free(&r.region);
    return status;
}
