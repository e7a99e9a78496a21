/* docs/man/parsrec.1 and the completions in contrib/completions, from the tables of all commands:
 *   parsrec help --man | parsrec help --completion bash|zsh|fish */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"

static const cli_command *const commands[] = {
#define COMMAND(name) &cli_##name,
    CLI_COMMANDS(COMMAND)
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* ---- the man page ---- */

static const char before[] =
    ".SH NAME\n"
    "parsrec \\- what comes next in an open basket, and why\n"
    ".SH SYNOPSIS\n"
    ".B parsrec\n"
    ".I COMMAND\n"
    ".RI [ options ]\n"
    ".SH DESCRIPTION\n"
    ".B parsrec\n"
    "turns tables of who bought what, and when, into data sets, makes synthetic data sets whose\n"
    "truth is known, trains models of them, evaluates, compares and explains these, and serves\n"
    "recommendations.\n"
    "Results go to standard output, progress and messages to standard error.\n"
    "A file named\n"
    ".B \\-\n"
    "is standard input or output.\n"
    "Files are written completely or not at all.\n"
    ".PP\n"
    "Each command shows its options with\n"
    ".BR \\-\\-help .\n"
    "Values in brackets are defaults.\n"
    ".SH COMMANDS\n";

static const char after[] =
    ".SS help\n"
    "shows the commands and topics, the options of a command, or the page of a topic\n"
    ".PP\n"
    ".B parsrec help [COMMAND|TOPIC]\n"
    ".TP\n"
    ".B \\-\\-man\n"
    "print this page\n"
    ".TP\n"
    ".B \\-\\-completion \\fRbash|zsh|fish\n"
    "print a script that completes commands and options in that shell\n";

static const char status_and_more[] =
    ".SH EXIT STATUS\n"
    ".TP\n"
    ".B 0\n"
    "done.\n"
    ".TP\n"
    ".B 1\n"
    "failed, or stopped before the end; standard error has one sentence that says what, where and\n"
    "what to do.\n"
    ".TP\n"
    ".B 2\n"
    "wrong usage.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B PARSREC_PROGRESS\n"
    "off: show no progress on standard error; all: show every report of progress at once.\n"
    ".SH SEE ALSO\n"
    "The files under\n"
    ".I docs\n"
    "in the source: import.md, synthetic.md, training.md, models.md, evaluation.md, compare.md,\n"
    "ablate.md, tune.md, explanations.md, whatif.md, recommend.md, serve.md, format.md.\n";

/* As it stands: a topic's page has columns. */
static void print_topic(const cli_topic *topic)
{
    printf(".SH \"ABOUT %s\"\n.nf\n", topic->name);
    for (const char *c = topic->text; *c != '\0'; c++) {
        bool first = c == topic->text || c[-1] == '\n';
        fputs(*c == '\\'                           ? "\\e"
              : *c == '-'                          ? "\\-"
              : first && (*c == '.' || *c == '\'') ? "\\&"
                                                   : "",
              stdout);
        if (*c != '\\' && *c != '-')
            putchar(*c);
    }
    printf(".fi\n");
}

int cli_print_man_page(void)
{
    static int (*const run[])(int, char **) = {
#define RUN(name) cmd_##name,
        CLI_COMMANDS(RUN)
#undef RUN
    };
    char help[] = "--help";
    printf(".TH PARSREC 1 2026-11-17 \"parsrec %s\" \"User Commands\"\n", parsrec_version());
    fputs(before, stdout);
    cli_help_as_manual();
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        run[i](2, (char *[]){help, help, NULL}); /* the command knows its defaults */
    fputs(after, stdout);
    for (const cli_topic *t = cli_topics; t->name != NULL; t++)
        print_topic(t);
    fputs(status_and_more, stdout);
    return cli_close_output("help");
}

/* ---- completions ---- */

static bool takes_file(const cli_option *o)
{
    return o->argument != NULL &&
           (strstr(o->argument, "FILE") != NULL || strstr(o->argument, "DIR") != NULL ||
            strstr(o->argument, "DATA") != NULL);
}

static void print_choices(const cli_option *o)
{
    for (size_t c = 0; o->choices[c] != NULL; c++)
        printf("%s%s", c > 0 ? " " : "", o->choices[c]);
}

static void print_topic_names(void)
{
    for (const cli_topic *t = cli_topics; t->name != NULL; t++)
        printf("%s%s", t > cli_topics ? " " : "", t->name);
}

static void print_bash(void)
{
    printf("_parsrec() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} list=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        list=\"");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("%s ", commands[i]->name);
    printf("help\"\n"
           "    else\n"
           "        case \"${COMP_WORDS[1]} $before\" in\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        for (const cli_option *o = commands[i]->options; o->kind != CLI_KIND_END; o++) {
            if (o->kind != CLI_KIND_CHOICE)
                continue;
            printf("        \"%s --%s\") list=\"", commands[i]->name, o->name);
            print_choices(o);
            printf("\" ;;\n");
        }
    printf("        *)\n"
           "            case \"${COMP_WORDS[1]} $word\" in\n");
    printf("            \"help \"*) list=\"");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("%s ", commands[i]->name);
    print_topic_names();
    printf("\" ;;\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("            \"%s -\"*) list=\"", commands[i]->name);
        for (const cli_option *o = commands[i]->options; o->kind != CLI_KIND_END; o++)
            printf("--%s ", o->name);
        printf("--help\" ;;\n");
    }
    printf("            esac ;;\n"
           "        esac\n"
           "    fi\n"
           "    [ -z \"$list\" ] || mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")\n"
           "}\n"
           "complete -o default -F _parsrec parsrec\n");
}

