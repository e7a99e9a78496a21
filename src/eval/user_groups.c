/* One function for each kind of group; all mark members, and a group is made of the marks. */
#include "eval/user_groups.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "eval/user_list.h"
#include "eval/user_marks.h"
#include "synth/truth.h"

enum { CLUSTERS_MOST = 1000 };

/* What all of them need. */
typedef struct making {
    pr_user_groups *groups;
    const pr_group_source *from;
    const pr_dataset *data;
    bool *members; /* [users] */
} making;

/* ---- a group of the marks ---- */

const pr_user_group *pr_user_group_named(const pr_user_groups *groups, pr_slice name)
{
    for (size_t g = 0; g < groups->count; g++)
        if (pr_slice_is(name, groups->list[g].name))
            return &groups->list[g];
    return NULL;
}

static parsrec_status fill_group(pr_user_group *group, const making *m, size_t count, pr_slice name,
                                 parsrec_error *err)
{
    group->name = pr_copy_string(name.bytes, name.size);
    group->users = pr_alloc(count, sizeof *group->users);
    if (group->name == NULL || group->users == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < m->data->users; u++)
        if (m->members[u])
            group->users[group->count++] = (int32_t)u;
    return PARSREC_OK;
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
        return pr_fail(err, PARSREC_E_ARGUMENT, "two groups are called %s; give them two names",
                       pr_show(&hold, name));
    PR_TRY(pr_grow(&groups->list, &groups->capacity, groups->count + 1, sizeof *groups->list, err));
    groups->list[groups->count] = (pr_user_group){0};
    return fill_group(&groups->list[groups->count++], m, count, name, err);
}

/* Groups that numbers stand for: one of each value below `count`. */
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

static parsrec_status add_buyers(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    PR_TRY(pr_mark_buyers(m->members, m->data, m->from->last, rest, err));
    return add_group(m, spec, err);
}

static parsrec_status add_user(making *m, pr_slice spec, pr_slice rest, parsrec_error *err)
{
    pr_excerpt hold;
    memset(m->members, false, m->data->users * sizeof *m->members);
    for (size_t u = 0; u < m->data->users; u++)
        m->members[u] = pr_slice_equal(pr_name(&m->data->user_keys, u), rest);
    return memchr(m->members, true, m->data->users) != NULL
               ? add_group(m, spec, err)
               : pr_fail(err, PARSREC_E_NOT_FOUND, "user %s is not in the data set",
                         pr_show(&hold, rest));
}

static parsrec_status add_clusters(making *m, int32_t *cluster, size_t clusters, parsrec_error *err)
{
    const pr_dataset *d = m->data;
    size_t rows = d->known_as != NULL ? d->known_users : d->users;
    int32_t *row = cluster + d->users; /* [rows]: the same by the model's numbers */
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
    int32_t *cluster = pr_alloc(m->data->users + rows, sizeof *cluster);
    if (cluster == NULL)
        return pr_fail_memory(err);
    parsrec_status status = add_clusters(m, cluster, (size_t)clusters, err);
    pr_free(cluster);
    return status;
}

/* ---- WORD=WORD: a feature or a file ---- */

/* The sentence names both readings, since either may have been meant. */
static parsrec_status mark_file(making *m, pr_slice name, const char *path, parsrec_error *err)
{
    parsrec_error inner = {0};
    pr_excerpt hold;
    parsrec_status status = pr_user_list_read(m->members, path, m->data, &inner);
    if (status == PARSREC_OK || status == PARSREC_E_MEMORY)
        return status == PARSREC_OK ? status : pr_fail_memory(err);
    return pr_fail(err, status, "group %s is no user feature, so it is a file: %s",
                   pr_show(&hold, name), inner.message);
}

static parsrec_status add_equation(making *m, const char *spec, const char *equals,
                                   parsrec_error *err)
{
    pr_slice name = {spec, (size_t)(equals - spec)}, value = pr_slice_of(equals + 1);
    const pr_feature_column *feature = pr_user_feature_named(m->data, name);
    if (feature == NULL) {
        PR_TRY(mark_file(m, name, equals + 1, err));
        return add_group(m, name, err);
    }
    PR_TRY(pr_mark_feature(m->members, m->data, feature, value, err));
    return add_group(m, pr_slice_of(spec), err);
}

/* ---- all of them ---- */

typedef struct kind {
    const char *word;
    bool whole; /* the word is the specification; else it ends with ':' and something follows */
    parsrec_status (*add)(making *m, pr_slice spec, pr_slice rest, parsrec_error *err);
} kind;

static const kind kinds[] = {
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
                   "group %s is none of everybody, truth, FEATURE=VALUE, NAME=FILE, "
                   "buyers:CATEGORY, cluster:N, user:KEY",
                   pr_show(&hold, pr_slice_of(spec)));
}

parsrec_status pr_user_groups_init(pr_user_groups *groups, const pr_group_source *from,
                                   const char *const *specs, size_t count, parsrec_error *err)
{
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
        pr_free(groups->list[g].users);
    }
    pr_free(groups->list);
    *groups = (pr_user_groups){0};
}
