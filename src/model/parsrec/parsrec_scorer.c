/* PARSRec on open baskets: rows side by side, each with the items placed so far. A step runs when its
 * outcome is asked for; then scores are read from it: of all items, of some, of the best, and the parts
 * that they are sums of. */
#include <assert.h>
#include <string.h>

#include "math/embedding.h"
#include "math/layers.h"
#include "math/panels.h"
#include "math/topk.h"
#include "math/wide.h"
#include "model/history.h"
#include "model/parsrec/parsrec_scorer.h"
#include "model/user_rows.h"

enum {
    FEW = 8,               /* rows of a scorer that uses the tables made ready */
    LARGE_TABLE = 1 << 18, /* items whose rows a matrix product would copy at every step, */
    LARGE_ROWS = 16,       /* which for so few rows takes longer than the product itself */
};
#define NOBODY SIZE_MAX /* no row */

/* Biases are the model's where it was made ready, else the scorer's own. */
static void begin_mix(pr_arnn_state *s, const pr_arnn_ready *ready, pr_real *const *own)
{
    const pr_arnn_view *w = &s->net.w;
    for (size_t k = 0; s->net.d.mix && k < PR_MIX_STAGES * pr_arnn_mix_weights(&s->net.d); k++)
        s->mixed = s->mixed || w->mix[k] != 0;
    bool filled = ready == NULL && pr_arnn_mixed_biases(own, &s->net.d, w);
    for (size_t i = 0; i < PR_MIX_STAGES; i++)
        s->bias[i] = ready != NULL ? ready->bias[i] : filled ? own[i] : w->bias;
}

static size_t stage_of(const pr_arnn_state *s, size_t row)
{
    return s->placed[row] == 0 ? PR_MIX_FIRST : PR_MIX_LATER;
}

/* The mix's weights of a row. */
static const pr_real *mix_of(const pr_arnn_state *s, size_t row)
{
    return s->net.w.mix + stage_of(s, row) * pr_arnn_mix_weights(&s->net.d);
}

/* How recent sales count in a row that has a trend. */
static pr_real trend_weight(const pr_arnn_state *s, size_t row)
{
    return mix_of(s, row)[pr_arnn_mix_popular(&s->net.d) + 1];
}

/* How the sum of lifts counts in a row: the mean over the placed items has a weight, or that of the last. */
static pr_real lift_weight(const pr_arnn_state *s, size_t row)
{
    if (!s->mixed || s->placed[row] == 0)
        return 0;
    return mix_of(s, row)[pr_arnn_mix_lift(&s->net.d)] / pr_arnn_lifted(s, row);
}

/* How the network's own score counts in a row. */
static pr_real score_weight(const pr_arnn_state *s, size_t row)
{
    return s->mixed ? mix_of(s, row)[PR_MIX_SCORE] : 1;
}

/* Outputs and gates of a step that has just run become those of the mixed score: it is a sum of the same
 * features, so that a mix costs answers nothing. */
static void mix_step(pr_arnn_state *s, size_t rows)
{
    size_t dv = s->net.d.dv;
    for (size_t r = 0; s->mixed && r < rows; r++) {
        const pr_real *mix = mix_of(s, r);
        pr_real *gate = s->net.t.gate + r * s->net.d.gates, own = score_weight(s, r);
        for (size_t i = 0; i < dv; i++)
            s->net.t.o[r * dv + i] *= own;
        for (size_t k = 0; k < s->net.d.gates; k++)
            gate[k] = own * gate[k] + mix[PR_MIX_GATES + k];
    }
}

static void take_few(pr_arnn_state *s, pr_arena *arena, size_t rows, size_t items)
{
    s->few = pr_arena_take_zero(arena, rows, sizeof *s->few);
    s->counts = pr_arena_take(arena, items, sizeof *s->counts);
    s->expected = pr_arena_take(arena, items, sizeof *s->expected);
    s->expected_of = pr_arena_take(arena, 1, sizeof *s->expected_of);
    for (size_t r = 0; r < rows; r++) {
        pr_near_few few = {.items = pr_arena_take(arena, items, sizeof *few.items),
                           .values = pr_arena_take(arena, items, sizeof *few.values)};
        if (s->few != NULL)
            s->few[r] = few;
    }
}

static void take_lifts(pr_arnn_state *s, pr_arena *arena, size_t rows)
{
    size_t V = s->net.d.items;
    s->lift_sums = pr_arena_take_zero(arena, rows, sizeof *s->lift_sums);
    for (size_t r = 0; r < rows; r++) {
        pr_lift_sums sums = {.sum = pr_arena_take_zero(arena, V, sizeof *sums.sum),
                             .touched = pr_arena_take(arena, V + 1, sizeof *sums.touched),
                             .seen = pr_arena_take_zero(arena, V, sizeof *sums.seen)};
        if (s->lift_sums != NULL)
            s->lift_sums[r] = sums;
    }
}

