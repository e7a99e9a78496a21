/* How good the served model is: evaluated in the background, beside models that only count. */
#ifndef SERVE_QUALITY_H
#define SERVE_QUALITY_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "serve/engine.h"

typedef struct quality {
    pthread_mutex_t lock;
    json_t *table;     /* of the newest model that was evaluated; NULL: none yet */
    json_t *baselines; /* that model beside counts in every protocol */
    char failure[512]; /* why there is none */
    pthread_t thread;
    bool running;   /* or ended, and not yet joined */
    struct stat at; /* the file it is about */
    atomic_bool stop;
} quality;

void quality_init(quality *q);
void quality_free(quality *q); /* stops the work first */

/* Starts to evaluate the engine's model and abandons work on an older one. If the file is the same as before,
 * the evaluation under way continues. Holds a reference to the engine. One call at a time. */
void quality_start(quality *q, engine *e);

/* {"ready":true,"models":[...]}, or {"ready":false} with the reason if there is one; NULL when out of
 * memory. */
json_t *quality_json(quality *q);

#endif
