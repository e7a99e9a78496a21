/* Words that the reports share. */
#ifndef PR_EXPLAIN_WORDS_H
#define PR_EXPLAIN_WORDS_H

#include "explain/explanation.h"

/* "2.1 times as likely after bread": what a link of a map says; cut to size. Returns buffer. */
char *pr_link_words(const pr_explanation *e, pr_map_kind kind, const pr_link *link, char *buffer,
                    size_t size);

/* "0.912", or "-" for what is not known. Returns buffer. */
char *pr_explain_number(double value, char *buffer, size_t size);

/* One sentence on how far attention and drop effects agree; empty where that is not known. */
char *pr_agreement_words(const pr_explained_group *group, char *buffer, size_t size);

/* Maps that have a list of strongest relationships. */
static inline bool pr_map_is_listed(pr_map_kind kind)
{
    return kind == PR_MAP_DROP || kind == PR_MAP_LIFT || kind == PR_MAP_ATTENTION;
}

#endif
