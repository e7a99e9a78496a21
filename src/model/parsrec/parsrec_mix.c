/* The mix: weights of PARSRec's score and of plain counts, by a conditional logit on baskets that
 * nothing was learnt from (docs/math.md, The mix). A question is the first step of a basket or a later
 * one. Its candidates are items of the past and those that the score and the neighbours rank first; its
 * answers are the candidates among the items that remain, in equal parts, or where baskets are lists the
 * next one. Lists are short and lead with the best, so the weights are fitted where rivals are close: a
 * logit over the whole catalogue mostly explains why nobody bought what nobody expected, and pays for
 * that with the order at the top. Under a logit, leaving out items and the answers among them changes
 * nothing else. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/choice_fit.h"
#include "model/parsrec/parsrec_scorer.h"

enum {
    QUESTIONS_MOST = 2000, /* of a stage */
    QUESTIONS_LEAST = 50,  /* in a round; fewer say too little: the score stays as it is */
    ROUNDS_MOST = 8,       /* questions about later steps of one basket */
    PAST_MOST = 160,       /* candidates of a question: items of the past, */
    STRONG_MOST = 96,      /* and by each of two rankings */
    CANDIDATES_MOST = PAST_MOST + 2 * STRONG_MOST,
    PRIOR = 1, /* case that speaks for the plain score */
    W_MOST = PR_MIX_WEIGHTS_MOST,
};

typedef struct fitting {
    pr_model *model;
    const pr_mix_data *data;
    pr_scorer *scorer;
    const pr_real *popular;
    pr_real *all;    /* [V] */
    int32_t *basket; /* [longest]: in the order in which it is placed */
    uint32_t *stamp; /* [V]: the question that an item was last a candidate of */
    uint32_t now;
    int32_t items[CANDIDATES_MOST];
    pr_real scores[CANDIDATES_MOST];
    size_t rounds; /* of questions about later steps */
    pr_choices stage[PR_MIX_STAGES];
} fitting;

const char *pr_arnn_mix_name(const pr_arnn_dims *d, size_t stage, size_t weight)
{
#define BOTH(name)                                \
    {                                             \
        "first step: " name, "later steps: " name \
    }
    static const char *const names[PR_MIX_WEIGHTS_MOST][PR_MIX_STAGES] = {
        BOTH("score"),    BOTH("count"),      BOTH("recent count"), BOTH("bought before"),
        BOTH("sessions"), BOTH("neighbours"), BOTH("days since"),   BOTH("not yet due"),
        BOTH("overdue"),  BOTH("popularity"), BOTH("recent sales"), BOTH("lift")};
#undef BOTH
    assert(weight < pr_arnn_mix_weights(d));
    size_t name = weight;
    if (weight >= pr_arnn_mix_popular(d)) /* after the gates of dates, which may be missing */
        name += PR_GATES - d->gates;
    if (weight >= pr_arnn_mix_lift(d) && !d->times)
        name++;
    return names[name][stage];
}

/* ---- questions ---- */

static void add_item(fitting *f, size_t *n, size_t most, int32_t item)
{
    if (*n >= most || f->stamp[item] == f->now)
        return;
    f->stamp[item] = f->now;
    f->items[(*n)++] = item;
}

/* Adds the items with the largest values that are no candidates yet. f->all is overwritten, and may be
 * `values`. */
static void add_strong(fitting *f, size_t *n, const pr_real *values)
{
    int32_t best[STRONG_MOST];
    for (size_t v = 0; v < f->model->items; v++)
        f->all[v] = f->stamp[v] != f->now ? values[v] : -(pr_real)INFINITY;
    size_t count = pr_topk(best, f->all, f->model->items, STRONG_MOST);
    for (size_t i = 0; i < count; i++)
        add_item(f, n, CANDIDATES_MOST, best[i]);
}

/* Brings those of rest[n] that are candidates to their front; returns how many there are. */
static size_t answers_first(fitting *f, size_t candidates, const int32_t *rest, size_t n)
{
    size_t answers = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = answers; k < candidates; k++)
            if (f->items[k] == rest[i]) {
                f->items[k] = f->items[answers];
                f->items[answers++] = rest[i];
                break;
            }
    return answers;
}

