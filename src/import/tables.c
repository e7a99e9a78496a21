/* Tables about items, users and sessions: reading, matching, features, names and categories. */
#include "import/tables.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/columns.h"

/* ---- reading a table ---- */

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

/* "1.234,50" to "1234.50". Points must be before groups of three digits; 0 for anything
 * else. */
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

static pr_table_content content_of(const pr_table *t, size_t column, const char *name,
                                   const parsrec_import_options *options)
{
    if (column == t->key_column || column == t->user_column || name[0] == '\0')
        return PR_TABLE_SKIPPED;
    if (t->of == PR_OF_ITEM && strcmp(name, "name") == 0)
        return PR_TABLE_NAMES;
    if (t->of == PR_OF_ITEM && strcmp(name, "category") == 0)
        return PR_TABLE_CATEGORIES;
    if (pr_list_has(options->number_columns, name))
        return PR_TABLE_NUMBERS;
    return pr_list_has(options->category_columns, name) ? PR_TABLE_WORDS : PR_TABLE_UNDECIDED;
}

/* Of the columns without a given role, the one that best fits the name of the item. */
static void find_item_name(pr_table *t, const pr_rows *rows)
{
    pr_table_column *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        int rank = pr_columns_name_rank(rows->columns[i]);
        if (t->columns[i].holds == PR_TABLE_NAMES)
            return;
        if (t->columns[i].holds != PR_TABLE_UNDECIDED || rank < 0 ||
            (best != NULL && rank >= best_rank))
            continue;
        best = &t->columns[i];
        best_rank = rank;
    }
    if (best != NULL)
        best->holds = PR_TABLE_NAMES;
}

/* Department, aisle and the like are levels of the category path, one column for each level; a
 * column with codes only where no other spells the level out. A column "category" is the whole
 * path. */
enum { CATEGORY_COLUMNS = 8 };
static void find_categories(pr_table *t, const pr_rows *rows)
{
    pr_table_column *of_level[CATEGORY_COLUMNS] = {NULL};
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].holds == PR_TABLE_CATEGORIES)
            return;
    for (int codes = 0; codes < 2; codes++)
        for (size_t i = 0; i < t->column_count; i++) {
            int level = pr_columns_category_level(rows->columns[i]);
            if (t->columns[i].holds == PR_TABLE_UNDECIDED && level >= 0 &&
                level < CATEGORY_COLUMNS && of_level[level] == NULL &&
                pr_columns_is_code(rows->columns[i]) == (codes == 1))
                of_level[level] = &t->columns[i];
        }
    for (int level = 0; level < CATEGORY_COLUMNS; level++)
        if (of_level[level] != NULL) {
            of_level[level]->holds = PR_TABLE_CATEGORIES;
            of_level[level]->level = level;
        }
}

static parsrec_status check_name(const pr_table *t, const pr_rows *rows, size_t column,
                                 parsrec_error *err)
{
    const pr_table_column *c = &t->columns[column];
    size_t found;
    pr_excerpt hold;
    if (c->holds == PR_TABLE_SKIPPED)
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
        t->columns[i].holds = content_of(t, i, t->columns[i].name, options);
        PR_TRY(check_name(t, rows, i, err));
    }
    if (of == PR_OF_ITEM) {
        find_item_name(t, rows);
        find_categories(t, rows);
    }
    return PARSREC_OK;
}

/* ---- numbers ---- */

