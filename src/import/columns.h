/* Which column of a table is what. People's tables say customer_id, BASKET_ID, InvoiceDate and sku;
 * a column that is not named on the command line is recognised by its name, without regard to case,
 * spaces and signs. A name is never guessed against another that fits as well: then the user is
 * asked. */
#ifndef PR_IMPORT_COLUMNS_H
#define PR_IMPORT_COLUMNS_H

#include "import/collect.h"

/* The columns of an input of actions, or the sentence on all that are missing. */
parsrec_status pr_columns_of_actions(pr_action_columns *out, const pr_rows *rows,
                                     const parsrec_import_options *options, parsrec_error *err);

/* The column of one role (PARSREC_COLUMN_USER, SESSION or ITEM) in a table about users, sessions or
 * items: the one named `given`, or else recognised, the name `same` of the actions before others.
 * Both may be NULL. PR_NO_COLUMN when there is none and `optional`. */
parsrec_status pr_columns_find_key(size_t *column, const pr_rows *rows, parsrec_column_role role,
                                   const char *given, const char *same, bool optional,
                                   parsrec_error *err);

/* What people read in an items file. Of several names the lowest rank is the best; category levels
 * go from broad (low) to narrow. -1: neither. */
int pr_columns_name_rank(pr_slice column);
int pr_columns_category_level(pr_slice column);
/* A category level that is a number or code for one that may be spelt out beside it: aisle_id. */
bool pr_columns_is_code(pr_slice column);

#endif
