/* DuckDB's C library, loaded when the first Parquet file or DuckDB query is read. It has no Debian
 * package; docs/import.md says where it comes from. Only the calls below are used, and they are declared
 * here as its stable C interface (1.0 and later) has them, so that a build does not need its header.
 *
 * Call pr_duckdb_load before anything else; then pr_duckdb.query is duckdb_query, and so on. */
#ifndef PR_DUCKDB_H
#define PR_DUCKDB_H

#include <stdint.h>

#include "base/library.h"
#include "base/writer.h"

typedef uint64_t pr_duckdb_size;
typedef struct pr_duckdb_handle *pr_duckdb_database, *pr_duckdb_connection, *pr_duckdb_config,
    *pr_duckdb_statement, *pr_duckdb_pending, *pr_duckdb_chunk, *pr_duckdb_vector;

typedef struct pr_duckdb_result {
    pr_duckdb_size unused[3];
    void *columns;
    char *error;
    void *inside;
} pr_duckdb_result;

/* A cell of text: 12 bytes or less are inside. */
typedef union pr_duckdb_text {
    struct {
        uint32_t size;
        char bytes[12];
    } inside;
    struct {
        uint32_t size;
        char prefix[4];
        const char *bytes;
    } outside;
} pr_duckdb_text;

/* Types of columns; others are read as text. */
enum {
    PR_DUCKDB_TINYINT = 2,
    PR_DUCKDB_SMALLINT,
    PR_DUCKDB_INTEGER,
    PR_DUCKDB_BIGINT,
    PR_DUCKDB_UTINYINT,
    PR_DUCKDB_USMALLINT,
    PR_DUCKDB_UINTEGER,
    PR_DUCKDB_UBIGINT,
    PR_DUCKDB_FLOAT,
    PR_DUCKDB_DOUBLE,
    PR_DUCKDB_TIMESTAMP, /* microseconds */
    PR_DUCKDB_DATE,
    PR_DUCKDB_VARCHAR = 17,
    PR_DUCKDB_TIMESTAMP_S = 20,
    PR_DUCKDB_TIMESTAMP_MS,
    PR_DUCKDB_TIMESTAMP_NS,
    PR_DUCKDB_TIMESTAMP_TZ = 31, /* microseconds, UTC */
};

/* States of a query that is worked on step by step. */
enum { PR_DUCKDB_READY = 0, PR_DUCKDB_NOT_READY, PR_DUCKDB_ERROR, PR_DUCKDB_NO_TASKS };

/* result, name, arguments; a call that returns int returns 0 when it succeeds. */
/* clang-format off */
#define PR_DUCKDB(X)                                                                               \
    X(int, create_config, (pr_duckdb_config *))                                                    \
    X(int, set_config, (pr_duckdb_config, const char *name, const char *value))                    \
    X(void, destroy_config, (pr_duckdb_config *))                                                  \
    X(int, open_ext, (const char *path, pr_duckdb_database *, pr_duckdb_config, char **error))     \
    X(void, close, (pr_duckdb_database *))                                                         \
    X(int, connect, (pr_duckdb_database, pr_duckdb_connection *))                                  \
    X(void, disconnect, (pr_duckdb_connection *))                                                  \
    X(void, interrupt, (pr_duckdb_connection))                                                     \
    X(int, query, (pr_duckdb_connection, const char *sql, pr_duckdb_result *))                     \
    X(int, prepare, (pr_duckdb_connection, const char *sql, pr_duckdb_statement *))                \
    X(const char *, prepare_error, (pr_duckdb_statement))                                          \
    X(void, destroy_prepare, (pr_duckdb_statement *))                                              \
    X(int, pending_prepared_streaming, (pr_duckdb_statement, pr_duckdb_pending *))                 \
    X(const char *, pending_error, (pr_duckdb_pending))                                            \
    X(int, pending_execute_task, (pr_duckdb_pending))                                              \
    X(int, execute_pending, (pr_duckdb_pending, pr_duckdb_result *))                               \
    X(void, destroy_pending, (pr_duckdb_pending *))                                                \
    X(void, destroy_result, (pr_duckdb_result *))                                                  \
    X(const char *, result_error, (pr_duckdb_result *))                                            \
    X(pr_duckdb_size, column_count, (pr_duckdb_result *))                                          \
    X(const char *, column_name, (pr_duckdb_result *, pr_duckdb_size))                             \
    X(int, column_type, (pr_duckdb_result *, pr_duckdb_size))                                      \
    X(pr_duckdb_chunk, fetch_chunk, (pr_duckdb_result))                                            \
    X(pr_duckdb_size, data_chunk_get_size, (pr_duckdb_chunk))                                      \
    X(pr_duckdb_vector, data_chunk_get_vector, (pr_duckdb_chunk, pr_duckdb_size))                  \
    X(void, destroy_data_chunk, (pr_duckdb_chunk *))                                               \
    X(void *, vector_get_data, (pr_duckdb_vector))                                                 \
    X(uint64_t *, vector_get_validity, (pr_duckdb_vector))                                         \
    X(void, free, (void *))                                                                        \
    X(const char *, library_version, (void))
/* clang-format on */

typedef struct pr_duckdb_table {
#define PR_DUCKDB_MEMBER(result, name, arguments) result(*name) arguments;
    PR_DUCKDB(PR_DUCKDB_MEMBER)
#undef PR_DUCKDB_MEMBER
} pr_duckdb_table;

extern pr_duckdb_table pr_duckdb;
extern pr_library pr_duckdb_library;

static inline parsrec_status pr_duckdb_load(parsrec_error *err)
{
    return pr_library_load(&pr_duckdb_library, err);
}

/* A connection with everything switched off that would reach a network. `file` is a database, which is
 * opened for reading only; NULL: none, a database in memory. */
parsrec_status pr_duckdb_open(pr_duckdb_database *database, pr_duckdb_connection *connection,
                              const char *file, const char *name, parsrec_error *err);

/* Runs a statement without a result. */
parsrec_status pr_duckdb_run(pr_duckdb_connection connection, const char *sql, const char *name,
                             parsrec_error *err);

/* A name in double quotes or a text in single ones. */
void pr_duckdb_quote(pr_writer *sql, char quote, const char *text);

/* E_INPUT, or E_STOPPED, with the first line of what DuckDB says: "name: what: why". */
parsrec_status pr_duckdb_fail(const char *name, const char *what, const char *why,
                              parsrec_error *err);

#endif
