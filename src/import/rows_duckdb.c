/* Parquet files, and the result of any query of DuckDB, as rows.
 *
 * The query runs as a stream and gives chunks of about 2,000 rows. A chunk is described as a batch of the
 * Arrow C interface and read by rows_arrow.c, so that a value becomes the same characters as from a frame
 * or a CSV file; everything is read where it is, text too. Columns that are not chosen become NULL in the
 * query, and DuckDB does not read them from the files. A thread does all this ahead of the caller
 * (rows_ahead.c). */
#include <stdio.h>
#include <string.h>

#include "base/duckdb.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/writer.h"
#include "import/rows.h"

typedef struct duck_column {
    char *name;
    int type;
    bool chosen;
    /* For the current chunk. */
    struct ArrowArray array;
    const void *buffers[2];
} duck_column;

typedef struct duck {
    pr_rows base;
    const parsrec_hooks *hooks;
    pr_duckdb_database database;
    pr_duckdb_connection connection;
    pr_duckdb_statement statement;
    pr_duckdb_pending pending;
    pr_duckdb_result result;
    bool has_result;
    pr_duckdb_chunk chunk;
    char *from; /* what follows FROM in the query */
    duck_column *columns;
    pr_slice *names;
    /* The columns as an Arrow stream, and its reader once the first row is wanted. */
    struct ArrowArrayStream stream;
    struct ArrowSchema *schemas, **schema_children;
    struct ArrowArray **array_children;
    pr_rows *reader;
    parsrec_error error; /* of the stream's last call */
    uint64_t rows;
} duck;

/* ---- the query ---- */

/* Runs sql step by step, so that the caller may stop it. The result is in self->result. */
static parsrec_status start_query(duck *self, const char *sql, parsrec_error *err)
{
    if (pr_duckdb.prepare(self->connection, sql, &self->statement) != 0)
        return pr_duckdb_fail(self->base.name, "cannot be read",
                              pr_duckdb.prepare_error(self->statement), err);
    if (pr_duckdb.pending_prepared_streaming(self->statement, &self->pending) != 0)
        return pr_duckdb_fail(self->base.name, "cannot be read",
                              pr_duckdb.pending_error(self->pending), err);
    int state = PR_DUCKDB_NOT_READY;
    while (state == PR_DUCKDB_NOT_READY || state == PR_DUCKDB_NO_TASKS) {
        PR_TRY(pr_progress(self->hooks, "running the query", "rows", self->rows, 0, err));
        state = pr_duckdb.pending_execute_task(self->pending);
    }
    self->has_result = true;
    if (state == PR_DUCKDB_ERROR || pr_duckdb.execute_pending(self->pending, &self->result) != 0)
        return pr_duckdb_fail(self->base.name, "cannot be read",
                              state == PR_DUCKDB_ERROR ? pr_duckdb.pending_error(self->pending)
                                                       : pr_duckdb.result_error(&self->result),
                              err);
    return PARSREC_OK;
}

static void end_query(duck *self)
{
    if (self->chunk != NULL)
        pr_duckdb.destroy_data_chunk(&self->chunk);
    if (self->has_result)
        pr_duckdb.destroy_result(&self->result);
    if (self->pending != NULL)
        pr_duckdb.destroy_pending(&self->pending);
    if (self->statement != NULL)
        pr_duckdb.destroy_prepare(&self->statement);
    self->has_result = false;
    self->result = (pr_duckdb_result){0};
}

/* The format of the Arrow C interface for a type of DuckDB; NULL: the column is cast to text. */
static const char *format_of(int type)
{
    switch (type) {
    case PR_DUCKDB_TINYINT:
        return "c";
    case PR_DUCKDB_SMALLINT:
        return "s";
    case PR_DUCKDB_INTEGER:
        return "i";
    case PR_DUCKDB_BIGINT:
        return "l";
    case PR_DUCKDB_UTINYINT:
        return "C";
    case PR_DUCKDB_USMALLINT:
        return "S";
    case PR_DUCKDB_UINTEGER:
        return "I";
    case PR_DUCKDB_UBIGINT:
        return "L";
    case PR_DUCKDB_FLOAT:
        return "f";
    case PR_DUCKDB_DOUBLE:
        return "g";
    case PR_DUCKDB_DATE:
        return "tdD";
    case PR_DUCKDB_TIMESTAMP:
    case PR_DUCKDB_TIMESTAMP_TZ:
        return "tsu:";
    case PR_DUCKDB_TIMESTAMP_S:
        return "tss:";
    case PR_DUCKDB_TIMESTAMP_MS:
        return "tsm:";
    case PR_DUCKDB_TIMESTAMP_NS:
        return "tsn:";
    case PR_DUCKDB_VARCHAR:
        return PR_ARROW_CELLS;
    default:
        return NULL;
    }
}

