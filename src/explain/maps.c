/* The model is led through the baskets of a group in tasks of fixed size, whose sums are added in
 * their order, so that the number of threads changes nothing; then maps are made of the sums. */
#include "explain/maps.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "eval/walker.h"
#include "model/chances.h"

const size_t pr_map_order[PR_MAP_KINDS] = {PR_MAP_TRUTH,     PARSREC_MAP_ATTENTION,
                                           PR_MAP_EVEN,      PARSREC_MAP_DROP,
                                           PARSREC_MAP_LIFT, PARSREC_MAP_EMBEDDING};

const char *pr_map_name(size_t kind)
{
#define NAME(id, name) [PARSREC_MAP_##id] = (name),
    static const char *const names[PR_MAP_KINDS] = {
        [PR_MAP_TRUTH] = "truth", [PR_MAP_EVEN] = "even", PARSREC_MAP_LIST(NAME)};
#undef NAME
    assert(kind < PR_MAP_KINDS);
    return names[kind];
}

const pr_map_words pr_map_words_of[PR_MAP_KINDS] = {
    [PR_MAP_TRUTH] =
        {"True covariance", "covariance",
         "The covariance of the wish for two categories that these synthetic data were "
         "made with: above 0 they are bought together more often than by chance.",
         PR_HEAT_PLAIN},
    [PARSREC_MAP_ATTENTION] =
        {"Attention", "share of attention",
         "How much the model looks at the column while it expects the row, as a share of the row. "
         "Attention is not the same as influence: what is in many baskets gets much of it, whether "
         "or "
         "not it has to do with the row.",
         PR_HEAT_PERCENT},
    [PR_MAP_EVEN] = {"Attention, equal weights", "share",
                     "The attention map of a model that looks at all items of a basket alike: what "
                     "is left of attention without its weights.",
                     PR_HEAT_PERCENT},
    [PARSREC_MAP_DROP] =
        {"Effect on the next item", "times as likely",
         "How many times as likely the row becomes because the column is in the "
         "basket: the model is asked again without it. ×2 means twice as likely as "
         "with other items in the basket, ×0.5 half as likely, ×1 no difference.",
         PR_HEAT_TIMES},
    [PARSREC_MAP_LIFT] = {"Bought together", "times as often as by chance",
                          "How many times as often both are in one basket as chance would have it. "
                          "Counted, no model; half a basket is added to both counts, so that pairs "
                          "with few baskets stay near ×1.",
                          PR_HEAT_TIMES},
    [PARSREC_MAP_EMBEDDING] =
        {"Similarity in the model", "dot product",
         "Dot products of the learnt item embeddings. The same for "
         "everybody: what is used in the same way points in the same direction.",
         PR_HEAT_PLAIN},
};

/* ---- tasks ---- */

enum {
    TASK_BASKETS = 1024,   /* baskets per task, about */
    ROWS_MOST = 256,       /* of a scorer */
    SCORES_MOST = 1 << 20, /* numbers that a thread keeps of one step, if that leaves rows enough */
    PARTS_PER_THREAD = 4,  /* tasks that may be done before their sums are added */
    SMALL = 256,           /* larger maps keep one set of sums per thread */
};

/* Neighbouring users of the group, walked through by one thread. */
typedef struct map_task {
    size_t first, end; /* in group->users */
    size_t baskets;    /* of two items or more */
    size_t weights;    /* attention weights of all their steps */
} map_task;

/* One basket of a task. */
typedef struct basket {
    int32_t user;
    uint32_t size; /* items looked at */
    const int32_t *items;
    float *weights; /* its attention: of step t from weights_before(t) on */
} basket;

/* Memory of one thread. */
typedef struct worker {
    pr_real *work;   /* [V] */
    double *mass;    /* [2,N+1]: with all items, and without one */
    double *logs;    /* [2,N]: log probabilities of classes, likewise */
    bool *held;      /* [N+1]: classes in the basket; all false between steps */
    double *effect;  /* [basket_most]: of each placed item on the next one */
    basket *baskets; /* of the task */
    size_t basket_count;
    float *weights;
    double *user, *user_even; /* [N,N]: attention of one user */
    uint32_t *stamp;          /* [V]: one more than the last user of the task who placed the item */
    size_t *distinct;         /* [N]: items of a class that the user placed */
} worker;

