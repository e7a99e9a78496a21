/* Actions as numbers, gathered into sessions in the order of the input. This takes 4 bytes per
 * action, 8 per run of actions of one session, 12 per session, and the keys of sessions.
 *
 * A pr_gather begins zeroed. After the last action pr_gather_seal frees the keys, and
 * pr_assembly_make takes the rest. */
#ifndef PR_GATHER_H
#define PR_GATHER_H

#include "base/intern.h"
#include "base/status.h"
#include "base/text.h"

typedef struct pr_action {
    uint32_t user, item;
    int64_t time;
    pr_slice session; /* key of the session among those of the user; empty: a session of its own */
} pr_action;

/* Consecutive actions of one session. */
typedef struct pr_gather_run {
    uint32_t session, count;
} pr_gather_run;

typedef struct pr_gather {
    pr_intern keys;        /* of sessions: the user's number in 4 bytes, then the key */
    uint32_t *key_session; /* [keys.count] */
    int32_t *action_items;
    pr_gather_run *runs;
    uint32_t *session_user;
    int64_t *session_time; /* of its earliest action */
    size_t actions, run_count, sessions;
    size_t key_capacity, action_capacity, run_capacity, user_capacity, time_capacity;

    /* The action before, since most actions have the same user and session. */
    uint32_t last_user, last_session;
    size_t last_key; /* SIZE_MAX: none */
    char *scratch;   /* for composed keys */
    size_t scratch_capacity;
} pr_gather;

void pr_gather_free(pr_gather *g); /* a zeroed one is fine */

parsrec_status pr_gather_add(pr_gather *g, const pr_action *action, parsrec_error *err);
/* The same for an action with the user, the time and the key of the one before. */
parsrec_status pr_gather_again(pr_gather *g, uint32_t item, parsrec_error *err);

/* Frees the keys of sessions. No action can be added and no key asked for afterwards. */
void pr_gather_seal(pr_gather *g);

/* Key k and its user. */
pr_slice pr_gather_key(const pr_gather *g, size_t k, uint32_t *user);

/* About how much memory the actions take, spare room of arrays not counted. */
size_t pr_gather_bytes(const pr_gather *g);

#endif
