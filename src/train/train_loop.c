/* The loop. A run's state is a position and blocks of numbers; everything random is a function of
 * seed and place, so a run resumed from a checkpoint equals one that was never stopped.
 *
 * With ranks, all of them run this loop in step. What one rank alone finds out (a number that is
 * not finite) or only rank 0 knows (the caller's wish to stop, the time) is made common by a call
 * in which all take part. A rank that fails anywhere else ends the others when it leaves
 * (ranks/ranks.h). */
#include "train/train.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/storage.h"
#include "model/user_rows.h"
#include "train/average.h"
#include "train/train_setup.h"

/* A run does not recover from a batch whose loss is this many times that of guessing. */
enum { HOPELESS = 100 };

/* ---- one batch ---- */

/* The status and sentence of a run that diverged. batch: of this epoch, from 1. */
static parsrec_status diverged(const pr_train_run *r, uint64_t batch, const char *what,
                               parsrec_error *err)
{
    const char *good = r->good_checkpoint;
    return pr_fail(
        err, PARSREC_E_DIVERGED,
        "training diverged in epoch %u, batch %llu of %zu: %s; try a lower rate or clip; "
        "%s%s",
        r->state.at.epoch + 1, (unsigned long long)batch, r->batches.batch_count, what,
        good != NULL ? "the last good checkpoint is " : "no checkpoint was written yet",
        good != NULL ? good : "");
}

/* The loss per item of a model that knows nothing. */
static double loss_of_guessing(const pr_train_run *r)
{
    const pr_config *c = &r->state.model->config;
    if (c->loss == PR_LOSS_BCE)
        return (1 + c->negatives) * log(2);
    if (c->loss == PR_LOSS_BPR || c->loss == PR_LOSS_BPR_MAX)
        return log(2);
    if (c->loss == PR_LOSS_TOP1_MAX)
        return 1;
    return log((double)r->data->items + 1);
}

/* status: of pr_trainer_learn. Fails on a batch from whose loss a run does not recover. */
static parsrec_status check_loss(const pr_train_run *r, parsrec_status status,
                                 const pr_batch_result *result, parsrec_error *err)
{
    double loss = result->total / (double)(result->items > 0 ? result->items : 1);
    double guessing = loss_of_guessing(r);
    char what[160];
    if (status == PARSREC_OK && loss < HOPELESS * guessing)
        return PARSREC_OK;
    if (status != PARSREC_OK && status != PARSREC_E_DIVERGED)
        return status;
    snprintf(what, sizeof what, "loss %g per item (guessing has %.2f), gradient norm %g", loss,
             guessing, result->norm);
    return diverged(r, r->state.at.batch + 1, what, err);
}

/* After some batches of an epoch (average.h); at->batch counts the batch just learnt. */
static void add_to_average(pr_train_run *r)
{
    const pr_position *at = &r->state.at;
    size_t batches = r->batches.batch_count;
    if (r->state.average == NULL)
        return;
    uint64_t count = pr_average_count(at->epoch, at->batch, batches);
    if (count > pr_average_count(at->epoch, at->batch - 1, batches))
        pr_average_add(r->state.average, r->state.model, count, r->pool);
}

static pr_batch next_batch(pr_train_run *r)
{
    pr_batch batch = pr_batch_view(&r->batches, r->state.at.batch, r->data, r->baskets);
    batch.number = (uint32_t)r->state.at.batches;
    return batch;
}

/* What ranks send for the next batch travels with what they say after this one. */
static parsrec_status expect_batch(pr_train_run *r, parsrec_error *err)
{
    if (r->plan->ranks == NULL || r->state.at.batch == r->batches.batch_count)
        return PARSREC_OK;
    pr_batch batch = next_batch(r);
    return pr_trainer_expect(r->state.trainer, &batch, err);
}

static parsrec_status learn_batch(pr_train_run *r, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    assert(at->batch < r->batches.batch_count);
    pr_batch batch = next_batch(r);
    pr_batch_result result = {0};
    parsrec_status status = pr_trainer_learn(r->state.trainer, &batch, &result, err);
    PR_TRY(check_loss(r, status, &result, err));
    at->batch++;
    at->batches++;
    at->items += result.items;
    at->loss += result.total;
    add_to_average(r);
    return PARSREC_OK;
}

