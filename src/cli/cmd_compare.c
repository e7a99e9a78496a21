/* parsrec compare: several models on the same data, and the report. */
#include <stddef.h>

#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"

typedef struct compare_args {
    const char *output;
    parsrec_compare_options compare;
    cli_eval_words words;
    cli_split split;
    bool json;
    double peer_time;
    const char *data_path;
    parsrec_eval_options others[PARSREC_PROTOCOLS];
} compare_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", compare_args, output, "folder for models and reports"),
    CLI_TEXT(0, "models", "LIST", compare_args, compare.models,
             "models, such as pop,personal,x=sasrec:loss=bce,old=@FILE"),
    CLI_TEXT(0, "preset", "NAME", compare_args, compare.preset,
             "paper-small or paper-synthetic: its models, and its data unless DATA is given"),
    CLI_COMPARE_OPTIONS(compare_args, compare),
    CLI_EVAL_OPTIONS(compare_args, compare.eval, words),
    CLI_COUNT(0, "candidate-seed", compare_args, compare.eval.seed, 0, 9223372036854775807.0,
              "seed of the sampled items, the same for every model"),
    CLI_THREADS(compare_args, compare.eval.threads),
    CLI_PEER_TIME(compare_args, peer_time),
    CLI_SPLIT_OPTIONS(compare_args, split),
    CLI_FLAG(0, "only-listed", compare_args, compare.only_listed,
             "do not add personal, recent, markov and mix"),
    CLI_FLAG(0, "json", compare_args, json, "print one JSON object per model"),
    CLI_END,
};

const cli_command cli_compare = {
    .name = "compare",
    .summary = "train and evaluate several models in the same way, with a report",
    .usage = "parsrec compare DATA --models LIST -o DIR [options]",
    .details =
        "An entry of LIST is a kind of model, with settings KIND:key=value:key=value, or a model\n"
        "file; NAME= before it gives it another name; counts, neighbours, basket, sequence and\n"
        "field are groups of kinds. What is missing is trained and kept as\n"
        "DIR/NAME.st. After Ctrl-C or a kill the same command resumes. Reports:\n"
        "DIR/report.html, .md, .csv and .json; docs/compare.md explains how to read them.\n"
        "mpirun -n 4 parsrec compare ... deals trainings and baskets to 4 processes\n"
        "(docs/scale.md).\n",
    .examples = "  parsrec compare shop.data --models pop,personal,markov,parsrec -o comparison\n",
    .options = options,
    .least_words = 0,
    .most_words = 1,
};

static int compare(void *args, parsrec_ranks *ranks)
{
    compare_args *a = args;
    parsrec_error err = {0};
    parsrec_comparison *comparison = NULL;
    parsrec_hooks hooks = cli_compare_hooks();
    bool first = parsrec_ranks_rank(ranks) == 0;
    a->compare.eval.ranks = ranks;
    for (size_t i = 0; i < a->compare.other_count; i++)
        a->others[i].ranks = ranks;
    if (a->data_path != NULL && first)
        cli_stage("loading %s", a->data_path);
    parsrec_status status = parsrec_compare(&comparison, a->data_path, a->output, &a->compare,
                                            first ? &hooks : NULL, &err);
    return cli_finish_comparison("compare", ranks, status, comparison, a->output, a->json, &err);
}

int cmd_compare(int argc, char **argv)
{
    compare_args a = {.compare = parsrec_compare_default(),
                      .words = cli_eval_default(),
                      .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    char *command = cli_command_line(
        argc, (const char *const *)argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_compare, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_eval_apply(&cli_compare, &a.compare.eval, &a.words);
    if (rc == CLI_CONTINUE)
        rc = cli_split_apply(&cli_compare, &a.split);
    a.compare.split = a.split.how;
    if (rc == CLI_CONTINUE && words.count == 0 && a.compare.preset == NULL)
        rc = cli_usage_error(&cli_compare, "which data set? %s", cli_compare.usage);
    if (rc == CLI_CONTINUE && a.compare.models == NULL && a.compare.preset == NULL)
        rc = cli_usage_error(&cli_compare, "which models? pass --models pop,personal,parsrec");
    if (rc == CLI_CONTINUE && a.output == NULL)
        rc = cli_usage_error(&cli_compare, "nowhere to write; pass -o DIR");
    for (size_t p = 1; p < PARSREC_PROTOCOLS && a.words.protocol == 0; p++)
        a.others[a.compare.other_count++] =
            cli_eval_for(&a.compare.eval, &a.words, (parsrec_protocol)p);
    a.compare.others = a.others;
    if (rc == CLI_CONTINUE) {
        a.compare.command = command;
        a.data_path = words.count > 0 ? words.word[0] : NULL;
        rc = cli_in_ranks("compare", a.peer_time, compare, &a);
    }
    parsrec_text_free(command);
    return rc;
}
