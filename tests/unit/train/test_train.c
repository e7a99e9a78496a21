/* train: the same bits at any number of threads and after any stop, and every odd data set; for every
 * kind that learns. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "model/storage.h"

static const toy_sizes ordinary = {.users = 40, .items = 50, .least = 3, .spread = 8, .sizes = 5};

/* ---- the same file ---- */

static void threads_do_not_matter(void **state)
{
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 150, .items = 40, .least = 6, .spread = 3, .sizes = 3});
    pr_train_plan plan = toy_plan(*state, 8, 300, 2); /* so many rows make several chunks */
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, NULL, &err));
    toy_bytes one = toy_read(toy_path("model"));
    for (unsigned threads = 2; threads <= 3; threads++) {
        assert_ok(toy_train(&shop.data, &plan, threads, NULL, NULL, &err));
        toy_assert_model(&one);
    }
    plan.seed++;
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, NULL, &err));
    toy_bytes other = toy_read(toy_path("model"));
    assert_int_equal(one.size, other.size);
    assert_memory_not_equal(one.bytes, other.bytes, one.size);
    free(one.bytes);
    free(other.bytes);
    toy_free(&shop);
}

/* Where runs were stopped, in which epoch after which batch, and how often within a validation. */
enum { EPOCHS = 3, BATCHES_MOST = 40 };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { BATCH_OF_STOPS = 20 }; /* each stop costs much more */
#else
enum { BATCH_OF_STOPS = 14 };
#endif
typedef struct stops {
    unsigned batches, validating;
    bool after[EPOCHS][BATCHES_MOST + 1];
} stops;

static bool everywhere(const stops *s)
{
    for (unsigned e = 0; e < EPOCHS; e++)
        for (unsigned b = 1; b <= s->batches; b++)
            if (!s->after[e][b])
                return false;
    return s->validating > 0;
}

/* Runs to the end, stopping at the progress call `first` and at every `pace`-th after it. */
static void train_in_pieces(const pr_dataset *data, pr_train_plan plan, unsigned first,
                            unsigned pace, stops *seen)
{
    parsrec_error err;
    for (unsigned piece = 0;; piece++) {
        toy_stop stop = {.at = piece == 0 ? first : pace};
        parsrec_status status = toy_train(data, &plan, 1 + piece % 2, &stop, NULL, &err);
        if (status == PARSREC_OK)
            return;
        assert_int_equal(status, PARSREC_E_STOPPED);
        unsigned epoch, batch;
        assert_int_equal(sscanf(err.message, "stopped in epoch %u after %u of %u batches", &epoch,
                                &batch, &seen->batches),
                         3);
        assert_in_range(epoch, 1, EPOCHS);
        assert_in_range(batch, 1, seen->batches);
        assert_in_range(seen->batches, 1, BATCHES_MOST);
        seen->after[epoch - 1][batch] = true;
        seen->validating += stop.validating;
        plan.resume = plan.checkpoint;
    }
}

/* Until a run was stopped after every batch of every epoch. */
static void stops_do_not_matter(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(*state, 4, BATCH_OF_STOPS, EPOCHS);
    plan.config.newest = 0; /* begins again after a stop (test_newest.c) */
    toy_stop all = {0};
    assert_ok(toy_train(&shop.data, &plan, 2, &all, NULL, &err));
    toy_bytes whole = toy_read(toy_path("model"));
    stops seen = {0};
    plan.checkpoint = toy_path("ckpt");
    /* Each piece is longer than a validation, which begins again after a stop within it. */
    for (unsigned pace = 2; pace <= all.calls && !everywhere(&seen); pace++)
        for (unsigned first = 1; first <= pace && !everywhere(&seen); first++) {
            train_in_pieces(&shop.data, plan, first, pace, &seen);
            toy_assert_model(&whole);
        }
    assert_true(all.calls > 3 * EPOCHS && everywhere(&seen));
    free(whole.bytes);
    toy_free(&shop);
}

