/* Users are drawn in small teams, one team per task, so that a category's factor stays in the cache
 * while the base utilities of a team are made. */
#include "synth/synth.h"

#include <string.h>

#include "base/hooks.h"
#include "base/memory.h"

enum { TEAM = 8, TEAMS_A_ROUND = 32 };

/* Scratch memory of one thread. */
typedef struct desk {
    pr_shopper shopper;
    double *work;
    float *base; /* [TEAM, items] when base utilities are not kept */
} desk;

typedef struct drawing {
    const parsrec_synth_options *options;
    const pr_market *market;
    const pr_choice *choice;
    pr_baskets *out;
    desk *desks;
    uint8_t *sizes; /* [users, sessions]: items of each trip, 0 for none */
    size_t room;    /* items kept free for each user; those bought are at its beginning */
    size_t first_team;
} drawing;

static size_t most_in_basket(const parsrec_synth_options *o)
{
    return o->categories < PR_SYNTH_BASKET_MOST ? (size_t)o->categories : PR_SYNTH_BASKET_MOST;
}

double pr_baskets_bytes(const parsrec_synth_options *o, bool keep_base)
{
    double users = (double)o->users, sessions = users * (double)o->sessions;
    double items = (double)o->categories * (double)o->products;
    double a_session = 4.0 * (double)most_in_basket(o) + 1 + 2 * sizeof(int64_t);
    return sessions * a_session + users * (12 + (keep_base ? 4 * items : 0));
}

/* ---- drawing ---- */

static void draw_user(const drawing *d, desk *own, size_t user, const float *base)
{
    size_t sessions = (size_t)d->options->sessions;
    int32_t *items = d->out->items + user * d->room;
    pr_shopper_become(&own->shopper, d->choice, user, (size_t)d->out->group[user], base);
    for (size_t s = 0; s < sessions; s++) {
        size_t count = pr_shopper_trip(&own->shopper, d->choice, s, NULL, items);
        d->sizes[user * sessions + s] = (uint8_t)count;
        items += count;
    }
}

static void draw_team(void *context, size_t task, unsigned worker)
{
    const drawing *d = context;
    desk *own = &d->desks[worker];
    size_t items = d->market->categories * d->market->products;
    size_t first = (d->first_team + task) * TEAM;
    size_t count = d->out->users - first < TEAM ? d->out->users - first : TEAM;
    float *base = d->out->base != NULL ? d->out->base + first * items : own->base;
    for (size_t c = 0; c < d->market->categories; c++)
        for (size_t i = 0; i < count; i++)
            pr_market_utilities(base + i * items + c * d->market->products, d->market, first + i, c,
                                own->work);
    for (size_t i = 0; i < count; i++)
        draw_user(d, own, first + i, base + i * items);
}

static parsrec_status draw_all(drawing *d, pr_pool *pool, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    size_t users = d->out->users, teams = (users + TEAM - 1) / TEAM;
    for (d->first_team = 0; d->first_team < teams; d->first_team += TEAMS_A_ROUND) {
        PR_TRY(pr_progress(hooks, "drawing baskets", "users", d->first_team * TEAM, users, err));
        size_t left = teams - d->first_team;
        pr_pool_run(pool, draw_team, d, left < TEAMS_A_ROUND ? left : TEAMS_A_ROUND);
    }
    return PARSREC_OK;
}

/* ---- columns ---- */

static void count_sessions(drawing *d)
{
    size_t sessions = (size_t)d->options->sessions;
    for (size_t i = 0; i < d->out->users * sessions; i++) {
        d->out->sessions += d->sizes[i] > 0;
        d->out->actions += d->sizes[i];
    }
}

