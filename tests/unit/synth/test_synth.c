/* Synthesis from options to file: what the file says is what happened, trips can be made again
 * with other shelves, and mistakes get a sentence and leave nothing behind. */
#include "support/testing.h"

#include "base/memory.h"
#include "synth/synth.h"
#include "synth/truth.h"

static char folder[] = "/tmp/parsrec-synth-XXXXXX", path[64], csv[64], json[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/data.st", folder);
    snprintf(csv, sizeof csv, "%s/data.csv", folder);
    snprintf(json, sizeof json, "%s/groups.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when something was left behind */
}

static parsrec_synth_options small(void)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.users = 21;
    o.sessions = 15;
    o.products = 10;
    o.threads = 5;
    return o;
}

typedef struct made {
    pr_dataset *data;
    pr_truth truth;
    pr_choice choice;
    pr_shopper shopper;
    parsrec_synth_report report;
} made;

static void make(made *m, parsrec_synth_options o)
{
    parsrec_error err;
    assert_ok(parsrec_synth(path, &o, &m->report, NULL, &err));
    assert_ok(pr_dataset_load(&m->data, path, &err));
    assert_ok(pr_truth_read(&m->truth, m->data, &err));
    assert_ok(pr_truth_choice(&m->choice, &m->truth, &err));
    assert_ok(pr_shopper_init(&m->shopper, &m->choice, &err));
    unlink(path);
}

static void unmake(made *m)
{
    pr_dataset_free(m->data);
    pr_choice_free(&m->choice);
    pr_shopper_free(&m->shopper);
}

static void become(made *m, size_t user)
{
    pr_shopper_become(&m->shopper, &m->choice, user, (size_t)m->truth.group[user],
                      m->truth.base_utility + user * m->truth.items);
}

/* The session of a user at that time, or one without items. */
static size_t session_at(const pr_dataset *d, size_t user, size_t time, const int32_t **items)
{
    for (int64_t s = d->user_offsets[user]; s < d->user_offsets[user + 1]; s++)
        if (d->times[s] == (int64_t)time) {
            *items = d->action_items + d->session_offsets[s];
            return (size_t)(d->session_offsets[s + 1] - d->session_offsets[s]);
        }
    return 0;
}

static void assert_trips_repeat(made *m)
{
    size_t sessions = 0, actions = 0;
    for (size_t u = 0; u < m->data->users; u++) {
        become(m, u);
        for (size_t t = 0; t < m->truth.options.sessions; t++) {
            int32_t again[PR_SYNTH_BASKET_MOST];
            const int32_t *stored = NULL;
            size_t n = pr_shopper_trip(&m->shopper, &m->choice, t, NULL, again);
            assert_int_equal(session_at(m->data, u, t, &stored), n);
            if (n > 0)
                assert_memory_equal(again, stored, n * sizeof *again);
            sessions += n > 0;
            actions += n;
        }
    }
    assert_int_equal(sessions, m->report.sessions);
    assert_int_equal(actions, m->report.actions);
}

static void the_file_tells_how_it_was_made(void **state)
{
    (void)state;
    made m;
    parsrec_synth_options o = small();
    o.seed = UINT64_MAX;
    o.size_rule = PARSREC_SIZE_PAPER;
    make(&m, o);
    assert_int_equal(m.report.sessions, 21 * 15);
    assert_int_equal(m.data->items, 200);
    assert_int_equal(m.data->categories, 20);
    assert_int_equal(m.data->time_kind, PARSREC_TIME_ORDINAL);
    assert_true(pr_slice_is(pr_name(&m.data->category_names, 19), "C19"));
    assert_true(pr_slice_is(pr_name(&m.data->item_keys, 123), "123"));
    assert_int_equal(m.data->item_category[123], 12);
    assert_true(pr_slice_is(pr_name(&m.data->user_keys, 20), "20"));
    assert_true(m.truth.options.seed == UINT64_MAX);
    assert_int_equal(m.truth.options.size_rule, PARSREC_SIZE_PAPER);
    assert_int_equal(m.truth.groups, 2);
    assert_true(pr_slice_is(pr_name(&m.truth.group_names, 1), "B"));
    assert_true(m.truth.group[10] == 0 && m.truth.group[11] == 1 && m.truth.group[20] == 1);
    assert_true(m.truth.sigma[0 * 400 + 18 * 20 + 19] == .99);
    assert_true(m.truth.sigma[1 * 400 + 14 * 20 + 16] == 1);
    assert_true(m.truth.alpha[7] == -0.5);
    assert_true(m.truth.price[199] >= m.truth.base_price[19] / 2);
    assert_true(m.truth.product_correlation[19 * 100 + 99] == 1);
    assert_trips_repeat(&m);
    unmake(&m);
}

