/* Data sets derived from others: some users left out, or the numbering of another data set.
 *
 * Both copy the columns of users, sessions and actions and share the rest with their arguments: the
 * catalogue (keys, names, categories and features of items), and texts such as the names of
 * features. All data sets passed in must outlive the result. */
#ifndef PR_DATASET_EDIT_H
#define PR_DATASET_EDIT_H

#include "base/memory.h"
#include "data/dataset.h"

typedef struct pr_derived {
    pr_dataset data;
    pr_region region; /* holds the copied columns */
} pr_derived;

/* Frees the copies, not the data sets that the result was made from; a zeroed one is fine. */
void pr_derived_free(pr_derived *derived);

/* Leaves out the users with gone[user] set: their keys, sessions and features. The others keep their
 * order. Values of features that no remaining user or session has are dropped too. */
parsrec_status pr_dataset_without(pr_derived *out, const pr_dataset *from, const bool *gone,
                                  parsrec_error *err);

/* ---- splits by time and by users ---- */

/* What a split tests. */
typedef struct pr_split_facts {
    parsrec_split_by by; /* never auto */
    int64_t time;
    size_t returning; /* users with two sessions before the time and one from then on */
    size_t beginning; /* users who begin from that time on */
} pr_split_facts;

/* Splits a data set in place, as parsrec_data_split does. */
parsrec_status pr_dataset_split_at(pr_dataset *data, int64_t time, parsrec_split_by by,
                                   pr_split_facts *facts, parsrec_error *err);
parsrec_status pr_dataset_split_days(pr_dataset *data, uint64_t days, parsrec_split_by by,
                                     pr_split_facts *facts, parsrec_error *err);
/* Users with tests[user] set test, and the newest of the others validate. */
parsrec_status pr_dataset_split_users(pr_dataset *data, const bool *tests, parsrec_error *err);

/* What may be learnt from after such a split: the data without those who test. */
parsrec_status pr_dataset_without_tests(pr_derived *out, const pr_dataset *from,
                                        parsrec_error *err);

/* ---- the numbering of another data set ---- */

typedef struct pr_match_facts {
    bool same; /* users, items and columns had the same numbers already: nothing was copied */
    size_t unknown_users, unknown_items, unknown_actions;
    size_t lost_sessions; /* that had only unknown items */
} pr_match_facts;

/* `data` in the numbering of `onto`, as a model that was trained on `onto` needs it; users and
 * items are matched by their keys. Later data of the same shop have new users, new items and
 * another order: one mapping serves evaluation, explanation and what-if.
 *
 * The catalogue is that of `onto`. Items it does not have are left out, and with them sessions that
 * have no other item. Users come in the order of `onto`, then those it does not have; `known_as`
 * says which is which. So a reordered copy of the same data gives the same data set, down to the
 * numbers of sessions. Columns of users and sessions that `onto` has come first, in its order and
 * with its codes; columns of its own follow. E_INPUT if the two have no item in common. */
parsrec_status pr_dataset_match(pr_derived *out, pr_match_facts *facts, const pr_dataset *data,
                                const pr_dataset *onto, parsrec_error *err);

/* What was unknown, as one sentence; empty if nothing was. Cut to size. Returns buffer. */
char *pr_match_sentence(const pr_match_facts *facts, const pr_dataset *data, char *buffer,
                        size_t size);

#endif
