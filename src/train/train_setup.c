/* Setting up a run, in the order of its phases: outline, memory, numbers. */
#include "train/memory_plan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/basket_order.h"
#include "data/histories.h"
#include "data/split.h"
#include "model/same_ranks.h"
#include "model/settle.h"
#include "model/storage.h"
#include "model/user_rows.h"

/* ---- batches: from places in a data set to views of baskets ---- */

/* A training sequence: `steps` items before a session, and everything before these as history. */
static pr_basket sequence_of(const pr_dataset *data, const pr_sample *sample)
{
    pr_history past = pr_history_before(data, sample->user, sample->session);
    size_t before = past.count - sample->later - sample->steps;
    return (pr_basket){
        .user = data->by_users ? PR_ANYONE : (int32_t)sample->user,
        .history = {.items = past.items,
                    .count = before,
                    .sessions = past.sessions,
                    .session_count = past.session_count},
        .items = past.items + before,
        .size = sample->steps,
    };
}

/* A training basket: a session and the user's history before it. */
static pr_basket basket_of(const pr_dataset *data, const pr_sample *sample)
{
    int64_t begin = data->session_offsets[sample->session];
    return (pr_basket){
        .user = data->by_users ? PR_ANYONE : (int32_t)sample->user,
        .history = pr_history_before(data, sample->user, sample->session),
        .items = data->action_items + begin,
        .size = (size_t)(data->session_offsets[sample->session + 1] - begin),
        .features = pr_features_of_session(data, sample->user, sample->session),
    };
}

pr_batch pr_batch_view(const pr_batches *batches, size_t batch, const pr_dataset *data,
                       pr_basket *baskets)
{
    uint32_t from = batches->offsets[batch], to = batches->offsets[batch + 1];
    for (uint32_t i = from; i < to; i++)
        baskets[i - from] = batches->windows != PR_BASKETS ? sequence_of(data, &batches->baskets[i])
                                                           : basket_of(data, &batches->baskets[i]);
    return (pr_batch){.baskets = baskets, .rows = to - from};
}

pr_windows pr_windows_of(const pr_model *model)
{
    if (!model->kind->sequence)
        return PR_BASKETS;
    return model->config.windows == PR_WINDOWS_LAST ? PR_WINDOW_LAST : PR_WINDOW_ALL;
}

bool pr_separates(const pr_model *model)
{
    return model->kind->sequence && model->config.separator;
}

/* At least as many items as any `rows` sessions and their histories have together. The largest
 * would be found by sorting all sessions. Instead they are counted in classes of similar size,
 * PER_DOUBLING for each doubling, and each counts as the largest of its class: a few per cent too
 * much. */
static size_t most_items(const pr_dataset *data, size_t rows)
{
    enum { PER_DOUBLING = 16, CLASSES = PER_DOUBLING * 64 };
    size_t count[CLASSES] = {0}, largest[CLASSES] = {0}, sum = 0;
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u]; s < data->user_offsets[u + 1]; s++) {
            size_t n = (size_t)(data->session_offsets[s + 1] -
                                data->session_offsets[data->user_offsets[u]]);
            size_t class = n < 2 ? 0 : (size_t)(PER_DOUBLING * log2((double)n));
            count[class]++;
            largest[class] = n > largest[class] ? n : largest[class];
        }
    for (size_t c = CLASSES; c-- > 0 && rows > 0;) {
        size_t taken = count[c] < rows ? count[c] : rows;
        sum += taken * largest[c];
        rows -= taken;
    }
    return sum;
}

pr_limits pr_limits_of(const pr_dataset *data, const pr_model *model)
{
    size_t steps = pr_model_steps(model), rows = (size_t)model->config.batch;
    assert(rows > 0); /* batch = 0 was settled */
    /* There are no more samples than actions, whatever the batch could hold. */
    pr_limits limits = {.rows = rows < data->actions ? rows : data->actions + 1, .steps = steps};
    for (size_t s = 0; s < data->sessions; s++) {
        size_t size = (size_t)(data->session_offsets[s + 1] - data->session_offsets[s]);
        limits.basket = size > limits.basket ? size : limits.basket;
    }
    for (size_t u = 0; u < data->users; u++) {
        size_t past = (size_t)(data->session_offsets[data->user_offsets[u + 1]] -
                               data->session_offsets[data->user_offsets[u]]);
        limits.history = past > limits.history ? past : limits.history;
    }
    if (model->kind->sequence)
        limits.basket = limits.history < steps ? limits.history : steps;
    else
        limits.items = most_items(data, limits.rows);
    if (limits.steps > limits.basket)
        limits.steps = limits.basket;
    return limits;
}

