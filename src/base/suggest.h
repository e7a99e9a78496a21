/* "Did you mean ...?": the known words nearest to one that is not known.
 *
 * Offer every known word in turn, then ask for the sentence. A word counts as near when it is equal
 * but for case, begins with or contains the wanted one, or differs by few letters (one in four, at
 * most three; two letters exchanged count as one). The best three are kept in this order, the first
 * offered first among equals. Nothing is allocated, so this may be used while reporting an
 * error. */
#ifndef PR_SUGGEST_H
#define PR_SUGGEST_H

#include "base/text.h"

enum { PR_SUGGESTIONS = 3 };

typedef struct pr_suggest {
    pr_slice wanted;
    size_t count;
    pr_excerpt near[PR_SUGGESTIONS]; /* best first, in quotes */
    unsigned distance[PR_SUGGESTIONS];
    char sentence[PR_SUGGESTIONS * (sizeof(pr_excerpt) + 4) + 24];
} pr_suggest;

/* `wanted` must live until the last offer. */
void pr_suggest_start(pr_suggest *suggest, pr_slice wanted);
void pr_suggest_offer(pr_suggest *suggest, pr_slice known);

/* " (did you mean 'A', 'B' or 'C'?)", or "" when nothing is near. Lives in *suggest. */
const char *pr_suggest_sentence(pr_suggest *suggest);

#endif
