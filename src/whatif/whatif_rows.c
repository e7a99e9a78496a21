/* Which lines are shown; and the answer for programs: rows of the public interface, CSV and
 * JSON. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "whatif/whatif.h"

/* ---- which lines a report shows ---- */

const size_t pr_question_order[PR_QUESTIONS] = {PARSREC_RECHOICE, PARSREC_SELECTION};

/* WATCHED_UNITS: that past baskets must have held of a line for it to be among those that change
 * most. */
enum { WATCHED_MOST = 8, WATCHED_UNITS = 20 };

/* The largest change of a line in any group, in units over all past baskets, against what chance
 * does to sales of its size. Few units say nothing, however large the share by which they change:
 * lines that past baskets hardly held come after all others. */
static double largest_change(const pr_whatif_result *a, size_t s, size_t q, size_t line)
{
    double most = 0;
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
        double baskets = pr_sales_baskets(&a->past.before, &a->cohort, g);
        double sold = baskets * pr_sales_rate(&a->past.before, &a->cohort, g, line);
        double change = baskets * fabs(e->after - e->before) / sqrt(sold + WATCHED_UNITS);
        if (sold < WATCHED_UNITS)
            change = fmin(change, 1) * DBL_MIN; /* still in order, where there is nothing else */
        if (change > most)                      /* false for NaN */
            most = change;
    }
    return most;
}

/* The question that decides which lines are shown and in which order: the first one asked. The rows
 * of both questions are then the same. */
static size_t leading_question(const pr_whatif_result *a)
{
    return pr_question_order[a->asked[pr_question_order[0]] ? 0 : 1];
}

/* Marks the bins that change most by question q. changes[bins] is work space. */
static void watch_most(pr_whatif_result *a, double *changes, size_t s, size_t q)
{
    bool *watched = a->watched + s * a->lines.count;
    for (size_t l = 0; l < a->lines.bins; l++)
        changes[l] =
            l == a->lines.other || pr_line_dropped(a, s, l) ? 0 : largest_change(a, s, q, l);
    for (size_t n = 0; n < WATCHED_MOST; n++) {
        size_t best = a->lines.bins;
        for (size_t l = 0; l < a->lines.bins; l++)
            if (!watched[l] && changes[l] > (best < a->lines.bins ? changes[best] : 0))
                best = l;
        if (best < a->lines.bins)
            watched[best] = true;
    }
}

/* Marks the items that may replace one that leaves their bin. */
static void watch_others(pr_whatif_result *a, size_t s)
{
    const uint8_t *state = a->scenarios.list[s].state;
    for (size_t l = a->lines.bins; l < a->lines.count; l++) {
        const pr_line *line = &a->lines.list[l];
        if (line->offered && state[l] == PR_SHELF_ALL &&
            state[a->lines.bin_of[line->items[0]]] == PR_SHELF_PART)
            a->watched[s * a->lines.count + l] = true;
    }
}

parsrec_status pr_whatif_watch(pr_whatif_result *a, const size_t *named, size_t count,
                               parsrec_error *err)
{
    double *changes = pr_alloc(a->lines.bins, sizeof *changes);
    if (changes == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < a->scenarios.count; s++) {
        bool *watched = a->watched + s * a->lines.count;
        for (size_t i = 0; i < count; i++)
            watched[named[i]] = true;
        for (size_t i = 0; i < a->scenarios.list[s].add_count; i++)
            watched[a->scenarios.list[s].adds[i]] = true;
        if (count == 0) {
            watch_most(a, changes, s, leading_question(a));
            watch_others(a, s);
        }
    }
    pr_free(changes);
    return PARSREC_OK;
}

size_t pr_shown_lines(size_t *list, const pr_whatif_result *a, size_t s)
{
    size_t count = 0, q = leading_question(a);
    for (size_t l = 0; l < a->lines.count; l++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, 0, l);
        size_t at = count;
        if (!a->watched[s * a->lines.count + l])
            continue;
        for (; at > 0; at--) { /* few are shown, so that an insertion sort will do */
            const pr_estimate *other = pr_estimate_of(a, s, q, a->estimator, 0, list[at - 1]);
            if (!(fabs(e->after - e->before) > fabs(other->after - other->before)))
                break;
            list[at] = list[at - 1];
        }
        list[at] = l;
        count++;
    }
    return count;
}

