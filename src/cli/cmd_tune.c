/* parsrec tune: a search for better settings, on validation sessions only. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"

typedef struct tune_args {
    const char *output;
    parsrec_tune_options tune;
    cli_strings set;
    cli_split split;
    bool json;
    double peer_time;
    const char *data_path;
} tune_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", tune_args, output, "folder for models, best.conf and reports"),
    CLI_TEXT(0, "model", "KIND", tune_args, tune.model, "kind of model (default: parsrec)"),
    CLI_TEXT(0, "preset", "NAME", tune_args, tune.preset, "settings to start from, as for train"),
    CLI_TEXT(0, "config", "FILE", tune_args, tune.config_path, "the same from a file"),
    CLI_LIST(0, "set", "KEY=VALUES", tune_args, set,
             "values to draw from: a,b,c or low..high or 'low..high(log)'; one value is fixed"),
    CLI_COUNT(0, "trials", tune_args, tune.trials, 1, 10000, "combinations of settings to try"),
    CLI_COUNT(0, "epochs", tune_args, tune.epochs, 0, 100000,
              "epochs of the trials that finish (default: as the settings say)"),
    CLI_COUNT(0, "cut", tune_args, tune.cut, 2, 100,
              "one trial in N advances to the next round, which is N times as long"),
    CLI_TEXT(0, "measure", "NAME", tune_args, tune.measure,
             "validation measure: NDCG@10, HR@10 or Sess-Prec@10 (default: NDCG@10)"),
    CLI_COUNT(0, "seed", tune_args, tune.seed, 0, 9223372036854775807.0,
              "seed of the draws and of every training"),
    CLI_COUNT(0, "jobs", tune_args, tune.jobs, 0, 1024,
              "trainings at the same time (default: as cores and memory allow)"),
    CLI_FLAG(0, "retrain", tune_args, tune.retrain,
             "start again if DIR has trials of another search"),
    CLI_THREADS(tune_args, tune.threads),
    CLI_PEER_TIME(tune_args, peer_time),
    CLI_SPLIT_OPTIONS(tune_args, split),
    CLI_FLAG(0, "json", tune_args, json, "print one JSON object per trial"),
    CLI_END,
};

const cli_command cli_tune = {
    .name = "tune",
    .summary = "search for better settings on validation sessions",
    .usage = "parsrec tune DATA -o DIR [options]",
    .details =
        "Draws settings, trains all of them for a few epochs, and the best of them for more. The\n"
        "first trial has the settings as they are. DIR/best.conf is for parsrec train --config.\n"
        "After Ctrl-C or a kill the same command resumes. Reports:\n"
        "DIR/report.html, .md, .csv, .json and epochs.svg; docs/tune.md has more.\n"
        "mpirun -n 4 parsrec tune ... deals the trials of a round to 4 processes "
        "(docs/scale.md).\n",
    .examples = "  parsrec tune shop.data -o search --trials 4 --epochs 2\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
};

static int print_tuning(const tune_args *a, parsrec_tuning *tuning)
{
    parsrec_error err = {0};
    char *text;
    parsrec_status status = parsrec_tuning_text(
        &text, tuning, a->json ? PARSREC_TEXT_JSON_MODELS : PARSREC_TEXT_PLAIN, &err);
    parsrec_tuning_free(tuning);
    if (status != PARSREC_OK)
        return cli_report("tune", &err);
    fputs(text, stdout);
    parsrec_text_free(text);
    return cli_close_output("tune");
}

static int tune(void *args, parsrec_ranks *ranks)
{
    tune_args *a = args;
    parsrec_error err = {0};
    parsrec_tuning *tuning = NULL;
    parsrec_hooks hooks = cli_compare_hooks();
    bool first = parsrec_ranks_rank(ranks) == 0;
    a->tune.ranks = ranks;
    if (first)
        cli_stage("loading %s", a->data_path);
    parsrec_status status =
        parsrec_tune(&tuning, a->data_path, a->output, &a->tune, first ? &hooks : NULL, &err);
    int rc = cli_end_ranks("tune", ranks, status, &err);
    if (rc == CLI_CONTINUE)
        return print_tuning(a, tuning);
    parsrec_tuning_free(tuning);
    return rc;
}

int cmd_tune(int argc, char **argv)
{
    tune_args a = {.tune = parsrec_tune_default(), .peer_time = CLI_PEER_SECONDS};
    cli_words words;
    char *command = cli_command_line(
        argc, (const char *const *)argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_tune, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = cli_split_apply(&cli_tune, &a.split);
    a.tune.split = a.split.how;
    if (rc == CLI_CONTINUE && a.output == NULL)
        rc = cli_usage_error(&cli_tune, "nowhere to write; pass -o DIR");
    if (rc == CLI_CONTINUE) {
        a.tune.set = a.set.word;
        a.tune.set_count = a.set.count;
        a.tune.command = command;
        a.data_path = words.word[0];
        rc = cli_in_ranks("tune", a.peer_time, tune, &a);
    }
    parsrec_text_free(command);
    return rc;
}
