/* Reading a table about items, users or sessions. */
#include "data/import_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

void pr_table_free(pr_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        pr_free(table->columns[i].name);
        pr_intern_free(&table->columns[i].texts);
        pr_free(table->columns[i].cells);
    }
    pr_intern_free(&table->keys);
    pr_free(table->columns);
    pr_free(table->scratch);
    *table = (pr_table){0};
}

bool pr_cell_number(pr_slice text, float *value)
{
    double x;
    if (!pr_parse_f64(text, &x) || fabs(x) > (double)FLT_MAX)
        return false;
    *value = (float)x;
    return true;
}

bool pr_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (list != NULL && *list != '\0') {
        size_t part = strcspn(list, ",");
        pr_slice word = pr_slice_trim((pr_slice){list, part});
        if (word.size == length && memcmp(word.bytes, name, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

/* ---- the header ---- */

/* The key column: under the name that the actions use, or else under the usual one. */
static size_t find_key(const pr_rows *rows, const char *name, const char *usual)
{
    size_t column = name != NULL ? pr_rows_find(rows, name) : PR_NO_COLUMN;
    return column != PR_NO_COLUMN ? column : pr_rows_find(rows, usual);
}

static parsrec_status find_keys(pr_table *t, const pr_rows *rows,
                                const parsrec_import_options *options, parsrec_error *err)
{
    static const char *const usual[] = {"user", "session", "item"};
    const char *const given[] = {options->user_column, options->session_column,
                                 options->item_column};
    t->user_column = PR_NO_COLUMN;
    t->key_column = find_key(rows, given[t->of], usual[t->of]);
    if (t->key_column == PR_NO_COLUMN)
        return pr_rows_need(rows, given[t->of] != NULL ? given[t->of] : usual[t->of],
                            "its rows need a key", &t->key_column, err);
    if (t->of == PR_OF_SESSION) {
        t->user_column = find_key(rows, options->user_column, usual[PR_OF_USER]);
        t->with_user = t->user_column != PR_NO_COLUMN;
    }
    return PARSREC_OK;
}

static pr_column_type type_of(const pr_table *t, size_t column, const char *name,
                              const parsrec_import_options *options)
{
    if (column == t->key_column || column == t->user_column || name[0] == '\0')
        return PR_COLUMN_KEY_PART;
    if (t->of == PR_OF_ITEM && strcmp(name, "name") == 0)
        return PR_COLUMN_NAME;
    if (t->of == PR_OF_ITEM && strcmp(name, "category") == 0)
        return PR_COLUMN_TREE;
    if (pr_list_has(options->number_columns, name))
        return PR_COLUMN_NUMBER;
    return pr_list_has(options->category_columns, name) ? PR_COLUMN_CATEGORY : PR_COLUMN_GUESS;
}

static parsrec_status check_name(const pr_table *t, const pr_rows *rows, size_t column,
                                 parsrec_error *err)
{
    const pr_table_column *c = &t->columns[column];
    size_t found;
    pr_excerpt hold;
    if (c->type == PR_COLUMN_KEY_PART)
        return PARSREC_OK;
    if (!pr_feature_name_valid(c->name))
        return pr_rows_fail(rows, 1, column, err,
                            "%s cannot be the name of a feature; rename the column",
                            pr_show(&hold, rows->columns[column]));
    return pr_rows_need(rows, c->name, "", &found, err); /* refuses two of one name */
}

parsrec_status pr_table_begin(pr_table *t, pr_feature_of of, const pr_rows *rows,
                              const parsrec_import_options *options, parsrec_error *err)
{
    *t = (pr_table){.of = of};
    PR_TRY(find_keys(t, rows, options, err));
    t->columns = pr_alloc_zero(rows->column_count, sizeof *t->columns);
    if (t->columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < rows->column_count; i++) {
        t->columns[i].name = pr_copy_string(rows->columns[i].bytes, rows->columns[i].size);
        t->column_count++;
        if (t->columns[i].name == NULL)
            return pr_fail_memory(err);
        t->columns[i].type = type_of(t, i, t->columns[i].name, options);
        PR_TRY(check_name(t, rows, i, err));
    }
    return PARSREC_OK;
}

/* ---- rows ---- */

/* The key of a row; *known is false for the session of a user whom no action names. */
static parsrec_status key_of(pr_table *t, const pr_collect *actions, const pr_row *row,
                             pr_slice *key, bool *known, parsrec_error *err)
{
    uint32_t user;
    *key = row->fields[t->key_column];
    *known = true;
    if (!t->with_user)
        return PARSREC_OK;
    *known = pr_intern_find(&actions->users, row->fields[t->user_column], &user);
    if (!*known)
        return PARSREC_OK;
    PR_TRY(pr_grow(&t->scratch, &t->scratch_capacity, sizeof user + key->size, 1, err));
    memcpy(t->scratch, &user, sizeof user);
    memcpy(t->scratch + sizeof user, key->bytes, key->size);
    *key = (pr_slice){t->scratch, sizeof user + key->size};
    return PARSREC_OK;
}

static parsrec_status check_cells(const pr_table *t, const pr_rows *rows, const pr_row *row,
                                  parsrec_error *err)
{
    float value;
    pr_excerpt hold;
    for (size_t i = 0; i < t->column_count; i++) {
        pr_slice text = pr_slice_trim(row->fields[i]);
        if (t->columns[i].type == PR_COLUMN_TREE && pr_category_depth(text) > PR_CATEGORY_LEVELS)
            return pr_rows_fail(rows, row->line, i, err,
                                "the category has more than %d levels; shorten the path",
                                PR_CATEGORY_LEVELS);
        if (t->columns[i].type == PR_COLUMN_NUMBER && text.size > 0 &&
            !pr_cell_number(text, &value))
            return pr_rows_fail(rows, row->line, i, err,
                                "%s is not a number, but column '%s' must hold numbers",
                                pr_show(&hold, text), t->columns[i].name);
    }
    return PARSREC_OK;
}

static parsrec_status set_cell(pr_table_column *c, size_t row, pr_slice text, parsrec_error *err)
{
    uint32_t number;
    PR_TRY(pr_grow(&c->cells, &c->capacity, row + 1, sizeof *c->cells, err));
    c->cells[row] = -1;
    if (text.size == 0)
        return PARSREC_OK;
    PR_TRY(pr_intern_add(&c->texts, text, &number, err));
    c->cells[row] = (int32_t)number;
    return PARSREC_OK;
}

parsrec_status pr_table_row(pr_table *t, const pr_collect *actions, const pr_rows *rows,
                            const pr_row *row, parsrec_error *err)
{
    static const char *const what[] = {"user", "session", "item"};
    pr_slice key;
    bool known;
    uint32_t number;
    pr_excerpt hold;
    if (row->fields[t->key_column].size == 0)
        return pr_rows_fail(rows, row->line, t->key_column, err, "the %s is empty; name it",
                            what[t->of]);
    PR_TRY(check_cells(t, rows, row, err));
    PR_TRY(key_of(t, actions, row, &key, &known, err));
    if (!known) {
        t->nobody++;
        return PARSREC_OK;
    }
    size_t at = t->keys.count;
    PR_TRY(pr_intern_add(&t->keys, key, &number, err));
    if (number < at)
        return pr_rows_fail(rows, row->line, t->key_column, err,
                            "the %s %s stands here a second time; keep one row", what[t->of],
                            pr_show(&hold, row->fields[t->key_column]));
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].type != PR_COLUMN_KEY_PART)
            PR_TRY(set_cell(&t->columns[i], at, pr_slice_trim(row->fields[i]), err));
    return PARSREC_OK;
}
