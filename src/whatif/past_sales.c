/* One pass over the sessions. Every user counts alike, as in the test and in drawn baskets; together they
 * count as many past sessions as there were. */
#include "whatif/past_sales.h"

#include <string.h>

#include "base/memory.h"
#include "data/split.h"

/* Units in a basket that has any, up to which a line counts as bought once. */
static const double once = 1.02;

typedef struct counting {
    pr_answer *a;
    double *row;             /* [lines]: the basket */
    double *units, *baskets; /* [lines]: of past baskets, to see what is bought once */
    double *weights;         /* [groups]: past baskets */
} counting;

static void enter(counting *c, pr_book *book, size_t user, const int32_t *items, size_t size,
                  double weight)
{
    pr_answer *a = c->a;
    memset(c->row, 0, a->lines.count * sizeof *c->row);
    for (size_t k = 0; k < size; k++)
        pr_lines_sell(&a->lines, c->row, items[k], weight);
    pr_ledger_add(&book->before, &a->cohort, user, c->row, weight);
    for (size_t s = 0; s < a->scenarios.count; s++)
        if (pr_scenario_missing(&a->scenarios.list[s], items, size) == 0)
            pr_ledger_add(&book->after[PARSREC_SELECTION][s], &a->cohort, user, c->row, weight);
}

/* What only the past tells: how sales grow with the basket, and what is bought once. */
static void enter_growth(counting *c, size_t user, const int32_t *items, size_t size, double weight)
{
    pr_answer *a = c->a;
    const pr_cohort *cohort = &a->cohort;
    double n = (double)size;
    for (size_t l = 0; l < a->lines.count; l++) {
        c->units[l] += c->row[l] / weight;
        c->baskets[l] += c->row[l] > 0;
        c->row[l] *= n;
    }
    for (size_t s = 0; s < a->scenarios.count; s++)
        if (pr_scenario_missing(&a->scenarios.list[s], items, size) > 0)
            pr_ledger_add(&a->grown[s], cohort, user, c->row, weight);
    for (size_t i = cohort->cell_offsets[user]; i < cohort->cell_offsets[user + 1]; i++) {
        size_t group = cohort->cell_group[cohort->cell_list[i]];
        a->sizes[2 * group] += weight * n;
        a->sizes[2 * group + 1] += weight * n * n;
        c->weights[group] += weight;
    }
}

static double mean_sessions(const pr_dataset *data, const pr_cohort *cohort, size_t last)
{
    double sum = 0;
    for (size_t i = 0; i < cohort->user_count; i++) {
        size_t user = (size_t)cohort->users[i];
        sum += (double)(pr_split_session(data, user, PR_TEST, last) - data->user_offsets[user]);
    }
    return sum / (double)cohort->user_count;
}

static void count_user(counting *c, const pr_dataset *data, size_t user, size_t last, double mean)
{
    int64_t split = pr_split_session(data, user, PR_TEST, last);
    double weight = mean / (double)(split - data->user_offsets[user]);
    for (int64_t s = data->user_offsets[user]; s < data->user_offsets[user + 1]; s++) {
        const int32_t *items = data->action_items + data->session_offsets[s];
        size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
        enter(c, s < split ? &c->a->past : &c->a->test, user, items, size, s < split ? weight : 1);
        if (s < split)
            enter_growth(c, user, items, size, weight);
    }
}

static void finish(counting *c)
{
    pr_answer *a = c->a;
    for (size_t l = 0; l < a->lines.count; l++)
        a->single[l] = c->units[l] <= once * c->baskets[l];
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        double mean = a->sizes[2 * g] / c->weights[g];
        a->sizes[2 * g] = mean;
        a->sizes[2 * g + 1] = a->sizes[2 * g + 1] / c->weights[g] - mean * mean;
    }
}

parsrec_status pr_past_sales(pr_answer *a, const pr_dataset *data, size_t last, parsrec_error *err)
{
    size_t lines = a->lines.count;
    double *room = pr_alloc_zero(3 * lines + a->cohort.group_count, sizeof *room);
    if (room == NULL)
        return pr_fail_memory(err);
    counting c = {a, room, room + lines, room + 2 * lines, room + 3 * lines};
    double mean = mean_sessions(data, &a->cohort, last);
    for (size_t i = 0; i < a->cohort.user_count; i++)
        count_user(&c, data, (size_t)a->cohort.users[i], last, mean);
    finish(&c);
    pr_free(room);
    return PARSREC_OK;
}
