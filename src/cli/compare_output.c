/* Epochs of several models, and their table. */
#include "cli/compare_output.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/terminal.h"

static void on_epoch(void *context, const parsrec_epoch *e)
{
    (void)context;
    if (e->earlier)
        return;
    cli_finish_line();
    fprintf(stderr, "  %s: epoch %u  loss %.3f  HR@10 %.3f  NDCG@10 %.3f\n", e->name, e->number,
            e->loss, e->hit_rate_10, e->ndcg_10);
}

parsrec_hooks cli_compare_hooks(void)
{
    parsrec_hooks hooks = *cli_hooks();
    hooks.on_epoch = on_epoch;
    return hooks;
}

int cli_print_comparison(const char *command, parsrec_comparison *comparison, const char *folder,
                         bool json)
{
    parsrec_error err = {0};
    char *text;
    parsrec_text_kind kind = json                         ? PARSREC_TEXT_JSON_MODELS
                             : isatty(STDOUT_FILENO) != 0 ? PARSREC_TEXT_TERMINAL
                                                          : PARSREC_TEXT_PLAIN;
    parsrec_status status = parsrec_comparison_text(&text, comparison, kind, &err);
    parsrec_comparison_free(comparison);
    if (status != PARSREC_OK)
        return cli_report(command, &err);
    fputs(text, stdout);
    parsrec_text_free(text);
    if (!json)
        printf("\n%s/report.html has the charts; report.md, .csv and .json stand beside it\n",
               folder);
    return cli_close_output(command);
}