/* ---- what the data decide ---- */

/* pr_settle_sizes, and messages about what it chose. */
static void choose_sizes(pr_config *config, const pr_model_kind *kind, const pr_dataset *data,
                         const parsrec_hooks *hooks)
{
    pr_config before = *config;
    size_t baskets = pr_split_train_sessions(data, (size_t)config->last);
    pr_settle_sizes(config, kind, data);
    if (before.loss == PR_LOSS_AUTO && config->loss == PR_LOSS_SAMPLED)
        pr_say(hooks, PARSREC_LOG_INFO,
               "the catalogue has %zu items: the loss compares with %d drawn items per batch and "
               "with each user's own, not with all (loss = sampled)",
               data->items, config->negatives);
    if (config->length != before.length)
        pr_say(hooks, PARSREC_LOG_INFO,
               "%zu training baskets of %zu users: length = %d, batch = %d, epochs = %d", baskets,
               data->users, config->length, config->batch, config->epochs);
    else if (config->batch != before.batch || config->epochs != before.epochs)
        pr_say(hooks, PARSREC_LOG_INFO, "%zu training baskets: batch = %d, epochs = %d", baskets,
               config->batch, config->epochs);
}

/* recall.time = auto: on where the data have dates and the model has a repeat-purchase term. */
static parsrec_status settle_times(pr_config *config, const pr_dataset *data, parsrec_error *err)
{
    bool dated = data->time_kind == PARSREC_TIME_UNIX;
    if (config->recall_time == PR_TIME_ON && !dated)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "recall.time = on needs sessions with dates, and the data have %s; import "
                       "them with dates, or set recall.time = off",
                       data->times == NULL ? "no times" : "times that only order them");
    if (config->recall_time == PR_TIME_AUTO)
        config->recall_time = dated && config->recall ? PR_TIME_ON : PR_TIME_OFF;
    return PARSREC_OK;
}

parsrec_status pr_settle(pr_config *config, const char *kind, const pr_dataset *data,
                         const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_order_facts facts;
    choose_sizes(config, pr_model_kind_named(kind), data, hooks);
    PR_TRY(settle_times(config, data, err));
    if (config->order != PR_ORDER_AUTO)
        return PARSREC_OK;
    if (data->ordered) {
        config->order = PR_ORDER_STORED;
        pr_say(hooks, PARSREC_LOG_INFO,
               "the data set was imported with --ordered: the order within baskets is learnt "
               "(order = stored)");
        return PARSREC_OK;
    }
    PR_TRY(pr_order_count(&facts, data, (size_t)config->last, err));
    parsrec_basket_order found = pr_order_found(&facts);
    config->order = pr_order_informative(&facts) ? PR_ORDER_STORED : PR_ORDER_ANY;
    if (config->order == PR_ORDER_STORED)
        pr_say(hooks, PARSREC_LOG_INFO,
               "the order within baskets is informative and is learnt (order = stored): "
               "neighbours were neighbours before %.1f times as often as other items of a basket",
               (double)facts.neighbours / (double)facts.others);
    else if (found == PARSREC_ORDER_FIXED &&
             (facts.frequent < PR_ORDER_FREQUENT_LEAST ||
              pr_order_fixed_share(&facts) < pr_order_kept_share(&facts)))
        pr_say(hooks, PARSREC_LOG_INFO,
               "items within baskets are %s (%.0f %% of pairs that occur again keep their order); "
               "this is not a shopping order, and it is not learnt (order = any)",
               parsrec_basket_order_text(found), 100 * pr_order_kept_share(&facts));
    else if (found == PARSREC_ORDER_FIXED)
        pr_say(hooks, PARSREC_LOG_INFO,
               "items within baskets are %s (%.0f %% of frequent pairs never change their order); "
               "this is not a shopping order, and it is not learnt (order = any)",
               parsrec_basket_order_text(found), 100 * pr_order_fixed_share(&facts));
    else if (found > PARSREC_ORDER_FREE)
        pr_say(hooks, PARSREC_LOG_INFO,
               "items within baskets are %s (%.0f %% of neighbours); this is not a shopping order, "
               "and it is not learnt (order = any)",
               parsrec_basket_order_text(found), 100 * pr_order_sorted_share(&facts));
    return PARSREC_OK;
}

