/* JSON by jansson, with our errors and one stable way of writing it. */
#ifndef PR_JSON_H
#define PR_JSON_H

#include <jansson.h>

#include "base/status.h"
#include "base/writer.h"

/* Parses one object or array. `origin` names the source in messages; duplicate keys are refused.
 * Free with json_decref. */
parsrec_status pr_json_parse(json_t **out, const char *bytes, size_t size, const char *origin,
                             parsrec_error *err);
parsrec_status pr_json_load(json_t **out, const char *path, parsrec_error *err);

/* A JSON string of any bytes: what is not UTF-8 is shown as '?'. NULL when out of memory. */
json_t *pr_json_string(const char *text);

/* Compact, keys sorted, numbers with 17 digits: equal values give equal bytes. Free with pr_free;
 * NULL when out of memory. */
char *pr_json_text(const json_t *json);
/* For readers: indented, members in the order they were added, numbers with all their digits. Takes
 * the value over, which may be NULL. Free with pr_free; NULL when out of memory. */
char *pr_json_indented(json_t *json);
/* Appends the same text and a line break. Takes the value over. */
parsrec_status pr_json_write(pr_writer *out, json_t *json, parsrec_error *err);

#endif
