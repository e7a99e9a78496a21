/* NARM: a recurrent cell over the session, its last state and what that state attends to (Li and others, 2017).
 *
 * With h the states of a GRU over the window:
 *   weight = v · logistic(A1·last h + A2·h)
 *   y      = B·(last h, sum of weight · h)
 * States stand step by step: those of step t are rows t · n .. t · n + n - 1. */
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "model/sequence/window.h"

enum { IN_W, IN_B, BACK_W, BACK_B, QUERY_W, KEY_W, ATTEND_V, JOIN_W, MAPS };
/* STATE begins with a step of zeros, the state before the first. */
enum {
    STATE,
    GATES,
    BACK,
    INNER,
    WEIGHT,
    JOINED,
    QUERY,
    DSTATE,
    DGATES,
    DBACK,
    CARRY,
    DJOINED,
    PARTS
};

static size_t maps(pr_window_map *m, const pr_window_dims *d)
{
    size_t D = d->D;
    m[IN_W] = (pr_window_map){"gru_in_w", 3 * D, D, PR_FILL_QKV};
    m[IN_B] = (pr_window_map){"gru_in_b", 1, 3 * D, PR_FILL_BIAS};
    m[BACK_W] = (pr_window_map){"gru_back_w", 3 * D, D, PR_FILL_QKV};
    m[BACK_B] = (pr_window_map){"gru_back_b", 1, D, PR_FILL_BIAS};
    m[QUERY_W] = (pr_window_map){"query_w", D, D, PR_FILL_MAP};
    m[KEY_W] = (pr_window_map){"key_w", D, D, PR_FILL_MAP};
    m[ATTEND_V] = (pr_window_map){"attend_v", 1, D, PR_FILL_MAP};
    m[JOIN_W] = (pr_window_map){"join_w", D, 2 * D, PR_FILL_MAP};
    return MAPS;
}

static size_t parts(size_t *sizes, const pr_window_dims *d)
{
    size_t L = d->L, D = d->D;
    sizes[STATE] = (L + 1) * D;
    sizes[GATES] = sizes[DGATES] = L * 3 * D;
    sizes[BACK] = sizes[INNER] = sizes[DSTATE] = sizes[DBACK] = L * D;
    sizes[WEIGHT] = L;
    sizes[JOINED] = sizes[DJOINED] = 2 * D;
    sizes[QUERY] = sizes[CARRY] = D;
    return PARTS;
}

static pr_window_steps steps_of(const pr_window_block *in, const pr_window_dims *d)
{
    return (pr_window_steps){.n = in->n, .L = d->L, .D = d->D, .row = 1, .step = in->n};
}

/* Rows of a step at which the window has not begun are 0. */
static void clear_before(pr_real *rows, const pr_window_block *in, size_t t,
                         const pr_window_dims *d)
{
    for (size_t r = 0; r < in->n; r++)
        if (in->ids[r * d->L + t] < 0)
            memset(rows + r * d->D, 0, d->D * sizeof *rows);
}

static void forward(pr_real *y, size_t stride, const pr_window_block *in, pr_real *const *w,
                    const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, step = n * D;
    pr_real *const *p = in->part;
    memset(p[STATE], 0, step * sizeof(pr_real));
    for (size_t t = 0; t < L; t++) {
        pr_real *gates = p[GATES] + 3 * t * step, *before = p[STATE] + t * step;
        pr_bias_spread(gates, w[IN_B], n, 3 * D);
        pr_gemm(gates, 3 * D, pr_mat(in->x + t * D, L * D), pr_flip(w[IN_W], D), 1, n, 3 * D, D);
        pr_gru_step_forward(before + step, gates, p[BACK] + t * step, before, w[BACK_W], w[BACK_B],
                            n, D);
        clear_before(before + step, in, t, d);
    }
    const pr_real *h = p[STATE] + step, *last = p[STATE] + L * step;
    pr_gemm(p[QUERY], D, pr_mat(last, D), pr_flip(w[QUERY_W], D), 0, n, D, D);
    pr_gemm(p[INNER], D, pr_mat(h, D), pr_flip(w[KEY_W], D), 0, L * n, D, D);
    pr_window_steps at = steps_of(in, d);
    pr_window_attend(p[JOINED] + D, 2 * D, p[INNER], p[WEIGHT], p[QUERY], w[ATTEND_V], h, in->ids,
                     &at);
    for (size_t r = 0; r < n; r++)
        memcpy(p[JOINED] + r * 2 * D, last + r * D, D * sizeof *last);
    pr_gemm(y, stride, pr_mat(p[JOINED], 2 * D), pr_flip(w[JOIN_W], 2 * D), 0, n, D, 2 * D);
}