typedef struct run {
    const pr_map_source *from;
    map_task *tasks;
    size_t task_count, task_capacity;
    worker *workers; /* [threads] */
    unsigned threads;
    pr_map_sums *parts; /* [part_count]: of the tasks of a round */
    size_t part_count;
    pr_map_sums *all;
    /* Task number t of rank r is number t · size + r of all. Rank 0 adds their sums in that order. */
    unsigned rank, size;
    pr_map_sums *theirs; /* [their_count]: of a task of each other rank */
    unsigned their_count;
    pr_region region; /* holds workers and parts, but not the aligned work space */
} run;

static size_t size_of(const pr_map_source *from, int64_t session)
{
    const int64_t *at = from->data->session_offsets + session;
    size_t size = (size_t)(at[1] - at[0]);
    return size < from->basket_most ? size : from->basket_most;
}

/* Attention weights of the steps before step t: step 1 has one, step 2 two, ... */
static size_t weights_before(size_t t)
{
    return t * (t - 1) / 2;
}

/* With drop effects a basket has a row for all of its items, and one without each of them; the last
 * item is never left out, since nothing follows it. */
static size_t list_baskets(void *context, size_t number, unsigned thread, pr_walk_basket *out)
{
    run *r = context;
    const pr_map_source *from = r->from;
    static const map_task none;
    size_t place = number * r->size + r->rank;
    const map_task *task = place < r->task_count ? &r->tasks[place] : &none;
    worker *own = &r->workers[thread];
    pr_map_sums *sums = &r->parts[number % r->part_count];
    const int64_t *offsets = from->data->session_offsets;
    size_t n = 0, weights = 0;
    for (size_t i = task->first; i < task->end; i++) {
        int32_t user = from->group->users[i];
        const int64_t *sessions = from->data->user_offsets + user;
        for (int64_t s = sessions[0]; s < sessions[1]; s++) {
            uint32_t size = (uint32_t)size_of(from, s);
            if (size < 2)
                continue;
            own->baskets[n] =
                (basket){user, size, from->data->action_items + offsets[s], own->weights + weights};
            out[n].user = (uint32_t)user;
            out[n].session = (uint32_t)s;
            out[n].steps = size;
            out[n].rows = from->drop ? size : 1;
            n++;
            weights += weights_before(size);
            sums->steps += size - 1;
            sums->cut += (size_t)(offsets[s + 1] - offsets[s]) > size;
        }
    }
    sums->baskets += n;
    own->basket_count = n;
    return n;
}

/* ---- drop effects ---- */

/* logs[N] of the probabilities of the classes that the basket does not touch, as shares of all of
 * those, the rest with them; -INFINITY for the others and where the probability is 0. */
static void log_classes(double *logs, const double *mass, const bool *held, size_t N)
{
    double all = mass[N];
    for (size_t i = 0; i < N; i++)
        all += held[i] ? 0 : mass[i];
    for (size_t i = 0; i < N; i++)
        logs[i] = held[i] || !(all > 0) ? -INFINITY : log(mass[i] / all);
}

static void add_cell(pr_map_sums *sums, size_t cell, double with, double without)
{
    if (!isfinite(with) || !isfinite(without))
        return;
    sums->effect[cell] += with - without;
    sums->counted[cell]++;
}

/* Pairs of placed items: does the larger weight have the larger effect? */
static void add_agreement(pr_map_sums *sums, const float *weight, const double *effect, size_t t)
{
    for (size_t a = 0; a < t; a++)
        for (size_t b = 0; b < a; b++) {
            double w = (double)weight[a] - (double)weight[b], e = effect[a] - effect[b];
            bool alike = (w > 0 && e > 0) || (w < 0 && e < 0);
            bool unlike = (w > 0 && e < 0) || (w < 0 && e > 0);
            sums->agreeing += alike ? 1 : unlike ? -1 : 0;
        }
    sums->pairs += (double)weights_before(t);
}

