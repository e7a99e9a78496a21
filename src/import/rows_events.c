/* Events by SQL: the tables are those of src/serve/store_sqlite.c and store_postgres.c. */
#include "import/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "data/dataset.h"

/* What differs between the two databases. A row whose time is not known, from an old store, gets
 * that of the rows before it. */
typedef struct dialect {
    const char *mark;     /* the store's id, and the number of its last entry */
    const char *purchase; /* with two %s: the time, and the number up to which */
    const char *times[3]; /* by pr_time_form */
} dialect;

#define STAMP "coalesce(time, max(time) OVER (ORDER BY id), min(time) OVER (), 0)"
#define MARK                                                                    \
    "SELECT (SELECT value FROM parsrec_meta WHERE name = 'store_id') AS store," \
    " (SELECT coalesce(max(id), 0) FROM parsrec_events) AS through"

static const dialect dialects[] = {
    {MARK,
     "SELECT e.user_key AS user, coalesce(e.session, 'event ' || e.id) AS session, %s AS time,"
     " CASE j.type WHEN 'array' THEN json_extract(j.value, '$[0]') ELSE j.value END AS item"
     " FROM (SELECT *, " STAMP " AS stamp FROM parsrec_events WHERE id <= %s AND type = 'buy'"
     "   AND user_hash <> '00000000000000000000000000000000') e, json_each(e.items) j"
     " ORDER BY e.stamp, e.id, j.key",
     {"''", "e.stamp", "strftime('%Y-%m-%dT%H:%M:%SZ', e.stamp, 'unixepoch')"}},
    {MARK,
     "SELECT e.user_key AS user, coalesce(e.session, 'event ' || e.id) AS session, %s AS time,"
     " CASE json_typeof(j.value) WHEN 'array' THEN j.value->>0 ELSE j.value#>>'{}' END AS item"
     " FROM (SELECT *, " STAMP " AS stamp FROM parsrec_events WHERE id <= %s AND type = 'buy'"
     "   AND user_key <> '' AND items IS NOT NULL) e,"
     " json_array_elements(e.items::json) WITH ORDINALITY AS j(value, place)"
     " ORDER BY e.stamp, e.id, j.place",
     {"''", "e.stamp",
      "to_char(to_timestamp(e.stamp) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"}},
};

static parsrec_status open_query(pr_rows **out, const char *url, const char *query,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    const pr_rows_options options = {.query = query, .hooks = hooks};
    return pr_rows_open(out, url, &options, err);
}

/* The one row of the mark. */
static parsrec_status read_mark(const char *url, const dialect *d, char id[64], char through[32],
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_rows *rows;
    pr_row row = {0};
    bool end = true;
    parsrec_error inner = {0};
    parsrec_status status = open_query(&rows, url, d->mark, hooks, &inner);
    if (status == PARSREC_OK)
        status = rows->next(rows, &row, &end, &inner);
    if (status == PARSREC_OK && !end && row.fields[0].size < 64 && row.fields[1].size < 32) {
        snprintf(id, 64, "%.*s", (int)row.fields[0].size, row.fields[0].bytes);
        snprintf(through, 32, "%.*s", (int)row.fields[1].size, row.fields[1].bytes);
    } else {
        status = pr_fail(err, PARSREC_E_FORMAT,
                         "the events cannot be read: %s; name the --store of a server, which has "
                         "been started with this version of parsrec",
                         inner.message);
    }
    if (rows != NULL)
        pr_rows_free(rows);
    return status;
}

parsrec_status pr_events_open(pr_rows **out, char **mark, const char *url, pr_time_form form,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    const dialect *d = &dialects[strncmp(url, "sqlite:", 7) != 0];
    char id[64] = "", through[32] = "0", query[1024];
    uint64_t number = 0;
    *out = NULL;
    *mark = NULL;
    if (!pr_rows_is_database(url))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "events are read from a store, sqlite:FILE or postgresql://...");
    PR_TRY(read_mark(url, d, id, through, hooks, err));
    if (!pr_parse_u64(pr_slice_of(through), &number) || number > INT64_MAX) /* it becomes SQL */
        return pr_fail(err, PARSREC_E_FORMAT,
                       "the events cannot be read: the number of the newest is not a whole number");
    json_t *json = json_pack("{s:I}", id, (json_int_t)number);
    *mark = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (*mark == NULL)
        return pr_fail_memory(err);
    snprintf(query, sizeof query, d->purchase, d->times[form], through);
    parsrec_status status = open_query(out, url, query, hooks, err);
    if (status != PARSREC_OK) {
        pr_free(*mark);
        *mark = NULL;
    }
    return status;
}

parsrec_status parsrec_data_events_through(const parsrec_data *data, const char *store_id,
                                           uint64_t *number, parsrec_error *err)
{
    if (data == NULL || store_id == NULL || number == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_data_events_through needs data, a store and a number");
    *number = 0;
    if (data->events == NULL)
        return PARSREC_OK;
    json_t *marks = NULL;
    PR_TRY(
        pr_json_parse(&marks, data->events, strlen(data->events), "events of the data set", err));
    json_int_t through = json_integer_value(json_object_get(marks, store_id));
    json_decref(marks);
    *number = through > 0 ? (uint64_t)through : 0;
    return PARSREC_OK;
}
