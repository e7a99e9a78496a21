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
#include "model/count_features.h"
#include "model/parsrec/parsrec_scorer.h"

enum {
    QUESTIONS_LEAST = 50, /* in a round; fewer say too little: the score stays as it is */
    ROUNDS_MOST = 8,      /* questions about later steps of one basket */
    PAST_MOST = 160,      /* candidates of a question: items of the past, */
    STRONG_MOST = 96,     /* and by each of two rankings */
    CANDIDATES_MOST = PAST_MOST + 2 * STRONG_MOST,
    PRIOR = 1, /* case that speaks for the plain score */
    /* Baskets side by side, so that the table of items is read once for all of them. In smaller catalogues one:
     * a product of several rows rounds differently. */
    GROUP = 8,
    GROUPED_LEAST = 1 << 18, /* items */
    W_MOST = PR_MIX_WEIGHTS_MOST,
};

/* The score takes part where it adds more than this to the mean log chance of an item under counts alone. Where
 * it adds less, counts are right by themselves, and its errors would only be added to theirs; but features of a
 * user or a session, where they are on, are known to it alone. */
static const double least_gain = 0.005;

/* What a thread needs to ask. */
typedef struct asker {
    pr_scorer *scorer;
    pr_real *all;     /* [group,V] */
    int32_t *baskets; /* [group,longest]: in the order in which they are placed */
    uint32_t *stamp;  /* [V]: the question that an item was last a candidate of */
    uint32_t now;
    int32_t items[CANDIDATES_MOST];
    pr_real scores[CANDIDATES_MOST];
} asker;

typedef struct fitting {
    pr_model *model;
    const pr_mix_data *data;
    const pr_real *popular;
    size_t group, longest; /* baskets side by side; items of the largest one */
    size_t room;           /* candidates of a question, at most */
    asker *askers;         /* [threads] */
    /* The stages are fitted one after the other, in the same memory: questions are by far the most of it. A
     * question has a place of its own, whoever asks it; then those without an answer are left out
     * (close_up). */
    size_t stage;
    size_t rounds; /* questions about each basket */
    pr_choices questions;
    size_t *candidates; /* [places]; 0: no answer is among them */
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

static void add_item(asker *own, size_t *n, size_t most, int32_t item)
{
    if (*n >= most || own->stamp[item] == own->now)
        return;
    own->stamp[item] = own->now;
    own->items[(*n)++] = item;
}

/* Adds the items with the largest values that are no candidates yet. room[V] is overwritten, and may be
 * `values`. */
static void add_strong(asker *own, size_t *n, const pr_real *values, pr_real *room)
{
    int32_t best[STRONG_MOST];
    for (size_t v = 0; v < own->scorer->model->items; v++)
        room[v] = own->stamp[v] != own->now ? values[v] : -(pr_real)INFINITY;
    size_t count = pr_topk(best, room, own->scorer->model->items, STRONG_MOST);
    for (size_t i = 0; i < count; i++)
        add_item(own, n, CANDIDATES_MOST, best[i]);
}

/* Brings those of rest[n] that are candidates to their front; returns how many there are. */
static size_t answers_first(asker *own, size_t candidates, const int32_t *rest, size_t n)
{
    size_t answers = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = answers; k < candidates; k++)
            if (own->items[k] == rest[i]) {
                own->items[k] = own->items[answers];
                own->items[answers++] = rest[i];
                break;
            }
    return answers;
}

