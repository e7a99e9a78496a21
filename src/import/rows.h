/* Import: tables from outside become one data-set file.
 *
 *   bytes.h      bytes of a file, a pipe or a decompressor
 *   rows.h       those bytes, or the result of a query, as rows of fields (this file)
 *   columns.h    which column is the user, the session, the time, the item
 *   times.h      what a time says
 *   collect.h    rows become actions: names become numbers, bad rows are refused
 *   gather.h     actions are gathered into sessions, in the order of the input
 *   spill.h      the same in files, part by part, when memory does not suffice
 *   assembly.h   gathered actions become the columns of a data set: sorted, cut, filtered
 *   tables.h     tables about items, users and sessions become features, names and categories
 *   import.c     parsrec_import, which runs all of it and fills the report
 *
 * The tables of actions say who took what and when, one item per row. The other tables describe
 * items, users and sessions.
 *
 * A reader of rows knows nothing about users and items; import knows nothing about quotes and
 * queries. Rows are views into the reader's buffer, so an action is copied once, as numbers. A row
 * that is not valid is refused with E_INPUT and a message that begins with its place
 * (name:line:column); import may skip it. Every other failure ends the import.
 *
 * Import is measured (bench/import.sh): a row allocates nothing once its names are known. */
#ifndef PR_ROWS_H
#define PR_ROWS_H

#include "base/status.h"
#include "base/text.h"
#include "import/bytes.h"
#include "import/times.h"

/* ---- any source of rows ---- */

typedef struct pr_rows pr_rows;

#define PR_NO_COLUMN SIZE_MAX

/* Views that live until the next call on the same source. */
typedef struct pr_row {
    const pr_slice *fields;
    size_t count;  /* equals column_count, except after pr_csv_allow_ragged */
    uint64_t line; /* of a text: from 1, the header included; of a database: the row, from 1 */
    uint64_t same; /* pr_row_bit(i): field i is known to equal that of the row given before */
} pr_row;

/* Of columns from 63 on nothing is known: their bit is never set. */
static inline uint64_t pr_row_bit(size_t column)
{
    return (uint64_t)1 << (column < 63 ? column : 63);
}

struct pr_rows {
    const char *name;        /* for messages: "actions.csv", "sqlite:shop.db" */
    const pr_slice *columns; /* names, from the header */
    size_t column_count;
    char delimiter; /* of a text; 0 for databases */
    bool lines;     /* a text: messages say "name:line:column"; else "name: row N, column M" */

    /* NULL for sources that give every field. Otherwise only the fields of chosen columns are given
     * and the others are empty. To be called before the first row, once or more. */
    parsrec_status (*choose)(pr_rows *self, const size_t *columns, size_t count,
                             parsrec_error *err);
    /* The next row; *end is true, and there is no row, after the last. E_INPUT for a row that is not
     * valid: the next call continues after it. Other failures are final. */
    parsrec_status (*next)(pr_rows *self, pr_row *row, bool *end, parsrec_error *err);
    /* How much of the source has been read, for progress; total 0 when not known. */
    void (*position)(const pr_rows *self, uint64_t *done, uint64_t *total);
    void (*free)(pr_rows *self);
};

typedef struct pr_rows_options {
    parsrec_input_format format; /* of files */
    bool latin1;                 /* files are Windows-1252, not UTF-8 */
    const char *table, *query;   /* of databases; at most one is given */
    const parsrec_hooks *hooks;  /* called while a database makes us wait */
} pr_rows_options;

/* Opens whatever `input` names: a file, "-", "sqlite:FILE", "postgresql://...", "parquet:FILES" or
 * "duckdb:[FILE]". New kinds of input get a branch here. `input` and the hooks must outlive the rows; *out is NULL on failure. */
parsrec_status pr_rows_open(pr_rows **out, const char *input, const pr_rows_options *options,
                            parsrec_error *err);
void pr_rows_free(pr_rows *rows); /* NULL is fine */