/* For a column that is not all numbers with a decimal point. *number says whether it is all numbers
 * with a decimal comma. In a file whose delimiter is a comma, commas that are all followed by three
 * digits are refused: they may separate thousands. */
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
        if (c->holds != PR_TABLE_UNDECIDED && c->holds != PR_TABLE_NUMBERS)
            continue;
        bool number = c->texts.count > 0;
        for (size_t k = 0; k < c->texts.count && number; k++)
            number = pr_cell_number(pr_intern_name(&c->texts, k), false, &value);
        if (!number)
            PR_TRY(settle_commas(c, rows, &number, err));
        if (c->holds == PR_TABLE_UNDECIDED)
            c->holds = number ? PR_TABLE_NUMBERS : PR_TABLE_WORDS;
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
        if (t->columns[i].holds == PR_TABLE_CATEGORIES)
            depth += pr_category_depth(text);
        if (depth > PR_CATEGORY_LEVELS)
            return pr_rows_fail(rows, row->line, i, err,
                                "the category has more than %d levels; shorten the path",
                                PR_CATEGORY_LEVELS);
        if (t->columns[i].holds == PR_TABLE_NUMBERS && text.size > 0 &&
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
        t->without_user++;
        return PARSREC_OK;
    }
    size_t at = t->keys.count;
    PR_TRY(pr_intern_add(&t->keys, key, &number, err));
    if (number < at)
        return pr_rows_fail(rows, row->line, t->key_column, err,
                            "the %s %s occurs a second time; keep one row", what[t->of],
                            pr_show(&hold, row->fields[t->key_column]));
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].holds != PR_TABLE_SKIPPED)
            PR_TRY(set_cell(&t->columns[i], at, pr_slice_trim(row->fields[i]), err));
    return PARSREC_OK;
}

/* ---- items in the rows of actions ---- */

parsrec_status pr_table_begin_within(pr_table *t, const pr_rows *rows,
                                     const pr_action_columns *columns, parsrec_error *err)
{
    bool any = false;
    *t = (pr_table){.of = PR_OF_ITEM, .key_column = columns->item, .user_column = PR_NO_COLUMN};
    t->columns = pr_alloc_zero(rows->column_count, sizeof *t->columns);
    if (t->columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < rows->column_count; i++) {
        int rank = pr_columns_name_rank(rows->columns[i]);
        bool taken = i == columns->user || i == columns->session || i == columns->time ||
                     i == columns->item || i == columns->quantity ||
                     (rank >= 0 && rank < PR_NAME_ALONE);
        t->columns[i].name = pr_copy_string(rows->columns[i].bytes, rows->columns[i].size);
        t->columns[i].holds = taken ? PR_TABLE_SKIPPED : PR_TABLE_UNDECIDED;
        t->column_count++;
        if (t->columns[i].name == NULL)
            return pr_fail_memory(err);
    }
    find_item_name(t, rows);
    find_categories(t, rows);
    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].holds == PR_TABLE_UNDECIDED)
            t->columns[i].holds = PR_TABLE_SKIPPED;
        any = any || t->columns[i].holds != PR_TABLE_SKIPPED;
    }
    if (!any)
        pr_table_free(t);
    return PARSREC_OK;
}

/* A text that cannot be one of the item's is like an empty one: the row is good as an action. */
static pr_slice text_within(const pr_table_column *c, pr_slice field)
{
    pr_slice text = pr_slice_trim(field);
    bool deep = c->holds == PR_TABLE_CATEGORIES &&
                pr_category_depth(text) > PR_CATEGORY_LEVELS / CATEGORY_COLUMNS;
    return deep ? (pr_slice){"", 0} : text;
}

parsrec_status pr_table_row_within(pr_table *t, const pr_collect *actions, const pr_row *row,
                                   parsrec_error *err)
{
    uint32_t item = actions->last_item, number;
    if (item > t->keys.count)
        return PARSREC_OK; /* an input with other columns brought items before */
    bool new = item == t->keys.count;
    if (new)
        PR_TRY(pr_intern_add(&t->keys, pr_intern_name(&actions->items, item), &number, err));
    for (size_t i = 0; i < t->column_count; i++) {
        pr_table_column *c = &t->columns[i];
        if (c->holds == PR_TABLE_SKIPPED)
            continue;
        pr_slice text = text_within(c, row->fields[i]);
        if (new || c->cells[item] < 0)
            PR_TRY(set_cell(c, item, text, err));
        else
            c->others += text.size > 0 &&
                         !pr_slice_equal(text, pr_intern_name(&c->texts, (size_t)c->cells[item]));
    }
    return PARSREC_OK;
}

void pr_table_settle_within(pr_table *t, uint64_t rows)
{
    enum { ONE_IN = 20 };
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].others > rows / ONE_IN)
            t->columns[i].holds = PR_TABLE_SKIPPED;
}

