/* A model and the data set it was trained on, in one file: parameters as param.*, the settings in
 * the metadata, and the columns of the data set under their own names. Nothing else is needed to
 * use the model. */
#ifndef PR_MODEL_FILE_H
#define PR_MODEL_FILE_H

#include "data/dataset.h"
#include "data/dataset_edit.h"
#include "data/directory.h"
#include "data/histories.h"
#include "model/model.h"

#define PR_MODEL_FORMAT "parsrec.model"
enum { PR_MODEL_VERSION = 1 };

typedef struct pr_model_file {
    pr_model *model;
    pr_dataset *data; /* users, their histories and the catalogue */
} pr_model_file;

/* Writes atomically. Equal models give equal files. Of a model whose users are divided among ranks rank 0
 * writes all, while the others call pr_user_rows_hand_in. */
parsrec_status pr_model_save(const pr_model *model, const pr_dataset *data, const char *path,
                             parsrec_error *err);

/* Reads a file; free with pr_model_file_free. A file without a checksum is rejected: model files
 * always have one, so its name must have been damaged. */
parsrec_status pr_model_load(pr_model_file *out, const char *path, parsrec_error *err);
/* Takes ownership of the container, also on failure. */
parsrec_status pr_model_from(pr_model_file *out, pr_container *file, parsrec_error *err);
void pr_model_file_free(pr_model_file *file); /* a zeroed struct is allowed */

/* ---- shared with checkpoints ---- */

/* The model's metadata: its kind and its settings as JSON. */
typedef struct pr_model_words {
    pr_metadata list[2];
    char *config; /* owned */
} pr_model_words;

parsrec_status pr_model_words_make(pr_model_words *words, const pr_model *model,
                                   parsrec_error *err);
/* Reads them; kind is valid as long as the container. */
parsrec_status pr_model_words_read(const pr_container *file, const char **kind, pr_config *config,
                                   parsrec_error *err);

/* Writes a block as one tensor per parameter, named PREFIX.param, and reads it. Names, types and
 * shapes can be checked before the block is allocated. Where users are divided among ranks the tensor is
 * that of all, and its own rows are read. */
parsrec_status pr_block_tensors(pr_tensor *tensors, char (*names)[64], const char *prefix,
                                const pr_params *params, const pr_real *block, parsrec_error *err);
/* Checks that the file has every tensor with its type and shape. */
parsrec_status pr_block_check(const pr_container *file, const char *prefix, const pr_params *params,
                              parsrec_error *err);
parsrec_status pr_block_read(pr_real *block, const pr_container *file, const char *prefix,
                             const pr_params *params, parsrec_error *err);

/* ---- a loaded model: with its catalogue, its users and their histories, as parsrec_model_load makes it ---- */

struct parsrec_model {
    pr_model_file file;
    bool borrows_data;      /* file.data is owned by the caller */
    pr_directory directory; /* after histories were loaded it may have more users than the model */
    pr_histories pasts;
    pr_real *popularity; /* [items]: the share of history sessions that contain the item */
};

/* Recomputes popularity after the histories changed. */
parsrec_status pr_model_count_popular(parsrec_model *model, parsrec_error *err);

/* A data set in the numbering of a model (data/dataset_edit.h). Names that the model does not know
 * are reported once, through the hooks. A model that is counted again from the result knows all its
 * users. E_INPUT if the data lack a feature that the model reads, or have none of its items. */
typedef struct pr_fitted {
    const pr_dataset *data; /* owned by the caller, or the one in `match` */
    pr_derived match;
} pr_fitted;
parsrec_status pr_fit_data(pr_fitted *out, const pr_model_file *file, const pr_dataset *data,
                           bool counted_again, const parsrec_hooks *hooks, parsrec_error *err);
void pr_fitted_free(pr_fitted *fitted); /* a zeroed struct is allowed */

#endif
