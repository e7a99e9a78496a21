#include "cli/commands.h"
const cli_command cli_info = {
    .name = "info", .summary = "(being built)", .options = (const cli_option[]){CLI_END}};
int cmd_info(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_FAILED;
}
