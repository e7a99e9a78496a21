/* Results on stdout: text for people, JSON for machines. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/json.h"

/* Text with names out of files in it: a terminal must not act on what stands in them, so controls other than
 * line breaks and marks that turn the direction of text become '?'. */
void cli_print_text(const char *text);

/* A JSON string of any bytes: a path or message may hold what is not UTF-8, shown as '?'. */
json_t *cli_json_text(const char *text);

/* Prints the value, members in the order they were added, and frees it; NULL means that memory ran
 * out making it. Flushes stdout. Returns the exit status. */
int cli_print_json(const char *command, json_t *json);

/* What to say of a data set whose baskets have one item each. */
#define CLI_ONE_ITEM_BASKETS                                                                       \
    "nearly every basket has one item only, so there is nothing to learn of what goes together; "  \
    "if "                                                                                          \
    "the source has orders or receipts, import it again with --session COL, or with --session-by " \
    "day"

#endif
