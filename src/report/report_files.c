/* A document as Markdown, and its tables as CSV. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"

/* ---- Markdown ---- */

/* What Markdown would read as markup is escaped; a line break would end a cell of a table. Brackets
 * are left as they are unless they would make a link, and so is < before a space: both occur in
 * intervals and tests, which should be readable in the file too. */
static void write_plain(pr_writer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool markup = strchr("\\|*_`>&#~", *text) != NULL || (*text == '<' && text[1] != ' ') ||
                      (*text == ']' && text[1] != '\0' && strchr("([:", text[1]) != NULL);
        pr_write(out, "%s", markup ? "\\" : "");
        pr_write_bytes(out, *text == '\n' ? " " : text, 1);
    }
}

static void write_markdown_table(pr_writer *out, const pr_report *r, const pr_report_block *b)
{
    static const char *const begins[] = {"", "**", "<u>", "**", "**"}, *const ends[] = {"", "**",
                                                                                        "</u>",
                                                                                        "**", "**"};
    static const char *const name_marks[] = {"", "*", "**"};
    char buffer[PR_CELL_BYTES];
    pr_write(out, "|");
    for (size_t c = 0; c < b->column_count; c++) {
        pr_write(out, " ");
        write_plain(out, pr_report_string(r, r->columns[b->first_column + c].heading));
        pr_write(out, " |");
    }
    pr_write(out, "\n|");
    for (size_t c = 0; c < b->column_count; c++)
        pr_write(out, "%s",
                 r->columns[b->first_column + c].kind == PR_REPORT_WORDS ? "---|" : "--:|");
    pr_write(out, "\n");
    for (size_t i = 0; i < b->row_count; i++) {
        const pr_report_row_entry *row = &r->rows[b->first_row + i];
        pr_write(out, "|");
        for (size_t c = 0; c < b->column_count; c++) {
            if (c >= row->cell_count) {
                pr_write(out, " |");
                continue;
            }
            const pr_report_cell_entry *cell = &r->cells[row->first_cell + c];
            const char *text = pr_report_cell_text(r, b, c, cell, buffer);
            pr_write(out, " %s", c == 0 ? name_marks[row->kind] : begins[cell->emphasis]);
            write_plain(out, text);
            pr_write(out, "%s%s|", c == 0 ? name_marks[row->kind] : ends[cell->emphasis],
                     text[0] != '\0' ? " " : "");
        }
        pr_write(out, "\n");
    }
}

void pr_report_write_markdown(pr_writer *out, const pr_report *r)
{
    static const char *const marks[] = {
        [PR_REPORT_TITLE] = "# ",    [PR_REPORT_SECTION] = "## ", [PR_REPORT_HEADING] = "### ",
        [PR_REPORT_FOLD] = "### ",   [PR_REPORT_LEAD] = "",       [PR_REPORT_TEXT] = "",
        [PR_REPORT_NOTE] = "",       [PR_REPORT_FACT] = "- ",     [PR_REPORT_FINDING] = "1. ",
        [PR_REPORT_CODE] = "```sh\n"};
    const pr_report_block *before = NULL;
    for (size_t i = 0; i < r->block_count; i++) {
        const pr_report_block *b = &r->blocks[i];
        bool has_text = b->kind < sizeof marks / sizeof *marks && marks[b->kind] != NULL;
        bool is_list = b->kind == PR_REPORT_FACT || b->kind == PR_REPORT_FINDING;
        if ((b->formats & PR_IN_MARKDOWN) == 0 || (!has_text && b->kind != PR_REPORT_TABLE))
            continue;
        if (before != NULL && !(is_list && before->kind == b->kind))
            pr_write(out, "\n");
        before = b;
        if (b->kind == PR_REPORT_TABLE) {
            write_markdown_table(out, r, b);
            continue;
        }
        pr_write(out, "%s", marks[b->kind]);
        if (b->kind == PR_REPORT_CODE)
            pr_write(out, "%s\n```", pr_report_string(r, b->text));
        else
            write_plain(out, pr_report_string(r, b->text));
        if (is_list) {
            pr_write(out, "%s", b->kind == PR_REPORT_FACT ? ": " : "  \n   ");
            write_plain(out, pr_report_string(r, b->more));
        }
        pr_write(out, "\n");
    }
}

/* ---- CSV ---- */

/* Numbers have all their digits. Text in a column of numbers, such as a value of a setting, is
 * written as it is where it is a number. */
static void write_field(pr_writer *out, const pr_report *r, const pr_report_cell_entry *cell,
                        pr_column_kind kind)
{
    double number;
    if (cell->text == PR_NO_TEXT) {
        if (!isnan(cell->number))
            pr_write(out, "%.17g", cell->number);
        return;
    }
    const char *text = pr_report_string(r, cell->text);
    if (kind != PR_REPORT_WORDS && pr_parse_f64(pr_slice_of(text), &number))
        pr_write(out, "%s", text);
    else
        pr_write_csv(out, text);
}

void pr_report_write_csv(pr_writer *out, const pr_report *r)
{
    for (size_t i = 0; i < r->block_count; i++) {
        const pr_report_block *b = &r->blocks[i];
        const pr_report_column_entry *columns = &r->columns[b->first_column];
        if (b->kind != PR_REPORT_TABLE || (b->formats & PR_IN_CSV) == 0)
            continue;
        for (size_t c = 0; c < b->column_count; c++) {
            pr_write(out, "%s", c > 0 ? "," : "");
            pr_write_csv(out, pr_report_string(r, columns[c].heading));
        }
        pr_write(out, "\n");
        for (size_t k = 0; k < b->row_count; k++) {
            const pr_report_row_entry *row = &r->rows[b->first_row + k];
            for (size_t c = 0; c < b->column_count; c++) {
                pr_write(out, "%s", c > 0 ? "," : "");
                if (c < row->cell_count)
                    write_field(out, r, &r->cells[row->first_cell + c], columns[c].kind);
            }
            pr_write(out, "\n");
        }
    }
}
