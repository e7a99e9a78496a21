/* The command as it was typed, for reports. */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

/* "parsrec compare ...", to be pasted into a shell. Free with parsrec_text_free; NULL when out of
 * memory. */
char *cli_command_line(int argc, char **argv);

#endif
