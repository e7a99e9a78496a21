/* Gathered actions become the columns of a data set. The calls come in this order:
 *
 *   pr_assembly_make     sorts sessions by user and time
 *   pr_assembly_join     if sessions are cut by time: joins single actions into sessions
 *   pr_assembly_unique   drops repeats of an item within a session
 *   pr_assembly_filter   if asked for: drops rare users and items */
#ifndef PR_ASSEMBLY_H
#define PR_ASSEMBLY_H

#include "base/files.h"
#include "import/gather.h"

enum { PR_SESSION_FILE, PR_TIME_FILE, PR_ITEM_FILE, PR_COLUMN_FILES };

typedef struct pr_assembly {
    size_t users, sessions, items, actions;
    int64_t *user_offsets, *session_offsets; /* these four as in a data set */
    int32_t *action_items;
    int64_t *times;
    /* [users], [items], [sessions]: the number before filtering and sorting; NULL: the same number. After
     * pr_assembly_join session_from means nothing: a session then comes from several. */
    uint32_t *user_from, *item_from, *session_from;

    /* Columns too large for the memory (spill.h): session_offsets, times and action_items are
     * read-only views of files. */
    bool stored;
    pr_scratch_file files[PR_COLUMN_FILES];
    pr_mapping views[PR_COLUMN_FILES];
} pr_assembly;

void pr_assembly_free(pr_assembly *b); /* a zeroed one is fine */

/* Moves actions, sessions and times out of `g`, whose numbers are below `users` and `items`. `b` must
 * be freed also on failure. */
parsrec_status pr_assembly_make(pr_assembly *b, pr_gather *g, size_t users, size_t items,
                                parsrec_error *err);

/* Joins consecutive sessions of a user that are at most `gap` seconds apart (PARSREC_SESSION_GAP) or
 * lie in the same day, week or month. Every session must have exactly one action. */
void pr_assembly_join(pr_assembly *b, parsrec_session_rule rule, int64_t gap);

/* Keeps the first of equal items in a session; *dropped is the number of others. */
parsrec_status pr_assembly_unique(pr_assembly *b, uint64_t *dropped, parsrec_error *err);

/* Drops users and items with fewer than `least` actions, again and again until every remaining one
 * has at least `least`. */
parsrec_status pr_assembly_filter(pr_assembly *b, uint64_t least, parsrec_import_report *report,
                                  parsrec_error *err);

#endif
