/* Counts per user, their sums over all users, and intervals from those. */
#include "explain/evidence.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

enum { USERS_PER_TASK = 128, TASKS_PER_ROUND = 64 };

/* Sums over users. For one user a_i is the number of baskets with class i, a_ij of those with both,
 * and m of all of them. */
typedef struct sums {
    uint64_t *both;                   /* [N,N]: a_ij; the diagonal is a_i */
    uint64_t *both_square;            /* [N,N]: a_ij² */
    uint64_t *both_row;               /* [N,N]: a_ij a_i */
    uint64_t *both_all;               /* [N,N]: a_ij m */
    uint64_t *product;                /* [N,N]: a_i a_j */
    uint64_t baskets, baskets_square; /* m, m² */
} sums;

/* Memory of one thread. */
typedef struct worker {
    sums total;
    uint32_t *user;    /* [N,N]: a_ij of the user at hand; zero between users */
    uint32_t *touched; /* [N]: classes of that user */
    uint32_t *list;    /* [N]: classes of one basket */
    bool *seen, *held; /* [N] */
} worker;

typedef struct counting {
    const pr_dataset *data;
    const pr_axis *axis;
    const pr_user_group *group;
    worker *workers; /* [threads] */
    unsigned threads;
    size_t first; /* task of this round */
} counting;

static void worker_init(worker *d, pr_region *region, size_t N)
{
    uint64_t **tables[] = {&d->total.both, &d->total.both_square, &d->total.both_row,
                           &d->total.both_all, &d->total.product};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i] = pr_region_take(region, N * N, sizeof **tables[i]);
    d->user = pr_region_take(region, N * N, sizeof *d->user);
    d->touched = pr_region_take(region, N, sizeof *d->touched);
    d->list = pr_region_take(region, N, sizeof *d->list);
    d->seen = pr_region_take(region, N, sizeof *d->seen);
    d->held = pr_region_take(region, N, sizeof *d->held);
}

/* ---- counting ---- */

