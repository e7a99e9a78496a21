/* What users bought before now.
 *
 * pr_histories is a read-only view: the columns of a data set, or of another data set matched to
 * its numbers by keys. pr_live_histories grows while it is read: a base that never changes, and
 * after it what was added since (by a server's events). Nothing of the base is copied until a
 * history with additions is asked for.
 *
 * Any number of threads may read and write a pr_live_histories: one lock, which a reader holds
 * while it copies one history into its own pr_history_copy. The copy stays as it was when it was
 * read. */
#ifndef PR_HISTORIES_H
#define PR_HISTORIES_H

#include <assert.h>

#include "base/hash.h"
#include "base/intern.h"
#include "data/batch.h"
#include "data/container.h"
#include "data/dataset.h"

/* ---- histories of a data set ---- */

typedef struct pr_histories {
    size_t users;
    const int64_t *user_offsets, *session_offsets; /* as in a data set; sessions may be empty */
    const int32_t *items;
    const int64_t *times;          /* of sessions, in seconds since 1970; NULL: not known */
    int64_t first_time, last_time; /* of all; PR_NO_TIME: not known */
    void *block;                   /* what they own, if anything */
    uint64_t stamp;                /* no other histories of this process have the same */
} pr_histories;

/* A stamp that this process has not used before. */
uint64_t pr_history_stamp(void);

/* A view of the data set. */
pr_histories pr_histories_of(const pr_dataset *data);

/* The histories in `data` in the numbering of `users` and `items`. New users get the next numbers
 * and are added; a user whom `data` lacks has an empty history; unknown items are left out. */
parsrec_status pr_histories_match(pr_histories *out, const pr_dataset *data, pr_intern *users,
                                  const pr_intern *items, parsrec_pasts_report *report,
                                  parsrec_error *err);
void pr_histories_free(pr_histories *histories); /* a zeroed one is fine */

static inline pr_history pr_user_history(const pr_histories *histories, int32_t user)
{
    assert(user >= 0 && (size_t)user < histories->users);
    const int64_t *first = histories->session_offsets + histories->user_offsets[user];
    size_t sessions = (size_t)(histories->user_offsets[user + 1] - histories->user_offsets[user]);
    return (pr_history){
        .items = histories->items != NULL ? histories->items + first[0] : NULL, /* nobody bought */
        .count = (size_t)(first[sessions] - first[0]),
        .sessions = first,
        .session_count = sessions,
        .times = histories->times != NULL ? histories->times + histories->user_offsets[user] : NULL,
        .now = PR_NO_TIME};
}

/* What a user of a data set bought before one of the user's sessions. */
static inline pr_history pr_history_before(const pr_dataset *data, size_t user, size_t session)
{
    assert(user < data->users && (int64_t)session >= data->user_offsets[user] &&
           (int64_t)session <= data->user_offsets[user + 1]);
    const int64_t *first = data->session_offsets + data->user_offsets[user];
    size_t sessions = session - (size_t)data->user_offsets[user];
    bool dated = data->time_kind == PARSREC_TIME_UNIX;
    return (pr_history){.items = data->action_items != NULL ? data->action_items + first[0] : NULL,
                        .count = (size_t)(first[sessions] - first[0]),
                        .sessions = first,
                        .session_count = sessions,
                        .times = dated ? data->times + data->user_offsets[user] : NULL,
                        .now = dated && (int64_t)session < data->user_offsets[user + 1]
                                   ? data->times[session]
                                   : PR_NO_TIME};
}

/* ---- a history as a sequence of tokens ---- */

/* Of the items low..end-1 of a history, the first of the newest ones that fit into `room` tokens. A
 * token is an item or, with `separated`, the break between two sessions. A sequence begins with an
 * item. `sessions` of the history may run on beyond its items; sets *tokens to the number used. */
size_t pr_history_newest(const pr_history *history, size_t low, size_t end, size_t room,
                         bool separated, size_t *tokens);

/* Writes the items from..end-1 and, with `separated`, `separator` before each item that begins a
 * session, except the first. Returns how many tokens. */
size_t pr_history_tokens(int32_t *out, const pr_history *history, size_t from, size_t end,
                         bool separated, int32_t separator);

/* ---- histories that grow ---- */

typedef struct pr_live_histories pr_live_histories;

/* A table with a row per item; each history has the sum of its items' rows, kept up to date with
 * every item that is added. */
typedef struct pr_live_rows {
    const float *table; /* NULL: no sums are kept */
    size_t width;
    bool mean; /* histories have the mean, not the sum */
} pr_live_rows;

