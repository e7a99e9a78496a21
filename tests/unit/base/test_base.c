/* base: messages, memory, arena, random numbers, threads, files, text, names. */
#include "support/testing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/address.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/writer.h"
#include "support/crafted.h"

static void messages_are_safe_to_print(void **state)
{
    (void)state;
    parsrec_error err;
    assert_int_equal(pr_fail(&err, PARSREC_E_INPUT, "item %s", "a\033[2Jb\n"), PARSREC_E_INPUT);
    assert_string_equal(err.message, "item a?[2Jb?");
    assert_int_equal(pr_fail(NULL, PARSREC_E_IO, "nobody listens"), PARSREC_E_IO);
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text);
    memcpy(long_text + 510, "\xC3\xA4", 2); /* a character across the cut */
    long_text[sizeof long_text - 1] = '\0';
    pr_fail(&err, PARSREC_E_INPUT, "%s", long_text);
    assert_int_equal(strlen(err.message), 510);
    assert_string_equal(parsrec_status_name(PARSREC_E_CHECKSUM), "E_CHECKSUM");
    assert_string_equal(parsrec_status_text(PARSREC_OK), "success");
}

static const char *suggestions(const char *wanted, const char *const *known)
{
    static pr_suggest near;
    pr_suggest_start(&near, pr_slice_of(wanted));
    for (; *known != NULL; known++)
        pr_suggest_offer(&near, pr_slice_of(*known));
    return pr_suggest_sentence(&near);
}

static void near_words_are_suggested_best_first(void **state)
{
    (void)state;
    const char *const commands[] = {"train", "tune", "eval", "explain", NULL};
    assert_string_equal(suggestions("trian", commands), " (did you mean 'train'?)");
    assert_string_equal(suggestions("ex", commands), " (did you mean 'explain'?)");
    assert_string_equal(suggestions("exlpain", (const char *const[]){"explain", "explain", NULL}),
                        " (did you mean 'explain'?)");
    assert_string_equal(suggestions("xyzzy", commands), "");
    assert_string_equal(suggestions("", commands), "");
    const char *const categories[] = {"FOOD", "Pet & baby", "BABY FOODS", "baby", "BABE", NULL};
    assert_string_equal(suggestions("BABY", categories),
                        " (did you mean 'baby', 'BABY FOODS' or 'Pet & baby'?)");
    char texts[4][200]; /* equal but for case: cut, and fit the sentence */
    for (size_t i = 0; i < 4; i++) {
        memset(texts[i], 'a', sizeof texts[i] - 1);
        texts[i][sizeof texts[i] - 1] = '\0';
        texts[i][i] = 'A';
    }
    const char *const alike[] = {texts[0], texts[1], texts[2], texts[3], NULL};
    assert_non_null(strstr(suggestions(texts[0], alike), "aaa...' or '"));
}

static void memory_fails_on_request_and_overflow(void **state)
{
    (void)state;
    assert_null(pr_alloc(SIZE_MAX / 2, 3));
    assert_null(pr_alloc_aligned(SIZE_MAX - 8, 1));
    void *p = pr_alloc(0, 8);
    assert_non_null(p);
    pr_free(p);
    pr_memory_fail_after(1);
    p = pr_alloc(1, 1);
    assert_non_null(p);
    assert_null(pr_alloc(1, 1));
    assert_null(pr_realloc(p, 100, 1));
    pr_memory_fail_after(SIZE_MAX);
    pr_free(p);
}

static void arena_hands_out_aligned_pieces(void **state)
{
    (void)state;
    parsrec_error err;
    pr_arena arena;
    size_t bytes = pr_arena_bytes(10, 4) + pr_arena_bytes(100, 1);
    assert_ok(pr_arena_init(&arena, bytes, &err));
    float *a = pr_arena_take(&arena, 10, 4);
    char *b = pr_arena_take_zero(&arena, 100, 1);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal((uintptr_t)b % 64, 0);
    assert_int_equal(b[99], 0);
    assert_null(pr_arena_take(&arena, 1, 1));
    assert_null(pr_arena_take(&arena, SIZE_MAX, 2));
    pr_arena_reset(&arena);
    assert_non_null(pr_arena_take(&arena, 100, 1));
    assert_int_equal(arena.peak, bytes);
    pr_arena_free(&arena);
}

