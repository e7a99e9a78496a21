/* History bags: mean, sum, or an average that decays with the age of the session. */
#include "model/history.h"

size_t pr_history_count(const pr_history *history, const pr_config *config)
{
    size_t limit = (size_t)config->history_length;
    return limit > 0 && history->count > limit ? limit : history->count;
}

/* The pairs gathered so far. slots[item] is one more than its place among them. */
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

/* The newest session weighs 1, each older one `decay` times the next. Returns the sum. */
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