/* What is counted before training: everything before the validation sessions. */
static pr_counted training_sessions(const pr_model *model, const pr_dataset *data, pr_pool *pool,
                                    const parsrec_hooks *hooks)
{
    return (pr_counted){.data = data,
                        .scope = pr_scope_before(PR_VALID, (size_t)model->config.last),
                        .pool = pool,
                        .hooks = hooks};
}

static parsrec_status count_neighbours(pr_near *near, const pr_model *model, const pr_dataset *data,
                                       pr_pool *pool, const parsrec_hooks *hooks,
                                       parsrec_error *err)
{
    size_t V = data->items, K = (size_t)model->config.neighbours;
    *near = (pr_near){.items = V,
                      .ends = pr_alloc(V, sizeof *near->ends),
                      .to = pr_alloc(V * K, sizeof *near->to),
                      .weights = pr_alloc(V * K, sizeof *near->weights),
                      .base = pr_alloc(V, sizeof *near->base)};
    if (near->ends == NULL || near->to == NULL || near->weights == NULL || near->base == NULL)
        return pr_fail_memory(err);
    pr_counted from = training_sessions(model, data, pool, hooks);
    return pr_near_count(near, K, &from, err);
}

static parsrec_status count_times(pr_purchase_times *times, const pr_model *model,
                                  const pr_dataset *data, pr_pool *pool, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    size_t V = data->items;
    *times = (pr_purchase_times){.items = V,
                                 .intervals = pr_alloc(V, sizeof *times->intervals),
                                 .calendar = pr_alloc(2, sizeof *times->calendar),
                                 .trends = pr_alloc(PR_PERIODS * V, sizeof *times->trends)};
    if (times->intervals == NULL || times->calendar == NULL || times->trends == NULL)
        return pr_fail_memory(err);
    pr_counted from = training_sessions(model, data, pool, hooks);
    return pr_purchase_times_count(times, &from, err);
}

/* What users buy together, and how far they differ in it. */
static parsrec_status count_pairs(pr_pair_memory *pairs, const pr_model *model,
                                  const pr_category_tree *tree, const pr_dataset *data,
                                  pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    size_t V = data->items, classes = (size_t)model->config.pairs, personal;
    *pairs = (pr_pair_memory){
        .items = V,
        .classes = classes,
        .class_of = pr_alloc(V, sizeof *pairs->class_of),
        .priors = pr_alloc(pr_pair_count(classes) * PR_PAIR_PRIOR, sizeof *pairs->priors)};
    if (pairs->class_of == NULL || pairs->priors == NULL)
        return pr_fail_memory(err);
    pr_counted from = training_sessions(model, data, pool, hooks);
    PR_TRY(pr_pairs_count(pairs, &personal, tree, &from, err));
    pr_say(hooks, PARSREC_LOG_INFO, "users differ in what they buy together in %zu pairs",
           personal);
    return PARSREC_OK;
}

/* ---- numbers among features ---- */

/* Mean and variance of a column in one pass (Welford). */
typedef struct spread {
    double count, mean, squares; /* squares: the sum of squared deviations from the mean */
} spread;

static void add_number(spread *s, double x)
{
    if (!isfinite(x))
        return;
    s->count++;
    double off = x - s->mean;
    s->mean += off / s->count;
    s->squares += off * (x - s->mean);
}

/* 1 over the standard deviation; 0 where all values are equal, so that the column has no effect. */
static double scale_of(const spread *s)
{
    double deviation = s->count > 0 ? sqrt(s->squares / s->count) : 0;
    return deviation > fmax(1e-6 * fabs(s->mean), 1e-30) ? 1 / deviation : 0;
}

/* ---- items ---- */