bool pr_rows_is_database(const char *input);
/* Whether --query may be given for it: databases, and files that DuckDB reads. */
bool pr_rows_takes_query(const char *input);
/* What follows the prefix; NULL if the input does not begin with it. */
const char *pr_rows_after_prefix(const char *input, const char *prefix);

/* The number of a column by its name; PR_NO_COLUMN when there is none. */
size_t pr_rows_find(const pr_rows *rows, const char *name);

/* The same, but E_NOT_FOUND when there is none, with the columns that there are and then `hint`; and
 * E_INPUT when two columns have the name. */
parsrec_status pr_rows_need(const pr_rows *rows, const char *name, const char *hint, size_t *column,
                            parsrec_error *err);

/* E_INPUT with the place before the message: "name:line:column: ...". Columns count from 0 here and
 * from 1 in the message; PR_NO_COLUMN leaves the column out. */
parsrec_status pr_rows_fail(const pr_rows *rows, uint64_t line, size_t column, parsrec_error *err,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same rows, read ahead by a thread of its own. Takes `source` over, also on failure; nothing else may
 * call it from then on, and its hooks are called for the first row only. */
parsrec_status pr_rows_ahead(pr_rows **out, pr_rows *source, parsrec_error *err);

/* ---- delimited text: quotes with "" inside, line ends inside quotes, CRLF, a byte-order mark ---- */

enum { PR_CSV_LONGEST_ROW = 1 << 20 };

typedef struct pr_csv_options {
    char delimiter; /* 0: comma, tab, semicolon or bar, whichever the header has most */
    bool database;  /* the text is the result of a query: messages name rows, not lines */
    size_t buffer;  /* initial bytes, at least 3; 0: 256 KiB. For tests of the buffer's edges */
} pr_csv_options;

/* Reads the header. Takes `bytes` over, also on failure. */
parsrec_status pr_csv_open(pr_rows **out, pr_bytes *bytes, const pr_csv_options *options,
                           parsrec_error *err);

/* Only for rows of pr_csv_open: from now on they may have any number of fields. */
void pr_csv_allow_ragged(pr_rows *csv);

/* The text format of the paper's program, user_id,time,session_length,session_items. The header is
 * recognised by pr_reference_header. pr_reference_open turns a line of n items into n rows of user,
 * time, session and item; it takes `csv` over, also on failure. */
bool pr_reference_header(const pr_rows *csv);
parsrec_status pr_reference_open(pr_rows **out, pr_rows *csv, parsrec_error *err);

/* ---- databases ---- */

parsrec_status pr_sqlite_open(pr_rows **out, const char *input, const pr_rows_options *options,
                              parsrec_error *err);
parsrec_status pr_postgres_open(pr_rows **out, const char *input, const pr_rows_options *options,
                                parsrec_error *err);

/* ---- Parquet files and DuckDB ---- */

/* Reads "parquet:FILES" (a name or a pattern), a file called x.parquet, or "duckdb:[FILE]" with a table
 * or a query, which may name files of its own. */
parsrec_status pr_duckdb_rows(pr_rows **out, const char *input, const pr_rows_options *options,
                              parsrec_error *err);

/* ---- record batches in memory ---- */

/* A format beyond those of Arrow: text as the cells of DuckDB (pr_duckdb_text), in one buffer. */
#define PR_ARROW_CELLS "parsrec:cells"

/* Nothing is read but the schema. The stream must outlive the rows and is not released by them. */
parsrec_status pr_arrow_open(pr_rows **out, const char *name, struct ArrowArrayStream *stream,
                             parsrec_error *err);

/* ---- purchases from the event store of `parsrec serve` ---- */

/* Rows of user, session, time and item in order of time. Times are written in `form`, that of the
 * other inputs. *mark says up to which event the store was read; it becomes `events` of the data set,
 * so that a server with this store and a model of this data does not count the purchases twice. Free
 * it with pr_free. */
parsrec_status pr_events_open(pr_rows **out, char **mark, const char *url, pr_time_form form,
                              const parsrec_hooks *hooks, parsrec_error *err);

#endif
