#include "cli/commands.h"
const cli_command cli_synth = {
    .name = "synth", .summary = "(being built)", .options = (const cli_option[]){CLI_END}};
int cmd_synth(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_FAILED;
}
