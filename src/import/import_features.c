/* Matching rows to things, and feature columns out of cells. */
#include "import/import_features.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

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

/* Which rows were asked for; a row may serve many sessions. */
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
    *unmatched_rows = table->keys.count - m->used_count + table->nobody;
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

parsrec_status pr_table_match_sessions(const pr_table *table, const pr_collect *actions,
                                       int32_t **row_of, size_t *unmatched_rows, parsrec_error *err)
{
    match m;
    PR_TRY(begin_match(&m, table, actions->sessions, err));
    for (size_t k = 0; k < actions->keys.count; k++) {
        uint32_t user;
        pr_slice text = pr_collect_key(actions, k, &user);
        pr_slice key = table->with_user ? pr_intern_name(&actions->keys, k) : text;
        match_key(&m, table, key, actions->key_session[k]);
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

/* Codes by first appearance among the things that are there, so that no value is without one. */
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
        if (c->type > PR_COLUMN_CATEGORY)
            continue;
        pr_feature_column *f = &features[data->feature_count[table->of]];
        f->name = c->name;
        PR_TRY((c->type == PR_COLUMN_NUMBER ? gather_numbers : gather_codes)(f, c, rows, count,
                                                                             region, err));
        data->feature_count[table->of]++;
    }
    return PARSREC_OK;
}
