/* The path of events: first into the store, then from the store into the live histories of the
 * engine, in the store's order. So an engine that is loaded later, this server after a restart, and
 * other servers on the same store all reach the same histories. */
#ifndef SERVE_EVENT_FLOW_H
#define SERVE_EVENT_FLOW_H

#include "serve/app.h"
#include "serve/store.h"

void event_flow_init(app *a);
/* Opens the store of the options on the first call. Having no store is fine. */
parsrec_status event_flow_open(app *a, parsrec_error *err);
/* The same, but a missing file is an error. */
parsrec_status event_flow_open_existing(app *a, parsrec_error *err);
/* Starts a thread that follows events added by other servers. */
parsrec_status event_flow_follow(app *a, parsrec_error *err);
void event_flow_close(app *a);

/* Events are durable and part of the histories on return. */
parsrec_status event_flow_append(app *a, const store_event *events, size_t count,
                                 store_receipt *receipt, parsrec_error *err);
parsrec_status event_flow_forget(app *a, const char *user, store_receipt *receipt,
                                 parsrec_error *err);

/* Waits until the current engine has the store's events up to this number, which the receipt of any
 * server on the store has named; at most until pr_now() is `until`. E_STOPPED when the time is
 * over, E_INPUT when the store has no such number. */
parsrec_status event_flow_await(app *a, uint64_t number, double until, parsrec_error *err);

/* Replays the store into an engine, then makes it the current engine, with no event lost in
 * between. */
parsrec_status event_flow_put(app *a, engine *e, parsrec_error *err);

/* Where the histories of a model are folded: MODEL.histories. False if the name is too long. */
enum { FOLD_PATH_MOST = 4096 };
bool event_flow_fold_path(char out[FOLD_PATH_MOST], const char *model);
/* What the engine's live histories are made of. */
parsrec_status event_flow_note(const app *a, const engine *e, parsrec_live_note *note,
                               parsrec_error *err);

/* "up", "down" or "none", as last seen by events and the following thread. Does not wait for the
 * store. */
const char *event_flow_state(const app *a);

#endif
