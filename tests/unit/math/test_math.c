/* math: each fast version against its plain one, and edges. */
#include "support/numbers.h"

#include "math/blas.h"
#include "math/dropout.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "math/optimise.h"
#include "math/softmax_loss.h"
#include "math/topk.h"
#include "math/wide.h"

static void compare_products(size_t M, size_t N, size_t K)
{
    pr_real *a = numbers(M * K, 1, 1), *b = numbers(K * N, 1, 2);
    pr_real *c = numbers(M * N, 1, 3), *d = numbers(M * N, 1, 3);
    for (int ways = 0; ways < 8; ways++) {
        pr_matrix x = ways & 1 ? pr_flip(a, M) : pr_mat(a, K);
        pr_matrix y = ways & 2 ? pr_flip(b, K) : pr_mat(b, N);
        pr_real keep = (pr_real)(ways >> 2);
        pr_gemm(c, N, x, y, keep, M, N, K);
        pr_gemm_plain(d, N, x, y, keep, M, N, K);
        assert_all_close(c, d, M * N, 1e-5, "product");
    }
    free(a), free(b), free(c), free(d);
}

static void products_agree_with_plain_loops(void **state)
{
    (void)state;
    size_t N = 19, K = 53;
    compare_products(37, N, K);
    compare_products(1, N, K); /* one row goes another way */
    compare_products(1, 128, 256);
    pr_real *a = numbers(10 * K, 1, 1), *b = numbers(K * N, 1, 2), *c = zeros(10 * N);
    pr_real *d = zeros(10 * N);
    pr_linear_forward(c, a, b, a, 10, K, N);
    pr_linear_forward_plain(d, a, b, a, 10, K, N);
    assert_all_close(c, d, 10 * N, 1e-5, "linear");
    free(a), free(b), free(c), free(d);
}

/* Distance in units of the last place. */
static double ulps(float actual, double expected)
{
    float near = (float)expected;
    return fabs((double)actual - expected) / (double)(nextafterf(near, INFINITY) - near);
}

static void exp_is_within_two_units_of_libm(void **state)
{
    (void)state;
    double worst = 0;
    enum { N = 400000 };
    pr_real *x = zeros(N), *y = zeros(N);
    for (int i = 0; i < N; i++)
        x[i] = -86.9f + 174.8f * (float)i / N;
    pr_exp_all(y, x, N);
    for (int i = 0; i < N; i++)
        worst = fmax(worst, ulps(y[i], exp((double)x[i])));
    assert_true(worst <= 2);
    pr_real edges[] = {0, -1000, -(pr_real)INFINITY, NAN, 1000};
    pr_exp_all(edges, edges, 5);
    assert_true(edges[0] == 1 && edges[1] == 0 && edges[2] == 0 && isnan(edges[3]));
    assert_true(isfinite(edges[4]) && edges[4] > 1e38f);
    free(x), free(y);
}

static void masks_are_those_of_philox_and_keep_the_share(void **state)
{
    (void)state;
    enum { N = 100003, BYTES = (N + 7) / 8 };
    static uint8_t fast[BYTES], plain[BYTES];
    pr_rng rng = pr_rng_make(7, 3);
    uint32_t place[3] = {5, 6, 7};
    pr_drop drop = pr_drop_make(0.1);
    pr_drop_draw(fast, &rng, place, 11, BYTES, drop);
    pr_drop_draw_plain(plain, &rng, place, 11, BYTES, drop);
    assert_memory_equal(fast, plain, BYTES);
    pr_drop_draw(plain, &rng, place, 111, BYTES - 100, drop); /* a later start, the same bits */
    assert_memory_equal(fast + 100, plain, BYTES - 100);
    pr_real *x = numbers(N, 1, 4), *y = zeros(N), *z = zeros(N);
    pr_drop_forward(y, x, fast, drop.scale, N);
    pr_drop_forward_plain(z, x, fast, drop.scale, N);
    assert_memory_equal(y, z, N * sizeof *y);
    size_t dropped = 0;
    for (size_t i = 0; i < N; i++)
        dropped += y[i] == 0;
    assert_close((double)dropped / N, 0.1, 0.004);
    pr_drop_backward(y, x, fast, drop.scale, N);
    pr_drop_backward_plain(z, x, fast, drop.scale, N);
    assert_memory_equal(y, z, N * sizeof *y);
    free(x), free(y), free(z);
}

