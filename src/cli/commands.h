/* The commands: one file and one line each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

#define CLI_COMMANDS(X) \
    X(synth)            \
    X(import)           \
    X(info)             \
    X(list)             \
    X(check)            \
    X(train)            \
    X(recommend)        \
    X(eval)             \
    X(compare)          \
    X(ablate)           \
    X(tune)             \
    X(explain)          \
    X(whatif)           \
    X(serve)            \
    X(forget)           \
    X(export)           \
    X(export_events)    \
    X(fold_events)      \
    X(bench)            \
    X(size)             \
    X(doctor)

#define CLI_DECLARE(name)                \
    extern const cli_command cli_##name; \
    int cmd_##name(int argc, char **argv);
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

/* topics.c: pages about what several commands have in common; the table ends with a NULL name. */
typedef struct cli_topic {
    const char *name, *summary, *text;
} cli_topic;
extern const cli_topic cli_topics[];
const cli_topic *cli_topic_named(const char *name); /* or NULL */

/* manual.c: the man page and the completions for a shell, made from the tables of all commands. Return
 * the exit status. */
int cli_print_man_page(void);
int cli_print_completion(const char *shell);

#endif
