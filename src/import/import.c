/* parsrec_import, at the end of this file: reads the actions, reads the tables about items, users and
 * sessions, makes the data set and writes it. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "data/dataset.h"
#include "import/columns.h"
#include "import/numbering.h"
#include "import/rows.h"
#include "import/shard_target.h"
#include "import/spill.h"
#include "import/tables.h"
#include "import/times.h"

/* ---- options that do not fit together ---- */

static parsrec_status refuse(parsrec_error *err, const char *sentence)
{
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s", sentence);
}

static parsrec_status check_inputs(const char *const *inputs, size_t count,
                                   const parsrec_import_options *o, parsrec_error *err)
{
    const char *const tables[] = {o->items_path, o->users_path, o->sessions_path};
    size_t from_stdin = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        from_stdin += tables[i] != NULL && strcmp(tables[i], "-") == 0;
        if (tables[i] != NULL && pr_rows_is_database(tables[i]))
            return refuse(err, "items, users and sessions are read from files; export them first");
    }
    for (size_t i = 0; i < count; i++) {
        from_stdin += strcmp(inputs[i], "-") == 0;
        if (!pr_rows_takes_query(inputs[i]) && (o->table != NULL || o->query != NULL))
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "%s: --table and --query are for sqlite:, postgresql:, duckdb: and "
                           "parquet: inputs",
                           inputs[i]);
    }
    if (from_stdin > 1)
        return refuse(err, "standard input (-) can be read once only");
    return PARSREC_OK;
}

enum { LEAST_MEMORY = 1 << 26 };

static parsrec_status check_options(const char *const *inputs, size_t input_count,
                                    const parsrec_import_options *o, parsrec_error *err)
{
    if (o->session_rule == PARSREC_SESSION_GAP && o->session_gap <= 0)
        return refuse(err, "the session gap must be longer than nothing");
    if (o->session_rule != PARSREC_SESSION_COLUMN && o->session_column != NULL &&
        o->session_column[0] != '\0')
        return refuse(err, "sessions come from a column or are cut by time, not both; leave out "
                           "--session, --session-gap or --session-by");
    if (o->session_rule != PARSREC_SESSION_COLUMN && o->sessions_path != NULL)
        return refuse(err, "a sessions file needs sessions with names; leave out --sessions, "
                           "--session-gap or --session-by");
    if (o->item_column != NULL && o->item_column[0] == '\0')
        return refuse(err, "every action needs an item; name its column with --item");
    if (o->max_memory > 0 && o->max_memory < LEAST_MEMORY)
        return refuse(err, "--max-memory must be at least 64M");
    if (o->max_memory > 0 && o->sessions_path != NULL)
        return refuse(err,
                      "the keys of sessions, which --sessions needs, are held in memory; leave "
                      "out --sessions or --max-memory");
    if (o->time_format != NULL)
        PR_TRY(pr_time_pattern_check(o->time_format, err));
    return check_inputs(inputs, input_count, o, err);
}

/* ---- `source` in the file: how it was made ---- */

/* A file's own name; its folder is private. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && !pr_rows_is_database(path) ? slash + 1 : path;
}

static json_t *name_list(const char *const *names, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_string(base_name(names[i]))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static int set_count(json_t *object, const char *key, uint64_t value)
{
    return json_object_set_new(object, key, json_integer((json_int_t)value));
}

static int set_rules(json_t *object, const parsrec_import_options *o)
{
    int failed = set_count(object, "min_actions", o->min_actions);
    failed |= json_object_set_new(object, "session_rule",
                                  json_string(pr_session_rule_name(o->session_rule)));
    if (o->session_rule == PARSREC_SESSION_GAP)
        failed |= set_count(object, "session_gap", (uint64_t)o->session_gap);
    return failed;
}

static int set_reading(json_t *object, const parsrec_import_options *o)
{
    int failed = json_object_set_new(object, "sort", json_boolean(o->sort));
    if (o->time_format != NULL)
        failed |= json_object_set_new(object, "time_format", json_string(o->time_format));
    return failed;
}

static int set_report(json_t *object, const parsrec_import_report *r)
{
    int failed = set_count(object, "rows_read", r->rows_read);
    failed |= set_count(object, "bad_rows", r->bad_rows);
    if (r->returns > 0)
        failed |= set_count(object, "returns", r->returns);
    failed |= set_count(object, "repeats_dropped", r->repeats_dropped);
    failed |= set_count(object, "filtered_users", r->filtered_users);
    failed |= set_count(object, "filtered_items", r->filtered_items);
    return failed | set_count(object, "filtered_actions", r->filtered_actions);
}

/* How the file was made, as JSON without folders and passwords. What is said of shards does not depend
 * on how the rows were read. Free with pr_free; NULL when out of memory. */
static char *source_text(const char *const *names, size_t count,
                         const parsrec_import_options *options, const parsrec_import_report *report)
{
    json_t *object = json_object();
    int failed = object == NULL;
    failed |= json_object_set_new(object, "made_by", json_string("import"));
    if (options->name != NULL || options->shards == 0)
        failed |= json_object_set_new(object, "inputs",
                                      options->name != NULL ? name_list(&options->name, 1)
                                                            : name_list(names, count));
    if (!failed)
        failed = set_rules(object, options);
    if (!failed && options->shards == 0)
        failed = set_reading(object, options) | set_report(object, report);
    char *text = failed ? NULL : pr_json_text(object);
    json_decref(object);
    return text;
}

/* ---- the run ---- */

enum { ROWS_BETWEEN_REPORTS = 1 << 14 };

typedef struct importer {
    const char *out_path;
    const parsrec_import_options *options;
    const parsrec_import_streams *streams; /* NULL: inputs are named */
    parsrec_import_report *report;
    const parsrec_hooks *hooks;
    pr_collect actions;
    pr_table tables[PR_FEATURE_TABLES];
    bool items_within; /* that of items is of names and categories in the rows of actions */
    /* The table's row for each user, session or item of the actions; NULL without that table. */
    int32_t *row_of[PR_FEATURE_TABLES];
    pr_shard_target target; /* of an import into shards; else zeroed */
    pr_spill_order order;   /* for shards */
    pr_spill *spill;        /* of `actions`, once they take more memory than they may; or NULL */
    uint64_t most_memory;   /* of the actions; UINT64_MAX: any */
    pr_assembly baskets;
    pr_dataset data;  /* its columns belong to the members above and to the region */
    pr_region region; /* names and features that were copied for `data` */
    char **names;     /* of the inputs, for messages and `source`: without passwords */
    size_t name_count;
    /* The names of the user, session and item columns in the first input; NULL if it has none. */
    char *key_names[PR_FEATURE_TABLES];
    char *source, *events; /* for `data` */
    char stage[128];       /* for progress */
} importer;

