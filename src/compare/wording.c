/* Numbers and sentences that the table, the Markdown and the page have in common. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/comparison.h"

/* ---- numbers ---- */

/* Papers write no zero before the point: takes out the first one. */
static void drop_zero(char *text)
{
    char *zero = strstr(text, "0.");
    if (zero != NULL && (zero == text || zero[-1] == '-' || zero[-1] == ' '))
        memmove(zero, zero + 1, strlen(zero));
}

char *pr_decimal(double value, char *buffer, size_t size)
{
    if (isnan(value))
        snprintf(buffer, size, "-");
    else
        snprintf(buffer, size, "%.4f", fabs(value) < 0.00005 ? 0 : value);
    drop_zero(buffer);
    return buffer;
}

char *pr_interval_text(const pr_interval *interval, char *buffer, size_t size)
{
    char low[32], high[32];
    snprintf(buffer, size, "[%s, %s]", pr_decimal(interval->low, low, sizeof low),
             pr_decimal(interval->high, high, sizeof high));
    return buffer;
}

char *pr_improvement(const parsrec_comparison *c, const pr_table_column *column, char *buffer,
                     size_t size)
{
    buffer[0] = '\0';
    if (column->second == PR_NONE)
        return buffer;
    double best = pr_cell_value(c, column->best, column);
    double second = pr_cell_value(c, column->second, column);
    double gain = second > 0 ? 100 * (best / second - 1) : 0;
    if (second > 0)
        snprintf(buffer, size, "+%.*f %%", gain < 9.95 ? 1 : 0, gain);
    return buffer;
}

char *pr_p_value(double p, char *buffer, size_t size)
{
    if (p < 0.001)
        snprintf(buffer, size, "p < .001");
    else
        snprintf(buffer, size, "p %.3f", p);
    drop_zero(buffer);
    return buffer;
}

/* ---- sentences ---- */

const pr_phrases *pr_phrases_of(const parsrec_comparison *c)
{
    static const pr_phrases comparison = {
        "Comparison of models", "model", "difference to the best", "the best",
        "Bold is the best, underlined the second; a tie counts against the model."};
    static const pr_phrases ablation = {
        "Ablation", "row", "difference to its base", "a base",
        "Bold is better than the base of the row; a tie counts against the model."};
    return c->ablation ? &ablation : &comparison;
}

static void write_grouped(pr_writer *out, uint64_t value)
{
    if (value >= 1000) {
        write_grouped(out, value / 1000);
        pr_write(out, ",%03llu", (unsigned long long)(value % 1000));
    } else {
        pr_write(out, "%llu", (unsigned long long)value);
    }
}

void pr_write_settings(pr_writer *out, const pr_listed_model *e)
{
    if (e->preset != NULL)
        pr_write(out, "preset=%s%s", e->preset, e->set_count > 0 ? " " : "");
    for (size_t i = 0; i < e->set_count; i++)
        pr_write(out, "%s%s", i > 0 ? " " : "", e->set[i]);
}

static const char *rule_words(const char *protocol)
{
    static const char *const known[][2] = {
        {"remaining", ": any item that remains in the basket is a right answer"},
        {"next", ": one fixed target at a time"},
        {"basket", ": one list for the whole basket, made before it begins"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], protocol) == 0)
            return known[i][1];
    return "";
}

static const char *candidate_words(const parsrec_eval_options *o)
{
    switch (o->candidates) {
    case PARSREC_CANDIDATES_POPULAR:
        return "items sampled by popularity";
    case PARSREC_CANDIDATES_FILE:
        return "items or fewer from a list for each user";
    default:
        return "sampled items";
    }
}