/* ---- checkpoints and progress ---- */

/* All ranks come to the same verdict: one with a number that is not finite stops all. */
static parsrec_status check_finite(const pr_train_run *r, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    if (!pr_run_state_finite(&r->state))
        status = diverged(r, r->state.at.batch, "a weight is not finite", err);
    return parsrec_ranks_agree(r->plan->ranks, status, err);
}

static parsrec_status save(pr_train_run *r, parsrec_error *err)
{
    r->last_checkpoint = pr_now();
    if (r->plan->checkpoint == NULL)
        return PARSREC_OK;
    PR_TRY(check_finite(r, err));
    if (parsrec_ranks_rank(r->plan->ranks) == 0)
        PR_TRY(pr_checkpoint_save(&r->state, r->plan->checkpoint, err));
    else
        PR_TRY(pr_checkpoint_hand_in(&r->state, err));
    r->good_checkpoint = r->plan->checkpoint;
    return PARSREC_OK;
}

/* Items per second that this process has learnt from in this epoch. */
static double rate_of(const pr_train_run *r)
{
    double seconds = pr_now() - r->epoch_began;
    return seconds > 0 ? (double)(r->state.at.items - r->items_before) / seconds : 0;
}

/* Reports how far the run is; `words` say what it is doing. */
static parsrec_status report_progress(const pr_train_run *r, const char *words, parsrec_error *err)
{
    const pr_position *at = &r->state.at;
    const pr_train_result *done = r->state.result;
    uint64_t epochs = r->newest > 0 ? r->newest : (uint64_t)r->state.model->config.epochs;
    uint64_t batches = r->batches.batch_count;
    char note[200];
    int used = snprintf(note, sizeof note, "epoch %u of %llu, %s, loss %.4f", at->epoch + 1,
                        (unsigned long long)epochs, words,
                        at->items > 0 ? at->loss / (double)at->items : 0);
    if (done->epoch_count > 0 && r->evaluation.count > 0) {
        const pr_scores *v = &done->epochs[done->epoch_count - 1].valid;
        snprintf(note + used, sizeof note - (size_t)used, ", HR@10 %.4f, NDCG@10 %.4f",
                 v->value[PR_ALL][PR_HR][PR_CHOICE_CUTOFF],
                 v->value[PR_ALL][PR_NDCG][PR_CHOICE_CUTOFF]);
    }
    return pr_progress_note(r->hooks, r->newest > 0 ? "newest sessions" : "training", "batches",
                            at->epoch * batches + at->batch, epochs * batches, note, err);
}

/* The caller wants to stop: saves first, but for the last step, which is repeated. */
static parsrec_status stop(pr_train_run *r, parsrec_error *err)
{
    const pr_position *at = &r->state.at;
    if (r->newest > 0)
        return pr_fail(err, PARSREC_E_STOPPED,
                       "stopped after all epochs, while the best one learnt from the validation "
                       "sessions too; a resumed run begins this step again");
    PR_TRY(save(r, err));
    return pr_fail(err, PARSREC_E_STOPPED, "stopped in epoch %u after %llu of %zu batches",
                   at->epoch + 1, (unsigned long long)at->batch, r->batches.batch_count);
}

/* ---- epochs ---- */

/* Adds what an epoch of `batches` cost this rank. */
static void add_to_account(pr_train_run *r, const pr_ranks_account *before, uint64_t batches)
{
    pr_ranks_account now = pr_ranks_account_of(r->plan->ranks);
    r->learn_sent += now.sent - before->sent;
    r->learn_waited += now.waited - before->waited;
    r->learn_seconds += pr_now() - r->epoch_began;
    r->learn_batches += batches;
}

/* The rate follows all epochs; what comes after them has that of the last batch. */
static void schedule(const pr_train_run *r)
{
    pr_trainer_schedule(r->state.trainer,
                        (uint64_t)r->state.model->config.epochs * r->batches.batch_count);
}

