/* The Gram matrix of the users' items, its inverse by blocks, and what is kept of it. */
#include "model/counting/linear_items.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "math/blas.h"
#include "math/topk.h"

/* ---- the inverse: Gauss-Jordan by blocks, in place ----
 *
 * For a block of rows and columns K with inverse D: the rows K become D · a[K,:], all others lose a[i,K] times
 * them, and the columns K become D and −a[i,K] · D. Other rows do not depend on each other, so they are cut
 * into tasks of fixed size. */

enum { BLOCK = 64, ROWS_A_TASK = 128 };

typedef struct inversion {
    pr_real *a;
    size_t n, first, width; /* of the block */
    pr_real *panel;         /* [BLOCK,n]: the new rows K, with D in the columns K */
    pr_real *column;        /* [n,BLOCK]: −a[:,K] */
} inversion;

/* Inverts a small block in double; false when a pivot is not positive. */
static bool invert_block(double d[BLOCK][BLOCK], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double pivot = d[k][k];
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        d[k][k] = 1;
        for (size_t j = 0; j < n; j++)
            d[k][j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            double by = d[i][k];
            if (i == k)
                continue;
            d[i][k] = 0;
            for (size_t j = 0; j < n; j++)
                d[i][j] -= by * d[k][j];
        }
    }
    return true;
}

static void update_rows(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const inversion *v = context;
    size_t from = task * ROWS_A_TASK, end = from + ROWS_A_TASK < v->n ? from + ROWS_A_TASK : v->n;
    size_t after = v->first + v->width;
    const size_t parts[2][2] = {{from, end < v->first ? end : v->first},
                                {from > after ? from : after, end}};
    for (size_t p = 0; p < 2; p++) {
        size_t begin = parts[p][0], stop = parts[p][1];
        if (begin >= stop)
            continue;
        for (size_t i = begin; i < stop; i++)
            for (size_t k = 0; k < v->width; k++) {
                v->column[i * BLOCK + k] = -v->a[i * v->n + v->first + k];
                v->a[i * v->n + v->first + k] = 0;
            }
        pr_gemm(v->a + begin * v->n, v->n, pr_mat(v->column + begin * BLOCK, BLOCK),
                pr_mat(v->panel, v->n), 1, stop - begin, v->n, v->width);
    }
}

static bool invert_step(inversion *v, pr_pool *pool)
{
    double d[BLOCK][BLOCK];
    pr_real inverse[BLOCK * BLOCK];
    size_t n = v->n, first = v->first, width = v->width;
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < width; j++)
            d[i][j] = (double)v->a[(first + i) * n + first + j];
    if (!invert_block(d, width))
        return false;
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < width; j++)
            inverse[i * BLOCK + j] = (pr_real)d[i][j];
    pr_gemm(v->panel, n, pr_mat(inverse, BLOCK), pr_mat(v->a + first * n, n), 0, width, n, width);
    for (size_t i = 0; i < width; i++)
        memcpy(v->panel + i * n + first, inverse + i * BLOCK, width * sizeof *inverse);
    size_t tasks = (n + ROWS_A_TASK - 1) / ROWS_A_TASK;
    if (pool != NULL)
        pr_pool_run(pool, update_rows, v, tasks);
    for (size_t t = 0; pool == NULL && t < tasks; t++)
        update_rows(v, t, 0);
    memcpy(v->a + first * n, v->panel, width * n * sizeof *v->a);
    return true;
}

parsrec_status pr_invert(pr_real *a, size_t n, pr_pool *pool, const parsrec_hooks *hooks,
                         parsrec_error *err)
{
    inversion v = {.a = a,
                   .n = n,
                   .panel = pr_alloc_aligned(BLOCK * n, sizeof *v.panel),
                   .column = pr_alloc_aligned(BLOCK * n, sizeof *v.column)};
    parsrec_status status = v.panel != NULL && v.column != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (; status == PARSREC_OK && v.first < n; v.first += BLOCK) {
        status = pr_progress(hooks, "inverting", "items", v.first, n, err);
        v.width = n - v.first < BLOCK ? n - v.first : BLOCK;
        if (status == PARSREC_OK && !invert_step(&v, pool))
            status = pr_fail(err, PARSREC_E_CONFIG,
                             "the matrix of items cannot be inverted; raise ease.lambda");
    }
    pr_free_aligned(v.panel);
    pr_free_aligned(v.column);
    return status;
}

/* ---- which items take part ---- */

typedef struct chosen {
    size_t count;
    int32_t *item; /* [count], ascending */
    int32_t *row;  /* [V]: its row, or -1 */
} chosen;

