/* Text and JSON on stdout. */
#include "cli/output.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/terminal.h"

void cli_print_text(const char *text)
{
    for (const char *at = text, *from = text; *from != '\0'; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (c != '\n' && (pr_is_control(c) || pr_is_direction_control(c)))
            putchar('?');
        else
            fwrite(from, 1, (size_t)(at - from), stdout);
    }
}

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
