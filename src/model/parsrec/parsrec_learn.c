/* A chunk of baskets: all steps forward with their losses, then back through time. */
#include <string.h>

#include "math/embedding.h"
#include "math/linear.h"
#include "model/history.h"
#include "model/parsrec/parsrec_chunk.h"

static const pr_basket *basket_of(const pr_arnn_run *run, size_t r)
{
    return &run->chunk->batch->baskets[run->chunk->order[r]];
}

/* Rows come longest basket first, so the rows of every step are a prefix of those before. */
static void plan_steps(pr_arnn_run *run)
{
    size_t at = 0, rows = run->chunk->rows;
    for (size_t j = 0; j <= run->steps; j++) {
        while (rows > 0 && (j == run->steps || basket_of(run, rows - 1)->size <= j))
            rows--;
        run->rows[j] = rows;
        run->first[j] = at;
        at += rows;
    }
    run->rows[run->steps + 1] = 0;
    run->first[run->steps + 1] = at;
}

static void drop_row(pr_arnn_drop *drop, pr_real *x, size_t row, const uint32_t place[3], size_t n)
{
    if (drop->keep == NULL)
        return;
    uint8_t *keep = drop->keep + row * drop->bytes;
    pr_drop_draw(keep, &drop->rng, place, 0, drop->bytes, drop->how);
    pr_drop_forward(x, x, keep, drop->how.scale, n);
}

/* Puts the mask of `rows` rows from `first` on over gradients. */
static void drop_rows_backward(const pr_arnn_drop *drop, pr_real *dx, size_t rows, size_t n)
{
    for (size_t r = 0; drop->keep != NULL && r < rows; r++)
        pr_drop_forward(dx + r * n, dx + r * n, drop->keep + r * drop->bytes, drop->how.scale, n);
}

static int32_t user_row(const pr_arnn_run *run, size_t r, const pr_rng *rng)
{
    int32_t anyone = (int32_t)run->net.d.users, user = basket_of(run, r)->user;
    pr_bits bits = pr_rng_at(rng, run->chunk->batch->number, run->chunk->order[r], 0, 0);
    return user < 0 || pr_unit32(bits.word[0]) < run->config->anyone ? anyone : user;
}

/* Some baskets keep to themselves what is known of them, so that models can do without: half of those that
 * hide their user, and as many sessions as there are such. */
static pr_known_features about_of(const pr_arnn_run *run, size_t r, const pr_rng *rng)
{
    pr_known_features about = basket_of(run, r)->features;
    pr_bits bits = pr_rng_at(rng, run->chunk->batch->number, run->chunk->order[r], 0, 0);
    if (pr_unit32(bits.word[0]) < run->config->anyone / 2)
        about.user = (pr_feature_row){0};
    if (pr_unit32(bits.word[1]) < run->config->anyone)
        about.session = (pr_feature_row){0};
    return about;
}

static void begin_users(pr_arnn_run *run)
{
    size_t R = run->chunk->rows, du = run->net.d.du;
    pr_rng rng = pr_rng_make(run->chunk->seed, UINT64_C(0x616E796F6E65)); /* "anyone" */
    for (size_t r = 0; r < R; r++) {
        run->users[r] = user_row(run, r, &rng);
        pr_known_features about = about_of(run, r, &rng);
        pr_arnn_about_read(&run->net, r, &about);
    }
    pr_embedding_forward(run->net.t.u, run->net.w.user, run->users, R, du);
    for (size_t r = 0; r < R; r++) {
        uint32_t place[3] = {run->chunk->batch->number, run->chunk->order[r], 0};
        drop_row(&run->drop_user, run->net.t.u + r * du, r, place, du);
    }
    pr_arnn_user_forward(&run->net, 0, R);
}

