/* Newton's method. Cases are summed in chunks, and the chunks' sums are added in order. */
#include "model/choice_fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { CHUNK = 64, STEPS = 30, MOST = PR_CHOICE_FEATURES_MOST };

/* Sums over a chunk of cases. */
typedef struct sums {
    double value;
    double gradient[MOST];
    double curve[MOST * MOST]; /* minus the second derivatives */
} sums;

typedef struct fit {
    const pr_choices *c;
    const double *weights;
    sums *chunks;
} fit;

static double score_of(const fit *f, size_t a)
{
    double s = (double)f->c->offset[a];
    for (size_t k = 0; k < f->c->features; k++)
        s += f->weights[k] * (double)f->c->x[a * f->c->features + k];
    return s;
}

/* Adds one case: its log probability, the mean features of the alternatives taken minus the
 * expected ones, and the covariance of features under the probabilities. */
static void add_case(sums *to, const fit *f, size_t number)
{
    const pr_choices *c = f->c;
    size_t F = c->features, first = c->starts[number], end = c->starts[number + 1];
    size_t taken = c->taken[number];
    double best = -INFINITY, all = 0, mean[MOST] = {0}, square[MOST * MOST] = {0};
    assert(taken > 0 && first + taken <= end);
    for (size_t a = first; a < end; a++)
        best = fmax(best, score_of(f, a));
    for (size_t a = first; a < end; a++) {
        const float *x = c->x + a * F;
        double p = exp(score_of(f, a) - best);
        all += p;
        for (size_t i = 0; i < F; i++) {
            double px = p * (double)x[i];
            mean[i] += px;
            for (size_t j = 0; j <= i; j++)
                square[i * F + j] += px * (double)x[j];
        }
    }
    for (size_t a = first; a < first + taken; a++) {
        to->value += (score_of(f, a) - best - log(all)) / (double)taken;
        for (size_t i = 0; i < F; i++)
            to->gradient[i] += (double)c->x[a * F + i] / (double)taken;
    }
    for (size_t i = 0; i < F; i++) {
        to->gradient[i] -= mean[i] / all;
        for (size_t j = 0; j <= i; j++)
            to->curve[i * F + j] += square[i * F + j] / all - mean[i] / all * (mean[j] / all);
    }
}

static void run_chunk(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const fit *f = context;
    sums *to = &f->chunks[task];
    *to = (sums){0};
    for (size_t n = task * CHUNK; n < (task + 1) * CHUNK && n < f->c->cases; n++)
        add_case(to, f, n);
}

static size_t chunks_of(const pr_choices *c)
{
    return (c->cases + CHUNK - 1) / CHUNK;
}

/* The objective over all cases with these weights, minus ridge[i]/2 · (weights[i] - held[i])². */
static sums evaluate(const fit *f, const double *held, const double *ridge, pr_pool *pool)
{
    size_t F = f->c->features;
    sums all = {0};
    pr_pool_run(pool, run_chunk, (void *)(uintptr_t)f, chunks_of(f->c));
    for (size_t n = 0; n < chunks_of(f->c); n++) {
        all.value += f->chunks[n].value;
        for (size_t i = 0; i < F; i++)
            all.gradient[i] += f->chunks[n].gradient[i];
        for (size_t i = 0; i < F * F; i++)
            all.curve[i] += f->chunks[n].curve[i];
    }
    for (size_t i = 0; i < F; i++) {
        double off = f->weights[i] - held[i];
        all.value -= ridge[i] / 2 * off * off;
        all.gradient[i] -= ridge[i] * off;
        all.curve[i * F + i] += ridge[i];
    }
    return all;
}

/* Solves curve · step = gradient by Cholesky; returns false if curve is not positive definite. */
static bool solve(double *step, sums *s, size_t F)
{
    double *l = s->curve;
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = l[i * F + j];
            for (size_t k = 0; k < j; k++)
                sum -= l[i * F + k] * l[j * F + k];
            if (i == j && !(sum > 0))
                return false;
            l[i * F + j] = i == j ? sqrt(sum) : sum / l[j * F + j];
        }
    for (size_t i = 0; i < F; i++) {
        step[i] = s->gradient[i];
        for (size_t k = 0; k < i; k++)
            step[i] -= l[i * F + k] * step[k];
        step[i] /= l[i * F + i];
    }
    for (size_t i = F; i-- > 0;) {
        for (size_t k = i + 1; k < F; k++)
            step[i] -= l[k * F + i] * step[k];
        step[i] /= l[i * F + i];
    }
    return true;
}

parsrec_status pr_choice_fit(double *weights, double *gain, const pr_choices *c, double prior,
                             pr_pool *pool, parsrec_error *err)
{
    assert(c->features > 0);
    size_t F = c->features;
    double zero[MOST] = {0}, now[MOST] = {0}, next[MOST] = {0}, ridge[MOST] = {0}, step[MOST];
    assert(F > 0 && F <= MOST && prior > 0);
    if (gain != NULL)
        *gain = 0;
    if (c->cases == 0)
        return PARSREC_OK;
    fit f = {.c = c, .weights = zero, .chunks = pr_alloc(chunks_of(c), sizeof *f.chunks)};
    if (f.chunks == NULL)
        return pr_fail_memory(err);
    sums at = evaluate(&f, zero, zero, pool);
    double equal = at.value;
    for (size_t i = 0; i < F; i++)
        ridge[i] = prior * (at.curve[i * F + i] / (double)c->cases + 1e-6);
    memcpy(now, weights, F * sizeof *now);
    f.weights = now;
    at = evaluate(&f, weights, ridge, pool);
    for (size_t n = 0; n < STEPS; n++) {
        double value = at.value, size = 1;
        if (!solve(step, &at, F))
            break;
        /* Far from the maximum a full step may overshoot: it is halved until the objective
         * improves. */
        f.weights = next;
        for (;; size /= 2) {
            for (size_t i = 0; i < F; i++)
                next[i] = now[i] + size * step[i];
            at = evaluate(&f, weights, ridge, pool);
            if (at.value >= value || size < 1e-3)
                break;
        }
        if (!(at.value > value))
            break;
        memcpy(now, next, sizeof now);
        if (at.value - value < 1e-7 * (double)c->cases)
            break;
    }
    memcpy(weights, now, F * sizeof *weights);
    if (gain != NULL) {
        f.weights = now;
        *gain = (evaluate(&f, zero, zero, pool).value - equal) / (double)c->cases;
    }
    pr_free(f.chunks);
    return PARSREC_OK;
}