/* After t items, of which rows 1..t leave out one each: the effect of each placed item on every
 * class; on its own class by its share of everything. */
static void add_effects(pr_map_sums *sums, const pr_map_source *from, worker *own, const basket *b,
                        size_t t, pr_real *all_scores)
{
    assert(t >= 1 && t < b->size);
    size_t V = from->data->items, N = sums->N;
    size_t stage = t < PR_MAP_STAGES ? t - 1 : PR_MAP_STAGES - 1;
    const int32_t *items = b->items;
    const uint32_t *class = from->axis->class;
    pr_chances with = {0};
    double next = 0; /* log probability of what came next */
    double *mass = own->mass, *mass_without = own->mass + N + 1;
    double *logs = own->logs, *logs_without = own->logs + N;
    for (size_t p = 0; p < t; p++)
        own->held[class[items[p]]] = true;
    for (size_t r = 0; r <= t; r++) {
        pr_real *scores = all_scores + r * V, score = scores[items[t]]; /* of what came next */
        double *sums_of_row = r == 0 ? mass : mass_without;
        for (size_t p = 0; p < t; p++)
            scores[items[p]] = -(pr_real)INFINITY;
        pr_chances chances = pr_chances_by_class(sums_of_row, own->work, from->model, scores,
                                                 from->axis->order, from->axis->offsets, N);
        log_classes(r == 0 ? logs : logs_without, sums_of_row, own->held, N);
        if (r == 0) {
            with = chances;
            next = pr_log_chance(&with, score);
            continue;
        }
        uint32_t c = class[items[r - 1]];
        own->effect[r - 1] = next - pr_log_chance(&chances, score);
        if (c >= N)
            continue;
        size_t column = (stage * N + c) * N;
        for (size_t i = 0; i < N; i++)
            add_cell(sums, column + i, logs[i], logs_without[i]);
        add_cell(sums, column + c, log(mass[c] / with.sum), log(mass_without[c] / chances.sum));
        sums->placed[c]++;
    }
    for (size_t p = 0; p < t; p++)
        own->held[class[items[p]]] = false;
    if (from->attention && t > 1)
        add_agreement(sums, b->weights + weights_before(t), own->effect, t);
}

/* ---- attention ---- */

/* Adds one basket to the attention of its user, a matrix of classes: what came next against each
 * item that was there. A column of it counts once for each item of the class that the user
 * placed. */
static void add_attention(const pr_map_source *from, worker *own, const basket *b, uint32_t user)
{
    const int32_t *items = b->items;
    const uint32_t *class = from->axis->class;
    size_t N = from->axis->count;
    for (size_t t = 1; t < b->size; t++) {
        const float *weight = b->weights + weights_before(t);
        size_t row = class[items[t]];
        for (size_t p = 0; p < t && row < N; p++) {
            size_t column = class[items[p]];
            if (column >= N)
                continue;
            own->user[row * N + column] += (double)weight[p];
            own->user_even[row * N + column] += 1 / (double)t;
        }
    }
    for (size_t p = 0; p + 1 < b->size; p++)
        if (class[items[p]] < N && own->stamp[items[p]] != user) {
            own->stamp[items[p]] = user;
            own->distinct[class[items[p]]]++;
        }
}

/* Adds the row, made to sum to 1; false when it is empty. */
static bool add_row(double *sum, double *row, const size_t *distinct, size_t N)
{
    double total = 0;
    for (size_t j = 0; j < N; j++) {
        row[j] = distinct[j] > 0 ? row[j] / (double)distinct[j] : 0;
        total += row[j];
    }
    for (size_t j = 0; j < N && total > 0; j++)
        sum[j] += row[j] / total;
    return total > 0;
}

