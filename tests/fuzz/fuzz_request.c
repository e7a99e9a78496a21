/* Any bytes as a JSON request to one small model: an answer that is JSON, or a sentence. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "recommend/recommend.h"
#include "support/sample_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sample held;
static parsrec_model model;

/* Made once and kept: the model of the sample, as if it had been loaded. */
static parsrec_scratch *open_once(void)
{
    static parsrec_scratch *own;
    parsrec_error err;
    pr_config config = pr_config_default();
    if (own != NULL)
        return own;
    config.dim_user = config.dim_item = 4;
    config.features_user = config.features_session = 1;
    sample_make(&held);
    pr_shop shop = pr_shop_of(&held.data);
    model.file.data = &held.data;
    model.pasts = pr_histories_of(&held.data);
    if (pr_model_new_bare(&model.file.model, "parsrec", &config, &shop, &err) != PARSREC_OK ||
        pr_model_alloc_weights(model.file.model, &err) != PARSREC_OK ||
        pr_directory_init(&model.directory, &held.data, &err) != PARSREC_OK ||
        pr_model_count_popular(&model, &err) != PARSREC_OK ||
        parsrec_scratch_new(&own, &model, 4, &err) != PARSREC_OK)
        __builtin_trap();
    pr_params_fill(&model.file.model->params, model.file.model->weights, PR_INIT_NORMAL, 1);
    return own;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsrec_error err = {0};
    parsrec_scratch *own = open_once();
    const char *answer = NULL;
    const parsrec_json_options options = {.k = 3, .batch_most = 4};
    if (parsrec_recommend_json(&model, own, &options, (const char *)data, size, &answer, &err) !=
        PARSREC_OK) {
        if (err.message[0] == '\0' || answer != NULL)
            __builtin_trap();
        return 0;
    }
    json_t *json = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
    json_t *asked = json_loadb((const char *)data, size, 0, NULL);
    bool explain = json_is_true(json_object_get(asked, "explain"));
    size_t requests = json_array_size(json_object_get(asked, "requests"));
    bool batch = json_object_get(json, "answers") != NULL;
    json_decref(asked);
    if (strchr(answer, '\n') != NULL ||
        !json_is_array(json_object_get(json, batch ? "answers" : "items")) ||
        (batch && json_array_size(json_object_get(json, "answers")) != requests))
        __builtin_trap();
    for (size_t i = 0; i < json_array_size(json_object_get(json, "items")); i++) {
        const json_t *item = json_array_get(json_object_get(json, "items"), i);
        if (explain != json_is_object(json_object_get(item, "why")))
            __builtin_trap(); /* asked for means given */
    }
    json_decref(json);
    return 0;
}