/* What is left of an epoch. */
static parsrec_status learn_epoch(pr_train_run *r, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    pr_ranks_account before = pr_ranks_account_of(r->plan->ranks);
    uint64_t first = at->batch;
    pr_batches_arrange(&r->batches, at->epoch);
    if (r->newest == 0)
        schedule(r);
    r->epoch_began = pr_now();
    while (at->batch < r->batches.batch_count) {
        char words[40];
        PR_TRY(learn_batch(r, err));
        PR_TRY(expect_batch(r, err));
        snprintf(words, sizeof words, "%.0f items/s", rate_of(r));
        struct {
            bool stop, save;
        } next = {.stop = report_progress(r, words, err) != PARSREC_OK,
                  .save = r->newest == 0 &&
                          pr_now() - r->last_checkpoint > r->plan->checkpoint_seconds};
        /* Rank 0 decides for all. */
        PR_TRY(parsrec_ranks_broadcast(r->plan->ranks, &next, sizeof next, err));
        if (next.stop)
            return stop(r, err);
        if (next.save)
            PR_TRY(save(r, err));
    }
    add_to_account(r, &before, at->batch - first);
    return PARSREC_OK;
}

/* Validation is part of the run: its progress is reported as the run's. */
static int on_validation(void *context, const parsrec_progress *progress)
{
    char words[40];
    double total = (double)(progress->total > 0 ? progress->total : 1);
    snprintf(words, sizeof words, "validating %.0f %%", 100 * (double)progress->done / total);
    return report_progress(context, words, NULL) != PARSREC_OK;
}

/* The protocols `next` and `basket`, if the best epoch depends on them. They have few users, so
 * they report no progress and are not interrupted. */
static parsrec_status validate_others(pr_train_run *r, pr_epoch_result *epoch, parsrec_error *err)
{
    pr_scores scores;
    if (r->next.count == 0)
        return PARSREC_OK;
    PR_TRY(pr_evaluation_run(&r->next, r->state.model, r->pool, NULL, &scores, err));
    epoch->next = scores.value[PR_ALL][PR_NDCG][PR_CHOICE_CUTOFF];
    PR_TRY(pr_evaluation_run(&r->basket, r->state.model, r->pool, NULL, &scores, err));
    epoch->basket = scores.value[PR_ALL][PR_NDCG][PR_CHOICE_CUTOFF];
    return PARSREC_OK;
}

static void keep_if_best(pr_train_run *r, const pr_epoch_result *epoch)
{
    assert(epoch->number == r->state.at.epoch + 1);
    pr_position *at = &r->state.at;
    const pr_epoch_result *best =
        at->best_epoch > 0 ? &r->state.result->epochs[at->best_epoch - 1] : NULL;
    /* Without anybody to validate on, the newest model is taken for the best. */
    const pr_rule *rule = r->evaluation.protocol.rule;
    const pr_config *config = &r->state.model->config;
    if (best != NULL && r->evaluation.count > 0 &&
        !(pr_epoch_merit(epoch, config, rule) > pr_epoch_merit(best, config, rule)))
        return;
    at->best_epoch = epoch->number;
    memcpy(r->state.best, r->state.model->weights, r->state.model->params.size * sizeof(pr_real));
}

/* Validates, and keeps the weights if they are the best so far. Where an average is kept, it takes
 * the place of the weights meanwhile. */
static parsrec_status validate(pr_train_run *r, pr_epoch_result *epoch, parsrec_error *err)
{
    parsrec_hooks hooks = {.context = r, .on_progress = on_validation};
    PR_TRY(check_finite(r, err));
    pr_real *own = r->state.model->weights;
    if (r->state.average != NULL)
        r->state.model->weights = r->state.average;
    pr_trainer_show(r->state.trainer); /* makes what model->weights points to fit for scoring */
    parsrec_status status =
        pr_evaluation_run(&r->evaluation, r->state.model, r->pool, &hooks, &epoch->valid, err);
    if (status == PARSREC_OK)
        status = validate_others(r, epoch, err);
    if (status == PARSREC_OK)
        keep_if_best(r, epoch);
    pr_trainer_hide(r->state.trainer);
    r->state.model->weights = own;
    /* A stop here is saved with all batches of the epoch done; a resumed run validates again. */
    return status == PARSREC_E_STOPPED ? stop(r, err) : status;
}

