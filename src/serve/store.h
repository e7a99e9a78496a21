/* What the server must not lose: events, and who is to be forgotten. Threads share a store; several
 * servers may share a database. */
#ifndef SERVE_STORE_H
#define SERVE_STORE_H

#include "base/status.h"

typedef struct store store;

/* Items that a user put into a basket, by keys, so that an event outlives the model of its day. */
typedef struct store_event {
    const char *user;    /* not empty */
    const char *session; /* NULL: one of its own */
    const char *const *items;
    size_t count;
    int64_t time; /* seconds since 1970, as the shop says; STORE_NO_TIME where it does not */
} store_event;

#define STORE_NO_TIME INT64_MIN

enum {
    STORE_NAME_MOST = 1024
}; /* bytes of a user's key, or a session's name; an index has a limit */

/* "sqlite:FILE" or "postgresql://...". Makes what is missing. No message shows a password. */
parsrec_status store_open(store **out, const char *url, parsrec_error *err);
/* Not while another thread uses it. NULL is fine. */
void store_close(store *s);

/* All of them or none, durable when it returns. Threads that come together share one commit. Texts are
 * UTF-8. After E_IO it is not known whether the events were stored. */
parsrec_status store_append(store *s, const store_event *events, size_t count, parsrec_error *err);

/* Removes the user's events for good and remembers that the user was forgotten at this point. */
parsrec_status store_forget(store *s, const char *user, parsrec_error *err);

/* An event, or word that `event.user` is to be forgotten, with everything that came before. */
typedef struct store_entry {
    uint64_t number; /* rises from entry to entry */
    bool forget;     /* event has no items */
    bool own;        /* came in through this very `store` since it was opened */
    store_event event;
} store_entry;

/* Lives for the call, and must not call the store. Anything but OK ends the replay with that status. */
typedef parsrec_status store_visit(void *context, const store_entry *entry, parsrec_error *err);

/* Visits all entries after number `after` (0: all) in order; *last is that of the last one visited, or
 * `after`. Whoever asks again with `after` = *last misses nothing, whatever other servers add meanwhile. */
parsrec_status store_replay(store *s, uint64_t after, store_visit *visit, void *context,
                            uint64_t *last, parsrec_error *err);

/* Whether the store answers, for /readyz. */
parsrec_status store_check(store *s, parsrec_error *err);

#endif
