/* parsrec fold-events: the histories of a server as a file, so that it starts quickly. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"
#include "serve/serve.h"

static const cli_option options[] = {
    CLI_ADDRESS("store", "URL", serve_fold, store,
                "the store of the server (default: sqlite:MODEL.events)"),
    CLI_STORE_FILE(serve_fold, store_path),
    CLI_END,
};

const cli_command cli_fold_events = {
    .name = "fold-events",
    .summary = "write histories beside a model, so that a server starts quickly",
    .usage = "parsrec fold-events MODEL [DATA] [options]",
    .details =
        "Writes the histories of MODEL with all events of the store to MODEL.histories. A server\n"
        "that starts or reloads reads them and replays only later events. The file is checked, "
        "and\n"
        "not used with other data or another store. Servers may run meanwhile. Run it once a day,\n"
        "and for a new model before it is put in place: docs/serve.md.\n",
    .examples = "  parsrec fold-events shop.model\n"
                "  parsrec fold-events shop.model --store sqlite:shop.model.events\n",
    .options = options,
    .least_words = 1,
    .most_words = 2,
};

int cmd_fold_events(int argc, char **argv)
{
    static serve_fold f; /* large */
    cli_words words;
    parsrec_error err = {0};
    pr_digits users, sessions, entries, fresh, through;
    int rc = cli_parse(&cli_fold_events, &f, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    f.model_path = words.word[0];
    f.data_path = words.count > 1 ? words.word[1] : NULL;
    cli_stage("folding the events of %s", f.model_path);
    parsrec_status status = serve_fold_events(&f, &err);
    cli_finish_line();
    if (status != PARSREC_OK)
        return cli_report("fold-events", &err);
    printf("%s: %s baskets of %s users, up to number %s of store %s\n", f.output,
           pr_digits_of(&sessions, f.sessions), pr_digits_of(&users, f.users),
           pr_digits_of(&through, f.through), f.id);
    printf("A server replays %s entries less; %s of them are new in the file.\n",
           pr_digits_of(&entries, f.entries), pr_digits_of(&fresh, f.fresh));
    return cli_close_output("fold-events");
}
