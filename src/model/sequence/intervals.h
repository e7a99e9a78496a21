/* Self-attention that knows how much time lies between two positions: what TiSASRec adds to SASRec (Li, Wang and
 * McAuley, 2020).
 *
 *   weight[i,j] = softmax over j <= i of query_i · (key_j + position key_j + interval key_b) / sqrt(width of a head)
 *   y[i]        = sum over j of weight[i,j] · (value_j + position value_j + interval value_b)
 *
 * b is the time between i and j in units of the shortest time between two sessions up to i, at most
 * `intervals`. All layers share the four tables. Products with interval rows are taken once per position and row, not
 * once per pair: there are fewer rows than positions. */
#ifndef PR_INTERVALS_H
#define PR_INTERVALS_H

#include "math/attention.h"
#include "model/sequence/encoder.h"

/* The times of the tokens that pr_history_tokens writes for the same arguments; a separator has the time of the
 * session it begins. Sessions without dates are one unit apart. Returns how many. */
size_t pr_interval_times(int64_t *when, const pr_history *history, size_t from, size_t end,
                         bool separated);
/* The time of a basket that is opened after the history. */
int64_t pr_interval_now(const pr_history *history);

/* Numbers of scratch that the two calls below need for sequences of up to `longest` positions. */
size_t pr_interval_work(const pr_encoder_dims *d, size_t longest);
/* As pr_self_attention_forward, causal. Adds the positions' keys and values to those of qkv, which stay so for
 * backward. when[L] does not fall. */
void pr_interval_attention_forward(pr_real *y, pr_real *weight, pr_real *work, pr_real *qkv,
                                   const int64_t *when, const pr_encoder_view *w,
                                   const pr_encoder_dims *d, const pr_self_mask *mask,
                                   const pr_self_shape *shape);
/* Sets dqkv[L,3D] and adds into the four tables of g. */
void pr_interval_attention_backward(pr_real *dqkv, pr_real *work, const pr_real *dy,
                                    const pr_real *weight, const pr_real *qkv, const int64_t *when,
                                    const pr_encoder_view *w, pr_encoder_view *g,
                                    const pr_encoder_dims *d, const pr_self_mask *mask,
                                    const pr_self_shape *shape);

#endif
