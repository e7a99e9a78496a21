/* The data set: what is saved comes back, and each rule of its contents is kept. */
#include "support/testing.h"

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/dataset_edit.h"
#include "data/split.h"
#include "support/sample_data.h"

static char folder[] = "/tmp/parsrec-dataset-XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/data.st", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

static void assert_names_equal(const pr_names *a, const pr_names *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets);
    assert_memory_equal(a->bytes, b->bytes, (size_t)a->offsets[a->count]);
}

static const float groups[] = {0, 1, 2, 3, 4, 5};
static const pr_tensor truth = {"truth.group", PR_F32, 2, {2, 3}, groups};

static void everything_comes_back(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    assert_ok(pr_dataset_save(&s.data, &truth, 1, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_int_equal(d->users, SAMPLE_USERS);
    assert_int_equal(d->sessions, SAMPLE_SESSIONS);
    assert_int_equal(d->items, SAMPLE_ITEMS);
    assert_int_equal(d->actions, SAMPLE_ACTIONS);
    assert_memory_equal(d->user_offsets, s.user_offsets, sizeof s.user_offsets);
    assert_memory_equal(d->session_offsets, s.session_offsets, sizeof s.session_offsets);
    assert_memory_equal(d->action_items, s.items, sizeof s.items);
    assert_memory_equal(d->times, s.times, sizeof s.times);
    assert_int_equal(d->time_kind, PARSREC_TIME_UNIX);
    assert_names_equal(&d->user_keys, &s.data.user_keys);
    assert_names_equal(&d->item_keys, &s.data.item_keys);
    assert_names_equal(&d->item_names, &s.data.item_names);
    assert_names_equal(&d->category_names, &s.data.category_names);
    assert_memory_equal(d->category_parent, s.parent, sizeof s.parent);
    assert_memory_equal(d->item_category, s.category, sizeof s.category);
    assert_int_equal(d->feature_count[PR_OF_ITEM], 1);
    assert_string_equal(d->features[PR_OF_ITEM][0].name, "price.EUR");
    assert_memory_equal(d->features[PR_OF_ITEM][0].number, s.price, sizeof s.price);
    assert_string_equal(d->features[PR_OF_USER][0].name, "age");
    assert_memory_equal(d->features[PR_OF_SESSION][0].code, s.channel, sizeof s.channel);
    assert_names_equal(&d->features[PR_OF_SESSION][0].values, &s.session_feature[0].values);
    assert_string_equal(d->source, s.data.source);
    assert_memory_equal(pr_container_find(d->file, "truth.group")->data, groups, sizeof groups);
    pr_dataset_free(d);
}

/* Like the end of the tensor of another feature's words, but for the dot of the table. */
static void features_may_have_names_of_parts(void **state)
{
    (void)state;
    static const char *const names[] = {"values.bytes", "values.offsets", "values"};
    parsrec_error err;
    sample s;
    sample_make(&s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pr_dataset *d;
        strcpy(s.price_name, names[i]);
        assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
        assert_ok(pr_dataset_load(&d, path, &err));
        assert_string_equal(d->features[PR_OF_ITEM][0].name, names[i]);
        pr_dataset_free(d);
    }
}

static void optional_parts_may_be_absent(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    s.data.time_kind = PARSREC_TIME_NONE;
    s.data.times = NULL;
    s.data.item_names.count = 0;
    s.data.categories = 0;
    memset(s.data.feature_count, 0, sizeof s.data.feature_count);
    s.data.source = "";
    assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_null(d->times);
    assert_null(d->item_category);
    assert_int_equal(d->item_names.count, 0);
    assert_int_equal(d->categories, 0);
    assert_int_equal(d->feature_count[PR_OF_USER], 0);
    assert_string_equal(d->source, "");
    pr_dataset_free(d);
}

/* What is said of the whole, all at once. */
static void all_metadata_come_back(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    s.data.ordered = true;
    s.data.source = "{\"kind\":\"import\"}";
    s.data.events = "{\"store\":7}";
    assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_true(d->ordered);
    assert_string_equal(d->source, s.data.source);
    assert_string_equal(d->events, s.data.events);
    assert_int_equal(d->time_kind, s.data.time_kind);
    pr_dataset_free(d);
}

static void category_paths_read_from_the_top(void **state)
{
    (void)state;
    sample s;
    sample_make(&s);
    char text[32], small[8];
    assert_string_equal(pr_category_path(&s.data, 1, text, sizeof text), "FOOD > DAIRY");
    assert_string_equal(pr_category_path(&s.data, 2, text, sizeof text), "DRINK");
    assert_string_equal(pr_category_path(&s.data, -1, text, sizeof text), "");
    assert_string_equal(pr_category_path(&s.data, 1, small, sizeof small), "FOOD > ");
    assert_string_equal(pr_category_path(&s.data, 1, small, 1), "");
}

/* ---- one rule after the other ---- */

typedef struct rule {
    void (*damage)(sample *s);
    const char *says;
} rule;

static const int64_t same_words[] = {0, 3, 6};
#define DAMAGE(name, statement) \
    static void name(sample *s) \
    {                           \
        statement;              \
    }
DAMAGE(users_fall, s->user_offsets[1] = 4)
DAMAGE(users_end, s->user_offsets[3] = 4)
DAMAGE(users_begin, s->user_offsets[0] = 1)
DAMAGE(session_empty, s->session_offsets[1] = 0)
DAMAGE(session_end, s->session_offsets[5] = 10)
DAMAGE(session_negative, s->session_offsets[1] = INT64_MIN)
DAMAGE(item_high, s->items[4] = 4)
DAMAGE(item_low, s->items[4] = -1)
DAMAGE(item_twice, s->items[6] = 1)
DAMAGE(times_fall, s->times[1] = 1)
DAMAGE(time_early, s->times[0] = -(INT64_C(1) << 61))
DAMAGE(time_late, s->times[4] = INT64_MAX)
DAMAGE(key_twice, memcpy(s->user_bytes, "annann", 6))
DAMAGE(key_empty, s->user_keys[1] = 0)
DAMAGE(key_broken, s->item_bytes[14] = 'x')
DAMAGE(key_cut, s->item_keys[3] = 15)
DAMAGE(key_nul, s->item_bytes[2] = '\0')
DAMAGE(key_falls, s->item_keys[1] = 10)
DAMAGE(parent_later, s->parent[1] = 1)
DAMAGE(parent_low, s->parent[1] = -2)
DAMAGE(category_high, s->category[0] = 3)
DAMAGE(sibling_twice, s->parent[1] = -1; s->data.category_names.bytes = "FOODDRINKDRINK")
DAMAGE(code_high, s->channel[2] = 2)
DAMAGE(code_low, s->channel[2] = -2)
DAMAGE(value_twice, s->session_feature[0].values.bytes = "webweb.";
       s->session_feature[0].values.offsets = same_words)
DAMAGE(number_infinite, s->price[1] = -INFINITY)
DAMAGE(feature_empty, s->price_name[0] = '\0')
DAMAGE(feature_control, s->price_name[2] = '\n')
DAMAGE(feature_table, strcpy(s->price_name, "x.values.bytes"))
DAMAGE(feature_ending, strcpy(s->price_name, ".values.offsets"))
DAMAGE(feature_long, memset(s->price_name, 'x', 201))

static const rule rules[] = {
    {users_fall, "user_offsets decreases at 1 from 4 to 3"},
    {users_end, "user_offsets ends with 4, expected 5"},
    {users_begin, "user_offsets begins with 1, not 0"},
    {session_empty, "session_offsets: row 0 is empty"},
    {session_end, "session_offsets ends with 10, expected 9"},
    {session_negative, "session_offsets decreases at 0"},
    {item_high, "items[4] is 4, allowed are 0 to 3"},
    {item_low, "items[4] is -1, allowed are 0 to 3"},
    {item_twice, "item 'bread' occurs twice in session 2"},
    {times_fall, "times of user 'ann' fall at session 1"},
    {time_early, "the time of session 0 is -2305843009213693952, which is out of range"},
    {time_late, "the time of session 4 is 9223372036854775807, which is out of range"},
    {key_twice, "user_keys: 'ann' occurs twice, as 0 and 1"},
    {key_empty, "user_keys: row 0 is empty"},
    {key_broken, "item_keys: byte 15 is not valid UTF-8"},
    {key_cut, "item_keys: name 3 is not valid UTF-8"},
    {key_nul, "item_keys: a name holds a NUL byte"},
    {key_falls, "item_keys decreases at 1"},
    {parent_later, "category_parent[1] is 1"},
    {parent_low, "category_parent[1] is -2"},
    {category_high, "item_category[0] is 3, allowed are -1 to 2"},
    {sibling_twice, "category_names: 'DRINK' occurs twice"},
    {code_high, "'channel'[2] is 2, allowed are -1 to 1"},
    {code_low, "'channel'[2] is -2"},
    {value_twice, "'channel': 'web' occurs twice"},
    {number_infinite, "feature 'price.EUR' is infinite in row 1"},
    {feature_empty, "cannot be the name of a feature"},
    {feature_control, "cannot be the name of a feature"},
    {feature_table, "cannot be the name of a feature"},
    {feature_ending, "cannot be the name of a feature"},
    {feature_long, "cannot be the name of a feature"},
};

static void every_rule_is_kept(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        sample s;
        sample_make(&s);
        assert_ok(pr_dataset_check(&s.data, "x.st", &err));
        rules[i].damage(&s);
        assert_fails(pr_dataset_check(&s.data, "x.st", &err), PARSREC_E_FORMAT, rules[i].says);
        unlink(path);
        assert_int_equal(pr_dataset_save(&s.data, NULL, 0, path, &err), PARSREC_E_FORMAT);
        assert_int_equal(access(path, F_OK), -1);
    }
}

static void deep_category_trees_are_refused(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    int32_t parent[PR_CATEGORY_LEVELS + 1];
    int64_t offsets[PR_CATEGORY_LEVELS + 2];
    char bytes[PR_CATEGORY_LEVELS + 1];
    for (int i = 0; i <= PR_CATEGORY_LEVELS; i++) {
        parent[i] = i - 1;
        offsets[i] = i;
        bytes[i] = 'c';
    }
    offsets[PR_CATEGORY_LEVELS + 1] = PR_CATEGORY_LEVELS + 1;
    s.data.category_parent = parent;
    s.data.category_names = sample_names(bytes, offsets, PR_CATEGORY_LEVELS);
    s.data.categories = PR_CATEGORY_LEVELS;
    assert_ok(pr_dataset_check(&s.data, "x.st", &err));
    s.data.category_names.count = s.data.categories = PR_CATEGORY_LEVELS + 1;
    assert_fails(pr_dataset_check(&s.data, "x.st", &err), PARSREC_E_FORMAT, "more than 32 levels");
}

/* ---- tensors that do not fit together ---- */

typedef struct misfit {
    const char *tensor; /* of the sample, to be replaced by ... */
    pr_tensor with;     /* ... this one; name NULL: left out */
    const char *says;
} misfit;

static const int64_t zeros[8];
static const misfit misfits[] = {
    {"items", {.name = NULL}, "the tensor 'items' is missing"},
    {"user_keys.bytes", {.name = NULL}, "the tensor 'user_keys.bytes' is missing"},
    {"times", {.name = NULL}, "the tensor 'times' is missing"},
    {"category_names.offsets", {.name = NULL}, "the tensor 'category_names.offsets' is missing"},
    {"category_parent", {.name = NULL}, "the tensor 'category_parent' is missing"},
    {"session_feature.channel.values.bytes", {.name = NULL}, "channel.values.byt"},
    {"session_feature.channel", {.name = NULL}, "belongs to no I32 column"},
    {"items", {"items", PR_I64, 1, {4}, zeros}, "'items' is I64 with 1 dimensions, expected I32"},
    {"items", {"items", PR_I32, 2, {4, 2}, zeros}, "with 2 dimensions, expected I32 with 1"},
    {"times", {"times", PR_I64, 1, {4}, zeros}, "'times' has 4 elements, expected 5"},
    {"user_offsets", {"user_offsets", PR_I64, 1, {0}, zeros}, "'user_offsets' is empty"},
    {"user_offsets", {"user_offsets", PR_I64, 1, {3}, zeros}, "name 3 users, user_offsets 2"},
    {"item_keys.offsets", {"item_keys.offsets", PR_I64, 1, {0}, zeros}, "offsets' is empty"},
    {"item_keys.offsets", {"item_keys.offsets", PR_I64, 1, {5}, zeros}, "from 0 to the 16 bytes"},
    {"item_names.offsets",
     {"item_names.offsets", PR_I64, 1, {4}, (const int64_t[]){0, 0, 0, 21}},
     "item_names has 3 names for 4 items"},
    {"item_feature.price.EUR", {"item_feature.price", PR_F32, 1, {3}, zeros}, "has 3 elements"},
    {"item_feature.price.EUR", {"item_feature.price", PR_F64, 1, {4}, zeros}, "is F64"},
    {"item_feature.price.EUR", {"item_feature.", PR_F32, 1, {4}, zeros}, "not name a feature"},
};

/* The sample's file with one tensor changed. */
static void write_misfit(const misfit *m, const char *time_kind)
{
    parsrec_error err;
    sample s;
    sample_make(&s);
    assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
    pr_container *c;
    assert_ok(pr_container_open(&c, path, &err));
    pr_tensor tensors[32];
    size_t count = 0, changed = 0;
    for (size_t i = 0; i < pr_container_tensors(c); i++) {
        tensors[count] = *pr_container_at(c, i);
        if (m != NULL && strcmp(tensors[count].name, m->tensor) == 0) {
            changed++;
            tensors[count] = m->with;
        }
        count += tensors[count].name != NULL;
    }
    assert_int_equal(changed, m != NULL);
    const pr_metadata metadata = {"time_kind", time_kind};
    assert_ok(pr_container_write(path, PR_DATA_FORMAT, 1, &metadata, 1, tensors, count, &err));
    pr_container_free(c);
}

static void tensors_must_fit_together(void **state)
{
    (void)state;
    parsrec_error err;
    pr_dataset *d;
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        write_misfit(&misfits[i], "unix");
        assert_fails(pr_dataset_load(&d, path, &err), PARSREC_E_FORMAT, misfits[i].says);
        assert_null(d);
    }
    write_misfit(NULL, "none");
    assert_fails(pr_dataset_load(&d, path, &err), PARSREC_E_FORMAT, "does not say ordinal or unix");
    write_misfit(NULL, "lunar");
    assert_fails(pr_dataset_load(&d, path, &err), PARSREC_E_FORMAT,
                 "must be none, ordinal or unix");
    assert_ok(pr_container_write(path, PR_DATA_FORMAT, 2, NULL, 0, NULL, 0, &err));
    assert_fails(pr_dataset_load(&d, path, &err), PARSREC_E_VERSION,
                 "parsrec.data version 2, this parsrec reads up to 1");
    assert_ok(pr_container_write(path, "parsrec.model", 1, NULL, 0, NULL, 0, &err));
    assert_fails(pr_dataset_load(&d, path, &err), PARSREC_E_FORMAT, "is a model, not a data set");
}

