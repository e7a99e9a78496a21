/* Gradients of every op against central differences, in double. */
#include "support/numbers.h"

#include "math/attention.h"
#include "math/dropout.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "math/softmax_loss.h"

static const double tolerance = 1e-8;

typedef struct op_case {
    size_t B, I, O;
    pr_real *x, *w, *b, *y, *pick, *unit, *rate;
    const int32_t *ids;
    const pr_bags *bags;
    const uint8_t *keep;
    const pr_keys *keys;
    double result;
} op_case;

static op_case op_make(size_t B, size_t I, size_t O)
{
    op_case c = {.B = B, .I = I, .O = O};
    size_t n = (B + I + O) * (B + I + O);
    c.x = numbers(n, 1, 1), c.w = numbers(n, 1, 2), c.b = numbers(n, 1, 3);
    c.pick = numbers(n, 1, 4), c.y = zeros(n), c.unit = zeros(n), c.rate = zeros(n);
    return c;
}

static void op_free(op_case *c)
{
    free(c->x), free(c->w), free(c->b), free(c->pick), free(c->y), free(c->unit), free(c->rate);
}

static double linear_loss(void *context)
{
    op_case *c = context;
    pr_linear_forward(c->y, c->x, c->w, c->b, c->B, c->I, c->O);
    return weighted(c->y, c->pick, c->B * c->O);
}

static void linear_gradient(void **state)
{
    (void)state;
    op_case c = op_make(5, 4, 3);
    pr_real *dx = zeros(20), *dw = zeros(12), *db = zeros(3);
    pr_linear_backward(dx, dw, db, c.pick, c.x, c.w, c.B, c.I, c.O);
    assert_gradient(linear_loss, &c, c.x, dx, 20, tolerance, "x");
    assert_gradient(linear_loss, &c, c.w, dw, 12, tolerance, "w");
    assert_gradient(linear_loss, &c, c.b, db, 3, tolerance, "b");
    free(dx), free(dw), free(db), op_free(&c);
}

static double relu_loss(void *context)
{
    op_case *c = context;
    pr_relu_forward(c->y, c->x, c->I);
    return weighted(c->y, c->pick, c->I);
}

static void relu_gradient(void **state)
{
    (void)state;
    op_case c = op_make(1, 40, 1);
    for (size_t i = 0; i < c.I; i++) /* off the kink */
        c.x[i] += c.x[i] < 0 ? -0.01 : 0.01;
    pr_real *dx = zeros(c.I);
    relu_loss(&c);
    pr_relu_backward(dx, c.pick, c.y, c.I);
    assert_gradient(relu_loss, &c, c.x, dx, c.I, tolerance, "x");
    free(dx), op_free(&c);
}

/* x: the three sums and the hidden state's share of the candidate; w: the hidden state. */
static double gru_loss(void *context)
{
    op_case *c = context;
    memcpy(c->unit, c->x, 3 * c->I * sizeof *c->x);
    pr_gru_forward(c->y, c->unit, c->x + 3 * c->I, c->w, c->I);
    return weighted(c->y, c->pick, c->I);
}

static void gru_gradient(void **state)
{
    (void)state;
    op_case c = op_make(1, 18, 1);
    pr_real *dx = zeros(4 * c.I), *dh = zeros(c.I);
    gru_loss(&c);
    pr_gru_backward(dx, dx + 3 * c.I, dh, c.pick, c.unit, c.x + 3 * c.I, c.w, c.I);
    assert_gradient(gru_loss, &c, c.x, dx, 4 * c.I, tolerance, "sums");
    assert_gradient(gru_loss, &c, c.w, dh, c.I, tolerance, "hidden state");
    free(dx), free(dh), op_free(&c);
}

/* x: the four sums; w: the memory. Later steps use the memory too, with weights of their own. */
static double lstm_loss(void *context)
{
    op_case *c = context;
    memcpy(c->unit, c->x, 4 * c->I * sizeof *c->x);
    pr_lstm_forward(c->y, c->y + c->I, c->unit, c->w, c->I);
    return weighted(c->y, c->pick, 2 * c->I);
}

static void lstm_gradient(void **state)
{
    (void)state;
    op_case c = op_make(1, 18, 1);
    pr_real *dx = zeros(4 * c.I), *dmemory = zeros(c.I);
    lstm_loss(&c);
    memcpy(dmemory, c.pick + c.I, c.I * sizeof *dmemory);
    pr_lstm_backward(dx, dmemory, c.pick, c.unit, c.w, c.y + c.I, c.I);
    assert_gradient(lstm_loss, &c, c.x, dx, 4 * c.I, tolerance, "sums");
    assert_gradient(lstm_loss, &c, c.w, dmemory, c.I, tolerance, "memory");
    free(dx), free(dmemory), op_free(&c);
}

static double norm_loss(void *context)
{
    op_case *c = context;
    pr_layer_norm_forward(c->y, c->unit, c->rate, c->x, c->w, c->b, 1e-3, c->B, c->I);
    return weighted(c->y, c->pick, c->B * c->I);
}

static void layer_norm_gradient(void **state)
{
    (void)state;
    op_case c = op_make(3, 21, 1);
    pr_real *dx = zeros(63), *dw = zeros(21), *db = zeros(21);
    norm_loss(&c);
    pr_layer_norm_backward(dx, dw, db, c.pick, c.unit, c.rate, c.w, c.B, c.I);
    assert_gradient(norm_loss, &c, c.x, dx, 63, tolerance, "x");
    assert_gradient(norm_loss, &c, c.w, dw, 21, tolerance, "gain");
    assert_gradient(norm_loss, &c, c.b, db, 21, tolerance, "shift");
    free(dx), free(dw), free(db), op_free(&c);
}

