/* Full batches of one size first; what is left of each size is joined with its neighbours as long
 * as padding stays small. */
#include "data/batches.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/histories.h"
#include "data/split.h"

enum { PURPOSE = 0xBA7C, SHUFFLE_BASKETS = 0, SHUFFLE_BATCHES = 1 };

/* Padding is at most this fraction (one in ...) of a batch's steps. */
enum { PADDING_PART = 10 };

/* One past the last session of a user that is learnt from. */
static int64_t learnt_end(const pr_batches *b, const pr_dataset *data, size_t user)
{
    pr_counted learnt = {.data = data, .scope = b->scope};
    return pr_counted_end(&learnt, user);
}

/* What a user bought in the sessions that are learnt from. */
static pr_history learnt_history(const pr_batches *b, const pr_dataset *data, size_t user)
{
    return pr_history_before(data, user, (size_t)learnt_end(b, data, user));
}

/* The windows of a history, newest first: the items from..end-1. An older window ends with the first
 * item of the newer one, which could not be predicted there. */
typedef struct window {
    size_t from, end;
} window;

static window newest_window(const pr_batches *b, const pr_history *h, size_t end)
{
    size_t tokens;
    return (window){pr_history_newest(h, 0, end, b->most, b->separated, &tokens), end};
}

/* Whether there is an older one, which it then becomes. */
static bool older_window(const pr_batches *b, const pr_history *h, window *w)
{
    if (b->windows == PR_WINDOW_LAST || w->from == 0 || w->end - w->from < 2)
        return false;
    *w = newest_window(b, h, w->from + 1);
    return true;
}

static parsrec_status count_samples(pr_batches *b, const pr_dataset *data, parsrec_error *err)
{
    for (size_t u = 0; u < data->users; u++) {
        pr_history past = learnt_history(b, data, u);
        if (b->windows == PR_BASKETS) {
            b->basket_count += past.session_count;
        } else if (past.count > 0) {
            window w = newest_window(b, &past, past.count);
            do
                b->basket_count++;
            while (older_window(b, &past, &w));
        }
    }
    if (b->basket_count == 0)
        return pr_fail(err, PARSREC_E_INPUT, "the data set has no training sessions");
    if (data->sessions > UINT32_MAX)
        return pr_fail(err, PARSREC_E_LIMIT, "more than 2^32 sessions cannot be trained on");
    return PARSREC_OK;
}

static parsrec_status allocate(pr_batches *b, parsrec_error *err)
{
    size_t n = b->basket_count;
    /* The full batches of all sizes, and for each size at most one that begins with its rest. */
    size_t most_batches = n / b->batch_size + b->limit + 1;
    b->baskets = pr_alloc(n, sizeof *b->baskets);
    b->sorted = pr_alloc(n, sizeof *b->sorted);
    b->size_offsets = pr_alloc_zero(b->limit + 2, sizeof *b->size_offsets);
    b->order = pr_alloc(n, sizeof *b->order);
    b->draft = pr_alloc(n, sizeof *b->draft);
    b->offsets = pr_alloc(most_batches + 1, sizeof *b->offsets);
    b->draft_offsets = pr_alloc(most_batches + 1, sizeof *b->draft_offsets);
    b->batch_order = pr_alloc(most_batches, sizeof *b->batch_order);
    if (b->baskets == NULL || b->sorted == NULL || b->size_offsets == NULL || b->order == NULL ||
        b->draft == NULL || b->offsets == NULL || b->draft_offsets == NULL ||
        b->batch_order == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

static size_t steps_of(const pr_dataset *data, int64_t session, size_t limit)
{
    size_t size = (size_t)(data->session_offsets[session + 1] - data->session_offsets[session]);
    return size < limit ? size : limit;
}

/* Counting sort by size. */
static void sort_by_size(pr_batches *b, const pr_dataset *data)
{
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u]; s < learnt_end(b, data, u); s++)
            b->size_offsets[steps_of(data, s, b->limit) + 1]++;
    for (size_t size = 0; size <= b->limit; size++)
        b->size_offsets[size + 1] += b->size_offsets[size];
    for (size_t u = 0; u < data->users; u++) {
        for (int64_t s = data->user_offsets[u]; s < learnt_end(b, data, u); s++) {
            size_t steps = steps_of(data, s, b->limit);
            b->sorted[b->size_offsets[steps]++] =
                (pr_sample){(uint32_t)u, (uint32_t)s, (uint32_t)steps, 0};
            b->steps += steps;
        }
    }
    /* Filling moved each offset to the end of its size, where the next size begins. */
    memmove(b->size_offsets + 1, b->size_offsets, (b->limit + 1) * sizeof *b->size_offsets);
    b->size_offsets[0] = 0;
}

/* All in one class of size: sequences need no padding. */
static void list_sequences(pr_batches *b, const pr_dataset *data)
{
    size_t n = 0;
    for (size_t u = 0; u < data->users; u++) {
        pr_history past = learnt_history(b, data, u);
        if (past.count == 0)
            continue;
        window w = newest_window(b, &past, past.count);
        do {
            b->sorted[n++] =
                (pr_sample){(uint32_t)u, (uint32_t)learnt_end(b, data, u),
                            (uint32_t)(w.end - w.from), (uint32_t)(past.count - w.end)};
            b->steps += w.end - w.from;
        } while (older_window(b, &past, &w));
    }
    b->size_offsets[1] = (uint32_t)n;
}

