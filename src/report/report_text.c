/* A document as lines for a terminal or a log. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

enum { WIDTH = 79, NUMBER_LEAST = 6, LINES_MOST = 8 };

/* ---- tables ---- */

/* Where a table is wider than a line, it is written as several below each other, each with the names
 * of the rows. */
typedef struct table {
    const pr_report *r;
    const pr_report_block *block;
    const pr_report_column_entry *columns;
    char **names; /* [rows]: first cells, shortened */
    int *widths;  /* [columns] */
    bool terminal;
} table;

static const char *cell_text(const table *t, size_t row, size_t column, char *buffer)
{
    const pr_report_row_entry *r = &t->r->rows[t->block->first_row + row];
    if (column == 0)
        return t->names[row];
    if (column >= r->cell_count)
        return "";
    return pr_report_cell_text(t->r, t->block, column, &t->r->cells[r->first_cell + column],
                               buffer);
}

/* A heading in lines of at most `width` characters, broken at spaces. Returns how many. */
static size_t wrap_heading(pr_slice lines[LINES_MOST], const char *text, int width)
{
    size_t count = 0;
    while (*text != '\0') {
        size_t end = 0, fits = 0;
        int used = 0;
        for (; text[end] != '\0' && used <= width; end++) {
            if (text[end] == ' ')
                fits = end;
            used += pr_utf8_begins(text[end]);
        }
        bool rest = used <= width || fits == 0 || count + 1 == LINES_MOST;
        lines[count++] = (pr_slice){text, rest ? strlen(text) : fits};
        text += lines[count - 1].size;
        text += *text == ' ';
    }
    return count;
}

