/* A model and the data set it was trained on, in one file: parameters as param.*, the settings in the
 * metadata, and the columns of the data set under their own names, so that the file serves alone. */
#ifndef PR_MODEL_FILE_H
#define PR_MODEL_FILE_H

#include "data/dataset.h"
#include "model/model.h"

#define PR_MODEL_FORMAT "parsrec.model"
enum { PR_MODEL_VERSION = 1 };

typedef struct pr_model_file {
    pr_model *model;
    pr_dataset *data; /* users, their past and the catalogue */
} pr_model_file;

/* Writes atomically; equal models give equal files. */
parsrec_status pr_model_save(const pr_model *model, const pr_dataset *data, const char *path,
                             parsrec_error *err);

/* A file without a checksum is refused: we write none, so a bit of its name was flipped. */
parsrec_status pr_model_load(pr_model_file *out, const char *path, parsrec_error *err);
/* Takes the container over, also when it fails. */
parsrec_status pr_model_from(pr_model_file *out, pr_container *file, parsrec_error *err);
void pr_model_file_free(pr_model_file *file); /* a zeroed one is fine */

/* ---- shared with checkpoints ---- */

/* Opens a container that must carry a checksum. */
parsrec_status pr_sealed_open(pr_container **out, const char *path, parsrec_error *err);

/* The model's metadata: its kind and its settings as JSON. */
typedef struct pr_model_words {
    pr_metadata list[2];
    char *config; /* owned */
} pr_model_words;

parsrec_status pr_model_words_make(pr_model_words *words, const pr_model *model,
                                   parsrec_error *err);
/* Reads them back; kind lives as long as the container. */
parsrec_status pr_model_words_read(const pr_container *file, const char **kind, pr_config *config,
                                   parsrec_error *err);

/* The block of numbers named PREFIX.param as one tensor a parameter, and back. Whether names, types
 * and shapes fit can be asked beforehand, when the block is not there yet. */
parsrec_status pr_block_tensors(pr_tensor *tensors, char (*names)[64], const char *prefix,
                                const pr_params *params, const pr_real *block, parsrec_error *err);
/* Whether the file holds every tensor in its shape. */
parsrec_status pr_block_check(const pr_container *file, const char *prefix, const pr_params *params,
                              parsrec_error *err);
parsrec_status pr_block_read(pr_real *block, const pr_container *file, const char *prefix,
                             const pr_params *params, parsrec_error *err);

#endif
