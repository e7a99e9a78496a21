/* The baskets of a protocol, their walk with a model, and the same baskets with random ranks. */
#include "eval/evaluation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/histories.h"
#include "eval/candidates.h"
#include "eval/score_dump.h"
#include "eval/walker.h"
#include "model/counting/counting.h"
#include "model/user_rows.h"

static int longer_first(const void *left, const void *right)
{
    const pr_evaluated *a = left, *b = right;
    if (a->steps != b->steps)
        return a->steps > b->steps ? -1 : 1;
    return (a->session > b->session) - (a->session < b->session);
}

/* The sessions of a user that a protocol evaluates: from *first up to, not including, the one
 * returned. */
static int64_t sessions_of(const pr_dataset *data, size_t user, const pr_eval_protocol *p,
                           int64_t *first)
{
    *first = pr_split_session(data, user, p->part, p->held_out);
    if (*first < 0 || (p->users != NULL && !p->users[user]))
        return *first;
    if (p->part == PR_VALID || pr_split_whole_user(data, user))
        return *first + 1;
    *first = data->user_offsets[user + 1] - (int64_t)p->tested;
    return data->user_offsets[user + 1];
}

static void add_sessions(pr_evaluation *e, size_t user)
{
    int64_t first, end = sessions_of(e->data, user, &e->protocol, &first);
    for (int64_t s = first; s < end; s++) {
        size_t size = (size_t)(e->data->session_offsets[s + 1] - e->data->session_offsets[s]);
        /* Nothing precedes the first item of a session without a customer, so `next` does not ask
         * for it. */
        bool unasked = e->data->by_users && s == e->data->user_offsets[user] &&
                       e->protocol.rule == &pr_rule_next;
        if (size < e->protocol.rule->smallest + unasked)
            continue;
        if (e->baskets != NULL)
            e->baskets[e->count] =
                (pr_evaluated){.user = (uint32_t)user,
                               .session = (uint32_t)s,
                               .size = (uint32_t)size,
                               .unasked = unasked,
                               .steps = e->protocol.rule->one_step ? 1 : (uint32_t)size};
        e->count++;
        e->largest = size > e->largest ? size : e->largest;
    }
}

/* Counts the baskets and finds the largest; also lists them if e->baskets has been allocated. */
static void list_baskets(pr_evaluation *e)
{
    e->count = 0;
    for (size_t u = 0; u < e->data->users; u++)
        add_sessions(e, u);
}

/* With candidates from a file: fails for a user without any, and sets the protocol's number of
 * negatives to the length of the longest list. */
static parsrec_status use_listed_candidates(pr_evaluation *e, parsrec_error *err)
{
    const pr_candidate_source *s = &e->protocol.source;
    if (s->kind != PARSREC_CANDIDATES_FILE)
        return PARSREC_OK;
    for (size_t i = 0; i < e->count; i++) {
        uint32_t user = e->baskets[i].user;
        pr_excerpt hold;
        if (s->offsets[user] == s->offsets[user + 1])
            return pr_fail(err, PARSREC_E_INPUT, "user %s has no candidates in the file",
                           pr_show(&hold, pr_name(&e->data->user_keys, user)));
    }
    e->protocol.negatives = s->longest;
    return PARSREC_OK;
}

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_eval_protocol *protocol, parsrec_error *err)
{
    *e = (pr_evaluation){.data = data, .protocol = *protocol};
    list_baskets(e);
    size_t width = pr_sums_count(protocol);
    e->baskets = pr_alloc(e->count, sizeof *e->baskets);
    e->sums = pr_alloc_zero(e->count, width * sizeof *e->sums);
    if (e->baskets == NULL || e->sums == NULL) {
        pr_evaluation_free(e);
        return pr_fail_memory(err);
    }
    list_baskets(e);
    qsort(e->baskets, e->count, sizeof *e->baskets, longer_first);
    for (size_t i = 0; i < e->count; i++)
        e->baskets[i].sums = e->sums + i * width;
    e->longest = e->count > 0 ? e->baskets[0].steps : 0;
    parsrec_status status = use_listed_candidates(e, err);
    if (status != PARSREC_OK)
        pr_evaluation_free(e);
    return status;
}

void pr_evaluation_free(pr_evaluation *e)
{
    pr_free(e->baskets);
    pr_free(e->sums);
    *e = (pr_evaluation){0};
}

