/* Settings by the data: sizes are counted in one pass over the users. */
#include "model/settle.h"

#include "data/split.h"
#include "model/factors/pairwise.h"
#include "model/sequence/sequence.h"

/* ---- sequences ---- */

enum { LENGTH_LEAST = 16, LENGTH_MOST = 1024, LENGTH_STEP = 8 };

/* Training sequences in tokens: items and, if there are any, separators. */
typedef struct sequences {
    size_t count, tokens, baskets, items;
    size_t long_one; /* the length that 95 of 100 do not exceed; at most LENGTH_MOST */
} sequences;

static sequences count_sequences(const pr_dataset *data, size_t last, bool separated)
{
    size_t lengths[LENGTH_MOST + 1] = {0};
    sequences s = {0};
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = data->user_offsets[u], end = pr_split_train_end(data, u, last);
        if (end == first)
            continue;
        size_t baskets = (size_t)(end - first);
        size_t items = (size_t)(data->session_offsets[end] - data->session_offsets[first]);
        size_t tokens = items + (separated ? baskets : 0);
        s.count++;
        s.tokens += tokens;
        s.baskets += baskets;
        s.items += items;
        lengths[tokens < LENGTH_MOST ? tokens : LENGTH_MOST]++;
    }
    for (size_t n = 0, users = 0; n <= LENGTH_MOST && 100 * users < 95 * s.count; n++) {
        users += lengths[n];
        s.long_one = n;
    }
    return s;
}

/* Held-out sessions and the open basket: twice the mean basket each, with their separators. */
static int length_of(const sequences *s, size_t last)
{
    size_t basket = 2 * (s->items / (s->baskets > 0 ? s->baskets : 1) + 1) + 1;
    size_t length = s->long_one + (last + 1) * basket + 1;
    length = (length + LENGTH_STEP - 1) / LENGTH_STEP * LENGTH_STEP;
    return length < LENGTH_LEAST ? LENGTH_LEAST : length > LENGTH_MOST ? LENGTH_MOST : (int)length;
}

static void settle_sequences(pr_config *c, const pr_model_kind *kind, const pr_dataset *data)
{
    enum {
        TOKENS = 2048, /* of a batch, about */
        BATCH_LEAST = 16,
        BATCH_MOST = 128,
        STEPS = 4000,
        EPOCHS_LEAST = 8,
        EPOCHS_MOST = 200
    };
    sequences s = count_sequences(data, (size_t)c->last, c->separator);
    if (c->separator == PR_SEPARATOR_AUTO) {
        bool single = 10 * s.items < 11 * s.baskets; /* sessions of one item, nearly all of them */
        c->separator = single ? PR_SEPARATOR_OFF : PR_SEPARATOR_ON;
        s = count_sequences(data, (size_t)c->last, c->separator);
    }
    size_t mean = s.tokens / (s.count > 0 ? s.count : 1) + 1;
    size_t more = kind == &pr_bert4rec ? 2 : 1;
    if (c->length == 0)
        c->length = length_of(&s, (size_t)c->last);
    if (c->batch == 0)
        for (c->batch = BATCH_LEAST; c->batch < BATCH_MOST; c->batch *= 2)
            if (2 * (size_t)c->batch * mean > TOKENS)
                break;
    if (c->epochs == 0) {
        size_t epochs = STEPS / (s.count / (size_t)c->batch + 1);
        epochs = epochs < EPOCHS_LEAST ? EPOCHS_LEAST : epochs > EPOCHS_MOST ? EPOCHS_MOST : epochs;
        c->epochs = (int)(more * epochs);
    }
}

/* ---- pairs ---- */

/* A target of a pair is cheap, so batches are larger than those of baskets and epochs more. */
static void settle_pairs(pr_config *c, size_t baskets)
{
    enum { BATCH_LEAST = 32, BATCHES = 200, STEPS = 5000, EPOCHS_LEAST = 10, EPOCHS_MOST = 50 };
    if (c->batch == 0)
        for (c->batch = BATCH_LEAST; c->batch < PR_PAIRS_BATCH_MOST; c->batch *= 2)
            if ((size_t)c->batch * BATCHES > baskets)
                break;
    if (c->epochs == 0) {
        size_t epochs = STEPS / (baskets / (size_t)c->batch + 1);
        epochs = epochs < EPOCHS_LEAST ? EPOCHS_LEAST : epochs > EPOCHS_MOST ? EPOCHS_MOST : epochs;
        c->epochs = (int)epochs;
    }
}

/* ---- all kinds ---- */

/* Rows of users with few baskets memorise them; those of users with many are what tells users apart. */
static double shrink_of(const pr_dataset *data, size_t last)
{
    enum {
        SHRINK_MOST = 100,
        BASKETS = 10
    }; /* baskets per user up to which rows are shrunk most */
    double baskets = (double)pr_split_train_sessions(data, last) / (double)data->users;
    return baskets > BASKETS ? SHRINK_MOST * BASKETS / baskets : SHRINK_MOST;
}

void pr_settle_sizes(pr_config *config, const pr_model_kind *kind, const pr_dataset *data)
{
    if (kind != NULL)
        pr_model_settle_loss(config, kind, data->items);
    if (config->user_shrink < 0)
        config->user_shrink = shrink_of(data, (size_t)config->last);
    if (kind != NULL && kind->sequence)
        settle_sequences(config, kind, data);
    else if (kind != NULL && kind->pairs != NULL)
        settle_pairs(config, pr_split_train_sessions(data, (size_t)config->last));
    else if (config->batch == 0 || config->epochs == 0)
        pr_config_settle_steps(config, pr_split_train_sessions(data, (size_t)config->last));
}

pr_config pr_settled(const pr_config *wanted, const pr_model_kind *kind, const pr_dataset *data,
                     const pr_config *found)
{
    pr_config config = *wanted;
    pr_settle_sizes(&config, kind, data);
    if (config.order == PR_ORDER_AUTO)
        config.order = found->order;
    if (config.recall_time == PR_TIME_AUTO)
        config.recall_time = found->recall_time;
    return config;
}
