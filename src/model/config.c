/* Settings: the table, reading them from text, and writing them. */
#include "model/config.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* ---- the table: every setting once, with key, range, default and meaning ---- */

typedef struct setting {
    const char *key;
    pr_setting_type type;
    size_t offset; /* in pr_config */
    double low, high;
    const char *initial;        /* as --set takes it */
    const char *const *choices; /* ends with NULL */
    const char *help;
} setting;

static const char *const stacks[] = {"query", "paper", NULL};
static const char *const ffns[] = {"none", "pre", "post", NULL};
static const char *const cells[] = {"rnn", "gru", "lstm", NULL};
static const char *const output_drops[] = {"step", "batch", "none", NULL};
static const char *const histories[] = {"mean", "sum", "decayed", NULL};
static const char *const inits[] = {"normal", "reference", NULL};
static const char *const orders[] = {"any", "stored", "auto", NULL};
static const char *const time_uses[] = {"off", "on", "auto", NULL};
static const char *const losses[] = {"ce",   "bce",     "sampled",  "bpr",
                                     "auto", "bpr-max", "top1-max", NULL};
static const char *const counts[] = {"before", "train", "all", NULL};
static const char *const ties[] = {"popular", "first", NULL};
static const char *const windows[] = {"all", "last", NULL};
static const char *const bests[] = {"remaining", "protocols", NULL};
static const char *const averages[] = {"off", "auto", NULL};
static const char *const rule_values[] = {"confidence", "lift", "support", NULL};
static const char *const rule_sources[] = {"all", "last", NULL};
static const char *const rule_sides[] = {"after", "both", NULL};
static const char *const separators[] = {"off", "on", "auto", NULL};
static const char *const pools[] = {"max", "mean", NULL};
static const char *const optimisers[] = {"adam", "sgd", NULL};

#define AT(field) offsetof(pr_config, field)
#define WHOLE(key, field, low, high, initial, help)              \
    {                                                            \
        key, PR_WHOLE, AT(field), low, high, initial, NULL, help \
    }
#define NUMBER(key, field, low, high, initial, help)              \
    {                                                             \
        key, PR_NUMBER, AT(field), low, high, initial, NULL, help \
    }
#define SWITCH(key, field, initial, help)                    \
    {                                                        \
        key, PR_SWITCH, AT(field), 0, 1, initial, NULL, help \
    }
#define CHOICE(key, field, choices, initial, help)              \
    {                                                           \
        key, PR_CHOICE, AT(field), 0, 0, initial, choices, help \
    }

