/* Losses against drawn items: scores, choice and gradients of a step (docs/math.md, Drawn items). */
#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/sampled_loss.h"
#include "math/wide.h"
#include "model/parsrec/parsrec_learn.h"

/* An own candidate: any, one that is left in the basket, one that is placed and cannot be the answer. */
enum { RIVAL, LEFT, GONE };

void pr_arnn_drawn_take(pr_arnn_drawn *d, pr_arena *arena, const pr_model *model,
                        const pr_limits *limits)
{
    const pr_config *c = &model->config;
    size_t N = (size_t)c->negatives, R = limits->rows, one = sizeof(pr_real);
    size_t own = pr_limits_items(limits);
    *d = (pr_arnn_drawn){.config = c, .rows = R, .stride = limits->basket};
    N = N < model->items ? N : model->items;
    d->own_at = pr_arena_take(arena, R + 1, sizeof *d->own_at);
    d->own_row = pr_arena_take(arena, own, sizeof *d->own_row);
    d->own_state = pr_arena_take(arena, own, sizeof *d->own_state);
    d->own_expected = pr_arena_take(arena, own, one);
    d->own_score = pr_arena_take(arena, own, one);
    d->left = pr_arena_take(arena, R * d->stride, sizeof *d->left);
    d->left_count = pr_arena_take(arena, R, sizeof *d->left_count);
    d->own_slot =
        pr_arena_take_zero(arena, own + N + 1 < model->items + 1 ? own + N + 1 : model->items + 1,
                           sizeof *d->own_slot);
    d->entry = pr_arena_take(arena, R, sizeof *d->entry);
    d->level = pr_arena_take(arena, R, one);
    if (c->recall && c->neighbours > 0)
        d->expected = pr_arena_take(arena, N * R, one);
    d->score = pr_arena_take(arena, N * R, one);
    d->top = pr_arena_take(arena, R, one);
    d->sum = pr_arena_take(arena, R, one);
    d->target = pr_arena_take(arena, R, one);
    d->work = pr_arena_take(arena, 2 * R, one);
    d->winner = pr_arena_take(arena, R, sizeof *d->winner);
}

/* ---- before the first step ---- */

/* How many entries of a row's own candidates are its past. */
static size_t past_count(const pr_arnn_drawn *d, size_t r)
{
    return d->recalled != NULL ? d->recalled->raw_offsets[r + 1] - d->recalled->raw_offsets[r] : 0;
}

static void list_own(pr_arnn_drawn *d, const pr_arnn_teacher *teacher, size_t r)
{
    size_t at = d->own_at[r], past = past_count(d, r);
    for (size_t i = 0; i < past; i++) {
        int32_t item = d->recalled->raw_items[d->recalled->raw_offsets[r] + i];
        d->own_row[at + i] = pr_arnn_local_row(d->local, item);
        d->own_state[at + i] = RIVAL;
        d->own_slot[d->own_row[at + i]] = (int32_t)(i + 1);
    }
    size_t n = past;
    d->left_count[r] = teacher->count[r];
    for (size_t i = 0; i < teacher->count[r]; i++) {
        int32_t row = pr_arnn_local_row(d->local, teacher->left[r * teacher->stride + i]);
        if (d->own_slot[row] == 0) {
            d->own_row[at + n] = row;
            d->own_slot[row] = (int32_t)++n;
        }
        size_t entry = at + (size_t)d->own_slot[row] - 1;
        d->own_state[entry] = LEFT;
        d->left[r * d->stride + i] = (uint32_t)entry;
    }
    d->own_at[r + 1] = at + n;
}

PR_INLINE void levels_any(pr_real *restrict to, const pr_real *restrict level, pr_real base,
                          size_t n)
{
    for (size_t r = 0; r < n; r++)
        to[r] = level[r] * base;
}
PR_LOCAL_LEVELS(void, levels, levels_any,
                (pr_real * to, const pr_real *level, pr_real base, size_t n), (to, level, base, n))

/* Before links: the expected roots of drawn items, from the number of actions alone. */
static void expect_drawn(pr_arnn_drawn *d)
{
    for (size_t r = 0; r < d->rows; r++) {
        pr_real total = 0;
        for (size_t i = 0; i < past_count(d, r); i++)
            total += pr_repeat_times(d->recalled->raw[d->recalled->raw_offsets[r] + i]);
        d->level[r] = pr_sqrt(total);
    }
    for (size_t n = 0; n < d->local->drawn; n++)
        levels(d->expected + n * d->rows, d->level, d->near.base[d->local->ids[n]], d->rows);
}

/* What a row's past leads to expect, for drawn items and its own candidates. own_slot is that of the
 * row. */
