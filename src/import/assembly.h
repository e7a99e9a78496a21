/* From gathered rows to the columns of a data set: sessions in order, cut by time where asked,
 * repeats within a basket dropped, rare users and items dropped where asked. */
#ifndef PR_ASSEMBLY_H
#define PR_ASSEMBLY_H

#include "import/collect.h"

typedef struct pr_assembly {
    size_t users, sessions, items, actions;
    int64_t *user_offsets, *session_offsets;
    int32_t *action_items;
    int64_t *times;
    /* Numbers in the pr_collect; NULL where they did not change. */
    uint32_t *user_from, *item_from, *session_from;
} pr_assembly;

void pr_assembly_free(pr_assembly *b); /* a zeroed one is fine */

/* Takes the actions, sessions and times out of `c`; its names stay. */
parsrec_status pr_assembly_make(pr_assembly *b, pr_collect *c, parsrec_error *err);

/* Joins neighbouring sessions of a user by the rule: a pause of at most `gap` seconds, or the same
 * day, week or month. Every session must have one action. */
void pr_assembly_join(pr_assembly *b, parsrec_session_rule rule, int64_t gap);

/* Keeps the first of equal items in a session; returns how many were dropped. */
parsrec_status pr_assembly_unique(pr_assembly *b, uint64_t *dropped, parsrec_error *err);

/* Drops users and items with fewer than `least` actions until none is left. */
parsrec_status pr_assembly_filter(pr_assembly *b, uint64_t least, parsrec_import_report *report,
                                  parsrec_error *err);

#endif
