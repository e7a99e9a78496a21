/* A file that names some users of a data set. */
#ifndef PR_USER_LIST_H
#define PR_USER_LIST_H

#include "data/dataset.h"

/* Sets members[users] for the keys in the file: one a line or the first column of a CSV file, also
 * compressed, with or without a header that calls the column "user". A key that the data set does not
 * have is E_INPUT. */
parsrec_status pr_user_list_read(bool *members, const char *path, const pr_dataset *data,
                                 parsrec_error *err);

#endif