/* All columns of items, behind the categories. */
static parsrec_status list_columns(pr_beginning *out, pr_category_tree *tree,
                                   const pr_dataset *data, parsrec_error *err)
{
    size_t count = data->feature_count[PR_OF_ITEM];
    out->columns = pr_alloc(count, sizeof *out->columns);
    if (out->columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const pr_feature_column *f = &data->features[PR_OF_ITEM][i];
        spread s = {0};
        for (size_t v = 0; f->number != NULL && v < data->items; v++)
            add_number(&s, (double)f->number[v]);
        out->columns[i] =
            (pr_shared_column){f, tree->parts, (pr_real)s.mean, (pr_real)scale_of(&s)};
        tree->parts += f->number != NULL ? 1 : f->values.count;
    }
    tree->columns = out->columns;
    tree->column_count = count;
    return PARSREC_OK;
}

parsrec_status pr_beginning_make(pr_beginning *out, pr_model *model, const pr_dataset *data,
                                 bool resumed, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    bool neighbours = pr_params_find(&model->params, "near.to") != NULL;
    bool find = neighbours && model->config.kin && data->categories == 0;
    pr_category_tree tree = {.categories = data->categories,
                             .parent = data->category_parent,
                             .item_category = data->item_category};
    *out = (pr_beginning){0};
    if (neighbours && (find || !resumed))
        PR_TRY(count_neighbours(&out->near, model, data, pool, hooks, err));
    if (pr_params_find(&model->params, "times.trend") != NULL && !resumed)
        PR_TRY(count_times(&out->times, model, data, pool, hooks, err));
    if (find) {
        PR_TRY(pr_families_find(&out->families, &out->near, err));
        tree = (pr_category_tree){.categories = out->families.count,
                                  .parent = out->families.parent,
                                  .item_category = out->families.item_family};
    }
    if (!resumed && pr_params_find(&model->params, "pairs.class") != NULL)
        PR_TRY(count_pairs(&out->pairs, model, &tree, data, pool, hooks, err));
    tree.parts = tree.categories;
    if (model->config.features_item)
        PR_TRY(list_columns(out, &tree, data, err));
    bool pairs = model->kind->pairs != NULL && model->config.negatives_power > 0;
    if (pairs || (model->config.loss == PR_LOSS_SAMPLED && model->kind->drawn_items != NULL)) {
        PR_TRY(pr_proposal_make(&out->proposal, data, (size_t)model->config.last,
                                pairs ? model->config.negatives_power : 1, err));
        model->proposal = &out->proposal;
    }
    return pr_model_set_tree(model, &tree, err);
}

/* scale[2]: mean, and 1 over the standard deviation, of a feature column in the training
 * sessions. */
static void measure(pr_real *scale, const pr_feature_input *input, const pr_dataset *data,
                    size_t last)
{
    const float *number = data->features[input->of][input->column].number;
    spread s = {0};
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = pr_split_train_end(data, u, last);
        if (input->of == PR_OF_USER && end > data->user_offsets[u])
            add_number(&s, (double)number[u]);
        for (int64_t i = data->user_offsets[u]; input->of == PR_OF_SESSION && i < end; i++)
            add_number(&s, (double)number[i]);
    }
    scale[0] = (pr_real)s.mean;
    scale[1] = (pr_real)scale_of(&s);
}

static void measure_numbers(pr_model *model, const pr_dataset *data)
{
    const pr_feature_inputs *inputs = &model->inputs;
    if (inputs->numbers == 0)
        return;
    pr_real *scale = pr_model_reals(model, "feature.scale");
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->list[i].number)
            measure(scale + PR_INPUT_SCALE * inputs->list[i].at, &inputs->list[i], data,
                    (size_t)model->config.last);
}

static void copy_near(pr_model *model, const pr_near *near)
{
    size_t V = near->items, links = V * (size_t)model->config.neighbours;
    memcpy(pr_model_u32(model, "near.ends"), near->ends, V * sizeof *near->ends);
    memcpy(pr_model_u32(model, "near.to"), near->to, links * sizeof *near->to);
    memcpy(pr_model_reals(model, "near.weights"), near->weights, links * sizeof *near->weights);
    memcpy(pr_model_reals(model, "near.base"), near->base, V * sizeof *near->base);
}

