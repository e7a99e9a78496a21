/* A report: one document, written in several formats.
 *
 * A study (compare, ablate, tune, explain, whatif) builds a document once, block by block and in the
 * order of reading, and hands it to pr_report_write for each format that is wanted. A block is a
 * heading, a paragraph, a fact, a finding, a table or a chart. The study says what a block is; the
 * writers alone know how that looks on a terminal, in Markdown, CSV or HTML:
 *
 *     report_text.c    lines for a terminal, columns aligned, wide tables cut into several
 *     report_files.c   Markdown and CSV
 *     report_html.c    a page that needs nothing else, with one style sheet for all reports
 *
 * Not every block belongs everywhere: a chart is SVG and only HTML shows it, the table for
 * spreadsheets has one row per number. pr_report_only chooses the formats of the blocks that follow.
 * `wanted` says beforehand which formats will be written, so that nothing is drawn in vain.
 *
 * Tables keep numbers as numbers. A column says how they are shown (digits, sign, unit); CSV writes
 * all their digits instead. NaN is "not measured": "-" for readers, an empty field in CSV.
 *
 * Building never fails before the end: memory that ran out is remembered and pr_report_write returns
 * it, so that a study is a list of statements without error checks. All text is copied; a block holds
 * offsets into one growing text, because pointers into it would not survive its growth. */
#ifndef PR_REPORT_H
#define PR_REPORT_H

#include "base/writer.h"

typedef enum pr_report_kind {
    PR_REPORT_TITLE,
    PR_REPORT_SECTION, /* a heading; sections do not nest */
    PR_REPORT_HEADING, /* of a part of a section */
    PR_REPORT_LEAD,    /* the answer in a sentence or two */
    PR_REPORT_TEXT,    /* a paragraph */
    PR_REPORT_NOTE,    /* a small note: how to read what is above */
    PR_REPORT_CODE,    /* a command, as it was typed */
    PR_REPORT_FACT,    /* name and value */
    PR_REPORT_FINDING, /* a sentence of a numbered list, and its evidence */
    PR_REPORT_TABLE,
    PR_REPORT_CHART,       /* <svg>, as pr_bars_inline, pr_curves_inline and so on write it */
    PR_REPORT_FOLD,        /* what follows is folded away under this name ... */
    PR_REPORT_FOLD_END,    /* ... until here */
    PR_REPORT_GALLERY,     /* charts from here ... */
    PR_REPORT_GALLERY_END, /* ... to here lie side by side where there is room */
} pr_report_kind;

/* Formats, to be added up. */
enum {
    PR_IN_TEXT = 1, /* PARSREC_TEXT_PLAIN and PARSREC_TEXT_TERMINAL */
    PR_IN_MARKDOWN = 2,
    PR_IN_CSV = 4, /* tables only */
    PR_IN_HTML = 8,
    PR_IN_READING = PR_IN_TEXT | PR_IN_MARKDOWN | PR_IN_HTML, /* all that people read */
};

typedef enum pr_column_kind {
    PR_REPORT_WORDS,  /* left-aligned */
    PR_REPORT_NUMBER, /* right-aligned, as are the next two */
    PR_REPORT_SIGNED, /* with + or - */
    PR_REPORT_SHARE,  /* without a zero before the point, as papers write: .1234 */
} pr_column_kind;

typedef struct pr_report_column {
    const char *heading;
    pr_column_kind kind;
    int decimals;     /* after the point */
    const char *unit; /* written behind a number, with its space: " %", " s"; NULL: none */
    int most; /* characters of a cell on a terminal, longer ones are shortened; 0: no limit. For the
                 first column only */
} pr_report_column;

typedef enum pr_row_kind {
    PR_ROW_PLAIN,
    PR_ROW_ASIDE, /* does not compete with the others: grey, below a rule */
    PR_ROW_TOTAL, /* the sum of the rows above */
} pr_row_kind;

typedef enum pr_emphasis {
    PR_PLAIN,
    PR_BEST,   /* bold */
    PR_SECOND, /* underlined */
    PR_MORE,   /* marked orange: more than before, or in favour */
    PR_LESS,   /* marked blue */
} pr_emphasis;

/* ---- what a document is made of; for the writers ---- */

/* Offsets into `text` are of terminated strings. */
typedef struct pr_report_block {
    pr_report_kind kind;
    unsigned formats;
    size_t text, more; /* more: a fact's value, a finding's evidence */
    size_t first_column, column_count, first_row, row_count;
} pr_report_block;

