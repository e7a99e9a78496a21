/* Which user of the source comes where, then the columns in that order. */
#include "data/dataset_edit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"

/* One data set in the making. */
typedef struct edit {
    pr_derived *out;
    const pr_dataset *from;
    size_t users;          /* of the result */
    int32_t *order;        /* [users]: the user of `from` who comes there */
    const int32_t *item;   /* [items of from]: number in the result, or -1; NULL: as it is */
    int64_t *from_session; /* [sessions of the result]: the session of `from` */
    const int64_t *ends;   /* [users of from]: sessions from there on are left out; NULL: none */
} edit;

static void *take(edit *e, size_t count, size_t size)
{
    return pr_region_take(&e->out->region, count, size);
}

void pr_derived_free(pr_derived *derived)
{
    pr_region_free(&derived->region);
    *derived = (pr_derived){0};
}

/* ---- users and their sessions ---- */

static parsrec_status copy_keys(edit *e, parsrec_error *err)
{
    const pr_names *keys = &e->from->user_keys;
    char *bytes = take(e, (size_t)keys->offsets[keys->count], 1);
    int64_t *offsets = take(e, e->users + 1, sizeof *offsets);
    if (bytes == NULL || offsets == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < e->users; u++) {
        pr_slice key = pr_name(keys, (size_t)e->order[u]);
        memcpy(bytes + offsets[u], key.bytes, key.size);
        offsets[u + 1] = offsets[u] + (int64_t)key.size;
    }
    if (e->from->user_parts != NULL) {
        uint8_t *parts = take(e, e->users, sizeof *parts);
        if (parts == NULL)
            return pr_fail_memory(err);
        for (size_t u = 0; u < e->users; u++)
            parts[u] = e->from->user_parts[e->order[u]];
        e->out->data.user_parts = parts;
    }
    e->out->data.users = e->users;
    e->out->data.user_keys = (pr_names){bytes, offsets, e->users};
    return PARSREC_OK;
}

static parsrec_status copy_sessions(edit *e, parsrec_error *err)
{
    const pr_dataset *from = e->from;
    pr_dataset *to = &e->out->data;
    int64_t *user_offsets = take(e, e->users + 1, sizeof *user_offsets);
    int64_t *session_offsets = take(e, from->sessions + 1, sizeof *session_offsets);
    int64_t *times = take(e, from->sessions, sizeof *times);
    int32_t *items = take(e, from->actions, sizeof *items);
    e->from_session = take(e, from->sessions, sizeof *e->from_session);
    PR_TRY(pr_region_check(&e->out->region, err));
    size_t sessions = 0, actions = 0;
    for (size_t u = 0; u < e->users; u++) {
        size_t user = (size_t)e->order[u];
        int64_t end = e->ends != NULL ? e->ends[user] : from->user_offsets[user + 1];
        for (int64_t s = from->user_offsets[user]; s < end; s++) {
            size_t before = actions;
            for (int64_t a = from->session_offsets[s]; a < from->session_offsets[s + 1]; a++) {
                int32_t was = from->action_items[a], item = e->item != NULL ? e->item[was] : was;
                if (item >= 0)
                    items[actions++] = item;
            }
            if (actions == before)
                continue;
            e->from_session[sessions] = s;
            times[sessions] = from->times != NULL ? from->times[s] : 0;
            session_offsets[++sessions] = (int64_t)actions;
        }
        user_offsets[u + 1] = (int64_t)sessions;
    }
    to->sessions = sessions;
    to->actions = actions;
    to->user_offsets = user_offsets;
    to->session_offsets = session_offsets;
    to->action_items = items;
    to->times = from->times != NULL ? times : NULL;
    return PARSREC_OK;
}

/* ---- features ---- */

static size_t row_count(const edit *e, pr_feature_of of)
{
    return of == PR_OF_USER ? e->users : e->out->data.sessions;
}

/* The row of the source that a row of the result comes from. */
static size_t source_row(const edit *e, pr_feature_of of, size_t row)
{
    return of == PR_OF_USER ? (size_t)e->order[row] : (size_t)e->from_session[row];
}

/* Fills a column from one of the source, or with nothing known where `from` is NULL. Codes go
 * through `code` ([values], NULL: as they are). */
