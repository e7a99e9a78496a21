/* One pass over the sessions. */
#include "whatif/past_sales.h"

#include <string.h>

#include "base/memory.h"
#include "data/split.h"

/* Units in a basket that has any, up to which a line counts as bought once. */
static const double once = 1.02;

parsrec_status pr_past_sales(pr_book *past, pr_book *test, bool *single, const pr_dataset *data,
                             const pr_cohort *cohort, const pr_lines *lines,
                             const pr_scenarios *scenarios, size_t last, parsrec_error *err)
{
    double *row = pr_alloc(3 * lines->count, sizeof *row);
    if (row == NULL)
        return pr_fail_memory(err);
    double *units = row + lines->count, *baskets = units + lines->count;
    memset(units, 0, 2 * lines->count * sizeof *units);
    for (size_t i = 0; i < cohort->user_count; i++) {
        size_t user = (size_t)cohort->users[i];
        int64_t split = pr_split_session(data, user, PR_TEST, last);
        for (int64_t s = data->user_offsets[user]; s < data->user_offsets[user + 1]; s++) {
            pr_book *book = s < split ? past : test;
            const int32_t *items = data->action_items + data->session_offsets[s];
            size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
            memset(row, 0, lines->count * sizeof *row);
            for (size_t k = 0; k < size; k++)
                pr_lines_sell(lines, row, items[k], 1);
            pr_ledger_add(&book->before, cohort, user, row, 1);
            for (size_t l = 0; l < lines->count; l++) {
                units[l] += row[l];
                baskets[l] += row[l] > 0;
            }
            for (size_t c = 0; c < scenarios->count; c++)
                if (pr_scenario_missing(&scenarios->list[c], items, size) == 0)
                    pr_ledger_add(&book->after[PARSREC_SELECTION][c], cohort, user, row, 1);
        }
    }
    for (size_t l = 0; l < lines->count; l++)
        single[l] = units[l] <= once * baskets[l];
    pr_free(row);
    return PARSREC_OK;
}
