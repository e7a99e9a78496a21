/* Checkpoints, read: nothing in the file is believed before it is compared with the rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/model_file.h"
#include "train/checkpoint_parts.h"

static parsrec_status damaged(const pr_checkpoint *c, const char *tensor, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: the tensor '%s' does not fit the rest of the checkpoint",
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

static parsrec_status read_head(pr_checkpoint *c, parsrec_error *err)
{
    uint32_t version;
    PR_TRY(
        pr_container_expect(c->file, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, &version, err));
    PR_TRY(pr_model_words_read(c->file, &c->kind, &c->config, err));
    return read_position(c, err);
}

static parsrec_status belongs_to(const pr_checkpoint *c, const pr_dataset *data, parsrec_error *err)
{
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
    parsrec_status status = read_head(out, err);
    if (status == PARSREC_OK)
        status = belongs_to(out, data, err);
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

static void unpack_epoch(pr_epoch_result *e, const double *row, size_t i)
{
    *e = (pr_epoch_result){.number = (uint32_t)i + 1, .loss = row[0], .earlier = true};
    e->valid.baskets = (size_t)row[1];
    e->valid.steps = (size_t)row[2];
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        e->valid.value[PR_ALL][PR_HR][k] = row[3 + 3 * k];
        e->valid.value[PR_ALL][PR_NDCG][k] = row[4 + 3 * k];
        e->valid.value[PR_ALL][PR_SESS_PREC][k] = row[5 + 3 * k];
    }
}

/* rows: [epochs, PR_EPOCH_COLUMNS], checked. */
static parsrec_status find_epochs(const double **rows, const pr_checkpoint *c, parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(c->file, "epochs", PR_F64, 2, &t, err));
    if (t->shape[0] != c->at.epoch || t->shape[1] != PR_EPOCH_COLUMNS)
        return damaged(c, "epochs", err);
    *rows = t->data;
    for (size_t i = 0; i < c->at.epoch; i++)
        if (!sensible(*rows + i * PR_EPOCH_COLUMNS))
            return damaged(c, "epochs", err);
    return PARSREC_OK;
}

static parsrec_status read_epochs(pr_train_result *result, const pr_checkpoint *c,
                                  parsrec_error *err)
{
    const double *rows;
    size_t count = c->at.epoch;
    PR_TRY(find_epochs(&rows, c, err));
    PR_TRY(pr_grow(&result->epochs, &result->epoch_capacity, count, sizeof *result->epochs, err));
    for (size_t i = 0; i < count; i++)
        unpack_epoch(&result->epochs[i], rows + i * PR_EPOCH_COLUMNS, i);
    result->epoch_count = count;
    return PARSREC_OK;
}

/* What is counted does not change while a run learns: the best weights hold the same once there are
 * any, and no moments belong to it. */
static parsrec_status check_counted(const pr_run_state *run, const pr_checkpoint *c,
                                    parsrec_error *err)
{
    const pr_params *params = &run->model->params;
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        const pr_real *is = run->model->weights + p->at, *best = run->best + p->at;
        size_t size = pr_param_size(p);
        bool same = run->at.best_epoch == 0 || memcmp(is, best, size * sizeof *is) == 0;
        for (unsigned k = 0; k < 2 && p->words && same; k++) {
            const uint32_t *moment = (const void *)(pr_trainer_moment(run->trainer, k) + p->at);
            for (size_t j = 0; j < size && same; j++)
                same = moment[j] == 0;
        }
        if (p->counted && !same)
            return damaged(c, p->name, err);
    }
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_checkpoint *c, parsrec_error *err)
{
    run->at = c->at;
    *pr_trainer_step(run->trainer) = c->step;
    for (size_t b = 0; b < PR_CHECKPOINT_BLOCKS; b++)
        PR_TRY(pr_block_read(pr_checkpoint_block(run, b), c->file, pr_checkpoint_prefixes[b],
                             &run->model->params, err));
    PR_TRY(pr_model_verify(run->model, pr_container_path(c->file), err));
    PR_TRY(check_counted(run, c, err));
    return read_epochs(run->result, c, err);
}

/* ---- without the data set ---- */

/* Every parameter has its tensor in each block, all of one type and shape. */
static parsrec_status check_blocks(const pr_checkpoint *c, parsrec_error *err)
{
    size_t params = 0, prefix = strlen(pr_checkpoint_prefixes[0]),
           all = pr_container_tensors(c->file);
    for (size_t i = 0; i < all; i++) {
        const pr_tensor *t = pr_container_at(c->file, i), *other;
        if (!pr_tensor_finite(t))
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor '%s' contains a value that is not finite",
                           pr_container_path(c->file), t->name);
        if (strncmp(t->name, pr_checkpoint_prefixes[0], prefix) != 0 || t->name[prefix] != '.')
            continue;
        params++;
        for (size_t b = 1; b < PR_CHECKPOINT_BLOCKS; b++) {
            char name[64];
            if (snprintf(name, sizeof name, "%s%s", pr_checkpoint_prefixes[b], t->name + prefix) >=
                (int)sizeof name)
                return damaged(c, t->name, err);
            PR_TRY(pr_container_need(c->file, name, t->dtype, t->rank, &other, err));
            if (memcmp(other->shape, t->shape, t->rank * sizeof *t->shape) != 0)
                return damaged(c, name, err);
        }
    }
    return params > 0 && all == PR_CHECKPOINT_BLOCKS * params + 2 ? PARSREC_OK
                                                                  : damaged(c, "param", err);
}

parsrec_status pr_checkpoint_inspect(pr_container *file, parsrec_error *err)
{
    pr_checkpoint c = {.file = file};
    const double *rows;
    parsrec_status status = read_head(&c, err);
    if (status == PARSREC_OK)
        status = find_epochs(&rows, &c, err);
    if (status == PARSREC_OK)
        status = check_blocks(&c, err);
    pr_checkpoint_close(&c);
    return status;
}