/* The question of a row after the first `placed` items of its basket, into its place. The row is scored. */
static void ask(const fitting *f, asker *own, size_t row, const pr_basket *b, size_t placed,
                size_t place)
{
    const pr_choices *q = &f->questions;
    const pr_arnn_state *s = own->scorer->own;
    size_t V = s->net.d.items, W = q->features, n = 0, left = b->size - placed;
    const int32_t *basket = own->baskets + row * f->longest, *rest = basket + placed;
    const int32_t *had = s->had + row * V;
    pr_real *scores = own->all + row * V;
    if (s->net.d.follow && placed > 0)
        left = 1; /* the next item of a list */
    own->now++;
    for (size_t i = 0; i < placed; i++)
        own->stamp[basket[i]] = own->now;
    for (size_t i = left; placed + i < b->size; i++)
        own->stamp[rest[i]] = own->now; /* other right answers are not rivals */
    for (size_t i = 0; i < s->had_count[row]; i++)
        add_item(own, &n, PAST_MOST, had[i]);
    add_strong(own, &n, scores, scores);
    add_strong(own, &n, pr_arnn_expected(s, row), scores);
    size_t answers = answers_first(own, n, rest, left);
    if (answers == 0)
        return;
    size_t first = place * f->room;
    float *x = q->x + first * W;
    const pr_real *trend =
        s->net.d.times ? pr_trends_at(&s->net.w.times, pr_history_now(&b->history)) : NULL;
    const pr_real *expected = pr_arnn_expected(s, row);
    memset(x, 0, n * W * sizeof *x);
    pr_arnn_score(own->scorer, row, own->items, n, own->scores);
    for (size_t i = 0; i < n; i++) {
        size_t v = (size_t)own->items[i];
        q->offset[first + i] = 0;
        x[i * W + PR_MIX_SCORE] = (float)own->scores[i];
        x[i * W + PR_MIX_GATES + PR_GATE_EXPECTED] = (float)expected[v];
        x[i * W + pr_arnn_mix_popular(&s->net.d)] = (float)f->popular[v];
        if (trend != NULL)
            x[i * W + pr_arnn_mix_popular(&s->net.d) + 1] = (float)trend[v];
    }
    for (size_t i = 0; placed > 0 && s->partners.any != 0 && i < n; i++) {
        float pairs =
            (float)
                s->pair_values[row * (s->net.d.pairs + 1) + s->net.w.pairs.class_of[own->items[i]]];
        x[i * W + PR_MIX_SCORE] -= pairs; /* they stay as they are */
        q->offset[first + i] += pairs;
    }
    for (size_t i = 0; placed > 0 && s->lift_sums != NULL && i < n; i++)
        x[i * W + pr_arnn_mix_lift(&s->net.d)] =
            (float)(s->lift_sums[row].sum[own->items[i]] / pr_arnn_lifted(s, row));
    for (size_t h = 0; h < s->had_count[row]; h++)
        for (size_t i = 0; i < n; i++)
            if (own->items[i] == had[h])
                for (size_t k = 0; pr_gate_of(k) < s->net.d.gates; k++)
                    x[i * W + PR_MIX_GATES + pr_gate_of(k)] = (float)s->recall[row * V + h][k];
    q->taken[place] = (uint32_t)answers;
    f->candidates[place] = n;
}

/* One for the first step. Few baskets are asked about later steps several times each: otherwise the weights
 * would depend on what was drawn. */
static size_t rounds_of(size_t stage, size_t baskets, size_t questions)
{
    size_t rounds = questions / baskets;
    assert(rounds > 0);
    return stage == PR_MIX_FIRST ? 1 : rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
}

/* Questions about the first steps of some baskets; or about later steps, of those with two items and more,
 * after a random number of items in random order, or as stored where baskets are lists. */
static void ask_group(void *context, size_t group, unsigned worker)
{
    const fitting *f = context;
    asker *own = &f->askers[worker];
    const pr_arnn_state *s = own->scorer->own;
    size_t first = group * f->group;
    size_t count = f->data->count - first < f->group ? f->data->count - first : f->group;
    pr_rng rng = pr_rng_make(f->data->seed, UINT64_C(0x70726566)); /* "pref" */
    for (size_t round = 0; round < f->rounds; round++) {
        pr_start starts[GROUP];
        int32_t placed[GROUP];
        size_t wanted[GROUP], most = 0, asked = 0;
        for (size_t r = 0; r < count; r++) {
            const pr_basket *b = &f->data->baskets[first + r];
            int32_t *basket = own->baskets + r * f->longest;
            pr_stream stream =
                pr_stream_at(&rng, (uint32_t)(first + r), (uint32_t)(round + f->stage), 0);
            starts[r] = (pr_start){.user = b->user, .history = b->history, .features = b->features};
            wanted[r] = 0;
            if (f->stage == PR_MIX_LATER && b->size < 2)
                continue;
            if (f->stage == PR_MIX_LATER)
                wanted[r] = 1 + pr_stream_below(&stream, (uint32_t)(b->size - 1));
            wanted[r] = wanted[r] < own->scorer->capacity ? wanted[r] : own->scorer->capacity;
            memcpy(basket, b->items, b->size * sizeof *basket);
            if (!s->net.d.follow)
                pr_stream_shuffle(&stream, basket, b->size, sizeof *basket);
            most = wanted[r] > most ? wanted[r] : most;
            asked++;
        }
        if (asked == 0)
            continue;
        pr_scorer_start(own->scorer, starts, count);
        for (size_t p = 0; p < most; p++) {
            for (size_t r = 0; r < count; r++)
                placed[r] = p < wanted[r] ? own->baskets[r * f->longest + p] : -1;
            pr_scorer_place(own->scorer, placed);
        }
        pr_scorer_score_all(own->scorer, own->all);
        for (size_t r = 0; r < count; r++)
            if (f->stage == PR_MIX_FIRST || wanted[r] > 0)
                ask(f, own, r, &f->data->baskets[first + r], wanted[r],
                    (first + r) * f->rounds + round);
    }
}