/* Adds one basket to the user's counts; returns how many classes the user has touched by now. */
static size_t count_basket(worker *d, const int32_t *items, size_t size, const pr_axis *axis,
                           size_t touched)
{
    size_t N = axis->count, n = 0;
    for (size_t k = 0; k < size; k++) {
        uint32_t i = axis->class[items[k]];
        if (i >= N || d->held[i])
            continue;
        d->held[i] = true;
        d->list[n++] = i;
        if (!d->seen[i]) {
            d->seen[i] = true;
            d->touched[touched++] = i;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            d->user[d->list[a] * N + d->list[b]]++;
    for (size_t a = 0; a < n; a++)
        d->held[d->list[a]] = false;
    return touched;
}

/* Moves the user's counts into the sums. */
static void take_user(worker *d, size_t N, size_t touched, uint64_t baskets)
{
    sums *to = &d->total;
    for (size_t a = 0; a < touched; a++) {
        size_t i = d->touched[a];
        uint64_t own = d->user[i * N + i];
        for (size_t b = 0; b < touched; b++) {
            size_t j = d->touched[b], cell = i * N + j;
            uint64_t both = d->user[cell];
            to->both[cell] += both;
            to->both_square[cell] += both * both;
            to->both_row[cell] += both * own;
            to->both_all[cell] += both * baskets;
            to->product[cell] += own * d->user[j * N + j];
        }
    }
    for (size_t a = 0; a < touched; a++) {
        for (size_t b = 0; b < touched; b++)
            if (a != b)
                d->user[d->touched[a] * N + d->touched[b]] = 0;
        d->seen[d->touched[a]] = false;
    }
    for (size_t a = 0; a < touched; a++)
        d->user[d->touched[a] * N + d->touched[a]] = 0;
    to->baskets += baskets;
    to->baskets_square += baskets * baskets;
}

static void count_users(void *context, size_t task, unsigned thread)
{
    counting *c = context;
    worker *d = &c->workers[thread];
    size_t first = (c->first + task) * USERS_PER_TASK, end = first + USERS_PER_TASK;
    for (size_t u = first; u < end && u < c->group->count; u++) {
        const int64_t *own = c->data->user_offsets + c->group->users[u];
        size_t touched = 0;
        for (int64_t s = own[0]; s < own[1]; s++) {
            const int64_t *at = c->data->session_offsets + s;
            touched = count_basket(d, c->data->action_items + at[0], (size_t)(at[1] - at[0]),
                                   c->axis, touched);
        }
        take_user(d, c->axis->count, touched, (uint64_t)(own[1] - own[0]));
    }
}

static void add(uint64_t *to, const uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* All into the first worker. */
static void gather(counting *c)
{
    size_t cells = c->axis->count * c->axis->count;
    sums *to = &c->workers[0].total;
    for (unsigned i = 1; i < c->threads; i++) {
        const sums *from = &c->workers[i].total;
        add(to->both, from->both, cells);
        add(to->both_square, from->both_square, cells);
        add(to->both_row, from->both_row, cells);
        add(to->both_all, from->both_all, cells);
        add(to->product, from->product, cells);
        to->baskets += from->baskets;
        to->baskets_square += from->baskets_square;
    }
}

/* ---- how sure a lift is ---- */

/* Variances of the log of the lift: every basket by itself, and all of a user as one. */
static double variance(const sums *s, size_t N, size_t i, size_t j)
{
    size_t cell = i * N + j, other = j * N + i;
    double n = (double)s->baskets, both = (double)s->both[cell];
    double ni = (double)s->both[i * N + i], nj = (double)s->both[j * N + j];
    double apart = 1 / both - 1 / ni - 1 / nj + (2 * both * n / (ni * nj) - 1) / n;
    double square = (double)s->both_square[cell] / (both * both) +
                    (double)s->product[i * N + i] / (ni * ni) +
                    (double)s->product[j * N + j] / (nj * nj) + (double)s->baskets_square / (n * n);
    double crossed =
        -(double)s->both_row[cell] / (both * ni) - (double)s->both_row[other] / (both * nj) +
        (double)s->both_all[cell] / (both * n) + (double)s->product[cell] / (ni * nj) -
        (double)s->both_all[i * N + i] / (ni * n) - (double)s->both_all[j * N + j] / (nj * n);
    return fmax(fmax(apart, square + 2 * crossed), 0);
}

parsrec_status pr_evidence_count(pr_evidence *out, const pr_dataset *data, const pr_axis *axis,
                                 const pr_user_group *group, pr_pool *pool,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    size_t N = axis->count, tasks = (group->count + USERS_PER_TASK - 1) / USERS_PER_TASK;
    counting c = {.data = data, .axis = axis, .group = group, .threads = pr_pool_threads(pool)};
    pr_region region = {0};
    parsrec_status status = PARSREC_OK;
    *out = (pr_evidence){.N = N, .reach = pr_evidence_reach(N)};
    out->both = pr_alloc(N * N, sizeof *out->both);
    out->error = pr_alloc(N * N, sizeof *out->error);
    c.workers = pr_region_take(&region, c.threads, sizeof *c.workers);
    for (unsigned i = 0; c.workers != NULL && i < c.threads; i++)
        worker_init(&c.workers[i], &region, N);
    PR_TRY_GOTO(pr_region_check(&region, err));
    if (out->both == NULL || out->error == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    for (; c.first < tasks; c.first += TASKS_PER_ROUND) {
        size_t left = tasks - c.first;
        PR_TRY_GOTO(pr_progress(hooks, "counting pairs", "users", c.first * USERS_PER_TASK,
                                group->count, err));
        pr_pool_run(pool, count_users, &c, left < TASKS_PER_ROUND ? left : TASKS_PER_ROUND);
    }
    gather(&c);
    const sums *all = &c.workers[0].total;
    out->baskets = all->baskets;
    for (size_t cell = 0; cell < N * N; cell++) {
        out->both[cell] = all->both[cell];
        out->error[cell] =
            all->both[cell] > 0 ? (float)sqrt(variance(all, N, cell / N, cell % N)) : (float)NAN;
    }
done:
    pr_region_free(&region);
    return status;
}

void pr_evidence_free(pr_evidence *evidence)
{
    pr_free(evidence->both);
    pr_free(evidence->error);
    *evidence = (pr_evidence){0};
}

double pr_evidence_reach(size_t N)
{
    double pairs = fmax((double)N * (double)(N - 1) / 2, 1);
    return -pr_normal_quantile(0.025 / pairs);
}

void pr_evidence_of(parsrec_relation *r, const pr_evidence *e)
{
    assert(r->row < e->N && r->column < e->N);
    size_t N = e->N;
    r->both = e->both[r->row * N + r->column];
    r->row_baskets = e->both[r->row * N + r->row];
    r->column_baskets = e->both[r->column * N + r->column];
    r->baskets = e->baskets;
    r->expected = e->baskets > 0
                      ? (double)r->row_baskets * (double)r->column_baskets / (double)e->baskets
                      : 0;
    if (!(r->expected > 0)) {
        r->lift = r->low = r->high = (double)NAN;
    } else if (r->both == 0) {
        /* None seen: the upper end is the mean of the Poisson counts of which one in 2 / alpha is
         * zero. */
        r->lift = r->low = 0;
        r->high = -log(erfc(e->reach * M_SQRT1_2) / 2) / r->expected;
    } else {
        double spread = exp(e->reach * (double)e->error[r->row * N + r->column]);
        r->lift = (double)r->both / r->expected;
        r->low = r->lift / spread;
        r->high = r->lift * spread;
    }
}
