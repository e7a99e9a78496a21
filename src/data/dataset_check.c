/* Whether the numbers of a data set make sense together, so that nobody after it has to ask. Each
 * column is walked once. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "data/dataset_features.h"

/* Where the data came from and who is told. */
typedef struct check {
    const pr_dataset *data;
    const char *origin;
    parsrec_error *err;
} check;

#define REFUSE(c, format, ...) \
    pr_fail((c)->err, PARSREC_E_FORMAT, "%s: " format, (c)->origin, __VA_ARGS__)

/* From 0 to `end` in steps of at least `step`. */
static parsrec_status check_offsets(const check *c, const char *name, const int64_t *offsets,
                                    size_t rows, size_t end, int64_t step)
{
    if (offsets[0] != 0)
        return REFUSE(c, "%s begins with %lld, not 0", name, (long long)offsets[0]);
    for (size_t i = 0; i < rows; i++) {
        if (offsets[i + 1] < offsets[i])
            return REFUSE(c, "%s falls at %zu from %lld to %lld", name, i, (long long)offsets[i],
                          (long long)offsets[i + 1]);
        if (offsets[i + 1] - offsets[i] < step)
            return REFUSE(c, "%s: row %zu is empty", name, i);
    }
    if ((uint64_t)offsets[rows] != end)
        return REFUSE(c, "%s ends with %lld, expected %zu", name, (long long)offsets[rows], end);
    return PARSREC_OK;
}

/* Values from -1 (or 0) to count - 1. */
static parsrec_status check_codes(const check *c, const char *name, const int32_t *codes,
                                  size_t rows, int32_t low, size_t count)
{
    for (size_t i = 0; i < rows; i++)
        if (codes[i] < low || (codes[i] >= 0 && (size_t)codes[i] >= count))
            return REFUSE(c, "%s[%zu] is %d, allowed are %d to %lld", name, i, codes[i], low,
                          (long long)count - 1);
    return PARSREC_OK;
}

static parsrec_status check_names(const check *c, const char *table, const pr_names *names,
                                  bool may_be_empty)
{
    size_t size = (size_t)names->offsets[names->count], at;
    PR_TRY(check_offsets(c, table, names->offsets, names->count, size, may_be_empty ? 0 : 1));
    if (size > 0 && memchr(names->bytes, 0, size) != NULL)
        return REFUSE(c, "%s: a name holds a NUL byte", table);
    if (pr_utf8_valid(names->bytes, size, &at)) {
        /* Valid as a whole; a boundary inside a character would still break two names. */
        for (size_t i = 0; i < names->count; i++) {
            at = (size_t)names->offsets[i];
            if (at < size && !pr_utf8_begins(names->bytes[at]))
                return REFUSE(c, "%s: name %zu is not valid UTF-8", table, i);
        }
        return PARSREC_OK;
    }
    return REFUSE(c, "%s: byte %zu is not valid UTF-8", table, at);
}

/* Equal names in the same scope; scope may be NULL. */
static bool same_name(const pr_names *names, const int32_t *scope, size_t a, size_t b)
{
    pr_slice x = pr_name(names, a), y = pr_name(names, b);
    return x.size == y.size && (scope == NULL || scope[a] == scope[b]) &&
           memcmp(x.bytes, y.bytes, x.size) == 0;
}

/* Every name once, or once below each parent: a hash set of the numbers alone. The hash is seeded, so
 * that nobody can prepare a file whose names all collide; the verdict does not depend on it. */