/* Attention as in the paper: a user's weights by item, summed over the rows of a class, averaged
 * over its columns, rows normalised; then the mean over users. At the end of a task, when all
 * weights are there. */
static void sum_attention(void *context, size_t task, unsigned thread)
{
    run *r = context;
    worker *own = &r->workers[thread];
    pr_map_sums *sums = &r->parts[task % r->part_count];
    size_t N = sums->N;
    memset(own->stamp, 0, r->from->data->items * sizeof *own->stamp);
    for (size_t i = 0; i < own->basket_count;) {
        int32_t user = own->baskets[i].user;
        uint32_t stamp = (uint32_t)i + 1;
        memset(own->user, 0, N * N * sizeof *own->user);
        memset(own->user_even, 0, N * N * sizeof *own->user_even);
        memset(own->distinct, 0, N * sizeof *own->distinct);
        for (; i < own->basket_count && own->baskets[i].user == user; i++)
            add_attention(r->from, own, &own->baskets[i], stamp);
        for (size_t row = 0; row < N; row++) {
            sums->users_with_row[row] +=
                add_row(sums->even + row * N, own->user_even + row * N, own->distinct, N);
            add_row(sums->attention + row * N, own->user + row * N, own->distinct, N);
        }
    }
}

/* ---- a step of the walk ---- */

/* After t items: looks at the model, then places item number t, which row t + 1 leaves out. */
static void look(void *context, const pr_walk_step *at, int32_t *placed)
{
    run *r = context;
    worker *own = &r->workers[at->worker];
    const basket *b = &own->baskets[at->basket->index];
    size_t t = at->number;
    if (r->from->attention && t > 0)
        pr_scorer_attention(at->scorer, at->row, b->weights + weights_before(t));
    if (r->from->drop && t > 0)
        add_effects(&r->parts[at->task % r->part_count], r->from, own, b, t, at->scores);
    for (size_t row = 0; row < at->basket->rows; row++)
        placed[row] = row == t + 1 ? -1 : b->items[t];
}

/* ---- sums ---- */

static parsrec_status sums_init(pr_map_sums *s, size_t N, parsrec_error *err)
{
    *s = (pr_map_sums){.N = N};
    s->attention = pr_region_take(&s->region, N * N, sizeof *s->attention);
    s->even = pr_region_take(&s->region, N * N, sizeof *s->even);
    s->users_with_row = pr_region_take(&s->region, N, sizeof *s->users_with_row);
    s->effect = pr_region_take(&s->region, PR_MAP_STAGES * N * N, sizeof *s->effect);
    s->counted = pr_region_take(&s->region, PR_MAP_STAGES * N * N, sizeof *s->counted);
    s->placed = pr_region_take(&s->region, N, sizeof *s->placed);
    s->spare = pr_region_take(&s->region, N, sizeof *s->spare);
    return pr_region_check(&s->region, err);
}

void pr_map_sums_free(pr_map_sums *s)
{
    pr_region_free(&s->region);
    *s = (pr_map_sums){0};
}

static void move(double *to, double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] += from[i];
        from[i] = 0;
    }
}

/* Moves the sums of a task into those of all; they are zero afterwards. */
static void take_part(pr_map_sums *to, pr_map_sums *from)
{
    size_t N = to->N;
    move(to->attention, from->attention, N * N);
    move(to->even, from->even, N * N);
    move(to->users_with_row, from->users_with_row, N);
    move(to->effect, from->effect, PR_MAP_STAGES * N * N);
    move(to->counted, from->counted, PR_MAP_STAGES * N * N);
    move(to->placed, from->placed, N);
    move(&to->agreeing, &from->agreeing, 1);
    move(&to->pairs, &from->pairs, 1);
    to->baskets += from->baskets;
    to->cut += from->cut;
    to->steps += from->steps;
    from->baskets = from->cut = from->steps = 0;
}

/* ---- sums of several ranks ---- */

typedef struct block {
    void *bytes;
    size_t size;
} block;

enum { BLOCKS = 8 };

