/* The draws of the generator against theory: covariances, Weibull cells, probit integrals, and a
 * simulation of the shopping list that shares no code with ours. */
#include "support/testing.h"

#include "support/jacobi.h"
#include "synth/synth.h"

enum { C = 20, TRIPS = 60000 };

/* The paper's groups, with this many products per category and nothing to choose between them. */
typedef struct fixture {
    parsrec_synth_options options;
    pr_groups groups;
    pr_choice choice;
    pr_shopper shopper;
    float *base;
} fixture;

static void set_up(fixture *f, parsrec_synth_options options)
{
    parsrec_error err;
    *f = (fixture){.options = options};
    assert_ok(pr_groups_builtin(&f->groups, (size_t)options.categories, &err));
    assert_ok(pr_choice_init(&f->choice, &options, f->groups.sigma, f->groups.count, &err));
    assert_ok(pr_shopper_init(&f->shopper, &f->choice, &err));
    f->base = calloc((size_t)(options.categories * options.products), sizeof *f->base);
    pr_shopper_become(&f->shopper, &f->choice, 0, 0, f->base);
}

static void tear_down(fixture *f)
{
    pr_groups_free(&f->groups);
    pr_choice_free(&f->choice);
    pr_shopper_free(&f->shopper);
    free(f->base);
}

static parsrec_synth_options with_products(uint64_t products)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.products = products;
    return o;
}

/* ---- category utilities ---- */

static void category_utilities_have_the_covariance(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, with_products(1));
    for (size_t g = 0; g < 2; g++) {
        double sum[C] = {0}, product[C][C] = {{0}}, u[C], work[C];
        for (size_t t = 0; t < TRIPS; t++) {
            pr_draw_utilities(u, work, &f.choice, g, t / 100, t % 100);
            for (size_t i = 0; i < C; i++) {
                sum[i] += u[i];
                for (size_t j = 0; j <= i; j++)
                    product[i][j] += (u[i] + 0.5) * (u[j] + 0.5);
            }
        }
        const double *sigma = pr_groups_sigma(&f.groups, g);
        for (size_t i = 0; i < C; i++) {
            assert_close(sum[i] / TRIPS, -0.5, 4.5 / sqrt(TRIPS));
            for (size_t j = 0; j <= i; j++) {
                double s = sigma[i * C + j];
                assert_close(product[i][j] / TRIPS, s, 4.5 * sqrt((1 + s * s) / TRIPS));
            }
        }
    }
    double u[C], work[C]; /* categories 12 and 13 are opposites, a correlation of -1 */
    pr_draw_utilities(u, work, &f.choice, 0, 1, 2);
    assert_close(u[12] + u[13], -1, 1e-8);
    tear_down(&f);
}

/* ---- the shopping list, simulated another way ---- */

/* The rest of this block is the peer: erand48, Box and Muller, eigenvectors, sorting. */
static double peer_normal(unsigned short *state)
{
    double r = sqrt(-2 * log(1 - erand48(state)));
    return r * cos(6.283185307179586477 * erand48(state));
}

static double peer_size(unsigned short *state, parsrec_size_rule rule)
{
    for (;;) {
        double e = -log(1 - erand48(state));
        if (rule == PARSREC_SIZE_REFERENCE)
            return fmin(ceil(2 + 1.4738 * pow(e, 1 / 0.8047)), 10);
        double n = ceil(1.47 * pow(e, 1 / 0.80));
        if (n >= 2 && n <= 10)
            return n;
    }
}

typedef struct peer {
    unsigned short state[3];
    double root[C][C]; /* eigenvectors times the roots of the eigenvalues */
} peer;

static void peer_init(peer *p, const double *sigma)
{
    double a[C * C], v[C * C];
    *p = (peer){.state = {1, 2, 3}};
    memcpy(a, sigma, sizeof a);
    jacobi(a, v, C);
    for (size_t i = 0; i < C; i++)
        for (size_t k = 0; k < C; k++)
            p->root[i][k] = v[i * C + k] * sqrt(fmax(a[k * C + k], 0));
}

