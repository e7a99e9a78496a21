/* The answer for readers: tables on a terminal, and a page with charts. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/charts.h"
#include "report/report.h"
#include "whatif/whatif.h"

enum {
    NAME_MOST = 38,
    TEXT_WIDTH = 100,
    PERCENT_BYTES = 32,
    TITLE_BYTES = 400,
    SERIES_MOST = 2,
    BLUE = 0,
    ORANGE = 1,
};

/* ---- sentences ---- */

static const char *question_sentence(const pr_whatif_result *a, size_t question)
{
    if (question == PARSREC_SELECTION)
        return "Selection: past baskets without it, compared with all baskets. These are other "
               "baskets, usually smaller ones, so the change is not an effect of taking it off the "
               "shelf.";
    if (a->missing == PARSREC_MISSING_LEAVE)
        return "Re-choice: what the same shoppers buy when it is not on the shelf. Its place in "
               "the basket stays empty, and a basket is abandoned with the probability of the "
               "share that is missing. That is assumed (give_up = 1); intervals reach up to no "
               "basket being abandoned (give_up = 0).";
    return "Re-choice: what the same shoppers buy when it is not on the shelf. They take something "
           "else instead; baskets keep their size.";
}

/* What `before` is a mean over, and what prices are known; group SIZE_MAX: of every group. */
static void write_before(pr_writer *out, const pr_whatif_result *a, size_t group)
{
    double priced = pr_priced_share(a, group == SIZE_MAX ? 0 : group);
    pr_write(out, "Units per basket; an item counts once per basket. ");
    if (a->raw)
        pr_write(out, "Before: model estimates without calibration to past sales.");
    else if (group == SIZE_MAX)
        pr_write(out, "Before: the mean over all%s baskets of a group's users, every basket alike.",
                 a->synthetic ? " past" : "");
    else {
        const pr_user_group *g = &a->groups.list[group];
        pr_write(out, "Before: the mean over the ");
        pr_write_grouped(out, (uint64_t)pr_sales_baskets(&a->past.before, &a->cohort, group));
        pr_write(out, "%s baskets of ", a->synthetic ? " past" : "");
        pr_write_grouped(out, g->count);
        pr_write(out, " user%s, every basket alike%s.", g->count == 1 ? "" : "s",
                 a->synthetic ? " (without the test sessions)" : "");
    }
    if (a->price != NULL)
        pr_write(out, " Revenue per basket: units times the mean price of the items sold.");
    if (a->price != NULL && priced < 0.9995)
        pr_write(out, " Prices are known for %.1f %% of the units; the others count as 0.",
                 100 * priced);
}

static const double shown_least = 0.0005; /* with one decimal of a percentage */

/* A share as "+12.3 %", "0.0 %" or, where it is unknown, "-". */
static const char *percent_text(char *text, double share)
{
    if (isnan(share))
        snprintf(text, PERCENT_BYTES, "-");
    else if (fabs(share) < shown_least)
        snprintf(text, PERCENT_BYTES, "0.0 %%");
    else
        snprintf(text, PERCENT_BYTES, "%+.1f %%", 100 * share);
    return text;
}

/* False where nothing that is shown varies, as the total of baskets that keep their size. */
static bool has_range(const pr_estimate *e)
{
    return e->change_high - e->change_low > 1e-6 && /* false for NaN */
           fmax(fabs(e->change_low), fabs(e->change_high)) >= shown_least;
}

/* "[+1.2, +3.4]", or "-" where there is no interval. */
static const char *range_text(char *text, const pr_estimate *e)
{
    if (has_range(e))
        snprintf(text, PERCENT_BYTES, "[%+.1f, %+.1f]", 100 * e->change_low, 100 * e->change_high);
    else
        snprintf(text, PERCENT_BYTES, "-");
    return text;
}

/* "Units per basket: 8.12 before, 8.40 after, +3.4 % (+1.0 to +5.9 %)." */
static void write_level(pr_writer *out, const char *what, const pr_estimate *e)
{
    char change[PERCENT_BYTES];
    if (isnan(e->change))
        return;
    if (fabs(e->change) < shown_least && !has_range(e)) {
        pr_write(out, " %s per basket: %.2f before and after.", what, e->before);
        return;
    }
    pr_write(out, " %s per basket: %.2f before, %.2f after, %s", what, e->before, e->after,
             percent_text(change, e->change));
    if (has_range(e))
        pr_write(out, " (%+.1f to %+.1f %%)", 100 * e->change_low, 100 * e->change_high);
    pr_write(out, ".");
}

