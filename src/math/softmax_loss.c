/* Softmax cross entropy over the whole catalogue, fused with scores, best item and gradients. */
#include "math/softmax_loss.h"

#include "math/blas.h"
#include "math/dropout.h"
#include "math/wide.h"

static size_t tile_rows(size_t first, size_t V)
{
    return V - first < PR_TILE ? V - first : PR_TILE;
}

/* The largest score of each basket in the tile, and the best item so far. */
PR_INLINE void tile_best_any(pr_softmax *s, pr_real *top, size_t first, size_t rows, size_t B)
{
    const pr_real *score = s->score + first * B;
    memcpy(top, score, B * sizeof *top);
    int32_t *restrict winner = s->winner;
    pr_real *restrict best = s->best;
    for (size_t v = 0; v < rows; v++) {
        const pr_real *restrict row = score + v * B;
        int32_t item = (int32_t)(first + v);
        for (size_t r = 0; r < B; r++) {
            top[r] = row[r] > top[r] ? row[r] : top[r];
            winner[r] = row[r] > best[r] ? item : winner[r];
            best[r] = row[r] > best[r] ? row[r] : best[r];
        }
    }
}
PR_LOCAL_LEVELS(void, tile_best, tile_best_any,
                (pr_softmax * s, pr_real *top, size_t first, size_t rows, size_t B),
                (s, top, first, rows, B))

PR_INLINE void tile_exponentials_any(pr_real *restrict score, pr_real *restrict total,
                                     const pr_real *restrict top, size_t rows, size_t B)
{
    memset(total, 0, B * sizeof *total);
    for (size_t v = 0; v < rows; v++)
        for (size_t r = 0; r < B; r++) {
            pr_real e = pr_exp(score[v * B + r] - top[r]);
            score[v * B + r] = e;
            total[r] += e;
        }
}
PR_LOCAL_LEVELS(void, tile_exponentials, tile_exponentials_any,
                (pr_real *restrict score, pr_real *restrict total, const pr_real *restrict top,
                 size_t rows, size_t B),
                (score, total, top, rows, B))

PR_INLINE void tile_gradient_any(pr_real *restrict score, const pr_real *restrict factor,
                                 size_t rows, size_t B)
{
    for (size_t v = 0; v < rows; v++)
        for (size_t r = 0; r < B; r++)
            score[v * B + r] *= factor[r];
}
PR_LOCAL_LEVELS(void, tile_gradient, tile_gradient_any,
                (pr_real *restrict score, const pr_real *restrict factor, size_t rows, size_t B),
                (score, factor, rows, B))

/* The masked rows of the table from `first` on; they are kept for the second pass. */
static const pr_real *masked_tile(pr_softmax *s, const pr_output *out, size_t first, size_t rows,
                                  size_t D)
{
    size_t at = first * D;
    if (out->keep == NULL)
        return out->table + at;
    pr_drop_forward(s->dropped + at, out->table + at, out->keep + at / 8, out->scale, rows * D);
    return s->dropped + at;
}

static void add_extra(pr_real *score, const pr_extra *x, size_t t, size_t first, size_t B)
{
    const size_t *offsets = x->offsets + t * x->stride;
    for (size_t r = 0; r < B; r++)
        for (size_t i = offsets[r]; i < offsets[r + 1]; i++)
            score[((size_t)x->items[i] - first) * B + r] += x->values[i];
}

PR_INLINE void add_bias_any(pr_real *restrict score, const pr_real *restrict bias, size_t rows,
                            size_t B)
{
    for (size_t v = 0; v < rows; v++)
        for (size_t r = 0; r < B; r++)
            score[v * B + r] += bias[v];
}
PR_LOCAL_LEVELS(void, add_bias, add_bias_any,
                (pr_real *restrict score, const pr_real *restrict bias, size_t rows, size_t B),
                (score, bias, rows, B))

