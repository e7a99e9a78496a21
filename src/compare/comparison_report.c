/* The document of a comparison or an ablation, and its sentences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "compare/compare.h"
#include "eval/protocol.h"
#include "report/charts.h"
#include "report/report.h"

enum { DECIMALS = 4, NAME_MOST = 22, FOR_FILES = PR_IN_MARKDOWN | PR_IN_HTML };

/* What differs between a comparison and an ablation. */
typedef struct phrases {
    const char *title, *row, *difference, *reference, *bold;
} phrases;

static const phrases *phrases_of(const parsrec_comparison *c)
{
    static const phrases comparison = {
        "Comparison of models", "model", "difference to the best", "the best",
        "Bold is the best, underlined the second; a tie counts against the model."};
    static const phrases ablation = {
        "Ablation", "row", "difference to its base", "a base",
        "Bold is better than the base of the row; a tie counts against the model."};
    return c->ablation ? &ablation : &comparison;
}

/* ---- numbers ---- */

static char *decimal(double value, char *buffer, size_t size)
{
    return pr_share_text(value, DECIMALS, buffer, size);
}

/* ".012", "< .001" */
static const char *p_value(double p, char *buffer, size_t size)
{
    return p < 0.001 ? "< .001" : pr_share_text(p, 3, buffer, size);
}

/* "[.5121, .5302]" */
static void interval_cell(pr_report *r, const pr_interval *interval)
{
    char low[32], high[32];
    pr_report_words(r, PR_PLAIN, "[%s, %s]", decimal(interval->low, low, sizeof low),
                    decimal(interval->high, high, sizeof high));
}

/* ---- sentences ---- */

/* Whether any model was trained with several seeds: counts have none, and finished models one. */
static bool has_seeds(const parsrec_comparison *c)
{
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].judged > 1)
            return true;
    return false;
}

static void write_protocol(pr_writer *out, const parsrec_comparison *c)
{
    const parsrec_eval_report *r = &c->rows[0].report;
    const parsrec_eval_options *o = &c->eval;
    const pr_rule *rule = pr_rules[o->protocol];
    pr_write(out, "%s sessions: ", o->split == PARSREC_SPLIT_TEST ? "Last" : "Second to last");
    pr_write_grouped(out, r->baskets);
    pr_write(out, " baskets with ");
    pr_write_grouped(out, r->steps);
    pr_write(out, " steps, ranked against ");
    if (r->negatives == 0) {
        pr_write(out, "the whole catalogue");
    } else {
        pr_write_grouped(out, r->negatives);
        pr_write(out, " %s, the same for every model",
                 o->candidates == PARSREC_CANDIDATES_POPULAR ? "items sampled by popularity"
                 : o->candidates == PARSREC_CANDIDATES_FILE
                     ? "items or fewer from a list for each user"
                     : "sampled items");
    }
    pr_write(out, "; protocol %s: %s%s.", rule->name, rule->summary,
             o->exclude_seen ? "; items the user had before are left out" : "");
    if (has_seeds(c))
        pr_write(out, " Means over %zu seeds of training.", c->seeds);
    if (c->more_seconds > 0)
        pr_write(
            out,
            " One seed of training: two more would take about %.0f minutes; --seeds 3 trains them.",
            c->more_seconds / 60);
}

/* What bold, underlined and the short names of the columns mean. */
static void write_legend(pr_writer *out, const parsrec_comparison *c)
{
    const parsrec_eval_report *r = &c->rows[0].report;
    pr_write(out, "%s", phrases_of(c)->bold);
    for (size_t i = 0; i < PR_MEASURES; i++)
        for (size_t m = 0; m < r->measure_count; m++)
            if (strcmp(r->measures[m].name, pr_measure_table[i].name) == 0) {
                pr_write(out, " %s", pr_measure_table[i].legend);
                break;
            }
    pr_write(out, " The random ranker orders candidates by chance");
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].ceiling)
            pr_write(out, "; the %s knows how the data were made and shows what can be reached",
                     c->rows[row].entry->name);
    pr_write(out, ".");
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].gaining) {
            pr_write(out, " † not trained out: validation was still rising at the last epoch.");
            break;
        }
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].learnt) {
            pr_write(out,
                     " ‡ learns from these sessions at the end (newest = on), so its figures are "
                     "too good; the setting newest=off leaves them out.");
            break;
        }
}

