/* parsrec: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/passwords.h"
#include "cli/terminal.h"
#include "parsrec.h"

typedef struct entry {
    const cli_command *command;
    int (*run)(int argc, char **argv);
} entry;

static const entry entries[] = {
#define ENTRY(name) {&cli_##name, cmd_##name},
    CLI_COMMANDS(ENTRY)
#undef ENTRY
};
enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

static void print_commands(FILE *out)
{
    fprintf(out,
            "parsrec %s: what comes next in an open basket, and why\n\n"
            "usage: parsrec COMMAND [options]\n\n",
            parsrec_version());
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        fprintf(out, "  %-13s %s\n", entries[i].command->name, entries[i].command->summary);
    fprintf(out,
            "\nparsrec COMMAND --help shows the options of a command. parsrec help TOPIC:\n\n");
    for (const cli_topic *t = cli_topics; t->name != NULL; t++)
        fprintf(out, "  %-13s %s\n", t->name, t->summary);
}

/* NULL, and a message, if there is no such command. `or_topic`: names of topics may be meant too. */
static const entry *find(const char *name, bool or_topic)
{
    pr_suggest near;
    pr_suggest_start(&near, pr_slice_of(name));
    for (const cli_topic *t = cli_topics; or_topic && t->name != NULL; t++)
        pr_suggest_offer(&near, pr_slice_of(t->name));
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (strcmp(entries[i].command->name, name) == 0)
            return &entries[i];
        pr_suggest_offer(&near, pr_slice_of(entries[i].command->name));
    }
    fprintf(stderr, "parsrec: there is no command%s '%s'%s; parsrec --help lists them\n",
            or_topic ? " or topic" : "", name, pr_suggest_sentence(&near));
    return NULL;
}

/* Several processes of a command that does not divide its work would do the same several times and write
 * the same file. */
static bool too_many(const entry *found)
{
    static const cli_command *const divided[] = {
        &cli_train, &cli_eval, &cli_recommend, &cli_explain, &cli_compare, &cli_ablate, &cli_tune};
    bool divides = false;
    for (size_t i = 0; i < sizeof divided / sizeof *divided; i++)
        divides = divides || found->command == divided[i];
    if (divides || parsrec_ranks_launched() == 1)
        return false;
    fprintf(stderr,
            "parsrec: %s works in one process, and a launcher started several; train, eval, "
            "recommend --all, explain, compare, ablate and tune divide their work among ranks\n",
            found->command->name);
    return true;
}

static int help_about(const char *name)
{
    const cli_topic *topic = cli_topic_named(name);
    if (topic != NULL) {
        fputs(topic->text, stdout);
        return cli_close_output("help");
    }
    char help[] = "--help";
    const entry *found = find(name, true);
    return found != NULL ? found->run(2, (char *[]){help, help, NULL}) : CLI_USAGE;
}

/* Standard streams that are closed would have their numbers given to the next files that are opened, and
 * messages would be written into these. What stands in their place fails instead: input cannot be read from
 * it, nor anything be written to it. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* gets number fd */
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    /* A closed pipe or a file-size limit is reported as an error instead of killing the process. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    cli_hide_passwords(argc, argv);
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        if (argc == 3 && strcmp(argv[2], "--man") == 0)
            return cli_print_man_page();
        if (argc == 4 && strcmp(argv[2], "--completion") == 0)
            return cli_print_completion(argv[3]);
        if (argc > 2)
            return help_about(argv[2]);
        print_commands(stdout);
        return cli_close_output("help");
    }
    if (strcmp(name, "--version") == 0) {
        printf("parsrec %s\n", parsrec_version());
        return cli_close_output("--version");
    }
    if (argc < 2) {
        print_commands(stderr);
        return CLI_USAGE;
    }
    const entry *found = find(name, false);
    return found != NULL && !too_many(found) ? found->run(argc - 1, argv + 1) : CLI_USAGE;
}
