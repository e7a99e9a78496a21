/* Baskets of like size are walked side by side, a group a task; what they score is added up in the
 * order of the baskets. */
#include "eval/remaining.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/pasts.h"
#include "eval/candidates.h"
#include "eval/metrics.h"

/* Rows of a group: many where baskets are small, few where they are long, so that the keys of a
 * group fit in the cache. */
enum { MOST_ROWS = 32, SMALL_BASKET = 64, LONG_ROWS = 4, GROUPS_A_ROUND = 16 };

pr_protocol pr_protocol_paper(pr_part part)
{
    return (pr_protocol){.part = part,
                         .negatives = 100,
                         .seed = 5,
                         .place_k = 10,
                         .k = {1, 5, 10},
                         .k_count = 3,
                         .smallest = 2};
}

/* ---- which baskets ---- */

static size_t size_of(const pr_dataset *data, size_t session)
{
    return (size_t)(data->session_offsets[session + 1] - data->session_offsets[session]);
}

static int larger_first(const void *left, const void *right)
{
    const pr_basket_score *a = left, *b = right;
    if (a->steps != b->steps)
        return a->steps > b->steps ? -1 : 1;
    return (a->session > b->session) - (a->session < b->session);
}

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_protocol *protocol, parsrec_error *err)
{
    *e = (pr_evaluation){.data = data, .protocol = *protocol};
    e->baskets = pr_alloc(data->users, sizeof *e->baskets);
    if (e->baskets == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < data->users; u++) {
        int64_t session = pr_split_session(data, u, protocol->part);
        if (session < 0 || size_of(data, (size_t)session) < protocol->smallest)
            continue;
        e->baskets[e->count++] =
            (pr_basket_score){.user = (uint32_t)u,
                              .session = (uint32_t)session,
                              .steps = (uint32_t)size_of(data, (size_t)session)};
    }
    qsort(e->baskets, e->count, sizeof *e->baskets, larger_first);
    e->largest = e->count > 0 ? e->baskets[0].steps : 0;
    return PARSREC_OK;
}

void pr_evaluation_free(pr_evaluation *e)
{
    pr_free(e->baskets);
    *e = (pr_evaluation){0};
}

/* ---- one group of baskets ---- */

/* A basket on its way: which of its own items are placed, and what it is ranked against. */
typedef struct walk {
    const int32_t *own;
    bool *taken;
    int32_t *others;
    size_t other_count;
} walk;

/* Memory of one thread. */
typedef struct desk {
    pr_session *small, *large; /* for ordinary and for long baskets; large may be NULL */
    pr_candidates candidates;
    bool *taken;     /* [rows · largest] */
    int32_t *others; /* [rows · negatives] */
    float *scores;   /* [largest + negatives] */
} desk;

typedef struct run {
    pr_evaluation *e;
    desk *desks;
    size_t long_count; /* baskets, at the front, that are too long for the small session */
    size_t long_groups, groups, first_group;
} run;

static void begin(pr_evaluation *e, desk *own, pr_session *session, pr_basket_score *baskets,
                  walk *walks, size_t rows)
{
    pr_start starts[MOST_ROWS];
    size_t negatives = e->protocol.negatives, used = 0;
    for (size_t r = 0; r < rows; r++) {
        pr_basket_score *b = &baskets[r];
        starts[r] = (pr_start){.user = (int32_t)b->user,
                               .history = pr_past_before(e->data, b->user, b->session)};
        walks[r] = (walk){.own = e->data->action_items + e->data->session_offsets[b->session],
                          .taken = own->taken + used,
                          .others = own->others + r * negatives};
        for (size_t i = 0; i < b->steps; i++)
            walks[r].taken[i] = false;
        used += b->steps;
        walks[r].other_count =
            pr_candidates_draw(&own->candidates, b->user, b->session, walks[r].own, b->steps,
                               negatives, walks[r].others);
        for (size_t k = 0; k < PR_CUTOFFS; k++)
            b->hits[k] = b->gain[k] = 0;
    }
    pr_session_start(session, starts, rows);
}

/* Counts one step of a basket, given the scores of its own items and of the others, and returns the
 * place of the item that comes into it. */
