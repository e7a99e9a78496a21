/* Learning from a chunk of baskets: all steps forward with their losses, then back through time. */
#include <assert.h>
#include <string.h>

#include "math/embedding.h"
#include "math/layers.h"
#include "model/history.h"
#include "model/parsrec/parsrec_learn.h"
#include "model/user_rows.h"

/* ---- memory ---- */

static void take_drop(pr_arnn_drop *drop, pr_arena *arena, double p, size_t rows, size_t width)
{
    *drop = (pr_arnn_drop){.how = pr_drop_make(p), .bytes = pr_drop_bytes(width)};
    if (p > 0)
        drop->keep = pr_arena_take(arena, rows, drop->bytes);
}

static void take_softmax(pr_softmax *s, pr_arena *arena, const pr_arnn_dims *d, size_t R, bool mask)
{
    size_t tiles = pr_tiles(d->items), one = sizeof(pr_real);
    s->score = pr_arena_take(arena, d->items * R, one);
    s->top = pr_arena_take(arena, tiles * R, one);
    s->total = pr_arena_take(arena, tiles * R, one);
    s->best = pr_arena_take(arena, R, one);
    s->winner = pr_arena_take(arena, R, sizeof *s->winner);
    s->tile = pr_arena_take(arena, PR_TILE * d->dv + R, one);
    if (mask)
        s->dropped = pr_arena_take(arena, d->items * d->dv, one);
}

/* Of `entries` pairs. */
static void take_bags(pr_arnn_pass *pass, pr_arena *arena, size_t R, size_t entries)
{
    pass->bag_items = pr_arena_take(arena, entries, sizeof *pass->bag_items);
    pass->bag_weights = pr_arena_take(arena, entries, sizeof *pass->bag_weights);
    pass->bag_offsets = pr_arena_take(arena, R + 1, sizeof *pass->bag_offsets);
}

static void take_pairs(pr_arnn_pass *pass, pr_arena *arena, const pr_arnn_dims *d, size_t R)
{
    pass->pair_baskets = pr_arena_take(arena, R, sizeof *pass->pair_baskets);
    pass->pair_values = pr_arena_take(arena, d->pairs * R, sizeof(pr_real));
    pass->pair_live = pr_arena_take_zero(arena, d->pairs + 1, sizeof *pass->pair_live);
    pass->pair_term = (pr_class_term){
        .live = pass->pair_live,
        .classes = d->pairs,
        .stride = R,
        .values = pass->pair_values,
        .gradients = pr_arena_take(arena, d->pairs * R, sizeof(pr_real)),
    };
}

/* What a loss over the whole catalogue needs ... */
static void take_whole(pr_arnn_pass *pass, pr_arena *arena, const pr_model *model,
                       const pr_limits *limits)
{
    const pr_arnn_dims *d = &pass->net.d;
    size_t R = limits->rows, past = limits->history < d->items ? limits->history : d->items;
    take_bags(pass, arena, R, R * past);
    pass->slots = pr_arena_take_zero(arena, d->items, sizeof *pass->slots);
    if (d->recall)
        pr_repeats_take(&pass->recalled, arena, R, d->items, limits->history, d->neighbours > 0);
    take_softmax(&pass->softmax, arena, d, R, pr_arnn_mask_bytes(model) > 0);
    pass->key_rows = pass->key_places = pass->keys;
}

/* ... and one against drawn items. */
static void take_local(pr_arnn_pass *pass, pr_arena *arena, const pr_model *model,
                       const pr_limits *limits)
{
    size_t R = limits->rows, T = R * limits->steps, entries = pr_limits_items(limits);
    take_bags(pass, arena, R, entries);
    if (pass->net.d.recall)
        pr_repeats_take_rows(&pass->recalled, arena, R, entries);
    pr_arnn_local_take(&pass->local, arena, model, limits);
    pr_arnn_drawn_take(&pass->drawn, arena, model, limits);
    pass->key_rows = pr_arena_take(arena, T, sizeof *pass->key_rows);
    pass->key_places = pr_arena_take(arena, T, sizeof *pass->key_places);
}