parsrec_status pr_names_choose(pr_names *out, const pr_names *names, const int32_t *from,
                               size_t count, pr_region *region, parsrec_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += from[i] >= 0 ? pr_name(names, (size_t)from[i]).size : 0;
    char *text = pr_region_take(region, bytes, 1);
    int64_t *offsets = pr_region_take(region, count + 1, sizeof *offsets);
    if (text == NULL || offsets == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        pr_slice name = from[i] >= 0 ? pr_name(names, (size_t)from[i]) : (pr_slice){"", 0};
        memcpy(text + offsets[i], name.bytes, name.size);
        offsets[i + 1] = offsets[i] + (int64_t)name.size;
    }
    *out = (pr_names){text, offsets, count};
    return PARSREC_OK;
}

/* ---- matching ---- */

/* Rows found so far, and which of them were used; one row may belong to many sessions. */
typedef struct match {
    int32_t *row_of;
    bool *used;
    size_t used_count;
} match;

static parsrec_status begin_match(match *m, const pr_table *table, size_t count, parsrec_error *err)
{
    *m = (match){.row_of = pr_alloc(count, sizeof *m->row_of),
                 .used = pr_alloc_zero(table->keys.count, sizeof *m->used)};
    if (m->row_of == NULL || m->used == NULL) {
        pr_free(m->row_of);
        pr_free(m->used);
        return pr_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++)
        m->row_of[i] = -1;
    return PARSREC_OK;
}

static void match_key(match *m, const pr_table *table, pr_slice key, size_t thing)
{
    uint32_t row;
    if (!pr_intern_find(&table->keys, key, &row))
        return;
    m->row_of[thing] = (int32_t)row;
    m->used_count += !m->used[row];
    m->used[row] = true;
}

static void end_match(match *m, const pr_table *table, int32_t **row_of, size_t *unmatched_rows)
{
    *row_of = m->row_of;
    *unmatched_rows = table->keys.count - m->used_count + table->without_user;
    pr_free(m->used);
}

parsrec_status pr_table_match(const pr_table *table, const pr_names *names, int32_t **row_of,
                              size_t *unmatched_rows, parsrec_error *err)
{
    match m;
    PR_TRY(begin_match(&m, table, names->count, err));
    for (size_t i = 0; i < names->count; i++)
        match_key(&m, table, pr_name(names, i), i);
    end_match(&m, table, row_of, unmatched_rows);
    return PARSREC_OK;
}

parsrec_status pr_table_match_sessions(const pr_table *table, const pr_gather *sessions,
                                       int32_t **row_of, size_t *unmatched_rows, parsrec_error *err)
{
    match m;
    PR_TRY(begin_match(&m, table, sessions->sessions, err));
    for (size_t k = 0; k < sessions->keys.count; k++) {
        uint32_t user;
        pr_slice text = pr_gather_key(sessions, k, &user);
        pr_slice key = table->with_user ? pr_intern_name(&sessions->keys, k) : text;
        match_key(&m, table, key, sessions->key_session[k]);
    }
    end_match(&m, table, row_of, unmatched_rows);
    return PARSREC_OK;
}

/* ---- features ---- */

static int32_t cell_at(const pr_table_column *c, int32_t row)
{
    return row >= 0 ? c->cells[row] : -1;
}

static parsrec_status gather_numbers(pr_feature_column *f, const pr_table_column *c,
                                     const int32_t *rows, size_t count, pr_region *region,
                                     parsrec_error *err)
{
    float *values = pr_region_take(region, count, sizeof *values);
    float *of_text = pr_region_take(region, c->texts.count, sizeof *of_text);
    if (values == NULL || of_text == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < c->texts.count; i++)
        pr_cell_number(pr_intern_name(&c->texts, i), c->decimal_comma, &of_text[i]);
    for (size_t i = 0; i < count; i++) {
        int32_t cell = cell_at(c, rows[i]);
        values[i] = cell >= 0 ? of_text[cell] : NAN;
    }
    f->number = values;
    return PARSREC_OK;
}

