/* Setting up a run: first what it will need, then the memory, then the numbers of a checkpoint. */
#include "train/train_setup.h"

#include <string.h>

#include "base/memory.h"
#include "train/samples.h"

/* ---- what it will need ---- */

static parsrec_status outline(pr_train_run *r, const char *kind, const pr_config *config,
                              parsrec_error *err)
{
    const pr_dataset *data = r->data;
    pr_run_state *s = &r->state;
    pr_shop shop = pr_shop_of(data);
    PR_TRY(pr_model_new_bare(&s->model, kind, config, &shop, err));
    if (s->model->kind->learn == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the model '%s' does not learn in epochs", kind);
    PR_TRY(pr_beginning_make(&r->beginning, s->model, data, r->plan->resume != NULL, r->pool,
                             r->hooks, err));
    PR_TRY(pr_batches_init(&r->batches, data, (size_t)config->batch, pr_model_steps(s->model),
                           (size_t)config->last, pr_windows_of(s->model), s->at.seed, err));
    return pr_evaluation_validation(&r->evaluation, data, (size_t)config->last, err);
}

/* The program itself with its libraries, and what the matrix products of a thread take. */
enum { PROGRAM_BYTES = 14000000, THREAD_BYTES = 2000000 };

static void tell_memory(const pr_train_run *r, const pr_limits *limits)
{
    const pr_model *model = r->state.model;
    const pr_dataset *d = r->data;
    unsigned threads = pr_pool_threads(r->pool);
    double weights = (double)model->params.size * sizeof(pr_real);
    double training = (double)pr_trainer_bytes(model, limits, threads) +
                      (double)pr_evaluation_bytes(&r->evaluation, model, threads);
    double data = 4.0 * (double)d->actions + 8.0 * (double)d->sessions;
    if (d->file != NULL)
        data = (double)pr_container_bytes(d->file);
    data += (double)r->batches.basket_count * (2 * sizeof(pr_sample) + 2 * sizeof(uint32_t));
    double rest = PROGRAM_BYTES + (double)threads * THREAD_BYTES;
    pr_say(r->hooks, PARSREC_LOG_INFO,
           "memory: about %.0f MB (model %.0f, training %.0f, data %.0f, program %.0f)",
           (2 * weights + training + data + rest) / 1e6, 2 * weights / 1e6, training / 1e6,
           data / 1e6, rest / 1e6);
}

parsrec_status pr_train_bytes(double *bytes, const char *kind, const pr_config *config,
                              const pr_dataset *data, unsigned threads, parsrec_error *err)
{
    pr_model *model;
    pr_shop shop = pr_shop_of(data);
    PR_TRY(pr_model_new_bare(&model, kind, config, &shop, err));
    pr_limits limits = pr_limits_of(data, model);
    *bytes = 2.0 * (double)model->params.size * sizeof(pr_real) +
             (double)pr_trainer_bytes(model, &limits, threads) + (double)threads * THREAD_BYTES;
    pr_model_free(model);
    return PARSREC_OK;
}

static void tell_validation(const pr_train_run *r)
{
    const pr_eval_protocol *p = &r->evaluation.protocol;
    if (r->evaluation.count == 0)
        pr_say(r->hooks, PARSREC_LOG_WARNING,
               "nobody can be validated (that takes %zu sessions of a user); the model of the last "
               "epoch is kept and patience has no effect",
               p->held + 2);
    else if (p->rule != &pr_remaining)
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "validation by the protocol %s against %s, because no validation session has two "
               "items; the best epoch is that of the best NDCG@10",
               p->rule->name, p->negatives > 0 ? "100 sampled items" : "the whole catalogue");
}

/* ---- taking it ---- */

static parsrec_status take_memory(pr_train_run *r, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    pr_limits limits = pr_limits_of(r->data, s->model);
    tell_memory(r, &limits);
    tell_validation(r);
    PR_TRY(pr_model_alloc_weights(s->model, err));
    PR_TRY(pr_trainer_new(&s->trainer, s->model, r->pool, &limits, s->at.seed, err));
    s->best = pr_alloc_aligned(s->model->params.size, sizeof *s->best);
    r->baskets = pr_alloc((size_t)s->model->config.batch, sizeof *r->baskets);
    return s->best != NULL && r->baskets != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status set_up_fresh(pr_train_run *r, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    s->at = (pr_position){.seed = r->plan->seed, .patience = r->plan->patience};
    pr_config config = r->plan->config;
    PR_TRY(pr_settle(&config, r->data, r->hooks, err));
    PR_TRY(outline(r, r->plan->kind, &config, err));
    PR_TRY(take_memory(r, err));
    pr_begin(s->model, &r->beginning, r->data, s->at.seed);
    return PARSREC_OK;
}

/* ---- going on ---- */

/* Some settings may change on the way; another shape or other batches would be another run. */
static bool may_change(const char *key)
{
    return strcmp(key, "rate") == 0 || strcmp(key, "clip") == 0 || strcmp(key, "epochs") == 0;
}

static parsrec_status change_settings(pr_config *config, const pr_train_plan *plan,
                                      parsrec_error *err)
{
    pr_config before = *config;
    char old[64], new[64];
    for (size_t i = 0; i < plan->set_count; i++)
        PR_TRY(pr_config_assign(config, plan->set[i], err));
    for (size_t i = 0; i < pr_config_count(); i++)
        if (!may_change(pr_config_key(i)) &&
            strcmp(pr_config_value(&before, i, old, sizeof old),
                   pr_config_value(config, i, new, sizeof new)) != 0)
            return pr_fail(err, PARSREC_E_CONFIG,
                           "%s: %s is %s; of a run under way only rate, clip and epochs can change",
                           plan->resume, pr_config_key(i), old);
    if (plan->epochs > 0)
        config->epochs = (int)plan->epochs;
    return PARSREC_OK;
}

static parsrec_status go_on(pr_train_run *r, pr_checkpoint *from, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    s->at = from->at;
    PR_TRY(change_settings(&from->config, r->plan, err));
    PR_TRY(outline(r, from->kind, &from->config, err));
    PR_TRY(pr_checkpoint_fits(from, s->model, err));
    PR_TRY(take_memory(r, err));
    PR_TRY(pr_checkpoint_read(s, from, err));
    pr_batches_arrange(&r->batches, s->at.epoch);
    if (s->at.batch > r->batches.batch_count)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: stands at batch %llu of %zu", r->plan->resume,
                       (unsigned long long)s->at.batch, r->batches.batch_count);
    if (r->plan->patience > 0)
        s->at.patience = r->plan->patience;
    r->items_before = s->at.items;
    r->good_checkpoint = r->plan->resume;
    return PARSREC_OK;
}

parsrec_status pr_run_set_up(pr_train_run *r, parsrec_error *err)
{
    if (r->plan->resume == NULL)
        return set_up_fresh(r, err);
    pr_checkpoint from;
    PR_TRY(pr_checkpoint_open(&from, r->plan->resume, r->data, err));
    parsrec_status status = go_on(r, &from, err);
    pr_checkpoint_close(&from);
    return status;
}

void pr_run_tear_down(pr_train_run *r)
{
    pr_trainer_free(r->state.trainer);
    pr_model_free(r->state.model);
    pr_free_aligned(r->state.best);
    pr_batches_free(&r->batches);
    pr_evaluation_free(&r->evaluation);
    pr_free(r->baskets);
    pr_beginning_free(&r->beginning);
}
