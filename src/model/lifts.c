/* Lifts of pairs of items, counted row by row, and their sums over a basket. */
#include "model/lifts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "math/topk.h"
#include "model/counting/transitions.h"

/* ---- counting ---- */

/* A relation says little if the count is within half a deviation of what chance gives. */
static const double least_strength = 0.5;

/* How soon an item comes after another: d places later counts 1 / d^2, up to 20 places; the sum of
 * these is AFTER_SUM. A list is long and each place has one follower, so counts are small: less is
 * added to them than to sessions. */
enum { AFTER_PLACES = 20, AFTER_FADE = 2 };
static const double after_sum = 1.596, added_together = 1, added_after = 0.3;

typedef struct study {
    pr_lifts *out;
    bool after;
    size_t width, to_room, logs_room;
    pr_links links;
    uint32_t *held;   /* [V]: sessions that contain the item */
    int32_t *popular; /* [V]: items, best sellers first */
    double share;     /* held[a] * held[b] * share is expected by chance */
    /* Of one row: candidates, their logs and how much they say. */
    int32_t *item;     /* [V] */
    pr_real *log_lift; /* [V] */
    pr_real *strength; /* [V] */
    int32_t *best;     /* [V] */
    uint8_t *linked;   /* [V], zero between rows */
    size_t count;
} study;

static void free_study(study *s)
{
    pr_links_free(&s->links);
    pr_free(s->held);
    pr_free(s->popular);
    pr_free(s->item);
    pr_free(s->log_lift);
    pr_free(s->strength);
    pr_free(s->best);
    pr_free(s->linked);
}

static parsrec_status take_study(study *s, parsrec_error *err)
{
    size_t V = s->out->items;
    s->held = pr_alloc_zero(V, sizeof *s->held);
    s->popular = pr_alloc(V, sizeof *s->popular);
    s->item = pr_alloc(V, sizeof *s->item);
    s->log_lift = pr_alloc(V, sizeof *s->log_lift);
    s->strength = pr_alloc(V, sizeof *s->strength);
    s->best = pr_alloc(V, sizeof *s->best);
    s->linked = pr_alloc_zero(V, sizeof *s->linked);
    bool taken = s->held != NULL && s->popular != NULL && s->item != NULL && s->log_lift != NULL &&
                 s->strength != NULL && s->best != NULL && s->linked != NULL;
    return taken ? PARSREC_OK : pr_fail_memory(err);
}

static void count_items(study *s, const pr_counted *from)
{
    const pr_dataset *data = from->data;
    size_t V = s->out->items;
    double sessions = 0, actions = 0;
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->user_offsets[u], end = pr_counted_end(from, u);
        sessions += (double)(end - first);
        actions += (double)(data->session_offsets[end] - data->session_offsets[first]);
        for (int64_t a = data->session_offsets[first]; a < data->session_offsets[end]; a++)
            s->held[data->action_items[a]]++;
    }
    if (actions > 0)
        s->share = s->after ? after_sum / actions : 1 / sessions;
    for (size_t v = 0; v < V; v++)
        s->strength[v] = (pr_real)s->held[v];
    pr_topk(s->popular, s->strength, V, V);
}

static void add_candidate(study *s, int32_t item, double both, double chance)
{
    double strength = fabs(both - chance) / sqrt(chance + 1);
    double added = s->after ? added_after : added_together;
    if (strength < least_strength)
        return;
    s->item[s->count] = item;
    s->log_lift[s->count] = (pr_real)log((both + added) / (chance + added));
    s->strength[s->count++] = (pr_real)strength;
}

/* Linked items, and best sellers that were never bought with this one. */
static void find_candidates(study *s, size_t placed, size_t most)
{
    const pr_links *l = &s->links;
    double rate = s->held[placed] * s->share;
    uint32_t first = l->start[placed], end = l->start[placed + 1];
    s->count = 0;
    s->linked[placed] = 1;
    for (uint32_t e = first; e < end; e++) {
        uint32_t v = l->item[e];
        s->linked[v] = 1;
        add_candidate(s, (int32_t)v, (double)l->times[e], rate * s->held[v]);
    }
    /* A row that was cut short does not say what was never bought together. */
    for (size_t i = 0; end - first < most && i < s->out->items; i++) {
        int32_t v = s->popular[i];
        double chance = rate * s->held[v];
        if (chance / sqrt(chance + 1) < least_strength)
            break;
        if (!s->linked[v])
            add_candidate(s, v, 0, chance);
    }
    s->linked[placed] = 0;
    for (uint32_t e = first; e < end; e++)
        s->linked[l->item[e]] = 0;
}