static void begin_epoch(pr_train_run *r, uint32_t epoch)
{
    pr_position *at = &r->state.at;
    at->epoch = epoch;
    at->batch = at->items = r->items_before = 0;
    at->loss = 0;
}

static parsrec_status finish_epoch(pr_train_run *r, parsrec_error *err)
{
    pr_position *at = &r->state.at;
    pr_train_result *result = r->state.result;
    assert(at->batch == r->batches.batch_count && result->epoch_count == at->epoch);
    PR_TRY(pr_grow(&result->epochs, &result->epoch_capacity, result->epoch_count + 1,
                   sizeof *result->epochs, err));
    pr_epoch_result epoch = {.number = at->epoch + 1,
                             .loss = at->loss / (double)at->items,
                             .seconds = pr_now() - r->epoch_began,
                             .items_per_s = rate_of(r)};
    PR_TRY(validate(r, &epoch, err));
    result->epochs[result->epoch_count++] = epoch;
    begin_epoch(r, at->epoch + 1);
    return save(r, err);
}

/* best_epoch is 1-based and `epoch` the number of finished ones, so the difference is the number of
 * epochs since the best. */
static bool out_of_patience(const pr_train_run *r)
{
    const pr_position *at = &r->state.at;
    return at->patience > 0 && at->epoch - at->best_epoch >= at->patience;
}

static void pass_on_epoch(const pr_train_listener *listener, const pr_epoch_result *epoch)
{
    if (listener != NULL && listener->epoch != NULL)
        listener->epoch(listener->context, epoch);
}

static parsrec_status train_all(pr_train_run *r, const pr_train_listener *listener,
                                parsrec_error *err)
{
    const pr_train_result *result = r->state.result;
    if (listener != NULL && listener->begin != NULL)
        listener->begin(listener->context, r->state.model, r->state.at.seed);
    for (size_t i = 0; i < result->epoch_count; i++)
        pass_on_epoch(listener, &result->epochs[i]);
    r->last_checkpoint = pr_now();
    while (r->state.at.epoch < (uint32_t)r->state.model->config.epochs && !out_of_patience(r)) {
        PR_TRY(learn_epoch(r, err));
        PR_TRY(finish_epoch(r, err));
        pass_on_epoch(listener, &result->epochs[result->epoch_count - 1]);
    }
    return PARSREC_OK;
}

/* ---- the newest sessions ---- */

/* Half as many epochs as led to the best one. Nobody is left to say when to stop: this is what did
 * well where it could be tried (docs/results.md, The newest sessions). */
static uint32_t newest_epochs(const pr_train_run *r)
{
    bool wanted = r->state.model->config.newest && r->evaluation.count > 0;
    return wanted ? r->state.at.best_epoch / 2 : 0;
}

/* The weights of the best epoch learn on from all sessions before the test. The validation sessions
 * are the newest that a model may know, and they have done their duty: epochs are chosen, and the
 * mix is fitted to the weights as they were. Checkpoints stay what they are: a run that is stopped
 * or killed here repeats this step, and one that is resumed for more epochs never saw it. Leaves
 * the result in the model's weights. */
static parsrec_status learn_newest(pr_train_run *r, uint32_t epochs, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    pr_position before = s->at;
    size_t trained = r->batches.basket_count, bytes = s->model->params.size * sizeof(pr_real);
    schedule(r); /* a resumed run may have no epochs left */
    PR_TRY(pr_run_gather(r, PR_TEST, err));
    pr_say(
        r->hooks, PARSREC_LOG_INFO,
        "the best epoch learns on from the validation sessions too: %u more epoch%s over all %zu "
        "baskets before the test, %zu of them new (newest = on)",
        epochs, epochs > 1 ? "s" : "", r->batches.basket_count, r->batches.basket_count - trained);
    PR_TRY(pr_trainer_take(s->trainer, s->best, err));
    if (s->average != NULL)
        memcpy(s->average, s->model->weights, bytes);
    r->newest = epochs;
    for (uint32_t epoch = 0; epoch < epochs; epoch++) {
        begin_epoch(r, epoch);
        PR_TRY(learn_epoch(r, err));
    }
    PR_TRY(check_finite(r, err));
    if (s->average != NULL)
        memcpy(s->model->weights, s->average, bytes);
    pr_trainer_show(s->trainer);
    r->newest = 0;
    s->at = before;
    return PARSREC_OK;
}

