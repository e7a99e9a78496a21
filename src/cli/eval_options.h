/* The options by which models are judged, the same for every command that judges. */
#ifndef CLI_EVAL_OPTIONS_H
#define CLI_EVAL_OPTIONS_H

#include "cli/options.h"
#include "parsrec.h"

enum { CLI_PROTOCOLS = 3 };

/* What is typed and has to be read before it is an option of the library. */
typedef struct cli_eval_words {
    int split;
    int protocol;       /* 0: all of them; else one more than a parsrec_protocol */
    uint64_t negatives; /* 0: not typed */
    const char *k, *candidates;
    bool full;
} cli_eval_words;

cli_eval_words cli_eval_default(void);

extern const char *const cli_splits[], *const cli_protocols[];

/* Rows of an option table: `eval` is a parsrec_eval_options, `words` a cli_eval_words of the type. */
#define CLI_EVAL_OPTIONS(type, eval, words)                                                     \
    CLI_CHOICE(0, "split", type, words.split, cli_splits,                                       \
               "the last session of each user, or the one before"),                             \
        CLI_CHOICE(0, "protocol", type, words.protocol, cli_protocols,                          \
                   "any remaining item counts, one fixed target at a time, one list for a "     \
                   "whole basket, or all three"),                                               \
        CLI_COUNT(0, "negatives", type, words.negatives, 1, 1e9,                                \
                  "sampled items that a basket's own are ranked against [100; with basket all " \
                  "items]"),                                                                    \
        CLI_FLAG(0, "full", type, words.full, "rank against the whole catalogue instead"),      \
        CLI_TEXT(0, "candidates", "uniform|popular|FILE", type, words.candidates,               \
                 "how those are drawn, or a file with a list for each user"),                   \
        CLI_FLAG(0, "exclude-seen", type, eval.exclude_seen,                                    \
                 "items that the user had before leave the ranking"),                           \
        CLI_TEXT(0, "users", "FILE", type, eval.users_path,                                     \
                 "evaluate these users alone, one key a line"),                                 \
        CLI_TEXT(0, "count-users", "FILE", type, eval.count_users_path,                         \
                 "models that count: count the sessions of these users alone"),                 \
        CLI_COUNT(0, "last", type, eval.last, 0, 1e6,                                           \
                  "sessions per user in the test (default: as many as training left out)"),     \
        CLI_TEXT(0, "k", "N,...", type, words.k, "cutoffs to report"),                          \
        CLI_COUNT(0, "place-k", type, eval.place_k, 1, 1e9,                                     \
                  "place the best remaining item next when it ranks among so many")

/* Puts the words into the options; explains a mistake. CLI_CONTINUE or the exit status. With all
 * protocols asked for, the options are those of the first. */
int cli_eval_apply(const cli_command *command, parsrec_eval_options *eval,
                   const cli_eval_words *words);

/* The same options for another protocol: its candidates are as typed, or its own default. */
parsrec_eval_options cli_eval_for(const parsrec_eval_options *eval, const cli_eval_words *words,
                                  parsrec_protocol protocol);

#endif
