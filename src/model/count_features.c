/* Count tables as parameters, and the feature planes computed from them. */
#include "model/count_features.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/wide.h"

const char *const pr_count_feature_names[PR_COUNT_FEATURES + 1] = {
    "times", "recent", "had", "popular", "lift", "neighbours", "sessions", NULL};
const double pr_count_prior[PR_COUNT_FEATURES] = {
    [PR_COUNT_TIMES] = .5,   [PR_COUNT_RECENT] = .5, [PR_COUNT_HAD] = 1,
    [PR_COUNT_POPULAR] = .5, [PR_COUNT_LIFT] = .5,   [PR_COUNT_NEIGHBOURS] = .5,
    [PR_COUNT_SESSIONS] = 0,
};

/* ---- tables ---- */

parsrec_status pr_count_tables_layout(pr_model *model, parsrec_error *err)
{
    pr_params *p = &model->params;
    size_t V = model->items, K = PR_COUNT_NEIGHBOURS_K;
    PR_TRY(pr_params_add_words(p, "counts.sessions", 1, 1, err));
    PR_TRY(pr_params_add_numbers(p, "counts.held", 1, V, err));
    PR_TRY(pr_transitions_layout(model, "counts.together", err));
    PR_TRY(pr_params_add_words(p, "counts.near.ends", 1, V, err));
    PR_TRY(pr_params_add_words(p, "counts.near.to", V, K, err));
    PR_TRY(pr_params_add_numbers(p, "counts.near.weights", V, K, err));
    return pr_params_add_numbers(p, "counts.near.base", 1, V, err);
}

pr_count_tables pr_count_tables_of(const pr_model *model)
{
    return (pr_count_tables){.items = model->items,
                             .sessions = (double)*pr_model_u32(model, "counts.sessions"),
                             .held = pr_model_reals(model, "counts.held"),
                             .together = pr_transitions_of(model, "counts.together"),
                             .near = {.items = model->items,
                                      .ends = pr_model_u32(model, "counts.near.ends"),
                                      .to = pr_model_u32(model, "counts.near.to"),
                                      .weights = pr_model_reals(model, "counts.near.weights"),
                                      .base = pr_model_reals(model, "counts.near.base")}};
}

parsrec_status pr_count_tables_size(pr_links *together, pr_model *model, const pr_counted *from,
                                    parsrec_error *err)
{
    PR_TRY(pr_links_count(together, from, PR_TOGETHER, PR_LIFT_WIDTH, err));
    return pr_transitions_size(model, "counts.together", together, err);
}

parsrec_status pr_count_tables_count(pr_model *model, const pr_links *together,
                                     const pr_counted *from, parsrec_error *err)
{
    const pr_dataset *data = from->data;
    pr_real *held = pr_model_reals(model, "counts.held");
    uint64_t sessions = 0;
    uint32_t *count = pr_alloc_zero(model->items, sizeof *count); /* not float: above 2^24 floats
                                                                   * skip integers */
    if (count == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->user_offsets[u], end = pr_counted_end(from, u);
        sessions += (uint64_t)(end - first);
        for (int64_t a = data->session_offsets[first]; a < data->session_offsets[end]; a++)
            count[data->action_items[a]]++;
    }
    for (size_t i = 0; i < model->items; i++)
        held[i] = (pr_real)count[i];
    pr_free(count);
    *pr_model_u32(model, "counts.sessions") =
        (uint32_t)(sessions < UINT32_MAX ? sessions : UINT32_MAX);
    pr_transitions_set(model, "counts.together", together);
    pr_count_tables t = pr_count_tables_of(model);
    return pr_near_count(&t.near, PR_COUNT_NEIGHBOURS_K, from, err);
}

parsrec_status pr_count_tables_verify(const pr_model *model, parsrec_error *err)
{
    pr_count_tables t = pr_count_tables_of(model);
    PR_TRY(pr_transitions_verify(model, "counts.together", err));
    return pr_near_verify(&t.near, PR_COUNT_NEIGHBOURS_K, err);
}

/* ---- features ---- */

void pr_count_scratch_take(pr_count_scratch *own, pr_arena *arena, size_t items)
{
    own->items = pr_arena_take(arena, items, sizeof *own->items);
    own->features = pr_arena_take(arena, items, sizeof *own->features);
    own->slots = pr_arena_take_zero(arena, items, sizeof *own->slots);
}

/* An item that was never sold counts as if half a session contained it. */
static void fill_popular(pr_real *plane, const pr_count_tables *t)
{
    pr_real all = (pr_real)(t->sessions + 1);
    for (size_t i = 0; i < t->items; i++)
        plane[i] = pr_ln((t->held[i] + (pr_real)0.5) / all);
}

void pr_count_features_start(pr_real *planes, const pr_count_tables *t, const pr_history *history,
                             double decay, pr_count_scratch *own)
{
    static const uint8_t repeat_of[PR_REPEAT_PLAIN] = {
        [PR_REPEAT_COUNT] = PR_COUNT_TIMES,
        [PR_REPEAT_RECENT] = PR_COUNT_RECENT,
        [PR_REPEAT_HAD] = PR_COUNT_HAD,
        [PR_REPEAT_SESSIONS] = PR_COUNT_SESSIONS,
    };
    size_t V = t->items;
    memset(planes, 0, PR_COUNT_FEATURES * V * sizeof *planes);
    fill_popular(planes + PR_COUNT_POPULAR * V, t);
    size_t n = pr_repeat_features(own->items, own->features, planes + PR_COUNT_NEIGHBOURS * V,
                                  own->slots, history, decay, &t->near, NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < PR_REPEAT_PLAIN; f++)
            planes[repeat_of[f] * V + (size_t)own->items[i]] = own->features[i][f];
}

/* sum -= log(e + 1), where e = rate · held: what a pair has in common by chance. */
PR_INLINE void lower_any(pr_real *restrict sum, const pr_real *restrict held, pr_real rate,
                         size_t n)
{
    for (size_t v = 0; v < n; v++)
        sum[v] -= pr_ln(1 + rate * held[v]);
}
PR_LOCAL_LEVELS(void, lower, lower_any,
                (pr_real *restrict sum, const pr_real *restrict held, pr_real rate, size_t n),
                (sum, held, rate, n))

static pr_real chance_rate(const pr_count_tables *t, int32_t placed)
{
    return t->sessions > 0 ? (pr_real)((double)t->held[placed] / t->sessions) : 0;
}

void pr_count_lift_add(pr_real *sum, const pr_count_tables *t, int32_t placed)
{
    const pr_transitions *l = &t->together;
    assert(placed >= 0 && (size_t)placed < t->items);
    lower(sum, t->held, chance_rate(t, placed), t->items);
    for (uint32_t e = l->start[placed]; e < l->start[placed + 1]; e++)
        sum[l->item[e]] += pr_ln(1 + l->count[e]);
}

double pr_count_lift(const pr_count_tables *t, int32_t placed, int32_t item)
{
    const pr_transitions *l = &t->together;
    double chance = log(1 + (double)(chance_rate(t, placed) * t->held[item]));
    for (uint32_t e = l->start[placed]; e < l->start[placed + 1]; e++)
        if (l->item[e] == (uint32_t)item)
            return log(1 + (double)l->count[e]) - chance;
    return -chance;
}
