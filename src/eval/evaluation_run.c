/* Baskets of like length side by side, a group a task. A group's result depends on its baskets alone,
 * so any number of threads gives the same. */
#include "base/memory.h"
#include "eval/basket_walk.h"

/* Rows of a group: many where baskets are small, few where they are long, so that the keys of a
 * group fit in the cache; and over the whole catalogue so few that their scores stay below a limit. */
enum { SMALL_BASKET = 64, LONG_ROWS = 4, GROUPS_A_ROUND = 16 };
enum { FULL_SCORES = 4 << 20 };

typedef struct run {
    pr_evaluation *e;
    pr_desk *desks;
    size_t width, long_width; /* rows of a group */
    size_t long_count;        /* baskets, at the front, that are too long for the small session */
    size_t long_groups, groups, first_group;
} run;

static size_t rows_within(size_t most, const pr_evaluation *e)
{
    size_t fit = FULL_SCORES / (e->data->items > 0 ? e->data->items : 1);
    if (e->protocol.negatives > 0 || fit >= most)
        return most;
    return fit > 0 ? fit : 1;
}

static void run_group(void *context, size_t task, unsigned worker)
{
    run *r = context;
    pr_desk *own = &r->desks[worker];
    size_t group = r->first_group + task;
    bool is_long = group < r->long_groups;
    size_t width = is_long ? r->long_width : r->width;
    size_t first = is_long ? group * width : r->long_count + (group - r->long_groups) * width;
    size_t end = is_long ? r->long_count : r->e->count;
    size_t rows = end - first < width ? end - first : width;
    pr_walk_group(r->e, own, is_long ? own->large : own->small, r->e->baskets + first, rows, group);
}

static size_t small_steps(const pr_evaluation *e)
{
    return e->longest < SMALL_BASKET ? e->longest : SMALL_BASKET;
}

static size_t their_scores(const pr_evaluation *e)
{
    return e->protocol.negatives > 0 ? e->protocol.negatives
                                     : rows_within(PR_WALK_ROWS, e) * e->data->items;
}

size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads)
{
    if (e->count == 0)
        return 0;
    size_t desk_bytes =
        model->kind->session_bytes(model, rows_within(PR_WALK_ROWS, e), small_steps(e));
    if (e->longest > SMALL_BASKET)
        desk_bytes += model->kind->session_bytes(model, rows_within(LONG_ROWS, e), e->longest);
    desk_bytes += their_scores(e) * sizeof(float);
    return threads * (desk_bytes + 2 * e->data->items * sizeof(uint32_t));
}

static parsrec_status make_desk(pr_desk *own, const run *r, const pr_model *model,
                                parsrec_error *err)
{
    const pr_evaluation *e = r->e;
    size_t cells = r->width * e->largest;
    PR_TRY(pr_scorer_new(&own->small, model, r->width, small_steps(e), err));
    if (r->long_count > 0)
        PR_TRY(pr_scorer_new(&own->large, model, r->long_width, e->longest, err));
    PR_TRY(pr_candidate_set_init(&own->candidates, e->data->items, e->protocol.source,
                                 e->protocol.seed, e->protocol.exclude_seen, err));
    own->taken = pr_alloc(cells, sizeof *own->taken);
    own->seen = pr_alloc(cells, sizeof *own->seen);
    own->others = pr_alloc(r->width * e->protocol.negatives, sizeof *own->others);
    own->mine = pr_alloc(e->largest, sizeof *own->mine);
    own->theirs = pr_alloc(their_scores(e), sizeof *own->theirs);
    if (own->taken == NULL || own->seen == NULL || own->others == NULL || own->mine == NULL ||
        own->theirs == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

static void free_desk(pr_desk *own)
{
    pr_scorer_free(own->small);
    pr_scorer_free(own->large);
    pr_candidate_set_free(&own->candidates);
    pr_free(own->taken);
    pr_free(own->seen);
    pr_free(own->others);
    pr_free(own->mine);
    pr_free(own->theirs);
    pr_writer_free(&own->page);
}

static parsrec_status run_groups(run *r, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    /* Who has to stop must not wait for others: a thread alone asks after each group. */
    size_t round = pr_pool_threads(pool) > 1 ? GROUPS_A_ROUND : 1;
    for (r->first_group = 0; r->first_group < r->groups; r->first_group += round) {
        PR_TRY(pr_progress(hooks, "evaluating", "groups", r->first_group, r->groups, err));
        size_t left = r->groups - r->first_group;
        pr_pool_run(pool, run_group, r, left < round ? left : round);
        if (r->e->dump != NULL)
            PR_TRY(pr_ordered_check(r->e->dump, err));
    }
    return PARSREC_OK;
}

static run plan(pr_evaluation *e)
{
    run r = {
        .e = e, .width = rows_within(PR_WALK_ROWS, e), .long_width = rows_within(LONG_ROWS, e)};
    while (r.long_count < e->count && e->baskets[r.long_count].steps > SMALL_BASKET)
        r.long_count++;
    r.long_groups = (r.long_count + r.long_width - 1) / r.long_width;
    r.groups = r.long_groups + (e->count - r.long_count + r.width - 1) / r.width;
    return r;
}

parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err)
{
    unsigned threads = pr_pool_threads(pool);
    run r = plan(e);
    parsrec_status status = PARSREC_OK;
    r.desks = pr_alloc_zero(threads, sizeof *r.desks);
    if (r.desks == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads && e->count > 0; i++)
        PR_TRY_GOTO(make_desk(&r.desks[i], &r, model, err));
    PR_TRY_GOTO(run_groups(&r, pool, hooks, err));
    pr_evaluation_sum(e, e->baskets, scores);
done:
    for (unsigned i = 0; i < threads; i++)
        free_desk(&r.desks[i]);
    pr_free(r.desks);
    return status;
}
