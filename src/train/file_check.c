/* The check of any file that parsrec writes (parsrec_file_check). It lives in this room because the
 * rooms below do not know checkpoints. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "data/file_kind.h"
#include "data/histories.h"
#include "data/shards.h"
#include "model/model_file.h"
#include "train/checkpoint.h"

/* Each format that can be checked: its newest version and who verifies the contents. The function
 * takes the container over. */
typedef struct checker {
    const char *format;
    uint32_t newest;
    parsrec_status (*verify)(pr_container *file, parsrec_error *err);
} checker;

static parsrec_status verify_data(pr_container *file, parsrec_error *err)
{
    pr_dataset *data;
    PR_TRY(pr_dataset_from(&data, file, err));
    pr_dataset_free(data);
    return PARSREC_OK;
}

static parsrec_status verify_model(pr_container *file, parsrec_error *err)
{
    pr_model_file model;
    PR_TRY(pr_model_from(&model, file, err));
    pr_model_file_free(&model);
    return PARSREC_OK;
}

static parsrec_status verify_dictionary(pr_container *file, parsrec_error *err)
{
    pr_dictionary dictionary;
    PR_TRY(pr_dictionary_from(&dictionary, file, err));
    pr_dictionary_free(&dictionary);
    return PARSREC_OK;
}

static parsrec_status verify_manifest(pr_container *file, parsrec_error *err)
{
    pr_manifest manifest;
    PR_TRY(pr_manifest_from(&manifest, file, err));
    pr_container_free(manifest.file);
    return PARSREC_OK;
}

/* What a shard holds can only be judged with its dictionary. */
static parsrec_status verify_shard(pr_container *file, parsrec_error *err)
{
    parsrec_status status =
        pr_kind_fail_other(pr_container_path(file), PR_SHARD_FORMAT, PR_DATA_FORMAT, err);
    pr_container_free(file);
    return status;
}

static const checker checkers[] = {
    {PR_DATA_FORMAT, PR_DATA_VERSION, verify_data},
    {PR_MODEL_FORMAT, PR_MODEL_VERSION, verify_model},
    {PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, pr_checkpoint_inspect},
    {PR_LIVE_FORMAT, PR_LIVE_VERSION, pr_live_file_inspect},
    {PR_DICTIONARY_FORMAT, PR_SHARDS_VERSION, verify_dictionary},
    {PR_MANIFEST_FORMAT, PR_SHARDS_VERSION, verify_manifest},
    {PR_SHARD_FORMAT, PR_SHARDS_VERSION, verify_shard},
};

static parsrec_status find_checker(const pr_container *file, const checker **out,
                                   parsrec_error *err)
{
    const char *format = pr_container_metadata(file, "format");
    pr_excerpt hold;
    *out = NULL;
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++)
        if (format != NULL && strcmp(format, checkers[i].format) == 0)
            *out = &checkers[i];
    if (*out != NULL)
        return PARSREC_OK;
    if (format == NULL)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: a safetensors file without the metadata 'format'; parsrec did not "
                       "write it",
                       pr_container_path(file));
    return pr_fail(err, PARSREC_E_FORMAT, "%s: this parsrec cannot check the format %s",
                   pr_container_path(file), pr_show(&hold, pr_slice_of(format)));
}

static parsrec_status check_container(pr_container *file, parsrec_file_report *report,
                                      parsrec_error *err)
{
    const checker *found;
    parsrec_file_report r = {.bytes = pr_container_bytes(file),
                             .tensors = pr_container_tensors(file),
                             .has_checksum = pr_container_checksum(file)[0] != '\0'};
    parsrec_status status = find_checker(file, &found, err);
    if (status == PARSREC_OK)
        status = pr_container_expect(file, found->format, found->newest, &r.version, err);
    if (status != PARSREC_OK) {
        pr_container_free(file);
        return status;
    }
    snprintf(r.format, sizeof r.format, "%s", found->format);
    PR_TRY(found->verify(file, err));
    if (report != NULL)
        *report = r;
    return PARSREC_OK;
}

static parsrec_status check_folder(const char *path, parsrec_file_report *report,
                                   parsrec_error *err)
{
    pr_dataset *data;
    PR_TRY(pr_dataset_load(&data, path, err));
    if (report != NULL)
        *report = (parsrec_file_report){.format = PR_MANIFEST_FORMAT,
                                        .version = PR_SHARDS_VERSION,
                                        .bytes = pr_joined_bytes(data),
                                        .tensors = pr_joined_tensors(data),
                                        .has_checksum = true};
    pr_dataset_free(data);
    return PARSREC_OK;
}

parsrec_status parsrec_file_check(const char *path, parsrec_file_report *report, parsrec_error *err)
{
    if (path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_file_check needs a path");
    pr_container *file;
    if (pr_shards_at(path))
        return check_folder(path, report, err);
    PR_TRY(pr_container_open(&file, path, err));
    return check_container(file, report, err);
}