void pr_write_protocol(pr_writer *out, const parsrec_comparison *c)
{
    const parsrec_eval_report *r = &c->rows[0].report;
    const parsrec_eval_options *o = &c->eval;
    pr_write(out, "%s sessions: ", o->split == PARSREC_SPLIT_TEST ? "Last" : "Second to last");
    write_grouped(out, r->baskets);
    pr_write(out, " baskets with ");
    write_grouped(out, r->steps);
    pr_write(out, " steps, ");
    if (r->negatives == 0)
        pr_write(out, "ranked against the whole catalogue");
    else {
        pr_write(out, "ranked against ");
        write_grouped(out, r->negatives);
        pr_write(out, " %s, the same for every model", candidate_words(o));
    }
    const char *protocol = parsrec_protocol_name(o->protocol);
    pr_write(out, "; protocol %s%s%s.", protocol, rule_words(protocol),
             o->exclude_seen ? "; items the user had before are left out" : "");
    if (c->seeds > 1)
        pr_write(out, " Means over %zu seeds of training.", c->seeds);
}

static bool has_measure(const parsrec_comparison *c, const char *name)
{
    const parsrec_eval_report *r = &c->rows[0].report;
    for (size_t i = 0; i < r->measure_count; i++)
        if (strcmp(r->measures[i].name, name) == 0)
            return true;
    return false;
}

void pr_write_legend(pr_writer *out, const parsrec_comparison *c)
{
    static const struct {
        const char *measure, *words;
    } known[] = {
        {"HR", "HR@k: share of steps with a hit among the first k."},
        {"NDCG", "N@k: NDCG, hits among the first k with less credit for later places."},
        {"Sess-Prec", "SP@k: Sess-Prec, the share of hits of a basket, averaged over baskets."},
        {"MRR", "MRR: mean of 1 / place."},
        {"Recall", "Rec@k: Recall, the share of the basket's items among the first k."},
        {"Precision", "Prec@k: Precision, the share of the first k that are in the basket."},
        {"NDCG-whole", "N-whole@k: NDCG against an ideal of the whole basket, however large."},
        {"PHR", "PHR@k: share of baskets with at least one hit among the first k."},
    };
    pr_write(out, "%s", pr_phrases_of(c)->bold);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_measure(c, known[i].measure))
            pr_write(out, " %s", known[i].words);
    pr_write(out, " A random ranker knows nothing");
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].ceiling)
            pr_write(out, "; the %s knows how the data were made and shows what can be reached",
                     c->rows[row].entry->name);
    pr_write(out, ".");
}

/* "row -.0123, row -.0045", those of a base that lie on one side of it by more than chance. */
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
                 : above     ? " Better than it: "
                             : " Worse: ",
                 r->entry->name, above ? "+" : "", pr_decimal(difference, number, sizeof number));
    }
    pr_write(out, "%s", count > 0 ? "." : "");
    return count;
}

static void write_ablation_verdict(pr_writer *out, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    char number[32];
    bool begun = false;
    for (size_t base = 0; base < c->count; base++) {
        size_t rows = 0, apart = 0;
        for (size_t row = 0; row < c->count; row++)
            rows += c->rows[row].entry->base == base;
        if (rows == 0)
            continue;
        pr_write(out, "%s%s has %s %s.", begun ? " " : "", c->rows[base].entry->name, column->name,
                 pr_decimal(pr_cell_value(c, base, column), number, sizeof number));
        begun = true;
        apart += write_apart(out, c, base, true);
        apart += write_apart(out, c, base, false);
        if (apart < rows)
            pr_write(out, " %zu of %zu rows differ from it by no more than chance makes.",
                     rows - apart, rows);
    }
}

void pr_write_verdict(pr_writer *out, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    char number[32], p[32];
    if (c->ablation) {
        write_ablation_verdict(out, c);
        return;
    }
    if (column->best == PR_NONE)
        return;
    pr_write(out, "By %s the best is %s (%s)", column->name, c->rows[column->best].entry->name,
             pr_decimal(pr_cell_value(c, column->best, column), number, sizeof number));
    if (column->second == PR_NONE) {
        pr_write(out, ".");
        return;
    }
    const pr_contender *second = &c->rows[column->second];
    pr_write(out, ", then %s (%s); the difference is %s (%s).", second->entry->name,
             pr_decimal(pr_cell_value(c, column->second, column), number, sizeof number),
             pr_comparison_differs(second) ? "more than chance among users"
                                           : "within what chance among users makes",
             pr_p_value(second->p, p, sizeof p));
}
