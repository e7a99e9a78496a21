/* What is known of a session and its user, as a part of the first hidden state: a row for each word, and a
 * small map of the numbers (docs/math.md, Features). */
#include <string.h>

#include "math/activation.h"
#include "math/embedding.h"
#include "math/linear.h"
#include "model/parsrec/parsrec_net.h"

/* Adam moves a weight by about the rate whatever the size of its gradient, so rows that tell nothing wander as
 * far as others grow. A tenth of them is little enough to do no harm and costs those that tell something nothing
 * (docs/results.md, Features). */
static const pr_real share = (pr_real)0.1;

static size_t inputs_of(const pr_arnn_dims *d)
{
    return PR_INPUT_WIDTH * d->inputs->numbers;
}

void pr_arnn_about_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t one = sizeof(pr_real);
    if (d->inputs->count == 0)
        return;
    t->about = pr_arena_take(arena, t->R * d->dv, one);
    t->words = pr_arena_take(arena, d->inputs->words * t->R, sizeof *t->words);
    t->inputs = pr_arena_take(arena, t->R * inputs_of(d), one);
    t->middle = pr_arena_take(arena, t->R * d->width, one);
}

void pr_arnn_about_read(pr_arnn_net *net, size_t row, const pr_known_features *about)
{
    const pr_feature_inputs *inputs = net->d.inputs;
    if (inputs->count > 0)
        pr_feature_inputs_read(inputs, about, net->w.about_scale,
                               net->t.words + row * inputs->words,
                               net->t.inputs + row * inputs_of(&net->d));
}

/* Rows one by one, so that each has the bits that it has alone. */
void pr_arnn_about_forward(pr_arnn_net *net, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    size_t words = d->inputs->words, in = inputs_of(d);
    memset(t->about, 0, rows * d->dv * sizeof *t->about);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < words; i++)
            pr_add_scaled(t->about + r * d->dv,
                          net->w.word + (size_t)t->words[r * words + i] * d->dv, share, d->dv);
    if (d->inputs->numbers == 0)
        return;
    pr_bias_spread(t->middle, net->w.about_in_b, rows, d->width);
    pr_gemm_each(t->middle, d->width, pr_mat(t->inputs, in), pr_flip(net->w.about_in_w, in), 1,
                 rows, d->width, in);
    pr_relu_forward(t->middle, t->middle, rows * d->width);
    for (size_t i = 0; i < rows * d->width; i++)
        t->middle[i] *= share;
    pr_gemm_each(t->about, d->dv, pr_mat(t->middle, d->width),
                 pr_flip(net->w.about_out_w, d->width), 1, rows, d->dv, d->width);
}

void pr_arnn_about_backward(pr_arnn_net *net, const pr_real *dabout, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    size_t words = d->inputs->words, in = inputs_of(d), n = rows * d->width;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < words; i++)
            pr_add_scaled(net->g.word + (size_t)t->words[r * words + i] * d->dv, dabout + r * d->dv,
                          share, d->dv);
    if (d->inputs->numbers == 0)
        return;
    memset(t->dmiddle, 0, n * sizeof *t->dmiddle);
    pr_linear_backward(t->dmiddle, net->g.about_out_w, NULL, dabout, t->middle, net->w.about_out_w,
                       rows, d->width, d->dv);
    pr_relu_through(t->dmiddle, t->middle, n);
    for (size_t i = 0; i < n; i++)
        t->dmiddle[i] *= share;
    pr_linear_backward(NULL, net->g.about_in_w, net->g.about_in_b, t->dmiddle, t->inputs, NULL,
                       rows, in, d->width);
}

void pr_arnn_about_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    if (d->inputs->numbers > 0)
        t->dmiddle = pr_arena_take(arena, t->R * d->width, sizeof(pr_real));
}