/* All that sums are made of. */
static void list_blocks(block out[BLOCKS], pr_map_sums *s)
{
    size_t one = sizeof(double), map = s->N * s->N * one;
    const block all[BLOCKS] = {{s->attention, map},
                               {s->even, map},
                               {s->users_with_row, s->N * one},
                               {s->effect, PR_MAP_STAGES * map},
                               {s->counted, PR_MAP_STAGES * map},
                               {s->placed, s->N * one},
                               {&s->agreeing, 2 * one}, /* and pairs */
                               {&s->baskets, 3 * sizeof s->baskets}};
    static_assert(
        offsetof(pr_map_sums, pairs) == offsetof(pr_map_sums, agreeing) + sizeof(double) &&
            offsetof(pr_map_sums, steps) == offsetof(pr_map_sums, baskets) + 2 * sizeof(uint64_t),
        "what is sent as one lies side by side");
    memcpy(out, all, sizeof all);
}

/* The sums of one task go to rank 0. */
static parsrec_status send_part(run *r, pr_map_sums *part, parsrec_error *err)
{
    block blocks[BLOCKS];
    for (unsigned i = 0; i < r->their_count; i++) {
        list_blocks(blocks, &r->theirs[i]);
        for (size_t b = 0; b < BLOCKS; b++)
            pr_ranks_receive(r->from->ranks, i + 1, blocks[b].bytes, blocks[b].size);
    }
    list_blocks(blocks, part);
    for (size_t b = 0; b < BLOCKS && r->rank != 0; b++)
        pr_ranks_send(r->from->ranks, 0, blocks[b].bytes, blocks[b].size);
    return pr_ranks_exchange(r->from->ranks, err);
}

static parsrec_status take_parts(void *context, size_t first, size_t count, parsrec_error *err)
{
    run *r = context;
    for (size_t i = 0; i < count; i++) {
        pr_map_sums *part = &r->parts[(first + i) % r->part_count];
        PR_TRY(send_part(r, part, err));
        take_part(r->all, part);
        for (unsigned k = 0; k < r->their_count; k++)
            take_part(r->all, &r->theirs[k]);
    }
    return PARSREC_OK;
}

/* ---- all tasks ---- */

static parsrec_status list_tasks(run *r, parsrec_error *err)
{
    const pr_map_source *from = r->from;
    size_t enough = from->task_baskets > 0 ? from->task_baskets : TASK_BASKETS;
    map_task task = {0};
    for (size_t i = 0; i < from->group->count; i++) {
        const int64_t *own = from->data->user_offsets + from->group->users[i];
        for (int64_t s = own[0]; s < own[1]; s++) {
            size_t size = size_of(from, s);
            task.baskets += size > 1;
            task.weights += size > 1 ? weights_before(size) : 0;
        }
        task.end = i + 1;
        if (task.baskets < enough && task.end < from->group->count)
            continue;
        PR_TRY(pr_grow(&r->tasks, &r->task_capacity, r->task_count + 1, sizeof *r->tasks, err));
        r->tasks[r->task_count++] = task;
        task = (map_task){.first = i + 1};
    }
    return PARSREC_OK;
}

static parsrec_status worker_init(worker *w, pr_region *region, const pr_map_source *from,
                                  size_t baskets, size_t weights, parsrec_error *err)
{
    size_t V = from->data->items, N = from->axis->count;
    w->work = pr_alloc_aligned(V, sizeof *w->work);
    w->mass = pr_region_take(region, 2 * (N + 1), sizeof *w->mass);
    w->logs = pr_region_take(region, 2 * N, sizeof *w->logs);
    w->held = pr_region_take(region, N + 1, sizeof *w->held);
    w->effect = pr_region_take(region, from->basket_most, sizeof *w->effect);
    w->baskets = pr_region_take(region, baskets, sizeof *w->baskets);
    w->weights = pr_region_take(region, weights, sizeof *w->weights);
    w->user = pr_region_take(region, N * N, sizeof *w->user);
    w->user_even = pr_region_take(region, N * N, sizeof *w->user_even);
    w->stamp = pr_region_take(region, V, sizeof *w->stamp);
    w->distinct = pr_region_take(region, N, sizeof *w->distinct);
    return w->work != NULL ? pr_region_check(region, err) : pr_fail_memory(err);
}

