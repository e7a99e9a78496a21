/* One pass over the sessions. Every basket counts alike, so that sales per basket are those of a plain
 * pivot table. */
#include "whatif/past_sales.h"

#include <string.h>

#include "base/memory.h"
#include "data/split.h"

/* Units in a basket that has any, up to which a line counts as bought once. */
static const double once = 1.02;

typedef struct counting {
    pr_whatif_result *a;
    double *row;             /* [lines]: the basket */
    double *units, *baskets; /* [lines]: of past baskets, to see what is bought once */
} counting;

static void enter(counting *c, pr_book *book, size_t user, const int32_t *items, size_t size)
{
    pr_whatif_result *a = c->a;
    memset(c->row, 0, a->lines.count * sizeof *c->row);
    for (size_t k = 0; k < size; k++)
        pr_lines_sell(&a->lines, c->row, items[k], 1);
    pr_ledger_add(&book->before, &a->cohort, user, c->row, 1);
    for (size_t s = 0; s < a->scenarios.count; s++)
        if (pr_scenario_missing(&a->scenarios.list[s], items, size) == 0)
            pr_ledger_add(&book->after[PARSREC_SELECTION][s], &a->cohort, user, c->row, 1);
}

/* What only the past tells: how sales grow with the basket, what is bought once, and which items make up
 * the sales of a line. */
static void enter_growth(counting *c, size_t user, const int32_t *items, size_t size)
{
    pr_whatif_result *a = c->a;
    const pr_cohort *cohort = &a->cohort;
    double n = (double)size;
    for (size_t l = 0; l < a->lines.count; l++) {
        c->units[l] += c->row[l];
        c->baskets[l] += c->row[l] > 0;
        c->row[l] *= n;
    }
    for (size_t s = 0; s < a->scenarios.count; s++)
        if (pr_scenario_missing(&a->scenarios.list[s], items, size) > 0)
            pr_ledger_add(&a->grown[s], cohort, user, c->row, 1);
    for (size_t i = cohort->cell_offsets[user]; i < cohort->cell_offsets[user + 1]; i++) {
        size_t group = cohort->cell_group[cohort->cell_list[i]];
        a->sizes[2 * group] += n;
        a->sizes[2 * group + 1] += n * n;
        for (size_t k = 0; k < size; k++)
            a->sold[group * a->items + (size_t)items[k]]++;
    }
}

static void count_user(counting *c, const pr_dataset *data, size_t user, size_t last)
{
    bool tested = pr_split_evaluated(data, user, last);
    int64_t end = data->user_offsets[user + 1];
    int64_t test = tested ? pr_split_session(data, user, PR_TEST, last) : end;
    for (int64_t s = data->user_offsets[user]; s < end; s++) {
        const int32_t *items = data->action_items + data->session_offsets[s];
        size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
        if (s < test || !c->a->synthetic) {
            enter(c, &c->a->past, user, items, size);
            enter_growth(c, user, items, size);
        }
        if (s >= test)
            enter(c, &c->a->test, user, items, size);
    }
}

static void finish(counting *c)
{
    pr_whatif_result *a = c->a;
    for (size_t l = 0; l < a->lines.count; l++)
        a->single[l] = c->units[l] <= once * c->baskets[l];
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        double baskets = pr_ledger_baskets(&a->past.before, &a->cohort, g);
        double mean = a->sizes[2 * g] / baskets;
        a->sizes[2 * g] = mean;
        a->sizes[2 * g + 1] = a->sizes[2 * g + 1] / baskets - mean * mean;
    }
}

parsrec_status pr_past_sales(pr_whatif_result *a, const pr_dataset *data, size_t last,
                             parsrec_error *err)
{
    size_t lines = a->lines.count;
    double *room = pr_alloc_zero(3 * lines, sizeof *room);
    if (room == NULL)
        return pr_fail_memory(err);
    counting c = {a, room, room + lines, room + 2 * lines};
    for (size_t user = 0; user < data->users; user++)
        if (a->cohort.cell_offsets[user] < a->cohort.cell_offsets[user + 1])
            count_user(&c, data, user, last);
    finish(&c);
    pr_free(room);
    return PARSREC_OK;
}