static const setting settings[] = {
    WHOLE("dim.user", dim_user, 1, 4096, "128", "width of a user embedding"),
    WHOLE("dim.item", dim_item, 1, 4096, "128",
          "width of an item embedding and of the hidden state"),
    WHOLE("heads", heads, 1, 64, "2",
          "attention heads; must divide dim.user + dim.item (sequence models: dim.item)"),
    WHOLE("layers", layers, 1, 8, "1", "attention layers"),
    CHOICE("stack", stack, stacks, "query",
           "what a layer passes to the next: its output as query, or (paper) as key and value"),
    CHOICE("ffn", ffn, ffns, "none", "feed-forward layers before or after the recurrent cell"),
    CHOICE("cell", cell, cells, "rnn", "recurrent cell: the paper's with ReLU, GRU or LSTM"),
    SWITCH("layer_norm", layer_norm, "on", "layer norm after the attention"),
    SWITCH("layer_norm.query", layer_norm_query, "on", "add the query before the layer norm"),
    NUMBER("layer_norm.eps", layer_norm_eps, 0, 1, "1e-08", "added to the variance"),
    NUMBER("dropout.user", dropout_user, 0, 0.95, "0.1", "dropout rate of a user embedding"),
    NUMBER("dropout.history", dropout_history, 0, 0.95, "0.1",
           "dropout rate of the history vector"),
    NUMBER("dropout.keys", dropout_keys, 0, 0.95, "0.1",
           "dropout rate of the embeddings of placed items"),
    CHOICE("dropout.output", dropout_output, output_drops, "step",
           "dropout mask over the output item table: a new one per step, per batch, or none"),
    NUMBER("dropout.output_rate", dropout_output_rate, 0, 0.95, "0.1", "dropout rate of that mask"),
    CHOICE("history", history, histories, "mean",
           "how the items of the history make the first hidden state"),
    WHOLE("history.length", history_length, 0, 1000000, "0",
          "newest items of the history that are used; 0 for all"),
    NUMBER("history.decay", history_decay, 0.01, 1, "0.95",
           "history=decayed: weight of a session relative to the next newer one"),
    SWITCH("bias", bias, "off", "a bias per item in the scores"),
    SWITCH("pull", pull, "off",
           "placed items add to every score directly, in addition to the network"),
    SWITCH("past", past, "off",
           "the history adds to every score directly, in addition to the network"),
    SWITCH("recall", recall, "off",
           "repeat purchases: items bought before score by how often and how recently"),
    NUMBER("recall.decay", recall_decay, 0.01, 1, "0.9",
           "repeat purchases: weight of a session relative to the next newer one"),
    CHOICE("recall.time", recall_time, time_uses, "off",
           "repeat purchases: use dates too: days since the last one, the usual interval, recent "
           "sales; auto: if the data have dates"),
    WHOLE("neighbours", neighbours, 0, 64, "0",
          "repeat purchases: items whose counts predict the count of another; 0 for none"),
    WHOLE("pairs", pairs, 0, 64, "0",
          "most classes of items (categories) whose pairs are remembered, everybody's and each "
          "user's; 0 for none"),
    WHOLE("lifts", lifts, 0, 1024, "0",
          "mix: items per item whose lift with it counts while it is in the basket; 0 for none"),
    SWITCH("lifts.after", lifts_after, "off",
           "order=stored: the lift of what comes after the item placed last, instead of the mean "
           "over all placed items"),
    SWITCH("kin", kin, "off",
           "items of one category, and of those above it, share a part of their embeddings"),
    SWITCH("features.user", features_user, "off",
           "user features are added to the first hidden state"),
    SWITCH("features.session", features_session, "off",
           "session features are added to the first hidden state"),
    SWITCH("features.item", features_item, "off",
           "items with the same category or feature value share a part of their embeddings"),
    WHOLE("features.width", features_width, 1, 1024, "16",
          "width of the hidden layer that numeric features pass through"),
    CHOICE("order", order, orders, "any",
           "basket order: any (ignore it), stored (learn it), auto (learn it if informative)"),
    NUMBER("pull.fade", pull_fade, 0, 1, "1",
           "order=stored: share of a placed item's pull that is left one step later"),
    SWITCH("unique", unique, "off", "learn that an item is not placed twice"),
    CHOICE("init", init, inits, "normal", "initial weights: normal, or as in the authors' code"),
    CHOICE("loss", loss, losses, "ce",
           "cross entropy over the catalogue (ce), or against sampled items: bce (sasrec, "
           "tisasrec, ncf, hrm), "
           "sampled "
           "cross entropy (parsrec, gru4rec, caser, stamp, narm, dream), bpr (parsrec, bpr, fpmc, "
           "ncf, hrm, transrec), "
           "bpr-max, "
           "top1-max (gru4rec, caser, stamp, narm, dream); auto: ce, or, where the kind knows it, "
           "sampled if the catalogue is large"),
    CHOICE("optimiser", optimiser, optimisers, "adam", "adam (lazy for embedding rows) or sgd"),
    NUMBER("rate", rate, 1e-7, 10, "0.001", "learning rate"),
    NUMBER("rate.warmup", rate_warmup, 0, 1, "0",
           "share of all batches during which the learning rate rises from 0"),
    NUMBER("rate.final", rate_final, 0, 1, "1",
           "learning rate of the last batch, as a share of rate; it falls in a straight line"),
    NUMBER("adam.beta1", beta1, 0, 0.9999, "0.9", "Adam: decay of the first moment"),
    NUMBER("adam.beta2", beta2, 0, 0.999999, "0.999", "Adam: decay of the second moment"),
    NUMBER("adam.eps", eps, 1e-20, 1, "1e-08",
           "Adam: added to the square root of the second moment"),
    NUMBER("weight_decay", weight_decay, 0, 100, "0",
           "decoupled weight decay, multiplied by the learning rate"),
    NUMBER("clip", clip, 0, 1e9, "30",
           "gradient norm above which gradients are scaled down; 0 for no clipping"),
    WHOLE("batch", batch, 0, 65536, "256", "baskets per batch; 0: by the number of baskets"),
    WHOLE("epochs", epochs, 0, 100000, "50", "passes over the data; 0: by the number of batches"),
    CHOICE(
        "best", best, bests, "remaining",
        "the epoch to keep: best Sess-Prec@10 in the protocol remaining, or best mean NDCG@10 of "
        "the three protocols"),
    CHOICE("average", average, averages, "off",
           "validate and keep an average of late weights (auto), or the weights as they are (off)"),
    WHOLE("steps", steps, 1, 4096, "128", "steps per basket that are learnt from"),
    WHOLE("last", last, 1, 1000000, "1", "newest sessions per user that are held out for the test"),
    NUMBER("anyone", anyone, 0, 1, "0.02",
           "share of baskets that train the embedding of unknown users"),
    NUMBER("user.shrink", user_shrink, -1, 1e6, "0",
           "earlier purchases at which a user's own row has half of the weight, the row of unknown "
           "users the rest; 0: it always has all of it; -1: by the number of baskets per user"),
    NUMBER("targets.soft", targets_soft, 0, 1, "0",
           "share of baskets whose remaining items share the target evenly, whoever ranks first"),
    SWITCH("mix", mix, "off",
           "after training, weigh the score against plain counts on the validation sessions"),
    SWITCH("newest", newest, "off",
           "once the best epoch is known, learn from the validation sessions too: half as many "
           "epochs more, over all sessions before the test"),
    CHOICE("count", count, counts, "before",
           "what is counted: sessions before those evaluated, training sessions, or all (counting "
           "models only)"),
    CHOICE("ties", ties, ties, "popular",
           "equal counts: the more popular or the earlier bought item first; pop: left equal, or "
           "by number"),
    WHOLE("markov.width", markov_width, 1, 1000000, "1024", "markov: transitions kept per item"),
    NUMBER("markov.smooth", markov_smooth, 1e-6, 1e6, "1",
           "markov: weight of popularity, in sessions"),
    WHOLE("knn.users", knn_users, 0, 1000000, "0",
          "tifuknn, upcf, pernir: similar users who are asked; 0 for all"),
    NUMBER("knn.own", knn_own, 0, 1, "0.7",
           "tifuknn, pernir: weight of the user's own purchases; similar users have the rest"),
    NUMBER("tifu.decay", tifu_decay, 0.01, 1, "0.9",
           "tifuknn: weight of a session relative to the next newer one"),
    NUMBER("tifu.group_decay", tifu_group_decay, 0.01, 1, "0.7",
           "tifuknn: weight of a group of sessions relative to the next newer one"),
    WHOLE("tifu.groups", tifu_groups, 1, 1000, "7", "tifuknn: groups of sessions per user"),
    WHOLE("upcf.recent", upcf_recent, 1, 1000000, "10", "upcf: newest sessions that count"),
    NUMBER("upcf.asymmetry", upcf_asymmetry, 0, 1, "0.25",
           "upcf: exponent of the asking user's norm in the cosine; the other user has the rest"),
    NUMBER("upcf.locality", upcf_locality, 0.01, 1000, "5", "upcf: exponent of the similarity"),
    NUMBER("pernir.past", pernir_past, 0, 1, "0.05",
           "pernir: weight of past counts; items near the placed ones have the rest"),
    WHOLE("links.width", links_width, 1, 1000000, "500",
          "rules, seqrules, itemknn, ease: links kept per item, the strongest"),
    CHOICE(
        "rules.by", rules_by, rule_values, "confidence",
        "rules: what a rule counts by: share of sessions (support), of those with the item, lift"),
    CHOICE("rules.from", rules_from, rule_sources, "all",
           "rules: items of the basket that vote: all, or the last one alone"),
    WHOLE("rules.support", rules_support, 1, 1000000000, "1",
          "rules: sessions with both items that a rule needs"),
    WHOLE("rules.steps", rules_steps, 1, 10000, "20",
          "seqrules: places between two items of a rule, at most"),
    NUMBER("rules.fade", rules_fade, 0, 100, "2",
           "seqrules: an item d places later counts 1 / d to this power"),
    CHOICE("rules.side", rules_side, rule_sides, "after",
           "seqrules: items that count: those after an item, or on both sides of it"),
    NUMBER("itemknn.shrink", itemknn_shrink, 0, 1e9, "20",
           "itemknn: added to the denominator of the cosine"),
    NUMBER("ease.lambda", ease_lambda, 1e-3, 1e9, "200", "ease: regularisation"),
    WHOLE("ease.items", ease_items, 1, 30000, "5000",
          "ease: items that take part, the most popular; memory grows with the square of them"),
    WHOLE("knn.sessions", knn_sessions, 1, 1000000, "500",
          "sknn, vsknn: similar sessions that are asked"),
    WHOLE("knn.recent", knn_recent, 1, 1000000, "1000",
          "sknn, vsknn: most recent sessions among which similar ones are looked for"),
    NUMBER("knn.idf", knn_idf, 0, 1000, "5", "sknn, vsknn: how much more rare items count"),
    NUMBER("knn.late", knn_late, 0, 100, "2",
           "vsknn: exponent of an item's position in the open session, as its weight"),
    SWITCH("fill", fill, "on", "personal, recent: rank items never bought too, by popularity"),
    WHOLE("length", length, 0, 4096, "200",
          "sequence models: positions for the newest items of a user; 0: by the users' items"),
    CHOICE("separator", separator, separators, "off",
           "sequence models: a position of its own between two sessions of a user; auto: unless "
           "nearly all sessions have one item"),
    CHOICE("windows", windows, windows, "all",
           "sequence models: learn from all windows of a user's items, or from the last one only"),
    WHOLE("ffn.width", ffn_width, 1, 16, "1",
          "sequence models: inner width of feed-forward layers, as a multiple of dim.item"),
    NUMBER("dropout.hidden", dropout_hidden, 0, 0.95, "0.2",
           "sequence models: dropout rate of embeddings and layer outputs"),
    NUMBER("dropout.attention", dropout_attention, 0, 0.95, "0.2",
           "sequence models: dropout rate of attention weights"),
    WHOLE("negatives", negatives, 1, 65536, "256",
          "losses other than ce: sampled items per target (parsrec: per batch, shared by all its "
          "baskets)"),
    NUMBER("score.decay", score_decay, 0, 1000, "0.01",
           "loss = bpr-max: how much large scores of sampled items cost"),
    WHOLE("lookback", lookback, 1, 200, "20",
          "caser, stamp, narm, dream: newest positions that a prediction looks at"),
    WHOLE("filters", filters, 1, 1024, "16",
          "caser: filters of each length (over one, two, ... positions)"),
    WHOLE("filters.column", filters_column, 1, 64, "4",
          "caser: filters over all positions, one column at a time"),
    WHOLE("intervals", intervals, 1, 4096, "64",
          "tisasrec: longest time between two positions that is told apart, in units of the "
          "shortest"),
    CHOICE(
        "pool", pool, pools, "mean",
        "hrm, dream: what the items of a basket make together, number by number: the largest, or "
        "the mean"),
    CHOICE("pool.user", pool_user, pools, "max", "hrm: the same of the user and the last basket"),
    NUMBER("mask", mask, 0.01, 0.95, "0.2", "bert4rec: share of items that are masked"),
    NUMBER("mask.last", mask_last, 0, 1, "0.1",
           "bert4rec: share of sequences in which only the last item is masked"),
    NUMBER("negatives.power", negatives_power, 0, 2, "0",
           "bpr, fpmc, ncf, hrm, transrec: items are sampled in proportion to this power of their "
           "purchases; 0: evenly"),
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* ---- reading: strict values, ranges in the message ---- */

static int *whole_at(pr_config *config, const setting *s)
{
    return (int *)(void *)((char *)config + s->offset);
}

static double *number_at(pr_config *config, const setting *s)
{
    return (double *)(void *)((char *)config + s->offset);
}

static const setting *find(pr_slice key)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (pr_slice_is(key, settings[i].key))
            return &settings[i];
    return NULL;
}