/* `base`, `users`, whose numbers it is in, and the table must outlive it and not change; `items`
 * bounds the numbers of items. */
parsrec_status pr_live_new(pr_live_histories **out, const pr_histories *base,
                           const pr_intern *users, size_t items, const pr_live_rows *rows,
                           parsrec_error *err);
void pr_live_free(pr_live_histories *live); /* NULL is fine */

/* Adds to the session of that name, NULL for a session of its own. The session is of the first known
 * `time`; PR_NO_TIME: not known. Items below 0 are left out; all
 * others must be below `items`. Nothing is changed on failure. */
parsrec_status pr_live_add(pr_live_histories *live, pr_slice user, const char *session,
                           int64_t time, const int32_t *items, size_t count, parsrec_error *err);

/* Puts items into an open basket, which is not part of the history. What pr_live_add adds under the
 * same name leaves it. Only the newest few of a user are kept; one without a name is not. */
parsrec_status pr_live_cart(pr_live_histories *live, pr_slice user, const char *session,
                            const int32_t *items, size_t count, parsrec_error *err);

/* Drops what was added, and hides what the base has, for good. */
parsrec_status pr_live_forget(pr_live_histories *live, pr_slice user, parsrec_error *err);
/* The same for the user whose key has this hash (base/hash.h), if there is one. The secret is
 * the same in all calls. */
parsrec_status pr_live_forget_hash(pr_live_histories *live, const uint8_t secret[PR_SIPHASH_BYTES],
                                   const uint8_t hash[PR_SIPHASH_BYTES], parsrec_error *err);
/* Whether what the base has of this user is hidden. */
bool pr_live_forgotten(pr_live_histories *live, pr_slice user);

/* Numbers go up to, not including, this one. */
size_t pr_live_users(pr_live_histories *live);

/* False for a user who is not known, or was forgotten and has bought nothing and opened no basket
 * since. */
bool pr_live_find(pr_live_histories *live, pr_slice user, int32_t *number);

/* Calls with each user who is known, in order of numbers, until it returns false. The key lives for
 * the call, which must not come back here. */
typedef bool pr_live_visit(void *context, int32_t user, pr_slice key, size_t sessions);
void pr_live_each(pr_live_histories *live, pr_live_visit *visit, void *context);

/* A history as it was when it was read. Begins zeroed; one thread reuses it. */
typedef struct pr_history_copy {
    int32_t *items;
    int64_t *sessions, *times;
    size_t item_capacity, session_capacity, time_capacity;
    float *vector; /* [width]: sum or mean of the rows of its items ... */
    size_t vector_capacity;
    bool has_vector;    /* ... where something was added and sums are kept */
    pr_history history; /* of `items`, or of the base where nothing was added */
    bool own_row;       /* false once the user was forgotten */
    uint64_t stamp;     /* different histories of a user have different stamps, also those of other
                         * live histories and bases */
} pr_history_copy;

void pr_history_copy_free(pr_history_copy *copy); /* a zeroed one is fine */

/* The history of a user number below pr_live_users, without the session of that name, if not
 * NULL. */
parsrec_status pr_live_history(pr_live_histories *live, int32_t user, const char *without,
                               pr_history_copy *copy, parsrec_error *err);

/* The items of one session so far, in the order they were added, those of its open basket last,
 * into a list that grows; the newest `most` where there are more, none where there is no session of
 * that name. */
parsrec_status pr_live_session(pr_live_histories *live, int32_t user, const char *name, size_t most,
                               int32_t **items, size_t *capacity, size_t *count,
                               parsrec_error *err);

/* ---- live histories as a file ---- */

/* With it a server does not replay all events of its store when it starts.
 *
 * A file has what was added, by users' keys and items' numbers: it fits the base and the catalogue
 * that it was made with, and the store whose events were added, and says which. Users of whom
 * nothing was added are not in it, nor are those who were forgotten, except that the base has them:
 * then it says only that. docs/format.md has the format. */

#define PR_LIVE_FORMAT "parsrec.histories"
enum { PR_LIVE_VERSION = 1 };

/* `catalogue` is the checksum of the data that number the items. Sets the counts of the note. */
parsrec_status pr_live_file_save(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, const char *path, parsrec_error *err);

/* Fills live histories to which nothing was added. The note names the store and the base; E_INPUT
 * for a file of another store, base or catalogue. Takes the container over. On failure nothing was
 * added. */
parsrec_status pr_live_file_load(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, pr_container *file, parsrec_error *err);

/* Checks everything that does not depend on a base. Takes the container over. */
parsrec_status pr_live_file_inspect(pr_container *file, parsrec_error *err);

#endif
