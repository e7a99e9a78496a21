/* Outputs, hidden states, attention, losses, gradients and updates against the numbers of the
 * authors' PyTorch module (golden.json). Built in float and in double. */
#include "support/numbers.h"

#include "base/json.h"
#include "math/optimise.h"
#include "model/parsrec/parsrec_net.h"
#include "model/trainer.h"

/* Their vocabulary has 13 rows: start of basket 0, end of basket 1, items from 2, all of them in
 * the softmax. Ours takes all 13 as items and a copy of row 0 as its start row. */
enum { SOB = 0, VOCABULARY = 13, START = 13, USERS = 5, ROWS = 4, STEPS = 4, D = 8 };

static json_t *golden;

#ifdef PR_REAL_DOUBLE
static const double output_tolerance = 1e-12, gradient_tolerance = 1e-11, after_tolerance = 1e-11;
#else
static const double output_tolerance = 1e-5, gradient_tolerance = 1e-4, after_tolerance = 2e-4;
#endif

static json_t *at(const json_t *object, const char *path)
{
    char text[200], *rest = text;
    snprintf(text, sizeof text, "%s", path);
    for (char *key; (key = strtok_r(rest, "/", &rest)) != NULL;) {
        object = json_object_get(object, key);
        if (object == NULL)
            fail_msg("golden.json lacks %s", path);
    }
    return (json_t *)(uintptr_t)object;
}

/* Copies all numbers of nested arrays in order; returns how many. */
static size_t flatten(pr_real *out, const json_t *array)
{
    if (!json_is_array(array)) {
        *out = (pr_real)json_number_value(array);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(array); i++)
        n += flatten(out + n, json_array_get(array, i));
    return n;
}

/* ---- our parameters in their names ---- */

typedef struct piece {
    char theirs[64], ours[32];
    size_t skip, take; /* numbers of theirs to skip, and to take; 0: all that follow */
    size_t offset;     /* in ours */
} piece;

static const piece model_pieces[] = {
    {"i2h.weight", "cell_w", 0, 0, 0},
    {"i2o.weight", "cell_w", 0, 0, D * 3 * D},
    {"i2h.bias", "cell_b", 0, 0, 0},
    {"i2o.bias", "cell_b", 0, 0, D},
    {"emb_l.0.emb.weight", "user_emb", 0, 0, 0},
    {"emb_l.1.emb.weight", "item_emb", 0, 0, 0},
};

/* # stands for the number of the layer. */
static const piece layer_pieces[] = {
    {"att.attention_layernorms.#.weight", "attn.#.norm_gain", 0, 0, 0},
    {"att.attention_layernorms.#.bias", "attn.#.norm_shift", 0, 0, 0},
    {"att.attention_layers.#.q_proj_weight", "attn.#.query_w", 0, 0, 0},
    {"att.attention_layers.#.k_proj_weight", "attn.#.kv_w", 0, 0, 0},
    {"att.attention_layers.#.v_proj_weight", "attn.#.kv_w", 0, 0, 2 * D *D},
    {"att.attention_layers.#.in_proj_bias", "attn.#.query_b", 0, 2 * D, 0},
    {"att.attention_layers.#.in_proj_bias", "attn.#.kv_b", 2 * D, 0, 0},
    {"att.attention_layers.#.out_proj.weight", "attn.#.join_w", 0, 0, 0},
    {"att.attention_layers.#.out_proj.bias", "attn.#.join_b", 0, 0, 0},
    {"att.forward_layers.#.weight", "attn.#.map_w", 0, 0, 0},
    {"att.forward_layers.#.bias", "attn.#.map_b", 0, 0, 0},
};

enum { IN_MODEL = 6, IN_LAYER = 11, MAX_PIECES = IN_MODEL + 2 * IN_LAYER };

static piece numbered(piece p, size_t layer)
{
    *strchr(p.theirs, '#') = (char)('0' + layer);
    *strchr(p.ours, '#') = (char)('0' + layer);
    return p;
}

typedef struct fixture {
    const json_t *its;
    size_t layers;
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    pr_real *gradient; /* of the last batch, with the layout of the weights */
    piece pieces[MAX_PIECES];
    size_t piece_count;
    int32_t history[ROWS][8], items[ROWS][STEPS];
    pr_basket baskets[ROWS];
    size_t sizes[ROWS];
} fixture;

