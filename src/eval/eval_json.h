/* A result as parsrec eval --json tells it. */
#ifndef PR_EVAL_JSON_H
#define PR_EVAL_JSON_H

#include "base/json.h"

/* NULL when out of memory. */
json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *options,
                     const parsrec_eval_report *report);

#endif