static bool peer_trip(peer *p, bool *bought, bool outside)
{
    double u[C], z[C], worth = 0;
    for (size_t k = 0; k < C; k++)
        z[k] = peer_normal(p->state);
    for (size_t i = 0; i < C; i++) {
        u[i] = -0.5 + 1e-10 * erand48(p->state);
        for (size_t k = 0; k < C; k++)
            u[i] += p->root[i][k] * z[k];
    }
    double size = peer_size(p->state, PARSREC_SIZE_REFERENCE);
    for (size_t i = 0; i < C; i++) {
        double above = 0;
        for (size_t j = 0; j < C; j++)
            above += u[j] > u[i];
        bought[i] = above < size;
        worth += bought[i] && u[i] > 0 ? u[i] : 0;
    }
    return !outside || worth > 1.5 + peer_normal(p->state);
}

typedef struct tally {
    double trips, pair[C][C];
} tally;

static void count(tally *t, const bool *bought)
{
    t->trips++;
    for (size_t i = 0; i < C; i++)
        for (size_t j = 0; j <= i; j++)
            t->pair[i][j] += bought[i] && bought[j];
}

/* Rates of all pairs (and, on the diagonal, of single categories) agree within 4.5 standard
 * errors of their difference; 210 rates a call. */
static void assert_same_rates(const tally *a, const tally *b)
{
    for (size_t i = 0; i < C; i++)
        for (size_t j = 0; j <= i; j++) {
            double p = a->pair[i][j] / a->trips, q = b->pair[i][j] / b->trips;
            double m = (a->pair[i][j] + b->pair[i][j]) / (a->trips + b->trips);
            double error = sqrt(m * (1 - m) * (1 / a->trips + 1 / b->trips));
            if (!(fabs(p - q) <= 4.5 * error + 1e-9))
                fail_msg("categories %zu and %zu: rate %g, simulated %g, error %g", i, j, p, q,
                         error);
        }
}

static void compare_with_peer(bool outside)
{
    parsrec_synth_options o = with_products(1);
    o.outside = outside;
    fixture f;
    set_up(&f, o);
    for (size_t g = 0; g < 2; g++) {
        tally ours = {0}, theirs = {0};
        peer p;
        peer_init(&p, pr_groups_sigma(&f.groups, g));
        pr_shopper_become(&f.shopper, &f.choice, g, g, f.base);
        for (size_t t = 0; t < TRIPS; t++) {
            bool bought[C] = {false};
            int32_t items[PR_SYNTH_BASKET_MOST];
            size_t n = pr_shopper_trip(&f.shopper, &f.choice, t, NULL, items);
            for (size_t i = 0; i < n; i++)
                bought[items[i]] = true;
            if (n > 0)
                count(&ours, bought);
            if (peer_trip(&p, bought, outside))
                count(&theirs, bought);
        }
        double m = (ours.trips + theirs.trips) / (2.0 * TRIPS);
        assert_close((ours.trips - theirs.trips) / TRIPS, 0, 4.5 * sqrt(m * (1 - m) * 2 / TRIPS));
        assert_true(outside ? m > 0.3 && m < 0.9 : m == 1);
        assert_same_rates(&ours, &theirs);
    }
    tear_down(&f);
}

static void categories_are_bought_together_as_simulated(void **state)
{
    (void)state;
    compare_with_peer(false);
}

static void trips_are_lost_as_simulated(void **state)
{
    (void)state;
    compare_with_peer(true);
}

/* ---- sizes ---- */

static double weibull(double x, double shape, double scale)
{
    return x > 0 ? 1 - exp(-pow(x / scale, shape)) : 0;
}

static double size_probability(size_t n, parsrec_size_rule rule)
{
    double x = (double)n;
    if (rule == PARSREC_SIZE_REFERENCE)
        return (n == 10 ? 1 : weibull(x - 2, 0.8047, 1.4738)) - weibull(x - 3, 0.8047, 1.4738);
    return (weibull(x, 0.80, 1.47) - weibull(x - 1, 0.80, 1.47)) /
           (weibull(10, 0.80, 1.47) - weibull(1, 0.80, 1.47));
}

