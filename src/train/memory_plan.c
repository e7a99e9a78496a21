/* The estimate, and the choice of what lies in files. */
#include "train/memory_plan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "data/shards.h"
#include "data/split.h"
#include "model/settle.h"
#include "model/shared_parts.h"
#include "model/storage.h"
#include "model/user_rows.h"
#include "train/average.h"
#include "train/mixing.h"

/* The program itself with its libraries, and what matrix products take per thread. */
enum { PROGRAM_BYTES = 14000000, THREAD_BYTES = 2000000 };

/* Bytes of files that must have room in memory beside everything else: the pages that some batches
 * use. */
static const double least_window = 32e6;

/* All blocks in files that can be. */
static const bool all_in_files[PR_BLOCK_USES] = {true, true, true, true};

/* All in bytes. */
typedef struct estimate {
    double model, training, data, program; /* add up to the whole (total) */
    double in_files[PR_BLOCK_USES];        /* the part of these that could lie in files */
    double data_file; /* the part of `data` that is pages of a file, only read */
} estimate;

static double total(const estimate *e)
{
    return e->model + e->training + e->data + e->program;
}

/* Blocks beside the trainer's: the weights, those of the best epoch and, if it is kept, their
 * average. */
static double weight_blocks(const pr_config *config)
{
    return config->average != PR_AVERAGE_OFF ? 3 : 2;
}

/* PR_BLOCK_ASIDE: with sparse gradients, the items' own rows, kept aside while sums are shown. */
static double bytes_aside(const pr_model *model)
{
    double bytes = 0;
    bool drawn = model->kind->drawn_items != NULL &&
                 model->kind->drawn_items(model, 1) != PR_WHOLE_CATALOGUE;
    for (size_t i = 0; drawn && i < model->params.count; i++)
        if (model->params.list[i].group != PR_NOT_BY_ITEM &&
            pr_shared_of(model, &model->params.list[i]) != NULL)
            bytes += (double)pr_param_size(&model->params.list[i]) * sizeof(pr_real);
    return bytes;
}

static estimate estimate_of(const pr_train_run *r, const pr_limits *limits)
{
    const pr_model *model = r->state.model;
    const pr_dataset *d = r->data;
    unsigned threads = pr_pool_threads(r->pool);
    double block = (double)model->params.size * sizeof(pr_real);
    /* One evaluation at a time; each frees its memory. */
    double evaluation = fmax((double)pr_evaluation_bytes(&r->evaluation, model, threads),
                             (double)pr_evaluation_bytes(&r->basket, model, threads));
    estimate e = {
        .model = weight_blocks(&model->config) * block,
        .training = fmax((double)pr_trainer_bytes(model, limits, threads) + evaluation +
                             (double)pr_user_rows_bytes(model->user_rows, r->evaluation.count),
                         (double)pr_mix_bytes(model, r->evaluation.count)),
        .data = 4.0 * (double)d->actions + 8.0 * (double)d->sessions,
        .program = PROGRAM_BYTES + (double)threads * THREAD_BYTES,
        .in_files = {[PR_BLOCK_BEST] = block,
                     [PR_BLOCK_ASIDE] = bytes_aside(model),
                     [PR_BLOCK_AVERAGE] = model->config.average != PR_AVERAGE_OFF ? block : 0,
                     /* weights and two moments */
                     [PR_BLOCK_USERS] = 3.0 * (double)(model->params.size - model->params.shared) *
                                        sizeof(pr_real)},
    };
    if (d->joined != NULL) /* shards, joined in memory */
        e.data = (double)pr_joined_bytes(d);
    else if (d->file != NULL)
        e.data = (double)pr_container_bytes(d->file);
    if (d->joined == NULL && d->file != NULL && pr_container_pages(d->file) != NULL)
        e.data_file = e.data;
    e.data += (double)r->batches.basket_count * (2 * sizeof(pr_sample) + 2 * sizeof(uint32_t));
    return e;
}