/* The first hidden states: history bags, which stand beside each other in dh's memory first. */
static void begin_history(pr_arnn_run *run)
{
    const pr_arnn_dims *d = &run->net.d;
    size_t R = run->chunk->rows, pairs = 0;
    for (size_t r = 0; r < R; r++) {
        run->bag_offsets[r] = pairs;
        pairs += pr_history_bag(run->bag_items + pairs, run->bag_weights + pairs, run->slots,
                                &basket_of(run, r)->history, run->config);
    }
    run->bag_offsets[R] = pairs;
    run->bags = (pr_bags){run->bag_items, run->bag_weights, run->bag_offsets};
    pr_real *h = run->net.t.dh;
    pr_bag_forward(h, run->net.w.item, &run->bags, run->softmax.score, R, d->items, d->dv);
    if (d->inputs->count > 0) {
        pr_arnn_about_forward(&run->net, R);
        pr_add(h, run->net.t.about, R * d->dv);
    }
    for (size_t r = 0; r < R; r++) {
        uint32_t place[3] = {run->chunk->batch->number, run->chunk->order[r], 0};
        drop_row(&run->drop_history, h + r * d->dv, r, place, d->dv);
        memcpy(run->net.t.z + r * 2 * d->dv, h + r * d->dv, d->dv * sizeof *h);
    }
    run->recalled.near = run->net.w.near;
    for (size_t r = 0; d->recall && r < R; r++)
        pr_repeats_add(&run->recalled, r, run->slots, &basket_of(run, r)->history,
                       run->config->recall_decay);
    if (d->recall)
        pr_repeats_order(&run->recalled);
    pr_arnn_cell_begin(&run->net, R);
    pr_arnn_parts_begin(&run->net, 0, R);
}

/* What the items placed before step j add to the output, by one item more. */
static void pull(pr_arnn_run *run, size_t j)
{
    size_t dv = run->net.d.dv, first = run->first[j], n = run->rows[j] * dv;
    pr_real *sum = run->net.t.pull + first * dv, fade = run->net.d.fade;
    const pr_real *before = run->net.t.pull + run->first[j - 1] * dv;
    pr_embedding_forward(sum, run->net.w.pull, run->keys + first, run->rows[j], dv);
    for (size_t i = 0; i < n; i++)
        sum[i] += fade * before[i];
}

/* The items placed before step j become keys and values. */
static void place(pr_arnn_run *run, size_t j)
{
    size_t dv = run->net.d.dv, first = run->first[j], rows = run->rows[j];
    pr_embedding_forward(run->net.t.e + first * dv, run->net.w.item, run->keys + first, rows, dv);
    for (size_t r = 0; r < rows; r++) {
        uint32_t where[3] = {run->chunk->batch->number, run->chunk->order[r], (uint32_t)j};
        drop_row(&run->drop_keys, run->net.t.e + (first + r) * dv, first + r, where, dv);
    }
    pr_arnn_place_forward(&run->net, first, rows, j > 0);
    if (run->net.d.follow)
        pr_embedding_forward(run->net.t.follow + first * dv, run->net.w.follow, run->keys + first,
                             rows, dv);
    if (run->net.d.pull && j > 0)
        pull(run, j);
}

/* At step 0 the only key is the start of the basket; later the placed items without it. */
static pr_arnn_step step_of(const pr_arnn_run *run, size_t j)
{
    size_t stride = 2 * run->net.d.dv;
    return (pr_arnn_step){
        .first = run->first[j],
        .rows = run->rows[j],
        .at = j == 0 ? run->first : run->first + 1,
        .stride = 1,
        .keys = j == 0 ? 1 : j,
        .query = j > 1,
        .hidden = run->net.t.z + run->first[j + 1] * stride,
        .hidden_stride = stride,
        .hidden_rows = run->rows[j + 1],
        .memory = run->net.t.memory != NULL ? run->net.t.memory + run->first[j + 1] * run->net.d.dv
                                            : NULL,
    };
}

static void choose_targets(pr_arnn_run *run, size_t j)
{
    const pr_batch *batch = run->chunk->batch;
    pr_teacher_choice how = batch->in_order     ? PR_CHOOSE_FIRST
                            : run->net.d.follow ? PR_CHOOSE_WINNER_OR_FIRST
                                                : PR_CHOOSE_WINNER_OR_ANY;
    const int32_t *winner =
        run->config->loss == PR_LOSS_CE ? run->softmax.winner : run->drawn.winner;
    for (size_t r = 0; r < run->rows[j]; r++) {
        uint32_t where[3] = {batch->number, run->chunk->order[r], (uint32_t)j};
        run->target[r] = pr_arnn_teacher_choose(&run->teacher, r, winner[r], how, where);
        if (r < run->rows[j + 1])
            run->keys[run->first[j + 1] + r] = run->target[r];
    }
}

