/* A document as a page. */
#include "report/page.h"
#include "report/report.h"

enum { COLUMNS_MOST = 256 };

static void write_table(pr_writer *page, const pr_report *r, const pr_report_block *b)
{
    static const pr_cell looks[] = {PR_CELL_PLAIN, PR_CELL_BEST, PR_CELL_SECOND, PR_CELL_MORE,
                                    PR_CELL_LESS};
    static void (*const begin_row[])(pr_writer *, const char *) = {pr_page_row, pr_page_aside,
                                                                   pr_page_total};
    const char *headings[COLUMNS_MOST];
    char buffer[PR_CELL_BYTES];
    size_t count = b->column_count < COLUMNS_MOST ? b->column_count : COLUMNS_MOST;
    for (size_t c = 0; c < count; c++)
        headings[c] = pr_report_string(r, r->columns[b->first_column + c].heading);
    pr_page_table(page, headings, count);
    for (size_t i = 0; i < b->row_count; i++) {
        const pr_report_row_entry *row = &r->rows[b->first_row + i];
        const pr_report_cell_entry *cells = &r->cells[row->first_cell];
        begin_row[row->kind](page, pr_report_string(r, cells[0].text));
        for (size_t c = 1; c < count; c++) {
            bool words = r->columns[b->first_column + c].kind == PR_REPORT_WORDS;
            if (c < row->cell_count)
                pr_page_cell(page, pr_report_cell_text(r, b, c, &cells[c], buffer),
                             words && cells[c].emphasis == PR_PLAIN ? PR_CELL_TEXT
                                                                    : looks[cells[c].emphasis]);
            else
                pr_page_cell(page, "", words ? PR_CELL_TEXT : PR_CELL_PLAIN);
        }
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
}

void pr_report_write_html(pr_writer *page, const pr_report *r)
{
    static void (*const show[])(pr_writer *, const char *) = {
        [PR_REPORT_TITLE] = pr_page_begin,     [PR_REPORT_SECTION] = pr_page_section,
        [PR_REPORT_HEADING] = pr_page_heading, [PR_REPORT_LEAD] = pr_page_lead,
        [PR_REPORT_TEXT] = pr_page_text,       [PR_REPORT_NOTE] = pr_page_quiet,
        [PR_REPORT_CODE] = pr_page_code,       [PR_REPORT_FOLD] = pr_page_fold};
    pr_report_kind open = PR_REPORT_TITLE; /* of a list: facts or findings */
    for (size_t i = 0; i < r->block_count; i++) {
        const pr_report_block *b = &r->blocks[i];
        const char *text = pr_report_string(r, b->text);
        if ((b->formats & PR_IN_HTML) == 0)
            continue;
        if (open == PR_REPORT_FACT && b->kind != open)
            pr_page_list_end(page);
        if (open == PR_REPORT_FINDING && b->kind != open)
            pr_page_findings_end(page);
        switch (b->kind) {
        case PR_REPORT_FACT:
            if (open != b->kind)
                pr_page_list(page);
            pr_page_item(page, text, pr_report_string(r, b->more));
            break;
        case PR_REPORT_FINDING:
            if (open != b->kind)
                pr_page_findings(page);
            pr_page_finding(page, text, pr_report_string(r, b->more));
            break;
        case PR_REPORT_TABLE:
            write_table(page, r, b);
            break;
        case PR_REPORT_CHART:
            pr_write(page, "%s", text);
            break;
        case PR_REPORT_FOLD_END:
            pr_page_fold_end(page);
            break;
        case PR_REPORT_GALLERY:
            pr_page_gallery(page);
            break;
        case PR_REPORT_GALLERY_END:
            pr_page_gallery_end(page);
            break;
        default:
            show[b->kind](page, text);
        }
        open = b->kind;
    }
    if (open == PR_REPORT_FACT)
        pr_page_list_end(page);
    if (open == PR_REPORT_FINDING)
        pr_page_findings_end(page);
    pr_page_end(page);
}