static parsrec_status fill_column(edit *e, pr_feature_column *to, pr_feature_of of,
                                  const pr_feature_column *from, const int32_t *code,
                                  parsrec_error *err)
{
    size_t rows = row_count(e, of);
    bool number = to->number != NULL;
    float *numbers = number ? take(e, rows, sizeof *numbers) : NULL;
    int32_t *codes = number ? NULL : take(e, rows, sizeof *codes);
    if (numbers == NULL && codes == NULL)
        return pr_fail_memory(err);
    for (size_t r = 0; r < rows; r++) {
        size_t row = source_row(e, of, r);
        if (number) {
            numbers[r] = from != NULL ? from->number[row] : NAN;
        } else {
            int32_t was = from != NULL ? from->code[row] : -1;
            codes[r] = was >= 0 && code != NULL ? code[was] : was;
        }
    }
    to->number = numbers;
    to->code = codes;
    return PARSREC_OK;
}

/* ---- without some users ---- */

/* The values that are left keep their order and get new codes: code[values of f], of which those
 * without a row are never used. */
static parsrec_status keep_values(edit *e, pr_feature_column *f, pr_feature_of of, int32_t *code,
                                  parsrec_error *err)
{
    size_t values = f->values.count, left = 0;
    int64_t *offsets = take(e, values + 1, sizeof *offsets);
    char *bytes = take(e, (size_t)f->values.offsets[values], 1);
    if (offsets == NULL || bytes == NULL)
        return pr_fail_memory(err);
    for (size_t r = 0; r < row_count(e, of); r++) {
        int32_t was = f->code[source_row(e, of, r)];
        if (was >= 0)
            code[was] = 1;
    }
    for (size_t v = 0; v < values; v++) {
        pr_slice value = pr_name(&f->values, v);
        if (code[v] == 0)
            continue;
        memcpy(bytes + offsets[left], value.bytes, value.size);
        offsets[left + 1] = offsets[left] + (int64_t)value.size;
        code[v] = (int32_t)left++;
    }
    f->values = (pr_names){bytes, offsets, left};
    return PARSREC_OK;
}

static parsrec_status copy_features(edit *e, pr_feature_of of, parsrec_error *err)
{
    size_t count = e->from->feature_count[of];
    pr_feature_column *features = take(e, count, sizeof *features);
    if (features == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const pr_feature_column *from = &e->from->features[of][i];
        int32_t *code = NULL;
        features[i] = *from;
        if (from->number == NULL) {
            code = take(e, from->values.count, sizeof *code);
            if (code == NULL)
                return pr_fail_memory(err);
            PR_TRY(keep_values(e, &features[i], of, code, err));
        }
        PR_TRY(fill_column(e, &features[i], of, from, code, err));
    }
    e->out->data.features[of] = features;
    return PARSREC_OK;
}

parsrec_status pr_dataset_without(pr_derived *out, const pr_dataset *from, const bool *gone,
                                  parsrec_error *err)
{
    *out = (pr_derived){.data = *from};
    out->data.file = NULL;
    edit e = {.out = out, .from = from};
    parsrec_status status;
    e.order = take(&e, from->users, sizeof *e.order);
    PR_TRY_GOTO(pr_region_check(&out->region, err));
    for (size_t u = 0; u < from->users; u++)
        if (!gone[u])
            e.order[e.users++] = (int32_t)u;
    PR_TRY_GOTO(copy_keys(&e, err));
    PR_TRY_GOTO(copy_sessions(&e, err));
    PR_TRY_GOTO(copy_features(&e, PR_OF_USER, err));
    status = copy_features(&e, PR_OF_SESSION, err);
done:
    if (status != PARSREC_OK)
        pr_derived_free(out);
    return status;
}

/* ---- split by a time or by users ---- */

/* One split in the making. */
typedef struct splitting {
    edit e;
    int64_t *ends;  /* [users] */
    uint8_t *parts; /* [users]: pr_user_part */
} splitting;

static parsrec_status begin_split(splitting *s, pr_derived *out, const pr_dataset *from,
                                  parsrec_error *err)
{
    *out = (pr_derived){.data = *from};
    *s = (splitting){.e = {.out = out, .from = from, .users = from->users}};
    s->e.order = take(&s->e, from->users, sizeof *s->e.order);
    s->e.ends = s->ends = take(&s->e, from->users, sizeof *s->ends);
    s->parts = take(&s->e, from->users, sizeof *s->parts);
    PR_TRY(pr_region_check(&out->region, err));
    for (size_t u = 0; u < from->users; u++) {
        s->e.order[u] = (int32_t)u;
        s->ends[u] = from->user_offsets[u + 1];
    }
    return PARSREC_OK;
}