/* Rows of a base that differ from it significantly in one direction: "row (-.0123), row (-.0045)". */
static size_t write_apart(pr_writer *out, const parsrec_comparison *c, size_t base, bool above)
{
    char number[32];
    size_t count = 0;
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        double difference = r->versus.difference.value;
        if (r->entry->base != base || !pr_comparison_differs(r) || (difference > 0) != above)
            continue;
        pr_write(out, "%s%s (%s%s)",
                 count++ > 0 ? ", "
                 : above     ? " Significantly better: "
                             : " Significantly worse: ",
                 r->entry->name, above ? "+" : "", decimal(difference, number, sizeof number));
    }
    pr_write(out, "%s", count > 0 ? "." : "");
    return count;
}

/* Who is the best and whether that is significant, or what each base's rows change. */
static void write_verdict(pr_writer *out, const parsrec_comparison *c)
{
    const pr_measure_column *column = &c->columns[c->chosen];
    char number[32];
    bool begun = false;
    for (size_t base = 0; c->ablation && base < c->count; base++) {
        size_t rows = 0, apart = 0;
        for (size_t row = 0; row < c->count; row++)
            rows += c->rows[row].entry->base == base;
        if (rows == 0)
            continue;
        pr_write(out, "%s%s has %s %s.", begun ? " " : "", c->rows[base].entry->name, column->name,
                 decimal(pr_cell_value(c, base, column), number, sizeof number));
        begun = true;
        apart += write_apart(out, c, base, true);
        apart += write_apart(out, c, base, false);
        if (apart < rows)
            pr_write(out, " %zu of %zu rows do not differ from it significantly.", rows - apart,
                     rows);
    }
    if (c->ablation || column->best == PR_NONE)
        return;
    pr_write(out, "By %s the best is %s (%s)", column->name, c->rows[column->best].entry->name,
             decimal(pr_cell_value(c, column->best, column), number, sizeof number));
    if (column->second != PR_NONE) {
        const pr_contender *second = &c->rows[column->second];
        pr_write(out, ", then %s (%s)", second->entry->name,
                 decimal(pr_cell_value(c, column->second, column), number, sizeof number));
        pr_write(out, "; the difference is %ssignificant (p %s)",
                 pr_comparison_differs(second) ? "" : "not ",
                 p_value(second->p, number, sizeof number));
    }
    pr_write(out, ".");
}

/* ---- the table of measures ---- */

static void measures_row(pr_report *r, const parsrec_comparison *c, size_t row)
{
    static const pr_emphasis ranks[] = {PR_PLAIN, PR_BEST, PR_SECOND};
    char name[PR_ENTRY_NAME + 32];
    snprintf(name, sizeof name, "%s%s%s", c->rows[row].entry->name,
             c->rows[row].gaining ? " †" : "", c->rows[row].learnt ? " ‡" : "");
    pr_report_row(r, c->rows[row].ceiling ? PR_ROW_ASIDE : PR_ROW_PLAIN, name);
    for (size_t i = 0; i < c->column_count; i++)
        pr_report_number(r, pr_cell_value(c, row, &c->columns[i]),
                         ranks[pr_cell_rank(c, row, &c->columns[i])]);
}

/* How much better the best is than the second, in percent: "+4.3 %". */
static void gain_cell(pr_report *r, const parsrec_comparison *c, const pr_measure_column *column)
{
    double second = column->second != PR_NONE ? pr_cell_value(c, column->second, column) : 0;
    double gain = second > 0 ? 100 * (pr_cell_value(c, column->best, column) / second - 1) : 0;
    if (second > 0)
        pr_report_words(r, PR_PLAIN, "+%.*f %%", gain < 9.95 ? 1 : 0, gain);
    else
        pr_report_words(r, PR_PLAIN, "%s", "");
}

static void measures_table(pr_report *r, const parsrec_comparison *c)
{
    pr_report_column columns[PR_COLUMNS + 1] = {
        {phrases_of(c)->row, PR_REPORT_WORDS, 0, NULL, NAME_MOST}};
    for (size_t i = 0; i < c->column_count; i++)
        columns[i + 1] =
            (pr_report_column){c->columns[i].brief, PR_REPORT_SHARE, DECIMALS, NULL, 0};
    pr_report_table(r, columns, c->column_count + 1);
    for (size_t row = 0; row < c->count; row++)
        if (!c->rows[row].ceiling)
            measures_row(r, c, row);
    if (!c->ablation) {
        pr_report_row(r, PR_ROW_ASIDE, "best over second");
        for (size_t i = 0; i < c->column_count; i++)
            gain_cell(r, c, &c->columns[i]);
    }
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].ceiling)
            measures_row(r, c, row);
    pr_report_row(r, PR_ROW_ASIDE, "random ranker");
    for (size_t i = 0; i < c->column_count; i++)
        pr_report_number(r, c->rows[0].report.measures[c->columns[i].measure].random, PR_PLAIN);
}