parsrec_status pr_evaluation_validation(pr_evaluation *e, const pr_dataset *data, size_t held_out,
                                        const bool *users, parsrec_error *err)
{
    enum { LARGE_CATALOGUE = 20000 };
    pr_eval_protocol p = pr_protocol_paper(PR_VALID);
    p.held_out = held_out;
    p.users = users;
    PR_TRY(pr_evaluation_init(e, data, &p, err));
    if (e->count > 0)
        return PARSREC_OK;
    pr_evaluation_free(e);
    p.rule = &pr_rule_next;
    if (data->items <= LARGE_CATALOGUE)
        p.negatives = 0;
    return pr_evaluation_init(e, data, &p, err);
}

parsrec_status pr_evaluation_recount(pr_model **out, const pr_model *model, const pr_dataset *data,
                                     pr_split_part part, const bool *counted, pr_pool *pool,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_scope scope = pr_scope_before(part, (size_t)model->config.last);
    scope.users = counted;
    *out = NULL;
    if (model->kind->count != NULL)
        return pr_count_model(out, model->kind->name, &model->config, data, &scope, pool, hooks,
                              err);
    if (!pr_recounts(model, part == PR_VALID))
        return PARSREC_OK;
    pr_counted from = {.data = data, .scope = scope, .pool = pool, .hooks = hooks};
    return pr_model_recounted(out, model, &from, err);
}

/* ---- the walk ---- */

enum {
    ROWS = 32,                /* of a group, at most; a basket has one row */
    LONG_ROWS = 4,            /* of a group of long baskets */
    ROW_ITEMS_MOST = 8 << 20, /* rows · items, since a row keeps scores or marks of every item */
    TASKS_PER_ROUND = 16,
    PAGE = 1 << 20, /* bytes of a dump that are handed in at once, or less at the end of a task */
};

/* A basket of the group that is being walked. */
typedef struct open_basket {
    pr_evaluated *basket;
    const int32_t *items; /* its own */
    bool *taken, *seen;   /* [largest]: placed already; in the user's history */
    int32_t *others;      /* [negatives]: what its items are ranked against */
} open_basket;

/* Scratch memory of one thread. */
typedef struct scratch {
    pr_candidate_sampler candidates;
    open_basket open[ROWS]; /* by row of the scorer */
    bool *taken, *seen;     /* [rows · largest] */
    int32_t *others;        /* [rows · negatives] */
    float *mine;            /* [largest] */
    float *theirs;          /* [negatives] */
    pr_writer page;         /* of a dump: text on its way to the file */
} scratch;

typedef struct run {
    pr_evaluation *e;
    pr_walk walk;
    scratch *scratches;
    size_t long_count; /* long baskets; being sorted by steps, they come first */
    size_t long_tasks; /* tasks of long baskets, which come first too */
    size_t all_tasks;  /* of all ranks. Of n ranks, rank r has the tasks r, r + n, r + 2n, ... */
} run;

/* The baskets of a task, by its number among those of all ranks: from the one returned up to, not
 * including, *end. A task has as many consecutive baskets as a group has rows. */
static size_t baskets_of(const run *r, size_t task, size_t *end)
{
    bool is_long = task < r->long_tasks;
    size_t width = is_long ? r->walk.long_rows : r->walk.rows;
    size_t first = is_long ? task * width : r->long_count + (task - r->long_tasks) * width;
    size_t most = is_long ? r->long_count : r->e->count;
    *end = first + width < most ? first + width : most;
    return first;
}

static size_t list(void *context, size_t task, unsigned worker, pr_walk_basket *out)
{
    (void)worker;
    const run *r = context;
    const pr_ranks *ranks = r->e->ranks;
    size_t end, count = 0;
    size_t first =
        baskets_of(r, task * parsrec_ranks_size(ranks) + parsrec_ranks_rank(ranks), &end);
    for (; first + count < end; count++) {
        const pr_evaluated *b = &r->e->baskets[first + count];
        out[count].user = b->user;
        out[count].session = b->session;
        out[count].steps = b->steps;
        out[count].index = (uint32_t)(first + count);
    }
    return count;
}

