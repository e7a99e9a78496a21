/* Import through the public call: what stands in the file afterwards, random tables against a slow
 * model, and every allocation failing in turn. */
#include "support/testing.h"

#include <jansson.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/dataset.h"
#include "support/crafted.h"

static char folder[] = "/tmp/parsrec-import-XXXXXX";

/* The path of a name; every name keeps its own. */
static const char *path_of(const char *name)
{
    static char names[16][32], paths[16][64];
    size_t i = 0;
    while (names[i][0] != '\0' && strcmp(names[i], name) != 0)
        i++;
    assert_true(i + 1 < 16);
    snprintf(names[i], sizeof names[i], "%s", name);
    snprintf(paths[i], sizeof paths[i], "%s/%s", folder, name);
    return paths[i];
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = path_of(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

static pr_dataset *import_text(const char *text, const parsrec_import_options *options,
                               parsrec_import_report *report)
{
    parsrec_error err = {0};
    pr_dataset *data;
    const char *input = write_file("in.csv", text);
    assert_ok(parsrec_import(path_of("out.st"), &input, 1, options, report, NULL, &err));
    assert_ok(pr_dataset_load(&data, path_of("out.st"), &err));
    return data;
}

/* "u:a,b|c;v:a": users, their sessions in order, their items in order; times with @ if asked. */
static void describe(const pr_dataset *d, bool times, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
#define SAY(...) used += (size_t)snprintf(out + used, size - used, __VA_ARGS__)
    for (size_t u = 0; u < d->users; u++) {
        pr_slice user = pr_name(&d->user_keys, u);
        SAY("%s%.*s:", u > 0 ? ";" : "", (int)user.size, user.bytes);
        for (int64_t s = d->user_offsets[u]; s < d->user_offsets[u + 1]; s++) {
            SAY("%s", s > d->user_offsets[u] ? "|" : "");
            if (times && d->times != NULL)
                SAY("@%lld ", (long long)d->times[s]);
            for (int64_t a = d->session_offsets[s]; a < d->session_offsets[s + 1]; a++) {
                pr_slice item = pr_name(&d->item_keys, (size_t)d->action_items[a]);
                SAY("%s%.*s", a > d->session_offsets[s] ? "," : "", (int)item.size, item.bytes);
            }
        }
    }
#undef SAY
    assert_true(used < size);
}

static void expect(const char *text, const parsrec_import_options *options, const char *expected)
{
    char found[1024];
    pr_dataset *d = import_text(text, options, NULL);
    describe(d, true, found, sizeof found);
    pr_dataset_free(d);
    assert_string_equal(found, expected);
}

static void sessions_follow_their_rules(void **state)
{
    (void)state;
    parsrec_import_options o = parsrec_import_default();
    /* The same session text of two users is two sessions; rows of a session may be apart. */
    expect("user,session,item\nu,1,a\nv,1,b\nu,1,c\nv,2,a\nu,2,a\nu,1,a\n", &o, "u:a,c|a;v:b|a");
    /* Empty cells are sessions of their own among named ones. */
    expect("user,session,item\nu,,a\nu,1,b\nu,,a\nu,1,c\n", &o, "u:a|b,c|a");
    expect("user,item\nu,a\nu,a\n", &o, "u:a|a");
    /* Equal times keep the order of the file, and a session has its first time. */
    expect("user,session,time,item\nu,1,5,a\nu,2,5,b\nu,1,6,c\n", &o, "u:@5 a,c|@5 b");
    o.sort = true;
    expect("user,session,time,item\nu,1,9,a\nu,2,5,b\nu,3,9,c\nu,2,4,d\n", &o,
           "u:@4 b,d|@9 a|@9 c");
    o.session_rule = PARSREC_SESSION_GAP;
    o.session_gap = 60;
    expect("user,time,item\nu,2000000120,c\nu,2000000060,b\nu,2000000000,a\nu,2000000181,d\n", &o,
           "u:@2000000000 a,b,c|@2000000181 d");
    o = parsrec_import_default();
    o.session_rule = PARSREC_SESSION_DAY;
    expect("user,session,time,item\nu,x,2020-01-01T01:00,a\nu,y,2020-01-01T23:59,b\n"
           "v,x,2020-01-01,c\nu,x,2020-01-02,a\n",
           &o, "u:@1577840400 a,b|@1577923200 a;v:@1577836800 c");
}

static void features_have_types(void **state)
{
    (void)state;
    parsrec_import_options o = parsrec_import_default();
    parsrec_import_report r;
    o.items_path = write_file("items.csv", "item,weight,code,colour,category,name,none\n"
                                           "c,9,1,black,X,C,\na,1.5,7,red,F > B > R,Apple,\n"
                                           "b,,7,,F >  > B,,\n");
    o.users_path = write_file("users.csv", "user,age\nv,40\n");
    o.sessions_path = write_file("sessions.csv", "session,rain\n1,yes\n7,no\n");
    o.category_columns = "code, none";
    pr_dataset *d = import_text("user,session,item\nu,1,a\nu,2,b\nv,1,d\n", &o, &r);
    assert_int_equal(r.unknown_items, 1);
    assert_int_equal(r.unknown_sessions, 1);
    assert_int_equal(r.items_without_row, 1);
    assert_int_equal(r.users_without_row, 1);
    assert_int_equal(d->feature_count[PR_OF_ITEM], 4);
    for (size_t i = 0; i < 4; i++) { /* in order of their names */
        const pr_feature_column *f = &d->features[PR_OF_ITEM][i];
        static const char *const names[] = {"code", "colour", "none", "weight"};
        assert_string_equal(f->name, names[i]);
        assert_int_equal(f->number != NULL, i == 3);
    }
    const pr_feature_column *f = d->features[PR_OF_ITEM];
    assert_true(f[0].code[0] == 0 && f[0].code[1] == 0 && f[0].code[2] == -1);
    assert_int_equal(f[0].values.count, 1);
    assert_int_equal(f[1].values.count, 1); /* black belongs to an item that nobody took */
    assert_int_equal(f[2].values.count, 0);
    assert_close(f[3].number[0], 1.5, 0);
    assert_true(isnan(f[3].number[1]) && isnan(f[3].number[2]));
    assert_true(isnan(d->features[PR_OF_USER][0].number[0]));
    assert_close(d->features[PR_OF_USER][0].number[1], 40, 0);
    const int32_t *rain = d->features[PR_OF_SESSION][0].code; /* 1 of both users, not 2 */
    assert_true(rain[0] == 0 && rain[1] == -1 && rain[2] == 0);
    char path[64];
    assert_int_equal(d->categories, 3);
    assert_string_equal(pr_category_path(d, d->item_category[0], path, sizeof path), "F > B > R");
    assert_string_equal(pr_category_path(d, d->item_category[1], path, sizeof path), "F > B");
    assert_int_equal(d->item_category[2], -1);
    assert_int_equal(pr_name(&d->item_names, 0).size, 5);
    assert_int_equal(pr_name(&d->item_names, 1).size, 0);
    pr_dataset_free(d);
}

static void session_features_by_user_follow_sorting_and_filters(void **state)
{
    (void)state;
    parsrec_import_options o = parsrec_import_default();
    o.sessions_path =
        write_file("sessions.csv", "user,session,n\nu,1,11\nu,2,12\nv,1,21\nw,1,31\n");
    o.sort = true;
    o.min_actions = 2;
    pr_dataset *d = import_text("user,session,time,item\nv,1,9,x\nu,2,5,a\nu,1,3,b\nw,1,1,a\n"
                                "w,1,1,b\nw,3,8,a\n",
                                &o, NULL);
    char found[256];
    describe(d, false, found, sizeof found);
    assert_string_equal(found, "u:b|a;w:a,b|a");
    const float *n = d->features[PR_OF_SESSION][0].number;
    assert_true(n[0] == 11 && n[1] == 12 && n[2] == 31 && isnan(n[3]));
    pr_dataset_free(d);
}

/* ---- the filter against the plain way: drop, count again, until nothing changes ---- */

enum { SIDE = 12 };

static void random_filters_agree_with_counting_again(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(11, 3);
    for (uint32_t n = 0; n < 60; n++) {
        pr_stream s = pr_stream_at(&rng, n, 0, 0);
        bool has[SIDE][SIDE] = {0};
        char text[8192] = "user,session,item\n";
        size_t used = strlen(text), rows = 20 + pr_stream_below(&s, 50);
        for (size_t i = 0; i < rows; i++) {
            uint32_t u = pr_stream_below(&s, SIDE), j = pr_stream_below(&s, SIDE);
            has[u][j] = true; /* one session per user, so that a pair counts once */
            used += (size_t)snprintf(text + used, sizeof text - used, "u%u,s,i%u\n", u, j);
        }
        unsigned least = 2 + pr_stream_below(&s, 3), left = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t k = 0; k < 2 * SIDE; k++) {
                unsigned count = 0;
                for (size_t j = 0; j < SIDE; j++)
                    count += k < SIDE ? has[k][j] : has[j][k - SIDE];
                for (size_t j = 0; j < SIDE && count > 0 && count < least; j++) {
                    *(k < SIDE ? &has[k][j] : &has[j][k - SIDE]) = false;
                    changed = true;
                }
            }
        }
        for (size_t k = 0; k < SIDE * SIDE; k++)
            left += has[k / SIDE][k % SIDE];
        const char *input = write_file("in.csv", text);
        parsrec_import_options o = parsrec_import_default();
        parsrec_import_report r;
        parsrec_error err;
        o.min_actions = least;
        parsrec_status status = parsrec_import(path_of("out.st"), &input, 1, &o, &r, NULL, &err);
        assert_int_equal(status, left > 0 ? PARSREC_OK : PARSREC_E_INPUT);
        if (left == 0)
            continue;
        assert_int_equal(r.actions, left);
        assert_int_equal(r.rows_read, r.actions + r.repeats_dropped + r.filtered_actions);
        pr_dataset *d;
        assert_ok(pr_dataset_load(&d, path_of("out.st"), &err));
        for (size_t u = 0; u < d->users; u++)
            for (int64_t a = d->session_offsets[d->user_offsets[u]];
                 a < d->session_offsets[d->user_offsets[u + 1]]; a++) {
                pr_slice user = pr_name(&d->user_keys, u);
                pr_slice item = pr_name(&d->item_keys, (size_t)d->action_items[a]);
                assert_true(has[atoi(user.bytes + 1)][atoi(item.bytes + 1)]);
            }
        pr_dataset_free(d);
    }
}