static parsrec_status set_number(pr_config *config, const setting *s, pr_slice value,
                                 parsrec_error *err)
{
    pr_excerpt hold;
    double number = 0;
    int64_t whole = 0;
    bool read = s->type == PR_WHOLE ? pr_parse_i64(value, &whole) : pr_parse_f64(value, &number);
    if (s->type == PR_WHOLE)
        number = (double)whole;
    if (!read || !(number >= s->low && number <= s->high))
        return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is not a %s from %g to %g", s->key,
                       pr_show(&hold, value), s->type == PR_WHOLE ? "whole number" : "number",
                       s->low, s->high);
    if (s->type == PR_WHOLE)
        *whole_at(config, s) = (int)whole;
    else
        *number_at(config, s) = number;
    return PARSREC_OK;
}

static parsrec_status set_switch(pr_config *config, const setting *s, pr_slice value,
                                 parsrec_error *err)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pr_slice_is(value, words[i])) {
            *whole_at(config, s) = i % 2;
            return PARSREC_OK;
        }
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is neither on nor off", s->key,
                   pr_show(&hold, value));
}

static parsrec_status set_choice(pr_config *config, const setting *s, pr_slice value,
                                 parsrec_error *err)
{
    char list[128] = "";
    for (int i = 0; s->choices[i] != NULL; i++) {
        if (pr_slice_is(value, s->choices[i])) {
            *whole_at(config, s) = i;
            return PARSREC_OK;
        }
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, s->choices[i], sizeof list - strlen(list) - 1);
    }
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is not one of: %s", s->key,
                   pr_show(&hold, value), list);
}