static parsrec_status count_rows(study *s, size_t most, parsrec_error *err)
{
    pr_lifts *out = s->out;
    uint32_t at = 0;
    for (size_t p = 0; p < out->items; p++) {
        find_candidates(s, p, most);
        size_t kept = pr_topk(s->best, s->strength, s->count, s->width);
        if (at + kept >= UINT32_MAX)
            return pr_fail(err, PARSREC_E_LIMIT, "too many pairs of items; lower lifts");
        PR_TRY(pr_grow(&out->to, &s->to_room, at + kept, sizeof *out->to, err));
        PR_TRY(pr_grow(&out->logs, &s->logs_room, at + kept, sizeof *out->logs, err));
        qsort(s->best, kept, sizeof *s->best, pr_ascending_i32);
        for (size_t i = 0; i < kept; i++, at++) {
            out->to[at] = (uint32_t)s->item[s->best[i]];
            out->logs[at] = s->log_lift[s->best[i]];
        }
        out->ends[p] = at;
    }
    return PARSREC_OK;
}

parsrec_status pr_lifts_count(pr_lifts *out, size_t width, bool after, const pr_counted *from,
                              parsrec_error *err)
{
    size_t V = from->data->items, most = 4 * width; /* frequent pairs need not say most */
    pr_link_rule rule = {.kind = after ? PR_AFTER : PR_TOGETHER,
                         .width = most,
                         .steps = AFTER_PLACES,
                         .fade = AFTER_FADE};
    assert(width > 0);
    *out = (pr_lifts){.items = V, .ends = pr_alloc(V, sizeof *out->ends)};
    study s = {.out = out, .after = after, .width = width};
    parsrec_status status = out->ends != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = take_study(&s, err);
    if (status == PARSREC_OK)
        status = pr_links_count_by(&s.links, from, &rule, err);
    if (status == PARSREC_OK) {
        count_items(&s, from);
        status = count_rows(&s, most, err);
    }
    free_study(&s);
    if (status != PARSREC_OK)
        pr_lifts_free(out);
    return status;
}

void pr_lifts_free(pr_lifts *lifts)
{
    pr_free(lifts->ends);
    pr_free(lifts->to);
    pr_free(lifts->logs);
    *lifts = (pr_lifts){0};
}

parsrec_status pr_lifts_verify(const pr_lifts *lifts, size_t size, parsrec_error *err)
{
    uint32_t end = 0;
    for (size_t p = 0; p < lifts->items; p++) {
        if (lifts->ends[p] < end || lifts->ends[p] > size)
            return pr_fail(err, PARSREC_E_FORMAT, "the lifts of item %zu have no end", p);
        for (; end < lifts->ends[p]; end++)
            if (lifts->to[end] >= lifts->items)
                return pr_fail(err, PARSREC_E_FORMAT,
                               "item %zu has a lift with an item that does not exist", p);
    }
    return PARSREC_OK;
}

/* ---- one open basket ---- */

pr_real pr_lift_of(const pr_lifts *lifts, int32_t placed, int32_t item)
{
    assert(placed >= 0 && item >= 0);
    for (size_t e = pr_lifts_start(lifts, placed); e < lifts->ends[placed]; e++)
        if (lifts->to[e] == (uint32_t)item)
            return lifts->logs[e];
    return 0;
}

void pr_lift_start(pr_lift_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        sums->sum[sums->touched[i]] = 0;
        sums->seen[sums->touched[i]] = 0;
    }
    sums->count = 0;
}

void pr_lift_place(pr_lift_sums *sums, const pr_lifts *lifts, int32_t item)
{
    for (size_t e = pr_lifts_start(lifts, item); e < lifts->ends[item]; e++) {
        uint32_t v = lifts->to[e];
        sums->touched[sums->count] = (int32_t)v;
        sums->count += !sums->seen[v];
        sums->seen[v] = 1;
        sums->sum[v] += lifts->logs[e];
    }
}
