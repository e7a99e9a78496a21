/* Groups of users, built in or from JSON; prices, product correlations and base utilities. */
#include "synth/synth.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "synth/matrices.h"

/* ---- the table of groups ---- */

static parsrec_status groups_init(pr_groups *out, size_t count, size_t categories,
                                  parsrec_error *err)
{
    size_t cells;
    *out = (pr_groups){.count = count, .categories = categories};
    if (pr_mul_overflows(categories, categories, &cells) || pr_mul_overflows(cells, count, &cells))
        return pr_fail_memory(err);
    out->share = pr_alloc_zero(count, sizeof *out->share);
    out->sigma = pr_alloc_zero(cells, sizeof *out->sigma);
    return out->share != NULL && out->sigma != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_groups_free(pr_groups *groups)
{
    pr_intern_free(&groups->names);
    pr_free(groups->share);
    pr_free(groups->sigma);
    *groups = (pr_groups){0};
}

double *pr_groups_sigma(const pr_groups *groups, size_t group)
{
    return groups->sigma + group * groups->categories * groups->categories;
}

size_t pr_group_end(const pr_groups *groups, size_t group, size_t users)
{
    assert(group < groups->count);
    if (group + 1 >= groups->count)
        return users;
    double before = 0;
    for (size_t g = 0; g <= group; g++)
        before += groups->share[g];
    double end = floor(before * (double)users + 0.5);
    return end < (double)users ? (size_t)end : users;
}

/* ---- the paper's groups ---- */

/* A block down the diagonal: ones, and these values above the diagonal, row by row. */
typedef struct paper_block {
    size_t size;
    double above[6];
} paper_block;

enum { BLOCKS = 7, BUILTIN_GROUPS = 2 };

static const paper_block builtin[BUILTIN_GROUPS][BLOCKS] = {
    {{4, {-.25, -.25, -.25, -.25, -.25, -.25}},
     {4, {.2, .5, .8, .4, .7, .6}},
     {3, {-.4, .5, .5}},
     {3, {.5, -.5, -1}},
     {3, {.5, -.3, .5}},
     {1, {0}},
     {2, {.99}}},
    {{4, {-.25, -.25, -.25, -.25, -.25, -.25}},
     {4, {.2, .5, .8, .4, .7, .6}},
     {3, {-.4, -.5, -.5}},
     {3, {.5, -.5, -1}},
     {3, {.5, 1, .5}},
     {1, {0}},
     {2, {-.5}}},
};

/* Rows and columns beyond n are cut off, which leaves a positive semidefinite matrix. */
static void place_block(double *sigma, size_t n, size_t at, const paper_block *b)
{
    const double *value = b->above;
    for (size_t i = 0; i < b->size; i++) {
        for (size_t j = i; j < b->size; j++) {
            double entry = j == i ? 1 : *value++;
            if (at + j < n)
                sigma[(at + i) * n + at + j] = sigma[(at + j) * n + at + i] = entry;
        }
    }
}

parsrec_status pr_groups_builtin(pr_groups *out, size_t categories, parsrec_error *err)
{
    PR_TRY(groups_init(out, BUILTIN_GROUPS, categories, err));
    for (size_t g = 0; g < BUILTIN_GROUPS; g++) {
        uint32_t number;
        PR_TRY(pr_intern_add(&out->names, pr_slice_of(g == 0 ? "A" : "B"), &number, err));
        out->share[g] = 1.0 / BUILTIN_GROUPS;
        size_t at = 0;
        for (size_t b = 0; at < categories; b = (b + 1) % BLOCKS) {
            place_block(pr_groups_sigma(out, g), categories, at, &builtin[g][b]);
            at += builtin[g][b].size;
        }
    }
    return PARSREC_OK;
}

/* ---- groups from a JSON file: {"groups": [{"name", "share", "covariance" or "blocks"}, ...]} ---- */

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

/* How many categories a block represents: a whole number n is n independent ones. */
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
        return pr_fail(at->err, PARSREC_E_CONFIG, "%s: group %s occurs twice", at->path, at->group);
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
    PR_TRY(groups_init(out, json_array_size(list), categories, at->err));
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

/* ---- the market ---- */

/* Uniform from half the base price to twice the base price. */
static double draw_price(uint64_t seed, size_t category, size_t product, double base)
{
    pr_rng rng = pr_rng_make(seed, PR_SYNTH_PRICE);
    pr_stream s = pr_stream_at(&rng, (uint32_t)category, (uint32_t)product, 0);
    return base * (0.5 + 1.5 * pr_stream_unit(&s));
}

typedef struct market_task {
    pr_market *market;
    uint64_t seed;
} market_task;

static void draw_category(void *context, size_t c, unsigned worker)
{
    (void)worker;
    const market_task *task = context;
    pr_market *m = task->market;
    size_t n = m->products;
    pr_rng rng = pr_rng_make(task->seed, PR_SYNTH_BASE_PRICE);
    pr_stream s = pr_stream_at(&rng, (uint32_t)c, 0, 0);
    m->base_price[c] =
        exp(pr_synth_paper.price_mean + pr_synth_paper.price_sd * pr_stream_normal(&s));
    for (size_t j = 0; j < n; j++)
        m->price[c * n + j] = draw_price(task->seed, c, j, m->base_price[c]);
    pr_rng vine = pr_rng_make(task->seed, PR_SYNTH_VINE);
    pr_vine_draw(m->factor + c * n * n, m->correlation + c * n * n, n, &vine, (uint32_t)c);
}

static parsrec_status draw_brands(pr_market *m, uint64_t seed, parsrec_error *err)
{
    pr_rng rng = pr_rng_make(seed, PR_SYNTH_BRAND);
    size_t items = m->categories * m->products;
    m->brand = pr_alloc(items, sizeof *m->brand);
    for (size_t i = 0; m->brand != NULL && i < items; i++)
        m->brand[i] = (int32_t)(pr_rng_at(&rng, (uint32_t)i, 0, 0, 0).word[0] % PR_SYNTH_BRANDS);
    return m->brand != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_market_draw(pr_market *market, const parsrec_synth_options *options,
                              pr_pool *pool, parsrec_error *err)
{
    size_t categories = (size_t)options->categories, products = (size_t)options->products, cells;
    *market = (pr_market){.categories = categories, .products = products};
    if (pr_mul_overflows(categories, products, &cells) || pr_mul_overflows(cells, products, &cells))
        return pr_fail_memory(err);
    market->omega = pr_rng_make(options->seed, PR_SYNTH_OMEGA);
    market->base_price = pr_alloc(categories, sizeof *market->base_price);
    market->price = pr_alloc(categories * products, sizeof *market->price);
    market->correlation = pr_alloc(cells, sizeof *market->correlation);
    market->factor = pr_alloc(cells, sizeof *market->factor);
    if (market->base_price == NULL || market->price == NULL || market->correlation == NULL ||
        market->factor == NULL)
        return pr_fail_memory(err);
    market->taste = pr_rng_make(options->seed, PR_SYNTH_TASTE);
    if ((options->features & PARSREC_FEATURES_SIGNAL) != 0)
        PR_TRY(draw_brands(market, options->seed, err));
    market_task task = {market, options->seed};
    pr_pool_run(pool, draw_category, &task, categories);
    return PARSREC_OK;
}

void pr_market_free(pr_market *market)
{
    pr_free(market->base_price);
    pr_free(market->price);
    pr_free(market->correlation);
    pr_free(market->factor);
    pr_free(market->brand);
    *market = (pr_market){0};
}

static void add_tastes(float *base, const pr_market *m, size_t user, size_t category)
{
    double taste[PR_SYNTH_BRANDS];
    for (uint32_t b = 0; b < PR_SYNTH_BRANDS; b++) {
        pr_stream s = pr_stream_at(&m->taste, (uint32_t)user, b, 0);
        taste[b] = PR_SYNTH_TASTE_SD * pr_stream_normal(&s);
    }
    for (size_t i = 0; i < m->products; i++)
        base[i] += (float)taste[m->brand[category * m->products + i]];
}

void pr_market_utilities(float *base, const pr_market *market, size_t user, size_t category,
                         double *work)
{
    assert(category < market->categories);
    size_t n = market->products;
    const double *factor = market->factor + category * n * n;
    double *normal = work, *omega = work + n;
    pr_stream s = pr_stream_at(&market->omega, (uint32_t)user, (uint32_t)category, 0);
    for (size_t k = 0; k < n; k++) {
        normal[k] = pr_stream_normal(&s);
        omega[k] = 0;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++)
            omega[i] += factor[k * n + i] * normal[k];
    for (size_t i = 0; i < n; i++)
        base[i] = (float)(pr_synth_paper.tau * omega[i] -
                          pr_synth_paper.beta * market->price[category * n + i]);
    if (market->brand != NULL)
        add_tastes(base, market, user, category);
}
