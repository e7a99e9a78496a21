/* JSON on stdout. */
#include "cli/output.h"

#include <stdio.h>

#include "cli/options.h"
#include "cli/terminal.h"

json_t *cli_json_text(const char *text)
{
    return pr_json_string(text);
}

int cli_print_json(const char *command, json_t *json)
{
    if (json == NULL) {
        fprintf(stderr, "parsrec %s: out of memory\n", command);
        return CLI_FAILED;
    }
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)); /* errors show in ferror */
    putchar('\n');
    json_decref(json);
    return cli_close_output(command);
}
