/* Users are drawn in small batches, one batch per task, so that a category's factor stays in the cache
 * while the base utilities of a batch are made. A round of batches is drawn in memory and appended to
 * the files. */
#include "synth/synth.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { BATCH = 8, BATCHES_PER_ROUND = 32, ROUND = BATCH * BATCHES_PER_ROUND };

/* Scratch memory of one thread. */
typedef struct scratch {
    pr_shopper shopper;
    double *work;
} scratch;

typedef struct drawing {
    const parsrec_synth_options *options;
    const pr_market *market;
    const pr_choice *choice;
    pr_baskets *out;
    scratch *scratches;
    bool keep_base;
    size_t room;  /* items kept free for each user; those bought are at its beginning */
    size_t first; /* user of the round */
    /* Of the users of a round. */
    int32_t *items; /* [ROUND, room] */
    float *base;    /* [ROUND, items of the market] */
    uint8_t *sizes; /* [ROUND, sessions]: items of each trip, 0 for none */
} drawing;

static size_t most_in_basket(const parsrec_synth_options *o)
{
    return o->categories < PR_SYNTH_BASKET_MOST ? (size_t)o->categories : PR_SYNTH_BASKET_MOST;
}

double pr_baskets_bytes(const parsrec_synth_options *o)
{
    double items = (double)o->categories * (double)o->products;
    double per_user = (double)o->sessions * (4.0 * (double)most_in_basket(o) + 1) + 4 * items;
    return 12 * (double)o->users + ROUND * per_user;
}

/* ---- drawing ---- */

static void draw_user(const drawing *d, scratch *own, size_t place)
{
    size_t sessions = (size_t)d->options->sessions, user = d->first + place;
    int32_t *items = d->items + place * d->room;
    pr_shopper_become(&own->shopper, d->choice, user, (size_t)d->out->group[user],
                      d->base + place * d->market->categories * d->market->products);
    for (size_t s = 0; s < sessions; s++) {
        size_t count = pr_shopper_trip(&own->shopper, d->choice, s, NULL, items);
        d->sizes[place * sessions + s] = (uint8_t)count;
        items += count;
    }
}

static void draw_batch(void *context, size_t task, unsigned worker)
{
    const drawing *d = context;
    scratch *own = &d->scratches[worker];
    size_t products = d->market->products, items = d->market->categories * products;
    size_t place = task * BATCH, left = d->out->users - d->first - place;
    size_t count = left < BATCH ? left : BATCH;
    for (size_t c = 0; c < d->market->categories; c++)
        for (size_t i = place; i < place + count; i++)
            pr_market_utilities(d->base + i * items + c * products, d->market, d->first + i, c,
                                own->work);
    for (size_t i = place; i < place + count; i++)
        draw_user(d, own, i);
}

/* Appends what a user of the round bought; trips not made leave nothing. */
static parsrec_status append_user(drawing *d, size_t place, parsrec_error *err)
{
    pr_baskets *out = d->out;
    size_t trips = (size_t)d->options->sessions, bought = 0;
    out->user_offsets[d->first + place] = (int64_t)out->sessions;
    for (size_t t = 0; t < trips; t++) {
        int64_t time = (int64_t)t, begin = (int64_t)(out->actions + bought);
        if (d->sizes[place * trips + t] == 0)
            continue;
        PR_TRY(pr_scratch_append(&out->files[PR_BASKET_SESSIONS], &begin, sizeof begin, err));
        PR_TRY(pr_scratch_append(&out->files[PR_BASKET_TIMES], &time, sizeof time, err));
        bought += d->sizes[place * trips + t];
        out->sessions++;
    }
    out->actions += bought;
    return pr_scratch_append(&out->files[PR_BASKET_ITEMS], d->items + place * d->room,
                             bought * sizeof *d->items, err);
}

static parsrec_status draw_all(drawing *d, pr_pool *pool, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    pr_baskets *out = d->out;
    for (d->first = 0; d->first < out->users; d->first += ROUND) {
        PR_TRY(pr_progress(hooks, "drawing baskets", "users", d->first, out->users, err));
        size_t users = out->users - d->first < ROUND ? out->users - d->first : ROUND;
        pr_pool_run(pool, draw_batch, d, (users + BATCH - 1) / BATCH);
        for (size_t i = 0; i < users; i++)
            PR_TRY(append_user(d, i, err));
        size_t cells = users * d->market->categories * d->market->products;
        if (d->keep_base)
            PR_TRY(pr_scratch_append(&out->files[PR_BASKET_BASE], d->base, cells * sizeof *d->base,
                                     err));
    }
    int64_t end = (int64_t)out->actions;
    out->user_offsets[out->users] = (int64_t)out->sessions;
    return pr_scratch_append(&out->files[PR_BASKET_SESSIONS], &end, sizeof end, err);
}

