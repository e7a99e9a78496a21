/* Checkpoints: the tensors of the file, written from a run and read back. When one is read, nothing
 * in the file is believed before it is compared with the rest. */
#include "train/checkpoint.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "model/model_file.h"
#include "model/user_rows.h"

/* The blocks of numbers. A tensor of a block is called by the block's prefix and the parameter's
 * name. The average is last because not every run has one (block_count). */
enum { BLOCK_WEIGHTS, BLOCK_BEST, BLOCK_MOMENT_1, BLOCK_MOMENT_2, BLOCK_AVERAGE, BLOCKS_MOST };
static const char *const prefixes[BLOCKS_MOST] = {"param", "best", "moment1", "moment2", "average"};

/* The tensor "position": whole numbers; the loss as the bits of a double. */
enum {
    AT_SEED,
    AT_PATIENCE,
    AT_EPOCH,
    AT_BATCH,
    AT_BATCHES,
    AT_ITEMS,
    AT_LOSS,
    AT_BEST_EPOCH,
    AT_STEP,
    AT_COUNT,
};

/* The tensor "epochs", one row each: loss, validated baskets and steps, then hit rate, NDCG and
 * session precision at each cutoff, then NDCG@10 by `next` and by `basket`, which old files
 * lack. */
enum { EPOCH_COLUMNS_OLD = 3 + 3 * PR_CUTOFFS, EPOCH_COLUMNS = EPOCH_COLUMNS_OLD + 2 };

/* "users/sessions/items/actions/digest": the digest is of the sessions and of both tables of
 * keys. */
typedef struct identity {
    char text[128];
} identity;

static size_t block_count(const pr_config *config)
{
    return config->average != PR_AVERAGE_OFF ? BLOCKS_MOST : BLOCK_AVERAGE;
}

static pr_real *block_of(const pr_run_state *run, size_t block)
{
    switch (block) {
    case BLOCK_WEIGHTS:
        return run->model->weights;
    case BLOCK_BEST:
        return run->best;
    case BLOCK_AVERAGE:
        return run->average;
    default:
        return pr_trainer_moment(run->trainer, block == BLOCK_MOMENT_1 ? 0 : 1);
    }
}

bool pr_run_state_finite(const pr_run_state *run)
{
    for (size_t b = 0; b < block_count(&run->model->config); b++) {
        const pr_real *block = block_of(run, b);
        pr_real sum = 0; /* zero times what is not finite is NaN */
        for (size_t i = 0; i < run->model->params.size; i++)
            sum += block[i] * 0;
        if (!(sum == 0))
            return false;
    }
    return true;
}

/* ---- writing ---- */

static identity data_identity(const pr_dataset *d)
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
    identity id;
    snprintf(id.text, sizeof id.text, "%zu/%zu/%zu/%zu/%016llx", d->users, d->sessions, d->items,
             d->actions, (unsigned long long)XXH3_64bits_digest(&sum));
    return id;
}

static void pack_position(uint64_t *out, const pr_run_state *run)
{
    const pr_position *at = &run->at;
    out[AT_SEED] = at->seed;
    out[AT_PATIENCE] = at->patience;
    out[AT_EPOCH] = at->epoch;
    out[AT_BATCH] = at->batch;
    out[AT_BATCHES] = at->batches;
    out[AT_ITEMS] = at->items;
    memcpy(&out[AT_LOSS], &at->loss, sizeof at->loss);
    out[AT_BEST_EPOCH] = at->best_epoch;
    out[AT_STEP] = *pr_trainer_step(run->trainer);
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
    row[EPOCH_COLUMNS_OLD] = e->next;
    row[EPOCH_COLUMNS_OLD + 1] = e->basket;
}

typedef struct listing {
    pr_tensor *tensors;
    size_t count;
    char (*names)[64];
    double *epochs;
    uint64_t position[AT_COUNT];
    pr_model_words words;
    pr_user_rows_reader readers[BLOCKS_MOST]; /* where users are divided among ranks */
    pr_tensor_source sources[BLOCKS_MOST];
    size_t source_count;
} listing;