static void expect_linked(pr_arnn_drawn *d, size_t r)
{
    const pr_arnn_local *l = d->local;
    size_t at = d->own_at[r], n = d->own_at[r + 1] - at, past = past_count(d, r);
    pr_real *own = d->own_expected + at;
    for (size_t i = 0; i < n; i++)
        own[i] = d->level[r] * d->near.base[l->ids[d->own_row[at + i]]];
    for (size_t i = 0; i < past; i++) {
        size_t h = (size_t)d->own_row[at + i];
        pr_real x = pr_sqrt(pr_repeat_times(d->recalled->raw[d->recalled->raw_offsets[r] + i]));
        for (size_t k = l->link_at[h]; k < l->link_at[h + 1]; k++) {
            size_t to = l->link_to[k];
            if (to < l->drawn)
                d->expected[to * d->rows + r] += l->link_weight[k] * x;
            if (d->own_slot[to] > 0)
                own[d->own_slot[to] - 1] += l->link_weight[k] * x;
        }
    }
    pr_near_not_below(own, n);
    for (size_t i = 0; i < past; i++)
        own[i] += pr_repeat_times(d->recalled->raw[d->recalled->raw_offsets[r] + i]);
    pr_near_logarithms(own, n);
}

void pr_arnn_drawn_begin(pr_arnn_drawn *d, const pr_chunk *chunk, const pr_arnn_local *local,
                         pr_repeats *recalled, const pr_near *near, const pr_arnn_teacher *teacher)
{
    d->chunk = chunk;
    d->local = local;
    d->recalled = recalled;
    d->near = *near;
    d->rows = chunk->rows;
    d->own_at[0] = 0;
    if (d->expected != NULL)
        expect_drawn(d);
    for (size_t r = 0; r < d->rows; r++) {
        list_own(d, teacher, r);
        if (d->expected != NULL)
            expect_linked(d, r);
        for (size_t i = d->own_at[r]; i < d->own_at[r + 1]; i++)
            d->own_slot[d->own_row[i]] = 0;
    }
    if (d->expected != NULL) {
        pr_near_not_below(d->expected, local->drawn * d->rows);
        pr_near_logarithms(d->expected, local->drawn * d->rows);
    }
}

/* ---- scores ---- */

PR_INLINE void add_gated_any(pr_real *restrict score, const pr_real *restrict gates,
                             const pr_real *restrict values, pr_real bias, size_t n)
{
    for (size_t r = 0; r < n; r++)
        score[r] += bias + gates[r] * values[r];
}
PR_LOCAL_LEVELS(void, add_gated, add_gated_any,
                (pr_real * score, const pr_real *gates, const pr_real *values, pr_real bias,
                 size_t n),
                (score, gates, values, bias, n))

/* The other terms of the scores of drawn items, without their products. */
static void add_parts(pr_arnn_drawn *d, const pr_output *out, size_t B)
{
    const pr_class_term *c = out->classes;
    for (size_t n = 0; n < d->local->drawn; n++) {
        size_t item = (size_t)d->local->ids[n];
        pr_real own = out->bias != NULL ? out->bias[item] : 0, *score = d->score + n * B;
        if (d->expected != NULL)
            add_gated(score, d->recalled->how, d->expected + n * d->rows, own, B);
        else
            for (size_t r = 0; r < B && own != 0; r++)
                score[r] += own;
        size_t of = c != NULL ? c->class_of[item] : 0;
        for (size_t r = 0; c != NULL && c->live[of] && r < B; r++)
            score[r] += c->values[of * c->stride + r];
    }
}

/* Scores of a row's own candidates, which are taken out of the drawn ones. */
static void score_own(pr_arnn_drawn *d, const pr_real *o, const pr_output *out, size_t r, size_t B)
{
    const pr_arnn_local *l = d->local;
    const pr_class_term *c = out->classes;
    size_t at = d->own_at[r], n = d->own_at[r + 1] - at, past = past_count(d, r);
    pr_real *score = d->own_score + at;
    pr_embedding_scores(score, l->seen, d->own_row + at, o + r * l->dv, n, l->dv);
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)d->own_row[at + i], item = (size_t)l->ids[row];
        if (out->bias != NULL)
            score[i] += out->bias[item];
        if (d->expected != NULL)
            score[i] += d->recalled->how[r] * d->own_expected[at + i];
        if (c != NULL && c->live[c->class_of[item]])
            score[i] += c->values[c->class_of[item] * c->stride + r];
        if (i < past)
            score[i] += d->recalled->values[d->recalled->raw_offsets[r] + i];
        if (row < l->drawn)
            d->score[row * B + r] = PR_BARRED;
    }
}

