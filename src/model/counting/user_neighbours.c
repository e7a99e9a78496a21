/* What similar users bought: tifuknn, upcf and pernir.
 *
 * Each gives a user a sparse vector over items, finds the users with the most similar vectors and mixes
 * what the user bought with what they bought (docs/models.md has the formulas):
 *
 *   tifuknn   Hu et al., SIGIR 2020: counts that decay by session and by group of sessions; the nearest
 *             users by Euclidean distance
 *   upcf      Faggioli et al., UMAP 2020: shares of the newest sessions; every user counts, by a high
 *             power of an asymmetric cosine
 *   pernir    Ariannezhad et al., WSDM 2023: counts that decay by session, and what stood near the placed
 *             items in earlier baskets
 *
 * The model file holds the sessions (pasts.h). A scorer derives all vectors from them, by user and by
 * item; an answer walks the lists of the user's own items, so its time grows with the number of users who
 * share an item, and with the number of users, since one similarity per user is looked at. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/topk.h"
#include "model/counting/counting.h"
#include "model/counting/pasts.h"

/* ---- a user's vector ---- */

/* Distinct items with weights. */
typedef struct vector {
    int32_t *items;
    pr_real *weights;
    size_t count;
    double square; /* of the norm */
} vector;

/* How much session s of n counts. */
static double tifu_weight(const pr_config *c, size_t s, size_t n)
{
    /* Groups of nearly equal length; where they differ, the later ones are longer. */
    size_t groups = n < (size_t)c->tifu_groups ? n : (size_t)c->tifu_groups;
    size_t length = n / groups, longer = n % groups, whole = (groups - longer) * length;
    size_t group = s < whole ? s / length : groups - longer + (s - whole) / (length + 1);
    double size = (double)(s < whole ? length : length + 1);
    return pow(c->tifu_decay, (double)(n - 1 - s)) *
           pow(c->tifu_group_decay, (double)(groups - 1 - group)) / (size * (double)groups);
}

static double upcf_weight(const pr_config *c, size_t s, size_t n)
{
    size_t recent = n < (size_t)c->upcf_recent ? n : (size_t)c->upcf_recent;
    return s + recent >= n ? 1 / (double)recent : 0;
}

static double pernir_weight(const pr_config *c, size_t s, size_t n)
{
    (void)c;
    return 1 / (double)(n - s);
}

typedef double session_weight(const pr_config *config, size_t session, size_t sessions);

static session_weight *weight_of(const pr_model_kind *kind)
{
    return kind == &pr_tifuknn ? tifu_weight : kind == &pr_upcf ? upcf_weight : pernir_weight;
}

/* Fills a vector whose memory is given. slots[V] is zero before and after. */
static void make_vector(vector *out, const pr_past *past, const pr_model *model, int32_t *slots)
{
    session_weight *weight = weight_of(model->kind);
    out->count = 0;
    for (size_t s = 0; s < past->sessions; s++) {
        double w = weight(&model->config, s, past->sessions);
        size_t end = pr_past_start(past, s + 1);
        for (size_t a = pr_past_start(past, s); a < end && w > 0; a++) {
            int32_t item = past->items[a];
            if (slots[item] == 0) {
                slots[item] = (int32_t)++out->count;
                out->items[out->count - 1] = item;
                out->weights[out->count - 1] = 0;
            }
            out->weights[slots[item] - 1] += (pr_real)w;
        }
    }
    out->square = 0;
    for (size_t i = 0; i < out->count; i++) {
        slots[out->items[i]] = 0;
        out->square += (double)out->weights[i] * (double)out->weights[i];
    }
}

/* ---- all vectors, by user and by item ---- */

typedef struct own_score {
    double score;
    int32_t item;
} own_score;

typedef struct state {
    pr_pasts pasts;
    uint32_t *start;    /* [U + 1] */
    int32_t *items;     /* [A] */
    pr_real *weights;   /* [A] */
    double *square;     /* [U]: squared norms */
    uint32_t *by_start; /* [V + 1] */
    uint32_t *by_user;  /* [A] */
    pr_real *by_weight; /* [A] */
    pr_votes votes;
    size_t most;        /* similar users of a row */
    int32_t *near;      /* [rows,most]: best first */
    pr_real *near_like; /* [rows,most]: their similarities */
    size_t *near_count; /* [rows] */
    pr_real *like;      /* [U] */
    int32_t *slots;     /* [V]: zero between calls */
    vector query;       /* room for V items */
    double *wide;       /* [V]: upcf, zero between calls */
    own_score *own;     /* [V] */
} state;

