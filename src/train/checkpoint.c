/* Checkpoints: weights, best weights, both moments, the epochs so far, and the position as JSON. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "train/model_file.h"

/* Every block of numbers with its name in the file. */
enum { BLOCKS = 4 };
static const char *const prefixes[BLOCKS] = {"param", "best", "moment1", "moment2"};

static pr_real *block_of(const pr_run_state *run, size_t i)
{
    switch (i) {
    case 0:
        return run->model->weights;
    case 1:
        return run->best;
    default:
        return pr_trainer_moment(run->trainer, (unsigned)i - 2);
    }
}

/* One row an epoch: loss, validated baskets and steps, then three measures at each cutoff. */
enum { EPOCH_COLUMNS = 3 + 3 * PR_CUTOFFS };

static void pack_epoch(double *row, const pr_epoch *e)
{
    row[0] = e->loss;
    row[1] = (double)e->valid.baskets;
    row[2] = (double)e->valid.steps;
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        row[3 + 3 * k] = e->valid.hit_rate[k];
        row[4 + 3 * k] = e->valid.ndcg[k];
        row[5 + 3 * k] = e->valid.session_precision[k];
    }
}

static void unpack_epoch(pr_epoch *e, const double *row, size_t i)
{
    *e = (pr_epoch){.number = (uint32_t)i + 1, .loss = row[0]};
    e->valid.baskets = (size_t)row[1];
    e->valid.steps = (size_t)row[2];
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        e->valid.hit_rate[k] = row[3 + 3 * k];
        e->valid.ndcg[k] = row[4 + 3 * k];
        e->valid.session_precision[k] = row[5 + 3 * k];
    }
}

/* ---- the position as text; doubles as their bits ---- */

static char *data_identity(const pr_dataset *d, char *out, size_t size)
{
    snprintf(out, size, "%zu/%zu/%zu/%zu/%s", d->users, d->sessions, d->items, d->actions,
             d->file != NULL ? pr_container_checksum(d->file) : "");
    return out;
}

#define POSITION_FORMAT                                                                       \
    "seed=%" PRIu64 " epoch=%" PRIu32 " batch=%" PRIu64 " batches=%" PRIu64 " items=%" PRIu64 \
    " loss=%" PRIx64 " best=%" PRIu32 " step=%" PRIu64
#define POSITION_SCAN                                                                         \
    "seed=%" SCNu64 " epoch=%" SCNu32 " batch=%" SCNu64 " batches=%" SCNu64 " items=%" SCNu64 \
    " loss=%" SCNx64 " best=%" SCNu32 " step=%" SCNu64

static void write_position(char *out, size_t size, const pr_run_state *run)
{
    const pr_position *at = &run->at;
    uint64_t loss;
    memcpy(&loss, &at->loss, sizeof loss);
    snprintf(out, size, POSITION_FORMAT, at->seed, at->epoch, at->batch, at->batches, at->items,
             loss, at->best_epoch, *pr_trainer_step(run->trainer));
}

static parsrec_status read_position(const pr_container *file, pr_position *at, uint64_t *step,
                                    parsrec_error *err)
{
    const char *text = pr_container_metadata(file, "position");
    uint64_t loss;
    if (text == NULL || sscanf(text, POSITION_SCAN, &at->seed, &at->epoch, &at->batch, &at->batches,
                               &at->items, &loss, &at->best_epoch, step) != 8)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the checkpoint does not say where it stands",
                       pr_container_path(file));
    memcpy(&at->loss, &loss, sizeof loss);
    return PARSREC_OK;
}

/* ---- saving ---- */

typedef struct listing {
    pr_tensor *tensors;
    char (*names)[64];
    double *epochs;
    pr_model_words words;
} listing;