static void begin(void *context, const pr_walk_step *at)
{
    const run *r = context;
    const pr_evaluation *e = r->e;
    size_t negatives = e->protocol.negatives;
    scratch *own = &r->scratches[at->worker];
    assert(at->basket->rows == 1 && at->row < ROWS);
    open_basket *c = &own->open[at->row];
    pr_evaluated *b = &e->baskets[at->basket->index];
    *c = (open_basket){.basket = b,
                       .items = e->data->action_items + e->data->session_offsets[b->session],
                       .taken = own->taken + at->row * e->largest,
                       .seen = own->seen + at->row * e->largest,
                       .others = own->others + at->row * negatives};
    memset(c->taken, 0, b->size * sizeof *c->taken);
    memset(b->sums, 0, pr_sums_count(&e->protocol) * sizeof *b->sums);
    pr_candidate_sampler_begin(&own->candidates, &at->start->history, c->items, b->size, c->seen);
    b->others =
        (uint32_t)(negatives == 0 ? own->candidates.left
                                  : pr_candidate_sampler_draw(&own->candidates, b->user, b->session,
                                                              negatives, c->others));
    if (e->dump != NULL)
        pr_dump_basket(&own->page, e, b, &own->candidates, c->items, c->others);
}

/* Sets own->mine and, with candidates, own->theirs. Over the whole catalogue the own items are
 * taken out of the row of all scores, so that those of the others are left there. */
static void take_scores(const pr_evaluation *e, scratch *own, const open_basket *c,
                        const pr_walk_step *at)
{
    const pr_evaluated *b = c->basket;
    const pr_history *history = &at->start->history;
    if (e->protocol.negatives > 0) {
        pr_scorer_score(at->scorer, at->row, c->items, b->size, own->mine);
        pr_scorer_score(at->scorer, at->row, c->others, b->others, own->theirs);
        if (e->dump != NULL)
            pr_dump_sampled(&own->page, e, b, at->number, own->mine, own->theirs);
    } else {
        if (e->dump != NULL)
            pr_dump_full(&own->page, e, b, at->number, at->scores);
        for (size_t i = 0; i < b->size; i++) {
            own->mine[i] = at->scores[c->items[i]];
            at->scores[c->items[i]] = -INFINITY;
        }
        for (size_t i = 0; e->protocol.exclude_seen && i < history->count; i++)
            at->scores[history->items[i]] = -INFINITY;
    }
    for (size_t i = 0; i < b->size; i++) /* a NaN is no recommendation */
        if (!(own->mine[i] > -INFINITY) || (e->protocol.exclude_seen && c->seen[i]))
            own->mine[i] = -INFINITY;
}

static void step(void *context, const pr_walk_step *at, int32_t *items)
{
    const run *r = context;
    const pr_evaluation *e = r->e;
    scratch *own = &r->scratches[at->worker];
    open_basket *c = &own->open[at->row];
    bool full = e->protocol.negatives == 0;
    take_scores(e, own, c, at);
    pr_rule_step s = {.protocol = &e->protocol,
                      .number = at->number,
                      .unasked = c->basket->unasked && at->number == 0,
                      .size = c->basket->size,
                      .taken = c->taken,
                      .seen = c->seen,
                      .mine = own->mine,
                      .theirs = full ? at->scores : own->theirs,
                      .their_count = full ? e->data->items : c->basket->others};
    size_t placed = e->protocol.rule->count_step(&s, c->basket->sums);
    assert(placed < c->basket->size && !c->taken[placed]);
    c->taken[placed] = true;
    items[0] = c->items[placed];
    if (e->dump == NULL)
        return;
    pr_dump_placed(&own->page, e, placed);
    if (own->page.size >= PAGE)
        pr_ordered_write(e->dump, at->task, &own->page, false);
}

static void end_task(void *context, size_t task, unsigned worker)
{
    const run *r = context;
    if (r->e->dump != NULL)
        pr_ordered_write(r->e->dump, task, &r->scratches[worker].page, true);
}

static parsrec_status collect(void *context, size_t first, size_t count, parsrec_error *err)
{
    (void)first;
    (void)count;
    const run *r = context;
    return r->e->dump != NULL ? pr_ordered_check(r->e->dump, err) : PARSREC_OK;
}