static void pass_take(pr_arnn_pass *pass, pr_arena *arena, const pr_model *model,
                      const pr_limits *limits)
{
    const pr_config *c = &model->config;
    pr_arnn_dims d = pr_arnn_dims_of(model);
    size_t R = limits->rows, T = R * limits->steps;
    *pass = (pr_arnn_pass){.net.d = d, .model = model, .config = c, .steps = limits->steps};
    pass->first = pr_arena_take(arena, limits->steps + 2, sizeof *pass->first);
    pass->rows = pr_arena_take(arena, limits->steps + 2, sizeof *pass->rows);
    pass->users = pr_arena_take(arena, R, sizeof *pass->users);
    pass->keys = pr_arena_take(arena, T, sizeof *pass->keys);
    pass->target = pr_arena_take(arena, R, sizeof *pass->target);
    pass->sharing = pr_arena_take(arena, R, sizeof *pass->sharing);
    pass->soft = d.follow ? 0 : c->targets_soft;
    take_drop(&pass->drop_user, arena, c->dropout_user, R, d.du);
    take_drop(&pass->drop_history, arena, c->dropout_history, R, d.dv);
    take_drop(&pass->drop_keys, arena, c->dropout_keys, T, d.dv);
    if (d.pairs > 0)
        take_pairs(pass, arena, &d, R);
    pr_arnn_teacher_take(&pass->teacher, arena, R, limits->basket);
    if (c->loss == PR_LOSS_CE)
        take_whole(pass, arena, model, limits);
    else
        take_local(pass, arena, model, limits);
}

size_t pr_arnn_chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    pr_arnn_pass pass;
    pass_take(&pass, &counter, model, limits);
    pr_arnn_tape_take(&pass.net.t, &counter, &pass.net.d, limits->rows * limits->steps,
                      limits->rows, limits->steps);
    pr_arnn_tape_take_backward(&pass.net.t, &counter, &pass.net.d);
    return counter.used;
}

size_t pr_arnn_mask_bytes(const pr_model *model)
{
    const pr_config *c = &model->config;
    if (c->dropout_output == PR_DROP_NONE || !(c->dropout_output_rate > 0) || c->loss != PR_LOSS_CE)
        return 0; /* rows that are drawn are masked one by one */
    return pr_drop_bytes(model->items * (size_t)c->dim_item);
}

void pr_arnn_draw_mask(const pr_model *model, uint8_t *mask, uint64_t seed, uint32_t batch,
                       uint32_t step)
{
    const pr_config *c = &model->config;
    pr_rng rng = pr_rng_make(seed, UINT64_C(0x6F7574707574)); /* "output" */
    uint32_t place[3] = {batch, 0, c->dropout_output == PR_DROP_STEP ? step : 0};
    pr_drop_draw(mask, &rng, place, 0, pr_arnn_mask_bytes(model),
                 pr_drop_make(c->dropout_output_rate));
}

/* ---- the teacher ---- */

void pr_arnn_teacher_take(pr_arnn_teacher *t, pr_arena *arena, size_t rows, size_t basket)
{
    t->stride = basket;
    t->left = pr_arena_take(arena, rows * basket, sizeof *t->left);
    t->count = pr_arena_take(arena, rows, sizeof *t->count);
}

void pr_arnn_teacher_begin(pr_arnn_teacher *t, size_t row, const pr_basket *basket)
{
    assert(basket->size <= t->stride);
    t->count[row] = basket->size;
    memcpy(t->left + row * t->stride, basket->items, basket->size * sizeof *t->left);
}

