/* Joining, agreeing and leaving, as commands do. */
#include "cli/in_ranks.h"

#include <stdio.h>

#include "cli/output.h"
#include "cli/terminal.h"

int cli_in_ranks(const char *command, double peer_time,
                 int (*run)(void *args, parsrec_ranks *ranks), void *args)
{
    parsrec_error err = {0};
    parsrec_ranks *ranks;
    if (parsrec_ranks_join(&ranks, peer_time, cli_hooks(), &err) != PARSREC_OK)
        return cli_report(command, &err);
    int rc = run(args, ranks);
    fflush(NULL); /* leaving may end the process */
    parsrec_ranks_leave(ranks);
    return rc;
}

const parsrec_hooks *cli_hooks_in(const parsrec_ranks *ranks)
{
    return parsrec_ranks_rank(ranks) == 0 ? cli_hooks() : NULL;
}

/* What goes wrong with the input goes wrong on all ranks; these may be one rank's own. */
static bool may_be_alone(parsrec_status status)
{
    return status == PARSREC_E_MEMORY || status == PARSREC_E_IO || status == PARSREC_E_STOPPED;
}

int cli_end_ranks(const char *command, parsrec_ranks *ranks, parsrec_status status,
                  parsrec_error *err)
{
    if (!may_be_alone(status))
        status = parsrec_ranks_agree(ranks, status, err);
    cli_finish_line();
    if (status == PARSREC_OK) {
        parsrec_ranks_close(ranks);
        return parsrec_ranks_rank(ranks) == 0 ? CLI_CONTINUE : CLI_OK;
    }
    if (status == PARSREC_E_PEER && parsrec_ranks_speaks(ranks))
        fprintf(stderr, "parsrec %s: %s; all ranks end\n", command, err->message);
    else if (parsrec_ranks_speaks(ranks))
        cli_report(command, err);
    return CLI_FAILED;
}