/* A run without its scratch memory. */
static run plan_run(pr_evaluation *e, const pr_model *model)
{
    run r = {.e = e,
             .walk = {.model = model,
                      .data = e->data,
                      .tasks_per_round = TASKS_PER_ROUND,
                      .rows = pr_walk_rows_within(ROWS, e->data->items, ROW_ITEMS_MOST),
                      .long_rows = pr_walk_rows_within(LONG_ROWS, e->data->items, ROW_ITEMS_MOST),
                      .longest = e->longest,
                      .scored_from = e->protocol.negatives == 0 ? 0 : PR_WALK_UNSCORED,
                      .stage = "evaluating",
                      .list = list,
                      .begin = begin,
                      .step = step,
                      .end = end_task,
                      .collect = collect}};
    pr_walk *w = &r.walk;
    while (r.long_count < e->count && e->baskets[r.long_count].steps > PR_WALK_SHORT)
        r.long_count++;
    r.long_tasks = (r.long_count + w->long_rows - 1) / w->long_rows;
    r.all_tasks = r.long_tasks + (e->count - r.long_count + w->rows - 1) / w->rows;
    size_t size = parsrec_ranks_size(e->ranks), rank = parsrec_ranks_rank(e->ranks);
    w->tasks = r.all_tasks > rank ? (r.all_tasks - rank + size - 1) / size : 0;
    w->basket_count = e->count / size; /* for progress reports only */
    w->task_most = w->rows;
    return r;
}

size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads)
{
    if (e->count == 0)
        return 0;
    pr_evaluation copy = *e;
    run r = plan_run(&copy, model);
    size_t rows = r.walk.rows, items = e->largest, negatives = e->protocol.negatives;
    size_t own = rows * (2 * items * sizeof(bool) + negatives * sizeof(int32_t)) +
                 (items + negatives) * sizeof(float) + 2 * e->data->items * sizeof(uint32_t);
    return pr_walk_bytes(&r.walk, threads) + threads * own;
}

static parsrec_status scratch_init(scratch *own, const run *r, parsrec_error *err)
{
    const pr_evaluation *e = r->e;
    size_t cells = r->walk.rows * e->largest;
    PR_TRY(pr_candidate_sampler_init(&own->candidates, e->data->items, &e->protocol.source,
                                     e->protocol.seed, e->protocol.exclude_seen, err));
    own->taken = pr_alloc(cells, sizeof *own->taken);
    own->seen = pr_alloc(cells, sizeof *own->seen);
    own->others = pr_alloc(r->walk.rows * e->protocol.negatives, sizeof *own->others);
    own->mine = pr_alloc(e->largest, sizeof *own->mine);
    own->theirs = pr_alloc(e->protocol.negatives, sizeof *own->theirs);
    bool all = own->taken != NULL && own->seen != NULL && own->others != NULL &&
               own->mine != NULL && own->theirs != NULL;
    return all ? PARSREC_OK : pr_fail_memory(err);
}

static void scratch_free(scratch *own)
{
    pr_candidate_sampler_free(&own->candidates);
    pr_free(own->taken);
    pr_free(own->seen);
    pr_free(own->others);
    pr_free(own->mine);
    pr_free(own->theirs);
    pr_writer_free(&own->page);
}

/* If ranks divide the rows of the model's users, copies to each rank the rows that its baskets
 * need. */
static parsrec_status bring_users(const run *r, parsrec_error *err)
{
    const pr_evaluation *e = r->e;
    pr_user_rows *rows = r->walk.model->user_rows;
    unsigned size = parsrec_ranks_size(e->ranks);
    if (rows == NULL || e->ranks == NULL)
        return PARSREC_OK;
    for (unsigned rank = 0; rank < size; rank++)
        for (size_t task = rank, end; task < r->all_tasks; task += size)
            for (size_t i = baskets_of(r, task, &end); i < end; i++)
                PR_TRY(
                    pr_user_rows_want(rows, rank, pr_known_user(e->data, e->baskets[i].user), err));
    return pr_user_rows_bring(rows, r->walk.model, err);
}

/* What ranks exchange about a basket: its sums, `bytes` long, then `others`. */
static void pack(char *record, const pr_evaluated *b, size_t bytes)
{
    memcpy(record, b->sums, bytes);
    memcpy(record + bytes, &b->others, sizeof b->others);
}

static void unpack(pr_evaluated *b, const char *record, size_t bytes)
{
    memcpy(b->sums, record, bytes);
    memcpy(&b->others, record + bytes, sizeof b->others);
}

/* Every rank gets the sums of all baskets. Records are in the order of ranks, then of tasks, then
 * of baskets. */
