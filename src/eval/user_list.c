/* First columns of rows. */
#include "eval/user_list.h"

#include "base/intern.h"
#include "import/rows.h"
#include "import/rows_csv.h"

static parsrec_status mark(bool *members, const pr_intern *users, const pr_rows *rows, pr_slice key,
                           uint64_t line, parsrec_error *err)
{
    uint32_t user;
    pr_excerpt hold;
    if (!pr_intern_find(users, key, &user))
        return pr_rows_fail(rows, line, 0, err, "user %s is not in the data set",
                            pr_show(&hold, key));
    members[user] = true;
    return PARSREC_OK;
}

static parsrec_status mark_all(bool *members, const pr_intern *users, pr_rows *rows,
                               parsrec_error *err)
{
    uint32_t user;
    /* What reads like a header may be the first key. */
    if (!pr_slice_is(rows->columns[0], "user") || pr_intern_find(users, rows->columns[0], &user))
        PR_TRY(mark(members, users, rows, rows->columns[0], 1, err));
    for (;;) {
        pr_row row;
        bool end = false;
        PR_TRY(rows->next(rows, &row, &end, err));
        if (end)
            return PARSREC_OK;
        PR_TRY(mark(members, users, rows, row.fields[0], row.line, err));
    }
}

parsrec_status pr_user_list_read(bool *members, const char *path, const pr_dataset *data,
                                 parsrec_error *err)
{
    pr_intern users = {0};
    pr_rows *rows = NULL;
    pr_rows_options options = {.format = PARSREC_INPUT_CSV};
    for (size_t u = 0; u < data->users; u++)
        members[u] = false;
    parsrec_status status = pr_rows_open(&rows, path, &options, err);
    if (status == PARSREC_OK)
        status = pr_intern_load(&users, &data->user_keys, err);
    if (status == PARSREC_OK)
        status = mark_all(members, &users, rows, err);
    pr_rows_free(rows);
    pr_intern_free(&users);
    return status;
}