static pr_output output_of(const pr_arnn_run *run, const pr_model *model, size_t j)
{
    size_t bytes = pr_arnn_mask_bytes(model);
    pr_output out = {.table = run->net.w.item,
                     .keep = bytes > 0 ? run->chunk->masks + j * bytes : NULL,
                     .scale = run->drop_output.scale,
                     .bias = run->net.w.bias,
                     .extra = run->net.d.recall ? &run->recalled.extra : NULL,
                     .dense = run->net.d.neighbours > 0 ? &run->recalled.dense : NULL};
    if (run->config->unique)
        out.taken = (pr_taken){run->keys, run->first + 1, j};
    return out;
}

/* Of a step's targets, with the gradients of outputs and item table. */
static double loss_of(pr_arnn_run *run, pr_real *do_, const pr_real *o, const pr_output *out,
                      pr_real factor, size_t rows)
{
    const pr_arnn_view *g = &run->net.g;
    if (run->config->loss != PR_LOSS_CE)
        return pr_arnn_drawn_gradient(do_, g->item, g->bias, &run->drawn, o, out, run->target,
                                      factor, rows);
    return pr_softmax_gradient(do_, g->item, g->bias, &run->softmax, o, out, run->target, factor,
                               rows, run->net.d.items, run->net.d.dv);
}

/* Scores, targets, loss and the gradients of outputs and item table, all of step j. */
static void score_step(pr_arnn_run *run, const pr_model *model, size_t j)
{
    const pr_arnn_dims *d = &run->net.d;
    const pr_batch *batch = run->chunk->batch;
    size_t rows = run->rows[j], at = run->first[j] * d->dv;
    double factor =
        batch->step_weight != NULL ? (double)batch->step_weight[j] : 1 / (double)batch->rows;
    pr_output out = output_of(run, model, j);
    const pr_real *o = run->net.t.o + at;
    size_t gates = run->first[j] * PR_GATES;
    if (d->recall)
        pr_repeats_values(&run->recalled, run->net.t.gate + gates, rows);
    if (run->config->loss == PR_LOSS_CE)
        pr_softmax_scores(&run->softmax, o, &out, rows, d->items, d->dv);
    else
        pr_arnn_drawn_scores(&run->drawn, o, &out, &run->teacher, j, rows);
    pr_chunk_mark(run->chunk, PR_PART_SCORES);
    choose_targets(run, j);
    double loss = loss_of(run, run->net.t.do_ + at, o, &out, (pr_real)factor, rows);
    if (d->recall)
        pr_repeats_backward(&run->recalled, run->net.t.dgate + gates, rows);
    pr_chunk_mark(run->chunk, PR_PART_LOSS);
    pr_chunk_add_loss(run->chunk, loss, factor, rows);
}

static void begin_teacher(pr_arnn_run *run, size_t r)
{
    const pr_batch *batch = run->chunk->batch;
    uint32_t where[3] = {batch->number, run->chunk->order[r], UINT32_MAX};
    pr_arnn_teacher_begin(&run->teacher, r, basket_of(run, r));
    if (run->config->unique && !batch->in_order)
        pr_arnn_teacher_cut(&run->teacher, r, run->steps, run->net.d.follow, where);
}

static void forward(pr_arnn_run *run, const pr_model *model)
{
    begin_users(run);
    begin_history(run);
    for (size_t r = 0; r < run->chunk->rows; r++) {
        run->keys[r] = (int32_t)run->net.d.items; /* the row of the basket's start */
        begin_teacher(run, r);
    }
    pr_chunk_mark(run->chunk, PR_PART_BEGIN);
    for (size_t j = 0; j < run->steps; j++) {
        pr_arnn_step s = step_of(run, j);
        place(run, j);
        pr_arnn_step_forward(&run->net, &s);
        pr_chunk_mark(run->chunk, PR_PART_FORWARD);
        score_step(run, model, j);
    }
}