/* What a change is at least, by its interval: 0 where that contains zero. A large change of few sales has
 * a wide interval, and is no headline. */
static double sure_change(const pr_estimate *e)
{
    return fmax(fmax(e->change_low, -e->change_high), 0); /* fmax passes over NaN */
}

/* The line among those shown whose change is surely the largest. */
static void write_largest(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q,
                          size_t group)
{
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t l = 0; l < a->lines.count; l++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, group, l);
        if (a->watched[s * a->lines.count + l] && !pr_line_dropped(a, s, l) &&
            sure_change(e) > most) {
            best = l;
            most = sure_change(e);
        }
    }
    const char *name = a->groups.list[group].label;
    int first = toupper((unsigned char)name[0]); /* of a sentence */
    if (best == SIZE_MAX) {
        pr_write(out, "%c%s: no change of a single %s is certain.", first, name + 1,
                 a->lines.by_item ? "item" : "category");
        return;
    }
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, group, best);
    if (q == PARSREC_SELECTION)
        pr_write(out, "Baskets of %s without it contain", name);
    else
        pr_write(out, "%c%s would buy", first, name + 1);
    pr_write(out, " %.1f %% %s of %s (%+.1f to %+.1f %%).", 100 * fabs(e->change),
             e->change > 0 ? "more" : "less", a->lines.list[best].name, 100 * e->change_low,
             100 * e->change_high);
}

/* Whether a whole bin leaves; a part of one is replaced by the rest of it. */
static bool bin_leaves(const pr_whatif_result *a, size_t s)
{
    for (size_t l = 0; l < a->lines.bins; l++)
        if (a->scenarios.list[s].state[l] == PR_SHELF_NONE)
            return true;
    return false;
}

/* Baskets that keep their size must contain more of something: a change says little that is no
 * larger than if all gained alike. */
static void write_even_spread(pr_writer *out, const pr_whatif_result *a, size_t s, size_t group,
                              double before)
{
    double units, revenue;
    if (a->missing != PARSREC_MISSING_LEAVE && bin_leaves(a, s) &&
        pr_leaving(a, s, group, &units, &revenue) && units > 0 && units < before)
        pr_write(out,
                 " Spread evenly over all that stays, what leaves would raise everything by %.1f "
                 "%%: what matters is what gains more or less than that.",
                 100 * units / (before - units));
}

/* The change that is surely the largest, and what becomes of the whole basket and its money. */
static void write_finding(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q,
                          size_t group)
{
    const pr_total *t = pr_total_of(a, s, q, group);
    write_largest(out, a, s, q, group);
    if (q == PARSREC_RECHOICE)
        write_even_spread(out, a, s, group, t->units.before);
    write_level(out, "Units", &t->units);
    write_level(out, "Revenue", &t->money);
}

/* ---- charts ---- */

/* Changes of sales with their intervals: orange is more, blue is less; where the truth is known it
 * is next to the estimate. */
static void set_bars(pr_chart_bar *bars, size_t *colour, const pr_whatif_result *a, size_t s,
                     size_t q, size_t g, size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    bool known = !isnan(e->change_low);
    bars[0] = (pr_chart_bar){e->change, known ? e->change_low : e->change,
                             known ? e->change_high : e->change};
    *colour = e->change < 0 ? BLUE : ORANGE;
    if (a->truth.sets > 0) {
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
        double after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        double change = before > 0 ? after / before - 1 : NAN;
        bars[1] = (pr_chart_bar){change, change, change};
    }
}

