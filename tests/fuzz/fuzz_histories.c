/* Any bytes as a file of live histories over a tiny shop: refused with a sentence, or histories that
 * can be added to, read, forgotten and written. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "support/toy_shop.h"

#include "base/memory.h"
#include "data/histories.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEMS = 3 };
static toy_shop shop;
static pr_histories base;
static pr_intern users;
static const float table[ITEMS][2] = {{1, 2}, {3, 4}, {5, 6}};

static void need(bool condition)
{
    if (!condition)
        __builtin_trap();
}

static void begin(void)
{
    if (base.users > 0)
        return;
    shop = toy_make((toy_sizes){.users = 2, .items = ITEMS, .least = 3, .spread = 1, .sizes = 2});
    base = pr_histories_of(&shop.data);
    need(pr_intern_load(&users, &shop.data.user_keys, NULL) == PARSREC_OK);
}

static bool use_user(void *context, int32_t user, pr_slice key, size_t sessions)
{
    (void)context;
    need(user >= 0 && key.size > 0);
    return sessions < SIZE_MAX;
}

static void use(pr_live_histories *live, parsrec_live_note *note)
{
    static const uint8_t secret[PR_SIPHASH_BYTES] = {1};
    const int32_t bought[] = {0, 2};
    pr_history_copy copy = {0};
    int32_t *items = NULL;
    size_t capacity = 0, count;
    parsrec_error err = {0};
    pr_live_each(live, use_user, NULL);
    for (size_t u = 0; u < pr_live_users(live); u++) {
        need(pr_live_history(live, (int32_t)u, "s", &copy, &err) == PARSREC_OK);
        for (size_t i = 0; i < copy.history.count; i++)
            need(copy.history.items[i] >= 0 && copy.history.items[i] < ITEMS);
        need(pr_live_session(live, (int32_t)u, "s", 4, &items, &capacity, &count, &err) ==
             PARSREC_OK);
    }
    need(pr_live_add(live, pr_slice_of("u00000"), "s", PR_NO_TIME, bought, 2, &err) == PARSREC_OK);
    need(pr_live_cart(live, pr_slice_of("u00001"), "t", bought, 2, &err) == PARSREC_OK);
    need(pr_live_forget_hash(live, secret, secret, &err) == PARSREC_OK);
    need(pr_live_forget(live, pr_slice_of("new"), &err) == PARSREC_OK);
    need(pr_live_file_save(live, note, "c", "/dev/null", &err) == PARSREC_OK);
    pr_history_copy_free(&copy);
    pr_free(items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsrec_error err = {0};
    pr_container *file;
    pr_live_histories *live;
    parsrec_live_note note = {.store = "s", .base = "b"};
    const pr_live_rows rows = {.table = &table[0][0], .width = 2};
    begin();
    if (pr_container_parse(&file, data, size, "input", &err) == PARSREC_OK)
        if (pr_live_file_inspect(file, &err) != PARSREC_OK)
            need(err.message[0] != '\0');
    if (pr_container_parse(&file, data, size, "input", &err) != PARSREC_OK) {
        need(err.message[0] != '\0');
        return 0;
    }
    need(pr_live_new(&live, &base, &users, ITEMS, &rows, &err) == PARSREC_OK);
    if (pr_live_file_load(live, &note, "c", file, &err) == PARSREC_OK)
        use(live, &note);
    else
        need(err.message[0] != '\0' && pr_live_users(live) == 2);
    pr_live_free(live);
    return 0;
}