static void free_importer(importer *im)
{
    pr_collect_free(&im->actions);
    for (int i = 0; i < PR_FEATURE_TABLES; i++) {
        pr_table_free(&im->tables[i]);
        pr_free(im->row_of[i]);
        pr_free(im->key_names[i]);
    }
    pr_assembly_free(&im->baskets);
    pr_spill_free(im->spill);
    pr_numbering_free(&im->order);
    pr_shard_target_free(&im->target);
    pr_region_free(&im->region);
    for (size_t i = 0; i < im->name_count; i++)
        pr_free(im->names[i]);
    pr_free(im->names);
    pr_free(im->source);
    pr_free(im->events);
}

/* ---- reading ---- */

/* Counts a bad row; fails when there are more than max_bad. */
static parsrec_status count_bad(importer *im, uint64_t *counter, const parsrec_error *row_error,
                                parsrec_error *err)
{
    parsrec_import_report *r = im->report;
    if (r->first_bad[0] == '\0')
        memcpy(r->first_bad, row_error->message, sizeof r->first_bad);
    (*counter)++;
    uint64_t bad = r->bad_rows + r->bad_table_rows;
    if (bad <= im->options->max_bad)
        return PARSREC_OK;
    if (im->options->max_bad == 0)
        return pr_fail(err, row_error->status, "%s", row_error->message);
    return pr_fail(err, PARSREC_E_INPUT, "more than %llu bad rows; the first: %s",
                   (unsigned long long)im->options->max_bad, r->first_bad);
}

typedef parsrec_status take_row(void *context, const pr_rows *rows, const pr_row *row,
                                parsrec_error *err);

/* Calls `take` with every row. *count grows by the rows read, *bad by those of them that were
 * refused. */
static parsrec_status read_rows(importer *im, pr_rows *rows, take_row *take, void *context,
                                uint64_t *count, uint64_t *bad, parsrec_error *err)
{
    parsrec_error row_error = {0};
    snprintf(im->stage, sizeof im->stage, "reading %s", rows->name);
    for (uint64_t n = 0;; n++) {
        pr_row row;
        bool end;
        if (n % ROWS_BETWEEN_REPORTS == 0) {
            uint64_t done, total;
            rows->position(rows, &done, &total);
            PR_TRY(pr_progress(im->hooks, im->stage, rows->lines ? "bytes" : "rows", done, total,
                               err));
        }
        parsrec_status status = rows->next(rows, &row, &end, &row_error);
        if (status == PARSREC_OK && end)
            return PARSREC_OK;
        if (status == PARSREC_OK)
            status = take(context, rows, &row, &row_error);
        ++*count;
        if (status == PARSREC_E_INPUT)
            PR_TRY(count_bad(im, bad, &row_error, err));
        else if (status != PARSREC_OK)
            return pr_fail(err, status, "%s", row_error.message);
    }
}

static pr_rows_options row_options(const importer *im, bool actions)
{
    const parsrec_import_options *o = im->options;
    return (pr_rows_options){.format = actions ? o->format : PARSREC_INPUT_AUTO,
                             .latin1 = o->latin1,
                             .table = actions ? o->table : NULL,
                             .query = actions ? o->query : NULL,
                             .hooks = im->hooks};
}

/* ---- actions ---- */

/* Puts a column into the report. */
static void report_column(importer *im, parsrec_import_table table, parsrec_column_role role,
                          pr_slice name, const pr_table_column *of)
{
    parsrec_import_report *r = im->report;
    if (r->column_count < PARSREC_IMPORT_COLUMNS_MOST) {
        parsrec_import_column *c = &r->columns[r->column_count];
        *c = (parsrec_import_column){.table = table,
                                     .role = role,
                                     .decimal_comma = of != NULL && of->decimal_comma,
                                     .level = of != NULL ? of->level : 0};
        memcpy(c->name, name.bytes, pr_utf8_cut(name.bytes, name.size, sizeof c->name - 1));
    }
    r->column_count++;
}

/* Reports the columns of the first input and keeps the names of its keys; ignores later inputs. */
static parsrec_status note_columns(importer *im, const pr_rows *rows,
                                   const pr_action_columns *columns, parsrec_error *err)
{
    const size_t of_role[] = {PR_NO_COLUMN,
                              columns->user,
                              columns->session,
                              columns->time,
                              columns->item,
                              [PARSREC_COLUMN_NAME] = PR_NO_COLUMN,
                              [PARSREC_COLUMN_CATEGORY] = PR_NO_COLUMN,
                              [PARSREC_COLUMN_NUMBER] = PR_NO_COLUMN,
                              [PARSREC_COLUMN_WORDS] = PR_NO_COLUMN,
                              [PARSREC_COLUMN_QUANTITY] = columns->quantity};
    if (im->name_count > 1)
        return PARSREC_OK;
    for (size_t i = 0; i < rows->column_count; i++) {
        parsrec_column_role role = PARSREC_COLUMN_UNUSED;
        for (size_t k = 1; k < sizeof of_role / sizeof *of_role; k++)
            if (of_role[k] == i)
                role = (parsrec_column_role)k;
        report_column(im, PARSREC_TABLE_ACTIONS, role, rows->columns[i], NULL);
    }
    const size_t keys[PR_FEATURE_TABLES] = {columns->user, columns->session, columns->item};
    for (int t = 0; t < PR_FEATURE_TABLES; t++) {
        if (keys[t] == PR_NO_COLUMN)
            continue;
        pr_slice name = rows->columns[keys[t]];
        im->key_names[t] = pr_copy_string(name.bytes, name.size);
        if (im->key_names[t] == NULL)
            return pr_fail_memory(err);
    }
    return PARSREC_OK;
}

/* How much memory gathered actions may take. Assembling them takes about as much again, and arrays
 * that grow have spare room. */
static uint64_t memory_of_actions(const parsrec_import_options *o)
{
    enum { GATHERED_IN = 4 };
    if (o->max_memory > 0)
        return o->max_memory / GATHERED_IN;
    uint64_t available = pr_memory_available();
    if (available == 0 || o->sessions_path != NULL)
        return UINT64_MAX;
    return available / GATHERED_IN;
}

static uint64_t name_bytes(const pr_intern *names)
{
    return names->bytes_capacity + names->offsets_capacity * sizeof *names->offsets +
           names->slot_count * sizeof *names->slots;
}

