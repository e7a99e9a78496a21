/* Caser: the newest items as a picture of L rows and D columns, and filters over it (Tang and Wang, 2018).
 *
 * A filter of height h slides over the rows and keeps its largest value after ReLU; there are `filters` of each
 * height 1..L. A column filter is a weighted sum of the rows. y = ReLU(join · all of them + b), followed by the
 * user's row. */
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "math/wide.h"
#include "model/sequence/window.h"

PR_LOCAL_LEVELS(pr_real, dot, pr_dot, (const pr_real *x, const pr_real *y, size_t n), (x, y, n))

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

enum { ACROSS_W, ACROSS_B, COLUMN_W, COLUMN_B, JOIN_W, JOIN_B, MAPS };
enum { SLID, FOUND, JOINED, DFOUND, DJOINED, PARTS };

/* Pairs of a height up to L and a place where a filter of that height fits. */
static size_t slides(size_t L)
{
    return L * (L + 1) / 2;
}

/* What the filters find in a window: columns first, then the heights. */
static size_t found(const pr_window_dims *d)
{
    return d->along * d->D + d->L * d->across;
}

static size_t maps(pr_window_map *m, const pr_window_dims *d)
{
    /* filters of height h are h rows each, those of lower heights before them */
    m[ACROSS_W] = (pr_window_map){"across_w", d->across * slides(d->L), d->D, PR_FILL_MAP};
    m[ACROSS_B] = (pr_window_map){"across_b", 1, d->across * d->L, PR_FILL_BIAS};
    m[COLUMN_W] = (pr_window_map){"column_w", d->along, d->L, PR_FILL_MAP};
    m[COLUMN_B] = (pr_window_map){"column_b", 1, d->along, PR_FILL_BIAS};
    m[JOIN_W] = (pr_window_map){"join_w", d->D, found(d), PR_FILL_MAP};
    m[JOIN_B] = (pr_window_map){"join_b", 1, d->D, PR_FILL_BIAS};
    return MAPS;
}

static size_t parts(size_t *sizes, const pr_window_dims *d)
{
    sizes[SLID] = slides(d->L) * d->across;
    sizes[FOUND] = sizes[DFOUND] = found(d);
    sizes[JOINED] = sizes[DJOINED] = d->D;
    return PARTS;
}

/* Where the filters of height h begin in across_w. */
static size_t filter_at(size_t h, const pr_window_dims *d)
{
    return d->across * slides(h - 1) * d->D;
}

/* The place of the largest of L - h + 1 values of filter f, which are n · F apart; the first of equal ones. */
static size_t best_place(const pr_real *slid, size_t places, size_t apart)
{
    size_t best = 0;
    for (size_t t = 1; t < places; t++)
        best = slid[t * apart] > slid[best * apart] ? t : best;
    return best;
}

static void forward(pr_real *y, size_t stride, const pr_window_block *in, pr_real *const *w,
                    const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, F = d->across, W = found(d);
    pr_real *const *p = in->part, *slid = p[SLID];
    for (size_t h = 1; h <= L; h++) {
        for (size_t t = 0; t + h <= L; t++) {
            pr_real *values = slid + t * n * F;
            pr_bias_spread(values, w[ACROSS_B] + (h - 1) * F, n, F);
            pr_gemm(values, F, pr_mat(in->x + t * D, L * D),
                    pr_flip(w[ACROSS_W] + filter_at(h, d), h * D), 1, n, F, h * D);
        }
        for (size_t r = 0; r < n; r++)
            for (size_t f = 0; f < F; f++) {
                const pr_real *values = slid + r * F + f;
                pr_real top = values[best_place(values, L - h + 1, n * F) * n * F];
                p[FOUND][r * W + d->along * D + (h - 1) * F + f] = top > 0 ? top : 0;
            }
        slid += (L - h + 1) * n * F;
    }
    for (size_t r = 0; r < n; r++)
        for (size_t v = 0; v < d->along; v++) {
            pr_real *sum = p[FOUND] + r * W + v * D;
            for (size_t i = 0; i < D; i++)
                sum[i] = w[COLUMN_B][v];
            for (size_t t = 0; t < L; t++)
                add_scaled(sum, in->x + (r * L + t) * D, w[COLUMN_W][v * L + t], D);
        }
    pr_linear_forward(p[JOINED], p[FOUND], w[JOIN_W], w[JOIN_B], n, W, D);
    pr_relu_forward(p[JOINED], p[JOINED], n * D);
    for (size_t r = 0; r < n; r++)
        memcpy(y + r * stride, p[JOINED] + r * D, D * sizeof *y);
}

