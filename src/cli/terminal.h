/* What a command prints. Results go to stdout, text for people or JSON for machines; progress and
 * messages to stderr.
 *
 * Progress is a live line on a terminal, plain lines elsewhere (the first
 * after a second, then one every ten seconds); and Ctrl-C, which stops cleanly. A timer redraws the
 * line, so that it appears after a second and stays current while a stage reports nothing. The
 * environment variable PARSREC_PROGRESS=off disables progress; PARSREC_PROGRESS=all shows every report
 * at once, for tests. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/json.h"
#include "base/text.h"
#include "parsrec.h"

/* ---- progress and messages ---- */

/* Hooks that draw to stderr and stop the call after SIGINT or SIGTERM. One command at a time. */
const parsrec_hooks *cli_hooks(void);

/* Shows a stage that has no hooks, "loading shop.st", with its seconds, until the next stage begins or
 * the line is finished. */
void cli_stage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the live line, so that results begin on a line of their own. */
void cli_finish_line(void);

/* "parsrec COMMAND: sentence" on stderr; returns the exit status. */
int cli_report(const char *command, const parsrec_error *err);

/* Flushes stdout; a full disk or closed pipe becomes a failure, not silence. Returns the status. */
int cli_close_output(const char *command);

/* ---- results ---- */

/* Text with names from files. A terminal must not interpret them: control characters other than line
 * breaks, and marks that change the direction of text, become '?'. */
void cli_print_text(const char *text);
/* A name as a cell of a table: padded to `width` characters, then two spaces. */
void cli_print_cell(parsrec_name name, size_t width);
size_t cli_name_width(parsrec_name name); /* characters, not bytes */

/* Prints the value, members in the order they were added, and frees it; NULL means out of memory.
 * Flushes stdout. Returns the exit status. */
int cli_print_json(const char *command, json_t *json);

/* The warning for a data set whose baskets have one item each. */
#define CLI_ONE_ITEM_BASKETS                                                                       \
    "nearly every basket has only one item, so it cannot be learnt which items go together; "      \
    "if "                                                                                          \
    "the source has orders or receipts, import it again with --session COL, or with --session-by " \
    "day"

#endif