static parsrec_status map_files(pr_baskets *out, parsrec_error *err)
{
    for (int i = 0; i < PR_BASKET_FILES; i++) {
        PR_TRY(pr_scratch_flush(&out->files[i], err));
        PR_TRY(pr_scratch_map(&out->views[i], &out->files[i], err));
    }
    out->session_offsets = (const int64_t *)(const void *)out->views[PR_BASKET_SESSIONS].bytes;
    out->times = (const int64_t *)(const void *)out->views[PR_BASKET_TIMES].bytes;
    out->items = (const int32_t *)(const void *)out->views[PR_BASKET_ITEMS].bytes;
    out->base = (const float *)(const void *)out->views[PR_BASKET_BASE].bytes;
    return PARSREC_OK;
}

/* ---- memory ---- */

static parsrec_status reserve(drawing *d, const char *path, unsigned threads, parsrec_error *err)
{
    pr_baskets *out = d->out;
    size_t items = d->market->categories * d->market->products;
    size_t users = out->users < ROUND ? out->users : ROUND;
    d->sizes = pr_alloc(users, (size_t)d->options->sessions);
    d->items = pr_alloc(users, d->room * sizeof *d->items);
    d->base = pr_alloc(users, items * sizeof *d->base);
    d->scratches = pr_alloc_zero(threads, sizeof *d->scratches);
    out->group = pr_alloc(out->users, sizeof *out->group);
    out->user_offsets = pr_alloc(out->users + 1, sizeof *out->user_offsets);
    if (d->sizes == NULL || d->items == NULL || d->base == NULL || d->scratches == NULL ||
        out->group == NULL || out->user_offsets == NULL)
        return pr_fail_memory(err);
    for (unsigned i = 0; i < threads; i++) {
        scratch *own = &d->scratches[i];
        PR_TRY(pr_shopper_init(&own->shopper, d->choice, err));
        own->work = pr_alloc(2 * d->market->products, sizeof *own->work);
        if (own->work == NULL)
            return pr_fail_memory(err);
    }
    for (int i = 0; i < PR_BASKET_FILES; i++)
        PR_TRY(pr_scratch_open(&out->files[i], path, err));
    return PARSREC_OK;
}

static void release(drawing *d, unsigned threads)
{
    for (unsigned i = 0; d->scratches != NULL && i < threads; i++) {
        pr_shopper_free(&d->scratches[i].shopper);
        pr_free(d->scratches[i].work);
    }
    pr_free(d->scratches);
    pr_free(d->sizes);
    pr_free(d->items);
    pr_free(d->base);
}

parsrec_status pr_baskets_draw(pr_baskets *baskets, const parsrec_synth_options *options,
                               const pr_groups *groups, const pr_market *market,
                               const pr_choice *choice, bool keep_base, const char *path,
                               pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    *baskets = (pr_baskets){.users = (size_t)options->users};
    drawing d = {.options = options,
                 .market = market,
                 .choice = choice,
                 .out = baskets,
                 .keep_base = keep_base};
    d.room = (size_t)options->sessions * most_in_basket(options);
    parsrec_status status;
    PR_TRY_GOTO(reserve(&d, path, pr_pool_threads(pool), err));
    for (size_t g = 0, u = 0; g < groups->count; g++)
        for (size_t end = pr_group_end(groups, g, baskets->users); u < end; u++)
            baskets->group[u] = (int32_t)g;
    PR_TRY_GOTO(draw_all(&d, pool, hooks, err));
    status = map_files(baskets, err);
done:
    release(&d, pr_pool_threads(pool));
    return status;
}

void pr_baskets_free(pr_baskets *baskets)
{
    for (int i = 0; i < PR_BASKET_FILES; i++) {
        pr_file_unmap(&baskets->views[i]);
        pr_scratch_close(&baskets->files[i]);
    }
    pr_free(baskets->user_offsets);
    pr_free(baskets->group);
    *baskets = (pr_baskets){0};
}