static void checkpoints_within_an_epoch_do_not_matter(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(*state, 4, 16, 2);
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, NULL, &err));
    toy_bytes whole = toy_read(toy_path("model"));
    plan.checkpoint = toy_path("ckpt");
    plan.checkpoint_seconds = 0; /* after every batch */
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, NULL, &err));
    toy_assert_model(&whole);
    free(whole.bytes);
    toy_free(&shop);
}

/* All blocks in files, whose pages are given back all the time. Every second piece of a run has none. */
static void where_blocks_lie_does_not_matter(void **state)
{
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 40, .items = 60, .least = 3, .spread = 2, .sizes = 3});
    pr_train_plan plan = toy_plan(*state, 16, 32, 2);
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, NULL, &err));
    toy_bytes whole = toy_read(toy_path("model"));
    pr_storage storage = {.in_files = {true, true, true, true}};
    assert_ok(pr_pager_new(&storage.pager, toy_path("model"), 1, &err));
    plan.max_memory = UINT64_C(1) << 40;
    plan.storage = &storage;
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, NULL, &err));
    toy_assert_model(&whole);
    plan.checkpoint = toy_path("ckpt");
    parsrec_status status = PARSREC_E_STOPPED;
    for (unsigned piece = 0; status == PARSREC_E_STOPPED; piece++) {
        toy_stop stop = {.at = 6};
        plan.storage = piece % 2 == 0 ? &storage : NULL;
        status = toy_train(&shop.data, &plan, 1, &stop, NULL, &err);
        plan.resume = plan.checkpoint;
        assert_true(piece > 0 || status == PARSREC_E_STOPPED);
    }
    assert_ok(status);
    toy_assert_model(&whole);
    pr_pager_free(storage.pager);
    free(whole.bytes);
    toy_free(&shop);
}

/* What does not fit is refused before any memory is taken, with the least that would do. */
static void too_little_memory_is_refused(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(&toy_kinds[0], 4, 16, 1);
    pr_storage storage = {0};
    assert_ok(pr_pager_new(&storage.pager, toy_path("model"), 1000000, &err));
    plan.max_memory = 1000000;
    plan.storage = &storage;
    assert_fails(toy_train(&shop.data, &plan, 1, NULL, NULL, &err), PARSREC_E_LIMIT,
                 "--max-memory of 1 MB is too little");
    unsigned long long least;
    assert_int_equal(
        sscanf(strchr(err.message, ':'), ": this training needs at least %llu MB", &least), 1);
    storage = (pr_storage){.pager = storage.pager};
    plan.max_memory = (least + 1) * 1000000;
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, NULL, &err));
    for (size_t i = 0; i < PR_BLOCK_USES; i++) /* what is tiny fits as it is */
        assert_false(storage.in_files[i]);
    unlink(toy_path("model"));
    pr_pager_free(storage.pager);
    toy_free(&shop);
}

/* From a small shop what a larger one like it takes: nearly what the run on that one says itself. */
static void memory_of_another_shop_is_computed(void **state)
{
    (void)state;
    static const char *const settings[] = {"dim.user=16", "dim.item=64", "batch=16"};
    const toy_sizes sizes[] = {
        {.users = 40, .items = 500, .least = 3, .spread = 2, .sizes = 3},
        {.users = 400, .items = 5000, .least = 3, .spread = 2, .sizes = 3},
    };
    parsrec_error err;
    parsrec_train_options o = parsrec_train_default();
    o.set = settings;
    o.set_count = 3;
    o.epochs = o.threads = 1;
    toy_shop shops[2];
    parsrec_shop_size wanted[2];
    double said[2];
    pr_train_plan plan = {.kind = "parsrec", .seed = 11, .checkpoint_seconds = 1e9};
    assert_ok(pr_train_settings(&plan.config, &o, &err));
    for (size_t i = 0; i < 2; i++) {
        pr_train_result result;
        shops[i] = toy_make(sizes[i]);
        const pr_dataset *d = &shops[i].data;
        wanted[i] = (parsrec_shop_size){d->users, d->items, d->actions};
        assert_ok(toy_train(d, &plan, 1, NULL, &result, &err));
        said[i] = result.memory;
        pr_train_result_free(&result);
    }
    parsrec_memory needed[2];
    assert_ok(parsrec_memory_needed(needed, wanted, 2, &shops[0].data, &o, &err));
    assert_true(needed[0].train == said[0]);
    assert_true(said[1] > 1.2 * said[0]);
    assert_close(needed[1].train / said[1], 1, 0.05);
    for (size_t i = 0; i < 2; i++) {
        assert_true(needed[i].train_least > 0 && needed[i].tables > 0);
        toy_free(&shops[i]);
    }
    assert_true(needed[1].tables > needed[0].tables);
    unlink(toy_path("model"));
}