/* ---- other protocols ---- */

/* One column: NDCG or Recall at the largest cutoff by a protocol, the comparison's own or another. */
typedef struct protocol_column {
    char name[48];
    size_t other;   /* PR_NONE: the comparison's own */
    size_t measure; /* of the report */
} protocol_column;

static const parsrec_eval_report *report_of(const parsrec_comparison *c, size_t row, size_t other)
{
    return other == PR_NONE ? &c->rows[row].report : &c->rows[row].others[other];
}

static size_t add_protocol_column(protocol_column *to, const parsrec_comparison *c, size_t other,
                                  const char *measure)
{
    const parsrec_eval_report *r = report_of(c, 0, other);
    size_t best = PR_NONE;
    for (size_t m = 0; m < r->measure_count; m++)
        if (strcmp(r->measures[m].name, measure) == 0 &&
            (best == PR_NONE || r->measures[m].k > r->measures[best].k))
            best = m;
    if (best == PR_NONE)
        return 0;
    const parsrec_eval_options *o = other == PR_NONE ? &c->eval : &c->others[other];
    char title[32];
    *to = (protocol_column){.other = other, .measure = best};
    snprintf(to->name, sizeof to->name, "%s %s", parsrec_protocol_name(o->protocol),
             pr_measure_title(&r->measures[best], title, sizeof title));
    return 1;
}

static void protocols_table(pr_report *r, const parsrec_comparison *c)
{
    static const char *const measures[] = {"NDCG", "Recall"};
    protocol_column list[2 * PARSREC_PROTOCOLS];
    pr_report_column columns[2 * PARSREC_PROTOCOLS + 1] = {
        {phrases_of(c)->row, PR_REPORT_WORDS, 0, NULL, NAME_MOST}};
    size_t count = 0;
    if (c->other_count == 0)
        return;
    for (size_t p = 0; p <= c->other_count; p++)
        for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
            count += add_protocol_column(&list[count], c, p == 0 ? PR_NONE : p - 1, measures[m]);
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (pr_report_column){list[i].name, PR_REPORT_SHARE, DECIMALS, NULL, 0};
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "All protocols");
    pr_report_only(r, 0);
    pr_report_table(r, columns, count + 1);
    for (size_t row = 0; row < c->count; row++) {
        bool ceiling = c->rows[row].ceiling;
        pr_report_row(r, ceiling ? PR_ROW_ASIDE : PR_ROW_PLAIN, c->rows[row].entry->name);
        for (size_t i = 0; i < count; i++) {
            double value = report_of(c, row, list[i].other)->measures[list[i].measure].value;
            bool best = !ceiling;
            for (size_t k = 0; k < c->count; k++)
                best = best &&
                       (c->rows[k].ceiling ||
                        report_of(c, k, list[i].other)->measures[list[i].measure].value <= value);
            pr_report_number(r, value, best ? PR_BEST : PR_PLAIN);
        }
    }
    pr_report_add(r, PR_REPORT_NOTE,
                  "remaining: %s. next: %s. basket: %s, ranked against all items unless said "
                  "otherwise.",
                  pr_rules[PARSREC_PROTOCOL_REMAINING]->summary,
                  pr_rules[PARSREC_PROTOCOL_NEXT]->summary,
                  pr_rules[PARSREC_PROTOCOL_BASKET]->summary);
}

/* ---- significance ---- */

