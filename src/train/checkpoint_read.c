/* Checkpoints, read: nothing in the file is believed before it is compared with the rest. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/checkpoint_parts.h"
#include "train/model_file.h"

static parsrec_status damaged(const pr_checkpoint *c, const char *tensor, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT, "%s: the tensor '%s' does not make sense",
                   pr_container_path(c->file), tensor);
}

/* ---- head ---- */

static parsrec_status read_position(pr_checkpoint *c, parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(c->file, "position", PR_U64, 1, &t, err));
    if (t->shape[0] != PR_AT_COUNT)
        return damaged(c, "position", err);
    const uint64_t *number = t->data;
    if (number[PR_AT_EPOCH] > UINT32_MAX - 1 || number[PR_AT_BEST_EPOCH] > number[PR_AT_EPOCH] ||
        (number[PR_AT_EPOCH] > 0) != (number[PR_AT_BEST_EPOCH] > 0))
        return damaged(c, "position", err);
    c->at = (pr_position){.seed = number[PR_AT_SEED],
                          .patience = number[PR_AT_PATIENCE],
                          .epoch = (uint32_t)number[PR_AT_EPOCH],
                          .batch = number[PR_AT_BATCH],
                          .batches = number[PR_AT_BATCHES],
                          .items = number[PR_AT_ITEMS],
                          .best_epoch = (uint32_t)number[PR_AT_BEST_EPOCH]};
    memcpy(&c->at.loss, &number[PR_AT_LOSS], sizeof c->at.loss);
    c->step = number[PR_AT_STEP];
    bool begun = c->at.batch > 0;
    if (!isfinite(c->at.loss) || begun != (c->at.items > 0) || c->at.batch > c->at.batches)
        return damaged(c, "position", err);
    return PARSREC_OK;
}

static parsrec_status read_head(pr_checkpoint *c, const pr_dataset *data, parsrec_error *err)
{
    uint32_t version;
    PR_TRY(
        pr_container_expect(c->file, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, &version, err));
    PR_TRY(pr_model_words_read(c->file, &c->kind, &c->config, err));
    PR_TRY(read_position(c, err));
    pr_identity identity = pr_data_identity(data);
    const char *said = pr_container_metadata(c->file, "data");
    if (said == NULL || strcmp(said, identity.text) != 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: belongs to another data set; resume with the one it was begun on",
                       pr_container_path(c->file));
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_from(pr_checkpoint *out, pr_container *file, const pr_dataset *data,
                                  parsrec_error *err)
{
    *out = (pr_checkpoint){.file = file};
    parsrec_status status = read_head(out, data, err);
    if (status != PARSREC_OK)
        pr_checkpoint_close(out);
    return status;
}

parsrec_status pr_checkpoint_open(pr_checkpoint *out, const char *path, const pr_dataset *data,
                                  parsrec_error *err)
{
    *out = (pr_checkpoint){0};
    pr_container *file;
    PR_TRY(pr_sealed_open(&file, path, err));
    return pr_checkpoint_from(out, file, data, err);
}

void pr_checkpoint_close(pr_checkpoint *checkpoint)
{
    pr_container_free(checkpoint->file);
    *checkpoint = (pr_checkpoint){0};
}

/* ---- numbers ---- */

parsrec_status pr_checkpoint_fits(const pr_checkpoint *c, const pr_model *model, parsrec_error *err)
{
    for (size_t b = 0; b < PR_CHECKPOINT_BLOCKS; b++)
        PR_TRY(pr_block_check(c->file, pr_checkpoint_prefixes[b], &model->params, err));
    return PARSREC_OK;
}

/* Counts below 2^53 and finite numbers. */
static bool sensible(const double *row)
{
    for (size_t i = 0; i < PR_EPOCH_COLUMNS; i++)
        if (!isfinite(row[i]))
            return false;
    return row[1] >= 0 && row[1] < 0x1p53 && row[2] >= 0 && row[2] < 0x1p53;
}

static void unpack_epoch(pr_epoch *e, const double *row, size_t i)
{
    *e = (pr_epoch){.number = (uint32_t)i + 1, .loss = row[0], .earlier = true};
    e->valid.baskets = (size_t)row[1];
    e->valid.steps = (size_t)row[2];
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        e->valid.value[PR_ALL][PR_HR][k] = row[3 + 3 * k];
        e->valid.value[PR_ALL][PR_NDCG][k] = row[4 + 3 * k];
        e->valid.value[PR_ALL][PR_SESS_PREC][k] = row[5 + 3 * k];
    }
}

static parsrec_status read_epochs(pr_train_result *result, const pr_checkpoint *c,
                                  parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(c->file, "epochs", PR_F64, 2, &t, err));
    if (t->shape[0] != c->at.epoch || t->shape[1] != PR_EPOCH_COLUMNS)
        return damaged(c, "epochs", err);
    size_t count = c->at.epoch;
    PR_TRY(pr_grow(&result->epochs, &result->epoch_capacity, count, sizeof *result->epochs, err));
    for (size_t i = 0; i < count; i++) {
        const double *row = (const double *)t->data + i * PR_EPOCH_COLUMNS;
        if (!sensible(row))
            return damaged(c, "epochs", err);
        unpack_epoch(&result->epochs[i], row, i);
    }
    result->epoch_count = count;
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_checkpoint *c, parsrec_error *err)
{
    run->at = c->at;
    *pr_trainer_step(run->trainer) = c->step;
    for (size_t b = 0; b < PR_CHECKPOINT_BLOCKS; b++)
        PR_TRY(pr_block_read(pr_checkpoint_block(run, b), c->file, pr_checkpoint_prefixes[b],
                             &run->model->params, err));
    return read_epochs(run->result, c, err);
}