/* ---- names ---- */

const char *parsrec_question_name(parsrec_question question)
{
    static const char *const names[] = {"selection", "rechoice"};
    return (size_t)question < PR_QUESTIONS ? names[question] : "unknown";
}

const char *parsrec_estimator_name(parsrec_estimator estimator)
{
#define NAME(id, name) [PARSREC_##id] = (name),
    static const char *const names[] = {PARSREC_ESTIMATOR_LIST(NAME)};
#undef NAME
    return (size_t)estimator < PR_ESTIMATORS ? names[estimator] : "unknown";
}

const char *parsrec_whatif_kind_name(parsrec_whatif_kind kind)
{
    static const char *const names[] = {"line", "leaves", "total"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *pr_total_name(const pr_whatif_result *a)
{
    return a->lines.by_item ? "all items" : "all categories";
}

/* ---- rows ---- */

static void put_units(parsrec_whatif_row *row, const pr_estimate *x)
{
    row->before = x->before;
    row->after = x->after;
    row->low = x->low;
    row->high = x->high;
    row->change = x->change;
    row->change_low = x->change_low;
    row->change_high = x->change_high;
}

static void put_money(parsrec_whatif_row *row, const pr_estimate *x)
{
    row->revenue_before = x->before;
    row->revenue_after = x->after;
    row->revenue_low = x->low;
    row->revenue_high = x->high;
    row->revenue_change = x->change;
    row->revenue_change_low = x->change_low;
    row->revenue_change_high = x->change_high;
}

static void fill_line(const pr_whatif_result *a, size_t s, size_t q, size_t e, size_t g,
                      size_t line, parsrec_whatif_row *row)
{
    const pr_estimate *x = pr_estimate_of(a, s, q, e, g, line);
    bool old = a->lines.list[line].kind != PR_LINE_NEW;
    pr_estimate money =
        pr_money_of(x, pr_line_price(a, SIZE_MAX, g, line), pr_line_price(a, s, g, line));
    row->category = a->lines.list[line].name;
    row->watched = a->watched[s * a->lines.count + line];
    row->dropped = pr_line_dropped(a, s, line);
    put_units(row, x);
    put_money(row, &money);
    if (old)
        row->test_before = pr_sales_rate(&a->test.before, &a->cohort, g, line);
    if (old && q == PARSREC_SELECTION)
        row->test_after = pr_sales_rate(&a->test.after[q][s], &a->cohort, g, line);
    row->true_before = row->true_after = row->floor = NAN;
    if (old && a->truth.sets > 0) {
        row->true_before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
        row->true_after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        row->floor = a->truth.floor[q][pr_true_at(&a->truth, s, g, line)];
    }
}

/* What leaves, and the total: of the estimator that is shown. */
static void fill_sum(const pr_whatif_result *a, size_t s, size_t q, size_t g,
                     parsrec_whatif_row *row)
{
    pr_estimate units = pr_estimate_unknown(), money = units;
    if (row->kind == PARSREC_WHATIF_TOTAL) {
        row->category = pr_total_name(a);
        units = pr_total_of(a, s, q, g)->units;
        money = pr_total_of(a, s, q, g)->money;
    } else if (pr_leaving(a, s, g, &units.before, &money.before)) {
        row->category = a->scenarios.list[s].leaving;
        row->dropped = true;
        double change = units.before > 0 ? -1 : NAN, lost = money.before > 0 ? -1 : NAN;
        units = (pr_estimate){units.before, 0, 0, 0, change, change, change};
        if (a->price != NULL)
            money = (pr_estimate){money.before, 0, 0, 0, lost, lost, lost};
    }
    put_units(row, &units);
    put_money(row, &money);
}

/* Rows stand by scenario, question, estimator, group and line, then what leaves and the total; the
 * questions that were not asked are passed over. */
bool parsrec_whatif_row_at(const parsrec_whatif_answer *a, size_t i, parsrec_whatif_row *row)
{
    if (a == NULL || row == NULL)
        return false;
    size_t lines = a->lines.count, groups = a->cohort.group_count;
    size_t questions = 0, asked[PR_QUESTIONS];
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        if (a->asked[pr_question_order[q]])
            asked[questions++] = pr_question_order[q];
    size_t each = lines + 2, line = i % each, g = i / each % groups;
    size_t e = i / each / groups % PR_ESTIMATORS;
    size_t q = asked[i / each / groups / PR_ESTIMATORS % questions];
    size_t s = i / each / groups / PR_ESTIMATORS / questions;
    if (s >= a->scenarios.count)
        return false;
    *row = (parsrec_whatif_row){
        .scenario = a->scenarios.list[s].name,
        .group = a->groups.list[g].name,
        .category = "",
        .question = (parsrec_question)q,
        .estimator = (parsrec_estimator)e,
        .kind = line < lines    ? PARSREC_WHATIF_LINE
                : line == lines ? PARSREC_WHATIF_LEAVES
                                : PARSREC_WHATIF_TOTAL,
        .baskets = pr_sales_baskets(&a->past.before, &a->cohort, g),
        .before = NAN,
        .after = NAN,
        .test_before = NAN,
        .test_after = NAN,
        .true_before = NAN,
        .true_after = NAN,
        .floor = NAN,
    };
    if (line < lines)
        fill_line(a, s, q, e, g, line, row);
    else if (e == (size_t)a->estimator)
        fill_sum(a, s, q, g, row);
    return true;
}

/* ---- CSV ---- */

static void write_field(pr_writer *out, const char *text)
{
    pr_write_csv(out, text);
    pr_write(out, ",");
}

static void write_value(pr_writer *out, double value, const char *end)
{
    if (isnan(value))
        pr_write(out, "%s", end);
    else
        pr_write(out, "%.6g%s", value, end);
}

void pr_whatif_csv(pr_writer *out, const pr_whatif_result *a)
{
    parsrec_whatif_row r;
    pr_write(
        out,
        "scenario,question,estimator,group,category,watched,dropped,before,after,low,high,"
        "change,change_low,change_high,test_before,test_after,true_before,true_after,"
        "floor,kind,baskets,revenue_before,revenue_after,revenue_low,revenue_high,revenue_change,"
        "revenue_change_low,revenue_change_high\n");
    for (size_t i = 0; parsrec_whatif_row_at(a, i, &r); i++) {
        const double money[] = {
            r.baskets,      r.revenue_before, r.revenue_after,      r.revenue_low,
            r.revenue_high, r.revenue_change, r.revenue_change_low, r.revenue_change_high};
        const double values[] = {r.before,     r.after,       r.low,         r.high,
                                 r.change,     r.change_low,  r.change_high, r.test_before,
                                 r.test_after, r.true_before, r.true_after,  r.floor};
        size_t count = sizeof values / sizeof *values;
        if (isnan(r.after))
            continue;
        write_field(out, r.scenario);
        pr_write(out, "%s,%s,", parsrec_question_name(r.question),
                 parsrec_estimator_name(r.estimator));
        write_field(out, r.group);
        write_field(out, r.category);
        pr_write(out, "%d,%d,", r.watched, r.dropped);
        for (size_t v = 0; v < count; v++)
            write_value(out, values[v], ",");
        pr_write(out, "%s,", parsrec_whatif_kind_name(r.kind));
        for (size_t v = 0; v < sizeof money / sizeof *money; v++)
            write_value(out, money[v], v + 1 < sizeof money / sizeof *money ? "," : "\n");
    }
}

/* ---- JSON ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* What is not known is null. */
static json_t *row_json(const parsrec_whatif_row *r)
{
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "scenario", pr_json_string(r->scenario), "question", parsrec_question_name(r->question),
        "estimator", parsrec_estimator_name(r->estimator), "group", pr_json_string(r->group),
        "category", pr_json_string(r->category), "watched", r->watched, "dropped", r->dropped,
        "before", number(r->before), "after", number(r->after), "low", number(r->low), "high",
        number(r->high), "change", number(r->change), "change_low", number(r->change_low),
        "change_high", number(r->change_high), "test_before", number(r->test_before), "test_after",
        number(r->test_after), "true_before", number(r->true_before), "true_after",
        number(r->true_after), "floor", number(r->floor), "kind", parsrec_whatif_kind_name(r->kind),
        "baskets", number(r->baskets), "revenue_before", number(r->revenue_before), "revenue_after",
        number(r->revenue_after), "revenue_low", number(r->revenue_low), "revenue_high",
        number(r->revenue_high), "revenue_change", number(r->revenue_change), "revenue_change_low",
        number(r->revenue_change_low), "revenue_change_high", number(r->revenue_change_high));
}

/* Those of the estimator chosen, or of all. */
static json_t *rows_json(const pr_whatif_result *a, bool chosen)
{
    json_t *list = json_array();
    parsrec_whatif_row r;
    for (size_t i = 0; parsrec_whatif_row_at(a, i, &r); i++) {
        if (isnan(r.after) || (chosen && r.estimator != a->estimator))
            continue;
        if (json_array_append_new(list, row_json(&r)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *agreement_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t s = 0; a->agreement != NULL && s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t g = 0; g < a->cohort.group_count; g++) {
                    const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
                    if (isnan(x->points) || !a->asked[q])
                        continue;
                    json_array_append_new(
                        list,
                        json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scenario",
                                  pr_json_string(a->scenarios.list[s].name), "question",
                                  parsrec_question_name((parsrec_question)q), "estimator",
                                  parsrec_estimator_name((parsrec_estimator)e), "group",
                                  pr_json_string(a->groups.list[g].name), "rank_correlation",
                                  number(x->rank), "error_points", number(x->points), "mape",
                                  number(x->error), "mape_floor", number(x->floor), "mape_test_set",
                                  number(x->test), "coverage", number(x->coverage)));
                }
    return list;
}

/* The key for these, "hanging", was published before they were called cross effects. */
static json_t *cross_effects_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->cross_effect_count; i++) {
        const pr_cross_effect *x = &a->cross_effects[i];
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:f, s:f, s:f}", "group",
                      pr_json_string(a->groups.list[x->group].name), "without",
                      pr_json_string(a->lines.list[a->cross.drop[x->drop]].name), "category",
                      pr_json_string(a->lines.list[x->bin].name), "beyond", x->beyond, "selection",
                      x->change[PARSREC_SELECTION], "rechoice", x->change[PARSREC_RECHOICE]));
    }
    return list;
}

