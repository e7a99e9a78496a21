/* Tasks of fixed size, whose shares are added in their order, so that threads change nothing. */
#include "explain/tour.h"

#include <string.h>

#include "base/memory.h"
#include "explain/tour_inside.h"

enum {
    TASK_BASKETS = 1024,   /* about so many a task */
    ROWS_MOST = 256,       /* of a session */
    SCORES_MOST = 1 << 20, /* numbers that a thread keeps of one step, if that leaves rows enough */
    SHARES_A_THREAD = 4,   /* tasks that may be done before their shares are added */
    SMALL = 256,           /* larger maps keep one share a thread */
};

typedef struct running {
    const pr_tour *tour;
    pr_tour_task *tasks;
    size_t task_count, task_capacity;
    pr_tour_desk *desks; /* [threads] */
    unsigned threads;
    pr_tour_sums *shares; /* [share_count] */
    size_t share_count;
    size_t first; /* task of this round */
    pr_tour_watch watch;
} running;

/* ---- sums ---- */

static parsrec_status sums_init(pr_tour_sums *s, size_t N, parsrec_error *err)
{
    *s = (pr_tour_sums){.N = N};
    struct {
        double **place;
        size_t size;
    } parts[] = {
        {&s->attention, N * N},
        {&s->even, N * N},
        {&s->users_with_row, N},
        {&s->effect, PR_TOUR_STAGES * N * N},
        {&s->counted, PR_TOUR_STAGES * N * N},
        {&s->placed, N},
        {&s->spare, N},
    };
    bool all = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        all = all && (*parts[i].place = pr_alloc_zero(parts[i].size, sizeof(double))) != NULL;
    return all ? PARSREC_OK : pr_fail_memory(err);
}

void pr_tour_sums_free(pr_tour_sums *s)
{
    pr_free(s->attention);
    pr_free(s->even);
    pr_free(s->users_with_row);
    pr_free(s->effect);
    pr_free(s->counted);
    pr_free(s->placed);
    pr_free(s->spare);
    *s = (pr_tour_sums){0};
}

static void add(double *to, double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] += from[i];
        from[i] = 0;
    }
}

/* Moves a share into the sums; it is zero afterwards. */
static void take_share(pr_tour_sums *to, pr_tour_sums *from)
{
    size_t N = to->N;
    add(to->attention, from->attention, N * N);
    add(to->even, from->even, N * N);
    add(to->users_with_row, from->users_with_row, N);
    add(to->effect, from->effect, PR_TOUR_STAGES * N * N);
    add(to->counted, from->counted, PR_TOUR_STAGES * N * N);
    add(to->placed, from->placed, N);
    add(&to->agreeing, &from->agreeing, 1);
    add(&to->pairs, &from->pairs, 1);
    to->baskets += from->baskets;
    to->cut += from->cut;
    to->steps += from->steps;
    from->baskets = from->cut = from->steps = 0;
}

/* ---- tasks ---- */

static parsrec_status list_tasks(running *r, parsrec_error *err)
{
    const pr_tour *w = r->tour;
    size_t enough = w->task_baskets > 0 ? w->task_baskets : TASK_BASKETS;
    pr_tour_task task = {0};
    for (size_t i = 0; i < w->group->count; i++) {
        const int64_t *own = w->data->user_offsets + w->group->users[i];
        for (int64_t s = own[0]; s < own[1]; s++) {
            size_t size = pr_tour_size(w, s);
            task.baskets += size > 1;
            task.weights += size > 1 ? pr_tour_weights(size) : 0;
        }
        task.end = i + 1;
        if (task.baskets < enough && task.end < w->group->count)
            continue;
        PR_TRY(pr_grow(&r->tasks, &r->task_capacity, r->task_count + 1, sizeof *r->tasks, err));
        r->tasks[r->task_count++] = task;
        task = (pr_tour_task){.first = task.end};
    }
    return PARSREC_OK;
}

/* ---- memory ---- */

static size_t rows_for(const pr_tour *w)
{
    size_t rows = w->drop ? SCORES_MOST / w->data->items : ROWS_MOST;
    rows = rows > ROWS_MOST ? ROWS_MOST : rows;
    return rows < w->basket_most ? w->basket_most : rows;
}

static parsrec_status desk_init(pr_tour_desk *d, const pr_tour *w, size_t baskets, size_t weights,
                                parsrec_error *err)
{
    size_t V = w->data->items, N = w->axis->count;
    d->rows = rows_for(w);
    PR_TRY(pr_scorer_new(&d->session, w->model, d->rows, w->basket_most, err));
    d->starts = pr_alloc(d->rows, sizeof *d->starts);
    d->items = pr_alloc(d->rows, sizeof *d->items);
    d->scores = pr_alloc_aligned(w->drop ? d->rows * V : 1, sizeof *d->scores);
    d->work = pr_alloc_aligned(V, sizeof *d->work);
    d->mass = pr_alloc(2 * (N + 1), sizeof *d->mass);
    d->logs = pr_alloc(2 * N, sizeof *d->logs);
    d->held = pr_alloc_zero(N + 1, sizeof *d->held);
    d->effect = pr_alloc(w->basket_most, sizeof *d->effect);
    d->baskets = pr_alloc(baskets, sizeof *d->baskets);
    d->unsorted = pr_alloc(baskets, sizeof *d->unsorted);
    d->weights = pr_alloc(weights, sizeof *d->weights);
    d->user = pr_alloc(N * N, sizeof *d->user);
    d->user_even = pr_alloc(N * N, sizeof *d->user_even);
    d->stamp = pr_alloc(V, sizeof *d->stamp);
    d->distinct = pr_alloc(N, sizeof *d->distinct);
    bool all = d->starts != NULL && d->items != NULL && d->scores != NULL && d->work != NULL &&
               d->mass != NULL && d->logs != NULL && d->held != NULL && d->effect != NULL &&
               d->baskets != NULL && d->unsorted != NULL && d->weights != NULL && d->user != NULL &&
               d->user_even != NULL && d->stamp != NULL && d->distinct != NULL;
    return all ? PARSREC_OK : pr_fail_memory(err);
}

