/* Durable state of the server: events, and which users were forgotten. Threads may share a store;
 * several servers may share a database. */
#ifndef SERVE_STORE_H
#define SERVE_STORE_H

#include "base/hash.h"
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

/* Items that a user bought, put into a basket or viewed. They are stored by key, so that an event
 * does not depend on the model in use. */
typedef struct store_event {
    const char *user;    /* not empty */
    const char *session; /* NULL: a separate session */
    const char *const *items;
    const double *quantities; /* [count]; NULL: 1 each */
    size_t count;
    int64_t time; /* seconds since 1970; STORE_NO_TIME: unknown, only in old stores */
    store_type type;
    const char *id; /* of two events of a user with the same id, the first is stored; NULL: none */
} store_event;

#define STORE_NO_TIME INT64_MIN

enum {
    STORE_NAME_MOST = 1024
}; /* bytes of a user key, session name or event id; database indexes have a limit */

/* "sqlite:FILE" or "postgresql://...". Creates what is missing and upgrades a store written by an
 * older version. No message contains a password. */
parsrec_status store_open(store **out, const char *url, parsrec_error *err);
/* The same, but a missing file is an error. */
parsrec_status store_open_existing(store **out, const char *url, parsrec_error *err);
/* No other thread may be using it. NULL is fine. */
void store_close(store *s);

/* Random, generated when the store is created; the same for all who open it. */
typedef struct store_identity {
    char id[2 * PR_SIPHASH_BYTES + 1]; /* identifies the store: "9f86d081884c7d65..." */
    uint8_t secret[PR_SIPHASH_BYTES];  /* keys the hashes of forgotten users */
} store_identity;

const store_identity *store_identity_of(const store *s);

/* What was stored. */
typedef struct store_receipt {
    size_t stored; /* new events; the others have an id that was already stored */
    uint64_t last; /* who has replayed the store up to this number has all of them */
} store_receipt;

/* Appends all events or none; they are durable on return. Concurrent calls share one commit. Texts
 * are UTF-8. The receipt may be NULL. After E_IO it is unknown whether the events were stored. */
parsrec_status store_append(store *s, const store_event *events, size_t count,
                            store_receipt *receipt, parsrec_error *err);

/* Deletes the user's events and records, by a hash of the key, that the user was forgotten at this
 * point. */
parsrec_status store_forget(store *s, const char *user, store_receipt *receipt, parsrec_error *err);

/* An event, or a record that a user was forgotten, with all events before it. */
typedef struct store_entry {
    uint64_t number;                     /* increases with every entry */
    bool forget;                         /* a user was forgotten; `event` is not set */
    bool own;                            /* added through this `store` object */
    uint8_t user_hash[PR_SIPHASH_BYTES]; /* forget: hash of the key, with the store's secret */
    store_event event;                   /* without its id */
} store_entry;

/* The entry is valid during the call. The callback must not call the store. Any status but OK ends
 * the replay with that status. */
typedef parsrec_status store_visit(void *context, const store_entry *entry, parsrec_error *err);

/* Visits all entries after number `after` (0: all) in order. *last is the number of the last one
 * visited, or `after`. A later call with `after` = *last misses no entry, even if other servers add
 * some in between. */
parsrec_status store_replay(store *s, uint64_t after, store_visit *visit, void *context,
                            uint64_t *last, parsrec_error *err);

/* Waits until there may be something new to replay, for at most so long, or until store_wake. *news
 * is the number of the newest entry that a server announced, STORE_ANYTHING where only a replay can
 * tell, 0 after store_wake alone. One thread at a time. A replay after a call that returned OK, and
 * before the next, misses nothing that was committed before the call: a lost connection ends in an
 * error or in STORE_ANYTHING, never in silence. */
#define STORE_ANYTHING UINT64_MAX
parsrec_status store_wait(store *s, int milliseconds, uint64_t *news, parsrec_error *err);
void store_wake(store *s); /* from any thread */

/* The number of the newest entry; 0 in an empty store. */
parsrec_status store_newest(store *s, uint64_t *number, parsrec_error *err);

/* Whether the store is reachable, for /readyz. */
parsrec_status store_check(store *s, parsrec_error *err);

#endif