static parsrec_status check_unique(const check *c, const char *table, const pr_names *names,
                                   const int32_t *scope)
{
    size_t slots = 16;
    while (slots / 2 < names->count)
        slots *= 2;
    uint32_t *taken = pr_alloc_zero(slots, sizeof *taken); /* number + 1 */
    if (taken == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    uint64_t seed = pr_name_seed();
    for (size_t i = 0; i < names->count && status == PARSREC_OK; i++) {
        pr_slice name = pr_name(names, i);
        uint64_t own = seed + (scope != NULL ? (uint64_t)(int64_t)scope[i] : 0);
        size_t at = XXH3_64bits_withSeed(name.bytes, name.size, own) & (slots - 1);
        while (taken[at] != 0 && !same_name(names, scope, taken[at] - 1, i))
            at = (at + 1) & (slots - 1);
        pr_excerpt hold;
        if (taken[at] != 0)
            status = REFUSE(c, "%s: %s stands there twice, as %u and %zu", table,
                            pr_show(&hold, name), taken[at] - 1, i);
        taken[at] = (uint32_t)i + 1;
    }
    pr_free(taken);
    return status;
}

static parsrec_status check_table(const check *c, const char *table, const pr_names *names,
                                  const int32_t *scope)
{
    if (names->count >= INT32_MAX)
        return REFUSE(c, "%s: %zu names are too many", table, names->count);
    PR_TRY(check_names(c, table, names, false));
    return check_unique(c, table, names, scope);
}

/* seen[item] is the last session + 1 that held the item. */
static parsrec_status check_baskets(const check *c)
{
    const pr_dataset *d = c->data;
    PR_TRY(check_codes(c, "items", d->action_items, d->actions, 0, d->items));
    uint64_t *seen = pr_alloc_zero(d->items, sizeof *seen);
    if (seen == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    for (size_t s = 0; s < d->sessions && status == PARSREC_OK; s++) {
        for (int64_t a = d->session_offsets[s]; a < d->session_offsets[s + 1]; a++) {
            int32_t item = d->action_items[a];
            pr_excerpt hold;
            if (seen[item] == s + 1)
                status = REFUSE(c, "item %s stands twice in session %zu",
                                pr_show(&hold, pr_name(&d->item_keys, (size_t)item)), s);
            seen[item] = s + 1;
        }
    }
    pr_free(seen);
    return status;
}

static parsrec_status check_times(const check *c)
{
    const pr_dataset *d = c->data;
    for (size_t u = 0; d->times != NULL && u < d->users; u++) {
        for (int64_t s = d->user_offsets[u] + 1; s < d->user_offsets[u + 1]; s++) {
            pr_excerpt hold;
            if (d->times[s] < d->times[s - 1])
                return REFUSE(c, "times of user %s fall at session %lld from %lld to %lld",
                              pr_show(&hold, pr_name(&d->user_keys, u)), (long long)s,
                              (long long)d->times[s - 1], (long long)d->times[s]);
        }
    }
    return PARSREC_OK;
}

static parsrec_status check_depth(const check *c)
{
    const pr_dataset *d = c->data;
    unsigned char *level = pr_alloc_zero(d->categories, 1);
    if (level == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < d->categories && status == PARSREC_OK; i++) {
        int32_t parent = d->category_parent[i];
        if (parent >= 0)
            level[i] = (unsigned char)(level[parent] + 1);
        if (level[i] >= PR_CATEGORY_LEVELS)
            status = REFUSE(c, "the categories have more than %d levels", PR_CATEGORY_LEVELS);
    }
    pr_free(level);
    return status;
}

static parsrec_status check_catalogue(const check *c)
{
    const pr_dataset *d = c->data;
    if (d->item_names.count > 0)
        PR_TRY(check_names(c, "item_names", &d->item_names, true));
    if (d->categories == 0)
        return PARSREC_OK;
    for (size_t i = 0; i < d->categories; i++)
        if (d->category_parent[i] < -1 || d->category_parent[i] >= (int64_t)i)
            return REFUSE(c, "category_parent[%zu] is %d; a parent stands before its children", i,
                          d->category_parent[i]);
    PR_TRY(check_depth(c));
    PR_TRY(check_table(c, "category_names", &d->category_names, d->category_parent));
    return check_codes(c, "item_category", d->item_category, d->items, -1, d->categories);
}

static parsrec_status check_feature(const check *c, const pr_feature_column *f, size_t rows)
{
    pr_excerpt hold;
    const char *name = pr_show(&hold, pr_slice_of(f->name));
    if (!pr_feature_name_valid(f->name))
        return REFUSE(c,
                      "%s cannot be the name of a feature; take 1 to %d bytes of plain text "
                      "that do not end in .values.bytes or .values.offsets",
                      name, PR_FEATURE_NAME_MAX);
    for (size_t i = 0; f->number != NULL && i < rows; i++)
        if (isinf(f->number[i]))
            return REFUSE(c, "feature %s is infinite in row %zu", name, i);
    if (f->code == NULL)
        return PARSREC_OK;
    PR_TRY(check_table(c, name, &f->values, NULL));
    return check_codes(c, name, f->code, rows, -1, f->values.count);
}

static parsrec_status check_features(const check *c)
{
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        for (size_t i = 0; i < c->data->feature_count[table]; i++)
            PR_TRY(check_feature(c, &c->data->features[table][i],
                                 pr_feature_rows(c->data, (pr_feature_of)table)));
    return PARSREC_OK;
}

parsrec_status pr_dataset_check(const pr_dataset *d, const char *origin, parsrec_error *err)
{
    const check c = {d, origin, err};
    PR_TRY(check_table(&c, "user_keys", &d->user_keys, NULL));
    PR_TRY(check_table(&c, "item_keys", &d->item_keys, NULL));
    PR_TRY(check_offsets(&c, "user_offsets", d->user_offsets, d->users, d->sessions, 0));
    PR_TRY(check_offsets(&c, "session_offsets", d->session_offsets, d->sessions, d->actions, 1));
    PR_TRY(check_baskets(&c));
    PR_TRY(check_times(&c));
    PR_TRY(check_catalogue(&c));
    return check_features(&c);
}
