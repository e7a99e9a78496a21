/* What a search may try: for some settings a list of values or a range. */
#ifndef PR_SPACE_H
#define PR_SPACE_H

#include "model/config.h"

enum { PR_VALUE_SIZE = 64 };

/* One setting that is drawn. */
typedef struct pr_tune_range {
    size_t setting; /* its number in the table of settings */
    const char *key;
    char **words; /* [word_count] of a list; else from low to high */
    size_t word_count;
    double low, high;
    bool log;   /* equal ratios, not equal distances, are equally likely */
    bool whole; /* whole numbers alone */
    char *text; /* that the words point into */
} pr_tune_range;

typedef struct pr_space {
    pr_tune_range *ranges;
    size_t count, capacity;
    const char **fixed; /* "key=value": what the caller sets once and for all */
    size_t fixed_count, fixed_capacity;
} pr_space;

/* Takes "key=a,b,c", "key=low..high" or "key=low..high(log)" as something to draw and "key=value" as fixed;
 * the text of a fixed one is borrowed. Free with pr_space_free, also on failure. */
parsrec_status pr_space_add(pr_space *space, const char *text, parsrec_error *err);
/* The ranges that are worth a try for a kind of model, where the caller names none. */
parsrec_status pr_space_usual(pr_space *space, const char *kind, parsrec_error *err);
void pr_space_free(pr_space *space); /* a zeroed one is fine */

/* The value of one range in one draw of a trial: by seed and place alone. */
void pr_space_draw(char out[PR_VALUE_SIZE], const pr_tune_range *range, uint64_t seed, size_t trial,
                   size_t draw);

#endif
