/* Tables about items, users and sessions become columns of the data set. */
#ifndef PR_IMPORT_FEATURES_H
#define PR_IMPORT_FEATURES_H

#include "base/arena.h"
#include "import/assembly.h"
#include "import/import_table.h"

/* row_of[names->count] becomes the table's row of each name, -1 where it has none; free it with pr_free.
 * *unmatched_rows counts the rows that no name asked for. */
parsrec_status pr_table_match(const pr_table *table, const pr_names *names, int32_t **row_of,
                              size_t *unmatched_rows, parsrec_error *err);
/* The same for the sessions of `actions`, whose keys must still be there. */
parsrec_status pr_table_match_sessions(const pr_table *table, const pr_collect *actions,
                                       int32_t **row_of, size_t *unmatched_rows,
                                       parsrec_error *err);

/* Feature columns of `count` things, thing i in row rows[i] (-1: none), into data->features. */
parsrec_status pr_features_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  size_t count, pr_region *region, parsrec_error *err);

/* Item names and the category tree. */
parsrec_status pr_catalogue_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                   pr_region *region, parsrec_error *err);

/* A table of names chosen from another: name i is names[from[i]]; a negative number gives "". */
parsrec_status pr_names_choose(pr_names *out, const pr_names *names, const int32_t *from,
                               size_t count, pr_region *region, parsrec_error *err);

#endif
