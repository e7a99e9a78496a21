/* Purposes and streams over Philox, and the normal quantile. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Spreads nearby seeds over all key bits (the finalizer of SplitMix64). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

pr_rng pr_rng_make(uint64_t seed, uint64_t purpose)
{
    uint64_t key = mix(mix(seed) ^ purpose);
    return (pr_rng){{(uint32_t)key, (uint32_t)(key >> 32)}};
}

pr_stream pr_stream_at(const pr_rng *rng, uint32_t a, uint32_t b, uint32_t c)
{
    return (pr_stream){.rng = *rng, .place = {a, b, c}};
}

uint32_t pr_stream_u32(pr_stream *s)
{
    if (s->left == 0) {
        s->bits = pr_rng_at(&s->rng, s->place[0], s->place[1], s->place[2], s->block++);
        s->left = 4;
    }
    return s->bits.word[4 - s->left--];
}

double pr_stream_unit(pr_stream *s)
{
    uint32_t high = pr_stream_u32(s);
    return pr_unit53(high, pr_stream_u32(s));
}

uint32_t pr_stream_below(pr_stream *s, uint32_t n)
{
    assert(n > 0);
    /* Multiply and shift; the few low products that would favour some values are drawn again. */
    uint32_t floor = (uint32_t)-n % n;
    for (;;) {
        uint64_t product = (uint64_t)pr_stream_u32(s) * n;
        if ((uint32_t)product >= floor)
            return (uint32_t)(product >> 32);
    }
}

double pr_stream_normal(pr_stream *s)
{
    return pr_normal_quantile(pr_stream_unit(s));
}

void pr_stream_shuffle(pr_stream *s, void *array, size_t n, size_t size)
{
    assert(size <= 64 && n <= UINT32_MAX);
    unsigned char *bytes = array, hold[64];
    for (size_t i = n; i > 1; i--) {
        size_t j = pr_stream_below(s, (uint32_t)i);
        if (j == i - 1)
            continue;
        unsigned char *x = bytes + (i - 1) * size, *y = bytes + j * size;
        memcpy(hold, x, size);
        memcpy(x, y, size);
        memcpy(y, hold, size);
    }
}

static double polynomial(const double *c, size_t n, double x)
{
    double sum = c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        sum = sum * x + c[i];
    return sum;
}

/* Wichura's rational approximations (Algorithm AS 241, PPND16): one for the middle, two for the
 * tails. */
double pr_normal_quantile(double p)
{
    assert(p > 0 && p < 1);
    static const double middle_a[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                      1.9715909503065514427e3, 1.3731693765509461125e4,
                                      4.5921953931549871457e4, 6.7265770927008700853e4,
                                      3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double middle_b[] = {1.0,
                                      4.2313330701600911252e1,
                                      6.8718700749205790830e2,
                                      5.3941960214247511077e3,
                                      2.1213794301586595867e4,
                                      3.9307895800092710610e4,
                                      2.8729085735721942674e4,
                                      5.2264952788528545610e3};
    static const double tail_c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                    5.76949722146069140550e0,  3.64784832476320460504e0,
                                    1.27045825245236838258e0,  2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double tail_d[] = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
    static const double far_e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_f[] = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(middle_a, 8, r) / polynomial(middle_b, 8, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double z = r <= 5 ? polynomial(tail_c, 8, r - 1.6) / polynomial(tail_d, 8, r - 1.6)
                      : polynomial(far_e, 8, r - 5) / polynomial(far_f, 8, r - 5);
    return q < 0 ? -z : z;
}
