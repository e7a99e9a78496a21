/* Sources from counts and files, and sampling without replacement: a draw that hits a barred item
 * is made again, or all items are gone through where that would take too many draws. */
#include "eval/candidates.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "import/rows.h"

enum { PURPOSE = 0xCA4D }; /* keeps these draws apart from all others of the same seed */

/* ---- sources ---- */

void pr_source_free(pr_candidate_source *s)
{
    pr_free(s->below);
    pr_free(s->offsets);
    pr_free(s->items);
    *s = (pr_candidate_source){0};
}

parsrec_status pr_source_popular(pr_candidate_source *s, const pr_dataset *data,
                                 const pr_scope *scope, parsrec_error *err)
{
    pr_counted from = {.data = data, .scope = *scope};
    *s = (pr_candidate_source){.kind = PARSREC_CANDIDATES_POPULAR};
    s->below = pr_alloc_zero(data->items + 1, sizeof *s->below);
    if (s->below == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->session_offsets[data->user_offsets[u]];
        int64_t end = data->session_offsets[pr_counted_end(&from, u)];
        for (int64_t a = first; a < end; a++)
            s->below[data->action_items[a] + 1]++;
    }
    for (size_t i = 0; i < data->items; i++)
        s->below[i + 1] += s->below[i];
    return PARSREC_OK;
}

/* ---- lists from a file ---- */

typedef struct reading {
    const pr_dataset *data;
    pr_rows *rows;
    pr_intern users, item_keys;
    uint32_t *user; /* of each pair read */
    int32_t *item;
    size_t count, user_room, item_room;
} reading;

static parsrec_status add_pair(reading *r, uint32_t user, pr_slice key, uint64_t line,
                               parsrec_error *err)
{
    uint32_t item;
    pr_excerpt hold;
    if (!pr_intern_find(&r->item_keys, key, &item))
        return pr_rows_fail(r->rows, line, 1, err, "item %s is not in the data set",
                            pr_show(&hold, key));
    PR_TRY(pr_grow(&r->user, &r->user_room, r->count + 1, sizeof *r->user, err));
    PR_TRY(pr_grow(&r->item, &r->item_room, r->count + 1, sizeof *r->item, err));
    r->user[r->count] = user;
    r->item[r->count++] = (int32_t)item;
    return PARSREC_OK;
}

static parsrec_status add_words(reading *r, uint32_t user, pr_slice words, uint64_t line,
                                parsrec_error *err)
{
    while (words.size > 0) {
        size_t n = 0;
        while (n < words.size && words.bytes[n] != ' ')
            n++;
        if (n > 0)
            PR_TRY(add_pair(r, user, (pr_slice){words.bytes, n}, line, err));
        n += n < words.size;
        words = (pr_slice){words.bytes + n, words.size - n};
    }
    return PARSREC_OK;
}

static parsrec_status read_pairs(reading *r, parsrec_error *err)
{
    if (r->rows->column_count != 2)
        return pr_rows_fail(r->rows, 1, PR_NO_COLUMN, err,
                            "candidates have two columns, user and item, or user and items divided "
                            "by spaces; here are %zu",
                            r->rows->column_count);
    bool single = pr_slice_is(r->rows->columns[1], "item");
    for (;;) {
        pr_row row;
        bool end = false;
        uint32_t user;
        PR_TRY(r->rows->next(r->rows, &row, &end, err));
        if (end)
            return PARSREC_OK;
        if (!pr_intern_find(&r->users, row.fields[0], &user))
            continue;
        if (single)
            PR_TRY(add_pair(r, user, row.fields[1], row.line, err));
        else
            PR_TRY(add_words(r, user, row.fields[1], row.line, err));
    }
}

/* Counting sort by user; within a user the order of the file. offsets[] has one element more than
 * is used later: while the lists are filled, offsets[u + 1] is where the next item of user u goes.
 * In the end that is where the list of u ends. */
