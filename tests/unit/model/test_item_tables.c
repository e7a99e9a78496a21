/* Gradients as items and rows: joined as a dense sum would be, updated as dense rows are, decayed in
 * turns; and items that are drawn as often as they should be. */
#include "support/shaken.h"

#include "model/item_tables.h"
#include "model/proposal.h"

enum { USERS = 3, ITEMS = 5000, WIDTH = 4, CHUNKS = 2, HAVE = 6 };

/* Items of two chunks; 7, 100 and the start of a basket are in both. */
static const int32_t have[CHUNKS][HAVE] = {{7, 4999, 12, ITEMS, 3, 100},
                                           {100, 7, 2, 4100, ITEMS, 8}};

typedef struct sparse_case {
    pr_model *model;
    pr_pool *pool;
    pr_item_tables *tables;
    pr_chunk chunks[CHUNKS];
    pr_real *dense, *moment[2];
} sparse_case;

static void fill_chunk(sparse_case *c, size_t chunk)
{
    const char *const names[] = {"item_emb", "bias"};
    pr_item_rows *rows = &c->chunks[chunk].item_rows[PR_ITEMS_SCORED];
    assert_true(rows->most >= HAVE);
    rows->count = HAVE;
    memcpy(rows->ids, have[chunk], sizeof have[chunk]);
    for (size_t k = 0; k < 2; k++) {
        const pr_param *p = pr_params_find(&c->model->params, names[k]);
        size_t width = pr_param_item_width(p);
        pr_real *g = numbers(HAVE * width, 1, (uint32_t)(1 + chunk + 2 * k));
        for (size_t i = 0; i < HAVE; i++)
            for (size_t j = 0; j < width; j++) {
                bool known = (size_t)have[chunk][i] < pr_param_size(p) / width;
                rows->values[k][i * width + j] = known ? g[i * width + j] : 0;
                if (known)
                    c->dense[p->at + (size_t)have[chunk][i] * width + j] += g[i * width + j];
            }
        free(g);
    }
}

static void open_case(sparse_case *c)
{
    static const int32_t items[3] = {1, 2, 3};
    static const uint32_t order[CHUNKS] = {0, 1};
    static pr_basket baskets[CHUNKS];
    parsrec_error err;
    pr_config config = pr_config_default();
    pr_limits limits = {CHUNKS, 3, 3, 3, 0};
    *c = (sparse_case){0};
    config.dim_user = WIDTH, config.dim_item = WIDTH, config.loss = PR_LOSS_SAMPLED,
    config.bias = 1;
    config.weight_decay = 0.5;
    assert_ok(pr_model_new(&c->model, "parsrec", &config, USERS, ITEMS, 1, &err));
    assert_ok(pr_pool_new(&c->pool, 2, &err));
    assert_ok(pr_item_tables_new(&c->tables, c->model, c->pool, &limits, CHUNKS, 10, &err));
    c->dense = zeros(c->model->params.size);
    c->moment[0] = zeros(c->model->params.size);
    c->moment[1] = zeros(c->model->params.size);
    for (size_t r = 0; r < CHUNKS; r++) {
        baskets[r] = (pr_basket){.items = items, .size = 3};
        c->chunks[r] = (pr_chunk){.order = &order[r], .rows = 1};
    }
    pr_batch batch = {.baskets = baskets, .rows = CHUNKS};
    pr_item_tables_deal(c->tables, &batch, c->chunks, CHUNKS);
    for (size_t r = 0; r < CHUNKS; r++)
        fill_chunk(c, r);
}

static void close_case(sparse_case *c)
{
    pr_item_tables_free(c->tables);
    pr_pool_free(c->pool);
    pr_model_free(c->model);
    free(c->dense), free(c->moment[0]), free(c->moment[1]);
}

static void chunks_join_to_the_dense_sum(void **state)
{
    (void)state;
    sparse_case c;
    open_case(&c);
    size_t size = c.model->params.size;
    pr_real *found = zeros(size);
    double squares;
    parsrec_error err;
    assert_ok(pr_item_tables_join(c.tables, c.chunks, CHUNKS, &squares, &err));
    pr_item_tables_scatter(c.tables, found);
    assert_memory_equal(found, c.dense, size * sizeof *found);
    assert_close(squares, pr_sum_squares(c.dense, size), 1e-5 * squares);
    free(found);
    close_case(&c);
}