/* SELECT of all columns in their order: those that are not chosen are NULL. */
static parsrec_status start_rows(duck *self, parsrec_error *err)
{
    pr_writer sql = {0};
    pr_write(&sql, "SELECT ");
    for (size_t i = 0; i < self->base.column_count; i++) {
        duck_column *c = &self->columns[i];
        bool cast = format_of(c->type) == NULL;
        pr_write(&sql, "%s%s", i > 0 ? ", " : "",
                 !c->chosen ? "NULL::INTEGER AS "
                 : cast     ? "CAST("
                            : "");
        if (cast && c->chosen) {
            pr_duckdb_quote(&sql, '"', c->name);
            pr_write(&sql, " AS VARCHAR) AS ");
        }
        pr_duckdb_quote(&sql, '"', c->name);
        if (!c->chosen)
            c->type = PR_DUCKDB_INTEGER;
        else if (cast)
            c->type = PR_DUCKDB_VARCHAR;
    }
    pr_write(&sql, " FROM %s", self->from);
    parsrec_status status = sql.failed ? pr_fail_memory(err) : start_query(self, sql.text, err);
    pr_writer_free(&sql);
    return status;
}

/* ---- chunks as batches of an Arrow stream ---- */

static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL; /* the chunk keeps the values */
}

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    duck *self = stream->private_data;
    for (size_t i = 0; i < self->base.column_count; i++) {
        self->schema_children[i] = &self->schemas[i];
        self->schemas[i] = (struct ArrowSchema){.format = format_of(self->columns[i].type),
                                                .name = self->columns[i].name,
                                                .flags = ARROW_FLAG_NULLABLE,
                                                .release = release_schema};
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = (int64_t)self->base.column_count,
                                .children = self->schema_children,
                                .release = release_schema};
    return 0;
}

static void describe_vector(duck_column *c, pr_duckdb_vector vector, size_t count)
{
    c->buffers[0] = pr_duckdb.vector_get_validity(vector);
    c->buffers[1] = pr_duckdb.vector_get_data(vector);
    c->array = (struct ArrowArray){.length = (int64_t)count,
                                   .null_count = c->buffers[0] != NULL ? -1 : 0,
                                   .n_buffers = 2,
                                   .buffers = c->buffers,
                                   .release = release_nothing};
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    enum { FAILED = 5 }; /* EIO */
    duck *self = stream->private_data;
    *out = (struct ArrowArray){0};
    if (self->chunk != NULL)
        pr_duckdb.destroy_data_chunk(&self->chunk);
    self->chunk = pr_duckdb.fetch_chunk(self->result);
    if (self->chunk == NULL) {
        const char *why = pr_duckdb.result_error(&self->result);
        if (why == NULL)
            return 0;
        snprintf(self->error.message, sizeof self->error.message, "%.*s", (int)strcspn(why, "\n"),
                 why);
        return FAILED;
    }
    size_t count = pr_duckdb.data_chunk_get_size(self->chunk);
    for (size_t i = 0; i < self->base.column_count; i++) {
        describe_vector(&self->columns[i], pr_duckdb.data_chunk_get_vector(self->chunk, i), count);
        self->array_children[i] = &self->columns[i].array;
    }
    static const void *const no_validity[] = {NULL};
    *out = (struct ArrowArray){.length = (int64_t)count,
                               .n_buffers = 1,
                               .n_children = (int64_t)self->base.column_count,
                               .buffers = (const void **)(uintptr_t)no_validity,
                               .children = self->array_children,
                               .release = release_nothing};
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    return ((duck *)stream->private_data)->error.message;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* ---- rows ---- */

static parsrec_status begin(duck *self, parsrec_error *err)
{
    size_t count = self->base.column_count, chosen = 0;
    for (size_t i = 0; i < count; i++)
        chosen += self->columns[i].chosen;
    for (size_t i = 0; i < count && chosen == 0; i++)
        self->columns[i].chosen = true;
    PR_TRY(start_rows(self, err));
    self->stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                             .get_next = get_next,
                                             .get_last_error = last_error,
                                             .release = release_stream,
                                             .private_data = self};
    PR_TRY(pr_arrow_open(&self->reader, self->base.name, &self->stream, err));
    for (size_t i = 0; i < count; i++)
        if (self->columns[i].chosen)
            PR_TRY(self->reader->choose(self->reader, &i, 1, err));
    return PARSREC_OK;
}

static parsrec_status duck_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    duck *self = (duck *)base;
    if (self->reader == NULL)
        PR_TRY(begin(self, err));
    self->rows++;
    return self->reader->next(self->reader, row, end, err);
}

static parsrec_status duck_choose(pr_rows *base, const size_t *columns, size_t count,
                                  parsrec_error *err)
{
    duck *self = (duck *)base;
    (void)err;
    for (size_t i = 0; i < count; i++)
        self->columns[columns[i]].chosen = true;
    return PARSREC_OK;
}

static void duck_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    *done = ((const duck *)base)->rows;
    *total = 0;
}

static void duck_free(pr_rows *base)
{
    duck *self = (duck *)base;
    pr_rows_free(self->reader);
    end_query(self);
    if (self->connection != NULL)
        pr_duckdb.disconnect(&self->connection);
    if (self->database != NULL)
        pr_duckdb.close(&self->database);
    for (size_t i = 0; self->columns != NULL && i < base->column_count; i++)
        pr_free(self->columns[i].name);
    pr_free(self->columns);
    pr_free(self->names);
    pr_free(self->schemas);
    pr_free(self->schema_children);
    pr_free(self->array_children);
    pr_free(self->from);
    pr_free(self);
}