parsrec_status pr_train_bytes(double *bytes, const char *kind, const pr_config *config,
                              const pr_dataset *data, unsigned threads, parsrec_error *err)
{
    pr_model *model;
    pr_shop shop = pr_shop_of(data);
    pr_config settled = *config;
    pr_settle_sizes(&settled, pr_model_kind_named(kind), data);
    PR_TRY(pr_model_new_bare(&model, kind, &settled, &shop, err));
    pr_limits limits = pr_limits_of(data, model);
    *bytes = weight_blocks(&settled) * (double)model->params.size * sizeof(pr_real) +
             (double)pr_trainer_bytes(model, &limits, threads) + (double)threads * THREAD_BYTES;
    pr_model_free(model);
    return PARSREC_OK;
}

/* ---- the choice ---- */

/* The memory of a run with these blocks in files. It fits a limit if pr_pager_usable(limit) is not
 * less. */
static double memory_with(const estimate *e, const bool in_files[PR_BLOCK_USES])
{
    double bytes = total(e), paged = 0;
    for (size_t i = 0; i < PR_BLOCK_USES; i++)
        if (in_files[i])
            paged += e->in_files[i];
    if (in_files[PR_BLOCK_USERS]) /* then the pages of the data set may leave memory too */
        paged += e->data_file;
    return bytes - paged + fmin(paged, least_window);
}

/* The smallest limit that a run of this many bytes fits: the inverse of pr_pager_usable. */
static double least_limit(double bytes)
{
    double limit = bytes;
    while (pr_pager_usable((uint64_t)limit) < bytes)
        limit += bytes - pr_pager_usable((uint64_t)limit) + 1;
    return limit;
}

_Static_assert(PR_AVERAGES_PER_EPOCH == 8, "say_choice states how often the average is used");

static void say_choice(const pr_train_run *r, const estimate *e, double memory)
{
    static const char *const words[PR_BLOCK_USES] = {
        [PR_BLOCK_BEST] = "the best epoch (%.0f MB, written when an epoch is better)",
        [PR_BLOCK_ASIDE] = "own rows of items (%.0f MB, written and read once per epoch)",
        [PR_BLOCK_AVERAGE] = "the average of weights (%.0f MB, read and written 8 times per epoch)",
        [PR_BLOCK_USERS] = "rows of users and their moments (%.0f MB, used by batches)",
    };
    const pr_storage *s = r->plan->storage;
    char text[600];
    size_t used = 0;
    for (size_t i = 0; i < PR_BLOCK_USES; i++) {
        if (!s->in_files[i] || used >= sizeof text)
            continue;
        const char *comma = used > 0 ? ", " : "";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", comma);
        used += (size_t)snprintf(text + used, sizeof text - used, words[i], e->in_files[i] / 1e6);
    }
    double limit = (double)r->plan->max_memory;
    if (used == 0)
        pr_say(r->hooks, PARSREC_LOG_INFO, "--max-memory %.0f MB: everything fits", limit / 1e6);
    else
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "--max-memory %.0f MB: about %.0f MB stay in memory; in temporary files beside the "
               "model: %s",
               limit / 1e6, memory / 1e6, text);
    if (used > 0 && pr_pager_in_memory(s->pager))
        pr_say(r->hooks, PARSREC_LOG_WARNING,
               "the folder of the model is itself memory (tmpfs): files in it do not save any; "
               "write the model to a disk");
}

static parsrec_status refuse(const pr_train_run *r, const estimate *e, double least,
                             parsrec_error *err)
{
    char more[64] = "";
    double all = least_limit(total(e));
    if (all - least >= 1e6)
        snprintf(more, sizeof more, ", with a part in temporary files (%.0f MB without)",
                 all / 1e6);
    return pr_fail(err, PARSREC_E_LIMIT,
                   "--max-memory of %.0f MB is too little: this training needs at least %.0f MB%s; "
                   "raise it, or lower --threads, batch, dim.item or dim.user",
                   (double)r->plan->max_memory / 1e6, least / 1e6, more);
}

