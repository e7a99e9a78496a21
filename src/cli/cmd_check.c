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

static int accept_text(const char *path, const parsrec_file_report *r)
{
    pr_digits tensors, bytes;
    printf("%s: %s version %u, %s tensors, %s bytes, %s\n", path, r->format, r->version,
           pr_digits_of(&tensors, r->tensors), pr_digits_of(&bytes, r->bytes),
           r->has_checksum ? "checksum matches" : "no checksum");
    return cli_close_output("check");
}

static int accept_json(const char *path, const parsrec_file_report *r)
{
    return cli_print_json("check", json_pack("{s:b, s:o, s:s, s:I, s:I, s:I, s:b}", "ok", 1, "file",
                                             pr_json_string(path), "format", r->format, "version",
                                             (json_int_t)r->version, "tensors",
                                             (json_int_t)r->tensors, "bytes", (json_int_t)r->bytes,
                                             "has_checksum", (int)r->has_checksum));
}

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
    return a.json ? accept_json(words.word[0], &report) : accept_text(words.word[0], &report);
}
