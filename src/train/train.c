/* The loop. A run's state is a position and blocks of numbers; everything random is a function of
 * seed and place, so going on from a checkpoint is the same as never having stopped. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "data/batches.h"
#include "train/checkpoint.h"

typedef struct run {
    const pr_train_plan *plan;
    const pr_dataset *data;
    pr_pool *pool;
    const parsrec_hooks *hooks;
    pr_run_state state;
    pr_batches batches;
    pr_evaluation evaluation;
    pr_basket *baskets; /* of the batch under way */
    double epoch_began, last_checkpoint;
    uint64_t items_before; /* of this epoch, learnt from by an earlier process */
} run;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- set up ---- */

static pr_limits limits_of(const pr_dataset *data, const pr_config *config)
{
    pr_limits limits = {.rows = (size_t)config->batch, .steps = (size_t)config->steps};
    for (size_t s = 0; s < data->sessions; s++) {
        size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
        if (size > limits.basket)
            limits.basket = size;
    }
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->user_offsets[u], last = data->user_offsets[u + 1];
        size_t past = (size_t)(data->session_offsets[last] - data->session_offsets[first]);
        if (past > limits.history)
            limits.history = past;
    }
    if (limits.steps > limits.basket)
        limits.steps = limits.basket;
    return limits;
}

static void tell_memory(const run *r, const pr_limits *limits)
{
    const pr_model *model = r->state.model;
    double weights = (double)model->params.size * sizeof(pr_real);
    double trainer = (double)pr_trainer_bytes(model, limits, pr_pool_threads(r->pool));
    double data = 4.0 * (double)r->data->actions + 8.0 * (double)r->data->sessions +
                  (double)r->batches.basket_count * (2 * sizeof(pr_sample) + 8);
    pr_say(r->hooks, PARSREC_LOG_INFO,
           "memory: about %.0f MB (model %.0f, training %.0f, data and batches %.0f)",
           (2 * weights + trainer + data) / 1e6, 2 * weights / 1e6, trainer / 1e6, data / 1e6);
}

