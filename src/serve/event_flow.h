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
/* Starts a thread that follows events added by other servers. */
parsrec_status event_flow_follow(app *a, parsrec_error *err);
void event_flow_close(app *a);

/* Events are durable and part of the histories on return. *stored as in store_append. */
parsrec_status event_flow_append(app *a, const store_event *events, size_t count, size_t *stored,
                                 parsrec_error *err);
parsrec_status event_flow_forget(app *a, const char *user, parsrec_error *err);

/* Replays the store into an engine, then makes it the current engine, with no event lost in
 * between. */
parsrec_status event_flow_put(app *a, engine *e, parsrec_error *err);

/* "up", "down" or "none", as last seen by events and the following thread. Does not wait for the
 * store. */
const char *event_flow_state(const app *a);

#endif
