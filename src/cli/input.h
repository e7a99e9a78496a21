/* A file argument that may be a data set or a model: most commands that look into files take both. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "parsrec.h"

/* A zeroed one is fine to close. */
typedef struct cli_input {
    parsrec_model *model;     /* NULL for a data set */
    const parsrec_data *data; /* the data set, or the one inside the model */
    parsrec_data *own;
} cli_input;

parsrec_status cli_input_open(cli_input *input, const char *path, parsrec_error *err);
void cli_input_close(cli_input *input);

#endif
