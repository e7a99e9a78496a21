/* What several commands share: options of evaluation and comparison, input files that may be a data
 * set or a model, tables of comparisons, several
 * processes, and the command line for reports. */
#ifndef CLI_SHARED_H
#define CLI_SHARED_H

#include "base/files.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "parsrec.h"

/* ---- the command as it was typed ---- */

/* "parsrec compare ...", to be pasted into a shell. Free with parsrec_text_free; NULL when out of
 * memory. */
char *cli_command_line(int argc, const char *const *argv);

/* ---- temporary files ---- */

/* Makes an empty folder in $TMPDIR (/tmp); the caller removes it. */
parsrec_status cli_temporary_folder(pr_path *out, parsrec_error *err);

/* ---- input files ---- */

/* A zeroed one is fine to close. */
typedef struct cli_input {
    parsrec_model *model;     /* NULL for a data set */
    const parsrec_data *data; /* the data set, or the one inside the model */
    parsrec_data *own;
} cli_input;

parsrec_status cli_input_open(cli_input *input, const char *path, parsrec_error *err);
void cli_input_close(cli_input *input);

/* The data set of a command that takes MODEL DATA: for a model in its place the message says which comes
 * first. */
parsrec_status cli_load_second(parsrec_data **data, const char *path, const char *command,
                               parsrec_error *err);

/* ---- evaluation ---- */

/* Texts of the command line that become options of the library in cli_eval_apply. */
typedef struct cli_eval_words {
    int split;
    int protocol;       /* 0: all of them; else one more than a parsrec_protocol */
    uint64_t negatives; /* 0: not given */
    const char *k, *candidates;
    bool full;
} cli_eval_words;

cli_eval_words cli_eval_default(void);

extern const char *const cli_splits[], *const cli_protocols[];

/* Rows of an option table: `eval` is a parsrec_eval_options, `words` a cli_eval_words of the
 * type. */
#define CLI_EVAL_OPTIONS(type, eval, words)                                                    \
    CLI_CHOICE(0, "split", type, words.split, cli_splits,                                      \
               "the last session of each user, or the one before"),                            \
        CLI_CHOICE(0, "protocol", type, words.protocol, cli_protocols,                         \
                   "any remaining item counts, one fixed target at a time, one list for a "    \
                   "whole basket, or all three"),                                              \
        CLI_COUNT(0, "negatives", type, words.negatives, 1, 1e9,                               \
                  "sampled items against which a basket's items are ranked [100; with basket " \
                  "all items]"),                                                               \
        CLI_FLAG(0, "full", type, words.full, "rank against the whole catalogue instead"),     \
        CLI_TEXT(0, "candidates", "uniform|popular|FILE", type, words.candidates,              \
                 "how negatives are drawn, or a file with a list per user"),                   \
        CLI_FLAG(0, "exclude-seen", type, eval.exclude_seen,                                   \
                 "leave items that the user bought before out of the ranking"),                \
        CLI_TEXT(0, "users", "FILE", type, eval.users_path,                                    \
                 "evaluate only these users, one key per line"),                               \
        CLI_COUNT(0, "most-users", type, eval.most_users, 1, 1e15,                             \
                  "evaluate at most N users, evenly spread (default: all)"),                   \
        CLI_TEXT(0, "count-users", "FILE", type, eval.count_users_path,                        \
                 "counting models: count only the sessions of these users"),                   \
        CLI_COUNT(0, "last", type, eval.last, 0, 1e6,                                          \
                  "test sessions per user (default: as many as training left out)"),           \
        CLI_TEXT(0, "k", "N,...", type, words.k, "cutoffs to report"),                         \
        CLI_COUNT(0, "place-k", type, eval.place_k, 1, 1e9,                                    \
                  "place the best remaining item next if it ranks among the first N")

/* How data are split: by each user's sessions unless one of these is given. */
typedef struct cli_split {
    const char *at; /* "2010-03-02" or a number, as data have their times */
    int by;         /* a word of cli_split_words */
    parsrec_split_options how;
} cli_split;

extern const char *const cli_split_words[];

/* Rows of an option table: `split` is a cli_split of the type. */
#define CLI_SPLIT_OPTIONS(type, split)                                                            \
    CLI_TEXT(0, "split-at", "TIME", type, split.at,                                               \
             "test sessions from this time on, learn from earlier ones; 2010-03-02 or a number"), \
        CLI_COUNT(0, "test-days", type, split.how.days, 0, 100000,                                \
                  "the same with the last N days of the data (default: no such split)"),          \
        CLI_CHOICE(0, "split-by", type, split.by, cli_split_words,                                \
                   "with these two, test users who return (users), sessions of users who begin "  \
                   "then (sessions), or the larger of the two groups; time is the same as auto"), \
        CLI_TEXT(0, "test-users", "FILE", type, split.how.users_path,                             \
                 "test the last session of these users, learn from the others")

