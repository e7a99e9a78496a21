/* compare: the list of models, who is the best, and the reports. */
#include "support/testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "compare/compare.h"

/* ---- the list ---- */

static void list_of_models(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model_list list;
    assert_ok(pr_model_list_read(&list,
                                 "pop,wide=parsrec:dim.item=64:heads=4,sasrec:loss=bce:preset="
                                 "paper,@a/b.st,x=c.st,shop.model",
                                 &err));
    assert_int_equal(list.count, 6);
    const pr_listed_model *e = list.entries;
    assert_string_equal(e[0].name, "pop");
    assert_string_equal(e[0].kind, "pop");
    assert_string_equal(e[1].name, "wide");
    assert_string_equal(e[1].kind, "parsrec");
    assert_int_equal(e[1].set_count, 2);
    assert_string_equal(e[1].set[1], "heads=4");
    assert_string_equal(e[2].name, "sasrec-paper-loss=bce");
    assert_string_equal(e[2].preset, "paper");
    assert_int_equal(e[2].set_count, 1);
    assert_string_equal(e[3].name, "b");
    assert_string_equal(e[3].path, "a/b.st");
    assert_null(e[3].kind);
    assert_string_equal(e[4].name, "x");
    assert_string_equal(e[4].path, "c.st");
    assert_string_equal(e[5].name, "shop");
    assert_string_equal(e[5].path, "shop.model");
    assert_ok(pr_model_list_add(&list, "oracle", &err));
    assert_ok(pr_model_list_add(&list, "pop", &err)); /* is there already */
    assert_int_equal(list.count, 7);
    pr_model_list_free(&list);
}

static const pr_listed_model *entry_of(const pr_model_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return &list->entries[i];
    return NULL;
}

static void groups_of_models(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model_list list, other;
    /* A member that is listed too is there once, in any order. */
    assert_ok(pr_model_list_read(&list, "counts,pop", &err));
    assert_ok(pr_model_list_read(&other, "pop,counts", &err));
    assert_int_equal(list.count, other.count);
    for (size_t i = 0; i < list.count; i++)
        assert_non_null(entry_of(&other, list.entries[i].name));
    pr_model_list_free(&list);
    pr_model_list_free(&other);
    /* An entry of the member's own name takes its place, in any order. */
    static const char *const own[] = {"neighbours,itemknn=itemknn:links.width=9",
                                      "itemknn=itemknn:links.width=9,neighbours"};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pr_model_list_read(&list, own[i], &err));
        assert_int_equal(list.count, 7);
        assert_int_equal(entry_of(&list, "itemknn")->set_count, 1);
        pr_model_list_free(&list);
    }
    /* One of another name leaves the member as it is. */
    static const char *const two[] = {"bce=itemknn:links.width=9,neighbours",
                                      "neighbours,bce=itemknn:links.width=9"};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pr_model_list_read(&list, two[i], &err));
        assert_int_equal(list.count, 8);
        assert_int_equal(entry_of(&list, "itemknn")->set_count, 0);
        assert_int_equal(entry_of(&list, "bce")->set_count, 1);
        pr_model_list_free(&list);
    }
    /* Settings are for the members that learn. */
    assert_ok(pr_model_list_read(&list, "sequence:epochs=8:preset=paper,sequence", &err));
    assert_string_equal(entry_of(&list, "sasrec-paper-epochs=8")->set[0], "epochs=8");
    assert_string_equal(entry_of(&list, "sasrec-paper-epochs=8")->preset, "paper");
    assert_int_equal(entry_of(&list, "sasrec")->set_count, 0);
    assert_int_equal(entry_of(&list, "vsknn")->set_count, 0);
    assert_null(entry_of(&list, "vsknn-paper-epochs=8"));
    pr_model_list_free(&list);
    /* What joins every list does so beside an entry with other settings. */
    assert_ok(pr_model_list_read(&list, "wide=markov:markov.width=9", &err));
    assert_ok(pr_model_list_add(&list, "markov", &err));
    assert_int_equal(list.count, 2);
    pr_model_list_free(&list);
}