/* A rate that falls until the last epoch depends on how many there are. */
static pr_train_plan constant_rate(pr_train_plan plan)
{
    plan.config.rate_warmup = 0;
    plan.config.rate_final = 1;
    return plan;
}

static void a_run_can_be_made_longer(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = constant_rate(toy_plan(*state, 4, 16, 4));
    pr_train_plan shorter = constant_rate(toy_plan(*state, 4, 16, 2));
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, NULL, &err));
    toy_bytes whole = toy_read(toy_path("model"));
    shorter.checkpoint = toy_path("ckpt"); /* the last one stands after epoch 2 */
    assert_ok(toy_train(&shop.data, &shorter, 2, NULL, NULL, &err));
    pr_train_plan on = {.resume = shorter.checkpoint, .checkpoint_seconds = 1e9, .epochs = 4};
    pr_train_result result;
    assert_ok(toy_train(&shop.data, &on, 1, NULL, &result, &err));
    toy_assert_model(&whole);
    assert_int_equal(result.epoch_count, 4);
    assert_true(result.epochs[1].earlier && !result.epochs[2].earlier);
    pr_train_result_free(&result);
    free(whole.bytes);
    toy_free(&shop);
}

static void settings_of_a_run_under_way(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(&toy_kinds[0], 4, 32, 2);
    toy_stop stop = {.at = 5};
    plan.checkpoint = toy_path("ckpt");
    assert_int_equal(toy_train(&shop.data, &plan, 1, &stop, NULL, &err), PARSREC_E_STOPPED);
    static const char *const batch[] = {"batch=16"}, *const rate[] = {"rate=0.002", "clip=1"};
    plan.resume = plan.checkpoint;
    plan.set_count = 1;
    plan.set = batch;
    assert_fails(toy_train(&shop.data, &plan, 1, NULL, NULL, &err), PARSREC_E_CONFIG,
                 "batch is 32; of a run under way");
    plan.set_count = 2;
    plan.set = rate;
    pr_train_result result;
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, &result, &err));
    assert_close(result.model->config.rate, 0.002, 0);
    assert_int_equal(result.model->config.batch, 32);
    pr_train_result_free(&result);
    toy_free(&shop);
}

/* ---- the best epoch ---- */