static parsrec_status set(pr_config *config, pr_slice key, pr_slice value, parsrec_error *err)
{
    const setting *s = find(key);
    pr_excerpt hold;
    if (s == NULL) {
        pr_suggest near;
        pr_suggest_start(&near, key);
        for (size_t i = 0; i < SETTINGS; i++)
            pr_suggest_offer(&near, pr_slice_of(settings[i].key));
        return pr_fail(err, PARSREC_E_CONFIG,
                       "there is no setting %s%s; train --print-config lists them all",
                       pr_show(&hold, key), pr_suggest_sentence(&near));
    }
    switch (s->type) {
    case PR_SWITCH:
        return set_switch(config, s, value, err);
    case PR_CHOICE:
        return set_choice(config, s, value, err);
    default:
        return set_number(config, s, value, err);
    }
}

pr_config pr_config_default(void)
{
    pr_config config = {0};
    for (size_t i = 0; i < SETTINGS; i++)
        (void)pr_config_set(&config, settings[i].key, settings[i].initial, NULL);
    return config;
}

parsrec_status pr_config_set(pr_config *config, const char *key, const char *value,
                             parsrec_error *err)
{
    return set(config, pr_slice_of(key), pr_slice_of(value), err);
}

/* Parses "key = value" with optional spaces; `where` starts the error message. */
static parsrec_status assign(pr_config *config, pr_slice text, const char *where,
                             parsrec_error *err)
{
    const char *equals = memchr(text.bytes, '=', text.size);
    pr_excerpt hold;
    if (equals == NULL)
        return pr_fail(err, PARSREC_E_CONFIG, "%s%s is not key=value", where, pr_show(&hold, text));
    size_t key = (size_t)(equals - text.bytes);
    return set(config, pr_slice_trim((pr_slice){text.bytes, key}),
               pr_slice_trim((pr_slice){equals + 1, text.size - key - 1}), err);
}

