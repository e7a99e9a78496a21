/* Any bytes as a model file; what is accepted must be able to recommend. */
#include <stddef.h>
#include <stdint.h>

#include "data/directory.h"
#include "model/model_file.h"
#include "recommend/recommend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void recommend(const pr_model *model)
{
    enum { CAPACITY = 2 };
    parsrec_error err;
    pr_recommender r;
    pr_start start = {.user = model->users > 0 ? 0 : PR_ANYONE};
    int32_t basket[CAPACITY] = {0, (int32_t)model->items - 1};
    if (pr_recommender_init(&r, model, CAPACITY, &err) != PARSREC_OK)
        return;
    size_t count = pr_recommend(&r, &start, basket, CAPACITY, 3);
    for (size_t i = 0; i < count; i++)
        if (r.best[i] == basket[0] || r.best[i] == basket[1])
            __builtin_trap();
    pr_recommender_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsrec_error err;
    pr_container *container;
    pr_model_file file;
    pr_directory directory;
    if (pr_container_parse(&container, data, size, "fuzz", &err) != PARSREC_OK)
        return 0;
    if (pr_model_from(&file, container, &err) != PARSREC_OK) {
        if (err.message[0] == '\0' || file.model != NULL || file.data != NULL)
            __builtin_trap();
        return 0;
    }
    if (pr_directory_init(&directory, file.data, &err) == PARSREC_OK)
        pr_directory_free(&directory);
    recommend(file.model);
    pr_model_file_free(&file);
    return 0;
}
