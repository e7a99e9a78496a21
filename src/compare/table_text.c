/* The paper's table as lines of text: best bold, second underlined where a terminal can show it. */
#include <string.h>

#include "base/text.h"
#include "compare/comparison.h"

enum { LINE = 79, CELL = 7, NAME_MOST = 22 };

typedef struct page {
    pr_writer *out;
    const parsrec_comparison *c;
    bool terminal;
    int name_width;
} page;

/* A name in its column, cut where it is too long. */
static void write_name(const page *p, const char *name)
{
    int left = p->name_width;
    if (pr_text_width(name) <= left) {
        pr_write(p->out, "%s%*s", name, left - pr_text_width(name), "");
        return;
    }
    size_t end = 0;
    for (left--; left > 0; left--)
        for (end++; ((unsigned char)name[end] & 0xC0) == 0x80;)
            end++;
    pr_write_bytes(p->out, name, end);
    pr_write(p->out, "…");
}

/* Room for its heading and for what is below it. */
static int cell_width(const page *p, size_t column)
{
    char text[32];
    int heading = pr_text_width(p->c->columns[column].brief);
    int gain = pr_text_width(pr_improvement(p->c, &p->c->columns[column], text, sizeof text));
    int most = heading > gain ? heading : gain;
    return most < CELL ? CELL : most + 1;
}

static void write_cell(const page *p, size_t column, const char *text, const char *style)
{
    bool styled = p->terminal && style != NULL;
    pr_write(p->out, "%*s%s%s%s", cell_width(p, column) - pr_text_width(text), "",
             styled ? style : "", text, styled ? "\033[0m" : "");
}

static void write_rule(const page *p, size_t first, size_t end)
{
    int width = p->name_width;
    for (size_t i = first; i < end; i++)
        width += cell_width(p, i);
    for (int i = 0; i < width; i++)
        pr_write(p->out, "-");
    pr_write(p->out, "\n");
}

static void write_row(const page *p, size_t row, size_t first, size_t end)
{
    char number[32];
    write_name(p, p->c->rows[row].entry->name);
    for (size_t i = first; i < end; i++) {
        const pr_table_column *column = &p->c->columns[i];
        static const char *const styles[] = {NULL, "\033[1m", "\033[4m"};
        write_cell(p, i, pr_decimal(pr_cell_value(p->c, row, column), number, sizeof number),
                   styles[pr_cell_rank(p->c, row, column)]);
    }
    pr_write(p->out, "\n");
}

static void write_rows(const page *p, bool ceiling, size_t first, size_t end)
{
    for (size_t row = 0; row < p->c->count; row++)
        if (p->c->rows[row].ceiling == ceiling)
            write_row(p, row, first, end);
}

static void write_block(const page *p, size_t first, size_t end)
{
    char text[32];
    write_name(p, "");
    for (size_t i = first; i < end; i++)
        write_cell(p, i, p->c->columns[i].brief, NULL);
    pr_write(p->out, "\n");
    write_rule(p, first, end);
    write_rows(p, false, first, end);
    write_rule(p, first, end);
    if (!p->c->ablation) {
        write_name(p, "best over second");
        for (size_t i = first; i < end; i++)
            write_cell(p, i, pr_improvement(p->c, &p->c->columns[i], text, sizeof text), NULL);
        pr_write(p->out, "\n");
    }
    write_rows(p, true, first, end);
    write_name(p, "random ranker");
    for (size_t i = first; i < end; i++)
        write_cell(p, i,
                   pr_decimal(p->c->rows[0].report.measures[p->c->columns[i].measure].random, text,
                              sizeof text),
                   NULL);
    pr_write(p->out, "\n\n");
}

/* What the chosen measure is worth, model by model. */
static void write_worth(const page *p)
{
    const parsrec_comparison *c = p->c;
    const pr_table_column *column = &c->columns[c->chosen];
    char number[32], range[80], test[32];
    write_name(p, "");
    pr_write(p->out, " %7s  %-16s  %s\n", column->brief, "95 % interval",
             pr_phrases_of(c)->difference);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        write_name(p, r->entry->name);
        pr_write(p->out, " %7s  %-16s",
                 pr_decimal(r->intervals[column->measure].value, number, sizeof number),
                 pr_interval_text(&r->intervals[column->measure], range, sizeof range));
        if (pr_comparison_reference(c, row) != PR_NONE)
            pr_write(p->out, "  %6s %s  %s%s",
                     pr_decimal(r->versus.difference.value, number, sizeof number),
                     pr_interval_text(&r->versus.difference, range, sizeof range),
                     pr_p_value(r->p, test, sizeof test), pr_comparison_differs(r) ? " *" : "");
        else if (!r->ceiling)
            pr_write(p->out, "  %s", pr_phrases_of(c)->reference);
        pr_write(p->out, "\n");
    }
    pr_write(p->out,
             "* more than chance: p, corrected for the number of models, is below .05%s\n\n",
             c->seeds > 1 ? ",\n  and the interval over seeds holds no zero" : "");
}

/* The same with seeds in the place of users. */
static void write_spread(const page *p)
{
    const parsrec_comparison *c = p->c;
    size_t measure = c->columns[c->chosen].measure;
    char range[80];
    write_name(p, "");
    pr_write(p->out, "  over %zu seeds     %s\n", c->seeds, pr_phrases_of(c)->difference);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        if (r->judged < 2)
            continue;
        write_name(p, r->entry->name);
        pr_write(p->out, "  %-16s", pr_interval_text(&r->spread[measure], range, sizeof range));
        if (pr_comparison_reference(c, row) != PR_NONE)
            pr_write(p->out, "  %s", pr_interval_text(&r->versus_spread, range, sizeof range));
        pr_write(p->out, "\n");
    }
    pr_write(p->out, "\n");
}

/* A sentence in lines of at most 79 characters. */
static void write_sentence(pr_writer *out, const parsrec_comparison *c,
                           void (*write)(pr_writer *out, const parsrec_comparison *c))
{
    pr_writer words = {0};
    write(&words, c);
    pr_write_wrapped(out, &words, LINE);
}

void pr_table_text(pr_writer *out, const parsrec_comparison *c, bool terminal)
{
    page p = {out, c, terminal, (int)strlen("best over second")};
    for (size_t row = 0; row < c->count; row++)
        if (pr_text_width(c->rows[row].entry->name) > p.name_width)
            p.name_width = pr_text_width(c->rows[row].entry->name);
    if (p.name_width > NAME_MOST)
        p.name_width = NAME_MOST;
    write_sentence(out, c, pr_write_protocol);
    pr_write(out, "\n");
    for (size_t first = 0, end; first < c->column_count; first = end) {
        int width = p.name_width + cell_width(&p, first);
        for (end = first + 1; end < c->column_count; end++) {
            width += cell_width(&p, end);
            if (width > LINE)
                break;
        }
        write_block(&p, first, end);
    }
    write_worth(&p);
    if (c->seeds > 1)
        write_spread(&p);
    write_sentence(out, c, pr_write_verdict);
}
