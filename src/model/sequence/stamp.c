/* STAMP: what a session is about and where it is now (Liu and others, 2018).
 *
 * With x the embeddings of the window, the last one and their mean:
 *   weight = v · logistic(W1·x + W2·last + W3·mean + b)
 *   y      = tanh(Ws·(sum of weight · x) + bs) · tanh(Wt·last + bt), number by number. */
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "model/sequence/window.h"

enum { EACH_W, LAST_W, MEAN_W, ATTEND_B, ATTEND_V, WHOLE_W, WHOLE_B, NOW_W, NOW_B, MAPS };
enum { MEAN, QUERY, INNER, WEIGHT, SUM, LAST, WHOLE, NOW, DWHOLE, DNOW, PARTS };

static size_t maps(pr_window_map *m, const pr_window_dims *d)
{
    size_t D = d->D;
    m[EACH_W] = (pr_window_map){"each_w", D, D, PR_FILL_MAP};
    m[LAST_W] = (pr_window_map){"last_w", D, D, PR_FILL_MAP};
    m[MEAN_W] = (pr_window_map){"mean_w", D, D, PR_FILL_MAP};
    m[ATTEND_B] = (pr_window_map){"attend_b", 1, D, PR_FILL_BIAS};
    m[ATTEND_V] = (pr_window_map){"attend_v", 1, D, PR_FILL_MAP};
    m[WHOLE_W] = (pr_window_map){"whole_w", D, D, PR_FILL_MAP};
    m[WHOLE_B] = (pr_window_map){"whole_b", 1, D, PR_FILL_BIAS};
    m[NOW_W] = (pr_window_map){"now_w", D, D, PR_FILL_MAP};
    m[NOW_B] = (pr_window_map){"now_b", 1, D, PR_FILL_BIAS};
    return MAPS;
}

static size_t parts(size_t *sizes, const pr_window_dims *d)
{
    for (size_t i = 0; i < PARTS; i++)
        sizes[i] = d->D;
    sizes[INNER] = d->L * d->D;
    sizes[WEIGHT] = d->L;
    return PARTS;
}

static size_t tokens_of(const int32_t *ids, size_t L)
{
    size_t n = 0;
    for (size_t t = 0; t < L; t++)
        n += ids[t] >= 0;
    return n > 0 ? n : 1;
}

static pr_window_steps steps_of(const pr_window_block *in, const pr_window_dims *d)
{
    return (pr_window_steps){.n = in->n, .L = d->L, .D = d->D, .row = d->L, .step = 1};
}

static void forward(pr_real *y, size_t stride, const pr_window_block *in, pr_real *const *w,
                    const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D;
    pr_real *const *p = in->part;
    for (size_t r = 0; r < n; r++) {
        pr_real *mean = p[MEAN] + r * D, share = 1 / (pr_real)tokens_of(in->ids + r * L, L);
        memset(mean, 0, D * sizeof *mean);
        for (size_t t = 0; t < L; t++)
            pr_add(mean, in->x + (r * L + t) * D, D);
        for (size_t i = 0; i < D; i++)
            mean[i] *= share;
        memcpy(p[LAST] + r * D, in->x + (r * L + L - 1) * D, D * sizeof *mean);
    }
    pr_linear_forward(p[QUERY], p[LAST], w[LAST_W], w[ATTEND_B], n, D, D);
    pr_gemm(p[QUERY], D, pr_mat(p[MEAN], D), pr_flip(w[MEAN_W], D), 1, n, D, D);
    pr_gemm(p[INNER], D, pr_mat(in->x, D), pr_flip(w[EACH_W], D), 0, n * L, D, D);
    pr_window_steps at = steps_of(in, d);
    pr_window_attend(p[SUM], D, p[INNER], p[WEIGHT], p[QUERY], w[ATTEND_V], in->x, in->ids, &at);
    pr_linear_forward(p[WHOLE], p[SUM], w[WHOLE_W], w[WHOLE_B], n, D, D);
    pr_linear_forward(p[NOW], p[LAST], w[NOW_W], w[NOW_B], n, D, D);
    pr_tanh_forward(p[WHOLE], p[WHOLE], n * D);
    pr_tanh_forward(p[NOW], p[NOW], n * D);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < D; i++)
            y[r * stride + i] = p[WHOLE][r * D + i] * p[NOW][r * D + i];
}

static void backward(const pr_real *dy, size_t stride, const pr_window_block *in, pr_real *const *g,
                     pr_real *const *w, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D;
    pr_real *const *p = in->part;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < D; i++) {
            p[DWHOLE][r * D + i] = dy[r * stride + i] * p[NOW][r * D + i];
            p[DNOW][r * D + i] = dy[r * stride + i] * p[WHOLE][r * D + i];
        }
    pr_tanh_through(p[DWHOLE], p[WHOLE], n * D);
    pr_tanh_through(p[DNOW], p[NOW], n * D);
    pr_real *dsum = p[WHOLE], *dlast = p[NOW]; /* their values are used up */
    memset(dsum, 0, n * D * sizeof *dsum);
    memset(dlast, 0, n * D * sizeof *dlast);
    pr_linear_backward(dsum, g[WHOLE_W], g[WHOLE_B], p[DWHOLE], p[SUM], w[WHOLE_W], n, D, D);
    pr_linear_backward(dlast, g[NOW_W], g[NOW_B], p[DNOW], p[LAST], w[NOW_W], n, D, D);
    pr_window_steps at = steps_of(in, d);
    pr_real *dq = p[QUERY], *dmean = p[DWHOLE];
    pr_window_attend_backward(p[INNER], dq, g[ATTEND_V], in->dx, dsum, D, p[WEIGHT], w[ATTEND_V],
                              in->x, in->ids, &at);
    pr_linear_backward(in->dx, g[EACH_W], NULL, p[INNER], in->x, w[EACH_W], n * L, D, D);
    pr_linear_backward(dlast, g[LAST_W], g[ATTEND_B], dq, p[LAST], w[LAST_W], n, D, D);
    memset(dmean, 0, n * D * sizeof *dmean);
    pr_linear_backward(dmean, g[MEAN_W], NULL, dq, p[MEAN], w[MEAN_W], n, D, D);
    for (size_t r = 0; r < n; r++) {
        pr_real share = 1 / (pr_real)tokens_of(in->ids + r * L, L);
        for (size_t t = 0; t < L; t++)
            for (size_t i = 0; i < D; i++)
                in->dx[(r * L + t) * D + i] += share * dmean[r * D + i];
        pr_add(in->dx + (r * L + L - 1) * D, dlast + r * D, D);
    }
}

static double products(const pr_window_dims *d)
{
    double D = (double)d->D, L = (double)d->L;
    return (L + 4) * D * D + 2 * L * D;
}

static const pr_window_net net = {
    .maps = maps, .parts = parts, .forward = forward, .backward = backward, .products = products};

static const char *const settings[] = {
    "batch=0",
    "length=0",
    "lookback=20",
    "dropout.hidden=0.2",
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

const pr_model_kind pr_stamp = {
    .name = "stamp",
    .summary = "attention by the last item and the mean of the newest (Liu and others, 2018)",
    .settings = settings,
    .window = &net,
    PR_WINDOW_KIND,
};
