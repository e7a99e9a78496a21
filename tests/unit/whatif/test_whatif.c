/* whatif: lines and scenarios, chances, the truth, and sums that must come out whatever the model is. */
#include "support/testing.h"

#include <unistd.h>

#include "base/memory.h"
#include "model/chances.h"
#include "support/toy_shop.h"
#include "whatif/whatif.h"

/* ---- data: the paper's groups, made once ---- */

enum { USERS = 400, SESSIONS = 6, CATEGORIES = 20, PRODUCTS = 5 };

static parsrec_data *data, *outside;

static parsrec_data *synthesise(bool leave)
{
    parsrec_error err;
    parsrec_data *made;
    static const char text[] =
        "{\"groups\": [{\"name\": \"A\", \"blocks\": [[[1, 0, 0.6], [0, 1, 0], [0.6, 0, 1]], 17]},"
        " {\"name\": \"B\", \"blocks\": [20]}]}";
    char groups[] = "/tmp/parsrec-groups.XXXXXX", path[] = "/tmp/parsrec-whatif.XXXXXX";
    int written = mkstemp(groups), handle = mkstemp(path);
    assert_true(written >= 0 && handle >= 0);
    assert_int_equal(write(written, text, sizeof text - 1), sizeof text - 1);
    close(written);
    close(handle);
    parsrec_synth_options o = parsrec_synth_default();
    o.users = USERS;
    o.sessions = SESSIONS;
    o.products = PRODUCTS;
    o.groups_path = groups;
    o.outside = leave;
    o.seed = 3;
    assert_ok(parsrec_synth(path, &o, NULL, NULL, &err));
    assert_ok(parsrec_data_load(&made, path, &err));
    unlink(path);
    unlink(groups);
    return made;
}

static int make_data(void **state)
{
    (void)state;
    data = synthesise(false);
    outside = synthesise(true);
    return 0;
}

static int free_data(void **state)
{
    (void)state;
    parsrec_data_free(data);
    parsrec_data_free(outside);
    return 0;
}

/* First weights: a model that knows nothing, so that only what always holds can hold. */
static pr_model *ignorant(const pr_dataset *of, uint64_t seed)
{
    parsrec_error err;
    pr_config config;
    pr_model *model;
    assert_ok(pr_model_defaults(&config, "parsrec", &err));
    config.dim_user = config.dim_item = 8;
    assert_ok(pr_model_new(&model, "parsrec", &config, of->users, of->items, seed, &err));
    return model;
}

static parsrec_whatif_options quick(void)
{
    parsrec_whatif_options o = parsrec_whatif_default();
    o.draws = 4;
    o.resamples = 50;
    o.truth_sets = 0;
    return o;
}

static pr_whatif_result *answer_of(const pr_dataset *of, const parsrec_whatif_options *o)
{
    parsrec_error err;
    pr_model *model = ignorant(of, 1);
    const pr_model *models[] = {model};
    pr_whatif_result *a = pr_alloc_zero(1, sizeof *a);
    assert_ok(pr_whatif(a, models, 1, of, o, NULL, &err));
    pr_model_free(model);
    return a;
}

static void drop_answer(pr_whatif_result *a)
{
    pr_whatif_clear(a);
    pr_free(a);
}

/* ---- lines and scenarios ---- */