static void the_best_epoch_is_kept(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = constant_rate(toy_plan(*state, 4, 32, 40));
    plan.config.rate = 0.05; /* so fast that it must turn back */
    plan.config.newest = 0;  /* what follows begins with the moments of the last epoch */
    plan.patience = 3;
    plan.checkpoint = toy_path("ckpt");
    pr_train_result result, again;
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, &result, &err));
    toy_bytes patient = toy_read(toy_path("model"));
    uint32_t best = 1;
    for (uint32_t e = 2; e <= result.epoch_count; e++)
        if (pr_epoch_merit(&result.epochs[e - 1], &plan.config, &pr_rule_remaining) >
            pr_epoch_merit(&result.epochs[best - 1], &plan.config, &pr_rule_remaining))
            best = e;
    assert_true(result.stopped_early);
    assert_int_equal(result.best_epoch, best);
    assert_int_equal(result.epoch_count, best + 3);

    pr_train_plan exact = plan;
    exact.patience = 0;
    exact.config.epochs = (int)best;
    assert_ok(toy_train(&shop.data, &exact, 2, NULL, &again, &err));
    assert_memory_equal(again.model->weights, result.model->weights,
                        result.model->params.size * sizeof(pr_real));
    pr_train_result_free(&again);

    /* Patience is part of what a checkpoint keeps. */
    toy_stop stop = {.at = 4};
    assert_int_equal(toy_train(&shop.data, &plan, 1, &stop, NULL, &err), PARSREC_E_STOPPED);
    pr_train_plan on = {.resume = plan.checkpoint, .checkpoint_seconds = 1e9};
    assert_ok(toy_train(&shop.data, &on, 1, NULL, NULL, &err));
    toy_assert_model(&patient);
    pr_train_result_free(&result);
    free(patient.bytes);
    toy_free(&shop);
}

/* ---- odd data ---- */

static void nobody_to_validate(void **state)
{
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 20, .items = 9, .least = 1, .spread = 2, .sizes = 3});
    pr_train_plan plan = toy_plan(*state, 4, 8, 3);
    plan.patience = 1; /* without effect */
    pr_train_result result;
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, &result, &err));
    assert_int_equal(result.epoch_count, 3);
    assert_int_equal(result.best_epoch, 3);
    assert_int_equal(result.epochs[2].valid.baskets, 0);
    pr_train_result_free(&result);
    toy_free(&shop);
}

static void a_single_item(void **state)
{
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 5, .items = 1, .least = 3, .spread = 2, .fixed = 1});
    pr_train_plan plan = toy_plan(*state, 4, 8, 2);
    pr_train_result result;
    assert_ok(toy_train(&shop.data, &plan, 2, NULL, &result, &err));
    bool factors = pr_model_kind_named(plan.kind)->pairs != NULL;
    if (plan.config.loss == PR_LOSS_BCE) /* right and wrong are the same */
        assert_close(result.epochs[1].loss, (1 + plan.config.negatives) * log(2), 0.5);
    else /* factor models draw it against itself; the others have nothing to confuse it with */
        assert_close(result.epochs[1].loss, factors ? log(2) : 0, 1e-6);
    pr_train_result_free(&result);
    toy_free(&shop);
}

/* Baskets of eight items of which three steps are learnt from: over the epochs every item is a
 * target, not the first three alone. */
static void long_baskets_are_cut_but_wholly_used(void **state)
{
    parsrec_error err;
    enum { BASKET = 8, ITEMS = 24 };
    toy_shop shop = toy_make(
        (toy_sizes){.users = 30, .items = ITEMS, .least = 4, .spread = 2, .fixed = BASKET});
    for (size_t i = 0; i < shop.data.actions; i++)
        shop.items[i] = (int32_t)(i % BASKET); /* always the same eight */
    pr_train_plan plan = toy_plan(&toy_kinds[0], 4, 16, 6);
    plan.config.steps = 3;
    plan.config.recall = plan.config.neighbours = 0; /* what a guest is shown is learnt then */
    plan.config.unique = *(const bool *)*state;
    pr_train_result result;
    assert_ok(toy_train(&shop.data, &plan, 1, NULL, &result, &err));
    pr_scorer *session;
    assert_ok(pr_scorer_new(&session, result.model, 1, 1, &err));
    pr_start start = {.user = PR_ANYONE};
    pr_real scores[ITEMS];
    pr_scorer_start(session, &start, 1);
    pr_scorer_score_all(session, scores);
    for (size_t in = 0; in < BASKET; in++)
        for (size_t out = BASKET; out < ITEMS; out++)
            assert_true(scores[in] > scores[out]);
    pr_scorer_free(session);
    pr_train_result_free(&result);
    toy_free(&shop);
}