static void index_users(state *s, const pr_model *model)
{
    for (size_t u = 0; u < s->pasts.users; u++) {
        pr_past past = pr_past_of_user(&s->pasts, u);
        vector v = {s->items + s->start[u], s->weights + s->start[u], 0, 0};
        make_vector(&v, &past, model, s->slots);
        s->start[u + 1] = s->start[u] + (uint32_t)v.count;
        s->square[u] = v.square;
    }
}

static void index_items(state *s, size_t items)
{
    size_t entries = s->start[s->pasts.users];
    for (size_t e = 0; e < entries; e++)
        s->by_start[s->items[e] + 1]++;
    for (size_t i = 0; i < items; i++)
        s->by_start[i + 1] += s->by_start[i];
    for (size_t u = 0; u < s->pasts.users; u++)
        for (uint32_t e = s->start[u]; e < s->start[u + 1]; e++) {
            size_t item = (size_t)s->items[e], at = s->by_start[item] + (size_t)s->slots[item]++;
            s->by_user[at] = (uint32_t)u;
            s->by_weight[at] = s->weights[e];
        }
    memset(s->slots, 0, items * sizeof *s->slots);
}

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    state *s = own;
    size_t items = model->items, users = model->users;
    size_t actions = pr_params_find(&model->params, "past.item")->rows;
    size_t most = (size_t)model->config.knn_users;
    *s = (state){.most = most > 0 && most < users ? most : users};
    s->start = pr_arena_take_zero(arena, users + 1, sizeof *s->start);
    s->items = pr_arena_take(arena, actions, sizeof *s->items);
    s->weights = pr_arena_take(arena, actions, sizeof *s->weights);
    s->square = pr_arena_take(arena, users, sizeof *s->square);
    s->by_start = pr_arena_take_zero(arena, items + 1, sizeof *s->by_start);
    s->by_user = pr_arena_take(arena, actions, sizeof *s->by_user);
    s->by_weight = pr_arena_take(arena, actions, sizeof *s->by_weight);
    pr_votes_take(&s->votes, arena, model, rows, capacity);
    s->near = pr_arena_take(arena, rows * s->most, sizeof *s->near);
    s->near_like = pr_arena_take(arena, rows * s->most, sizeof *s->near_like);
    s->near_count = pr_arena_take(arena, rows, sizeof *s->near_count);
    s->like = pr_arena_take(arena, users, sizeof *s->like);
    s->slots = pr_arena_take_zero(arena, items, sizeof *s->slots);
    s->query.items = pr_arena_take(arena, items, sizeof *s->query.items);
    s->query.weights = pr_arena_take(arena, items, sizeof *s->query.weights);
    bool wide = model->kind == &pr_upcf;
    s->wide = wide ? pr_arena_take_zero(arena, items, sizeof *s->wide) : NULL;
    s->own = wide ? pr_arena_take(arena, items, sizeof *s->own) : NULL;
    if (pr_arena_counts(arena))
        return;
    s->pasts = pr_pasts_of(model);
    index_users(s, model);
    index_items(s, items);
}

/* ---- similar users ---- */

/* like[U]: how similar each user is to the query, -INFINITY for the user who asks. */
static void compare_users(state *s, const pr_model *model, int32_t self)
{
    const pr_config *c = &model->config;
    const vector *q = &s->query;
    size_t users = s->pasts.users;
    memset(s->like, 0, users * sizeof *s->like);
    for (size_t i = 0; i < q->count; i++)
        for (uint32_t e = s->by_start[q->items[i]]; e < s->by_start[q->items[i] + 1]; e++)
            s->like[s->by_user[e]] += q->weights[i] * s->by_weight[e];
    for (size_t u = 0; u < users; u++) {
        double dot = (double)s->like[u];
        if ((int32_t)u == self || s->start[u] == s->start[u + 1])
            s->like[u] = -(pr_real)INFINITY;
        else if (model->kind == &pr_tifuknn)
            s->like[u] = (pr_real)(2 * dot - s->square[u] - q->square);
        else if (dot == 0)
            s->like[u] = -(pr_real)INFINITY;
        else if (model->kind == &pr_upcf)
            s->like[u] = (pr_real)(dot / (pow(q->square, c->upcf_asymmetry) *
                                          pow(s->square[u], 1 - c->upcf_asymmetry)));
        else
            s->like[u] = (pr_real)(dot / sqrt(q->square * s->square[u]));
    }
}