void pr_arnn_take(void *state, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    pr_arnn_state *s = state;
    pr_arnn_dims d = pr_arnn_dims_of(model);
    *s = (pr_arnn_state){.net.d = d};
    pr_arnn_tape_take(&s->net.t, arena, &d, rows, rows, capacity);
    for (size_t l = 0; l < d.layers && !pr_arnn_is_upper(&d, l); l++) {
        s->fresh[l] = s->net.t.layer[l].kv;
        s->kept[l] = pr_arena_take(arena, rows * capacity * 2 * d.dq, sizeof(pr_real));
    }
    s->hidden = pr_arena_take(arena, rows * d.dv, sizeof(pr_real));
    s->memory = pr_arena_take(arena, rows * d.dv, sizeof(pr_real));
    s->joint = pr_arena_take(arena, rows * (d.dv + d.dq), sizeof(pr_real));
    s->room = pr_arena_take(arena, rows * (3 * d.dv + d.dq), sizeof(pr_real));
    s->looked = pr_arena_take(arena, rows, sizeof *s->looked);
    s->moved = pr_arena_take(arena, rows, sizeof *s->moved);
    s->twin = pr_arena_take(arena, rows, sizeof *s->twin);
    s->past_of = pr_arena_take(arena, rows, sizeof *s->past_of);
    s->list = pr_arena_take(arena, rows, sizeof *s->list);
    s->at = pr_arena_take(arena, capacity, sizeof *s->at);
    s->keys = pr_arena_take(arena, rows, sizeof *s->keys);
    s->placed = pr_arena_take(arena, rows, sizeof *s->placed);
    s->ids = pr_arena_take(arena, rows, sizeof *s->ids);
    s->chosen = pr_arena_take(arena, rows * capacity, sizeof *s->chosen);
    s->bag_items = pr_arena_take(arena, d.items, sizeof *s->bag_items);
    s->bag_weights = pr_arena_take(arena, d.items, sizeof *s->bag_weights);
    s->slots = pr_arena_take_zero(arena, d.items, sizeof *s->slots);
    if (rows == 1 && model->ready != NULL && d.inputs->count == 0)
        pr_arnn_kept_take(&s->lately, arena, &d);
    s->query.codes = pr_arena_take(arena, (d.dv + 3) / 4 * 4, 1);
    s->likely = pr_arena_take(arena, d.items, sizeof *s->likely);
    s->exact = pr_arena_take(arena, PR_ARNN_LIKELY, sizeof *s->exact);
    if (d.recall) {
        s->had = pr_arena_take(arena, rows * d.items, sizeof *s->had);
        s->had_count = pr_arena_take(arena, rows, sizeof *s->had_count);
        s->recall = pr_arena_take(arena, rows * d.items, sizeof *s->recall);
        if (d.neighbours > 0)
            take_few(s, arena, rows, d.items);
        s->dense = d.neighbours > 0 &&
                   (model->ready == NULL || !((const pr_arnn_ready *)model->ready)->searches);
    }
    s->trend = pr_arena_take_zero(arena, rows, sizeof *s->trend);
    if (d.pairs > 0) {
        s->pair_baskets = pr_arena_take(arena, rows, sizeof *s->pair_baskets);
        s->pair_values = pr_arena_take_zero(arena, rows * (d.pairs + 1), sizeof *s->pair_values);
    }
    if (d.lifts > 0)
        take_lifts(s, arena, rows);
    const pr_arnn_ready *ready = model->ready;
    pr_real *bias[PR_MIX_STAGES] = {NULL};
    for (size_t i = 0; d.mix && ready == NULL && i < PR_MIX_STAGES; i++)
        bias[i] = pr_arena_take(arena, d.items, sizeof *bias[i]);
    if (ready != NULL && ready->items == NULL && rows <= FEW) {
        s->made = pr_arena_take(arena, (rows * capacity + 1) * ready->stride, sizeof *s->made);
        s->made_at = pr_arena_take(arena, rows * capacity, sizeof *s->made_at);
    }
    bool by_panels = rows <= FEW && ready != NULL ? ready->table == NULL
                                                  : d.items >= LARGE_TABLE && rows <= LARGE_ROWS;
    if (by_panels && rows > 1)
        s->panel = pr_arena_take(arena, pr_panels_size(d.dv, PR_PANEL), sizeof *s->panel);
    if (ready != NULL && ready->searches && rows == 1)
        pr_search_query_take(&s->search, arena, &ready->search);
    if (pr_arena_counts(arena))
        return;
    for (size_t p = 0; p < capacity; p++)
        s->at[p] = p;
    s->net.w = pr_arnn_view_of(model, model->weights);
    s->ready = rows <= FEW ? ready : NULL;
    begin_mix(s, ready, bias);
    if (s->mixed && d.lifts > 0 &&
        s->net.w.mix[pr_arnn_mix_weights(&d) + pr_arnn_mix_lift(&d)] == 0) /* of later steps */
        s->lift_sums = NULL;
    if (s->made != NULL)
        pr_arnn_quick_make(s, rows * capacity, (int32_t)d.items); /* the start of a basket */
    if (d.pairs > 0)
        s->partners = pr_pair_partners_of(&s->net.w.pairs);
}

/* Projects e's rows and files them as the newest key of each row that placed something. */
static void file_keys(pr_scorer *scorer, const int32_t *items)
{
    pr_arnn_state *s = scorer->own;
    size_t width = 2 * s->net.d.dq;
    for (size_t l = 0; l < s->net.d.layers; l++)
        s->net.t.layer[l].kv = s->fresh[l];
    pr_arnn_place_forward(&s->net, 0, scorer->active, true);
    for (size_t l = 0; l < s->net.d.layers && s->kept[l] != NULL; l++) {
        for (size_t r = 0; r < scorer->active; r++)
            if (items == NULL || items[r] >= 0)
                memcpy(s->kept[l] + (r * scorer->capacity + s->keys[r] - 1) * width,
                       s->fresh[l] + r * width, width * sizeof(pr_real));
        s->net.t.layer[l].kv = s->kept[l];
    }
}