static void significance_table(pr_report *r, const parsrec_comparison *c)
{
    const pr_measure_column *column = &c->columns[c->chosen];
    const phrases *words = phrases_of(c);
    const pr_report_column columns[] = {
        {words->row, PR_REPORT_WORDS, 0, NULL, NAME_MOST},
        {column->name, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {"95 % interval", PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {words->difference, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {"95 % interval", PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {"p", PR_REPORT_WORDS, 0, NULL, 0},
    };
    char number[32];
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "Significance");
    pr_report_only(r, 0);
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *m = &c->rows[row];
        bool reference = pr_comparison_reference(c, row) == PR_NONE;
        pr_report_row(r, PR_ROW_PLAIN, m->entry->name);
        pr_report_number(r, pr_cell_value(c, row, column),
                         reference && !m->ceiling ? PR_BEST : PR_PLAIN);
        interval_cell(r, &m->intervals[column->measure]);
        if (reference) {
            pr_report_words(r, PR_PLAIN, "%s", m->ceiling ? "" : words->reference);
            continue;
        }
        pr_report_number(r, m->versus.difference.value, PR_PLAIN);
        interval_cell(r, &m->versus.difference);
        pr_report_words(r, PR_PLAIN, "%s%s", p_value(m->p, number, sizeof number),
                        pr_comparison_differs(m) ? " *" : "");
    }
    pr_report_add(r, PR_REPORT_NOTE,
                  "Confidence intervals: bootstrap over users. p: paired permutation test over "
                  "users, corrected for the number of models (Holm). * p < .05%s.",
                  has_seeds(c) ? " and the interval over seeds excludes 0" : "");
}

/* Each model's values by seed, their mean and its confidence interval. A terminal leaves out the
 * values, which may be many. */
static void seeds_table(pr_report *r, const parsrec_comparison *c, bool values)
{
    const pr_measure_column *column = &c->columns[c->chosen];
    const phrases *words = phrases_of(c);
    char by_seed[64], over_seeds[64] = "95 % interval", text[32];
    snprintf(by_seed, sizeof by_seed, "%s by seed", column->name);
    if (!values) /* there is no heading above the table */
        snprintf(over_seeds, sizeof over_seeds, "95 %% interval over %zu seeds", c->seeds);
    const pr_report_column columns[] = {
        {words->row, PR_REPORT_WORDS, 0, NULL, NAME_MOST},
        {by_seed, PR_REPORT_WORDS, 0, NULL, 0},
        {"mean", PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {over_seeds, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {words->difference, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {over_seeds, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {"p over seeds", PR_REPORT_WORDS, 0, NULL, 0},
    };
    enum { COUNT = sizeof columns / sizeof *columns };
    pr_report_column shown[COUNT];
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (values || i != 1)
            shown[count++] = columns[i];
    pr_report_table(r, shown, count);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *m = &c->rows[row];
        const pr_interval *spread = &m->spread[column->measure];
        if (m->judged < 2)
            continue;
        pr_report_row(r, PR_ROW_PLAIN, m->entry->name);
        if (values) {
            pr_writer list = {0};
            for (size_t i = 0; i < m->judged; i++)
                pr_write(&list, "%s%s", i > 0 ? " " : "",
                         decimal(m->attempts[i].report.measures[column->measure].value, text,
                                 sizeof text));
            r->text.failed |= list.failed;
            pr_report_words(r, PR_PLAIN, "%s", list.failed ? "" : list.text);
            pr_writer_free(&list);
        }
        pr_report_number(r, spread->value, PR_PLAIN);
        interval_cell(r, spread);
        if (pr_comparison_reference(c, row) != PR_NONE) {
            pr_report_number(r, m->versus_spread.value, PR_PLAIN);
            interval_cell(r, &m->versus_spread);
            pr_report_words(r, PR_PLAIN, "%s", p_value(m->seed_p, text, sizeof text));
        } else {
            pr_report_words(r, PR_PLAIN, "%s", m->ceiling ? "" : words->reference);
        }
    }
}

static void seeds_section(pr_report *r, const parsrec_comparison *c)
{
    if (!has_seeds(c))
        return;
    pr_report_only(r, PR_IN_TEXT);
    seeds_table(r, c, false);
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "Variation between seeds");
    seeds_table(r, c, true);
    pr_report_add(r, PR_REPORT_NOTE,
                  "Trainings that differ only in their seed. Confidence intervals of means by "
                  "Student's t; differences are paired by seed. p over seeds: the chance of a "
                  "difference at least as large if nothing but the seeds made it (paired t test).");
}

/* ---- charts ---- */

/* Arrays that the charts borrow; a model has the same colour in all of them. */
typedef struct chart_room {
    const char **names;
    size_t *colours, *curve_colours;
    pr_chart_bar *bars; /* [2 · rows] */
    pr_curve *curves;
    pr_scatter_point *points;
} chart_room;

/* One picture per measure, at its largest cutoff. */
static parsrec_status measure_charts(pr_report *r, const parsrec_comparison *c, chart_room *d,
                                     parsrec_error *err)
{
    const parsrec_measure *all = c->rows[0].report.measures;
    pr_report_add(r, PR_REPORT_SECTION, "Accuracy of each model");
    pr_report_add(r, PR_REPORT_TEXT,
                  "Longer is better. The thin line is the 95 %% confidence interval over users.");
    pr_report_add(r, PR_REPORT_GALLERY, "%s", "");
    for (size_t i = 0; i < c->column_count; i++) {
        const pr_measure_column *column = &c->columns[i];
        const parsrec_measure *m = &all[column->measure];
        bool largest = true;
        for (size_t j = 0; j < c->column_count; j++) {
            const parsrec_measure *other = &all[c->columns[j].measure];
            largest &= strcmp(other->name, m->name) != 0 || other->k <= m->k;
        }
        if (!largest)
            continue;
        for (size_t row = 0; row < c->count; row++) {
            const pr_interval *interval = &c->rows[row].intervals[column->measure];
            d->bars[row] =
                (pr_chart_bar){pr_cell_value(c, row, column), interval->low, interval->high};
        }
        pr_bars chart = {.title = column->name,
                         .rows = d->names,
                         .row_count = c->count,
                         .series_count = 1,
                         .bars = d->bars,
                         .colours = d->colours,
                         .mark = m->random,
                         .mark_label = "random ranker"};
        PR_TRY(pr_bars_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err));
    }
    pr_report_add(r, PR_REPORT_GALLERY_END, "%s", "");
    return PARSREC_OK;
}

/* The chosen measure for repeat purchases and for new items: bars for a page, else a table. */
static parsrec_status repeat_and_new(pr_report *r, const parsrec_comparison *c, chart_room *d,
                                     parsrec_error *err)
{
    static const char *const series[] = {"bought before", "new to the user"};
    const pr_measure_column *column = &c->columns[c->chosen];
    const pr_report_column columns[] = {
        {phrases_of(c)->row, PR_REPORT_WORDS, 0, NULL, 0},
        {series[0], PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {series[1], PR_REPORT_SHARE, DECIMALS, NULL, 0},
    };
    size_t measured = 0;
    for (size_t row = 0; row < c->count; row++) {
        const parsrec_measure *m = &c->rows[row].report.measures[column->measure];
        d->bars[2 * row] = (pr_chart_bar){m->repeat, m->repeat, m->repeat};
        d->bars[2 * row + 1] = (pr_chart_bar){m->fresh, m->fresh, m->fresh};
        measured += !isnan(m->repeat) || !isnan(m->fresh);
    }
    if (measured == 0)
        return PARSREC_OK;
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "Repeat and new items");
    pr_report_add(r, PR_REPORT_TEXT,
                  "%s separately for items that the user had in an earlier session and for items "
                  "that are new to the user. A model that only repeats the past is strong on the "
                  "first and weak on the second.",
                  column->name);
    pr_report_only(r, PR_IN_MARKDOWN);
    pr_report_table(r, columns, 3);
    for (size_t row = 0; row < c->count; row++) {
        pr_report_row(r, PR_ROW_PLAIN, d->names[row]);
        pr_report_number(r, d->bars[2 * row].value, PR_PLAIN);
        pr_report_number(r, d->bars[2 * row + 1].value, PR_PLAIN);
    }
    pr_report_only(r, PR_IN_HTML);
    pr_bars chart = {.title = column->name,
                     .rows = d->names,
                     .row_count = c->count,
                     .series = series,
                     .series_count = 2,
                     .bars = d->bars,
                     .mark = NAN};
    return pr_report_is_wanted(r) ? pr_bars_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err)
                                  : PARSREC_OK;
}

static parsrec_status learning_chart(pr_report *r, const parsrec_comparison *c, chart_room *d,
                                     parsrec_error *err)
{
    size_t count = 0;
    char label[64];
    snprintf(label, sizeof label, "%s of the validation sessions", pr_validation_measures[0]);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *m = &c->rows[row];
        if (m->learning.count == 0)
            continue;
        d->curve_colours[count] = row;
        d->curves[count++] =
            (pr_curve){d->names[row], m->learning.epoch, m->learning.value, m->learning.count};
    }
    if (count == 0)
        return PARSREC_OK;
    pr_panel panel = {label, d->curves, count, d->curve_colours};
    pr_curves chart = {"Validation after each epoch", "epoch", &panel, 1};
    pr_report_add(r, PR_REPORT_SECTION, "Learning curves");
    return pr_curves_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err);
}

