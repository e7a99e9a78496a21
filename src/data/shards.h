/* A data set as a folder, for more rows than one process should import:
 *
 *   dictionary.st    what all shards have in common: items, categories, features of items, the kind
 *                    of times, how sessions are cut
 *   shard-0017.st    the users of one shard, their features, sessions and items
 *   manifest.st      the checksum and the sizes of every other file; written last
 *
 * A user belongs to the shard that the key's MD5 says (pr_shard_of), a rule that databases can follow
 * too. Items are numbered by key, users by shard and then by key, and import sorts the rows of a user,
 * so that the folder is a function of the rows and not of their order or of who imported them
 * (docs/shards.md, docs/adr/0022-shards-by-md5.md). All three kinds of files are containers.
 *
 * Life cycle: one import writes all files into a new folder and puts it in its place
 * (pr_shards_save). Or many processes do: one writes the dictionary, then each of them a shard, and
 * whoever finds all shards there writes the manifest (pr_shards_finish). Without a manifest nothing
 * loads. pr_shards_load joins the shards into a data set in memory like any other; no other code knows
 * of folders.
 *
 * Words of features have numbers of their own in each shard, by first appearance; loading numbers them
 * anew in the same way. So a shard can be imported, or imported again without a user, alone. */
#ifndef PR_SHARDS_H
#define PR_SHARDS_H

#include "data/dataset.h"

#define PR_DICTIONARY_FORMAT "parsrec.dictionary"
#define PR_SHARD_FORMAT      "parsrec.shard"
#define PR_MANIFEST_FORMAT   "parsrec.shards"
enum { PR_SHARDS_VERSION = 1 }; /* of each of these formats */

/* The shard of a user: the first four bytes of the MD5 of the key, as a big-endian number, modulo the
 * number of shards. */
uint32_t pr_shard_of(pr_slice user, uint32_t shards);

/* The order of names in a folder: as their bytes compare. */
int pr_key_compare(pr_slice a, pr_slice b);

/* Whether the path is a folder; and whether it has the dictionary or the manifest of a data set. */
bool pr_shards_at(const char *path);
bool pr_shards_is_data(const char *path);

/* The files of a folder. The results are hold->text. */
const char *pr_dictionary_path(pr_path *hold, const char *folder);
const char *pr_shard_path(pr_path *hold, const char *folder, uint32_t shard);
const char *pr_manifest_path(pr_path *hold, const char *folder);

/* ---- the dictionary ---- */

/* "column", "gap", "day", "week", "month" */
const char *pr_session_rule_name(parsrec_session_rule rule);

typedef struct pr_shard_rules {
    uint32_t shards;
    parsrec_session_rule session_rule;
    int64_t session_gap;  /* for PARSREC_SESSION_GAP */
    uint64_t min_actions; /* as in the options of import */
} pr_shard_rules;

typedef struct pr_dictionary {
    pr_dataset *data; /* the catalogue, time_kind and texts; no users */
    pr_shard_rules rules;
} pr_dictionary;

/* Writes the catalogue of a data set, which it checks, as the dictionary of a folder that exists. */
parsrec_status pr_dictionary_save(const pr_dataset *data, const pr_shard_rules *rules,
                                  const char *folder, parsrec_error *err);
parsrec_status pr_dictionary_load(pr_dictionary *out, const char *folder, parsrec_error *err);
/* The same from an open container, which it takes over, also on failure. */
parsrec_status pr_dictionary_from(pr_dictionary *out, pr_container *file, parsrec_error *err);
void pr_dictionary_free(pr_dictionary *dictionary); /* a zeroed one is fine */

/* ---- saving ---- */

/* Refuses a path that import must not write a folder to: a file, or a folder with other files than
 * those of a data set. If `must_be_new`, also one with shards. */
parsrec_status pr_shards_may_replace(const char *path, bool must_be_new, parsrec_error *err);

/* Writes all files into a folder that exists. The users come in the order of the folder. */
parsrec_status pr_shards_save(const pr_dataset *data, const pr_shard_rules *rules,
                              const char *folder, parsrec_error *err);

/* Writes one shard, all users of `data`, into a folder with the dictionary that the items are numbered
 * by. Removes the manifest first. */
parsrec_status pr_shard_save(const pr_dataset *data, const pr_dictionary *dictionary,
                             uint32_t shard, const char *folder, parsrec_error *err);

/* Writes the manifest if all shards are there; *lacking is the number of those that are not. */
parsrec_status pr_shards_finish(const char *folder, uint32_t *lacking, parsrec_error *err);

/* ---- loading ---- */

parsrec_status pr_shards_load(pr_dataset **out, const char *folder, parsrec_error *err);
void pr_joined_free(struct pr_joined *joined); /* NULL is fine */

/* The bytes and tensors in the files of a folder that was loaded; 0 for other data sets. */
uint64_t pr_joined_bytes(const pr_dataset *data);
uint64_t pr_joined_tensors(const pr_dataset *data);

enum { PR_SHARD_USERS, PR_SHARD_SESSIONS, PR_SHARD_ACTIONS, PR_SHARD_KEY_BYTES, PR_SHARD_SIZES };

/* The manifest as it stands in its file, checked by itself. */
typedef struct pr_manifest {
    pr_container *file;
    uint32_t shards;
    const uint64_t *checksums;              /* [shards] */
    const int64_t (*sizes)[PR_SHARD_SIZES]; /* [shards] */
    const char *dictionary;                 /* its checksum */
} pr_manifest;

/* Takes `file` over, also on failure. */
parsrec_status pr_manifest_from(pr_manifest *out, pr_container *file, parsrec_error *err);

/* Opens shard `shard` of `shards` and fills a zeroed data set with its columns. *foreign and E_FORMAT
 * if it is not that shard or was made with another dictionary than the one with this checksum. The
 * caller frees shard->file and the features (pr_shard_close), also on failure. */
parsrec_status pr_shard_open(pr_dataset *shard, const char *folder, uint32_t number,
                             uint32_t shards, const char *dictionary, bool *foreign,
                             parsrec_error *err);
void pr_shard_close(pr_dataset *shard);
/* E_IO with the sentence for a shard that is not there. */
parsrec_status pr_shard_fail_missing(const char *folder, uint32_t number, uint32_t shards,
                                     parsrec_error *err);

#endif