/* Columns up to `ends`, and a checksum of source and split. facts is NULL for listed users. */
static parsrec_status end_split(splitting *s, const pr_split_facts *facts, parsrec_error *err)
{
    enum { WORDS = 48 };
    int64_t time = facts != NULL ? facts->time : 0;
    const pr_dataset *from = s->e.from;
    pr_dataset *to = &s->e.out->data;
    char *checksum = take(&s->e, 17, 1), *words = take(&s->e, WORDS, 1);
    PR_TRY(copy_sessions(&s->e, err));
    PR_TRY(copy_features(&s->e, PR_OF_USER, err));
    PR_TRY(copy_features(&s->e, PR_OF_SESSION, err));
    const char *old = pr_dataset_checksum(from);
    XXH64_hash_t sum = XXH3_64bits_withSeed(old, strlen(old), (XXH64_hash_t)time);
    if (to->by_users)
        sum = XXH3_64bits_withSeed(s->parts, from->users, sum);
    snprintf(checksum, 17, "%016llx", (unsigned long long)sum);
    if (facts == NULL)
        snprintf(words, WORDS, "users");
    else
        snprintf(words, WORDS, "at %lld %s", (long long)time, to->by_users ? "sessions" : "users");
    to->split = words;
    to->checksum = checksum;
    to->user_parts = s->parts;
    to->split_at = time;
    return PARSREC_OK;
}

/* Who could test with a session from that time on: users who return, and users who begin. */
static void count_tests(pr_split_facts *facts, const pr_dataset *from)
{
    for (size_t u = 0; u < from->users; u++) {
        int64_t first = from->user_offsets[u], end = from->user_offsets[u + 1], k = first;
        while (k < end && from->times[k] < facts->time)
            k++;
        facts->returning += k - first >= 2 && k < end;
        facts->beginning += k == first && k < end;
    }
}

/* Of a user with two sessions before the time, those and the first after it; of the others none after. */
static void cut_sessions(splitting *s, int64_t time)
{
    const pr_dataset *from = s->e.from;
    for (size_t u = 0; u < from->users; u++) {
        int64_t first = from->user_offsets[u], end = from->user_offsets[u + 1], k = first;
        while (k < end && from->times[k] < time)
            k++;
        bool tested = k - first >= 2 && k < end;
        s->parts[u] = tested ? PR_USER_BY_SESSIONS : PR_USER_TRAINS;
        s->ends[u] = tested ? k + 1 : k;
    }
}

/* Users who begin from that time on test with their first session; the others train with what is before
 * it. */
static void cut_users(splitting *s, int64_t time)
{
    const pr_dataset *from = s->e.from;
    for (size_t u = 0; u < from->users; u++) {
        int64_t first = from->user_offsets[u], end = from->user_offsets[u + 1];
        bool test = first < end && from->times[first] >= time;
        s->parts[u] = test ? PR_USER_TESTS : PR_USER_TRAINS;
        for (s->ends[u] = first; s->ends[u] < end && from->times[s->ends[u]] < time;)
            s->ends[u]++;
        s->ends[u] += test;
    }
}

typedef struct dated_user {
    int64_t time;
    uint32_t user;
} dated_user;

static int newest_first(const void *left, const void *right)
{
    const dated_user *a = left, *b = right;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return (a->user < b->user) - (a->user > b->user);
}

/* Of those who would train the newest validate: a tenth of them, at most as many as test. Without times the
 * last ones are the newest. */
static parsrec_status choose_validating(splitting *s, size_t tests, parsrec_error *err)
{
    const pr_dataset *from = s->e.from;
    dated_user *training = pr_alloc(from->users, sizeof *training);
    size_t count = 0;
    if (training == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < from->users; u++)
        if (s->parts[u] == PR_USER_TRAINS && s->ends[u] > from->user_offsets[u])
            training[count++] =
                (dated_user){from->times != NULL ? from->times[s->ends[u] - 1] : 0, (uint32_t)u};
    qsort(training, count, sizeof *training, newest_first);
    size_t wanted = count / 10 < tests ? count / 10 : tests;
    for (size_t i = 0; i < wanted; i++)
        s->parts[training[i].user] = PR_USER_VALIDATES;
    pr_free(training);
    return count > 0 ? PARSREC_OK
                     : pr_fail(err, PARSREC_E_INPUT,
                               "all sessions would be test sessions, so nothing is left to learn "
                               "from");
}

