/* base and eval: one file written by many tasks, and the dump of scores that is made with it. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "base/writer.h"
#include "eval/score_dump.h"
#include "model/counting/counting.h"

/* ---- an ordered file ---- */

enum { TASKS = 200, PIECES = 5 };

/* Early numbers take longest, so that later ones have to wait for them. */
static void write_pieces(void *context, size_t task, unsigned worker)
{
    pr_ordered_file *file = context;
    pr_writer text = {0};
    (void)worker;
    for (size_t piece = 0; piece < PIECES; piece++) {
        for (volatile size_t busy = (TASKS - task) * 50; busy > 0; busy--)
            ;
        pr_write(&text, "%zu.%zu\n", task, piece);
        pr_ordered_write(file, task, &text, piece + 1 == PIECES);
    }
    pr_writer_free(&text);
}

static parsrec_status write_numbers(const char *path, unsigned threads, parsrec_error *err)
{
    pr_ordered_file *file;
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, threads, err));
    PR_TRY(pr_ordered_open(&file, path, err));
    pr_pool_run(pool, write_pieces, file, TASKS);
    pr_pool_free(pool);
    return pr_ordered_commit(file, err);
}

static void tasks_write_in_order(void **state)
{
    (void)state;
    parsrec_error err;
    for (unsigned threads = 1; threads <= 4; threads++) {
        assert_ok(write_numbers(toy_path("other"), threads, &err));
        FILE *f = fopen(toy_path("other"), "r");
        assert_non_null(f);
        for (unsigned task = 0; task < TASKS; task++)
            for (unsigned piece = 0; piece < PIECES; piece++) {
                unsigned t, p;
                assert_int_equal(fscanf(f, "%u.%u\n", &t, &p), 2);
                assert_true(t == task && p == piece);
            }
        assert_int_equal(fgetc(f), EOF);
        fclose(f);
    }
}

static void a_failure_is_kept(void **state)
{
    (void)state;
    parsrec_error err;
    assert_fails(write_numbers("/dev/full", 3, &err), PARSREC_E_IO, "/dev/full: writing failed");
    pr_ordered_file *file;
    pr_writer lost = {.failed = true}, text = {0};
    unlink(toy_path("other"));
    assert_ok(pr_ordered_open(&file, toy_path("other"), &err));
    pr_ordered_write(file, 0, &lost, true);
    assert_int_equal(pr_ordered_check(file, &err), PARSREC_E_MEMORY);
    pr_write(&text, "more");
    pr_ordered_write(file, 1, &text, true);
    assert_int_equal(text.size, 0);
    assert_int_equal(pr_ordered_commit(file, &err), PARSREC_E_MEMORY);
    assert_int_not_equal(access(toy_path("other"), F_OK), 0);
    pr_writer_free(&text);
    pr_ordered_abort(NULL);
}

/* ---- a dump ---- */

static parsrec_status run_dump(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                               parsrec_error *err)
{
    pr_scores scores;
    pr_writer head = {0};
    pr_dump_head(&head, e, model->kind->name, "0");
    pr_ordered_write(e->dump, 0, &head, false);
    pr_writer_free(&head);
    return pr_evaluation_run(e, model, pool, NULL, &scores, err);
}

/* Evaluates by popularity and writes the dump to toy_path("other"). */
static parsrec_status dump(const pr_dataset *data, const pr_rule *rule, size_t negatives,
                           unsigned threads, parsrec_error *err)
{
    pr_eval_protocol protocol = pr_protocol_paper(PR_TEST);
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_evaluation e = {0};
    pr_model *model = NULL;
    pr_pool *pool = NULL;
    pr_config config;
    parsrec_status status;
    protocol.rule = rule;
    protocol.negatives = negatives;
    PR_TRY(pr_model_defaults(&config, "pop", err));
    PR_TRY_GOTO(pr_pool_new(&pool, threads, err));
    PR_TRY_GOTO(pr_count_model(&model, "pop", &config, data, &scope, pool, NULL, err));
    PR_TRY_GOTO(pr_evaluation_init(&e, data, &protocol, err));
    PR_TRY_GOTO(pr_ordered_open(&e.dump, toy_path("other"), err));
    status = run_dump(&e, model, pool, err);
    if (status == PARSREC_OK)
        status = pr_ordered_commit(e.dump, err);
    else
        pr_ordered_abort(e.dump);
done:
    pr_evaluation_free(&e);
    pr_model_free(model);
    pr_pool_free(pool);
    return status;
}

