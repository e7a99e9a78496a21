/* The table of groups and the two built-in ones. */
#include "synth/synth_groups.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

parsrec_status pr_groups_init(pr_groups *out, size_t count, size_t categories, parsrec_error *err)
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
typedef struct block {
    size_t size;
    double above[6];
} block;

enum { BLOCKS = 7, BUILTIN_GROUPS = 2 };

static const block builtin[BUILTIN_GROUPS][BLOCKS] = {
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
static void place_block(double *sigma, size_t n, size_t at, const block *b)
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
    PR_TRY(pr_groups_init(out, BUILTIN_GROUPS, categories, err));
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
