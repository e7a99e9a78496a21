/* Prices, and what sales are worth. Baskets say which items were bought, not what was paid: an item has one
 * price, and a line the mean price of its items as past baskets held them. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "whatif/answer.h"

/* "price", "Price", "unit_price", "UnitPrice" */
static bool means_price(const char *name)
{
    char letters[16];
    size_t n = 0;
    for (; *name != '\0'; name++) {
        if (!isalpha((unsigned char)*name))
            continue;
        if (n + 1 == sizeof letters)
            return false;
        letters[n++] = (char)tolower((unsigned char)*name);
    }
    letters[n] = '\0';
    return strcmp(letters, "price") == 0 || strcmp(letters, "unitprice") == 0;
}

static const float *price_feature(const pr_dataset *data)
{
    for (size_t i = 0; i < data->feature_count[PR_OF_ITEM]; i++) {
        const pr_feature_column *f = &data->features[PR_OF_ITEM][i];
        if (f->number != NULL && means_price(f->name))
            return f->number;
    }
    return NULL;
}

parsrec_status pr_whatif_prices(pr_whatif_result *a, const pr_truth *truth, parsrec_error *err)
{
    const pr_dataset *data = a->lines.data;
    const float *feature = price_feature(data);
    if (feature == NULL && (truth == NULL || truth->price == NULL))
        return PARSREC_OK;
    a->price = pr_alloc(data->items, sizeof *a->price);
    if (a->price == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < data->items; i++) {
        double price = feature != NULL ? (double)feature[i] : truth->price[i];
        a->price[i] = isfinite(price) ? price : NAN;
    }
    return PARSREC_OK;
}

double pr_line_price(const pr_whatif_result *a, size_t scenario, size_t group, size_t line)
{
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
    const pr_scenario *s = &a->scenarios.list[scenario];
    const double *sold = a->sold + group * a->items;
    const pr_basket_facts *drawn = &a->facts[group * a->scenarios.count + scenario];
    double baskets = pr_ledger_baskets(&a->past.before, &a->cohort, group);
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
