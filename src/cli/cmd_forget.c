/* parsrec forget: a model file without some users. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct forget_args {
    const char *output;
    cli_strings users;
} forget_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", forget_args, output, "write the model without them to FILE"),
    CLI_LIST('u', "user", "U", forget_args, users, "user to forget; repeatable"),
    CLI_END,
};

const cli_command cli_forget = {
    .name = "forget",
    .summary = "remove users from a model",
    .usage = "parsrec forget MODEL -o MODEL --user U",
    .details =
        "The file that is written does not contain their keys, rows, purchases and features; to "
        "the\n"
        "new model they are unknown users. What was learnt from all users together stays. FILE\n"
        "may be MODEL itself. For events in the store of a server see docs/serve.md.\n",
    .examples = "  parsrec forget shop.model -o smaller.model --user K02\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
    .in_place = true,
};

int cmd_forget(int argc, char **argv)
{
    forget_args a = {0};
    cli_words words;
    parsrec_error err = {0};
    pr_digits count;
    int rc = cli_parse(&cli_forget, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.output == NULL)
        return cli_usage_error(&cli_forget, "no output; pass -o FILE");
    if (a.users.count == 0)
        return cli_usage_error(&cli_forget, "no user to forget; pass --user U");
    cli_stage("reading and writing %s", words.word[0]);
    if (parsrec_model_forget(words.word[0], a.output, a.users.word, a.users.count, &err) !=
        PARSREC_OK)
        return cli_report("forget", &err);
    cli_finish_line();
    printf("%s: written without %s user%s\n", a.output, pr_digits_of(&count, a.users.count),
           a.users.count == 1 ? "" : "s");
    return cli_close_output("forget");
}