static parsrec_status make_state(run *r, const char *kind, const pr_config *config,
                                 parsrec_error *err)
{
    pr_run_state *s = &r->state;
    PR_TRY(pr_config_check(config, err));
    PR_TRY(pr_batches_init(&r->batches, r->data, (size_t)config->batch, (size_t)config->steps,
                           s->at.seed, err));
    PR_TRY(pr_model_new(&s->model, kind, config, r->data->users, r->data->items, s->at.seed, err));
    if (s->model->kind->learn == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the model '%s' does not learn in epochs", kind);
    pr_limits limits = limits_of(r->data, config);
    tell_memory(r, &limits);
    PR_TRY(pr_trainer_new(&s->trainer, s->model, r->pool, &limits, s->at.seed, err));
    s->best = pr_alloc_aligned(s->model->params.size, sizeof *s->best);
    r->baskets = pr_alloc((size_t)config->batch, sizeof *r->baskets);
    if (s->best == NULL || r->baskets == NULL)
        return pr_fail_memory(err);
    pr_protocol protocol = pr_protocol_paper(PR_VALID);
    return pr_evaluation_init(&r->evaluation, r->data, &protocol, err);
}

static parsrec_status set_up(run *r, parsrec_error *err)
{
    if (r->plan->resume == NULL) {
        r->state.at = (pr_position){.seed = r->plan->seed};
        return make_state(r, r->plan->kind, &r->plan->config, err);
    }
    pr_container *file;
    const char *kind;
    pr_config config;
    PR_TRY(pr_checkpoint_open(&file, r->plan->resume, r->data, &kind, &config, &r->state.at, err));
    config.epochs = r->plan->config.epochs; /* a run may be made longer */
    parsrec_status status = make_state(r, kind, &config, err);
    if (status == PARSREC_OK)
        status = pr_checkpoint_read(&r->state, file, err);
    pr_container_free(file);
    r->items_before = r->state.at.items;
    return status;
}

static void tear_down(run *r)
{
    pr_trainer_free(r->state.trainer);
    pr_model_free(r->state.model);
    pr_free_aligned(r->state.best);
    pr_batches_free(&r->batches);
    pr_evaluation_free(&r->evaluation);
    pr_free(r->baskets);
}

/* ---- one batch ---- */

static pr_basket view_of(const pr_dataset *data, const pr_sample *sample)
{
    int64_t first = data->user_offsets[sample->user],
            begin = data->session_offsets[sample->session];
    int64_t past = data->session_offsets[first];
    return (pr_basket){
        .user = (int32_t)sample->user,
        .history = {.items = data->action_items + past,
                    .count = (size_t)(begin - past),
                    .sessions = data->session_offsets + first,
                    .session_count = sample->session - (size_t)first},
        .items = data->action_items + begin,
        .size = (size_t)(data->session_offsets[sample->session + 1] - begin),
    };
}

static parsrec_status learn_batch(run *r, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    uint32_t from = r->batches.offsets[at->batch], to = r->batches.offsets[at->batch + 1];
    for (uint32_t i = from; i < to; i++)
        r->baskets[i - from] = view_of(r->data, &r->batches.baskets[i]);
    pr_batch batch = {.baskets = r->baskets, .rows = to - from, .number = (uint32_t)at->batches};
    pr_batch_result result;
    parsrec_error why;
    parsrec_status status = pr_trainer_learn(r->state.trainer, &batch, &result, &why);
    if (status != PARSREC_OK)
        return pr_fail(err, status, "epoch %u, batch %llu of %zu: %.300s%s%s", at->epoch + 1,
                       (unsigned long long)at->batch + 1, r->batches.batch_count, why.message,
                       r->plan->checkpoint != NULL ? "; the last good checkpoint is " : "",
                       r->plan->checkpoint != NULL ? r->plan->checkpoint : "");
    at->batch++;
    at->batches++;
    at->items += result.items;
    at->loss += result.loss * (double)batch.rows;
    return PARSREC_OK;
}

/* ---- checkpoints and progress ---- */

static parsrec_status save(run *r, parsrec_error *err)
{
    r->last_checkpoint = now();
    if (r->plan->checkpoint == NULL)
        return PARSREC_OK;
    return pr_checkpoint_save(&r->state, r->plan->checkpoint, err);
}

static double rate_of(const run *r)
{
    double seconds = now() - r->epoch_began;
    return seconds > 0 ? (double)(r->state.at.items - r->items_before) / seconds : 0;
}

/* Tells how far the run is; when the caller wants to stop, saves first. */
static parsrec_status tell(run *r, parsrec_error *err)
{
    const pr_position *at = &r->state.at;
    const pr_train_result *done = r->state.result;
    uint64_t epochs = (uint64_t)r->state.model->config.epochs;
    char note[200];
    size_t used = (size_t)snprintf(note, sizeof note, "epoch %u of %llu, %.0f items/s, loss %.4f",
                                   at->epoch + 1, (unsigned long long)epochs, rate_of(r),
                                   at->items > 0 ? at->loss / (double)at->items : 0);
    if (done->epoch_count > 0) {
        const pr_scores *v = &done->epochs[done->epoch_count - 1].valid;
        snprintf(note + used, sizeof note - used, ", valid HR@10 %.4f NDCG@10 %.4f",
                 v->hit_rate[PR_CHOICE_CUTOFF], v->ndcg[PR_CHOICE_CUTOFF]);
    }
    parsrec_status status = pr_progress_note(r->hooks, "training", "items",
                                             at->epoch * (uint64_t)r->batches.steps + at->items,
                                             epochs * (uint64_t)r->batches.steps, note, err);
    if (status == PARSREC_E_STOPPED) {
        PR_TRY(save(r, err));
        return pr_fail(err, PARSREC_E_STOPPED, "stopped in epoch %u after %llu of %zu batches",
                       at->epoch + 1, (unsigned long long)at->batch, r->batches.batch_count);
    }
    return status;
}

/* ---- epochs ---- */

static parsrec_status learn_epoch(run *r, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    pr_batches_arrange(&r->batches, at->epoch);
    r->epoch_began = now();
    while (at->batch < r->batches.batch_count) {
        PR_TRY(learn_batch(r, err));
        PR_TRY(tell(r, err));
        if (now() - r->last_checkpoint > r->plan->checkpoint_seconds)
            PR_TRY(save(r, err));
    }
    return PARSREC_OK;
}

static void keep_if_best(run *r, const pr_epoch *epoch)
{
    pr_position *at = &r->state.at;
    const pr_epoch *best = at->best_epoch > 0 ? &r->state.result->epochs[at->best_epoch - 1] : NULL;
    /* Without anybody to validate on, the newest model is as good as can be told. */
    if (best != NULL && r->evaluation.count > 0 && !(pr_epoch_merit(epoch) > pr_epoch_merit(best)))
        return;
    at->best_epoch = epoch->number;
    memcpy(r->state.best, r->state.model->weights, r->state.model->params.size * sizeof(pr_real));
}

static parsrec_status finish_epoch(run *r, pr_epoch *epoch, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    pr_train_result *result = r->state.result;
    PR_TRY(pr_grow(&result->epochs, &result->epoch_capacity, result->epoch_count + 1,
                   sizeof *result->epochs, err));
    *epoch = (pr_epoch){.number = at->epoch + 1,
                        .loss = at->loss / (double)at->items,
                        .seconds = now() - r->epoch_began,
                        .items_per_s = rate_of(r)};
    parsrec_status status =
        pr_evaluation_run(&r->evaluation, r->state.model, r->pool, r->hooks, &epoch->valid, err);
    if (status == PARSREC_E_STOPPED)
        PR_TRY(save(r, err)); /* the epoch's batches are done; validation comes again */
    PR_TRY(status);
    keep_if_best(r, epoch);
    result->epochs[result->epoch_count++] = *epoch;
    at->epoch++;
    at->batch = at->items = r->items_before = 0;
    at->loss = 0;
    return save(r, err);
}

static bool out_of_patience(const run *r)
{
    size_t patience = r->plan->patience;
    return patience > 0 && r->state.at.epoch >= r->state.at.best_epoch + patience;
}

static parsrec_status train_all(run *r, pr_epoch_hook *on_epoch, void *context, parsrec_error *err)
{
    r->last_checkpoint = now();
    while (r->state.at.epoch < (uint32_t)r->state.model->config.epochs && !out_of_patience(r)) {
        pr_epoch epoch;
        PR_TRY(learn_epoch(r, err));
        PR_TRY(finish_epoch(r, &epoch, err));
        if (on_epoch != NULL)
            on_epoch(context, &epoch);
    }
    return PARSREC_OK;
}

parsrec_status pr_train(pr_train_result *result, const pr_dataset *data, const pr_train_plan *plan,
                        pr_pool *pool, pr_epoch_hook *on_epoch, void *context,
                        const parsrec_hooks *hooks, parsrec_error *err)
{
    *result = (pr_train_result){0};
    run r = {.plan = plan, .data = data, .pool = pool, .hooks = hooks};
    r.state.data = data;
    r.state.result = result;
    parsrec_status status;
    PR_TRY_GOTO(set_up(&r, err));
    PR_TRY_GOTO(train_all(&r, on_epoch, context, err));
    memcpy(r.state.model->weights, r.state.best, r.state.model->params.size * sizeof(pr_real));
    result->best_epoch = r.state.at.best_epoch;
    result->stopped_early = r.state.at.epoch < (uint32_t)r.state.model->config.epochs;
    result->model = r.state.model;
    r.state.model = NULL;
done:
    tear_down(&r);
    if (status != PARSREC_OK)
        pr_train_result_free(result);
    return status;
}

void pr_train_result_free(pr_train_result *result)
{
    pr_model_free(result->model);
    pr_free(result->epochs);
    *result = (pr_train_result){0};
}