/* A basket of many items with as many repeats takes linear time: quadratic would take minutes. */
static void huge_baskets_are_linear(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    const char *input = path_of("huge.csv");
    FILE *f = fopen(input, "wb");
    assert_non_null(f);
    fputs("user,session,item\n", f);
    for (int i = 0; i < 2 * MANY; i++)
        fprintf(f, "u,s,i%d\n", i % MANY);
    fclose(f);
    parsrec_import_report r;
    parsrec_error err;
    assert_ok(parsrec_import(path_of("out.st"), &input, 1, NULL, &r, NULL, &err));
    assert_int_equal(r.actions, MANY);
    assert_int_equal(r.repeats_dropped, MANY);
    unlink(input);
}

/* ---- hash seeds ---- */

static void read_whole(const char *path, char **bytes, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    *bytes = malloc(*size);
    assert_non_null(*bytes);
    assert_int_equal(fread(*bytes, 1, *size, f), *size);
    fclose(f);
}

/* Users, sessions, items and texts of a column that share a slot in a table without a seed, and in one
 * whose seed is known: no table is slow, and the file does not depend on the seed. */
static void crafted_names_are_quick_and_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 3000, BITS = 12 };
    const char *input = path_of("crafted.csv");
    char *bytes[3];
    size_t size[3];
    uint64_t own = pr_name_seed(), known = 11;
    for (int craft = 0; craft < 2; craft++) {
        crafted c = {.seed = craft == 0 ? 0 : known, .bits = BITS};
        FILE *f = fopen(input, "wb"), *items = fopen(path_of("items.csv"), "wb");
        assert_true(f != NULL && items != NULL);
        fputs("user,session,item\n", f);
        fputs("item,name,colour\n", items);
        for (int i = 0; i < MANY; i++) {
            const char *name = crafted_next(&c);
            fprintf(f, "%s,%s,%s\n", name, name, name);
            fprintf(items, "%s,%s,%s\n", name, name, name);
        }
        fclose(f);
        fclose(items);
        parsrec_import_options o = parsrec_import_default();
        o.items_path = path_of("items.csv");
        for (int run = 0; run < 3; run++) {
            parsrec_error err;
            uint64_t before = pr_long_probes();
            pr_name_seed_set(run == 0 ? own : run == 1 ? known : 12345);
            assert_ok(parsrec_import(path_of("out.st"), &input, 1, &o, NULL, NULL, &err));
            /* users, items, keys of items, names, colours; not sessions, whose hash has the user */
            assert_int_equal(pr_long_probes() - before, craft == 1 && run == 1 ? 5 : 0);
            read_whole(path_of("out.st"), &bytes[run], &size[run]);
        }
        for (int run = 1; run < 3; run++) {
            assert_int_equal(size[run], size[0]);
            assert_memory_equal(bytes[run], bytes[0], size[0]);
        }
        for (int run = 0; run < 3; run++)
            free(bytes[run]);
    }
    pr_name_seed_set(own);
    unlink(input);
}