static parsrec_status walk(run *r, pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    const pr_map_source *from = r->from;
    size_t N = from->axis->count, weights = 0;
    pr_walk walk = {.model = from->model,
                    .data = from->data,
                    .tasks = (r->task_count + r->size - 1) / r->size,
                    .rows = ROWS_MOST,
                    .longest = from->basket_most,
                    .scored_from = from->drop ? 1 : PR_WALK_UNSCORED,
                    .stage = "explaining",
                    .note = from->group->name,
                    .context = r,
                    .list = list_baskets,
                    .step = look,
                    .end = from->attention ? sum_attention : NULL,
                    .collect = take_parts};
    if (from->drop)
        walk.rows = pr_walk_rows_within(ROWS_MOST, from->data->items, SCORES_MOST);
    if (walk.rows < from->basket_most)
        walk.rows = from->basket_most;
    for (size_t t = 0; t < r->task_count; t++) {
        walk.basket_count += r->tasks[t].baskets;
        walk.task_most =
            r->tasks[t].baskets > walk.task_most ? r->tasks[t].baskets : walk.task_most;
        weights = r->tasks[t].weights > weights ? r->tasks[t].weights : weights;
    }
    walk.basket_count /= r->size;
    r->threads = pr_pool_threads(pool);
    walk.tasks_per_round = r->threads * (N > SMALL ? 1 : PARTS_PER_THREAD);
    r->workers = pr_region_take(&r->region, r->threads, sizeof *r->workers);
    r->parts = pr_region_take(&r->region, walk.tasks_per_round, sizeof *r->parts);
    PR_TRY(pr_region_check(&r->region, err));
    while (r->part_count < walk.tasks_per_round)
        PR_TRY(sums_init(&r->parts[r->part_count++], N, err));
    r->theirs = pr_region_take(&r->region, r->size, sizeof *r->theirs);
    PR_TRY(pr_region_check(&r->region, err));
    while (r->rank == 0 && r->their_count + 1 < r->size)
        PR_TRY(sums_init(&r->theirs[r->their_count++], N, err));
    for (unsigned i = 0; i < r->threads; i++)
        PR_TRY(worker_init(&r->workers[i], &r->region, from, walk.task_most, weights, err));
    return pr_walk_run(&walk, pool, hooks, err);
}

parsrec_status pr_map_sums_make(pr_map_sums *sums, const pr_map_source *source, pr_pool *pool,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(source->basket_most >= 2 && source->basket_most <= PR_MAP_BASKET_MOST);
    run r = {.from = source,
             .all = sums,
             .rank = parsrec_ranks_rank(source->ranks),
             .size = parsrec_ranks_size(source->ranks)};
    pr_excerpt hold;
    parsrec_status status;
    PR_TRY_GOTO(sums_init(sums, source->axis->count, err));
    PR_TRY_GOTO(list_tasks(&r, err));
    PR_TRY_GOTO(walk(&r, pool, hooks, err));
    block blocks[BLOCKS]; /* rank 0 has the sums of all tasks; then all have them */
    list_blocks(blocks, r.all);
    for (size_t b = 0; b < BLOCKS && r.size > 1; b++)
        PR_TRY_GOTO(parsrec_ranks_broadcast(r.from->ranks, blocks[b].bytes, blocks[b].size, err));
    if (sums->baskets == 0)
        status = pr_fail(err, PARSREC_E_INPUT,
                         "group %s has no basket of two items or more, so nothing can be explained",
                         pr_show(&hold, pr_slice_of(source->group->name)));
done:
    for (unsigned i = 0; r.workers != NULL && i < r.threads; i++)
        pr_free_aligned(r.workers[i].work);
    for (size_t i = 0; i < r.part_count; i++)
        pr_map_sums_free(&r.parts[i]);
    for (unsigned i = 0; i < r.their_count; i++)
        pr_map_sums_free(&r.theirs[i]);
    pr_free(r.tasks);
    pr_region_free(&r.region);
    return status;
}