static void lines_by_name(void **state)
{
    (void)state;
    parsrec_error err;
    pr_directory directory;
    pr_lines lines;
    pr_region region = {0};
    size_t line, again;
    assert_ok(pr_directory_init(&directory, data, &err));
    assert_ok(pr_lines_init(&lines, &region, data, &directory, 0, &err));
    assert_int_equal(lines.bins, CATEGORIES);
    assert_ok(pr_lines_find(&lines, "category=C3", &line, &err));
    assert_true(line < lines.bins); /* a category is a bin already */
    assert_int_equal(lines.list[line].count, PRODUCTS);
    assert_ok(pr_lines_find(&lines, "C3", &again, &err));
    assert_int_equal(again, line);
    assert_ok(pr_lines_find(&lines, "item=7", &line, &err));
    assert_int_equal(line, lines.bins);
    assert_ok(pr_lines_find(&lines, "item=7", &again, &err));
    assert_int_equal(again, line);
    double row[CATEGORIES + 1] = {0};
    pr_lines_sell(&lines, row, 7, 2);
    assert_close(row[lines.bin_of[7]], 2, 0);
    assert_close(row[line], 2, 0);
    assert_int_equal(pr_lines_find(&lines, "category=C99", &line, &err), PARSREC_E_NOT_FOUND);
    assert_int_equal(pr_lines_find(&lines, "nothing such", &line, &err), PARSREC_E_NOT_FOUND);
    assert_int_equal(pr_lines_add(&lines, "item=7:like=8", &line, &err), PARSREC_E_ARGUMENT);
    assert_int_equal(pr_lines_add(&lines, "new", &line, &err), PARSREC_E_ARGUMENT);
    assert_ok(pr_lines_add(&lines, "item=new:like=8", &line, &err));
    assert_int_equal(lines.list[line].kind, PR_LINE_NEW);
    pr_region_free(&region);
    pr_directory_free(&directory);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    static const char *const all[] = {"C0",  "C1",  "C2",  "C3",  "C4",  "C5",  "C6",
                                      "C7",  "C8",  "C9",  "C10", "C11", "C12", "C13",
                                      "C14", "C15", "C16", "C17", "C18", "C19"};
    static const char *const unknown[] = {"category=C77"}, *const fine[] = {"C0"};
    static const char *const nobody[] = {"user:nobody"};
    parsrec_whatif_options everything = quick(), wrong = quick(), nothing = quick();
    parsrec_whatif_options lonely = quick(), silent = quick();
    everything.drop = all;
    everything.drop_count = CATEGORIES;
    wrong.drop = unknown;
    wrong.drop_count = lonely.drop_count = silent.drop_count = 1;
    lonely.drop = silent.drop = fine;
    lonely.groups = nobody;
    lonely.group_count = 1;
    silent.selection = silent.rechoice = false;
    const struct {
        const parsrec_whatif_options *options;
        const char *says;
    } cases[] = {
        {&everything, "nothing is left on the shelf"},
        {&wrong, "C77"},
        {&nothing, "nothing changes"},
        {&lonely, "nobody"},
        {&silent, "question"},
    };
    pr_model *model = ignorant(data, 1);
    const pr_model *models[] = {model};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsrec_error err = {0};
        pr_whatif_result *a = pr_alloc_zero(1, sizeof *a);
        assert_true(pr_whatif(a, models, 1, data, cases[i].options, NULL, &err) != PARSREC_OK);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s' lacks '%s'", err.message, cases[i].says);
        drop_answer(a);
    }
    pr_model_free(model);
}

/* ---- chances ---- */

static void chances_of_scores(void **state)
{
    (void)state;
    pr_real scores[] = {0, (pr_real)log(2.0), NAN, -INFINITY, (pr_real)log(5.0), 3};
    const int32_t placed[] = {5};
    pr_next_chances(scores, 6, placed, 1);
    static const double expected[] = {1.0 / 8, 2.0 / 8, 0, 0, 5.0 / 8, 0};
    for (size_t i = 0; i < 6; i++)
        assert_close(scores[i], expected[i], 1e-6);
    assert_int_equal(pr_chances_draw(scores, 6, 0.1), 0);
    assert_int_equal(pr_chances_draw(scores, 6, 0.2), 1);
    assert_int_equal(pr_chances_draw(scores, 6, 0.5), 4);
    assert_int_equal(pr_chances_draw(scores, 6, 0.9999999999), 4);
    pr_real none[] = {1, 2};
    const int32_t both[] = {0, 1};
    pr_next_chances(none, 2, both, 2);
    assert_int_equal(pr_chances_draw(none, 2, 0.5), -1);
}

/* ---- the truth: the figures that simulation of the process gives ---- */

static double true_change(const pr_whatif_result *a, size_t question, const char *group,
                          const char *name)
{
    size_t g = 0, l = 0;
    while (strcmp(a->groups.list[g].name, group) != 0)
        g++;
    while (strcmp(a->lines.list[l].name, name) != 0)
        l++;
    return a->truth.after[question][pr_true_at(&a->truth, 0, g, l)] /
               a->truth.before[pr_true_at(&a->truth, 0, g, l)] -
           1;
}

