/* Writing and reading model files; models with names and histories; data in the numbering of a model. */
#include "model/model_file.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/blas.h"
#include "model/settle.h"
#include "model/user_rows.h"

#define PARAM_PREFIX "param"

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
        tensors[i] =
            (pr_tensor){names[i], dtype_of(p), 2, {pr_param_all_rows(p), p->cols}, block + p->at};
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
    if ((shape[0] != pr_param_all_rows(p) && !p->open) || shape[1] != p->cols)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: tensor '%s' is %llu by %llu, its settings ask for %zu by %zu",
                       pr_container_path(file), name, (unsigned long long)shape[0],
                       (unsigned long long)shape[1], pr_param_all_rows(p), p->cols);
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

/* Rows of a tensor, in windows: the pages of a large file do not stay in memory. */
static parsrec_status read_rows(pr_real *to, const pr_container *file, const pr_tensor *t,
                                size_t first, size_t rows, parsrec_error *err)
{
    enum { WINDOW = 4 << 20 }; /* numbers: float, or integers of the same size */
    size_t cols = (size_t)t->shape[1], most = cols < WINDOW ? WINDOW / (cols > 0 ? cols : 1) : 1;
    for (size_t at = 0, n; at < rows; at += n) {
        pr_tensor part = *t;
        n = rows - at < most ? rows - at : most;
        part.shape[0] = n;
        part.data = (const float *)t->data + (first + at) * cols;
        if (!pr_tensor_finite(&part))
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor '%s' contains a value that is not finite",
                           pr_container_path(file), t->name);
        memcpy(to + at * cols, part.data, n * cols * sizeof(float));
        pr_container_release(file, part.data, n * cols * sizeof(float));
    }
    return PARSREC_OK;
}

