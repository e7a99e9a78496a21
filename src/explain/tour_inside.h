/* What the files of the tour share: tasks, and a thread's memory for them. */
#ifndef PR_TOUR_INSIDE_H
#define PR_TOUR_INSIDE_H

#include <stdatomic.h>

#include "explain/tour.h"

/* Neighbouring users of the group, walked through by one thread. */
typedef struct pr_tour_task {
    size_t first, end; /* in group->users */
    size_t baskets;    /* of two items or more */
    size_t weights;    /* attention weights of all their steps */
} pr_tour_task;

/* One basket of a task. */
typedef struct pr_tour_basket {
    int32_t user;
    uint32_t size; /* items looked at */
    int64_t session;
    size_t weights; /* where its attention stands: of step t at weights + t (t - 1) / 2 */
    size_t row;     /* its first row in the session under way */
} pr_tour_basket;

/* How far all threads are together. */
typedef struct pr_tour_watch {
    atomic_size_t baskets; /* done */
    atomic_bool stop; /* the caller wants no more: tasks end early, their sums are worth nothing */
    size_t total;
    const char *group;
    const parsrec_hooks *hooks;
    parsrec_error *err; /* with the sentence once it was stopped */
} pr_tour_watch;

/* Memory of one thread. */
typedef struct pr_tour_desk {
    pr_scorer *session;
    size_t rows;
    pr_tour_watch *watch;
    bool reports;             /* this thread, the caller's, calls the hooks */
    pr_start *starts;         /* [rows] */
    int32_t *items;           /* [rows] */
    pr_real *scores, *work;   /* [rows,V], [V] */
    double *mass;             /* [2,N+1]: with all items, and without one */
    double *logs;             /* [2,N]: of the chances of classes, likewise */
    bool *held;               /* [N+1]: classes in the basket; all false between steps */
    double *effect;           /* [basket_most]: of each placed item on the next one */
    pr_tour_basket *baskets;  /* by size, largest first ... */
    pr_tour_basket *unsorted; /* ... and as they come */
    float *weights;
    double *user, *user_even; /* [N,N]: attention of one user */
    uint32_t *stamp;          /* [V]: one more than the last user of the task who placed the item */
    size_t *distinct;         /* [N]: items of a class that the user placed */
} pr_tour_desk;

/* Adds the task's share to sums, which begin as zero. */
void pr_tour_do(pr_tour_sums *sums, const pr_tour *tour, const pr_tour_task *task,
                pr_tour_desk *desk);

/* Attention of the task's baskets, user by user, once the weights are there. */
void pr_tour_add_attention(pr_tour_sums *sums, const pr_tour *tour, const pr_tour_task *task,
                           pr_tour_desk *desk);

static inline size_t pr_tour_size(const pr_tour *tour, int64_t session)
{
    const int64_t *at = tour->data->session_offsets + session;
    size_t size = (size_t)(at[1] - at[0]);
    return size < tour->basket_most ? size : tour->basket_most;
}

static inline const int32_t *pr_tour_items(const pr_tour *tour, int64_t session)
{
    return tour->data->action_items + tour->data->session_offsets[session];
}

/* Steps of a basket with a basket to look at, and the weights of all of them. */
static inline size_t pr_tour_weights(size_t size)
{
    return size * (size - 1) / 2;
}

#endif
