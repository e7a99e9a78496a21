/* The last step of a training with newest = on: what it changes, what it leaves alone, and that stops in it do
 * not matter. */
#include "support/toy_run.h"

static const toy_sizes ordinary = {.users = 30, .items = 17, .least = 4, .spread = 4, .sizes = 4};

static pr_train_plan plan_of(const toy_kind *kind, int epochs, int newest)
{
    pr_train_plan plan = toy_plan(kind, 4, 14, epochs);
    plan.config.newest = newest;
    return plan;
}

/* A plan of four epochs, the first of which is not the best: `off` is its result without the step. */
static pr_train_plan suitable_plan(const toy_kind *kind, const pr_dataset *data,
                                   pr_train_result *off)
{
    parsrec_error err;
    for (uint64_t seed = 1;; seed++) {
        pr_train_plan plan = plan_of(kind, 4, 0);
        plan.seed = seed;
        assert_ok(toy_train(data, &plan, 1, NULL, off, &err));
        plan.config.newest = 1;
        if (off->best_epoch >= 2)
            return plan;
        pr_train_result_free(off);
        assert_true(seed < 20);
    }
}

/* Whether everything learnt, or everything counted, is the same in two models of one layout. */
static bool same_weights(const pr_model *a, const pr_model *b, bool counted)
{
    assert_int_equal(a->params.count, b->params.count);
    for (size_t i = 0; i < a->params.count; i++) {
        const pr_param *p = &a->params.list[i], *q = &b->params.list[i];
        assert_int_equal(pr_param_size(p), pr_param_size(q));
        if (p->counted == counted && memcmp(a->weights + p->at, b->weights + q->at,
                                            pr_param_size(p) * sizeof *a->weights) != 0)
            return false;
    }
    return true;
}

static void what_is_learnt_changes_and_can_be_exchanged(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_result off, on;
    pr_train_plan plan = suitable_plan(*state, &shop.data, &off);
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, &on, &err));
    assert_int_equal(off.best_epoch, on.best_epoch);
    assert_null(off.aside.weights);
    assert_non_null(on.aside.weights);
    assert_true(same_weights(off.model, on.model, true)); /* counts, and the weights of the mix */
    assert_false(same_weights(off.model, on.model, false));
    pr_aside_exchange(&on.aside, on.model);
    assert_true(same_weights(off.model, on.model, true));
    assert_true(same_weights(off.model, on.model, false));
    pr_train_result_free(&off);
    pr_train_result_free(&on);
    toy_free(&shop);
}

/* The step begins again after a stop in it; the checkpoint is that of the last epoch. */
static void a_stop_does_not_matter(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_result off;
    pr_train_plan plan = suitable_plan(*state, &shop.data, &off);
    toy_stop all = {0};
    pr_train_result_free(&off);
    assert_ok(toy_train(&shop.data, &plan, 2, &all, NULL, &err));
    toy_bytes whole = toy_read(toy_path("model"));
    plan.checkpoint = toy_path("ckpt");
    unsigned stopped = 0;
    for (unsigned at = all.calls; at > 0; at--) {
        toy_stop stop = {.at = at};
        assert_int_equal(toy_train(&shop.data, &plan, 1, &stop, NULL, &err), PARSREC_E_STOPPED);
        if (strstr(err.message, "while the best one learnt from the validation sessions") == NULL)
            break;
        stopped++;
        pr_train_plan rest = {.resume = plan.checkpoint, .checkpoint_seconds = 1e9};
        assert_ok(toy_train(&shop.data, &rest, 2, NULL, NULL, &err));
        toy_assert_model(&whole);
    }
    assert_true(stopped >= 4);
    free(whole.bytes);
    toy_free(&shop);
}

/* One epoch has no half; and without validation nobody is left out. */
static void there_may_be_nothing_to_learn(void **state)
{
    parsrec_error err;
    static const toy_sizes two_sessions = {
        .users = 30, .items = 17, .least = 2, .spread = 1, .sizes = 4};
    for (int i = 0; i < 2; i++) {
        toy_shop shop = toy_make(i == 0 ? ordinary : two_sessions);
        pr_train_result on;
        pr_train_plan plan = plan_of(*state, i == 0 ? 1 : 3, 1);
        assert_ok(toy_train(&shop.data, &plan, 1, NULL, &on, &err));
        assert_null(on.aside.weights);
        pr_train_result_free(&on);
        toy_free(&shop);
    }
}

int main(void)
{
    static const struct {
        const char *title;
        CMUnitTestFunction check;
    } checks[] = {
        {"what is learnt changes and can be exchanged",
         what_is_learnt_changes_and_can_be_exchanged},
        {"a stop does not matter", a_stop_does_not_matter},
        {"there may be nothing to learn", there_may_be_nothing_to_learn},
    };
    static const size_t kinds[] = {0, 3, 5}; /* dense and sparse gradients; sequences */
    enum { CHECKS = sizeof checks / sizeof *checks, KINDS = sizeof kinds / sizeof *kinds };
    static char titles[CHECKS * KINDS][100];
    struct CMUnitTest tests[CHECKS * KINDS];
    for (size_t i = 0; i < CHECKS * KINDS; i++) {
        const toy_kind *kind = &toy_kinds[kinds[i % KINDS]];
        snprintf(titles[i], sizeof titles[i], "%s: %s", kind->title, checks[i / KINDS].title);
        tests[i] = (struct CMUnitTest){.name = titles[i],
                                       .test_func = checks[i / KINDS].check,
                                       .initial_state = (void *)(uintptr_t)kind};
    }
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