static void backward(pr_arnn_run *run)
{
    const pr_arnn_dims *d = &run->net.d;
    pr_arnn_tape *t = &run->net.t;
    size_t R = run->chunk->rows, du = d->du;
    for (size_t j = run->steps; j-- > 0;) {
        pr_arnn_step s = step_of(run, j);
        pr_arnn_step_backward(&run->net, &s);
    }
    pr_arnn_cell_end(&run->net);
    bool asked = run->steps > 2; /* else no row ever had two keys to choose from */
    pr_arnn_maps_backward(&run->net, asked ? run->first[1] : t->T, asked ? run->first[2] : t->T);
    drop_rows_backward(&run->drop_keys, t->de, t->T, d->dv);
    pr_embedding_backward(run->net.g.item, t->de, run->keys, t->T, d->dv);
    if (d->follow)
        pr_embedding_backward(run->net.g.follow, t->do_, run->keys, t->T, d->dv);
    if (d->pull)
        pr_embedding_backward(run->net.g.pull, t->dpull + R * d->dv, run->keys + R, t->T - R,
                              d->dv);
    pr_chunk_mark(run->chunk, PR_PART_BACKWARD);
    drop_rows_backward(&run->drop_history, t->dh, R, d->dv);
    if (d->inputs->count > 0)
        pr_arnn_about_backward(&run->net, t->dh, R);
    pr_bag_backward(run->net.g.item, t->dh, &run->bags, run->softmax.score, R, d->items, d->dv);
    drop_rows_backward(&run->drop_user, t->du, R, du);
    for (size_t r = 0; r < R; r++) {
        size_t row = run->chunk->order[r];
        run->chunk->users[row] = run->users[r];
        memcpy(run->chunk->user_gradient + row * du, t->du + r * du, du * sizeof *t->du);
    }
    pr_chunk_mark(run->chunk, PR_PART_BEGIN);
}

/* The sizes this chunk really has. */
static pr_limits limits_of(const pr_chunk *chunk)
{
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    for (size_t r = 0; r < chunk->rows; r++) {
        const pr_basket *b = &chunk->batch->baskets[chunk->order[r]];
        limits.basket = b->size > limits.basket ? b->size : limits.basket;
        limits.history = b->history.count > limits.history ? b->history.count : limits.history;
    }
    if (limits.steps > limits.basket)
        limits.steps = limits.basket;
    return limits;
}

void pr_arnn_learn(const pr_model *model, pr_chunk *chunk)
{
    pr_arnn_run run;
    pr_limits limits = limits_of(chunk);
    pr_arnn_run_take(&run, chunk->arena, model, &limits);
    run.chunk = chunk;
    run.net.w = pr_arnn_view_of(model, model->weights);
    run.net.g = pr_arnn_view_of(model, chunk->gradient);
    run.drop_user.rng = pr_rng_make(chunk->seed, UINT64_C(0x75736572));          /* "user" */
    run.drop_history.rng = pr_rng_make(chunk->seed, UINT64_C(0x686973746F7279)); /* "history" */
    run.drop_keys.rng = pr_rng_make(chunk->seed, UINT64_C(0x6B657973));          /* "keys" */
    run.teacher.rng = pr_rng_make(chunk->seed, UINT64_C(0x74656163686572));      /* "teacher" */
    run.drop_output = pr_drop_make(model->config.dropout_output_rate);
    if (model->config.loss != PR_LOSS_CE)
        pr_arnn_drawn_begin(&run.drawn, chunk);
    plan_steps(&run);
    pr_arnn_tape_take(&run.net.t, chunk->arena, &run.net.d, run.first[run.steps], chunk->rows,
                      run.steps);
    pr_arnn_tape_take_backward(&run.net.t, chunk->arena, &run.net.d);
    forward(&run, model);
    memset(run.net.t.dh, 0, chunk->rows * run.net.d.dv * sizeof(pr_real));
    backward(&run);
}
