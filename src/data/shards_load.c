/* Shards joined into one data set in memory. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "data/container_checksum.h"
#include "data/shards.h"

/* Columns of users and of sessions come from shards, those of items from the dictionary. */
static const pr_feature_of joined_tables[] = {PR_OF_USER, PR_OF_SESSION};
enum { JOINED_TABLES = sizeof joined_tables / sizeof *joined_tables };

struct pr_joined {
    pr_region region;
    pr_intern *words[PR_FEATURE_TABLES]; /* [columns]: of those that hold words */
    size_t columns[PR_FEATURE_TABLES];
    char checksum[PR_CHECKSUM_DIGITS + 1]; /* of the manifest */
    uint64_t bytes, tensors;
};

void pr_joined_free(struct pr_joined *joined)
{
    if (joined == NULL)
        return;
    for (int table = 0; table < PR_FEATURE_TABLES; table++) {
        for (size_t i = 0; i < joined->columns[table]; i++)
            pr_intern_free(&joined->words[table][i]);
        pr_free(joined->words[table]);
    }
    pr_region_free(&joined->region);
    pr_free(joined);
}

uint64_t pr_joined_bytes(const pr_dataset *data)
{
    return data->joined != NULL ? data->joined->bytes : 0;
}

uint64_t pr_joined_tensors(const pr_dataset *data)
{
    return data->joined != NULL ? data->joined->tensors : 0;
}

/* The columns while they are filled; the next shard begins at the sizes so far. */
typedef struct joining {
    pr_dataset *data;
    int64_t total[PR_SHARD_SIZES], so_far[PR_SHARD_SIZES];
    int64_t *user_offsets, *session_offsets, *times, *key_offsets;
    int32_t *items;
    char *key_bytes;
    /* Of each column of features, one of the two. */
    float **numbers[PR_FEATURE_TABLES];
    int32_t **codes[PR_FEATURE_TABLES];
} joining;

/* ---- room for the columns ---- */

static parsrec_status make_room(joining *j, parsrec_error *err)
{
    pr_dataset *d = j->data;
    pr_region *region = &d->joined->region;
    d->users = (size_t)j->total[PR_SHARD_USERS];
    d->sessions = (size_t)j->total[PR_SHARD_SESSIONS];
    d->actions = (size_t)j->total[PR_SHARD_ACTIONS];
    j->user_offsets = pr_region_take(region, d->users + 1, sizeof *j->user_offsets);
    j->session_offsets = pr_region_take(region, d->sessions + 1, sizeof *j->session_offsets);
    j->key_offsets = pr_region_take(region, d->users + 1, sizeof *j->key_offsets);
    j->key_bytes = pr_region_take(region, (size_t)j->total[PR_SHARD_KEY_BYTES], 1);
    j->items = pr_region_take(region, d->actions, sizeof *j->items);
    if (d->time_kind != PARSREC_TIME_NONE)
        j->times = pr_region_take(region, d->sessions, sizeof *j->times);
    PR_TRY(pr_region_check(region, err));
    d->user_offsets = j->user_offsets;
    d->session_offsets = j->session_offsets;
    d->user_keys = (pr_names){j->key_bytes, j->key_offsets, d->users};
    d->action_items = j->items;
    d->times = j->times;
    return PARSREC_OK;
}

/* The columns of features that the first shard has; the others must have the same. */
static parsrec_status make_features(joining *j, const pr_dataset *first, pr_feature_of table,
                                    parsrec_error *err)
{
    pr_dataset *d = j->data;
    size_t columns = first->feature_count[table], rows = pr_feature_rows(d, table);
    pr_region *region = &d->joined->region;
    d->features[table] = pr_alloc_zero(columns, sizeof **d->features);
    d->joined->words[table] = pr_alloc_zero(columns, sizeof **d->joined->words);
    j->numbers[table] = pr_region_take(region, columns, sizeof **j->numbers);
    j->codes[table] = pr_region_take(region, columns, sizeof **j->codes);
    if (d->features[table] == NULL || d->joined->words[table] == NULL)
        return pr_fail_memory(err);
    PR_TRY(pr_region_check(region, err));
    for (size_t i = 0; i < columns; i++) {
        const pr_feature_column *from = &first->features[table][i];
        pr_feature_column *to = &d->features[table][i];
        to->name = pr_copy_string(from->name, strlen(from->name));
        if (to->name == NULL)
            return pr_fail_memory(err);
        d->feature_count[table] = d->joined->columns[table] = i + 1;
        if (from->number != NULL)
            to->number = j->numbers[table][i] = pr_region_take(region, rows, sizeof(float));
        else
            to->code = j->codes[table][i] = pr_region_take(region, rows, sizeof(int32_t));
    }
    return pr_region_check(region, err);
}

/* ---- adding a shard ---- */

