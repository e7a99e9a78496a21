/* Files as the library reads and writes them: mapped whole, written atomically, or without a name
 * for as long as a job lasts.
 *
 * A file that others may read is never changed in place. It is written under a temporary name in the
 * same folder, synced, renamed, and the folder synced: after a crash there is the old file or the new
 * one, whole. So a process that has the old one mapped keeps reading it. Files without a name (scratch)
 * vanish with the process and leave nothing to clean up. */
#ifndef PR_FILES_H
#define PR_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* The files beside a model file: MODEL.ckpt, the checkpoint of a run that has not ended, and
 * MODEL.log, its record. The result is hold->text. */
typedef struct pr_path {
    char text[4200];
} pr_path;
const char *pr_checkpoint_path(pr_path *hold, const char *model_path);
const char *pr_log_path(pr_path *hold, const char *model_path);

/* A whole file, read-only in memory. */
typedef struct pr_mapping {
    const unsigned char *bytes;
    size_t size;
} pr_mapping;

/* Fails with a sentence for what is missing, a directory, not readable or not a plain file. An
 * empty file maps to size 0. */
parsrec_status pr_file_map(pr_mapping *out, const char *path, parsrec_error *err);
void pr_file_unmap(pr_mapping *mapping); /* a zeroed mapping is fine */
/* Gives back the memory of mapped pages that lie wholly within these bytes; they are read from the
 * file again when they are used again. Keeps a pass over a large file from filling the memory. */
void pr_pages_release(const void *bytes, size_t size);

/* A file without a name, for data that a job cannot hold in memory. It is appended to, then read or
 * mapped, and the disk gets its room back when the file is closed or the program is killed. */
typedef struct pr_scratch_file {
    bool open;
    int fd;
    uint64_t size; /* what was appended, the buffered bytes included */
    unsigned char *buffer;
    size_t buffered;
    char name[160]; /* for messages: "temporary file in FOLDER" */
} pr_scratch_file;

/* `beside` is the path of the result: the file is made in its folder, or in $TMPDIR (/tmp) if the
 * result is not a plain file. */
parsrec_status pr_scratch_open(pr_scratch_file *file, const char *beside, parsrec_error *err);
parsrec_status pr_scratch_append(pr_scratch_file *file, const void *bytes, size_t size,
                                 parsrec_error *err);
/* After the last append: what was buffered becomes readable. */
parsrec_status pr_scratch_flush(pr_scratch_file *file, parsrec_error *err);
parsrec_status pr_scratch_read(const pr_scratch_file *file, uint64_t at, void *bytes, size_t size,
                               parsrec_error *err);
parsrec_status pr_scratch_map(pr_mapping *out, const pr_scratch_file *file, parsrec_error *err);
/* Instead of appending: room for `size` zeros on the disk, for a mapping that is written. */
parsrec_status pr_scratch_reserve(pr_scratch_file *file, uint64_t size, parsrec_error *err);
void pr_scratch_close(pr_scratch_file *file); /* a zeroed one is fine */

/* Where an output will stand, links followed; free it with pr_free. *direct: a device or a pipe is
 * there, which is written itself and never replaced. Fails where a folder is. */
parsrec_status pr_output_place(char **place, bool *direct, const char *path, parsrec_error *err);
/* Gives a finished and synced file its name, with the owner, group and rights of what it replaces. The
 * place is cut afterwards. */
parsrec_status pr_put_in_place(int fd, const char *temporary, char *place, parsrec_error *err);

/* A file that appears under its name complete or not at all: written beside its place under a
 * temporary name, synced, renamed, folder synced. Temporary files of writers that were killed are
 * removed when the same file is written again. "-" writes to stdout; a target that is not a plain
 * file (/dev/null, a pipe) is written directly. */
typedef struct pr_atomic_file pr_atomic_file;

parsrec_status pr_atomic_open(pr_atomic_file **out, const char *path, parsrec_error *err);
parsrec_status pr_atomic_write(pr_atomic_file *file, const void *bytes, size_t size,
                               parsrec_error *err);
/* Writes over bytes that were written before; not where the target is written directly. */
parsrec_status pr_atomic_overwrite(pr_atomic_file *file, uint64_t at, const void *bytes,
                                   size_t size, parsrec_error *err);
/* Where the bytes go until then, for another library to write them by name; NULL when the target is
 * written directly. */
const char *pr_atomic_temporary(const pr_atomic_file *file);
/* Brings what was written so far to the disk, so that a full one is known before other files are
 * put in place. */
parsrec_status pr_atomic_flush(pr_atomic_file *file, parsrec_error *err);
/* Both free the file. After a failed commit nothing is left under either name. */
parsrec_status pr_atomic_commit(pr_atomic_file *file, parsrec_error *err);
void pr_atomic_abort(pr_atomic_file *file); /* NULL is fine */

/* A folder that appears under its name complete or not at all. It is made beside its place under a
 * temporary name; the caller writes files into `temporary`. What stood in its place before is
 * exchanged for it and then removed, its files and not folders in it. Leftovers of writers that were
 * killed are removed as those of files are. */
typedef struct pr_new_folder {
    char *path, *temporary;
    int lock;
} pr_new_folder;

parsrec_status pr_new_folder_open(pr_new_folder *out, const char *path, parsrec_error *err);
parsrec_status pr_new_folder_commit(pr_new_folder *folder, parsrec_error *err);
void pr_new_folder_abort(pr_new_folder *folder); /* a zeroed one is fine, and one after commit */

/* Makes a folder that may be there already; fails with a sentence unless files can be written in
 * it. */
parsrec_status pr_folder_make(const char *folder, parsrec_error *err);
/* The same at the beginning of long work, which may be stopped before it has written anything: *made is
 * set if the folder was not there. The end takes a folder that was made away again if it is empty. */
parsrec_status pr_folder_begin(const char *folder, bool *made, parsrec_error *err);
void pr_folder_end(const char *folder, bool made);
/* The same sentence before long work that ends with making it; leaves nothing behind. */
parsrec_status pr_folder_check(const char *folder, parsrec_error *err);

#endif