parsrec_status pr_batches_init(pr_batches *b, const pr_dataset *data, size_t batch_size,
                               size_t limit, const pr_scope *scope, pr_windows windows,
                               bool separated, uint64_t seed, parsrec_error *err)
{
    assert(batch_size > 0 && limit > (separated ? 2 : 0));
    *b = (pr_batches){.batch_size = batch_size,
                      .limit = windows != PR_BASKETS ? 0 : limit,
                      .most = limit,
                      .scope = *scope,
                      .windows = windows,
                      .separated = separated,
                      .seed = seed};
    parsrec_status status = count_samples(b, data, err);
    if (status == PARSREC_OK)
        status = allocate(b, err);
    if (status != PARSREC_OK) {
        pr_batches_free(b);
        return status;
    }
    if (windows != PR_BASKETS)
        list_sequences(b, data);
    else
        sort_by_size(b, data);
    return PARSREC_OK;
}

void pr_batches_free(pr_batches *b)
{
    pr_free(b->baskets);
    pr_free(b->sorted);
    pr_free(b->size_offsets);
    pr_free(b->order);
    pr_free(b->draft);
    pr_free(b->offsets);
    pr_free(b->draft_offsets);
    pr_free(b->batch_order);
    *b = (pr_batches){0};
}

static void shuffle_sizes(pr_batches *b, const pr_rng *rng, uint32_t epoch)
{
    for (size_t i = 0; i < b->basket_count; i++)
        b->order[i] = (uint32_t)i;
    for (size_t size = 0; size <= b->limit; size++) {
        uint32_t first = b->size_offsets[size], count = b->size_offsets[size + 1] - first;
        pr_stream stream = pr_stream_at(rng, epoch, SHUFFLE_BASKETS, (uint32_t)size);
        pr_stream_shuffle(&stream, b->order + first, count, sizeof *b->order);
    }
}

/* The batch that takes up rests: `filled` steps in `count` baskets. Sizes only grow, so the newest
 * basket is the longest. */
typedef struct rest {
    size_t count, filled;
} rest;

/* Writes the full batches of every size to the front of the draft and returns where rests begin. */
static size_t draft_full(pr_batches *b)
{
    size_t used = 0;
    for (size_t size = 0; size <= b->limit; size++) {
        size_t first = b->size_offsets[size], count = b->size_offsets[size + 1] - first;
        size_t full = count / b->batch_size * b->batch_size;
        memcpy(b->draft + used, b->order + first, full * sizeof *b->draft);
        for (size_t end = used + full; used < end; used += b->batch_size)
            b->draft_offsets[b->batch_count++] = (uint32_t)used;
    }
    return used;
}

static void draft_rests(pr_batches *b, size_t used)
{
    rest r = {0};
    for (size_t size = 0; size <= b->limit; size++) {
        size_t first = b->size_offsets[size], end = b->size_offsets[size + 1];
        first += (end - first) / b->batch_size * b->batch_size;
        for (size_t i = first; i < end; i++) {
            size_t all = (r.count + 1) * size, padded = all - r.filled - size;
            if (r.count == 0 || r.count == b->batch_size || padded * PADDING_PART > all) {
                b->draft_offsets[b->batch_count++] = (uint32_t)used;
                r = (rest){0};
            }
            r.count++;
            r.filled += size;
            b->draft[used++] = b->order[i];
        }
    }
    b->draft_offsets[b->batch_count] = (uint32_t)used;
}

/* Puts the drafted batches in random order. */
static void write_batches(pr_batches *b, const pr_rng *rng, uint32_t epoch)
{
    for (size_t i = 0; i < b->batch_count; i++)
        b->batch_order[i] = (uint32_t)i;
    pr_stream stream = pr_stream_at(rng, epoch, SHUFFLE_BATCHES, 0);
    pr_stream_shuffle(&stream, b->batch_order, b->batch_count, sizeof *b->batch_order);
    size_t used = 0;
    b->padded = 0;
    for (size_t i = 0; i < b->batch_count; i++) {
        uint32_t from = b->draft_offsets[b->batch_order[i]];
        uint32_t to = b->draft_offsets[b->batch_order[i] + 1];
        size_t longest = b->sorted[b->draft[to - 1]].steps;
        b->offsets[i] = (uint32_t)used;
        for (uint32_t k = from; k < to; k++) {
            b->baskets[used] = b->sorted[b->draft[k]];
            b->padded += b->windows != PR_BASKETS ? 0 : longest - b->baskets[used].steps;
            used++;
        }
    }
    b->offsets[b->batch_count] = (uint32_t)used;
}

void pr_batches_arrange(pr_batches *b, uint32_t epoch)
{
    assert(b->basket_count > 0);
    pr_rng rng = pr_rng_make(b->seed, PURPOSE);
    b->batch_count = 0;
    shuffle_sizes(b, &rng, epoch);
    draft_rests(b, draft_full(b));
    write_batches(b, &rng, epoch);
}
