/* Losses against drawn items: the arithmetic by its definition, many draws against the whole catalogue, and
 * what is placed next. */
#include "support/shaken.h"

#include "math/sampled_loss.h"
#include "model/parsrec/parsrec_learn.h"
#include "model/trainer.h"

enum { DRAWN = 23, B = 19 };

/* Scores with some taken out of some rows, and all of row 3; a wild one among them. */
static pr_real *barred_scores(void)
{
    pr_real *score = numbers(DRAWN * B, 6, 5);
    score[5 * B + 1] = 300; /* more than an exponential can hold */
    for (size_t i = 0; i < DRAWN * B; i++)
        if (i % 7 == 2 || i % B == 3)
            score[i] = PR_BARRED;
    return score;
}

/* The largest of the losses and gradients is a few units. */
static const double near_enough = 1e-5;

static void sampled_loss_is_its_definition(void **state)
{
    (void)state;
    pr_real *score = barred_scores(), *t = numbers(B, 6, 6), *more = numbers(DRAWN, 2, 7);
    pr_real *dscore = barred_scores(), *dt = numbers(B, 6, 6), work[2 * B];
    double loss = 0;
    double actual = pr_sampled_gradient(dscore, dt, work, more, (pr_real)0.5, DRAWN, B);
    for (size_t r = 0; r < B; r++) {
        double sum = exp((double)t[r]);
        for (size_t n = 0; n < DRAWN; n++)
            sum += exp((double)score[n * B + r] + (double)more[n]);
        loss += log(sum) - (double)t[r];
        assert_close(dt[r], 0.5 * (exp((double)t[r]) / sum - 1), near_enough);
        for (size_t n = 0; n < DRAWN; n++)
            assert_close(dscore[n * B + r],
                         0.5 * exp((double)score[n * B + r] + (double)more[n]) / sum, near_enough);
    }
    assert_close(actual, loss, 1e-5 * loss);
    free(score), free(t), free(more), free(dscore), free(dt);
}

static void pairwise_loss_is_its_definition(void **state)
{
    (void)state;
    pr_real *score = barred_scores(), *t = numbers(B, 6, 6), times[DRAWN], work[2 * B];
    pr_real *dscore = barred_scores(), *dt = numbers(B, 6, 6);
    double loss = 0;
    for (size_t n = 0; n < DRAWN; n++)
        times[n] = (pr_real)(1 + n % 3);
    double actual = pr_pairwise_gradient(dscore, dt, work, times, (pr_real)0.5, DRAWN, B);
    for (size_t r = 0; r < B; r++) {
        double count = 0, sum = 0, all = 0;
        for (size_t n = 0; n < DRAWN; n++)
            count += score[n * B + r] > PR_BARRED ? (double)times[n] : 0;
        for (size_t n = 0; n < DRAWN; n++) {
            double x = (double)score[n * B + r] - (double)t[r];
            bool counts = score[n * B + r] > PR_BARRED;
            double d = counts ? 0.5 * (double)times[n] / count / (1 + exp(-x)) : 0;
            sum +=
                counts ? (double)times[n] / count * log1p(exp(x)) : 0; /* exp(300) is finite here */
            assert_close(dscore[n * B + r], d, near_enough);
            all += d;
        }
        loss += sum;
        assert_close(dt[r], -all, near_enough);
    }
    assert_close(dt[3], 0, 0); /* nothing to compare it with */
    assert_close(actual, loss, 1e-5 * loss);
    free(score), free(t), free(dscore), free(dt);
}

/* ---- in the model ---- */

enum { USERS = 10, ITEMS = 150, ROWS = 60, SIZE = 4, PAST = 20 };

typedef struct small_shop {
    int32_t items[ROWS][SIZE], past[ROWS][PAST];
    pr_basket baskets[ROWS];
} small_shop;

static void fill(small_shop *s)
{
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < SIZE; i++) /* some items are in many baskets */
            s->items[r][i] = (int32_t)((r * r / 8 % 30 + i * 31) % ITEMS);
        for (size_t i = 0; i < PAST; i++)
            s->past[r][i] = (int32_t)((r * 3 + i * i) % ITEMS);
        s->baskets[r] = (pr_basket){.user = (int32_t)(r % USERS),
                                    .history = {.items = s->past[r], .count = PAST},
                                    .items = s->items[r],
                                    .size = SIZE - r % 2};
    }
}