parsrec_status pr_whatif_chart(pr_writer *page, const char *path, const pr_whatif_result *a,
                               size_t scenario, size_t question, size_t group, parsrec_error *err)
{
    static const char *const series[SERIES_MOST] = {"estimated", "true"};
    size_t lines = a->lines.count, each = a->truth.sets > 0 ? 2 : 1;
    size_t *shown = pr_alloc(lines, sizeof *shown), *colours = pr_alloc(lines, sizeof *colours);
    const char **names = pr_alloc(lines, sizeof *names);
    pr_chart_bar *bars = pr_alloc(lines * SERIES_MOST, sizeof *bars);
    char title[TITLE_BYTES];
    parsrec_status status = PARSREC_OK;
    if (shown == NULL || colours == NULL || names == NULL || bars == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    size_t count = pr_shown_lines(shown, a, scenario);
    for (size_t i = 0; i < count; i++) {
        names[i] = a->lines.list[shown[i]].name;
        set_bars(bars + i * each, &colours[i], a, scenario, question, group, shown[i]);
    }
    snprintf(title, sizeof title, "%s: change of units per basket", a->groups.list[group].label);
    pr_bars chart = {.title = title,
                     .rows = names,
                     .row_count = count,
                     .series = series,
                     .series_count = each,
                     .bars = bars,
                     .colours = colours,
                     .percent = true,
                     .mark = NAN};
    status = page != NULL ? pr_bars_inline(&chart, page, err) : pr_bars_draw(&chart, path, err);
done:
    pr_free(shown);
    pr_free(colours);
    pr_free(names);
    pr_free(bars);
    return status;
}

/* ---- sales ---- */

static void add_words(pr_report *r, const char *text, pr_emphasis emphasis)
{
    pr_report_words(r, emphasis, "%s", text);
}

/* Marked where the interval does not contain zero: more or less than before, not by chance. */
static void add_estimate(pr_report *r, const pr_whatif_result *a, const pr_estimate *e,
                         const pr_estimate *money)
{
    char text[PERCENT_BYTES];
    pr_report_number(r, e->before, PR_PLAIN);
    pr_report_number(r, e->after, PR_PLAIN);
    add_words(r, percent_text(text, e->change),
              e->change_low > 0    ? PR_MORE
              : e->change_high < 0 ? PR_LESS
                                   : PR_PLAIN);
    add_words(r, range_text(text, e), PR_PLAIN);
    if (a->price == NULL)
        return;
    pr_report_number(r, money->before, PR_PLAIN);
    pr_report_number(r, money->after, PR_PLAIN);
}

/* The lines of a scenario that are shown. */
typedef struct rows {
    size_t *line; /* [lines] */
    size_t count;
} rows;

static void add_sales(pr_report *r, const pr_whatif_result *a, const rows *shown, size_t s,
                      size_t q, size_t g)
{
    char range[32];
    snprintf(range, sizeof range, "%.0f %% interval", 100 * a->interval);
    const pr_report_column columns[] = {
        {a->lines.by_item ? "item" : "category", PR_REPORT_WORDS, 0, NULL, NAME_MOST},
        {"units before", PR_REPORT_NUMBER, 4, NULL, 0},
        {"units after", PR_REPORT_NUMBER, 4, NULL, 0},
        {"change", PR_REPORT_NUMBER, 1, NULL, 0},
        {range, PR_REPORT_NUMBER, 1, NULL, 0},
        {"revenue before", PR_REPORT_NUMBER, 4, NULL, 0},
        {"revenue after", PR_REPORT_NUMBER, 4, NULL, 0}};
    double units, revenue;
    pr_report_table(r, columns, a->price != NULL ? 7 : 5);
    for (size_t i = 0; i < shown->count; i++) {
        size_t line = shown->line[i];
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
        pr_estimate money =
            pr_money_of(e, pr_line_price(a, SIZE_MAX, g, line), pr_line_price(a, s, g, line));
        pr_report_row(r, PR_ROW_PLAIN, a->lines.list[line].name);
        add_estimate(r, a, e, &money);
    }
    if (pr_leaving(a, s, g, &units, &revenue)) {
        double change = units > 0 ? -1 : NAN; /* what was never sold does not fall */
        pr_report_marked_row(r, PR_ROW_ASIDE, a->scenarios.list[s].leaving, strlen(PR_LEAVES));
        add_estimate(r, a, &(pr_estimate){units, 0, 0, 0, change, NAN, NAN},
                     &(pr_estimate){.before = revenue, .after = 0});
    }
    const pr_total *t = pr_total_of(a, s, q, g);
    pr_report_row(r, PR_ROW_TOTAL, pr_total_name(a));
    add_estimate(r, a, &t->units, &t->money);
}

/* The same rows against what the generator makes. */
static void add_truth(pr_report *r, const pr_whatif_result *a, const rows *shown, size_t s,
                      size_t q, size_t g)
{
    static const pr_report_column columns[] = {{"category", PR_REPORT_WORDS, 0, NULL, NAME_MOST},
                                               {"estimated change", PR_REPORT_NUMBER, 1, NULL, 0},
                                               {"true change", PR_REPORT_NUMBER, 1, NULL, 0},
                                               {"units after", PR_REPORT_NUMBER, 4, NULL, 0},
                                               {"true units after", PR_REPORT_NUMBER, 4, NULL, 0},
                                               {"error", PR_REPORT_NUMBER, 1, " %", 0},
                                               {"noise floor", PR_REPORT_NUMBER, 1, " %", 0},
                                               {"one test set", PR_REPORT_NUMBER, 4, NULL, 0}};
    char text[PERCENT_BYTES];
    pr_report_add(r, PR_REPORT_FOLD, "Against the truth");
    pr_report_table(r, columns, q == PARSREC_SELECTION ? 8 : 7);
    for (size_t i = 0; i < shown->count; i++) {
        size_t line = shown->line[i];
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
        bool new_item = a->lines.list[line].kind == PR_LINE_NEW;
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
        double after = new_item ? NAN : a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        pr_report_row(r, PR_ROW_PLAIN, a->lines.list[line].name);
        add_words(r, percent_text(text, e->change), PR_PLAIN);
        add_words(r, percent_text(text, before > 0 ? after / before - 1 : NAN), PR_PLAIN);
        pr_report_number(r, e->after, PR_PLAIN);
        pr_report_number(r, after, PR_PLAIN);
        pr_report_number(r, after > 0 ? 100 * fabs(e->after - after) / after : NAN, PR_PLAIN);
        pr_report_number(r, 100 * a->truth.floor[q][pr_true_at(&a->truth, s, g, line)], PR_PLAIN);
        if (q == PARSREC_SELECTION)
            pr_report_number(
                r, new_item ? NAN : pr_sales_rate(&a->test.after[q][s], &a->cohort, g, line),
                PR_PLAIN);
    }
    pr_report_add(r, PR_REPORT_FOLD_END, " ");
}

static parsrec_status add_group(pr_report *r, const pr_whatif_result *a, const rows *shown,
                                size_t s, size_t q, size_t g, parsrec_error *err)
{
    if (a->cohort.group_count > 1)
        pr_report_add(r, PR_REPORT_HEADING, "%s", a->groups.list[g].label);
    if (q == PARSREC_RECHOICE)
        write_finding(pr_report_open(r, PR_REPORT_LEAD), a, s, q, g);
    add_sales(r, a, shown, s, q, g);
    pr_report_only(r, PR_IN_HTML);
    write_before(pr_report_open(r, PR_REPORT_NOTE), a, g);
    if (pr_report_is_wanted(r))
        PR_TRY(pr_whatif_chart(pr_report_open(r, PR_REPORT_CHART), NULL, a, s, q, g, err));
    pr_report_only(r, 0);
    if (a->truth.sets > 0)
        add_truth(r, a, shown, s, q, g);
    return PARSREC_OK;
}

static parsrec_status add_question(pr_report *r, const pr_whatif_result *a, const rows *shown,
                                   size_t s, size_t q, parsrec_error *err)
{
    bool several = a->scenarios.count > 1;
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_SECTION, "%s%s%s", several ? a->scenarios.list[s].name : "",
                  several ? ": " : "",
                  q == PARSREC_RECHOICE ? "What would the same people buy?"
                                        : "What do people buy who go without?");
    pr_report_only(r, 0);
    pr_report_add(r, PR_REPORT_TEXT, "%s", question_sentence(a, q));
    for (size_t g = 0; g < a->cohort.group_count; g++)
        PR_TRY(add_group(r, a, shown, s, q, g, err));
    return PARSREC_OK;
}

