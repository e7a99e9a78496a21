/* Baskets as views. */
#include "train/samples.h"

#include "data/histories.h"

/* The newest items before a session, what came before them as history. */
static pr_basket sequence_of(const pr_dataset *data, const pr_sample *sample)
{
    pr_history past = pr_history_before(data, sample->user, sample->session);
    size_t before = past.count - sample->later - sample->steps;
    return (pr_basket){
        .user = (int32_t)sample->user,
        .history = {.items = past.items, .count = before},
        .items = past.items + before,
        .size = sample->steps,
    };
}

static pr_basket view_of(const pr_dataset *data, const pr_sample *sample)
{
    int64_t begin = data->session_offsets[sample->session];
    return (pr_basket){
        .user = (int32_t)sample->user,
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
                                                           : view_of(data, &batches->baskets[i]);
    return (pr_batch){.baskets = baskets, .rows = to - from};
}

pr_windows pr_windows_of(const pr_model *model)
{
    if (!model->kind->sequence)
        return PR_BASKETS;
    return model->config.windows == PR_WINDOWS_LAST ? PR_WINDOW_LAST : PR_WINDOW_ALL;
}

pr_limits pr_limits_of(const pr_dataset *data, const pr_model *model)
{
    size_t steps = pr_model_steps(model), rows = (size_t)model->config.batch;
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
    if (limits.steps > limits.basket)
        limits.steps = limits.basket;
    return limits;
}
