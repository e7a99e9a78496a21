/* One function for each kind of group, and the groups that a data set offers by itself. */
#include "eval/user_groups.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/writer.h"
#include "data/dataset_edit.h"
#include "data/directory.h"
#include "data/split.h"
#include "import/rows.h"
#include "synth/truth.h"

enum { CLUSTERS_MOST = 1000 };

/* The groups under construction, and the marks that the next one is made of. */
typedef struct making {
    pr_user_groups *groups;
    const pr_group_source *from;
    const pr_dataset *data;
    bool *members; /* [users] */
} making;

/* ---- a group from the marks ---- */

const pr_user_group *pr_user_group_named(const pr_user_groups *groups, pr_slice name)
{
    for (size_t g = 0; g < groups->count; g++)
        if (pr_slice_is(name, groups->list[g].name))
            return &groups->list[g];
    return NULL;
}

/* The words that the page has for a group, too. NULL when out of memory. */
static char *label_of(pr_slice name)
{
    static const struct {
        const char *prefix, *words;
    } kinds[] = {{"buyers:", "buyers of "}, {"user:", ""}};
    pr_writer label = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && label.size == 0; i++) {
        size_t skipped = strlen(kinds[i].prefix);
        if (name.size > skipped && memcmp(name.bytes, kinds[i].prefix, skipped) == 0)
            pr_write(&label, "%s%.*s", kinds[i].words, (int)(name.size - skipped),
                     name.bytes + skipped);
    }
    if (label.size == 0)
        pr_write_bytes(&label, name.bytes, name.size);
    return pr_writer_take(&label);
}

static parsrec_status add_group(making *m, pr_slice name, parsrec_error *err)
{
    pr_user_groups *groups = m->groups;
    pr_excerpt hold;
    size_t count = 0;
    for (size_t u = 0; u < m->data->users; u++)
        count += m->members[u];
    if (count == 0)
        return pr_fail(err, PARSREC_E_INPUT, "group %s has no users", pr_show(&hold, name));
    if (pr_user_group_named(groups, name) != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "two groups are called %s; give them different names", pr_show(&hold, name));
    PR_TRY(pr_grow(&groups->list, &groups->capacity, groups->count + 1, sizeof *groups->list, err));
    pr_user_group *group = &groups->list[groups->count++];
    *group =
        (pr_user_group){.name = pr_copy_string(name.bytes, name.size), .label = label_of(name)};
    group->users = pr_alloc(count, sizeof *group->users);
    if (group->name == NULL || group->label == NULL || group->users == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < m->data->users; u++)
        if (m->members[u])
            group->users[group->count++] = (int32_t)u;
    return PARSREC_OK;
}

/* Adds the group of users u with number[u] == value. */
static parsrec_status add_numbered(making *m, const int32_t *number, int32_t value, pr_slice name,
                                   parsrec_error *err)
{
    for (size_t u = 0; u < m->data->users; u++)
        m->members[u] = number[u] == value;
    return add_group(m, name, err);
}

/* ---- kinds of groups: `rest` is what follows the word that names the kind ---- */

static parsrec_status add_everybody(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    (void)rest;
    memset(m->members, true, m->data->users * sizeof *m->members);
    return add_group(m, spec, err);
}

static parsrec_status add_truth(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    (void)spec;
    (void)rest;
    pr_truth truth;
    PR_TRY(pr_truth_read(&truth, m->data, err));
    for (size_t g = 0; g < truth.groups; g++)
        PR_TRY(add_numbered(m, truth.group, (int32_t)g, pr_name(&truth.group_names, g), err));
    return PARSREC_OK;
}

static bool bought(const pr_dataset *d, size_t user, size_t last, const bool *wanted)
{
    int64_t first = d->session_offsets[d->user_offsets[user]];
    int64_t end = d->session_offsets[pr_split_train_end(d, user, last)];
    for (int64_t a = first; a < end; a++) {
        int32_t category = d->item_category[d->action_items[a]];
        if (category >= 0 && wanted[category])
            return true;
    }
    return false;
}

static parsrec_status add_buyers(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    const pr_dataset *d = m->data;
    pr_directory directory;
    int32_t category = -1;
    parsrec_status status = pr_directory_init(&directory, d, err);
    if (status == PARSREC_OK)
        status = pr_directory_category(&directory, rest, &category, err);
    pr_directory_free(&directory);
    PR_TRY(status);
    bool *wanted = pr_alloc_zero(d->categories, sizeof *wanted);
    if (wanted == NULL)
        return pr_fail_memory(err);
    wanted[category] = true;
    /* Parents come before children, so one pass reaches everything below. */
    for (size_t c = (size_t)category + 1; c < d->categories; c++)
        wanted[c] = d->category_parent[c] >= 0 && wanted[d->category_parent[c]];
    for (size_t u = 0; u < d->users; u++)
        m->members[u] = bought(d, u, m->from->last, wanted);
    pr_free(wanted);
    return add_group(m, spec, err);
}