/* Moves the actions to a file once they take more memory than they may. */
static parsrec_status keep_within_memory(importer *im, parsrec_error *err)
{
    pr_collect *c = &im->actions;
    uint64_t most = im->options->max_memory, names = name_bytes(&c->users) + name_bytes(&c->items);
    if (most > 0 && names > most / 4 * 3)
        return pr_fail(
            err, PARSREC_E_MEMORY,
            "the names of %zu users and %zu items alone take %llu MB; raise --max-memory",
            c->users.count, c->items.count, (unsigned long long)(names >> 20));
    if (im->spill != NULL || pr_gather_bytes(&c->gathered) <= im->most_memory)
        return PARSREC_OK;
    pr_say(im->hooks, PARSREC_LOG_INFO,
           "the actions do not fit in memory; they are sorted in temporary files beside %s",
           im->out_path);
    PR_TRY(pr_spill_open(&im->spill, im->out_path, err));
    c->spill = im->spill;
    return pr_spill_take(im->spill, &c->gathered, err);
}

typedef struct action_context {
    importer *im;
    pr_collect *actions;
    pr_action_columns columns;
    pr_table *items; /* their names and categories are in the rows too; or NULL */
} action_context;

static parsrec_status take_action(void *context, const pr_rows *rows, const pr_row *row,
                                  parsrec_error *err)
{
    action_context *c = context;
    if (c->actions->actions % ROWS_BETWEEN_REPORTS == 0)
        PR_TRY(keep_within_memory(c->im, err));
    if (c->im->options->step == PARSREC_IMPORT_DICTIONARY)
        return pr_collect_item(c->actions, rows, &c->columns, row, err);
    size_t before = c->actions->actions;
    PR_TRY(pr_collect_row(c->actions, rows, &c->columns, row, err));
    return c->items != NULL && c->actions->actions > before
               ? pr_table_row_within(c->items, c->actions, row, err)
               : PARSREC_OK;
}

/* Begins a table of items with names and categories in the rows of the first input, if it has any. Later
 * inputs go on with it if they have the same columns. */
static parsrec_status begin_items_within(importer *im, const pr_rows *rows, action_context *c,
                                         parsrec_error *err)
{
    pr_table *t = &im->tables[PR_OF_ITEM];
    const parsrec_import_streams *s = im->streams;
    if (im->options->items_path != NULL || (s != NULL && s->items != NULL) ||
        im->options->shards > 0)
        return PARSREC_OK;
    if (im->name_count == 1)
        PR_TRY(pr_table_begin_within(t, rows, &c->columns, err));
    im->items_within = t->column_count > 0;
    bool same = t->column_count == rows->column_count && t->key_column == c->columns.item;
    for (size_t i = 0; same && i < t->column_count; i++)
        same = pr_slice_is(rows->columns[i], t->columns[i].name);
    c->items = same ? t : NULL;
    return PARSREC_OK;
}

static parsrec_status keep_name(importer *im, const char *name, parsrec_error *err)
{
    im->names[im->name_count] = pr_copy_string(name, strlen(name));
    if (im->names[im->name_count] == NULL)
        return pr_fail_memory(err);
    im->name_count++;
    return PARSREC_OK;
}

/* The columns of actions that the source has to give. What nobody asked for, a quantity, names and
 * categories, may be of a type that is not read. */
static parsrec_status choose_columns(importer *im, pr_rows *rows, action_context *c,
                                     parsrec_error *err)
{
    pr_action_columns *columns = &c->columns;
    const size_t of_role[] = {columns->user, columns->session, columns->time, columns->item};
    if (rows->choose == NULL)
        return PARSREC_OK;
    for (size_t i = 0; i < sizeof of_role / sizeof *of_role; i++)
        if (of_role[i] != PR_NO_COLUMN)
            PR_TRY(rows->choose(rows, &of_role[i], 1, err));
    if (columns->quantity != PR_NO_COLUMN) {
        parsrec_status status = rows->choose(rows, &columns->quantity, 1, err);
        if (status != PARSREC_OK && im->options->quantity_column != NULL)
            return status;
        columns->quantity = status == PARSREC_OK ? columns->quantity : PR_NO_COLUMN;
    }
    for (size_t i = 0; c->items != NULL && i < c->items->column_count; i++)
        if (c->items->columns[i].holds != PR_TABLE_SKIPPED &&
            rows->choose(rows, &i, 1, err) != PARSREC_OK)
            c->items->columns[i].holds = PR_TABLE_SKIPPED;
    return PARSREC_OK;
}

/* Reads a source of actions and frees it. */
static parsrec_status read_source(importer *im, pr_rows *rows, parsrec_error *err)
{
    action_context context = {.im = im, .actions = &im->actions};
    parsrec_status status = keep_name(im, rows->name, err);
    if (status == PARSREC_OK)
        status = pr_columns_header_below(
            rows, im->options, pr_columns_of_actions(&context.columns, rows, im->options, err),
            err);
    if (im->options->step == PARSREC_IMPORT_DICTIONARY) /* not read, though they may be there */
        context.columns.user = context.columns.session = PR_NO_COLUMN;
    if (status == PARSREC_OK)
        status = begin_items_within(im, rows, &context, err);
    if (status == PARSREC_OK)
        status = choose_columns(im, rows, &context, err);
    if (status == PARSREC_OK)
        status = note_columns(im, rows, &context.columns, err);
    if (status == PARSREC_OK)
        status = read_rows(im, rows, take_action, &context, &im->report->rows_read,
                           &im->report->bad_rows, err);
    if (status == PARSREC_OK &&
        (context.columns.session == PR_NO_COLUMN) != (im->key_names[PR_OF_SESSION] == NULL))
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "%s has %s column of sessions, unlike the inputs before it", rows->name,
               context.columns.session == PR_NO_COLUMN ? "no" : "a");
    /* The import ends at a date that can be read in two ways; a row below may decide which. */
    if (status == PARSREC_E_INPUT && im->options->max_bad == 0 && im->actions.foreign_line > 0 &&
        im->actions.foreign.other[0] != '\0')
        status = pr_collect_foreign(&im->actions, rows, context.columns.time, err);
    pr_rows_free(rows);
    return status;
}

