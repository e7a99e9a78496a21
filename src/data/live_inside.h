/* What live histories are made of.
 * Additions are kept apart from the base, which is copied only when a history with both is asked
 * for. */
#ifndef PR_LIVE_INSIDE_H
#define PR_LIVE_INSIDE_H

#include <pthread.h>

#include "data/histories.h"

enum { CARTS_MOST = 4 }; /* open baskets of a user; the oldest makes room */

/* Names of sessions are remembered by 128 bits of seeded hash; 0 is no name. */
typedef struct mark {
    uint64_t low, high;
} mark;

typedef struct session {
    mark name;
    size_t end;     /* of its items among the user's */
    uint64_t stamp; /* a new one with every change */
} session;

/* An open basket: what is in it, apart from what was bought under the same name. */
typedef struct cart {
    mark name;
    int32_t *items;
    size_t count, capacity;
} cart;

typedef struct shopper {
    int32_t *items;
    session *sessions;
    size_t count, capacity, session_count, session_capacity;
    float *sum; /* of the rows of these items and of those in the base; NULL: not made yet */
    cart carts[CARTS_MOST]; /* newest last */
    size_t cart_count;
    bool forgotten; /* the base says nothing of this user */
    uint64_t stamp; /* sum of the sessions' stamps, and one more if forgotten; 0: as in the base */
} shopper;

/* Users by the hash of their key, for those who are forgotten by it. */
typedef struct hash_index {
    uint8_t (*hashes)[PR_SIPHASH_BYTES]; /* [capacity], of users by number */
    size_t capacity, count;              /* users so far that it has */
    uint32_t *slots;                     /* number + 1; 0 is free */
    size_t slot_count;                   /* a power of two, at least twice the users */
} hash_index;

struct pr_live_histories {
    pthread_rwlock_t lock;
    const pr_histories *base;
    const pr_intern *base_users;
    pr_live_rows rows;
    pr_intern users;    /* who are not in the base; their numbers begin after its */
    shopper **shoppers; /* [users so far, at least], NULL for those of whom there is nothing new */
    size_t shopper_count;
    hash_index by_hash; /* empty until a user is forgotten */
    uint8_t *held;      /* [items]: 0 but while a basket is looked at */
};

#endif
