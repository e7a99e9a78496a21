/* What gated recurrent cells do with their sums, a row at a time: GRU and LSTM. */
#ifndef PR_GATED_CELL_H
#define PR_GATED_CELL_H

#include "math/wide.h"

/* gates[3D] comes as the sums of candidate n (its input's share), reset r and update u, and leaves as
 * their values; back[D] is the hidden state's share of n. With h[D] the hidden state:
 * n = tanh(n + r·back), next = (1 - u)·n + u·h.                     (docs/math.md, Gated cells) */
void pr_gru_forward(pr_real *next, pr_real *gates, const pr_real *back, const pr_real *h, size_t D);
/* Sets dgates[3D] and dback[D], gradients of the sums, and dh[D], what goes straight to h. */
void pr_gru_backward(pr_real *dgates, pr_real *dback, pr_real *dh, const pr_real *dnext,
                     const pr_real *gates, const pr_real *back, const pr_real *h, size_t D);

/* gates[4D]: sums, then values, of candidate g, input i, forget f, to whose sum 1 is added, and
 * output o. memory[D] -> kept[D] = f·memory + i·g, next = o·tanh(kept). */
void pr_lstm_forward(pr_real *next, pr_real *kept, pr_real *gates, const pr_real *memory, size_t D);
/* Sets dgates[4D]; dmemory[D] comes as the gradient of kept by later steps and leaves as memory's. */
void pr_lstm_backward(pr_real *dgates, pr_real *dmemory, const pr_real *dnext, const pr_real *gates,
                      const pr_real *memory, const pr_real *kept, size_t D);

#endif
