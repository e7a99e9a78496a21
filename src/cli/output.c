/* Text and JSON on stdout. */
#include "cli/output.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/terminal.h"

static void print_characters(const char *from, const char *end)
{
    for (const char *at = from; from < end; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (c != '\n' && (pr_is_control(c) || pr_is_direction_control(c)))
            putchar('?');
        else
            fwrite(from, 1, (size_t)(at - from), stdout);
    }
}

void cli_print_text(const char *text)
{
    print_characters(text, text + strlen(text));
}

size_t cli_name_width(parsrec_name name)
{
    size_t width = 0;
    for (size_t i = 0; i < name.size; i++)
        width += ((unsigned char)name.bytes[i] & 0xC0) != 0x80;
    return width;
}

void cli_print_cell(parsrec_name name, size_t width)
{
    print_characters(name.bytes, name.bytes + name.size);
    for (size_t n = cli_name_width(name); n < width + 2; n++)
        putchar(' ');
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
