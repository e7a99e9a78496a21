/* The path through a basket is that of training: the model's first choice if it is in the basket, else
 * a random item that remains. It is the same before and after, so both share one walk. */
#include "whatif/test_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/histories.h"
#include "data/split.h"
#include "math/topk.h"
#include "whatif/next_chances.h"

enum { ROWS = 16, TASKS_A_ROUND = 8, PURPOSE_WALK = 0x771F03, MOST_STEPS = 100 };

/* A test basket on its way, and what was counted on it: rows of lines, before and after each scenario. */
typedef struct path {
    size_t user, session, size;
    const int32_t *items;
    int32_t placed[MOST_STEPS];
    bool taken[MOST_STEPS];
    double *chances, *tops; /* [1 + scenarios, lines] */
} path;

typedef struct desk {
    pr_scorer *session;
    pr_real *scores; /* [ROWS, V] */
    pr_real *masked; /* [V] */
    float *row;
} desk;

typedef struct test_basket {
    uint32_t user, size;
    size_t session;
} test_basket;

typedef struct run {
    const pr_walks *how;
    pr_rng rng;
    test_basket *baskets; /* longest first */
    size_t count, most, first;
    path *paths; /* [TASKS_A_ROUND · ROWS] */
    double *numbers;
    desk *desks;
    size_t last;
} run;

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

static void count_tops(const run *r, double *row, const pr_real *chances)
{
    int32_t best[PR_WALK_TOP];
    size_t found = pr_topk(best, chances, r->how->data->items, PR_WALK_TOP);
    for (size_t i = 0; i < found; i++)
        pr_lines_sell(r->how->lines, row, best[i], 1.0 / (double)found);
}

/* Chances and top items of what is on the shelf alone. */
static void count_scenario(const run *r, desk *own, path *p, size_t number, const pr_real *chances)
{
    const pr_lines *lines = r->how->lines;
    const pr_scenario *s = &r->how->scenarios->list[number];
    double total = 0, *row = p->chances + (1 + number) * lines->count;
    for (size_t i = 0; i < lines->data->items; i++) {
        bool open = !s->off[i] && chances[i] > 0;
        own->masked[i] = open ? chances[i] : -INFINITY;
        total += open ? chances[i] : 0;
    }
    count_tops(r, p->tops + (1 + number) * lines->count, own->masked);
    for (size_t i = 0; i < lines->data->items; i++)
        own->masked[i] = own->masked[i] > 0 ? own->masked[i] / (pr_real)total : 0;
    pr_chances_lines(own->row, lines, own->masked);
    for (size_t l = 0; l < lines->count; l++)
        row[l] += own->row[l];
}

static int32_t step(const run *r, desk *own, path *p, size_t number, pr_real *scores)
{
    const pr_lines *lines = r->how->lines;
    pr_next_chances(scores, lines->data->items, p->placed, number);
    pr_chances_lines(own->row, lines, scores);
    for (size_t l = 0; l < lines->count; l++)
        p->chances[l] += own->row[l];
    for (size_t i = 0; i < number; i++)
        scores[p->placed[i]] = -INFINITY; /* never among the top items, however few are left */
    count_tops(r, p->tops, scores);
    for (size_t s = 0; s < r->how->scenarios->count; s++)
        count_scenario(r, own, p, s, scores);
    size_t chosen = choose(r, p, number, scores);
    p->taken[chosen] = true;
    p->placed[number] = p->items[chosen];
    return p->items[chosen];
}

/* ---- a group of baskets ---- */

static void begin(const run *r, path *p, const test_basket *b)
{
    size_t numbers = (1 + r->how->scenarios->count) * r->how->lines->count;
    p->user = b->user;
    p->session = b->session;
    p->size = b->size;
    p->items = r->how->data->action_items + r->how->data->session_offsets[b->session];
    memset(p->taken, 0, sizeof p->taken);
    memset(p->chances, 0, 2 * numbers * sizeof *p->chances);
}

static void walk_group(void *context, size_t task, unsigned worker)
{
    run *r = context;
    desk *own = &r->desks[worker];
    size_t first = r->first + task * ROWS, V = r->how->data->items;
    size_t rows = r->count - first < ROWS ? r->count - first : ROWS;
    path *paths = r->paths + task * ROWS;
    pr_start starts[ROWS];
    int32_t items[ROWS];
    for (size_t i = 0; i < rows; i++) {
        const test_basket *b = &r->baskets[first + i];
        begin(r, &paths[i], b);
        starts[i] =
            (pr_start){.user = pr_known_user(r->how->data, b->user),
                       .history = pr_history_before(r->how->data, b->user, b->session),
                       .features = pr_features_of_session(r->how->data, b->user, b->session)};
    }
    pr_scorer_start(own->session, starts, rows);
    for (size_t j = 0; j < paths[0].size; j++) {
        pr_scorer_score_all(own->session, own->scores);
        for (size_t i = 0; i < rows; i++)
            items[i] = j < paths[i].size ? step(r, own, &paths[i], j, own->scores + i * V) : -1;
        if (j + 1 < paths[0].size)
            pr_scorer_place(own->session, items);
    }
}