/* The question after the first `placed` items of f->basket. */
static void ask(fitting *f, const pr_basket *b, size_t placed)
{
    pr_choices *q = &f->stage[placed == 0 ? PR_MIX_FIRST : PR_MIX_LATER];
    const pr_arnn_state *s = f->scorer->own;
    size_t W = q->features, n = 0, left = b->size - placed;
    const int32_t *rest = f->basket + placed;
    if (s->net.d.follow && placed > 0)
        left = 1; /* the next item of a list */
    f->now++;
    for (size_t i = 0; i < placed; i++)
        f->stamp[f->basket[i]] = f->now;
    for (size_t i = left; placed + i < b->size; i++)
        f->stamp[rest[i]] = f->now; /* other right answers are not rivals */
    for (size_t i = 0; i < s->had_count[0]; i++)
        add_item(f, &n, PAST_MOST, s->had[i]);
    pr_scorer_score_all(f->scorer, f->all);
    add_strong(f, &n, f->all);
    add_strong(f, &n, pr_arnn_expected(s, 0));
    size_t answers = answers_first(f, n, rest, left);
    if (answers == 0)
        return;
    size_t first = q->starts[q->cases];
    float *x = q->x + first * W;
    const pr_real *trend =
        s->net.d.times ? pr_trends_at(&s->net.w.times, pr_history_now(&b->history)) : NULL;
    const pr_real *expected = pr_arnn_expected(s, 0);
    memset(x, 0, n * W * sizeof *x);
    pr_arnn_score(f->scorer, 0, f->items, n, f->scores);
    for (size_t i = 0; i < n; i++) {
        size_t v = (size_t)f->items[i];
        q->offset[first + i] = 0;
        x[i * W + PR_MIX_SCORE] = (float)f->scores[i];
        x[i * W + PR_MIX_GATES + PR_GATE_EXPECTED] = (float)expected[v];
        x[i * W + pr_arnn_mix_popular(&s->net.d)] = (float)f->popular[v];
        if (trend != NULL)
            x[i * W + pr_arnn_mix_popular(&s->net.d) + 1] = (float)trend[v];
    }
    for (size_t i = 0; placed > 0 && s->partners.any != 0 && i < n; i++) {
        float pairs = (float)s->pair_values[s->net.w.pairs.class_of[f->items[i]]];
        x[i * W + PR_MIX_SCORE] -= pairs; /* they stay as they are */
        q->offset[first + i] += pairs;
    }
    for (size_t i = 0; placed > 0 && s->lift_sums != NULL && i < n; i++)
        x[i * W + pr_arnn_mix_lift(&s->net.d)] =
            (float)s->lift_sums[0].sum[f->items[i]] / (float)placed;
    for (size_t h = 0; h < s->had_count[0]; h++)
        for (size_t i = 0; i < n; i++)
            if (f->items[i] == s->had[h])
                for (size_t k = 0; pr_gate_of(k) < s->net.d.gates; k++)
                    x[i * W + PR_MIX_GATES + pr_gate_of(k)] = (float)s->recall[h][k];
    q->taken[q->cases++] = (uint32_t)answers;
    q->starts[q->cases] = first + n;
}

static size_t rounds_of(const pr_mix_data *data)
{
    size_t rounds = QUESTIONS_MOST / data->count;
    return rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds > 0 ? rounds : 1;
}

/* Of every basket its first step; of longer ones later steps too, after a random number of items in random
 * order, or as stored where baskets are lists. Few baskets are asked several times each: otherwise the
 * weights would depend on what was drawn. */
static void ask_all(fitting *f)
{
    const pr_arnn_state *s = f->scorer->own;
    size_t count = f->data->count, most = count < QUESTIONS_MOST ? count : QUESTIONS_MOST;
    pr_rng rng = pr_rng_make(f->data->seed, UINT64_C(0x70726566)); /* "pref" */
    for (size_t i = 0; i < most; i++) {
        const pr_basket *b = &f->data->baskets[i * count / most];
        pr_start start = {.user = b->user, .history = b->history, .features = b->features};
        for (size_t round = 0; round <= f->rounds && (round == 0 || b->size > 1); round++) {
            pr_stream stream = pr_stream_at(&rng, (uint32_t)i, (uint32_t)round, 0);
            size_t placed = round == 0 ? 0 : 1 + pr_stream_below(&stream, (uint32_t)(b->size - 1));
            placed = placed < f->scorer->capacity ? placed : f->scorer->capacity;
            memcpy(f->basket, b->items, b->size * sizeof *f->basket);
            if (!s->net.d.follow)
                pr_stream_shuffle(&stream, f->basket, b->size, sizeof *f->basket);
            pr_scorer_start(f->scorer, &start, 1);
            for (size_t p = 0; p < placed; p++)
                pr_scorer_place(f->scorer, &f->basket[p]);
            ask(f, b, placed);
        }
    }
}

/* ---- all of it ---- */