/* ---- scores ---- */

/* pernir: scores += weight · (α h + (1 − α) C f) for the items of a past. f is 1 over the distance of a
 * placed item from the end of the basket, C has 1 over the distance of two items in a basket, summed over
 * the sessions, the k-th from the end by 1/k. slots[V] has 1 + the position of each placed item. */
static void add_near_placed(pr_real *scores, const pr_past *past, const int32_t *slots,
                            size_t placed, double alpha, double weight)
{
    for (size_t k = 0; k < past->sessions; k++) {
        double recent = weight / (double)(past->sessions - k);
        const int32_t *basket = past->items + pr_past_start(past, k);
        size_t n = pr_past_start(past, k + 1) - pr_past_start(past, k);
        for (size_t i = 0; i < n; i++) {
            scores[basket[i]] += (pr_real)(alpha * recent);
            int32_t position = slots[basket[i]];
            if (position == 0)
                continue;
            double f = (1 - alpha) * recent / (double)(placed + 1 - (size_t)position);
            for (size_t j = 0; j < n; j++)
                if (j != i)
                    scores[basket[j]] += (pr_real)(f / fabs((double)i - (double)j));
        }
    }
}

static void score_pernir(state *s, const pr_model *model, size_t row, pr_real *scores)
{
    const pr_config *c = &model->config;
    const int32_t *placed = s->votes.placed + row * s->votes.capacity;
    size_t n = s->votes.placed_count[row], others = s->near_count[row];
    for (size_t i = 0; i < n; i++)
        s->slots[placed[i]] = (int32_t)i + 1;
    pr_past own = pr_past_of_history(&s->votes.histories[row]);
    add_near_placed(scores, &own, s->slots, n, c->pernir_past, c->knn_own);
    for (size_t i = row * s->most; i < row * s->most + others; i++) {
        pr_past other = pr_past_of_user(&s->pasts, (size_t)s->near[i]);
        add_near_placed(scores, &other, s->slots, n, c->pernir_past,
                        (1 - c->knn_own) / (double)others);
    }
    for (size_t i = 0; i < n; i++)
        s->slots[placed[i]] = 0;
}

static void add_vector(pr_real *scores, const int32_t *items, const pr_real *weights, size_t n,
                       double by)
{
    for (size_t i = 0; i < n; i++)
        scores[items[i]] += (pr_real)(by * (double)weights[i]);
}

/* The query must be the row's. */
static void score_tifuknn(state *s, const pr_model *model, size_t row, pr_real *scores)
{
    double own = model->config.knn_own;
    size_t others = s->near_count[row];
    add_vector(scores, s->query.items, s->query.weights, s->query.count, own);
    for (size_t i = row * s->most; i < row * s->most + others; i++) {
        uint32_t first = s->start[s->near[i]], end = s->start[s->near[i] + 1];
        add_vector(scores, s->items + first, s->weights + first, end - first,
                   (1 - own) / (double)others);
    }
}

static int by_score(const void *a, const void *b)
{
    double x = ((const own_score *)a)->score, y = ((const own_score *)b)->score;
    return (x > y) - (x < y);
}

/* Likewise. Votes are powers of similarities, often too small to be seen in a float beside the user's own shares, of
 * which many are equal: what these items differ by in double keeps their order. */