static pr_real *tensor_at(const fixture *f, pr_real *block, const char *name)
{
    const pr_param *p = pr_params_find(&f->model->params, name);
    assert_non_null(p);
    return block + p->at;
}

static void load_weights(fixture *f)
{
    pr_real theirs[1024];
    for (size_t i = 0; i < f->piece_count; i++) {
        const piece *p = &f->pieces[i];
        size_t n = flatten(theirs, json_object_get(at(f->its, "params"), p->theirs));
        size_t take = p->take > 0 ? p->take : n - p->skip;
        memcpy(tensor_at(f, f->model->weights, p->ours) + p->offset, theirs + p->skip,
               take * sizeof *theirs);
    }
    pr_real *item = tensor_at(f, f->model->weights, "item_emb");
    memcpy(item + START * D, item + SOB * D, D * sizeof *item);
}

static size_t load_ids(int32_t *out, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        out[i] = (int32_t)json_integer_value(json_array_get(array, i));
    return json_array_size(array);
}

static void load_baskets(fixture *f)
{
    int32_t users[ROWS];
    load_ids(users, at(f->its, "users"));
    for (size_t r = 0; r < ROWS; r++) {
        size_t history = load_ids(f->history[r], json_array_get(at(f->its, "history"), r));
        load_ids(f->items[r], json_array_get(at(f->its, "target"), r));
        f->sizes[r] = json_array_size(json_array_get(at(f->its, "session"), r));
        f->baskets[r] = (pr_basket){.user = users[r],
                                    .history = {.items = f->history[r], .count = history},
                                    .items = f->items[r],
                                    .size = f->sizes[r]};
    }
}

static fixture *open_case(size_t number)
{
    parsrec_error err;
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->its = json_array_get(at(golden, "cases"), number);
    f->layers = number + 1;
    memcpy(f->pieces, model_pieces, sizeof model_pieces);
    f->piece_count = IN_MODEL;
    for (size_t l = 0; l < f->layers; l++)
        for (size_t i = 0; i < IN_LAYER; i++)
            f->pieces[f->piece_count++] = numbered(layer_pieces[i], l);
    pr_config c = pr_config_default();
    c.dim_user = c.dim_item = D;
    c.layers = (int)f->layers;
    c.dropout_user = c.dropout_history = c.dropout_keys = c.anyone = 0;
    c.dropout_output = PR_DROP_NONE;
    assert_ok(pr_model_new(&f->model, "parsrec", &c, USERS, VOCABULARY, 1, &err));
    assert_ok(pr_pool_new(&f->pool, 1, &err));
    pr_limits limits = {ROWS, STEPS, STEPS, 8, 0};
    assert_ok(pr_trainer_new(&f->trainer, f->model, f->pool, &limits, 1, &err));
    f->gradient = calloc(f->model->params.size, sizeof *f->gradient);
    assert_non_null(f->gradient);
    load_weights(f);
    load_baskets(f);
    return f;
}

static void close_case(fixture *f)
{
    pr_trainer_free(f->trainer);
    pr_pool_free(f->pool);
    pr_model_free(f->model);
    free(f->gradient);
    free(f);
}

/* ---- forward ---- */

static void assert_row(const pr_real *actual, const json_t *step, const char *name, size_t row,
                       size_t n)
{
    pr_real expected[32];
    assert_int_equal(flatten(expected, json_array_get(json_object_get(step, name), row)), n);
    for (size_t i = 0; i < n; i++)
        assert_close((double)actual[i], (double)expected[i], output_tolerance);
}

static void assert_attention(pr_scorer *s, const fixture *f, const json_t *step, size_t row)
{
    pr_real actual[STEPS], expected[STEPS];
    size_t n = pr_scorer_attention(s, row, actual);
    const json_t *layers = at(step, "attention_weights_mean_over_heads");
    flatten(expected, json_array_get(json_array_get(layers, f->layers - 1), row));
    for (size_t p = 0; p < n; p++)
        assert_close((double)actual[p], (double)expected[p], output_tolerance);
}

