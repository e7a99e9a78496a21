/* What live histories are made of, for live_histories.c and live_file.c.
 * Additions are kept apart from the base, which is copied only when a history with both is asked
 * for. */
#ifndef PR_LIVE_INSIDE_H
#define PR_LIVE_INSIDE_H

#include <pthread.h>

#include "data/histories.h"

enum {
    PR_CARTS_MOST = 4, /* open baskets of a user; the oldest makes room */
    /* The newest sessions of a user, which may still grow. Some shops send all their guests under one key:
     * without a limit, each of its events would be compared with a million names. */
    PR_SESSIONS_OPEN = 1000,
};

/* Names of sessions are remembered by 128 bits of hash, with the seed of the live histories, which a
 * file keeps; 0 is no name. */
typedef struct pr_mark {
    uint64_t low, high;
} pr_mark;

typedef struct pr_added_session {
    pr_mark name;
    size_t end;     /* of its items among the user's */
    int64_t time;   /* PR_NO_TIME: not known */
    uint64_t stamp; /* a new one with every change */
} pr_added_session;

/* An open basket: what is in it, apart from what was bought under the same name. */
typedef struct pr_added_cart {
    pr_mark name;
    int32_t *items;
    size_t count, capacity;
} pr_added_cart;

typedef struct pr_added {
    int32_t *items;
    pr_added_session *sessions;
    size_t count, capacity, session_count, session_capacity;
    float *sum; /* of the rows of these items and of those in the base; NULL: not made yet */
    pr_added_cart carts[PR_CARTS_MOST]; /* newest last */
    size_t cart_count;
    bool forgotten; /* the base says nothing of this user */
    uint64_t stamp; /* sum of the sessions' stamps, and one more if forgotten; 0: as in the base */
} pr_added;

/* Users by the hash of their key, for those who are forgotten by it. */
typedef struct pr_added_index {
    uint8_t (*hashes)[PR_SIPHASH_BYTES]; /* [capacity], of users by number */
    size_t capacity, count;              /* users so far that it has */
    uint32_t *slots;                     /* number + 1; 0 is free */
    size_t slot_count;                   /* a power of two, at least twice the users */
} pr_added_index;

struct pr_live_histories {
    pthread_rwlock_t lock;
    const pr_histories *base;
    const pr_intern *base_users;
    pr_live_rows rows;
    pr_intern users;     /* who are not in the base; their numbers begin after its */
    pr_added **shoppers; /* [users so far, at least], NULL for those of whom there is nothing new */
    size_t shopper_count;
    pr_added_index by_hash; /* empty until a user is forgotten */
    size_t items;           /* numbers of items are below */
    uint8_t *held;          /* [items]: 0 but while a basket is looked at */
    uint64_t seed;          /* of the names of sessions */
};

/* The number of a key, a new one if need be; and what is known of a number. The caller holds the
 * lock for writing. */
parsrec_status pr_live_number(pr_live_histories *live, pr_slice key, size_t *number,
                              parsrec_error *err);
parsrec_status pr_live_added(pr_live_histories *live, size_t user, pr_added **out,
                             parsrec_error *err);
/* The key of a number below pr_live_users. The caller holds the lock. */
pr_slice pr_live_key(const pr_live_histories *live, size_t user);
/* Drops everything that was added. The caller holds the lock for writing. */
void pr_live_clear(pr_live_histories *live);

#endif