/* Codes are given by first appearance in `rows`, so that only values that occur get one. */
static parsrec_status gather_codes(pr_feature_column *f, const pr_table_column *c,
                                   const int32_t *rows, size_t count, pr_region *region,
                                   parsrec_error *err)
{
    int32_t *codes = pr_region_take(region, count, sizeof *codes);
    int32_t *code_of = pr_region_take(region, c->texts.count, sizeof *code_of); /* + 1 */
    int32_t *chosen = pr_region_take(region, c->texts.count, sizeof *chosen);
    if (codes == NULL || code_of == NULL || chosen == NULL)
        return pr_fail_memory(err);
    int32_t known = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t cell = cell_at(c, rows[i]);
        if (cell >= 0 && code_of[cell] == 0) {
            chosen[known++] = cell;
            code_of[cell] = known;
        }
        codes[i] = cell >= 0 ? code_of[cell] - 1 : -1;
    }
    f->code = codes;
    pr_names texts = pr_intern_view(&c->texts);
    return pr_names_choose(&f->values, &texts, chosen, (size_t)known, region, err);
}

parsrec_status pr_features_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  size_t count, pr_region *region, parsrec_error *err)
{
    pr_feature_column *features = pr_region_take(region, table->column_count, sizeof *features);
    if (features == NULL)
        return pr_fail_memory(err);
    data->features[table->of] = features;
    for (size_t i = 0; i < table->column_count; i++) {
        const pr_table_column *c = &table->columns[i];
        if (c->holds > PR_TABLE_WORDS)
            continue;
        pr_feature_column *f = &features[data->feature_count[table->of]];
        f->name = c->name;
        PR_TRY((c->holds == PR_TABLE_NUMBERS ? gather_numbers : gather_codes)(f, c, rows, count,
                                                                              region, err));
        data->feature_count[table->of]++;
    }
    return PARSREC_OK;
}

/* ---- item names and the category tree ---- */

static const pr_table_column *find_column(const pr_table *table, pr_table_content holds)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].holds == holds && table->columns[i].texts.count > 0)
            return &table->columns[i];
    return NULL;
}

/* The texts of a column for each item, -1 where there is none; NULL when out of memory. */
static int32_t *cells_of_items(const pr_table_column *c, const int32_t *rows, size_t items)
{
    int32_t *cells = pr_alloc(items, sizeof *cells);
    for (size_t i = 0; cells != NULL && i < items; i++)
        cells[i] = rows[i] >= 0 ? c->cells[rows[i]] : -1;
    return cells;
}

static bool any(const int32_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i] >= 0)
            return true;
    return false;
}

static parsrec_status gather_names(pr_dataset *data, const pr_table_column *c, const int32_t *rows,
                                   pr_region *region, parsrec_error *err)
{
    int32_t *cells = cells_of_items(c, rows, data->items);
    if (cells == NULL)
        return pr_fail_memory(err);
    pr_names texts = pr_intern_view(&c->texts);
    parsrec_status status = PARSREC_OK;
    if (any(cells, data->items))
        status = pr_names_choose(&data->item_names, &texts, cells, data->items, region, err);
    pr_free(cells);
    return status;
}

/* ---- the tree ---- */

/* A node is known by its parent's number in 4 bytes, then its name. */
typedef struct tree {
    pr_intern nodes;
    char *scratch;
    size_t scratch_capacity;
} tree;

static parsrec_status add_node(tree *t, int32_t parent, pr_slice name, int32_t *node,
                               parsrec_error *err)
{
    uint32_t number;
    size_t size = sizeof parent + name.size;
    PR_TRY(pr_grow(&t->scratch, &t->scratch_capacity, size, 1, err));
    memcpy(t->scratch, &parent, sizeof parent);
    memcpy(t->scratch + sizeof parent, name.bytes, name.size);
    PR_TRY(pr_intern_add(&t->nodes, (pr_slice){t->scratch, size}, &number, err));
    *node = (int32_t)number;
    return PARSREC_OK;
}

/* Takes the first level off a path. */
static pr_slice next_level(pr_slice *path)
{
    static const char separator[] = " > ";
    const char *at = memmem(path->bytes, path->size, separator, strlen(separator));
    size_t size = at != NULL ? (size_t)(at - path->bytes) : path->size;
    size_t used = at != NULL ? size + strlen(separator) : size;
    pr_slice level = pr_slice_trim((pr_slice){path->bytes, size});
    *path = (pr_slice){path->bytes + used, path->size - used};
    return level;
}

