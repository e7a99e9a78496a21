/* Tables about items, users and sessions become columns of the data set. */
#ifndef PR_IMPORT_FEATURES_H
#define PR_IMPORT_FEATURES_H

#include "import/assembly.h"
#include "import/import_table.h"

/* Blocks that live as long as the data set in the making. */
typedef struct pr_blocks {
    void **block;
    size_t count, capacity;
} pr_blocks;

void *pr_blocks_alloc(pr_blocks *blocks, size_t count, size_t size); /* NULL: out of memory */
void pr_blocks_free(pr_blocks *blocks);

/* The row of each name in the table, -1 for none; [names] numbers, of which *without are -1. */
parsrec_status pr_table_match(const pr_table *table, const pr_names *names, int32_t **row_of,
                              size_t *unmatched_rows, parsrec_error *err);
/* The same for the sessions of `actions`, whose keys must still be there. */
parsrec_status pr_table_match_sessions(const pr_table *table, const pr_collect *actions,
                                       int32_t **row_of, size_t *unmatched_rows,
                                       parsrec_error *err);

/* Feature columns of `count` things, thing i in row rows[i] (-1: none), into data->features. */
parsrec_status pr_features_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  size_t count, pr_blocks *blocks, parsrec_error *err);

/* Item names and the category tree. */
parsrec_status pr_catalogue_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                   pr_blocks *blocks, parsrec_error *err);

/* A table of names chosen from another: name i is names[from[i]]; a negative number gives "". */
parsrec_status pr_names_choose(pr_names *out, const pr_names *names, const int32_t *from,
                               size_t count, pr_blocks *blocks, parsrec_error *err);

#endif
