/* Linear maps are matrix products; the other layers are loops compiled for each vector level. */
#include "math/layers.h"

#include "math/blas.h"
#include "math/wide.h"

/* ---- linear maps and biases ---- */

void pr_bias_spread(pr_real *y, const pr_real *b, size_t B, size_t O)
{
    for (size_t r = 0; r < B; r++)
        memcpy(y + r * O, b, O * sizeof *y);
}

PR_INLINE void add_any(pr_real *y, const pr_real *x, size_t n)
{
    pr_add_scaled(y, x, 1, n);
}
PR_LEVELS(void, pr_add, add_any, (pr_real * y, const pr_real *x, size_t n), (y, x, n))

PR_INLINE void bias_backward_any(pr_real *db, const pr_real *dy, size_t B, size_t O)
{
    for (size_t r = 0; r < B; r++)
        pr_add_scaled(db, dy + r * O, 1, O);
}
PR_LEVELS(void, pr_bias_backward, bias_backward_any,
          (pr_real * db, const pr_real *dy, size_t B, size_t O), (db, dy, B, O))

void pr_linear_forward(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b, size_t B,
                       size_t I, size_t O)
{
    pr_bias_spread(y, b, B, O);
    pr_gemm(y, O, pr_mat(x, I), pr_flip(w, I), 1, B, O, I);
}

void pr_linear_forward_plain(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b,
                             size_t B, size_t I, size_t O)
{
    pr_bias_spread(y, b, B, O);
    pr_gemm_plain(y, O, pr_mat(x, I), pr_flip(w, I), 1, B, O, I);
}

void pr_linear_backward(pr_real *dx, pr_real *dw, pr_real *db, const pr_real *dy, const pr_real *x,
                        const pr_real *w, size_t B, size_t I, size_t O)
{
    if (dx != NULL)
        pr_gemm(dx, I, pr_mat(dy, O), pr_mat(w, I), 1, B, I, O);
    if (dw != NULL)
        pr_gemm(dw, I, pr_flip(dy, O), pr_mat(x, I), 1, O, I, B);
    if (db != NULL)
        pr_bias_backward(db, dy, B, O);
}

/* ---- exponentials, ReLU and GELU ---- */

PR_INLINE void exp_all_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = pr_exp(x[i]);
}
PR_LEVELS(void, pr_exp_all, exp_all_any, (pr_real * y, const pr_real *x, size_t n), (y, x, n))

PR_INLINE void relu_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays NaN */
}
PR_LEVELS(void, pr_relu_forward, relu_forward_any, (pr_real * y, const pr_real *x, size_t n),
          (y, x, n))

PR_INLINE void relu_backward_any(pr_real *dx, const pr_real *dy, const pr_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] += y[i] > 0 ? dy[i] : 0;
}
PR_LEVELS(void, pr_relu_backward, relu_backward_any,
          (pr_real * dx, const pr_real *dy, const pr_real *y, size_t n), (dx, dy, y, n))

PR_INLINE void relu_through_any(pr_real *dx, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] = x[i] > 0 ? dx[i] : 0;
}
PR_LEVELS(void, pr_relu_through, relu_through_any, (pr_real * dx, const pr_real *x, size_t n),
          (dx, x, n))

/* s(2a), the logistic function of twice a. */
PR_INLINE pr_real gelu_share(pr_real x)
{
    const pr_real slope = (pr_real)0.7978845608028654, bend = (pr_real)0.044715;
    return 1 / (1 + pr_exp(-2 * slope * (x + bend * x * x * x)));
}

PR_INLINE void gelu_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * gelu_share(x[i]);
}
PR_LEVELS(void, pr_gelu_forward, gelu_forward_any, (pr_real * y, const pr_real *x, size_t n),
          (y, x, n))

PR_INLINE void gelu_backward_any(pr_real *dx, const pr_real *dy, const pr_real *x, size_t n)
{
    const pr_real slope = (pr_real)0.7978845608028654, bend = (pr_real)0.044715;
    for (size_t i = 0; i < n; i++) {
        pr_real s = gelu_share(x[i]);
        pr_real inner = 2 * slope * (1 + 3 * bend * x[i] * x[i]);
        dx[i] = dy[i] * (s + x[i] * s * (1 - s) * inner);
    }
}
PR_LEVELS(void, pr_gelu_backward, gelu_backward_any,
          (pr_real * dx, const pr_real *dy, const pr_real *x, size_t n), (dx, dy, x, n))