/* Chi-square with 7 or 8 degrees of freedom; 26 is exceeded about once in a thousand. */
static void sizes_follow_weibull(void **state)
{
    (void)state;
    static const parsrec_size_rule rules[] = {PARSREC_SIZE_REFERENCE, PARSREC_SIZE_PAPER};
    for (size_t r = 0; r < 2; r++) {
        parsrec_synth_options o = with_products(1);
        o.size_rule = rules[r];
        fixture f;
        set_up(&f, o);
        double seen[PR_SYNTH_BASKET_MOST + 1] = {0}, chi = 0, all = 0;
        for (size_t t = 0; t < TRIPS; t++)
            seen[pr_draw_size(&f.choice, t / 100, t % 100)]++;
        for (size_t n = rules[r] == PARSREC_SIZE_PAPER ? 2 : 3; n <= PR_SYNTH_BASKET_MOST; n++) {
            double expected = TRIPS * size_probability(n, rules[r]);
            chi += (seen[n] - expected) * (seen[n] - expected) / expected;
            assert_close(TRIPS * pr_size_chance(pr_size_law_of(rules[r]), n), expected,
                         1e-9 * TRIPS);
            all += seen[n];
        }
        assert_true(all == TRIPS);
        assert_true(chi < 26);
        tear_down(&f);
    }
}

/* ---- products ---- */

/* P(j) = integral of phi(z) times, over the others k, Phi(z + mean_j - mean_k). */
static double probit(const float *mean, size_t n, size_t j)
{
    double sum = 0, step = 0.001;
    for (double z = -9; z <= 9; z += step) {
        double p = exp(-z * z / 2) / sqrt(6.283185307179586477);
        for (size_t k = 0; k < n; k++)
            if (k != j)
                p *= erfc(-(z + mean[j] - mean[k]) / sqrt(2)) / 2;
        sum += p * step;
    }
    return sum;
}

static void products_are_chosen_by_the_probit(void **state)
{
    (void)state;
    enum { PRODUCTS = 6 };
    static const float mean[PRODUCTS] = {0.3f, -1.2f, 0.8f, 0.1f, -0.4f, 0.7f};
    fixture f;
    set_up(&f, with_products(PRODUCTS));
    memcpy(f.base + 3 * PRODUCTS, mean, sizeof mean);
    pr_shopper_become(&f.shopper, &f.choice, 7, 0, f.base);
    double seen[PRODUCTS] = {0}, chi = 0, all = 0;
    for (size_t t = 0; t < TRIPS; t++)
        seen[pr_draw_product(&f.shopper, &f.choice, t, 3)]++;
    for (size_t j = 0; j < PRODUCTS; j++) {
        double p = probit(mean, PRODUCTS, j), expected = TRIPS * p;
        chi += (seen[j] - expected) * (seen[j] - expected) / expected;
        all += p;
    }
    assert_close(all, 1, 1e-9);
    assert_true(chi < 20.5); /* five degrees of freedom, once in a thousand */
    tear_down(&f);
}

static void leaving_out_losers_changes_nothing(void **state)
{
    (void)state;
    static const uint64_t products[] = {1, 2, 5, 100};
    parsrec_error err;
    pr_pool *pool;
    assert_ok(pr_pool_new(&pool, 1, &err));
    for (size_t p = 0; p < 4; p++) {
        fixture f;
        pr_market market;
        set_up(&f, with_products(products[p]));
        assert_ok(pr_market_draw(&market, &f.options, pool, &err));
        double work[200];
        for (size_t user = 0; user < 5; user++) {
            for (size_t c = 0; c < C; c++)
                pr_market_utilities(f.base + c * products[p], &market, user, c, work);
            pr_shopper_become(&f.shopper, &f.choice, user, 0, f.base);
            for (size_t t = 0; t < 10; t++)
                for (size_t c = 0; c < C; c++)
                    assert_int_equal(pr_draw_product(&f.shopper, &f.choice, t, c),
                                     pr_draw_product_plain(&f.shopper, &f.choice, t, c));
        }
        pr_market_free(&market);
        tear_down(&f);
    }
    pr_pool_free(pool);
}