/* ---- opening ---- */

/* Names and types of the columns, from the query without rows. */
static parsrec_status describe(duck *self, parsrec_error *err)
{
    pr_writer sql = {0};
    pr_write(&sql, "SELECT * FROM %s LIMIT 0", self->from);
    parsrec_status status = sql.failed ? pr_fail_memory(err) : start_query(self, sql.text, err);
    pr_writer_free(&sql);
    PR_TRY(status);
    size_t count = pr_duckdb.column_count(&self->result);
    self->columns = pr_alloc_zero(count, sizeof *self->columns);
    self->names = pr_alloc(count, sizeof *self->names);
    self->schemas = pr_alloc_zero(count, sizeof *self->schemas);
    self->schema_children = pr_alloc_zero(count, sizeof *self->schema_children);
    self->array_children = pr_alloc_zero(count, sizeof *self->array_children);
    if (self->columns == NULL || self->names == NULL || self->schemas == NULL ||
        self->schema_children == NULL || self->array_children == NULL)
        return pr_fail_memory(err);
    self->base.column_count = count;
    for (size_t i = 0; i < count; i++) {
        const char *name = pr_duckdb.column_name(&self->result, i);
        self->columns[i].name = name != NULL ? pr_copy_string(name, strlen(name)) : NULL;
        if (self->columns[i].name == NULL)
            return pr_fail_memory(err);
        self->columns[i].type = pr_duckdb.column_type(&self->result, i);
        self->names[i] = pr_slice_of(self->columns[i].name);
    }
    self->base.columns = self->names;
    end_query(self);
    return PARSREC_OK;
}

/* read_parquet('files'), or the caller's table or query in parentheses. */
static void write_from(pr_writer *sql, const char *files, const pr_rows_options *options)
{
    if (options->query != NULL) {
        size_t length = strlen(options->query);
        while (length > 0 && strchr(" \t\r\n;", options->query[length - 1]) != NULL)
            length--;
        pr_write(sql, "(%.*s\n)", (int)length, options->query);
    } else if (options->table != NULL) {
        pr_duckdb_quote(sql, '"', options->table);
    } else {
        pr_write(sql, "read_parquet(");
        pr_duckdb_quote(sql, '\'', files);
        pr_write(sql, ", union_by_name = true)");
    }
}

/* The files as a view called "input", which a query may name. */
static parsrec_status make_view(duck *self, const char *files, parsrec_error *err)
{
    pr_writer sql = {0};
    pr_write(&sql, "CREATE TEMP VIEW input AS SELECT * FROM read_parquet(");
    pr_duckdb_quote(&sql, '\'', files);
    pr_write(&sql, ", union_by_name = true)");
    parsrec_status status = sql.failed
                                ? pr_fail_memory(err)
                                : pr_duckdb_run(self->connection, sql.text, self->base.name, err);
    pr_writer_free(&sql);
    return status;
}

static parsrec_status open_query(duck *self, const char *input, const pr_rows_options *options,
                                 parsrec_error *err)
{
    const char *database = pr_rows_after_prefix(input, "duckdb:");
    const char *files = pr_rows_after_prefix(input, "parquet:");
    if (database == NULL && files == NULL)
        files = input;
    if (database != NULL && (options->table == NULL) == (options->query == NULL))
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: name a table with --table or give --query",
                       input);
    if (files != NULL && options->table != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: Parquet files have no tables; leave out --table, or give --query with "
                       "FROM input",
                       input);
    PR_TRY(pr_duckdb_load(err));
    PR_TRY(pr_duckdb_open(&self->database, &self->connection,
                          database != NULL && *database != '\0' ? database : NULL, input, err));
    /* A plain scan is read by one thread, ahead of the caller (rows_ahead.c). More of them in DuckDB would buffer and
     * copy every chunk, to keep the order of rows. */
    if (options->query == NULL)
        PR_TRY(pr_duckdb_run(self->connection, "SET threads = 1", input, err));
    if (files != NULL && options->query != NULL)
        PR_TRY(make_view(self, files, err));
    pr_writer from = {0};
    write_from(&from, files, options);
    self->from = pr_writer_take(&from);
    return self->from != NULL ? describe(self, err) : pr_fail_memory(err);
}

parsrec_status pr_duckdb_rows(pr_rows **out, const char *input, const pr_rows_options *options,
                              parsrec_error *err)
{
    *out = NULL;
    duck *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->hooks = options->hooks;
    self->base = (pr_rows){.name = input,
                           .choose = duck_choose,
                           .next = duck_next,
                           .position = duck_position,
                           .free = duck_free};
    parsrec_status status = open_query(self, input, options, err);
    if (status == PARSREC_OK)
        return pr_rows_ahead(out, &self->base, err);
    duck_free(&self->base);
    return status;
}
