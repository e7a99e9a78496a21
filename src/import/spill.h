/* Actions set aside in a file, for an import that is larger than the memory it may use.
 *
 * Each action goes to one of PR_SPILL_PARTS parts, chosen by the user's number, so that a part holds
 * all actions of its users in the order of the input. A part is small enough to be gathered and
 * assembled in memory as a whole import would be. Its baskets go to a second file; from there they
 * are merged in the order of users into the columns of the data set, which are files as well.
 * The result is the same, byte for byte, as that of an import in memory, unless another order is asked
 * for: that of a data set in shards (data/shards.h).
 *
 * All of these are files without a name (base/files.h): nothing is left behind when the program is
 * killed. In memory are the names of users and items, a few numbers for each of them, a buffer per
 * part, and one part. */
#ifndef PR_SPILL_H
#define PR_SPILL_H

#include "base/status.h"
#include "import/assembly.h"
#include "import/gather.h"

enum { PR_SPILL_PARTS = 256 };

typedef struct pr_spill pr_spill;

/* Another order than that of the input, for results that must not depend on it: users and items get
 * other numbers, and the actions of a user are taken by time, then by the key of the session, then by
 * item. */
typedef struct pr_spill_order {
    uint32_t *user_from; /* [users]: the number in the input of each user of the result */
    uint32_t *item_from; /* [items]: the same for items */
    uint32_t *item_to;   /* [items]: the reverse */
    bool rows_ordered;   /* actions of one time and session stay in the order of the input */
} pr_spill_order;

/* The files are made beside `path`, the result of the import. */
parsrec_status pr_spill_open(pr_spill **out, const char *path, parsrec_error *err);
void pr_spill_free(pr_spill *spill); /* NULL is fine */

parsrec_status pr_spill_add(pr_spill *spill, const pr_action *action, parsrec_error *err);
/* Sets aside what was gathered in memory until now, and frees it. The time of each action becomes
 * that of its session, which changes no result: only the earliest time of a session is used. */
parsrec_status pr_spill_take(pr_spill *spill, pr_gather *gathered, parsrec_error *err);

/* How baskets are made of the actions; as the parsrec_import_options of the same names. */
typedef struct pr_spill_rules {
    parsrec_session_rule session_rule;
    int64_t session_gap;
    uint64_t min_actions;
    const pr_spill_order *order; /* NULL: that of the input */
} pr_spill_rules;

/* Makes the baskets, once, after the last action: all that pr_assembly_make, _join, _unique and
 * _filter do, with numbers of users and items below `users` and `items`. The columns of sessions and
 * actions are views of files (pr_assembly.files). `b` must be freed also on failure. */
parsrec_status pr_spill_assemble(pr_spill *spill, pr_assembly *b, size_t users, size_t items,
                                 const pr_spill_rules *rules, parsrec_import_report *report,
                                 const parsrec_hooks *hooks, parsrec_error *err);

#endif
