/* data: training batches hold every training basket once, with little padding. */
#include "support/testing.h"

#include "data/batches.h"

enum { USERS = 40, MOST_SESSIONS = 30 };

/* Of the newest sessions, one is for the test and one for validation. */
static const pr_scope training = {.held = 2, .last = 1};

/* Sessions with common sizes 1..4 and a few rare large ones. */
typedef struct toy {
    pr_dataset data;
    int64_t user_offsets[USERS + 1], session_offsets[USERS * MOST_SESSIONS + 1];
} toy;

static toy *make_toy(void)
{
    toy *t = calloc(1, sizeof *t);
    int64_t s = 0;
    for (int u = 0; u < USERS; u++) {
        int sessions = u == 0 ? 2 : 3 + u % (MOST_SESSIONS - 3); /* user 0 only trains */
        for (int k = 0; k < sessions; k++, s++) {
            int64_t size = (u * 7 + k) % 31 == 0 ? 20 + (u * k) % 100 : 1 + (u + k) % 4;
            t->session_offsets[s + 1] = t->session_offsets[s] + size;
        }
        t->user_offsets[u + 1] = s;
    }
    t->data = (pr_dataset){.users = USERS,
                           .sessions = (size_t)s,
                           .actions = (size_t)t->session_offsets[s],
                           .user_offsets = t->user_offsets,
                           .session_offsets = t->session_offsets};
    return t;
}

static void every_training_basket_comes_once(void **state)
{
    (void)state;
    parsrec_error err;
    toy *t = make_toy();
    pr_batches b;
    assert_ok(pr_batches_init(&b, &t->data, 16, 64, &training, PR_BASKETS, false, 3, &err));
    size_t expected = t->data.sessions - 2 * (USERS - 1);
    assert_int_equal(b.basket_count, expected);
    for (uint32_t epoch = 0; epoch < 3; epoch++) {
        pr_batches_arrange(&b, epoch);
        int *seen = calloc(t->data.sessions, sizeof *seen);
        size_t steps = 0, padded = 0;
        assert_int_equal(b.offsets[b.batch_count], expected);
        for (size_t i = 0; i < b.batch_count; i++) {
            size_t longest = 0, sum = 0, count = b.offsets[i + 1] - b.offsets[i];
            assert_in_range(count, 1, 16);
            for (uint32_t k = b.offsets[i]; k < b.offsets[i + 1]; k++) {
                pr_sample basket = b.baskets[k];
                seen[basket.session]++;
                assert_in_range(basket.session, t->user_offsets[basket.user],
                                t->user_offsets[basket.user + 1] - 1);
                sum += basket.steps;
                longest = basket.steps > longest ? basket.steps : longest;
            }
            assert_true((longest * count - sum) * 10 <= longest * count);
            steps += sum;
            padded += longest * count - sum;
        }
        assert_int_equal(steps, b.steps);
        assert_int_equal(padded, b.padded);
        for (size_t u = 0; u < USERS; u++)
            for (int64_t s = t->user_offsets[u]; s < t->user_offsets[u + 1]; s++)
                assert_int_equal(seen[s], u == 0 || s < t->user_offsets[u + 1] - 2);
        free(seen);
    }
    pr_batches_free(&b);
    free(t);
}

/* With the validation sessions, one more of every user who has one. */
static void sessions_before_the_test_come_once(void **state)
{
    (void)state;
    parsrec_error err;
    toy *t = make_toy();
    pr_batches b;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    assert_ok(pr_batches_init(&b, &t->data, 16, 64, &scope, PR_BASKETS, false, 3, &err));
    assert_int_equal(b.basket_count, t->data.sessions - (USERS - 1));
    pr_batches_arrange(&b, 0);
    int *seen = calloc(t->data.sessions, sizeof *seen);
    for (size_t i = 0; i < b.basket_count; i++)
        seen[b.baskets[i].session]++;
    for (size_t u = 0; u < USERS; u++)
        for (int64_t s = t->user_offsets[u]; s < t->user_offsets[u + 1]; s++)
            assert_int_equal(seen[s], u == 0 || s < t->user_offsets[u + 1] - 1);
    free(seen);
    pr_batches_free(&b);
    free(t);
}