parsrec_status pr_block_read(pr_real *block, const pr_container *file, const char *prefix,
                             const pr_params *params, parsrec_error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        const pr_tensor *t;
        PR_TRY(find_block_tensor(&t, file, prefix, p, err));
        size_t last = p->elsewhere > 0 ? 1 : 0, rows = p->rows - last; /* of unknown users */
        PR_TRY(read_rows(block + p->at, file, t, p->first, rows, err));
        PR_TRY(read_rows(block + p->at + rows * p->cols, file, t, pr_param_all_rows(p) - 1, last,
                         err));
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
    pr_user_rows_reader reader;
    pr_tensor_source source;
    if (model->user_rows != NULL)
        source = pr_user_rows_source(&reader, model, model->weights);
    parsrec_status status = tensors == NULL || names == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = pr_model_words_make(&words, model, err);
    if (status == PARSREC_OK)
        status =
            pr_block_tensors(tensors, names, PARAM_PREFIX, &model->params, model->weights, err);
    if (status == PARSREC_OK) {
        pr_enclosing in = {
            .format = PR_MODEL_FORMAT,
            .version = PR_MODEL_VERSION,
            .metadata = words.list,
            .metadata_count = 2,
            .tensors = tensors,
            .tensor_count = count,
            .source = model->user_rows != NULL ? &source : NULL,
        };
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

/* ---- loaded models ---- */

parsrec_status pr_model_count_popular(parsrec_model *model, parsrec_error *err)
{
    const pr_histories *pasts = &model->pasts;
    size_t items = model->file.data->items;
    uint64_t *count = pr_alloc_zero(items, sizeof *count); /* not float: above 2^24 floats skip
                                                            * integers */
    if (model->popularity == NULL)
        model->popularity = pr_alloc(items, sizeof *model->popularity);
    if (count == NULL || model->popularity == NULL) {
        pr_free(count);
        return pr_fail_memory(err);
    }
    int64_t sessions = pasts->user_offsets[pasts->users];
    for (int64_t a = 0; a < pasts->session_offsets[sessions]; a++)
        count[pasts->items[a]]++;
    for (size_t i = 0; i < items; i++)
        model->popularity[i] = sessions > 0 ? (pr_real)count[i] / (pr_real)sessions : 0;
    pr_free(count);
    return PARSREC_OK;
}

static parsrec_status load(parsrec_model *model, const char *path, parsrec_error *err)
{
    PR_TRY(pr_model_load(&model->file, path, err));
    PR_TRY(pr_model_make_ready(model->file.model, err));
    PR_TRY(pr_directory_init(&model->directory, model->file.data, err));
    model->pasts = pr_histories_of(model->file.data);
    return pr_model_count_popular(model, err);
}

parsrec_status parsrec_model_load(parsrec_model **out, const char *path, parsrec_error *err)
{
    if (out == NULL || path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_model_load needs out and path");
    *out = NULL;
    parsrec_model *model = pr_alloc_zero(1, sizeof *model);
    if (model == NULL)
        return pr_fail_memory(err);
    pr_blas_load();
    parsrec_status status = load(model, path, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        parsrec_model_free(model);
    return status;
}

void parsrec_model_free(parsrec_model *model)
{
    if (model == NULL)
        return;
    pr_histories_free(&model->pasts);
    pr_free(model->popularity);
    pr_directory_free(&model->directory);
    if (model->borrows_data)
        model->file.data = NULL;
    pr_model_file_free(&model->file);
    pr_free(model);
}

const parsrec_data *parsrec_model_data(const parsrec_model *model)
{
    return model->file.data;
}

parsrec_status parsrec_model_take_pasts(parsrec_model *model, const parsrec_data *data,
                                        parsrec_pasts_report *report, parsrec_error *err)
{
    if (model == NULL || data == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_model_take_pasts needs model and data");
    pr_histories pasts;
    parsrec_pasts_report unused;
    PR_TRY(pr_histories_match(&pasts, data, &model->directory.users, &model->directory.items,
                              report != NULL ? report : &unused, err));
    if (pasts.last_time == PR_NO_TIME) { /* the model's own dates still say when its data end */
        pasts.first_time = model->pasts.first_time;
        pasts.last_time = model->pasts.last_time;
    }
    pr_histories_free(&model->pasts);
    model->pasts = pasts;
    return pr_model_count_popular(model, err);
}

/* ---- what it is ---- */

/* "at TIME users" or "at TIME sessions"; without the last word in older files. */
bool parsrec_model_split(const parsrec_model *model, parsrec_split_options *how)
{
    static const char at[] = "at ";
    const char *split = model != NULL ? model->file.data->split : NULL;
    parsrec_split_options found = {.at = true};
    if (split == NULL || how == NULL || strncmp(split, at, sizeof at - 1) != 0)
        return false;
    split += sizeof at - 1;
    size_t n = strcspn(split, " ");
    if (strcmp(split + n, " users") == 0)
        found.by = PARSREC_SPLIT_BY_USERS;
    else if (strcmp(split + n, " sessions") == 0)
        found.by = PARSREC_SPLIT_BY_SESSIONS;
    else if (split[n] != '\0')
        return false;
    if (!pr_parse_i64((pr_slice){split, n}, &found.time))
        return false;
    *how = found;
    return true;
}

void parsrec_model_describe(const parsrec_model *model, parsrec_model_facts *facts)
{
    const pr_model *m = model->file.model;
    const pr_container *file = model->file.data->file;
    *facts = (parsrec_model_facts){.bytes = file != NULL ? pr_container_bytes(file) : 0,
                                   .users = m->users,
                                   .items = m->items,
                                   .categories = model->file.data->categories};
    snprintf(facts->kind, sizeof facts->kind, "%s", m->kind->name);
    for (size_t i = 0; i < m->params.count; i++)
        facts->parameters += pr_param_size(&m->params.list[i]);
}

bool parsrec_model_setting(const parsrec_model *model, size_t i, parsrec_setting *setting)
{
    if (i >= pr_config_count())
        return false;
    pr_config initial; /* every kind in the table has valid defaults */
    pr_model_defaults(&initial, model->file.model->kind->name, NULL);
    const pr_config *own = &model->file.model->config;
    if (own->batch != 0) /* trained: what was left to the data is settled */
        initial = pr_settled(&initial, model->file.model->kind, model->file.data, own);
    setting->key = pr_config_key(i);
    setting->help = pr_config_help(i);
    pr_config_value(&model->file.model->config, i, setting->value, sizeof setting->value);
    pr_config_value(&initial, i, setting->initial, sizeof setting->initial);
    return true;
}

bool parsrec_model_weight(const parsrec_model *model, size_t i, const char **name, double *value)
{
    const pr_model *m = model->file.model;
    if (m->kind->shown == NULL || pr_params_find(&m->params, m->kind->shown) == NULL)
        return false;
    *name = m->kind->shown_name(m, i);
    if (*name == NULL)
        return false;
    *value = (double)pr_model_reals(m, m->kind->shown)[i];
    return true;
}

/* ---- names and indices ---- */

size_t parsrec_model_size(const parsrec_model *model, parsrec_thing thing)
{
    switch (thing) {
    case PARSREC_USER:
        return model->pasts.users;
    case PARSREC_ITEM:
        return model->file.data->items;
    case PARSREC_CATEGORY:
        return model->file.data->categories;
    }
    return 0;
}

static bool within(const parsrec_model *model, parsrec_thing thing, int32_t number)
{
    return number >= 0 && (size_t)number < parsrec_model_size(model, thing);
}

static parsrec_status find(const parsrec_model *model, parsrec_thing thing, pr_slice word,
                           int32_t *number, parsrec_error *err)
{
    switch (thing) {
    case PARSREC_USER:
        return pr_directory_user(&model->directory, word, number, err);
    case PARSREC_ITEM:
        return pr_directory_item(&model->directory, word, number, err);
    case PARSREC_CATEGORY:
        return pr_directory_category(&model->directory, word, number, err);
    }
    return pr_fail(err, PARSREC_E_ARGUMENT, "users, items and categories have names");
}

parsrec_status parsrec_model_find(const parsrec_model *model, parsrec_thing thing, const char *word,
                                  int32_t *number, parsrec_error *err)
{
    if (model == NULL || word == NULL || number == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_model_find needs a model, a word and a place for the number");
    PR_TRY(find(model, thing, pr_slice_of(word), number, err));
    /* A user may have been added to the directory by data that then failed to load. */
    return within(model, thing, *number) ? PARSREC_OK : pr_fail_memory(err);
}

size_t parsrec_model_named(const parsrec_model *model, const char *name, int32_t *items,
                           size_t capacity)
{
    return model != NULL && name != NULL && items != NULL
               ? pr_directory_named(&model->directory, pr_slice_of(name), items, capacity)
               : 0;
}

parsrec_name parsrec_model_key(const parsrec_model *model, parsrec_thing thing, int32_t number)
{
    if (!within(model, thing, number))
        return (parsrec_name){"", 0};
    if (thing != PARSREC_USER)
        return parsrec_data_key(model->file.data, thing, number);
    pr_slice key = pr_intern_name(&model->directory.users, (size_t)number);
    return (parsrec_name){key.bytes, key.size};
}

parsrec_name parsrec_model_item_name(const parsrec_model *model, int32_t item)
{
    return parsrec_data_item_name(model->file.data, item);
}

int32_t parsrec_model_item_category(const parsrec_model *model, int32_t item)
{
    return parsrec_data_item_category(model->file.data, item);
}

char *parsrec_model_category_path(const parsrec_model *model, int32_t category, char *buffer,
                                  size_t size)
{
    return parsrec_data_category_path(model->file.data, category, buffer, size);
}

/* ---- data in the numbering of a model ---- */

/* Columns that the model reads must exist. Their values are matched by name. */
static parsrec_status check_columns(const pr_model_file *file, const pr_dataset *data,
                                    parsrec_error *err)
{
    const pr_feature_inputs *inputs = &file->model->inputs;
    for (size_t i = 0; i < inputs->count; i++) {
        const pr_feature_input *t = &inputs->list[i];
        const pr_feature_column *wanted = &file->data->features[t->of][t->column];
        bool found = false;
        for (size_t c = 0; c < data->feature_count[t->of]; c++) {
            const pr_feature_column *f = &data->features[t->of][c];
            found |= strcmp(f->name, wanted->name) == 0 && (f->number != NULL) == t->number;
        }
        pr_excerpt hold;
        if (!found)
            return pr_fail(err, PARSREC_E_INPUT,
                           "the model reads the %s feature %s, which the data set lacks or has as "
                           "another kind of column; import the data with that feature",
                           t->of == PR_OF_USER ? "user" : "session",
                           pr_show(&hold, pr_slice_of(wanted->name)));
    }
    return PARSREC_OK;
}

parsrec_status pr_fit_data(pr_fitted *out, const pr_model_file *file, const pr_dataset *data,
                           bool counted_again, const parsrec_hooks *hooks, parsrec_error *err)
{
    char sentence[512];
    pr_match_facts facts;
    *out = (pr_fitted){0};
    PR_TRY(check_columns(file, data, err));
    PR_TRY(pr_dataset_match(&out->match, &facts, data, file->data, err));
    out->data = facts.same ? data : &out->match.data;
    if (counted_again)
        out->match.data.known_as = NULL;
    if (counted_again || data->by_users)
        facts.unknown_users = 0;
    pr_match_sentence(&facts, data, sentence, sizeof sentence);
    if (sentence[0] != '\0')
        pr_say(hooks, PARSREC_LOG_WARNING, "%s", sentence);
    return PARSREC_OK;
}

void pr_fitted_free(pr_fitted *fitted)
{
    pr_derived_free(&fitted->match);
    fitted->data = NULL;
}