static void bags_agree_however_full(void **state)
{
    (void)state;
    enum { B = 9, V = 40, D = 21 };
    pr_real *table = numbers(V * D, 1, 5), *dy = numbers(B * D, 1, 6),
            *weights = numbers(B * V, 1, 7);
    int32_t items[B * V];
    size_t offsets[B + 1] = {0};
    for (size_t r = 0; r < B; r++) { /* row r holds 3r items: the first none, the last most */
        offsets[r + 1] = offsets[r] + 3 * r;
        for (size_t i = 0; i < 3 * r; i++)
            items[offsets[r] + i] = (int32_t)((i * 7 + r) % V);
    }
    pr_bags bags = {items, weights, offsets};
    pr_real *dense = zeros(B * V), *y = zeros(B * D), *z = zeros(B * D);
    pr_real *dt = zeros(V * D), *du = zeros(V * D);
    pr_bag_forward(y, table, &bags, dense, B, V, D);
    pr_bag_forward(z, table, &bags, NULL, B, V, D);
    assert_true(dense[8 * V + 8] != 0); /* the product was really taken */
    assert_all_close(y, z, B * D, 1e-5, "bag");
    pr_bag_backward(dt, dy, &bags, dense, B, V, D);
    pr_bag_backward(du, dy, &bags, NULL, B, V, D);
    assert_all_close(dt, du, V * D, 1e-5, "bag gradient");
    free(table), free(dy), free(weights), free(dense), free(y), free(z), free(dt), free(du);
}

typedef struct loss_case {
    size_t B, V, D;
    pr_real *o, *table, *do_, *dtable;
    int32_t *target, *winner;
    uint8_t *keep;
} loss_case;

static double run_loss(loss_case *c, bool fast, bool masked)
{
    pr_output out = {.table = c->table, .keep = masked ? c->keep : NULL, .scale = (pr_real)1.25};
    memset(c->dtable, 0, c->V * c->D * sizeof *c->dtable);
    pr_real *score = zeros(c->V * c->B), *dropped = zeros(c->V * c->D);
    pr_real *top = zeros(pr_tiles(c->V) * c->B), *total = zeros(pr_tiles(c->V) * c->B);
    pr_real *best = zeros(c->B), *tile = zeros(PR_TILE * c->D);
    pr_softmax s = {score, top, total, best, c->winner, dropped, tile};
    double loss;
    if (fast) {
        pr_softmax_scores(&s, c->o, &out, c->B, c->V, c->D);
        loss = pr_softmax_gradient(c->do_, c->dtable, NULL, &s, c->o, &out, c->target,
                                   (pr_real)0.25, c->B, c->V, c->D);
    } else {
        loss = pr_softmax_loss_plain(c->do_, c->dtable, c->winner, score, c->o, &out, c->target,
                                     (pr_real)0.25, c->B, c->V, c->D);
    }
    free(score), free(dropped), free(top), free(total), free(best), free(tile);
    return loss;
}

static void softmax_loss_agrees_with_its_definition(void **state)
{
    (void)state;
    loss_case c = {.B = 21, .V = 777, .D = 24};
    c.o = numbers(c.B * c.D, 3, 8);
    c.table = numbers(c.V * c.D, 2, 9);
    c.do_ = zeros(c.B * c.D), c.dtable = zeros(c.V * c.D);
    pr_real *do_ = zeros(c.B * c.D), *dtable = zeros(c.V * c.D);
    int32_t target[21], winner[21], plain_winner[21];
    uint8_t *keep = malloc(pr_drop_bytes(c.V * c.D));
    for (size_t i = 0; i < c.B; i++)
        target[i] = (int32_t)(i * 37);
    for (size_t i = 0; i < pr_drop_bytes(c.V * c.D); i++)
        keep[i] = (uint8_t)(i * 101 + 3);
    memcpy(c.table + 500 * c.D, c.table + 3 * c.D, c.D * sizeof *c.table); /* a tie across tiles */
    c.target = target, c.keep = keep;
    for (int masked = 0; masked < 2; masked++) {
        c.winner = plain_winner;
        double expected = run_loss(&c, false, masked);
        memcpy(do_, c.do_, c.B * c.D * sizeof *do_);
        memcpy(dtable, c.dtable, c.V * c.D * sizeof *dtable);
        c.winner = winner;
        assert_close(run_loss(&c, true, masked), expected, 1e-5 * expected);
        assert_memory_equal(winner, plain_winner, sizeof winner);
        assert_all_close(c.do_, do_, c.B * c.D, 1e-5, "do");
        assert_all_close(c.dtable, dtable, c.V * c.D, 1e-5, "dtable");
    }
    free(c.o), free(c.table), free(c.do_), free(c.dtable), free(do_), free(dtable), free(keep);
}

/* One row by a matrix, some columns at a time: the bits of one dot product after the other. */
static void rows_have_the_bits_of_dot_products(void **state)
{
    (void)state;
    enum { N = 27, K = 37 };
    pr_real *x = numbers(K, 1, 5), *w = numbers(N * K, 1, 6), y[N], sum[N];
    for (size_t n = 0; n <= N; n++) {
        pr_gemm(y, N, pr_mat(x, K), pr_flip(w, K), 0, 1, n, K);
        for (size_t i = 0; i < n; i++)
            sum[i] = 0 + pr_dot(w + i * K, x, K);
        assert_memory_equal(y, sum, n * sizeof *y);
    }
    free(x);
    free(w);
}