static void bad_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
    } cases[] = {
        {"", "empty place"},
        {"pop,", "empty place"},
        {"a=", "empty place"},
        {"=pop", "1 to 63 characters"},
        {"pop,pop", "two models are called 'pop'"},
        {"pop,pop=personal", "two models are called 'pop'"},
        {"sasrec:loss", "'loss' is not a setting"},
        {".x=pop", "must start with"},
        {"a\nb=pop", "control characters"},
        {"sequence:loss=a/b", "no slash"},
        {"counts:epochs=3", "no model that learns"},
        {"sequence:", "is not a setting"},
        {"x=counts", "cannot have a name"},
        {"pop=personal,counts", "two models are called 'pop'"},
        {"counts,pop=personal", "two models are called 'pop'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsrec_error err = {0};
        pr_model_list list;
        parsrec_status status = pr_model_list_read(&list, cases[i].list, &err);
        pr_model_list_free(&list);
        if (status == PARSREC_OK || strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s': %s", cases[i].list, status == PARSREC_OK ? "taken" : err.message);
    }
}

/* ---- a comparison made by hand ---- */

enum { USERS = 60, ROWS = 4 };

/* One step per user; the model hits with users below a bound. HR@1 alone is measured. */
static const size_t bounds[ROWS] = {50, 10, 48, 60};
static const char *const names[ROWS] = {"good & <b>", "poor|x", "near", "all"};

static void fill_attempt(pr_attempt *a, size_t bound)
{
    a->tallies = pr_alloc(USERS, sizeof *a->tallies);
    assert_non_null(a->tallies);
    for (size_t u = 0; u < USERS; u++)
        a->tallies[u] = (parsrec_share){u < bound, 1};
    a->report.baskets = a->report.steps = USERS;
    a->report.measure_count = 1;
    a->report.measures[0] = (parsrec_measure){.name = "HR",
                                              .k = 1,
                                              .value = (double)bound / USERS,
                                              .random = 0.01,
                                              .repeat = 0.5,
                                              .fresh = NAN};
}

/* Seed number i hits with i users more. */
static void fill_row(pr_contender *r, pr_listed_model *e, size_t bound, const char *name,
                     size_t seeds)
{
    snprintf(e->name, sizeof e->name, "%s", name);
    e->kind = "parsrec";
    e->base = PR_NONE;
    *r = (pr_contender){.entry = e, .kind = "parsrec", .attempt_count = seeds, .judged = seeds};
    r->attempts = pr_alloc_zero(seeds, sizeof *r->attempts);
    assert_non_null(r->attempts);
    for (size_t i = 0; i < seeds; i++)
        fill_attempt(&r->attempts[i], bound + i);
}

static void judge(parsrec_comparison *c)
{
    parsrec_error err;
    pr_pool *pool;
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_comparison_judge(c, pool, &err));
    pr_pool_free(pool);
}

static void make(parsrec_comparison *c, pr_listed_model *entries, size_t seeds)
{
    parsrec_error err;
    *c = (parsrec_comparison){.count = ROWS,
                              .seeds = seeds,
                              .user_count = USERS,
                              .eval = parsrec_eval_default(),
                              .resampling = pr_resampling_default(),
                              .testing = pr_resampling_default()};
    c->eval.k_count = 1;
    c->eval.k[0] = 1;
    c->data_path = pr_copy_string("shop.st", 7);
    c->command = pr_copy_string("parsrec compare <x>", 19);
    c->rows = pr_alloc_zero(ROWS, sizeof *c->rows);
    assert_non_null(c->rows);
    for (size_t i = 0; i < ROWS; i++)
        fill_row(&c->rows[i], &entries[i], bounds[i], names[i], i < 3 ? seeds : 1);
    c->rows[3].ceiling = true;
    assert_ok(pr_comparison_columns(c, "HR@1", &err));
    c->column_count = 1; /* the one that the rows have */
    judge(c);
}

static void best_and_second(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 1);
    assert_int_equal(c.columns[0].best, 0);
    assert_int_equal(c.columns[0].second, 2);
    assert_int_equal(pr_cell_rank(&c, 0, &c.columns[0]), 1);
    assert_int_equal(pr_cell_rank(&c, 1, &c.columns[0]), 0);
    assert_int_equal(pr_cell_rank(&c, 2, &c.columns[0]), 2);
    assert_int_equal(pr_cell_rank(&c, 3, &c.columns[0]), 0); /* the ceiling does not compete */
    assert_close(c.rows[0].intervals[0].value, 50.0 / 60, 1e-12);
    assert_true(c.rows[0].intervals[0].low < 50.0 / 60 && c.rows[0].intervals[0].high > 50.0 / 60);
    assert_close(c.rows[1].versus.difference.value, -40.0 / 60, 1e-12);
    pr_comparison_clear(&c);
}

