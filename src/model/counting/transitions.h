/* Links between items: which items go with an item, and how often; a sparse matrix, row by row.
 *
 * A model gets its links in this order, because the memory of all its parameters is one block:
 *   pr_transitions_layout   lists the parameters; their number of rows is still open
 *   pr_links_count(_by)     counts into memory of its own (pr_links)
 *   pr_transitions_size     sets the rows
 *   (the kind allocates the weights)
 *   pr_transitions_set      copies the links into them; pr_links_free
 * and reads them through pr_transitions_of. A model from a file is checked by pr_transitions_verify.
 *
 * Counting takes the time of all pairs that share a session, a window or a user. It keeps one dense
 * row of sums at a time, so its memory is that of the links kept and of one number per item. */
#ifndef PR_TRANSITIONS_H
#define PR_TRANSITIONS_H

#include "data/split.h"
#include "model/model.h"

typedef enum pr_link_kind {
    PR_WITHIN,   /* in the same session, in any order */
    PR_ACROSS,   /* in the user's next session */
    PR_TOGETHER, /* in the same session, in any order; every session counts 1 for each pair */
    PR_AFTER,    /* later in the user's sequence of items, d places later counting 1 / d^fade */
    PR_BY_USER,  /* bought by the same user; every user counts 1 for each pair */
} pr_link_kind;

/* What is counted, and what is kept of it. */
typedef struct pr_link_rule {
    pr_link_kind kind;
    size_t width;    /* links kept per item, the strongest */
    size_t steps;    /* PR_AFTER: how far apart, at most, ... */
    double fade;     /* ... how much less that counts, ... */
    bool both_sides; /* ... and whether earlier places count too */
    size_t newest;   /* PR_BY_USER: how many of the newest purchases of a user count; 0: all */
    /* The strength of a link from the number of sessions, places or users that had each item, and the count
     * of the link; 0 or less drops it. NULL: the count. */
    double (*weigh)(const void *context, double from, double to, double both);
    const void *context;
} pr_link_rule;

/* Links while they are counted. */
typedef struct pr_links {
    uint32_t *start; /* [V + 1] */
    float *total;    /* [V]: links of an item, kept or not */
    uint32_t *item;  /* [count], ascending within an item's row */
    float *times;    /* [count] */
    size_t count, item_capacity, times_capacity;
} pr_links;

/* Counts the links of every item and keeps the most frequent of each, `width` of them. A session has one
 * vote for each item, shared by what is linked to it there; PR_TOGETHER counts sessions instead. */
parsrec_status pr_links_count(pr_links *out, const pr_counted *from, pr_link_kind kind,
                              size_t width, parsrec_error *err);
/* The same by any rule; `total` is the number of sessions, places or users that had an item. */
parsrec_status pr_links_count_by(pr_links *out, const pr_counted *from, const pr_link_rule *rule,
                                 parsrec_error *err);
void pr_links_free(pr_links *links); /* a zeroed one is fine */

/* The distinct items of each user, in the order of their newest purchases, newest first; at most `newest`
 * purchases are looked at, 0 for all. */
typedef struct pr_user_sets {
    size_t users;
    uint64_t *start; /* [users + 1] */
    int32_t *item;
} pr_user_sets;
parsrec_status pr_user_sets_make(pr_user_sets *out, const pr_counted *from, size_t newest,
                                 parsrec_error *err);
void pr_user_sets_free(pr_user_sets *sets); /* a zeroed one is fine */

/* Links as parameters of a model: NAME.start, NAME.total, NAME.item and NAME.count. */
typedef struct pr_transitions {
    const uint32_t *start, *item;
    const pr_real *total, *count;
} pr_transitions;

parsrec_status pr_transitions_layout(pr_model *model, const char *name, parsrec_error *err);
parsrec_status pr_transitions_size(pr_model *model, const char *name, const pr_links *links,
                                   parsrec_error *err);
void pr_transitions_set(pr_model *model, const char *name, const pr_links *links);
parsrec_status pr_transitions_verify(const pr_model *model, const char *name, parsrec_error *err);
pr_transitions pr_transitions_of(const pr_model *model, const char *name);

#endif