/* Decides what is tested, where the caller leaves it to the data. */
static parsrec_status choose_kind(pr_split_facts *facts, parsrec_error *err)
{
    bool users = facts->by == PARSREC_SPLIT_BY_USERS, any = facts->by == PARSREC_SPLIT_BY_AUTO;
    if (facts->returning + facts->beginning == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "no user has two sessions before that time and one after it, and no user "
                       "begins after it");
    if (any)
        facts->by = facts->returning >= facts->beginning ? PARSREC_SPLIT_BY_USERS
                                                         : PARSREC_SPLIT_BY_SESSIONS;
    else if ((users ? facts->returning : facts->beginning) == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       users
                           ? "no user has two sessions before that time and one after it; pass "
                             "--split-by sessions to test users who begin after it"
                           : "no user begins after that time; pass --split-by users to test users "
                             "who return");
    return PARSREC_OK;
}

static parsrec_status cut_at(pr_derived *out, const pr_dataset *from, pr_split_facts *facts,
                             parsrec_error *err)
{
    splitting s;
    PR_TRY(begin_split(&s, out, from, err));
    count_tests(facts, from);
    PR_TRY(choose_kind(facts, err));
    out->data.by_users = facts->by == PARSREC_SPLIT_BY_SESSIONS;
    if (out->data.by_users) {
        cut_users(&s, facts->time);
        PR_TRY(choose_validating(&s, facts->beginning, err));
    } else {
        cut_sessions(&s, facts->time);
    }
    return end_split(&s, facts, err);
}

static parsrec_status cut_listed(pr_derived *out, const pr_dataset *from, const bool *tests,
                                 parsrec_error *err)
{
    splitting s;
    size_t count = 0;
    PR_TRY(begin_split(&s, out, from, err));
    for (size_t u = 0; u < from->users; u++) {
        s.parts[u] = tests[u] ? PR_USER_TESTS : PR_USER_TRAINS;
        count += tests[u];
    }
    out->data.by_users = true;
    PR_TRY(choose_validating(&s, count, err));
    return end_split(&s, NULL, err);
}