static void copy_times(pr_model *model, const pr_purchase_times *times)
{
    size_t V = times->items;
    memcpy(pr_model_reals(model, "times.interval"), times->intervals, V * sizeof *times->intervals);
    memcpy(pr_model_reals(model, "times.calendar"), times->calendar, 2 * sizeof *times->calendar);
    memcpy(pr_model_reals(model, "times.trend"), times->trends,
           PR_PERIODS * V * sizeof *times->trends);
}

static void copy_pairs(pr_model *model, const pr_pair_memory *pairs)
{
    memcpy(pr_model_u32(model, "pairs.class"), pairs->class_of,
           pairs->items * sizeof *pairs->class_of);
    memcpy(pr_model_reals(model, "pairs.priors"), pairs->priors,
           pr_pair_count(pairs->classes) * PR_PAIR_PRIOR * sizeof *pairs->priors);
}

void pr_begin(pr_model *model, const pr_beginning *from, const pr_dataset *data, uint64_t seed)
{
    assert(model->weights != NULL);
    pr_params_fill(&model->params, model->weights, (pr_init_kind)model->config.init, seed);
    measure_numbers(model, data);
    if (from->near.items > 0)
        copy_near(model, &from->near);
    if (from->times.items > 0)
        copy_times(model, &from->times);
    if (from->pairs.items > 0)
        copy_pairs(model, &from->pairs);
}

void pr_beginning_free(pr_beginning *b)
{
    pr_free(b->near.ends);
    pr_free(b->near.to);
    pr_free(b->near.weights);
    pr_free(b->near.base);
    pr_free(b->times.intervals);
    pr_free(b->times.calendar);
    pr_free(b->times.trends);
    pr_families_free(&b->families);
    pr_free(b->pairs.class_of);
    pr_free(b->pairs.priors);
    pr_free(b->columns);
    pr_proposal_free(&b->proposal);
    *b = (pr_beginning){0};
}

/* ---- the outline of a run ---- */

/* At most this many users are validated with the protocols `next` and `basket` after each epoch. */
enum { OTHERS_MOST = 1000 };

/* In a large shop only some users are validated after each epoch, as many as keep users times items
 * below this, but never fewer than VALIDATED_LEAST. */
static const double pairs_most = 1e9;
enum { VALIDATED_LEAST = 1000 };

static parsrec_status choose_validated(pr_train_run *r, size_t last, parsrec_error *err)
{
    const pr_dataset *data = r->data;
    double fit = pairs_most / (double)data->items;
    size_t of = 0, most = fit < VALIDATED_LEAST ? VALIDATED_LEAST : (size_t)fit;
    if (data->users <= most)
        return PARSREC_OK;
    r->validated = pr_alloc(data->users, sizeof *r->validated);
    if (r->validated == NULL)
        return pr_fail_memory(err);
    memset(r->validated, true, data->users * sizeof *r->validated);
    size_t chosen = pr_users_spread(r->validated, data, PR_VALID, last, most, &of);
    if (chosen < of)
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "epochs are validated with %zu of %zu users, evenly spread", chosen, of);
    return PARSREC_OK;
}

/* The protocols `next` and `basket`, if the best epoch depends on them. */
static parsrec_status outline_others(pr_train_run *r, const pr_config *config, parsrec_error *err)
{
    if (r->evaluation.count == 0 || !pr_choice_by_protocols(config, r->evaluation.protocol.rule))
        return PARSREC_OK;
    r->next_basket_users = pr_alloc(r->data->users, sizeof *r->next_basket_users);
    if (r->next_basket_users == NULL)
        return pr_fail_memory(err);
    memset(r->next_basket_users, true, r->data->users * sizeof *r->next_basket_users);
    pr_users_spread(r->next_basket_users, r->data, PR_VALID, (size_t)config->last, OTHERS_MOST,
                    NULL);
    pr_eval_protocol p = r->evaluation.protocol;
    p.users = r->next_basket_users;
    p.rule = &pr_rule_next;
    PR_TRY(pr_evaluation_init(&r->next, r->data, &p, err));
    p.rule = &pr_rule_basket;
    p.negatives = 0; /* one ranking per basket is cheap */
    return pr_evaluation_init(&r->basket, r->data, &p, err);
}