static parsrec_status list_all(listing *l, const pr_run_state *run, parsrec_error *err)
{
    size_t params = run->model->params.count, epochs = run->result->epoch_count;
    size_t blocks = block_count(&run->model->config);
    l->tensors = pr_alloc(blocks * params + 2, sizeof *l->tensors);
    l->names = pr_alloc(blocks * params, sizeof *l->names);
    l->epochs = pr_alloc(epochs * EPOCH_COLUMNS, sizeof *l->epochs);
    if (l->tensors == NULL || l->names == NULL || l->epochs == NULL)
        return pr_fail_memory(err);
    for (size_t b = 0; b < blocks; b++, l->count += params)
        PR_TRY(pr_block_tensors(l->tensors + l->count, l->names + l->count, prefixes[b],
                                &run->model->params, block_of(run, b), err));
    for (size_t b = 0; run->model->user_rows != NULL && b < blocks; b++)
        l->sources[l->source_count++] =
            pr_user_rows_source(&l->readers[b], run->model, block_of(run, b));
    for (size_t i = 0; i < epochs; i++)
        pack_epoch(l->epochs + i * EPOCH_COLUMNS, &run->result->epochs[i]);
    l->tensors[l->count++] = (pr_tensor){"epochs", PR_F64, 2, {epochs, EPOCH_COLUMNS}, l->epochs};
    pack_position(l->position, run);
    l->tensors[l->count++] = (pr_tensor){"position", PR_U64, 1, {AT_COUNT}, l->position};
    return pr_model_words_make(&l->words, run->model, err);
}

parsrec_status pr_checkpoint_hand_in(const pr_run_state *run, parsrec_error *err)
{
    /* A container stores tensors of one element size by name, so rank 0 writes the blocks in this
     * order. */
    static const size_t by_name[BLOCKS_MOST] = {BLOCK_AVERAGE, BLOCK_BEST, BLOCK_MOMENT_1,
                                                BLOCK_MOMENT_2, BLOCK_WEIGHTS};
    pr_user_rows *rows = run->model->user_rows;
    for (size_t i = 0; rows != NULL && i < BLOCKS_MOST; i++) {
        assert(i == 0 || strcmp(prefixes[by_name[i - 1]], prefixes[by_name[i]]) < 0);
        if (by_name[i] < block_count(&run->model->config))
            PR_TRY(pr_user_rows_hand_in(rows, run->model, block_of(run, by_name[i]), err));
    }
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_save(const pr_run_state *run, const char *path, parsrec_error *err)
{
    assert(run->model->weights != NULL && run->best != NULL && pr_run_state_finite(run));
    listing l = {0};
    parsrec_status status = list_all(&l, run, err);
    if (status == PARSREC_OK) {
        identity known = data_identity(run->data);
        const pr_metadata metadata[] = {l.words.list[0], l.words.list[1], {"data", known.text}};
        pr_apart apart = {.sources = l.sources, .source_count = l.source_count};
        status = pr_container_write_apart(path, PR_CHECKPOINT_FORMAT, PR_CHECKPOINT_VERSION,
                                          metadata, sizeof metadata / sizeof *metadata, l.tensors,
                                          l.count, &apart, err);
    }
    pr_free(l.words.config);
    pr_free(l.epochs);
    pr_free(l.tensors);
    pr_free(l.names);
    return status;
}

static parsrec_status damaged(const pr_checkpoint *c, const char *tensor, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT,
                   "%s: the tensor '%s' does not fit the rest of the checkpoint",
                   pr_container_path(c->file), tensor);
}

/* ---- reading: settings and position ---- */

