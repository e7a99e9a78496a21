/* How a model learnt, by the log beside it. */
#ifndef PR_LEARNING_H
#define PR_LEARNING_H

#include <stddef.h>

/* What the log of a training says. */
typedef struct pr_learning {
    double *epoch, *value; /* [count]: validation after each epoch */
    size_t count;
    char measure[24]; /* what value is: "NDCG@10" */
    double seconds;   /* of learning, over all runs that led here */
} pr_learning;

/* Reads the log beside a model; measure NULL: NDCG@10 or else what there is. Without a log, or with a broken
 * one, there is no curve. */
void pr_learning_read(pr_learning *learning, const char *model_path, const char *measure);
void pr_learning_free(pr_learning *learning);

#endif