static void begin_history(pr_scorer *scorer, size_t r, const pr_start *start)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    pr_real *h = s->net.t.z + r * 2 * d->dv;
    if (start->vector != NULL) {
        memcpy(h, start->vector, d->dv * sizeof *h);
        return;
    }
    size_t offsets[2] = {0, pr_history_bag(s->bag_items, s->bag_weights, s->slots, &start->history,
                                           &scorer->model->config)};
    pr_bags bag = {s->bag_items, s->bag_weights, offsets};
    pr_bag_forward(h, s->net.w.item, &bag, NULL, 1, d->items, d->dv);
}

/* What was kept of a start has them already. */
static void add_features(pr_scorer *scorer, const pr_start *starts, bool known)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    if (d->inputs->count == 0)
        return;
    for (size_t r = 0; r < scorer->active; r++)
        pr_arnn_about_read(&s->net, r, &starts[r].features);
    pr_arnn_about_forward(&s->net, scorer->active);
    for (size_t r = 0; r < scorer->active && !known; r++)
        pr_add(s->net.t.z + r * 2 * d->dv, s->net.t.about + r * d->dv, d->dv);
}

bool pr_arnn_same_past(const pr_start *a, const pr_start *b)
{
    return a->vector == b->vector && a->history.items == b->history.items &&
           a->history.count == b->history.count && a->history.sessions == b->history.sessions &&
           a->history.session_count == b->history.session_count &&
           a->history.times == b->history.times && a->history.now == b->history.now;
}

static void begin_recall(pr_scorer *scorer, size_t r, const pr_start *start)
{
    pr_arnn_state *s = scorer->own;
    size_t V = s->net.d.items;
    if (!s->net.d.recall)
        return;
    int32_t *had = s->had + r * V;
    s->had_count[r] = pr_repeat_features(
        had, s->recall + r * V, s->dense ? s->few[r].values : NULL, s->slots, &start->history,
        scorer->model->config.recall_decay, &s->net.w.near, s->net.w.times.intervals);
    if (s->few == NULL || s->dense)
        return;
    for (size_t i = 0; i < s->had_count[r]; i++) {
        s->slots[had[i]] = (int32_t)i + 1;
        s->counts[i] = 0;
    }
    for (size_t i = 0; i < start->history.count; i++)
        s->counts[s->slots[start->history.items[i]] - 1] += 1;
    pr_near_expect_few(&s->few[r], s->slots, &s->net.w.near, had, s->counts, s->had_count[r]);
}

const pr_real *pr_arnn_expected(const pr_arnn_state *s, size_t row)
{
    if (s->dense)
        return s->few[row].values;
    if (*s->expected_of != s->past_of[row])
        pr_near_expect_all(s->expected, &s->net.w.near, &s->few[row]);
    *s->expected_of = s->past_of[row];
    return s->expected;
}

/* The row before has the same past. */
static void copy_past(pr_arnn_state *s, size_t r)
{
    const pr_arnn_dims *d = &s->net.d;
    size_t V = d->items;
    memcpy(s->net.t.z + r * 2 * d->dv, s->net.t.z + (r - 1) * 2 * d->dv, d->dv * sizeof(pr_real));
    if (!d->recall)
        return;
    s->had_count[r] = s->had_count[r - 1];
    memcpy(s->had + r * V, s->had + (r - 1) * V, s->had_count[r] * sizeof *s->had);
    memcpy(s->recall + r * V, s->recall + (r - 1) * V, s->had_count[r] * sizeof *s->recall);
    if (s->few == NULL)
        return;
    pr_near_few *few = &s->few[r], *from = &s->few[r - 1];
    if (s->dense) {
        memcpy(few->values, from->values, V * sizeof *few->values);
        return;
    }
    few->level = from->level;
    few->count = from->count;
    memcpy(few->items, from->items, few->count * sizeof *few->items);
    memcpy(few->values, from->values, few->count * sizeof *few->values);
}

static void begin_row(pr_scorer *scorer, const pr_start *starts, size_t r, bool known)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    s->past_of[r] = r;
    if (r > 0 && pr_arnn_same_past(&starts[r], &starts[r - 1])) {
        copy_past(s, r);
        s->past_of[r] = s->past_of[r - 1];
    } else {
        if (!known)
            begin_history(scorer, r, &starts[r]);
        begin_recall(scorer, r, &starts[r]);
    }
    if (d->pull)
        memset(s->net.t.pull + r * d->dv, 0, d->dv * sizeof(pr_real));
    if (d->follow)
        pr_embedding_forward(s->net.t.follow + r * d->dv, s->net.w.follow,
                             &(int32_t){(int32_t)d->items}, 1, d->dv);
    if (s->partners.any != 0) {
        pr_pair_start(&s->pair_baskets[r], &starts[r].history);
        memset(s->pair_values + r * (d->pairs + 1), 0, d->pairs * sizeof *s->pair_values);
    }
    if (s->lift_sums != NULL)
        pr_lift_start(&s->lift_sums[r]);
    assert(starts[r].user < (int32_t)d->users);
    if (s->mixed && d->times)
        s->trend[r] = pr_trends_at(&s->net.w.times, pr_history_now(&starts[r].history));
    s->keys[r] = 1; /* the start of the basket, until an item is placed */
    s->placed[r] = 0;
    s->ids[r] = starts[r].user < 0 ? (int32_t)d->users : starts[r].user;
}

