/* A data set or a model, whichever the file is. */
#include "cli/input.h"

#include <string.h>

#include "cli/terminal.h"

parsrec_status cli_input_open(cli_input *input, const char *path, parsrec_error *err)
{
    char format[32];
    *input = (cli_input){0};
    cli_stage("reading %s", path);
    parsrec_status status = parsrec_file_format(path, format, err);
    if (status == PARSREC_OK && strcmp(format, "parsrec.model") == 0) {
        status = parsrec_model_load(&input->model, path, err);
        input->data = status == PARSREC_OK ? parsrec_model_data(input->model) : NULL;
    } else if (status == PARSREC_OK) {
        status = parsrec_data_load(&input->own, path, err);
        input->data = input->own;
    }
    return status;
}

void cli_input_close(cli_input *input)
{
    parsrec_model_free(input->model);
    parsrec_data_free(input->own);
    *input = (cli_input){0};
}
