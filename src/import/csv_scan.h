/* Finds the fields of one row in a buffer of delimited text. Knows nothing of files and messages. */
#ifndef PR_CSV_SCAN_H
#define PR_CSV_SCAN_H

#include "base/status.h"
#include "base/text.h"

typedef struct pr_csv_scan {
    char *buffer; /* `filled` bytes of text, and room for PR_CSV_BLOCK more behind them */
    size_t filled;
    size_t start; /* of the next row */
    bool last;    /* nothing follows the filled part */
    char delimiter;
    bool grow; /* keep every field; otherwise those beyond the capacity are only counted */

    /* Set by pr_csv_scan_row. */
    pr_slice *fields;
    size_t capacity, count;
    size_t end;         /* where the row ends, its line end included */
    uint64_t lines;     /* that the row covers, line ends inside quotes counted */
    bool escapes;       /* some field holds "" */
    size_t block;       /* internal: where `mask` begins */
    uint64_t mask;      /* internal: special bytes of the block that were not passed yet */
    size_t mask_filled; /* internal: `filled` when the mask was made */
} pr_csv_scan;

typedef enum pr_csv_result {
    PR_CSV_ROW,         /* fields[0..count) are the row; quotes around them are off */
    PR_CSV_MORE,        /* the row does not end in the buffer */
    PR_CSV_OPEN_QUOTE,  /* the text ended inside a quoted field, number count */
    PR_CSV_AFTER_QUOTE, /* text follows the closing quote of field number count */
    PR_CSV_MEMORY,
} pr_csv_result;

pr_csv_result pr_csv_scan_row(pr_csv_scan *scan);

/* Turns "" into " in the fields of the accepted row, in place. */
void pr_csv_unescape(pr_csv_scan *scan);

/* After the buffer was moved or refilled. */
void pr_csv_scan_restart(pr_csv_scan *scan);

#endif