static const pr_feature_column *column(const pr_dataset *d, pr_feature_of of, const char *name)
{
    for (size_t i = 0; i < d->feature_count[of]; i++)
        if (strcmp(d->features[of][i].name, name) == 0)
            return &d->features[of][i];
    fail_msg("there is no %s", name);
    return NULL;
}

/* What tells is part of the process; what does not leaves every basket as it is. */
static void features_are_what_they_say(void **state)
{
    (void)state;
    made plain, noise, all;
    parsrec_synth_options o = small();
    make(&plain, o);
    o.features = PARSREC_FEATURES_NOISE;
    make(&noise, o);
    o.features = PARSREC_FEATURES_ALL;
    o.threads = 2;
    make(&all, o);
    assert_int_equal(plain.data->actions, noise.data->actions);
    assert_memory_equal(plain.data->action_items, noise.data->action_items,
                        plain.data->actions * sizeof *plain.data->action_items);
    assert_int_equal(all.truth.options.features, PARSREC_FEATURES_ALL);
    assert_trips_repeat(&all);
    const pr_feature_column *occasion = column(all.data, PR_OF_SESSION, "occasion");
    size_t fitting = 0;
    for (size_t s = 0; s < all.data->sessions; s++)
        for (int64_t a = all.data->session_offsets[s]; a < all.data->session_offsets[s + 1]; a++)
            fitting += all.data->item_category[all.data->action_items[a]] % PR_SYNTH_OCCASIONS ==
                       occasion->code[s];
    assert_true((double)fitting > 0.4 * (double)all.data->actions); /* a quarter by luck */
    size_t right = 0;
    for (size_t u = 0; u < all.data->users; u++)
        right += column(all.data, PR_OF_USER, "segment")->code[u] == all.truth.group[u];
    assert_true(right > 12 && right < 21);
    assert_close(column(all.data, PR_OF_ITEM, "price")->number[7], all.truth.price[7], 1e-6);
    const pr_feature_column *signs = column(noise.data, PR_OF_USER, "star_sign");
    assert_memory_equal(column(all.data, PR_OF_USER, "star_sign")->code, signs->code,
                        noise.data->users * sizeof *signs->code);
    unmake(&plain);
    unmake(&noise);
    unmake(&all);
}

static bool holds(const int32_t *items, size_t n, int32_t item)
{
    for (size_t i = 0; i < n; i++)
        if (items[i] == item)
            return true;
    return false;
}

/* Without its category on the shelf a basket keeps everything else and, by the ordinary rule, is
 * filled up again. */
static void a_missing_category_is_replaced(void **state)
{
    (void)state;
    made m;
    make(&m, small());
    bool shelf[20];
    for (size_t c = 0; c < 20; c++)
        shelf[c] = c != 4;
    size_t changed = 0;
    for (size_t u = 0; u < m.data->users; u++) {
        become(&m, u);
        for (size_t t = 0; t < 15; t++) {
            int32_t full[PR_SYNTH_BASKET_MOST], items[PR_SYNTH_BASKET_MOST];
            size_t n = pr_shopper_trip(&m.shopper, &m.choice, t, NULL, full);
            assert_int_equal(pr_shopper_trip(&m.shopper, &m.choice, t, shelf, items), n);
            for (size_t i = 0; i < n; i++) {
                assert_true(items[i] / 10 != 4);
                assert_true(full[i] / 10 == 4 || holds(items, n, full[i]));
                changed += full[i] / 10 == 4;
            }
        }
    }
    assert_true(changed > 20);
    unmake(&m);
}

