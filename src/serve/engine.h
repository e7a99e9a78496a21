/* A model that is being served, with its live histories and the scratches of threads that use it. Counted: a
 * new one takes its place at once, and the old one goes when the last request has finished with it. */
#ifndef SERVE_ENGINE_H
#define SERVE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "base/status.h"

/* Of what clients may ask. */
typedef struct engine_limits {
    size_t basket_most, k_most;
} engine_limits;

typedef struct engine {
    parsrec_model *model;
    parsrec_live *live;
    parsrec_data *own_data; /* of a data set named beside the model; NULL: none */
    uint64_t number;        /* of the load, from 1 */
    time_t loaded_at;
    double load_seconds;
    struct stat file; /* of the model, to see whether another one is the same */
    engine_limits limits;

    atomic_uint users;
    pthread_mutex_t idle_lock;
    parsrec_scratch **idle; /* memory that no thread uses now */
    size_t idle_count, idle_capacity;
    bool retired; /* nothing is kept for later any more */

    pthread_mutex_t sync_lock; /* events go into `live` in their order, by one thread at a time */
    uint64_t seen;             /* the store's number of the last event that `live` has */
    uint64_t events_through;   /* up to this number, the data of the model has them already */
    atomic_uint forgotten;     /* users, since it was loaded */
} engine;

typedef struct engine_files {
    const char *model, *data; /* data may be NULL */
    engine_limits limits;
} engine_files;

/* Loads and checks everything; the caller is its first user. */
parsrec_status engine_load(engine **out, const engine_files *files, parsrec_error *err);
/* Around a model that was made elsewhere and is taken over, also on failure. */
parsrec_status engine_new(engine **out, parsrec_model *model, engine_limits limits,
                          parsrec_error *err);
void engine_drop(engine *e); /* one user less; NULL is fine */
/* Drops an engine that is not in the slot any more. What threads had of it goes at once, and so does the rest as
 * soon as those who still use it are done, for whom this waits a moment: no request has to tidy up. NULL is fine. */
void engine_retire(engine *e);

/* What relations and what-if walk through. */
const parsrec_data *engine_data(const engine *e);

/* A number that changes with the model and with every user who is forgotten: an answer about the
 * old state must not be given again. */
uint64_t engine_state(const engine *e);

/* A thread's memory, to be given back before the engine is dropped. */
parsrec_status engine_borrow(engine *e, parsrec_scratch **out, parsrec_error *err);
void engine_give_back(engine *e, parsrec_scratch *scratch);

/* The place where all threads find the current engine. */
typedef struct engine_slot {
    pthread_mutex_t lock;
    engine *current;
    uint64_t loads;
} engine_slot;

void engine_slot_init(engine_slot *slot);
void engine_slot_free(engine_slot *slot);
engine *engine_take(engine_slot *slot); /* the caller drops it; NULL while there is none */
/* The slot takes the engine over and drops the one before. */
void engine_put(engine_slot *slot, engine *e);

#endif
