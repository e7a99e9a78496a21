/* Commands that a launcher started in several processes, which divide the work: rank 0 prints and writes,
 * whatever happens to one of them ends all, and one of them says why. */
#ifndef CLI_IN_RANKS_H
#define CLI_IN_RANKS_H

#include "cli/options.h"
#include "parsrec.h"

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

#endif
