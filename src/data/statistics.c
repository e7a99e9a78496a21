/* Statistics of a data set. */
#include "data/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/memory.h"
#include "base/text.h"

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
    s->single_item_share = ratio((double)pr_one_item_sessions(d), (double)d->sessions);
    s->sessions_per_user_median = median_row(d->user_offsets, d->users);
    s->sessions_per_user_max = largest_row(d->user_offsets, d->users);
    s->evaluated_users = d->users - rows_up_to(d->user_offsets, d->users, EVALUATED_SESSIONS - 1);
}

uint64_t pr_one_item_sessions(const pr_dataset *d)
{
    return rows_up_to(d->session_offsets, d->sessions, 1);
}

bool pr_mostly_single_items(const pr_dataset *d)
{
    return d->sessions > 1 && pr_one_item_sessions(d) * 20 >= d->sessions * UINT64_C(19);
}

bool pr_means_price(const char *name)
{
    static const char *const words[] = {
        "price",  "unitprice", "preis", "einzelpreis", "stckpreis",      "prix", "prixunitaire",
        "precio", "prezzo",    "preo",  "preco",       "preciounitario", "prijs"};
    char letters[16]; /* of ASCII */
    size_t n = 0;
    for (; *name != '\0'; name++) {
        if ((*name < 'a' || *name > 'z') && (*name < 'A' || *name > 'Z'))
            continue;
        if (n + 1 == sizeof letters)
            return false;
        letters[n++] = pr_lower(*name);
    }
    letters[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(letters, words[i]) == 0)
            return true;
    return false;
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

/* Parents come before their children, so one pass finds every level. */
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

parsrec_status parsrec_data_statistics(const parsrec_data *d, parsrec_data_stats *s,
                                       parsrec_error *err)
{
    if (d == NULL || s == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_data_statistics needs data and stats");
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
        .ordered = d->ordered,
        .one_item_baskets = pr_mostly_single_items(d),
    };
    uint64_t pairs = 0;
    PR_TRY(count_pairs(d, &pairs, err));
    s->density = ratio((double)pairs, (double)d->users * (double)d->items);
    /* An item occurs once in a session, so a pair's other actions are in later sessions. */
    s->repeat_share = ratio((double)(d->actions - pairs), (double)d->actions);
    count_sessions(d, s);
    find_times(d, s);
    snprintf(s->checksum, sizeof s->checksum, "%s", pr_dataset_checksum(d));
    for (size_t i = 0; d->file != NULL && i < pr_container_tensors(d->file); i++)
        s->synthetic |= strncmp(pr_container_at(d->file, i)->name, "truth.", 6) == 0;
    return count_levels(d, &s->category_levels, err);
}

/* ---- the calendar ---- */

static int64_t day_of(int64_t seconds)
{
    return seconds / 86400 - (seconds % 86400 < 0);
}

/* Months since year 0. */
static int64_t month_number(int64_t seconds)
{
    pr_civil_date date = pr_civil_date_of(day_of(seconds));
    return date.year * 12 + date.month - 1;
}

/* Times of the calendar's years 1 to 9999, so that no sum below overflows. */
static bool is_dated(int64_t seconds)
{
    return seconds >= -62135596800 && seconds <= 253402300799;
}

parsrec_status parsrec_data_calendar(parsrec_calendar *out, const parsrec_data *data,
                                     parsrec_error *err)
{
    if (out == NULL || data == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_data_calendar needs data and a calendar");
    *out = (parsrec_calendar){0};
    parsrec_data_stats s = {0};
    find_times(data, &s);
    if (s.time_kind != PARSREC_TIME_UNIX || data->sessions == 0 || !is_dated(s.first_time) ||
        !is_dated(s.last_time))
        return PARSREC_OK;
    int64_t first = month_number(s.first_time), last = month_number(s.last_time);
    if (last - first < PARSREC_MONTHS_MOST) {
        out->months = (size_t)(last - first + 1);
        out->month = pr_alloc_zero(out->months, sizeof *out->month);
        if (out->month == NULL)
            return pr_fail_memory(err);
    }
    for (size_t i = 0; i < out->months; i++) {
        out->month[i].year = (int32_t)((first + (int64_t)i) / 12);
        out->month[i].month = (uint32_t)((first + (int64_t)i) % 12) + 1;
    }
    for (size_t i = 0; i < data->sessions; i++) {
        int64_t since_monday = day_of(data->times[i]) + 3; /* 1970-01-01 was a Thursday */
        out->weekday[((since_monday % 7) + 7) % 7]++;
        if (out->months > 0)
            out->month[month_number(data->times[i]) - first].sessions++;
    }
    return PARSREC_OK;
}

void parsrec_calendar_clear(parsrec_calendar *calendar)
{
    pr_free(calendar->month);
    *calendar = (parsrec_calendar){0};
}
