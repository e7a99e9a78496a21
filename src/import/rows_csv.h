/* Delimited text as rows: quotes with "" inside, line ends inside quotes, CRLF, a byte-order mark. */
#ifndef PR_ROWS_CSV_H
#define PR_ROWS_CSV_H

#include "import/bytes.h"
#include "import/rows.h"

enum { PR_CSV_LONGEST_ROW = 1 << 20 };

typedef struct pr_csv_options {
    char delimiter; /* 0: comma, tab, semicolon or bar, whichever the header has most */
    bool database;  /* positions are rows of a result, not lines of a text */
    size_t buffer;  /* bytes at first, at least 3; 0: 256 KiB. Tests use few to meet every edge */
} pr_csv_options;

/* Reads the header. Takes `bytes` over, also when it fails. */
parsrec_status pr_csv_open(pr_rows **out, pr_bytes *bytes, const pr_csv_options *options,
                           parsrec_error *err);

/* From now on rows may have any number of fields. */
void pr_csv_allow_ragged(pr_rows *csv);

/* The reference's text over a CSV reader that has read its header: one line of n items becomes n
 * rows of user, time, session, item. Takes `csv` over. */
bool pr_reference_header(const pr_rows *csv);
parsrec_status pr_reference_open(pr_rows **out, pr_rows *csv, parsrec_error *err);

/* Databases. */
parsrec_status pr_sqlite_open(pr_rows **out, const char *input, const pr_rows_options *options,
                              parsrec_error *err);
parsrec_status pr_postgres_open(pr_rows **out, const char *input, const pr_rows_options *options,
                                parsrec_error *err);

#endif