typedef struct pr_report_row_entry {
    pr_row_kind kind;
    size_t first_cell, cell_count; /* the name of the row is its first cell */
    size_t mark;                   /* bytes that its name begins with and never loses */
} pr_report_row_entry;

typedef struct pr_report_cell_entry {
    double number;
    size_t text; /* PR_NO_TEXT: the cell is the number */
    pr_emphasis emphasis;
} pr_report_cell_entry;

#define PR_NO_TEXT SIZE_MAX

typedef struct pr_report_column_entry {
    size_t heading, unit; /* unit: PR_NO_TEXT if none */
    pr_column_kind kind;
    int decimals, most;
} pr_report_column_entry;

/* Begins zeroed, but for what the caller sets. */
typedef struct pr_report {
    unsigned wanted;        /* set by the caller: formats that will be written; 0: any */
    int width;              /* set by the caller: characters of a line of text; 0: 79 */
    unsigned only;          /* formats of the blocks that follow; 0: all that people read */
    pr_writer text, unseen; /* unseen: takes what no wanted format shows */
    pr_report_block *blocks;
    pr_report_column_entry *columns;
    pr_report_row_entry *rows;
    pr_report_cell_entry *cells;
    size_t block_count, block_capacity, column_count, column_capacity, row_count, row_capacity,
        cell_count, cell_capacity;
    bool skipping; /* the last block is in no wanted format */
} pr_report;

/* ---- building ---- */

/* Formats of the blocks that follow, PR_IN_* added up; 0: all that people read. */
void pr_report_only(pr_report *report, unsigned formats);
/* Whether blocks that follow will be written at all; for what is costly to make. */
bool pr_report_is_wanted(const pr_report *report);

/* A block of one text; not for facts, findings and tables. */
void pr_report_add(pr_report *report, pr_report_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, to be written piece by piece, until the next call on the report. */
pr_writer *pr_report_open(pr_report *report, pr_report_kind kind);

void pr_report_fact(pr_report *report, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pr_report_finding(pr_report *report, const char *sentence, const char *evidence);

/* A table is followed by its rows, a row by its cells: the first cell is the row's name, which
 * pr_report_row takes. Rows may be shorter than the table is wide. */
void pr_report_table(pr_report *report, const pr_report_column *columns, size_t count);
void pr_report_row(pr_report *report, pr_row_kind kind, const char *name);
/* The first `mark` bytes of the name, ASCII, stay when it is shortened. */
void pr_report_marked_row(pr_report *report, pr_row_kind kind, const char *name, size_t mark);
void pr_report_number(pr_report *report, double value, pr_emphasis emphasis);
void pr_report_words(pr_report *report, pr_emphasis emphasis, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void pr_report_free(pr_report *report); /* a zeroed one is fine */

/* ---- writing ---- */

/* The PR_IN_ format of a kind of text; 0 for JSON. */
unsigned pr_report_format(parsrec_text_kind kind);

/* Writes the blocks of that format; not PARSREC_TEXT_JSON, whose keys are each study's own. */
parsrec_status pr_report_write(pr_writer *out, const pr_report *report, parsrec_text_kind kind,
                               parsrec_error *err);
/* The same to a file. */
parsrec_status pr_report_save(const pr_report *report, const char *path, parsrec_text_kind kind,
                              parsrec_error *err);

/* Its parts (report_text.c, report_files.c, report_html.c). */
parsrec_status pr_report_write_text(pr_writer *out, const pr_report *report, bool terminal,
                                    parsrec_error *err);
void pr_report_write_markdown(pr_writer *out, const pr_report *report);
void pr_report_write_csv(pr_writer *out, const pr_report *report);
void pr_report_write_html(pr_writer *out, const pr_report *report);

enum { PR_CELL_BYTES = 48 };
/* A cell as people read it; a number is written to the buffer. `column` is the cell's place in the row. */
const char *pr_report_cell_text(const pr_report *report, const pr_report_block *table,
                                size_t column, const pr_report_cell_entry *cell,
                                char buffer[PR_CELL_BYTES]);
static inline const char *pr_report_string(const pr_report *report, size_t offset)
{
    return report->text.text + offset;
}

/* A number as papers write it: ".1234", "-" for NaN. Returns buffer. */
char *pr_share_text(double value, int decimals, char *buffer, size_t size);

#endif