static parsrec_status sort_pairs(pr_candidate_source *s, const reading *r, parsrec_error *err)
{
    size_t users = r->data->users;
    s->offsets = pr_alloc_zero(users + 2, sizeof *s->offsets);
    s->items = pr_alloc(r->count, sizeof *s->items);
    if (s->offsets == NULL || s->items == NULL)
        return pr_fail_memory(err);
    int64_t *at = s->offsets + 1;
    for (size_t i = 0; i < r->count; i++)
        at[r->user[i] + 1]++;
    for (size_t u = 0; u < users; u++) {
        s->longest = (size_t)at[u + 1] > s->longest ? (size_t)at[u + 1] : s->longest;
        at[u + 1] += at[u];
    }
    for (size_t i = 0; i < r->count; i++)
        s->items[at[r->user[i]]++] = r->item[i];
    return PARSREC_OK;
}

parsrec_status pr_source_listed(pr_candidate_source *s, const pr_dataset *data, const char *path,
                                parsrec_error *err)
{
    reading r = {.data = data};
    pr_rows_options options = {.format = PARSREC_INPUT_AUTO};
    *s = (pr_candidate_source){.kind = PARSREC_CANDIDATES_FILE};
    parsrec_status status;
    PR_TRY_GOTO(pr_rows_open(&r.rows, path, &options, err));
    PR_TRY_GOTO(pr_intern_load(&r.users, &data->user_keys, err));
    PR_TRY_GOTO(pr_intern_load(&r.item_keys, &data->item_keys, err));
    PR_TRY_GOTO(read_pairs(&r, err));
    PR_TRY_GOTO(sort_pairs(s, &r, err));
done:
    pr_rows_free(r.rows);
    pr_intern_free(&r.users);
    pr_intern_free(&r.item_keys);
    pr_free(r.user);
    pr_free(r.item);
    return status;
}

/* ---- samplers ---- */

parsrec_status pr_candidate_sampler_init(pr_candidate_sampler *c, size_t items,
                                         const pr_candidate_source *source, uint64_t seed,
                                         bool exclude_seen, parsrec_error *err)
{
    *c = (pr_candidate_sampler){.rng = pr_rng_make(seed, PURPOSE),
                                .source = source,
                                .items = items,
                                .exclude_seen = exclude_seen};
    c->barred = pr_alloc_zero(items, sizeof *c->barred);
    c->had = pr_alloc_zero(items, sizeof *c->had);
    return c->barred == NULL || c->had == NULL ? pr_fail_memory(err) : PARSREC_OK;
}

void pr_candidate_sampler_free(pr_candidate_sampler *c)
{
    pr_free(c->barred);
    pr_free(c->had);
    *c = (pr_candidate_sampler){0};
}

/* ---- a basket ---- */

static void bar(pr_candidate_sampler *c, int32_t item)
{
    c->left -= c->barred[item] != c->basket;
    c->barred[item] = c->basket;
}

void pr_candidate_sampler_begin(pr_candidate_sampler *c, const pr_history *history,
                                const int32_t *own, size_t size, bool *seen)
{
    if (++c->basket == 0) { /* after 2^32 baskets the numbers start again */
        memset(c->barred, 0, c->items * sizeof *c->barred);
        memset(c->had, 0, c->items * sizeof *c->had);
        c->basket = 1;
    }
    c->left = c->items;
    c->drawn = false;
    for (size_t i = 0; i < history->count; i++) {
        c->had[history->items[i]] = c->basket;
        if (c->exclude_seen)
            bar(c, history->items[i]);
    }
    for (size_t i = 0; i < size; i++) {
        seen[i] = c->had[own[i]] == c->basket;
        bar(c, own[i]);
    }
}

/* ---- uniform ---- */

/* Selection sampling: goes through all items and takes each with the probability that makes all
 * subsets equally likely. It does not bar what it takes, since a basket draws only once. */
static size_t select_uniform(pr_candidate_sampler *c, pr_stream *stream, size_t wanted,
                             int32_t *out)
{
    size_t count = 0, left = c->left;
    for (size_t i = 0; i < c->items && count < wanted; i++) {
        if (c->barred[i] == c->basket)
            continue;
        if (pr_stream_below(stream, (uint32_t)left) < wanted - count)
            out[count++] = (int32_t)i;
        left--;
    }
    return count;
}

