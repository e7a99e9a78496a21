/* What past baskets say: one pass over the sessions, in which every basket counts alike, so that
 * sales per basket are those of a plain pivot table; and prices. Baskets say which items were
 * bought, not what was paid: an item has one price, and a line the mean price of its items as past
 * baskets held them. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/split.h"
#include "whatif/whatif.h"

/* Units in a basket that has any, up to which a line counts as bought once. */
static const double once = 1.02;

typedef struct counting {
    pr_whatif_result *a;
    double *row;             /* [lines]: units of the basket that was added last */
    double *units, *baskets; /* [lines]: of past baskets, to see what is bought once */
} counting;

static void add_basket(counting *c, pr_sales_set *sales, size_t user, const int32_t *items,
                       size_t size)
{
    pr_whatif_result *a = c->a;
    memset(c->row, 0, a->lines.count * sizeof *c->row);
    for (size_t k = 0; k < size; k++)
        pr_lines_sell(&a->lines, c->row, items[k], 1);
    pr_sales_add(&sales->before, &a->cohort, user, c->row, 1);
    for (size_t s = 0; s < a->scenarios.count; s++)
        if (pr_scenario_missing(&a->scenarios.list[s], items, size) == 0)
            pr_sales_add(&sales->after[PARSREC_SELECTION][s], &a->cohort, user, c->row, 1);
}

/* What only past baskets show: how sales grow with the basket, what is bought once, and which items
 * make up the sales of a line. The basket must have been added just before: c->row is still its
 * row, and is used up here. */
static void add_growth(counting *c, size_t user, const int32_t *items, size_t size)
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
            pr_sales_add(&a->by_size[s], cohort, user, c->row, 1);
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
            add_basket(c, &c->a->past, user, items, size);
            add_growth(c, user, items, size);
        }
        if (s >= test)
            add_basket(c, &c->a->test, user, items, size);
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
    for (size_t l = 0; l < lines; l++)
        a->single[l] = c.units[l] <= once * c.baskets[l];
    for (size_t g = 0; g < a->cohort.group_count; g++) { /* sums become mean and variance */
        double baskets = pr_sales_baskets(&a->past.before, &a->cohort, g);
        double mean = a->sizes[2 * g] / baskets;
        a->sizes[2 * g] = mean;
        a->sizes[2 * g + 1] = a->sizes[2 * g + 1] / baskets - mean * mean;
    }
    pr_free(room);
    return PARSREC_OK;
}

/* ---- prices ---- */

parsrec_status pr_whatif_prices(pr_whatif_result *a, const pr_truth *truth, parsrec_error *err)
{
    const pr_dataset *data = a->lines.data;
    const float *feature = NULL;
    for (size_t i = 0; i < data->feature_count[PR_OF_ITEM] && feature == NULL; i++) {
        const pr_feature_column *f = &data->features[PR_OF_ITEM][i];
        if (f->number != NULL && pr_means_price(f->name))
            feature = f->number;
    }
    if (feature == NULL && (truth == NULL || truth->price == NULL))
        return PARSREC_OK;
    a->price = pr_region_take(&a->region, data->items, sizeof *a->price);
    PR_TRY(pr_region_check(&a->region, err));
    for (size_t i = 0; i < data->items; i++) {
        double price = feature != NULL ? (double)feature[i] : truth->price[i];
        a->price[i] = isfinite(price) ? price : NAN;
    }
    return PARSREC_OK;
}

double pr_line_price(const pr_whatif_result *a, size_t scenario, size_t group, size_t line)
{
    assert(line < a->lines.count && group < a->cohort.group_count);
    const pr_line *l = &a->lines.list[line];
    const double *sold = a->sold + group * a->items;
    double units = 0, money = 0;
    if (a->price == NULL)
        return NAN;
    if (l->kind == PR_LINE_NEW)
        return a->price[l->items[0]];
    for (size_t i = 0; i < l->count; i++) {
        int32_t item = l->items[i];
        if (scenario != SIZE_MAX && a->scenarios.list[scenario].off[item])
            continue;
        units += sold[item];
        money += isnan(a->price[item]) ? 0 : sold[item] * a->price[item];
    }
    return units > 0 ? money / units : 0;
}

double pr_priced_share(const pr_whatif_result *a, size_t group)
{
    assert(group < a->cohort.group_count);
    const double *sold = a->sold + group * a->items;
    double all = 0, priced = 0;
    for (size_t i = 0; a->price != NULL && i < a->items; i++) {
        all += sold[i];
        priced += isnan(a->price[i]) ? 0 : sold[i];
    }
    return all > 0 ? priced / all : 0;
}

bool pr_leaving(const pr_whatif_result *a, size_t scenario, size_t group, double *units,
                double *money)
{
    assert(scenario < a->scenarios.count && group < a->cohort.group_count);
    const pr_scenario *s = &a->scenarios.list[scenario];
    const double *sold = a->sold + group * a->items;
    const pr_basket_facts *drawn = &a->facts[group * a->scenarios.count + scenario];
    double baskets = pr_sales_baskets(&a->past.before, &a->cohort, group);
    *units = 0;
    *money = a->price != NULL ? 0 : NAN;
    for (size_t i = 0; i < a->items; i++)
        if (s->off[i]) {
            *units += sold[i] / baskets;
            *money += a->price != NULL && !isnan(a->price[i]) ? sold[i] * a->price[i] / baskets : 0;
        }
    if (a->raw && a->estimator == PARSREC_ROLLOUT && *units > 0) { /* the model's own level */
        *money *= drawn->gone / drawn->baskets / *units;
        *units = drawn->gone / drawn->baskets;
    }
    return s->off_count > 0;
}

pr_estimate pr_money_of(const pr_estimate *units, double price_before, double price_after)
{
    double ratio = price_before > 0 ? price_after / price_before : NAN;
    return (pr_estimate){
        .before = units->before * price_before,
        .after = units->after * price_after,
        .low = units->low * price_after,
        .high = units->high * price_after,
        .change = (1 + units->change) * ratio - 1,
        .change_low = (1 + units->change_low) * ratio - 1,
        .change_high = (1 + units->change_high) * ratio - 1,
    };
}
