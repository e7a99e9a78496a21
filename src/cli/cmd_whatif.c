/* parsrec whatif: how sales change when the assortment changes. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "cli/whatif_paper.h"
#include "parsrec.h"

typedef struct whatif_args {
    cli_strings drop, only, add, watch, groups;
    const char *output, *preset;
    int question, estimator, missing;
    parsrec_whatif_options options;
    cli_whatif_paper_options paper;
    bool json;
} whatif_args;

static const char *const questions[] = {"rechoice", "selection", "both", NULL};
#define NAME(id, name) (name),
static const char *const estimators[] = {PARSREC_ESTIMATOR_LIST(NAME) NULL};
static const char *const missing[] = {PARSREC_MISSING_LIST(NAME) NULL};
#undef NAME

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", whatif_args, output, "folder for the reports"),
    CLI_LIST(0, "drop", "THING", whatif_args, drop,
             "remove category=NAME or item=KEY from the shelf"),
    CLI_LIST(0, "only", "THING", whatif_args, only, "leave only this on the shelf"),
    CLI_LIST(0, "add", "item=NEW:like=KEY", whatif_args, add,
             "a new item that the model treats like a known one"),
    CLI_FLAG(0, "each", whatif_args, options.each, "one scenario per --drop"),
    CLI_LIST(0, "group", "GROUP", whatif_args, groups,
             "groups of users: truth, FEATURE=VALUE, NAME=FILE, buyers:CATEGORY, cluster:N, "
             "user:KEY (default: everybody)"),
    CLI_LIST(0, "watch", "THING", whatif_args, watch,
             "report these rows (default: those that change most)"),
    CLI_CHOICE(0, "question", whatif_args, question, questions,
               "rechoice: what buyers take instead; selection: what baskets without it contain, "
               "which is not an effect of dropping it; a preset asks both"),
    CLI_CHOICE(0, "estimator", whatif_args, estimator, estimators, "which estimate is shown"),
    CLI_CHOICE(0, "missing", whatif_args, missing, missing,
               "if a whole category is gone: buyers take something else, or leave its place empty"),
    CLI_FLAG(0, "raw", whatif_args, options.raw,
             "model estimates without calibration to past sales"),
    CLI_COUNT(0, "level", whatif_args, options.level, 0, 32,
              "depth of the categories in the rows, 1 at the top (default: the deepest)"),
    CLI_COUNT(0, "draws", whatif_args, options.draws, 0, 100000,
              "baskets drawn per user (default: about 40,000 in all)"),
    CLI_REAL(0, "interval", whatif_args, options.interval, 0.01, 0.999,
             "confidence level of the intervals"),
    CLI_COUNT(0, "resamples", whatif_args, options.resamples, 20, 1e6,
              "bootstrap draws of users and models for the intervals"),
    CLI_COUNT(0, "truth-sets", whatif_args, options.truth_sets, 0, 1e6,
              "synthetic data: test sets drawn again from the truth"),
    CLI_TEXT(0, "preset", "paper", whatif_args, preset,
             "the paper's scenario, with its own data and models; its options:"),
    CLI_COUNT(0, "users", whatif_args, paper.users, 3, PARSREC_SYNTH_USERS_MOST,
              "preset: users to synthesise"),
    CLI_COUNT(0, "sessions", whatif_args, paper.sessions, 3, PARSREC_SYNTH_SESSIONS_MOST,
              "preset: sessions of each user"),
    CLI_FLAG(0, "outside", whatif_args, paper.outside, "preset: as synth --outside"),
    CLI_COUNT(0, "models", whatif_args, paper.models, 1, 20, "preset: models to train"),
    CLI_COUNT(0, "epochs", whatif_args, paper.epochs, 1, 100000, "preset: epochs of each"),
    CLI_COUNT(0, "seed", whatif_args, options.seed, 0, 9223372036854775807.0,
              "seed of the draws, and of a preset's data and models"),
    CLI_THREADS(whatif_args, options.threads),
    CLI_FLAG(0, "json", whatif_args, json, "print the rows as JSON"),
    CLI_END,
};

const cli_command cli_whatif = {
    .name = "whatif",
    .summary = "estimate how sales change when the assortment changes",
    .usage = "parsrec whatif MODEL... DATA --drop category=NAME [-o DIR] [options]",
    .details =
        "Estimates what the same shoppers would buy instead, in units per basket, with rows for\n"
        "what is dropped and for the total, and revenue if items have prices. With several models\n"
        "of the same data the intervals include the randomness of training.\n"
        "Reports: DIR/report.html, .csv, .json and a chart for each question and group. With\n"
        "--preset paper no MODEL and no DATA are given: both are made in DIR, and the same "
        "command\n"
        "resumes after a stop. docs/whatif.md explains the two questions and how far to trust the\n"
        "answers.\n",
    .examples = "  parsrec whatif shop.model shop.data --drop category=BAKERY -o answer\n"
                "  parsrec whatif shop.model shop.data --drop \"item=Coffee beans\" --json\n",
    .options = options,
    .least_words = 0,
    .most_words = 64,
};

/* ---- files ---- */