/* Loss and gradient of one batch; the gradient is the caller's to free. */
static double batch_loss(const char *const *settings, pr_real **gradient, size_t *size)
{
    static small_shop s;
    parsrec_error err;
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    pr_batch_result result;
    pr_config config = pr_config_default();
    const pr_limits limits = {ROWS, SIZE, SIZE, PAST};
    config.dim_user = 8, config.dim_item = 16;
    for (; *settings != NULL; settings++)
        assert_ok(pr_config_assign(&config, *settings, &err));
    fill(&s);
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.3);
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 9, &err));
    pr_batch batch = {.baskets = s.baskets, .rows = ROWS, .number = 2, .in_order = true};
    assert_ok(pr_trainer_gradient(trainer, &batch, &result, &err));
    *size = model->params.shared;
    *gradient = zeros(*size);
    memcpy(*gradient, pr_trainer_gradients(trainer), *size * sizeof **gradient);
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
    return result.loss;
}

/* The correction makes drawn items stand for all: with very many the loss and its gradient are those of
 * the catalogue, under the same masks and with every part of the score. */
static void many_draws_are_the_catalogue(void **state)
{
    (void)state;
    static const char *const variants[][6] = {
        {"loss=ce", NULL},
        {"loss=ce", "unique=on", "bias=on", "pull=on", NULL},
        {"loss=ce", "recall=on", "neighbours=3", "cell=gru", NULL},
        {"loss=ce", "pairs=9", "bias=on", NULL},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *drawn[6] = {"loss=sampled", "negatives=65536"};
        for (size_t k = 1; variants[i][k] != NULL; k++)
            drawn[k + 1] = variants[i][k];
        pr_real *full, *estimate;
        size_t size;
        double loss = batch_loss(variants[i], &full, &size);
        assert_close(batch_loss(drawn, &estimate, &size), loss, 2e-3 * loss);
        assert_all_close(estimate, full, size, 0.05, "gradient");
        free(full), free(estimate);
    }
}

/* The best item left is placed unless something drawn scores more; scores are those of the masked table. */
static void the_best_left_is_placed_or_none(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model;
    pr_arena arena;
    pr_arnn_drawn d;
    small_shop *s = calloc(1, sizeof *s);
    pr_config config = pr_config_default();
    config.dim_user = 8, config.dim_item = 16, config.loss = PR_LOSS_SAMPLED, config.negatives = 12;
    fill(s);
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    pr_real *table = numbers(ITEMS * 16, 1, 3), *o = numbers(ROWS * 16, 2, 4);
    uint8_t *keep = malloc(ITEMS * 2);
    int32_t left[ROWS * SIZE];
    size_t count[ROWS], placed = 0;
    pr_arnn_teacher teacher = {left, count, SIZE, pr_rng_make(1, 1)};
    for (size_t r = 0; r < ROWS; r++)
        pr_arnn_teacher_begin(&teacher, r, &s->baskets[r]);
    assert_ok(pr_arena_init(&arena, 1 << 20, &err));
    pr_arnn_drawn_take(&d, &arena, model, ROWS);
    pr_batch batch = {.baskets = s->baskets, .rows = ROWS, .number = 5};
    pr_chunk chunk = {.batch = &batch, .seed = 9, .rows = ROWS};
    pr_output out = {.table = table};
    pr_arnn_drawn_begin(&d, &chunk);
    pr_arnn_drawn_scores(&d, o, &out, &teacher, 1, ROWS);
    pr_rng rng = pr_rng_make(9, UINT64_C(0x6F7574707574)); /* as the whole table's mask is drawn */
    pr_drop_draw(keep, &rng, (uint32_t[]){5, 0, 1}, 0, ITEMS * 2, d.drop);
    pr_drop_forward(table, table, keep, d.drop.scale, ITEMS * 16);
    for (size_t r = 0; r < ROWS; r++) {
        double top = -INFINITY, most = -INFINITY;
        int32_t best = -1;
        for (size_t n = 0; n < d.count; n++)
            top = fmax(top, (double)pr_dot(o + r * 16, table + (size_t)d.ids[n] * 16, 16));
        for (size_t i = 0; i < count[r]; i++) {
            double y = (double)pr_dot(o + r * 16, table + (size_t)left[r * SIZE + i] * 16, 16);
            best = y > most ? left[r * SIZE + i] : best;
            most = fmax(most, y);
        }
        if (fabs(most - top) > 1e-4 || most == top)
            assert_int_equal(d.winner[r], most >= top ? best : -1);
        placed += d.winner[r] >= 0;
    }
    assert_true(placed > 5 && placed < ROWS - 5); /* or nothing was seen */
    pr_arena_free(&arena);
    pr_model_free(model);
    free(s), free(table), free(o), free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampled_loss_is_its_definition),
        cmocka_unit_test(pairwise_loss_is_its_definition),
        cmocka_unit_test(many_draws_are_the_catalogue),
        cmocka_unit_test(the_best_left_is_placed_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
