/* Groups from a JSON file: {"groups": [{"name", "share", "covariance" or "blocks"}, ...]}. */
#include "synth/synth_groups.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "synth/psd.h"

enum { MOST_GROUPS = 1000 };

/* What is being read, for messages. */
typedef struct place {
    const char *path, *group;
    pr_excerpt hold;
    parsrec_error *err;
} place;

/* Unknown keys are mistakes of spelling more often than not. */
static parsrec_status known_keys(json_t *object, const char *const *keys, const place *at)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0)
            i++;
        pr_excerpt hold;
        if (keys[i] == NULL)
            return pr_fail(at->err, PARSREC_E_CONFIG, "%s: unknown key %s; see docs/synthetic.md",
                           at->path, pr_show(&hold, pr_slice_of(key)));
    }
    return PARSREC_OK;
}

/* One square matrix of JSON rows, written to the diagonal of sigma[n,n] from `from` on, where it
 * is known to fit. */
static parsrec_status read_square(double *sigma, size_t n, size_t from, json_t *rows,
                                  const place *at)
{
    size_t size = json_array_size(rows);
    for (size_t i = 0; i < size; i++) {
        json_t *row = json_array_get(rows, i);
        if (json_array_size(row) != size)
            return pr_fail(at->err, PARSREC_E_CONFIG,
                           "%s: group %s: row %zu of a %zu x %zu covariance has %zu numbers",
                           at->path, at->group, from + i + 1, size, size, json_array_size(row));
        for (size_t j = 0; j < size; j++) {
            json_t *cell = json_array_get(row, j);
            if (!json_is_number(cell))
                return pr_fail(at->err, PARSREC_E_CONFIG,
                               "%s: group %s: row %zu, column %zu of the covariance is not a "
                               "number",
                               at->path, at->group, from + i + 1, from + j + 1);
            sigma[(from + i) * n + from + j] = json_number_value(cell);
        }
    }
    return PARSREC_OK;
}

/* How many categories a block stands for: a whole number n is n independent ones. */
static size_t block_size(json_t *block)
{
    json_int_t singles = json_integer_value(block); /* 0 for what is not an integer */
    return json_is_array(block) ? json_array_size(block) : singles > 0 ? (size_t)singles : 0;
}

static parsrec_status count_blocks(json_t *blocks, size_t n, const place *at)
{
    size_t sum = 0;
    for (size_t b = 0; b < json_array_size(blocks); b++) {
        size_t size = block_size(json_array_get(blocks, b));
        if (size == 0 || size > PARSREC_SYNTH_CATEGORIES_MOST)
            return pr_fail(at->err, PARSREC_E_CONFIG,
                           "%s: group %s: block %zu is neither a matrix nor a number of "
                           "categories from 1 to %d",
                           at->path, at->group, b + 1, PARSREC_SYNTH_CATEGORIES_MOST);
        sum += size;
    }
    if (sum != n)
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: group %s has blocks for %zu categories, but --categories is %zu",
                       at->path, at->group, sum, n);
    return PARSREC_OK;
}

/* Blocks down the diagonal. */
static parsrec_status read_blocks(double *sigma, size_t n, json_t *blocks, const place *at)
{
    PR_TRY(count_blocks(blocks, n, at));
    size_t from = 0;
    for (size_t b = 0; b < json_array_size(blocks); b++) {
        json_t *block = json_array_get(blocks, b);
        size_t end = from + block_size(block);
        if (json_is_array(block))
            PR_TRY(read_square(sigma, n, from, block, at));
        for (; from < end; from++)
            if (!json_is_array(block))
                sigma[from * n + from] = 1;
    }
    return PARSREC_OK;
}

