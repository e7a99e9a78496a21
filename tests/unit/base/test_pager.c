/* base/pager: blocks partly in files keep their bytes whatever is given back, and nothing is left behind. */
#include "support/testing.h"

#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/pager.h"

static char folder[64];
static char result[96];

static int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/parsrec-pager.XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(result, sizeof result, "%s/result", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if a file is left */
}

enum { NUMBERS = 1 << 20 };

static uint32_t number_at(size_t i, uint32_t round)
{
    return (uint32_t)(i * 2654435761u) ^ round;
}

/* A limit that is always exceeded: pages are given back while they are written and read. */
static void bytes_survive_what_is_given_back(void **state)
{
    (void)state;
    parsrec_error err;
    pr_pager *pager;
    assert_ok(pr_pager_new(&pager, result, 1, &err));
    static const size_t kept[] = {0, 100, 4096, NUMBERS * 2, NUMBERS * 4 - 10, NUMBERS * 4};
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        void *block;
        assert_ok(pr_pager_take(&block, pager, NUMBERS, sizeof(uint32_t), kept[k], k % 2, &err));
        uint32_t *numbers = block;
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < NUMBERS; i++)
            assert_true(numbers[i] == 0);
        for (uint32_t round = 0; round < 4; round++) {
            for (size_t i = 0; i < NUMBERS; i++)
                numbers[i] = number_at(i, round);
            pr_pages_release(numbers + kept[k] / 4 + 2048, kept[k] == 0 ? NUMBERS * 2 : 0);
            for (size_t i = 0; i < NUMBERS; i++)
                assert_true(numbers[i] == number_at(i, round));
        }
        pr_pager_give(pager, block);
    }
    pr_pager_free(pager);
}

/* The pages of a file leave the process once it holds more than the limit. */
static void pages_are_given_back_above_the_limit(void **state)
{
    (void)state;
    parsrec_error err;
    pr_pager *pager;
    void *block;
    enum { BYTES = 200 << 20 };
    uint64_t before = pr_memory_resident(), limit = before + (100 << 20);
    assert_true(before > 0);
    assert_ok(pr_pager_new(&pager, result, limit, &err));
    assert_ok(pr_pager_take(&block, pager, BYTES, 1, 0, false, &err));
    for (size_t i = 0; i < BYTES; i += 4096)
        ((char *)block)[i] = 1;
    while (pr_memory_resident() > limit) /* until the pager has looked */
        usleep(1000);
    for (size_t i = 0; i < BYTES; i += 4096)
        assert_true(((char *)block)[i] == 1);
    pr_pager_give(pager, block);
    pr_pager_free(pager);
}

static void without_a_pager_it_is_memory(void **state)
{
    (void)state;
    parsrec_error err;
    void *block;
    size_t before = pr_memory_count();
    assert_ok(pr_pager_take(&block, NULL, 100000, 8, 0, false, &err));
    assert_int_equal(pr_memory_count(), before + 1);
    pr_pager_give(NULL, block);
    pr_pager_give(NULL, NULL);
    pr_pager_free(NULL);
    assert_fails(pr_pager_take(&block, NULL, SIZE_MAX / 2, 8, 0, false, &err), PARSREC_E_MEMORY,
                 "memory");
}

static void mistakes_are_sentences(void **state)
{
    (void)state;
    parsrec_error err;
    pr_pager *pager;
    void *block;
    assert_fails(pr_pager_new(&pager, "/nowhere/result", 1, &err), PARSREC_E_IO,
                 "cannot write a temporary file");
    assert_ok(pr_pager_new(&pager, result, 1 << 30, &err));
    assert_fails(pr_pager_take(&block, pager, (size_t)1 << 46, 1, 0, false, &err), PARSREC_E_IO,
                 "no room for");
    assert_null(block);
    pr_pager_free(pager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_survive_what_is_given_back),
        cmocka_unit_test(pages_are_given_back_above_the_limit),
        cmocka_unit_test(without_a_pager_it_is_memory),
        cmocka_unit_test(mistakes_are_sentences),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