static void epochs_differ_and_come_again(void **state)
{
    (void)state;
    parsrec_error err;
    toy *t = make_toy();
    pr_batches b, c;
    assert_ok(pr_batches_init(&b, &t->data, 16, 64, &training, PR_BASKETS, false, 3, &err));
    assert_ok(pr_batches_init(&c, &t->data, 16, 64, &training, PR_BASKETS, false, 3, &err));
    pr_batches_arrange(&b, 0);
    pr_batches_arrange(&b, 5);
    pr_batches_arrange(&c, 4);
    assert_memory_not_equal(b.baskets, c.baskets, b.basket_count * sizeof *b.baskets);
    pr_batches_arrange(&c, 5);
    assert_memory_equal(b.baskets, c.baskets, b.basket_count * sizeof *b.baskets);
    assert_memory_equal(b.offsets, c.offsets, (b.batch_count + 1) * sizeof *b.offsets);
    pr_batches_free(&b);
    pr_batches_free(&c);
    free(t);
}

/* Breaks between sessions among the items from..end-1 of all actions. */
static size_t breaks_between(const pr_dataset *d, int64_t from, int64_t end)
{
    size_t count = 0;
    for (size_t s = 0; s < d->sessions; s++)
        count += d->session_offsets[s] > from && d->session_offsets[s] < end;
    return count;
}

/* Windows of all of a user's training items predict every item once, the first apart; breaks between
 * sessions count as steps where sequences are separated. */
static void assert_windows_cover(const toy *t, size_t limit, bool separated)
{
    parsrec_error err;
    const pr_dataset *d = &t->data;
    pr_batches b;
    size_t users = 0;
    assert_ok(pr_batches_init(&b, d, 16, limit, &training, PR_WINDOW_ALL, separated, 3, &err));
    pr_batches_arrange(&b, 1);
    unsigned *predicted = calloc(d->actions, sizeof *predicted);
    assert_non_null(predicted);
    for (size_t i = 0; i < b.basket_count; i++) {
        const pr_sample *w = &b.baskets[i];
        int64_t end = d->session_offsets[w->session] - (int64_t)w->later;
        size_t breaks = separated ? breaks_between(d, end - (int64_t)w->steps, end) : 0;
        assert_in_range(w->steps + breaks, 1, limit);
        for (int64_t a = end - (int64_t)w->steps + 1; a < end; a++)
            predicted[a]++;
        users += w->later == 0;
    }
    assert_int_equal(users, USERS);
    for (size_t u = 0; u < USERS; u++) {
        int64_t first = d->session_offsets[d->user_offsets[u]];
        int64_t end = d->session_offsets[d->user_offsets[u + 1] - (u == 0 ? 0 : 2)];
        for (int64_t a = first; a < end; a++)
            assert_int_equal(predicted[a], a > first);
    }
    free(predicted);
    pr_batches_free(&b);
}

static void windows_cover_every_item_once(void **state)
{
    (void)state;
    toy *t = make_toy();
    for (size_t limit = 2; limit < 40; limit += 3) {
        assert_windows_cover(t, limit, false);
        assert_windows_cover(t, limit + 1, true);
    }
    free(t);
}

static void no_training_sessions_is_said(void **state)
{
    (void)state;
    parsrec_error err;
    pr_batches b;
    static const int64_t none[] = {0};
    pr_dataset data = {.user_offsets = none, .session_offsets = none};
    assert_fails(pr_batches_init(&b, &data, 16, 64, &training, PR_BASKETS, false, 3, &err),
                 PARSREC_E_INPUT, "no training sessions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_training_basket_comes_once),
        cmocka_unit_test(sessions_before_the_test_come_once),
        cmocka_unit_test(epochs_differ_and_come_again),
        cmocka_unit_test(windows_cover_every_item_once),
        cmocka_unit_test(no_training_sessions_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
