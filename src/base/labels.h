/* Names made short enough for a column or a chart, and still different from each other. */
#ifndef PR_LABELS_H
#define PR_LABELS_H

#include <stddef.h>

#include "base/status.h"

/* How much room a text takes, in whatever unit the limit is. */
typedef double (*pr_label_width)(void *context, const char *text);

/* out[i] becomes names[i], or as much of it as fits into the limit, with an ellipsis: its end, which tells
 * paths of categories apart; where two names then look the same, what follows the words that another
 * name begins with too, or both ends, or the beginning; where that does not help, the beginning and a number. Names that are equal stay equal. `width` NULL counts
 * characters. Each of out[count] is to be freed with pr_free, also on failure. */
parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err);

#endif
