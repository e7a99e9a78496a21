/* parsrec check: is this file whole and valid? */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/terminal.h"

typedef struct check_args {
    bool json;
} check_args;

static const cli_option options[] = {
    CLI_FLAG(0, "json", check_args, json, "print the result as JSON, also when the file is bad"),
    CLI_END,
};

const cli_command cli_check = {
    .name = "check",
    .summary = "verify a data set or model file",
    .usage = "parsrec check FILE [options]",
    .details = "Reads the whole file: structure, checksum, and whether its contents make sense.\n"
               "Exit status 0 when all is well, 1 with one sentence when not.\n",
    .examples = "  parsrec check shop.model\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
};

int cmd_check(int argc, char **argv)
{
    check_args a = {0};
    cli_words words;
    int rc = cli_parse(&cli_check, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    parsrec_file_report report;
    parsrec_error err = {0};
    cli_stage("checking %s", words.word[0]);
    parsrec_status status = parsrec_file_check(words.word[0], &report, &err);
    cli_finish_line();
    if (status != PARSREC_OK) {
        if (a.json)
            cli_print_json("check", json_pack("{s:b, s:o, s:s, s:o}", "ok", 0, "file",
                                              pr_json_string(words.word[0]), "status",
                                              parsrec_status_name(err.status), "message",
                                              pr_json_string(err.message)));
        return cli_report("check", &err);
    }
    if (a.json)
        return cli_print_json(
            "check",
            json_pack("{s:b, s:o, s:s, s:I, s:I, s:I, s:b}", "ok", 1, "file",
                      pr_json_string(words.word[0]), "format", report.format, "version",
                      (json_int_t)report.version, "tensors", (json_int_t)report.tensors, "bytes",
                      (json_int_t)report.bytes, "has_checksum", (int)report.has_checksum));
    pr_digits tensors, bytes;
    printf("%s: %s version %u, %s tensors, %s bytes, %s\n", words.word[0], report.format,
           report.version, pr_digits_of(&tensors, report.tensors),
           pr_digits_of(&bytes, report.bytes),
           report.has_checksum ? "checksum matches" : "no checksum");
    return cli_close_output("check");
}