static parsrec_status add_user(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    pr_excerpt hold;
    pr_slice own = pr_key_trim(rest);
    for (size_t u = 0; u < m->data->users; u++) {
        pr_slice key = pr_name(&m->data->user_keys, u);
        m->members[u] = pr_slice_equal(key, rest) || pr_slice_equal(key, own);
    }
    if (memchr(m->members, true, m->data->users) == NULL)
        return pr_fail(err, PARSREC_E_NOT_FOUND, "user %s is not in the data set",
                       pr_show(&hold, rest));
    return add_group(m, spec, err);
}

/* Adds a group per cluster. The source clusters rows of the model's user table, whose numbers may
 * differ from the data set's; row[rows] and cluster[users] are memory for the clusters by
 * either. */
static parsrec_status add_all_clusters(making *m, size_t clusters, int32_t *row, size_t rows,
                                       int32_t *cluster, parsrec_error *err)
{
    const pr_dataset *d = m->data;
    for (size_t r = 0; r < rows; r++)
        row[r] = -1;
    for (size_t u = 0; u < d->users; u++)
        if (d->user_offsets[u] < d->user_offsets[u + 1] && pr_known_user(d, u) >= 0)
            row[pr_known_user(d, u)] = 0;
    PR_TRY(m->from->cluster(m->from->context, row, clusters, err));
    for (size_t u = 0; u < d->users; u++)
        cluster[u] = pr_known_user(d, u) >= 0 ? row[pr_known_user(d, u)] : -1;
    for (size_t c = 0; c < clusters; c++) {
        char name[32];
        snprintf(name, sizeof name, "cluster %zu", c + 1);
        PR_TRY(add_numbered(m, cluster, (int32_t)c, pr_slice_of(name), err));
    }
    return PARSREC_OK;
}

static parsrec_status add_cluster(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    uint64_t clusters;
    pr_excerpt hold;
    if (!pr_parse_u64(rest, &clusters) || clusters < 1 || clusters > CLUSTERS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "group %s: cluster: is followed by 1 to %d",
                       pr_show(&hold, spec), CLUSTERS_MOST);
    if (m->from->cluster == NULL)
        return pr_fail(err, PARSREC_E_UNSUPPORTED, "group %s: clusters need a model",
                       pr_show(&hold, spec));
    size_t rows = m->data->known_as != NULL ? m->data->known_users : m->data->users;
    int32_t *row = pr_alloc(rows + m->data->users, sizeof *row);
    if (row == NULL)
        return pr_fail_memory(err);
    parsrec_status status = add_all_clusters(m, (size_t)clusters, row, rows, row + rows, err);
    pr_free(row);
    return status;
}

/* ---- lists of users in files ---- */

static parsrec_status mark_user(bool *members, const pr_intern *users, const pr_rows *rows,
                                pr_slice key, uint64_t line, parsrec_error *err)
{
    uint32_t user;
    pr_excerpt hold;
    if (!pr_intern_find(users, key, &user))
        return pr_rows_fail(rows, line, 0, err, "user %s is not in the data set",
                            pr_show(&hold, key));
    members[user] = true;
    return PARSREC_OK;
}

static parsrec_status mark_all(bool *members, const pr_intern *users, pr_rows *rows,
                               parsrec_error *err)
{
    uint32_t user;
    /* The first line is read as column names; unless it is the header "user" it is a key. A user
     * may have the key "user". */
    if (!pr_slice_is(rows->columns[0], "user") || pr_intern_find(users, rows->columns[0], &user))
        PR_TRY(mark_user(members, users, rows, rows->columns[0], 1, err));
    for (;;) {
        pr_row row;
        bool end = false;
        PR_TRY(rows->next(rows, &row, &end, err));
        if (end)
            return PARSREC_OK;
        PR_TRY(mark_user(members, users, rows, row.fields[0], row.line, err));
    }
}

parsrec_status pr_user_list_read(bool *members, const char *path, const pr_dataset *data,
                                 parsrec_error *err)
{
    pr_intern users = {0};
    pr_rows *rows = NULL;
    pr_rows_options options = {.format = PARSREC_INPUT_CSV};
    memset(members, false, data->users * sizeof *members);
    parsrec_status status = pr_rows_open(&rows, path, &options, err);
    if (status == PARSREC_OK)
        status = pr_intern_load(&users, &data->user_keys, err);
    if (status == PARSREC_OK)
        status = mark_all(members, &users, rows, err);
    pr_rows_free(rows);
    pr_intern_free(&users);
    return status;
}

