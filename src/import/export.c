/* parsrec_export: the actions of a data set as a table for other programs, and tables of ours (maps,
 * what-if, answers) as Parquet. Parquet is written by DuckDB from CSV, in a file beside the target. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/duckdb.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "base/writer.h"
#include "data/dataset.h"
#include "data/file_kind.h"

enum { PIECE = 1 << 18 };

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

/* ---- a data set as CSV ---- */

/* A field that import reads back as it is: in quotes where it needs them. */
static void write_field(pr_writer *csv, const char *text, size_t size)
{
    bool plain = size > 0 && text[0] != ' ' && text[size - 1] != ' ';
    for (size_t i = 0; plain && i < size; i++)
        plain = strchr(",;|\t\"\r\n", text[i]) == NULL;
    if (plain) {
        pr_write_bytes(csv, text, size);
        return;
    }
    pr_write_bytes(csv, "\"", 1);
    for (size_t i = 0; i < size; i++)
        pr_write_bytes(csv, text[i] == '"' ? "\"\"" : &text[i], text[i] == '"' ? 2 : 1);
    pr_write_bytes(csv, "\"", 1);
}

static void write_key(pr_writer *csv, const pr_names *names, size_t i)
{
    pr_slice key = pr_name(names, i);
    write_field(csv, key.bytes, key.size);
}

/* "2024-01-03T10:20:00Z", or the number where times are only an order. */
static void write_time(char *text, size_t room, const pr_dataset *data, size_t session)
{
    time_t t = (time_t)data->times[session];
    struct tm parts;
    if (data->time_kind != PARSREC_TIME_UNIX || gmtime_r(&t, &parts) == NULL ||
        strftime(text, room, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(text, room, "%lld", (long long)data->times[session]);
}

/* Sessions have no names in a data set; they are numbered within their user. */
static void write_session(pr_writer *csv, const pr_dataset *data, size_t user, size_t session)
{
    char time[40] = "", number[64];
    snprintf(number, sizeof number, "%zu-%zu", user + 1,
             session - (size_t)data->user_offsets[user] + 1);
    if (data->times != NULL)
        write_time(time, sizeof time, data, session);
    for (int64_t a = data->session_offsets[session]; a < data->session_offsets[session + 1]; a++) {
        write_key(csv, &data->user_keys, user);
        pr_write(csv, ",%s,", number);
        if (data->times != NULL)
            pr_write(csv, "%s,", time);
        write_key(csv, &data->item_keys, (size_t)data->action_items[a]);
        pr_write_bytes(csv, "\n", 1);
    }
}

static parsrec_status write_piece(pr_atomic_file *file, pr_writer *csv, parsrec_error *err)
{
    if (csv->failed)
        return pr_fail_memory(err);
    parsrec_status status = pr_atomic_write(file, csv->text, csv->size, err);
    csv->size = 0;
    return status;
}

static parsrec_status write_actions(pr_atomic_file *file, const pr_dataset *data,
                                    const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_writer csv = {0};
    parsrec_status status = PARSREC_OK;
    pr_write(&csv, "user,session,%sitem\n", data->times != NULL ? "time," : "");
    for (size_t u = 0; u < data->users && status == PARSREC_OK; u++) {
        for (int64_t s = data->user_offsets[u]; s < data->user_offsets[u + 1]; s++)
            write_session(&csv, data, u, (size_t)s);
        if (csv.size > PIECE || csv.failed)
            status = write_piece(file, &csv, err);
        if (status == PARSREC_OK && u % 256 == 0)
            status = pr_progress(hooks, "writing", "users", u, data->users, err);
    }
    if (status == PARSREC_OK)
        status = write_piece(file, &csv, err);
    pr_writer_free(&csv);
    return status;
}

static parsrec_status write_data(pr_atomic_file *file, const char *in, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    pr_dataset *data;
    PR_TRY(pr_dataset_load(&data, in, err));
    parsrec_status status = write_actions(file, data, hooks, err);
    pr_dataset_free(data);
    return status;
}

static parsrec_status export_csv(const char *in, const char *out, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_atomic_open(&file, out, err));
    parsrec_status status = write_data(file, in, hooks, err);
    if (status == PARSREC_OK)
        return pr_atomic_commit(file, err);
    pr_atomic_abort(file);
    return status;
}

/* ---- a table as Parquet ---- */

/* Keys stay text, whatever they look like; numbers and times of other columns are recognised. */
static parsrec_status copy_table(const char *table, bool actions, const char *out,
                                 parsrec_error *err)
{
    pr_duckdb_database database = NULL;
    pr_duckdb_connection connection = NULL;
    pr_writer sql = {0};
    pr_write(&sql, "COPY (SELECT * FROM %s(",
             ends_with(table, ".jsonl") ? "read_json" : "read_csv");
    pr_duckdb_quote(&sql, '\'', table);
    if (actions)
        pr_write(&sql, ", types = {'user': 'VARCHAR', 'session': 'VARCHAR', 'item': 'VARCHAR'}");
    pr_write(&sql, ")) TO ");
    pr_duckdb_quote(&sql, '\'', out);
    pr_write(&sql, " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)");
    parsrec_status status =
        sql.failed ? pr_fail_memory(err) : pr_duckdb_open(&database, &connection, NULL, out, err);
    if (status == PARSREC_OK)
        status = pr_duckdb_run(connection, sql.text, table, err);
    if (connection != NULL)
        pr_duckdb.disconnect(&connection);
    if (database != NULL)
        pr_duckdb.close(&database);
    pr_writer_free(&sql);
    return status;
}

/* The actions of a data set, written as CSV beside the output for DuckDB to read. */
static parsrec_status copy_data(const char *in, const char *out, const char *made,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_path name;
    pr_atomic_file *table;
    snprintf(name.text, sizeof name.text, "%s.csv", out);
    PR_TRY(pr_atomic_open(&table, name.text, err));
    const char *path = pr_atomic_temporary(table);
    parsrec_status status = path == NULL
                                ? pr_fail(err, PARSREC_E_IO, "%s: is not a plain file", name.text)
                                : write_data(table, in, hooks, err);
    if (status == PARSREC_OK)
        status = pr_atomic_flush(table, err);
    if (status == PARSREC_OK)
        status = copy_table(path, true, made, err);
    pr_atomic_abort(table);
    return status;
}

/* DuckDB writes to the temporary names of atomic files: the output appears complete or not at all,
 * and what a killed export leaves is removed by the next one. */
static parsrec_status export_parquet(const char *in, bool data, const char *out,
                                     const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_duckdb_load(err));
    if (strlen(out) + sizeof ".csv" > sizeof((pr_path *)0)->text)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the name of the output is too long");
    PR_TRY(pr_atomic_open(&file, out, err));
    const char *made = pr_atomic_temporary(file);
    parsrec_status status = made == NULL
                                ? pr_fail(err, PARSREC_E_IO, "%s: is not a plain file", out)
                            : data ? copy_data(in, out, made, hooks, err)
                                   : copy_table(in, false, made, err);
    if (status == PARSREC_OK)
        return pr_atomic_commit(file, err);
    pr_atomic_abort(file);
    return status;
}

parsrec_status parsrec_export(const char *in_path, const char *out_path, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    if (in_path == NULL || out_path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_export needs an input and an output");
    bool table = ends_with(in_path, ".csv") || ends_with(in_path, ".jsonl");
    if (ends_with(out_path, ".parquet"))
        return export_parquet(in_path, !table, out_path, hooks, err);
    if (table)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: is a table already; name an output that ends in .parquet", in_path);
    return export_csv(in_path, out_path, hooks, err);
}