/* The best item left, if nothing else scores more; it also wins against an equal. */
static int32_t best_left(const pr_arnn_drawn *d, size_t r)
{
    pr_real most = d->top[r];
    size_t best = SIZE_MAX;
    for (size_t i = d->own_at[r]; i < d->own_at[r + 1]; i++)
        if (d->own_state[i] == RIVAL && d->own_score[i] > most)
            most = d->own_score[i];
    for (size_t i = d->own_at[r]; i < d->own_at[r + 1]; i++)
        if (d->own_state[i] == LEFT &&
            (d->own_score[i] > most || (d->own_score[i] == most && best == SIZE_MAX))) {
            most = d->own_score[i];
            best = i;
        }
    return best != SIZE_MAX ? d->local->ids[d->own_row[best]] : -1;
}

void pr_arnn_drawn_scores(pr_arnn_drawn *d, const pr_real *o, const pr_output *out, size_t B)
{
    const pr_arnn_local *l = d->local;
    pr_gemm(d->score, B, pr_mat(l->seen, l->dv), pr_flip(o, l->dv), 0, l->drawn, B, l->dv);
    add_parts(d, out, B);
    for (size_t r = 0; r < B; r++)
        score_own(d, o, out, r, B);
    pr_drawn_top(d->top, d->score, l->drawn, B);
    for (size_t r = 0; r < B; r++)
        d->winner[r] = best_left(d, r);
}

/* ---- losses ---- */

static size_t entry_of(const pr_arnn_drawn *d, size_t r, int32_t item)
{
    int32_t row = pr_arnn_local_row(d->local, item);
    const uint32_t *left = d->left + r * d->stride;
    for (size_t i = 0; i < d->left_count[r]; i++)
        if (d->own_row[left[i]] == row && d->own_state[left[i]] == LEFT)
            return left[i];
    assert(false); /* a target is an item that was left */
    return 0;
}

/* Row r's part of the softmax: own scores become gradients, sum[r] what drawn ones are multiplied by.
 * Returns the loss. */
static double own_softmax(pr_arnn_drawn *d, const pr_output *out, size_t r, size_t target,
                          pr_real factor)
{
    size_t at = d->own_at[r], end = d->own_at[r + 1];
    size_t others = out->soft.share > 0 ? out->soft.counts[r] : 0;
    pr_real each = others > 0 ? out->soft.share / (pr_real)(others + 1) : 0;
    pr_real main = others > 0 ? 1 - out->soft.share + each : 1;
    pr_real sum = d->sum[r], hit = 0, *score = d->own_score;
    for (size_t i = at; i < end; i++) {
        if (d->own_state[i] == GONE) {
            score[i] = 0;
            continue;
        }
        hit += (i == target ? main : d->own_state[i] == LEFT ? each : 0) * (score[i] - d->top[r]);
        score[i] = pr_exp(score[i] - d->top[r]);
        sum += score[i];
    }
    pr_real by = factor / sum;
    for (size_t i = at; i < end; i++) {
        score[i] *= by;
        if (d->own_state[i] == LEFT)
            score[i] -= factor * (i == target ? main : each);
    }
    d->sum[r] = by;
    return (double)(pr_log(sum) - hit);
}

static double sampled_loss(pr_arnn_drawn *d, const pr_output *out, const size_t *entry,
                           pr_real factor, size_t B)
{
    double loss = 0;
    for (size_t r = 0; r < B; r++) {
        d->top[r] = PR_BARRED;
        for (size_t i = d->own_at[r]; i < d->own_at[r + 1]; i++)
            if (d->own_state[i] != GONE && d->own_score[i] > d->top[r])
                d->top[r] = d->own_score[i];
    }
    pr_drawn_exponentials(d->score, d->top, d->sum, d->local->more, d->local->drawn, B);
    for (size_t r = 0; r < B; r++)
        loss += own_softmax(d, out, r, entry[r], factor);
    pr_drawn_scale(d->score, d->sum, d->local->drawn, B);
    return loss;
}

/* Of pairs of the target and drawn items; nothing in the basket is a wrong answer. */
static double pairwise_loss(pr_arnn_drawn *d, const size_t *entry, pr_real factor, size_t B)
{
    for (size_t r = 0; r < B; r++) {
        const pr_basket *b = &d->chunk->batch->baskets[d->chunk->order[r]];
        d->target[r] = d->own_score[entry[r]];
        for (size_t i = 0; i < b->size; i++) {
            size_t row = (size_t)pr_arnn_local_row(d->local, b->items[i]);
            if (row < d->local->drawn)
                d->score[row * B + r] = PR_BARRED;
        }
    }
    double loss = pr_pairwise_gradient(d->score, d->target, d->work, d->local->more, factor,
                                       d->local->drawn, B);
    for (size_t r = 0; r < B; r++) {
        for (size_t i = d->own_at[r]; i < d->own_at[r + 1]; i++)
            d->own_score[i] = 0;
        d->own_score[entry[r]] = d->target[r];
    }
    return loss;
}