/* ---- other parts ---- */

/* How many past baskets are concerned: counted, not estimated. */
static void add_facts(pr_report *r, const pr_whatif_result *a, size_t s)
{
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_basket_facts *f = &a->facts[g * a->scenarios.count + s];
        const pr_sales *past = &a->past.before, *rest = &a->past.after[PARSREC_SELECTION][s];
        double all = pr_sales_baskets(past, &a->cohort, g), units = 0, kept = 0;
        double without = pr_sales_baskets(rest, &a->cohort, g);
        pr_writer text = {0};
        for (size_t l = 0; l < a->lines.bins; l++) {
            units += pr_sales_units(past, &a->cohort, g, l);
            kept += pr_sales_units(rest, &a->cohort, g, l);
        }
        if (a->scenarios.list[s].off_count > 0) {
            pr_write(&text, "%.1f %% of ", 100 * (all - without) / all);
            pr_write_grouped(&text, (uint64_t)all);
            pr_write(&text, " baskets contain what leaves; they have %.2f items, all baskets %.2f",
                     all > without ? (units - kept) / (all - without) : 0, units / all);
        } else {
            pr_write(&text, "%.2f items per basket", units / all);
        }
        if (f->swapped > 0)
            pr_write(&text, "; %.3f per basket swapped within the category",
                     f->swapped / f->baskets);
        if (a->missing == PARSREC_MISSING_LEAVE)
            pr_write(&text, "; %.1f %% of baskets given up", 100 * f->lost / f->baskets);
        if (text.failed)
            r->text.failed = true;
        else
            pr_report_fact(r, a->groups.list[g].label, "%s", text.text);
        pr_writer_free(&text);
    }
}