/* The purchases in a server's store. They come after all other inputs and take their form of time. */
static parsrec_status read_events(importer *im, parsrec_error *err)
{
    pr_rows *rows;
    const pr_collect *c = &im->actions;
    action_context context = {
        .im = im, .actions = &im->actions, .columns = {0, 1, 2, 3, PR_NO_COLUMN}};
    if (im->options->events == NULL)
        return PARSREC_OK;
    PR_TRY(pr_events_open(&rows, &im->events, im->options->events,
                          c->actions > 0 ? c->form : PR_TIME_NUMBER, im->hooks, err));
    /* --time-format is how the other inputs write times. */
    im->actions.time_pattern = NULL;
    im->actions.last_text = (pr_slice){NULL, 0};
    parsrec_status status = keep_name(im, rows->name, err);
    if (status == PARSREC_OK)
        status = read_rows(im, rows, take_action, &context, &im->report->rows_read,
                           &im->report->bad_rows, err);
    pr_rows_free(rows);
    return status;
}

/* Actions of shards are sorted in files, whatever memory there is. */
static parsrec_status begin_shards(importer *im, parsrec_error *err)
{
    pr_path hold;
    pr_collect *c = &im->actions;
    if (im->options->step == PARSREC_IMPORT_DICTIONARY)
        return PARSREC_OK;
    if (im->options->step == PARSREC_IMPORT_SHARD) {
        c->shards = im->options->shards;
        c->shard = im->options->shard;
        PR_TRY(pr_intern_load(&c->items, &im->target.dictionary.data->item_keys, err));
    }
    PR_TRY(pr_spill_open(&im->spill, pr_shard_target_beside(&im->target, &hold), err));
    c->spill = im->spill;
    return PARSREC_OK;
}

static parsrec_status read_actions(importer *im, const char *const *inputs, size_t count,
                                   parsrec_error *err)
{
    /* A stream and the store of --events are one more each. */
    im->names = pr_alloc_zero(count + 2, sizeof *im->names);
    if (im->names == NULL)
        return pr_fail_memory(err);
    im->most_memory = memory_of_actions(im->options);
    im->actions.sort = im->options->sort;
    im->actions.time_pattern = im->options->time_format;
    im->actions.keyed = im->options->session_rule == PARSREC_SESSION_COLUMN;
    if (im->options->shards > 0)
        PR_TRY(begin_shards(im, err));
    for (size_t i = 0; i < count; i++) {
        pr_rows *rows;
        pr_rows_options options = row_options(im, true);
        if (!pr_shard_target_reads(&im->target, inputs[i], &im->actions.dealt))
            continue;
        PR_TRY(pr_rows_open(&rows, inputs[i], &options, err));
        PR_TRY(read_source(im, rows, err));
    }
    if (im->streams != NULL) {
        pr_rows *rows;
        const char *name = im->streams->name != NULL ? im->streams->name : "rows";
        PR_TRY(pr_arrow_open(&rows, name, im->streams->actions, err));
        PR_TRY(read_source(im, rows, err));
    }
    PR_TRY(read_events(im, err));
    im->report->other_shards = im->actions.elsewhere;
    im->report->returns = im->actions.returns;
    if (im->options->step == PARSREC_IMPORT_SHARD) /* which may be empty */
        return PARSREC_OK;
    if (im->report->rows_read == 0)
        return pr_fail(err, PARSREC_E_INPUT, "%s: there are no rows below the header",
                       im->names[0]);
    if (im->actions.actions == 0 && im->report->bad_rows == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: the quantity of every row is 0 or less; if it is no quantity, add "
                       "--quantity ''",
                       im->names[0]);
    if (im->actions.actions == 0)
        return pr_fail(err, PARSREC_E_INPUT, "no good row is left; the first bad one: %s",
                       im->report->first_bad);
    return PARSREC_OK;
}

/* ---- tables ---- */

typedef struct table_context {
    pr_table *table;
    const pr_collect *actions;
} table_context;

static parsrec_status take_table_row(void *context, const pr_rows *rows, const pr_row *row,
                                     parsrec_error *err)
{
    table_context *c = context;
    return pr_table_row(c->table, c->actions, rows, row, err);
}

static void report_table(importer *im, const pr_table *t)
{
    static const parsrec_import_table tables[] = {PARSREC_TABLE_USERS, PARSREC_TABLE_SESSIONS,
                                                  PARSREC_TABLE_ITEMS};
    static const parsrec_column_role keys[] = {PARSREC_COLUMN_USER, PARSREC_COLUMN_SESSION,
                                               PARSREC_COLUMN_ITEM};
    static const parsrec_column_role roles[] = {[PR_TABLE_NUMBERS] = PARSREC_COLUMN_NUMBER,
                                                [PR_TABLE_WORDS] = PARSREC_COLUMN_WORDS,
                                                [PR_TABLE_NAMES] = PARSREC_COLUMN_NAME,
                                                [PR_TABLE_CATEGORIES] = PARSREC_COLUMN_CATEGORY,
                                                [PR_TABLE_SKIPPED] = PARSREC_COLUMN_UNUSED};
    for (size_t i = 0; i < t->column_count; i++) {
        const pr_table_column *c = &t->columns[i];
        parsrec_column_role role = i == t->key_column    ? keys[t->of]
                                   : i == t->user_column ? PARSREC_COLUMN_USER
                                                         : roles[c->holds];
        report_column(im, tables[t->of], role, pr_slice_of(c->name), c);
    }
    im->report->trimmed_keys += t->trimmed;
}

/* The table about users, sessions or items: a stream or a file. *rows is NULL without one. */
static parsrec_status open_table(importer *im, pr_feature_of of, pr_rows **rows, parsrec_error *err)
{
    static const char *const names[] = {"users", "sessions", "items"};
    const parsrec_import_options *o = im->options;
    const parsrec_import_streams *s = im->streams;
    const char *const paths[] = {o->users_path, o->sessions_path, o->items_path};
    struct ArrowArrayStream *const streams[] = {
        s != NULL ? s->users : NULL, s != NULL ? s->sessions : NULL, s != NULL ? s->items : NULL};
    pr_rows_options options = row_options(im, false);
    *rows = NULL;
    if (streams[of] != NULL)
        return pr_arrow_open(rows, names[of], streams[of], err);
    return paths[of] != NULL ? pr_rows_open(rows, paths[of], &options, err) : PARSREC_OK;
}

static parsrec_status choose_all(pr_rows *rows, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; rows->choose != NULL && i < rows->column_count && status == PARSREC_OK; i++)
        status = rows->choose(rows, &i, 1, err);
    return status;
}

static parsrec_status read_table(importer *im, pr_feature_of of, parsrec_error *err)
{
    pr_rows *rows;
    uint64_t count = 0;
    table_context context = {&im->tables[of], &im->actions};
    PR_TRY(open_table(im, of, &rows, err));
    if (rows == NULL)
        return PARSREC_OK;
    parsrec_status status = choose_all(rows, err);
    if (status == PARSREC_OK)
        status = pr_table_begin(&im->tables[of], of, rows, im->options, im->key_names[of], err);
    if (status == PARSREC_OK)
        status =
            read_rows(im, rows, take_table_row, &context, &count, &im->report->bad_table_rows, err);
    if (status == PARSREC_OK)
        status = pr_table_settle(&im->tables[of], rows, err);
    if (status == PARSREC_OK)
        report_table(im, &im->tables[of]);
    pr_rows_free(rows);
    return status;
}