static parsrec_status join_words(pr_intern *words, int32_t *codes, const pr_feature_column *from,
                                 size_t rows, const char *path, parsrec_error *err)
{
    size_t count = from->values.count;
    uint32_t *number = pr_alloc(count, sizeof *number);
    parsrec_status status = number != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (size_t i = 0; i < count && status == PARSREC_OK; i++) {
        int64_t begin = from->values.offsets[i], end = from->values.offsets[i + 1];
        if (begin < 0 || end < begin || end > from->values.offsets[count])
            status = pr_fail(err, PARSREC_E_FORMAT, "%s: the words of feature '%s' are damaged",
                             path, from->name);
        else
            status = pr_intern_add(words, pr_name(&from->values, i), &number[i], err);
    }
    for (size_t i = 0; i < rows && status == PARSREC_OK; i++) {
        int32_t code = from->code[i];
        if (code < -1 || (code >= 0 && (size_t)code >= count))
            status = pr_fail(err, PARSREC_E_FORMAT, "%s: feature '%s' has no word %d", path,
                             from->name, code);
        else
            codes[i] = code >= 0 ? (int32_t)number[code] : -1;
    }
    pr_free(number);
    return status;
}

static parsrec_status join_features(joining *j, const pr_dataset *shard, pr_feature_of table,
                                    parsrec_error *err)
{
    pr_dataset *d = j->data;
    const char *path = pr_container_path(shard->file);
    size_t rows = pr_feature_rows(shard, table);
    size_t at = (size_t)j->so_far[table == PR_OF_USER ? PR_SHARD_USERS : PR_SHARD_SESSIONS];
    bool same = shard->feature_count[table] == d->feature_count[table];
    for (size_t i = 0; same && i < d->feature_count[table]; i++) {
        const pr_feature_column *from = &shard->features[table][i], *to = &d->features[table][i];
        same = strcmp(from->name, to->name) == 0 && (from->number != NULL) == (to->number != NULL);
        if (same && from->number != NULL)
            memcpy(j->numbers[table][i] + at, from->number, rows * sizeof *from->number);
        else if (same)
            PR_TRY(join_words(&d->joined->words[table][i], j->codes[table][i] + at, from, rows,
                              path, err));
    }
    if (same)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: its columns of features, or which of them are numbers, are not those of "
                   "shard 0; import all shards with the same --users, --number and --categorical",
                   path);
}

static void copy_offsets(int64_t *to, const int64_t *from, size_t count, int64_t base)
{
    for (size_t i = 0; i <= count; i++)
        to[i] = from[i] + base;
}

static parsrec_status join_shard(joining *j, const pr_dataset *shard, parsrec_error *err)
{
    int64_t *at = j->so_far;
    for (int i = 0; i < JOINED_TABLES; i++)
        PR_TRY(join_features(j, shard, joined_tables[i], err));
    copy_offsets(j->user_offsets + at[PR_SHARD_USERS], shard->user_offsets, shard->users,
                 at[PR_SHARD_SESSIONS]);
    copy_offsets(j->session_offsets + at[PR_SHARD_SESSIONS], shard->session_offsets,
                 shard->sessions, at[PR_SHARD_ACTIONS]);
    copy_offsets(j->key_offsets + at[PR_SHARD_USERS], shard->user_keys.offsets, shard->users,
                 at[PR_SHARD_KEY_BYTES]);
    memcpy(j->key_bytes + at[PR_SHARD_KEY_BYTES], shard->user_keys.bytes,
           (size_t)shard->user_keys.offsets[shard->users]);
    memcpy(j->items + at[PR_SHARD_ACTIONS], shard->action_items, shard->actions * sizeof *j->items);
    if (j->times != NULL)
        memcpy(j->times + at[PR_SHARD_SESSIONS], shard->times, shard->sessions * sizeof *j->times);
    return PARSREC_OK;
}

/* The shard is the one that the manifest names. */
static parsrec_status compare_shard(const pr_dataset *shard, const pr_manifest *m, uint32_t number,
                                    parsrec_time_kind kind, parsrec_error *err)
{
    const int64_t *sizes = m->sizes[number];
    char digits[PR_CHECKSUM_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)m->checksums[number]);
    if (strcmp(digits, pr_container_checksum(shard->file)) == 0 &&
        (uint64_t)sizes[PR_SHARD_USERS] == shard->users &&
        (uint64_t)sizes[PR_SHARD_SESSIONS] == shard->sessions &&
        (uint64_t)sizes[PR_SHARD_ACTIONS] == shard->actions &&
        sizes[PR_SHARD_KEY_BYTES] == shard->user_keys.offsets[shard->users] &&
        shard->time_kind == kind)
        return PARSREC_OK;
    return pr_fail(
        err, PARSREC_E_CHECKSUM,
        "%s: is not the file that the manifest names; write it again with parsrec import "
        "--shard %u/%u, or import anew",
        pr_container_path(shard->file), number, m->shards);
}