/* ---- layer norm ---- */

PR_INLINE void layer_norm_forward_any(pr_real *y, pr_real *unit, pr_real *rate, const pr_real *x,
                                      const pr_real *gain, const pr_real *shift, pr_real eps,
                                      size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++) {
        const pr_real *in = x + r * D;
        pr_real *u = unit + r * D, *out = y + r * D;
        pr_real mean = pr_sum(in, D) / (pr_real)D;
        for (size_t i = 0; i < D; i++)
            u[i] = in[i] - mean;
        pr_real s = 1 / pr_sqrt(pr_dot(u, u, D) / (pr_real)D + eps);
        for (size_t i = 0; i < D; i++) {
            u[i] *= s;
            out[i] = gain[i] * u[i] + shift[i];
        }
        rate[r] = s;
    }
}
PR_LEVELS(void, pr_layer_norm_forward, layer_norm_forward_any,
          (pr_real * y, pr_real *unit, pr_real *rate, const pr_real *x, const pr_real *gain,
           const pr_real *shift, pr_real eps, size_t B, size_t D),
          (y, unit, rate, x, gain, shift, eps, B, D))

PR_INLINE void layer_norm_backward_any(pr_real *dx, pr_real *dgain, pr_real *dshift,
                                       const pr_real *dy, const pr_real *unit, const pr_real *rate,
                                       const pr_real *gain, size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++) {
        const pr_real *u = unit + r * D, *din = dy + r * D;
        pr_real *out = dx + r * D;
        for (size_t i = 0; i < D; i++) {
            dgain[i] += din[i] * u[i];
            dshift[i] += din[i];
            out[i] = din[i] * gain[i];
        }
        pr_real mean = pr_sum(out, D) / (pr_real)D;
        pr_real along = pr_dot(out, u, D) / (pr_real)D;
        for (size_t i = 0; i < D; i++)
            out[i] = rate[r] * (out[i] - mean - u[i] * along);
    }
}
PR_LEVELS(void, pr_layer_norm_backward, layer_norm_backward_any,
          (pr_real * dx, pr_real *dgain, pr_real *dshift, const pr_real *dy, const pr_real *unit,
           const pr_real *rate, const pr_real *gain, size_t B, size_t D),
          (dx, dgain, dshift, dy, unit, rate, gain, B, D))

/* ---- tanh, and gated cells ---- */

PR_INLINE pr_real hyperbolic(pr_real x)
{
    return 2 * pr_logistic(2 * x) - 1;
}

PR_INLINE void tanh_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = hyperbolic(x[i]);
}
PR_LEVELS(void, pr_tanh_forward, tanh_forward_any, (pr_real * y, const pr_real *x, size_t n),
          (y, x, n))

void pr_tanh_through(pr_real *dx, const pr_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] *= 1 - y[i] * y[i];
}

PR_INLINE void gru_forward_any(pr_real *restrict next, pr_real *restrict gates,
                               const pr_real *restrict back, const pr_real *restrict h, size_t D)
{
    pr_real *n = gates, *r = gates + D, *u = gates + 2 * D;
    for (size_t i = 0; i < D; i++) {
        r[i] = pr_logistic(r[i]);
        u[i] = pr_logistic(u[i]);
        n[i] = hyperbolic(n[i] + r[i] * back[i]);
        next[i] = n[i] + u[i] * (h[i] - n[i]);
    }
}
PR_LEVELS(void, pr_gru_forward, gru_forward_any,
          (pr_real * next, pr_real *gates, const pr_real *back, const pr_real *h, size_t D),
          (next, gates, back, h, D))

PR_INLINE void gru_backward_any(pr_real *restrict dgates, pr_real *restrict dback,
                                pr_real *restrict dh, const pr_real *restrict dnext,
                                const pr_real *restrict gates, const pr_real *restrict back,
                                const pr_real *restrict h, size_t D)
{
    for (size_t i = 0; i < D; i++) {
        pr_real n = gates[i], r = gates[D + i], u = gates[2 * D + i];
        pr_real dn = dnext[i] * (1 - u) * (1 - n * n);
        dgates[i] = dn;
        dgates[D + i] = dn * back[i] * r * (1 - r);
        dgates[2 * D + i] = dnext[i] * (h[i] - n) * u * (1 - u);
        dback[i] = dn * r;
        dh[i] = dnext[i] * u;
    }
}
PR_LEVELS(void, pr_gru_backward, gru_backward_any,
          (pr_real * dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
           const pr_real *gates, const pr_real *back, const pr_real *h, size_t D),
          (dgates, dback, dh, dnext, gates, back, h, D))