PR_INLINE void add_dense_any(pr_real *restrict score, const pr_dense *d, const pr_real *bias,
                             size_t first, size_t rows, size_t B)
{
    const pr_real *restrict gates = d->gates;
    for (size_t v = 0; v < rows; v++) {
        const pr_real *restrict values = d->values + (first + v) * d->stride;
        pr_real own = bias != NULL ? bias[v] : 0;
        for (size_t r = 0; r < B; r++)
            score[v * B + r] += gates[r] * values[r] + own;
    }
}
PR_LOCAL_LEVELS(void, add_dense, add_dense_any,
                (pr_real *restrict score, const pr_dense *d, const pr_real *bias, size_t first,
                 size_t rows, size_t B),
                (score, d, bias, first, rows, B))

PR_INLINE void add_classes_any(pr_real *restrict score, const pr_class_term *c, size_t first,
                               size_t rows, size_t B)
{
    for (size_t v = 0; v < rows; v++) {
        size_t of = c->class_of[first + v];
        const pr_real *restrict values = c->values + of * c->stride;
        if (c->live[of])
            for (size_t r = 0; r < B; r++)
                score[v * B + r] += values[r];
    }
}
PR_LOCAL_LEVELS(void, add_classes, add_classes_any,
                (pr_real *restrict score, const pr_class_term *c, size_t first, size_t rows,
                 size_t B),
                (score, c, first, rows, B))

/* Adds all terms of a tile's scores other than the product. */
static void add_parts(pr_real *score, const pr_output *out, size_t t, size_t first, size_t rows,
                      size_t B)
{
    const pr_real *bias = out->bias != NULL ? out->bias + first : NULL;
    if (out->dense != NULL)
        add_dense(score, out->dense, bias, first, rows, B);
    else if (bias != NULL)
        add_bias(score, bias, rows, B);
    if (out->extra != NULL)
        add_extra(score, out->extra, t, first, B);
    if (out->classes != NULL)
        add_classes(score, out->classes, first, rows, B);
}

static void bar_taken(pr_real *score, const pr_taken *taken, size_t first, size_t rows, size_t B)
{
    for (size_t p = 0; p < taken->count; p++)
        for (size_t r = 0; r < B; r++) {
            size_t v = (size_t)taken->items[taken->at[p] + r] - first;
            if (v < rows)
                score[v * B + r] = PR_BARRED;
        }
}

void pr_softmax_scores(pr_softmax *s, const pr_real *o, const pr_output *out, size_t B, size_t V,
                       size_t D)
{
    for (size_t r = 0; r < B; r++) {
        s->best[r] = -(pr_real)INFINITY;
        s->winner[r] = 0;
    }
    for (size_t first = 0, t = 0; first < V; first += PR_TILE, t++) {
        size_t rows = tile_rows(first, V);
        const pr_real *table = masked_tile(s, out, first, rows, D);
        pr_real *score = s->score + first * B, *top = s->top + t * B;
        pr_gemm(score, B, pr_mat(table, D), pr_flip(o, D), 0, rows, B, D);
        add_parts(score, out, t, first, rows, B);
        bar_taken(score, &out->taken, first, rows, B);
        tile_best(s, top, first, rows, B);
        tile_exponentials(score, s->total + t * B, top, rows, B);
    }
}

static void extra_gradient(const pr_extra *x, const pr_real *score, size_t tiles, size_t B)
{
    for (size_t t = 0; t < tiles; t++) {
        const size_t *offsets = x->offsets + t * x->stride;
        for (size_t r = 0; r < B; r++)
            for (size_t i = offsets[r]; i < offsets[r + 1]; i++)
                x->gradients[i] = score[(size_t)x->items[i] * B + r];
    }
}

PR_INLINE void dense_gradient_any(const pr_dense *d, const pr_real *score, size_t V, size_t B)
{
    pr_real *restrict dgates = d->dgates;
    memset(dgates, 0, B * sizeof *dgates);
    for (size_t v = 0; v < V; v++) {
        const pr_real *restrict values = d->values + v * d->stride;
        for (size_t r = 0; r < B; r++)
            dgates[r] += score[v * B + r] * values[r];
    }
}
PR_LOCAL_LEVELS(void, dense_gradient, dense_gradient_any,
                (const pr_dense *d, const pr_real *score, size_t V, size_t B), (d, score, V, B))