/* Text inside single quotes; `special` are characters that need a backslash. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf("%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
}

static void print_zsh(void)
{
    printf("_parsrec() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("        '%s:", commands[i]->name);
        print_quoted(commands[i]->summary, ":");
        printf("'\n");
    }
    printf("        'help:show the commands, the options of one, or a topic'\n"
           "    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n"
           "    help)\n"
           "        (( CURRENT == 2 )) && { _describe command commands; compadd ");
    print_topic_names();
    printf("; } ;;\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("    %s)\n        _arguments", commands[i]->name);
        for (const cli_option *o = commands[i]->options; o->kind != CLI_KIND_END; o++) {
            const char *again = o->kind == CLI_KIND_LIST ? "*" : "";
            if (o->letter != 0)
                printf(" \\\n            '%s-%c[", again, o->letter);
            for (int name = o->letter != 0 ? 0 : 1; name < 2; name++) {
                if (name == 1)
                    printf(" \\\n            '%s--%s[", again, o->name);
                print_quoted(o->help, "[]:");
                putchar(']');
                if (o->kind == CLI_KIND_CHOICE) {
                    printf(":choice:(");
                    print_choices(o);
                    putchar(')');
                } else if (o->argument != NULL) {
                    putchar(':');
                    print_quoted(o->argument, "[]:");
                    putchar(':');
                    fputs(takes_file(o) ? "_files" : " ", stdout);
                }
                putchar('\'');
            }
        }
        printf(" \\\n            '--help[show help]' \\\n            '*:file:_files' ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "_parsrec \"$@\"\n");
}

static void print_fish(void)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const char *name = commands[i]->name;
        printf("complete -c parsrec -n __fish_use_subcommand -f -a %s -d '", name);
        print_quoted(commands[i]->summary, "\\");
        printf("'\n");
        for (const cli_option *o = commands[i]->options; o->kind != CLI_KIND_END; o++) {
            printf("complete -c parsrec -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
            if (o->letter != 0)
                printf(" -s %c", o->letter);
            if (o->kind == CLI_KIND_CHOICE) {
                printf(" -x -a '");
                print_choices(o);
                putchar('\'');
            } else if (o->kind != CLI_KIND_FLAG && o->kind != CLI_KIND_OPTIONAL) {
                fputs(takes_file(o) ? " -r" : " -x", stdout);
            }
            fputs(" -d '", stdout);
            print_quoted(o->help, "\\");
            printf("'\n");
        }
        printf(
            "complete -c parsrec -n '__fish_seen_subcommand_from %s' -s h -l help -d 'show help'\n",
            name);
    }
    printf("complete -c parsrec -n __fish_use_subcommand -f -a help"
           " -d 'show the commands, the options of one, or a topic'\n"
           "complete -c parsrec -n '__fish_seen_subcommand_from help' -f -a '");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("%s ", commands[i]->name);
    print_topic_names();
    printf("'\n");
}

int cli_print_completion(const char *shell)
{
    static const struct {
        const char *name, *first;
        void (*print)(void);
    } shells[] = {{"bash", "#", print_bash},
                  {"zsh", "#compdef parsrec\n#", print_zsh},
                  {"fish", "#", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            printf("%s %s completion, printed by: parsrec help --completion %s\n", shells[i].first,
                   shell, shell);
            shells[i].print();
            return cli_close_output("help");
        }
    fprintf(stderr, "parsrec help: no completion for '%s'; there are bash, zsh and fish\n", shell);
    return CLI_USAGE;
}
