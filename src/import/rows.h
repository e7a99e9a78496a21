/* Import: tables from outside become one data-set file.
 *
 *   bytes.h      bytes of a file, a pipe or a decompressor
 *   rows.h       those bytes, or the result of a query, as rows of fields (this file)
 *   columns.h    which column is the user, the session, the time, the item
 *   times.h      what a time says
 *   collect.h    rows of actions gathered in the order of the input: names become numbers
 *   assembly.h   gathered actions become the columns of a data set: sorted, cut, filtered
 *   tables.h     tables about items, users and sessions become features, names and categories
 *   import.c     parsrec_import, which runs all of it and says what it did
 *
 * A reader of rows knows nothing of users and items; import knows nothing of quotes and queries.
 * Rows are views into the reader's buffer, so an action is copied once, as numbers. A row that is
 * not valid is refused with a sentence that has its place (name:line:column) and may be skipped;
 * everything else is final.
 *
 * Import is measured (bench/import.sh): what happens per row allocates nothing once the names are
 * known. */
#ifndef PR_ROWS_H
#define PR_ROWS_H

#include "base/status.h"
#include "base/text.h"
#include "import/bytes.h"
#include "import/times.h"

/* ---- any source of rows ---- */

typedef struct pr_rows pr_rows;

/* Views live until the next call on the same source. */
typedef struct pr_row {
    const pr_slice *fields;
    size_t count;  /* equals the number of columns */
    uint64_t line; /* from 1, the header is line 1; for databases the number of the row */
} pr_row;

struct pr_rows {
    const char *name;        /* for messages: "actions.csv", "sqlite:shop.db" */
    const pr_slice *columns; /* names, from the header */
    size_t column_count;
    char delimiter; /* of a text; 0 for databases */
    bool lines;     /* positions are lines of a text ("name:line:column"), else rows */

    /* The next row. *end is set after the last. A row that is not valid gives E_INPUT with the
     * whole sentence and may be skipped by calling next again; other failures are final. */
    parsrec_status (*next)(pr_rows *self, pr_row *row, bool *end, parsrec_error *err);
    /* How much of the source has been read, for progress; total 0 when not known. */
    void (*position)(const pr_rows *self, uint64_t *done, uint64_t *total);
    void (*free)(pr_rows *self);
};

typedef struct pr_rows_options {
    parsrec_input_format format; /* of files */
    bool latin1;
    const char *table, *query;  /* of databases */
    const parsrec_hooks *hooks; /* asked while a server makes us wait */
} pr_rows_options;

/* Opens whatever `input` names: a file, "-", "sqlite:FILE" or "postgresql://...". */
parsrec_status pr_rows_open(pr_rows **out, const char *input, const pr_rows_options *options,
                            parsrec_error *err);
void pr_rows_free(pr_rows *rows); /* NULL is fine */

bool pr_rows_is_database(const char *input);

/* The number of a column by its name, SIZE_MAX when there is none. */
size_t pr_rows_find(const pr_rows *rows, const char *name);

/* The same, or a sentence that lists the columns there are and ends with the hint. */
parsrec_status pr_rows_need(const pr_rows *rows, const char *name, const char *hint, size_t *column,
                            parsrec_error *err);

/* E_INPUT with the place before the sentence: "name:line:column: ...". Columns count from 0 here
 * and from 1 in the message; PR_NO_COLUMN leaves them out. */
#define PR_NO_COLUMN SIZE_MAX
parsrec_status pr_rows_fail(const pr_rows *rows, uint64_t line, size_t column, parsrec_error *err,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- delimited text: quotes with "" inside, line ends inside quotes, CRLF, a byte-order mark ---- */

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

/* ---- the store of `parsrec serve`: its purchases, and the mark that keeps a server from counting them a second
 * time when a model of this data is served with that store ---- */

/* Rows of user, session, time and item in the order of time, with times of the given form, which
 * the other inputs have. *mark is what the data set keeps as its `events`; free it with pr_free. */
parsrec_status pr_events_open(pr_rows **out, char **mark, const char *url, pr_time_form form,
                              const parsrec_hooks *hooks, parsrec_error *err);

#endif
