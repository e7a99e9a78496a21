/* Results on stdout: text for people, JSON for machines. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/json.h"
#include "parsrec.h"

/* Text with names from files. A terminal must not interpret them: control characters other than line
 * breaks, and marks that change the direction of text, become '?'. */
void cli_print_text(const char *text);
/* A name as a cell of a table: padded to `width` characters, then two spaces. */
void cli_print_cell(parsrec_name name, size_t width);
size_t cli_name_width(parsrec_name name); /* characters, not bytes */

/* A JSON string of any bytes: a path or message may hold what is not UTF-8, shown as '?'. */
json_t *cli_json_text(const char *text);

/* Prints the value, members in the order they were added, and frees it; NULL means out of memory.
 * Flushes stdout. Returns the exit status. */
int cli_print_json(const char *command, json_t *json);

/* The warning for a data set whose baskets have one item each. */
#define CLI_ONE_ITEM_BASKETS                                                                       \
    "nearly every basket has only one item, so it cannot be learnt which items go together; "      \
    "if "                                                                                          \
    "the source has orders or receipts, import it again with --session COL, or with --session-by " \
    "day"

#endif