static int longest_word(const char *text)
{
    int longest = 0, length = 0;
    for (; *text != '\0'; text++) {
        length = *text == ' ' ? 0 : length + pr_utf8_begins(*text);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* A column is as wide as its widest cell, its heading's longest word, and half of its heading. */
static void measure(table *t)
{
    char buffer[PR_CELL_BYTES];
    for (size_t c = 0; c < t->block->column_count; c++) {
        const char *heading = pr_report_string(t->r, t->columns[c].heading);
        int width = longest_word(heading), half = (pr_text_width(heading) + 1) / 2;
        width = half > width ? half : width;
        if (t->columns[c].kind != PR_REPORT_WORDS && width < NUMBER_LEAST)
            width = NUMBER_LEAST;
        for (size_t row = 0; row < t->block->row_count; row++) {
            int cell = pr_text_width(cell_text(t, row, c, buffer));
            width = cell > width ? cell : width;
        }
        t->widths[c] = width;
    }
}

/* Spaces between columns: one before numbers, which their alignment separates, else two. */
static int gap(const table *t, size_t column)
{
    return column == 0 ? 0 : t->columns[column].kind == PR_REPORT_WORDS ? 2 : 1;
}

/* One cell. Spaces are owed until something follows them, so that lines have none at their end. */
static void write_cell(pr_writer *out, const table *t, size_t column, pr_slice text,
                       const char *style, int *owed)
{
    int space = t->widths[column];
    bool left = t->columns[column].kind == PR_REPORT_WORDS;
    for (size_t i = 0; i < text.size; i++)
        space -= pr_utf8_begins(text.bytes[i]);
    *owed += gap(t, column) + (left ? 0 : space);
    if (text.size > 0) {
        pr_write(out, "%*s%s", *owed, "", style);
        pr_write_bytes(out, text.bytes, text.size);
        pr_write(out, "%s", style[0] != '\0' ? "\033[0m" : "");
        *owed = 0;
    }
    *owed += left ? space : 0;
}

/* Headings of several lines end at the bottom. */
static void write_headings(pr_writer *out, const table *t, size_t first, size_t end)
{
    pr_slice lines[LINES_MOST];
    size_t most = 1;
    for (size_t c = first; c < end; c++) {
        size_t n = wrap_heading(lines, pr_report_string(t->r, t->columns[c].heading), t->widths[c]);
        most = n > most ? n : most;
    }
    for (size_t line = 0; line < most; line++) {
        int owed = t->widths[0];
        for (size_t c = first; c < end; c++) {
            size_t n =
                wrap_heading(lines, pr_report_string(t->r, t->columns[c].heading), t->widths[c]);
            bool empty = line + n < most;
            write_cell(out, t, c, empty ? (pr_slice){"", 0} : lines[line + n - most], "", &owed);
        }
        pr_write(out, "\n");
    }
}

static void write_rule(pr_writer *out, const table *t, size_t first, size_t end)
{
    int width = t->widths[0];
    for (size_t c = first; c < end; c++)
        width += gap(t, c) + t->widths[c];
    for (int i = 0; i < width; i++)
        pr_write(out, "-");
    pr_write(out, "\n");
}

/* The columns from first to end, after the names of the rows. */
static void write_columns(pr_writer *out, const table *t, size_t first, size_t end)
{
    static const char *const styles[] = {"", "\033[1m", "\033[4m", "\033[1m", "\033[1m"};
    char buffer[PR_CELL_BYTES];
    pr_row_kind before = PR_ROW_PLAIN;
    write_headings(out, t, first, end);
    write_rule(out, t, first, end);
    for (size_t row = 0; row < t->block->row_count; row++) {
        const pr_report_row_entry *r = &t->r->rows[t->block->first_row + row];
        int owed = 0;
        if (r->kind != before && r->kind != PR_ROW_PLAIN)
            write_rule(out, t, first, end);
        before = r->kind;
        write_cell(out, t, 0, pr_slice_of(t->names[row]), "", &owed);
        for (size_t c = first; c < end; c++) {
            pr_emphasis emphasis =
                c < r->cell_count ? t->r->cells[r->first_cell + c].emphasis : PR_PLAIN;
            write_cell(out, t, c, pr_slice_of(cell_text(t, row, c, buffer)),
                       t->terminal ? styles[emphasis] : "", &owed);
        }
        pr_write(out, "\n");
    }
}

/* A name that begins with a mark: the rest is shortened. The mark tells it from other rows. */
static parsrec_status fit_marked(char **out, const char *name, size_t mark, int most,
                                 parsrec_error *err)
{
    const char *rest = name + mark;
    char *fitted = NULL;
    parsrec_status status = pr_labels_fit(&fitted, &rest, 1, most - (double)mark, NULL, NULL, err);
    char *whole = status == PARSREC_OK ? pr_alloc(mark + strlen(fitted) + 1, 1) : NULL;
    if (whole != NULL) {
        memcpy(whole, name, mark);
        strcpy(whole + mark, fitted);
        pr_free(*out);
        *out = whole;
    } else if (status == PARSREC_OK) {
        status = pr_fail_memory(err);
    }
    pr_free(fitted);
    return status;
}

static parsrec_status name_rows(table *t, parsrec_error *err)
{
    size_t count = t->block->row_count;
    const char **names = pr_alloc(count + 1, sizeof *names);
    parsrec_status status = PARSREC_OK;
    if (names == NULL)
        return pr_fail_memory(err);
    for (size_t row = 0; row < count; row++)
        names[row] = pr_report_string(
            t->r, t->r->cells[t->r->rows[t->block->first_row + row].first_cell].text);
    int most = t->columns[0].most;
    status = pr_labels_fit(t->names, names, count, most > 0 ? most : 10000, NULL, NULL, err);
    for (size_t row = 0; row < count && most > 0 && status == PARSREC_OK; row++) {
        size_t mark = t->r->rows[t->block->first_row + row].mark;
        if (mark > 0)
            status = fit_marked(&t->names[row], names[row], mark, most, err);
    }
    pr_free(names);
    return status;
}

static parsrec_status write_table(pr_writer *out, const pr_report *r, const pr_report_block *b,
                                  int line, bool terminal, parsrec_error *err)
{
    table t = {.r = r, .block = b, .columns = &r->columns[b->first_column], .terminal = terminal};
    t.names = pr_alloc_zero(b->row_count + 1, sizeof *t.names);
    t.widths = pr_alloc_zero(b->column_count, sizeof *t.widths);
    parsrec_status status =
        t.names != NULL && t.widths != NULL ? name_rows(&t, err) : pr_fail_memory(err);
    if (status == PARSREC_OK) {
        measure(&t);
        for (size_t first = 1, end; first < b->column_count; first = end) {
            int width = t.widths[0] + gap(&t, first) + t.widths[first];
            for (end = first + 1; end < b->column_count; end++) {
                width += gap(&t, end) + t.widths[end];
                if (width > line)
                    break;
            }
            pr_write(out, "%s", first > 1 ? "\n" : "");
            write_columns(out, &t, first, end);
        }
    }
    for (size_t row = 0; t.names != NULL && row < b->row_count; row++)
        pr_free(t.names[row]);
    pr_free(t.names);
    pr_free(t.widths);
    return status;
}

/* ---- the document ---- */

/* Whether an empty line goes between two blocks: not after a heading, nor inside a list. */
static bool are_separated(pr_report_kind before, pr_report_kind after)
{
    if (before == PR_REPORT_SECTION || before == PR_REPORT_HEADING || before == PR_REPORT_FOLD)
        return false;
    if ((before == PR_REPORT_TABLE && after == PR_REPORT_NOTE) ||
        (before == PR_REPORT_TEXT && after == PR_REPORT_CODE))
        return false;
    return !(before == after && (after == PR_REPORT_FACT || after == PR_REPORT_FINDING));
}

parsrec_status pr_report_write_text(pr_writer *out, const pr_report *r, bool terminal,
                                    parsrec_error *err)
{
    int line = r->width > 0 ? r->width : WIDTH;
    const pr_report_block *before = NULL;
    size_t number = 0;
    for (size_t i = 0; i < r->block_count; i++) {
        const pr_report_block *b = &r->blocks[i];
        const char *text = pr_report_string(r, b->text);
        pr_writer words = {0};
        if ((b->formats & PR_IN_TEXT) == 0 || b->kind == PR_REPORT_CHART ||
            b->kind == PR_REPORT_FOLD_END || b->kind == PR_REPORT_GALLERY ||
            b->kind == PR_REPORT_GALLERY_END)
            continue;
        if (before != NULL && are_separated(before->kind, b->kind))
            pr_write(out, "\n");
        number = b->kind != PR_REPORT_FINDING ? 0 : number + 1;
        switch (b->kind) {
        case PR_REPORT_TABLE:
            PR_TRY(write_table(out, r, b, line, terminal, err));
            break;
        case PR_REPORT_FACT:
            pr_write(out, "%s: %s\n", text, pr_report_string(r, b->more));
            break;
        case PR_REPORT_FINDING:
            pr_write(out, "%2zu. %s\n    %s\n", number, text, pr_report_string(r, b->more));
            break;
        case PR_REPORT_CODE:
            pr_write(out, "  %s\n", text);
            break;
        default:
            pr_write(&words, "%s", text);
            pr_write_wrapped(out, &words, line);
        }
        before = b;
    }
    return PARSREC_OK;
}
