/* A page that stands alone: styles inside, light and dark as the reader's system has it, no script,
 * nothing fetched from anywhere. Every text is escaped. */
#ifndef PR_PAGE_H
#define PR_PAGE_H

#include "base/writer.h"

void pr_page_begin(pr_writer *page, const char *title);
void pr_page_end(pr_writer *page);

/* A section with a heading; the one before ends. */
void pr_page_section(pr_writer *page, const char *heading);
void pr_page_text(pr_writer *page, const char *text);  /* a paragraph */
void pr_page_quiet(pr_writer *page, const char *text); /* a small note */
void pr_page_code(pr_writer *page, const char *text);  /* a command, as it was typed */

/* Pictures between these lie side by side where there is room. */
void pr_page_gallery(pr_writer *page);
void pr_page_gallery_end(pr_writer *page);

/* A table that scrolls sideways on small screens. A row is begun by its name, then come cells. */
typedef enum pr_cell {
    PR_CELL_PLAIN,
    PR_CELL_BEST,   /* bold */
    PR_CELL_SECOND, /* underlined */
} pr_cell;

void pr_page_table(pr_writer *page, const char *const *headings, size_t count);
void pr_page_row(pr_writer *page, const char *name);
void pr_page_aside(pr_writer *page, const char *name); /* a row that does not compete, in grey */
void pr_page_cell(pr_writer *page, const char *text, pr_cell look);
void pr_page_row_end(pr_writer *page);
void pr_page_table_end(pr_writer *page);

/* Names and what they mean, one below the other. */
void pr_page_list(pr_writer *page);
void pr_page_item(pr_writer *page, const char *name, const char *value);
void pr_page_list_end(pr_writer *page);

#endif
