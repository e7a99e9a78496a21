/* Options that fit together, and the note in the file on how it came to be. */
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "import/import.h"
#include "import/rows.h"
#include "import/times.h"

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
        bool database = pr_rows_is_database(inputs[i]);
        if (!database && (o->table != NULL || o->query != NULL))
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "%s: --table and --query are for sqlite: and postgresql: inputs",
                           inputs[i]);
    }
    if (from_stdin > 1)
        return refuse(err, "standard input (-) can be read once only");
    return PARSREC_OK;
}

parsrec_status pr_import_check(const char *const *inputs, size_t input_count,
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
    if (o->user_column != NULL && o->user_column[0] == '\0')
        return refuse(err, "every action needs a user; name its column with --user");
    if (o->item_column != NULL && o->item_column[0] == '\0')
        return refuse(err, "every action needs an item; name its column with --item");
    if (o->time_format != NULL)
        PR_TRY(pr_time_pattern_check(o->time_format, err));
    return check_inputs(inputs, input_count, o, err);
}

/* ---- the note ---- */

/* A file's own name: its folder is nobody's business. */
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

static const char *const rule_names[] = {"column", "gap", "day", "week", "month"};

static int set_options(json_t *object, const parsrec_import_options *o)
{
    int failed = set_count(object, "min_actions", o->min_actions);
    failed |= json_object_set_new(object, "session_rule", json_string(rule_names[o->session_rule]));
    failed |= json_object_set_new(object, "sort", json_boolean(o->sort));
    if (o->time_format != NULL)
        failed |= json_object_set_new(object, "time_format", json_string(o->time_format));
    if (o->session_rule == PARSREC_SESSION_GAP)
        failed |= set_count(object, "session_gap", (uint64_t)o->session_gap);
    return failed;
}

static int set_report(json_t *object, const parsrec_import_report *r)
{
    int failed = set_count(object, "rows_read", r->rows_read);
    failed |= set_count(object, "bad_rows", r->bad_rows);
    failed |= set_count(object, "repeats_dropped", r->repeats_dropped);
    failed |= set_count(object, "filtered_users", r->filtered_users);
    failed |= set_count(object, "filtered_items", r->filtered_items);
    return failed | set_count(object, "filtered_actions", r->filtered_actions);
}

char *pr_import_source(const char *const *names, size_t count,
                       const parsrec_import_options *options, const parsrec_import_report *report)
{
    json_t *object = json_object();
    int failed = object == NULL;
    failed |= json_object_set_new(object, "made_by", json_string("import"));
    failed |= json_object_set_new(object, "inputs", name_list(names, count));
    if (!failed)
        failed = set_options(object, options) | set_report(object, report);
    char *text = failed ? NULL : pr_json_text(object);
    json_decref(object);
    return text;
}
