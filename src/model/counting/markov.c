/* markov: what followed an item before. The items of the open basket vote for what they were bought
 * together with, the basket before has one vote together for what came in the basket after it, and
 * popularity makes up for what was seen too seldom. */
#include <string.h>

#include "model/counting/counting.h"
#include "model/counting/transitions.h"
#include "model/history.h"

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_transitions_layout(model, "within", err));
    PR_TRY(pr_transitions_layout(model, "across", err));
    return pr_popularity_layout(model, err);
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_links within = {0}, across = {0};
    size_t width = (size_t)model->config.markov_width;
    parsrec_status status;
    PR_TRY_GOTO(pr_links_count(&within, from, PR_WITHIN, width, err));
    PR_TRY_GOTO(pr_links_count(&across, from, PR_ACROSS, width, err));
    PR_TRY_GOTO(pr_transitions_size(model, "within", &within, err));
    PR_TRY_GOTO(pr_transitions_size(model, "across", &across, err));
    PR_TRY_GOTO(pr_popularity_count(model, from, err));
    pr_transitions_set(model, "within", &within);
    pr_transitions_set(model, "across", &across);
done:
    pr_links_free(&within);
    pr_links_free(&across);
    return status;
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_transitions_verify(model, "within", err));
    return pr_transitions_verify(model, "across", err);
}

/* ---- sessions ---- */

typedef struct state {
    pr_transitions within, across;
    pr_real *popular; /* [V]: share of all purchases */
    pr_real *sum;     /* [rows,V]: votes for what was seen to follow */
    double *rest;     /* [rows]: votes left to popularity */
    double *votes;    /* [rows] */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    *s = (state){.popular = pr_arena_take(arena, model->items, sizeof *s->popular)};
    s->sum = pr_arena_take(arena, rows * model->items, sizeof *s->sum);
    s->rest = pr_arena_take(arena, rows, sizeof *s->rest);
    s->votes = pr_arena_take(arena, rows, sizeof *s->votes);
    if (pr_arena_counts(arena))
        return;
    s->within = pr_transitions_of(model, "within");
    s->across = pr_transitions_of(model, "across");
    const pr_real *count = pr_popularity(model);
    double total = 0;
    for (size_t i = 0; i < model->items; i++)
        total += (double)count[i];
    for (size_t i = 0; i < model->items; i++)
        s->popular[i] = (pr_real)(total > 0 ? (double)count[i] / total : 0);
}

/* An item's vote, as a distribution over what follows it: (links + smooth * popular) / (all + smooth).
 * Links that were not kept are left to popularity. */
static void vote(pr_scorer *scorer, size_t row, const pr_transitions *links, int32_t item,
                 double weight)
{
    state *s = scorer->own;
    pr_real *sum = s->sum + row * scorer->model->items;
    double all = (double)links->total[item] + scorer->model->config.markov_smooth, kept = 0;
    for (uint32_t e = links->start[item]; e < links->start[item + 1]; e++) {
        sum[links->item[e]] += (pr_real)(weight * (double)links->count[e] / all);
        kept += (double)links->count[e];
    }
    s->rest[row] += weight * (1 - kept / all);
    s->votes[row] += weight;
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    memset(s->sum, 0, scorer->active * scorer->model->items * sizeof *s->sum);
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_history *h = &starts[r].history;
        size_t first = pr_history_last_session(h, h->count > 0 ? h->count - 1 : 0);
        s->rest[r] = s->votes[r] = 0;
        for (size_t i = first; i < h->count; i++)
            vote(scorer, r, &s->across, h->items[i], 1 / (double)(h->count - first));
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    const state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        if (items[r] >= 0)
            vote(scorer, r, &s->within, items[r], 1);
}

/* Without a vote popularity decides. */
static pr_real score_of(const state *s, size_t row, const pr_real *sum, size_t item)
{
    double votes = s->votes[row], rest = votes > 0 ? s->rest[row] / votes : 1;
    double linked = votes > 0 ? (double)sum[item] / votes : 0;
    return (pr_real)(linked + rest * (double)s->popular[item]);
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t items = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++)
        for (size_t i = 0; i < items; i++)
            scores[r * items + i] = score_of(s, r, s->sum + r * items, i);
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    for (size_t i = 0; i < n; i++)
        scores[i] = score_of(s, row, s->sum + row * scorer->model->items, (size_t)items[i]);
}

const pr_model_kind pr_markov = {
    .name = "markov",
    .summary = "what followed the items in and before the basket",
    .scores_are_shares = true,
    .layout = layout,
    .count = count,
    .verify = verify,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .place = place,
    .score_all = score_all,
    .score = score,
};