void pr_arnn_teacher_cut(pr_arnn_teacher *t, size_t row, size_t most, bool list,
                         const uint32_t place[3])
{
    int32_t *left = t->left + row * t->stride;
    size_t count = t->count[row];
    if (count <= most)
        return;
    pr_stream stream = pr_stream_at(&t->rng, place[0], place[1], place[2]);
    if (list) {
        size_t from = pr_stream_below(&stream, (uint32_t)(count - most + 1));
        memmove(left, left + from, most * sizeof *left);
    }
    for (size_t i = 0; !list && i < most; i++) {
        size_t j = i + pr_stream_below(&stream, (uint32_t)(count - i));
        int32_t item = left[j];
        left[j] = left[i];
        left[i] = item;
    }
    t->count[row] = most;
}

static size_t place_of(const int32_t *left, size_t count, int32_t item)
{
    size_t i = 0;
    while (i < count && left[i] != item)
        i++;
    return i;
}

int32_t pr_arnn_teacher_choose(pr_arnn_teacher *t, size_t row, int32_t winner,
                               pr_teacher_choice how, const uint32_t place[3])
{
    assert(t->count[row] > 0);
    int32_t *left = t->left + row * t->stride;
    size_t count = t->count[row], i = how == PR_CHOOSE_FIRST ? 0 : place_of(left, count, winner);
    if (i == count && how == PR_CHOOSE_WINNER_OR_FIRST)
        i = 0;
    if (i == count) {
        pr_stream stream = pr_stream_at(&t->rng, place[0], place[1], place[2]);
        i = pr_stream_below(&stream, (uint32_t)count);
    }
    int32_t target = left[i];
    memmove(left + i, left + i + 1, (count - i - 1) * sizeof *left);
    t->count[row]--;
    return target;
}

/* ---- a chunk ---- */

static const pr_basket *basket_of(const pr_arnn_pass *pass, size_t r)
{
    return &pass->chunk->batch->baskets[pass->chunk->order[r]];
}

