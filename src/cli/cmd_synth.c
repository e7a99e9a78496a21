/* parsrec synth: baskets from a known process, with its ground truth. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct synth_args {
    const char *output;
    parsrec_synth_options synth;
    int size_rule, features;
    bool json;
} synth_args;

static const char *const size_rules[] = {"reference", "paper", NULL};
static const parsrec_size_rule size_rule_values[] = {PARSREC_SIZE_REFERENCE, PARSREC_SIZE_PAPER};

static const char *const feature_words[] = {"none", "signal", "noise", "all", NULL};

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DATA", synth_args, output, "write the data set and its truth to DATA"),
    CLI_COUNT(0, "users", synth_args, synth.users, 1, PARSREC_SYNTH_USERS_MOST, "users"),
    CLI_COUNT(0, "sessions", synth_args, synth.sessions, 1, PARSREC_SYNTH_SESSIONS_MOST,
              "sessions of each user"),
    CLI_COUNT(0, "categories", synth_args, synth.categories, 1, PARSREC_SYNTH_CATEGORIES_MOST,
              "categories"),
    CLI_COUNT(0, "products", synth_args, synth.products, 1, PARSREC_SYNTH_PRODUCTS_MOST,
              "products of each category"),
    CLI_CHOICE(0, "size-rule", synth_args, size_rule, size_rules, "how basket sizes are drawn"),
    CLI_TEXT(0, "groups", "FILE", synth_args, synth.groups_path,
             "groups of users with their covariances, as JSON (default: the paper's two)"),
    CLI_FLAG(0, "outside", synth_args, synth.outside,
             "users may buy nothing, and missing items are not replaced"),
    CLI_CHOICE(0, "features", synth_args, features, feature_words,
               "feature columns: informative (signal), uninformative (noise) or both (all)"),
    CLI_TEXT(0, "csv", "FILE", synth_args, synth.csv_path,
             "also write user,session,time,item as CSV; - is stdout"),
    CLI_COUNT(0, "seed", synth_args, synth.seed, 0, 18446744073709551615.0,
              "equal seeds give equal files"),
    CLI_THREADS(synth_args, synth.threads),
    CLI_FLAG(0, "json", synth_args, json, "print the counts as JSON"),
    CLI_END,
};

const cli_command cli_synth = {
    .name = "synth",
    .summary = "generate baskets by a known process, as in the paper's appendix",
    .usage = "parsrec synth -o DATA [options]",
    .details = "docs/synthetic.md describes the process, the groups file and the truth.\n"
               "The paper's scale is --users 8192 --sessions 170.\n",
    .examples = "  parsrec synth -o synthetic.data --users 200\n"
                "  parsrec synth -o small.data --users 50 --csv small.csv\n",
    .options = options,
};

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static void print_report(const synth_args *a, const parsrec_synth_report *r)
{
    pr_digits hold[4];
    if (a->json) {
        printf("{\"users\": %llu, \"sessions\": %llu, \"items\": %llu, \"actions\": %llu, "
               "\"groups\": %llu}\n",
               (unsigned long long)r->users, (unsigned long long)r->sessions,
               (unsigned long long)r->items, (unsigned long long)r->actions,
               (unsigned long long)r->groups);
        return;
    }
    printf("%s: %s users in %llu group%s, %s sessions, %s items, %s actions\n",
           a->output != NULL ? a->output : a->synth.csv_path, pr_digits_of(&hold[0], r->users),
           (unsigned long long)r->groups, r->groups == 1 ? "" : "s",
           pr_digits_of(&hold[1], r->sessions), pr_digits_of(&hold[2], r->items),
           pr_digits_of(&hold[3], r->actions));
}

int cmd_synth(int argc, char **argv)
{
    synth_args a = {.synth = parsrec_synth_default()};
    cli_words words;
    int rc = cli_parse(&cli_synth, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    bool data_on_stdout = is_stdout(a.output) || is_stdout(a.synth.csv_path);
    if (a.output == NULL && a.synth.csv_path == NULL)
        return cli_usage_error(&cli_synth, "nothing to write; pass -o DATA, --csv FILE or both");
    if (data_on_stdout && a.json)
        return cli_usage_error(&cli_synth, "--json and data cannot share standard output");
    a.synth.size_rule = size_rule_values[a.size_rule];
    a.synth.features = (parsrec_synth_features)a.features;
    parsrec_error err = {0};
    parsrec_synth_report report;
    if (parsrec_synth(a.output, &a.synth, &report, cli_hooks(), &err) != PARSREC_OK)
        return cli_report("synth", &err);
    cli_finish_line();
    if (!data_on_stdout)
        print_report(&a, &report);
    return cli_close_output("synth");
}
