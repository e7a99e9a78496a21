/* parsrec export: a data set, or a table that another command wrote, for other programs. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct export_args {
    const char *output;
} export_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", export_args, output,
             "write the table to FILE: .csv, .parquet, or - for CSV on standard output"),
    CLI_END,
};

const cli_command cli_export = {
    .name = "export",
    .summary = "write a data set or a table as CSV or Parquet",
    .usage = "parsrec export INPUT -o FILE",
    .details =
        "INPUT is a data set, whose actions are written as user, session, time and item, in a\n"
        "form that import reads; or a table of another command (.csv of explain and whatif,\n"
        ".jsonl of recommend), which becomes Parquet. Parquet needs DuckDB: docs/import.md.\n",
    .examples = "  parsrec export shop.data -o actions.csv\n"
                "  parsrec export shop.data -o -\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
};

int cmd_export(int argc, char **argv)
{
    export_args a = {0};
    cli_words words;
    parsrec_error err = {0};
    int rc = cli_parse(&cli_export, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.output == NULL)
        return cli_usage_error(&cli_export, "no output; pass -o FILE");
    cli_stage("exporting %s", words.word[0]);
    parsrec_status status = parsrec_export(words.word[0], a.output, cli_hooks(), &err);
    cli_finish_line();
    return status == PARSREC_OK ? cli_close_output("export") : cli_report("export", &err);
}
