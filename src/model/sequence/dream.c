/* DREAM: a recurrent network over baskets (Yu and others, 2016).
 *
 * The window is cut into baskets at its separators; without separators, which is for data whose sessions are single
 * items, every item is a basket. The start row is a basket of its own. With b the pool of a basket's item rows, their
 * elementwise maximum or mean:
 *   h = tanh(in · b + back · h of the basket before + bias),   y = the newest h.
 * The open basket is the newest one as far as it is known. Steps are counted so that all windows of a block end
 * together: the newest basket is step L - 1, and what belongs to step t are rows t · n .. t · n + n - 1. */
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "model/sequence/window.h"

enum { IN_W, BACK_W, BIAS, MAPS };
/* STATE begins with the state before the first step; FIRST has the first step of each window. */
enum { POOL, STATE, DPOOL, DSTATE, FIRST, PARTS };

static size_t maps(pr_window_map *m, const pr_window_dims *d)
{
    m[IN_W] = (pr_window_map){"in_w", d->D, d->D, PR_FILL_MAP};
    m[BACK_W] = (pr_window_map){"back_w", d->D, d->D, PR_FILL_MAP};
    m[BIAS] = (pr_window_map){"rnn_b", 1, d->D, PR_FILL_BIAS};
    return MAPS;
}

static size_t parts(size_t *sizes, const pr_window_dims *d)
{
    sizes[POOL] = sizes[DPOOL] = d->L * d->D;
    sizes[STATE] = sizes[DSTATE] = (d->L + 1) * d->D;
    sizes[FIRST] = 1;
    return PARTS;
}

/* The step of each token of a window, L where it belongs to none; returns the first step. */
static size_t steps_of(uint16_t step[PR_LOOKBACK_MOST], const int32_t *ids, const pr_window_dims *d)
{
    size_t first = d->L;
    bool begins = true; /* the next older item is in another basket */
    for (size_t t = d->L; t-- > 0;) {
        bool item = ids[t] >= 0 && ids[t] != d->start + 1, start = ids[t] == d->start;
        if (item && (begins || start || !d->separated))
            first--;
        if (item || ids[t] == d->start + 1)
            begins = !item || start;
        step[t] = (uint16_t)(item ? first : d->L);
    }
    return first;
}

/* Pools the baskets of all windows. Returns the first step that any of them has. */
static size_t pool_baskets(const pr_window_block *in, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, first = L;
    pr_real *pool = in->part[POOL];
    memset(pool, 0, L * n * D * sizeof *pool);
    for (size_t r = 0; r < n; r++) {
        uint16_t step[PR_LOOKBACK_MOST];
        size_t begin = steps_of(step, in->ids + r * L, d), size = 0;
        first = begin < first ? begin : first;
        in->part[FIRST][r] = (pr_real)begin;
        for (size_t t = 0; t < L; t++) {
            const pr_real *x = in->x + (r * L + t) * D;
            if (step[t] == L)
                continue;
            pr_real *to = pool + (step[t] * n + r) * D;
            size = t > 0 && step[t - 1] == step[t] ? size + 1 : 1;
            for (size_t i = 0; i < D; i++)
                if (d->mean)
                    to[i] += (x[i] - to[i]) / (pr_real)size;
                else
                    to[i] = size == 1 || x[i] > to[i] ? x[i] : to[i];
        }
    }
    return first;
}

/* Rows of a step at which a window has not begun are 0. */
static void clear_before(pr_real *rows, const pr_window_block *in, size_t t, size_t D)
{
    for (size_t r = 0; r < in->n; r++)
        if (in->part[FIRST][r] > (pr_real)t)
            memset(rows + r * D, 0, D * sizeof *rows);
}