static const toy_sizes many = {.users = 300, .items = 40, .least = 3, .spread = 3, .sizes = 9};

/* Ten groups of baskets and more: the same bytes whichever thread has which. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make(many);
    for (size_t i = 0; i < PARSREC_PROTOCOLS; i++)
        for (size_t negatives = 0; negatives <= 10; negatives += 10) {
            assert_ok(dump(&shop.data, pr_rules[i], negatives, 1, &err));
            toy_bytes one = toy_read(toy_path("other"));
            assert_ok(dump(&shop.data, pr_rules[i], negatives, 3, &err));
            toy_bytes three = toy_read(toy_path("other"));
            assert_int_equal(one.size, three.size);
            assert_memory_equal(one.bytes, three.bytes, one.size);
            free(one.bytes);
            free(three.bytes);
        }
    toy_free(&shop);
}

/* The first item was bought twice, then the third for the first time. */
static void lines_read_as_told(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 1, .items = 3, .least = 3, .spread = 1, .fixed = 1});
    static const int32_t items[] = {0, 0, 2};
    for (size_t i = 0; i < 3; i++)
        shop.items[i] = items[i];
    assert_ok(dump(&shop.data, &pr_rule_next, 0, 1, &err));
    toy_bytes file = toy_read(toy_path("other"));
    static const char expected[] =
        "{\"format\":\"parsrec.scores\",\"version\":1,\"model\":\"pop\",\"protocol\":\"next\","
        "\"split\":\"test\",\"candidates\":\"all\",\"negatives\":0,\"exclude_seen\":false,"
        "\"place_k\":10,\"k\":[1,5,10],\"seed\":5,\"baskets\":1,\"data\":\"\",\"fingerprint\":"
        "\"0\","
        "\"catalogue\":[\"i00000\",\"i00001\",\"i00002\"]}\n"
        "{\"basket\":0,\"user\":\"u00000\",\"session\":2,\"items\":[2],\"before\":[0]}\n"
        "{\"basket\":0,\"step\":0,\"all\":[2,0,0],\"placed\":0}\n";
    assert_int_equal(file.size, strlen(expected));
    assert_memory_equal(file.bytes, expected, file.size);
    free(file.bytes);
    toy_free(&shop);
}

/* Scores that are not finite, and one that needs all nine digits. */
static void every_float_is_told_apart(void **state)
{
    (void)state;
    toy_shop shop =
        toy_make((toy_sizes){.users = 1, .items = 5, .least = 3, .spread = 1, .fixed = 1});
    pr_evaluated basket = {.size = 1};
    pr_evaluation e = {
        .data = &shop.data, .protocol = pr_protocol_paper(PR_TEST), .baskets = &basket};
    float all[] = {NAN, INFINITY, -INFINITY, 0.1f, nextafterf(0.1f, 1)};
    pr_writer text = {0};
    pr_dump_full(&text, &e, &basket, 7, all);
    assert_string_equal(text.text, "{\"basket\":0,\"step\":7,\"all\":[\"nan\",\"inf\",\"-inf\","
                                   "0.100000001,0.100000009]");
    pr_writer_free(&text);
    toy_free(&shop);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make(many);
    parsrec_status status = PARSREC_E_MEMORY;
    size_t n = 0;
    unlink(toy_path("other"));
    for (; status != PARSREC_OK; n++) {
        pr_memory_fail_after(n);
        status = dump(&shop.data, &pr_rule_remaining, 10, 2, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status != PARSREC_OK) {
            assert_int_equal(status, PARSREC_E_MEMORY);
            assert_int_not_equal(access(toy_path("other"), F_OK), 0);
        }
    }
    assert_true(n > 20);
    toy_free(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_write_in_order),      cmocka_unit_test(a_failure_is_kept),
        cmocka_unit_test(threads_do_not_matter),     cmocka_unit_test(lines_read_as_told),
        cmocka_unit_test(every_float_is_told_apart), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
