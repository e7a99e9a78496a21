/* Sessions are found by their keys, actions are appended in the order of the input. */
#include "import/gather.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

enum { USER_BYTES = sizeof(uint32_t) };

void pr_gather_seal(pr_gather *g)
{
    pr_intern_free(&g->keys);
    pr_free(g->key_session);
    pr_free(g->scratch);
    g->key_session = NULL;
    g->scratch = NULL;
}

void pr_gather_free(pr_gather *g)
{
    pr_gather_seal(g);
    pr_free(g->action_items);
    pr_free(g->runs);
    pr_free(g->session_user);
    pr_free(g->session_time);
    *g = (pr_gather){0};
}

pr_slice pr_gather_key(const pr_gather *g, size_t k, uint32_t *user)
{
    pr_slice key = pr_intern_name(&g->keys, k);
    memcpy(user, key.bytes, USER_BYTES);
    return (pr_slice){key.bytes + USER_BYTES, key.size - USER_BYTES};
}

static parsrec_status new_session(pr_gather *g, uint32_t user, int64_t time, uint32_t *session,
                                  parsrec_error *err)
{
    if (g->sessions >= UINT32_MAX)
        return pr_fail(err, PARSREC_E_LIMIT, "more than 2^32 - 1 sessions");
    PR_TRY(pr_grow(&g->session_user, &g->user_capacity, g->sessions + 1, sizeof *g->session_user,
                   err));
    PR_TRY(pr_grow(&g->session_time, &g->time_capacity, g->sessions + 1, sizeof *g->session_time,
                   err));
    g->session_user[g->sessions] = user;
    g->session_time[g->sessions] = time;
    *session = (uint32_t)g->sessions++;
    return PARSREC_OK;
}

/* The session of a user and a text, created if it is new. */
static parsrec_status keyed_session(pr_gather *g, uint32_t user, pr_slice text, int64_t time,
                                    uint32_t *session, parsrec_error *err)
{
    uint32_t key;
    size_t before = g->keys.count, size = USER_BYTES + text.size;
    PR_TRY(pr_grow(&g->scratch, &g->scratch_capacity, size, 1, err));
    memcpy(g->scratch, &user, USER_BYTES);
    memcpy(g->scratch + USER_BYTES, text.bytes, text.size);
    PR_TRY(pr_grow(&g->key_session, &g->key_capacity, before + 1, sizeof *g->key_session, err));
    PR_TRY(pr_intern_add(&g->keys, (pr_slice){g->scratch, size}, &key, err));
    if (g->keys.count > before)
        PR_TRY(new_session(g, user, time, &g->key_session[key], err));
    *session = g->key_session[key];
    g->last_key = key;
    return PARSREC_OK;
}

static bool continues_session(const pr_gather *g, uint32_t user, pr_slice text)
{
    uint32_t owner;
    return g->actions > 0 && g->last_key != SIZE_MAX && user == g->last_user &&
           pr_slice_equal(text, pr_gather_key(g, g->last_key, &owner));
}

static parsrec_status find_session(pr_gather *g, uint32_t user, pr_slice text, int64_t time,
                                   uint32_t *session, parsrec_error *err)
{
    if (text.size == 0) {
        g->last_key = SIZE_MAX;
        return new_session(g, user, time, session, err);
    }
    if (continues_session(g, user, text))
        *session = g->last_session;
    else
        PR_TRY(keyed_session(g, user, text, time, session, err));
    if (time < g->session_time[*session])
        g->session_time[*session] = time;
    return PARSREC_OK;
}

static parsrec_status append(pr_gather *g, uint32_t session, uint32_t item, parsrec_error *err)
{
    pr_gather_run *run = g->run_count > 0 ? &g->runs[g->run_count - 1] : NULL;
    if (run == NULL || run->session != session || run->count == UINT32_MAX) {
        PR_TRY(pr_grow(&g->runs, &g->run_capacity, g->run_count + 1, sizeof *g->runs, err));
        run = &g->runs[g->run_count++];
        *run = (pr_gather_run){session, 0};
    }
    PR_TRY(pr_grow(&g->action_items, &g->action_capacity, g->actions + 1, sizeof *g->action_items,
                   err));
    run->count++;
    g->action_items[g->actions++] = (int32_t)item;
    return PARSREC_OK;
}

parsrec_status pr_gather_add(pr_gather *g, const pr_action *action, parsrec_error *err)
{
    uint32_t session;
    PR_TRY(find_session(g, action->user, action->session, action->time, &session, err));
    g->last_user = action->user;
    g->last_session = session;
    return append(g, session, action->item, err);
}

parsrec_status pr_gather_again(pr_gather *g, uint32_t item, parsrec_error *err)
{
    assert(g->actions > 0 && g->last_key != SIZE_MAX);
    return append(g, g->last_session, item, err);
}

size_t pr_gather_bytes(const pr_gather *g)
{
    size_t per_key = sizeof *g->key_session + sizeof *g->keys.offsets + 2 * sizeof *g->keys.slots;
    size_t key_bytes = g->keys.count > 0 ? (size_t)g->keys.offsets[g->keys.count] : 0;
    return g->actions * sizeof *g->action_items + g->run_count * sizeof *g->runs +
           g->sessions * (sizeof *g->session_user + sizeof *g->session_time) +
           g->keys.count * per_key + key_bytes;
}
