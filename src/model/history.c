/* A user's history as a weighted bag of items, and as features of items bought before. */
#include "model/history.h"

#include <assert.h>
#include <string.h>

#include "math/wide.h"
#include "model/purchase_times.h"

size_t pr_history_last_session(const pr_history *history, size_t otherwise)
{
    for (size_t k = history->sessions != NULL ? history->session_count : 0; k > 0; k--) {
        size_t first = (size_t)(history->sessions[k - 1] - history->sessions[0]);
        if (first < history->count)
            return first;
    }
    return otherwise;
}

size_t pr_history_count(const pr_history *history, const pr_config *config)
{
    size_t limit = (size_t)config->history_length;
    return limit > 0 && history->count > limit ? limit : history->count;
}

/* The pairs collected so far. slots[item] is the item's index among them plus one. */
typedef struct bag {
    int32_t *items;
    pr_real *weights;
    int32_t *slots;
    size_t pairs;
} bag;

static void add_items(bag *b, const int32_t *from, size_t n, pr_real weight)
{
    for (size_t i = 0; i < n; i++) {
        int32_t *slot = &b->slots[from[i]];
        if (*slot == 0) {
            b->items[b->pairs] = from[i];
            b->weights[b->pairs] = 0;
            *slot = (int32_t)++b->pairs;
        }
        b->weights[*slot - 1] += weight;
    }
}

/* The newest session has weight 1; each older one has `decay` times the weight of the next. Returns
 * the sum. */
static double add_decayed(bag *b, const pr_history *h, size_t skip, double decay)
{
    double total = 0;
    for (size_t s = 0; s < h->session_count; s++) {
        size_t first = (size_t)(h->sessions[s] - h->sessions[0]);
        size_t end = (size_t)(h->sessions[s + 1] - h->sessions[0]);
        first = first < skip ? skip : first;
        if (first >= end)
            continue;
        double weight = pow(decay, (double)(h->session_count - 1 - s));
        add_items(b, h->items + first, end - first, (pr_real)weight);
        total += weight * (double)(end - first);
    }
    return total;
}

size_t pr_history_bag(int32_t *items, pr_real *weights, int32_t *slots, const pr_history *history,
                      const pr_config *config)
{
    assert(items != NULL && weights != NULL && slots != NULL);
    bag b = {items, weights, slots, 0};
    size_t n = pr_history_count(history, config), skip = history->count - n;
    double total = config->history == PR_HISTORY_SUM ? 1 : (double)n;
    if (config->history == PR_HISTORY_DECAYED && history->sessions != NULL)
        total = add_decayed(&b, history, skip, config->history_decay);
    else if (n > 0)
        add_items(&b, history->items + skip, n, 1);
    for (size_t i = 0; i < b.pairs; i++) {
        weights[i] = (pr_real)((double)weights[i] / total);
        slots[items[i]] = 0;
    }
    return b.pairs;
}

/* ---- repeat purchases ----
 *
 * Counts and decayed counts from one pass over a history, newest session first. */

typedef struct past {
    int32_t *items;
    pr_real (*features)[PR_REPEAT_FEATURES];
    int32_t *slots; /* index of an item plus one; 0: not seen yet */
    size_t count;
} past;

/* AGE has the age of the newest purchase and LATE that of the oldest until all are met. */
static void meet(past *p, const int32_t *items, size_t n, double weight, pr_real age)
{
    for (size_t i = 0; i < n; i++) {
        int32_t *slot = &p->slots[items[i]];
        if (*slot == 0) {
            p->items[p->count] = items[i];
            p->features[p->count][PR_REPEAT_COUNT] = 0;
            p->features[p->count][PR_REPEAT_RECENT] = 0;
            p->features[p->count][PR_REPEAT_AGE] = age;
            *slot = (int32_t)++p->count;
        }
        p->features[*slot - 1][PR_REPEAT_LATE] = age;
        p->features[*slot - 1][PR_REPEAT_COUNT] += 1;
        p->features[*slot - 1][PR_REPEAT_RECENT] += (pr_real)weight;
    }
}

