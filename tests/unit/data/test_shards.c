/* Folders of shards: where users go, what is written, what loads, and memory that runs out. */
#include "support/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "data/shards.h"

enum { SHARDS = 3, USERS = 40 };

static char folder[] = "/tmp/parsrec-shards-XXXXXX";
static char rows[64], users[64], items[64], shop[64];

static void md5_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t hash[PR_MD5_BYTES];
        char text[2 * PR_MD5_BYTES + 1];
        pr_md5(hash, cases[i][0], strlen(cases[i][0]));
        for (size_t k = 0; k < PR_MD5_BYTES; k++)
            snprintf(text + 2 * k, 3, "%02x", hash[k]);
        assert_string_equal(text, cases[i][1]);
    }
}

/* printf K01 | md5sum gives b5350233...; that number modulo 256 is 0x33. */
static void a_user_belongs_to_the_shard_of_docs(void **state)
{
    (void)state;
    assert_int_equal(pr_shard_of(pr_slice_of("K01"), 256), 51);
    assert_int_equal(pr_shard_of(pr_slice_of("K01"), 1), 0);
    assert_int_equal(pr_shard_of(pr_slice_of("K01"), 4096), 0x233);
    assert_int_equal(pr_shard_of(pr_slice_of("K01"), 1000), 3040150067u % 1000);
}

static void keys_compare_as_bytes(void **state)
{
    (void)state;
    assert_true(pr_key_compare(pr_slice_of("10"), pr_slice_of("9")) < 0);
    assert_true(pr_key_compare(pr_slice_of("a"), pr_slice_of("ab")) < 0);
    assert_true(pr_key_compare(pr_slice_of("\xC4\x8D"), pr_slice_of("z")) > 0);
    assert_true(pr_key_compare(pr_slice_of("ab"), pr_slice_of("ab")) == 0);
    assert_true(pr_key_compare(pr_slice_of(""), pr_slice_of("a")) < 0);
}

static void write_tables(void)
{
    FILE *out = fopen(rows, "w");
    fputs("user,session,time,item\n", out);
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < 12; i++)
            fprintf(out, "u%d,s%d,%d,i%d\n", (u * 7) % USERS, i / 4, 1700000000 + i, (u + i) % 9);
    fclose(out);
    out = fopen(users, "w");
    fputs("user,age,town\n", out);
    for (int u = 0; u < USERS; u += 2)
        fprintf(out, "u%d,%d,t%d\n", u, u, u % 5);
    fclose(out);
    out = fopen(items, "w");
    fputs("item,name,category\ni3,Three,A > B\ni1,One,A\n", out);
    fclose(out);
}

static parsrec_status import_shop(parsrec_error *err)
{
    const char *input = rows;
    parsrec_import_options o = parsrec_import_default();
    o.shards = SHARDS;
    o.users_path = users;
    o.items_path = items;
    return parsrec_import(shop, &input, 1, &o, NULL, NULL, err);
}

/* Users by shard and key, items by key, features with their users. */
static void a_folder_loads_in_its_order(void **state)
{
    (void)state;
    pr_dataset *d;
    parsrec_error err = {0};
    assert_ok(import_shop(&err));
    assert_ok(pr_dataset_load(&d, shop, &err));
    assert_int_equal(d->users, USERS);
    assert_int_equal(d->items, 9);
    assert_int_equal(d->sessions, 3 * USERS);
    assert_int_equal(d->actions, 12 * USERS);
    for (size_t i = 1; i < d->items; i++)
        assert_true(pr_key_compare(pr_name(&d->item_keys, i - 1), pr_name(&d->item_keys, i)) < 0);
    for (size_t u = 1; u < d->users; u++) {
        pr_slice a = pr_name(&d->user_keys, u - 1), b = pr_name(&d->user_keys, u);
        uint32_t in_a = pr_shard_of(a, SHARDS), in_b = pr_shard_of(b, SHARDS);
        assert_true(in_a < in_b || (in_a == in_b && pr_key_compare(a, b) < 0));
    }
    assert_int_equal(d->feature_count[PR_OF_USER], 2);
    const pr_feature_column *age = &d->features[PR_OF_USER][0], *town = &d->features[PR_OF_USER][1];
    assert_int_equal(town->values.count, 5);
    for (size_t u = 0; u < d->users; u++) {
        pr_slice key = pr_name(&d->user_keys, u);
        char text[8];
        snprintf(text, sizeof text, "%.*s", (int)key.size - 1, key.bytes + 1);
        int number = atoi(text);
        if (number % 2 == 1) {
            assert_true(town->code[u] == -1 && age->number[u] != age->number[u]);
            continue;
        }
        assert_true(age->number[u] == (float)number);
        snprintf(text, sizeof text, "t%d", number % 5);
        assert_true(
            pr_slice_equal(pr_name(&town->values, (size_t)town->code[u]), pr_slice_of(text)));
    }
    assert_int_equal(strlen(pr_dataset_checksum(d)), 16);
    pr_dataset_free(d);
}

