/* Live histories as a file, so that a server need not replay all events of its store when it starts.
 *
 * A file has what was added, by users' keys and items' numbers: it fits the base and the catalogue
 * that it was made with, and the store whose events were added, and says which. Users of whom
 * nothing was added are not in it, nor are those who were forgotten, except that the base has them:
 * then it says only that. docs/format.md has the format. */
#ifndef PR_LIVE_FILE_H
#define PR_LIVE_FILE_H

#include "data/container.h"
#include "data/histories.h"

#define PR_LIVE_FORMAT "parsrec.histories"
enum { PR_LIVE_VERSION = 1 };

/* `catalogue` is the checksum of the data that number the items. Sets the counts of the note. */
parsrec_status pr_live_file_save(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, const char *path, parsrec_error *err);

/* Fills live histories to which nothing was added. The note names the store and the base; E_INPUT
 * for a file of another store, base or catalogue. Takes the container over. On failure nothing was
 * added. */
parsrec_status pr_live_file_load(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, pr_container *file, parsrec_error *err);

/* Checks everything that does not depend on a base. Takes the container over. */
parsrec_status pr_live_file_inspect(pr_container *file, parsrec_error *err);

#endif
