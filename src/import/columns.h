/* Which column of a table is what. Tables say customer_id, BASKET_ID, InvoiceDate or sku; a column
 * that no option names is recognised by its name, without regard to case, spaces and punctuation. If
 * two columns fit equally well, import fails with a message that asks for the option. */
#ifndef PR_IMPORT_COLUMNS_H
#define PR_IMPORT_COLUMNS_H

#include "import/collect.h"

/* The columns of an input of actions; E_NOT_FOUND with one message about all that are missing. */
parsrec_status pr_columns_of_actions(pr_action_columns *out, const pr_rows *rows,
                                     const parsrec_import_options *options, parsrec_error *err);

/* After pr_columns_of_actions returned `status`: if it found none of the columns, reads the next lines of a
 * text for one that looks like the header, and says so. Returns the status to go on with; err keeps its
 * message unless there is such a line. */
parsrec_status pr_columns_header_below(pr_rows *rows, const parsrec_import_options *options,
                                       parsrec_status status, parsrec_error *err);

/* The key column of a table about users, sessions or items; `role` is PARSREC_COLUMN_USER, SESSION or
 * ITEM. In this order: the column named `given` by an option, one named like the role, one named
 * `same`, as in the actions, or one that is recognised. `given` and `same` may be NULL, and the table
 * may lack both. Without any: PR_NO_COLUMN if `optional`, else E_NOT_FOUND. */
parsrec_status pr_columns_find_key(size_t *column, const pr_rows *rows, parsrec_column_role role,
                                   const char *given, const char *same, bool optional,
                                   parsrec_error *err);

/* Columns of an items file. How well a column fits as the name of the item, 0 best; and its level as
 * a category, 0 broadest. -1: it is not one. Ranks below PR_NAME_ALONE are of words that beside a customer
 * may be the customer's. */
enum { PR_NAME_ALONE = 7 };
int pr_columns_name_rank(pr_slice column);
int pr_columns_category_level(pr_slice column);
/* True of a column such as aisle_id, whose codes another column, aisle, may spell out. */
bool pr_columns_is_code(pr_slice column);

#endif
