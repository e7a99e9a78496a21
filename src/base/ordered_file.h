/* One file that many tasks write in the order of their numbers, on any thread, without buffering
 * more than the piece that each task has ready. */
#ifndef PR_ORDERED_FILE_H
#define PR_ORDERED_FILE_H

#include "base/writer.h"

typedef struct pr_ordered_file pr_ordered_file;

/* Appears under its name complete or not at all (base/files.h). */
parsrec_status pr_ordered_open(pr_ordered_file **out, const char *path, parsrec_error *err);

/* Writes the text of a task, which may come in pieces, and empties it. Waits until every task with
 * a lower number has handed in its `last` piece, so tasks 0, 1, 2, ... must begin in that order, as
 * those of a pool do. A failure is kept, and later text is left out. */
void pr_ordered_write(pr_ordered_file *file, size_t task, pr_writer *text, bool last);

/* The failure that was kept. Not while tasks run. */
parsrec_status pr_ordered_check(const pr_ordered_file *file, parsrec_error *err);

/* Both free the file; a kept failure leaves nothing under its name. */
parsrec_status pr_ordered_commit(pr_ordered_file *file, parsrec_error *err);
void pr_ordered_abort(pr_ordered_file *file); /* NULL is fine */

#endif
