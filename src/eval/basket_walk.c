/* The walk: what a group of baskets scores depends on them alone. */
#include "eval/basket_walk.h"

#include <math.h>

#include "data/histories.h"
#include "eval/score_dump.h"

/* Text of a dump is handed in when it is that long, or at the end. */
enum { PAGE = 1 << 20 };

/* A basket on its way: which of its own items are placed, and what it is ranked against. */
typedef struct walk {
    pr_history history;
    const int32_t *own;
    bool *taken, *seen;
    int32_t *others;
} walk;

static void begin(pr_evaluation *e, pr_desk *own, pr_scorer *session, pr_evaluated *baskets,
                  walk *walks, size_t rows)
{
    pr_start starts[PR_WALK_ROWS];
    size_t negatives = e->protocol.negatives, used = 0;
    for (size_t r = 0; r < rows; r++) {
        pr_evaluated *b = &baskets[r];
        walk *w = &walks[r];
        *w = (walk){.history = pr_history_before(e->data, b->user, b->session),
                    .own = e->data->action_items + e->data->session_offsets[b->session],
                    .taken = own->taken + used,
                    .seen = own->seen + used,
                    .others = own->others + r * negatives};
        starts[r] = (pr_start){.user = pr_known_user(e->data, b->user),
                               .history = w->history,
                               .about = pr_about_session(e->data, b->user, b->session)};
        used += b->size;
        pr_candidate_set_turn(&own->candidates, &w->history, w->own, b->size, w->seen);
        for (size_t i = 0; i < b->size; i++)
            w->taken[i] = false;
        for (size_t i = 0; i < pr_sums_count(&e->protocol); i++)
            b->sums[i] = 0;
        size_t left = own->candidates.left;
        b->others =
            (uint32_t)(negatives == 0 ? left
                                      : pr_candidate_set_draw(&own->candidates, b->user, b->session,
                                                              negatives, w->others));
        if (e->dump != NULL)
            pr_dump_basket(&own->page, e, b, &own->candidates, w->own, w->others);
    }
    pr_scorer_start(session, starts, rows);
}

/* A score that is no number is no recommendation. */
static void tidy(const pr_eval_protocol *p, const walk *w, float *mine, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(mine[i] > -INFINITY) || (p->exclude_seen && w->seen[i]))
            mine[i] = -INFINITY;
}

/* Takes the own items out of the row of all scores, so that what is left are the others. */
static void take_out(const pr_eval_protocol *p, pr_desk *own, const pr_evaluated *b, const walk *w,
                     float *all)
{
    for (size_t i = 0; i < b->size; i++) {
        own->mine[i] = all[w->own[i]];
        all[w->own[i]] = -INFINITY;
    }
    for (size_t i = 0; p->exclude_seen && i < w->history.count; i++)
        all[w->history.items[i]] = -INFINITY;
}

static void score_full(const pr_evaluation *e, pr_desk *own, const pr_evaluated *b, const walk *w,
                       size_t number, float *all)
{
    if (e->dump != NULL)
        pr_dump_full(&own->page, e, b, number, all);
    take_out(&e->protocol, own, b, w, all);
}

static void score_sampled(const pr_evaluation *e, pr_desk *own, pr_scorer *session,
                          const pr_evaluated *b, const walk *w, size_t row, size_t number)
{
    pr_scorer_score(session, row, w->own, b->size, own->mine);
    pr_scorer_score(session, row, w->others, b->others, own->theirs);
    if (e->dump != NULL)
        pr_dump_sampled(&own->page, e, b, number, own->mine, own->theirs);
}

/* Scores one step of one basket and returns the item to place. */
static int32_t step(const pr_evaluation *e, pr_desk *own, pr_scorer *session, const pr_evaluated *b,
                    walk *w, size_t row, size_t number)
{
    bool full = e->protocol.negatives == 0;
    float *theirs = own->theirs + (full ? row * e->data->items : 0);
    if (full)
        score_full(e, own, b, w, number, theirs);
    else
        score_sampled(e, own, session, b, w, row, number);
    tidy(&e->protocol, w, own->mine, b->size);
    pr_step s = {.protocol = &e->protocol,
                 .number = number,
                 .size = b->size,
                 .taken = w->taken,
                 .seen = w->seen,
                 .mine = own->mine,
                 .theirs = theirs,
                 .their_count = full ? e->data->items : b->others};
    size_t placed = e->protocol.rule->count(&s, b->sums);
    if (e->dump != NULL)
        pr_dump_placed(&own->page, e, placed);
    w->taken[placed] = true;
    return w->own[placed];
}

static void hand_in(const pr_evaluation *e, pr_desk *own, size_t group, bool last)
{
    if (e->dump != NULL && (last || own->page.size >= PAGE))
        pr_ordered_write(e->dump, group, &own->page, last);
}

void pr_walk_group(pr_evaluation *e, pr_desk *own, pr_scorer *session, pr_evaluated *baskets,
                   size_t rows, size_t group)
{
    walk walks[PR_WALK_ROWS];
    int32_t items[PR_WALK_ROWS];
    begin(e, own, session, baskets, walks, rows);
    for (size_t j = 0; j < baskets[0].steps; j++) {
        if (e->protocol.negatives == 0)
            pr_scorer_score_all(session, own->theirs);
        for (size_t i = 0; i < rows; i++) {
            items[i] =
                j < baskets[i].steps ? step(e, own, session, &baskets[i], &walks[i], i, j) : -1;
            hand_in(e, own, group, false);
        }
        if (j + 1 < baskets[0].steps)
            pr_scorer_place(session, items);
    }
    hand_in(e, own, group, true);
}