static void score_upcf(state *s, const pr_model *model, size_t row, pr_real *scores)
{
    const vector *q = &s->query;
    for (size_t i = 0; i < q->count; i++)
        s->wide[q->items[i]] = (double)q->weights[i];
    for (size_t i = row * s->most; i < row * s->most + s->near_count[row]; i++) {
        double by = pow((double)s->near_like[i], model->config.upcf_locality);
        for (uint32_t e = s->start[s->near[i]]; e < s->start[s->near[i] + 1]; e++)
            s->wide[s->items[e]] += by * (double)s->weights[e];
    }
    for (size_t i = 0; i < q->count; i++)
        s->own[i] = (own_score){s->wide[q->items[i]], q->items[i]};
    qsort(s->own, q->count, sizeof *s->own, by_score);
    for (size_t i = 0; i < model->items; i++)
        scores[i] = (pr_real)s->wide[i];
    for (size_t i = 1; i < q->count; i++) {
        pr_real least = scores[s->own[i - 1].item];
        if (s->own[i].score > s->own[i - 1].score && !(scores[s->own[i].item] > least))
            scores[s->own[i].item] = pr_nextafter(least, (pr_real)INFINITY);
    }
    memset(s->wide, 0, model->items * sizeof *s->wide);
}

/* Items that neither the user nor a similar one bought come last, by popularity. */
static void score_row(state *s, const pr_model *model, size_t row)
{
    pr_real *scores = pr_votes_begin(&s->votes, model, row);
    if (model->kind == &pr_pernir)
        score_pernir(s, model, row, scores);
    else if (model->kind == &pr_upcf)
        score_upcf(s, model, row, scores);
    else
        score_tifuknn(s, model, row, scores);
    pr_votes_end(&s->votes, model, row);
}

/* ---- open baskets ---- */

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++) {
        pr_votes_start(&s->votes, r, &starts[r].history);
        pr_past past = pr_past_of_history(&starts[r].history);
        make_vector(&s->query, &past, scorer->model, s->slots);
        compare_users(s, scorer->model, starts[r].user);
        int32_t *near = s->near + r * s->most;
        /* Nobody is similar to a user without a past. */
        s->near_count[r] = s->query.count > 0 ? pr_topk(near, s->like, s->pasts.users, s->most) : 0;
        for (size_t i = 0; i < s->near_count[r]; i++)
            s->near_like[r * s->most + i] = s->like[near[i]];
        score_row(s, scorer->model, r);
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        if (items[r] >= 0) {
            pr_votes_place(&s->votes, r, items[r]);
            if (scorer->model->kind == &pr_pernir)
                s->votes.fresh[r] = false;
        }
}

static const pr_real *row_scores(pr_scorer *scorer, size_t row)
{
    assert(row < scorer->active);
    state *s = scorer->own;
    if (!s->votes.fresh[row])
        score_row(s, scorer->model, row);
    return s->votes.scores + row * scorer->model->items;
}

/* ---- the kinds ---- */

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_pasts_layout(model, err));
    return pr_popularity_layout(model, err);
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    PR_TRY(pr_pasts_size(model, from, err));
    PR_TRY(pr_popularity_count(model, from, err)); /* allocates the weights */
    pr_pasts_fill(model, from);
    return PARSREC_OK;
}

#define PR_USER_NEIGHBOURS                                                                  \
    .scores_are_shares = true, .layout = layout, .count = count, .verify = pr_pasts_verify, \
    .size_without = pr_pasts_size_without, .fill_without = pr_pasts_fill_without,           \
    .state_bytes = sizeof(state), .take = take, .start = start, .place = place,             \
    .row_scores = row_scores

static const char *const tifu_settings[] = {"knn.users=300", "knn.own=0.7", NULL};
static const char *const pernir_settings[] = {"knn.users=300", "knn.own=0.3", NULL};

const pr_model_kind pr_tifuknn = {
    .name = "tifuknn",
    .summary = "what the user and similar users bought, older sessions counting less",
    .settings = tifu_settings,
    PR_USER_NEIGHBOURS,
};

const pr_model_kind pr_upcf = {
    .name = "upcf",
    .summary = "what the user and similar users bought in their newest sessions",
    PR_USER_NEIGHBOURS,
};

const pr_model_kind pr_pernir = {
    .name = "pernir",
    .summary = "the same, and what stood near the placed items in their baskets",
    .settings = pernir_settings,
    PR_USER_NEIGHBOURS,
};