static parsrec_status choose_items(chosen *c, const pr_user_sets *sets, size_t items, size_t most,
                                   parsrec_error *err)
{
    pr_real *users = pr_alloc_zero(items, sizeof *users);
    *c = (chosen){.item = pr_alloc(items, sizeof *c->item), .row = pr_alloc(items, sizeof *c->row)};
    if (users == NULL || c->item == NULL || c->row == NULL) {
        pr_free(users);
        return pr_fail_memory(err);
    }
    for (uint64_t k = 0; k < sets->start[sets->users]; k++)
        users[sets->item[k]]++;
    for (size_t i = 0; i < items; i++) {
        c->row[i] = -1;
        if (users[i] == 0)
            users[i] = -(pr_real)INFINITY;
    }
    c->count = pr_topk(c->item, users, items, most < items ? most : items);
    qsort(c->item, c->count, sizeof *c->item, pr_ascending_i32);
    for (size_t i = 0; i < c->count; i++)
        c->row[c->item[i]] = (int32_t)i;
    pr_free(users);
    return PARSREC_OK;
}

static void add_user(pr_real *gram, const chosen *c, const int32_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int32_t row = c->row[items[i]];
        for (size_t j = 0; row >= 0 && j < count; j++)
            if (c->row[items[j]] >= 0)
                gram[(size_t)row * c->count + (size_t)c->row[items[j]]] += 1;
    }
}

/* ---- what is kept ---- */

static parsrec_status keep_rows(pr_links *out, const pr_real *inverse, const chosen *c,
                                size_t items, size_t width, parsrec_error *err)
{
    size_t n = c->count, most = width < n ? width : n;
    pr_real *size = pr_alloc(n, sizeof *size);
    int32_t *best = pr_alloc(n, sizeof *best);
    parsrec_status status = size != NULL && best != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK && (uint64_t)n * most >= UINT32_MAX)
        status = pr_fail(err, PARSREC_E_LIMIT,
                         "too many links between items; lower links.width or ease.items");
    if (status == PARSREC_OK)
        status = pr_grow(&out->item, &out->item_capacity, n * most, sizeof *out->item, err);
    if (status == PARSREC_OK)
        status = pr_grow(&out->times, &out->times_capacity, n * most, sizeof *out->times, err);
    for (size_t i = 0; status == PARSREC_OK && i < items; i++) {
        out->start[i] = (uint32_t)out->count;
        if (c->row[i] < 0)
            continue;
        const pr_real *row = inverse + (size_t)c->row[i] * n;
        for (size_t j = 0; j < n; j++) {
            size[j] = row[j] / inverse[j * n + j];
            size[j] = size[j] < 0 ? -size[j] : size[j];
        }
        size[c->row[i]] = -(pr_real)INFINITY; /* no item predicts itself */
        size_t kept = pr_topk(best, size, n, most);
        qsort(best, kept, sizeof *best, pr_ascending_i32);
        for (size_t k = 0; k < kept; k++) {
            size_t j = (size_t)best[k];
            out->item[out->count] = (uint32_t)c->item[j];
            out->times[out->count++] = (float)(-row[j] / inverse[j * n + j]);
        }
        out->total[i] = 1;
    }
    out->start[items] = (uint32_t)out->count;
    pr_free(size);
    pr_free(best);
    return status;
}

static void tell_size(const chosen *c, size_t items, const parsrec_hooks *hooks)
{
    if (c->count < items)
        pr_say(hooks, PARSREC_LOG_INFO,
               "%zu of %zu items take part, the most popular ones (ease.items)", c->count, items);
}

parsrec_status pr_linear_items(pr_links *out, const pr_counted *from, const pr_config *config,
                               parsrec_error *err)
{
    size_t items = from->data->items;
    pr_user_sets sets = {0};
    chosen c = {0};
    pr_real *gram = NULL;
    parsrec_status status;
    *out = (pr_links){.start = pr_alloc_zero(items + 1, sizeof *out->start),
                      .total = pr_alloc_zero(items, sizeof *out->total)};
    status = out->start != NULL && out->total != NULL ? PARSREC_OK : pr_fail_memory(err);
    PR_TRY_GOTO(status);
    PR_TRY_GOTO(pr_user_sets_make(&sets, from, (size_t)config->history_length, err));
    PR_TRY_GOTO(choose_items(&c, &sets, items, (size_t)config->ease_items, err));
    tell_size(&c, items, from->hooks);
    gram = pr_alloc_aligned(c.count * c.count, sizeof *gram);
    PR_TRY_GOTO(gram != NULL ? PARSREC_OK : pr_fail_memory(err));
    for (size_t u = 0; u < sets.users; u++)
        add_user(gram, &c, sets.item + sets.start[u], (size_t)(sets.start[u + 1] - sets.start[u]));
    for (size_t i = 0; i < c.count; i++)
        gram[i * c.count + i] += (pr_real)config->ease_lambda;
    PR_TRY_GOTO(pr_invert(gram, c.count, from->pool, from->hooks, err));
    status = keep_rows(out, gram, &c, items, (size_t)config->links_width, err);
done:
    pr_free_aligned(gram);
    pr_user_sets_free(&sets);
    pr_free(c.item);
    pr_free(c.row);
    return status;
}