static size_t draw_uniform(pr_candidate_sampler *c, pr_stream *stream, size_t wanted, int32_t *out)
{
    if (wanted > c->left)
        wanted = c->left;
    if (wanted > c->left / 2) /* most draws would hit a barred item in the end */
        return select_uniform(c, stream, wanted, out);
    for (size_t count = 0; count < wanted;) {
        uint32_t item = pr_stream_below(stream, (uint32_t)c->items);
        if (c->barred[item] == c->basket)
            continue;
        bar(c, (int32_t)item);
        out[count++] = (int32_t)item;
    }
    return wanted;
}

/* ---- by popularity ---- */

/* A whole number below mass, all equally likely. */
static uint64_t draw_below(pr_stream *stream, uint64_t mass)
{
    uint64_t at = (uint64_t)(pr_stream_unit(stream) * (double)mass);
    return at < mass ? at : mass - 1;
}

/* The item that action number `at` belongs to, where actions are numbered item by item. */
static size_t item_at(const pr_candidate_source *s, size_t items, uint64_t at)
{
    size_t low = 0, high = items; /* below[low] <= at < below[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->below[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* 0 for an item that may not be drawn. */
static uint64_t actions_of(const pr_candidate_sampler *c, size_t item)
{
    const uint64_t *below = c->source->below;
    return c->barred[item] == c->basket ? 0 : below[item + 1] - below[item];
}

/* Draws among the items that are not barred, in one pass over all; `items` if there are none. */
static size_t select_popular(const pr_candidate_sampler *c, pr_stream *stream)
{
    uint64_t mass = 0;
    for (size_t i = 0; i < c->items; i++)
        mass += actions_of(c, i);
    if (mass == 0)
        return c->items;
    uint64_t at = draw_below(stream, mass);
    size_t item = 0;
    while (at >= actions_of(c, item))
        at -= actions_of(c, item++);
    return item;
}

/* Draws again after a barred item, until that has cost as much as a pass over all items. */
static size_t next_popular(const pr_candidate_sampler *c, pr_stream *stream)
{
    uint64_t mass = c->source->below[c->items];
    for (size_t tries = 0; tries < 16 + c->items / 8 && mass > 0; tries++) {
        size_t item = item_at(c->source, c->items, draw_below(stream, mass));
        if (c->barred[item] != c->basket)
            return item;
    }
    return select_popular(c, stream);
}

static size_t draw_popular(pr_candidate_sampler *c, pr_stream *stream, size_t wanted, int32_t *out)
{
    size_t count = 0;
    while (count < wanted) {
        size_t item = next_popular(c, stream);
        if (item == c->items)
            break;
        bar(c, (int32_t)item);
        out[count++] = (int32_t)item;
    }
    return count;
}

/* ---- from a list ---- */

static size_t take_listed(pr_candidate_sampler *c, uint32_t user, size_t wanted, int32_t *out)
{
    const pr_candidate_source *s = c->source;
    size_t count = 0;
    for (int64_t i = s->offsets[user]; i < s->offsets[user + 1] && count < wanted; i++) {
        if (c->barred[s->items[i]] == c->basket)
            continue;
        bar(c, s->items[i]);
        out[count++] = s->items[i];
    }
    return count;
}

size_t pr_candidate_sampler_draw(pr_candidate_sampler *c, uint32_t user, uint32_t session,
                                 size_t wanted, int32_t *out)
{
    pr_stream stream = pr_stream_at(&c->rng, user, session, 0);
    assert(c->basket > 0 && !c->drawn);
    c->drawn = true;
    switch (c->source != NULL ? c->source->kind : PARSREC_CANDIDATES_UNIFORM) {
    case PARSREC_CANDIDATES_POPULAR:
        return draw_popular(c, &stream, wanted, out);
    case PARSREC_CANDIDATES_FILE:
        return take_listed(c, user, wanted, out);
    default:
        return draw_uniform(c, &stream, wanted, out);
    }
}