static void backward(const pr_real *dy, size_t stride, const pr_window_block *in, pr_real *const *g,
                     pr_real *const *w, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, F = d->across, W = found(d);
    pr_real *const *p = in->part, *slid = p[SLID];
    for (size_t r = 0; r < n; r++)
        memcpy(p[DJOINED] + r * D, dy + r * stride, D * sizeof *dy);
    pr_relu_through(p[DJOINED], p[JOINED], n * D);
    memset(p[DFOUND], 0, n * W * sizeof(pr_real));
    pr_linear_backward(p[DFOUND], g[JOIN_W], g[JOIN_B], p[DJOINED], p[FOUND], w[JOIN_W], n, W, D);
    for (size_t h = 1; h <= L; slid += (L - h + 1) * n * F, h++)
        for (size_t r = 0; r < n; r++)
            for (size_t f = 0; f < F; f++) {
                size_t at = d->along * D + (h - 1) * F + f, filter = filter_at(h, d) + f * h * D;
                pr_real by = p[DFOUND][r * W + at];
                if (by == 0 || p[FOUND][r * W + at] <= 0)
                    continue;
                size_t t = best_place(slid + r * F + f, L - h + 1, n * F), x = (r * L + t) * D;
                add_scaled(g[ACROSS_W] + filter, in->x + x, by, h * D);
                add_scaled(in->dx + x, w[ACROSS_W] + filter, by, h * D);
                g[ACROSS_B][(h - 1) * F + f] += by;
            }
    for (size_t r = 0; r < n; r++)
        for (size_t v = 0; v < d->along; v++) {
            const pr_real *dsum = p[DFOUND] + r * W + v * D;
            for (size_t i = 0; i < D; i++)
                g[COLUMN_B][v] += dsum[i];
            for (size_t t = 0; t < L; t++) {
                g[COLUMN_W][v * L + t] += dot(dsum, in->x + (r * L + t) * D, D);
                add_scaled(in->dx + (r * L + t) * D, dsum, w[COLUMN_W][v * L + t], D);
            }
        }
}

static double products(const pr_window_dims *d)
{
    double D = (double)d->D, sum = (double)(found(d) * d->D + d->along * d->L * d->D);
    for (size_t h = 1; h <= d->L; h++)
        sum += (double)(d->across * h * (d->L - h + 1)) * D;
    return sum;
}

static const pr_window_net net = {.users = true,
                                  .maps = maps,
                                  .parts = parts,
                                  .forward = forward,
                                  .backward = backward,
                                  .products = products};

static const char *const settings[] = {
    "batch=0",
    "length=0",
    "lookback=5",
    "dim.item=64",
    "dropout.hidden=0.5",
    "rate=0.003",
    "epochs=0",
    "best=protocols",
    "rate.warmup=0.05",
    "rate.final=0.1",
    "clip=5",
    "negatives=2048",
    "loss=auto",
    NULL,
};

const pr_model_kind pr_caser = {
    .name = "caser",
    .summary = "filters over the newest items, and a row per user (Tang and Wang, 2018)",
    .settings = settings,
    .window = &net,
    PR_WINDOW_KIND,
};
