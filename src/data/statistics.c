/* Statistics of a data set. */
#include "data/statistics.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { EVALUATED_SESSIONS = 3 }; /* a user with fewer is not evaluated */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static uint64_t row_size(const int64_t *offsets, size_t i)
{
    return (uint64_t)(offsets[i + 1] - offsets[i]);
}

static uint64_t rows_up_to(const int64_t *offsets, size_t rows, uint64_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < rows; i++)
        count += row_size(offsets, i) <= size;
    return count;
}

static uint64_t largest_row(const int64_t *offsets, size_t rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows; i++)
        most = row_size(offsets, i) > most ? row_size(offsets, i) : most;
    return most;
}

/* The smallest size that half of the rows do not exceed, found by halving the range: a few walks
 * over the offsets instead of a sorted copy. */
static uint64_t median_row(const int64_t *offsets, size_t rows)
{
    uint64_t low = 0, high = largest_row(offsets, rows);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (2 * rows_up_to(offsets, rows, middle) >= rows)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Pairs of user and item, each counted once: owner[item] is the last user + 1 who had it. */
static parsrec_status count_pairs(const pr_dataset *d, uint64_t *pairs, parsrec_error *err)
{
    uint64_t *owner = pr_alloc_zero(d->items, sizeof *owner);
    if (owner == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < d->users; u++) {
        int64_t from = d->session_offsets[d->user_offsets[u]];
        int64_t to = d->session_offsets[d->user_offsets[u + 1]];
        for (int64_t a = from; a < to; a++) {
            uint64_t *last = &owner[d->action_items[a]];
            *pairs += *last != u + 1;
            *last = u + 1;
        }
    }
    pr_free(owner);
    return PARSREC_OK;
}

static void count_sessions(const pr_dataset *d, parsrec_data_stats *s)
{
    s->actions_per_user = ratio((double)d->actions, (double)d->users);
    s->sessions_per_user = ratio((double)d->sessions, (double)d->users);
    s->basket_mean = ratio((double)d->actions, (double)d->sessions);
    s->basket_median = median_row(d->session_offsets, d->sessions);
    s->basket_max = largest_row(d->session_offsets, d->sessions);
    s->single_item_share =
        ratio((double)rows_up_to(d->session_offsets, d->sessions, 1), (double)d->sessions);
    s->sessions_per_user_median = median_row(d->user_offsets, d->users);
    s->sessions_per_user_max = largest_row(d->user_offsets, d->users);
    s->evaluated_users = d->users - rows_up_to(d->user_offsets, d->users, EVALUATED_SESSIONS - 1);
}

static void find_times(const pr_dataset *d, parsrec_data_stats *s)
{
    s->time_kind = d->time_kind;
    if (d->times == NULL || d->sessions == 0)
        return;
    s->first_time = s->last_time = d->times[0];
    for (size_t i = 1; i < d->sessions; i++) {
        s->first_time = d->times[i] < s->first_time ? d->times[i] : s->first_time;
        s->last_time = d->times[i] > s->last_time ? d->times[i] : s->last_time;
    }
}

/* Parents stand before their children, so one walk knows every level. */
static parsrec_status count_levels(const pr_dataset *d, uint64_t *levels, parsrec_error *err)
{
    unsigned char *level = pr_alloc_zero(d->categories, 1);
    if (level == NULL)
        return pr_fail_memory(err);
    *levels = 0;
    for (size_t i = 0; i < d->categories; i++) {
        int32_t parent = d->category_parent[i];
        level[i] = parent < 0 ? 1 : (unsigned char)(level[parent] + 1);
        *levels = level[i] > *levels ? level[i] : *levels;
    }
    pr_free(level);
    return PARSREC_OK;
}

static void describe_file(const pr_dataset *d, parsrec_data_stats *s)
{
    if (d->file == NULL)
        return;
    snprintf(s->checksum, sizeof s->checksum, "%s", pr_container_checksum(d->file));
    for (size_t i = 0; i < pr_container_tensors(d->file); i++)
        s->synthetic |= strncmp(pr_container_at(d->file, i)->name, "truth.", 6) == 0;
}

parsrec_status pr_dataset_statistics(const pr_dataset *d, parsrec_data_stats *s, parsrec_error *err)
{
    *s = (parsrec_data_stats){
        .users = d->users,
        .sessions = d->sessions,
        .items = d->items,
        .actions = d->actions,
        .categories = d->categories,
        .items_with_name =
            d->item_names.count - rows_up_to(d->item_names.offsets, d->item_names.count, 0),
        .user_features = d->feature_count[PR_OF_USER],
        .session_features = d->feature_count[PR_OF_SESSION],
        .item_features = d->feature_count[PR_OF_ITEM],
    };
    uint64_t pairs = 0;
    PR_TRY(count_pairs(d, &pairs, err));
    s->density = ratio((double)pairs, (double)d->users * (double)d->items);
    /* An item stands once in a session, so a pair's other actions are in later sessions. */
    s->repeat_share = ratio((double)(d->actions - pairs), (double)d->actions);
    count_sessions(d, s);
    find_times(d, s);
    describe_file(d, s);
    return count_levels(d, &s->category_levels, err);
}
