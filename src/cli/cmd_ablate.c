/* parsrec ablate: a model with one part changed at a time, and the report. */
#include <stddef.h>

#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"

typedef struct ablate_args {
    const char *output;
    parsrec_ablate_options ablate;
    cli_strings row;
    cli_eval_words words;
    cli_split split;
    bool json;
    double peer_time;
    const char *data_path;
} ablate_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", ablate_args, output, "folder for models and reports"),
    CLI_TEXT(0, "preset", "NAME", ablate_args, ablate.preset,
             "rows: paper, parts (of the default settings), or all of them"),
    CLI_TEXT(0, "rows", "LIST", ablate_args, ablate.rows,
             "only these rows, such as remove-ln,no-kin"),
    CLI_LIST(0, "row", "NAME:KEY=VALUE", ablate_args, row,
             "a row of your own; add settings as :KEY=VALUE; repeatable"),
    CLI_TEXT(0, "base", "KIND:KEY=VALUE", ablate_args, ablate.base,
             "base settings that rows change (default: the preset's)"),
    CLI_COMPARE_OPTIONS(ablate_args, ablate.how),
    CLI_EVAL_OPTIONS(ablate_args, ablate.how.eval, words),
    CLI_COUNT(0, "candidate-seed", ablate_args, ablate.how.eval.seed, 0, 9223372036854775807.0,
              "seed of the sampled items, the same for every row"),
    CLI_THREADS(ablate_args, ablate.how.eval.threads),
    CLI_PEER_TIME(ablate_args, peer_time),
    CLI_SPLIT_OPTIONS(ablate_args, split),
    CLI_FLAG(0, "json", ablate_args, json, "print one JSON object per row"),
    CLI_END,
};

const cli_command cli_ablate = {
    .name = "ablate",
    .summary = "change one part of a model at a time, with a report",
    .usage = "parsrec ablate DATA -o DIR [options]",
    .details =
        "A row is a name and settings on top of a base. What is missing is trained and kept as\n"
        "DIR/NAME.st, further seeds as DIR/NAME.seedN.st. After Ctrl-C or a kill the same\n"
        "command resumes. Reports: DIR/report.html, .md, .csv and .json, with several seeds\n"
        "after each of them; docs/ablate.md lists the rows.\n"
        "mpirun -n 4 parsrec ablate ... deals trainings and baskets to 4 processes\n"
        "(docs/scale.md).\n",
    .examples = "  parsrec ablate shop.data -o ablation --preset paper --epochs 2\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
};

static int ablate(void *args, parsrec_ranks *ranks)
{
    ablate_args *a = args;
    parsrec_error err = {0};
    parsrec_comparison *comparison = NULL;
    parsrec_hooks hooks = cli_compare_hooks();
    bool first = parsrec_ranks_rank(ranks) == 0;
    a->ablate.how.eval.ranks = ranks;
    if (a->data_path != NULL && first)
        cli_stage("loading %s", a->data_path);
    parsrec_status status = parsrec_ablate(&comparison, a->data_path, a->output, &a->ablate,
                                           first ? &hooks : NULL, &err);
    return cli_finish_comparison("ablate", ranks, status, comparison, a->output, a->json, &err);
}

int cmd_ablate(int argc, char **argv)
{
    ablate_args a = {.ablate = parsrec_ablate_default(),
                     .words = cli_eval_default(),
                     .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    char *command = cli_command_line(
        argc, (const char *const *)argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_ablate, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_eval_apply(&cli_ablate, &a.ablate.how.eval, &a.words);
    if (rc == CLI_CONTINUE)
        rc = cli_split_apply(&cli_ablate, &a.split);
    a.ablate.how.split = a.split.how;
    if (rc == CLI_CONTINUE && a.output == NULL)
        rc = cli_usage_error(&cli_ablate, "nowhere to write; pass -o DIR");
    if (rc == CLI_CONTINUE) {
        a.ablate.row = a.row.word;
        a.ablate.row_count = a.row.count;
        a.ablate.how.command = command;
        a.data_path = words.word[0];
        rc = cli_in_ranks("ablate", a.peer_time, ablate, &a);
    }
    parsrec_text_free(command);
    return rc;
}