void pr_gru_step_forward(pr_real *next, pr_real *gates, pr_real *back, const pr_real *h,
                         const pr_real *w, const pr_real *b, size_t n, size_t D)
{
    pr_linear_forward(back, h, w, b, n, D, D);
    pr_gemm(gates + D, 3 * D, pr_mat(h, D), pr_flip(w + D * D, D), 1, n, 2 * D, D);
    for (size_t r = 0; r < n; r++)
        pr_gru_forward(next + r * D, gates + r * 3 * D, back + r * D, h + r * D, D);
}

void pr_gru_step_backward(pr_real *dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
                          const pr_real *gates, const pr_real *back, const pr_real *h,
                          const pr_real *w, size_t n, size_t D)
{
    for (size_t r = 0; r < n; r++)
        pr_gru_backward(dgates + r * 3 * D, dback + r * D, dh + r * D, dnext + r * D,
                        gates + r * 3 * D, back + r * D, h + r * D, D);
    pr_gemm(dh, D, pr_mat(dback, D), pr_mat(w, D), 1, n, D, D);
    pr_gemm(dh, D, pr_mat(dgates + D, 3 * D), pr_mat(w + D * D, D), 1, n, D, 2 * D);
}

void pr_gru_maps_backward(pr_real *dw, pr_real *db, const pr_real *dgates, const pr_real *dback,
                          const pr_real *h, size_t T, size_t D)
{
    pr_bias_backward(db, dback, T, D);
    pr_gemm(dw, D, pr_flip(dback, D), pr_mat(h, D), 1, D, D, T);
    pr_gemm(dw + D * D, D, pr_flip(dgates + D, 3 * D), pr_mat(h, D), 1, 2 * D, D, T);
}

PR_INLINE void lstm_forward_any(pr_real *restrict next, pr_real *restrict kept,
                                pr_real *restrict gates, const pr_real *restrict memory, size_t D)
{
    pr_real *g = gates, *in = gates + D, *forget = gates + 2 * D, *out = gates + 3 * D;
    for (size_t i = 0; i < D; i++) {
        g[i] = hyperbolic(g[i]);
        in[i] = pr_logistic(in[i]);
        forget[i] = pr_logistic(forget[i] + 1); /* the offset makes an untrained cell keep most of
                                                 * its state */
        out[i] = pr_logistic(out[i]);
        kept[i] = forget[i] * memory[i] + in[i] * g[i];
        next[i] = out[i] * hyperbolic(kept[i]);
    }
}
PR_LEVELS(void, pr_lstm_forward, lstm_forward_any,
          (pr_real * next, pr_real *kept, pr_real *gates, const pr_real *memory, size_t D),
          (next, kept, gates, memory, D))

PR_INLINE void lstm_backward_any(pr_real *restrict dgates, pr_real *restrict dmemory,
                                 const pr_real *restrict dnext, const pr_real *restrict gates,
                                 const pr_real *restrict memory, const pr_real *restrict kept,
                                 size_t D)
{
    for (size_t i = 0; i < D; i++) {
        pr_real g = gates[i], in = gates[D + i], forget = gates[2 * D + i];
        pr_real out = gates[3 * D + i], shown = hyperbolic(kept[i]);
        pr_real dkept = dmemory[i] + dnext[i] * out * (1 - shown * shown);
        dgates[i] = dkept * in * (1 - g * g);
        dgates[D + i] = dkept * g * in * (1 - in);
        dgates[2 * D + i] = dkept * memory[i] * forget * (1 - forget);
        dgates[3 * D + i] = dnext[i] * shown * out * (1 - out);
        dmemory[i] = dkept * forget;
    }
}
PR_LEVELS(void, pr_lstm_backward, lstm_backward_any,
          (pr_real * dgates, pr_real *dmemory, const pr_real *dnext, const pr_real *gates,
           const pr_real *memory, const pr_real *kept, size_t D),
          (dgates, dmemory, dnext, gates, memory, kept, D))