static parsrec_status share_sums(const run *r, parsrec_error *err)
{
    const pr_evaluation *e = r->e;
    size_t size = parsrec_ranks_size(e->ranks), own = parsrec_ranks_rank(e->ranks);
    size_t bytes = pr_sums_count(&e->protocol) * sizeof(float), at = 0;
    size_t record = bytes + sizeof e->baskets->others;
    char *block = pr_alloc(e->count, record);
    size_t *begin = pr_alloc(size + 1, sizeof *begin);
    parsrec_status status = PARSREC_OK;
    if (block == NULL || begin == NULL)
        PR_TRY_GOTO(pr_fail_memory(err));
    for (size_t rank = 0; rank < size; rank++) {
        begin[rank] = at;
        for (size_t task = rank, end; task < r->all_tasks; task += size)
            for (size_t i = baskets_of(r, task, &end); i < end; i++, at += record)
                if (rank == own)
                    pack(block + at, &e->baskets[i], bytes);
    }
    begin[size] = at;
    pr_ranks_share(e->ranks, block, begin);
    PR_TRY_GOTO(pr_ranks_exchange(e->ranks, err));
    at = 0;
    for (size_t rank = 0; rank < size; rank++)
        for (size_t task = rank, end; task < r->all_tasks; task += size)
            for (size_t i = baskets_of(r, task, &end); i < end; i++, at += record)
                if (rank != own)
                    unpack(&e->baskets[i], block + at, bytes);
done:
    pr_free(block);
    pr_free(begin);
    return status;
}

parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err)
{
    unsigned threads = pr_pool_threads(pool);
    run r = plan_run(e, model);
    parsrec_status status = PARSREC_OK;
    assert(e->dump == NULL || e->ranks == NULL);
    r.walk.context = &r;
    r.scratches = pr_alloc_zero(threads, sizeof *r.scratches);
    if (r.scratches == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads && e->count > 0; i++)
        PR_TRY_GOTO(scratch_init(&r.scratches[i], &r, err));
    e->complete = false;
    PR_TRY_GOTO(bring_users(&r, err));
    pr_ranks_work work;
    hooks = pr_ranks_work_begin(&work, e->ranks, hooks);
    status = pr_walk_run(&r.walk, pool, hooks, err);
    PR_TRY_GOTO(pr_ranks_work_end(&work, status, err));
    if (e->ranks != NULL)
        PR_TRY_GOTO(share_sums(&r, err));
    e->complete = true;
    pr_scores_sum(scores, &e->protocol, e->baskets, e->count);
done:
    for (unsigned i = 0; i < threads; i++)
        scratch_free(&r.scratches[i]);
    pr_free(r.scratches);
    return status;
}

/* ---- the random ranker ----
 *
 * What a ranker that knows nothing would score. Only the positions of a basket's own items in a
 * random order matter, so the others are not ranked and the size of the catalogue costs nothing. */

enum {
    PURPOSE = 0xC4A2CE, /* keeps these draws apart from all others of the same seed */
    DRAWS = 10,
};

typedef struct random_ranker {
    pr_rng rng;
    pr_candidate_sampler candidates; /* used only to find out what the user had before */
    pr_evaluated *baskets;           /* those of the evaluation, with `sums` instead of its own */
    float *sums;
    /* For one basket, each [largest] and by own item unless something else is said: */
    bool *taken, *seen;
    float *mine;     /* minus the position; -INFINITY: not ranked */
    size_t *above;   /* how many of the others rank above */
    size_t *place;   /* positions drawn, ascending */
    uint32_t *order; /* own items that may be recommended, in random order: order[i] has place[i] */
} random_ranker;

/* Draws `count` different numbers below `range`, ascending, every set of them equally likely. */
static void draw_places(pr_stream *stream, size_t *place, size_t count, size_t range)
{
    for (size_t i = 0; i < count; i++) {
        /* `at` counts free places only: each taken place before it moves it up by one. */
        size_t at = pr_stream_below(stream, (uint32_t)(range - i)), passed = 0;
        while (passed < i && place[passed] <= at + passed)
            passed++;
        for (size_t j = i; j > passed; j--)
            place[j] = place[j - 1];
        place[passed] = at + passed;
    }
}

/* Puts the own items that may be recommended at random positions among the others. */
static void shuffle_basket(random_ranker *g, const pr_eval_protocol *p, const pr_evaluated *b,
                           uint32_t draw)
{
    size_t ranked = 0;
    pr_stream stream = pr_stream_at(&g->rng, b->user, b->session, draw);
    for (uint32_t i = 0; i < b->size; i++) {
        g->taken[i] = false;
        g->mine[i] = -INFINITY;
        if (!(p->exclude_seen && g->seen[i]))
            g->order[ranked++] = i;
    }
    draw_places(&stream, g->place, ranked, ranked + b->others);
    pr_stream_shuffle(&stream, g->order, ranked, sizeof *g->order);
    for (size_t i = 0; i < ranked; i++) {
        g->mine[g->order[i]] = -(float)g->place[i];
        g->above[g->order[i]] = g->place[i] - i;
    }
}

