/* Scores of PARSRec's open baskets: of all items, of some, of the best; and the parts that they are sums of. */
#include "math/linear.h"
#include "math/panels.h"
#include "math/topk.h"
#include "math/wide.h"
#include "model/parsrec/parsrec_state.h"

/* What item i of the row's past is recalled with. */
static pr_real recalled(const pr_arnn_state *s, size_t row, size_t i)
{
    const pr_real *f = s->recall[row * s->net.d.items + i];
    const pr_real *gate = s->net.t.gate + row * PR_GATES;
    pr_real sum = 0;
    for (size_t k = 0; k < PR_REPEAT_FEATURES; k++)
        sum += gate[k] * f[k];
    return sum;
}

/* The gate of what neighbours lead to expect. */
static pr_real expectation(const pr_arnn_state *s, size_t row)
{
    return s->net.t.gate[row * PR_GATES + PR_GATE_EXPECTED];
}

PR_LOCAL_LEVELS(void, add_expected, pr_add_scaled,
                (pr_real * y, const pr_real *x, pr_real factor, size_t n), (y, x, factor, n))

/* All that is said of items besides the output: added to scores[V] of a row. */
static void add_memory(const pr_arnn_state *s, size_t row, pr_real *scores)
{
    size_t V = s->net.d.items;
    if (!s->net.d.recall)
        return;
    for (size_t i = 0; i < s->had_count[row]; i++)
        scores[s->had[row * V + i]] += recalled(s, row, i);
    if (s->expected != NULL)
        add_expected(scores, s->expected + row * V, expectation(s, row), V);
}

void pr_arnn_score_all(pr_scorer *session, pr_real *scores)
{
    const pr_arnn_state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t rows = session->active;
    pr_arnn_run(session);
    if (d->bias)
        pr_bias_spread(scores, s->net.w.bias, rows, d->items);
    if (s->ready != NULL)
        pr_panels_map(scores, d->items, d->bias, s->net.t.o, d->dv, s->ready->table, rows, d->dv,
                      d->items);
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
        scores[i] = d->bias ? s->net.w.bias[items[i]] : 0;
    if (s->ready != NULL) {
        pr_panels_add_some(scores, o, s->net.w.item, items, n, d->dv);
        return;
    }
    for (size_t i = 0; i < n; i++)
        scores[i] += pr_dot(s->net.w.item + (size_t)items[i] * d->dv, o, d->dv);
}

void pr_arnn_score(pr_scorer *session, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    pr_arnn_state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    pr_arnn_run(session);
    score_output(s, row, items, n, scores);
    if (!d->recall)
        return;
    const int32_t *had = s->had + row * d->items;
    for (size_t i = 0; i < s->had_count[row]; i++)
        s->slots[had[i]] = (int32_t)i + 1;
    for (size_t i = 0; i < n; i++) {
        if (s->slots[items[i]] > 0)
            scores[i] += recalled(s, row, (size_t)s->slots[items[i]] - 1);
        if (s->expected != NULL)
            scores[i] += expectation(s, row) * s->expected[row * d->items + (size_t)items[i]];
    }
    for (size_t i = 0; i < s->had_count[row]; i++)
        s->slots[had[i]] = 0;
}

/* ---- the best ---- */

/* The least that every item scores; barred ones lose. */
static void score_least(pr_arnn_state *s, const uint8_t *barred, pr_real *least)
{
    const pr_arnn_dims *d = &s->net.d;
    pr_coarse_least(least, &s->ready->coarse, &s->query);
    if (d->bias)
        pr_add(least, s->net.w.bias, d->items);
    add_memory(s, 0, least);
    pr_topk_bar(least, barred, UINT8_MAX, d->items);
}

/* Two steps: the k-th largest of what items score at least is a bar that others must be able to reach, and few are.
 * Those few are scored in full. */
bool pr_arnn_best(pr_scorer *session, const uint8_t *barred, size_t k, int32_t *best,
                  pr_real *scores, size_t *count)
{
    pr_arnn_state *s = session->own;
    size_t V = s->net.d.items;
    if (s->ready == NULL || session->active != 1 || k == 0 || 2 * k > PR_ARNN_LIKELY)
        return false;
    pr_arnn_run(session);
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
    pr_arnn_score(session, 0, s->likely, n, s->exact);
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
    if (s->expected != NULL)
        sum += expectation(s, row) * s->expected[row * V + (size_t)item];
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
static pr_real pulled(const pr_scorer *session, size_t row, size_t p, const pr_real *e)
{
    const pr_arnn_state *s = session->own;
    size_t dv = s->net.d.dv;
    const pr_real *from = s->net.w.pull + (size_t)s->chosen[row * session->capacity + p] * dv;
    pr_real sum = 0, left = 1;
    for (size_t i = 0; i < dv; i++)
        sum += s->net.t.scale[row * dv + i] * from[i] * e[i];
    for (size_t later = p + 1; later < s->placed[row]; later++)
        left *= s->net.d.fade;
    return sum * left;
}

bool pr_arnn_score_parts(pr_scorer *session, size_t row, int32_t item, pr_score_terms *parts,
                         pr_real *placed)
{
    pr_arnn_state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    const pr_real *e = s->net.w.item + (size_t)item * d->dv;
    if (!d->bias && !d->pull && !d->follow && !d->past && !d->recall)
        return false;
    *parts = (pr_score_terms){.item = d->bias ? s->net.w.bias[item] : 0};
    pr_arnn_score(session, row, &item, 1, &parts->network);
    parts->history = history_of(s, row, e);
    parts->memory = memory_of(s, row, item);
    parts->network -= parts->item + parts->history + parts->memory;
    for (size_t p = 0; p < s->placed[row]; p++) {
        placed[p] = d->pull ? pulled(session, row, p, e) : 0;
        if (d->follow && p + 1 == s->placed[row])
            placed[p] += pr_dot(s->net.t.follow + row * d->dv, e, d->dv);
        parts->network -= placed[p];
    }
    return true;
}