/* Refuses a name in --number or --categorical that no table has: it is probably misspelt. */
static parsrec_status check_list(const importer *im, const char *list, parsrec_error *err)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        pr_slice word = pr_slice_trim((pr_slice){list, length});
        bool found = word.size == 0;
        for (int t = 0; t < PR_FEATURE_TABLES; t++)
            for (size_t i = 0; i < im->tables[t].column_count; i++)
                found =
                    found || (im->tables[t].columns[i].holds <= PR_TABLE_WORDS &&
                              strlen(im->tables[t].columns[i].name) == word.size &&
                              memcmp(im->tables[t].columns[i].name, word.bytes, word.size) == 0);
        pr_excerpt hold;
        if (!found)
            return pr_fail(err, PARSREC_E_NOT_FOUND,
                           "no items, users or sessions file has a feature column %s",
                           pr_show(&hold, word));
        list += length + (list[length] == ',');
    }
    return PARSREC_OK;
}

/* Names and categories that were in the rows of actions. */
static parsrec_status settle_items_within(importer *im, parsrec_error *err)
{
    pr_table *t = &im->tables[PR_OF_ITEM];
    size_t unknown;
    pr_names items = pr_intern_view(&im->actions.items);
    pr_table_settle_within(t, im->actions.actions);
    for (size_t i = 0; i < t->column_count && i < PARSREC_IMPORT_COLUMNS_MOST; i++) {
        parsrec_import_column *c = &im->report->columns[i]; /* the first input was reported first */
        if (t->columns[i].holds == PR_TABLE_SKIPPED)
            continue;
        bool names = t->columns[i].holds == PR_TABLE_NAMES;
        im->report->other_names += names ? t->columns[i].others : 0;
        c->role = names ? PARSREC_COLUMN_NAME : PARSREC_COLUMN_CATEGORY;
        c->level = t->columns[i].level;
    }
    return pr_table_match(t, &items, &im->row_of[PR_OF_ITEM], &unknown, err);
}

/* A key with its ASCII letters made small. */
static parsrec_status lower_key(pr_slice key, char **hold, size_t *capacity, pr_slice *out,
                                parsrec_error *err)
{
    PR_TRY(pr_grow(hold, capacity, key.size + 1, 1, err));
    *out = (pr_slice){*hold, pr_text_lower(*hold, key)};
    return PARSREC_OK;
}

/* Names that have no row of the table, but would have one if capital and small letters were alike. */
static parsrec_status warn_of_case(importer *im, pr_feature_of of, const pr_names *names,
                                   parsrec_error *err)
{
    static const char *const words[] = {"users", "sessions", "items"};
    const pr_table *t = &im->tables[of];
    pr_intern small = {0};
    uint32_t *of_name = NULL; /* [small.count]: a name without a row */
    char *hold = NULL;
    size_t hold_capacity = 0, capacity = 0, alike = 0;
    pr_slice key;
    pr_excerpt first = {0}, second = {0};
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < names->count; i++) {
        uint32_t number;
        if (im->row_of[of][i] >= 0)
            continue;
        PR_TRY_GOTO(lower_key(pr_name(names, i), &hold, &hold_capacity, &key, err));
        PR_TRY_GOTO(pr_intern_add(&small, key, &number, err));
        PR_TRY_GOTO(pr_grow(&of_name, &capacity, small.count, sizeof *of_name, err));
        of_name[number] = (uint32_t)i;
    }
    for (size_t i = 0; small.count > 0 && i < t->keys.count; i++) {
        uint32_t number;
        PR_TRY_GOTO(lower_key(pr_intern_name(&t->keys, i), &hold, &hold_capacity, &key, err));
        if (pr_intern_find(&small, key, &number) && alike++ == 0) {
            pr_show(&first, pr_intern_name(&t->keys, i));
            pr_show(&second, pr_name(names, of_name[number]));
        }
    }
    if (alike > 0)
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "%zu row%s of the %s file would match the actions but for capital letters, such as "
               "%s and %s; write the keys alike in both",
               alike, alike == 1 ? "" : "s", words[of], first.text, second.text);
done:
    pr_intern_free(&small);
    pr_free(of_name);
    pr_free(hold);
    return status;
}

static parsrec_status read_tables(importer *im, parsrec_error *err)
{
    const parsrec_import_options *o = im->options;
    parsrec_import_report *r = im->report;
    size_t unknown;
    PR_TRY(im->items_within ? settle_items_within(im, err) : read_table(im, PR_OF_ITEM, err));
    PR_TRY(read_table(im, PR_OF_USER, err));
    PR_TRY(read_table(im, PR_OF_SESSION, err));
    PR_TRY(check_list(im, o->number_columns, err));
    PR_TRY(check_list(im, o->category_columns, err));
    pr_names users = pr_intern_view(&im->actions.users), items = pr_intern_view(&im->actions.items);
    if (im->tables[PR_OF_ITEM].column_count > 0 && !im->items_within) {
        PR_TRY(pr_table_match(&im->tables[PR_OF_ITEM], &items, &im->row_of[PR_OF_ITEM], &unknown,
                              err));
        r->unknown_items = unknown;
        if (unknown > 0)
            PR_TRY(warn_of_case(im, PR_OF_ITEM, &items, err));
    }
    if (im->tables[PR_OF_USER].column_count > 0) {
        PR_TRY(pr_table_match(&im->tables[PR_OF_USER], &users, &im->row_of[PR_OF_USER], &unknown,
                              err));
        r->unknown_users = unknown;
        if (unknown > 0)
            PR_TRY(warn_of_case(im, PR_OF_USER, &users, err));
    }
    if (im->tables[PR_OF_SESSION].column_count > 0) {
        PR_TRY(pr_table_match_sessions(&im->tables[PR_OF_SESSION], &im->actions.gathered,
                                       &im->row_of[PR_OF_SESSION], &unknown, err));
        r->unknown_sessions = unknown;
    }
    return PARSREC_OK;
}

/* ---- the data set ---- */

/* The --time-format by which all times, read as plain numbers, would be dates; NULL if there is none.
 * Day numbers of Excel look like other small numbers. They are those of 1982 to 2064; if dates are
 * needed (`dates`), those of 1954 to 2119. */