static void region_grows_and_fails_softly(void **state)
{
    (void)state;
    pr_region region = {0};
    unsigned char *pieces[400];
    for (size_t i = 0; i < 400; i++) {
        size_t size = i % 50 == 0 ? 100000 : i; /* some are blocks of their own, one is empty */
        pieces[i] = pr_region_take(&region, size, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 1; i < 400; i++)
        if (i % 50 != 0)
            assert_true(pieces[i][0] == i % 251 && pieces[i][i - 1] == i % 251);
    assert_string_equal(pr_region_string(&region, "names", 4), "name");
    parsrec_error err;
    assert_ok(pr_region_check(&region, &err));
    assert_null(pr_region_take(&region, SIZE_MAX / 2, 3));
    assert_fails(pr_region_check(&region, &err), PARSREC_E_MEMORY, "out of memory");
    pr_region_free(&region);
    assert_ok(pr_region_check(&region, &err));
    pr_memory_fail_after(0);
    void *piece = pr_region_take(&region, 8, 1);
    pr_memory_fail_after(SIZE_MAX);
    assert_null(piece);
    assert_int_equal(pr_region_check(&region, &err), PARSREC_E_MEMORY);
    pr_region_free(&region);
}

/* The authors' known answers for 10 and 7 rounds: all bits 0, all bits 1, the digits of pi. */
static void philox_matches_its_published_vectors(void **state)
{
    (void)state;
    static const struct {
        int rounds;
        uint32_t at[4], key[2], out[4];
    } vectors[] = {
        {10, {0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {10,
         {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {10,
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
        {7, {0}, {0}, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const uint32_t *at = vectors[i].at;
        pr_rng rng = {{vectors[i].key[0], vectors[i].key[1]}};
        pr_bits bits = pr_philox(&rng, vectors[i].rounds, (pr_bits){{at[0], at[1], at[2], at[3]}});
        assert_memory_equal(bits.word, vectors[i].out, sizeof bits.word);
    }
    pr_rng a = pr_rng_make(1, 1), b = pr_rng_make(1, 2), c = pr_rng_make(2, 1);
    assert_memory_not_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&a, &c, sizeof a);
}

/* The authors' vectors: key 00 01 .. 0f, text 00 01 .. of the length given. */
static void siphash_matches_its_published_vectors(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *hash;
    } vectors[] = {
        {0, "\xa3\x81\x7f\x04\xba\x25\xa8\xe6\x6d\xf6\x72\x14\xc7\x55\x02\x93"},
        {1, "\xda\x87\xc1\xd8\x6b\x99\xaf\x44\x34\x76\x59\x11\x9b\x22\xfc\x45"},
        {15, "\x54\x93\xe9\x99\x33\xb0\xa8\x11\x7e\x08\xec\x0f\x97\xcf\xc3\xd9"},
    };
    uint8_t key[PR_SIPHASH_BYTES], text[16], hash[PR_SIPHASH_BYTES];
    for (uint8_t i = 0; i < 16; i++)
        key[i] = text[i] = i;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        pr_siphash(hash, key, text, vectors[i].size);
        assert_memory_equal(hash, vectors[i].hash, sizeof hash);
    }
}

static void normal_quantile_inverts_erfc(void **state)
{
    (void)state;
    for (double z = -8; z <= 8; z += 0.0625) {
        double p = 0.5 * erfc(-z / sqrt(2));
        /* Near 1 the quantile cannot be better than the spacing of p allows. */
        double slope = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
        assert_close(pr_normal_quantile(p), z, 1e-13 + 4e-16 / slope * (z > 0 ? 1 : p));
    }
}

static void below_is_uniform(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(3, 9);
    pr_stream s = pr_stream_at(&rng, 0, 0, 0);
    enum { N = 7, DRAWS = 70000 };
    int count[N] = {0};
    for (int i = 0; i < DRAWS; i++)
        count[pr_stream_below(&s, N)]++;
    double chi2 = 0;
    for (int i = 0; i < N; i++)
        chi2 += pow(count[i] - DRAWS / (double)N, 2) / (DRAWS / (double)N);
    assert_true(chi2 < 22.5); /* six degrees of freedom, one in a thousand; the seed is fixed */
    double sum = 0, square = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = pr_stream_normal(&s);
        sum += z;
        square += z * z;
    }
    assert_close(sum / DRAWS, 0, 0.02);
    assert_close(square / DRAWS, 1, 0.02);
}

static void shuffle_keeps_every_element(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(5, 5);
    pr_stream s = pr_stream_at(&rng, 1, 2, 3);
    int32_t v[50], seen[50] = {0};
    for (int i = 0; i < 50; i++)
        v[i] = i;
    pr_stream_shuffle(&s, v, 50, sizeof *v);
    int moved = 0;
    for (int i = 0; i < 50; i++) {
        seen[v[i]]++;
        moved += v[i] != i;
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 30);
}

static void add_task(void *context, size_t task, unsigned worker)
{
    (void)worker;
    ((size_t *)context)[task] += task + 1;
}

static void pool_runs_every_task_once(void **state)
{
    (void)state;
    parsrec_error err;
    for (unsigned threads = 1; threads <= 5; threads++) {
        pr_pool *pool;
        assert_ok(pr_pool_new(&pool, threads, &err));
        assert_int_equal(pr_pool_threads(pool), threads);
        size_t sums[1000] = {0};
        for (int round = 0; round < 20; round++)
            pr_pool_run(pool, add_task, sums, round % 2 == 0 ? 1000 : 1);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(sums[i], (i + 1) * (i == 0 ? 20u : 10u));
        pr_pool_free(pool);
    }
}

/* As a file that is written in place: neither more nor fewer may read it than before, and nobody else
 * while it is written. */
static void replaced_file_keeps_its_rights(void **state)
{
    (void)state;
    parsrec_error err;
    char folder[] = "/tmp/parsrec-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    mode_t before = umask(022);
    static const mode_t rights[] = {0, 0600, 0664, 0440};
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        pr_atomic_file *file;
        struct stat st;
        if (rights[i] != 0)
            assert_int_equal(chmod(path, rights[i]), 0);
        assert_ok(pr_atomic_open(&file, path, &err));
        assert_int_equal(stat(pr_atomic_temporary(file), &st), 0);
        assert_int_equal(st.st_mode & 0777, rights[i] != 0 ? 0600 : 0644);
        assert_ok(pr_atomic_commit(file, &err));
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, rights[i] != 0 ? rights[i] : 0644);
    }
    if (geteuid() == 0) { /* others may not give files away */
        enum { SOMEBODY = 65534 };
        pr_atomic_file *file;
        struct stat st;
        assert_int_equal(chown(path, SOMEBODY, SOMEBODY), 0);
        assert_ok(pr_atomic_open(&file, path, &err));
        assert_ok(pr_atomic_commit(file, &err));
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_uid, SOMEBODY);
        assert_int_equal(st.st_gid, SOMEBODY);
    }
    umask(before);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void atomic_file_appears_complete_or_not_at_all(void **state)
{
    (void)state;
    parsrec_error err;
    char folder[] = "/tmp/parsrec-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    pr_atomic_file *file;
    assert_ok(pr_atomic_open(&file, path, &err));
    assert_ok(pr_atomic_write(file, "hello", 5, &err));
    assert_int_equal(access(path, F_OK), -1);
    pr_atomic_abort(file);
    assert_int_equal(rmdir(folder), 0); /* nothing left behind */
    assert_int_equal(mkdir(folder, 0700), 0);

    assert_ok(pr_atomic_open(&file, path, &err));
    char *big = calloc(1, 600000);
    assert_ok(pr_atomic_write(file, "hello", 5, &err));
    assert_ok(pr_atomic_write(file, big, 600000, &err));
    assert_ok(pr_atomic_commit(file, &err));
    free(big);
    pr_mapping map;
    assert_ok(pr_file_map(&map, path, &err));
    assert_int_equal(map.size, 600005);
    assert_memory_equal(map.bytes, "hello", 6);
    pr_file_unmap(&map);
    assert_fails(pr_atomic_open(&file, folder, &err), PARSREC_E_IO, "is a directory");
    assert_fails(pr_file_map(&map, folder, &err), PARSREC_E_IO, "is a directory");
    assert_fails(pr_file_map(&map, "/nonexistent/x", &err), PARSREC_E_IO, "No such file");
    assert_ok(pr_atomic_open(&file, "/dev/full", &err));
    assert_ok(pr_atomic_write(file, "x", 1, &err));
    assert_fails(pr_atomic_commit(file, &err), PARSREC_E_IO, "No space left");
    unlink(path);
    rmdir(folder);
}

static void numbers_are_parsed_strictly(void **state)
{
    (void)state;
    int64_t i;
    uint64_t u;
    double d;
    assert_true(pr_parse_i64(pr_slice_of("-42"), &i) && i == -42);
    static const char *const bad[] = {"",   "-", "1 ", " 1", "1x", "0x1", "9223372036854775808",
                                      "1.0"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(pr_parse_i64(pr_slice_of(bad[k]), &i));
    assert_true(pr_parse_u64(pr_slice_of("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_false(pr_parse_u64(pr_slice_of("18446744073709551616"), &u));
    assert_true(pr_parse_f64(pr_slice_of("-1.5e3"), &d) && d == -1500);
    static const char *const odd[] = {"",     "nan",  "inf", "1e999", "1,5",
                                      "0x10", "1.5 ", "--1", "e5"};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        assert_false(pr_parse_f64(pr_slice_of(odd[k]), &d));
    assert_true(pr_parse_duration(pr_slice_of("30m"), &i) && i == 1800);
    assert_true(pr_parse_duration(pr_slice_of("90"), &i) && i == 90);
    assert_false(pr_parse_duration(pr_slice_of("m"), &i));
    assert_false(pr_parse_duration(pr_slice_of("9223372036854775807w"), &i));
    uint64_t bytes;
    assert_true(pr_parse_bytes(pr_slice_of("64M"), &bytes) && bytes == UINT64_C(64) << 20);
    assert_true(pr_parse_bytes(pr_slice_of("1.5GB"), &bytes) && bytes == UINT64_C(3) << 29);
    assert_true(pr_parse_bytes(pr_slice_of("17"), &bytes) && bytes == 17);
    assert_false(pr_parse_bytes(pr_slice_of("G"), &bytes));
    assert_false(pr_parse_bytes(pr_slice_of("-1G"), &bytes));
    assert_false(pr_parse_bytes(pr_slice_of("1e300T"), &bytes));
}

static void utf8_is_checked(void **state)
{
    (void)state;
    size_t at;
    assert_true(pr_utf8_valid("K\xC3\xA4se \xF0\x9F\xA7\x80 plain text", 22, &at));
    static const struct {
        const char *bytes;
        size_t at;
    } bad[] = {{"abcdefghij\xFF", 10},  {"\xC0\x80", 0}, {"a\xED\xA0\x80", 1},
               {"\xF5\x80\x80\x80", 0}, {"\xE2\x82", 0}, {"x\x80", 1},
               {"\xE0\x80\x80", 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(pr_utf8_valid(bad[k].bytes, strlen(bad[k].bytes), &at));
        assert_int_equal(at, bad[k].at);
    }
    pr_excerpt hold;
    assert_string_equal(pr_show(&hold, pr_slice_of("milk")), "'milk'");
    assert_string_equal(
        pr_show(&hold, pr_slice_of("123456789012345678901234567890123456789\xC3\xA4rest")),
        "'123456789012345678901234567890123456789...'");
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    const char *text = "a\xC3\xA9\xE2\x82\xAC!"; /* 1, 2, 3 and 1 bytes */
    const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 7, 7};
    for (size_t most = 0; most < sizeof expected / sizeof *expected; most++)
        assert_int_equal(pr_utf8_cut(text, strlen(text), most), expected[most]);
    const size_t begins[] = {0, 1, 3, 6, 7, 7};
    for (size_t n = 0; n < sizeof begins / sizeof *begins; n++)
        assert_int_equal(pr_utf8_at(text, n) - text, begins[n]);
    assert_int_equal(pr_text_width(text), 4);
    pr_digits hold;
    assert_string_equal(pr_digits_of(&hold, 0), "0");
    assert_string_equal(pr_digits_of(&hold, 999), "999");
    assert_string_equal(pr_digits_of(&hold, 1234567), "1,234,567");
    assert_string_equal(pr_digits_of(&hold, UINT64_MAX), "18,446,744,073,709,551,615");
    pr_path path;
    assert_string_equal(pr_log_path(&path, "m/x"), "m/x.log");
    assert_string_equal(pr_checkpoint_path(&path, "m/x"), "m/x.ckpt");
}

static void names_get_dense_numbers(void **state)
{
    (void)state;
    parsrec_error err;
    pr_intern table = {0};
    uint32_t number;
    assert_false(pr_intern_find(&table, pr_slice_of("milk"), &number));
    assert_int_equal(pr_intern_view(&table).count, 0);
    char name[32];
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "item %u", i * 7919u);
        assert_ok(pr_intern_add(&table, pr_slice_of(name), &number, &err));
        assert_int_equal(number, i);
    }
    assert_ok(pr_intern_add(&table, pr_slice_of("item 7919"), &number, &err));
    assert_int_equal(number, 1);
    assert_ok(pr_intern_add(&table, pr_slice_of(""), &number, &err));
    assert_int_equal(number, 5000);
    pr_names view = pr_intern_view(&table);
    assert_true(pr_slice_is(pr_name(&view, 2), "item 15838"));
    pr_intern copy = {0};
    assert_ok(pr_intern_load(&copy, &view, &err));
    assert_true(pr_intern_find(&copy, pr_slice_of("item 15838"), &number) && number == 2);
    pr_intern_free(&copy);
    static const int64_t twice[] = {0, 1, 2};
    pr_names same = {"aa", twice, 2};
    assert_fails(pr_intern_load(&copy, &same, &err), PARSREC_E_FORMAT, "'a' occurs twice");
    pr_intern_free(&copy);
    pr_intern_free(&table);
}

enum { CRAFTED = 4000, CRAFTED_BITS = 12 };

static size_t add_crafted(pr_intern *table, uint64_t seed)
{
    parsrec_error err;
    crafted c = {.seed = seed, .bits = CRAFTED_BITS};
    uint32_t number;
    for (uint32_t i = 0; i < CRAFTED; i++) {
        assert_ok(pr_intern_add(table, pr_slice_of(crafted_next(&c)), &number, &err));
        assert_int_equal(number, i);
    }
    c = (crafted){.seed = seed, .bits = CRAFTED_BITS};
    for (uint32_t i = 0; i < CRAFTED; i++)
        assert_true(pr_intern_find(table, pr_slice_of(crafted_next(&c)), &number) && number == i);
    return pr_intern_longest_probe(table);
}

static void crafted_names_do_not_pile_up(void **state)
{
    (void)state;
    uint64_t before = pr_long_probes();
    pr_intern table = {0};
    assert_true(add_crafted(&table, 0) <= PR_PROBE_MOST / 2); /* chance gives about 120 */
    assert_int_equal(pr_long_probes(), before);
    pr_intern_free(&table);

    /* An attacker who knows the seed: the table notices and takes another. */
    uint64_t own = pr_name_seed();
    pr_name_seed_set(7);
    assert_true(add_crafted(&table, 7) <= PR_PROBE_MOST / 2);
    assert_int_equal(pr_long_probes(), before + 1);
    pr_intern_free(&table);

    /* Without memory for that it stays slow and right. */
    crafted c = {.seed = 7, .bits = CRAFTED_BITS};
    uint32_t number;
    parsrec_error err;
    for (uint32_t i = 0; i <= PR_PROBE_MOST; i++)
        assert_ok(pr_intern_add(&table, pr_slice_of(crafted_next(&c)), &number, &err));
    before = pr_long_probes();
    pr_memory_fail_after(0);
    for (uint32_t i = 1; i < 4; i++) {
        assert_ok(pr_intern_add(&table, pr_slice_of(crafted_next(&c)), &number, &err));
        assert_int_equal(number, PR_PROBE_MOST + i);
    }
    pr_memory_fail_after(SIZE_MAX);
    assert_true(pr_long_probes() > before);
    pr_intern_free(&table);
    pr_name_seed_set(own);
}

static void json_is_stable_and_strict(void **state)
{
    (void)state;
    parsrec_error err;
    json_t *json;
    static const char text[] = "{\"b\": 0.1, \"a\": [1, true]}";
    assert_ok(pr_json_parse(&json, text, strlen(text), "test", &err));
    char *out = pr_json_text(json);
    assert_string_equal(out, "{\"a\":[1,true],\"b\":0.10000000000000001}");
    pr_free(out);
    json_decref(json);
    static const char twice[] = "{\"a\": 1,\n \"a\": 2}";
    assert_fails(pr_json_parse(&json, twice, strlen(twice), "groups.json", &err), PARSREC_E_FORMAT,
                 "groups.json:2:");
    /* Jansson alone takes this for [1]. */
    assert_fails(pr_json_parse(&json, "[1\0]", 4, "body", &err), PARSREC_E_FORMAT,
                 "body: not valid JSON: byte 2 is zero");
}

/* Every allocation of the parser fails in turn, and all after it. Long numbers and strings make its
 * buffer grow, which Jansson by itself does not survive. */
static void json_without_memory(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    char digits[LONG], texts[4][2 * LONG + 64];
    memset(digits, '1', LONG - 1);
    digits[1] = '.';
    digits[LONG - 1] = '\0';
    snprintf(texts[0], sizeof texts[0], "[%s]", digits);
    snprintf(texts[1], sizeof texts[1], "[\"\\n%s\"]", digits);
    snprintf(texts[2], sizeof texts[2], "{\"%s\": {\"a\": [[1], \"%s\"]}}", digits, digits);
    snprintf(texts[3], sizeof texts[3], "[\"\", {}, [], %s, \"x", digits);
    for (size_t k = 0; k < 4; k++) {
        parsrec_error err;
        json_t *json;
        size_t size = strlen(texts[k]), before = pr_memory_count();
        assert_int_equal(pr_json_parse(&json, texts[k], size, "test", &err),
                         k == 3 ? PARSREC_E_FORMAT : PARSREC_OK);
        json_decref(json);
        size_t allocations = pr_memory_count() - before;
        assert_true(allocations > 10);
        for (size_t i = 0; i < allocations; i++) {
            pr_memory_fail_after(i);
            parsrec_status status = pr_json_parse(&json, texts[k], size, "test", &err);
            pr_memory_fail_after(SIZE_MAX);
            assert_int_equal(status, PARSREC_E_MEMORY);
            assert_null(json);
        }
    }
}

static int stop_at_once(void *context, const parsrec_progress *progress)
{
    *(uint64_t *)context = progress->done;
    return 1;
}

static void progress_can_stop(void **state)
{
    (void)state;
    parsrec_error err;
    uint64_t seen = 0;
    parsrec_hooks hooks = {.context = &seen, .on_progress = stop_at_once};
    assert_fails(pr_progress(&hooks, "reading x.csv", "rows", 12, 0, &err), PARSREC_E_STOPPED,
                 "stopped while reading x.csv");
    assert_int_equal(seen, 12);
    assert_ok(pr_progress(NULL, "reading", "rows", 1, 2, &err));
    pr_say(NULL, PARSREC_LOG_INFO, "nobody listens");
}

/* Every byte that text may hold, read back by a JSON parser. */
static void assert_written(double value, const char *expected)
{
    pr_writer w = {0};
    pr_write_decimal(&w, value);
    char *text = pr_writer_take(&w);
    assert_string_equal(text, expected);
    pr_free(text);
}

/* Whatever its bits, a float reads back as itself. */
static void floats_come_back(void **state)
{
    (void)state;
    const float chosen[] = {0,           1,    -1,    0.1f,   1e-3f,   123456.789f,
                            99999999.0f, 1e8f, 3e38f, 1e-40f, -7.5e-5f};
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t bits = i * 2654435761u;
        float value, back;
        memcpy(&value, &bits, sizeof value);
        if (i < sizeof chosen / sizeof *chosen)
            value = chosen[i];
        pr_writer w = {0};
        pr_write_float(&w, value);
        char *text = pr_writer_take(&w);
        if (isfinite(value)) {
            back = strtof(text, NULL);
            assert_true(back == value && strpbrk(text, ".e") != NULL);
        } else {
            assert_string_equal(text, "null");
        }
        pr_free(text);
    }
}

static void numbers_are_written(void **state)
{
    (void)state;
    assert_written(0, "0.0");
    assert_written(1, "1.0");
    assert_written(-0.5, "-0.5");
    assert_written(0.12345678, "0.1234568");
    assert_written(-1e-9, "0.0");
    assert_written(12.0000001, "12.0000001");
    assert_written(999999999.5, "999999999.5");
    assert_written(-6.6141387, "-6.6141387");
    assert_written(1e12, "1000000000000.0");
    assert_written((double)NAN, "null");
    assert_written((double)INFINITY, "null");
    pr_writer w = {0};
    pr_write_count(&w, 0);
    pr_write_count(&w, UINT64_MAX);
    char *text = pr_writer_take(&w);
    assert_string_equal(text, "018446744073709551615");
    pr_free(text);
}

static void quoted_text_is_json(void **state)
{
    (void)state;
    char text[140] = "T\xC3\xA9\xF0\x9F\x8D\x9E";
    size_t size = strlen(text);
    for (char c = 0; c < 127; c++)
        text[size++] = c;
    pr_writer w = {0};
    pr_write_bytes(&w, "[", 1);
    pr_write_quoted(&w, text, size);
    pr_write_bytes(&w, ",", 1);
    pr_write_quoted(&w, "", 0);
    pr_write_bytes(&w, "]", 1);
    json_t *json = json_loadb(w.text, w.size, JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    assert_int_equal(json_string_length(json_array_get(json, 0)), size);
    assert_memory_equal(json_string_value(json_array_get(json, 0)), text, size);
    assert_int_equal(json_string_length(json_array_get(json, 1)), 0);
    json_decref(json);
    pr_writer_free(&w);
}

typedef void write_text(pr_writer *, const char *);

static void assert_text(write_text *write, const char *text, const char *expected)
{
    pr_writer w = {0};
    write(&w, text);
    char *written = pr_writer_take(&w);
    assert_string_equal(written, expected);
    pr_free(written);
}

static void names_do_no_harm_in_csv(void **state)
{
    (void)state;
    assert_text(pr_write_csv, "", "");
    assert_text(pr_write_csv, "Milk, 2 l", "\"Milk, 2 l\"");
    assert_text(pr_write_csv, "7\" disc", "\"7\"\" disc\"");
    assert_text(pr_write_csv, "two\nlines", "\"two\nlines\"");
    assert_text(pr_write_csv, "a-b=c", "a-b=c");
    assert_text(pr_write_csv, "=1+2", "'=1+2");
    assert_text(pr_write_csv, "+1", "'+1");
    assert_text(pr_write_csv, "-1", "'-1");
    assert_text(pr_write_csv, "@x", "'@x");
    assert_text(pr_write_csv, "\t=x", "'\t=x");
    assert_text(pr_write_csv, "\n=x", "\"'\n=x\"");
    assert_text(pr_write_csv, "\r=x", "\"'\r=x\"");
    assert_text(pr_write_csv, "=A(\"x\",1)", "\"'=A(\"\"x\"\",1)\"");
}

#define FSI    "\xE2\x81\xA8"
#define PDI    "\xE2\x81\xA9"
#define LOST   "\xEF\xBF\xBD"
#define SHALOM "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D"

static void names_do_no_harm_in_pages(void **state)
{
    (void)state;
    assert_text(pr_write_escaped, "<b class=\"x\">'&'</b>",
                "&lt;b class=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
    assert_text(pr_write_escaped, "T\xC3\xA9\n\tcup", "T\xC3\xA9\n\tcup");
    assert_text(pr_write_escaped, "a\x1b[1m\x7f", "a" LOST "[1m" LOST);
    assert_text(pr_write_escaped,
                "\xC2\x9B"
                "1m",
                LOST "1m"); /* a C1 control */
    assert_text(pr_write_escaped,
                "\xE2\x80\xAE"
                "gpj",
                LOST "gpj");                                  /* U+202E */
    assert_text(pr_write_escaped, "a" PDI "b", "a" LOST "b"); /* closes nothing */
    assert_text(pr_write_escaped,
                "a\xFF"
                "b",
                "a" LOST "b"); /* not UTF-8 */
    assert_text(pr_write_escaped, SHALOM " 12", FSI SHALOM PDI " 12");
    assert_text(pr_write_escaped, "x " SHALOM " & " SHALOM " y",
                "x " FSI SHALOM " &amp; " SHALOM PDI " y");
    assert_text(pr_write_escaped, SHALOM "x" SHALOM, FSI SHALOM PDI "x" FSI SHALOM PDI);
}

static void names_do_no_harm_in_lines(void **state)
{
    (void)state;
    char text[] = "two\nlines\t\x1b[1m \xC2\x9B\xE2\x80\xAE" SHALOM;
    assert_string_equal(pr_text_clean(text), "two lines ?[1m ??" SHALOM);
}

static void passwords_are_found_in_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address, *hidden;
        bool doubtful;
    } cases[] = {
        {"postgresql://u:pw@h:5432/d", "postgresql://u:**@h:5432/d", false},
        {"postgres://u:p%40w@/d?host=/s", "postgres://u:*****@/d?host=/s", false},
        {"postgresql://u:a@b@h/d", "postgresql://u:***@h/d", true},
        {"postgresql://u:a/b@h/d", "postgresql://u:***@h/d", true},
        {"postgresql://u@h/d?password=abc&x=1", "postgresql://u@h/d?password=***&x=1", false},
        {"postgresql://h/d?sslpassword=a&PASSWORD=b", "postgresql://h/d?sslpassword=*&PASSWORD=*",
         false},
        {"postgresql://u@h:5432/d", NULL, false},
        {"postgresql://u:@h/d", NULL, false},
        {"postgresql://h:5432/d?user=a@b", NULL, false},
        {"postgresql://", NULL, false},
        {"sqlite:u:pw@h", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].address);
        assert_int_equal(pr_address_is_doubtful(text), cases[i].doubtful);
        assert_int_equal(pr_address_hide(text), cases[i].hidden != NULL);
        assert_string_equal(text, cases[i].hidden != NULL ? cases[i].hidden : cases[i].address);
    }
}

static void passwords_are_found_in_queries(void **state)
{
    (void)state;
    static const struct {
        const char *query, *hidden;
    } cases[] = {
        {"SELECT 'postgresql://u:pw@h/d', \"x://a:b@c\"",
         "SELECT 'postgresql://u:**@h/d', \"x://a:*@c\""},
        {"dblink('host=h PASSWORD=pw user=u')", "dblink('host=h PASSWORD=** user=u')"},
        {"dblink('password = ''p w'' user=u')", "dblink('password = ''***'' user=u')"},
        {"dblink('password=pw')", "dblink('password=**')"},
        {"SELECT password, 'u:pw@h' FROM 'https://h/d' -- a@b", NULL},
        {"password=", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s", cases[i].query);
        assert_int_equal(pr_address_hide_all(text), cases[i].hidden != NULL);
        assert_string_equal(text, cases[i].hidden != NULL ? cases[i].hidden : cases[i].query);
    }
}

/* Long names are cut so that they fit and still differ. */
static void labels_stay_different(void **state)
{
    (void)state;
    static const char *const names[] = {"FOOD > BREAD",
                                        "GOODS > FOOD > BAKERY AND SIMILAR ARTICLES",
                                        "GOODS > FOOD > CLEANING AND SIMILAR ARTICLES",
                                        "Gew\xC3\xBCrze aus aller Welt, gemahlen",
                                        "22697 GREEN REGENCY TEACUP AND SAUCER",
                                        "22698 PINK REGENCY TEACUP AND SAUCER",
                                        "REGENCY TEACUP AND SAUCER, PINK",
                                        "REGENCY TEACUP AND SAUCER, ROSES",
                                        "AAAAAAAAAAAAAAAAAAAAAAAA1AAAAAAAAAAAAAAAAAAAAAAAAAA",
                                        "AAAAAAAAAAAAAAAAAAAAAAAA2AAAAAAAAAAAAAAAAAAAAAAAAAA",
                                        "AAAAAAAAAAAAAAAAAAAAAAAA2AAAAAAAAAAAAAAAAAAAAAAAAAA"};
    enum { COUNT = sizeof names / sizeof *names, WIDTH = 20 };
    char *out[COUNT] = {0};
    parsrec_error err;
    assert_ok(pr_labels_fit(out, names, COUNT, WIDTH, NULL, NULL, &err));
    assert_string_equal(out[0], names[0]);
    assert_string_equal(out[1], "…BAKERY AND SIMILAR…");
    assert_string_equal(out[3], "Gew\xC3\xBCrze aus aller W…");
    assert_string_equal(out[4], "22697 GREEN REGENCY…");
    assert_string_equal(out[5], "22698 PINK REGENCY …");
    assert_string_equal(out[6], "REGENCY TE…CER, PINK");
    assert_string_equal(out[7], "REGENCY TE…ER, ROSES");
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(pr_text_width(out[i]) <= WIDTH);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(strcmp(out[i], out[j]) == 0, strcmp(names[i], names[j]) == 0);
    }
    for (size_t i = 0; i < COUNT; i++)
        pr_free(out[i]);
}

/* Letters of one, two and three bytes; the ends of ranges; what is no pair. */
static void upper_and_lower_case_are_alike(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"Latte", "lATTE"}, {"Éclair", "éCLAIR"}, {"ÀÖØÞ", "àöøþ"},     {"ĀĮĹŇ", "āįĺň"},
        {"ŁÓDŹ", "łódź"},   {"ŸŽȘȚ", "ÿžșț"},     {"STRAẞE", "straße"}, {"ΣΊΣ", "σίς"},
        {"ΆΌΏΫ", "άόώϋ"},   {"ЁЏАЯҐ", "ёџаяґ"},   {"ӀӍԮ", "ӏӎԯ"}, {"ẠỾ", "ạỿ"},
        {"", ""},           {"\xC3", "\xC3"},     {"中", "中"}};
    static const char *const others[][2] = {
        {"e", "é"},  {"×", "÷"},       {"İ", "i"},    {"ĸ", "Ĺ"}, {"a", "ab"},
        {"ab", "a"}, {"\xC3", "\xC4"}, {"\xC3", "Ã"}, {"[", "{"}, {"ı", "I"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_true(pr_text_alike(pr_slice_of(pairs[i][0]), pr_slice_of(pairs[i][1])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(pr_text_alike(pr_slice_of(others[i][0]), pr_slice_of(others[i][1])));
    const pr_slice name = pr_slice_of("Café Élysée");
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("")), 0);
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("cAFÉ")), 0);
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("éLYS")), 6);
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("Ée")), 11);
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("\xA9")), SIZE_MAX);
    assert_int_equal(pr_text_find_alike(name, pr_slice_of("éee")), SIZE_MAX);
    assert_int_equal(pr_text_find_alike((pr_slice){0}, pr_slice_of("a")), SIZE_MAX);
    assert_int_equal(pr_text_find_alike((pr_slice){0}, (pr_slice){0}), 0);
    static const char mixed[] = "ÄÖß ẞ ŻÓŁŸ ΆΛΦΑ ЁӀ Ạ 日本 😀 A×\xC3";
    char lower[sizeof mixed];
    size_t size = pr_text_lower(lower, pr_slice_of(mixed));
    lower[size] = '\0';
    assert_string_equal(lower, "äöß ß żółÿ άλφα ёӏ ạ 日本 😀 a×\xC3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_found_in_addresses),
        cmocka_unit_test(passwords_are_found_in_queries),
        cmocka_unit_test(labels_stay_different),
        cmocka_unit_test(messages_are_safe_to_print),
        cmocka_unit_test(memory_fails_on_request_and_overflow),
        cmocka_unit_test(arena_hands_out_aligned_pieces),
        cmocka_unit_test(region_grows_and_fails_softly),
        cmocka_unit_test(philox_matches_its_published_vectors),
        cmocka_unit_test(siphash_matches_its_published_vectors),
        cmocka_unit_test(normal_quantile_inverts_erfc),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(shuffle_keeps_every_element),
        cmocka_unit_test(pool_runs_every_task_once),
        cmocka_unit_test(atomic_file_appears_complete_or_not_at_all),
        cmocka_unit_test(replaced_file_keeps_its_rights),
        cmocka_unit_test(numbers_are_parsed_strictly),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(names_get_dense_numbers),
        cmocka_unit_test(upper_and_lower_case_are_alike),
        cmocka_unit_test(near_words_are_suggested_best_first),
        cmocka_unit_test(crafted_names_do_not_pile_up),
        cmocka_unit_test(json_is_stable_and_strict),
        cmocka_unit_test(json_without_memory),
        cmocka_unit_test(quoted_text_is_json),
        cmocka_unit_test(names_do_no_harm_in_csv),
        cmocka_unit_test(names_do_no_harm_in_pages),
        cmocka_unit_test(names_do_no_harm_in_lines),
        cmocka_unit_test(numbers_are_written),
        cmocka_unit_test(floats_come_back),
        cmocka_unit_test(progress_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