/* Several rows together: each as if it were alone, also where something is kept. */
static void rows_together_have_the_bits_of_rows_alone(void **state)
{
    (void)state;
    enum { M = 5, N = 27, K = 37 };
    pr_real *x = numbers(M * K, 1, 7), *w = numbers(N * K, 1, 8), *old = numbers(M * N, 1, 9);
    pr_real together[M * N], alone[M * N];
    for (int keep = 0; keep <= 1; keep++) {
        memcpy(together, old, sizeof together);
        memcpy(alone, old, sizeof alone);
        pr_gemm_each(together, N, pr_mat(x, K), pr_flip(w, K), (pr_real)keep, M, N, K);
        for (size_t i = 0; i < M; i++)
            pr_gemm(alone + i * N, N, pr_mat(x + i * K, K), pr_flip(w, K), (pr_real)keep, 1, N, K);
        assert_memory_equal(together, alone, sizeof alone);
    }
    free(x), free(w), free(old);
}

static void topk_agrees_with_plain_and_breaks_ties_by_place(void **state)
{
    (void)state;
    enum { N = 500 };
    pr_real *x = numbers(N, 1, 10);
    for (size_t i = 0; i < N; i++)
        x[i] = roundf(x[i] * 20); /* many ties */
    x[3] = NAN, x[4] = -(pr_real)INFINITY;
    int32_t fast[N], plain[N];
    for (size_t k = 0; k <= N; k = k * 2 + 1) {
        size_t found = pr_topk(fast, x, N, k);
        assert_int_equal(found, pr_topk_plain(plain, x, N, k));
        assert_memory_equal(fast, plain, found * sizeof *fast);
    }
    assert_int_equal(pr_topk(fast, x, N, N), N - 2);
    assert_int_equal(pr_topk(fast, x, 0, 5), 0);
    free(x);
}

static void updates_follow_hand_worked_numbers(void **state)
{
    (void)state;
    pr_real w[3] = {1, 1, 1}, m[3] = {0}, v[3] = {0}, g[3] = {(pr_real)0.5, -2, 0};
    pr_adam adam = {0.1, 0.9, 0.999, 1e-8, 1, 0};
    pr_adam_update(w, m, v, g, &adam, 1, 3); /* the first step is rate · sign(g) */
    assert_close(w[0], 0.9, 1e-6);
    assert_close(w[1], 1.1, 1e-6);
    assert_close(w[2], 1, 0);
    pr_real w1[2] = {1, 2}, m1[2] = {0}, v1[2] = {0}, g1[2] = {(pr_real)0.5, 0};
    pr_adam shrinking = {0.1, 0.9, 0.999, 1e-8, 1, 0.5}; /* 1 - .1 · .5 of a weight is left */
    pr_adam_update(w1, m1, v1, g1, &shrinking, 1, 2);
    assert_close(w1[0], 0.95 - 0.1, 1e-6);
    assert_close(w1[1], 1.9, 1e-6);
    pr_real w2[1] = {1}, m2[1] = {0}, v2[1] = {0}, small[1] = {(pr_real)1e-6};
    adam.eps = 1e-6; /* large beside sqrt(v) = sqrt(.001)·1e-6: the place of eps shows */
    pr_adam_update_row(w2, m2, v2, small, &adam, 1, 1);
    double root = sqrt(0.001) * 1e-6;
    assert_close(w2[0], 1 - 0.1 * sqrt(0.001) / 0.1 * (0.1 * 1e-6) / (root + 1e-6), 1e-7);
    pr_sgd_update(w, g, (pr_real)0.1, (pr_real)0.5, 3);
    assert_close(w[1], 1.2, 1e-6);
    assert_close(pr_sum_squares(g, 3), 4.25, 1e-6);
    assert_close(pr_clip_factor(16, 2), 0.5, 1e-6);
    assert_close(pr_clip_factor(16, 5), 1, 0);
    assert_close(pr_clip_factor(16, 0), 1, 0);
}

int main(void)
{
    pr_blas_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_plain_loops),
        cmocka_unit_test(exp_is_within_two_units_of_libm),
        cmocka_unit_test(masks_are_those_of_philox_and_keep_the_share),
        cmocka_unit_test(bags_agree_however_full),
        cmocka_unit_test(softmax_loss_agrees_with_its_definition),
        cmocka_unit_test(rows_have_the_bits_of_dot_products),
        cmocka_unit_test(rows_together_have_the_bits_of_rows_alone),
        cmocka_unit_test(topk_agrees_with_plain_and_breaks_ties_by_place),
        cmocka_unit_test(updates_follow_hand_worked_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