/* ---- cost ---- */

static double known(double value)
{
    return value > 0 ? value : NAN;
}

static void cost_table(pr_report *r, const parsrec_comparison *c)
{
    const pr_measure_column *column = &c->columns[c->chosen];
    const pr_report_column columns[] = {
        {phrases_of(c)->row, PR_REPORT_WORDS, 0, NULL, NAME_MOST},
        {column->name, PR_REPORT_SHARE, DECIMALS, NULL, 0},
        {"training", PR_REPORT_NUMBER, 1, " s", 0},
        {"memory to train", PR_REPORT_NUMBER, 1, " MB", 0},
        {"memory to answer", PR_REPORT_NUMBER, 1, " MB", 0},
        {"answers/s", PR_REPORT_NUMBER, 0, NULL, 0},
    };
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *m = &c->rows[row];
        pr_report_row(r, m->ceiling ? PR_ROW_ASIDE : PR_ROW_PLAIN, m->entry->name);
        pr_report_number(r, pr_cell_value(c, row, column),
                         pr_cell_rank(c, row, column) == 1 ? PR_BEST : PR_PLAIN);
        pr_report_number(r, known(m->cost.seconds), PR_PLAIN);
        pr_report_number(r, known(m->bytes) / 1e6, PR_PLAIN);
        pr_report_number(r, known(m->cost.bytes) / 1e6, PR_PLAIN);
        pr_report_number(r, known(m->cost.answers), PR_PLAIN);
    }
}