static void add_agreement(pr_report *r, const pr_whatif_result *a, size_t s, size_t q)
{
    static const pr_report_column columns[] = {
        {"group", PR_REPORT_WORDS, 0, NULL, 0},
        {"estimator", PR_REPORT_WORDS, 0, NULL, 0},
        {"rank correlation", PR_REPORT_NUMBER, 2, NULL, 0},
        {"error of change", PR_REPORT_NUMBER, 2, " points", 0},
        {"MAPE, expected", PR_REPORT_NUMBER, 1, " %", 0},
        {"noise floor", PR_REPORT_NUMBER, 1, " %", 0},
        {"MAPE, test set", PR_REPORT_NUMBER, 1, " %", 0},
        {"coverage", PR_REPORT_NUMBER, 0, " %", 0}};
    pr_report_add(r, PR_REPORT_FOLD, "%s: estimators against the truth",
                  q == PARSREC_RECHOICE ? "Re-choice" : "Selection");
    pr_report_add(r, PR_REPORT_TEXT,
                  "Over all categories that stay; %zu test sets were simulated. The noise floor is "
                  "the mean error that the expected sales themselves have against a test set of "
                  "this size.",
                  a->truth.sets);
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t e = 0; e < PR_ESTIMATORS; e++) {
            const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
            if (isnan(x->points))
                continue;
            pr_report_row(r, PR_ROW_PLAIN, a->groups.list[g].label);
            add_words(r, parsrec_estimator_name((parsrec_estimator)e), PR_PLAIN);
            pr_report_number(r, x->rank, PR_PLAIN);
            pr_report_number(r, x->points, PR_PLAIN);
            pr_report_number(r, 100 * x->error, PR_PLAIN);
            pr_report_number(r, 100 * x->floor, PR_PLAIN);
            pr_report_number(r, 100 * x->test, PR_PLAIN);
            pr_report_number(r, 100 * x->coverage, PR_PLAIN);
        }
    pr_report_add(r, PR_REPORT_FOLD_END, " ");
}

static void add_cross_effects(pr_report *r, const pr_whatif_result *a)
{
    static const pr_report_column columns[] = {{"without", PR_REPORT_WORDS, 0, NULL, NAME_MOST},
                                               {"change of", PR_REPORT_WORDS, 0, NULL, 0},
                                               {"group", PR_REPORT_WORDS, 0, NULL, 0},
                                               {"re-choice", PR_REPORT_NUMBER, 1, NULL, 0},
                                               {"selection", PR_REPORT_NUMBER, 1, NULL, 0},
                                               {"beyond", PR_REPORT_NUMBER, 1, NULL, 0}};
    char text[PERCENT_BYTES];
    pr_report_only(r, 0);
    pr_report_add(r, PR_REPORT_FOLD, "What goes together: each dropped in turn");
    pr_report_add(r, PR_REPORT_TEXT,
                  "The strongest pairs. Re-choice: what the same shoppers would buy. Selection "
                  "compares baskets without it with all baskets and is not an effect; baskets that "
                  "contain a thing are larger than others. Beyond: selection, less what it does to "
                  "everything else together.");
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < a->cross_effect_count; i++) {
        const pr_cross_effect *x = &a->cross_effects[i];
        pr_report_row(r, PR_ROW_PLAIN, a->lines.list[a->cross.drop[x->drop]].name);
        add_words(r, a->lines.list[x->bin].name, PR_PLAIN);
        add_words(r, a->groups.list[x->group].label, PR_PLAIN);
        add_words(r, percent_text(text, x->change[PARSREC_RECHOICE]), PR_PLAIN);
        add_words(r, percent_text(text, x->change[PARSREC_SELECTION]), PR_PLAIN);
        add_words(r, percent_text(text, x->beyond), PR_PLAIN);
    }
    pr_report_add(r, PR_REPORT_FOLD_END, " ");
}