/* A user's row counts as far as the history goes; the rest is the row of unknown users. */
static void shrink_user(pr_scorer *scorer, size_t r, const pr_start *start)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    pr_real share = pr_arnn_user_share(&scorer->model->config, &start->history);
    if (share == 1 || start->user < 0)
        return;
    const pr_real *anyone = pr_user_row(scorer->model, d->users);
    pr_real *u = s->net.t.u + r * d->du;
    for (size_t i = 0; i < d->du; i++)
        u[i] = share * u[i] + (1 - share) * anyone[i];
}

void pr_arnn_start(pr_scorer *scorer, const pr_start *starts)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t rows = scorer->active;
    bool known = s->lately.slots > 0 &&
                 pr_arnn_kept_begin(&s->lately, starts->alike, s->net.t.ucell, s->net.t.z);
    if (s->expected_of != NULL)
        *s->expected_of = NOBODY;
    for (size_t r = 0; r < rows; r++)
        begin_row(scorer, starts, r, known);
    add_features(scorer, starts, known);
    pr_user_rows_copy(s->net.t.u, scorer->model, s->ids, rows);
    for (size_t r = 0; r < rows; r++)
        shrink_user(scorer, r, &starts[r]);
    pr_arnn_cell_begin(&s->net, rows);
    size_t together = s->ready != NULL ? 1 : rows; /* its bits must not depend on other rows */
    for (size_t r = 0; r < rows; r += together)
        pr_arnn_parts_begin(&s->net, r, together);
    s->ran = false;
    for (size_t r = 0; r < rows; r++)
        s->ids[r] = s->chosen[r * scorer->capacity] = (int32_t)d->items;
    if (s->ready != NULL) {
        pr_arnn_quick_begin(scorer, starts, known);
        return;
    }
    pr_arnn_user_forward(&s->net, 0, rows);
    pr_embedding_forward(s->net.t.e, s->net.w.item, s->ids, rows, d->dv);
    file_keys(scorer, NULL);
}

/* ---- steps ---- */

void pr_arnn_ensure_step(pr_scorer *scorer)
{
    pr_arnn_state *s = scorer->own;
    if (s->ran)
        return;
    if (s->ready != NULL) {
        pr_arnn_quick_run(scorer);
        mix_step(s, scorer->active);
        return;
    }
    pr_arnn_step step = {.rows = scorer->active,
                         .at = s->at,
                         .stride = scorer->capacity,
                         .counts = s->keys,
                         .hidden = s->hidden,
                         .hidden_stride = s->net.d.dv,
                         .hidden_rows = scorer->active,
                         .memory = s->memory};
    for (size_t r = 0; r < scorer->active; r++)
        step.query = step.query || s->keys[r] > 1;
    pr_arnn_step_forward(&s->net, &step);
    mix_step(s, scorer->active);
    s->ran = true;
}

/* The next hidden states. */
static void move(pr_scorer *scorer)
{
    const pr_arnn_state *s = scorer->own;
    if (s->ready != NULL)
        pr_arnn_quick_moves(scorer);
    else
        pr_arnn_ensure_step(scorer);
}

/* What was placed before fades where baskets are lists. */
static void pull(pr_arnn_net *net, size_t r, int32_t item)
{
    size_t dv = net->d.dv;
    pr_real *sum = net->t.pull + r * dv;
    const pr_real *own = net->w.pull + (size_t)item * dv;
    for (size_t i = 0; i < dv; i++)
        sum[i] = net->d.fade * sum[i] + own[i];
}

/* The mix leaves what pairs add as it is: it is counted, not memorised. */
static pr_real pair_gate(const pr_arnn_state *s, size_t r, size_t term)
{
    return pr_pair_gate(&s->pair_baskets[r], s->net.w.pair_gate, term);
}

static void place_pair(pr_arnn_state *s, size_t r, int32_t item)
{
    pr_pair_basket *b = &s->pair_baskets[r];
    size_t classes = s->net.d.pairs;
    pr_real *values = s->pair_values + r * (classes + 1);
    if (!pr_pair_place(b, &s->net.w.pairs, &s->partners, item))
        return;
    pr_real all = pair_gate(s, r, PR_PAIR_ALL), own = pair_gate(s, r, PR_PAIR_OWN);
    for (size_t c = 0; c < classes; c++)
        values[c] = all * b->sums[PR_PAIR_ALL][c] + own * b->sums[PR_PAIR_OWN][c];
}

void pr_arnn_place(pr_scorer *scorer, const int32_t *items)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    move(scorer);
    if (s->ready != NULL)
        pr_arnn_quick_part(scorer, items);
    for (size_t r = 0; r < scorer->active; r++) {
        s->ids[r] = items[r] < 0 ? (int32_t)d->items : items[r];
        if (items[r] < 0)
            continue;
        assert(s->placed[r] < scorer->capacity);
        s->chosen[r * scorer->capacity + s->placed[r]] = items[r];
        s->keys[r] = ++s->placed[r]; /* the first item takes the place of the start */
        s->looked[r] = s->moved[r] = false;
        memcpy(s->net.t.z + r * 2 * d->dv, s->hidden + r * d->dv, d->dv * sizeof *s->hidden);
        if (d->cell == PR_CELL_LSTM)
            memcpy(s->net.t.memory + r * d->dv, s->memory + r * d->dv, d->dv * sizeof *s->memory);
        if (s->made != NULL)
            pr_arnn_quick_place(scorer, r, items);
        if (s->lately.slots > 0)
            pr_arnn_kept_place(&s->lately, items[r]);
        if (d->follow)
            pr_embedding_forward(s->net.t.follow + r * d->dv, s->net.w.follow, &items[r], 1, d->dv);
        if (d->pull)
            pull(&s->net, r, items[r]);
        if (s->partners.any != 0)
            place_pair(s, r, items[r]);
        if (s->lift_sums != NULL && d->after)
            pr_lift_start(&s->lift_sums[r]);
        if (s->lift_sums != NULL)
            pr_lift_place(&s->lift_sums[r], &s->net.w.lifts, items[r]);
    }
    s->ran = false;
    if (s->ready != NULL)
        return;
    pr_embedding_forward(s->net.t.e, s->net.w.item, s->ids, scorer->active, d->dv);
    file_keys(scorer, items);
}

