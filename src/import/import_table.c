/* Reading a table about items, users or sessions. */
#include "import/import_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/import_columns.h"

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "1.234,50" to "1234.50". Points must stand before groups of three digits; 0 when this is no such
 * number. */
static size_t without_comma(pr_slice text, char *out, size_t room)
{
    const char *comma = memchr(text.bytes, ',', text.size);
    size_t whole = comma != NULL ? (size_t)(comma - text.bytes) : text.size, used = 0, group = 0;
    bool grouped = false;
    if (text.size >= room)
        return 0;
    for (size_t i = 0; i < whole; i++) {
        char c = text.bytes[i];
        if (c == '.') {
            if (group == 0 || group > 3 || (grouped && group != 3))
                return 0;
            grouped = true;
            group = 0;
        } else if (is_digit(c) || (i == 0 && (c == '-' || c == '+'))) {
            group += is_digit(c);
            out[used++] = c;
        } else {
            return 0;
        }
    }
    if (group == 0 || (grouped && group != 3))
        return 0;
    if (comma == NULL)
        return used;
    out[used++] = '.';
    if (whole + 1 == text.size)
        return 0;
    for (size_t i = whole + 1; i < text.size; i++) {
        if (!is_digit(text.bytes[i]))
            return 0;
        out[used++] = text.bytes[i];
    }
    return used;
}

bool pr_cell_number(pr_slice text, bool decimal_comma, float *value)
{
    double x;
    char plain[64];
    if (decimal_comma)
        text = (pr_slice){plain, without_comma(text, plain, sizeof plain)};
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

static parsrec_status find_keys(pr_table *t, const pr_rows *rows,
                                const parsrec_import_options *options, const char *same,
                                parsrec_error *err)
{
    static const parsrec_column_role roles[] = {PARSREC_COLUMN_USER, PARSREC_COLUMN_SESSION,
                                                PARSREC_COLUMN_ITEM};
    const char *const given[] = {options->user_column, options->session_column,
                                 options->item_column};
    t->user_column = PR_NO_COLUMN;
    PR_TRY(pr_columns_find_key(&t->key_column, rows, roles[t->of], given[t->of], same, false, err));
    if (t->of == PR_OF_SESSION) {
        PR_TRY(pr_columns_find_key(&t->user_column, rows, PARSREC_COLUMN_USER, options->user_column,
                                   NULL, true, err));
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

/* Of the columns that nobody has spoken for, the one that best fits the name of the item. */
static void find_item_name(pr_table *t, const pr_rows *rows)
{
    pr_table_column *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        int rank = pr_columns_name_rank(rows->columns[i]);
        if (t->columns[i].type == PR_COLUMN_NAME)
            return;
        if (t->columns[i].type != PR_COLUMN_GUESS || rank < 0 ||
            (best != NULL && rank >= best_rank))
            continue;
        best = &t->columns[i];
        best_rank = rank;
    }
    if (best != NULL)
        best->type = PR_COLUMN_NAME;
}

/* Department, aisle and the like are levels of the category path, one column for each level; a column
 * with codes only where no other spells the level out. A column "category" is the whole path. */
static void find_categories(pr_table *t, const pr_rows *rows)
{
    enum { LEVELS = 8 };
    pr_table_column *of_level[LEVELS] = {NULL};
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].type == PR_COLUMN_TREE)
            return;
    for (int codes = 0; codes < 2; codes++)
        for (size_t i = 0; i < t->column_count; i++) {
            int level = pr_columns_category_level(rows->columns[i]);
            if (t->columns[i].type == PR_COLUMN_GUESS && level >= 0 && level < LEVELS &&
                of_level[level] == NULL && pr_columns_is_code(rows->columns[i]) == (codes == 1))
                of_level[level] = &t->columns[i];
        }
    for (int level = 0; level < LEVELS; level++)
        if (of_level[level] != NULL) {
            of_level[level]->type = PR_COLUMN_TREE;
            of_level[level]->level = level;
        }
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
                              const parsrec_import_options *options, const char *key,
                              parsrec_error *err)
{
    *t = (pr_table){.of = of};
    PR_TRY(find_keys(t, rows, options, key, err));
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
    if (of == PR_OF_ITEM) {
        find_item_name(t, rows);
        find_categories(t, rows);
    }
    return PARSREC_OK;
}

