/* Command-line options as tables.
 *
 * A command has a struct of arguments with defaults, a table of cli_option that says which option sets
 * which field, of what kind and in what range, and a cli_command with usage, details and examples. All
 * else is derived from these tables: cli_parse fills the struct, --help shows the true defaults,
 * `parsrec help --man` prints the man page and `parsrec help --completion SHELL` the completions. So an
 * option is described in one place. Tests compare the committed man page and completions with what the
 * program prints, and run the examples.
 *
 * An option takes its value as the next word or after '='; a letter may have it attached. Values are
 * checked when they are parsed, and the message names the range, so that commands need no checks of
 * their own; an output that names a file among the inputs is refused. What one table cannot express, such as two options that exclude each other, the command
 * checks after cli_parse and reports with cli_usage_error.
 *
 * The life of a command: main.c finds it in commands.h and calls cmd_NAME; this calls cli_parse, then
 * the library with cli_hooks() for progress (terminal.h), then prints the result (output.h) and returns
 * cli_close_output, or cli_report for an error. Exit status: 0 done, 1 failed, 2 wrong usage. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_kind {
    CLI_KIND_END,
    CLI_KIND_FLAG,     /* bool */
    CLI_KIND_TEXT,     /* const char * */
    CLI_KIND_ADDRESS,  /* the same, with the passwords that it may have */
    CLI_KIND_COUNT,    /* uint64_t in [low, high] */
    CLI_KIND_OPTIONAL, /* the same, only after '='; without a value it is 0 */
    CLI_KIND_THREADS,  /* unsigned in [low, high] */
    CLI_KIND_REAL,     /* double in [low, high] */
    CLI_KIND_DURATION, /* int64_t seconds, from "30m" */
    CLI_KIND_BYTES,    /* uint64_t bytes, from "8G" */
    CLI_KIND_CHOICE,   /* int: index into a NULL-terminated list of words */
    CLI_KIND_LIST,     /* cli_strings: the option may be repeated */
} cli_kind;

typedef struct cli_option {
    cli_kind kind;
    char letter; /* 0: none */
    const char *name;
    const char *argument; /* as shown in --help: FILE, N, COL */
    size_t offset;        /* of the field in the command's struct */
    double low, high;
    const char *const *choices;
    const char *help;
} cli_option;

enum { CLI_LIST_MOST = 64 };

typedef struct cli_strings {
    const char *word[CLI_LIST_MOST];
    size_t count;
} cli_strings;

#define CLI_FLAG(letter, name, type, field, help)                                  \
    {                                                                              \
        CLI_KIND_FLAG, letter, name, NULL, offsetof(type, field), 0, 0, NULL, help \
    }
#define CLI_TEXT(letter, name, argument, type, field, help)                            \
    {                                                                                  \
        CLI_KIND_TEXT, letter, name, argument, offsetof(type, field), 0, 0, NULL, help \
    }
/* A text that may be the address of a database. In all others, and in all messages, passwords are stars. */
#define CLI_ADDRESS(name, argument, type, field, help)                               \
    {                                                                                \
        CLI_KIND_ADDRESS, 0, name, argument, offsetof(type, field), 0, 0, NULL, help \
    }
#define CLI_LIST(letter, name, argument, type, field, help)                            \
    {                                                                                  \
        CLI_KIND_LIST, letter, name, argument, offsetof(type, field), 0, 0, NULL, help \
    }
#define CLI_COUNT(letter, name, type, field, low, high, help)                           \
    {                                                                                   \
        CLI_KIND_COUNT, letter, name, "N", offsetof(type, field), low, high, NULL, help \
    }
#define CLI_OPTIONAL(letter, name, type, field, low, high, help)                            \
    {                                                                                       \
        CLI_KIND_OPTIONAL, letter, name, NULL, offsetof(type, field), low, high, NULL, help \
    }
#define CLI_THREADS(type, field)                                                   \
    {                                                                              \
        CLI_KIND_THREADS, 0, "threads", "N", offsetof(type, field), 0, 1024, NULL, \
            "worker threads (default: one per core); results do not depend on it"  \
    }
#define CLI_REAL(letter, name, type, field, low, high, help)                           \
    {                                                                                  \
        CLI_KIND_REAL, letter, name, "X", offsetof(type, field), low, high, NULL, help \
    }
#define CLI_DURATION(letter, name, type, field, help)                                    \
    {                                                                                    \
        CLI_KIND_DURATION, letter, name, "TIME", offsetof(type, field), 0, 0, NULL, help \
    }
#define CLI_BYTES(letter, name, type, field, help)                                    \
    {                                                                                 \
        CLI_KIND_BYTES, letter, name, "SIZE", offsetof(type, field), 0, 0, NULL, help \
    }
#define CLI_CHOICE(letter, name, type, field, choices, help)                            \
    {                                                                                   \
        CLI_KIND_CHOICE, letter, name, NULL, offsetof(type, field), 0, 0, choices, help \
    }
/* Of every command that opens the store of a server. */
#define CLI_STORE_FILE(type, field)                \
    CLI_TEXT(0, "store-file", "FILE", type, field, \
             "file whose first line is the store: keeps a password off the command line")
#define CLI_END                                          \
    {                                                    \
        CLI_KIND_END, 0, NULL, NULL, 0, 0, 0, NULL, NULL \
    }

/* Words that are not options, in order; they point into argv. */
typedef struct cli_words {
    const char *const *word;
    size_t count;
} cli_words;

typedef struct cli_command {
    const char *name;     /* "import" */
    const char *summary;  /* one line for the list of commands */
    const char *usage;    /* "parsrec import -o DATA INPUT... [options]" */
    const char *details;  /* shown under the options; may be NULL */
    const char *examples; /* one command per line, indented by two spaces; a test runs them */
    const cli_option *options;
    size_t least_words, most_words;
    bool in_place;  /* its output may be its input */
    bool addresses; /* its words may be addresses of databases */
} cli_command;

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_CONTINUE = -1 };

/* Fills `fields` (which holds the defaults) from argv[1..]. Returns CLI_CONTINUE if the command should
 * run; otherwise help or a message was printed, and the value is the exit status. Moves argv's words to
 * the front, as getopt does. */
int cli_parse(const cli_command *command, void *fields, cli_words *words, int argc, char **argv);

/* From now on --help prints a section of the man page. */
void cli_help_as_manual(void);
/* Text for roff, with its special characters escaped; lines that are indented stay as they are. */
void cli_print_roff(const char *text);

/* Prints a message about wrong usage of a command; returns CLI_USAGE. */
int cli_usage_error(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