/* Of the last layer that looks at items, mean over heads. */
size_t pr_arnn_attention(pr_scorer *scorer, size_t row, pr_real *weights)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t n = s->placed[row], layer = d->paper ? 0 : d->layers - 1;
    if (n == 0)
        return 0;
    pr_arnn_ensure_step(scorer);
    const pr_real *w = s->net.t.layer[layer].weight + row * d->heads * s->net.t.keys;
    for (size_t p = 0; p < n; p++) {
        weights[p] = 0;
        for (size_t h = 0; h < d->heads; h++)
            weights[p] += w[h * n + p] / (pr_real)d->heads;
    }
    return n;
}

void pr_arnn_peek(pr_scorer *scorer, size_t row, const pr_real **o, const pr_real **hidden)
{
    pr_arnn_state *s = scorer->own;
    pr_arnn_ensure_step(scorer);
    move(scorer);
    *o = s->net.t.o + row * s->net.d.dv;
    *hidden = s->hidden + row * s->net.d.dv;
}

/* ---- scores ---- */

/* What item i of the row's past is recalled with. */
static pr_real recalled(const pr_arnn_state *s, size_t row, size_t i)
{
    const pr_real *f = s->recall[row * s->net.d.items + i];
    const pr_real *gate = s->net.t.gate + row * s->net.d.gates;
    return pr_repeat_value(gate, f, s->net.d.gates);
}

/* The gate of what neighbours lead to expect. */
static pr_real expectation(const pr_arnn_state *s, size_t row)
{
    return s->net.t.gate[row * s->net.d.gates + PR_GATE_EXPECTED];
}

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real * y, const pr_real *x, pr_real factor, size_t n), (y, x, factor, n))

/* scores[v] += values[class_of[v]] */
PR_INLINE void add_classes_any(pr_real *restrict scores, const pr_real *restrict values,
                               const uint32_t *restrict class_of, size_t n)
{
    for (size_t v = 0; v < n; v++)
        scores[v] += values[class_of[v]];
}
PR_LOCAL_LEVELS(void, add_classes, add_classes_any,
                (pr_real *restrict scores, const pr_real *restrict values,
                 const uint32_t *restrict class_of, size_t n),
                (scores, values, class_of, n))

/* What the pairs of placed classes add to an item. */
static pr_real paired(const pr_arnn_state *s, size_t row, int32_t item)
{
    return s->pair_values[row * (s->net.d.pairs + 1) + s->net.w.pairs.class_of[item]];
}

static bool has_pairs(const pr_arnn_state *s, size_t row)
{
    return s->partners.any != 0 && s->pair_baskets[row].distinct > 0;
}

/* What the lifts with the placed items add to an item. */
static pr_real lifted(const pr_arnn_state *s, size_t row, int32_t item)
{
    return lift_weight(s, row) * s->lift_sums[row].sum[item];
}

static void add_lifts(const pr_arnn_state *s, size_t row, pr_real *scores)
{
    const pr_lift_sums *sums = &s->lift_sums[row];
    pr_real weight = lift_weight(s, row);
    for (size_t i = 0; weight != 0 && i < sums->count; i++)
        scores[sums->touched[i]] += weight * sums->sum[sums->touched[i]];
}

/* Adds all terms but the product with the output to scores[V] of a row. */
static void add_memory(const pr_arnn_state *s, size_t row, pr_real *scores)
{
    size_t V = s->net.d.items;
    for (size_t i = 0; s->net.d.recall && i < s->had_count[row]; i++)
        scores[s->had[row * V + i]] += recalled(s, row, i);
    if (s->few != NULL)
        add_scaled(scores, pr_arnn_expected(s, row), expectation(s, row), V);
    if (s->trend[row] != NULL)
        add_scaled(scores, s->trend[row], trend_weight(s, row), V);
    if (has_pairs(s, row))
        add_classes(scores, s->pair_values + row * (s->net.d.pairs + 1), s->net.w.pairs.class_of,
                    V);
    if (s->lift_sums != NULL)
        add_lifts(s, row, scores);
}

/* Adds the output's part to scores[V] of a row of a catalogue without panels; the bits are those of
 * score_output. */
static void score_large_row(const pr_arnn_state *s, size_t row, pr_real *scores)
{
    enum { TOGETHER = 512 };
    const pr_arnn_dims *d = &s->net.d;
    int32_t ids[TOGETHER];
    if (!d->bias)
        memset(scores, 0, d->items * sizeof *scores);
    for (size_t at = 0; at < d->items; at += TOGETHER) {
        size_t n = d->items - at < TOGETHER ? d->items - at : TOGETHER;
        for (size_t i = 0; i < n; i++)
            ids[i] = (int32_t)(at + i);
        pr_panels_add_some(scores + at, s->net.t.o + row * d->dv, s->net.w.item, ids, n, d->dv);
    }
}