/* ---- splits ---- */

static parsrec_status split_listed(pr_dataset *data, const char *path, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    bool *tests = pr_alloc(data->users, sizeof *tests);
    size_t count = 0;
    if (tests == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_user_list_read(tests, path, data, err);
    if (status == PARSREC_OK)
        status = pr_dataset_split_users(data, tests, err);
    for (size_t u = 0; u < data->users && status == PARSREC_OK; u++)
        count += tests[u];
    if (status == PARSREC_OK)
        pr_say(hooks, PARSREC_LOG_INFO, "tests the last session of %zu listed user%s", count,
               count == 1 ? "" : "s");
    pr_free(tests);
    return status;
}

/* What is tested, and what of the other kind is not. */
static void say_split(const pr_split_facts *f, const pr_dataset *data, const parsrec_hooks *hooks)
{
    pr_date_text hold;
    char when[sizeof hold], others[160] = "";
    bool users = f->by == PARSREC_SPLIT_BY_USERS;
    size_t tested = users ? f->returning : f->beginning;
    size_t left = users ? f->beginning : f->returning;
    if (data->time_kind == PARSREC_TIME_UNIX)
        snprintf(when, sizeof when, "%s", pr_date_of(&hold, f->time));
    else
        snprintf(when, sizeof when, "%lld", (long long)f->time);
    if (left > 0)
        snprintf(others, sizeof others, "; %zu user%s who %s %s not tested (--split-by %s)", left,
                 left == 1 ? "" : "s",
                 users ? (left == 1 ? "begins then" : "begin then")
                       : (left == 1 ? "returns then" : "return then"),
                 left == 1 ? "is" : "are", users ? "sessions" : "users");
    if (users)
        pr_say(hooks, PARSREC_LOG_INFO,
               "tests the first session from %s on of %zu returning user%s, given the sessions "
               "before it%s",
               when, tested, tested == 1 ? "" : "s", others);
    else
        pr_say(hooks, PARSREC_LOG_INFO,
               "tests %zu session%s of users who begin from %s on, without a history%s", tested,
               tested == 1 ? "" : "s", when, others);
}

parsrec_status parsrec_data_split(parsrec_data *data, const parsrec_split_options *how,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    if (data == NULL || how == NULL || how->at + (how->days > 0) + (how->users_path != NULL) > 1)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_data_split needs data and one of a time, days and a file of users");
    pr_split_facts facts;
    if (how->users_path != NULL)
        return split_listed(data, how->users_path, hooks, err);
    if (how->at)
        PR_TRY(pr_dataset_split_at(data, how->time, how->by, &facts, err));
    else if (how->days > 0)
        PR_TRY(pr_dataset_split_days(data, how->days, how->by, &facts, err));
    else
        return PARSREC_OK;
    say_split(&facts, data, hooks);
    return PARSREC_OK;
}

/* ---- FEATURE=VALUE or NAME=FILE ---- */

/* "31" or "30..40", both ends included. */
static bool parse_range(pr_slice text, double *low, double *high)
{
    if (pr_parse_f64(text, low)) {
        *high = *low;
        return true;
    }
    for (size_t i = 1; i + 2 < text.size; i++)
        if (text.bytes[i] == '.' && text.bytes[i + 1] == '.')
            return pr_parse_f64((pr_slice){text.bytes, i}, low) &&
                   pr_parse_f64((pr_slice){text.bytes + i + 2, text.size - i - 2}, high);
    return false;
}

static parsrec_status mark_feature(making *m, const pr_feature_column *feature, pr_slice value,
                                   parsrec_error *err)
{
    size_t users = m->data->users;
    pr_excerpt hold;
    if (feature->number != NULL) {
        double low, high;
        if (!parse_range(value, &low, &high))
            return pr_fail(
                err, PARSREC_E_ARGUMENT,
                "user feature '%s' is a number: %s is not a number, nor a range such as 30..40",
                feature->name, pr_show(&hold, value));
        for (size_t u = 0; u < users; u++)
            m->members[u] = (double)feature->number[u] >= low && (double)feature->number[u] <= high;
        return PARSREC_OK;
    }
    for (size_t code = 0; code < feature->values.count; code++) {
        if (!pr_slice_equal(pr_name(&feature->values, code), value))
            continue;
        for (size_t u = 0; u < users; u++)
            m->members[u] = feature->code[u] == (int32_t)code;
        return PARSREC_OK;
    }
    return pr_fail(err, PARSREC_E_NOT_FOUND, "user feature '%s' has no value %s", feature->name,
                   pr_show(&hold, value));
}

/* Without such a feature it is a file. If that cannot be read, the message names both readings. */
static parsrec_status add_equation(making *m, const char *spec, const char *equals,
                                   parsrec_error *err)
{
    pr_slice name = {spec, (size_t)(equals - spec)};
    for (size_t i = 0; i < m->data->feature_count[PR_OF_USER]; i++) {
        const pr_feature_column *feature = &m->data->features[PR_OF_USER][i];
        if (!pr_slice_is(name, feature->name))
            continue;
        PR_TRY(mark_feature(m, feature, pr_slice_of(equals + 1), err));
        return add_group(m, pr_slice_of(spec), err);
    }
    parsrec_error inner = {0};
    pr_excerpt hold;
    parsrec_status status = pr_user_list_read(m->members, equals + 1, m->data, &inner);
    if (status == PARSREC_E_MEMORY)
        return pr_fail_memory(err);
    if (status != PARSREC_OK)
        return pr_fail(err, status, "group %s is not a user feature, so it is a file: %s",
                       pr_show(&hold, name), inner.message);
    return add_group(m, name, err);
}

/* ---- all of them ---- */

static const struct {
    const char *word;
    bool whole; /* the word is the specification; else it ends with ':' and something follows */
    parsrec_status (*add)(making *m, pr_slice spec, pr_slice rest, parsrec_error *err);
} kinds[] = {
    {"everybody", true, add_everybody}, {"truth", true, add_truth},
    {"buyers:", false, add_buyers},     {"user:", false, add_user},
    {"cluster:", false, add_cluster},
};

static parsrec_status add_spec(making *m, const char *spec, parsrec_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].word);
        bool match = kinds[i].whole ? strcmp(spec, kinds[i].word) == 0
                                    : strncmp(spec, kinds[i].word, length) == 0;
        if (match)
            return kinds[i].add(m, pr_slice_of(spec), pr_slice_of(spec + length), err);
    }
    const char *equals = strchr(spec, '=');
    pr_excerpt hold;
    if (equals != NULL && equals > spec)
        return add_equation(m, spec, equals, err);
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "group %s is not one of everybody, truth, FEATURE=VALUE, NAME=FILE, "
                   "buyers:CATEGORY, cluster:N, user:KEY",
                   pr_show(&hold, pr_slice_of(spec)));
}