static void memory_may_run_out_while_loading(void **state)
{
    (void)state;
    parsrec_error err = {0};
    size_t failures = 0;
    assert_ok(import_shop(&err));
    for (size_t after = 0;; after++) {
        pr_dataset *d;
        err = (parsrec_error){0};
        pr_memory_fail_after(after);
        parsrec_status status = pr_dataset_load(&d, shop, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK) {
            pr_dataset_free(d);
            break;
        }
        assert_int_equal(status, PARSREC_E_MEMORY);
        assert_null(d);
        failures++;
    }
    assert_true(failures > 20);
}

/* Whatever fails, the folder that was there stays, and nothing stands beside it. */
static void memory_may_run_out_while_importing(void **state)
{
    (void)state;
    parsrec_error err = {0};
    size_t failures = 0;
    char before[20];
    pr_dataset *d;
    assert_ok(import_shop(&err));
    assert_ok(pr_dataset_load(&d, shop, &err));
    snprintf(before, sizeof before, "%s", pr_dataset_checksum(d));
    pr_dataset_free(d);
    for (size_t after = 0;; after += 1 + after / 16) {
        err = (parsrec_error){0};
        pr_memory_fail_after(after);
        parsrec_status status = import_shop(&err);
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK)
            break;
        assert_int_equal(status, PARSREC_E_MEMORY);
        failures++;
    }
    assert_true(failures > 20);
    assert_ok(pr_dataset_load(&d, shop, &err));
    assert_string_equal(before, pr_dataset_checksum(d));
    pr_dataset_free(d);
}

static void put_manifest(const char *path, uint64_t shards, uint64_t columns, int64_t size)
{
    parsrec_error err = {0};
    uint64_t checksums[4] = {0};
    int64_t sizes[16] = {size, 1, 1, 1, size, 1, 1, 1};
    const pr_metadata metadata[] = {{"dictionary", "0123456789abcdef"}};
    const pr_tensor tensors[] = {{"shard_checksums", PR_U64, 1, {shards}, checksums},
                                 {"shard_sizes", PR_I64, 2, {shards, columns}, sizes}};
    assert_ok(pr_container_write(path, PR_MANIFEST_FORMAT, PR_SHARDS_VERSION, metadata, 1, tensors,
                                 2, &err));
}

static void a_wrong_manifest_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t shards, columns;
        int64_t size;
        bool good;
    } cases[] = {{2, 4, 7, true},         {2, 4, -1, false},        {0, 4, 1, false},
                 {2, 3, 1, false},        {2, 4, INT64_MAX, false}, {2, 4, INT32_MAX, false},
                 {1, 4, INT32_MAX, false}};
    char path[96];
    snprintf(path, sizeof path, "%s/manifest.st", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsrec_error err = {0};
        pr_container *file;
        pr_manifest m;
        put_manifest(path, cases[i].shards, cases[i].columns, cases[i].size);
        assert_ok(pr_container_open(&file, path, &err));
        parsrec_status status = pr_manifest_from(&m, file, &err);
        assert_int_equal(status, cases[i].good ? PARSREC_OK : PARSREC_E_FORMAT);
        if (status == PARSREC_OK)
            pr_container_free(m.file);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_is_that_of_the_rfc),
        cmocka_unit_test(a_user_belongs_to_the_shard_of_docs),
        cmocka_unit_test(keys_compare_as_bytes),
        cmocka_unit_test(a_folder_loads_in_its_order),
        cmocka_unit_test(memory_may_run_out_while_loading),
        cmocka_unit_test(memory_may_run_out_while_importing),
        cmocka_unit_test(a_wrong_manifest_is_refused),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(rows, sizeof rows, "%s/rows.csv", folder);
    snprintf(users, sizeof users, "%s/users.csv", folder);
    snprintf(items, sizeof items, "%s/items.csv", folder);
    snprintf(shop, sizeof shop, "%s/shop", folder);
    write_tables();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pr_path hold;
    for (uint32_t k = 0; k < SHARDS; k++)
        unlink(pr_shard_path(&hold, shop, k));
    unlink(pr_dictionary_path(&hold, shop));
    unlink(pr_manifest_path(&hold, shop));
    failed += rmdir(shop) != 0; /* what a failed import leaves would stand in it */
    unlink(rows);
    unlink(users);
    unlink(items);
    failed += rmdir(folder) != 0; /* or beside it */
    return failed;
}
