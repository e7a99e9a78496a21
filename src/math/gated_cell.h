/* The elementwise part of gated recurrent cells, one row at a time: GRU and LSTM. */
#ifndef PR_GATED_CELL_H
#define PR_GATED_CELL_H

#include "math/wide.h"

/* On entry gates[3D] holds the pre-activations of candidate n (input part only), reset r and
 * update u; on return it holds their values. back[D] is the hidden state's part of n. With h[D]
 * the hidden
 * state: n = tanh(n + r·back), next = (1 - u)·n + u·h.               (docs/math.md, Gated cells) */
void pr_gru_forward(pr_real *next, pr_real *gates, const pr_real *back, const pr_real *h, size_t D);
/* Sets dgates[3D] and dback[D], the gradients of the pre-activations, and dh[D], the direct
 * gradient of h. */
void pr_gru_backward(pr_real *dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
                     const pr_real *gates, const pr_real *back, const pr_real *h, size_t D);

/* gates[4D]: pre-activations on entry, values on return, of candidate g, input i, forget f (1 is
 * added to its pre-activation) and output o. kept[D] = f·memory[D] + i·g, next = o·tanh(kept). */
void pr_lstm_forward(pr_real *next, pr_real *kept, pr_real *gates, const pr_real *memory, size_t D);
/* Sets dgates[4D]. On entry dmemory[D] is the gradient of kept from later steps; on return it is
 * the gradient of memory. */
void pr_lstm_backward(pr_real *dgates, pr_real *dmemory, const pr_real *dnext, const pr_real *gates,
                      const pr_real *memory, const pr_real *kept, size_t D);

#endif