static parsrec_status read_position(pr_checkpoint *c, parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(c->file, "position", PR_U64, 1, &t, err));
    if (t->shape[0] != AT_COUNT)
        return damaged(c, "position", err);
    const uint64_t *number = t->data;
    if (number[AT_EPOCH] > UINT32_MAX - 1 || number[AT_BEST_EPOCH] > number[AT_EPOCH] ||
        (number[AT_EPOCH] > 0) != (number[AT_BEST_EPOCH] > 0))
        return damaged(c, "position", err);
    c->at = (pr_position){.seed = number[AT_SEED],
                          .patience = number[AT_PATIENCE],
                          .epoch = (uint32_t)number[AT_EPOCH],
                          .batch = number[AT_BATCH],
                          .batches = number[AT_BATCHES],
                          .items = number[AT_ITEMS],
                          .best_epoch = (uint32_t)number[AT_BEST_EPOCH]};
    memcpy(&c->at.loss, &number[AT_LOSS], sizeof c->at.loss);
    c->step = number[AT_STEP];
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
    if (c->config.batch == 0 || c->config.epochs == 0)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: batch = 0 and epochs = 0 are chosen when training begins; a checkpoint "
                       "cannot have them",
                       pr_container_path(c->file));
    return read_position(c, err);
}

static parsrec_status belongs_to(const pr_checkpoint *c, const pr_dataset *data, parsrec_error *err)
{
    identity known = data_identity(data);
    const char *said = pr_container_metadata(c->file, "data");
    if (said == NULL || strcmp(said, known.text) != 0)
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

/* ---- reading: blocks and epochs ---- */

parsrec_status pr_checkpoint_fits(const pr_checkpoint *c, const pr_model *model, parsrec_error *err)
{
    for (size_t b = 0; b < block_count(&c->config); b++)
        PR_TRY(pr_block_check(c->file, prefixes[b], &model->params, err));
    return PARSREC_OK;
}

/* Counts below 2^53 and finite numbers. */
static bool sensible(const double *row, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        if (!isfinite(row[i]))
            return false;
    return row[1] >= 0 && row[1] < 0x1p53 && row[2] >= 0 && row[2] < 0x1p53;
}

static void unpack_epoch(pr_epoch_result *e, const double *row, size_t columns, size_t i)
{
    *e = (pr_epoch_result){.number = (uint32_t)i + 1, .loss = row[0], .earlier = true};
    e->valid.baskets = (size_t)row[1];
    e->valid.steps = (size_t)row[2];
    for (size_t k = 0; k < PR_CUTOFFS; k++) {
        e->valid.value[PR_ALL][PR_HR][k] = row[3 + 3 * k];
        e->valid.value[PR_ALL][PR_NDCG][k] = row[4 + 3 * k];
        e->valid.value[PR_ALL][PR_SESS_PREC][k] = row[5 + 3 * k];
    }
    if (columns < EPOCH_COLUMNS)
        return;
    e->next = row[EPOCH_COLUMNS_OLD];
    e->basket = row[EPOCH_COLUMNS_OLD + 1];
}

/* rows: [epochs, columns], checked. */
static parsrec_status find_epochs(const double **rows, size_t *columns, const pr_checkpoint *c,
                                  parsrec_error *err)
{
    const pr_tensor *t;
    PR_TRY(pr_container_need(c->file, "epochs", PR_F64, 2, &t, err));
    if (t->shape[0] != c->at.epoch ||
        (t->shape[1] != EPOCH_COLUMNS && t->shape[1] != EPOCH_COLUMNS_OLD))
        return damaged(c, "epochs", err);
    *rows = t->data;
    *columns = (size_t)t->shape[1];
    for (size_t i = 0; i < c->at.epoch; i++)
        if (!sensible(*rows + i * *columns, *columns))
            return damaged(c, "epochs", err);
    return PARSREC_OK;
}

static parsrec_status read_epochs(pr_train_result *result, const pr_checkpoint *c,
                                  parsrec_error *err)
{
    const double *rows;
    size_t count = c->at.epoch, columns;
    PR_TRY(find_epochs(&rows, &columns, c, err));
    PR_TRY(pr_grow(&result->epochs, &result->epoch_capacity, count, sizeof *result->epochs, err));
    for (size_t i = 0; i < count; i++)
        unpack_epoch(&result->epochs[i], rows + i * columns, columns, i);
    result->epoch_count = count;
    return PARSREC_OK;
}

/* What is counted does not change while a run learns: the average holds the same, the best weights
 * do once there are any, and no moments belong to it. */
static parsrec_status check_counted(const pr_run_state *run, const pr_checkpoint *c,
                                    parsrec_error *err)
{
    const pr_params *params = &run->model->params;
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        if (!p->counted)
            continue;
        const pr_real *is = run->model->weights + p->at, *best = run->best + p->at;
        size_t size = pr_param_size(p);
        bool same = run->at.best_epoch == 0 || memcmp(is, best, size * sizeof *is) == 0;
        if (run->average != NULL)
            same = same && memcmp(is, run->average + p->at, size * sizeof *is) == 0;
        for (unsigned k = 0; k < 2 && p->words && same; k++) {
            const uint32_t *moment = (const void *)(pr_trainer_moment(run->trainer, k) + p->at);
            for (size_t j = 0; j < size && same; j++)
                same = moment[j] == 0;
        }
        if (!same)
            return damaged(c, p->name, err);
    }
    return PARSREC_OK;
}

parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_checkpoint *c, parsrec_error *err)
{
    assert(run->model->weights != NULL && run->trainer != NULL && run->best != NULL);
    assert(run->result != NULL && run->result->epoch_count == 0);
    assert((run->average != NULL) == (c->config.average != PR_AVERAGE_OFF));
    run->at = c->at;
    *pr_trainer_step(run->trainer) = c->step;
    for (size_t b = 0; b < block_count(&c->config); b++)
        PR_TRY(pr_block_read(block_of(run, b), c->file, prefixes[b], &run->model->params, err));
    PR_TRY(pr_model_verify(run->model, pr_container_path(c->file), err));
    PR_TRY(check_counted(run, c, err));
    return read_epochs(run->result, c, err);
}

/* ---- reading: what can be verified without the data set ---- */

/* Every parameter has its tensor in each block, all of one type and shape. */
static parsrec_status check_blocks(const pr_checkpoint *c, parsrec_error *err)
{
    size_t params = 0, prefix = strlen(prefixes[0]), all = pr_container_tensors(c->file);
    size_t blocks = block_count(&c->config);
    for (size_t i = 0; i < all; i++) {
        const pr_tensor *t = pr_container_at(c->file, i), *other;
        if (!pr_tensor_finite(t))
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor '%s' contains a value that is not finite",
                           pr_container_path(c->file), t->name);
        if (strncmp(t->name, prefixes[0], prefix) != 0 || t->name[prefix] != '.')
            continue;
        params++;
        for (size_t b = 1; b < blocks; b++) {
            char name[64];
            if (snprintf(name, sizeof name, "%s%s", prefixes[b], t->name + prefix) >=
                (int)sizeof name)
                return damaged(c, t->name, err);
            PR_TRY(pr_container_need(c->file, name, t->dtype, t->rank, &other, err));
            if (memcmp(other->shape, t->shape, t->rank * sizeof *t->shape) != 0)
                return damaged(c, name, err);
        }
    }
    return params > 0 && all == blocks * params + 2 ? PARSREC_OK : damaged(c, "param", err);
}

parsrec_status pr_checkpoint_inspect(pr_container *file, parsrec_error *err)
{
    pr_checkpoint c = {.file = file};
    const double *rows;
    size_t columns;
    parsrec_status status = read_head(&c, err);
    if (status == PARSREC_OK)
        status = find_epochs(&rows, &columns, &c, err);
    if (status == PARSREC_OK)
        status = check_blocks(&c, err);
    pr_checkpoint_close(&c);
    return status;
}
