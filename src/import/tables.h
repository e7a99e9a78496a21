/* Tables about items, users and sessions become columns of the data set.
 *
 * A table is read whole (pr_table_begin, pr_table_row). Each column stores its different texts once
 * and one index per row. Whether a column holds numbers is decided after the last row
 * (pr_table_settle). Then rows are matched by key to the users, items or sessions of the actions
 * (pr_table_match), and the cells are gathered in the numbering of the data set (pr_features_gather,
 * pr_catalogue_gather). */
#ifndef PR_TABLES_H
#define PR_TABLES_H

#include "base/intern.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "import/assembly.h"
#include "import/collect.h"

/* ---- reading a table ---- */

/* What a column holds. Numbers and words become features. */
typedef enum pr_table_content {
    PR_TABLE_UNDECIDED, /* until pr_table_settle: numbers if every cell is one, otherwise words */
    PR_TABLE_NUMBERS,
    PR_TABLE_WORDS,      /* values of a categorical feature */
    PR_TABLE_NAMES,      /* of items, for people */
    PR_TABLE_CATEGORIES, /* a level of the items' category paths, or the whole paths */
    PR_TABLE_SKIPPED,    /* not stored: keys, or a column without a name */
} pr_table_content;

typedef struct pr_table_column {
    pr_table_content holds;
    bool decimal_comma; /* of numbers, once settled */
    int level;          /* of PR_TABLE_CATEGORIES: low is broad */
    uint64_t
        others; /* of pr_table_begin_within: rows with another text than the first of their item */
    char *name;
    pr_intern texts; /* the different texts of the column */
    int32_t *cells;  /* [rows]: index into texts, -1 where empty */
    size_t capacity;
} pr_table_column;

typedef struct pr_table {
    pr_feature_of of;
    pr_intern keys; /* one per row; if with_user: the user's number in 4 bytes, then the text */
    bool with_user; /* a table of sessions that has a column of users */
    pr_table_column *columns;
    size_t column_count;
    size_t key_column, user_column;
    size_t without_user; /* rows not stored, because no action names their user */
    uint64_t trimmed;    /* keys that had blanks around them */
    char *scratch;
    size_t scratch_capacity;
} pr_table;

void pr_table_free(pr_table *table); /* a zeroed one is fine */

/* Finds the key column, which the actions call `key` (or NULL), and decides from the header what each
 * column holds, as far as it shows. The table must be freed also on failure. */
parsrec_status pr_table_begin(pr_table *table, pr_feature_of of, const pr_rows *rows,
                              const parsrec_import_options *options, const char *key,
                              parsrec_error *err);

/* Adds a row, or refuses it with E_INPUT and stores nothing of it. */
parsrec_status pr_table_row(pr_table *table, const pr_collect *actions, const pr_rows *rows,
                            const pr_row *row, parsrec_error *err);

/* The names and categories of items in the rows of actions, for an import without a table of items. Begins
 * a table with those columns of `rows` that `columns` leaves free, or leaves it empty: column_count is 0. */
parsrec_status pr_table_begin_within(pr_table *table, const pr_rows *rows,
                                     const pr_action_columns *columns, parsrec_error *err);
/* After `actions` took the row: the first text of an item counts. */
parsrec_status pr_table_row_within(pr_table *table, const pr_collect *actions, const pr_row *row,
                                   parsrec_error *err);
/* After the last row: a column that says different things of one item is not about items, and is left
 * out. */
void pr_table_settle_within(pr_table *table, uint64_t rows);

/* After the last row: decides which undecided columns hold numbers, and whether their decimals are
 * written with a comma. */
parsrec_status pr_table_settle(pr_table *table, const pr_rows *rows, parsrec_error *err);

/* A finite number that a float can hold, with a decimal point, or with a decimal comma and perhaps
 * points between thousands. */
bool pr_cell_number(pr_slice text, bool decimal_comma, float *value);

/* The number of levels of a path such as "GROCERY > COOKIES". */
size_t pr_category_depth(pr_slice path);

/* True when the comma-separated list (or NULL) has the name. */
bool pr_list_has(const char *list, const char *name);

/* ---- matching and gathering ---- */

/* (*row_of)[names->count] is the table's row for each name, -1 where it has none; free it with
 * pr_free. *unmatched_rows is the number of rows that belong to no name. */
parsrec_status pr_table_match(const pr_table *table, const pr_names *names, int32_t **row_of,
                              size_t *unmatched_rows, parsrec_error *err);
/* The same for the keys of sessions, before pr_gather_seal. */
parsrec_status pr_table_match_sessions(const pr_table *table, const pr_gather *sessions,
                                       int32_t **row_of, size_t *unmatched_rows,
                                       parsrec_error *err);

/* Fills data->features from the table for `count` users, sessions or items; number i has the table's
 * row rows[i], -1 for none. */
parsrec_status pr_features_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  size_t count, pr_region *region, parsrec_error *err);

/* The same for item names and the category tree. */
parsrec_status pr_catalogue_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                   pr_region *region, parsrec_error *err);

/* Chooses names: name i of *out is name from[i] of `names`, or "" if from[i] is negative. */
parsrec_status pr_names_choose(pr_names *out, const pr_names *names, const int32_t *from,
                               size_t count, pr_region *region, parsrec_error *err);

#endif