static double embedding_loss(void *context)
{
    op_case *c = context;
    pr_embedding_forward(c->y, c->x, c->ids, c->B, c->I);
    return weighted(c->y, c->pick, c->B * c->I);
}

static void embedding_gradient(void **state)
{
    (void)state;
    op_case c = op_make(4, 5, 1);
    int32_t ids[] = {2, 0, 2, 3}; /* one row twice */
    c.ids = ids;
    pr_real *dx = zeros(20);
    pr_embedding_backward(dx, c.pick, ids, c.B, c.I);
    assert_gradient(embedding_loss, &c, c.x, dx, 20, tolerance, "table");
    free(dx), op_free(&c);
}

static double bag_loss(void *context)
{
    op_case *c = context;
    pr_bag_forward(c->y, c->x, c->bags, c->unit, c->B, 6, c->I);
    return weighted(c->y, c->pick, c->B * c->I);
}

static void bag_gradient(void **state)
{
    (void)state;
    op_case c = op_make(3, 5, 1);
    int32_t items[] = {0, 4, 1, 2, 3, 4, 5};
    size_t offsets[] = {0, 2, 2, 7};
    pr_bags bags = {items, c.w, offsets};
    c.bags = &bags;
    pr_real *dx = zeros(30);
    pr_bag_backward(dx, c.pick, &bags, NULL, c.B, 6, c.I);
    assert_gradient(bag_loss, &c, c.x, dx, 30, tolerance, "table");
    free(dx), op_free(&c);
}

static double drop_loss(void *context)
{
    op_case *c = context;
    pr_drop_forward(c->y, c->x, c->keep, 1.25, c->I);
    return weighted(c->y, c->pick, c->I);
}

static void dropout_gradient(void **state)
{
    (void)state;
    op_case c = op_make(1, 37, 1);
    uint8_t keep[] = {0x5A, 0xFF, 0x13, 0x80, 0x0F};
    c.keep = keep;
    pr_real *dx = zeros(37);
    pr_drop_backward(dx, c.pick, keep, 1.25, c.I);
    assert_gradient(drop_loss, &c, c.x, dx, 37, tolerance, "x");
    free(dx), op_free(&c);
}

enum { HEADS = 2, WIDTH = 6 };

static double attention_loss(void *context)
{
    op_case *c = context;
    pr_attention_forward(c->y, c->unit, c->x, c->w, c->keys, HEADS, WIDTH);
    return weighted(c->y, c->pick, WIDTH);
}

static void attention_gradient(void **state)
{
    (void)state;
    op_case c = op_make(5, 10, 4);
    size_t at[] = {3, 0, 5, 4};
    for (size_t n = 1; n <= 4; n++) {
        pr_keys keys = {at, 1, n};
        c.keys = &keys;
        pr_real *dq = zeros(WIDTH), *dkv = zeros(7 * 2 * WIDTH), work[4];
        attention_loss(&c);
        pr_attention_backward(dq, dkv, work, c.pick, c.unit, c.x, c.w, &keys, HEADS, WIDTH);
        assert_gradient(attention_loss, &c, c.x, dq, WIDTH, tolerance, "query");
        assert_gradient(attention_loss, &c, c.w, dkv, 7 * 2 * WIDTH, tolerance, "keys, values");
        free(dq), free(dkv);
    }
    op_free(&c);
}

static double loss_loss(void *context)
{
    op_case *c = context;
    pr_output out = {.table = c->w, .keep = c->keep, .scale = 1.25};
    int32_t winner[4];
    pr_real top[4], total[4], best[4], *tile = zeros(PR_TILE * c->I);
    pr_softmax s = {c->y, top, total, best, winner, c->unit, tile};
    memset(c->rate, 0, c->O * c->I * sizeof *c->rate);
    pr_softmax_scores(&s, c->x, &out, c->B, c->O, c->I);
    double loss =
        pr_softmax_gradient(c->b, c->rate, NULL, &s, c->x, &out, c->ids, 0.25, c->B, c->O, c->I);
    free(tile);
    return 0.25 * loss;
}

static void softmax_loss_gradient(void **state)
{
    (void)state;
    op_case c = op_make(4, 5, 11);
    int32_t target[] = {3, 10, 0, 3};
    uint8_t keep[] = {0x5A, 0xFF, 0x13, 0x80, 0x0F, 0x77, 0x11};
    c.ids = target;
    for (int masked = 0; masked < 2; masked++) {
        c.keep = masked ? keep : NULL;
        loss_loss(&c);
        pr_real *dx = zeros(20), *dw = zeros(55);
        memcpy(dx, c.b, 20 * sizeof *dx);
        memcpy(dw, c.rate, 55 * sizeof *dw);
        assert_gradient(loss_loss, &c, c.x, dx, 20, tolerance, "o");
        assert_gradient(loss_loss, &c, c.w, dw, 55, tolerance, "table");
        free(dx), free(dw);
    }
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_gradient),     cmocka_unit_test(relu_gradient),
        cmocka_unit_test(gru_gradient),        cmocka_unit_test(lstm_gradient),
        cmocka_unit_test(layer_norm_gradient), cmocka_unit_test(embedding_gradient),
        cmocka_unit_test(bag_gradient),        cmocka_unit_test(dropout_gradient),
        cmocka_unit_test(attention_gradient),  cmocka_unit_test(softmax_loss_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
