/* A data set in the numbering of another one, as a model needs it that was trained on the other: matched by
 * the keys of users and items. Later data of the same shop have new users, new items and another order; one
 * mapping serves evaluation, explanation and what-if alike.
 *
 * The catalogue (keys, names, categories and features of items) is the other's. Items it does not have are
 * left out, and with them sessions that have no other item. Users come in the order of the other, then those it
 * does not have; `known_as` says which is which. So a reordered copy of the same data gives the same data
 * set, down to the numbers of sessions. Columns of users and sessions that the other has come first, in its
 * order and with its codes; columns of its own follow. */
#ifndef PR_DATASET_MATCH_H
#define PR_DATASET_MATCH_H

#include "data/dataset_without.h"

typedef struct pr_match_facts {
    bool same; /* the same users, items and columns under the same numbers: nothing was copied */
    size_t unknown_users, unknown_items, unknown_actions;
    size_t lost_sessions; /* that had unknown items only */
} pr_match_facts;

/* Both data sets must outlive the result. E_INPUT if they have no item in common. */
parsrec_status pr_dataset_match(pr_pruned *out, pr_match_facts *facts, const pr_dataset *data,
                                const pr_dataset *onto, parsrec_error *err);

/* What was unknown, as one sentence; empty if nothing was. Cut to size. Returns buffer. */
char *pr_match_sentence(const pr_match_facts *facts, const pr_dataset *data, char *buffer,
                        size_t size);

#endif
