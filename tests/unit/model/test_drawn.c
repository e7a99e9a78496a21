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

static void a_part_of_a_softmax_is_its_definition(void **state)
{
    (void)state;
    pr_real *score = barred_scores(), *t = numbers(B, 6, 6), *more = numbers(DRAWN, 2, 7);
    pr_real *shares = barred_scores(), *top = numbers(B, 6, 6), sum[B], by[B];
    pr_drawn_exponentials(shares, top, sum, more, DRAWN, B);
    for (size_t r = 0; r < B; r++) {
        double most = (double)t[r], all = 0;
        for (size_t n = 0; n < DRAWN; n++)
            most = fmax(most, (double)(score[n * B + r] + more[n]));
        assert_close(top[r], most, 0);
        for (size_t n = 0; n < DRAWN; n++) {
            double e = exp((double)score[n * B + r] + (double)more[n] - most);
            assert_close(shares[n * B + r], e, near_enough);
            all += e;
        }
        assert_close(sum[r], all, 1e-5 * (1 + all));
        by[r] = (pr_real)r;
    }
    pr_real *scaled = zeros(DRAWN * B);
    memcpy(scaled, shares, DRAWN * B * sizeof *scaled);
    pr_drawn_scale(scaled, by, DRAWN, B);
    for (size_t i = 0; i < DRAWN * B; i++)
        assert_close(scaled[i], (double)shares[i] * (double)(i % B), near_enough);
    free(score), free(t), free(more), free(shares), free(top), free(scaled);
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
    const pr_limits limits = {ROWS, SIZE, SIZE, PAST, 0};
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
    *gradient = zeros(model->params.size);
    pr_trainer_copy_gradient(trainer, *gradient);
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
    /* One mask serves a batch where items are drawn. */
    static const char *const variants[][8] = {
        {"loss=ce", "dropout.output=batch", NULL},
        {"loss=ce", "dropout.output=batch", "unique=on", "bias=on", "pull=on", "order=stored",
         NULL},
        {"loss=ce", "dropout.output=batch", "recall=on", "neighbours=3", "cell=gru", NULL},
        {"loss=ce", "dropout.output=none", "pairs=9", "bias=on", NULL},
        {"loss=ce", "dropout.output=batch", "targets.soft=0.5", "recall=on", "unique=on", NULL},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *drawn[9] = {"loss=sampled", "negatives=65536"};
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

/* A chunk of the shop with everything that scores need but the network. */
typedef struct drawn_case {
    small_shop *shop;
    pr_model *model;
    pr_arena arena;
    pr_batch batch;
    uint32_t order[ROWS];
    pr_chunk chunk;
    int32_t ids[2][ITEMS + 1], slots[2][ITEMS + 1];
    pr_arnn_local local;
    pr_arnn_teacher teacher;
    pr_arnn_drawn drawn;
} drawn_case;

static drawn_case *open_case(void)
{
    parsrec_error err;
    drawn_case *c = calloc(1, sizeof *c);
    c->shop = calloc(1, sizeof *c->shop);
    pr_config config = pr_config_default();
    pr_limits limits = {ROWS, SIZE, SIZE, PAST, 0};
    config.dim_user = 8, config.dim_item = 16, config.loss = PR_LOSS_SAMPLED, config.negatives = 12;
    fill(c->shop);
    assert_ok(pr_model_new(&c->model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(c->model, 0.5);
    assert_ok(pr_arena_init(&c->arena, 1 << 22, &err));
    c->batch = (pr_batch){.baskets = c->shop->baskets, .rows = ROWS, .number = 5};
    c->chunk = (pr_chunk){.batch = &c->batch, .seed = 9, .rows = ROWS, .order = c->order};
    for (uint32_t r = 0; r < ROWS; r++)
        c->order[r] = r;
    for (size_t g = 0; g < PR_ITEM_GROUPS; g++) {
        c->chunk.slots[g] = c->slots[g];
        c->chunk.item_rows[g] = (pr_item_rows){.ids = c->ids[g], .most = ITEMS + 1};
        c->chunk.item_rows[g].values[0] = zeros((ITEMS + 1) * 16);
    }
    pr_arnn_local_take(&c->local, &c->arena, c->model, &limits);
    pr_arnn_teacher_take(&c->teacher, &c->arena, ROWS, SIZE);
    pr_arnn_drawn_take(&c->drawn, &c->arena, c->model, &limits);
    for (size_t r = 0; r < ROWS; r++)
        pr_arnn_teacher_begin(&c->teacher, r, &c->shop->baskets[r]);
    pr_arnn_local_begin(&c->local, c->model, &c->chunk, &(pr_near){0});
    pr_arnn_drawn_begin(&c->drawn, &c->chunk, &c->local, NULL, &(pr_near){0}, &c->teacher);
    return c;
}

static void close_case(drawn_case *c)
{
    pr_arnn_local_end(&c->local);
    for (size_t v = 0; v <= ITEMS; v++)
        assert_int_equal(c->slots[0][v], 0);
    for (size_t g = 0; g < PR_ITEM_GROUPS; g++)
        free(c->chunk.item_rows[g].values[0]);
    pr_arena_free(&c->arena);
    pr_model_free(c->model);
    free(c->shop), free(c);
}

/* The best item left is placed unless something drawn scores more; scores are those of the masked table. */
static void the_best_left_is_placed_or_none(void **state)
{
    (void)state;
    drawn_case *c = open_case();
    pr_real *o = numbers(ROWS * 16, 2, 4), *table = zeros(ITEMS * 16);
    uint8_t *keep = malloc(ITEMS * 2);
    size_t placed = 0;
    pr_arnn_drawn_scores(&c->drawn, o, &(pr_output){0}, ROWS);
    pr_rng rng = pr_rng_make(9, UINT64_C(0x6F7574707574)); /* as the whole table's mask is drawn */
    pr_drop_draw(keep, &rng, (uint32_t[]){5, 0, 0}, 0, ITEMS * 2, c->local.drop);
    pr_drop_forward(table, pr_model_reals(c->model, "item_emb"), keep, c->local.drop.scale,
                    ITEMS * 16);
    for (size_t r = 0; r < ROWS; r++) {
        double top = -INFINITY, most = -INFINITY;
        int32_t best = -1;
        for (size_t i = 0; i < c->teacher.count[r]; i++) {
            int32_t item = c->teacher.left[r * SIZE + i];
            double y = (double)pr_dot(o + r * 16, table + (size_t)item * 16, 16);
            best = y > most ? item : best;
            most = fmax(most, y);
        }
        for (size_t n = 0; n < c->local.drawn; n++)
            top = fmax(top, (double)pr_dot(o + r * 16, table + (size_t)c->local.ids[n] * 16, 16));
        if (fabs(most - top) > 1e-4 || most == top)
            assert_int_equal(c->drawn.winner[r], most >= top ? best : -1);
        placed += c->drawn.winner[r] >= 0;
    }
    assert_true(placed > 5 && placed < ROWS - 5); /* or nothing was seen */
    free(o), free(table), free(keep);
    close_case(c);
}

/* Every item that a chunk needs is there once, drawn ones first, and only those of baskets are placed. */
static void a_chunk_lists_its_items_once(void **state)
{
    (void)state;
    drawn_case *c = open_case();
    bool here[ITEMS + 1] = {false}, wanted[ITEMS + 1] = {[ITEMS] = true};
    for (size_t i = 0; i < c->local.count; i++) {
        assert_false(here[c->local.ids[i]]);
        here[c->local.ids[i]] = true;
        if (i < c->local.drawn)
            wanted[c->local.ids[i]] = true;
    }
    for (size_t r = 0; r < ROWS; r++) {
        const pr_basket *b = &c->shop->baskets[r];
        for (size_t i = 0; i < b->size; i++) {
            int32_t row = pr_arnn_local_row(&c->local, b->items[i]);
            assert_int_equal(c->ids[PR_ITEMS_PLACED][c->local.place[row]], b->items[i]);
            wanted[b->items[i]] = true;
        }
        for (size_t i = 0; i < b->history.count; i++)
            wanted[b->history.items[i]] = true;
    }
    assert_memory_equal(here, wanted, sizeof here);
    close_case(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_softmax_is_its_definition),
        cmocka_unit_test(pairwise_loss_is_its_definition),
        cmocka_unit_test(many_draws_are_the_catalogue),
        cmocka_unit_test(the_best_left_is_placed_or_none),
        cmocka_unit_test(a_chunk_lists_its_items_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
