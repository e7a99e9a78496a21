/* Names made short enough for a column or a chart, and still different from each other. */
#ifndef PR_LABELS_H
#define PR_LABELS_H

#include <stddef.h>

#include "base/status.h"

/* How much room a text takes, in the unit of the limit. */
typedef double (*pr_label_width)(void *context, const char *text);

/* out[i] becomes names[i], or as much of it as fits into the limit, with an ellipsis. First its end
 * is tried, which distinguishes category paths; where two names then look the same, what follows
 * the words that it shares with another name; then both ends; then the beginning; and if nothing
 * helps, the beginning and a number. Names that are equal stay equal. `width` NULL counts
 * characters. Free each of out[count] with pr_free, also on failure. */
parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err);

#endif
