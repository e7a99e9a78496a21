/* The state of an open session of PARSRec, for the files that step it and that read scores off it. */
#ifndef PR_PARSREC_STATE_H
#define PR_PARSREC_STATE_H

#include "model/parsrec/parsrec_kept.h"
#include "model/parsrec/parsrec_ready.h"
#include "model/repeats.h"

enum { PR_ARNN_LIKELY = 1024 }; /* items at most that are looked at twice, to find the best */

typedef struct pr_arnn_state {
    pr_arnn_net net;
    const pr_arnn_ready *ready;         /* NULL: rows are steps of the plain network */
    pr_real *joint;                     /* [rows,dv + dq] */
    pr_real *fresh[PR_ARNN_MAX_LAYERS]; /* [rows,2dq]: keys and values just projected */
    pr_real *kept[PR_ARNN_MAX_LAYERS];  /* [rows,capacity,2dq] */
    pr_real *hidden;                    /* [rows,dv]: after the present step */
    pr_real *memory;                    /* [rows,dv]: what an lstm keeps then */
    size_t *at;                         /* [capacity]: 0, 1, 2, ... */
    size_t *keys, *placed;              /* [rows] */
    int32_t *ids;                       /* [rows] */
    int32_t *chosen;            /* [rows,capacity]: what was placed, or the start of a basket */
    int32_t *bag_items, *slots; /* [V] */
    pr_real *bag_weights;
    int32_t *had;      /* [rows,V]: items of each row's past, had_count of them */
    size_t *had_count; /* [rows] */
    pr_real (*recall)[PR_REPEAT_FEATURES]; /* [rows,V] */
    pr_real *expected;                     /* [rows,V], or NULL */
    pr_arnn_kept lately;                   /* no slots: nothing is kept */
    pr_coarse_query query;                 /* of one row that was made ready */
    int32_t *likely;                       /* [V]: items that may be among the best ... */
    pr_real *exact;                        /* [PR_ARNN_LIKELY]: ... and their scores */
    /* What is there of the present step: outputs; and of each row that was made ready, normed sums and next
     * hidden states. A row with a twin has what the twin has, until one of them goes its own way. */
    bool ran, *looked, *moved; /* [rows] */
    size_t *twin, *list;       /* [rows]: itself, or a row before it; rows to work on */
    pr_real *room;             /* see pr_arnn_rows */
} pr_arnn_state;

/* Runs the present step, unless it has been. */
void pr_arnn_run(pr_scorer *session);
/* Rows that leave something out have the same past, most of them. */
bool pr_arnn_same_past(const pr_start *a, const pr_start *b);

/* ---- sessions of few rows, by what the model has ready ---- */

/* After histories and users are set. `known`: what users bring to the cell is set too. */
void pr_arnn_quick_begin(pr_scorer *session, const pr_start *starts, bool known);
/* The next hidden states, of rows that are nobody's twin. */
void pr_arnn_quick_moves(pr_scorer *session);
/* Rows that place something else than their twins go their own way; NULL: all rows do. */
void pr_arnn_quick_part(pr_scorer *session, const int32_t *items);
/* Outputs of all rows. */
void pr_arnn_quick_run(pr_scorer *session);

#endif