parsrec_status pr_memory_choose(pr_train_run *r, const pr_limits *limits, parsrec_error *err)
{
    assert(r->state.model != NULL && r->state.model->weights == NULL);
    estimate e = estimate_of(r, limits);
    pr_storage *s = r->plan->storage;
    double usable = pr_pager_usable(r->plan->max_memory), memory = total(&e);
    pr_train_result *result = r->state.result;
    result->memory = total(&e);
    result->memory_least = least_limit(memory_with(&e, all_in_files));
    pr_say(r->hooks, PARSREC_LOG_INFO,
           "memory: about %.0f MB (model %.0f, training %.0f, data %.0f, program %.0f)",
           total(&e) / 1e6, e.model / 1e6, e.training / 1e6, e.data / 1e6, e.program / 1e6);
    if (s == NULL)
        return PARSREC_OK;
    r->state.model->storage = s;
    for (size_t i = 0; i < PR_BLOCK_USES && memory > usable; i++) {
        s->in_files[i] = e.in_files[i] > 0;
        memory = memory_with(&e, s->in_files);
    }
    if (memory > usable)
        return refuse(r, &e, result->memory_least, err);
    if (e.data_file > 0)
        PR_TRY(pr_pager_watch(s->pager, pr_container_pages(r->data->file),
                              (size_t)pr_container_bytes(r->data->file), err));
    say_choice(r, &e, memory);
    return PARSREC_OK;
}

/* ---- a shop of another size ---- */

/* A run like `r` on a shop of another size with sessions of the same kind. `out` owns only its
 * model; the rest is borrowed from `r` and `data`, so it is not torn down. On failure its model may
 * still be r's. */
static parsrec_status outline_like(pr_train_run *out, pr_dataset *data, const pr_train_run *r,
                                   const parsrec_shop_size *size, parsrec_error *err)
{
    const pr_model *from = r->state.model;
    pr_shop shop = pr_shop_of(r->data);
    pr_category_tree tree = from->tree;
    pr_config config = from->config;
    double growth = (double)size->actions / (double)r->data->actions;
    if (r->plan->config.batch == 0 && !from->kind->sequence && from->kind->pairs == NULL) {
        config.batch = 0; /* by the number of sessions */
        pr_config_settle_steps(&config, (size_t)(growth * (double)pr_split_train_sessions(
                                                              r->data, (size_t)config.last)));
    }
    tree.parts = (size_t)((double)tree.parts * (double)size->items / (double)shop.items);
    shop.users = (size_t)size->users;
    shop.items = (size_t)size->items;
    *out = *r;
    *data = *r->data;
    data->items = shop.items;
    out->data = out->evaluation.data = out->basket.data = data;
    PR_TRY(pr_model_new_bare(&out->state.model, from->kind->name, &config, &shop, err));
    return pr_model_set_tree(out->state.model, &tree, err);
}

static parsrec_status needed_by(parsrec_memory *needed, const pr_train_run *r,
                                const parsrec_shop_size *size, parsrec_error *err)
{
    pr_train_run like;
    pr_dataset data;
    double growth = (double)size->actions / (double)r->data->actions;
    parsrec_status status = outline_like(&like, &data, r, size, err);
    pr_model *model = like.state.model;
    if (status == PARSREC_OK) {
        pr_limits limits = pr_limits_of(r->data, model);
        estimate e = estimate_of(&like, &limits);
        e.data *= growth;
        e.data_file *= growth;
        *needed = (parsrec_memory){.train = total(&e),
                                   .train_least = least_limit(memory_with(&e, all_in_files)),
                                   .tables = model->kind->ready_bytes != NULL
                                                 ? (double)model->kind->ready_bytes(model)
                                                 : 0};
    }
    if (model != r->state.model)
        pr_model_free(model);
    return status;
}

parsrec_status parsrec_memory_needed(parsrec_memory *needed, const parsrec_shop_size *shops,
                                     size_t count, const parsrec_data *data,
                                     const parsrec_train_options *options, parsrec_error *err)
{
    if (needed == NULL || shops == NULL || data == NULL || options == NULL || data->actions == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_memory_needed needs sizes, room for as many results, data and "
                       "options");
    pr_train_plan plan = {.kind = pr_train_kind(options)};
    pr_train_run r = {.plan = &plan, .data = data};
    parsrec_status status = PARSREC_OK;
    PR_TRY(pr_train_settings(&plan.config, options, err));
    PR_TRY(pr_pool_new(&r.pool, options->threads, err));
    PR_TRY_GOTO(pr_run_outline(&r, err));
    for (size_t i = 0; i < count; i++)
        PR_TRY_GOTO(needed_by(&needed[i], &r, &shops[i], err));
done:
    pr_run_tear_down(&r);
    pr_pool_free(r.pool);
    return status;
}