/* From the ages that meet() left; below 0 they are not known, and the item counts as due. */
static void time_features(pr_real *f, pr_real times, pr_real everybody)
{
    bool known = f[PR_REPEAT_AGE] >= 0;
    pr_real age = known ? f[PR_REPEAT_AGE] : everybody;
    pr_real usual = known ? pr_usual_days(f[PR_REPEAT_LATE] - age, times, everybody) : everybody;
    pr_real half = (pr_real)0.5; /* a day is the unit of many dates */
    pr_real due = pr_ln((age + half) / (usual + half));
    f[PR_REPEAT_AGE] = pr_ln(1 + age);
    f[PR_REPEAT_EARLY] = due < 0 ? due : 0;
    f[PR_REPEAT_LATE] = due > 0 ? due : 0;
}

size_t pr_repeat_features(int32_t *items, pr_real (*features)[PR_REPEAT_FEATURES],
                          pr_real *expected, int32_t *slots, const pr_history *history,
                          double decay, const pr_near *near, const pr_real *intervals)
{
    past p = {items, features, slots, 0};
    size_t sessions = history->sessions != NULL ? history->session_count : 0;
    if (sessions == 0 && history->count > 0)
        meet(&p, history->items, history->count, 1, -1);
    int64_t now = intervals != NULL ? pr_history_now(history) : PR_NO_TIME;
    bool dated = now != PR_NO_TIME && history->times != NULL;
    double weight = 1;
    for (size_t s = sessions; s-- > 0; weight *= decay) {
        size_t first = (size_t)(history->sessions[s] - history->sessions[0]);
        size_t end = (size_t)(history->sessions[s + 1] - history->sessions[0]);
        meet(&p, history->items + first, end - first, weight,
             dated ? pr_days_since(history, s, now) : -1);
    }
    if (expected != NULL)
        pr_near_expect(expected, near, items, &features[0][PR_REPEAT_COUNT], PR_REPEAT_FEATURES,
                       p.count);
    for (size_t i = 0; i < p.count; i++) {
        pr_real *f = features[i];
        slots[items[i]] = 0;
        if (intervals != NULL)
            time_features(f, f[PR_REPEAT_COUNT], intervals[items[i]]);
        f[PR_REPEAT_COUNT] = pr_ln(1 + f[PR_REPEAT_COUNT]);
        f[PR_REPEAT_RECENT] = pr_ln(1 + f[PR_REPEAT_RECENT]);
        f[PR_REPEAT_HAD] = 1;
        f[PR_REPEAT_SESSIONS] = pr_log((pr_real)(1 + (sessions > 0 ? sessions : 1)));
    }
    return p.count;
}

void pr_repeats_take(pr_repeats *r, pr_arena *arena, size_t rows, size_t items, size_t history,
                     bool neighbours)
{
    size_t distinct = rows * (history < items ? history : items);
    *r = (pr_repeats){.rows = rows, .tiles = pr_tiles(items)};
    r->items = pr_arena_take(arena, distinct, sizeof *r->items);
    r->raw_items = pr_arena_take(arena, distinct, sizeof *r->raw_items);
    r->features = pr_arena_take(arena, distinct, sizeof *r->features);
    r->raw = pr_arena_take(arena, distinct, sizeof *r->raw);
    r->values = pr_arena_take(arena, distinct, sizeof *r->values);
    r->gradients = pr_arena_take(arena, distinct, sizeof *r->gradients);
    r->offsets = pr_arena_take(arena, r->tiles * (rows + 1), sizeof *r->offsets);
    r->raw_offsets = pr_arena_take_zero(arena, rows + 1, sizeof *r->raw_offsets);
    if (!neighbours)
        return;
    r->expected = pr_arena_take(arena, items * rows, sizeof *r->expected);
    r->few = pr_arena_take(arena, PR_LANES * items, sizeof *r->few);
    r->how = pr_arena_take(arena, rows, sizeof *r->how);
    r->dhow = pr_arena_take(arena, rows, sizeof *r->dhow);
    r->dense = (pr_dense){r->expected, rows, r->how, r->dhow};
}

