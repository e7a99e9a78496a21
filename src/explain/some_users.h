/* A part of a group that stands for all of it. */
#ifndef PR_SOME_USERS_H
#define PR_SOME_USERS_H

#include "eval/user_groups.h"

/* Every n-th user of the group, n the least that leaves about baskets_most baskets or fewer; all of them for
 * 0. The name is the group's own. Free `some->users` with pr_free, also on failure. */
parsrec_status pr_some_users(pr_user_group *some, const pr_user_group *group,
                             const pr_dataset *data, uint64_t baskets_most, parsrec_error *err);

#endif