size_t pr_category_depth(pr_slice path)
{
    size_t depth = 0;
    while (path.size > 0)
        depth += next_level(&path).size > 0;
    return depth;
}

/* The deepest node of a path below *node, its ancestors added before it. */
static parsrec_status add_path(tree *t, pr_slice path, int32_t *node, parsrec_error *err)
{
    while (path.size > 0) {
        pr_slice level = next_level(&path);
        if (level.size > 0)
            PR_TRY(add_node(t, *node, level, node, err));
    }
    return PARSREC_OK;
}

/* Splits the nodes' keys into names and parents. */
static parsrec_status write_tree(pr_dataset *data, const tree *t, pr_region *region,
                                 parsrec_error *err)
{
    size_t count = t->nodes.count;
    size_t bytes = count > 0 ? (size_t)t->nodes.offsets[count] - count * sizeof(int32_t) : 0;
    char *text = pr_region_take(region, bytes, 1);
    int64_t *offsets = pr_region_take(region, count + 1, sizeof *offsets);
    int32_t *parents = pr_region_take(region, count, sizeof *parents);
    if (text == NULL || offsets == NULL || parents == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        pr_slice key = pr_intern_name(&t->nodes, i);
        size_t size = key.size - sizeof *parents;
        memcpy(&parents[i], key.bytes, sizeof *parents);
        memcpy(text + offsets[i], key.bytes + sizeof *parents, size);
        offsets[i + 1] = offsets[i] + (int64_t)size;
    }
    data->categories = count;
    data->category_names = (pr_names){text, offsets, count};
    data->category_parent = parents;
    return PARSREC_OK;
}

/* The columns of the path, broad before narrow; returns how many. */
enum { PATH_COLUMNS = 16 };
static size_t path_columns(const pr_table *table, const pr_table_column **columns)
{
    size_t count = 0;
    for (size_t i = 0; i < table->column_count && count < PATH_COLUMNS; i++) {
        const pr_table_column *c = &table->columns[i];
        if (c->holds != PR_TABLE_CATEGORIES || c->texts.count == 0)
            continue;
        size_t at = count++;
        for (; at > 0 && columns[at - 1]->level > c->level; at--)
            columns[at] = columns[at - 1];
        columns[at] = c;
    }
    return count;
}

static parsrec_status fill_tree(tree *t, int32_t *item_category, const pr_table *table,
                                const int32_t *rows, size_t items, parsrec_error *err)
{
    const pr_table_column *columns[PATH_COLUMNS];
    size_t count = path_columns(table, columns);
    for (size_t i = 0; i < items; i++) {
        item_category[i] = -1;
        for (size_t k = 0; k < count; k++) {
            int32_t cell = rows[i] >= 0 ? columns[k]->cells[rows[i]] : -1;
            if (cell >= 0)
                PR_TRY(add_path(t, pr_intern_name(&columns[k]->texts, (size_t)cell),
                                &item_category[i], err));
        }
    }
    return PARSREC_OK;
}

static parsrec_status gather_tree(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                  pr_region *region, parsrec_error *err)
{
    tree t = {0};
    int32_t *item_category = pr_region_take(region, data->items, sizeof *item_category);
    if (item_category == NULL)
        return pr_fail_memory(err);
    parsrec_status status = fill_tree(&t, item_category, table, rows, data->items, err);
    if (status == PARSREC_OK && t.nodes.count > 0) {
        data->item_category = item_category;
        status = write_tree(data, &t, region, err);
    }
    pr_intern_free(&t.nodes);
    pr_free(t.scratch);
    return status;
}

parsrec_status pr_catalogue_gather(pr_dataset *data, const pr_table *table, const int32_t *rows,
                                   pr_region *region, parsrec_error *err)
{
    const pr_table_column *names = find_column(table, PR_TABLE_NAMES);
    const pr_table_column *categories = find_column(table, PR_TABLE_CATEGORIES);
    if (names != NULL)
        PR_TRY(gather_names(data, names, rows, region, err));
    if (categories != NULL)
        PR_TRY(gather_tree(data, table, rows, region, err));
    return PARSREC_OK;
}