static parsrec_status add_shard(joining *j, const pr_manifest *m, uint32_t number,
                                const char *folder, parsrec_error *err)
{
    pr_dataset shard = {0};
    bool foreign;
    parsrec_status status =
        pr_shard_open(&shard, folder, number, m->shards, m->dictionary, &foreign, err);
    if (status == PARSREC_OK)
        status = compare_shard(&shard, m, number, j->data->time_kind, err);
    for (int i = 0; i < JOINED_TABLES && number == 0 && status == PARSREC_OK; i++)
        status = make_features(j, &shard, joined_tables[i], err);
    if (status == PARSREC_OK)
        status = join_shard(j, &shard, err);
    for (int i = 0; i < PR_SHARD_SIZES && status == PARSREC_OK; i++)
        j->so_far[i] += m->sizes[number][i];
    if (status == PARSREC_OK)
        j->data->joined->tensors += pr_container_tensors(shard.file);
    pr_shard_close(&shard);
    return status;
}

/* ---- the folder ---- */

/* Sums the sizes of shards, none of which can be larger than its file: a wrong manifest must not make
 * us ask for any amount of memory. */
static parsrec_status sum_sizes(joining *j, const pr_manifest *m, const char *folder,
                                parsrec_error *err)
{
    for (uint32_t k = 0; k < m->shards; k++) {
        pr_path hold;
        struct stat st;
        if (stat(pr_shard_path(&hold, folder, k), &st) != 0)
            return pr_shard_fail_missing(folder, k, m->shards, err);
        for (int i = 0; i < PR_SHARD_SIZES; i++) {
            if (m->sizes[k][i] > st.st_size)
                return pr_fail(err, PARSREC_E_FORMAT,
                               "%s: is smaller than the manifest says; write it again with parsrec "
                               "import --shard %u/%u",
                               hold.text, k, m->shards);
            j->total[i] += m->sizes[k][i];
        }
        j->data->joined->bytes += (uint64_t)st.st_size;
    }
    return PARSREC_OK;
}

static parsrec_status join(pr_dataset *d, const pr_manifest *m, const char *folder,
                           parsrec_error *err)
{
    joining j = {.data = d};
    PR_TRY(sum_sizes(&j, m, folder, err));
    PR_TRY(make_room(&j, err));
    for (uint32_t k = 0; k < m->shards; k++)
        PR_TRY(add_shard(&j, m, k, folder, err));
    for (int t = 0; t < JOINED_TABLES; t++)
        for (size_t i = 0; i < d->feature_count[joined_tables[t]]; i++)
            if (d->features[joined_tables[t]][i].code != NULL)
                d->features[joined_tables[t]][i].values =
                    pr_intern_view(&d->joined->words[joined_tables[t]][i]);
    d->joined->bytes += pr_container_bytes(d->file) + pr_container_bytes(m->file);
    d->joined->tensors += pr_container_tensors(d->file) + pr_container_tensors(m->file);
    snprintf(d->joined->checksum, sizeof d->joined->checksum, "%s", pr_container_checksum(m->file));
    d->checksum = d->joined->checksum;
    return pr_dataset_check(d, folder, err);
}

/* Why a folder without a manifest is no data set. */
static parsrec_status fail_without_manifest(const char *folder, parsrec_error *err)
{
    pr_path hold;
    pr_dictionary dictionary;
    uint32_t lacking = 0, first = 0;
    if (access(pr_dictionary_path(&hold, folder), F_OK) != 0)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: is a directory, but not a data set that parsrec import --shards wrote: "
                       "it has no manifest.st",
                       folder);
    PR_TRY(pr_dictionary_load(&dictionary, folder, err));
    uint32_t shards = dictionary.rules.shards;
    pr_dictionary_free(&dictionary);
    for (uint32_t k = shards; k-- > 0;)
        if (access(pr_shard_path(&hold, folder, k), F_OK) != 0) {
            lacking++;
            first = k;
        }
    if (lacking == 0)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: has no manifest.st, because the last import was interrupted; run it "
                       "again, or parsrec import --shard 0/%u",
                       folder, shards);
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: is not complete: %u of %u shards are missing; the first is written with "
                   "parsrec import --shard %u/%u",
                   folder, lacking, shards, first, shards);
}

parsrec_status pr_shards_load(pr_dataset **out, const char *folder, parsrec_error *err)
{
    pr_manifest m = {0};
    pr_dictionary dictionary = {0};
    *out = NULL;
    pr_path hold;
    pr_container *file;
    if (access(pr_manifest_path(&hold, folder), F_OK) != 0)
        return fail_without_manifest(folder, err);
    PR_TRY(pr_sealed_open(&file, hold.text, err));
    PR_TRY(pr_manifest_from(&m, file, err));
    parsrec_status status = pr_dictionary_load(&dictionary, folder, err);
    pr_dataset *d = dictionary.data;
    if (status == PARSREC_OK &&
        (strcmp(m.dictionary, pr_dataset_checksum(d)) != 0 || m.shards != dictionary.rules.shards))
        status = pr_fail(err, PARSREC_E_CHECKSUM,
                         "%s: the dictionary is not the one that the manifest names; import anew",
                         folder);
    if (status == PARSREC_OK && (d->joined = pr_alloc_zero(1, sizeof *d->joined)) == NULL)
        status = pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = join(d, &m, folder, err);
    if (status == PARSREC_OK)
        *out = d;
    else
        pr_dictionary_free(&dictionary);
    pr_container_free(m.file);
    return status;
}
