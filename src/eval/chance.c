/* The floor under every number: a ranker that knows nothing. Only the places of a basket's own items
 * in a random order matter, so the size of the catalogue costs nothing. */
#include <math.h>

#include "base/memory.h"
#include "data/histories.h"
#include "eval/candidates.h"
#include "eval/evaluation.h"

enum { PURPOSE = 0xC4A2CE, DRAWS = 10 };

/* Room for one basket, and the sums of all. */
typedef struct guess {
    pr_rng rng;
    pr_candidate_set candidates; /* tell what the user had before */
    pr_evaluated *baskets;
    float *sums;
    bool *taken, *seen;
    size_t *place, *above;
    uint32_t *order;
    float *mine;
} guess;

/* Different places below `range`, ascending, every set of them equally likely. */
static void draw_places(pr_stream *stream, size_t *place, size_t count, size_t range)
{
    for (size_t i = 0; i < count; i++) {
        /* A free place by its number among the free ones: each taken place before it moves it up. */
        size_t at = pr_stream_below(stream, (uint32_t)(range - i)), passed = 0;
        while (passed < i && place[passed] <= at + passed)
            passed++;
        for (size_t j = i; j > passed; j--)
            place[j] = place[j - 1];
        place[passed] = at + passed;
    }
}

/* Puts the own items that may be recommended at random places among the others. */
static void shuffle_basket(guess *g, const pr_eval_protocol *p, const pr_evaluated *b,
                           uint32_t draw)
{
    size_t ranked = 0;
    pr_stream stream = pr_stream_at(&g->rng, b->user, b->session, draw);
    for (uint32_t i = 0; i < b->size; i++) {
        g->taken[i] = false;
        g->mine[i] = -INFINITY;
        if (!(p->exclude_seen && g->seen[i]))
            g->order[ranked++] = i;
    }
    draw_places(&stream, g->place, ranked, ranked + b->others);
    pr_stream_shuffle(&stream, g->order, ranked, sizeof *g->order);
    for (size_t i = 0; i < ranked; i++) {
        g->mine[g->order[i]] = -(float)g->place[i];
        g->above[g->order[i]] = g->place[i] - i;
    }
}

static void walk_basket(guess *g, const pr_eval_protocol *p, const pr_evaluated *b)
{
    for (size_t i = 0; i < pr_sums_count(p); i++)
        b->sums[i] = 0;
    for (size_t j = 0; j < b->steps; j++) {
        pr_rule_step s = {.protocol = p,
                          .number = j,
                          .size = b->size,
                          .taken = g->taken,
                          .seen = g->seen,
                          .mine = g->mine,
                          .above = g->above};
        g->taken[p->rule->count_step(&s, b->sums)] = true;
    }
}

static void walk_all(guess *g, const pr_evaluation *e, uint32_t draw)
{
    for (size_t i = 0; i < e->count; i++) {
        const pr_evaluated *b = &g->baskets[i];
        pr_history history = pr_history_before(e->data, b->user, b->session);
        pr_candidate_set_turn(&g->candidates, &history,
                              e->data->action_items + e->data->session_offsets[b->session], b->size,
                              g->seen);
        shuffle_basket(g, &e->protocol, b, draw);
        walk_basket(g, &e->protocol, b);
    }
}

/* total = (total + one) · factor; everything but the values is the same in each draw. */
static void add(pr_scores *total, const pr_scores *one, double factor)
{
    pr_scores before = *total;
    *total = *one;
    for (size_t a = 0; a < PR_ASPECTS; a++)
        for (size_t m = 0; m < PR_MEASURES; m++)
            for (size_t k = 0; k < PR_CUTOFFS; k++)
                total->value[a][m][k] = (before.value[a][m][k] + one->value[a][m][k]) * factor;
}

static parsrec_status make_guess(guess *g, const pr_evaluation *e, parsrec_error *err)
{
    size_t n = e->largest, width = pr_sums_count(&e->protocol);
    *g = (guess){.rng = pr_rng_make(e->protocol.seed, PURPOSE)};
    PR_TRY(pr_candidate_set_init(&g->candidates, e->data->items, NULL, 0, false, err));
    g->baskets = pr_alloc(e->count, sizeof *g->baskets);
    g->sums = pr_alloc(e->count, width * sizeof *g->sums);
    g->taken = pr_alloc(n, sizeof *g->taken);
    g->seen = pr_alloc(n, sizeof *g->seen);
    g->place = pr_alloc(n, sizeof *g->place);
    g->above = pr_alloc(n, sizeof *g->above);
    g->order = pr_alloc(n, sizeof *g->order);
    g->mine = pr_alloc(n, sizeof *g->mine);
    if (g->baskets == NULL || g->sums == NULL || g->taken == NULL || g->seen == NULL ||
        g->place == NULL || g->above == NULL || g->order == NULL || g->mine == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < e->count; i++) {
        g->baskets[i] = e->baskets[i];
        g->baskets[i].sums = g->sums + i * width;
    }
    return PARSREC_OK;
}

static void free_guess(guess *g)
{
    pr_candidate_set_free(&g->candidates);
    pr_free(g->baskets);
    pr_free(g->sums);
    pr_free(g->taken);
    pr_free(g->seen);
    pr_free(g->place);
    pr_free(g->above);
    pr_free(g->order);
    pr_free(g->mine);
}

parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err)
{
    guess g;
    *scores = (pr_scores){0};
    parsrec_status status = make_guess(&g, e, err);
    for (uint32_t draw = 0; draw < DRAWS && status == PARSREC_OK; draw++) {
        pr_scores one;
        walk_all(&g, e, draw);
        pr_scores_sum(&one, &e->protocol, g.baskets, e->count);
        add(scores, &one, draw + 1 < DRAWS ? 1 : 1.0 / DRAWS);
    }
    free_guess(&g);
    return status;
}
