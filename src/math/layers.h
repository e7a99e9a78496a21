/* The layers that networks are built from, each with its backward pass: linear maps, ReLU, GELU and
 * tanh, layer norm, and gated cells. A backward pass adds to gradients of weights, so that weights
 * that are used several times get the sum. */
#ifndef PR_LAYERS_H
#define PR_LAYERS_H

#include "math/wide.h"

/* ---- linear maps and biases ---- */

/* y[B,O] = x[B,I] · w[O,I]ᵀ + b[O]                                        (docs/math.md, Linear) */
void pr_linear_forward(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b, size_t B,
                       size_t I, size_t O);
void pr_linear_forward_plain(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b,
                             size_t B, size_t I, size_t O);

/* Adds into dx[B,I], dw[O,I], db[O]; any of them may be NULL. x and w must be as in the forward
 * pass. */
void pr_linear_backward(pr_real *dx, pr_real *dw, pr_real *db, const pr_real *dy, const pr_real *x,
                        const pr_real *w, size_t B, size_t I, size_t O);

/* Sets every row of y[B,O] to b[O]. */
void pr_bias_spread(pr_real *y, const pr_real *b, size_t B, size_t O);
/* db[O] += the sum of the rows of dy[B,O]. */
void pr_bias_backward(pr_real *db, const pr_real *dy, size_t B, size_t O);
/* y[n] += x[n] */
void pr_add(pr_real *y, const pr_real *x, size_t n);

/* ---- exponentials, ReLU, GELU and tanh ---- */

/* y = exp(x); y may be x. */
void pr_exp_all(pr_real *y, const pr_real *x, size_t n);

/* y = max(x, 0); y may be x. */
void pr_relu_forward(pr_real *y, const pr_real *x, size_t n);
/* dx += dy where y > 0. */
void pr_relu_backward(pr_real *dx, const pr_real *dy, const pr_real *y, size_t n);
/* The same in place: sets dx to 0 where x <= 0. x may be the input or the output of ReLU. */
void pr_relu_through(pr_real *dx, const pr_real *x, size_t n);

/* y = x · s(2a), where a = sqrt(2/π)·(x + 0.044715·x³) and s is the logistic function: the usual
 * tanh approximation. y may be x.                                        (docs/math.md, GELU) */
void pr_gelu_forward(pr_real *y, const pr_real *x, size_t n);
/* dx = dy · y'(x); dx may be dy. */
void pr_gelu_backward(pr_real *dx, const pr_real *dy, const pr_real *x, size_t n);

/* y = tanh(x); y may be x. */
void pr_tanh_forward(pr_real *y, const pr_real *x, size_t n);
/* In place: dx *= 1 - y², where y is the output. */
void pr_tanh_through(pr_real *dx, const pr_real *y, size_t n);

/* ---- layer norm over the columns of each row ---- */

/* y[B,D] = gain · (x - mean) / sqrt(variance + eps) + shift          (docs/math.md, Layer norm)
 * Keeps unit[B,D] (before gain and shift) and rate[B] = 1/sqrt(variance + eps) for backward. */
void pr_layer_norm_forward(pr_real *y, pr_real *unit, pr_real *rate, const pr_real *x,
                           const pr_real *gain, const pr_real *shift, pr_real eps, size_t B,
                           size_t D);
/* Sets dx[B,D]; adds into dgain[D], dshift[D]. dx may be dy. */
void pr_layer_norm_backward(pr_real *dx, pr_real *dgain, pr_real *dshift, const pr_real *dy,
                            const pr_real *unit, const pr_real *rate, const pr_real *gain, size_t B,
                            size_t D);

/* ---- gated cells: the elementwise part of GRU and LSTM, one row at a time ---- */

/* On entry gates[3D] holds the pre-activations of candidate n (input part only), reset r and
 * update u; on return it holds their values. back[D] is the hidden state's part of n. With h[D]
 * the hidden state: n = tanh(n + r·back), next = (1 - u)·n + u·h.               (docs/math.md, Gated cells) */
void pr_gru_forward(pr_real *next, pr_real *gates, const pr_real *back, const pr_real *h, size_t D);
/* Sets dgates[3D] and dback[D], the gradients of the pre-activations, and dh[D], the direct
 * gradient of h. */
void pr_gru_backward(pr_real *dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
                     const pr_real *gates, const pr_real *back, const pr_real *h, size_t D);

/* A step of n rows with its recurrent maps w[3D,D] and b[D], the candidate's. gates[n,3D] hold the input's part
 * and become the gates; sets back[n,D] and next[n,D]. */
void pr_gru_step_forward(pr_real *next, pr_real *gates, pr_real *back, const pr_real *h,
                         const pr_real *w, const pr_real *b, size_t n, size_t D);
/* Sets dgates[n,3D], dback[n,D] and dh[n,D], which is now all of h's gradient. */
void pr_gru_step_backward(pr_real *dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
                          const pr_real *gates, const pr_real *back, const pr_real *h,
                          const pr_real *w, size_t n, size_t D);
/* Adds into dw[3D,D] and db[D], of T rows of any number of steps; h[T,D] as the steps got it. */
void pr_gru_maps_backward(pr_real *dw, pr_real *db, const pr_real *dgates, const pr_real *dback,
                          const pr_real *h, size_t T, size_t D);

/* gates[4D]: pre-activations on entry, values on return, of candidate g, input i, forget f (1 is
 * added to its pre-activation) and output o. kept[D] = f·memory[D] + i·g, next = o·tanh(kept). */
void pr_lstm_forward(pr_real *next, pr_real *kept, pr_real *gates, const pr_real *memory, size_t D);
/* Sets dgates[4D]. On entry dmemory[D] is the gradient of kept from later steps; on return it is
 * the gradient of memory. */
void pr_lstm_backward(pr_real *dgates, pr_real *dmemory, const pr_real *dnext, const pr_real *gates,
                      const pr_real *memory, const pr_real *kept, size_t D);

#endif