/* The chosen measure over what a model costs to train and to ask. */
static parsrec_status cost_charts(pr_report *r, const parsrec_comparison *c, chart_room *d,
                                  parsrec_error *err)
{
    static const char *const labels[] = {"seconds of training or counting",
                                         "milliseconds per answer"};
    char title[64];
    snprintf(title, sizeof title, "%s and its cost", c->columns[c->chosen].name);
    pr_report_add(r, PR_REPORT_GALLERY, "%s", "");
    for (size_t which = 0; which < 2; which++) {
        for (size_t row = 0; row < c->count; row++) {
            const pr_cost *cost = &c->rows[row].cost;
            double x = which == 0 ? cost->seconds : cost->answers > 0 ? 1000 / cost->answers : 0;
            d->points[row] = (pr_scatter_point){
                d->names[row], x, pr_cell_value(c, row, &c->columns[c->chosen]), d->colours[row]};
        }
        pr_scatter chart = {title, labels[which], d->points, c->count};
        PR_TRY(pr_scatter_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err));
    }
    pr_report_add(r, PR_REPORT_GALLERY_END, "%s", "");
    return PARSREC_OK;
}

static parsrec_status cost_section(pr_report *r, const parsrec_comparison *c, chart_room *d,
                                   parsrec_error *err)
{
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "Quality and cost");
    pr_report_only(r, 0);
    cost_table(r, c);
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_NOTE,
                  "Training or counting: time by the clock, mean over seeds. Memory to train is an "
                  "estimate beforehand; memory to answer is that of weights or counts and of one "
                  "open basket. An answer is the ten best items of the catalogue for a known user; "
                  "answers per second of one thread's processor time, measured in this run.");
    pr_report_only(r, PR_IN_HTML);
    return pr_report_is_wanted(r) ? cost_charts(r, c, d, err) : PARSREC_OK;
}

/* ---- how it was made ---- */

static void models_table(pr_report *r, const parsrec_comparison *c)
{
    const pr_report_column columns[] = {
        {phrases_of(c)->row, PR_REPORT_WORDS, 0, NULL, 0},
        {"kind", PR_REPORT_WORDS, 0, NULL, 0},
        {"settings", PR_REPORT_WORDS, 0, NULL, 0},
        {"parameters", PR_REPORT_NUMBER, 0, NULL, 0},
        {"epochs", PR_REPORT_NUMBER, 0, NULL, 0},
        {"training", PR_REPORT_NUMBER, 0, " s", 0},
        {"evaluation", PR_REPORT_NUMBER, 1, " s", 0},
        {"fingerprint", PR_REPORT_NUMBER, 0, NULL, 0},
    };
    pr_report_add(r, PR_REPORT_FOLD, "Models and their settings");
    pr_report_table(r, columns, sizeof columns / sizeof *columns);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *m = &c->rows[row];
        const pr_listed_model *e = m->entry;
        pr_writer settings = {0};
        if (e->preset != NULL)
            pr_write(&settings, "preset=%s%s", e->preset, e->set_count > 0 ? " " : "");
        for (size_t i = 0; i < e->set_count; i++)
            pr_write(&settings, "%s%s", i > 0 ? " " : "", e->set[i]);
        r->text.failed |= settings.failed;
        pr_report_row(r, PR_ROW_PLAIN, e->name);
        pr_report_words(r, PR_PLAIN, "%s", m->kind);
        pr_report_words(r, PR_PLAIN, "%s", settings.size > 0 ? settings.text : "");
        pr_report_number(r, (double)m->parameters, PR_PLAIN);
        pr_report_number(r, m->learning.count > 0 ? (double)m->learning.count : NAN, PR_PLAIN);
        pr_report_number(r, m->learning.count > 0 ? m->learning.seconds : NAN, PR_PLAIN);
        pr_report_number(r, m->report.seconds, PR_PLAIN);
        pr_report_words(r, PR_PLAIN, "%s", m->report.fingerprint);
        pr_writer_free(&settings);
    }
    pr_report_add(r, PR_REPORT_FOLD_END, "%s", "");
}