/* Puts the split data set in the place of the whole one, whose columns are still used. */
static parsrec_status split(parsrec_data *data, pr_split_facts *facts, const bool *tests,
                            parsrec_error *err)
{
    if (data == NULL || data->cut != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a split needs data that were not split before");
    pr_derived *derived = pr_alloc(1, sizeof *derived);
    if (derived == NULL)
        return pr_fail_memory(err);
    parsrec_status status =
        tests != NULL ? cut_listed(derived, data, tests, err) : cut_at(derived, data, facts, err);
    if (status != PARSREC_OK) {
        pr_derived_free(derived);
        pr_free(derived);
        return status;
    }
    pr_dataset whole = *data;
    *data = derived->data;
    derived->data = whole;
    data->cut = derived;
    return PARSREC_OK;
}

parsrec_status pr_dataset_split_users(pr_dataset *data, const bool *tests, parsrec_error *err)
{
    assert(tests != NULL);
    return split(data, NULL, tests, err);
}

parsrec_status pr_dataset_split_at(pr_dataset *data, int64_t time, parsrec_split_by by,
                                   pr_split_facts *facts, parsrec_error *err)
{
    *facts = (pr_split_facts){.by = by, .time = time};
    if (data->times == NULL)
        return pr_fail(err, PARSREC_E_INPUT, "the data have no times, so no time can split them");
    return split(data, facts, NULL, err);
}

parsrec_status pr_dataset_split_days(pr_dataset *data, uint64_t days, parsrec_split_by by,
                                     pr_split_facts *facts, parsrec_error *err)
{
    enum { DAY = 86400, DAYS_MOST = 100000 };
    if (days == 0 || days > DAYS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a split by days needs 1 to %d days", DAYS_MOST);
    if (data->time_kind != PARSREC_TIME_UNIX)
        return pr_fail(err, PARSREC_E_INPUT, "the data have no dates, so days cannot split them");
    int64_t newest = data->sessions > 0 ? data->times[0] : 0;
    for (size_t s = 1; s < data->sessions; s++)
        newest = data->times[s] > newest ? data->times[s] : newest;
    return pr_dataset_split_at(data, newest - (int64_t)days * DAY + 1, by, facts, err);
}

parsrec_status pr_dataset_without_tests(pr_derived *out, const pr_dataset *from, parsrec_error *err)
{
    bool *gone = pr_alloc(from->users, sizeof *gone);
    if (gone == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < from->users; u++)
        gone[u] = pr_part_of_user(from, u) == PR_USER_TESTS;
    parsrec_status status = pr_dataset_without(out, from, gone, err);
    pr_free(gone);
    return status;
}

/* ---- in the numbering of another ---- */

static bool same_names(const pr_names *a, const pr_names *b)
{
    return a->count == b->count &&
           (a->count == 0 ||
            (a->offsets[a->count] == b->offsets[b->count] &&
             memcmp(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets) == 0 &&
             memcmp(a->bytes, b->bytes, (size_t)a->offsets[a->count]) == 0));
}

static bool same_columns(const pr_dataset *data, const pr_dataset *onto, pr_feature_of of)
{
    if (data->feature_count[of] < onto->feature_count[of])
        return false;
    for (size_t i = 0; i < onto->feature_count[of]; i++) {
        const pr_feature_column *a = &data->features[of][i], *b = &onto->features[of][i];
        if (strcmp(a->name, b->name) != 0 || (a->number == NULL) != (b->number == NULL) ||
            !same_names(&a->values, &b->values))
            return false;
    }
    return true;
}

/* What items are called and where they stand in the tree. */
static bool same_catalogue(const pr_dataset *a, const pr_dataset *b)
{
    return same_names(&a->item_keys, &b->item_keys) && same_names(&a->item_names, &b->item_names) &&
           a->categories == b->categories && same_names(&a->category_names, &b->category_names) &&
           (a->categories == 0 ||
            (memcmp(a->category_parent, b->category_parent,
                    a->categories * sizeof *a->category_parent) == 0 &&
             memcmp(a->item_category, b->item_category, a->items * sizeof *a->item_category) == 0));
}

static bool same(const pr_dataset *data, const pr_dataset *onto)
{
    return same_names(&data->user_keys, &onto->user_keys) && same_catalogue(data, onto) &&
           same_columns(data, onto, PR_OF_USER) && same_columns(data, onto, PR_OF_SESSION);
}

static parsrec_status match_items(edit *e, const pr_dataset *onto, size_t *unknown,
                                  parsrec_error *err)
{
    size_t items = e->from->items;
    pr_intern known = {0};
    int32_t *item = take(e, items, sizeof *item);
    parsrec_status status =
        item != NULL ? pr_intern_load(&known, &onto->item_keys, err) : pr_fail_memory(err);
    for (size_t i = 0; status == PARSREC_OK && i < items; i++) {
        uint32_t number;
        bool found = pr_intern_find(&known, pr_name(&e->from->item_keys, i), &number);
        item[i] = found ? (int32_t)number : -1;
        *unknown += !found;
    }
    pr_intern_free(&known);
    e->item = item;
    if (status == PARSREC_OK && *unknown == items)
        return pr_fail(
            err, PARSREC_E_INPUT,
            "none of the %zu items of the data set is in the model's catalogue; pass data "
            "of the shop that the model was trained on",
            items);
    return status;
}

/* known_as[users] of the result: the number in onto, or PR_ANYONE. */
static parsrec_status match_users(edit *e, int32_t *known_as, const pr_dataset *onto,
                                  size_t *unknown, parsrec_error *err)
{
    size_t users = e->from->users, placed = 0;
    pr_intern here = {0};
    bool *taken = take(e, users, sizeof *taken);
    e->order = take(e, users, sizeof *e->order);
    PR_TRY(pr_region_check(&e->out->region, err));
    parsrec_status status = pr_intern_load(&here, &e->from->user_keys, err);
    for (size_t u = 0; status == PARSREC_OK && u < onto->users; u++) {
        uint32_t number;
        if (!pr_intern_find(&here, pr_name(&onto->user_keys, u), &number))
            continue;
        known_as[placed] = (int32_t)u;
        e->order[placed++] = (int32_t)number;
        taken[number] = true;
    }
    pr_intern_free(&here);
    *unknown = users - placed;
    for (size_t u = 0; status == PARSREC_OK && u < users; u++) {
        if (taken[u])
            continue;
        known_as[placed] = PR_ANYONE;
        e->order[placed++] = (int32_t)u;
    }
    e->users = users;
    return status;
}

static const pr_feature_column *column_named(const pr_dataset *d, pr_feature_of of,
                                             const char *name)
{
    for (size_t i = 0; i < d->feature_count[of]; i++)
        if (strcmp(d->features[of][i].name, name) == 0)
            return &d->features[of][i];
    return NULL;
}

/* Fills a column of onto with the rows of the source. */
static parsrec_status fill_known_column(edit *e, pr_feature_column *to, pr_feature_of of,
                                        parsrec_error *err)
{
    const pr_feature_column *from = column_named(e->from, of, to->name);
    pr_intern values = {0};
    if (from == NULL || (from->number == NULL) != (to->number == NULL))
        return fill_column(e, to, of, NULL, NULL, err);
    if (from->number != NULL)
        return fill_column(e, to, of, from, NULL, err);
    int32_t *code = take(e, from->values.count, sizeof *code);
    if (code == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_intern_load(&values, &to->values, err);
    for (size_t v = 0; status == PARSREC_OK && v < from->values.count; v++) {
        uint32_t number;
        bool found = pr_intern_find(&values, pr_name(&from->values, v), &number);
        code[v] = found ? (int32_t)number : -1;
    }
    pr_intern_free(&values);
    return status == PARSREC_OK ? fill_column(e, to, of, from, code, err) : status;
}

static parsrec_status match_features(edit *e, const pr_dataset *onto, pr_feature_of of,
                                     parsrec_error *err)
{
    size_t known = onto->feature_count[of], own = e->from->feature_count[of], count = known;
    pr_feature_column *columns = take(e, known + own, sizeof *columns);
    if (columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < known; i++) {
        columns[i] = onto->features[of][i];
        PR_TRY(fill_known_column(e, &columns[i], of, err));
    }
    for (size_t i = 0; i < own; i++) {
        const pr_feature_column *from = &e->from->features[of][i];
        if (column_named(onto, of, from->name) != NULL)
            continue;
        columns[count] = *from;
        PR_TRY(fill_column(e, &columns[count++], of, from, NULL, err));
    }
    e->out->data.features[of] = columns;
    e->out->data.feature_count[of] = count;
    return PARSREC_OK;
}

parsrec_status pr_dataset_match(pr_derived *out, pr_match_facts *facts, const pr_dataset *data,
                                const pr_dataset *onto, parsrec_error *err)
{
    *facts = (pr_match_facts){.same = same(data, onto)};
    *out = (pr_derived){.data = *data};
    if (facts->same)
        return PARSREC_OK;
    out->data = *onto; /* for its catalogue; what follows is not about items */
    out->data.time_kind = data->time_kind;
    out->data.ordered = data->ordered;
    out->data.source = data->source;
    out->data.events = data->events;
    out->data.file = NULL;
    out->data.checksum = pr_dataset_checksum(data);
    out->data.user_parts = NULL; /* copy_keys has those of `data` */
    out->data.by_users = data->by_users;
    out->data.split_at = data->split_at;
    out->data.cut = NULL;
    edit e = {.out = out, .from = data};
    parsrec_status status;
    int32_t *known_as = take(&e, data->users, sizeof *known_as);
    out->data.known_as = known_as;
    out->data.known_users = onto->users;
    PR_TRY_GOTO(pr_region_check(&out->region, err));
    PR_TRY_GOTO(match_items(&e, onto, &facts->unknown_items, err));
    PR_TRY_GOTO(match_users(&e, known_as, onto, &facts->unknown_users, err));
    PR_TRY_GOTO(copy_keys(&e, err));
    PR_TRY_GOTO(copy_sessions(&e, err));
    facts->lost_sessions = data->sessions - out->data.sessions;
    facts->unknown_actions = data->actions - out->data.actions;
    PR_TRY_GOTO(match_features(&e, onto, PR_OF_USER, err));
    status = match_features(&e, onto, PR_OF_SESSION, err);
done:
    if (status != PARSREC_OK)
        pr_derived_free(out);
    return status;
}

char *pr_match_sentence(const pr_match_facts *f, const pr_dataset *data, char *buffer, size_t size)
{
    char users[120] = "", items[200] = "";
    if (f->unknown_users > 0)
        snprintf(users, sizeof users,
                 "%zu of %zu users are new to the model and served as unknown users",
                 f->unknown_users, data->users);
    if (f->unknown_items > 0)
        snprintf(
            items, sizeof items,
            "%zu of %zu items (%zu of %zu actions) are not in its catalogue and are left out%s",
            f->unknown_items, data->items, f->unknown_actions, data->actions,
            f->lost_sessions > 0 ? ", with sessions that have no other item" : "");
    const char *between = users[0] != '\0' && items[0] != '\0' ? "; " : "";
    if (size > 0)
        buffer[0] = '\0';
    if (users[0] != '\0' || items[0] != '\0')
        snprintf(buffer, size, "the data set is not the one the model was trained on: %s%s%s",
                 users, between, items);
    return buffer;
}
