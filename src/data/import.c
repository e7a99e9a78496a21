/* The course of an import: read the actions, read what is known of items, users and sessions, put
 * everything in order, write. */
#include "data/import.h"

#include <stdio.h>
#include <string.h>

#include "base/hooks.h"
#include "base/memory.h"
#include "data/import_events.h"
#include "data/import_features.h"

enum { ROWS_BETWEEN_REPORTS = 1 << 14 };

typedef struct importer {
    const parsrec_import_options *options;
    parsrec_import_report *report;
    const parsrec_hooks *hooks;
    pr_collect actions;
    pr_table tables[PR_FEATURE_TABLES];
    int32_t *row_of[PR_FEATURE_TABLES]; /* of each user, session and item of the actions; or NULL */
    pr_assembly baskets;
    pr_blocks blocks;
    pr_dataset data;
    char **names; /* of the inputs, as shown */
    size_t name_count;
    char *source;
    char *events; /* the mark of a server's store */
    char stage[128];
} importer;

static void free_importer(importer *im)
{
    pr_collect_free(&im->actions);
    for (int i = 0; i < PR_FEATURE_TABLES; i++) {
        pr_table_free(&im->tables[i]);
        pr_free(im->row_of[i]);
    }
    pr_assembly_free(&im->baskets);
    pr_blocks_free(&im->blocks);
    for (size_t i = 0; i < im->name_count; i++)
        pr_free(im->names[i]);
    pr_free(im->names);
    pr_free(im->source);
    pr_free(im->events);
}

/* ---- reading ---- */

/* A bad row: counted while max_bad allows, else the failure of the import. */
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

static parsrec_status report_progress(importer *im, const pr_rows *rows, parsrec_error *err)
{
    uint64_t done, total;
    rows->position(rows, &done, &total);
    return pr_progress(im->hooks, im->stage, rows->lines ? "bytes" : "rows", done, total, err);
}

typedef parsrec_status take_row(void *context, const pr_rows *rows, const pr_row *row,
                                parsrec_error *err);

