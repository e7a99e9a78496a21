#include "cli/commands.h"
const cli_command cli_check = {
    .name = "check", .summary = "(being built)", .options = (const cli_option[]){CLI_END}};
int cmd_check(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_FAILED;
}
