/* Tables from outside as a run of rows: CSV and TSV, the reference's text, SQLite, PostgreSQL. A
 * reader knows nothing of users and items; import knows nothing of quotes and queries. */
#ifndef PR_ROWS_H
#define PR_ROWS_H

#include "base/status.h"
#include "base/text.h"

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

#endif