static void enter(const run *r, const path *p)
{
    const pr_walks *how = r->how;
    size_t lines = how->lines->count;
    pr_ledger_add(&how->chances->before, how->cohort, p->user, p->chances, 1);
    pr_ledger_add(&how->tops->before, how->cohort, p->user, p->tops, 1);
    for (size_t s = 0; s < how->scenarios->count; s++) {
        bool whole = pr_scenario_missing(&how->scenarios->list[s], p->items, p->size) == 0;
        const double *chances = p->chances + (1 + s) * lines, *tops = p->tops + (1 + s) * lines;
        for (size_t q = 0; q < PR_QUESTIONS; q++) {
            if (q == PARSREC_SELECTION && !whole)
                continue;
            pr_ledger_add(&how->chances->after[q][s], how->cohort, p->user, chances, 1);
            pr_ledger_add(&how->tops->after[q][s], how->cohort, p->user, tops, 1);
        }
    }
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
    r->baskets = pr_alloc(r->how->cohort->user_count * r->last, sizeof *r->baskets);
    if (r->baskets == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < r->how->cohort->user_count; i++) {
        size_t user = (size_t)r->how->cohort->users[i];
        size_t first = (size_t)pr_split_session(data, user, PR_TEST, r->last);
        for (size_t s = first; s < first + r->last; s++) {
            size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
            size = size < MOST_STEPS ? size : MOST_STEPS;
            r->baskets[r->count++] = (test_basket){(uint32_t)user, (uint32_t)size, s};
        }
    }
    qsort(r->baskets, r->count, sizeof *r->baskets, longest_first);
    r->most = r->baskets[0].size;
    return PARSREC_OK;
}

static parsrec_status reserve(run *r, unsigned threads, parsrec_error *err)
{
    size_t lines = r->how->lines->count, V = r->how->data->items;
    size_t numbers = (1 + r->how->scenarios->count) * lines;
    r->paths = pr_alloc(TASKS_A_ROUND * ROWS, sizeof *r->paths);
    r->numbers = pr_alloc(TASKS_A_ROUND * ROWS * numbers, 2 * sizeof *r->numbers);
    r->desks = pr_alloc_zero(threads, sizeof *r->desks);
    if (r->paths == NULL || r->numbers == NULL || r->desks == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < TASKS_A_ROUND * ROWS; i++) {
        r->paths[i].chances = r->numbers + 2 * i * numbers;
        r->paths[i].tops = r->paths[i].chances + numbers;
    }
    for (unsigned i = 0; i < threads; i++) {
        desk *own = &r->desks[i];
        PR_TRY(pr_scorer_new(&own->session, r->how->model, ROWS, r->most, err));
        own->scores = pr_alloc_aligned(ROWS * V, sizeof *own->scores);
        own->masked = pr_alloc_aligned(V, sizeof *own->masked);
        own->row = pr_alloc(lines, sizeof *own->row);
        if (own->scores == NULL || own->masked == NULL || own->row == NULL)
            return pr_fail_memory(err);
    }
    return PARSREC_OK;
}

static void release(run *r, unsigned threads)
{
    for (unsigned i = 0; r->desks != NULL && i < threads; i++) {
        pr_scorer_free(r->desks[i].session);
        pr_free_aligned(r->desks[i].scores);
        pr_free_aligned(r->desks[i].masked);
        pr_free(r->desks[i].row);
    }
    pr_free(r->desks);
    pr_free(r->paths);
    pr_free(r->numbers);
    pr_free(r->baskets);
}

static parsrec_status run_rounds(run *r, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    for (r->first = 0; r->first < r->count; r->first += TASKS_A_ROUND * ROWS) {
        PR_TRY(pr_progress(hooks, "walking test baskets", "baskets", r->first, r->count, err));
        size_t left = r->count - r->first, tasks = (left + ROWS - 1) / ROWS;
        pr_pool_run(pool, walk_group, r, tasks < TASKS_A_ROUND ? tasks : TASKS_A_ROUND);
        for (size_t i = 0; i < TASKS_A_ROUND * ROWS && i < left; i++)
            enter(r, &r->paths[i]);
    }
    return PARSREC_OK;
}

parsrec_status pr_walks_run(const pr_walks *how, pr_pool *pool, const parsrec_hooks *hooks,
                            parsrec_error *err)
{
    run r = {.how = how,
             .rng = pr_rng_make(how->seed, PURPOSE_WALK),
             .last = (size_t)how->model->config.last};
    parsrec_status status = list_baskets(&r, err);
    if (status == PARSREC_OK)
        status = reserve(&r, pr_pool_threads(pool), err);
    if (status == PARSREC_OK)
        status = run_rounds(&r, pool, hooks, err);
    release(&r, pr_pool_threads(pool));
    return status;
}