/* With the outside option the slot stays empty, or the trip is not made at all. */
static void outside_leaves_slots_empty(void **state)
{
    (void)state;
    made m;
    parsrec_synth_options o = small();
    o.outside = true;
    make(&m, o);
    assert_true(m.report.sessions < 21 * 15 && m.report.sessions > 21 * 5);
    assert_trips_repeat(&m);
    bool shelf[20];
    for (size_t c = 0; c < 20; c++)
        shelf[c] = c != 4;
    size_t shrunk = 0, lost = 0;
    for (size_t u = 0; u < m.data->users; u++) {
        become(&m, u);
        for (size_t t = 0; t < 15; t++) {
            int32_t full[PR_SYNTH_BASKET_MOST], items[PR_SYNTH_BASKET_MOST];
            size_t n = pr_shopper_trip(&m.shopper, &m.choice, t, NULL, full);
            size_t left = pr_shopper_trip(&m.shopper, &m.choice, t, shelf, items), missing = 0;
            for (size_t i = 0; i < n; i++)
                missing += full[i] / 10 == 4;
            assert_true(left == n - missing || (left == 0 && missing > 0));
            for (size_t i = 0; i < left; i++)
                assert_true(holds(full, n, items[i]) && items[i] / 10 != 4);
            shrunk += left > 0 && missing > 0;
            lost += left == 0 && missing > 0;
        }
    }
    assert_true(shrunk > 5 && lost > 0);
    unmake(&m);
}

static void small_worlds_work(void **state)
{
    (void)state;
    static const struct {
        uint64_t users, sessions, categories, products;
    } worlds[] = {{1, 1, 1, 1}, {3, 9, 2, 1}, {2, 30, 23, 3}, {5, 4, 7, 101}};
    for (size_t i = 0; i < 4; i++) {
        parsrec_synth_options o = small();
        o.users = worlds[i].users;
        o.sessions = worlds[i].sessions;
        o.categories = worlds[i].categories;
        o.products = worlds[i].products;
        made m;
        make(&m, o);
        assert_int_equal(m.report.sessions, o.users * o.sessions);
        assert_true(m.report.actions <= m.report.sessions * o.categories);
        assert_trips_repeat(&m);
        unmake(&m);
    }
}

static void blocks_are_repeated_and_cut(void **state)
{
    (void)state;
    parsrec_error err;
    pr_groups groups;
    assert_ok(pr_groups_builtin(&groups, 26, &err));
    const double *sigma = pr_groups_sigma(&groups, 0);
    assert_true(sigma[20 * 26 + 23] == -.25 && sigma[24 * 26 + 25] == .2);
    assert_true(sigma[23 * 26 + 24] == 0 && sigma[25 * 26 + 25] == 1);
    pr_groups_free(&groups);
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_synth_options o = small();
    o.users = 0;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "users must be");
    o.users = UINT64_MAX;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "users must be");
    o = small();
    o.sessions = UINT64_C(1) << 40;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "sessions must");
    o = small();
    o.categories = 1001;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "categories must");
    o = small();
    o.products = 0;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "products must");
    o = small();
    o.size_rule = (parsrec_size_rule)7;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "size rule 7");
    o = small();
    o.users = o.sessions = 2000000000;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_LIMIT, "fewer users");
    o = small();
    assert_fails(parsrec_synth(NULL, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "nothing to write");
    o.csv_path = path;
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_ARGUMENT, "same file");
    o.csv_path = "/nonexistent/x.csv";
    assert_fails(parsrec_synth(path, &o, NULL, NULL, &err), PARSREC_E_IO, "No such file");
    o.csv_path = csv; /* the data set fails, so the CSV must not appear either */
    assert_fails(parsrec_synth("/nonexistent/x.st", &o, NULL, NULL, &err), PARSREC_E_IO,
                 "No such file");
    assert_int_equal(access(csv, F_OK), -1);
}

