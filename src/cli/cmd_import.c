#include "cli/commands.h"
const cli_command cli_import = {
    .name = "import", .summary = "(being built)", .options = (const cli_option[]){CLI_END}};
int cmd_import(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_FAILED;
}
