/* rules, seqrules, itemknn, ease: items vote for items by links that were counted once. The four differ in
 * what a link is, and in who votes:
 *
 *   rules      bought in the same session; the items of the open basket, or the last one alone
 *   seqrules   came soon after it in a user's sequence, or near it; the last item alone
 *   itemknn    bought by the same users (cosine); all that the user has and had
 *   ease       the same by ridge regression (linear_items.h)
 *
 * A file holds the links of each item in one sparse table (transitions.h) and popularity, so an answer takes
 * as long as the links of the items that vote. Nothing of a single user is in it. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/counting/counting.h"
#include "model/counting/linear_items.h"
#include "model/counting/transitions.h"
#include "model/history.h"

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_transitions_layout(model, "links", err));
    return pr_popularity_layout(model, err);
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    return pr_transitions_verify(model, "links", err);
}

/* ---- counting ---- */

typedef struct weighing {
    const pr_config *config;
    double sessions;
} weighing;

static double weigh_rule(const void *context, double from, double to, double both)
{
    const weighing *w = context;
    if (both < (double)w->config->rules_support)
        return 0;
    switch ((pr_rules_by)w->config->rules_by) {
    case PR_RULES_LIFT:
        return both * w->sessions / (from * to);
    case PR_RULES_SUPPORT:
        return both / w->sessions;
    default:
        return both / from;
    }
}

/* Items that few users had are similar to anything by chance: the denominator grows by a constant. */
static double weigh_cosine(const void *context, double from, double to, double both)
{
    const weighing *w = context;
    return both / (sqrt(from * to) + w->config->itemknn_shrink);
}

static double counted_sessions(const pr_counted *from)
{
    double sessions = 0;
    for (size_t u = 0; u < from->data->users; u++)
        sessions += (double)(pr_counted_end(from, u) - from->data->user_offsets[u]);
    return sessions;
}

static parsrec_status count_links(pr_links *links, const pr_model *model, const pr_counted *from,
                                  parsrec_error *err)
{
    const pr_config *c = &model->config;
    weighing w = {c, counted_sessions(from)};
    pr_link_rule rule = {.width = (size_t)c->links_width, .context = &w};
    if (model->kind == &pr_ease)
        return pr_linear_items(links, from, c, err);
    if (model->kind == &pr_itemrules) {
        rule.kind = PR_TOGETHER;
        rule.weigh = weigh_rule;
    } else if (model->kind == &pr_seqrules) {
        rule.kind = PR_AFTER;
        rule.steps = (size_t)c->rules_steps;
        rule.fade = c->rules_fade;
        rule.both_sides = c->rules_side == PR_SIDE_BOTH;
    } else {
        rule.kind = PR_BY_USER;
        rule.newest = (size_t)c->history_length;
        rule.weigh = weigh_cosine;
    }
    return pr_links_count_by(links, from, &rule, err);
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_links links = {0};
    parsrec_status status;
    PR_TRY_GOTO(count_links(&links, model, from, err));
    PR_TRY_GOTO(pr_transitions_size(model, "links", &links, err));
    PR_TRY_GOTO(pr_popularity_count(model, from, err));
    pr_transitions_set(model, "links", &links);
done:
    pr_links_free(&links);
    return status;
}

/* ---- open baskets ---- */

/* Popularity settles ties: as a factor of positive votes, by its logarithm, and added where votes may be negative
 * (ease). Votes that differ by less than the factor count as equal: it is below the share by which counts of up to
 * 100,000 differ, and leaves a float about 80 levels of popularity. */
static const double tie_factor = 1e-5, tie_share = 1e-6;

typedef struct state {
    pr_transitions links;
    pr_real *never;  /* [V]: scores of items without a vote */
    pr_real *factor; /* [V]: 1 and a little more for popular items, which settles ties */
    pr_real *sum;    /* [rows,V] */
    bool *open;      /* [rows]: an item was placed */
    bool *voted;     /* [rows,V]: of the past or the basket, and counted */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    size_t V = model->items;
    *s = (state){.never = pr_arena_take(arena, V, sizeof *s->never)};
    s->factor = pr_arena_take(arena, V, sizeof *s->factor);
    s->sum = pr_arena_take(arena, rows * V, sizeof *s->sum);
    s->open = pr_arena_take(arena, rows, sizeof *s->open);
    s->voted = pr_arena_take(arena, rows * V, sizeof *s->voted);
    if (pr_arena_counts(arena))
        return;
    s->links = pr_transitions_of(model, "links");
    const pr_real *popularity = pr_popularity(model);
    pr_real most = 1;
    for (size_t i = 0; i < V; i++)
        most = popularity[i] > most ? popularity[i] : most;
    pr_scores_without_votes(s->never, model);
    for (size_t i = 0; i < V; i++)
        s->factor[i] =
            model->config.ties == PR_TIES_POPULAR
                ? (pr_real)(1 + tie_factor * log1p((double)popularity[i]) / log1p((double)most))
                : 1;
}