static parsrec_status check_covariance(double *sigma, size_t n, const place *at)
{
    double scale = 0;
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(sigma[i * n + i]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double *below = &sigma[i * n + j], *above = &sigma[j * n + i];
            if (!(fabs(*below - *above) <= 1e-9 * scale))
                return pr_fail(at->err, PARSREC_E_CONFIG,
                               "%s: group %s: the covariance is not symmetric: row %zu, column "
                               "%zu is %g but row %zu, column %zu is %g",
                               at->path, at->group, i + 1, j + 1, *below, j + 1, i + 1, *above);
            *above = *below = (*below + *above) / 2;
        }
    double least;
    PR_TRY(pr_smallest_eigenvalue(&least, sigma, n, at->err));
    if (!(least >= -1e-8 * scale))
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: group %s: no random numbers have this covariance, its smallest "
                       "eigenvalue is %.6g; make the correlations smaller until it is not negative",
                       at->path, at->group, least);
    return PARSREC_OK;
}

static parsrec_status read_covariance(double *sigma, size_t n, json_t *group, const place *at)
{
    json_t *full = json_object_get(group, "covariance"), *blocks = json_object_get(group, "blocks");
    if ((full == NULL) == (blocks == NULL) || !json_is_array(full != NULL ? full : blocks))
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: group %s needs either \"covariance\" (rows of a matrix) or \"blocks\" "
                       "(matrices down its diagonal)",
                       at->path, at->group);
    if (full != NULL && json_array_size(full) != n)
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: group %s has a covariance of %zu categories, but --categories is %zu",
                       at->path, at->group, json_array_size(full), n);
    if (full != NULL)
        PR_TRY(read_square(sigma, n, 0, full, at));
    else
        PR_TRY(read_blocks(sigma, n, blocks, at));
    return check_covariance(sigma, n, at);
}

static parsrec_status read_group(pr_groups *out, size_t g, json_t *group, place *at)
{
    static const char *const keys[] = {"name", "share", "covariance", "blocks", NULL};
    json_t *name = json_object_get(group, "name"), *share = json_object_get(group, "share");
    uint32_t number;
    if (!json_is_string(name) || json_string_length(name) == 0)
        return pr_fail(at->err, PARSREC_E_CONFIG, "%s: group %zu has no name", at->path, g + 1);
    PR_TRY(known_keys(group, keys, at));
    pr_slice text = {json_string_value(name), json_string_length(name)};
    at->group = pr_show(&at->hold, text);
    PR_TRY(pr_intern_add(&out->names, text, &number, at->err));
    if (number != g)
        return pr_fail(at->err, PARSREC_E_CONFIG, "%s: group %s stands twice", at->path, at->group);
    out->share[g] = share == NULL ? 1.0 / (double)out->count : json_number_value(share);
    if (!(out->share[g] > 0 && out->share[g] <= 1))
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: group %s: \"share\" must be a number above 0 and up to 1", at->path,
                       at->group);
    return read_covariance(pr_groups_sigma(out, g), out->categories, group, at);
}

static parsrec_status read_groups(pr_groups *out, json_t *root, size_t categories, place *at)
{
    static const char *const keys[] = {"groups", NULL};
    json_t *list = json_object_get(root, "groups");
    if (json_array_size(list) == 0 || json_array_size(list) > MOST_GROUPS)
        return pr_fail(at->err, PARSREC_E_CONFIG,
                       "%s: expected {\"groups\": [...]} with 1 to %d groups", at->path,
                       MOST_GROUPS);
    PR_TRY(known_keys(root, keys, at));
    PR_TRY(pr_groups_init(out, json_array_size(list), categories, at->err));
    double sum = 0;
    for (size_t g = 0; g < out->count; g++) {
        PR_TRY(read_group(out, g, json_array_get(list, g), at));
        sum += out->share[g];
    }
    if (!(fabs(sum - 1) <= 1e-6))
        return pr_fail(at->err, PARSREC_E_CONFIG, "%s: the groups' shares add up to %g, not to 1",
                       at->path, sum);
    return PARSREC_OK;
}

parsrec_status pr_groups_load(pr_groups *out, const char *path, size_t categories,
                              parsrec_error *err)
{
    *out = (pr_groups){0};
    json_t *root;
    PR_TRY(pr_json_load(&root, path, err));
    place at = {.path = path, .group = "", .err = err};
    parsrec_status status = read_groups(out, root, categories, &at);
    json_decref(root);
    return status;
}
