/* Every setting once: key, range, default, meaning. */
#include "model/config_table.h"

#include <stddef.h>

static const char *const stacks[] = {"query", "paper", NULL};
static const char *const ffns[] = {"none", "pre", "post", NULL};
static const char *const cells[] = {"rnn", "gru", "lstm", NULL};
static const char *const output_drops[] = {"step", "batch", "none", NULL};
static const char *const histories[] = {"mean", "sum", "decayed", NULL};
static const char *const inits[] = {"normal", "reference", NULL};
static const char *const orders[] = {"any", "stored", "auto", NULL};
static const char *const losses[] = {"ce", "bce", "sampled", "bpr", NULL};
static const char *const counts[] = {"before", "train", "all", NULL};
static const char *const ties[] = {"popular", "first", NULL};
static const char *const windows[] = {"all", "last", NULL};
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

const pr_config_setting pr_settings[] = {
    WHOLE("dim.user", dim_user, 1, 4096, "128", "width of a user's row"),
    WHOLE("dim.item", dim_item, 1, 4096, "128", "width of an item's row and of the hidden state"),
    WHOLE("heads", heads, 1, 64, "2",
          "attention heads; must divide dim.user + dim.item (sequence models: dim.item)"),
    WHOLE("layers", layers, 1, 8, "1", "attention layers"),
    CHOICE("stack", stack, stacks, "query",
           "what a layer hands up: the next query, or (paper) the next key and value"),
    CHOICE("ffn", ffn, ffns, "none", "feed-forward layers before or after the recurrent cell"),
    CHOICE("cell", cell, cells, "rnn", "recurrent cell: the paper's with ReLU, or with gates"),
    SWITCH("layer_norm", layer_norm, "on", "layer norm after the attention"),
    SWITCH("layer_norm.query", layer_norm_query, "on", "add the query before the layer norm"),
    NUMBER("layer_norm.eps", layer_norm_eps, 0, 1, "1e-08", "added to the variance"),
    NUMBER("dropout.user", dropout_user, 0, 0.95, "0.1", "share dropped of a user's row"),
    NUMBER("dropout.history", dropout_history, 0, 0.95, "0.1", "share dropped of a history vector"),
    NUMBER("dropout.keys", dropout_keys, 0, 0.95, "0.1", "share dropped of a placed item's row"),
    CHOICE("dropout.output", dropout_output, output_drops, "step",
           "a mask over the item table where it scores: fresh each step, each batch, or none"),
    NUMBER("dropout.output_rate", dropout_output_rate, 0, 0.95, "0.1", "share that mask drops"),
    CHOICE("history", history, histories, "mean", "how earlier items make the first hidden state"),
    WHOLE("history.length", history_length, 0, 1000000, "0", "newest items that count; 0 for all"),
    NUMBER("history.decay", history_decay, 0.01, 1, "0.95",
           "decayed: weight of a session against the one after it"),
    SWITCH("bias", bias, "off", "a score of its own for every item"),
    SWITCH("pull", pull, "off", "placed items add to every score directly, besides the network"),
    SWITCH("past", past, "off", "the history adds to every score directly, besides the network"),
    SWITCH("recall", recall, "off",
           "items that the user had before score more, by how often and how lately"),
    NUMBER("recall.decay", recall_decay, 0.01, 1, "0.9",
           "recall: weight of a session against the one after it"),
    WHOLE("neighbours", neighbours, 0, 64, "0",
          "recall: items whose counts foretell an item's own; 0 for none"),
    SWITCH("kin", kin, "off", "items of a category share a part of what is learnt of them"),
    SWITCH("features.user", features_user, "off",
           "what the data set knows of users joins the first hidden state"),
    SWITCH("features.session", features_session, "off", "the same of sessions"),
    SWITCH("features.item", features_item, "off",
           "items of a category, or with a feature in common, share a part of what is learnt"),
    WHOLE("features.width", features_width, 1, 1024, "16",
          "width of the map that numbers among features go through"),
    CHOICE(
        "order", order, orders, "any",
        "learn the order that baskets are stored in: any is as good, stored, or auto, if it tells"),
    NUMBER("pull.fade", pull_fade, 0, 1, "1",
           "stored order: share of a placed item's pull that is left a step later"),
    SWITCH("unique", unique, "off", "learn that an item is not placed twice"),
    CHOICE("init", init, inits, "normal", "first weights: normal maps, or as the authors' code"),
    CHOICE("loss", loss, losses, "ce",
           "cross entropy over the catalogue, or against drawn items: binary (sasrec), sampled "
           "cross entropy, pairs (parsrec)"),
    CHOICE("optimiser", optimiser, optimisers, "adam", "adam (lazy for embedding rows) or sgd"),
    NUMBER("rate", rate, 1e-7, 10, "0.001", "learning rate"),
    NUMBER("adam.beta1", beta1, 0, 0.9999, "0.9", "decay of the mean of gradients"),
    NUMBER("adam.beta2", beta2, 0, 0.999999, "0.999", "decay of the mean of their squares"),
    NUMBER("adam.eps", eps, 1e-20, 1, "1e-08", "added to the root of the latter"),
    NUMBER("weight_decay", weight_decay, 0, 100, "0",
           "share of maps and tables that a step takes away, in learning rates"),
    NUMBER("clip", clip, 0, 1e9, "30", "largest gradient norm; 0 never clips"),
    WHOLE("batch", batch, 1, 65536, "256", "baskets in a batch"),
    WHOLE("epochs", epochs, 1, 100000, "50", "passes over the data"),
    WHOLE("steps", steps, 1, 4096, "128", "steps of a basket that are learnt from"),
    WHOLE("last", last, 1, 1000000, "1", "newest sessions of a user that are kept for the test"),
    NUMBER("anyone", anyone, 0, 1, "0.02", "share of baskets that train the row for unknown users"),
    CHOICE("count", count, counts, "before",
           "models that count: all before the sessions evaluated, training sessions, or every one"),
    CHOICE(
        "ties", ties, ties, "popular",
        "of equal counts the more popular item first, or the first bought; pop: none, or in order"),
    WHOLE("markov.width", markov_width, 1, 1000000, "1024", "markov: links kept of an item"),
    NUMBER("markov.smooth", markov_smooth, 1e-6, 1e6, "1",
           "markov: sessions that popularity counts as, beside those of an item"),
    SWITCH("fill", fill, "on", "personal, recent: items never bought follow, by popularity"),
    WHOLE("length", length, 1, 4096, "200",
          "sequence models: newest items of a user that are seen"),
    CHOICE("windows", windows, windows, "all",
           "sequence models: learn from all windows of a user's items, or from the last alone"),
    WHOLE("ffn.width", ffn_width, 1, 16, "1", "sequence models: inner width, in widths of an item"),
    NUMBER("dropout.hidden", dropout_hidden, 0, 0.95, "0.2",
           "sequence models: share dropped of embeddings and of what layers add"),
    NUMBER("dropout.attention", dropout_attention, 0, 0.95, "0.2",
           "sequence models: share dropped of attention weights"),
    WHOLE("negatives", negatives, 1, 65536, "256",
          "other losses than ce: items drawn for each target (parsrec: for all of a step)"),
    NUMBER("mask", mask, 0.01, 0.95, "0.2", "bert4rec: share of items that are masked"),
    NUMBER("mask.last", mask_last, 0, 1, "0.1",
           "bert4rec: share of sequences whose last item alone is masked"),
};
const size_t pr_setting_count = sizeof pr_settings / sizeof *pr_settings;
