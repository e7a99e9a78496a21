/* What commands that train several models and compare them have in common. */
#ifndef CLI_COMPARE_OUTPUT_H
#define CLI_COMPARE_OUTPUT_H

#include "cli/options.h"
#include "parsrec.h"

/* Rows of an option table: `how` is a parsrec_compare_options of the type. */
#define CLI_COMPARE_OPTIONS(type, how)                                                            \
    CLI_COUNT(0, "epochs", type, how.epochs, 0, 100000,                                           \
              "passes over the data of every model that learns (default: as its settings say)"),  \
        CLI_COUNT(0, "patience", type, how.patience, 0, 100000,                                   \
                  "stop a training after N epochs without a better validation (default: never)"), \
        CLI_COUNT(0, "seed", type, how.seed, 0, 9223372036854775807.0,                            \
                  "of training, and of data that are made for it"),                               \
        CLI_COUNT(0, "seeds", type, how.seeds, 1, 1000,                                           \
                  "train every model that learns so many times, with seeds from that one on"),    \
        CLI_COUNT(0, "jobs", type, how.jobs, 0, 1024,                                             \
                  "trainings at the same time (default: as cores and memory allow)"),             \
        CLI_FLAG(0, "retrain", type, how.retrain,                                                 \
                 "make again what DIR holds made with other settings"),                           \
        CLI_TEXT(0, "measure", "NAME", type, how.measure,                                         \
                 "that decides, as HR@10; NDCG at the largest k unless given")

/* The hooks of the terminal, with one line an epoch. */
parsrec_hooks cli_compare_hooks(void);

/* Prints the table, or one JSON object a model, and where the reports are; frees the comparison. Returns the
 * exit status. */
int cli_print_comparison(const char *command, parsrec_comparison *comparison, const char *folder,
                         bool json);

#endif
