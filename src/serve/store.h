/* What the server must not lose: events, and who is to be forgotten. Threads share a store; several
 * servers may share a database. */
#ifndef SERVE_STORE_H
#define SERVE_STORE_H

#include "base/siphash.h"
#include "base/status.h"

typedef struct store store;

/* What a user did with the items of an event. Stored by these names. */
#define STORE_TYPES(X) \
    X(BUY, "buy")      \
    X(CART, "cart")    \
    X(VIEW, "view")

typedef enum store_type {
#define X(name, text) STORE_##name,
    STORE_TYPES(X)
#undef X
        STORE_TYPE_COUNT
} store_type;

extern const char *const store_type_names[STORE_TYPE_COUNT];
/* False for a name that is not one of them. */
bool store_type_of(const char *name, store_type *type);

/* Items that a user bought, put into a basket or looked at, by keys, so that an event outlives the model of
 * its day. */
typedef struct store_event {
    const char *user;    /* not empty */
    const char *session; /* NULL: one of its own */
    const char *const *items;
    const double *quantities; /* [count]; NULL: one of each */
    size_t count;
    int64_t time; /* seconds since 1970; STORE_NO_TIME: not known, in stores of old */
    store_type type;
    const char *id; /* of two events of a user with the same id, the first is stored; NULL: none */
} store_event;

#define STORE_NO_TIME INT64_MIN

enum {
    STORE_NAME_MOST = 1024
}; /* bytes of a user's key, a session's name or an event's id; an index has a limit */

/* "sqlite:FILE" or "postgresql://...". Makes what is missing, and brings a store that an older parsrec wrote
 * to today's form. No message shows a password. */
parsrec_status store_open(store **out, const char *url, parsrec_error *err);
/* The same, but a file that is not there is an error. */
parsrec_status store_open_existing(store **out, const char *url, parsrec_error *err);
/* Not while another thread uses it. NULL is fine. */
void store_close(store *s);

/* Drawn when the store was made, and the same for all who open it. */
typedef struct store_identity {
    char id[2 * PR_SIPHASH_BYTES + 1]; /* tells stores apart: "9f86d081884c7d65..." */
    uint8_t secret[PR_SIPHASH_BYTES];  /* keys the hashes of users who were forgotten */
} store_identity;

const store_identity *store_identity_of(const store *s);

/* All of them or none, durable when it returns. Threads that come together share one commit. Texts are
 * UTF-8. *stored, unless NULL, is how many were new: the others have an id that was stored before. After E_IO
 * it is not known whether the events were stored. */
parsrec_status store_append(store *s, const store_event *events, size_t count, size_t *stored,
                            parsrec_error *err);

/* Removes the user's events for good and remembers, by a hash of the key, that the user was forgotten at this
 * point. */
parsrec_status store_forget(store *s, const char *user, parsrec_error *err);

/* An event, or word that a user is to be forgotten, with everything that came before. */
typedef struct store_entry {
    uint64_t number;                     /* rises from entry to entry */
    bool forget;                         /* there is no event */
    bool own;                            /* came in through this very `store` since it was opened */
    uint8_t user_hash[PR_SIPHASH_BYTES]; /* forget: of whose key, with the store's secret */
    store_event event;                   /* without its id */
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