/* Every number can be traced: command, settings, seeds, version, checksum. */
static void provenance(pr_report *r, const parsrec_comparison *c)
{
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "How it was made");
    if (c->command != NULL)
        pr_report_add(r, PR_REPORT_CODE, "%s", c->command);
    pr_report_fact(r, "data", "%s", c->data_path);
    pr_report_fact(r, "checksum of the data", "%s", c->stats.checksum);
    pr_report_fact(r, "size", "%llu users, %llu sessions, %llu items, %llu actions",
                   (unsigned long long)c->stats.users, (unsigned long long)c->stats.sessions,
                   (unsigned long long)c->stats.items, (unsigned long long)c->stats.actions);
    pr_report_fact(r, "seeds", "training %llu%s, sampled items %llu, intervals and tests %llu",
                   (unsigned long long)c->seed, has_seeds(c) ? " and the following" : "",
                   (unsigned long long)c->eval.seed, (unsigned long long)c->resampling.seed);
    pr_report_fact(r, "resamples", "%zu of %zu users for intervals, %zu for tests",
                   c->resampling.resamples, c->user_count, c->testing.resamples);
    pr_report_fact(r, "program", "parsrec %s", parsrec_version());
    pr_report_fact(r, "time of this run", "%.1f s, without models trained before", c->seconds);
    models_table(r, c);
}

/* ---- for spreadsheets ---- */

/* One row for each model and measure; nothing that differs from run to run is in it. */
static void data_table(pr_report *r, const parsrec_comparison *c)
{
    static const char *const headings[] = {"model",
                                           "kind",
                                           "measure",
                                           "value",
                                           "low",
                                           "high",
                                           "repeat",
                                           "new",
                                           "random",
                                           "difference",
                                           "difference_low",
                                           "difference_high",
                                           "p",
                                           "p_corrected",
                                           "fingerprint",
                                           "seeds",
                                           "seeds_low",
                                           "seeds_high",
                                           "difference_seeds_low",
                                           "difference_seeds_high"};
    enum { COUNT = sizeof headings / sizeof *headings };
    pr_report_column columns[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        columns[i] = (pr_report_column){.heading = headings[i]};
    pr_report_only(r, PR_IN_CSV);
    pr_report_table(r, columns, COUNT);
    for (size_t row = 0; row < c->count; row++)
        for (size_t i = 0; i < c->column_count; i++) {
            const pr_contender *m = &c->rows[row];
            size_t at = c->columns[i].measure;
            const parsrec_measure *measure = &m->report.measures[at];
            bool tested = i == c->chosen && pr_comparison_reference(c, row) != PR_NONE;
            const pr_interval none = {NAN, NAN, NAN};
            const pr_interval *versus = tested ? &m->versus.difference : &none;
            const double values[] = {measure->value,        m->intervals[at].low,
                                     m->intervals[at].high, measure->repeat,
                                     measure->fresh,        measure->random,
                                     versus->value,         versus->low,
                                     versus->high,          tested ? m->versus.p : NAN,
                                     tested ? m->p : NAN};
            const double seeds[] = {(double)m->judged, m->spread[at].low, m->spread[at].high,
                                    tested ? m->versus_spread.low : NAN,
                                    tested ? m->versus_spread.high : NAN};
            pr_report_row(r, PR_ROW_PLAIN, m->entry->name);
            pr_report_words(r, PR_PLAIN, "%s", m->kind);
            pr_report_words(r, PR_PLAIN, "%s", c->columns[i].name);
            for (size_t k = 0; k < sizeof values / sizeof *values; k++)
                pr_report_number(r, values[k], PR_PLAIN);
            pr_report_words(r, PR_PLAIN, "%s", m->report.fingerprint);
            for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++)
                pr_report_number(r, seeds[k], PR_PLAIN);
        }
}