/* Fills split->how and checks that one split is given at most. CLI_CONTINUE or the exit status. */
int cli_split_apply(const cli_command *command, cli_split *split);

/* Parses the words into the options and reports mistakes. CLI_CONTINUE or the exit status. If all
 * protocols are wanted, the options are those of the first. */
int cli_eval_apply(const cli_command *command, parsrec_eval_options *eval,
                   const cli_eval_words *words);
/* The same options for another protocol, with the candidates as given, or its default. */
parsrec_eval_options cli_eval_for(const parsrec_eval_options *eval, const cli_eval_words *words,
                                  parsrec_protocol protocol);

/* ---- comparisons ---- */

/* Rows of an option table: `how` is a parsrec_compare_options of the type. */
#define CLI_COMPARE_OPTIONS(type, how)                                                          \
    CLI_COUNT(0, "epochs", type, how.epochs, 0, 100000,                                         \
              "passes over the data of every learning model (default: as its settings say)"),   \
        CLI_COUNT(0, "patience", type, how.patience, 0, 100000,                                 \
                  "stop a training after N epochs without improvement (default: never)"),       \
        CLI_COUNT(0, "seed", type, how.seed, 0, 9223372036854775807.0,                          \
                  "seed of training, and of data made for it"),                                 \
        CLI_COUNT(0, "seeds", type, how.seeds, 0, 1000,                                         \
                  "train every learning model with N seeds, counting up from --seed (default: " \
                  "three, or one if the other two would take more than ten minutes)"),          \
        CLI_COUNT(0, "jobs", type, how.jobs, 0, 1024,                                           \
                  "trainings at the same time (default: as cores and memory allow)"),           \
        CLI_FLAG(0, "retrain", type, how.retrain,                                               \
                 "train models again that DIR has with other settings"),                        \
        CLI_TEXT(0, "measure", "NAME", type, how.measure,                                       \
                 "measure that decides, such as HR@10 (default: NDCG at the largest k)")

/* The hooks of the terminal, with one line per epoch. */
parsrec_hooks cli_compare_hooks(void);

/* Ends a command that compares, and its ranks: prints the table and where the reports are, or one JSON object per
 * model, and frees the comparison; or reports the error. Returns the exit status. */
int cli_finish_comparison(const char *command, parsrec_ranks *ranks, parsrec_status status,
                          parsrec_comparison *comparison, const char *folder, bool json,
                          parsrec_error *err);

/* ---- several processes ---- */

/* A launcher may start a command in several processes, which divide the work: rank 0 prints and writes,
 * whatever happens to one of them ends all, and one of them says why. */

/* A row of an option table. */
#define CLI_PEER_TIME(type, member)                   \
    CLI_REAL(0, "peer-time", type, member, 1, 100000, \
             "with ranks: end all when nothing is heard of one for this many seconds")
#define CLI_PEER_SECONDS 120.0

/* Joins the other ranks, if there are any, runs the command with them (NULL: there are none) and leaves
 * them. Returns the exit status. */
int cli_in_ranks(const char *command, double peer_time,
                 int (*run)(void *args, parsrec_ranks *ranks), void *args);

/* Those of the terminal for rank 0, none for the others. */
const parsrec_hooks *cli_hooks_in(const parsrec_ranks *ranks);

/* Ends what the ranks did together, or what the only process did. CLI_CONTINUE for the one that shows the
 * result; otherwise the exit status, and one rank has said what went wrong. */
int cli_end_ranks(const char *command, parsrec_ranks *ranks, parsrec_status status,
                  parsrec_error *err);

/* ---- rows of a data set ---- */

/* The name, cut to `width` characters with "..." at the end, without controls, and terminated.
 * `size` must be more than 4 * width bytes for any text to fit; fewer bytes cut earlier. */
void cli_fit(char *out, size_t size, parsrec_name name, size_t width);

/* One row as an object; NULL when out of memory. */
json_t *cli_listed_json(const parsrec_data *data, parsrec_thing thing, const parsrec_listed *row);

/* The weights of a counting model; nothing if it has none. */
void cli_print_weights(const parsrec_model *model);

#endif