/* ---- the order of sums ---- */

enum { MANY = 7, EACH = 40, RANGE = 60 }; /* chunks, rows of a chunk, items that they have */

/* The row of an item summed over chunks from..to-1 by the definition of the tree; false if none has it. */
static bool tree_sum(pr_real *out, size_t item, size_t from, size_t to, pr_real *const *dense,
                     const bool (*has)[RANGE])
{
    size_t half = 1;
    pr_real right[WIDTH];
    if (from >= MANY)
        return false;
    if (to - from == 1) {
        memcpy(out, dense[from] + item * WIDTH, sizeof right);
        return has[from][item];
    }
    half = (to - from) / 2;
    bool left = tree_sum(out, item, from, from + half, dense, has);
    if (!tree_sum(right, item, from + half, to, dense, has))
        return left;
    for (size_t j = 0; j < WIDTH; j++)
        out[j] = left ? out[j] + right[j] : right[j];
    return true;
}

static void rows_are_added_along_the_tree(void **state)
{
    (void)state;
    static const int32_t basket_items[EACH] = {0};
    static bool has[MANY][RANGE];
    static pr_basket baskets[MANY];
    static uint32_t order[MANY];
    parsrec_error err;
    sparse_case c = {0};
    pr_chunk chunks[MANY];
    pr_real *dense[MANY];
    pr_config config = pr_config_default();
    pr_limits limits = {MANY, EACH, EACH, 0, 0};
    config.dim_user = WIDTH, config.dim_item = WIDTH, config.loss = PR_LOSS_SAMPLED;
    assert_ok(pr_model_new(&c.model, "parsrec", &config, USERS, ITEMS, 1, &err));
    assert_ok(pr_pool_new(&c.pool, 2, &err));
    assert_ok(pr_item_tables_new(&c.tables, c.model, c.pool, &limits, MANY, 10, &err));
    for (uint32_t r = 0; r < MANY; r++) {
        baskets[r] = (pr_basket){.items = basket_items, .size = EACH};
        order[r] = r;
        chunks[r] = (pr_chunk){.order = &order[r], .rows = 1};
    }
    pr_batch batch = {.baskets = baskets, .rows = MANY};
    pr_item_tables_deal(c.tables, &batch, chunks, MANY);
    for (uint32_t r = 0; r < MANY; r++) {
        pr_item_rows *rows = &chunks[r].item_rows[PR_ITEMS_SCORED];
        dense[r] = numbers(RANGE * WIDTH, 1, 50 + r);
        for (size_t i = 0; i < EACH; i++) { /* 7 and 60 have no common divisor: EACH items */
            int32_t item = (int32_t)((r * r + 7 * i) % RANGE);
            has[r][item] = true;
            rows->ids[rows->count++] = item;
            memcpy(rows->values[0] + i * WIDTH, dense[r] + item * WIDTH, WIDTH * sizeof(pr_real));
        }
    }
    double squares;
    assert_ok(pr_item_tables_join(c.tables, chunks, MANY, &squares, &err));
    pr_real *found = zeros(c.model->params.size), right[WIDTH];
    pr_item_tables_scatter(c.tables, found);
    const pr_param *p = pr_params_find(&c.model->params, "item_emb");
    size_t checked = 0;
    for (size_t item = 0; item < RANGE; item++)
        if (tree_sum(right, item, 0, 8, dense, (const bool(*)[RANGE])has)) {
            assert_memory_equal(found + p->at + item * WIDTH, right, sizeof right);
            checked++;
        }
    assert_int_equal(checked, RANGE);
    for (size_t r = 0; r < MANY; r++)
        free(dense[r]);
    free(found);
    close_case(&c);
}