void pr_repeats_take_rows(pr_repeats *r, pr_arena *arena, size_t rows, size_t entries)
{
    *r = (pr_repeats){.rows = rows, .tiles = 1};
    r->raw_items = pr_arena_take(arena, entries, sizeof *r->raw_items);
    r->raw = pr_arena_take(arena, entries, sizeof *r->raw);
    r->values = pr_arena_take(arena, entries, sizeof *r->values);
    r->gradients = pr_arena_take(arena, entries, sizeof *r->gradients);
    r->raw_offsets = pr_arena_take_zero(arena, rows + 1, sizeof *r->raw_offsets);
    r->how = pr_arena_take(arena, rows, sizeof *r->how);
    r->dhow = pr_arena_take_zero(arena, rows, sizeof *r->dhow);
    r->items = r->raw_items;
    r->features = r->raw;
    r->offsets = r->raw_offsets;
}

/* Transposes some rows so that the values of one item are adjacent, in whole cache lines. */
static void file_rows(pr_repeats *r, size_t first, size_t rows)
{
    size_t V = r->near.items;
    for (size_t v = 0; v < V; v++)
        for (size_t i = 0; i < rows; i++)
            r->expected[v * r->rows + first + i] = r->few[i * V + v];
}

void pr_repeats_add(pr_repeats *r, size_t row, int32_t *slots, const pr_history *history,
                    double decay)
{
    size_t at = r->raw_offsets[row];
    pr_real *own = r->few != NULL ? r->few + row % PR_LANES * r->near.items : NULL;
    r->raw_offsets[row + 1] = at + pr_repeat_features(r->raw_items + at, r->raw + at, own, slots,
                                                      history, decay, &r->near, r->intervals);
    if (own != NULL && (row % PR_LANES == PR_LANES - 1 || row + 1 == r->rows))
        file_rows(r, row / PR_LANES * PR_LANES, row % PR_LANES + 1);
}

void pr_repeats_order(pr_repeats *r)
{
    size_t at = 0;
    for (size_t t = 0; t < r->tiles; t++) {
        size_t *offsets = r->offsets + t * (r->rows + 1);
        for (size_t row = 0; row < r->rows; row++) {
            offsets[row] = at;
            for (size_t i = r->raw_offsets[row]; i < r->raw_offsets[row + 1]; i++)
                if ((size_t)r->raw_items[i] / PR_TILE == t) {
                    r->items[at] = r->raw_items[i];
                    memcpy(r->features[at++], r->raw[i], sizeof *r->raw);
                }
        }
        offsets[r->rows] = at;
    }
    r->extra = (pr_extra){r->items, r->offsets, r->rows + 1, r->values, r->gradients};
}

void pr_repeats_values(pr_repeats *r, const pr_real *gates, size_t rows)
{
    assert(rows <= r->rows);
    for (size_t row = 0; r->how != NULL && row < rows; row++)
        r->how[row] = gates[row * r->gates + PR_GATE_EXPECTED];
    for (size_t t = 0; t < r->tiles; t++)
        for (size_t row = 0; row < rows; row++) {
            const size_t *range = r->offsets + t * (r->rows + 1) + row;
            const pr_real *g = gates + row * r->gates;
            for (size_t i = range[0]; i < range[1]; i++)
                r->values[i] = pr_repeat_value(g, r->features[i], r->gates);
        }
}

void pr_repeats_backward(const pr_repeats *r, pr_real *dgates, size_t rows)
{
    assert(rows <= r->rows);
    memset(dgates, 0, rows * r->gates * sizeof *dgates);
    for (size_t row = 0; r->dhow != NULL && row < rows; row++)
        dgates[row * r->gates + PR_GATE_EXPECTED] = r->dhow[row];
    for (size_t t = 0; t < r->tiles; t++)
        for (size_t row = 0; row < rows; row++) {
            const size_t *range = r->offsets + t * (r->rows + 1) + row;
            pr_real *dg = dgates + row * r->gates;
            for (size_t i = range[0]; i < range[1]; i++) {
                for (size_t f = 0; f < PR_REPEAT_PLAIN; f++)
                    dg[f] += r->gradients[i] * r->features[i][f];
                for (size_t g = PR_GATES_PLAIN; g < r->gates; g++)
                    dg[g] += r->gradients[i] * r->features[i][g - 1];
            }
        }
}