static json_t *facts_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t s = 0; s < a->scenarios.count; s++) {
            const pr_basket_facts *f = &a->facts[g * a->scenarios.count + s];
            json_array_append_new(list,
                                  json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                                            "scenario", pr_json_string(a->scenarios.list[s].name),
                                            "group", pr_json_string(a->groups.list[g].name),
                                            "baskets", f->baskets, "touched", f->touched, "items",
                                            f->items, "touched_items", f->touched_items, "swapped",
                                            f->swapped, "refilled", f->refilled, "lost", f->lost));
        }
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? pr_json_string(text) : json_null();
}

static json_t *answer_json(const pr_whatif_result *a)
{
#define NAME(id, name) [PARSREC_MISSING_##id] = (name),
    static const char *const missing_names[] = {PARSREC_MISSING_LIST(NAME)};
#undef NAME
    return json_pack("{s:o, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:s, s:s, s:b, s:f, s:o, "
                     "s:o, s:o, s:o}",
                     "command", text_or_null(a->command), "version", parsrec_version(), "data",
                     text_or_null(a->data_name), "checksum", a->checksum, "models",
                     (json_int_t)a->model_count, "users", (json_int_t)a->cohort.user_count, "draws",
                     (json_int_t)a->draws, "resamples", (json_int_t)a->resamples, "interval",
                     a->interval, "seed", (json_int_t)a->seed, "estimator",
                     parsrec_estimator_name(a->estimator), "missing", missing_names[a->missing],
                     "raw", a->raw, "seconds", a->seconds, "rows", rows_json(a, false), "agreement",
                     agreement_json(a), "hanging", cross_effects_json(a), "baskets", facts_json(a));
}

parsrec_status pr_whatif_json(pr_writer *out, const pr_whatif_result *a, bool rows_only,
                              parsrec_error *err)
{
    return pr_json_write(out, rows_only ? rows_json(a, true) : answer_json(a), err);
}