/* ---- when numbers run away ---- */

static void divergence_names_the_place(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(*state, 16, 16, 9);
    plan.checkpoint = toy_path("ckpt");
    plan.checkpoint_seconds = 0;
    toy_stop stop = {.at = 3};
    assert_int_equal(toy_train(&shop.data, &plan, 1, &stop, NULL, &err), PARSREC_E_STOPPED);
    static const char *const wild[] = {"rate=10", "clip=0"};
    plan.resume = plan.checkpoint;
    plan.set = wild;
    plan.set_count = 2;
    assert_fails(toy_train(&shop.data, &plan, 2, NULL, NULL, &err), PARSREC_E_DIVERGED,
                 "training diverged in epoch ");
    assert_non_null(strstr(err.message, ", batch "));
    assert_non_null(strstr(err.message, "the last good checkpoint is "));
    assert_non_null(strstr(err.message, plan.checkpoint));
    static const char *const tame[] = {"rate=0.0001", "clip=1"};
    plan.set = tame;
    plan.checkpoint = NULL;
    toy_stop soon = {.at = 1};
    parsrec_status status = toy_train(&shop.data, &plan, 1, &soon, NULL, &err);
    assert_true(status == PARSREC_E_STOPPED || status == PARSREC_E_DIVERGED); /* it was read */

    pr_train_plan fresh = toy_plan(*state, 16, 16, 9);
    fresh.config.rate = 10;
    fresh.config.clip = 0;
    assert_fails(toy_train(&shop.data, &fresh, 2, NULL, NULL, &err), PARSREC_E_DIVERGED,
                 "no checkpoint was written yet");
    toy_free(&shop);
}

/* ---- memory ---- */

typedef struct counting {
    size_t before, most;
    unsigned batches;
} counting;

static int count_allocations(void *context, const parsrec_progress *p)
{
    counting *c = context;
    size_t now = pr_memory_count();
    bool learning = strstr(p->note, "items/s") != NULL;
    if (learning && c->before > 0) {
        c->most = now - c->before > c->most ? now - c->before : c->most;
        c->batches++;
    }
    c->before = learning ? now : 0; /* validation may allocate, once an epoch */
    return 0;
}

static void a_batch_allocates_nothing(void **state)
{
    parsrec_error err;
    toy_shop shop = toy_make(ordinary);
    pr_train_plan plan = toy_plan(*state, 4, 4, 3);
    counting c = {0};
    parsrec_hooks hooks = {.context = &c, .on_progress = count_allocations};
    pr_pool *pool;
    pr_train_result result;
    assert_ok(pr_pool_new(&pool, 2, &err));
    assert_ok(pr_train(&result, &shop.data, &plan, pool, NULL, &hooks, &err));
    assert_true(c.batches > 20);
    assert_int_equal(c.most, 0);
    pr_train_result_free(&result);
    pr_pool_free(pool);
    toy_free(&shop);
}

/* One epoch, saved and loaded again, with two threads. */
static parsrec_status whole_life(const pr_dataset *data, const toy_kind *kind, parsrec_error *err)
{
    pr_train_plan plan = toy_plan(kind, 2, 8, 1);
    plan.checkpoint = toy_path("ckpt");
    toy_stop stop = {.at = 2};
    parsrec_status status = toy_train(data, &plan, 2, &stop, NULL, err);
    if (status != PARSREC_E_STOPPED)
        return status;
    plan.resume = plan.checkpoint;
    PR_TRY(toy_train(data, &plan, 2, NULL, NULL, err));
    pr_model_file file;
    PR_TRY(pr_model_load(&file, toy_path("model"), err));
    pr_model_file_free(&file);
    return PARSREC_OK;
}

/* A life makes more than ten thousand allocations, most of them of the text in its files. So many of each kind fail, at
 * equal distances, and the kinds begin at different ones; bench/no_memory.sh makes all of them fail. Under
 * ThreadSanitizer, which does not look for leaks, a few are enough. */