static const char *form_of_numbers(const pr_collect *c, bool dates)
{
    const struct {
        int64_t least, beyond;
        const char *pattern;
    } ranges[] = {{19000101, 21010101, "%Y%m%d"},
                  {INT64_C(19000101000000), INT64_C(21010101000000), "%Y%m%d%H%M%S"},
                  {INT64_C(100000000000), INT64_C(10000000000000), "ms"},
                  {INT64_C(100000000000000), INT64_C(10000000000000000), "us"},
                  {INT64_C(100000000000000000), INT64_MAX, "ns"},
                  {dates ? 20000 : 30000, dates ? 80000 : 60000, "excel"}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char text[2][24];
        bool fits = c->least_time >= ranges[i].least && c->greatest_time < ranges[i].beyond;
        snprintf(text[0], sizeof text[0], "%lld", (long long)c->least_time);
        snprintf(text[1], sizeof text[1], "%lld", (long long)c->greatest_time);
        for (int k = 0; k < 2 && fits; k++) {
            pr_time_form form;
            int64_t value;
            fits = pr_time_parse_as(pr_slice_of(text[k]), ranges[i].pattern, &form, &value) == NULL;
        }
        if (fits)
            return ranges[i].pattern;
    }
    return NULL;
}

/* For times that are not dates: an error if sessions are cut by time, else a warning if they could be
 * dates in another form. */
static parsrec_status check_ordinals(const importer *im, parsrec_time_kind kind, parsrec_error *err)
{
    bool by_time = im->options->session_rule != PARSREC_SESSION_COLUMN;
    const pr_collect *c = &im->actions;
    if (kind == PARSREC_TIME_UNIX || (kind == PARSREC_TIME_NONE && !by_time))
        return PARSREC_OK;
    const char *form = kind == PARSREC_TIME_ORDINAL ? form_of_numbers(c, by_time) : NULL;
    if (form != NULL && !by_time)
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "the times of %s, %lld to %lld, are numbers that only order sessions; if they are "
               "dates, add --time-format '%s'",
               im->names[0], (long long)c->least_time, (long long)c->greatest_time, form);
    if (!by_time)
        return PARSREC_OK;
    if (form != NULL)
        return pr_fail(
            err, PARSREC_E_INPUT,
            "sessions are cut by time, but the times of %s are not dates or Unix seconds; "
            "if they are dates, add --time-format '%s'",
            im->names[0], form);
    return pr_fail(err, PARSREC_E_INPUT,
                   "sessions are cut by time, but the times of %s are not dates or Unix "
                   "seconds; use a session column",
                   im->names[0]);
}

/* The kind of all times. Those of a shard are of the dictionary's kind: seconds, or any numbers. */
static parsrec_status kind_of_times(const importer *im, parsrec_time_kind *kind, parsrec_error *err)
{
    static const char *const kinds[] = {"empty", "plain numbers", "dates"};
    const pr_collect *c = &im->actions;
    *kind = pr_time_kind(c->form, c->least_time, c->greatest_time);
    if (im->options->step == PARSREC_IMPORT_SHARD) {
        parsrec_time_kind own = *kind;
        *kind = im->target.dictionary.data->time_kind;
        if (c->actions == 0 || own == *kind ||
            (*kind == PARSREC_TIME_ORDINAL && c->form == PR_TIME_NUMBER))
            return PARSREC_OK;
        return pr_fail(err, PARSREC_E_INPUT,
                       "the times of %s are %s, but those of the dictionary are %s; make both from "
                       "the same column with the same --time-format",
                       im->names[0], kinds[own], kinds[*kind]);
    }
    if (im->options->shards > 0 && *kind == PARSREC_TIME_NONE)
        return pr_fail(err, PARSREC_E_INPUT,
                       "the times of %s are empty, but the rows of shards are sorted by time; name "
                       "their column with --time",
                       im->names[0]);
    return check_ordinals(im, *kind, err);
}