static void forward(pr_real *y, size_t stride, const pr_window_block *in, pr_real *const *w,
                    const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, first = pool_baskets(in, d);
    pr_real *state = in->part[STATE];
    memset(state + first * n * D, 0, n * D * sizeof *state);
    for (size_t t = first; t < L; t++) {
        pr_real *before = state + t * n * D, *h = before + n * D;
        pr_linear_forward(h, in->part[POOL] + t * n * D, w[IN_W], w[BIAS], n, D, D);
        pr_gemm(h, D, pr_mat(before, D), pr_flip(w[BACK_W], D), 1, n, D, D);
        pr_tanh_forward(h, h, n * D);
        clear_before(h, in, t, D);
    }
    for (size_t r = 0; r < n; r++)
        memcpy(y + r * stride, state + (L * n + r) * D, D * sizeof *y);
}

/* The gradient of a pool goes to the items of the basket: a share to each, or all to the first with the largest value. */
static void pools_backward(const pr_window_block *in, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D;
    for (size_t r = 0; r < n; r++) {
        uint16_t step[PR_LOOKBACK_MOST];
        steps_of(step, in->ids + r * L, d);
        for (size_t t = 0, end; t < L; t = end) {
            for (end = t + 1; end < L && step[end] == step[t];)
                end++;
            if (step[t] == L)
                continue;
            const pr_real *dpool = in->part[DPOOL] + (step[t] * n + r) * D;
            const pr_real *pool = in->part[POOL] + (step[t] * n + r) * D;
            const pr_real *x = in->x + r * L * D;
            pr_real *dx = in->dx + r * L * D;
            for (size_t i = 0; i < D; i++) {
                size_t k = t;
                while (!d->mean && k + 1 < end && x[k * D + i] != pool[i])
                    k++;
                for (; d->mean && k < end; k++)
                    dx[k * D + i] += dpool[i] / (pr_real)(end - t);
                if (!d->mean)
                    dx[k * D + i] += dpool[i];
            }
        }
    }
}

static void backward(const pr_real *dy, size_t stride, const pr_window_block *in, pr_real *const *g,
                     pr_real *const *w, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, first = L;
    pr_real *state = in->part[STATE], *dstate = in->part[DSTATE], *dpool = in->part[DPOOL];
    for (size_t r = 0; r < n; r++) {
        size_t begin = (size_t)in->part[FIRST][r];
        first = begin < first ? begin : first;
        memcpy(dstate + (L * n + r) * D, dy + r * stride, D * sizeof *dy);
    }
    memset(dpool, 0, L * n * D * sizeof *dpool);
    memset(dstate, 0, L * n * D * sizeof *dstate);
    for (size_t t = L; t-- > first;) {
        pr_real *before = state + t * n * D, *h = before + n * D;
        pr_real *dbefore = dstate + t * n * D, *dh = dbefore + n * D;
        clear_before(dh, in, t, D);
        pr_tanh_through(dh, h, n * D);
        pr_linear_backward(dpool + t * n * D, g[IN_W], g[BIAS], dh, in->part[POOL] + t * n * D,
                           w[IN_W], n, D, D);
        pr_linear_backward(dbefore, g[BACK_W], NULL, dh, before, w[BACK_W], n, D, D);
    }
    pools_backward(in, d);
}

/* As if every third token began a basket. */
static double products(const pr_window_dims *d)
{
    double D = (double)d->D, L = (double)d->L;
    return 2 * D * D * (L / 3 + 1) + L * D;
}

static const pr_window_net net = {
    .maps = maps, .parts = parts, .forward = forward, .backward = backward, .products = products};

static const char *const settings[] = {
    "batch=0",        "length=0", "lookback=50",    "dropout.hidden=0.2", "separator=auto",
    "rate=0.003",     "epochs=0", "best=protocols", "rate.warmup=0.05",   "dim.item=64",
    "rate.final=0.1", "clip=5",   "negatives=2048", "loss=auto",          NULL,
};

const pr_model_kind pr_dream = {
    .name = "dream",
    .summary = "a recurrent network over whole baskets (Yu and others, 2016)",
    .settings = settings,
    .window = &net,
    PR_WINDOW_KIND,
};