parsrec_status pr_run_gather(pr_train_run *r, pr_split_part before, parsrec_error *err)
{
    const pr_model *model = r->state.model;
    pr_scope scope = pr_scope_before(before, (size_t)model->config.last);
    pr_batches_free(&r->batches);
    return pr_batches_init(&r->batches, r->data, (size_t)model->config.batch, pr_model_steps(model),
                           &scope, pr_windows_of(model), pr_separates(model), r->state.at.seed,
                           err);
}

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
    PR_TRY(pr_run_gather(r, PR_VALID, err));
    PR_TRY(choose_validated(r, (size_t)config->last, err));
    PR_TRY(pr_evaluation_validation(&r->evaluation, data, (size_t)config->last, r->validated, err));
    return outline_others(r, config, err);
}

static void say_validation(const pr_train_run *r)
{
    const pr_eval_protocol *p = &r->evaluation.protocol;
    if (r->evaluation.count == 0)
        pr_say(r->hooks, PARSREC_LOG_WARNING,
               "nobody can be validated (that takes %zu sessions of a user); the model of the last "
               "epoch is kept and patience has no effect",
               p->held_out + 2);
    else if (p->rule != &pr_rule_remaining)
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "validation by the protocol %s against %s, because no validation session has two "
               "items; the best epoch is that of the best NDCG@10",
               p->rule->name, p->negatives > 0 ? "100 sampled items" : "the whole catalogue");
}

/* ---- its memory ---- */

/* Bytes of user rows from which on they are divided among ranks. Fewer stay on every rank: ranks
 * would wait for each other's rows after every batch and save little memory. PARSREC_DIVIDE=always
 * divides them too. */
static const double divided_least = 64e6;

static bool worth_dividing(double bytes)
{
    const char *how = getenv("PARSREC_DIVIDE");
    return bytes >= divided_least || (how != NULL && strcmp(how, "always") == 0);
}

/* With ranks each of them holds the rows of some users. */
static parsrec_status divide_users(pr_train_run *r, parsrec_error *err)
{
    pr_model *model = r->state.model;
    const pr_param *users = pr_params_users(&model->params);
    unsigned ranks = parsrec_ranks_size(r->plan->ranks);
    if (users == NULL || r->plan->ranks == NULL)
        return PARSREC_OK;
    /* Weights, best epoch, two moments and, if it is kept, the average. */
    size_t blocks = model->config.average != PR_AVERAGE_OFF ? 5 : 4, all = users->rows;
    double row = (double)(blocks * users->cols * sizeof(pr_real));
    if (worth_dividing(row * (double)all))
        PR_TRY(pr_user_rows_divide(&r->state.result->user_rows, model, r->plan->ranks, err));
    if (model->user_rows != NULL)
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "%u ranks: rank 0 holds the rows of %zu of %zu users, %.3f of %.3f MB with moments",
               ranks, users->rows - 1, all - 1, row * (double)users->rows / 1e6,
               row * (double)all / 1e6);
    else
        pr_say(r->hooks, PARSREC_LOG_INFO,
               "%u ranks: every rank holds the rows of all %zu users, %.3f MB with moments", ranks,
               all - 1, row * (double)all / 1e6);
    return PARSREC_OK;
}