/* A catalogue without baskets: items by key. */
static parsrec_status make_catalogue(importer *im, parsrec_error *err)
{
    pr_assembly *b = &im->baskets;
    PR_TRY(kind_of_times(im, &im->data.time_kind, err));
    PR_TRY(pr_numbering_make(&im->order, &im->actions.users, im->options->shards,
                             &im->actions.items, err));
    *b = (pr_assembly){.items = im->actions.items.count,
                       .item_from = im->order.item_from,
                       .user_offsets = pr_alloc_zero(1, sizeof *b->user_offsets),
                       .session_offsets = pr_alloc_zero(1, sizeof *b->session_offsets)};
    im->order.item_from = NULL;
    return b->user_offsets != NULL && b->session_offsets != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status make_baskets(importer *im, parsrec_error *err)
{
    const parsrec_import_options *o = im->options;
    pr_assembly *b = &im->baskets;
    if (o->step == PARSREC_IMPORT_DICTIONARY)
        return make_catalogue(im, err);
    PR_TRY(kind_of_times(im, &im->data.time_kind, err));
    if (im->spill != NULL) {
        pr_spill_rules rules = {o->session_rule, o->session_gap, o->min_actions, NULL};
        if (o->shards > 0) {
            PR_TRY(pr_numbering_make(&im->order, &im->actions.users, o->shards, &im->actions.items,
                                     err));
            im->order.rows_ordered = o->ordered;
            rules.order = &im->order;
        }
        PR_TRY(pr_spill_assemble(im->spill, b, im->actions.users.count, im->actions.items.count,
                                 &rules, im->report, im->hooks, err));
        pr_spill_free(im->spill);
        im->spill = NULL;
    } else {
        PR_TRY(pr_assembly_make(b, &im->actions.gathered, im->actions.users.count,
                                im->actions.items.count, err));
        if (o->session_rule != PARSREC_SESSION_COLUMN)
            pr_assembly_join(b, o->session_rule, o->session_gap);
        PR_TRY(pr_assembly_unique(b, &im->report->repeats_dropped, err));
        if (o->min_actions > 1)
            PR_TRY(pr_assembly_filter(b, o->min_actions, im->report, err));
    }
    if (b->actions == 0 && o->step == PARSREC_IMPORT_ALL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "nothing is left: no user and item have %llu actions each; lower "
                       "--min-actions",
                       (unsigned long long)o->min_actions);
    return PARSREC_OK;
}

/* The names of the users or items that are left after filtering. */
static parsrec_status choose_names(importer *im, pr_names *out, const pr_intern *all,
                                   const uint32_t *from, size_t count, parsrec_error *err)
{
    *out = pr_intern_view(all);
    if (from == NULL)
        return PARSREC_OK;
    pr_names names = *out;
    return pr_names_choose(out, &names, (const int32_t *)from, count, &im->region, err);
}

/* The table's row for each user, session or item of the data set; *without grows by those that have
 * none. */
static int32_t *final_rows(importer *im, pr_feature_of of, const uint32_t *from, size_t count,
                           uint64_t *without)
{
    int32_t *rows = pr_region_take(&im->region, count, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        rows[i] = im->row_of[of][from != NULL ? from[i] : i];
        *without += rows[i] < 0;
    }
    return rows;
}

static parsrec_status gather(importer *im, pr_feature_of of, const uint32_t *from, size_t count,
                             uint64_t *without, parsrec_error *err)
{
    if (im->row_of[of] == NULL)
        return PARSREC_OK;
    int32_t *rows = final_rows(im, of, from, count, without);
    if (rows == NULL)
        return pr_fail_memory(err);
    PR_TRY(pr_features_gather(&im->data, &im->tables[of], rows, count, &im->region, err));
    if (of == PR_OF_ITEM)
        return pr_catalogue_gather(&im->data, &im->tables[of], rows, &im->region, err);
    return PARSREC_OK;
}

static parsrec_status fill_data(importer *im, parsrec_error *err)
{
    static const int64_t no_names[1] = {0};
    pr_dataset *d = &im->data;
    pr_assembly *b = &im->baskets;
    uint64_t ignored = 0;
    d->users = b->users;
    d->sessions = b->sessions;
    d->items = b->items;
    d->actions = b->actions;
    d->user_offsets = b->user_offsets;
    d->session_offsets = b->session_offsets;
    d->action_items = b->action_items;
    d->times = d->time_kind != PARSREC_TIME_NONE ? b->times : NULL;
    d->views = b->views;
    d->view_count = b->stored ? PR_COLUMN_FILES : 0;
    d->item_names = d->category_names = (pr_names){"", no_names, 0};
    PR_TRY(choose_names(im, &d->user_keys, &im->actions.users, b->user_from, b->users, err));
    PR_TRY(choose_names(im, &d->item_keys, &im->actions.items, b->item_from, b->items, err));
    PR_TRY(gather(im, PR_OF_ITEM, b->item_from, b->items,
                  im->items_within ? &ignored : &im->report->items_without_row, err));
    PR_TRY(gather(im, PR_OF_USER, b->user_from, b->users, &im->report->users_without_row, err));
    return gather(im, PR_OF_SESSION, b->session_from, b->sessions, &ignored, err);
}

/* " (unused columns: a, b)", or "" where all columns of the actions are used. */
typedef struct unused_text {
    char text[200];
} unused_text;

static const char *unused_columns(unused_text *hold, const parsrec_import_report *report)
{
    size_t used = 0;
    hold->text[0] = '\0';
    for (uint64_t i = 0; i < report->column_count && i < PARSREC_IMPORT_COLUMNS_MOST; i++) {
        const parsrec_import_column *c = &report->columns[i];
        if (c->table == PARSREC_TABLE_ACTIONS && c->role == PARSREC_COLUMN_UNUSED &&
            used + strlen(c->name) + 8 < sizeof hold->text)
            used += (size_t)snprintf(
                hold->text + used, sizeof hold->text - used, "%s%s",
                used > 0 ? ", " : " (unused columns: ", c->name[0] != '\0' ? c->name : "(no name)");
    }
    if (used > 0)
        snprintf(hold->text + used, sizeof hold->text - used, ")");
    return hold->text;
}

static bool has_column(const parsrec_import_report *report, parsrec_column_role role)
{
    for (uint64_t i = 0; i < report->column_count && i < PARSREC_IMPORT_COLUMNS_MOST; i++)
        if (report->columns[i].table == PARSREC_TABLE_ACTIONS && report->columns[i].role == role)
            return true;
    return false;
}

/* Data may have no users and no times, but then no column is left over that could be one. Who states it,
 * with an empty name, is not asked. */
static void warn_of_missing_columns(const importer *im)
{
    const parsrec_import_options *o = im->options;
    const parsrec_import_report *r = im->report;
    unused_text hold;
    const char *unused = unused_columns(&hold, r);
    bool user = o->user_column == NULL && o->step != PARSREC_IMPORT_DICTIONARY &&
                !has_column(r, PARSREC_COLUMN_USER);
    bool time = o->time_column == NULL && !has_column(r, PARSREC_COLUMN_TIME);
    if (unused[0] == '\0' || (!user && !time))
        return;
    pr_say(im->hooks, PARSREC_LOG_WARNING,
           "no column was recognised as the %s%s, so %s%s%s%s; name %s with %s%s%s, or add %s if "
           "there is none",
           user ? "user" : "time", user && time ? " or the time" : "",
           user ? "each session is a user of its own" : "", user && time ? " and " : "",
           time ? "sessions keep the order of the rows" : "", unused, user && time ? "them" : "it",
           user ? "--user COL" : "", user && time ? " and " : "", time ? "--time COL" : "",
           user && time ? "--user '' --time ''"
           : user       ? "--user ''"
                        : "--time ''");
}

/* Baskets of one item say nothing about what goes together, and usually mean that the session column
 * was not recognised. */
static void warn_of_single_items(const importer *im)
{
    unused_text hold;
    const char *unused = unused_columns(&hold, im->report);
    if (!pr_mostly_single_items(&im->data))
        return;
    const char *session = im->key_names[PR_OF_SESSION];
    if (im->options->session_rule != PARSREC_SESSION_COLUMN)
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "nearly every basket has one item only, although sessions are cut by time; try a "
               "longer --session-gap, or --session-by day");
    else if (session != NULL)
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "nearly every basket has one item only, although sessions come from column '%s'; is "
               "another column the basket?%s",
               session, unused);
    else
        pr_say(
            im->hooks, PARSREC_LOG_WARNING,
            "no column was recognised as the session, so every action is a basket of one item%s; "
            "name it with --session COL, or cut sessions by time with --session-by day or "
            "--session-gap 30m",
            unused);
}

/* Exports often call sales without a customer 0, NULL or guest, and one user who is everybody spoils histories
 * and measures. */
