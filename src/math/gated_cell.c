/* The parts of GRU and LSTM that are not matrix products. */
#include "math/gated_cell.h"

#include "math/vecmath.h"

PR_INLINE pr_real hyperbolic(pr_real x)
{
    return 2 * pr_logistic(2 * x) - 1;
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