/* Moves the items together and writes the offsets; trips not made leave nothing. */
static parsrec_status pack(drawing *d, parsrec_error *err)
{
    pr_baskets *out = d->out;
    size_t trips = (size_t)d->options->sessions, session = 0, at = 0;
    count_sessions(d);
    out->user_offsets = pr_alloc(out->users + 1, sizeof *out->user_offsets);
    out->session_offsets = pr_alloc(out->sessions + 1, sizeof *out->session_offsets);
    out->times = pr_alloc(out->sessions, sizeof *out->times);
    if (out->user_offsets == NULL || out->session_offsets == NULL || out->times == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < out->users; u++) {
        size_t begin = at;
        out->user_offsets[u] = (int64_t)session;
        for (size_t t = 0; t < trips; t++) {
            size_t count = d->sizes[u * trips + t];
            if (count == 0)
                continue;
            out->session_offsets[session] = (int64_t)at;
            out->times[session++] = (int64_t)t;
            at += count;
        }
        memmove(out->items + begin, out->items + u * d->room, (at - begin) * sizeof *out->items);
    }
    out->user_offsets[out->users] = (int64_t)session;
    out->session_offsets[session] = (int64_t)at;
    return PARSREC_OK;
}

/* ---- memory ---- */

static parsrec_status reserve(drawing *d, bool keep_base, unsigned threads, parsrec_error *err)
{
    pr_baskets *out = d->out;
    size_t items = d->market->categories * d->market->products, trips, cells;
    if (pr_mul_overflows(out->users, (size_t)d->options->sessions, &trips) ||
        pr_mul_overflows(out->users, items, &cells))
        return pr_fail_memory(err);
    d->sizes = pr_alloc(trips, sizeof *d->sizes);
    d->desks = pr_alloc_zero(threads, sizeof *d->desks);
    out->group = pr_alloc(out->users, sizeof *out->group);
    out->items = pr_alloc(trips, most_in_basket(d->options) * sizeof *out->items);
    out->base = keep_base ? pr_alloc(cells, sizeof *out->base) : NULL;
    if (d->sizes == NULL || d->desks == NULL || out->group == NULL || out->items == NULL ||
        (keep_base && out->base == NULL))
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads; i++) {
        desk *own = &d->desks[i];
        PR_TRY(pr_shopper_init(&own->shopper, d->choice, err));
        own->work = pr_alloc(2 * d->market->products, sizeof *own->work);
        own->base = pr_alloc(keep_base ? 0 : TEAM * items, sizeof *own->base);
        if (own->work == NULL || own->base == NULL)
            return pr_fail_memory(err);
    }
    return PARSREC_OK;
}

static void release(drawing *d, unsigned threads)
{
    for (unsigned i = 0; d->desks != NULL && i < threads; i++) {
        pr_shopper_free(&d->desks[i].shopper);
        pr_free(d->desks[i].work);
        pr_free(d->desks[i].base);
    }
    pr_free(d->desks);
    pr_free(d->sizes);
}

parsrec_status pr_baskets_draw(pr_baskets *baskets, const parsrec_synth_options *options,
                               const pr_groups *groups, const pr_market *market,
                               const pr_choice *choice, bool keep_base, pr_pool *pool,
                               const parsrec_hooks *hooks, parsrec_error *err)
{
    *baskets = (pr_baskets){.users = (size_t)options->users};
    drawing d = {.options = options, .market = market, .choice = choice, .out = baskets};
    d.room = (size_t)options->sessions * most_in_basket(options);
    parsrec_status status;
    PR_TRY_GOTO(reserve(&d, keep_base, pr_pool_threads(pool), err));
    for (size_t g = 0, u = 0; g < groups->count; g++)
        for (size_t end = pr_group_end(groups, g, baskets->users); u < end; u++)
            baskets->group[u] = (int32_t)g;
    PR_TRY_GOTO(draw_all(&d, pool, hooks, err));
    status = pack(&d, err);
done:
    release(&d, pr_pool_threads(pool));
    return status;
}

void pr_baskets_free(pr_baskets *baskets)
{
    pr_free(baskets->user_offsets);
    pr_free(baskets->session_offsets);
    pr_free(baskets->times);
    pr_free(baskets->items);
    pr_free(baskets->group);
    pr_free(baskets->base);
    *baskets = (pr_baskets){0};
}