static void warn_of_busy_user(const importer *im)
{
    enum { USERS_LEAST = 50, ONE_IN = 10 };
    const pr_dataset *d = &im->data;
    pr_excerpt key;
    pr_digits sessions, all;
    size_t most = 0;
    for (size_t u = 1; u < d->users; u++)
        if (d->user_offsets[u + 1] - d->user_offsets[u] >
            d->user_offsets[most + 1] - d->user_offsets[most])
            most = u;
    if (d->users < USERS_LEAST)
        return;
    uint64_t count = (uint64_t)(d->user_offsets[most + 1] - d->user_offsets[most]);
    if (count * ONE_IN >= (uint64_t)d->sessions)
        pr_say(im->hooks, PARSREC_LOG_WARNING,
               "user %s has %s of %s sessions; if it stands for sales without a customer, leave "
               "its rows out",
               pr_show(&key, pr_name(&d->user_keys, most)), pr_digits_of(&sessions, count),
               pr_digits_of(&all, (uint64_t)d->sessions));
}

static void warn_of_price_in_words(const importer *im)
{
    const parsrec_import_report *r = im->report;
    for (uint64_t i = 0; i < r->column_count && i < PARSREC_IMPORT_COLUMNS_MOST; i++)
        if (r->columns[i].table == PARSREC_TABLE_ITEMS &&
            r->columns[i].role == PARSREC_COLUMN_WORDS && pr_means_price(r->columns[i].name))
            pr_say(im->hooks, PARSREC_LOG_WARNING,
                   "column '%s' is taken as words, because not all of its values are numbers; "
                   "revenue needs numbers such as 1299.50, without currency",
                   r->columns[i].name);
}

static parsrec_status write_data(importer *im, const char *out_path, parsrec_error *err)
{
    parsrec_import_report *r = im->report;
    r->users = im->data.users;
    r->sessions = im->data.sessions;
    r->items = im->data.items;
    r->actions = im->data.actions;
    r->trimmed_keys += im->actions.trimmed;
    im->data.ordered = im->options->ordered;
    r->one_item_sessions = pr_one_item_sessions(&im->data);
    im->source =
        source_text((const char *const *)im->names, im->name_count, im->options, im->report);
    if (im->source == NULL)
        return pr_fail_memory(err);
    im->data.source = im->source;
    im->data.events = im->events;
    snprintf(im->stage, sizeof im->stage, "writing");
    PR_TRY(pr_progress(im->hooks, im->stage, "actions", 0, im->data.actions, err));
    if (im->options->shards > 0)
        return pr_shard_target_write(&im->target, &im->data, &r->missing_shards, err);
    return pr_dataset_save(&im->data, NULL, 0, out_path, err);
}

parsrec_import_options parsrec_import_default(void)
{
    return (parsrec_import_options){0};
}

/* Everything behind the checks of the two public calls; `streams` may be NULL. */
static parsrec_status import(const char *out_path, const char *const *inputs, size_t input_count,
                             const parsrec_import_streams *streams,
                             const parsrec_import_options *options, parsrec_import_report *report,
                             const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_import_options settled = *options;
    importer im = {.out_path = out_path,
                   .options = &settled,
                   .streams = streams,
                   .report = report,
                   .hooks = hooks};
    parsrec_status status;
    if (settled.shards > 0)
        PR_TRY_GOTO(pr_shard_target_open(&im.target, out_path, &settled, err));
    PR_TRY_GOTO(check_options(inputs, input_count, &settled, err));
    PR_TRY_GOTO(read_actions(&im, inputs, input_count, err));
    PR_TRY_GOTO(read_tables(&im, err));
    pr_collect_seal(&im.actions);
    PR_TRY_GOTO(make_baskets(&im, err));
    PR_TRY_GOTO(fill_data(&im, err));
    PR_TRY_GOTO(write_data(&im, out_path, err));
    if (im.data.sessions > 0) {
        warn_of_missing_columns(&im);
        warn_of_single_items(&im);
        warn_of_busy_user(&im);
        warn_of_price_in_words(&im);
    }
done:
    free_importer(&im);
    return status;
}

parsrec_status parsrec_import(const char *out_path, const char *const *inputs, size_t input_count,
                              const parsrec_import_options *options, parsrec_import_report *report,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_import_options defaults = parsrec_import_default();
    parsrec_import_report unseen;
    options = options != NULL ? options : &defaults;
    report = report != NULL ? report : &unseen;
    *report = (parsrec_import_report){0};
    if (out_path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "name the file to write");
    if ((inputs == NULL && input_count > 0) ||
        (input_count == 0 && options->events == NULL && options->step != PARSREC_IMPORT_SHARD))
        return pr_fail(err, PARSREC_E_ARGUMENT, "name at least one input");
    return import(out_path, inputs, input_count, NULL, options, report, hooks, err);
}

/* The streams are there and a table is not given twice. */
static parsrec_status check_streams(const parsrec_import_streams *s,
                                    const parsrec_import_options *o, parsrec_error *err)
{
    struct ArrowArrayStream *const streams[] = {s->actions, s->items, s->users, s->sessions};
    const char *const paths[] = {NULL, o->items_path, o->users_path, o->sessions_path};
    if (s->actions == NULL)
        return refuse(err, "parsrec_import_rows needs a stream of actions");
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (streams[i] != NULL && streams[i]->release == NULL)
            return refuse(err, "an Arrow stream has been released before; make a new one");
        if (streams[i] != NULL && paths[i] != NULL)
            return refuse(err, "items, users and sessions come from a stream or a file, not both");
    }
    if (o->sessions_path == NULL && s->sessions != NULL &&
        o->session_rule != PARSREC_SESSION_COLUMN)
        return refuse(err, "a table of sessions needs sessions with names; use a session column");
    if (o->table != NULL || o->query != NULL)
        return refuse(err, "a table or query is for inputs that are databases");
    if (o->shards > 0 && (o->step != PARSREC_IMPORT_ALL || s->sessions != NULL))
        return refuse(err, "rows in memory are imported into all shards at once, and without a "
                           "table of sessions");
    return PARSREC_OK;
}

parsrec_status parsrec_import_rows(const char *out_path, const parsrec_import_streams *streams,
                                   const parsrec_import_options *options,
                                   parsrec_import_report *report, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    parsrec_import_options defaults = parsrec_import_default();
    parsrec_import_report unseen;
    options = options != NULL ? options : &defaults;
    report = report != NULL ? report : &unseen;
    *report = (parsrec_import_report){0};
    if (streams == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_import_rows needs streams");
    parsrec_status status = out_path == NULL
                                ? pr_fail(err, PARSREC_E_ARGUMENT, "name the file to write")
                                : check_streams(streams, options, err);
    if (status == PARSREC_OK)
        status = import(out_path, NULL, 0, streams, options, report, hooks, err);
    struct ArrowArrayStream *const all[] = {streams->actions, streams->items, streams->users,
                                            streams->sessions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != NULL && all[i]->release != NULL)
            all[i]->release(all[i]);
    return status;
}
