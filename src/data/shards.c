/* The files of a folder: the dictionary, shards, the manifest. */
#include "data/shards.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"

uint32_t pr_shard_of(pr_slice user, uint32_t shards)
{
    assert(shards > 0);
    uint8_t h[PR_MD5_BYTES];
    pr_md5(h, user.bytes, user.size);
    uint32_t first = (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
    return first % shards;
}

int pr_key_compare(pr_slice a, pr_slice b)
{
    int order = memcmp(a.bytes, b.bytes, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool pr_shards_at(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

#define DICTIONARY_NAME "dictionary.st"
#define MANIFEST_NAME   "manifest.st"

const char *pr_dictionary_path(pr_path *hold, const char *folder)
{
    snprintf(hold->text, sizeof hold->text, "%s/" DICTIONARY_NAME, folder);
    return hold->text;
}

const char *pr_shard_path(pr_path *hold, const char *folder, uint32_t shard)
{
    snprintf(hold->text, sizeof hold->text, "%s/shard-%04u.st", folder, shard);
    return hold->text;
}

const char *pr_manifest_path(pr_path *hold, const char *folder)
{
    snprintf(hold->text, sizeof hold->text, "%s/" MANIFEST_NAME, folder);
    return hold->text;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool pr_shards_is_data(const char *path)
{
    pr_path hold;
    return exists(pr_dictionary_path(&hold, path)) || exists(pr_manifest_path(&hold, path));
}

/* ---- the dictionary ---- */

static const char *const rule_names[] = {"column", "gap", "day", "week", "month"};
enum { RULES = sizeof rule_names / sizeof *rule_names };

const char *pr_session_rule_name(parsrec_session_rule rule)
{
    assert((unsigned)rule < RULES);
    return rule_names[rule];
}

/* The same catalogue and texts, and nobody who bought anything. */
static pr_dataset without_users(const pr_dataset *data)
{
    static const int64_t none[1] = {0};
    pr_dataset d = *data;
    d.users = d.sessions = d.actions = 0;
    d.user_keys = (pr_names){"", none, 0};
    d.user_offsets = d.session_offsets = none;
    d.feature_count[PR_OF_USER] = d.feature_count[PR_OF_SESSION] = 0;
    d.view_count = 0;
    return d;
}

parsrec_status pr_dictionary_save(const pr_dataset *data, const pr_shard_rules *rules,
                                  const char *folder, parsrec_error *err)
{
    pr_path hold;
    const char *path = pr_dictionary_path(&hold, folder);
    char shards[16], gap[24], least[24];
    pr_dataset bare = without_users(data);
    assert(rules->shards > 0 && rules->shards <= PARSREC_SHARDS_MOST);
    snprintf(shards, sizeof shards, "%u", rules->shards);
    snprintf(gap, sizeof gap, "%lld", (long long)rules->session_gap);
    snprintf(least, sizeof least, "%llu", (unsigned long long)rules->min_actions);
    const pr_metadata metadata[] = {{"shards", shards},
                                    {"session_rule", pr_session_rule_name(rules->session_rule)},
                                    {"session_gap", gap},
                                    {"min_actions", least}};
    pr_enclosing in = {.format = PR_DICTIONARY_FORMAT,
                       .version = PR_SHARDS_VERSION,
                       .metadata = metadata,
                       .metadata_count = sizeof metadata / sizeof *metadata,
                       .part = PR_PART_CATALOGUE};
    PR_TRY(pr_dataset_check(&bare, path, err));
    return pr_dataset_enclose(&bare, &in, path, err);
}

/* A whole number in the metadata, up to `most`; 0 if it is not there. */
static parsrec_status read_count(const pr_container *file, const char *key, uint64_t most,
                                 uint64_t *out, parsrec_error *err)
{
    const char *text = pr_container_metadata(file, key);
    *out = 0;
    if (text == NULL || (pr_parse_u64(pr_slice_of(text), out) && *out <= most))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_FORMAT, "%s: the metadata '%s' is not a whole number up to %llu",
                   pr_container_path(file), key, (unsigned long long)most);
}

static parsrec_status read_rules(pr_shard_rules *r, const pr_container *file, parsrec_error *err)
{
    uint64_t shards, gap;
    const char *rule = pr_container_metadata(file, "session_rule");
    PR_TRY(read_count(file, "shards", PARSREC_SHARDS_MOST, &shards, err));
    PR_TRY(read_count(file, "session_gap", INT64_MAX, &gap, err));
    PR_TRY(read_count(file, "min_actions", UINT64_MAX, &r->min_actions, err));
    r->shards = (uint32_t)shards;
    r->session_gap = (int64_t)gap;
    for (int i = 0; i < RULES; i++)
        if (rule != NULL && shards > 0 && strcmp(rule, rule_names[i]) == 0) {
            r->session_rule = (parsrec_session_rule)i;
            return PARSREC_OK;
        }
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: does not say how many shards there are or how sessions are cut",
                   pr_container_path(file));
}

static parsrec_status expect(const pr_container *file, const char *format, parsrec_error *err)
{
    uint32_t version;
    return pr_container_expect(file, format, PR_SHARDS_VERSION, &version, err);
}

parsrec_status pr_dictionary_from(pr_dictionary *out, pr_container *file, parsrec_error *err)
{
    static const int64_t none[1] = {0};
    *out = (pr_dictionary){.data = pr_alloc_zero(1, sizeof *out->data)};
    if (out->data == NULL) {
        pr_container_free(file);
        return pr_fail_memory(err);
    }
    out->data->file = file;
    out->data->user_keys = (pr_names){"", none, 0};
    out->data->user_offsets = out->data->session_offsets = none;
    parsrec_status status = expect(file, PR_DICTIONARY_FORMAT, err);
    if (status == PARSREC_OK)
        status = read_rules(&out->rules, file, err);
    if (status == PARSREC_OK)
        status = pr_dataset_read(out->data, PR_PART_CATALOGUE, err);
    if (status == PARSREC_OK)
        status = pr_dataset_check(out->data, pr_container_path(file), err);
    if (status != PARSREC_OK)
        pr_dictionary_free(out);
    return status;
}

parsrec_status pr_dictionary_load(pr_dictionary *out, const char *folder, parsrec_error *err)
{
    pr_path hold;
    pr_container *file;
    const char *path = pr_dictionary_path(&hold, folder);
    *out = (pr_dictionary){0};
    if (!exists(path))
        return pr_fail(err, PARSREC_E_IO,
                       "%s: has no " DICTIONARY_NAME
                       "; write it first, with parsrec import --dictionary -o %s INPUT...",
                       folder, folder);
    PR_TRY(pr_sealed_open(&file, path, err));
    return pr_dictionary_from(out, file, err);
}

void pr_dictionary_free(pr_dictionary *dictionary)
{
    pr_dataset_free(dictionary->data);
    *dictionary = (pr_dictionary){0};
}

/* ---- what import may replace ---- */

/* Length of a shard's name (pr_shard_path) at the start of `name`; 0: there is none. */
static size_t shard_name(const char *name)
{
    static const char like[] = "shard-0000.st"; /* 0: any digit */
    for (size_t i = 0; like[i] != '\0'; i++)
        if (like[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != like[i])
            return 0;
    return strlen(like);
}

/* A file of a folder of shards, or a temporary one beside it. */
static bool is_ours(const char *name, bool *is_shard)
{
    size_t end = shard_name(name), length = strlen(name);
    *is_shard = end > 0;
    if (!*is_shard)
        end = strncmp(name, DICTIONARY_NAME, strlen(DICTIONARY_NAME)) == 0 ? strlen(DICTIONARY_NAME)
              : strncmp(name, MANIFEST_NAME, strlen(MANIFEST_NAME)) == 0   ? strlen(MANIFEST_NAME)
                                                                           : 0;
    return end > 0 && (name[end] == '\0' ||
                       (name[end] == '.' && length > 4 && strcmp(name + length - 4, ".tmp") == 0));
}

parsrec_status pr_shards_may_replace(const char *path, bool must_be_new, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    if (!exists(path))
        return PARSREC_OK;
    if (!pr_shards_at(path))
        return pr_fail(err, PARSREC_E_IO,
                       "%s: is a file, but shards are written to a folder; remove it or name "
                       "another folder",
                       path);
    DIR *listing = opendir(path);
    if (listing == NULL)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be read", path);
    for (struct dirent *e; status == PARSREC_OK && (e = readdir(listing)) != NULL;) {
        bool is_shard;
        pr_excerpt hold;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (!is_ours(e->d_name, &is_shard))
            status = pr_fail(err, PARSREC_E_IO,
                             "%s: the folder holds %s, which is not part of a data set; name "
                             "another folder",
                             path, pr_show(&hold, pr_slice_of(e->d_name)));
        else if (must_be_new && is_shard)
            status = pr_fail(err, PARSREC_E_IO,
                             "%s: has shards of an earlier dictionary; remove the folder or name "
                             "another",
                             path);
    }
    closedir(listing);
    return status;
}

/* ---- a shard ---- */

/* The words of a feature that rows first to end - 1 have, by first appearance. */
static parsrec_status slice_words(pr_feature_column *out, const pr_feature_column *all,
                                  size_t first, size_t count, pr_region *region, parsrec_error *err)
{
    size_t known = 0, bytes = 0;
    int32_t *code_of = pr_region_take(region, all->values.count, sizeof *code_of); /* + 1 */
    int32_t *chosen = pr_region_take(region, all->values.count, sizeof *chosen);
    int32_t *codes = pr_region_take(region, count, sizeof *codes);
    int64_t *offsets = pr_region_take(region, all->values.count + 1, sizeof *offsets);
    PR_TRY(pr_region_check(region, err));
    for (size_t i = 0; i < count; i++) {
        int32_t code = all->code[first + i];
        if (code >= 0 && code_of[code] == 0) {
            bytes += pr_name(&all->values, (size_t)code).size;
            chosen[known++] = code;
            code_of[code] = (int32_t)known;
        }
        codes[i] = code >= 0 ? code_of[code] - 1 : -1;
    }
    char *text = pr_region_take(region, bytes, 1);
    PR_TRY(pr_region_check(region, err));
    for (size_t i = 0; i < known; i++) {
        pr_slice word = pr_name(&all->values, (size_t)chosen[i]);
        memcpy(text + offsets[i], word.bytes, word.size);
        offsets[i + 1] = offsets[i] + (int64_t)word.size;
    }
    out->code = codes;
    out->values = (pr_names){text, offsets, known};
    return PARSREC_OK;
}

static parsrec_status slice_features(pr_dataset *out, const pr_dataset *all, pr_feature_of table,
                                     size_t first, size_t count, pr_region *region,
                                     parsrec_error *err)
{
    size_t columns = all->feature_count[table];
    out->features[table] = pr_region_take(region, columns, sizeof **out->features);
    out->feature_count[table] = columns;
    PR_TRY(pr_region_check(region, err));
    for (size_t i = 0; i < columns; i++) {
        const pr_feature_column *from = &all->features[table][i];
        pr_feature_column *to = &out->features[table][i];
        to->name = from->name;
        if (from->number != NULL)
            to->number = from->number + first;
        else
            PR_TRY(slice_words(to, from, first, count, region, err));
    }
    return PARSREC_OK;
}

/* Offsets first to end, less the first of them. */
static int64_t *slice_offsets(const int64_t *offsets, size_t first, size_t end, pr_region *region)
{
    int64_t *out = pr_region_take(region, end - first + 1, sizeof *out);
    for (size_t i = first; out != NULL && i <= end; i++)
        out[i - first] = offsets[i] - offsets[first];
    return out;
}

/* Users first to end - 1 with all that is theirs. */
static parsrec_status slice(pr_dataset *out, const pr_dataset *all, size_t first, size_t end,
                            pr_region *region, parsrec_error *err)
{
    size_t session = (size_t)all->user_offsets[first], last = (size_t)all->user_offsets[end];
    size_t action = (size_t)all->session_offsets[session];
    *out = (pr_dataset){.users = end - first,
                        .sessions = last - session,
                        .actions = (size_t)all->session_offsets[last] - action,
                        .time_kind = all->time_kind};
    out->user_offsets = slice_offsets(all->user_offsets, first, end, region);
    out->session_offsets = slice_offsets(all->session_offsets, session, last, region);
    out->user_keys =
        (pr_names){.bytes = all->user_keys.bytes + all->user_keys.offsets[first],
                   .offsets = slice_offsets(all->user_keys.offsets, first, end, region),
                   .count = out->users};
    PR_TRY(pr_region_check(region, err));
    out->action_items = all->actions > 0 ? all->action_items + action : NULL;
    out->times = all->times != NULL ? all->times + session : NULL;
    PR_TRY(slice_features(out, all, PR_OF_USER, first, out->users, region, err));
    return slice_features(out, all, PR_OF_SESSION, session, out->sessions, region, err);
}

static void shard_text(char text[32], uint32_t shard, uint32_t shards)
{
    snprintf(text, 32, "%u/%u", shard, shards);
}

static parsrec_status save_users(const pr_dataset *data, size_t first, size_t end, uint32_t shard,
                                 uint32_t shards, const char *dictionary, const char *folder,
                                 parsrec_error *err)
{
    pr_path hold;
    pr_region region = {0};
    pr_dataset part;
    char number[32];
    shard_text(number, shard, shards);
    const pr_metadata metadata[] = {{"dictionary", dictionary}, {"shard", number}};
    pr_enclosing in = {.format = PR_SHARD_FORMAT,
                       .version = PR_SHARDS_VERSION,
                       .metadata = metadata,
                       .metadata_count = sizeof metadata / sizeof *metadata,
                       .part = PR_PART_USERS};
    parsrec_status status = slice(&part, data, first, end, &region, err);
    if (status == PARSREC_OK)
        status = pr_dataset_enclose(&part, &in, pr_shard_path(&hold, folder, shard), err);
    if (status == PARSREC_OK && data->view_count > 0) { /* mapped files: give the memory back */
        size_t session = (size_t)data->user_offsets[first];
        pr_pages_release(data->session_offsets + session,
                         part.sessions * sizeof *data->session_offsets);
        pr_pages_release(part.action_items, part.actions * sizeof *part.action_items);
        if (part.times != NULL)
            pr_pages_release(part.times, part.sessions * sizeof *part.times);
    }
    pr_region_free(&region);
    return status;
}

parsrec_status pr_shard_save(const pr_dataset *data, const pr_dictionary *dictionary,
                             uint32_t shard, const char *folder, parsrec_error *err)
{
    pr_path hold;
    assert(shard < dictionary->rules.shards);
    PR_TRY(pr_dataset_check(data, pr_shard_path(&hold, folder, shard), err));
    if (unlink(pr_manifest_path(&hold, folder)) != 0 && errno != ENOENT)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be removed", hold.text);
    return save_users(data, 0, data->users, shard, dictionary->rules.shards,
                      pr_dataset_checksum(dictionary->data), folder, err);
}

static parsrec_status save_shards(const pr_dataset *data, uint32_t shards, const char *dictionary,
                                  const char *folder, parsrec_error *err)
{
    size_t user = 0;
    for (uint32_t k = 0; k < shards; k++) {
        size_t first = user;
        while (user < data->users && pr_shard_of(pr_name(&data->user_keys, user), shards) == k)
            user++;
        PR_TRY(save_users(data, first, user, k, shards, dictionary, folder, err));
    }
    assert(user == data->users); /* they were in the order of the folder */
    return PARSREC_OK;
}

parsrec_status pr_shards_save(const pr_dataset *data, const pr_shard_rules *rules,
                              const char *folder, parsrec_error *err)
{
    pr_path hold;
    pr_container *dictionary;
    uint32_t lacking;
    PR_TRY(pr_dataset_check(data, folder, err));
    PR_TRY(pr_dictionary_save(data, rules, folder, err));
    PR_TRY(pr_sealed_open(&dictionary, pr_dictionary_path(&hold, folder), err));
    parsrec_status status =
        save_shards(data, rules->shards, pr_container_checksum(dictionary), folder, err);
    pr_container_free(dictionary);
    if (status == PARSREC_OK)
        status = pr_shards_finish(folder, &lacking, err);
    return status;
}

/* ---- opening a shard ---- */

parsrec_status pr_shard_fail_missing(const char *folder, uint32_t number, uint32_t shards,
                                     parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_IO,
                   "%s: shard %u of %u is missing; write it with parsrec import --shard %u/%u",
                   folder, number, shards, number, shards);
}

parsrec_status pr_shard_open(pr_dataset *shard, const char *folder, uint32_t number,
                             uint32_t shards, const char *dictionary, bool *foreign,
                             parsrec_error *err)
{
    pr_path hold;
    char text[32];
    *foreign = false;
    if (!exists(pr_shard_path(&hold, folder, number)))
        return pr_shard_fail_missing(folder, number, shards, err);
    PR_TRY(pr_sealed_open(&shard->file, hold.text, err));
    PR_TRY(expect(shard->file, PR_SHARD_FORMAT, err));
    const char *made_with = pr_container_metadata(shard->file, "dictionary");
    const char *is = pr_container_metadata(shard->file, "shard");
    shard_text(text, number, shards);
    *foreign = made_with == NULL || is == NULL || strcmp(made_with, dictionary) != 0 ||
               strcmp(is, text) != 0;
    if (*foreign)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: is not shard %u of %u of this folder's dictionary; write it with "
                       "parsrec import --shard %u/%u",
                       hold.text, number, shards, number, shards);
    PR_TRY(pr_dataset_read(shard, PR_PART_USERS, err));
    /* What joining relies on; pr_dataset_check sees the rest in the joined columns. */
    const int64_t *users = shard->user_offsets, *sessions = shard->session_offsets;
    if (users[0] == 0 && (uint64_t)users[shard->users] == shard->sessions && sessions[0] == 0 &&
        (uint64_t)sessions[shard->sessions] == shard->actions)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_FORMAT, "%s: offsets do not begin with 0 or end elsewhere",
                   hold.text);
}

void pr_shard_close(pr_dataset *shard)
{
    for (int table = 0; table < PR_FEATURE_TABLES; table++) {
        for (size_t i = 0; i < shard->feature_count[table]; i++)
            pr_free(shard->features[table][i].name);
        pr_free(shard->features[table]);
    }
    pr_container_free(shard->file);
    *shard = (pr_dataset){0};
}

/* ---- the manifest ---- */

static parsrec_status write_manifest(const char *folder, const char *dictionary, uint32_t shards,
                                     const uint64_t *checksums, int64_t (*sizes)[PR_SHARD_SIZES],
                                     parsrec_error *err)
{
    pr_path hold;
    const pr_metadata metadata[] = {{"dictionary", dictionary}};
    const pr_tensor tensors[] = {
        {"shard_checksums", PR_U64, 1, {shards}, checksums},
        {"shard_sizes", PR_I64, 2, {shards, PR_SHARD_SIZES}, sizes},
    };
    return pr_container_write(pr_manifest_path(&hold, folder), PR_MANIFEST_FORMAT,
                              PR_SHARDS_VERSION, metadata, 1, tensors, 2, err);
}

static parsrec_status measure(const char *folder, uint32_t shard, uint32_t shards,
                              const char *dictionary, uint64_t *checksum,
                              int64_t sizes[PR_SHARD_SIZES], uint32_t *lacking, parsrec_error *err)
{
    pr_dataset d = {0};
    bool foreign;
    parsrec_status status = pr_shard_open(&d, folder, shard, shards, dictionary, &foreign, err);
    if (status == PARSREC_OK) {
        *checksum = strtoull(pr_container_checksum(d.file), NULL, 16);
        sizes[PR_SHARD_USERS] = (int64_t)d.users;
        sizes[PR_SHARD_SESSIONS] = (int64_t)d.sessions;
        sizes[PR_SHARD_ACTIONS] = (int64_t)d.actions;
        sizes[PR_SHARD_KEY_BYTES] = d.user_keys.offsets[d.users];
    } else if (foreign) {
        ++*lacking;
        status = PARSREC_OK;
    }
    pr_shard_close(&d);
    return status;
}

parsrec_status pr_shards_finish(const char *folder, uint32_t *lacking, parsrec_error *err)
{
    pr_path hold;
    pr_dictionary dictionary;
    uint64_t *checksums = NULL;
    int64_t(*sizes)[PR_SHARD_SIZES] = NULL;
    parsrec_status status;
    *lacking = 0;
    PR_TRY(pr_dictionary_load(&dictionary, folder, err));
    uint32_t shards = dictionary.rules.shards;
    const char *checksum = pr_dataset_checksum(dictionary.data);
    for (uint32_t k = 0; k < shards; k++)
        *lacking += !exists(pr_shard_path(&hold, folder, k));
    checksums = pr_alloc(shards, sizeof *checksums);
    sizes = pr_alloc(shards, sizeof *sizes);
    status = checksums != NULL && sizes != NULL ? PARSREC_OK : pr_fail_memory(err);
    /* One that is missing is enough; the others need not be read. */
    for (uint32_t k = 0; k < shards && status == PARSREC_OK && *lacking == 0; k++)
        status = measure(folder, k, shards, checksum, &checksums[k], sizes[k], lacking, err);
    if (status == PARSREC_OK && *lacking == 0)
        status = write_manifest(folder, checksum, shards, checksums, sizes, err);
    pr_free(checksums);
    pr_free(sizes);
    pr_dictionary_free(&dictionary);
    return status;
}

/* Sizes are not negative and their sums fit. */
static bool sizes_fit(const pr_manifest *m)
{
    int64_t sums[PR_SHARD_SIZES] = {0};
    for (uint32_t k = 0; k < m->shards; k++)
        for (int i = 0; i < PR_SHARD_SIZES; i++)
            if (m->sizes[k][i] < 0 || __builtin_add_overflow(sums[i], m->sizes[k][i], &sums[i]))
                return false;
    return sums[PR_SHARD_USERS] < INT32_MAX;
}

static parsrec_status read_manifest(pr_manifest *m, parsrec_error *err)
{
    const pr_tensor *checksums, *sizes;
    PR_TRY(expect(m->file, PR_MANIFEST_FORMAT, err));
    PR_TRY(pr_container_need(m->file, "shard_checksums", PR_U64, 1, &checksums, err));
    PR_TRY(pr_container_need(m->file, "shard_sizes", PR_I64, 2, &sizes, err));
    m->dictionary = pr_container_metadata(m->file, "dictionary");
    m->shards = (uint32_t)checksums->shape[0];
    m->checksums = checksums->data;
    m->sizes = sizes->data;
    if (m->dictionary != NULL && checksums->shape[0] > 0 &&
        checksums->shape[0] <= PARSREC_SHARDS_MOST && sizes->shape[0] == checksums->shape[0] &&
        sizes->shape[1] == PR_SHARD_SIZES && sizes_fit(m))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: does not name a dictionary and 1 to %d shards with their sizes",
                   pr_container_path(m->file), PARSREC_SHARDS_MOST);
}

parsrec_status pr_manifest_from(pr_manifest *out, pr_container *file, parsrec_error *err)
{
    *out = (pr_manifest){.file = file};
    parsrec_status status = read_manifest(out, err);
    if (status != PARSREC_OK) {
        pr_container_free(file);
        *out = (pr_manifest){0};
    }
    return status;
}