parsrec_status pr_config_assign(pr_config *config, const char *assignment, parsrec_error *err)
{
    return assign(config, pr_slice_of(assignment), "--set: ", err);
}

static parsrec_status read_line(pr_config *config, pr_slice line, const char *origin, size_t number,
                                parsrec_error *err)
{
    const char *comment = memchr(line.bytes, '#', line.size);
    if (comment != NULL)
        line.size = (size_t)(comment - line.bytes);
    if (line.size > 0 && line.bytes[line.size - 1] == '\r')
        line.size--;
    line = pr_slice_trim(line);
    if (line.size == 0)
        return PARSREC_OK;
    parsrec_error inner = {0};
    if (assign(config, line, "", &inner) == PARSREC_OK)
        return PARSREC_OK;
    return pr_fail(err, inner.status, "%s:%zu: %s", origin, number, inner.message);
}

parsrec_status pr_config_read(pr_config *config, const char *text, size_t size, const char *origin,
                              parsrec_error *err)
{
    for (size_t at = 0, number = 1; at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        PR_TRY(read_line(config, (pr_slice){text + at, length}, origin, number, err));
        at += length + 1;
    }
    return PARSREC_OK;
}

/* The paper's settings, independent of the defaults. */
static const char *const paper[] = {
    "dim.user=128",
    "dim.item=128",
    "heads=2",
    "layers=1",
    "stack=query",
    "ffn=none",
    "cell=rnn",
    "layer_norm=on",
    "layer_norm.query=on",
    "dropout.user=0.1",
    "dropout.keys=0.1",
    "history=mean",
    "dropout.history=0.1",
    "dropout.output=step",
    "history.length=0",
    "optimiser=adam",
    "dropout.output_rate=0.1",
    "init=normal",
    "loss=ce",
    "rate=0.001",
    "rate.warmup=0",
    "rate.final=1",
    "clip=30",
    "batch=256",
    "epochs=50",
    "best=remaining",
    "average=off",
    "anyone=0",
    "adam.beta1=0.9",
    "adam.beta2=0.999",
    "bias=off",
    "pull=off",
    "pull.fade=1",
    "order=any",
    "past=off",
    "recall=off",
    "recall.time=off",
    "neighbours=0",
    "kin=off",
    "unique=off",
    "weight_decay=0",
    "user.shrink=0",
    "targets.soft=0",
    "mix=off",
    "newest=off",
    "pairs=0",
    "lifts=0",
    "lifts.after=off",
    NULL,
};