static void vote(const state *s, size_t row, size_t V, int32_t item)
{
    pr_real *sum = s->sum + row * V;
    for (uint32_t e = s->links.start[item]; e < s->links.start[item + 1]; e++)
        sum[s->links.item[e]] += s->links.count[e];
}

/* Unless the item has voted before. */
static void vote_once(state *s, size_t row, size_t V, int32_t item)
{
    if (!s->voted[row * V + (size_t)item])
        vote(s, row, V, item);
    s->voted[row * V + (size_t)item] = true;
}

static bool last_alone(const pr_model *model)
{
    return model->kind == &pr_seqrules ||
           (model->kind == &pr_itemrules && model->config.rules_from == PR_FROM_LAST);
}

static bool whole_history(const pr_model *model)
{
    return model->kind == &pr_itemknn || model->kind == &pr_ease;
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    const pr_model *model = scorer->model;
    memset(s->sum, 0, scorer->active * model->items * sizeof *s->sum);
    memset(s->voted, 0, scorer->active * model->items * sizeof *s->voted);
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_history *h = &starts[r].history;
        size_t length = (size_t)model->config.history_length, first = pr_history_last_session(h, 0);
        if (whole_history(model))
            first = length > 0 && h->count > length ? h->count - length : 0;
        else if (last_alone(model))
            first = h->count > 0 ? h->count - 1 : 0;
        for (size_t i = h->count; i-- > first;) /* newest first */
            vote_once(s, r, model->items, h->items[i]);
        s->open[r] = false;
    }
}

/* Rules that begin with a session forget the one before it when an item is placed. */
static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    const pr_model *model = scorer->model;
    size_t V = model->items;
    for (size_t r = 0; r < scorer->active; r++) {
        if (items[r] < 0)
            continue;
        if (last_alone(model) || (!s->open[r] && !whole_history(model))) {
            memset(s->sum + r * V, 0, V * sizeof *s->sum);
            memset(s->voted + r * V, 0, V * sizeof *s->voted);
        }
        s->open[r] = true;
        vote_once(s, r, V, items[r]);
    }
}

/* Regression has votes against an item, too: those without a vote are then between. */
static pr_real score_of(const state *s, const pr_model *model, const pr_real *sum, size_t item)
{
    if (model->kind == &pr_ease)
        return sum[item] + (pr_real)tie_share * s->never[item];
    return sum[item] > 0 ? sum[item] * s->factor[item] : s->never[item];
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++)
        for (size_t i = 0; i < V; i++)
            scores[r * V + i] = score_of(s, scorer->model, s->sum + r * V, i);
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    const pr_real *sum = s->sum + row * scorer->model->items;
    for (size_t i = 0; i < n; i++)
        scores[i] = score_of(s, scorer->model, sum, (size_t)items[i]);
}

/* ---- the kinds ---- */

#define PR_ITEM_LINKS                                                              \
    .scores_are_shares = true, .layout = layout, .count = count, .verify = verify, \
    .state_bytes = sizeof(state), .take = take, .start = start, .place = place,    \
    .score_all = score_all, .score = score

static const char *const long_settings[] = {"history.length=1000", NULL};

const pr_model_kind pr_itemrules = {
    .name = "rules",
    .summary = "what was bought together with the items of the basket (association rules)",
    PR_ITEM_LINKS,
};

const pr_model_kind pr_seqrules = {
    .name = "seqrules",
    .summary = "what came soon after the last item (sequential rules)",
    PR_ITEM_LINKS,
};

const pr_model_kind pr_itemknn = {
    .name = "itemknn",
    .summary = "what was bought by the same users as the user's items",
    .settings = long_settings,
    PR_ITEM_LINKS,
};

const pr_model_kind pr_ease = {
    .name = "ease",
    .summary = "the same by ridge regression (Steck, 2019)",
    .settings = long_settings,
    PR_ITEM_LINKS,
};