static pr_whatif_result *truth_of(const pr_dataset *of, size_t sets)
{
    static const char *const drop[] = {"category=C0"}, *const groups[] = {"truth"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.groups = groups;
    o.drop_count = o.group_count = 1;
    o.draws = 1;
    o.truth_sets = sets;
    return answer_of(of, &o);
}

static void truth_of_the_papers_setting(void **state)
{
    (void)state;
    pr_whatif_result *a = truth_of(data, 400);
    assert_close(true_change(a, PARSREC_SELECTION, "A", "C2"), -0.295, 0.02);
    assert_close(true_change(a, PARSREC_SELECTION, "B", "C2"), 0.005, 0.02);
    assert_close(true_change(a, PARSREC_SELECTION, "A", "C1"), 0.015, 0.02);
    assert_close(true_change(a, PARSREC_RECHOICE, "A", "C2"), 0.087, 0.01);
    assert_close(true_change(a, PARSREC_RECHOICE, "B", "C2"), 0.054, 0.01);
    assert_close(true_change(a, PARSREC_RECHOICE, "A", "C1"), 0.050, 0.01);
    /* Each group has 200 test baskets, of which a fifth holds C0 and a fifth of the rest C1. */
    double floor = a->truth.floor[PARSREC_SELECTION][pr_true_at(&a->truth, 0, 0, 1)];
    assert_true(floor > 0.08 && floor < 0.2);
    drop_answer(a);
}

static void truth_with_an_outside_option(void **state)
{
    (void)state;
    pr_whatif_result *a = truth_of(outside, 300);
    double together = true_change(a, PARSREC_RECHOICE, "A", "C2");
    double apart = true_change(a, PARSREC_RECHOICE, "B", "C2");
    assert_true(together < apart && apart < 0);
    drop_answer(a);
}

/* ---- sums that always hold ---- */

static double sold(const pr_whatif_result *a, size_t question, bool after)
{
    double sum = 0;
    for (size_t l = 0; l < a->lines.bins; l++) {
        const pr_estimate *e = pr_estimate_of(a, 0, question, PARSREC_ROLLOUT, 0, l);
        sum += after ? e->after : e->before;
    }
    return sum;
}

static const pr_estimate *row_of(const pr_whatif_result *a, const char *name)
{
    for (size_t l = 0; l < a->lines.count; l++)
        if (strcmp(a->lines.list[l].name, name) == 0)
            return pr_estimate_of(a, 0, PARSREC_RECHOICE, PARSREC_ROLLOUT, 0, l);
    fail_msg("no line %s", name);
    return NULL;
}

static void refilled_baskets_keep_their_size(void **state)
{
    (void)state;
    static const char *const drop[] = {"category=C0", "category=C5"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 2;
    o.raw = true;
    pr_whatif_result *a = answer_of(data, &o);
    assert_close(sold(a, PARSREC_RECHOICE, true), sold(a, PARSREC_RECHOICE, false), 1e-6);
    assert_close(row_of(a, "C0")->after, 0, 0);
    assert_close(row_of(a, "C5")->after, 0, 0);
    assert_true(row_of(a, "C1")->after > row_of(a, "C1")->before);
    drop_answer(a);
    o.missing = PARSREC_MISSING_LEAVE;
    a = answer_of(data, &o);
    assert_true(sold(a, PARSREC_RECHOICE, true) < sold(a, PARSREC_RECHOICE, false) - 0.1);
    assert_true(row_of(a, "C1")->after < row_of(a, "C1")->before);
    assert_true(a->facts[0].lost > 0 && a->facts[0].refilled == 0);
    drop_answer(a);
}

static void an_item_is_replaced_by_its_like(void **state)
{
    (void)state;
    static const char *const drop[] = {"item=0"}, *const watch[] = {"item=1"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.watch = watch;
    o.drop_count = o.watch_count = 1;
    o.raw = true;
    pr_whatif_result *a = answer_of(data, &o);
    assert_close(row_of(a, "C0")->after, row_of(a, "C0")->before, 1e-9);
    assert_close(row_of(a, "C1")->after, row_of(a, "C1")->before, 1e-9);
    assert_close(row_of(a, "0")->after, 0, 0);
    assert_true(row_of(a, "1")->after > row_of(a, "1")->before);
    assert_true(a->facts[0].swapped > 0 && a->facts[0].refilled == 0);
    drop_answer(a);
}

static void a_new_item_takes_from_its_category(void **state)
{
    (void)state;
    static const char *const add[] = {"item=new:like=1"}, *const watch[] = {"item=1"};
    parsrec_whatif_options o = quick();
    o.add = add;
    o.watch = watch;
    o.add_count = o.watch_count = 1;
    o.raw = true;
    pr_whatif_result *a = answer_of(data, &o);
    assert_false(a->asked[PARSREC_SELECTION]);
    assert_close(row_of(a, "C0")->after, row_of(a, "C0")->before, 1e-6);
    assert_true(row_of(a, "new")->after > 0);
    assert_true(row_of(a, "1")->after < row_of(a, "1")->before);
    drop_answer(a);
}

static void nothing_but_some(void **state)
{
    (void)state;
    static const char *const only[] = {"C0", "C1", "C2"};
    parsrec_whatif_options o = quick();
    o.only = only;
    o.only_count = 3;
    o.raw = true;
    o.selection = false;
    pr_whatif_result *a = answer_of(data, &o);
    assert_close(row_of(a, "C3")->after, 0, 0);
    double left = row_of(a, "C0")->after + row_of(a, "C1")->after + row_of(a, "C2")->after;
    assert_close(left, sold(a, PARSREC_RECHOICE, false), 1e-6);
    drop_answer(a);
}

/* What is counted is what is there: by hand from the sessions. */
static void counted_by_hand(void **state)
{
    (void)state;
    static const char *const drop[] = {"C0"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 1;
    o.selection = true;
    pr_whatif_result *a = answer_of(data, &o);
    double units = 0, baskets = 0, all = 0, every = 0;
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u]; s + 1 < data->user_offsets[u + 1]; s++) {
            double c1 = 0;
            bool c0 = false;
            for (int64_t i = data->session_offsets[s]; i < data->session_offsets[s + 1]; i++) {
                c1 += data->action_items[i] / PRODUCTS == 1;
                c0 |= data->action_items[i] / PRODUCTS == 0;
            }
            all += c1;
            every++;
            units += c0 ? 0 : c1;
            baskets += !c0;
        }
    const pr_estimate *e = pr_estimate_of(a, 0, PARSREC_SELECTION, PARSREC_COUNTED, 0, 1);
    assert_close(e->before, all / every, 1e-12);
    assert_close(e->after, units / baskets, 1e-12);
    assert_true(e->low <= e->after && e->after <= e->high && e->low < e->high);
    drop_answer(a);
}

/* The total is the sum of its rows, what leaves is what was counted, and refilled baskets keep their size
 * in every resample; money is units times prices. */
static void totals_add_up(void **state)
{
    (void)state;
    static const char *const drop[] = {"C0", "item=7"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 2;
    pr_whatif_result *a = answer_of(data, &o);
    const pr_total *t = pr_total_of(a, 0, PARSREC_RECHOICE, 0);
    assert_close(t->units.before, sold(a, PARSREC_RECHOICE, false), 1e-9);
    assert_close(t->units.after, sold(a, PARSREC_RECHOICE, true), 1e-9);
    assert_close(t->units.change, 0, 1e-6);
    assert_close(t->units.change_low, 0, 1e-6);
    assert_close(t->units.change_high, 0, 1e-6);
    double units, money, count = 0, paid = 0, all = 0, baskets = 0;
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u]; s + 1 < data->user_offsets[u + 1]; s++, baskets++)
            for (int64_t i = data->session_offsets[s]; i < data->session_offsets[s + 1]; i++) {
                int32_t item = data->action_items[i];
                bool leaves = item / PRODUCTS == 0 || item == 7;
                all += a->price[item];
                count += leaves;
                paid += leaves ? a->price[item] : 0;
            }
    assert_true(pr_leaving(a, 0, 0, &units, &money));
    assert_close(units, count / baskets, 1e-9);
    assert_close(money, paid / baskets, 1e-9);
    assert_close(t->money.before, all / baskets, 1e-9);
    assert_true(t->money.low <= t->money.after && t->money.after <= t->money.high);
    drop_answer(a);
}

/* Lines that were hardly sold are not among those that change most. */
static void few_sales_are_not_watched(void **state)
{
    (void)state;
    static const char *const drop[] = {"C1"};
    parsrec_error err;
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 1;
    pr_whatif_result *a = answer_of(data, &o);
    size_t rare = 3;
    pr_estimate *e = pr_estimate_of(a, 0, PARSREC_RECHOICE, PARSREC_ROLLOUT, 0, rare);
    for (size_t c = a->cohort.first_cell[0]; c < a->cohort.first_cell[1]; c++)
        a->past.before.units[c * a->lines.count + rare] = 0;
    *e = (pr_estimate){.before = 0, .after = 0.2, .change = 1e9};
    memset(a->watched, 0, a->lines.count * sizeof *a->watched);
    assert_ok(pr_whatif_watch(a, NULL, 0, &err));
    size_t watched = 0;
    for (size_t l = 0; l < a->lines.count; l++)
        watched += a->watched[l];
    assert_int_equal(watched, 8);
    assert_false(a->watched[rare]);
    drop_answer(a);
}

/* Where an item leaves, what is sold beside it in its category is shown; what leaves too is not. */
static void others_of_a_category_are_shown(void **state)
{
    (void)state;
    enum { OFFERED = 8 };
    int32_t category = data->item_category[0], items[3], found = 0;
    char words[3][40];
    for (size_t i = 0; i < data->items && found < 3; i++)
        if (data->item_category[i] == category)
            items[found++] = (int32_t)i;
    assert_int_equal(found, 3);
    for (int i = 0; i < 3; i++) {
        pr_slice key = pr_name(&data->item_keys, (size_t)items[i]);
        snprintf(words[i], sizeof words[i], "item=%.*s", (int)key.size, key.bytes);
    }
    const char *const drop[] = {words[0], words[1]}, *const watch[] = {words[2]};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 2;
    for (int each = 0; each <= 1; each++) {
        o.each = each == 1;
        pr_whatif_result *a = answer_of(data, &o);
        for (size_t s = 0; s < a->scenarios.count; s++) {
            size_t shown = 0;
            for (size_t l = a->lines.bins; l < a->lines.count; l++) {
                if (!a->watched[s * a->lines.count + l])
                    continue;
                assert_int_equal(data->item_category[a->lines.list[l].items[0]], category);
                assert_false(pr_line_dropped(a, s, l));
                shown++;
            }
            assert_in_range(shown, 1, OFFERED + 1);
        }
        drop_answer(a);
    }
    o.each = false;
    o.watch = watch;
    o.watch_count = 1;
    pr_whatif_result *a = answer_of(data, &o);
    assert_int_equal(a->lines.count, a->lines.bins + 3); /* those named, none offered */
    drop_answer(a);
}

/* Finite weights may give scores that are not: no basket can be drawn from them. */
static void scores_that_are_no_numbers(void **state)
{
    (void)state;
    static const char *const drop[] = {"C1"};
    parsrec_error err;
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 1;
    pr_model *model = ignorant(data, 1);
    const pr_model *models[] = {model};
    pr_real *items = pr_model_reals(model, "item_emb");
    for (size_t i = 0; i < data->items * 8; i++)
        items[i] = i % 2 == 0 ? 3e38F : -3e38F;
    pr_whatif_result *a = pr_alloc_zero(1, sizeof *a);
    assert_fails(pr_whatif(a, models, 1, data, &o, NULL, &err), PARSREC_E_FORMAT,
                 "gives no item a probability");
    drop_answer(a);
    pr_model_free(model);
}

/* A large change of few sales, which may be as good as none, is not the headline. */
static void the_headline_is_certain(void **state)
{
    (void)state;
    static const char *const drop[] = {"C1"};
    parsrec_error err;
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 1;
    pr_whatif_result *a = answer_of(data, &o);
    for (size_t l = 0; l < a->lines.count; l++) {
        pr_estimate *e = pr_estimate_of(a, 0, PARSREC_RECHOICE, PARSREC_ROLLOUT, 0, l);
        e->change_low = -0.5, e->change_high = 0.5;
    }
    static const struct {
        size_t line;
        double change, low, high;
        const char *headline;
    } cases[] = {
        {2, 0.9, -0.1, 2, "Everybody: no change of a single category is certain."},
        {3, 0.8, 0.01, 1.9, "Everybody would buy 80.0 % more of C3 (+1.0 to +190.0 %)."},
        {4, 0.3, 0.25, 0.4, "Everybody would buy 30.0 % more of C4 (+25.0 to +40.0 %)."},
        {5, -0.5, -0.7, -0.3, "Everybody would buy 50.0 % less of C5 (-70.0 to -30.0 %)."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_estimate *e = pr_estimate_of(a, 0, PARSREC_RECHOICE, PARSREC_ROLLOUT, 0, cases[i].line);
        e->change = cases[i].change;
        e->change_low = cases[i].low, e->change_high = cases[i].high;
        a->watched[cases[i].line] = true;
        pr_writer page = {0};
        assert_ok(pr_whatif_write(&page, a, PARSREC_TEXT_HTML, &err));
        assert_non_null(strstr(page.text, cases[i].headline));
        pr_writer_free(&page);
    }
    drop_answer(a);
}

/* ---- the same whatever the threads, and scenarios that share a pass ---- */

/* Users held out as a whole: one with a single session has no past to draw the size of a basket from. */
static void held_out_users_without_a_past(void **state)
{
    (void)state;
    static const char *const drop[] = {"item=i00003"};
    enum { COUNT = 30 };
    uint8_t parts[COUNT];
    for (int u = 0; u < COUNT; u++)
        parts[u] = u % 2 == 0 ? PR_USER_TRAINS : PR_USER_TESTS;
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 1;
    o.selection = true;
    for (int spread = 1; spread <= 3; spread += 2) { /* all of them have one session; a third */
        toy_shop shop = toy_make(
            (toy_sizes){.users = COUNT, .items = 20, .least = 1, .spread = spread, .sizes = 4});
        shop.data.user_parts = parts;
        shop.data.by_users = true;
        if (spread > 1) {
            pr_whatif_result *a = answer_of(&shop.data, &o);
            assert_int_equal(a->cohort.user_count, COUNT / 2 * 2 / 3);
            for (size_t i = 0; i < a->cohort.user_count; i++)
                assert_int_not_equal(a->cohort.users[i] % spread, 0);
            drop_answer(a);
        } else {
            parsrec_error err;
            pr_model *model = ignorant(&shop.data, 1);
            const pr_model *models[] = {model};
            pr_whatif_result *a = pr_alloc_zero(1, sizeof *a);
            assert_fails(pr_whatif(a, models, 1, &shop.data, &o, NULL, &err), PARSREC_E_INPUT,
                         "that takes 2 sessions");
            drop_answer(a);
            pr_model_free(model);
        }
        toy_free(&shop);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const drop[] = {"C0", "C4"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.drop_count = 2;
    o.each = true;
    o.truth_sets = 3;
    o.threads = 1;
    pr_whatif_result *one = answer_of(data, &o);
    o.threads = 3;
    pr_whatif_result *three = answer_of(data, &o);
    size_t count = 2 * PR_QUESTIONS * PR_ESTIMATORS * one->lines.count;
    assert_memory_equal(one->estimates, three->estimates, count * sizeof *one->estimates);
    assert_memory_equal(one->agreement, three->agreement,
                        2 * PR_QUESTIONS * PR_ESTIMATORS * sizeof *one->agreement);
    drop_answer(three);
    o.each = false;
    o.drop = drop + 1;
    o.drop_count = 1;
    three = answer_of(data, &o); /* the second scenario alone says the same */
    assert_memory_equal(pr_estimate_of(one, 1, 0, 0, 0, 0), three->estimates,
                        three->lines.count * sizeof *three->estimates);
    drop_answer(one);
    drop_answer(three);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const drop[] = {"C0"}, *const groups[] = {"truth"};
    parsrec_whatif_options o = quick();
    o.drop = drop;
    o.groups = groups;
    o.drop_count = o.group_count = 1;
    o.draws = 1;
    o.resamples = 20;
    o.truth_sets = 1;
    o.threads = 1;
    pr_model *model = ignorant(data, 1);
    const pr_model *models[] = {model};
    size_t failures = 0;
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t after = 0; status != PARSREC_OK; after += after < 100 ? 1 : 7) {
        parsrec_error err = {0};
        pr_whatif_result a = {0};
        pr_memory_fail_after(after);
        status = pr_whatif(&a, models, 1, data, &o, NULL, &err);
        pr_memory_fail_after(SIZE_MAX);
        pr_whatif_clear(&a);
        if (status != PARSREC_OK && status != PARSREC_E_MEMORY)
            fail_msg("allocation %zu: %s", after, err.message);
        failures += status != PARSREC_OK;
        assert_true(after < 5000);
    }
    assert_true(failures > 40);
    pr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_by_name),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(chances_of_scores),
        cmocka_unit_test(truth_of_the_papers_setting),
        cmocka_unit_test(truth_with_an_outside_option),
        cmocka_unit_test(refilled_baskets_keep_their_size),
        cmocka_unit_test(an_item_is_replaced_by_its_like),
        cmocka_unit_test(a_new_item_takes_from_its_category),
        cmocka_unit_test(nothing_but_some),
        cmocka_unit_test(counted_by_hand),
        cmocka_unit_test(totals_add_up),
        cmocka_unit_test(few_sales_are_not_watched),
        cmocka_unit_test(others_of_a_category_are_shown),
        cmocka_unit_test(scores_that_are_no_numbers),
        cmocka_unit_test(the_headline_is_certain),
        cmocka_unit_test(held_out_users_without_a_past),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