/* Taking the winner away leaves the second best of the same trip, not another draw. */
static void a_product_can_be_taken_away(void **state)
{
    (void)state;
    enum { PRODUCTS = 9 };
    fixture f;
    set_up(&f, with_products(PRODUCTS));
    for (size_t t = 0; t < 200; t++) {
        memset(f.base, 0, PRODUCTS * sizeof *f.base);
        pr_shopper_become(&f.shopper, &f.choice, 1, 0, f.base);
        size_t first = pr_draw_product(&f.shopper, &f.choice, t, 0);
        size_t other = (first + 1) % PRODUCTS;
        f.base[other] = -INFINITY;
        pr_shopper_become(&f.shopper, &f.choice, 1, 0, f.base);
        assert_int_equal(pr_draw_product(&f.shopper, &f.choice, t, 0), first);
        f.base[first] = -INFINITY;
        pr_shopper_become(&f.shopper, &f.choice, 1, 0, f.base);
        size_t second = pr_draw_product(&f.shopper, &f.choice, t, 0);
        assert_true(second != first && second != other);
        assert_int_equal(second, pr_draw_product_plain(&f.shopper, &f.choice, t, 0));
    }
    tear_down(&f);
}

/* ---- the market ---- */

static void prices_follow_their_laws(void **state)
{
    (void)state;
    enum { CATEGORIES = 1000, PRODUCTS = 4 };
    parsrec_synth_options o = with_products(PRODUCTS);
    o.categories = CATEGORIES;
    parsrec_error err;
    pr_pool *pool;
    pr_market m;
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_market_draw(&m, &o, pool, &err));
    double mean = 0, square = 0, share = 0;
    for (size_t c = 0; c < CATEGORIES; c++) {
        double x = log(m.base_price[c]);
        mean += x / CATEGORIES;
        square += (x - 0.5) * (x - 0.5) / CATEGORIES;
        for (size_t j = 0; j < PRODUCTS; j++) {
            double ratio = m.price[c * PRODUCTS + j] / m.base_price[c];
            assert_true(ratio >= 0.5 && ratio <= 2);
            share += (ratio - 0.5) / 1.5 / (CATEGORIES * PRODUCTS);
        }
    }
    assert_close(mean, 0.5, 4.5 * 0.1 / sqrt(CATEGORIES));
    assert_close(square, 0.01, 4.5 * 0.01 * sqrt(2.0 / CATEGORIES));
    assert_close(share, 0.5, 4.5 * sqrt(1.0 / 12 / (CATEGORIES * PRODUCTS)));
    pr_market_free(&m);
    pr_pool_free(pool);
}

/* Over users, omega has the covariance 4 R of its category. */
static void base_utilities_have_the_covariance(void **state)
{
    (void)state;
    enum { PRODUCTS = 6, USERS = 40000 };
    parsrec_synth_options o = with_products(PRODUCTS);
    parsrec_error err;
    pr_pool *pool;
    pr_market m;
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_market_draw(&m, &o, pool, &err));
    double product[PRODUCTS][PRODUCTS] = {{0}}, work[2 * PRODUCTS];
    const double *price = m.price + 2 * PRODUCTS, *r = m.correlation + 2 * PRODUCTS * PRODUCTS;
    for (size_t u = 0; u < USERS; u++) {
        float base[PRODUCTS];
        pr_market_utilities(base, &m, u, 2, work);
        for (size_t i = 0; i < PRODUCTS; i++)
            for (size_t j = 0; j < PRODUCTS; j++)
                product[i][j] += (base[i] + 0.1 * price[i]) * (base[j] + 0.1 * price[j]) / USERS;
    }
    for (size_t i = 0; i < PRODUCTS; i++)
        for (size_t j = 0; j < PRODUCTS; j++) {
            double s = r[i * PRODUCTS + j];
            assert_close(product[i][j] / 4, s, 4.5 * sqrt((1 + s * s) / USERS));
        }
    pr_market_free(&m);
    pr_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(category_utilities_have_the_covariance),
        cmocka_unit_test(categories_are_bought_together_as_simulated),
        cmocka_unit_test(trips_are_lost_as_simulated),
        cmocka_unit_test(sizes_follow_weibull),
        cmocka_unit_test(products_are_chosen_by_the_probit),
        cmocka_unit_test(leaving_out_losers_changes_nothing),
        cmocka_unit_test(a_product_can_be_taken_away),
        cmocka_unit_test(prices_follow_their_laws),
        cmocka_unit_test(base_utilities_have_the_covariance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