parsrec_status pr_config_preset(pr_config *config, const char *name, parsrec_error *err)
{
    if (strcmp(name, "default") == 0)
        return PARSREC_OK;
    if (strcmp(name, "paper") != 0) {
        pr_excerpt hold;
        pr_suggest near;
        pr_suggest_start(&near, pr_slice_of(name));
        pr_suggest_offer(&near, pr_slice_of("default"));
        pr_suggest_offer(&near, pr_slice_of("paper"));
        return pr_fail(err, PARSREC_E_CONFIG, "there is no preset %s%s; there are: default, paper",
                       pr_show(&hold, pr_slice_of(name)), pr_suggest_sentence(&near));
    }
    for (const char *const *line = paper; *line != NULL; line++)
        PR_TRY(pr_config_assign(config, *line, err));
    return PARSREC_OK;
}

void pr_config_settle_steps(pr_config *config, size_t baskets)
{
    enum {
        BATCHES = 400,
        BATCH_LEAST = 32,
        BATCH_MOST = 256,
        STEPS = 6000,
        EPOCHS_LEAST = 8,
        EPOCHS_MOST = 40
    };
    if (config->batch == 0) {
        config->batch = BATCH_LEAST;
        while (config->batch < BATCH_MOST && (size_t)config->batch * BATCHES * 7 / 5 < baskets)
            config->batch *= 2;
    }
    if (config->epochs == 0) {
        size_t steps = baskets / (size_t)config->batch + 1, most = STEPS / steps;
        config->epochs = most < EPOCHS_LEAST  ? EPOCHS_LEAST
                         : most > EPOCHS_MOST ? EPOCHS_MOST
                                              : (int)most;
    }
}

/* ---- writing: as values, as a commented file, as JSON ---- */

size_t pr_config_count(void)
{
    return SETTINGS;
}

const char *pr_config_key(size_t i)
{
    assert(i < SETTINGS);
    return settings[i].key;
}