/* ---- stopping and failing ---- */

static int stop(void *context, const parsrec_progress *progress)
{
    (void)context;
    return strncmp(progress->stage, "reading", 7) == 0;
}

static void import_can_be_stopped(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_hooks hooks = {.on_progress = stop};
    const char *input = write_file("in.csv", "user,item\nu,a\n");
    unlink(path_of("out.st"));
    assert_fails(parsrec_import(path_of("out.st"), &input, 1, NULL, NULL, &hooks, &err),
                 PARSREC_E_STOPPED, "stopped while reading");
    assert_int_not_equal(access(path_of("out.st"), F_OK), 0);
    assert_fails(parsrec_import(NULL, &input, 1, NULL, NULL, NULL, &err), PARSREC_E_ARGUMENT,
                 "name the file");
    assert_fails(parsrec_import("x", NULL, 0, NULL, NULL, NULL, &err), PARSREC_E_ARGUMENT,
                 "at least one input");
}

static void *json_allocate(size_t size)
{
    return pr_alloc(size, 1);
}

/* All options on: each allocation fails once, and each time a status comes back, nothing leaks
 * (AddressSanitizer watches) and no file appears. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_import_options o = parsrec_import_default();
    const char *inputs[] = {
        write_file("one.csv",
                   "user,session,time,item\nu,1,9,\"a\"\"\"\nu,2,5,b\nv,,3,b\nw,1,1,c\n"),
        write_file("two.csv", "user_id,time,session_length,session_items\nu,10,2,b,c\nv,4,2,b,c\n"),
    };
    o.items_path =
        write_file("items.csv", "item,name,category,price,kind\nb,Bee,X > Y,1,k\nc,Cee,X,,\n");
    o.users_path = write_file("users.csv", "user,age\nu,1\n");
    o.sessions_path = write_file("sessions.csv", "user,session,rain\nu,1,yes\n");
    o.category_columns = "price";
    o.number_columns = "age";
    o.sort = o.latin1 = true;
    o.min_actions = 2;
    o.max_bad = 3;
    unlink(path_of("out.st"));
    json_set_alloc_funcs(json_allocate, pr_free);
    size_t n = 0;
    for (;; n++) {
        pr_memory_fail_after(n);
        parsrec_status status = parsrec_import(path_of("out.st"), inputs, 2, &o, NULL, NULL, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK)
            break;
        if (status != PARSREC_E_MEMORY)
            fail_msg("allocation %zu: status %d, %s", n, (int)status, err.message);
        assert_int_not_equal(access(path_of("out.st"), F_OK), 0);
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(n > 100);
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path_of("out.st"), &err));
    assert_int_equal(d->users, 2);
    pr_dataset_free(d);
}

static void last_event_of_a_store(void **state)
{
    (void)state;
    parsrec_error err;
    uint64_t number = 9;
    const pr_dataset without = {0}, with = {.events = "{\"a\":7,\"b\":12}"};
    const pr_dataset damaged = {.events = "{\"a\":"};
    assert_ok(parsrec_data_events_through(&without, "a", &number, &err));
    assert_int_equal(number, 0);
    assert_ok(parsrec_data_events_through(&with, "b", &number, &err));
    assert_int_equal(number, 12);
    assert_ok(parsrec_data_events_through(&with, "c", &number, &err));
    assert_int_equal(number, 0);
    assert_int_equal(parsrec_data_events_through(&damaged, "a", &number, &err), PARSREC_E_FORMAT);
    /* 0 would make a server add all purchases a second time. */
    pr_memory_fail_after(0);
    parsrec_status status = parsrec_data_events_through(&with, "b", &number, &err);
    pr_memory_fail_after(SIZE_MAX);
    assert_int_equal(status, PARSREC_E_MEMORY);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"in.csv",       "out.st",  "items.csv", "users.csv",
                                        "sessions.csv", "one.csv", "two.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_follow_their_rules),
        cmocka_unit_test(features_have_types),
        cmocka_unit_test(session_features_by_user_follow_sorting_and_filters),
        cmocka_unit_test(random_filters_agree_with_counting_again),
        cmocka_unit_test(huge_baskets_are_linear),
        cmocka_unit_test(crafted_names_are_quick_and_change_nothing),
        cmocka_unit_test(import_can_be_stopped),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(last_event_of_a_store),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