/* ---- the document ---- */

static parsrec_status build(pr_report *r, const parsrec_comparison *c, chart_room *d,
                            parsrec_error *err)
{
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_TITLE, "%s", phrases_of(c)->title);
    write_verdict(pr_report_open(r, PR_REPORT_LEAD), c);
    pr_report_only(r, 0);
    write_protocol(pr_report_open(r, PR_REPORT_TEXT), c);
    measures_table(r, c);
    pr_report_only(r, FOR_FILES);
    write_legend(pr_report_open(r, PR_REPORT_NOTE), c);
    pr_report_only(r, PR_IN_HTML);
    if (pr_report_is_wanted(r))
        PR_TRY(measure_charts(r, c, d, err));
    protocols_table(r, c);
    significance_table(r, c);
    seeds_section(r, c);
    PR_TRY(cost_section(r, c, d, err));
    PR_TRY(repeat_and_new(r, c, d, err));
    pr_report_only(r, PR_IN_HTML);
    if (pr_report_is_wanted(r))
        PR_TRY(learning_chart(r, c, d, err));
    provenance(r, c);
    pr_report_only(r, PR_IN_TEXT);
    write_verdict(pr_report_open(r, PR_REPORT_LEAD), c);
    data_table(r, c);
    return PARSREC_OK;
}

/* The document for the formats that are wanted. Free it with pr_report_free, also on failure. */
static parsrec_status make_report(pr_report *r, const parsrec_comparison *c, unsigned wanted,
                                  parsrec_error *err)
{
    *r = (pr_report){.wanted = wanted};
    chart_room d = {
        pr_alloc(c->count, sizeof *d.names),         pr_alloc(c->count, sizeof *d.colours),
        pr_alloc(c->count, sizeof *d.curve_colours), pr_alloc(2 * c->count, sizeof *d.bars),
        pr_alloc(c->count, sizeof *d.curves),        pr_alloc(c->count, sizeof *d.points)};
    parsrec_status status = PARSREC_OK;
    if (d.names == NULL || d.colours == NULL || d.curve_colours == NULL || d.bars == NULL ||
        d.curves == NULL || d.points == NULL)
        status = pr_fail_memory(err);
    for (size_t row = 0; status == PARSREC_OK && row < c->count; row++) {
        d.names[row] = c->rows[row].entry->name;
        d.colours[row] = row;
    }
    if (status == PARSREC_OK)
        status = build(r, c, &d, err);
    pr_free(d.names);
    pr_free(d.colours);
    pr_free(d.curve_colours);
    pr_free(d.bars);
    pr_free(d.curves);
    pr_free(d.points);
    return status;
}

parsrec_status pr_comparison_write(pr_writer *out, const parsrec_comparison *c,
                                   parsrec_text_kind kind, parsrec_error *err)
{
    pr_report r;
    if (kind == PARSREC_TEXT_JSON || kind == PARSREC_TEXT_JSON_MODELS)
        return pr_comparison_json(out, c, kind == PARSREC_TEXT_JSON_MODELS, err);
    parsrec_status status = make_report(&r, c, pr_report_format(kind), err);
    if (status == PARSREC_OK)
        status = pr_report_write(out, &r, kind, err);
    pr_report_free(&r);
    return status;
}

/* report.json, and from one document the others. */
parsrec_status pr_comparison_save(parsrec_comparison *c, parsrec_error *err)
{
    static const struct {
        const char *name;
        parsrec_text_kind kind;
    } files[] = {{"report.md", PARSREC_TEXT_MARKDOWN},
                 {"report.csv", PARSREC_TEXT_CSV},
                 {"report.html", PARSREC_TEXT_HTML}};
    char path[4200];
    pr_report r;
    pr_writer json = {0};
    c->seconds = pr_now() - c->began;
    parsrec_status status = make_report(&r, c, PR_IN_MARKDOWN | PR_IN_CSV | PR_IN_HTML, err);
    for (size_t i = 0; i < sizeof files / sizeof *files && status == PARSREC_OK; i++) {
        snprintf(path, sizeof path, "%s/%s", c->folder, files[i].name);
        status = pr_report_save(&r, path, files[i].kind, err);
    }
    pr_report_free(&r);
    PR_TRY(status);
    snprintf(path, sizeof path, "%s/report.json", c->folder);
    status = pr_comparison_json(&json, c, false, err);
    if (status == PARSREC_OK)
        return pr_writer_save(&json, path, err);
    pr_writer_free(&json);
    return status;
}