static void walk_basket(random_ranker *g, const pr_eval_protocol *p, const pr_evaluated *b)
{
    for (size_t i = 0; i < pr_sums_count(p); i++)
        b->sums[i] = 0;
    for (size_t j = 0; j < b->steps; j++) {
        pr_rule_step s = {.protocol = p,
                          .number = j,
                          .unasked = b->unasked && j == 0,
                          .size = b->size,
                          .taken = g->taken,
                          .seen = g->seen,
                          .mine = g->mine,
                          .above = g->above};
        g->taken[p->rule->count_step(&s, b->sums)] = true;
    }
}

static void walk_all(random_ranker *g, const pr_evaluation *e, uint32_t draw)
{
    for (size_t i = 0; i < e->count; i++) {
        const pr_evaluated *b = &g->baskets[i];
        pr_history history = pr_history_before(e->data, b->user, b->session);
        pr_candidate_sampler_begin(&g->candidates, &history,
                                   e->data->action_items + e->data->session_offsets[b->session],
                                   b->size, g->seen);
        shuffle_basket(g, &e->protocol, b, draw);
        walk_basket(g, &e->protocol, b);
    }
}

/* Adds the values of one draw to *total; all other members are the same in each draw. */
static void add_draw(pr_scores *total, const pr_scores *one)
{
    pr_scores before = *total;
    *total = *one;
    for (size_t a = 0; a < PR_ASPECTS; a++)
        for (size_t m = 0; m < PR_MEASURES; m++)
            for (size_t k = 0; k < PR_CUTOFFS; k++)
                total->value[a][m][k] += before.value[a][m][k];
}

/* Free with random_ranker_free, also on failure. */
static parsrec_status random_ranker_init(random_ranker *g, const pr_evaluation *e,
                                         parsrec_error *err)
{
    size_t n = e->largest, width = pr_sums_count(&e->protocol);
    *g = (random_ranker){.rng = pr_rng_make(e->protocol.seed, PURPOSE)};
    PR_TRY(pr_candidate_sampler_init(&g->candidates, e->data->items, NULL, 0, false, err));
    g->baskets = pr_alloc(e->count, sizeof *g->baskets);
    g->sums = pr_alloc(e->count, width * sizeof *g->sums);
    g->taken = pr_alloc(n, sizeof *g->taken);
    g->seen = pr_alloc(n, sizeof *g->seen);
    g->place = pr_alloc(n, sizeof *g->place);
    g->above = pr_alloc(n, sizeof *g->above);
    g->order = pr_alloc(n, sizeof *g->order);
    g->mine = pr_alloc(n, sizeof *g->mine);
    if (g->baskets == NULL || g->sums == NULL || g->taken == NULL || g->seen == NULL ||
        g->place == NULL || g->above == NULL || g->order == NULL || g->mine == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < e->count; i++) {
        g->baskets[i] = e->baskets[i];
        g->baskets[i].sums = g->sums + i * width;
    }
    return PARSREC_OK;
}

static void random_ranker_free(random_ranker *g)
{
    pr_candidate_sampler_free(&g->candidates);
    pr_free(g->baskets);
    pr_free(g->sums);
    pr_free(g->taken);
    pr_free(g->seen);
    pr_free(g->place);
    pr_free(g->above);
    pr_free(g->order);
    pr_free(g->mine);
}

parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err)
{
    random_ranker g;
    assert(e->complete);
    *scores = (pr_scores){0};
    parsrec_status status = random_ranker_init(&g, e, err);
    for (uint32_t draw = 0; draw < DRAWS && status == PARSREC_OK; draw++) {
        pr_scores one;
        walk_all(&g, e, draw);
        pr_scores_sum(&one, &e->protocol, g.baskets, e->count);
        add_draw(scores, &one);
    }
    for (size_t a = 0; a < PR_ASPECTS; a++)
        for (size_t m = 0; m < PR_MEASURES; m++)
            for (size_t k = 0; k < PR_CUTOFFS; k++)
                scores->value[a][m][k] *= 1.0 / (double)DRAWS;
    random_ranker_free(&g);
    return status;
}