PR_INLINE void class_gradient_any(const pr_class_term *c, const pr_real *score, size_t V, size_t B)
{
    for (size_t of = 0; of < c->classes; of++)
        if (c->live[of])
            memset(c->gradients + of * c->stride, 0, B * sizeof *c->gradients);
    for (size_t v = 0; v < V; v++) {
        size_t of = c->class_of[v];
        pr_real *restrict gradients = c->gradients + of * c->stride;
        if (c->live[of])
            for (size_t r = 0; r < B; r++)
                gradients[r] += score[v * B + r];
    }
}
PR_LOCAL_LEVELS(void, class_gradient, class_gradient_any,
                (const pr_class_term *c, const pr_real *score, size_t V, size_t B),
                (c, score, V, B))

PR_INLINE void bias_gradient_any(pr_real *dbias, const pr_real *score, size_t V, size_t B)
{
    for (size_t v = 0; v < V; v++)
        dbias[v] += pr_sum(score + v * B, B);
}
PR_LOCAL_LEVELS(void, bias_gradient, bias_gradient_any,
                (pr_real * dbias, const pr_real *score, size_t V, size_t B), (dbias, score, V, B))

/* Combines the tiles' sums into one per basket, and turns total[t,r] into the factor for the
 * exponentials of tile t. Returns the sum of the losses. */
static double join_tiles(pr_softmax *s, const pr_real *target_score, pr_real factor, size_t tiles,
                         size_t B)
{
    double loss = 0;
    for (size_t r = 0; r < B; r++) {
        pr_real sum = 0;
        for (size_t t = 0; t < tiles; t++)
            sum += s->total[t * B + r] * pr_exp(s->top[t * B + r] - s->best[r]);
        for (size_t t = 0; t < tiles; t++)
            s->total[t * B + r] = factor * pr_exp(s->top[t * B + r] - s->best[r]) / sum;
        loss += (double)(pr_log(sum) + s->best[r] - target_score[r]);
    }
    return loss;
}

/* The scores of the targets as computed in the first pass; means if targets are soft. */
PR_INLINE void target_scores_any(pr_real *y, const int32_t *target, const pr_real *o,
                                 const pr_output *out, const pr_real *table, size_t B, size_t D)
{
    const pr_soft *soft = &out->soft;
    for (size_t r = 0; r < B; r++) {
        y[r] =
            pr_output_score(pr_dot(o + r * D, table + (size_t)target[r] * D, D), out, r, target[r]);
        if (!(soft->share > 0))
            continue;
        pr_real sum = y[r];
        for (size_t i = 0; i < soft->counts[r]; i++) {
            int32_t item = soft->items[r * soft->stride + i];
            sum += pr_output_score(pr_dot(o + r * D, table + (size_t)item * D, D), out, r, item);
        }
        y[r] += soft->share * (sum / (pr_real)(soft->counts[r] + 1) - y[r]);
    }
}
PR_LOCAL_LEVELS(void, target_scores, target_scores_any,
                (pr_real * y, const int32_t *target, const pr_real *o, const pr_output *out,
                 const pr_real *table, size_t B, size_t D),
                (y, target, o, out, table, B, D))

/* dtable's tile += the tile's score gradients · o, through the mask. */
static void table_gradient(pr_real *dtable, pr_softmax *s, const pr_real *o, const pr_output *out,
                           size_t first, size_t rows, size_t B, size_t D)
{
    size_t at = first * D;
    pr_matrix score = pr_mat(s->score + first * B, B);
    if (out->keep == NULL) {
        pr_gemm(dtable + at, D, score, pr_mat(o, D), 1, rows, D, B);
        return;
    }
    pr_gemm(s->tile, D, score, pr_mat(o, D), 0, rows, D, B);
    pr_drop_backward(dtable + at, s->tile, out->keep + at / 8, out->scale, rows * D);
}