static void assert_step(fixture *f, pr_scorer *s, size_t j)
{
    const json_t *step = json_array_get(at(f->its, "eval_mode/steps"), j);
    pr_real scores[ROWS * VOCABULARY];
    pr_scorer_score_all(s, scores);
    for (size_t r = 0; r < ROWS; r++) {
        if (j >= f->sizes[r])
            continue;
        const pr_real *o, *hidden;
        pr_arnn_peek(s, r, &o, &hidden);
        assert_row(o, step, "output", r, D);
        assert_row(hidden, step, "hidden_next", r, D);
        assert_row(scores + r * VOCABULARY, step, "logits", r, VOCABULARY);
        assert_attention(s, f, step, r);
    }
}

static void outputs_match(void **state)
{
    (void)state;
    for (size_t number = 0; number < 2; number++) {
        fixture *f = open_case(number);
        parsrec_error err;
        pr_scorer *s;
        pr_start starts[ROWS];
        for (size_t r = 0; r < ROWS; r++)
            starts[r] = (pr_start){.user = f->baskets[r].user, .history = f->baskets[r].history};
        assert_ok(pr_scorer_new(&s, f->model, ROWS, STEPS, &err));
        pr_scorer_start(s, starts, ROWS);
        for (size_t j = 0; j < STEPS; j++) {
            int32_t next[ROWS];
            for (size_t r = 0; r < ROWS; r++)
                next[r] = j + 1 < f->sizes[r] ? f->items[r][j] : -1;
            assert_step(f, s, j);
            pr_scorer_place(s, next);
        }
        pr_scorer_free(s);
        close_case(f);
    }
}

/* ---- gradients ---- */

/* The copy of the start row hands its gradient to the original. */
static void tie_start(fixture *f)
{
    pr_real *item = tensor_at(f, f->gradient, "item_emb");
    for (size_t i = 0; i < D; i++) {
        item[SOB * D + i] += item[START * D + i];
        item[START * D + i] = item[SOB * D + i];
    }
}

static void assert_pieces(fixture *f, pr_real *block, const json_t *expected, double tolerance,
                          bool keys_bias)
{
    pr_real theirs[1024];
    for (size_t i = 0; i < f->piece_count; i++) {
        const piece *p = &f->pieces[i];
        size_t n = flatten(theirs, json_object_get(expected, p->theirs));
        size_t take = p->take > 0 ? p->take : n - p->skip;
        const pr_real *ours = tensor_at(f, block, p->ours) + p->offset;
        size_t skip = !keys_bias && strstr(p->ours, "kv_b") != NULL ? 2 * D : 0;
        double top = 0;
        for (size_t k = 0; k < n; k++)
            top = fmax(top, fabs((double)theirs[k]));
        for (size_t k = skip; k < take; k++)
            if (!(fabs((double)ours[k] - (double)theirs[p->skip + k]) <= tolerance * top))
                fail_msg("%s[%zu] = %.9g, expected %.9g", p->theirs, p->skip + k, (double)ours[k],
                         (double)theirs[p->skip + k]);
    }
}

static const char *const losses[] = {"ref_eob_included", "eob_ignored_mean_valid",
                                     "eob_ignored_mean_batch"};

/* The gradient under a loss of theirs: 0 counts the ends of baskets as items, 1 divides by the
 * valid rows of a step, 2 by all rows (ours). */
static double gradient_under(fixture *f, size_t kind)
{
    parsrec_error err;
    float weight[STEPS] = {0};
    for (size_t r = 0; r < ROWS; r++) {
        f->baskets[r].size = kind == 0 ? STEPS : f->sizes[r];
        for (size_t j = 0; j < f->sizes[r]; j++)
            weight[j] += 1;
    }
    for (size_t j = 0; j < STEPS; j++)
        weight[j] = 1 / weight[j];
    pr_batch batch = {f->baskets, ROWS, 1, true, kind == 1 ? weight : NULL};
    pr_batch_result result;
    assert_ok(pr_trainer_gradient(f->trainer, &batch, &result, &err));
    pr_trainer_copy_gradient(f->trainer, f->gradient);
    tie_start(f);
    return result.loss;
}

/* Step weights are float in both builds: a third is not exact. */
static double looseness(size_t kind)
{
    return kind == 1 ? 1e-7 : 0;
}

static void assert_gradients(fixture *f, size_t kind)
{
    double loss = gradient_under(f, kind), loose = looseness(kind);
    const json_t *theirs = at(f->its, "train_dropout0");
    double expected = json_number_value(json_object_get(at(theirs, "loss"), losses[kind]));
    assert_close(loss, expected, (output_tolerance + loose) * expected);
    assert_pieces(f, f->gradient, json_object_get(at(theirs, "grad"), losses[kind]),
                  gradient_tolerance + loose, true);
}

