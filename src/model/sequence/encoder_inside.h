/* What the encoder's two directions share. */
#ifndef PR_ENCODER_INSIDE_H
#define PR_ENCODER_INSIDE_H

#include "math/self_attention.h"
#include "model/sequence/encoder.h"

/* Places of dropout: 0 is the embedding. */
enum { PR_SITE_WEIGHT = 1, PR_SITE_JOIN, PR_SITE_ACT, PR_SITE_OUT, PR_SITES = 4 };
#define PR_SITE(layer, what) ((layer)*PR_SITES + (what))

static inline pr_self_shape pr_encoder_shape(const pr_encoder *e, const pr_sequences *s, size_t i)
{
    return (pr_self_shape){s->first[i + 1] - s->first[i], e->d.heads, e->d.width, !e->d.cloze};
}

/* The parts of a layer around its attention: t.x to queries, keys and values of n positions ... */
void pr_encoder_ask(pr_encoder *e, size_t layer, size_t n);
/* ... and from what attention mixed to what the layer adds to t.x. s may be NULL without dropout. */
void pr_encoder_answer(pr_encoder *e, const pr_sequences *s, size_t layer, size_t n);
/* Files keys and values of n positions of sequence i, from `position` on. */
void pr_encoder_keep(pr_encoder *e, size_t layer, size_t i, size_t position, const pr_real *qkv,
                     size_t n);

/* Puts the mask of a site over x[T,n]; draws it first when going forward. */
void pr_encoder_drop_rows(const pr_encoder *e, const pr_sequences *s, pr_real *x, uint8_t *keep,
                          size_t site, size_t n, bool draw);
/* The mask over the attention weights of sequence i. */
pr_self_mask pr_encoder_weight_mask(const pr_encoder *e, const pr_sequences *s, size_t layer,
                                    size_t i, bool draw);

#endif