/* Questions with an answer, one behind the other in the order of their places. */
static void close_up(pr_choices *q, const size_t *candidates, size_t places, size_t room)
{
    for (size_t p = 0; p < places; p++) {
        size_t to = q->starts[q->cases], from = p * room, n = candidates[p];
        if (n == 0)
            continue;
        memmove(q->x + to * q->features, q->x + from * q->features, n * q->features * sizeof *q->x);
        memmove(q->offset + to, q->offset + from, n * sizeof *q->offset);
        q->taken[q->cases++] = q->taken[p];
        q->starts[q->cases] = to + n;
    }
}

static void ask_all(fitting *f, size_t stage)
{
    f->stage = stage;
    f->rounds = rounds_of(stage, f->data->count, f->data->questions);
    size_t places = f->data->count * f->rounds;
    f->questions.cases = 0;
    memset(f->candidates, 0, places * sizeof *f->candidates);
    pr_pool_run(f->data->pool, ask_group, f, (f->data->count + f->group - 1) / f->group);
    close_up(&f->questions, f->candidates, places, f->room);
}

/* ---- all of it ---- */

static size_t room_of(const pr_model *model)
{
    return model->items < CANDIDATES_MOST ? model->items : CANDIDATES_MOST;
}

size_t pr_arnn_mix_bytes(const pr_model *model, size_t baskets, size_t questions)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    if (!d.mix || baskets == 0)
        return 0;
    size_t places = baskets * rounds_of(PR_MIX_LATER, baskets, questions);
    return places * room_of(model) * (pr_arnn_mix_weights(&d) + 1) * sizeof(float);
}

static parsrec_status take_asker(asker *a, const fitting *f, parsrec_error *err)
{
    size_t V = f->model->items;
    a->all = pr_alloc(f->group * V, sizeof *a->all);
    a->baskets = pr_alloc(f->group * f->longest, sizeof *a->baskets);
    a->stamp = pr_alloc_zero(V, sizeof *a->stamp);
    if (a->all == NULL || a->baskets == NULL || a->stamp == NULL)
        return pr_fail_memory(err);
    return pr_scorer_new(&a->scorer, f->model, f->group, f->longest < 64 ? f->longest : 64, err);
}