static int stop(void *context, const parsrec_progress *progress)
{
    (void)context;
    return progress->stage != NULL;
}

static void the_caller_can_stop(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_synth_options o = small();
    parsrec_hooks hooks = {.on_progress = stop};
    assert_fails(parsrec_synth(path, &o, NULL, &hooks, &err), PARSREC_E_STOPPED, "stopped while");
}

/* ---- groups files ---- */

static parsrec_status run_groups(const char *text, uint64_t categories, parsrec_error *err)
{
    FILE *file = fopen(json, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    pr_groups groups;
    parsrec_status status = pr_groups_load(&groups, json, (size_t)categories, err);
    pr_groups_free(&groups);
    unlink(json);
    return status;
}

static void groups_files_are_checked(void **state)
{
    (void)state;
    parsrec_error err;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{}", "expected {\"groups\""},
        {"{\"groups\": [], \"x\": 1}", "expected {\"groups\""},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [3]}], \"x\": 1}", "unknown key 'x'"},
        {"{\"groups\": [{\"name\": \"\", \"blocks\": [3]}]}", "group 1 has no name"},
        {"{\"groups\": [3]}", "group 1 has no name"},
        {"{\"groups\": [{\"name\": \"A\", \"part\": 1, \"blocks\": [3]}]}", "unknown key 'part'"},
        {"{\"groups\": [{\"name\": \"A\"}]}", "'A' needs either"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [3], \"covariance\": []}]}", "needs either"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": 3}]}", "needs either"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [2]}]}", "blocks for 2 categories, but"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [4]}]}", "blocks for 4 categories, but"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [9223372036854775807]}]}", "1 is neither"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [2, -1]}]}", "block 2 is neither"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [2, \"a\"]}]}", "block 2 is neither"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [2, [[1, 0], [0, 1]]]}]}",
         "blocks for 4 cat"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [2, []]}]}", "block 2 is neither"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [1, [[1, 0], [0]]]}]}", "row 3 of a 2 x 2"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [1, [[1, 0], 5]]}]}", "row 3 of a 2 x 2"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [1, [[1, 0], [0, \"1\"]]]}]}",
         "row 3, column 3 of the covariance is not a number"},
        {"{\"groups\": [{\"name\": \"A\", \"covariance\": [[1]]}]}", "of 1 categories, but"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [1, [[1, 0.5], [0.4, 1]]]}]}",
         "not symmetric: row 3, column 2 is 0.4 but row 2, column 3 is 0.5"},
        {"{\"groups\": [{\"name\": \"loud\", \"blocks\": [[[1, 0.9, -0.9], [0.9, 1, 0.9], "
         "[-0.9, 0.9, 1]]]}]}",
         "'loud': no random numbers have this covariance, its smallest eigenvalue is -0.8"},
        {"{\"groups\": [{\"name\": \"A\", \"share\": 0, \"blocks\": [3]}]}", "\"share\" must"},
        {"{\"groups\": [{\"name\": \"A\", \"share\": \"1\", \"blocks\": [3]}]}", "\"share\" must"},
        {"{\"groups\": [{\"name\": \"A\", \"share\": 0.4, \"blocks\": [3]}]}", "add up to 0.4"},
        {"{\"groups\": [{\"name\": \"A\", \"blocks\": [3]}, {\"name\": \"A\", \"blocks\": [3]}]}",
         "'A' occurs twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(run_groups(bad[i].text, 3, &err), PARSREC_E_CONFIG, bad[i].says);
    assert_fails(run_groups("{\"groups\": [", 3, &err), PARSREC_E_FORMAT, "groups.json:1:");
    assert_ok(run_groups("{\"groups\": [{\"name\": \"A\", \"blocks\": [[[1, 1], [1, 1]], 1]}]}", 3,
                         &err));
}