static void say_ranks(const pr_train_run *r)
{
    double batches = (double)r->learn_batches;
    if (r->plan->ranks != NULL && batches > 0)
        pr_say(
            r->hooks, PARSREC_LOG_INFO,
            "%u ranks: per batch rank 0 sent %.0f bytes, took %.3f ms and waited %.3f ms, %.0f %%",
            parsrec_ranks_size(r->plan->ranks), r->learn_sent / batches,
            1e3 * r->learn_seconds / batches, 1e3 * r->learn_waited / batches,
            100 * r->learn_waited / r->learn_seconds);
}

static const char *best_by(const pr_train_run *r)
{
    const pr_rule *rule = r->evaluation.protocol.rule;
    if (r->evaluation.count == 0)
        return "";
    if (pr_choice_by_protocols(&r->state.model->config, rule))
        return "mean NDCG@10 of remaining, next, basket";
    return pr_choice_measure(rule) == PR_NDCG ? "NDCG@10" : "Sess-Prec@10";
}

/* The weights of the best epoch become the model's; those that learnt on are set aside. */
static parsrec_status take_best(pr_train_run *r, bool learnt_on, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    pr_real *last = s->model->weights;
    pr_storage_give(r->plan->storage, s->average);
    s->model->weights = s->best;
    s->best = s->average = NULL;
    if (learnt_on)
        return pr_aside_take(&s->result->aside, last, s->model, err);
    pr_storage_give(r->plan->storage, last);
    return PARSREC_OK;
}

parsrec_status pr_train(pr_train_result *result, const pr_dataset *data, const pr_train_plan *plan,
                        pr_pool *pool, const pr_train_listener *listener,
                        const parsrec_hooks *hooks, parsrec_error *err)
{
    *result = (pr_train_result){0};
    pr_train_run r = {.plan = plan, .data = data, .pool = pool, .hooks = hooks};
    r.state.data = data;
    r.state.result = result;
    parsrec_status status;
    PR_TRY_GOTO(pr_run_set_up(&r, err));
    PR_TRY_GOTO(train_all(&r, listener, err));
    assert(r.state.at.best_epoch > 0 && r.state.at.best_epoch <= result->epoch_count);
    uint32_t newest = newest_epochs(&r);
    if (newest > 0)
        PR_TRY_GOTO(learn_newest(&r, newest, err));
    say_ranks(&r);
    pr_trainer_free(r.state.trainer); /* its memory is more than the mix takes */
    r.state.trainer = NULL;
    PR_TRY_GOTO(take_best(&r, newest > 0, err));
    /* The order matters: the mix weighs network and counts on the validation sessions, which
     * neither has seen; only then come the weights that have, and these sessions are counted too. */
    PR_TRY_GOTO(pr_mix_fit(r.state.model, data, r.state.at.seed, pool, hooks, err));
    pr_aside_exchange(&result->aside, r.state.model);
    PR_TRY_GOTO(pr_count_again(r.state.model, data, pool, err));
    result->best_epoch = r.state.at.best_epoch;
    result->best_by = best_by(&r);
    result->stopped_early = r.state.at.epoch < (uint32_t)r.state.model->config.epochs;
    result->model = r.state.model;
    r.state.model = NULL;
done:
    pr_run_tear_down(&r);
    if (status != PARSREC_OK)
        pr_train_result_free(result);
    return status;
}

void pr_train_result_free(pr_train_result *result)
{
    pr_aside_free(&result->aside);
    pr_model_free(result->model);
    pr_user_rows_free(result->user_rows);
    pr_free(result->epochs);
    *result = (pr_train_result){0};
}
