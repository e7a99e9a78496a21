/* parsrec compare: several models on the same data, and the report. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/eval_options.h"
#include "cli/terminal.h"

typedef struct compare_args {
    const char *output;
    parsrec_compare_options compare;
    cli_eval_words words;
    bool json;
} compare_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", compare_args, output, "folder for models and reports"),
    CLI_TEXT(0, "models", "LIST", compare_args, compare.models,
             "which models, as pop,personal,x=sasrec:loss=bce,old=@FILE"),
    CLI_TEXT(0, "preset", "NAME", compare_args, compare.preset,
             "paper-small or paper-synthetic: their data, unless DATA is named, and models"),
    CLI_COUNT(0, "epochs", compare_args, compare.epochs, 0, 100000,
              "passes over the data of every model that learns; 0 as its settings say"),
    CLI_COUNT(0, "patience", compare_args, compare.patience, 0, 100000,
              "stop a training after so many epochs without a better validation; 0 never"),
    CLI_COUNT(0, "seed", compare_args, compare.seed, 0, 9223372036854775807.0,
              "of training, and of a preset's data"),
    CLI_FLAG(0, "retrain", compare_args, compare.retrain,
             "make again what DIR holds made with other settings"),
    CLI_TEXT(0, "measure", "NAME", compare_args, compare.measure,
             "that decides who is the best, as HR@10; NDCG at the largest k unless given"),
    CLI_EVAL_OPTIONS(compare_args, compare.eval, words),
    CLI_COUNT(0, "candidate-seed", compare_args, compare.eval.seed, 0, 9223372036854775807.0,
              "of the sampled items, the same for every model"),
    CLI_THREADS(compare_args, compare.eval.threads),
    CLI_FLAG(0, "json", compare_args, json, "print one JSON object a model"),
    CLI_END,
};

const cli_command cli_compare = {
    .name = "compare",
    .summary = "train and evaluate several models alike, with a report",
    .usage = "parsrec compare DATA --models LIST -o DIR [options]",
    .details =
        "An entry of LIST is a kind of model, with settings KIND:key=value:key=value, or a model\n"
        "file; NAME= before it gives it another name. What is missing is trained and kept as\n"
        "DIR/NAME.st. After Ctrl-C, or a kill, the same command goes on where it was. Reports:\n"
        "DIR/report.html, .md, .csv and .json; docs/compare.md tells how to read them.\n",
    .options = options,
    .least_words = 0,
    .most_words = 1,
};

static void on_epoch(void *context, const parsrec_epoch *e)
{
    (void)context;
    if (e->earlier)
        return;
    cli_finish_line();
    fprintf(stderr, "  epoch %3u  loss %.3f  HR@10 %.3f  NDCG@10 %.3f\n", e->number, e->loss,
            e->hit_rate_10, e->ndcg_10);
}

static int print_comparison(const compare_args *a, const parsrec_comparison *comparison)
{
    parsrec_error err = {0};
    char *text;
    parsrec_text_kind kind = a->json                      ? PARSREC_TEXT_JSON_MODELS
                             : isatty(STDOUT_FILENO) != 0 ? PARSREC_TEXT_TERMINAL
                                                          : PARSREC_TEXT_PLAIN;
    if (parsrec_comparison_text(&text, comparison, kind, &err) != PARSREC_OK)
        return cli_report("compare", &err);
    fputs(text, stdout);
    parsrec_text_free(text);
    if (!a->json)
        printf("\n%s/report.html has the charts; report.md, .csv and .json stand beside it\n",
               a->output);
    return cli_close_output("compare");
}

static int compare(const compare_args *a, const char *data_path)
{
    parsrec_error err = {0};
    parsrec_comparison *comparison;
    parsrec_hooks hooks = *cli_hooks();
    hooks.on_epoch = on_epoch;
    parsrec_status status =
        parsrec_compare(&comparison, data_path, a->output, &a->compare, &hooks, &err);
    cli_finish_line();
    if (status != PARSREC_OK)
        return cli_report("compare", &err);
    int rc = print_comparison(a, comparison);
    parsrec_comparison_free(comparison);
    return rc;
}

int cmd_compare(int argc, char **argv)
{
    compare_args a = {.compare = parsrec_compare_default(), .words = cli_eval_default()};
    cli_words words;
    char *command = cli_command_line(argc, argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_compare, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_eval_apply(&cli_compare, &a.compare.eval, &a.words);
    if (rc == CLI_CONTINUE && words.count == 0 && a.compare.preset == NULL)
        rc = cli_usage_error(&cli_compare, "which data set? %s", cli_compare.usage);
    if (rc == CLI_CONTINUE && a.compare.models == NULL && a.compare.preset == NULL)
        rc = cli_usage_error(&cli_compare, "which models? pass --models pop,personal,parsrec");
    if (rc == CLI_CONTINUE && a.output == NULL)
        rc = cli_usage_error(&cli_compare, "nowhere to write; pass -o DIR");
    if (rc == CLI_CONTINUE) {
        a.compare.command = command;
        rc = compare(&a, words.count > 0 ? words.word[0] : NULL);
    }
    parsrec_text_free(command);
    return rc;
}