/* The same of several rows: a table larger than caches is read once for all of them, a panel at a time. */
static void score_large(const pr_arnn_state *s, size_t rows, pr_real *scores)
{
    const pr_arnn_dims *d = &s->net.d;
    if (rows == 1) {
        score_large_row(s, 0, scores);
        return;
    }
    for (size_t at = 0; at < d->items; at += PR_PANEL) {
        size_t n = d->items - at < PR_PANEL ? d->items - at : PR_PANEL;
        pr_panels_make(s->panel, s->net.w.item + at * d->dv, d->dv, d->dv, n);
        pr_panels_map(scores + at, d->items, d->bias, s->net.t.o, d->dv, s->panel, rows, d->dv, n);
    }
}

void pr_arnn_score_all(pr_scorer *scorer, pr_real *scores)
{
    const pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t rows = scorer->active;
    pr_arnn_ensure_step(scorer);
    for (size_t r = 0; d->bias && r < rows; r++)
        memcpy(scores + r * d->items, s->bias[stage_of(s, r)], d->items * sizeof *scores);
    if (s->ready != NULL && s->ready->table != NULL)
        pr_panels_map(scores, d->items, d->bias, s->net.t.o, d->dv, s->ready->table, rows, d->dv,
                      d->items);
    else if (s->ready != NULL || s->panel != NULL)
        score_large(s, rows, scores);
    else
        pr_gemm(scores, d->items, pr_mat(s->net.t.o, d->dv), pr_flip(s->net.w.item, d->dv), d->bias,
                rows, d->items, d->dv);
    for (size_t r = 0; r < rows; r++)
        add_memory(s, r, scores + r * d->items);
}

/* What the output says of some items, and how popular they are. */
static void score_output(const pr_arnn_state *s, size_t row, const int32_t *items, size_t n,
                         pr_real *scores)
{
    const pr_arnn_dims *d = &s->net.d;
    const pr_real *o = s->net.t.o + row * d->dv;
    for (size_t i = 0; i < n; i++)
        scores[i] = d->bias ? s->bias[stage_of(s, row)][items[i]] : 0;
    if (s->ready != NULL) {
        pr_panels_add_some(scores, o, s->net.w.item, items, n, d->dv);
        return;
    }
    for (size_t i = 0; i < n; i++)
        scores[i] += pr_dot(s->net.w.item + (size_t)items[i] * d->dv, o, d->dv);
}

/* Sets slots[] of the items that a row's past says something about: the place in `few`, or in `had`
 * without neighbours, plus one. Items of the past come first in both. */
static void mark_past(pr_arnn_state *s, size_t row)
{
    bool few = s->few != NULL && !s->dense;
    const int32_t *items = few ? s->few[row].items : s->had + row * s->net.d.items;
    size_t count = few ? s->few[row].count : s->had_count[row];
    for (size_t i = 0; i < count; i++)
        s->slots[items[i]] = (int32_t)i + 1;
}

static void unmark_past(pr_arnn_state *s, size_t row)
{
    bool few = s->few != NULL && !s->dense;
    const int32_t *items = few ? s->few[row].items : s->had + row * s->net.d.items;
    size_t count = few ? s->few[row].count : s->had_count[row];
    for (size_t i = 0; i < count; i++)
        s->slots[items[i]] = 0;
}

/* What neighbours lead to expect of an item whose slot is marked. */
static pr_real expected_of(const pr_arnn_state *s, size_t row, int32_t item)
{
    const pr_near_few *few = &s->few[row];
    if (s->dense)
        return few->values[item];
    return s->slots[item] > 0 ? few->values[s->slots[item] - 1]
                              : pr_near_expect_other(&s->net.w.near, few->level, item);
}

/* What a past that is marked says of some items. */
static void score_recall(const pr_arnn_state *s, size_t row, const int32_t *items, size_t n,
                         pr_real *scores)
{
    for (size_t i = 0; i < n; i++) {
        size_t slot = (size_t)s->slots[items[i]];
        if (slot > 0 && slot <= s->had_count[row])
            scores[i] += recalled(s, row, slot - 1);
        if (s->few != NULL)
            scores[i] += expectation(s, row) * expected_of(s, row, items[i]);
        if (s->trend[row] != NULL)
            scores[i] += trend_weight(s, row) * s->trend[row][items[i]];
    }
}

/* Scores of some items; the past is marked, and the step has run. */
static void score_marked(const pr_arnn_state *s, size_t row, const int32_t *items, size_t n,
                         pr_real *scores)
{
    score_output(s, row, items, n, scores);
    if (s->net.d.recall)
        score_recall(s, row, items, n, scores);
    for (size_t i = 0; has_pairs(s, row) && i < n; i++)
        scores[i] += paired(s, row, items[i]);
    for (size_t i = 0; s->lift_sums != NULL && i < n; i++)
        scores[i] += lifted(s, row, items[i]);
}

void pr_arnn_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    pr_arnn_state *s = scorer->own;
    pr_arnn_ensure_step(scorer);
    if (s->net.d.recall)
        mark_past(s, row);
    score_marked(s, row, items, n, scores);
    if (s->net.d.recall)
        unmark_past(s, row);
}

/* ---- the best ---- */

/* The least that every item scores; barred ones lose. */
static void score_least(pr_arnn_state *s, const uint8_t *barred, pr_real *least)
{
    const pr_arnn_dims *d = &s->net.d;
    pr_coarse_least(least, &s->ready->coarse, &s->query);
    if (d->bias)
        pr_add(least, s->bias[stage_of(s, 0)], d->items);
    add_memory(s, 0, least);
    pr_topk_bar(least, barred, UINT8_MAX, d->items);
}

/* rest[blocks]: the most that is added to the product in each block of the search. base[blocks] is the
 * part of it that neighbours add. */