static void add_origin(pr_report *r, const pr_whatif_result *a)
{
    pr_report_only(r, PR_IN_HTML);
    pr_report_add(r, PR_REPORT_SECTION, "How it was made");
    if (a->command != NULL)
        pr_report_add(r, PR_REPORT_CODE, "%s", a->command);
    pr_report_fact(r, "version", "%s", parsrec_version());
    if (a->data_name != NULL)
        pr_report_fact(r, "data", "%s", a->data_name);
    pr_report_fact(r, "checksum of the data", "%s", a->checksum);
    pr_report_fact(r, "models", "%zu; %zu baskets drawn for each of %zu users", a->model_count,
                   a->draws, a->cohort.user_count);
    pr_report_fact(r, "intervals", "%.0f %%, %zu resamples of users%s; seed %llu",
                   100 * a->interval, a->resamples, a->model_count > 1 ? " and models" : "",
                   (unsigned long long)a->seed);
    pr_report_fact(r, "levels", "%s",
                   a->raw ? "model estimates without calibration to past sales"
                          : "calibrated to past sales");
    pr_report_add(r, PR_REPORT_NOTE,
                  "Intervals show what other users, and other trainings where several models are "
                  "given, would change. They cannot show what all models get wrong.");
}

/* ---- the document ---- */

static parsrec_status add_scenario(pr_report *r, const pr_whatif_result *a, size_t s, rows *shown,
                                   parsrec_error *err)
{
    pr_report_only(r, PR_IN_TEXT);
    pr_report_add(r, PR_REPORT_SECTION, "%s (estimator %s, %zu model%s)", a->scenarios.list[s].name,
                  parsrec_estimator_name(a->estimator), a->model_count,
                  a->model_count == 1 ? "" : "s");
    add_facts(r, a, s);
    write_before(pr_report_open(r, PR_REPORT_TEXT), a, a->cohort.group_count > 1 ? SIZE_MAX : 0);
    shown->count = pr_shown_lines(shown->line, a, s);
    for (size_t i = 0; i < PR_QUESTIONS; i++)
        if (a->asked[pr_question_order[i]])
            PR_TRY(add_question(r, a, shown, s, pr_question_order[i], err));
    for (size_t i = 0; i < PR_QUESTIONS && a->truth.sets > 0; i++)
        if (a->asked[pr_question_order[i]])
            add_agreement(r, a, s, pr_question_order[i]);
    return PARSREC_OK;
}

parsrec_status pr_whatif_write(pr_writer *out, const pr_whatif_result *a, parsrec_text_kind kind,
                               parsrec_error *err)
{
    pr_report r = {.wanted = kind == PARSREC_TEXT_HTML ? PR_IN_HTML : PR_IN_TEXT,
                   .width = TEXT_WIDTH};
    rows shown = {.line = pr_alloc(a->lines.count, sizeof *shown.line)};
    parsrec_status status = shown.line != NULL ? PARSREC_OK : pr_fail_memory(err);
    pr_report_only(&r, PR_IN_HTML);
    pr_report_add(&r, PR_REPORT_TITLE, "What if: %s",
                  a->scenarios.count == 1 ? a->scenarios.list[0].name : "several scenarios");
    for (size_t s = 0; s < a->scenarios.count && status == PARSREC_OK; s++)
        status = add_scenario(&r, a, s, &shown, err);
    if (a->asked[PARSREC_SELECTION] && a->cross_effect_count > 0)
        add_cross_effects(&r, a);
    add_origin(&r, a);
    if (status == PARSREC_OK)
        status = pr_report_write(out, &r, kind, err);
    pr_report_free(&r);
    pr_free(shown.line);
    return status;
}
