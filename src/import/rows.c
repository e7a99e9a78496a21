/* What all row sources share: opening by name, columns by name, places in messages. */
#include "import/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pr_rows_free(pr_rows *rows)
{
    if (rows != NULL)
        rows->free(rows);
}

size_t pr_rows_find(const pr_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->column_count; i++)
        if (pr_slice_is(rows->columns[i], name))
            return i;
    return PR_NO_COLUMN;
}

/* "a, b, c", cut with "..." when there are many. */
static void list_columns(const pr_rows *rows, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < rows->column_count; i++) {
        pr_slice name = rows->columns[i];
        if (used + name.size + 8 > size) {
            snprintf(list + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(list + used, size - used, "%s%.*s", i > 0 ? ", " : "",
                                 (int)name.size, name.bytes);
    }
}

parsrec_status pr_rows_need(const pr_rows *rows, const char *name, const char *hint, size_t *column,
                            parsrec_error *err)
{
    *column = pr_rows_find(rows, name);
    if (*column == PR_NO_COLUMN) {
        char list[256];
        list_columns(rows, list, sizeof list);
        return pr_fail(err, PARSREC_E_NOT_FOUND, "%s: there is no column '%s', only %s; %s",
                       rows->name, name, list, hint);
    }
    for (size_t i = *column + 1; i < rows->column_count; i++)
        if (pr_slice_is(rows->columns[i], name))
            return pr_fail(err, PARSREC_E_INPUT, "%s: two columns are called '%s'; rename one",
                           rows->name, name);
    return PARSREC_OK;
}

parsrec_status pr_rows_fail(const pr_rows *rows, uint64_t line, size_t column, parsrec_error *err,
                            const char *format, ...)
{
    char text[sizeof err->message], at_column[32] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *separator = rows->lines ? ":" : ", column ";
    if (column != PR_NO_COLUMN)
        snprintf(at_column, sizeof at_column, "%s%zu", separator, column + 1);
    return pr_fail(err, PARSREC_E_INPUT, "%s%s%llu%s: %s", rows->name, rows->lines ? ":" : ": row ",
                   (unsigned long long)line, at_column, text);
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_postgres(const char *input)
{
    return starts(input, "postgresql://") || starts(input, "postgres://");
}

const char *pr_rows_after_prefix(const char *input, const char *prefix)
{
    return starts(input, prefix) ? input + strlen(prefix) : NULL;
}

static bool is_parquet(const char *input)
{
    static const char *const endings[] = {".parquet", ".pq"};
    size_t size = strlen(input);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strcmp(input + size - n, endings[i]) == 0)
            return true;
    }
    return starts(input, "parquet:");
}

bool pr_rows_is_database(const char *input)
{
    return starts(input, "sqlite:") || starts(input, "duckdb:") || is_postgres(input);
}

bool pr_rows_takes_query(const char *input)
{
    return pr_rows_is_database(input) || is_parquet(input);
}

/* Tab for names such as x.tsv and x.tsv.gz; 0 leaves the choice to the header. */
static char delimiter_of(const char *input, parsrec_input_format format)
{
    if (format == PARSREC_INPUT_TSV)
        return '\t';
    if (format == PARSREC_INPUT_REFERENCE)
        return ',';
    const char *slash = strrchr(input, '/'), *file = slash != NULL ? slash + 1 : input;
    bool tabs = strstr(file, ".tsv") != NULL || strstr(file, ".tab") != NULL;
    return format == PARSREC_INPUT_AUTO && tabs ? '\t' : 0;
}

static parsrec_status open_text(pr_rows **out, const char *input, const pr_rows_options *options,
                                parsrec_error *err)
{
    pr_bytes *bytes;
    pr_rows *csv;
    *out = NULL;
    PR_TRY(pr_bytes_open(&bytes, input, err));
    if (options->latin1)
        PR_TRY(pr_bytes_latin1(&bytes, bytes, err));
    pr_csv_options csv_options = {.delimiter = delimiter_of(input, options->format)};
    PR_TRY(pr_csv_open(&csv, bytes, &csv_options, err));
    bool reference = pr_reference_header(csv);
    if (options->format == PARSREC_INPUT_REFERENCE && !reference) {
        parsrec_status status = pr_fail(
            err, PARSREC_E_INPUT,
            "%s: the header is not user_id,time,session_length,session_items; try --format csv",
            csv->name);
        pr_rows_free(csv);
        return status;
    }
    if (reference &&
        (options->format == PARSREC_INPUT_REFERENCE || options->format == PARSREC_INPUT_AUTO))
        return pr_reference_open(out, csv, err);
    *out = csv;
    return PARSREC_OK;
}

parsrec_status pr_rows_open(pr_rows **out, const char *input, const pr_rows_options *options,
                            parsrec_error *err)
{
    if (starts(input, "sqlite:"))
        return pr_sqlite_open(out, input, options, err);
    if (is_postgres(input))
        return pr_postgres_open(out, input, options, err);
    if (starts(input, "duckdb:") || is_parquet(input))
        return pr_duckdb_rows(out, input, options, err);
    if (strstr(input, "://") != NULL && access(input, F_OK) != 0) {
        *out = NULL;
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "an address that begins with %.*s: cannot be read; inputs are files, "
            "sqlite:FILE, postgresql://..., duckdb: and parquet:", /* it may have a password */
            (int)strcspn(input, ":"), input);
    }
    return open_text(out, input, options, err);
}
