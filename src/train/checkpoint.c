/* Checkpoints, written: weights, best weights, both moments, the epochs so far and the position. */
#include "train/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "model/model_file.h"
#include "train/checkpoint_parts.h"

const char *const pr_checkpoint_prefixes[PR_CHECKPOINT_BLOCKS] = {"param", "best", "moment1",
                                                                  "moment2"};

pr_real *pr_checkpoint_block(const pr_run_state *run, size_t i)
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

bool pr_run_state_finite(const pr_run_state *run)
{
    for (size_t b = 0; b < PR_CHECKPOINT_BLOCKS; b++) {
        const pr_real *block = pr_checkpoint_block(run, b);
        pr_real sum = 0; /* zero times what is no number is no number */
        for (size_t i = 0; i < run->model->params.size; i++)
            sum += block[i] * 0;
        if (!(sum == 0))
            return false;
    }
    return true;
}

pr_identity pr_data_identity(const pr_dataset *d)
{
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, d->user_offsets, (d->users + 1) * sizeof *d->user_offsets);
    XXH3_64bits_update(&sum, d->session_offsets, (d->sessions + 1) * sizeof *d->session_offsets);
    XXH3_64bits_update(&sum, d->action_items, d->actions * sizeof *d->action_items);
    const pr_names *keys[] = {&d->user_keys, &d->item_keys};
    for (size_t i = 0; i < 2; i++)
        if (keys[i]->count > 0)
            XXH3_64bits_update(&sum, keys[i]->bytes, (size_t)keys[i]->offsets[keys[i]->count]);
    pr_identity id;
    snprintf(id.text, sizeof id.text, "%zu/%zu/%zu/%zu/%016llx", d->users, d->sessions, d->items,
             d->actions, (unsigned long long)XXH3_64bits_digest(&sum));
    return id;
}

static void pack_position(uint64_t *out, const pr_run_state *run)
{
    const pr_position *at = &run->at;
    out[PR_AT_SEED] = at->seed;
    out[PR_AT_PATIENCE] = at->patience;
    out[PR_AT_EPOCH] = at->epoch;
    out[PR_AT_BATCH] = at->batch;
    out[PR_AT_BATCHES] = at->batches;
    out[PR_AT_ITEMS] = at->items;
    memcpy(&out[PR_AT_LOSS], &at->loss, sizeof at->loss);
    out[PR_AT_BEST_EPOCH] = at->best_epoch;
    out[PR_AT_STEP] = *pr_trainer_step(run->trainer);
}

static void pack_epoch(double *row, const pr_epoch_result *e)
{
    row[0] = e->loss;
    row[1] = (double)e->valid.baskets;
    row[2] = (double)e->valid.steps;
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        row[3 + 3 * k] = e->valid.value[PR_ALL][PR_HR][k];
        row[4 + 3 * k] = e->valid.value[PR_ALL][PR_NDCG][k];
        row[5 + 3 * k] = e->valid.value[PR_ALL][PR_SESS_PREC][k];
    }
}

typedef struct listing {
    pr_tensor *tensors;
    size_t count;
    char (*names)[64];
    double *epochs;
    uint64_t position[PR_AT_COUNT];
    pr_model_words words;
} listing;

static parsrec_status list_all(listing *l, const pr_run_state *run, parsrec_error *err)
{
    size_t params = run->model->params.count, epochs = run->result->epoch_count;
    l->tensors = pr_alloc(PR_CHECKPOINT_BLOCKS * params + 2, sizeof *l->tensors);
    l->names = pr_alloc(PR_CHECKPOINT_BLOCKS * params, sizeof *l->names);
    l->epochs = pr_alloc(epochs * PR_EPOCH_COLUMNS, sizeof *l->epochs);
    if (l->tensors == NULL || l->names == NULL || l->epochs == NULL)
        return pr_fail_memory(err);
    for (size_t b = 0; b < PR_CHECKPOINT_BLOCKS; b++, l->count += params)
        PR_TRY(pr_block_tensors(l->tensors + l->count, l->names + l->count,
                                pr_checkpoint_prefixes[b], &run->model->params,
                                pr_checkpoint_block(run, b), err));
    for (size_t i = 0; i < epochs; i++)
        pack_epoch(l->epochs + i * PR_EPOCH_COLUMNS, &run->result->epochs[i]);
    l->tensors[l->count++] =
        (pr_tensor){"epochs", PR_F64, 2, {epochs, PR_EPOCH_COLUMNS}, l->epochs};
    pack_position(l->position, run);
    l->tensors[l->count++] = (pr_tensor){"position", PR_U64, 1, {PR_AT_COUNT}, l->position};
    return pr_model_words_make(&l->words, run->model, err);
}

parsrec_status pr_checkpoint_save(const pr_run_state *run, const char *path, parsrec_error *err)
{
    listing l = {0};
    parsrec_status status = list_all(&l, run, err);
    if (status == PARSREC_OK) {
        pr_identity identity = pr_data_identity(run->data);
        const pr_metadata metadata[] = {l.words.list[0], l.words.list[1], {"data", identity.text}};
        status = pr_container_write(path, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION, metadata,
                                    sizeof metadata / sizeof *metadata, l.tensors, l.count, err);
    }
    pr_free(l.words.config);
    pr_free(l.epochs);
    pr_free(l.tensors);
    pr_free(l.names);
    return status;
}