static parsrec_status take_memory(fitting *f, size_t W, size_t longest, parsrec_error *err)
{
    f->all = pr_alloc(f->model->items, sizeof *f->all);
    f->basket = pr_alloc(longest, sizeof *f->basket);
    f->stamp = pr_alloc_zero(f->model->items, sizeof *f->stamp);
    for (size_t i = 0; i < PR_MIX_STAGES; i++) {
        pr_choices *q = &f->stage[i];
        size_t most = (i == PR_MIX_FIRST ? 1 : f->rounds) * f->data->count;
        most = most < QUESTIONS_MOST ? most : QUESTIONS_MOST;
        *q = (pr_choices){.features = W,
                          .starts = pr_alloc_zero(most + 1, sizeof *q->starts),
                          .taken = pr_alloc(most, sizeof *q->taken),
                          .x = pr_alloc(most * CANDIDATES_MOST * W, sizeof *q->x),
                          .offset = pr_alloc(most * CANDIDATES_MOST, sizeof *q->offset)};
        if (q->starts == NULL || q->taken == NULL || q->x == NULL || q->offset == NULL)
            return pr_fail_memory(err);
    }
    return f->stamp != NULL && f->all != NULL && f->basket != NULL ? PARSREC_OK
                                                                   : pr_fail_memory(err);
}

static void drop_feature(pr_choices *q, size_t feature)
{
    for (size_t a = 0; a < q->starts[q->cases]; a++)
        q->x[a * q->features + feature] = 0;
}

/* Weights of a stage, and what they gain over those of the counts alone. Where lifts would count against
 * an item, the score knows them already: they are left out, and answers need not look at them. */
static parsrec_status fit_stage(double *w, double *worth, pr_choices *q, const pr_arnn_dims *d,
                                pr_pool *pool, parsrec_error *err)
{
    double all, counts, plain[W_MOST], without[W_MOST] = {0};
    size_t lift = pr_arnn_mix_lift(d);
    memcpy(plain, w, sizeof plain);
    PR_TRY(pr_choice_fit(w, &all, q, PRIOR, pool, err));
    if (d->lifts > 0 && w[lift] < 0) {
        drop_feature(q, lift);
        memcpy(w, plain, sizeof plain);
        PR_TRY(pr_choice_fit(w, &all, q, PRIOR, pool, err));
        w[lift] = 0;
    }
    drop_feature(q, PR_MIX_SCORE);
    PR_TRY(pr_choice_fit(without, &counts, q, PRIOR, pool, err));
    *worth = all - counts;
    return PARSREC_OK;
}

parsrec_status pr_arnn_fit_mix(pr_model *model, const pr_mix_data *data, double *worth,
                               parsrec_error *err)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    if (!d.mix || data->count == 0)
        return PARSREC_OK;
    PR_TRY(pr_arnn_count_sales(model, data->from, err));
    pr_arnn_view v = pr_arnn_view_of(model, model->weights);
    size_t W = pr_arnn_mix_weights(&d);
    memset(v.mix, 0, PR_MIX_STAGES * W * sizeof *v.mix);
    fitting f = {.model = model, .data = data, .popular = v.popular, .rounds = rounds_of(data)};
    size_t longest = 1;
    for (size_t i = 0; i < data->count; i++)
        longest = data->baskets[i].size > longest ? data->baskets[i].size : longest;
    parsrec_status status;
    PR_TRY_GOTO(take_memory(&f, W, longest, err));
    PR_TRY_GOTO(pr_scorer_new(&f.scorer, model, 1, longest < 64 ? longest : 64, err));
    ask_all(&f);
    for (size_t i = 0; i < PR_MIX_STAGES; i++) {
        double w[W_MOST] = {[PR_MIX_SCORE] = 1};
        worth[i] = NAN;
        if (f.stage[i].cases >= QUESTIONS_LEAST * (i == PR_MIX_FIRST ? 1 : f.rounds))
            PR_TRY_GOTO(fit_stage(w, &worth[i], &f.stage[i], &d, data->pool, err));
        for (size_t k = 0; k < W; k++)
            v.mix[i * W + k] = (pr_real)w[k];
    }
done:
    pr_scorer_free(f.scorer);
    pr_free(f.stamp);
    pr_free(f.all);
    pr_free(f.basket);
    for (size_t i = 0; i < PR_MIX_STAGES; i++) {
        pr_free(f.stage[i].starts);
        pr_free(f.stage[i].taken);
        pr_free(f.stage[i].x);
        pr_free(f.stage[i].offset);
    }
    return status;
}
