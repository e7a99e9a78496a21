/* Any bytes as a file that names users, given to an evaluation: figures of at most all users, or a
 * sentence. */
#include <parsrec.h>

#include <stdlib.h>

#include "support/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static parsrec_data *shop;
static parsrec_model *model;

/* Made once and kept. */
static void make_once(void)
{
    char path[64];
    parsrec_error err;
    if (model != NULL)
        return;
    parsrec_synth_options synth = parsrec_synth_default();
    parsrec_train_options train = parsrec_train_default();
    synth.users = 12;
    synth.sessions = 4;
    synth.categories = 3;
    synth.products = 2;
    synth.threads = 1;
    train.model = "pop";
    snprintf(path, sizeof path, "%s/shop.st", memory_folder());
    if (parsrec_synth(path, &synth, NULL, NULL, &err) != PARSREC_OK ||
        parsrec_data_load(&shop, path, &err) != PARSREC_OK ||
        parsrec_model_count(&model, shop, &train, NULL, &err) != PARSREC_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static parsrec_eval_report report;
    parsrec_error err = {0};
    make_once();
    parsrec_eval_options o = parsrec_eval_default();
    o.threads = 1;
    o.users_path = memory_file(data, size);
    if (parsrec_eval(model, shop, &o, &report, NULL, &err) != PARSREC_OK) {
        if (err.message[0] == '\0')
            abort();
    } else if (report.users > 12) {
        abort();
    }
    return 0;
}
