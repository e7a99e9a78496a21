/* Popularity as one ascending column, lists as offsets into one. */
#include "eval/candidate_source.h"

#include "base/memory.h"
#include "import/rows.h"

void pr_source_free(pr_candidate_source *s)
{
    pr_free(s->below);
    pr_free(s->offsets);
    pr_free(s->items);
    *s = (pr_candidate_source){0};
}

parsrec_status pr_source_popular(pr_candidate_source *s, const pr_dataset *data,
                                 const pr_scope *scope, parsrec_error *err)
{
    pr_counted from = {.data = data, .scope = *scope};
    *s = (pr_candidate_source){.kind = PR_SOURCE_POPULAR};
    s->below = pr_alloc_zero(data->items + 1, sizeof *s->below);
    if (s->below == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->session_offsets[data->user_offsets[u]];
        int64_t end = data->session_offsets[pr_counted_end(&from, u)];
        for (int64_t a = first; a < end; a++)
            s->below[data->action_items[a] + 1]++;
    }
    for (size_t i = 0; i < data->items; i++)
        s->below[i + 1] += s->below[i];
    return PARSREC_OK;
}

/* ---- lists from a file ---- */

typedef struct reading {
    const pr_dataset *data;
    pr_rows *rows;
    pr_intern users, item_keys;
    uint32_t *user; /* of each pair read */
    int32_t *item;
    size_t count, user_room, item_room;
} reading;

static parsrec_status add_pair(reading *r, uint32_t user, pr_slice key, uint64_t line,
                               parsrec_error *err)
{
    uint32_t item;
    pr_excerpt hold;
    if (!pr_intern_find(&r->item_keys, key, &item))
        return pr_rows_fail(r->rows, line, 1, err, "item %s is not in the data set",
                            pr_show(&hold, key));
    PR_TRY(pr_grow(&r->user, &r->user_room, r->count + 1, sizeof *r->user, err));
    PR_TRY(pr_grow(&r->item, &r->item_room, r->count + 1, sizeof *r->item, err));
    r->user[r->count] = user;
    r->item[r->count++] = (int32_t)item;
    return PARSREC_OK;
}

static parsrec_status add_words(reading *r, uint32_t user, pr_slice words, uint64_t line,
                                parsrec_error *err)
{
    while (words.size > 0) {
        size_t n = 0;
        while (n < words.size && words.bytes[n] != ' ')
            n++;
        if (n > 0)
            PR_TRY(add_pair(r, user, (pr_slice){words.bytes, n}, line, err));
        n += n < words.size;
        words = (pr_slice){words.bytes + n, words.size - n};
    }
    return PARSREC_OK;
}

static parsrec_status read_pairs(reading *r, parsrec_error *err)
{
    if (r->rows->column_count != 2)
        return pr_rows_fail(r->rows, 1, PR_NO_COLUMN, err,
                            "candidates have two columns, user and item, or user and items divided "
                            "by spaces; here are %zu",
                            r->rows->column_count);
    bool single = pr_slice_is(r->rows->columns[1], "item");
    for (;;) {
        pr_row row;
        bool end = false;
        uint32_t user;
        PR_TRY(r->rows->next(r->rows, &row, &end, err));
        if (end)
            return PARSREC_OK;
        if (!pr_intern_find(&r->users, row.fields[0], &user))
            continue;
        if (single)
            PR_TRY(add_pair(r, user, row.fields[1], row.line, err));
        else
            PR_TRY(add_words(r, user, row.fields[1], row.line, err));
    }
}

/* Counting sort by user; within a user the order of the file. */
static parsrec_status sort_pairs(pr_candidate_source *s, const reading *r, parsrec_error *err)
{
    size_t users = r->data->users;
    s->offsets = pr_alloc_zero(users + 2, sizeof *s->offsets);
    s->items = pr_alloc(r->count, sizeof *s->items);
    if (s->offsets == NULL || s->items == NULL)
        return pr_fail_memory(err);
    int64_t *at = s->offsets + 1; /* while filling, where the next item of a user goes */
    for (size_t i = 0; i < r->count; i++)
        at[r->user[i] + 1]++;
    for (size_t u = 0; u < users; u++) {
        s->longest = (size_t)at[u + 1] > s->longest ? (size_t)at[u + 1] : s->longest;
        at[u + 1] += at[u];
    }
    for (size_t i = 0; i < r->count; i++)
        s->items[at[r->user[i]]++] = r->item[i];
    return PARSREC_OK;
}

parsrec_status pr_source_listed(pr_candidate_source *s, const pr_dataset *data, const char *path,
                                parsrec_error *err)
{
    reading r = {.data = data};
    pr_rows_options options = {.format = PARSREC_INPUT_AUTO};
    *s = (pr_candidate_source){.kind = PR_SOURCE_LISTED};
    parsrec_status status;
    PR_TRY_GOTO(pr_rows_open(&r.rows, path, &options, err));
    PR_TRY_GOTO(pr_intern_load(&r.users, &data->user_keys, err));
    PR_TRY_GOTO(pr_intern_load(&r.item_keys, &data->item_keys, err));
    PR_TRY_GOTO(read_pairs(&r, err));
    PR_TRY_GOTO(sort_pairs(s, &r, err));
done:
    pr_rows_free(r.rows);
    pr_intern_free(&r.users);
    pr_intern_free(&r.item_keys);
    pr_free(r.user);
    pr_free(r.item);
    return status;
}