/* Tensors nobody knows yet do not disturb. */
static void unknown_tensors_are_passed_over(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    const pr_tensor later = {"invented_later", PR_F32, 2, {2, 3}, groups};
    assert_ok(pr_dataset_save(&s.data, &later, 1, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    pr_dataset_free(d);
}

/* ---- statistics, by hand ---- */

static void statistics_match_the_hand_count(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    parsrec_data_stats t;
    assert_ok(parsrec_data_statistics(&s.data, &t, &err));
    assert_int_equal(t.users, 3);
    assert_int_equal(t.sessions, 5);
    assert_int_equal(t.items, 4);
    assert_int_equal(t.actions, 9);
    assert_close(t.actions_per_user, 3, 0);
    assert_close(t.sessions_per_user, 5 / 3.0, 1e-15);
    assert_close(t.density, 6 / 12.0, 1e-15);     /* ann has all four, cy milk and tea */
    assert_close(t.repeat_share, 3 / 9.0, 1e-15); /* ann: milk, bread and eggs again */
    assert_close(t.basket_mean, 9 / 5.0, 1e-15);
    assert_int_equal(t.basket_median, 2); /* of 1 1 2 2 3 */
    assert_int_equal(t.basket_max, 3);
    assert_close(t.single_item_share, 2 / 5.0, 1e-15);
    assert_int_equal(t.sessions_per_user_median, 2); /* of 0 2 3 */
    assert_int_equal(t.sessions_per_user_max, 3);
    assert_int_equal(t.evaluated_users, 1);
    assert_int_equal(t.categories, 3);
    assert_int_equal(t.category_levels, 2);
    assert_int_equal(t.items_with_name, 3);
    assert_int_equal(t.user_features + t.session_features + t.item_features, 3);
    assert_int_equal(t.first_time, 0);
    assert_int_equal(t.last_time, 1800000000);
    assert_false(t.synthetic);
    assert_string_equal(t.checksum, "");
}

static void calendar_counts_sessions_by_utc_month_and_weekday(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    parsrec_calendar c;
    assert_ok(parsrec_data_calendar(&c, &s.data, &err));
    const uint64_t weekdays[7] = {0, 2, 1, 1, 1, 0, 0}; /* two on Tuesday 2023-11-14, ... */
    assert_memory_equal(c.weekday, weekdays, sizeof weekdays);
    assert_int_equal(c.months, 57 * 12 + 1); /* 1970-01 to 2027-01 */
    assert_true(c.month[0].year == 1970 && c.month[0].month == 1 && c.month[0].sessions == 1);
    const parsrec_month *november = &c.month[53 * 12 + 10];
    assert_true(november->year == 2023 && november->month == 11 && november->sessions == 3);
    parsrec_calendar_clear(&c);
    s.times[4] = INT64_MAX; /* beyond any calendar */
    assert_ok(parsrec_data_calendar(&c, &s.data, &err));
    assert_int_equal(c.months + c.weekday[1], 0);
    parsrec_calendar_clear(&c);
}

static void lists_come_by_sessions_and_text(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    parsrec_listed *rows;
    size_t count;
    assert_ok(parsrec_data_list(&rows, &count, &s.data, PARSREC_ITEM, NULL, &err));
    assert_int_equal(count, 4);
    assert_true(rows[0].number == 0 && rows[0].sessions == 3 && rows[0].users == 2); /* milk */
    assert_true(rows[1].number == 1 && rows[1].sessions == 2 && rows[1].users == 1);
    parsrec_list_free(rows);
    assert_ok(parsrec_data_list(&rows, &count, &s.data, PARSREC_CATEGORY, NULL, &err));
    assert_true(count == 3 && rows[0].number == 0 && rows[0].sessions == 4); /* FOOD with DAIRY */
    assert_true(rows[0].actions == 5 && rows[0].users == 2);
    parsrec_list_free(rows);
    assert_ok(parsrec_data_list(&rows, &count, &s.data, PARSREC_CATEGORY, "food > d", &err));
    assert_true(count == 1 && rows[0].number == 1);
    parsrec_list_free(rows);
    assert_ok(parsrec_data_list(&rows, &count, &s.data, PARSREC_ITEM, "BAGS", &err)); /* a name */
    assert_true(count == 1 && rows[0].number == 3);
    parsrec_list_free(rows);
    assert_ok(parsrec_data_list(&rows, &count, &s.data, PARSREC_USER, "", &err));
    assert_true(count == 3 && rows[0].number == 0 && rows[0].sessions == 3 && rows[0].actions == 7);
    assert_int_equal(rows[2].sessions, 0); /* bob */
    parsrec_list_free(rows);
    assert_int_equal(parsrec_data_key(&s.data, PARSREC_ITEM, 4).size, 0);
    assert_int_equal(parsrec_data_key(&s.data, PARSREC_USER, -1).size, 0);
}

static void statistics_of_nothing_are_zero(void **state)
{
    (void)state;
    parsrec_error err;
    const pr_names none = {"", zeros, 0};
    const pr_dataset empty = {.user_offsets = zeros,
                              .session_offsets = zeros,
                              .user_keys = none,
                              .item_keys = none,
                              .item_names = none};
    parsrec_data_stats t;
    assert_ok(pr_dataset_save(&empty, NULL, 0, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_ok(parsrec_data_statistics(d, &t, &err));
    assert_close(t.density + t.basket_mean + t.repeat_share + t.actions_per_user, 0, 0);
    assert_int_equal(t.basket_median + t.sessions_per_user_median + t.evaluated_users, 0);
    pr_dataset_free(d);
}

static void missing_arguments_are_named(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_data *d;
    parsrec_data_stats stats;
    assert_fails(parsrec_data_load(NULL, path, &err), PARSREC_E_ARGUMENT, "needs out and path");
    assert_fails(parsrec_data_load(&d, NULL, &err), PARSREC_E_ARGUMENT, "needs out and path");
    assert_fails(parsrec_data_statistics(NULL, &stats, &err), PARSREC_E_ARGUMENT, "needs data");
    assert_fails(parsrec_file_check(NULL, NULL, &err), PARSREC_E_ARGUMENT, "needs a path");
    parsrec_data_free(NULL);
}

/* ---- memory ---- */

static parsrec_status save_load_and_count(parsrec_error *err)
{
    sample s;
    sample_make(&s);
    PR_TRY(pr_dataset_save(&s.data, &truth, 1, path, err));
    parsrec_data *d;
    PR_TRY(parsrec_data_load(&d, path, err));
    parsrec_data_stats stats;
    parsrec_status status = parsrec_data_statistics(d, &stats, err);
    parsrec_data_free(d);
    if (status == PARSREC_OK)
        status = parsrec_file_check(path, NULL, err);
    return status;
}

/* Jansson's own allocations are counted and fail too. LeakSanitizer sees what is lost. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    size_t before = pr_memory_count();
    assert_ok(save_load_and_count(&err));
    size_t allocations = pr_memory_count() - before;
    assert_true(allocations > 100);
    for (size_t i = 0; i < allocations; i++) {
        pr_memory_fail_after(i);
        parsrec_status status = save_load_and_count(&err);
        pr_memory_fail_after(SIZE_MAX);
        if (status != PARSREC_E_MEMORY)
            fail_msg("allocation %zu of %zu: status %d, %s", i, allocations, (int)status,
                     err.message);
    }
    unlink(path);
}

/* ---- in the numbers of another data set ---- */

/* cy: tea | milk cocoa; dan: cocoa | bread; ann: eggs milk. Items: tea, cocoa, milk, bread, eggs. Channels: web, phone,
 * shop. There is a column more. */
static void make_later(sample *s)
{
    static const int64_t offsets[] = {0, 3, 8, 12, 17, 21}, channels[] = {0, 3, 8, 12};
    static const int64_t users[] = {0, 2, 5, 8};
    static const int64_t user_offsets[] = {0, 2, 4, 5}, session_offsets[] = {0, 1, 3, 4, 5, 7};
    static const int32_t items[] = {0, 2, 1, 1, 3, 4, 2}, channel[] = {2, 1, 0, 0, -1};
    static const float age[] = {61, 20, 32}, height[] = {1, 2, 3};
    static pr_feature_column of_user[2], of_session[1];
    of_user[0] = (pr_feature_column){.name = (char *)(uintptr_t) "height", .number = height};
    of_user[1] = (pr_feature_column){.name = (char *)(uintptr_t) "age", .number = age};
    of_session[0] = (pr_feature_column){.name = (char *)(uintptr_t) "channel",
                                        .code = channel,
                                        .values = sample_names("webphoneshop", channels, 3)};
    *s = (sample){0};
    s->data = (pr_dataset){
        .users = 3,
        .sessions = 5,
        .items = 5,
        .actions = 7,
        .user_offsets = user_offsets,
        .session_offsets = session_offsets,
        .action_items = items,
        .user_keys = sample_names("cydanann", users, 3),
        .item_keys = sample_names("T\xC3\xA9"
                                  "cocoamilkbreadeggs",
                                  offsets, 5),
        .feature_count = {2, 1, 0},
        .features = {of_user, of_session, NULL},
    };
}

static void later_data_get_the_numbers_of_a_model(void **state)
{
    (void)state;
    parsrec_error err;
    sample model, later;
    pr_derived out;
    pr_match_facts facts;
    char sentence[300];
    sample_make(&model);
    make_later(&later);
    static const uint8_t parts[SAMPLE_USERS] = {PR_USER_TRAINS, PR_USER_TRAINS, PR_USER_TRAINS};
    model.data.user_parts = parts; /* of the model's users: says nothing about these */
    model.data.split_at = 5;
    later.data.ordered = true;
    assert_ok(pr_dataset_match(&out, &facts, &later.data, &model.data, &err));
    const pr_dataset *d = &out.data;
    assert_true(d->ordered);
    assert_null(d->user_parts);
    assert_int_equal(d->split_at, 0);
    assert_false(facts.same);
    assert_int_equal(facts.unknown_users, 1);
    assert_int_equal(facts.unknown_items, 1);
    assert_int_equal(facts.unknown_actions, 2);
    assert_int_equal(facts.lost_sessions, 1); /* dan's first had cocoa alone */
    assert_string_equal(
        pr_match_sentence(&facts, &later.data, sentence, sizeof sentence),
        "the data set is not the one the model was trained on: 1 of 3 users are new "
        "to the model and served as unknown users; 1 of 5 items (2 of 7 actions) are "
        "not in its catalogue and are left out, with sessions that have no other "
        "item");
    /* ann, cy, dan; the model has bob between them. */
    static const int32_t known_as[] = {0, 2, PR_ANYONE}, items[] = {2, 0, 3, 0, 1};
    static const int64_t user_offsets[] = {0, 1, 3, 4}, session_offsets[] = {0, 2, 3, 4, 5};
    assert_memory_equal(d->known_as, known_as, sizeof known_as);
    assert_int_equal(d->sessions, 4);
    assert_memory_equal(d->user_offsets, user_offsets, sizeof user_offsets);
    assert_memory_equal(d->session_offsets, session_offsets, sizeof session_offsets);
    assert_memory_equal(d->action_items, items, sizeof items);
    assert_true(pr_slice_is(pr_name(&d->user_keys, 2), "dan"));
    assert_int_equal(d->items, SAMPLE_ITEMS);
    assert_int_equal(d->categories, 3);
    /* The model's columns first, with its codes: shop 0, web 1; phone is unknown to it. */
    static const int32_t channel[] = {-1, 0, -1, 1};
    assert_string_equal(d->features[PR_OF_USER][0].name, "age");
    assert_close((double)d->features[PR_OF_USER][0].number[0], 32, 0);
    assert_string_equal(d->features[PR_OF_USER][1].name, "height");
    assert_close((double)d->features[PR_OF_USER][1].number[2], 2, 0);
    assert_memory_equal(d->features[PR_OF_SESSION][0].code, channel, sizeof channel);
    pr_derived_free(&out);
}

static void the_same_data_are_not_copied(void **state)
{
    (void)state;
    parsrec_error err;
    sample a, b;
    pr_derived out;
    pr_match_facts facts;
    char sentence[300];
    sample_make(&a);
    sample_make(&b);
    assert_ok(pr_dataset_match(&out, &facts, &a.data, &b.data, &err));
    assert_true(facts.same);
    assert_ptr_equal(out.data.action_items, a.data.action_items);
    assert_null(out.data.known_as);
    assert_string_equal(pr_match_sentence(&facts, &a.data, sentence, sizeof sentence), "");
    pr_derived_free(&out);
}

static void another_shop_is_refused(void **state)
{
    (void)state;
    parsrec_error err;
    sample a, b;
    pr_derived out;
    pr_match_facts facts;
    sample_make(&a);
    sample_make(&b);
    memcpy(b.item_bytes, "MILKBREADEGGST", 14);
    b.item_bytes[15] = '\xA8';
    assert_int_equal(pr_dataset_match(&out, &facts, &a.data, &b.data, &err), PARSREC_E_INPUT);
    assert_non_null(strstr(err.message, "none of the 4 items"));
}

/* ---- a split by users ---- */

static void whole_users_are_held_out(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    pr_dataset data = s.data;
    const bool tests[SAMPLE_USERS] = {false, false, true};
    assert_ok(pr_dataset_split_users(&data, tests, &err));
    assert_true(data.by_users);
    int64_t end = data.user_offsets[3];
    assert_int_equal(pr_split_session(&data, 2, PR_TEST, 1), end - 1);
    assert_int_equal(pr_split_session(&data, 2, PR_VALID, 1), -1);
    assert_int_equal(pr_split_train_end(&data, 2, 1), data.user_offsets[2]);
    assert_int_equal(pr_split_train_end(&data, 0, 1), data.user_offsets[1]);
    assert_int_equal(pr_known_user(&data, 0), PR_ANYONE);
    pr_counted before = {.data = &data, .scope = pr_scope_before(PR_TEST, 1)};
    assert_int_equal(pr_counted_end(&before, 2), data.user_offsets[2]);
    assert_int_equal(pr_counted_end(&before, 0), data.user_offsets[1]);
    pr_derived seen;
    assert_ok(pr_dataset_without_tests(&seen, &data, &err));
    assert_int_equal(seen.data.users, SAMPLE_USERS - 1);
    assert_true(seen.data.by_users);
    assert_int_equal(pr_part_of_user(&seen.data, 1), PR_USER_TRAINS);
    pr_derived_free(&seen);
    assert_int_equal(pr_dataset_split_users(&data, tests, &err), PARSREC_E_ARGUMENT);
    pr_derived_free(data.cut);
    pr_free(data.cut);
    const bool all[SAMPLE_USERS] = {true, true, true};
    pr_dataset whole = s.data;
    assert_int_equal(pr_dataset_split_users(&whole, all, &err), PARSREC_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_users_are_held_out),
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(features_may_have_names_of_parts),
        cmocka_unit_test(optional_parts_may_be_absent),
        cmocka_unit_test(all_metadata_come_back),
        cmocka_unit_test(category_paths_read_from_the_top),
        cmocka_unit_test(every_rule_is_kept),
        cmocka_unit_test(deep_category_trees_are_refused),
        cmocka_unit_test(tensors_must_fit_together),
        cmocka_unit_test(unknown_tensors_are_passed_over),
        cmocka_unit_test(statistics_match_the_hand_count),
        cmocka_unit_test(calendar_counts_sessions_by_utc_month_and_weekday),
        cmocka_unit_test(lists_come_by_sessions_and_text),
        cmocka_unit_test(statistics_of_nothing_are_zero),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(later_data_get_the_numbers_of_a_model),
        cmocka_unit_test(the_same_data_are_not_copied),
        cmocka_unit_test(another_shop_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
