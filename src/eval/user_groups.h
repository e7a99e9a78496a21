/* Groups of users: by feature, by purchases, by cluster or by key. Explanations and what-if studies
 * report by group; evaluation reads lists of users from files.
 *
 *   everybody           all users
 *   truth               the groups that synthetic data were generated with, each under its name
 *   FEATURE=VALUE       a user feature: a word, a number, or LOW..HIGH for numbers
 *   NAME=FILE           keys in a file, one per line, where there is no feature NAME
 *   buyers:CATEGORY     who bought from the category, or one below it, in a training session
 *   cluster:N           N groups of users whom the model treats alike
 *   user:KEY            one user
 *
 * Every kind of specification marks members[users]; a group is made of the marks. */
#ifndef PR_USER_GROUPS_H
#define PR_USER_GROUPS_H

#include "data/dataset.h"

typedef struct pr_user_group {
    char *name; /* the specification, or NAME of NAME=FILE; a true group or cluster has its own */
    char *
        label; /* for readers: "buyers of WINE", the key of a user, else the name (web/src/groups.js) */
    int32_t *users; /* ascending; at least one */
    size_t count;
} pr_user_group;

/* Groups may overlap; their names differ. */
typedef struct pr_user_groups {
    pr_user_group *list;
    size_t count, capacity;
} pr_user_groups;

/* What groups are made from. */
typedef struct pr_group_source {
    const pr_dataset *data;
    size_t last; /* sessions of a user kept for the test (data/split.h), at least 1 */
    /* Clusters the users of a model. `cluster` has an element per row of the model's user table: on
     * entry 0, or -1 for users who stay out because the data have no session of them. The others
     * get 0..clusters-1. NULL: there is no model, and cluster:N fails. */
    parsrec_status (*cluster)(void *context, int32_t *cluster, size_t clusters, parsrec_error *err);
    void *context;
} pr_group_source;

/* Without specifications there is one group, everybody. Free also on failure. */
parsrec_status pr_user_groups_init(pr_user_groups *groups, const pr_group_source *from,
                                   const char *const *specs, size_t count, parsrec_error *err);
void pr_user_groups_free(pr_user_groups *groups); /* a zeroed one is fine */

/* A group by its name, or NULL. */
const pr_user_group *pr_user_group_named(const pr_user_groups *groups, pr_slice name);

/* Sets members[users] to whether the user's key is in a file: one key per line, or the first column
 * of a CSV file, also compressed, with or without a header "user". E_INPUT for a key that the data
 * set does not have. */
parsrec_status pr_user_list_read(bool *members, const char *path, const pr_dataset *data,
                                 parsrec_error *err);

#endif