static void bound_rest(const pr_arnn_state *s, pr_real *rest, pr_real *base)
{
    const pr_arnn_dims *d = &s->net.d;
    const pr_arnn_bounds *b = &s->ready->bounds;
    const pr_search *search = &s->ready->search;
    size_t blocks = search->blocks;
    if (d->bias)
        memcpy(rest, b->bias[stage_of(s, 0)], blocks * sizeof *rest);
    else
        memset(rest, 0, blocks * sizeof *rest);
    if (s->few != NULL) {
        pr_real gate = expectation(s, 0);
        pr_near_expect_bases(base, gate >= 0 ? b->base_most : b->base_least, s->few[0].level,
                             blocks);
        for (size_t i = 0; i < blocks; i++)
            base[i] *= gate;
        pr_add(rest, base, blocks);
    }
    if (s->trend[0] != NULL) {
        size_t period = (size_t)(s->trend[0] - s->net.w.times.trends) / d->items;
        pr_real weight = trend_weight(s, 0);
        add_scaled(rest, (weight >= 0 ? b->trend_most : b->trend_least) + period * blocks, weight,
                   blocks);
    }
    for (size_t i = 0; has_pairs(s, 0) && i < blocks; i++)
        rest[i] += s->pair_values[search->groups[i]];
}

static void offer_some(const pr_arnn_state *s, pr_topk_heap *heap, const int32_t *items, size_t n,
                       pr_real *scores)
{
    score_marked(s, 0, items, n, s->exact);
    for (size_t i = 0; i < n; i++) {
        scores[items[i]] = s->exact[i];
        pr_topk_offer(heap, (size_t)items[i]);
    }
}

/* The past is scored first: it starts the bar. The items that it is linked to have bounds of their own. */
static void offer_past(pr_arnn_state *s, pr_topk_heap *heap, const pr_real *base, pr_real *scores)
{
    pr_search_query *query = &s->search;
    size_t had = s->net.d.recall ? s->had_count[0] : 0, n = 0;
    int32_t some[PR_SEARCH_ROOM];
    for (size_t i = 0; i < had; i++) {
        int32_t item = s->had[i];
        pr_search_own(query, item, -(pr_real)INFINITY, 0);
        if (query->barred[item] == 0)
            some[n++] = item;
        if (n == PR_SEARCH_ROOM || i + 1 == had) {
            offer_some(s, heap, some, n, scores);
            n = 0;
        }
    }
    if (s->few == NULL)
        return;
    const pr_near_few *few = &s->few[0];
    pr_real gate = expectation(s, 0), bar = pr_topk_least(heap);
    for (size_t i = had; i < few->count; i++) {
        int32_t item = few->items[i];
        size_t b = (size_t)query->search->places[item] / PR_SEARCH_BLOCK;
        pr_real own = query->rest[b] - base[b] + gate * few->values[i];
        pr_search_own(query, item, s->lift_sums != NULL ? own + lifted(s, 0, item) : own, bar);
    }
}

/* Items that lifts raise have bounds of their own; those of the past and linked to it have them already. */
static void bound_lifts(pr_arnn_state *s, pr_real bar)
{
    pr_search_query *query = &s->search;
    const pr_lift_sums *sums = &s->lift_sums[0];
    for (size_t i = 0; i < sums->count; i++) {
        int32_t item = sums->touched[i];
        size_t b = (size_t)query->search->places[item] / PR_SEARCH_BLOCK;
        if (s->slots[item] == 0 && lifted(s, 0, item) > 0)
            pr_search_own(query, item, query->rest[b] + lifted(s, 0, item), bar);
    }
}

/* Items that can be among the best are scored in full; the search proves that others cannot be. False if
 * too many can be. */
static bool best_by_search(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best,
                           pr_real *scores, size_t *count)
{
    pr_arnn_state *s = scorer->own;
    pr_search_query *query = &s->search;
    pr_topk_heap heap = {best, scores, 0, k};
    int32_t some[PR_SEARCH_ROOM];
    size_t n, exact = 0, most = s->net.d.items / 4 + PR_ARNN_LIKELY;
    if (!pr_search_ask(query, s->net.t.o, barred))
        return false;
    bound_rest(s, query->rest, s->expected);
    if (s->expected_of != NULL)
        *s->expected_of = NOBODY;
    pr_search_bound(query);
    if (s->net.d.recall)
        mark_past(s, 0);
    offer_past(s, &heap, s->expected, scores);
    if (s->lift_sums != NULL)
        bound_lifts(s, pr_topk_least(&heap));
    while (exact < most && (n = pr_search_next(query, pr_topk_least(&heap), some)) > 0) {
        offer_some(s, &heap, some, n, scores);
        exact += n;
    }
    if (s->net.d.recall)
        unmark_past(s, 0);
    pr_search_end(query);
    *count = pr_topk_finish(&heap);
    return exact < most;
}

/* Two steps: the k-th largest of what items score at least is a bar that others must be able to reach, and few are.
 * Those few are scored in full. */