static void shares_divide_the_users(void **state)
{
    (void)state;
    double share[] = {0.25, 0.5, 0.25};
    pr_groups groups = {.count = 3, .share = share};
    assert_int_equal(pr_group_end(&groups, 0, 8), 2);
    assert_int_equal(pr_group_end(&groups, 1, 8), 6);
    assert_int_equal(pr_group_end(&groups, 2, 8), 8);
    assert_int_equal(pr_group_end(&groups, 0, 1), 0);
    assert_int_equal(pr_group_end(&groups, 1, 1), 1);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_synth_options o = small();
    o.users = 2;
    o.sessions = 3;
    o.products = 2;
    o.threads = 2;
    o.csv_path = csv;
    size_t n = 0;
    for (;; n++) {
        pr_memory_fail_after(n);
        parsrec_status status = parsrec_synth(path, &o, NULL, NULL, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK)
            break;
        assert_int_equal(status, PARSREC_E_MEMORY);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(access(csv, F_OK), -1);
    }
    assert_true(n > 40);
    unlink(path);
    unlink(csv);
}

/* Saves the data again with other truth tensors or another source and reads the truth. */
static parsrec_status read_changed(made *m, const pr_tensor *tensors, size_t count,
                                   const char *source, parsrec_error *err)
{
    pr_dataset changed = *m->data, *loaded;
    changed.source = source;
    pr_truth truth;
    parsrec_error ignored;
    assert_int_equal(pr_dataset_save(&changed, tensors, count, path, &ignored), PARSREC_OK);
    assert_int_equal(pr_dataset_load(&loaded, path, &ignored), PARSREC_OK);
    parsrec_status status = pr_truth_read(&truth, loaded, err);
    pr_dataset_free(loaded);
    unlink(path);
    return status;
}

static void truth_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    parsrec_error err;
    made m;
    make(&m, small());
    pr_tensor tensors[PR_TRUTH_MOST_TENSORS];
    size_t n = pr_truth_tensors(&m.truth, tensors);
    const char *source = m.data->source;
    assert_ok(read_changed(&m, tensors, n, source, &err));
    static const char *const sources[] = {"", "{}", "[1]", "{\"users\": 21}"};
    for (size_t i = 0; i < 4; i++)
        assert_fails(read_changed(&m, tensors, n, sources[i], &err), PARSREC_E_FORMAT,
                     "does not say how");
    char *fewer = pr_truth_source(&(parsrec_synth_options){
        .users = 20, .sessions = 1, .categories = 20, .products = 10, .seed = 1});
    assert_fails(read_changed(&m, tensors, n, fewer, &err), PARSREC_E_FORMAT, "does not say how");
    pr_free(fewer);
    int32_t group[21] = {0};
    group[20] = 2;
    const void *right = tensors[0].data;
    tensors[0].data = group;
    assert_fails(read_changed(&m, tensors, n, source, &err), PARSREC_E_FORMAT, "is of group 2");
    tensors[0].data = right;
    for (size_t i = 0; i < n - 2; i++) { /* the last two are the names */
        tensors[i].shape[0]--;
        assert_fails(read_changed(&m, tensors, n, source, &err), PARSREC_E_FORMAT, "does not fit");
        tensors[i].shape[0]++;
    }
    assert_fails(read_changed(&m, tensors, 1, source, &err), PARSREC_E_FORMAT, "truth.");
    unmake(&m);
}

static void other_data_have_no_truth(void **state)
{
    (void)state;
    parsrec_error err;
    pr_truth truth;
    pr_dataset data = {.source = ""};
    assert_fails(pr_truth_read(&truth, &data, &err), PARSREC_E_NOT_FOUND, "no ground truth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_tells_how_it_was_made),
        cmocka_unit_test(features_are_what_they_say),
        cmocka_unit_test(a_missing_category_is_replaced),
        cmocka_unit_test(outside_leaves_slots_empty),
        cmocka_unit_test(small_worlds_work),
        cmocka_unit_test(blocks_are_repeated_and_cut),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(the_caller_can_stop),
        cmocka_unit_test(groups_files_are_checked),
        cmocka_unit_test(shares_divide_the_users),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(truth_that_does_not_fit_is_refused),
        cmocka_unit_test(other_data_have_no_truth),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
