/* What parsrec info says of a model, before it describes the data set inside. */
#ifndef CLI_INFO_MODEL_H
#define CLI_INFO_MODEL_H

#include "base/json.h"
#include "parsrec.h"

void cli_print_model(const parsrec_model *model);
void cli_print_weights(const parsrec_model *model); /* nothing where there are none to read */
json_t *cli_model_json(const parsrec_model *model); /* NULL when out of memory */

#endif
