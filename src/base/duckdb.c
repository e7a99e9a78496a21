#include "base/duckdb.h"

#include <string.h>

pr_duckdb_table pr_duckdb;

#define SYMBOL(result, name, arguments) "duckdb_" #name,
static const char *const symbols[] = {PR_DUCKDB(SYMBOL) NULL};
static const char *const names[] = {"/usr/local/lib/parsrec/libduckdb.so",
                                    "/usr/lib/parsrec/libduckdb.so", "libduckdb.so",
                                    "libduckdb.so.1", NULL};

pr_library pr_duckdb_library = {
    .purpose = "Parquet files and DuckDB queries",
    .label = "libduckdb",
    .advice =
        "get it from the npm package @duckdb/node-bindings-linux-x64 (docs/import.md) and name its "
        "libduckdb.so in PARSREC_DUCKDB",
    .variable = "PARSREC_DUCKDB",
    .names = names,
    .symbols = symbols,
    .table = &pr_duckdb,
};

parsrec_status pr_duckdb_fail(const char *name, const char *what, const char *why,
                              parsrec_error *err)
{
    size_t length = why != NULL ? strcspn(why, "\n") : 0;
    if (length == 0)
        return pr_fail(err, PARSREC_E_IO, "%s: %s", name, what);
    bool stopped = strncmp(why, "INTERRUPT", strlen("INTERRUPT")) == 0;
    return pr_fail(err, stopped ? PARSREC_E_STOPPED : PARSREC_E_INPUT, "%s: %s: %.*s", name, what,
                   (int)length, why);
}

parsrec_status pr_duckdb_open(pr_duckdb_database *database, pr_duckdb_connection *connection,
                              const char *file, const char *name, parsrec_error *err)
{
    static const char *const settings[][2] = {{"autoinstall_known_extensions", "false"},
                                              {"autoload_known_extensions", "false"}};
    pr_duckdb_config config = NULL;
    char *why = NULL;
    if (pr_duckdb.create_config(&config) != 0)
        return pr_fail_memory(err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        pr_duckdb.set_config(config, settings[i][0],
                             settings[i][1]); /* unknown ones are left out */
    if (file != NULL)
        pr_duckdb.set_config(config, "access_mode", "READ_ONLY");
    int failed = pr_duckdb.open_ext(file, database, config, &why);
    pr_duckdb.destroy_config(&config);
    if (failed != 0) {
        parsrec_status status = pr_duckdb_fail(name, "cannot be opened", why, err);
        pr_duckdb.free(why);
        return status;
    }
    return pr_duckdb.connect(*database, connection) == 0 ? PARSREC_OK : pr_fail_memory(err);
}

void pr_duckdb_quote(pr_writer *sql, char quote, const char *text)
{
    pr_write_bytes(sql, &quote, 1);
    for (; *text != '\0'; text++) {
        if (*text == quote)
            pr_write_bytes(sql, &quote, 1);
        pr_write_bytes(sql, text, 1);
    }
    pr_write_bytes(sql, &quote, 1);
}

parsrec_status pr_duckdb_run(pr_duckdb_connection connection, const char *sql, const char *name,
                             parsrec_error *err)
{
    pr_duckdb_result result = {0};
    parsrec_status status = PARSREC_OK;
    if (pr_duckdb.query(connection, sql, &result) != 0)
        status = pr_duckdb_fail(name, "cannot be read", pr_duckdb.result_error(&result), err);
    pr_duckdb.destroy_result(&result);
    return status;
}
