/* Any bytes as a config file: settings that read back as they were written, or a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const pr_config *a, const pr_config *b)
{
    for (size_t i = 0; i < pr_config_count(); i++) {
        char one[64], other[64];
        if (strcmp(pr_config_value(a, i, one, sizeof one),
                   pr_config_value(b, i, other, sizeof other)) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pr_config config = pr_config_default(), back = config, again = config;
    parsrec_error err = {0};
    if (pr_config_read(&config, (const char *)data, size, "c.conf", &err) != PARSREC_OK) {
        if (err.message[0] == '\0')
            abort();
        return 0;
    }
    char *text = pr_config_text(&config);
    json_t *json = pr_config_json(&config);
    if (text == NULL || json == NULL ||
        pr_config_read(&back, text, strlen(text), "c.conf", &err) != PARSREC_OK ||
        pr_config_from_json(&again, json, &err) != PARSREC_OK)
        abort();
    check_same(&config, &back);
    check_same(&config, &again);
    json_decref(json);
    pr_free(text);
    return 0;
}
