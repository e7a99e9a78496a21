/* Users, items and categories as rows for people and machines; `list` and `info` show them. */
#ifndef CLI_LISTED_H
#define CLI_LISTED_H

#include "cli/output.h"
#include "parsrec.h"

/* The name, cut to `width` characters with "..." at the end, without controls, and terminated. `size` must be more than
 * 4 * width bytes for any text to fit; fewer bytes cut earlier. */
void cli_fit(char *out, size_t size, parsrec_name name, size_t width);
int cli_width(const char *text); /* characters of UTF-8 */

/* One row as an object; NULL when out of memory. */
json_t *cli_listed_json(const parsrec_data *data, parsrec_thing thing, const parsrec_listed *row);

#endif
