/* How good the served model is: evaluated in the background together with counting models. One thread
 * works at a time; a reload stops it and starts again with the new model. The last complete table stays
 * available meanwhile. */
#ifndef SERVE_QUALITY_H
#define SERVE_QUALITY_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "serve/engine.h"

typedef struct quality {
    pthread_mutex_t lock;
    json_t *table;     /* of the last model whose evaluation finished; NULL: none yet */
    json_t *baselines; /* that model and counting models in every protocol */
    char failure[512]; /* why the last evaluation failed; "" if it did not */
    pthread_t thread;
    bool running;   /* or ended and not yet joined */
    struct stat at; /* the model file that is evaluated */
    atomic_bool stop;
} quality;

void quality_init(quality *q);
void quality_free(quality *q); /* stops the work first */

/* Starts to evaluate the engine's model and abandons work on an older one. If the file is the same as
 * before, the evaluation that runs continues. Holds a reference to the engine. Not to be called by two
 * threads at once. */
void quality_start(quality *q, engine *e);

/* {"ready":true,"models":[...]}, or {"ready":false} with the reason if there is one; NULL when out of
 * memory. */
json_t *quality_json(quality *q);

#endif