/* Touched rows change as pr_adam_update_row changes them; nothing else changes but what decays. */
static void touched_rows_are_updated_as_dense_ones(void **state)
{
    (void)state;
    sparse_case c;
    open_case(&c);
    size_t size = c.model->params.size;
    pr_adam adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    pr_real *w = zeros(size), *m = zeros(size), *v = zeros(size);
    memcpy(w, c.model->weights, size * sizeof *w);
    double squares;
    parsrec_error err;
    assert_ok(pr_item_tables_join(c.tables, c.chunks, CHUNKS, &squares, &err));
    for (adam.step = 1; adam.step <= 3; adam.step++) {
        pr_item_tables_update(c.tables, c.moment, &adam, (pr_real)0.5);
        for (size_t r = 0; r < CHUNKS; r++)
            for (size_t i = 0; i < HAVE; i++)
                for (size_t k = 0; k < 2; k++) {
                    const pr_param *p =
                        pr_params_find(&c.model->params, k == 0 ? "item_emb" : "bias");
                    size_t width = pr_param_item_width(p), id = (size_t)have[r][i];
                    size_t at = p->at + id * width;
                    bool again = r == 1 && (id == 7 || id == 100 || id == ITEMS);
                    if (id < pr_param_size(p) / width && !again)
                        pr_adam_update_row(w + at, m + at, v + at, c.dense + at, &adam,
                                           (pr_real)0.5, width);
                }
    }
    assert_memory_equal(c.model->weights, w, size * sizeof *w);
    assert_memory_equal(c.moment[0], m, size * sizeof *m);
    assert_memory_equal(c.moment[1], v, size * sizeof *v);
    free(w), free(m), free(v);
    close_case(&c);
}

/* After as many updates as a table has turns every row has decayed by the same, biases not at all. */
static void all_rows_decay_alike(void **state)
{
    (void)state;
    sparse_case c;
    open_case(&c);
    size_t turns = (ITEMS + 1 + PR_DECAY_ROWS - 1) / PR_DECAY_ROWS;
    const pr_param *p = pr_params_find(&c.model->params, "item_emb");
    pr_adam adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.5};
    pr_real *before = zeros(c.model->params.size);
    memcpy(before, c.model->weights, c.model->params.size * sizeof *before);
    assert_int_equal(turns, 2);
    for (size_t i = 0; i < turns; i++) { /* nothing was joined, so no row is updated */
        adam.step = 1 + i;
        pr_item_tables_update(c.tables, c.moment, &adam, 1);
    }
    for (size_t i = 0; i < c.model->params.size; i++) {
        bool table = i >= p->at && i < p->at + pr_param_size(p);
        double keep = table ? pow(1 - 0.01 * 0.5, (double)turns) : 1;
        assert_close(c.model->weights[i], (double)before[i] * keep, 1e-7);
    }
    free(before);
    close_case(&c);
}

/* Three items of which the first is bought twice and the last never. */
static void draws_have_their_chances(void **state)
{
    (void)state;
    enum { DRAWS = 60000 };
    int32_t actions[] = {0, 0, 1};
    int64_t sessions[] = {0, 1, 2, 3}, users[] = {0, 1, 2, 3};
    pr_dataset data = {.users = 3,
                       .sessions = 3,
                       .items = 3,
                       .actions = 3,
                       .user_offsets = users,
                       .session_offsets = sessions,
                       .action_items = actions};
    pr_proposal p;
    parsrec_error err;
    assert_ok(pr_proposal_make(&p, &data, 1, 1, &err));
    double chance[3], all = 0;
    size_t count[3] = {0};
    for (int32_t v = 0; v < 3; v++)
        all += chance[v] = pr_proposal_chance(&p, v, 3);
    assert_close(all, 1, 1e-6);
    assert_close(chance[0], 0.5 / 3 + 0.5 * 2 / 3, 1e-6);
    assert_close(chance[2], 0.5 / 3, 1e-6);
    pr_rng rng = pr_rng_make(1, 2);
    pr_stream stream = pr_stream_at(&rng, 0, 0, 0);
    for (size_t i = 0; i < DRAWS; i++)
        count[pr_proposal_draw(&p, &stream, 3)]++;
    for (size_t v = 0; v < 3; v++)
        assert_close((double)count[v] / DRAWS, chance[v], 0.01);
    pr_proposal_free(&p);

    assert_ok(pr_proposal_make(&p, &data, 1, 2, &err)); /* squares, 4 to 1 */
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < DRAWS; i++)
        count[pr_proposal_draw_bought(&p, &stream)]++;
    assert_close((double)count[0] / DRAWS, 0.8, 0.01);
    assert_close((double)count[1] / DRAWS, 0.2, 0.01);
    assert_int_equal(count[2], 0);
    pr_proposal_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_join_to_the_dense_sum),
        cmocka_unit_test(rows_are_added_along_the_tree),
        cmocka_unit_test(touched_rows_are_updated_as_dense_ones),
        cmocka_unit_test(all_rows_decay_alike),
        cmocka_unit_test(draws_have_their_chances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