static size_t count_step(const pr_protocol *p, pr_basket_score *b, bool *taken, const float *mine,
                         const float *theirs, size_t their_count)
{
    size_t best = pr_best_remaining(mine, taken, b->steps);
    size_t rank = pr_rank(mine[best], theirs, their_count);
    for (size_t k = 0; k < p->k_count; k++) {
        b->hits[k] += rank < p->k[k] ? 1.0f : 0.0f;
        b->gain[k] += (float)pr_gain(rank, p->k[k]);
    }
    if (rank >= p->place_k)
        for (best = 0; taken[best];)
            best++;
    taken[best] = true;
    return best;
}

/* Scores one step of one basket and returns the item to place. */
static int32_t step(const pr_protocol *p, desk *own, pr_session *session, pr_basket_score *b,
                    walk *w, size_t row)
{
    float *mine = own->scores, *theirs = own->scores + b->steps;
    pr_session_score(session, row, w->own, b->steps, mine);
    pr_session_score(session, row, w->others, w->other_count, theirs);
    return w->own[count_step(p, b, w->taken, mine, theirs, w->other_count)];
}

static void walk_group(run *r, desk *own, pr_session *session, pr_basket_score *baskets,
                       size_t rows)
{
    walk walks[MOST_ROWS];
    int32_t items[MOST_ROWS];
    begin(r->e, own, session, baskets, walks, rows);
    for (size_t j = 0; j < baskets[0].steps; j++) {
        for (size_t i = 0; i < rows; i++)
            items[i] = j < baskets[i].steps
                           ? step(&r->e->protocol, own, session, &baskets[i], &walks[i], i)
                           : -1;
        if (j + 1 < baskets[0].steps)
            pr_session_place(session, items);
    }
}

static void run_group(void *context, size_t task, unsigned worker)
{
    run *r = context;
    desk *own = &r->desks[worker];
    size_t group = r->first_group + task;
    bool is_long = group < r->long_groups;
    size_t width = is_long ? LONG_ROWS : MOST_ROWS;
    size_t first = is_long ? group * width : r->long_count + (group - r->long_groups) * width;
    size_t end = is_long ? r->long_count : r->e->count;
    size_t rows = end - first < width ? end - first : width;
    walk_group(r, own, is_long ? own->large : own->small, r->e->baskets + first, rows);
}

/* ---- all of them ---- */

size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads)
{
    if (e->count == 0)
        return 0;
    size_t small = e->largest < SMALL_BASKET ? e->largest : SMALL_BASKET;
    size_t desk_bytes = model->kind->session_bytes(model, MOST_ROWS, small);
    if (e->largest > SMALL_BASKET)
        desk_bytes += model->kind->session_bytes(model, LONG_ROWS, e->largest);
    return threads * (desk_bytes + e->data->items * sizeof(uint32_t));
}

