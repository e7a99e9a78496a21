/* The command as it was typed. */
#include "cli/command_line.h"

#include <string.h>

#include "base/writer.h"

/* A word of a command line that can be pasted into a shell. */
static void write_word(pr_writer *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:,=@%";
    pr_write(out, " ");
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        pr_write(out, "%s", word);
        return;
    }
    pr_write(out, "'");
    for (; *word != '\0'; word++)
        pr_write(out, *word == '\'' ? "'\\''" : "%c", *word);
    pr_write(out, "'");
}

char *cli_command_line(int argc, char **argv)
{
    pr_writer out = {0};
    pr_write(&out, "parsrec");
    for (int i = 0; i < argc; i++)
        write_word(&out, argv[i]);
    return pr_writer_take(&out);
}