/* ---- maps from sums ---- */

static void mean_rows(double *map, const double *sum, const double *rows, size_t N)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            map[i * N + j] = rows[i] > 0 ? sum[i * N + j] / rows[i] : NAN;
}

void pr_map_attention(double *map, const pr_map_sums *sums)
{
    mean_rows(map, sums->attention, sums->users_with_row, sums->N);
}

void pr_map_even(double *map, const pr_map_sums *sums)
{
    mean_rows(map, sums->even, sums->users_with_row, sums->N);
}

/* What leaving out an item of any other class does to the chances of class i at a stage: the mean
 * over columns without the fifth at either end, so that what is particular to a few does not
 * count. */
static double common_effect(const pr_map_sums *sums, size_t stage, size_t i)
{
    size_t N = sums->N, n = 0;
    for (size_t j = 0; j < N; j++) {
        size_t at = (stage * N + j) * N + i;
        if (i != j && sums->counted[at] > 0)
            sums->spare[n++] = sums->effect[at] / sums->counted[at];
    }
    qsort(sums->spare, n, sizeof *sums->spare, pr_ascending_f64);
    double sum = 0;
    for (size_t k = n / 5; k < n - n / 5; k++)
        sum += sums->spare[k];
    return n > 0 ? sum / (double)(n - 2 * (n / 5)) : 0;
}

void pr_map_drop(double *map, const pr_map_sums *sums)
{
    size_t N = sums->N;
    for (size_t i = 0; i < N; i++) {
        double common[PR_MAP_STAGES];
        for (size_t s = 0; s < PR_MAP_STAGES; s++)
            common[s] = common_effect(sums, s, i);
        for (size_t j = 0; j < N; j++) {
            double effect = 0, counted = 0;
            for (size_t s = 0; s < PR_MAP_STAGES; s++) {
                size_t at = (s * N + j) * N + i;
                effect += sums->effect[at] - sums->counted[at] * common[s];
                counted += sums->counted[at];
            }
            map[i * N + j] = counted > 0 ? effect / counted : NAN;
        }
    }
}

void pr_map_lift(double *map, const pr_evidence *e)
{
    size_t N = e->N;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double each = (double)e->both[i * N + i] * (double)e->both[j * N + j];
            double expected = each / (double)e->baskets;
            map[i * N + j] = i == j || !(expected > 0)
                                 ? (double)NAN
                                 : log(((double)e->both[i * N + j] + 0.5) / (expected + 0.5));
        }
}

/* ---- embedding ---- */

static void mean_vectors(double *mean, const pr_real *table, size_t D, const pr_axis *axis)
{
    memset(mean, 0, axis->count * D * sizeof *mean);
    for (size_t c = 0; c < axis->count; c++) {
        double share = 1 / (double)(axis->offsets[c + 1] - axis->offsets[c]);
        for (size_t k = axis->offsets[c]; k < axis->offsets[c + 1]; k++)
            for (size_t d = 0; d < D; d++)
                mean[c * D + d] += share * (double)table[axis->order[k] * D + d];
    }
}

parsrec_status pr_map_embedding(double *map, const pr_model *model, const pr_axis *axis,
                                parsrec_error *err)
{
    const pr_param *table = pr_params_find(&model->params, "item_emb");
    if (table == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED,
                       "model %s has no embedding of items, so it has no embedding map",
                       model->kind->name);
    size_t N = axis->count, D = table->cols;
    double *mean = pr_alloc(N * D, sizeof *mean);
    if (mean == NULL)
        return pr_fail_memory(err);
    mean_vectors(mean, model->weights + table->at, D, axis);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t d = 0; d < D; d++)
                sum += mean[i * D + d] * mean[j * D + d];
            map[i * N + j] = sum;
        }
    pr_free(mean);
    return PARSREC_OK;
}
