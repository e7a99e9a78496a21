/* A result as parsrec eval --json tells it. */
#ifndef PR_EVAL_JSON_H
#define PR_EVAL_JSON_H

#include "base/json.h"

/* NULL when out of memory. */
json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *options,
                     const parsrec_eval_report *report);

/* Indented, members in the order they were added, numbers with all their digits. Takes the value over,
 * which may be NULL. Free with pr_free; NULL when out of memory. */
char *pr_eval_json_text(json_t *json);

#endif