static parsrec_status make_desk(desk *own, const run *r, const pr_model *model, parsrec_error *err)
{
    const pr_evaluation *e = r->e;
    size_t small = e->largest < SMALL_BASKET ? e->largest : SMALL_BASKET;
    size_t cells = MOST_ROWS * small;
    if (r->long_count > 0 && LONG_ROWS * e->largest > cells)
        cells = LONG_ROWS * e->largest;
    PR_TRY(pr_session_new(&own->small, model, MOST_ROWS, small, err));
    if (r->long_count > 0)
        PR_TRY(pr_session_new(&own->large, model, LONG_ROWS, e->largest, err));
    PR_TRY(pr_candidates_init(&own->candidates, e->data->items, e->protocol.seed, err));
    own->taken = pr_alloc(cells, sizeof *own->taken);
    own->others = pr_alloc(MOST_ROWS * e->protocol.negatives, sizeof *own->others);
    own->scores = pr_alloc(e->largest + e->protocol.negatives, sizeof *own->scores);
    if (own->taken == NULL || own->others == NULL || own->scores == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

static void free_desk(desk *own)
{
    pr_session_free(own->small);
    pr_session_free(own->large);
    pr_candidates_free(&own->candidates);
    pr_free(own->taken);
    pr_free(own->others);
    pr_free(own->scores);
}

static void add_up(const pr_evaluation *e, const pr_basket_score *baskets, pr_scores *scores)
{
    *scores = (pr_scores){.baskets = e->count};
    for (size_t i = 0; i < e->count; i++) {
        const pr_basket_score *b = &baskets[i];
        scores->steps += b->steps;
        for (size_t k = 0; k < e->protocol.k_count; k++) {
            scores->hit_rate[k] += (double)b->hits[k];
            scores->ndcg[k] += (double)b->gain[k];
            scores->session_precision[k] += (double)b->hits[k] / b->steps;
        }
    }
    for (size_t k = 0; k < e->protocol.k_count && e->count > 0; k++) {
        scores->hit_rate[k] /= (double)scores->steps;
        scores->ndcg[k] /= (double)scores->steps;
        scores->session_precision[k] /= (double)e->count;
    }
}

static parsrec_status run_groups(run *r, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    for (r->first_group = 0; r->first_group < r->groups; r->first_group += GROUPS_A_ROUND) {
        PR_TRY(pr_progress(hooks, "evaluating", "groups", r->first_group, r->groups, err));
        size_t left = r->groups - r->first_group;
        pr_pool_run(pool, run_group, r, left < GROUPS_A_ROUND ? left : GROUPS_A_ROUND);
    }
    return PARSREC_OK;
}

parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err)
{
    unsigned threads = pr_pool_threads(pool);
    run r = {.e = e};
    while (r.long_count < e->count && e->baskets[r.long_count].steps > SMALL_BASKET)
        r.long_count++;
    r.long_groups = (r.long_count + LONG_ROWS - 1) / LONG_ROWS;
    r.groups = r.long_groups + (e->count - r.long_count + MOST_ROWS - 1) / MOST_ROWS;
    parsrec_status status = PARSREC_OK;
    r.desks = pr_alloc_zero(threads, sizeof *r.desks);
    if (r.desks == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads && e->count > 0; i++)
        PR_TRY_GOTO(make_desk(&r.desks[i], &r, model, err));
    PR_TRY_GOTO(run_groups(&r, pool, hooks, err));
    add_up(e, e->baskets, scores);
done:
    for (unsigned i = 0; i < threads; i++)
        free_desk(&r.desks[i]);
    pr_free(r.desks);
    return status;
}

/* ---- by chance ---- */

/* One basket ranked by numbers drawn once for each of its candidates. */
static void walk_by_chance(const pr_evaluation *e, pr_basket_score *b, const pr_rng *rng,
                           bool *taken, float *scores)
{
    size_t left = e->data->items - b->steps;
    size_t others = e->protocol.negatives < left ? e->protocol.negatives : left;
    pr_stream stream = pr_stream_at(rng, b->user, b->session, 0);
    for (size_t i = 0; i < b->steps + others; i++)
        scores[i] = (float)pr_stream_unit(&stream);
    for (size_t i = 0; i < b->steps; i++)
        taken[i] = false;
    for (size_t k = 0; k < PR_CUTOFFS; k++)
        b->hits[k] = b->gain[k] = 0;
    for (size_t j = 0; j < b->steps; j++)
        count_step(&e->protocol, b, taken, scores, scores + b->steps, others);
}

parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err)
{
    enum { PURPOSE = 0xC4A2CE };
    pr_rng rng = pr_rng_make(e->protocol.seed, PURPOSE);
    pr_basket_score *baskets = pr_alloc(e->count, sizeof *baskets);
    bool *taken = pr_alloc(e->largest, sizeof *taken);
    float *numbers = pr_alloc(e->largest + e->protocol.negatives, sizeof *numbers);
    parsrec_status status = PARSREC_OK;
    if (baskets == NULL || taken == NULL || numbers == NULL) {
        status = pr_fail_memory(err);
    } else {
        for (size_t i = 0; i < e->count; i++) {
            baskets[i] = e->baskets[i];
            walk_by_chance(e, &baskets[i], &rng, taken, numbers);
        }
        add_up(e, baskets, scores);
    }
    pr_free(baskets);
    pr_free(taken);
    pr_free(numbers);
    return status;
}