/* Hands every row on; *count is those that came, bad ones included. */
static parsrec_status read_rows(importer *im, pr_rows *rows, take_row *take, void *context,
                                uint64_t *count, uint64_t *bad, parsrec_error *err)
{
    parsrec_error row_error = {0};
    snprintf(im->stage, sizeof im->stage, "reading %s", rows->name);
    for (uint64_t n = 0;; n++) {
        pr_row row;
        bool end;
        if (n % ROWS_BETWEEN_REPORTS == 0)
            PR_TRY(report_progress(im, rows, err));
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

/* A column that may be missing unless its name was given. */
static parsrec_status find_optional(const pr_rows *rows, const char *given, const char *usual,
                                    const char *hint, size_t *column, parsrec_error *err)
{
    const char *name = given != NULL ? given : usual;
    *column = pr_rows_find(rows, name);
    if (*column == PR_NO_COLUMN && given == NULL)
        return PARSREC_OK;
    return pr_rows_need(rows, name, hint, column, err);
}

static parsrec_status find_columns(const importer *im, const pr_rows *rows,
                                   pr_action_columns *columns, parsrec_error *err)
{
    const parsrec_import_options *o = im->options;
    PR_TRY(pr_rows_need(rows, o->user_column != NULL ? o->user_column : "user",
                        "name yours with --user", &columns->user, err));
    PR_TRY(pr_rows_need(rows, o->item_column != NULL ? o->item_column : "item",
                        "name yours with --item", &columns->item, err));
    PR_TRY(find_optional(rows, o->session_column, "session", "name yours with --session",
                         &columns->session, err));
    PR_TRY(
        find_optional(rows, o->time_column, "time", "name yours with --time", &columns->time, err));
    if (o->session_rule != PARSREC_SESSION_COLUMN && columns->time == PR_NO_COLUMN)
        return pr_rows_need(rows, "time", "sessions are cut by time, so name yours with --time",
                            &columns->time, err);
    return PARSREC_OK;
}

typedef struct action_context {
    pr_collect *actions;
    pr_action_columns columns;
} action_context;

static parsrec_status take_action(void *context, const pr_rows *rows, const pr_row *row,
                                  parsrec_error *err)
{
    action_context *c = context;
    return pr_collect_row(c->actions, rows, &c->columns, row, err);
}

static parsrec_status keep_name(importer *im, const char *name, parsrec_error *err)
{
    im->names[im->name_count] = pr_copy_string(name, strlen(name));
    if (im->names[im->name_count] == NULL)
        return pr_fail_memory(err);
    im->name_count++;
    return PARSREC_OK;
}

static parsrec_status read_input(importer *im, const char *input, parsrec_error *err)
{
    pr_rows *rows;
    pr_rows_options options = row_options(im, true);
    action_context context = {.actions = &im->actions};
    PR_TRY(pr_rows_open(&rows, input, &options, err));
    parsrec_status status = keep_name(im, rows->name, err);
    if (status == PARSREC_OK)
        status = find_columns(im, rows, &context.columns, err);
    if (status == PARSREC_OK)
        status = read_rows(im, rows, take_action, &context, &im->report->rows_read,
                           &im->report->bad_rows, err);
    pr_rows_free(rows);
    return status;
}

/* The purchases in a server's store, after all other inputs, whose form of time they take on. */
static parsrec_status read_events(importer *im, parsrec_error *err)
{
    pr_rows *rows;
    const pr_collect *c = &im->actions;
    action_context context = {.actions = &im->actions,
                              .columns = {.user = 0, .session = 1, .time = 2, .item = 3}};
    if (im->options->events == NULL)
        return PARSREC_OK;
    PR_TRY(pr_events_open(&rows, &im->events, im->options->events,
                          c->actions > 0 ? c->form : PR_TIME_NUMBER, im->hooks, err));
    parsrec_status status = keep_name(im, rows->name, err);
    if (status == PARSREC_OK)
        status = read_rows(im, rows, take_action, &context, &im->report->rows_read,
                           &im->report->bad_rows, err);
    pr_rows_free(rows);
    return status;
}

static parsrec_status read_actions(importer *im, const char *const *inputs, size_t count,
                                   parsrec_error *err)
{
    im->names = pr_alloc_zero(count + 1, sizeof *im->names); /* the store of --events is one more */
    if (im->names == NULL)
        return pr_fail_memory(err);
    im->actions.sort = im->options->sort;
    im->actions.keyed = im->options->session_rule == PARSREC_SESSION_COLUMN;
    for (size_t i = 0; i < count; i++)
        PR_TRY(read_input(im, inputs[i], err));
    PR_TRY(read_events(im, err));
    if (im->report->rows_read == 0)
        return pr_fail(err, PARSREC_E_INPUT, "%s: there are no rows below the header",
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

static parsrec_status read_table(importer *im, pr_feature_of of, const char *path,
                                 parsrec_error *err)
{
    pr_rows *rows;
    uint64_t count = 0;
    pr_rows_options options = row_options(im, false);
    table_context context = {&im->tables[of], &im->actions};
    if (path == NULL)
        return PARSREC_OK;
    PR_TRY(pr_rows_open(&rows, path, &options, err));
    parsrec_status status = pr_table_begin(&im->tables[of], of, rows, im->options, err);
    if (status == PARSREC_OK)
        status =
            read_rows(im, rows, take_table_row, &context, &count, &im->report->bad_table_rows, err);
    pr_rows_free(rows);
    return status;
}

/* A name in --number or --categorical that no table has is a slip of the pen. */
static parsrec_status check_list(const importer *im, const char *list, parsrec_error *err)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        pr_slice word = pr_slice_trim((pr_slice){list, length});
        bool found = word.size == 0;
        for (int t = 0; t < PR_FEATURE_TABLES; t++)
            for (size_t i = 0; i < im->tables[t].column_count; i++)
                found =
                    found || (im->tables[t].columns[i].type <= PR_COLUMN_CATEGORY &&
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

static parsrec_status read_tables(importer *im, parsrec_error *err)
{
    const parsrec_import_options *o = im->options;
    parsrec_import_report *r = im->report;
    size_t unknown;
    PR_TRY(read_table(im, PR_OF_ITEM, o->items_path, err));
    PR_TRY(read_table(im, PR_OF_USER, o->users_path, err));
    PR_TRY(read_table(im, PR_OF_SESSION, o->sessions_path, err));
    PR_TRY(check_list(im, o->number_columns, err));
    PR_TRY(check_list(im, o->category_columns, err));
    pr_names users = pr_intern_view(&im->actions.users), items = pr_intern_view(&im->actions.items);
    if (o->items_path != NULL) {
        PR_TRY(pr_table_match(&im->tables[PR_OF_ITEM], &items, &im->row_of[PR_OF_ITEM], &unknown,
                              err));
        r->unknown_items = unknown;
    }
    if (o->users_path != NULL) {
        PR_TRY(pr_table_match(&im->tables[PR_OF_USER], &users, &im->row_of[PR_OF_USER], &unknown,
                              err));
        r->unknown_users = unknown;
    }
    if (o->sessions_path != NULL) {
        PR_TRY(pr_table_match_sessions(&im->tables[PR_OF_SESSION], &im->actions,
                                       &im->row_of[PR_OF_SESSION], &unknown, err));
        r->unknown_sessions = unknown;
    }
    return PARSREC_OK;
}

/* ---- the data set ---- */

static parsrec_status make_baskets(importer *im, parsrec_error *err)
{
    const parsrec_import_options *o = im->options;
    pr_assembly *b = &im->baskets;
    parsrec_time_kind kind =
        pr_time_kind(im->actions.form, im->actions.least_time, im->actions.greatest_time);
    if (o->session_rule != PARSREC_SESSION_COLUMN && kind != PARSREC_TIME_UNIX)
        return pr_fail(err, PARSREC_E_INPUT,
                       "sessions are cut by time, but the times of %s are not dates or Unix "
                       "seconds; use a session column",
                       im->names[0]);
    im->data.time_kind = kind;
    PR_TRY(pr_assembly_make(b, &im->actions, err));
    if (o->session_rule != PARSREC_SESSION_COLUMN)
        pr_assembly_join(b, o->session_rule, o->session_gap);
    PR_TRY(pr_assembly_unique(b, &im->report->repeats_dropped, err));
    if (o->min_actions > 1)
        PR_TRY(pr_assembly_filter(b, o->min_actions, im->report, err));
    if (b->actions == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "nothing is left: no user and item have %llu actions each; lower "
                       "--min-actions",
                       (unsigned long long)o->min_actions);
    return PARSREC_OK;
}

/* The names of the users or items that stayed. */
static parsrec_status choose_names(importer *im, pr_names *out, const pr_intern *all,
                                   const uint32_t *from, size_t count, parsrec_error *err)
{
    *out = pr_intern_view(all);
    if (from == NULL)
        return PARSREC_OK;
    pr_names names = *out;
    return pr_names_choose(out, &names, (const int32_t *)from, count, &im->blocks, err);
}

/* Rows in the numbering of the data set; counts those without one. */
static int32_t *final_rows(importer *im, pr_feature_of of, const uint32_t *from, size_t count,
                           uint64_t *without)
{
    int32_t *rows = pr_blocks_alloc(&im->blocks, count, sizeof *rows);
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
    PR_TRY(pr_features_gather(&im->data, &im->tables[of], rows, count, &im->blocks, err));
    if (of == PR_OF_ITEM)
        return pr_catalogue_gather(&im->data, &im->tables[of], rows, &im->blocks, err);
    return PARSREC_OK;
}

static parsrec_status fill_data(importer *im, parsrec_error *err)
{
    static const int64_t no_names[1] = {0};
    pr_dataset *d = &im->data;
    pr_assembly *b = &im->baskets;
    uint64_t sessions_without = 0;
    d->users = b->users;
    d->sessions = b->sessions;
    d->items = b->items;
    d->actions = b->actions;
    d->user_offsets = b->user_offsets;
    d->session_offsets = b->session_offsets;
    d->action_items = b->action_items;
    d->times = d->time_kind != PARSREC_TIME_NONE ? b->times : NULL;
    d->item_names = d->category_names = (pr_names){"", no_names, 0};
    PR_TRY(choose_names(im, &d->user_keys, &im->actions.users, b->user_from, b->users, err));
    PR_TRY(choose_names(im, &d->item_keys, &im->actions.items, b->item_from, b->items, err));
    PR_TRY(gather(im, PR_OF_ITEM, b->item_from, b->items, &im->report->items_without_row, err));
    PR_TRY(gather(im, PR_OF_USER, b->user_from, b->users, &im->report->users_without_row, err));
    return gather(im, PR_OF_SESSION, b->session_from, b->sessions, &sessions_without, err);
}

static parsrec_status write_data(importer *im, const char *out_path, parsrec_error *err)
{
    parsrec_import_report *r = im->report;
    r->users = im->data.users;
    r->sessions = im->data.sessions;
    r->items = im->data.items;
    r->actions = im->data.actions;
    im->source =
        pr_import_source((const char *const *)im->names, im->name_count, im->options, im->report);
    if (im->source == NULL)
        return pr_fail_memory(err);
    im->data.source = im->source;
    im->data.events = im->events;
    snprintf(im->stage, sizeof im->stage, "writing");
    PR_TRY(pr_progress(im->hooks, im->stage, "actions", 0, im->data.actions, err));
    return pr_dataset_save(&im->data, NULL, 0, out_path, err);
}

parsrec_status pr_import(const char *out_path, const char *const *inputs, size_t input_count,
                         const parsrec_import_options *options, parsrec_import_report *report,
                         const parsrec_hooks *hooks, parsrec_error *err)
{
    importer im = {.options = options, .report = report, .hooks = hooks};
    parsrec_status status;
    *report = (parsrec_import_report){0};
    PR_TRY(pr_import_check(inputs, input_count, options, err));
    PR_TRY_GOTO(read_actions(&im, inputs, input_count, err));
    PR_TRY_GOTO(read_tables(&im, err));
    pr_collect_seal(&im.actions);
    PR_TRY_GOTO(make_baskets(&im, err));
    PR_TRY_GOTO(fill_data(&im, err));
    PR_TRY_GOTO(write_data(&im, out_path, err));
done:
    free_importer(&im);
    return status;
}