double pr_softmax_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_softmax *s,
                           const pr_real *o, const pr_output *out, const int32_t *target,
                           pr_real factor, size_t B, size_t V, size_t D)
{
    const pr_real *table = out->keep != NULL ? s->dropped : out->table;
    target_scores(s->tile, target, o, out, table, B, D);
    double loss = join_tiles(s, s->tile, factor, pr_tiles(V), B);
    for (size_t t = 0; t < pr_tiles(V); t++)
        tile_gradient(s->score + t * PR_TILE * B, s->total + t * B, tile_rows(t * PR_TILE, V), B);
    for (size_t r = 0; r < B; r++) {
        pr_real each = 0;
        if (out->soft.share > 0) {
            each = factor * out->soft.share / (pr_real)(out->soft.counts[r] + 1);
            for (size_t i = 0; i < out->soft.counts[r]; i++)
                s->score[(size_t)out->soft.items[r * out->soft.stride + i] * B + r] -= each;
            each -= factor * out->soft.share;
        }
        s->score[(size_t)target[r] * B + r] -= factor + each;
    }
    if (out->extra != NULL)
        extra_gradient(out->extra, s->score, pr_tiles(V), B);
    if (out->dense != NULL)
        dense_gradient(out->dense, s->score, V, B);
    if (out->classes != NULL)
        class_gradient(out->classes, s->score, V, B);
    if (dbias != NULL)
        bias_gradient(dbias, s->score, V, B);
    for (size_t first = 0; first < V; first += PR_TILE) {
        size_t rows = tile_rows(first, V);
        pr_gemm(do_, D, pr_flip(s->score + first * B, B), pr_mat(table + first * D, D), first > 0,
                B, D, rows);
        table_gradient(dtable, s, o, out, first, rows, B, D);
    }
    return loss;
}

static pr_real table_entry(const pr_output *out, size_t i)
{
    if (out->keep == NULL)
        return out->table[i];
    return out->keep[i / 8] >> (i % 8) & 1 ? out->scale * out->table[i] : 0;
}

/* p = softmax of one row's scores; returns its loss. */
static double row_plain(pr_real *p, int32_t *winner, const pr_real *o, const pr_output *out,
                        size_t target, size_t V, size_t D)
{
    size_t top = 0;
    for (size_t v = 0; v < V; v++) {
        p[v] = 0;
        for (size_t i = 0; i < D; i++)
            p[v] += o[i] * table_entry(out, v * D + i);
        top = p[v] > p[top] ? v : top;
    }
    *winner = (int32_t)top;
    double best = (double)p[top], sum = 0, target_score = (double)p[target];
    for (size_t v = 0; v < V; v++)
        sum += exp((double)p[v] - best);
    for (size_t v = 0; v < V; v++)
        p[v] = (pr_real)(exp((double)p[v] - best) / sum);
    return log(sum) + best - target_score;
}

double pr_softmax_loss_plain(pr_real *do_, pr_real *dtable, int32_t *winner, pr_real *p,
                             const pr_real *o, const pr_output *out, const int32_t *target,
                             pr_real factor, size_t B, size_t V, size_t D)
{
    double loss = 0;
    for (size_t r = 0; r < B; r++) {
        loss += row_plain(p, &winner[r], o + r * D, out, (size_t)target[r], V, D);
        p[target[r]] -= 1;
        memset(do_ + r * D, 0, D * sizeof *do_);
        for (size_t i = 0; i < V * D; i++) {
            pr_real d = factor * p[i / D];
            do_[r * D + i % D] += d * table_entry(out, i);
            if (table_entry(out, i) != 0 || out->keep == NULL)
                dtable[i] += d * o[r * D + i % D] * (out->keep != NULL ? out->scale : 1);
        }
    }
    return loss;
}