/* Two tests among three that compete: the smaller p counts twice, the larger once. Where two users of
 * sixty differ, both one way, half of all swaps are as large. */
static void p_is_corrected(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 1);
    assert_close(c.rows[1].versus.p, 1.0 / 2001, 1e-12);
    assert_close(c.rows[1].p, 2.0 / 2001, 1e-12);
    assert_close(c.rows[2].versus.p, 0.5, 0.04);
    assert_close(c.rows[2].p, c.rows[2].versus.p, 0);
    pr_comparison_clear(&c);
}

/* Three seeds with 50, 51, 52 and 48, 49, 50 hits: means, sums over users, and t with two degrees of
 * freedom, by which a mean of numbers one apart is known to 4.303 / sqrt(3). */
static void seeds_are_pooled(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 3);
    const pr_contender *r = &c.rows[0];
    assert_close(r->report.measures[0].value, 51.0 / 60, 1e-12);
    assert_close(r->intervals[0].value, 51.0 / 60, 1e-12);
    assert_close(r->tallies[50].sum, 2, 0); /* hit with the second and third seed */
    assert_close(r->tallies[50].weight, 3, 0);
    assert_close(r->spread[0].high - r->spread[0].value, 4.3026527 / sqrt(3) / 60, 1e-8);
    assert_true(isnan(c.rows[3].spread[0].low)); /* one seed has no interval */
    assert_close(c.rows[2].versus.difference.value, -2.0 / 60, 1e-12);
    assert_close(c.rows[2].versus_spread.low, -2.0 / 60, 1e-12); /* the same with every seed */
    assert_close(c.rows[2].versus_spread.high, -2.0 / 60, 1e-12);
    char *text;
    parsrec_error err;
    assert_ok(parsrec_comparison_text(&text, &c, PARSREC_TEXT_MARKDOWN, &err));
    assert_non_null(strstr(text, "| near | .8000 .8167 .8333 | .8167 | [.7753, .8581] | -.0333 |"));
    pr_free(text);
    pr_comparison_clear(&c);
}

/* Rows are compared with their base, whoever is the best. */
static void ablation_has_bases(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 1);
    c.ablation = true;
    entries[0].base = entries[1].base = 2;
    judge(&c);
    assert_close(c.rows[0].versus.difference.value, 2.0 / 60, 1e-12);
    assert_close(c.rows[1].versus.difference.value, -38.0 / 60, 1e-12);
    assert_int_equal(pr_cell_rank(&c, 0, &c.columns[0]), 1); /* better than its base */
    assert_int_equal(pr_cell_rank(&c, 2, &c.columns[0]), 0);
    assert_true(pr_comparison_differs(&c.rows[1]));
    assert_false(pr_comparison_differs(&c.rows[0]));
    assert_false(pr_comparison_differs(&c.rows[2]));
    char *text;
    parsrec_error err;
    assert_ok(parsrec_comparison_text(&text, &c, PARSREC_TEXT_PLAIN, &err));
    assert_non_null(
        strstr(text, "near has HR@1 .8000. Significantly worse: poor|x (-.6333). 1 of 2 rows do"));
    assert_null(strstr(text, "best"));
    pr_free(text);
    pr_comparison_clear(&c);
}

static char *text_of(const parsrec_comparison *c, parsrec_text_kind kind)
{
    parsrec_error err;
    char *text;
    assert_ok(parsrec_comparison_text(&text, c, kind, &err));
    return text;
}

static void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL)
        fail_msg("'%s' is not in:\n%s", piece, text);
}

