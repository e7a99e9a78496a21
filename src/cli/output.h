/* Results for machines: JSON on stdout. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/json.h"

/* A JSON string of any bytes: a path or message may hold what is not UTF-8, shown as '?'. */
json_t *cli_json_text(const char *text);

/* Prints the value, members in the order they were added, and frees it; NULL means that memory ran
 * out making it. Flushes stdout. Returns the exit status. */
int cli_print_json(const char *command, json_t *json);

#endif