bool pr_arnn_best(pr_scorer *scorer, const uint8_t *barred, size_t k, int32_t *best,
                  pr_real *scores, size_t *count)
{
    pr_arnn_state *s = scorer->own;
    size_t V = s->net.d.items;
    if (s->ready == NULL || scorer->active != 1 || k == 0 || 2 * k > PR_ARNN_LIKELY)
        return false;
    pr_arnn_ensure_step(scorer);
    if (s->search.search != NULL)
        return best_by_search(scorer, barred, k, best, scores, count);
    if (s->ready->coarse.rows == 0)
        return false;
    pr_coarse_ask(&s->query, &s->ready->coarse, s->net.t.o);
    if (!(s->query.slack < (pr_real)INFINITY))
        return false;
    score_least(s, barred, scores);
    size_t sure = pr_topk(best, scores, V, k);
    if (sure < k)
        return false;
    size_t n =
        pr_coarse_reach(s->likely, &s->ready->coarse, &s->query, scores, scores[best[k - 1]]);
    if (n > PR_ARNN_LIKELY)
        return false;
    pr_arnn_score(scorer, 0, s->likely, n, s->exact);
    *count = pr_topk(best, s->exact, n, k);
    for (size_t i = 0; i < *count; i++) {
        pr_real score = s->exact[best[i]];
        best[i] = s->likely[best[i]];
        scores[best[i]] = score;
    }
    return true;
}

/* ---- parts ---- */

/* What is recalled of an item and what is expected of it. */
static pr_real memory_of(const pr_arnn_state *s, size_t row, int32_t item)
{
    size_t V = s->net.d.items;
    pr_real sum = 0;
    for (size_t i = 0; s->net.d.recall && i < s->had_count[row]; i++)
        if (s->had[row * V + i] == item)
            sum += recalled(s, row, i);
    if (s->few != NULL) {
        const pr_near_few *few = &s->few[row];
        pr_real value =
            s->dense ? few->values[item] : pr_near_expect_other(&s->net.w.near, few->level, item);
        for (size_t i = 0; !s->dense && i < few->count; i++)
            value = few->items[i] == item ? few->values[i] : value;
        sum += expectation(s, row) * value;
    }
    return sum;
}

/* What the history adds to every output, less what features add with it. */
static pr_real history_of(const pr_arnn_state *s, size_t row, const pr_real *e)
{
    const pr_arnn_dims *d = &s->net.d;
    if (!d->past)
        return 0;
    pr_real sum = pr_dot(s->net.t.past + row * d->dv, e, d->dv);
    for (size_t i = 0; d->inputs->count > 0 && i < d->dv; i++)
        sum -= e[i] * pr_dot(s->net.w.past_w + i * d->dv, s->net.t.about + row * d->dv, d->dv);
    return sum;
}

/* What the p-th placed item adds to an item with the row e of the table. */
static pr_real pulled(const pr_scorer *scorer, size_t row, size_t p, const pr_real *e)
{
    const pr_arnn_state *s = scorer->own;
    size_t dv = s->net.d.dv;
    const pr_real *from = s->net.w.pull + (size_t)s->chosen[row * scorer->capacity + p] * dv;
    pr_real sum = 0, left = 1;
    for (size_t i = 0; i < dv; i++)
        sum += s->net.t.scale[row * dv + i] * from[i] * e[i];
    for (size_t later = p + 1; later < s->placed[row]; later++)
        left *= s->net.d.fade;
    return sum * left;
}

/* What the p-th placed item adds to an item by pairs of classes: only the first one of a class does. */
static pr_real pair_of(const pr_scorer *scorer, size_t row, size_t p, int32_t item)
{
    pr_arnn_state *s = scorer->own;
    const pr_pair_memory *pairs = &s->net.w.pairs;
    const int32_t *chosen = s->chosen + row * scorer->capacity;
    size_t class = pairs->class_of[chosen[p]], candidate = pairs->class_of[item];
    for (size_t before = 0; before < p; before++)
        if (pairs->class_of[chosen[before]] == class)
            return 0;
    if (class == pairs->classes || candidate == pairs->classes)
        return 0;
    pr_real log[PR_PAIR_TERMS];
    pr_pair_logs(log, &s->pair_baskets[row], pairs, &s->partners, class, candidate);
    return pair_gate(s, row, PR_PAIR_ALL) * log[PR_PAIR_ALL] +
           pair_gate(s, row, PR_PAIR_OWN) * log[PR_PAIR_OWN];
}

bool pr_arnn_score_parts(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *parts,
                         pr_real *placed)
{
    pr_arnn_state *s = scorer->own;
    const pr_arnn_dims *d = &s->net.d;
    const pr_real *e = s->net.w.item + (size_t)item * d->dv;
    if (!d->bias && !d->pull && !d->follow && !d->past && !d->recall && d->pairs == 0)
        return false;
    *parts = (pr_score_terms){.item = d->bias ? s->bias[stage_of(s, row)][item] : 0};
    if (s->trend[row] != NULL)
        parts->item += trend_weight(s, row) * s->trend[row][item];
    pr_arnn_score(scorer, row, &item, 1, &parts->network);
    pr_real own = score_weight(s, row);
    parts->history = own * history_of(s, row, e);
    parts->memory = memory_of(s, row, item);
    parts->network -= parts->item + parts->history + parts->memory;
    for (size_t p = 0; p < s->placed[row]; p++) {
        placed[p] = d->pull ? own * pulled(scorer, row, p, e) : 0;
        if (d->follow && p + 1 == s->placed[row])
            placed[p] += own * pr_dot(s->net.t.follow + row * d->dv, e, d->dv);
        if (s->partners.any != 0)
            placed[p] += pair_of(scorer, row, p, item);
        if (s->lift_sums != NULL && (!d->after || p + 1 == s->placed[row]))
            placed[p] += lift_weight(s, row) *
                         pr_lift_of(&s->net.w.lifts, s->chosen[row * scorer->capacity + p], item);
        parts->network -= placed[p];
    }
    return true;
}