/* ---- gradients ---- */

PR_INLINE void gated_gradient_any(pr_real *restrict dgates, const pr_real *restrict score,
                                  const pr_real *restrict values, size_t n)
{
    for (size_t r = 0; r < n; r++)
        dgates[r] += score[r] * values[r];
}
PR_LOCAL_LEVELS(void, gated_gradient, gated_gradient_any,
                (pr_real * dgates, const pr_real *score, const pr_real *values, size_t n),
                (dgates, score, values, n))

PR_LOCAL_LEVELS(pr_real, sum_of, pr_sum, (const pr_real *x, size_t n), (x, n))

static void drawn_parts_gradient(pr_arnn_drawn *d, pr_real *dbias, const pr_class_term *c, size_t B)
{
    for (size_t n = 0; n < d->local->drawn; n++) {
        const pr_real *score = d->score + n * B;
        if (dbias != NULL)
            dbias[n] += sum_of(score, B);
        if (d->expected != NULL)
            gated_gradient(d->recalled->dhow, score, d->expected + n * d->rows, B);
        size_t of = c != NULL ? c->class_of[d->local->ids[n]] : 0;
        for (size_t r = 0; c != NULL && c->live[of] && r < B; r++)
            c->gradients[of * c->stride + r] += score[r];
    }
}

static void own_parts_gradient(pr_arnn_drawn *d, pr_real *dbias, const pr_class_term *c, size_t r)
{
    size_t at = d->own_at[r], n = d->own_at[r + 1] - at, past = past_count(d, r);
    const pr_real *score = d->own_score + at;
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)d->own_row[at + i];
        if (i < past)
            d->recalled->gradients[d->recalled->raw_offsets[r] + i] = score[i];
        if (dbias != NULL)
            dbias[row] += score[i];
        if (d->expected != NULL)
            d->recalled->dhow[r] += score[i] * d->own_expected[at + i];
        size_t of = c != NULL ? c->class_of[d->local->ids[row]] : 0;
        if (c != NULL && c->live[of])
            c->gradients[of * c->stride + r] += score[i];
    }
}

/* do_[D] += sum of score · seen row, drow += score · o. */
PR_INLINE void own_product_any(pr_real *restrict do_, pr_real *restrict dtable,
                               const pr_real *restrict score, const int32_t *restrict row,
                               const pr_real *restrict o, const pr_real *restrict seen, size_t n,
                               size_t D)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)row[i] * D;
        pr_add_scaled(do_, seen + at, score[i], D);
        pr_add_scaled(dtable + at, o, score[i], D);
    }
}
PR_LOCAL_LEVELS(void, own_product, own_product_any,
                (pr_real * do_, pr_real *dtable, const pr_real *score, const int32_t *row,
                 const pr_real *o, const pr_real *seen, size_t n, size_t D),
                (do_, dtable, score, row, o, seen, n, D))

static void product_gradient(pr_real *do_, pr_real *dtable, pr_arnn_drawn *d, const pr_real *o,
                             size_t B)
{
    const pr_arnn_local *l = d->local;
    size_t D = l->dv;
    pr_gemm(do_, D, pr_flip(d->score, B), pr_mat(l->seen, D), 0, B, D, l->drawn);
    pr_gemm(dtable, D, pr_mat(d->score, B), pr_mat(o, D), 1, l->drawn, D, B);
    for (size_t r = 0; r < B; r++)
        own_product(do_ + r * D, dtable, d->own_score + d->own_at[r], d->own_row + d->own_at[r],
                    o + r * D, l->seen, d->own_at[r + 1] - d->own_at[r], D);
}

double pr_arnn_drawn_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_arnn_drawn *d,
                              const pr_real *o, const pr_output *out, const int32_t *target,
                              pr_real factor, size_t B)
{
    const pr_class_term *c = out->classes;
    size_t *entry = d->entry;
    for (size_t r = 0; r < B; r++)
        entry[r] = entry_of(d, r, target[r]);
    double loss = d->config->loss == PR_LOSS_BPR ? pairwise_loss(d, entry, factor, B)
                                                 : sampled_loss(d, out, entry, factor, B);
    if (d->expected != NULL)
        memset(d->recalled->dhow, 0, B * sizeof *d->recalled->dhow);
    for (size_t of = 0; c != NULL && of < c->classes; of++)
        if (c->live[of])
            memset(c->gradients + of * c->stride, 0, B * sizeof *c->gradients);
    drawn_parts_gradient(d, dbias, c, B);
    for (size_t r = 0; r < B; r++)
        own_parts_gradient(d, dbias, c, r);
    product_gradient(do_, dtable, d, o, B);
    for (size_t r = 0; r < B; r++)
        d->own_state[entry[r]] = d->config->unique ? GONE : RIVAL;
    return loss;
}
