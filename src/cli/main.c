/* parsrec: finds the command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
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
        fprintf(out, "  %-10s %s\n", entries[i].command->name, entries[i].command->summary);
    fprintf(out, "\nparsrec COMMAND --help shows the options of a command.\n");
}

int main(int argc, char **argv)
{
    /* A closed pipe or a file-size limit is an error to report, not a reason to vanish. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_commands(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("parsrec %s\n", parsrec_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (strcmp(entries[i].command->name, name) == 0)
            return entries[i].run(argc - 1, argv + 1);
    if (argc > 1)
        fprintf(stderr, "parsrec: there is no command '%s'; parsrec --help lists them\n", name);
    else
        print_commands(stderr);
    return CLI_USAGE;
}