static parsrec_status take_memory(pr_train_run *r, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    pr_limits limits = pr_limits_of(r->data, s->model);
    PR_TRY(divide_users(r, err)); /* before the estimate: it makes blocks smaller */
    PR_TRY(pr_memory_choose(r, &limits, err));
    say_validation(r);
    PR_TRY(pr_model_alloc_weights(s->model, err));
    PR_TRY(pr_trainer_new(&s->trainer, s->model, r->pool, &limits, s->at.seed, err));
    PR_TRY(pr_trainer_divide(s->trainer, r->plan->ranks, err));
    r->evaluation.ranks = r->next.ranks = r->basket.ranks = r->plan->ranks;
    size_t numbers = s->model->params.size;
    PR_TRY(pr_storage_take(&s->best, s->model, PR_BLOCK_BEST, numbers, err));
    if (s->model->config.average != PR_AVERAGE_OFF)
        PR_TRY(pr_storage_take(&s->average, s->model, PR_BLOCK_AVERAGE, numbers, err));
    r->baskets = pr_alloc((size_t)s->model->config.batch, sizeof *r->baskets);
    return r->baskets != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_run_outline(pr_train_run *r, parsrec_error *err)
{
    assert(r->plan != NULL && r->data != NULL && r->pool != NULL && r->plan->resume == NULL);
    r->state.at = (pr_position){.seed = r->plan->seed, .patience = r->plan->patience};
    pr_config config = r->plan->config;
    PR_TRY(pr_settle(&config, r->plan->kind, r->data, r->hooks, err));
    return outline(r, r->plan->kind, &config, err);
}

static parsrec_status set_up_fresh(pr_train_run *r, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    PR_TRY(pr_run_outline(r, err));
    PR_TRY(take_memory(r, err));
    pr_begin(s->model, &r->beginning, r->data, s->at.seed);
    if (s->average != NULL)
        memcpy(s->average, s->model->weights, s->model->params.size * sizeof *s->average);
    return PARSREC_OK;
}

/* ---- resuming ---- */

/* Other settings would change shapes or batches: that would be another run. */
static bool may_change(const char *key)
{
    return strcmp(key, "rate") == 0 || strcmp(key, "clip") == 0 || strcmp(key, "epochs") == 0 ||
           strcmp(key, "newest") == 0;
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
            return pr_fail(
                err, PARSREC_E_CONFIG,
                "%s: %s is %s; of a run under way only rate, clip, epochs and newest can "
                "change",
                plan->resume, pr_config_key(i), old);
    if (plan->epochs > 0)
        config->epochs = (int)plan->epochs;
    return PARSREC_OK;
}

static parsrec_status set_up_resumed(pr_train_run *r, pr_checkpoint *from, parsrec_error *err)
{
    pr_run_state *s = &r->state;
    s->at = from->at;
    snprintf(r->resumed, sizeof r->resumed, "%s", pr_container_checksum(from->file));
    PR_TRY(change_settings(&from->config, r->plan, err));
    PR_TRY(outline(r, from->kind, &from->config, err));
    PR_TRY(pr_checkpoint_fits(from, s->model, err));
    PR_TRY(take_memory(r, err));
    PR_TRY(pr_checkpoint_read(s, from, err));
    pr_batches_arrange(&r->batches, s->at.epoch);
    if (s->at.batch > r->batches.batch_count)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the position is batch %llu of %zu",
                       r->plan->resume, (unsigned long long)s->at.batch, r->batches.batch_count);
    if (r->plan->patience > 0)
        s->at.patience = r->plan->patience;
    r->items_before = s->at.items;
    r->good_checkpoint = r->plan->resume;
    return PARSREC_OK;
}

static parsrec_status set_up(pr_train_run *r, parsrec_error *err)
{
    if (r->plan->resume == NULL)
        return set_up_fresh(r, err);
    pr_checkpoint from;
    PR_TRY(pr_checkpoint_open(&from, r->plan->resume, r->data, err));
    parsrec_status status = set_up_resumed(r, &from, err);
    pr_checkpoint_close(&from);
    return status;
}

parsrec_status pr_run_set_up(pr_train_run *r, parsrec_error *err)
{
    assert(r->state.data == r->data && r->state.result != NULL);
    PR_TRY(parsrec_ranks_agree(r->plan->ranks, set_up(r, err), err));
    const pr_position *at = &r->state.at;
    char more[150];
    snprintf(more, sizeof more, "seed %llu, patience %llu, after %llu batches %s, %s",
             (unsigned long long)at->seed, (unsigned long long)at->patience,
             (unsigned long long)at->batches, r->resumed,
             r->state.model->user_rows != NULL ? "users divided, " : "");
    return pr_same_ranks(r->plan->ranks, r->state.model, r->data, more, err);
}

void pr_run_tear_down(pr_train_run *r)
{
    pr_trainer_free(r->state.trainer);
    pr_model_free(r->state.model);
    pr_storage_give(r->plan->storage, r->state.best);
    pr_storage_give(r->plan->storage, r->state.average);
    pr_batches_free(&r->batches);
    pr_evaluation_free(&r->evaluation);
    pr_evaluation_free(&r->next);
    pr_evaluation_free(&r->basket);
    pr_free(r->next_basket_users);
    pr_free(r->validated);
    pr_free(r->baskets);
    pr_beginning_free(&r->beginning);
}