/* Rows come longest basket first, so the rows of every step are a prefix of those before. */
static void plan_steps(pr_arnn_pass *pass)
{
    size_t at = 0, rows = pass->chunk->rows;
    for (size_t j = 0; j <= pass->steps; j++) {
        while (rows > 0 && (j == pass->steps || basket_of(pass, rows - 1)->size <= j))
            rows--;
        pass->rows[j] = rows;
        pass->first[j] = at;
        at += rows;
    }
    pass->rows[pass->steps + 1] = 0;
    pass->first[pass->steps + 1] = at;
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

/* A user's own row, or the one of unknown users: always a share of the baskets, and the more of them the
 * less is known of the user, so that a row is learnt as far as answers will use it (user.shrink). */
static int32_t user_row(const pr_arnn_pass *pass, size_t r, const pr_rng *rng)
{
    const pr_basket *b = basket_of(pass, r);
    int32_t anyone = (int32_t)pass->net.d.users;
    double without = pass->config->anyone;
    double unknown = 1 - (double)pr_arnn_user_share(pass->config, &b->history);
    if (unknown > without)
        without = unknown;
    pr_bits bits = pr_rng_at(rng, pass->chunk->batch->number, pass->chunk->order[r], 0, 0);
    return b->user < 0 || pr_unit32(bits.word[0]) < without ? anyone : b->user;
}

/* Some baskets keep to themselves what is known of them, so that models can do without: half of those that
 * hide their user, and as many sessions as there are such. */
static pr_known_features about_of(const pr_arnn_pass *pass, size_t r, const pr_rng *rng)
{
    pr_known_features about = basket_of(pass, r)->features;
    pr_bits bits = pr_rng_at(rng, pass->chunk->batch->number, pass->chunk->order[r], 0, 0);
    if (pr_unit32(bits.word[0]) < pass->config->anyone / 2)
        about.user = (pr_feature_row){0};
    if (pr_unit32(bits.word[1]) < pass->config->anyone)
        about.session = (pr_feature_row){0};
    return about;
}

static void begin_users(pr_arnn_pass *pass)
{
    size_t R = pass->chunk->rows, du = pass->net.d.du;
    pr_rng rng = pr_rng_make(pass->chunk->seed, UINT64_C(0x616E796F6E65)); /* "anyone" */
    for (size_t r = 0; r < R; r++) {
        pass->users[r] = user_row(pass, r, &rng);
        pr_known_features about = about_of(pass, r, &rng);
        pr_arnn_about_read(&pass->net, r, &about);
    }
    pr_user_rows_copy(pass->net.t.u, pass->model, pass->users, R);
    for (size_t r = 0; r < R; r++) {
        uint32_t place[3] = {pass->chunk->batch->number, pass->chunk->order[r], 0};
        drop_row(&pass->drop_user, pass->net.t.u + r * du, r, place, du);
    }
    pr_arnn_user_forward(&pass->net, 0, R);
}

/* The first hidden states: history bags, which stand beside each other in dh's memory first. */
static void begin_history(pr_arnn_pass *pass)
{
    const pr_arnn_dims *d = &pass->net.d;
    size_t R = pass->chunk->rows, pairs = 0;
    for (size_t r = 0; r < R; r++) {
        pass->bag_offsets[r] = pairs;
        pairs += pr_history_bag(pass->bag_items + pairs, pass->bag_weights + pairs, pass->slots,
                                &basket_of(pass, r)->history, pass->config);
    }
    pass->bag_offsets[R] = pairs;
    for (size_t i = 0; pass->config->loss != PR_LOSS_CE && i < pairs; i++)
        pass->bag_items[i] = pr_arnn_local_row(&pass->local, pass->bag_items[i]);
    pass->bags = (pr_bags){pass->bag_items, pass->bag_weights, pass->bag_offsets};
    pr_real *h = pass->net.t.dh;
    pr_bag_forward(h, pass->net.w.item, &pass->bags, pass->softmax.score, R, d->items, d->dv);
    if (d->inputs->count > 0) {
        pr_arnn_about_forward(&pass->net, R);
        pr_add(h, pass->net.t.about, R * d->dv);
    }
    for (size_t r = 0; r < R; r++) {
        uint32_t place[3] = {pass->chunk->batch->number, pass->chunk->order[r], 0};
        drop_row(&pass->drop_history, h + r * d->dv, r, place, d->dv);
        memcpy(pass->net.t.z + r * 2 * d->dv, h + r * d->dv, d->dv * sizeof *h);
    }
    pass->recalled.near = pass->net.w.near;
    pass->recalled.intervals = pass->net.w.times.intervals;
    pass->recalled.gates = d->gates;
    for (size_t r = 0; d->recall && r < R; r++)
        pr_repeats_add(&pass->recalled, r, pass->slots, &basket_of(pass, r)->history,
                       pass->config->recall_decay);
    if (d->recall)
        pr_repeats_order(&pass->recalled);
    for (size_t r = 0; d->pairs > 0 && r < R; r++)
        pr_pair_start(&pass->pair_baskets[r], &basket_of(pass, r)->history);
    pr_arnn_cell_begin(&pass->net, R);
    pr_arnn_parts_begin(&pass->net, 0, R);
}

/* What the items placed before step j add to the output, by one item more. */
static void pull(pr_arnn_pass *pass, size_t j)
{
    size_t dv = pass->net.d.dv, first = pass->first[j], n = pass->rows[j] * dv;
    pr_real *sum = pass->net.t.pull + first * dv, fade = pass->net.d.fade;
    const pr_real *before = pass->net.t.pull + pass->first[j - 1] * dv;
    pr_embedding_forward(sum, pass->net.w.pull, pass->key_places + first, pass->rows[j], dv);
    for (size_t i = 0; i < n; i++)
        sum[i] += fade * before[i];
}

/* The items placed before step j become keys and values. */
static void place(pr_arnn_pass *pass, size_t j)
{
    size_t dv = pass->net.d.dv, first = pass->first[j], rows = pass->rows[j];
    for (size_t i = first; pass->config->loss != PR_LOSS_CE && i < first + rows; i++) {
        pass->key_rows[i] = pr_arnn_local_row(&pass->local, pass->keys[i]);
        pass->key_places[i] = pass->local.place[pass->key_rows[i]];
    }
    pr_embedding_forward(pass->net.t.e + first * dv, pass->net.w.item, pass->key_rows + first, rows,
                         dv);
    for (size_t r = 0; r < rows; r++) {
        uint32_t where[3] = {pass->chunk->batch->number, pass->chunk->order[r], (uint32_t)j};
        drop_row(&pass->drop_keys, pass->net.t.e + (first + r) * dv, first + r, where, dv);
    }
    pr_arnn_place_forward(&pass->net, first, rows, j > 0);
    if (pass->net.d.follow)
        pr_embedding_forward(pass->net.t.follow + first * dv, pass->net.w.follow,
                             pass->key_places + first, rows, dv);
    if (pass->net.d.pull && j > 0)
        pull(pass, j);
}

/* At step 0 the only key is the start of the basket; later the placed items without it. */
static pr_arnn_step step_of(const pr_arnn_pass *pass, size_t j)
{
    size_t stride = 2 * pass->net.d.dv;
    return (pr_arnn_step){
        .first = pass->first[j],
        .rows = pass->rows[j],
        .at = j == 0 ? pass->first : pass->first + 1,
        .stride = 1,
        .keys = j == 0 ? 1 : j,
        .query = j > 1,
        .hidden = pass->net.t.z + pass->first[j + 1] * stride,
        .hidden_stride = stride,
        .hidden_rows = pass->rows[j + 1],
        .memory = pass->net.t.memory != NULL
                      ? pass->net.t.memory + pass->first[j + 1] * pass->net.d.dv
                      : NULL,
    };
}

/* A share of the baskets, where they are sets, is placed evenly instead of by the model's own choice, and
 * what remains of them shares the target's mass. Two things are learnt so: in which order the model itself
 * would place, which says that what it ranked first and was not placed is not in the basket, and how likely
 * each item is whoever placed. */
static bool placed_evenly(const pr_arnn_pass *pass, size_t r)
{
    if (!(pass->soft > 0))
        return false;
    pr_bits bits =
        pr_rng_at(&pass->place_rng, pass->chunk->batch->number, pass->chunk->order[r], 0, 0);
    return pr_unit32(bits.word[0]) < pass->soft;
}

/* ---- pairs ---- */

/* The items placed before step j, and what they add to the scores of each class then. */
static void pairs_forward(pr_arnn_pass *pass, size_t j)
{
    const pr_pair_memory *pairs = &pass->net.w.pairs;
    size_t R = pass->pair_term.stride;
    for (size_t r = 0; r < pass->rows[j]; r++) {
        pr_pair_basket *b = &pass->pair_baskets[r];
        pr_pair_place(b, pairs, &pass->partners, pass->keys[pass->first[j] + r]);
        pr_real all = pr_pair_gate(b, pass->net.w.pair_gate, PR_PAIR_ALL);
        pr_real own = pr_pair_gate(b, pass->net.w.pair_gate, PR_PAIR_OWN);
        for (size_t c = 0; c < pairs->classes; c++)
            if (pass->pair_live[c])
                pass->pair_values[c * R + r] =
                    all * b->sums[PR_PAIR_ALL][c] + own * b->sums[PR_PAIR_OWN][c];
    }
}

static void pairs_backward(pr_arnn_pass *pass, size_t rows)
{
    const pr_class_term *t = &pass->pair_term;
    for (size_t r = 0; r < rows; r++) {
        const pr_pair_basket *b = &pass->pair_baskets[r];
        pr_real dgate = 0;
        for (size_t c = 0; c < t->classes; c++)
            if (t->live[c])
                dgate += t->gradients[c * t->stride + r] * b->sums[PR_PAIR_OWN][c];
        pr_pair_gate_backward(pass->net.g.pair_gate, b, dgate);
    }
}

static void choose_targets(pr_arnn_pass *pass, size_t j)
{
    const pr_batch *batch = pass->chunk->batch;
    pr_teacher_choice how = batch->in_order      ? PR_CHOOSE_FIRST
                            : pass->net.d.follow ? PR_CHOOSE_WINNER_OR_FIRST
                                                 : PR_CHOOSE_WINNER_OR_ANY;
    const int32_t *winner =
        pass->config->loss == PR_LOSS_CE ? pass->softmax.winner : pass->drawn.winner;
    for (size_t r = 0; r < pass->rows[j]; r++) {
        uint32_t where[3] = {batch->number, pass->chunk->order[r], (uint32_t)j};
        bool evenly = placed_evenly(pass, r);
        pass->target[r] =
            pr_arnn_teacher_choose(&pass->teacher, r, evenly ? -1 : winner[r], how, where);
        /* The first step has no order: its target is soft in every basket. */
        pass->sharing[r] = evenly || j == 0 ? pass->teacher.count[r] : 0;
        if (r < pass->rows[j + 1])
            pass->keys[pass->first[j + 1] + r] = pass->target[r];
    }
}

static pr_output output_of(const pr_arnn_pass *pass, const pr_model *model, size_t j)
{
    size_t bytes = pr_arnn_mask_bytes(model);
    bool whole = pass->config->loss == PR_LOSS_CE; /* else pr_arnn_drawn knows these terms */
    pr_output out = {.table = pass->net.w.item,
                     .keep = bytes > 0 ? pass->chunk->masks + j * bytes : NULL,
                     .scale = pass->drop_output.scale,
                     .bias = pass->net.w.bias,
                     .extra = pass->net.d.recall && whole ? &pass->recalled.extra : NULL,
                     .dense = pass->net.d.neighbours > 0 && whole ? &pass->recalled.dense : NULL,
                     .classes = pass->partners.any != 0 && j > 0 ? &pass->pair_term : NULL};
    if (pass->config->unique)
        out.taken = (pr_taken){pass->keys, pass->first + 1, j};
    if (pass->soft > 0)
        out.soft = (pr_soft){pass->teacher.left, pass->sharing, pass->teacher.stride, 1};
    return out;
}

/* Of a step's targets, with the gradients of outputs and item table. */
static double loss_of(pr_arnn_pass *pass, pr_real *do_, const pr_real *o, const pr_output *out,
                      pr_real factor, size_t rows)
{
    const pr_arnn_view *g = &pass->net.g;
    if (pass->config->loss != PR_LOSS_CE)
        return pr_arnn_drawn_gradient(do_, g->item, g->bias, &pass->drawn, o, out, pass->target,
                                      factor, rows);
    return pr_softmax_gradient(do_, g->item, g->bias, &pass->softmax, o, out, pass->target, factor,
                               rows, pass->net.d.items, pass->net.d.dv);
}

/* Scores, targets, loss and the gradients of outputs and item table, all of step j. */
static void score_step(pr_arnn_pass *pass, const pr_model *model, size_t j)
{
    const pr_arnn_dims *d = &pass->net.d;
    const pr_batch *batch = pass->chunk->batch;
    size_t rows = pass->rows[j], at = pass->first[j] * d->dv;
    double factor =
        batch->step_weight != NULL ? (double)batch->step_weight[j] : 1 / (double)batch->rows;
    pr_output out = output_of(pass, model, j);
    const pr_real *o = pass->net.t.o + at;
    size_t gates = pass->first[j] * d->gates;
    if (d->recall)
        pr_repeats_values(&pass->recalled, pass->net.t.gate + gates, rows);
    if (out.classes != NULL)
        pairs_forward(pass, j);
    if (pass->config->loss == PR_LOSS_CE)
        pr_softmax_scores(&pass->softmax, o, &out, rows, d->items, d->dv);
    else
        pr_arnn_drawn_scores(&pass->drawn, o, &out, rows);
    pr_chunk_mark(pass->chunk, PR_PART_SCORES);
    choose_targets(pass, j);
    double loss = loss_of(pass, pass->net.t.do_ + at, o, &out, (pr_real)factor, rows);
    if (d->recall)
        pr_repeats_backward(&pass->recalled, pass->net.t.dgate + gates, rows);
    if (out.classes != NULL)
        pairs_backward(pass, rows);
    pr_chunk_mark(pass->chunk, PR_PART_LOSS);
    pr_chunk_add_loss(pass->chunk, loss, factor, rows);
}

static void begin_teacher(pr_arnn_pass *pass, size_t r)
{
    const pr_batch *batch = pass->chunk->batch;
    uint32_t where[3] = {batch->number, pass->chunk->order[r], UINT32_MAX};
    pr_arnn_teacher_begin(&pass->teacher, r, basket_of(pass, r));
    if (pass->config->unique && !batch->in_order)
        pr_arnn_teacher_cut(&pass->teacher, r, pass->steps, pass->net.d.follow, where);
}

static void forward(pr_arnn_pass *pass, const pr_model *model)
{
    begin_users(pass);
    begin_history(pass);
    for (size_t r = 0; r < pass->chunk->rows; r++) {
        pass->keys[r] = (int32_t)pass->net.d.items; /* the row of the basket's start */
        begin_teacher(pass, r);
    }
    if (pass->config->loss != PR_LOSS_CE)
        pr_arnn_drawn_begin(&pass->drawn, pass->chunk, &pass->local,
                            pass->net.d.recall ? &pass->recalled : NULL, &pass->net.w.near,
                            &pass->teacher);
    pr_chunk_mark(pass->chunk, PR_PART_BEGIN);
    for (size_t j = 0; j < pass->steps; j++) {
        pr_arnn_step s = step_of(pass, j);
        place(pass, j);
        pr_arnn_step_forward(&pass->net, &s);
        pr_chunk_mark(pass->chunk, PR_PART_FORWARD);
        score_step(pass, model, j);
    }
}

static void backward(pr_arnn_pass *pass)
{
    const pr_arnn_dims *d = &pass->net.d;
    pr_arnn_tape *t = &pass->net.t;
    size_t R = pass->chunk->rows, du = d->du;
    if (pass->config->loss != PR_LOSS_CE)
        pr_arnn_local_mask(&pass->local, pass->net.g.item);
    for (size_t j = pass->steps; j-- > 0;) {
        pr_arnn_step s = step_of(pass, j);
        pr_arnn_step_backward(&pass->net, &s);
    }
    pr_arnn_cell_end(&pass->net);
    bool asked = pass->steps > 2; /* else no row ever had two keys to choose from */
    pr_arnn_maps_backward(&pass->net, asked ? pass->first[1] : t->T, asked ? pass->first[2] : t->T);
    drop_rows_backward(&pass->drop_keys, t->de, t->T, d->dv);
    pr_embedding_backward(pass->net.g.item, t->de, pass->key_rows, t->T, d->dv);
    if (d->follow)
        pr_embedding_backward(pass->net.g.follow, t->do_, pass->key_places, t->T, d->dv);
    if (d->pull)
        pr_embedding_backward(pass->net.g.pull, t->dpull + R * d->dv, pass->key_places + R,
                              t->T - R, d->dv);
    pr_chunk_mark(pass->chunk, PR_PART_BACKWARD);
    drop_rows_backward(&pass->drop_history, t->dh, R, d->dv);
    if (d->inputs->count > 0)
        pr_arnn_about_backward(&pass->net, t->dh, R);
    pr_bag_backward(pass->net.g.item, t->dh, &pass->bags, pass->softmax.score, R, d->items, d->dv);
    drop_rows_backward(&pass->drop_user, t->duser, R, du);
    for (size_t r = 0; r < R; r++) {
        size_t row = pass->chunk->order[r];
        pass->chunk->users[row] = pass->users[r];
        memcpy(pass->chunk->user_gradient + row * du, t->duser + r * du, du * sizeof *t->duser);
    }
    pr_chunk_mark(pass->chunk, PR_PART_BEGIN);
}

/* The sizes this chunk really has. */
static pr_limits limits_of(const pr_chunk *chunk)
{
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    for (size_t r = 0; r < chunk->rows; r++) {
        const pr_basket *b = &chunk->batch->baskets[chunk->order[r]];
        limits.basket = b->size > limits.basket ? b->size : limits.basket;
        limits.history = b->history.count > limits.history ? b->history.count : limits.history;
        limits.items += b->size + b->history.count;
    }
    if (limits.steps > limits.basket)
        limits.steps = limits.basket;
    return limits;
}

/* The tables and gradients of the pass are those of the local catalogue. */
static void begin_local(pr_arnn_pass *pass, const pr_model *model)
{
    const pr_arnn_dims *d = &pass->net.d;
    pr_chunk *chunk = pass->chunk;
    pr_real *const *scored = chunk->item_rows[PR_ITEMS_SCORED].values;
    pr_real *const *placed = chunk->item_rows[PR_ITEMS_PLACED].values;
    pr_arnn_local_begin(&pass->local, model, chunk, &pass->net.w.near);
    pass->slots = chunk->slots[1];
    pass->net.w.item = pass->local.item;
    pass->net.w.pull = pass->local.pull;
    pass->net.w.follow = pass->local.follow;
    pass->net.g.item = scored[0];
    pass->net.g.bias = d->bias ? scored[1] : NULL;
    pass->net.g.pull = d->pull ? placed[0] : NULL;
    pass->net.g.follow = d->follow ? placed[d->pull] : NULL;
}

void pr_arnn_learn(const pr_model *model, pr_chunk *chunk)
{
    pr_arnn_pass pass;
    pr_limits limits = limits_of(chunk);
    pass_take(&pass, chunk->arena, model, &limits);
    pass.chunk = chunk;
    pass.net.w = pr_arnn_view_of(model, model->weights);
    pass.net.g = pr_arnn_gradient_view(model, chunk->gradient);
    if (model->config.loss != PR_LOSS_CE)
        begin_local(&pass, model);
    if (pass.net.d.pairs > 0) {
        pass.partners = pr_pair_partners_of(&pass.net.w.pairs);
        pass.pair_term.class_of = pass.net.w.pairs.class_of;
        for (size_t c = 0; c < pass.net.d.pairs; c++)
            pass.pair_live[c] = pass.partners.any >> c & 1;
    }
    pass.drop_user.rng = pr_rng_make(chunk->seed, UINT64_C(0x75736572));          /* "user" */
    pass.drop_history.rng = pr_rng_make(chunk->seed, UINT64_C(0x686973746F7279)); /* "history" */
    pass.drop_keys.rng = pr_rng_make(chunk->seed, UINT64_C(0x6B657973));          /* "keys" */
    pass.place_rng = pr_rng_make(chunk->seed, UINT64_C(0x706C616365));            /* "place" */
    pass.teacher.rng = pr_rng_make(chunk->seed, UINT64_C(0x74656163686572));      /* "teacher" */
    pass.drop_output = pr_drop_make(model->config.dropout_output_rate);
    plan_steps(&pass);
    pr_arnn_tape_take(&pass.net.t, chunk->arena, &pass.net.d, pass.first[pass.steps], chunk->rows,
                      pass.steps);
    pr_arnn_tape_take_backward(&pass.net.t, chunk->arena, &pass.net.d);
    forward(&pass, model);
    memset(pass.net.t.dh, 0, chunk->rows * pass.net.d.dv * sizeof(pr_real));
    backward(&pass);
    if (model->config.loss != PR_LOSS_CE)
        pr_arnn_local_end(&pass.local);
}
