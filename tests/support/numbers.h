/* Random numbers and comparisons for tests of arithmetic. Work in float and in double builds. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "support/testing.h"

#include "base/rng.h"
#include "math/shapes.h"

/* n numbers, uniform in ±scale, the same for the same name. Free with free(). */
static inline pr_real *numbers(size_t n, double scale, uint32_t name)
{
    pr_real *x = malloc((n > 0 ? n : 1) * sizeof *x);
    assert_non_null(x);
    pr_rng rng = pr_rng_make(2022, name);
    for (size_t i = 0; i < n; i++)
        x[i] =
            (pr_real)(scale * (2 * pr_unit32(pr_rng_at(&rng, (uint32_t)i, 0, 0, 0).word[0]) - 1));
    return x;
}

static inline pr_real *zeros(size_t n)
{
    pr_real *x = calloc(n > 0 ? n : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Every number within `tolerance` times the largest expected one. Asks <=, so NaN fails. */
static inline void assert_all_close(const pr_real *actual, const pr_real *expected, size_t n,
                                    double tolerance, const char *what)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs((double)expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)actual[i] - (double)expected[i]) <= tolerance * (top + 1e-30)))
            fail_msg("%s[%zu] = %.9g, expected %.9g (largest %.3g)", what, i, (double)actual[i],
                     (double)expected[i], top);
}

/* A loss as a function of something `context` holds. */
typedef double loss_function(void *context);

/* Compares gradient g[n] of x[n] with central differences of the loss. */
static inline void assert_gradient(loss_function *loss, void *context, pr_real *x, const pr_real *g,
                                   size_t n, double tolerance, const char *what)
{
    const double h = 1e-5;
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs((double)g[i]));
    for (size_t i = 0; i < n; i++) {
        pr_real before = x[i];
        x[i] = (pr_real)((double)before + h);
        double up = loss(context);
        x[i] = (pr_real)((double)before - h);
        double down = loss(context);
        x[i] = before;
        double expected = (up - down) / (2 * h);
        if (!(fabs((double)g[i] - expected) <= tolerance * fmax(top, 1e-3)))
            fail_msg("%s: d[%zu] = %.12g, by differences %.12g (largest %.3g)", what, i,
                     (double)g[i], expected, top);
    }
}

/* Weights for a loss that hides no error, as a plain sum of outputs would. */
static inline double weighted(const pr_real *y, const pr_real *pick, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)y[i] * (double)pick[i];
    return sum;
}

#endif