static void gradients_match_under_three_losses(void **state)
{
    (void)state;
    for (size_t number = 0; number < 2; number++)
        for (size_t kind = 0; kind < 3; kind++) {
            fixture *f = open_case(number);
            assert_gradients(f, kind);
            close_case(f);
        }
}

/* ---- optimiser ---- */

/* Their clipping counts the embeddings' gradients but does not scale them. */
static void update_as_theirs(fixture *f, uint64_t step, double squares, double clip)
{
    pr_adam adam = {1e-3, 0.9, 0.999, 1e-8, step, 0};
    pr_real factor = pr_clip_factor(squares, clip);
    const int32_t *users;
    size_t touched = pr_trainer_touched(f->trainer, &users);
    for (size_t i = 0; i < f->model->params.count; i++) {
        const pr_param *p = &f->model->params.list[i];
        pr_real *w = f->model->weights + p->at, *g = f->gradient + p->at;
        pr_real *m = pr_trainer_moment(f->trainer, 0) + p->at;
        pr_real *v = pr_trainer_moment(f->trainer, 1) + p->at;
        if (!p->lazy)
            pr_adam_update(w, m, v, g, &adam, factor, pr_param_size(p));
        else if (strcmp(p->name, "item_emb") == 0)
            pr_adam_update_row(w, m, v, g, &adam, 1, pr_param_size(p));
        else
            for (size_t k = 0; k < touched; k++) {
                size_t row = (size_t)users[k] * p->cols;
                pr_adam_update_row(w + row, m + row, v + row, g + row, &adam, 1, p->cols);
            }
    }
}

static double squares_without_copy(fixture *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->model->params.count; i++) {
        const pr_param *p = &f->model->params.list[i];
        size_t n = pr_param_size(p) - (strcmp(p->name, "item_emb") == 0 ? D : 0);
        sum += pr_sum_squares(f->gradient + p->at, n);
    }
    return sum;
}

static void assert_iteration(fixture *f, size_t kind, const json_t *iteration, uint64_t step,
                             double clip)
{
    double tolerance = after_tolerance + looseness(kind);
    double loss = json_number_value(at(iteration, "loss"));
    assert_close(gradient_under(f, kind), loss, tolerance * loss);
    double squares = squares_without_copy(f);
    double norm = json_number_value(at(iteration, "grad_norm_before_clip"));
    assert_close(sqrt(squares), norm, tolerance * norm);
    update_as_theirs(f, step, squares, clip);
}

static void assert_run(fixture *f, const json_t *run)
{
    size_t kind = 0;
    while (strcmp(losses[kind], json_string_value(at(run, "loss"))) != 0)
        kind++;
    for (size_t i = 0; i < 4; i++)
        assert_iteration(f, kind, json_array_get(at(run, "iterations"), i), i + 1,
                         json_number_value(at(run, "clip")));
    /* The gradient of the keys' bias is zero in theory: in float Adam scales its noise up. */
    bool keys_bias = sizeof(pr_real) == sizeof(double);
    assert_pieces(f, f->model->weights, at(run, "params_after"), after_tolerance + looseness(kind),
                  keys_bias);
}

static void updates_match(void **state)
{
    (void)state;
    for (size_t number = 0; number < 2; number++)
        for (size_t k = 0; k < 2; k++) {
            fixture *f = open_case(number);
            assert_run(f, json_array_get(at(f->its, "optimiser"), k));
            close_case(f);
        }
}

static json_t *find_golden(void)
{
    const char *shared = getenv("PARSREC_SHARED"), *source = getenv("PARSREC_SOURCE");
    char path[4096];
    if (shared != NULL)
        snprintf(path, sizeof path, "%s/golden/golden.json", shared);
    else
        snprintf(path, sizeof path, "%s/../shared/golden/golden.json", source ? source : ".");
    if (access(path, R_OK) != 0) {
        printf("skipped: %s is not there; set PARSREC_SHARED to the folder above golden/\n", path);
        exit(77);
    }
    parsrec_error err;
    json_t *json;
    if (pr_json_load(&json, path, &err) != PARSREC_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    return json;
}

int main(void)
{
    golden = find_golden();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_match),
        cmocka_unit_test(gradients_match_under_three_losses),
        cmocka_unit_test(updates_match),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