static void backward(const pr_real *dy, size_t stride, const pr_window_block *in, pr_real *const *g,
                     pr_real *const *w, const pr_window_dims *d)
{
    size_t n = in->n, L = d->L, D = d->D, step = n * D;
    pr_real *const *p = in->part, *dh = p[DSTATE], *dlast = dh + (L - 1) * step;
    const pr_real *h = p[STATE] + step, *last = p[STATE] + L * step;
    pr_gemm(p[DJOINED], 2 * D, pr_mat(dy, stride), pr_mat(w[JOIN_W], 2 * D), 0, n, 2 * D, D);
    pr_gemm(g[JOIN_W], 2 * D, pr_flip(dy, stride), pr_mat(p[JOINED], 2 * D), 1, D, 2 * D, n);
    memset(dh, 0, L * step * sizeof *dh);
    for (size_t r = 0; r < n; r++)
        pr_add(dlast + r * D, p[DJOINED] + r * 2 * D, D);
    pr_window_steps at = steps_of(in, d);
    pr_real *dq = p[QUERY];
    pr_window_attend_backward(p[INNER], dq, g[ATTEND_V], dh, p[DJOINED] + D, 2 * D, p[WEIGHT],
                              w[ATTEND_V], h, in->ids, &at);
    pr_linear_backward(dh, g[KEY_W], NULL, p[INNER], h, w[KEY_W], L * n, D, D);
    pr_linear_backward(dlast, g[QUERY_W], NULL, dq, last, w[QUERY_W], n, D, D);
    for (size_t t = L; t-- > 0;) {
        pr_real *dgates = p[DGATES] + 3 * t * step;
        clear_before(dh + t * step, in, t, d);
        pr_gru_step_backward(dgates, p[DBACK] + t * step, p[CARRY], dh + t * step,
                             p[GATES] + 3 * t * step, p[BACK] + t * step, p[STATE] + t * step,
                             w[BACK_W], n, D);
        if (t > 0)
            pr_add(dh + (t - 1) * step, p[CARRY], step);
        pr_gemm(in->dx + t * D, L * D, pr_mat(dgates, 3 * D), pr_mat(w[IN_W], D), 1, n, D, 3 * D);
        pr_gemm(g[IN_W], D, pr_flip(dgates, 3 * D), pr_mat(in->x + t * D, L * D), 1, 3 * D, D, n);
    }
    pr_bias_backward(g[IN_B], p[DGATES], L * n, 3 * D);
    pr_gru_maps_backward(g[BACK_W], g[BACK_B], p[DGATES], p[DBACK], p[STATE], L * n, D);
}

static double products(const pr_window_dims *d)
{
    double D = (double)d->D, L = (double)d->L;
    return (7 * L + 3) * D * D + 2 * L * D;
}

static const pr_window_net net = {
    .maps = maps, .parts = parts, .forward = forward, .backward = backward, .products = products};

static const char *const settings[] = {
    "batch=0",
    "length=0",
    "lookback=20",
    "dropout.hidden=0.4",
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

const pr_model_kind pr_narm = {
    .name = "narm",
    .summary = "a recurrent network with attention over the newest items (Li and others, 2017)",
    .settings = settings,
    .window = &net,
    PR_WINDOW_KIND,
};