/* ---- numbers ---- */

/* A column that is numbers but for commas: decimal commas, unless every comma might stand before
 * thousands in a file whose delimiter is a comma. */
static parsrec_status settle_commas(pr_table_column *c, const pr_rows *rows, bool *number,
                                    parsrec_error *err)
{
    bool points = false, commas = false, decimal = rows->delimiter != ',';
    float value;
    pr_slice example = {"", 0};
    pr_excerpt hold;
    *number = false;
    for (size_t i = 0; i < c->texts.count; i++) {
        pr_slice text = pr_intern_name(&c->texts, i);
        const char *comma = memchr(text.bytes, ',', text.size);
        bool with_comma = pr_cell_number(text, true, &value);
        if (!with_comma && !pr_cell_number(text, false, &value))
            return PARSREC_OK; /* words */
        points = points || !with_comma;
        if (comma == NULL)
            continue;
        commas = true;
        example = text;
        decimal = decimal || text.size - (size_t)(comma - text.bytes) != 4;
    }
    if (!commas)
        return PARSREC_OK;
    if (points)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: column '%s' has numbers with a decimal comma, such as %s, and others "
                       "with a decimal point; write all with a point",
                       rows->name, c->name, pr_show(&hold, example));
    if (!decimal)
        return pr_fail(
            err, PARSREC_E_INPUT,
            "%s: column '%s': is the comma in %s a decimal comma or does it part "
            "thousands? write the numbers with a decimal point, or add --categorical '%s'",
            rows->name, c->name, pr_show(&hold, example), c->name);
    c->decimal_comma = *number = true;
    return PARSREC_OK;
}

parsrec_status pr_table_settle(pr_table *t, const pr_rows *rows, parsrec_error *err)
{
    for (size_t i = 0; i < t->column_count; i++) {
        pr_table_column *c = &t->columns[i];
        float value;
        if (c->type != PR_COLUMN_GUESS && c->type != PR_COLUMN_NUMBER)
            continue;
        bool number = c->texts.count > 0;
        for (size_t k = 0; k < c->texts.count && number; k++)
            number = pr_cell_number(pr_intern_name(&c->texts, k), false, &value);
        if (!number)
            PR_TRY(settle_commas(c, rows, &number, err));
        if (c->type == PR_COLUMN_GUESS)
            c->type = number ? PR_COLUMN_NUMBER : PR_COLUMN_CATEGORY;
    }
    return PARSREC_OK;
}

/* ---- rows ---- */

/* The key of a row; *known is false for the session of a user whom no action names. */
static parsrec_status key_of(pr_table *t, const pr_collect *actions, const pr_row *row,
                             pr_slice *key, bool *known, parsrec_error *err)
{
    uint32_t user;
    *key = pr_key(row->fields[t->key_column], &t->trimmed);
    *known = true;
    if (!t->with_user)
        return PARSREC_OK;
    *known =
        pr_intern_find(&actions->users, pr_key(row->fields[t->user_column], &t->trimmed), &user);
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
    size_t depth = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        pr_slice text = pr_slice_trim(row->fields[i]);
        if (t->columns[i].type == PR_COLUMN_TREE)
            depth += pr_category_depth(text);
        if (depth > PR_CATEGORY_LEVELS)
            return pr_rows_fail(rows, row->line, i, err,
                                "the category has more than %d levels; shorten the path",
                                PR_CATEGORY_LEVELS);
        if (t->columns[i].type == PR_COLUMN_NUMBER && text.size > 0 &&
            !pr_cell_number(text, false, &value) && !pr_cell_number(text, true, &value))
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
    uint64_t ignored = 0;
    if (pr_key(row->fields[t->key_column], &ignored).size == 0)
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
