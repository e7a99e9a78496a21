/* walker: what a step sees is what a scorer of one row says, at any number of rows, tasks and threads. */
#include "support/testing.h"
#include "support/toy_shop.h"

#include <stdatomic.h>

#include "data/histories.h"
#include "eval/walker.h"
#include "model/counting/counting.h"

enum { USERS = 40, ITEMS = 30, MOST = 5, PER_TASK = 9 };

typedef struct study {
    toy_shop shop;
    pr_model *model;
    double seen[USERS][3][MOST]; /* score of the item to place, by user, row and step */
    int begun[USERS], steps[USERS];
    atomic_int ended;
    int collected;
    uint32_t variants;
} study;

static const int32_t *basket_of(const study *s, size_t user)
{
    const pr_dataset *d = &s->shop.data;
    return d->action_items + d->session_offsets[d->user_offsets[user + 1] - 1];
}

static size_t size_of(const study *s, size_t user)
{
    const int64_t *end = s->shop.data.session_offsets + s->shop.data.user_offsets[user + 1];
    return (size_t)(end[0] - end[-1]);
}

static size_t list(void *context, size_t task, unsigned worker, pr_walk_basket *out)
{
    (void)worker;
    const study *s = context;
    size_t count = 0;
    for (size_t u = task * PER_TASK; u < (task + 1) * PER_TASK && u < USERS; u++)
        out[count++] = (pr_walk_basket){.user = (uint32_t)u,
                                        .session = (uint32_t)s->shop.data.user_offsets[u + 1] - 1,
                                        .steps = (uint32_t)size_of(s, u),
                                        .rows = s->variants,
                                        .index = (uint32_t)u};
    return count;
}

static void begin(void *context, const pr_walk_step *at)
{
    study *s = context;
    assert_null(at->scores);
    assert_int_equal(at->start->user, at->basket->user);
    s->begun[at->basket->user]++;
}

/* Row k leaves out the item of step k - 1. */
static void step(void *context, const pr_walk_step *at, int32_t *items)
{
    study *s = context;
    uint32_t user = at->basket->user;
    int32_t item = basket_of(s, user)[at->number];
    assert_int_equal(at->basket->index, user);
    assert_int_equal(s->steps[user]++, (int)at->number);
    assert_true((at->scores != NULL) == (at->number > 0));
    for (size_t k = 0; k < s->variants; k++) {
        assert_int_equal(items[k], -1);
        float alone;
        pr_scorer_score(at->scorer, at->row + k, &item, 1, &alone);
        s->seen[user][k][at->number] = (double)alone;
        if (at->scores != NULL)
            assert_close(at->scores[k * ITEMS + (size_t)item], (double)alone, 0);
        items[k] = k == at->number + 1 ? -1 : item;
    }
}

static void end_task(void *context, size_t task, unsigned worker)
{
    (void)task;
    (void)worker;
    study *s = context;
    atomic_fetch_add(&s->ended, 1);
}

static parsrec_status collect(void *context, size_t first, size_t count, parsrec_error *err)
{
    (void)err;
    study *s = context;
    assert_int_equal(s->collected, (int)first);
    s->collected += (int)count;
    return PARSREC_OK;
}

static pr_walk walk_of(study *s, size_t rows)
{
    return (pr_walk){.model = s->model,
                     .data = &s->shop.data,
                     .tasks = (USERS + PER_TASK - 1) / PER_TASK,
                     .tasks_per_round = 2,
                     .task_most = PER_TASK,
                     .rows = rows,
                     .longest = MOST,
                     .scored_from = 1,
                     .stage = "testing",
                     .basket_count = USERS,
                     .context = s,
                     .list = list,
                     .begin = begin,
                     .step = step,
                     .end = end_task,
                     .collect = collect};
}

static void make(study *s, uint32_t variants)
{
    parsrec_error err;
    pr_config config;
    *s = (study){.variants = variants};
    s->shop = toy_make(
        (toy_sizes){.users = USERS, .items = ITEMS, .least = 3, .spread = 4, .sizes = MOST});
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    assert_ok(pr_model_defaults(&config, "markov", &err));
    assert_ok(
        pr_count_model(&s->model, "markov", &config, &s->shop.data, &scope, NULL, NULL, &err));
}

static void unmake(study *s)
{
    pr_model_free(s->model);
    toy_free(&s->shop);
}

/* The same by a scorer of one row. */
static void check_by_hand(const study *s)
{
    parsrec_error err;
    pr_scorer *one;
    assert_ok(pr_scorer_new(&one, s->model, 1, MOST, &err));
    for (size_t u = 0; u < USERS; u++)
        for (size_t k = 0; k < s->variants; k++) {
            size_t session = (size_t)s->shop.data.user_offsets[u + 1] - 1;
            pr_start start = {.user = (int32_t)u,
                              .history = pr_history_before(&s->shop.data, u, session)};
            pr_scorer_start(one, &start, 1);
            for (size_t j = 0; j < size_of(s, u); j++) {
                int32_t item = basket_of(s, u)[j];
                float alone;
                pr_scorer_score(one, 0, &item, 1, &alone);
                assert_close(s->seen[u][k][j], (double)alone, 0);
                if (k != j + 1)
                    pr_scorer_place(one, &item);
            }
        }
    pr_scorer_free(one);
}

static void every_step_of_every_basket(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++)
        for (size_t rows = 3; rows <= 12; rows += 4)
            for (uint32_t variants = 1; variants <= 3; variants += 2) {
                parsrec_error err;
                pr_pool *pool;
                study s;
                make(&s, variants);
                assert_ok(pr_pool_new(&pool, threads, &err));
                pr_walk w = walk_of(&s, rows);
                assert_ok(pr_walk_run(&w, pool, NULL, &err));
                for (size_t u = 0; u < USERS; u++) {
                    assert_int_equal(s.begun[u], 1);
                    assert_int_equal(s.steps[u], (int)size_of(&s, u));
                }
                assert_int_equal(s.ended, w.tasks);
                assert_int_equal(s.collected, w.tasks);
                check_by_hand(&s);
                pr_pool_free(pool);
                unmake(&s);
            }
}

static int stop_after_ten(void *context, const parsrec_progress *p)
{
    (void)context;
    assert_string_equal(p->unit, "baskets");
    assert_int_equal(p->total, USERS);
    return p->done >= 10;
}

static void a_walk_can_be_stopped(void **state)
{
    (void)state;
    parsrec_error err = {0};
    parsrec_hooks hooks = {.on_progress = stop_after_ten};
    pr_pool *pool;
    study s;
    make(&s, 1);
    assert_ok(pr_pool_new(&pool, 1, &err));
    pr_walk w = walk_of(&s, 4);
    assert_int_equal(pr_walk_run(&w, pool, &hooks, &err), PARSREC_E_STOPPED);
    assert_string_equal(err.message, "stopped while testing");
    assert_int_equal(s.collected, 0); /* the first round was not finished */
    pr_pool_free(pool);
    unmake(&s);
}

static void rows_fit_the_scores(void **state)
{
    (void)state;
    assert_int_equal(pr_walk_rows_within(32, 1000, 1 << 20), 32);
    assert_int_equal(pr_walk_rows_within(32, 100000, 1 << 20), 10);
    assert_int_equal(pr_walk_rows_within(32, 2 << 20, 1 << 20), 1);
    assert_int_equal(pr_walk_rows_within(32, 0, 1 << 20), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_every_basket),
        cmocka_unit_test(a_walk_can_be_stopped),
        cmocka_unit_test(rows_fit_the_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
