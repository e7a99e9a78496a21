/* Progress on stderr while a command runs: a live line on a terminal, plain lines elsewhere (the first
 * after a second, then one every ten seconds); and Ctrl-C, which stops cleanly. A timer redraws the
 * line, so that it appears after a second and stays current while a stage reports nothing. The
 * environment variable PARSREC_PROGRESS=off disables progress; PARSREC_PROGRESS=all shows every report
 * at once, for tests. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/text.h"
#include "parsrec.h"

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

#endif
