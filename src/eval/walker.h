/* The basket walker: takes baskets through a model step by step, many side by side, on all threads
 * of a pool. Evaluation, what-if studies and explanations differ only in what they do at a step.
 *
 * A walk is a number of tasks. A task is a list of baskets that one thread walks from the first
 * step to the last:
 *
 *   list(task)                         the caller writes down the task's baskets
 *   the walker sorts them, most steps first, and puts as many side by side as the scorer has rows;
 *   for each such group
 *       begin(basket)                  for each basket of the group, before its rows are started
 *       for each step of its longest basket
 *           scores of all items        unless the walk wants none
 *           step(basket, items)        for each basket that still has a step; the caller reads the
 *                                      scores and says what is placed
 *           the items are placed
 *   end(task)
 *
 * Tasks run in rounds. After each round `collect` is called on the calling thread, where the
 * results of its tasks can be added in a fixed order. So memory for results is bounded by a round,
 * and the results do not depend on the number of threads: a group's scores depend on its baskets
 * only, and which baskets form a group depends on the lists only.
 *
 * Rows. A basket takes one row of the scorer, or several where variants of it run side by side (one
 * item left out in each, say); all rows of a basket start alike and are placed into by the same
 * call of `step`. A group never splits a basket. Baskets of similar length share a group, because a
 * row that has ended costs as much as one that has not. With `long_rows`, groups whose first basket
 * has more than PR_WALK_SHORT steps have fewer rows, so that the keys of an attention model fit in
 * the cache. A task may have baskets of both kinds; one that has many long baskets takes a thread
 * longer than others.
 *
 * Threads. `list`, `begin`, `step` and `end` run on any thread, all calls of one task on the same
 * one. `worker` is the number of the thread: use it to pick scratch memory of your own, made before
 * the walk for pr_pool_threads() workers. The walker allocates nothing once the first task runs,
 * and callbacks should not either. `collect` and the hooks are called on the thread that called
 * pr_walk_run. */
#ifndef PR_WALKER_H
#define PR_WALKER_H

#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "model/model.h"

enum {
    PR_WALK_SHORT = 64,         /* steps; what has more is long */
    PR_WALK_UNSCORED = 1 << 30, /* as `scored_from`: the walk wants no scores of all items */
};

/* One basket of a task. It starts with the user's history before `session` and with the features of
 * that session. What is placed need not be the items of the session. */
typedef struct pr_walk_basket {
    uint32_t user, session;
    uint32_t steps; /* at least 1. Items are placed between steps, not after the last one */
    uint32_t rows;  /* of the scorer, at least 1 */
    uint32_t index; /* the caller's number for it; where steps are equal, the smaller comes first */
} pr_walk_basket;

/* Where a walk stands when it calls back. */
typedef struct pr_walk_step {
    size_t task;
    unsigned worker;
    const pr_walk_basket *basket;
    const pr_start *start; /* how its rows began: user, history, features */
    size_t number;         /* of the step, from 0 */
    pr_scorer *scorer;     /* not started yet in `begin` */
    size_t row;            /* the basket's first row in the scorer */
    /* [basket->rows, items]: the score of every item as the next one. The callback may change them.
     * NULL before step `scored_from` and in `begin`. */
    pr_real *scores;
} pr_walk_step;

typedef struct pr_walk {
    const pr_model *model;
    const pr_dataset *data; /* its items are the model's, by number; pr_known_user maps its users */

    size_t tasks, tasks_per_round; /* at least one per round */
    size_t task_most;              /* baskets of the largest task */
    size_t rows;         /* the most rows of a group, at least 1; a basket never has more */
    size_t long_rows;    /* the same for long groups, at most `rows`; 0: no difference is made */
    size_t longest;      /* steps of the longest basket */
    size_t scored_from;  /* first step that wants scores of all items, or PR_WALK_UNSCORED */
    const char *stage;   /* of the progress reports, which count baskets */
    const char *note;    /* of the progress reports; or NULL */
    size_t basket_count; /* of all tasks */

    void *context; /* first argument of the callbacks; those that may be NULL say so */
    /* Writes the baskets of a task into out[task_most] and returns how many. On entry `rows` is 1
     * and `index` the position in `out`, so only user, session and steps must be set. */
    size_t (*list)(void *context, size_t task, unsigned worker, pr_walk_basket *out);
    void (*begin)(void *context, const pr_walk_step *at); /* or NULL */
    /* Sets items[basket->rows] to what is placed into each row, -1 for nothing. On entry they are
     * all -1; after the last step they are ignored. */
    void (*step)(void *context, const pr_walk_step *at, int32_t *items);
    /* Not called for a task that was stopped. Or NULL. */
    void (*end)(void *context, size_t task, unsigned worker);
    /* After a round of tasks first..first+count-1; not called for a round that was stopped. */
    parsrec_status (*collect)(void *context, size_t first, size_t count,
                              parsrec_error *err); /* or NULL */
} pr_walk;

/* Runs all tasks. E_STOPPED when the hooks ask for it, at the latest after the groups under way. */
parsrec_status pr_walk_run(const pr_walk *walk, pr_pool *pool, const parsrec_hooks *hooks,
                           parsrec_error *err);

/* Memory that a walk takes with this number of threads, for an estimate beforehand. */
size_t pr_walk_bytes(const pr_walk *walk, unsigned threads);

/* The most rows, at least 1 and at most `most`, with which a step has no more than `scores_most`
 * scores: one per row and item. */
size_t pr_walk_rows_within(size_t most, size_t items, size_t scores_most);

#endif