static void desk_free(pr_tour_desk *d)
{
    pr_scorer_free(d->session);
    pr_free(d->starts);
    pr_free(d->items);
    pr_free_aligned(d->scores);
    pr_free_aligned(d->work);
    pr_free(d->mass);
    pr_free(d->logs);
    pr_free(d->held);
    pr_free(d->effect);
    pr_free(d->baskets);
    pr_free(d->unsorted);
    pr_free(d->weights);
    pr_free(d->user);
    pr_free(d->user_even);
    pr_free(d->stamp);
    pr_free(d->distinct);
}

static parsrec_status reserve(running *r, pr_pool *pool, parsrec_error *err)
{
    size_t N = r->tour->axis->count, baskets = 0, weights = 0;
    for (size_t t = 0; t < r->task_count; t++) {
        baskets = r->tasks[t].baskets > baskets ? r->tasks[t].baskets : baskets;
        weights = r->tasks[t].weights > weights ? r->tasks[t].weights : weights;
    }
    r->threads = pr_pool_threads(pool);
    r->desks = pr_alloc_zero(r->threads, sizeof *r->desks);
    size_t shares = r->threads * (N > SMALL ? 1 : SHARES_A_THREAD);
    r->shares = pr_alloc_zero(shares, sizeof *r->shares);
    if (r->desks == NULL || r->shares == NULL)
        return pr_fail_memory(err);
    for (; r->share_count < shares; r->share_count++) {
        parsrec_status status = sums_init(&r->shares[r->share_count], N, err);
        if (status != PARSREC_OK) {
            pr_tour_sums_free(&r->shares[r->share_count]);
            return status;
        }
    }
    for (unsigned i = 0; i < r->threads; i++) {
        r->desks[i].watch = &r->watch;
        r->desks[i].reports = i == 0; /* worker 0 of a pool is its caller */
        PR_TRY(desk_init(&r->desks[i], r->tour, baskets, weights, err));
    }
    return PARSREC_OK;
}

static void release(running *r)
{
    for (unsigned i = 0; r->desks != NULL && i < r->threads; i++)
        desk_free(&r->desks[i]);
    for (size_t i = 0; i < r->share_count; i++)
        pr_tour_sums_free(&r->shares[i]);
    pr_free(r->desks);
    pr_free(r->shares);
    pr_free(r->tasks);
}

/* ---- rounds ---- */

static void run_task(void *context, size_t task, unsigned worker)
{
    running *r = context;
    pr_tour_do(&r->shares[task], r->tour, &r->tasks[r->first + task], &r->desks[worker]);
}

static parsrec_status run_rounds(running *r, pr_tour_sums *sums, pr_pool *pool,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    r->watch.hooks = hooks;
    r->watch.err = err;
    r->watch.group = r->tour->group->name;
    for (size_t t = 0; t < r->task_count; t++)
        r->watch.total += r->tasks[t].baskets;
    PR_TRY(
        pr_progress_note(hooks, "explaining", "baskets", 0, r->watch.total, r->watch.group, err));
    while (r->first < r->task_count) {
        size_t left = r->task_count - r->first;
        size_t tasks = left < r->share_count ? left : r->share_count;
        pr_pool_run(pool, run_task, r, tasks);
        if (atomic_load(&r->watch.stop))
            return PARSREC_E_STOPPED;
        for (size_t t = 0; t < tasks; t++)
            take_share(sums, &r->shares[t]);
        r->first += tasks;
    }
    return PARSREC_OK;
}

parsrec_status pr_tour_run(pr_tour_sums *sums, const pr_tour *tour, pr_pool *pool,
                           const parsrec_hooks *hooks, parsrec_error *err)
{
    running r = {.tour = tour};
    pr_excerpt hold;
    parsrec_status status;
    PR_TRY_GOTO(sums_init(sums, tour->axis->count, err));
    PR_TRY_GOTO(list_tasks(&r, err));
    PR_TRY_GOTO(reserve(&r, pool, err));
    status = run_rounds(&r, sums, pool, hooks, err);
    if (status == PARSREC_OK && sums->baskets == 0)
        status = pr_fail(err, PARSREC_E_INPUT,
                         "group %s has no basket of two items or more, so nothing can be explained",
                         pr_show(&hold, pr_slice_of(tour->group->name)));
done:
    release(&r);
    return status;
}