static void texts(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 1);
    char *text = text_of(&c, PARSREC_TEXT_PLAIN);
    assert_has(text, "good & <b>        .8333\n");
    assert_has(text, "best over second +4.2 %\n");
    assert_has(text, "By HR@1 the best is good & <b> (.8333), then near (.8000); ");
    assert_null(strchr(text, '\033'));
    pr_free(text);
    text = text_of(&c, PARSREC_TEXT_TERMINAL);
    assert_has(text, "\033[1m.8333\033[0m");
    assert_has(text, "\033[4m.8000\033[0m");
    pr_free(text);
    text = text_of(&c, PARSREC_TEXT_MARKDOWN);
    assert_has(text, "| good \\& \\<b\\> | **.8333** |");
    assert_has(text, "| poor\\|x | .1667 |");
    assert_has(text, "| [-.7833, -.5333] | < .001 \\* |");
    assert_has(text, "| near | <u>.8000</u> |");
    pr_free(text);
    text = text_of(&c, PARSREC_TEXT_CSV);
    assert_has(text, "\nnear,parsrec,HR@1,0.8");
    pr_free(text);
    text = text_of(&c, PARSREC_TEXT_HTML);
    assert_has(text, "good &amp; &lt;b&gt;");
    assert_has(text, "parsrec compare &lt;x&gt;");
    assert_null(strstr(text, "<b>"));
    assert_null(strstr(text, "://"));
    pr_free(text);
    pr_comparison_clear(&c);
}

static void json_texts(void **state)
{
    (void)state;
    pr_listed_model entries[ROWS] = {0};
    parsrec_comparison c;
    make(&c, entries, 1);
    char *text = text_of(&c, PARSREC_TEXT_JSON_MODELS);
    assert_int_equal(text[0], '[');
    assert_has(text, "\"model\": \"good & <b>\"");
    assert_has(text, "\"versus_best\": null");
    assert_has(text, "\"HR@1\": 0.83333333333333337");
    pr_free(text);
    text = text_of(&c, PARSREC_TEXT_JSON);
    assert_has(text, "\"best\": \"good & <b>\"");
    assert_has(text, "\"measure\": \"HR@1\"");
    pr_free(text);
    pr_comparison_clear(&c);
}

static void unknown_measure(void **state)
{
    (void)state;
    parsrec_error err = {0};
    parsrec_comparison c = {.eval = parsrec_eval_default()};
    assert_fails(pr_comparison_columns(&c, "HR@7", &err), PARSREC_E_ARGUMENT, "HR@10");
    c = (parsrec_comparison){.eval = parsrec_eval_default()};
    assert_ok(pr_comparison_columns(&c, NULL, &err));
    assert_string_equal(c.columns[c.chosen].name, "NDCG@10");
    c = (parsrec_comparison){.eval = parsrec_eval_default()};
    assert_ok(pr_comparison_columns(&c, "SP@5", &err));
    assert_string_equal(c.columns[c.chosen].name, "Sess-Prec@5");
}

/* ---- a stop before anything is written ---- */

static int stop_with_folder(void *context, const parsrec_progress *progress)
{
    (void)progress;
    return access(context, F_OK) == 0;
}

static void an_empty_folder_is_not_left(void **state)
{
    (void)state;
    parsrec_error err = {0};
    char base[] = "/tmp/parsrec-compare.XXXXXX", data[64], folder[64];
    assert_non_null(mkdtemp(base));
    snprintf(data, sizeof data, "%s/data.st", base);
    snprintf(folder, sizeof folder, "%s/out", base);
    parsrec_synth_options s = parsrec_synth_default();
    s.users = 4;
    s.sessions = 4;
    s.products = 2;
    assert_ok(parsrec_synth(data, &s, NULL, NULL, &err));
    parsrec_hooks hooks = {.context = folder, .on_progress = stop_with_folder};
    parsrec_compare_options o = parsrec_compare_default();
    parsrec_comparison *c;
    o.models = "parsrec:dim.user=2:dim.item=2";
    assert_int_equal(parsrec_compare(&c, data, folder, &o, &hooks, &err), PARSREC_E_STOPPED);
    assert_int_equal(access(folder, F_OK), -1);
    /* One that was there stays. */
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(parsrec_compare(&c, data, folder, &o, &hooks, &err), PARSREC_E_STOPPED);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unlink(data), 0);
    assert_int_equal(rmdir(base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_of_models),
        cmocka_unit_test(groups_of_models),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(best_and_second),
        cmocka_unit_test(p_is_corrected),
        cmocka_unit_test(seeds_are_pooled),
        cmocka_unit_test(ablation_has_bases),
        cmocka_unit_test(texts),
        cmocka_unit_test(json_texts),
        cmocka_unit_test(unknown_measure),
        cmocka_unit_test(an_empty_folder_is_not_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