static parsrec_status list_all(listing *l, const pr_run_state *run, parsrec_error *err)
{
    size_t count = run->model->params.count, epochs = run->result->epoch_count;
    l->tensors = pr_alloc(BLOCKS * count + 1, sizeof *l->tensors);
    l->names = pr_alloc(BLOCKS * count, sizeof *l->names);
    l->epochs = pr_alloc(epochs * EPOCH_COLUMNS, sizeof *l->epochs);
    if (l->tensors == NULL || l->names == NULL || l->epochs == NULL)
        return pr_fail_memory(err);
    for (size_t b = 0; b < BLOCKS; b++)
        PR_TRY(pr_block_tensors(l->tensors + b * count, l->names + b * count, prefixes[b],
                                &run->model->params, block_of(run, b), err));
    for (size_t i = 0; i < epochs; i++)
        pack_epoch(l->epochs + i * EPOCH_COLUMNS, &run->result->epochs[i]);
    l->tensors[BLOCKS * count] =
        (pr_tensor){"epochs", PR_F64, 2, {epochs, EPOCH_COLUMNS}, l->epochs};
    return pr_model_words_make(&l->words, run->model, err);
}

parsrec_status pr_checkpoint_save(const pr_run_state *run, const char *path, parsrec_error *err)
{
    listing l = {0};
    char position[256], identity[128];
    parsrec_status status = list_all(&l, run, err);
    if (status == PARSREC_OK) {
        write_position(position, sizeof position, run);
        const pr_metadata metadata[] = {
            l.words.list[0],
            l.words.list[1],
            {"position", position},
            {"data", data_identity(run->data, identity, sizeof identity)},
        };
        status = pr_container_write(path, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, metadata,
                                    sizeof metadata / sizeof *metadata, l.tensors,
                                    BLOCKS * run->model->params.count + 1, err);
    }
    pr_free(l.words.config);
    pr_free(l.epochs);
    pr_free(l.tensors);
    pr_free(l.names);
    return status;
}

/* ---- reading ---- */

static parsrec_status read_head(const pr_container *file, const pr_dataset *data, const char **kind,
                                pr_config *config, pr_position *at, parsrec_error *err)
{
    uint32_t version;
    uint64_t step;
    char identity[128];
    PR_TRY(pr_container_expect(file, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, &version, err));
    PR_TRY(pr_model_words_read(file, kind, config, err));
    PR_TRY(read_position(file, at, &step, err));
    const char *said = pr_container_metadata(file, "data");
    if (said == NULL || strcmp(said, data_identity(data, identity, sizeof identity)) != 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: belongs to another data set; resume with the one it was begun on",
                       pr_container_path(file));
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_open(pr_container **file, const char *path, const pr_dataset *data,
                                  const char **kind, pr_config *config, pr_position *at,
                                  parsrec_error *err)
{
    PR_TRY(pr_container_open(file, path, err));
    parsrec_status status = read_head(*file, data, kind, config, at, err);
    if (status != PARSREC_OK) {
        pr_container_free(*file);
        *file = NULL;
    }
    return status;
}

static parsrec_status read_epochs(pr_train_result *result, const pr_container *file,
                                  parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(file, "epochs", PR_F64, 2, &t, err));
    if (t->shape[1] != EPOCH_COLUMNS)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor 'epochs' has %llu columns, expected %d",
                       pr_container_path(file), (unsigned long long)t->shape[1], EPOCH_COLUMNS);
    size_t count = (size_t)t->shape[0];
    PR_TRY(
        pr_grow(&result->epochs, &result->epoch_capacity, count + 1, sizeof *result->epochs, err));
    for (size_t i = 0; i < count; i++)
        unpack_epoch(&result->epochs[i], (const double *)t->data + i * EPOCH_COLUMNS, i);
    result->epoch_count = count;
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_container *file, parsrec_error *err)
{
    PR_TRY(read_position(file, &run->at, pr_trainer_step(run->trainer), err));
    for (size_t b = 0; b < BLOCKS; b++)
        PR_TRY(pr_block_read(block_of(run, b), file, prefixes[b], &run->model->params, err));
    return read_epochs(run->result, file, err);
}