#if defined __SANITIZE_THREAD__
enum { FAILURES = 4 };
#elif defined __SANITIZE_ADDRESS__
enum { FAILURES = 16 };
#else
enum { FAILURES = 30 };
#endif

static void every_allocation_may_fail(void **state)
{
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 6, .items = 7, .least = 3, .spread = 2, .sizes = 3});
    size_t before = pr_memory_count(), tried = 0;
    assert_ok(whole_life(&shop.data, *state, &err));
    size_t count = pr_memory_count() - before, stride = count / FAILURES + 1;
    size_t kind = (size_t)((const toy_kind *)*state - toy_kinds);
    for (size_t n = kind * stride / TOY_KINDS; n < count; n += stride, tried++) {
        err = (parsrec_error){0};
        pr_memory_fail_after(n);
        parsrec_status status = whole_life(&shop.data, *state, &err);
        pr_memory_fail_after(SIZE_MAX);
        assert_int_equal(status, PARSREC_E_MEMORY);
        assert_int_equal(err.status, PARSREC_E_MEMORY);
    }
    assert_true(count > 100 && tried >= FAILURES / 2);
    toy_free(&shop);
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    CMUnitTestFunction run;
    bool once; /* not under ThreadSanitizer: its threads do what those of the others do */
    bool
        field; /* also of the kinds that share a trainer; whole/test_no_memory.c lets their allocations fail */
} of_every_kind[] = {
    {"threads do not matter", threads_do_not_matter, false, true},
    {"where blocks lie does not matter", where_blocks_lie_does_not_matter, false, false},
    {"every allocation may fail", every_allocation_may_fail, false, false},
    {"stops do not matter", stops_do_not_matter, true, true},
    {"checkpoints within an epoch do not matter", checkpoints_within_an_epoch_do_not_matter, true,
     true},
    {"a run can be made longer", a_run_can_be_made_longer, true, true},
    {"the best epoch is kept", the_best_epoch_is_kept, true, true},
    {"nobody to validate", nobody_to_validate, true, true},
    {"a single item", a_single_item, true, true},
    {"divergence names the place", divergence_names_the_place, true, false},
    {"a batch allocates nothing", a_batch_allocates_nothing, true, true},
};
enum { OF_EVERY_KIND = sizeof of_every_kind / sizeof *of_every_kind };

#ifdef __SANITIZE_THREAD__
static const bool all_of_them = false;
#else
static const bool all_of_them = true;
#endif

int main(void)
{
    enum { FIRST = 5 }; /* tests of one kind */
    static bool plain = false, unique = true;
    static char names[OF_EVERY_KIND * TOY_KINDS][80];
    struct CMUnitTest tests[FIRST + OF_EVERY_KIND * TOY_KINDS] = {
        cmocka_unit_test(settings_of_a_run_under_way),
        cmocka_unit_test(too_little_memory_is_refused),
        cmocka_unit_test(memory_of_another_shop_is_computed),
        cmocka_unit_test_prestate(long_baskets_are_cut_but_wholly_used, &plain),
        cmocka_unit_test_prestate(long_baskets_are_cut_but_wholly_used, &unique),
    };
    size_t count = FIRST; /* cmocka leaves out the empty ones after the last */
    for (size_t k = 0; k < TOY_KINDS; k++)
        for (size_t i = 0; i < OF_EVERY_KIND; i++) {
            if ((of_every_kind[i].once && !all_of_them) ||
                (toy_kinds[k].field && !of_every_kind[i].field))
                continue;
            char *name = names[count - FIRST];
            snprintf(name, sizeof *names, "%s: %s", toy_kinds[k].title, of_every_kind[i].name);
            tests[count++] = (struct CMUnitTest){
                .name = name,
                .test_func = of_every_kind[i].run,
                .initial_state = (toy_kind *)&toy_kinds[k]}; /* cmocka's state is not const */
        }
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