parsrec_status pr_user_groups_init(pr_user_groups *groups, const pr_group_source *from,
                                   const char *const *specs, size_t count, parsrec_error *err)
{
    assert(from->last > 0);
    *groups = (pr_user_groups){0};
    making m = {groups, from, from->data, pr_alloc_zero(from->data->users, sizeof(bool))};
    parsrec_status status = m.members == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK && count == 0)
        status = add_spec(&m, "everybody", err);
    for (size_t i = 0; i < count && status == PARSREC_OK; i++)
        status = add_spec(&m, specs[i], err);
    pr_free(m.members);
    return status;
}

void pr_user_groups_free(pr_user_groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        pr_free(groups->list[g].name);
        pr_free(groups->list[g].label);
        pr_free(groups->list[g].users);
    }
    pr_free(groups->list);
    *groups = (pr_user_groups){0};
}

bool parsrec_data_group(const parsrec_data *data, size_t i, char *buffer, size_t size)
{
    static const char *const plain[] = {"everybody", "truth"};
    pr_truth truth;
    if (data == NULL || buffer == NULL || size == 0)
        return false;
    bool has_truth = data->file != NULL && pr_truth_read(&truth, data, NULL) == PARSREC_OK;
    size_t plain_count = has_truth ? 2 : 1;
    if (i < plain_count) {
        snprintf(buffer, size, "%s", plain[i]);
        return true;
    }
    i -= plain_count;
    for (size_t f = 0; f < data->feature_count[PR_OF_USER]; f++) {
        const pr_feature_column *feature = &data->features[PR_OF_USER][f];
        /* Features with few different words can serve as groups; those with more are keys or
         * texts. */
        enum { VALUES_MOST = 32 };
        size_t count = feature->code != NULL ? feature->values.count : 0;
        size_t values = count <= VALUES_MOST ? count : 0;
        if (i < values) {
            pr_slice value = pr_name(&feature->values, i);
            snprintf(buffer, size, "%s=%.*s", feature->name, (int)value.size, value.bytes);
            return true;
        }
        i -= values;
    }
    return false;
}