pr_setting_type pr_config_type(size_t i)
{
    assert(i < SETTINGS);
    return settings[i].type;
}

const char *pr_config_help(size_t i)
{
    assert(i < SETTINGS);
    return settings[i].help;
}

static int whole_of(const pr_config *config, const setting *s)
{
    int value;
    memcpy(&value, (const char *)config + s->offset, sizeof value);
    return value;
}

static double number_of(const pr_config *config, const setting *s)
{
    double value;
    memcpy(&value, (const char *)config + s->offset, sizeof value);
    return value;
}

/* The shortest text that reads back as the same number; 30 rather than 3e+01. */
static void number_text(char *buffer, size_t size, double value)
{
    double back;
    bool ordinary = fabs(value) >= 1e-4 && fabs(value) < 1e6;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (sscanf(buffer, "%lf", &back) == 1 && back == value &&
            !(ordinary && strchr(buffer, 'e') != NULL))
            return;
    }
}

char *pr_config_value(const pr_config *config, size_t i, char *buffer, size_t size)
{
    assert(i < SETTINGS);
    const setting *s = &settings[i];
    if (s->type == PR_NUMBER)
        number_text(buffer, size, number_of(config, s));
    else if (s->type == PR_WHOLE)
        snprintf(buffer, size, "%d", whole_of(config, s));
    else if (s->type == PR_SWITCH)
        snprintf(buffer, size, "%s", whole_of(config, s) != 0 ? "on" : "off");
    else
        snprintf(buffer, size, "%s", s->choices[whole_of(config, s)]);
    return buffer;
}

/* "a|b" or "1..64" */
static void range_text(char *out, size_t size, const setting *s)
{
    out[0] = '\0';
    if (s->type == PR_WHOLE || s->type == PR_NUMBER)
        snprintf(out, size, "%g..%g", s->low, s->high);
    else if (s->type == PR_SWITCH)
        snprintf(out, size, "on|off");
    else
        for (size_t i = 0; s->choices[i] != NULL; i++) {
            strncat(out, i > 0 ? "|" : "", size - strlen(out) - 1);
            strncat(out, s->choices[i], size - strlen(out) - 1);
        }
}

char *pr_config_text(const pr_config *config)
{
    size_t size = SETTINGS * 256, used = 0;
    char *text = pr_alloc_zero(size, 1);
    for (size_t i = 0; text != NULL && i < SETTINGS; i++) {
        char value[64], range[64];
        range_text(range, sizeof range, &settings[i]);
        pr_config_value(config, i, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "# %s (%s)\n%s = %s\n", settings[i].help,
                                 range, settings[i].key, value);
    }
    return text;
}

static json_t *value_json(const pr_config *config, size_t i)
{
    const setting *s = &settings[i];
    switch (s->type) {
    case PR_WHOLE:
        return json_integer(whole_of(config, s));
    case PR_SWITCH:
        return json_boolean(whole_of(config, s) != 0);
    case PR_CHOICE:
        return json_string(s->choices[whole_of(config, s)]);
    default:
        return json_real(number_of(config, s));
    }
}

json_t *pr_config_json(const pr_config *config)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && i < SETTINGS; i++)
        if (json_object_set_new(object, settings[i].key, value_json(config, i)) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static void json_text(char *text, size_t size, const json_t *value)
{
    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "on" : "off");
    else if (json_is_integer(value))
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, size, "%.17g", json_real_value(value));
    else
        snprintf(text, size, "(neither text nor number)");
}

parsrec_status pr_config_from_json(pr_config *config, const json_t *object, parsrec_error *err)
{
    if (!json_is_object(object))
        return pr_fail(err, PARSREC_E_CONFIG, "settings must be a JSON object");
    json_t *open = (json_t *)(uintptr_t)object; /* jansson's iterators lack const */
    for (void *at = json_object_iter(open); at != NULL; at = json_object_iter_next(open, at)) {
        char text[64];
        json_text(text, sizeof text, json_object_iter_value(at));
        PR_TRY(pr_config_set(config, json_object_iter_key(at), text, err));
    }
    return PARSREC_OK;
}
