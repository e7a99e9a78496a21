/* Where an import into shards writes to: a new folder that takes its place when all is written, or one
 * file of a folder that many processes write. */
#ifndef PR_SHARD_TARGET_H
#define PR_SHARD_TARGET_H

#include "base/files.h"
#include "data/shards.h"

typedef struct pr_shard_target {
    const char *path;         /* the folder, as named */
    parsrec_import_step step; /* what is written */
    uint32_t shard;
    pr_shard_rules rules;
    pr_dictionary dictionary; /* for PARSREC_IMPORT_SHARD */
    pr_new_folder folder;     /* for PARSREC_IMPORT_ALL */
    bool made; /* for PARSREC_IMPORT_DICTIONARY: the folder is new, and still empty */
} pr_shard_target;

/* Refuses options that do not fit and a path that must not be written to, before anything is read.
 * Options that the dictionary decides become its own, and rows are sorted. The target must be freed
 * also on failure. */
parsrec_status pr_shard_target_open(pr_shard_target *target, const char *path,
                                    parsrec_import_options *options, parsrec_error *err);
void pr_shard_target_free(pr_shard_target *target); /* a zeroed one is fine */

/* A path in the folder that is written, for temporary files beside it. */
const char *pr_shard_target_beside(const pr_shard_target *target, pr_path *hold);

/* Whether an input has to be read: false for one in a folder shard=K of another shard. *dealt if it is
 * in the folder of this one, so that other users must not be in it. */
bool pr_shard_target_reads(const pr_shard_target *target, const char *input, bool *dealt);

/* Writes what the step asks for and puts it in place; *missing is the number of shards that the folder
 * lacks afterwards. */
parsrec_status pr_shard_target_write(pr_shard_target *target, const pr_dataset *data,
                                     uint64_t *missing, parsrec_error *err);

#endif
