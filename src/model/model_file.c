/* Writing and reading model files. */
#include "model/model_file.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define PARAM_PREFIX "param"

parsrec_status pr_sealed_open(pr_container **out, const char *path, parsrec_error *err)
{
    PR_TRY(pr_container_open(out, path, err));
    if (pr_container_checksum(*out)[0] != '\0')
        return PARSREC_OK;
    pr_container_free(*out);
    *out = NULL;
    return pr_fail(err, PARSREC_E_CHECKSUM, "%s: has no checksum; it is damaged, or not ours",
                   path);
}

parsrec_status pr_model_words_make(pr_model_words *words, const pr_model *model, parsrec_error *err)
{
    json_t *json = pr_config_json(&model->config);
    words->config = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (words->config == NULL)
        return pr_fail_memory(err);
    words->list[0] = (pr_metadata){"model", model->kind->name};
    words->list[1] = (pr_metadata){"config", words->config};
    return PARSREC_OK;
}

parsrec_status pr_model_words_read(const pr_container *file, const char **kind, pr_config *config,
                                   parsrec_error *err)
{
    const char *path = pr_container_path(file), *text = pr_container_metadata(file, "config");
    *kind = pr_container_metadata(file, "model");
    if (*kind == NULL || text == NULL)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: lacks the metadata 'model' or 'config'", path);
    char origin[512];
    snprintf(origin, sizeof origin, "%s: config", path);
    json_t *json;
    PR_TRY(pr_json_parse(&json, text, strlen(text), origin, err));
    *config = pr_config_default();
    parsrec_status status = pr_config_from_json(config, json, err);
    json_decref(json);
    return status;
}

static pr_dtype dtype_of(const pr_param *p)
{
    return p->words ? PR_U32 : PR_F32;
}

parsrec_status pr_block_tensors(pr_tensor *tensors, char (*names)[64], const char *prefix,
                                const pr_params *params, const pr_real *block, parsrec_error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        if (snprintf(names[i], sizeof *names, "%s.%s", prefix, p->name) >= (int)sizeof *names)
            return pr_fail(err, PARSREC_E_LIMIT, "the parameter name '%s' is too long", p->name);
        tensors[i] = (pr_tensor){names[i], dtype_of(p), 2, {p->rows, p->cols}, block + p->at};
    }
    return PARSREC_OK;
}

static parsrec_status find_block_tensor(const pr_tensor **out, const pr_container *file,
                                        const char *prefix, const pr_param *p, parsrec_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", prefix, p->name);
    PR_TRY(pr_container_need(file, name, dtype_of(p), 2, out, err));
    const uint64_t *shape = (*out)->shape;
    if ((shape[0] != p->rows && !p->open) || shape[1] != p->cols)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: tensor '%s' is %llu by %llu, its settings ask for %zu by %zu",
                       pr_container_path(file), name, (unsigned long long)shape[0],
                       (unsigned long long)shape[1], p->rows, p->cols);
    return PARSREC_OK;
}

/* Counted parameters get the number of rows that the file has. */
static parsrec_status take_rows(pr_params *params, const pr_container *file, parsrec_error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        const pr_tensor *tensor;
        if (!p->open)
            continue;
        PR_TRY(find_block_tensor(&tensor, file, PARAM_PREFIX, p, err));
        PR_TRY(pr_params_set_rows(params, p->name, (size_t)tensor->shape[0], err));
    }
    return PARSREC_OK;
}

parsrec_status pr_block_check(const pr_container *file, const char *prefix, const pr_params *params,
                              parsrec_error *err)
{
    const pr_tensor *tensor;
    for (size_t i = 0; i < params->count; i++)
        PR_TRY(find_block_tensor(&tensor, file, prefix, &params->list[i], err));
    return PARSREC_OK;
}

parsrec_status pr_block_read(pr_real *block, const pr_container *file, const char *prefix,
                             const pr_params *params, parsrec_error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        const pr_tensor *t;
        PR_TRY(find_block_tensor(&t, file, prefix, p, err));
        if (!pr_tensor_finite(t))
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor '%s' contains a value that is not finite",
                           pr_container_path(file), t->name);
        /* float, or integers of the same size */
        memcpy(block + p->at, t->data, pr_param_size(p) * sizeof(float));
    }
    return PARSREC_OK;
}

parsrec_status pr_model_save(const pr_model *model, const pr_dataset *data, const char *path,
                             parsrec_error *err)
{
    size_t count = model->params.count;
    pr_tensor *tensors = pr_alloc(count, sizeof *tensors);
    char(*names)[64] = pr_alloc(count, sizeof *names);
    pr_model_words words = {.config = NULL};
    parsrec_status status = tensors == NULL || names == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = pr_model_words_make(&words, model, err);
    if (status == PARSREC_OK)
        status =
            pr_block_tensors(tensors, names, PARAM_PREFIX, &model->params, model->weights, err);
    if (status == PARSREC_OK) {
        pr_enclosing in = {PR_MODEL_FORMAT, PR_MODEL_VERSION, words.list, 2, tensors, count};
        status = pr_dataset_enclose(data, &in, path, err);
    }
    pr_free(words.config);
    pr_free(tensors);
    pr_free(names);
    return status;
}

/* Checks that the file has the tensors its settings require before memory is allocated for them. */
static parsrec_status read_model(pr_model **out, const pr_dataset *data, const char *kind,
                                 const pr_config *config, parsrec_error *err)
{
    pr_model *model;
    pr_shop shop = pr_shop_of(data);
    PR_TRY(pr_model_new_bare(&model, kind, config, &shop, err));
    *out = model;
    PR_TRY(take_rows(&model->params, data->file, err));
    PR_TRY(pr_block_check(data->file, PARAM_PREFIX, &model->params, err));
    PR_TRY(pr_model_alloc_weights(model, err));
    PR_TRY(pr_block_read(model->weights, data->file, PARAM_PREFIX, &model->params, err));
    return pr_model_verify(model, pr_container_path(data->file), err);
}

parsrec_status pr_model_from(pr_model_file *out, pr_container *file, parsrec_error *err)
{
    *out = (pr_model_file){0};
    const char *kind;
    pr_config config;
    uint32_t version;
    parsrec_status status =
        pr_container_expect(file, PR_MODEL_FORMAT, PR_MODEL_VERSION, &version, err);
    if (status == PARSREC_OK)
        status = pr_model_words_read(file, &kind, &config, err);
    if (status != PARSREC_OK) {
        pr_container_free(file);
        return status;
    }
    PR_TRY(pr_dataset_inside(&out->data, file, err));
    status = read_model(&out->model, out->data, kind, &config, err);
    if (status != PARSREC_OK)
        pr_model_file_free(out);
    return status;
}

parsrec_status pr_model_load(pr_model_file *out, const char *path, parsrec_error *err)
{
    *out = (pr_model_file){0};
    pr_container *file;
    PR_TRY(pr_sealed_open(&file, path, err));
    return pr_model_from(out, file, err);
}

void pr_model_file_free(pr_model_file *file)
{
    pr_model_free(file->model);
    pr_dataset_free(file->data);
    *file = (pr_model_file){0};
}
