/* Import: tables from outside become one data-set file. */
#ifndef PR_IMPORT_H
#define PR_IMPORT_H

#include "base/status.h"

/* The sentence for options that contradict each other or the inputs. */
parsrec_status pr_import_check(const char *const *inputs, size_t input_count,
                               const parsrec_import_options *options, parsrec_error *err);

/* How the file came to be, as JSON; free with pr_free, NULL when out of memory. Neither folders nor
 * passwords stand in it. */
char *pr_import_source(const char *const *names, size_t count,
                       const parsrec_import_options *options, const parsrec_import_report *report);

#endif