static parsrec_status take_memory(fitting *f, size_t W, parsrec_error *err)
{
    size_t threads = pr_pool_threads(f->data->pool);
    f->longest = 1;
    for (size_t i = 0; i < f->data->count; i++)
        if (f->data->baskets[i].size > f->longest)
            f->longest = f->data->baskets[i].size;
    f->group = f->model->items >= GROUPED_LEAST ? GROUP : 1;
    f->room = room_of(f->model);
    f->askers = pr_alloc_zero(threads, sizeof *f->askers);
    for (size_t i = 0; f->askers != NULL && i < threads; i++)
        PR_TRY(take_asker(&f->askers[i], f, err));
    pr_choices *q = &f->questions;
    size_t most = f->data->count * rounds_of(PR_MIX_LATER, f->data->count, f->data->questions);
    *q = (pr_choices){.features = W,
                      .starts = pr_alloc_zero(most + 1, sizeof *q->starts),
                      .taken = pr_alloc(most, sizeof *q->taken),
                      .x = pr_alloc(most * f->room * W, sizeof *q->x),
                      .offset = pr_alloc(most * f->room, sizeof *q->offset)};
    f->candidates = pr_alloc(most, sizeof *f->candidates);
    if (f->askers == NULL || q->starts == NULL || q->taken == NULL || q->x == NULL ||
        q->offset == NULL || f->candidates == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

static void free_memory(fitting *f)
{
    for (size_t i = 0; f->askers != NULL && i < pr_pool_threads(f->data->pool); i++) {
        pr_scorer_free(f->askers[i].scorer);
        pr_free(f->askers[i].all);
        pr_free(f->askers[i].baskets);
        pr_free(f->askers[i].stamp);
    }
    pr_free(f->askers);
    pr_free(f->questions.starts);
    pr_free(f->questions.taken);
    pr_free(f->questions.x);
    pr_free(f->questions.offset);
    pr_free(f->candidates);
}

static void drop_feature(pr_choices *q, size_t feature)
{
    for (size_t a = 0; a < q->starts[q->cases]; a++)
        q->x[a * q->features + feature] = 0;
}

/* What the weights of counts alone are drawn to: the same as those of the model `mix`. */
static void count_prior(double *w, const pr_arnn_dims *d, bool lifts)
{
    memset(w, 0, W_MOST * sizeof *w);
    w[PR_MIX_GATES + PR_REPEAT_COUNT] = pr_count_prior[PR_COUNT_TIMES];
    w[PR_MIX_GATES + PR_REPEAT_RECENT] = pr_count_prior[PR_COUNT_RECENT];
    w[PR_MIX_GATES + PR_REPEAT_HAD] = pr_count_prior[PR_COUNT_HAD];
    w[PR_MIX_GATES + PR_REPEAT_SESSIONS] = pr_count_prior[PR_COUNT_SESSIONS];
    w[PR_MIX_GATES + PR_GATE_EXPECTED] = pr_count_prior[PR_COUNT_NEIGHBOURS];
    w[pr_arnn_mix_popular(d)] = pr_count_prior[PR_COUNT_POPULAR];
    if (lifts)
        w[pr_arnn_mix_lift(d)] = pr_count_prior[PR_COUNT_LIFT];
}

/* Weights of a stage, and what the score gains over counts alone; where that is too little, weights of
 * counts, fitted with the prior of `mix`. Where lifts would count against an item, the score knows them
 * already: they are left out, and answers need not look at them. */
static parsrec_status fit_stage(double *w, double *worth, size_t stage, pr_choices *q,
                                const pr_arnn_dims *d, pr_pool *pool, parsrec_error *err)
{
    double all, counts, plain[W_MOST], without[W_MOST] = {0};
    size_t lift = pr_arnn_mix_lift(d);
    bool lifts = d->lifts > 0 && stage == PR_MIX_LATER; /* with an empty basket there are none */
    memcpy(plain, w, sizeof plain);
    PR_TRY(pr_choice_fit(w, &all, q, PRIOR, pool, err));
    if (lifts && w[lift] < 0) {
        lifts = false;
        drop_feature(q, lift);
        memcpy(w, plain, sizeof plain);
        PR_TRY(pr_choice_fit(w, &all, q, PRIOR, pool, err));
        w[lift] = 0;
    }
    drop_feature(q, PR_MIX_SCORE);
    PR_TRY(pr_choice_fit(without, &counts, q, PRIOR, pool, err));
    *worth = all - counts;
    if (*worth >= least_gain || without[lift] < 0 || d->inputs->count > 0)
        return PARSREC_OK;
    count_prior(w, d, lifts);
    return pr_choice_fit(w, NULL, q, PR_COUNT_PRIOR_CASES, pool, err);
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
    fitting f = {.model = model, .data = data, .popular = v.popular};
    double w[PR_MIX_STAGES][W_MOST] = {{[PR_MIX_SCORE] = 1}, {[PR_MIX_SCORE] = 1}};
    parsrec_status status;
    PR_TRY_GOTO(take_memory(&f, W, err));
    for (size_t i = 0; i < PR_MIX_STAGES; i++) {
        ask_all(&f, i);
        worth[i] = NAN;
        if (f.questions.cases >= QUESTIONS_LEAST * f.rounds)
            PR_TRY_GOTO(fit_stage(w[i], &worth[i], i, &f.questions, &d, data->pool, err));
    }
    /* Not before all questions are asked: they need the score as it is. */
    for (size_t i = 0; i < PR_MIX_STAGES; i++)
        for (size_t k = 0; k < W; k++)
            v.mix[i * W + k] = (pr_real)w[i][k];
done:
    free_memory(&f);
    return status;
}
