/* Events on their way: into the store first, then from the store into the live pasts of the engine, in the
 * store's order. So an engine that is loaded later, this server after a restart, and other servers on the
 * same store all come to the same pasts. */
#ifndef SERVE_EVENT_FLOW_H
#define SERVE_EVENT_FLOW_H

#include "serve/app.h"
#include "serve/store.h"

void event_flow_init(app *a);
/* Opens the store of the options, the first time it is called; none is fine. */
parsrec_status event_flow_open(app *a, parsrec_error *err);
/* Begins to follow what other servers add, in a thread of its own. */
parsrec_status event_flow_follow(app *a, parsrec_error *err);
void event_flow_close(app *a);

/* Stored for good and part of the pasts when it returns; *stored as in store_append. */
parsrec_status event_flow_append(app *a, const store_event *events, size_t count, size_t *stored,
                                 parsrec_error *err);
parsrec_status event_flow_forget(app *a, const char *user, parsrec_error *err);

/* Brings an engine to the end of the store, then makes it the current engine, with no event in between. */
parsrec_status event_flow_put(app *a, engine *e, parsrec_error *err);

/* "up", "down" or "none", as events and the thread that follows found it last; does not wait for the store. */
const char *event_flow_state(const app *a);

#endif
