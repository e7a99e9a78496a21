/* A model that is being served, with its live histories and the scratches of its threads. Reference
 * counted: a new engine replaces the old one at once, and the old one is freed when its last
 * request has finished. */
#ifndef SERVE_ENGINE_H
#define SERVE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "base/status.h"

/* Limits of client requests. */
typedef struct engine_limits {
    size_t basket_most, k_most;
} engine_limits;

typedef struct engine {
    parsrec_model *model;
    parsrec_live *live;
    parsrec_data *own_data; /* of a data set given in addition to the model; NULL: none */
    uint64_t number;        /* of the load, from 1 */
    time_t loaded_at;
    double load_seconds;
    struct stat file; /* of the model, to detect whether it has changed */
    engine_limits limits;

    atomic_uint users;
    pthread_mutex_t idle_lock;
    parsrec_scratch **idle; /* scratches that no thread uses now */
    size_t idle_count, idle_capacity;
    bool retired; /* scratches are freed instead of kept */

    pthread_mutex_t sync_lock; /* events enter `live` in order, one thread at a time */
    /* How far the engine is in the store, whose entries are numbered. */
    atomic_uint_fast64_t seen; /* number of the last entry that went into `live` */
    uint64_t events_through;   /* entries up to this number are in the model's data already */
    uint64_t entries;          /* how many entries went into `live` (under sync_lock) ... */
    uint64_t folded;           /* ... of which this many came from MODEL.histories at once */
    atomic_uint forgotten;     /* users forgotten since it was loaded */
} engine;

typedef struct engine_files {
    const char *model, *data; /* data may be NULL */
    engine_limits limits;
} engine_files;

/* Loads and verifies everything. The caller holds the first reference. */
parsrec_status engine_load(engine **out, const engine_files *files, parsrec_error *err);
/* Makes an engine from a loaded model and takes ownership of it, also on failure. */
parsrec_status engine_new(engine **out, parsrec_model *model, engine_limits limits,
                          parsrec_error *err);
void engine_drop(engine *e); /* releases a reference; NULL is fine */
/* Drops an engine that is no longer in the slot. Idle scratches are freed at once. It then waits a
 * moment for requests that still use the engine, so that usually no request has to free it. NULL is
 * fine. */
void engine_retire(engine *e);

/* The data that relations and what-if use. */
const parsrec_data *engine_data(const engine *e);

/* A number that changes with the model and with every forgotten user: cached answers from an older
 * state must not be used. */
uint64_t engine_state(const engine *e);

/* A scratch for one thread, to be returned before the engine is dropped. */
parsrec_status engine_borrow(engine *e, parsrec_scratch **out, parsrec_error *err);
void engine_give_back(engine *e, parsrec_scratch *scratch);

/* Where all threads find the current engine. */
typedef struct engine_slot {
    pthread_mutex_t lock;
    engine *current;
    uint64_t loads;
} engine_slot;

void engine_slot_init(engine_slot *slot);
void engine_slot_free(engine_slot *slot);
engine *engine_take(engine_slot *slot); /* the caller drops it; NULL if there is none */
/* The slot takes ownership of the engine and drops the previous one. */
void engine_put(engine_slot *slot, engine *e);

#endif
