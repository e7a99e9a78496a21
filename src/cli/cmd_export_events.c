/* parsrec export-events: a server's store as CSV. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"
#include "serve/serve.h"

typedef struct export_args {
    const char *output, *types, *store_path;
} export_args;

static const cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", export_args, output, "write the events to FILE; - is stdout"),
    CLI_TEXT(0, "types", "T,...", export_args, types, "which events: buy, cart, view"),
    CLI_STORE_FILE(export_args, store_path),
    CLI_END,
};

const cli_command cli_export_events = {
    .name = "export-events",
    .summary = "write the events of a server's store as CSV",
    .usage = "parsrec export-events [STORE] -o FILE [options]",
    .details = "STORE is the --store of a server, which may be running: sqlite:FILE or\n"
               "postgresql://... The columns are user, session, time, item, quantity and type.\n"
               "Without --types only purchases are written, in a form that import reads. To train\n"
               "on events and keep the store, use import --events: docs/serve.md.\n",
    .examples = "  parsrec export-events sqlite:shop.model.events -o bought.csv\n"
                "  parsrec export-events sqlite:shop.model.events -o - --types view,cart\n",
    .options = options,
    .least_words = 0, /* where --store-file is given */
    .most_words = 1,
    .addresses = true,
};

static bool read_types(const char *list, bool types[3])
{
    static const char *const names[] = {"buy", "cart", "view"};
    while (list[0] != '\0') {
        size_t size = strcspn(list, ","), i = 0;
        while (i < 3 && (strlen(names[i]) != size || memcmp(names[i], list, size) != 0))
            i++;
        if (i == 3)
            return false;
        types[i] = true;
        list += size + (list[size] == ',');
    }
    return true;
}

int cmd_export_events(int argc, char **argv)
{
    export_args a = {.types = "buy"};
    cli_words words;
    parsrec_error err = {0};
    pr_digits events, rows, through;
    int rc = cli_parse(&cli_export_events, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    if (a.output == NULL)
        return cli_usage_error(&cli_export_events, "no output; pass -o FILE");
    if ((words.count == 1) == (a.store_path != NULL))
        return cli_usage_error(&cli_export_events,
                               "name one store, as STORE or with --store-file FILE");
    serve_export x = {.store = words.count == 1 ? words.word[0] : NULL, .output = a.output};
    if (!read_types(a.types, x.types))
        return cli_usage_error(&cli_export_events, "--types takes buy, cart and view");
    char *read = NULL;
    parsrec_status status = PARSREC_OK;
    if (a.store_path != NULL) {
        status = serve_read_store_file(&read, a.store_path, &err);
        x.store = read;
    }
    if (status == PARSREC_OK)
        status = serve_export_events(&x, &err);
    pr_free(read);
    if (status != PARSREC_OK)
        return cli_report("export-events", &err);
    if (strcmp(a.output, "-") != 0)
        printf("%s: %s events in %s rows, up to number %s of store %s\n", a.output,
               pr_digits_of(&events, x.events), pr_digits_of(&rows, x.rows),
               pr_digits_of(&through, x.through), x.id);
    return cli_close_output("export-events");
}