enum { MODELS_MOST = 63 };

typedef struct shop {
    parsrec_model *models[MODELS_MOST];
    size_t count;
    parsrec_data *data;
} shop;

static parsrec_status ask(parsrec_whatif_answer **answer, whatif_args *a, const cli_words *words,
                          parsrec_error *err)
{
    const parsrec_hooks *hooks = cli_hooks();
    if (a->preset != NULL)
        return cli_whatif_paper(answer, a->output, &a->paper, &a->options, hooks, err);
    if (a->output != NULL)
        PR_TRY(pr_folder_check(a->output, err));
    shop s = {0};
    const char *data_path = words->word[words->count - 1];
    parsrec_status status = PARSREC_OK;
    for (; s.count + 1 < words->count && status == PARSREC_OK; s.count++)
        status = parsrec_model_load(&s.models[s.count], words->word[s.count], err);
    if (status == PARSREC_OK)
        status = cli_load_second(&s.data, data_path, "whatif", err);
    a->options.data_name = data_path;
    if (status == PARSREC_OK)
        status = parsrec_whatif(answer, (const parsrec_model *const *)s.models, s.count, s.data,
                                &a->options, hooks, err);
    for (size_t i = 0; i < s.count; i++)
        parsrec_model_free(s.models[i]);
    parsrec_data_free(s.data);
    return status;
}

static int print_answer(const whatif_args *a, const parsrec_whatif_answer *answer)
{
    parsrec_error err = {0};
    char *text;
    if (a->output != NULL && parsrec_whatif_save(answer, a->output, &err) != PARSREC_OK)
        return cli_report("whatif", &err);
    if (parsrec_whatif_text(&text, answer, a->json ? PARSREC_TEXT_JSON_MODELS : PARSREC_TEXT_PLAIN,
                            &err) != PARSREC_OK)
        return cli_report("whatif", &err);
    if (a->json)
        fputs(text, stdout);
    else
        cli_print_text(text);
    parsrec_text_free(text);
    if (!a->json && a->output != NULL)
        printf("\n%s/report.html has the charts; report.csv and .json are next to it\n", a->output);
    return cli_close_output("whatif");
}

/* ---- words ---- */

static void apply(whatif_args *a)
{
    parsrec_whatif_options *o = &a->options;
    o->drop = a->drop.word;
    o->drop_count = a->drop.count;
    o->only = a->only.word;
    o->only_count = a->only.count;
    o->add = a->add.word;
    o->add_count = a->add.count;
    o->watch = a->watch.word;
    o->watch_count = a->watch.count;
    o->groups = a->groups.word;
    o->group_count = a->groups.count;
    o->selection = a->question != 0 || a->preset != NULL;
    o->rechoice = a->question != 1;
    o->estimator = (parsrec_estimator)a->estimator;
    o->missing = (parsrec_missing)a->missing;
    a->paper.seed = o->seed;
}

static int check(const whatif_args *a, const cli_words *words)
{
    if (a->preset != NULL && strcmp(a->preset, "paper") != 0)
        return cli_usage_error(&cli_whatif, "there is no preset '%s'; there is: paper", a->preset);
    if (a->preset != NULL && words->count > 0)
        return cli_usage_error(&cli_whatif, "--preset paper makes its own data and models");
    if (a->preset != NULL && a->output == NULL)
        return cli_usage_error(&cli_whatif, "no folder for data and models; pass -o DIR");
    if (a->preset == NULL && words->count < 2)
        return cli_usage_error(&cli_whatif, "which model and which data? %s", cli_whatif.usage);
    if (a->preset == NULL && a->drop.count + a->only.count + a->add.count == 0)
        return cli_usage_error(&cli_whatif,
                               "nothing changes; pass --drop category=NAME, --only or --add");
    return CLI_CONTINUE;
}

int cmd_whatif(int argc, char **argv)
{
    whatif_args a = {.options = parsrec_whatif_default(), .paper = cli_whatif_paper_default()};
    cli_words words;
    parsrec_error err = {0};
    parsrec_whatif_answer *answer = NULL;
    char *command = cli_command_line(
        argc, (const char *const *)argv); /* before words are sorted to the front */
    int rc = cli_parse(&cli_whatif, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = check(&a, &words);
    if (rc == CLI_CONTINUE) {
        apply(&a);
        a.options.command = command;
        parsrec_status status = ask(&answer, &a, &words, &err);
        cli_finish_line();
        rc = status == PARSREC_OK ? print_answer(&a, answer) : cli_report("whatif", &err);
    }
    parsrec_whatif_free(answer);
    parsrec_text_free(command);
    return rc;
}
