/* Any bytes as the JSON file of the groups of synthetic users: a data set that loads, or a sentence. */
#include <parsrec.h>

#include <stdlib.h>

#include "support/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[64];
    parsrec_data *made;
    parsrec_error err = {0};
    parsrec_synth_options o = parsrec_synth_default();
    o.users = 4;
    o.sessions = 2;
    o.categories = 3;
    o.products = 2;
    o.threads = 1;
    o.groups_path = memory_file(data, size);
    snprintf(out, sizeof out, "%s/data.st", memory_folder());
    if (parsrec_synth(out, &o, NULL, NULL, &err) != PARSREC_OK) {
        if (err.message[0] == '\0')
            abort();
        return 0;
    }
    if (parsrec_data_load(&made, out, &err) != PARSREC_OK)
        abort();
    parsrec_data_free(made);
    return 0;
}
