/* A report as a page that stands alone: styles inside, light and dark as the reader's system has it, no
 * script, nothing fetched from anywhere. Every text is escaped. All reports have this one style sheet. It
 * keeps everything within the width of a screen, of a phone and of a printed A4 page; web.reports looks at
 * every report in a browser at these widths. */
#ifndef PR_PAGE_H
#define PR_PAGE_H

#include "base/writer.h"

void pr_page_begin(pr_writer *page, const char *title);
void pr_page_end(pr_writer *page);

/* A section with a heading; the one before ends. */
void pr_page_section(pr_writer *page, const char *heading);
void pr_page_heading(pr_writer *page, const char *heading); /* of a part of a section */
void pr_page_lead(pr_writer *page,
                  const char *text); /* the answer in a sentence or two, at the top */
void pr_page_text(pr_writer *page, const char *text);  /* a paragraph */
void pr_page_quiet(pr_writer *page, const char *text); /* a small note */
void pr_page_code(pr_writer *page, const char *text);  /* a command, as it was typed */

/* What stands between these is folded away under its name until a reader opens it. */
void pr_page_fold(pr_writer *page, const char *name);
void pr_page_fold_end(pr_writer *page);

/* A numbered list of findings: a sentence each, and what it rests on in small letters below. */
void pr_page_findings(pr_writer *page);
void pr_page_finding(pr_writer *page, const char *sentence, const char *basis);
void pr_page_findings_end(pr_writer *page);

/* Pictures between these lie side by side where there is room. */
void pr_page_gallery(pr_writer *page);
void pr_page_gallery_end(pr_writer *page);

/* A table. Where it is too wide, as on a phone, each row becomes a small list of headings and values.
 * A row is begun by its name, then come cells. Orange is more, or for; blue is less, or against: the
 * colours of the maps, here and on the page of the server. */
typedef enum pr_cell {
    PR_CELL_PLAIN,  /* a number, right-aligned */
    PR_CELL_BEST,   /* bold */
    PR_CELL_SECOND, /* underlined */
    PR_CELL_TEXT,   /* words, left-aligned; so is the heading */
    PR_CELL_MORE,   /* marked orange */
    PR_CELL_LESS,   /* marked blue */
} pr_cell;

void pr_page_table(pr_writer *page, const char *const *headings, size_t count);
void pr_page_row(pr_writer *page, const char *name);
void pr_page_aside(pr_writer *page, const char *name); /* a row that does not compete, in grey */
void pr_page_total(pr_writer *page, const char *name); /* the sum of the rows above */
void pr_page_cell(pr_writer *page, const char *text, pr_cell look);
void pr_page_row_end(pr_writer *page);
void pr_page_table_end(pr_writer *page);

/* Names and what they mean, one below the other. */
void pr_page_list(pr_writer *page);
void pr_page_item(pr_writer *page, const char *name, const char *value);
void pr_page_list_end(pr_writer *page);

#endif
