/* Settings of a model and its training: one table of keys, shared by --set, config files and the
 * metadata of model files. */
#ifndef PR_CONFIG_H
#define PR_CONFIG_H

#include "base/json.h"
#include "base/status.h"

typedef enum pr_stack { PR_STACK_QUERY, PR_STACK_PAPER } pr_stack;
typedef enum pr_ffn { PR_FFN_NONE, PR_FFN_PRE, PR_FFN_POST } pr_ffn;
typedef enum pr_cell_kind { PR_CELL_RNN, PR_CELL_GRU, PR_CELL_LSTM } pr_cell_kind;
typedef enum pr_output_drop { PR_DROP_STEP, PR_DROP_BATCH, PR_DROP_NONE } pr_output_drop;
typedef enum pr_history_kind {
    PR_HISTORY_MEAN,
    PR_HISTORY_SUM,
    PR_HISTORY_DECAYED
} pr_history_kind;
typedef enum pr_init_kind { PR_INIT_NORMAL, PR_INIT_REFERENCE } pr_init_kind;
typedef enum pr_order_kind { PR_ORDER_ANY, PR_ORDER_STORED, PR_ORDER_AUTO } pr_order_kind;
typedef enum pr_time_use { PR_TIME_OFF, PR_TIME_ON, PR_TIME_AUTO } pr_time_use;
typedef enum pr_loss_kind {
    PR_LOSS_CE,
    PR_LOSS_BCE,
    PR_LOSS_SAMPLED,
    PR_LOSS_BPR,
    PR_LOSS_AUTO, /* until a model is made: pr_model_settle_loss */
    PR_LOSS_BPR_MAX,
    PR_LOSS_TOP1_MAX
} pr_loss_kind;
typedef enum pr_count_what { PR_COUNT_BEFORE, PR_COUNT_TRAIN, PR_COUNT_ALL } pr_count_what;
typedef enum pr_ties { PR_TIES_POPULAR, PR_TIES_FIRST } pr_ties;
typedef enum pr_window_kind { PR_WINDOWS_ALL, PR_WINDOWS_LAST } pr_window_kind;
typedef enum pr_best_by { PR_BEST_REMAINING, PR_BEST_PROTOCOLS } pr_best_by;
typedef enum pr_average_kind { PR_AVERAGE_OFF, PR_AVERAGE_AUTO } pr_average_kind;
typedef enum pr_rules_by { PR_RULES_CONFIDENCE, PR_RULES_LIFT, PR_RULES_SUPPORT } pr_rules_by;
typedef enum pr_rules_from { PR_FROM_ALL, PR_FROM_LAST } pr_rules_from;
typedef enum pr_rules_side { PR_SIDE_AFTER, PR_SIDE_BOTH } pr_rules_side;
typedef enum pr_separator_use {
    PR_SEPARATOR_OFF,
    PR_SEPARATOR_ON,
    PR_SEPARATOR_AUTO /* until the data are known (settle.h); it then counts as on */
} pr_separator_use;
typedef enum pr_pool_by { PR_POOL_MAX, PR_POOL_MEAN } pr_pool_by;
typedef enum pr_optimiser { PR_ADAM, PR_SGD } pr_optimiser;

/* Integers, switches and choices are int, the rest double. The table in config.c has their names,
 * ranges, defaults and descriptions. */
typedef struct pr_config {
    int dim_user, dim_item, heads, layers, stack, ffn, cell;
    int layer_norm, layer_norm_query;
    double layer_norm_eps;
    double dropout_user, dropout_history, dropout_keys, dropout_output_rate;
    int dropout_output;
    int history, history_length;
    double history_decay;
    int init, loss, optimiser, batch, epochs, best, steps, last;
    int count, ties, fill, markov_width;
    double markov_smooth;
    int knn_users, tifu_groups, upcf_recent;
    double knn_own, tifu_decay, tifu_group_decay, upcf_asymmetry, upcf_locality, pernir_past;
    int links_width, rules_by, rules_from, rules_support, rules_steps, rules_side, ease_items;
    int knn_sessions, knn_recent;
    double rules_fade, itemknn_shrink, ease_lambda, knn_idf, knn_late;
    double rate, rate_warmup, rate_final, beta1, beta2, eps, clip, anyone;
    double targets_soft, user_shrink;
    int average, mix, newest, lifts_after;
    int bias, pull, past, recall, recall_time, unique, kin, neighbours, pairs, lifts, order;
    double recall_decay, pull_fade, weight_decay;
    int features_user, features_session, features_item, features_width;
    int length, windows, separator, ffn_width, negatives, lookback, filters, filters_column;
    int pool, pool_user, intervals;
    double dropout_hidden, dropout_attention, mask, mask_last, score_decay, negatives_power;
} pr_config;

pr_config pr_config_default(void);

/* Sets one key. The whole value must parse and be in range. */
parsrec_status pr_config_set(pr_config *config, const char *key, const char *value,
                             parsrec_error *err);
/* Sets from "key=value", as given to --set. */
parsrec_status pr_config_assign(pr_config *config, const char *assignment, parsrec_error *err);
/* Reads lines "key = value"; # starts a comment. `origin` names the text in messages. */
parsrec_status pr_config_read(pr_config *config, const char *text, size_t size, const char *origin,
                              parsrec_error *err);
/* A named group of settings: "paper"; "default" changes nothing. */
parsrec_status pr_config_preset(pr_config *config, const char *name, parsrec_error *err);

/* Chooses `batch` and `epochs` where they are 0, by the number of training baskets. Small data need
 * small batches to be gone through often enough, large data are learnt faster by large ones; the
 * number of epochs makes for about as many steps whatever the data (docs/training.md). */
void pr_config_settle_steps(pr_config *config, size_t baskets);

/* ---- showing ---- */

typedef enum pr_setting_type { PR_WHOLE, PR_NUMBER, PR_SWITCH, PR_CHOICE } pr_setting_type;

/* Settings are numbered 0..pr_config_count() - 1. */
size_t pr_config_count(void);
const char *pr_config_key(size_t i);
pr_setting_type pr_config_type(size_t i);
const char *pr_config_help(size_t i);
/* Writes the value as --set takes it. Returns buffer. */
char *pr_config_value(const pr_config *config, size_t i, char *buffer, size_t size);
/* A config file with a comment for each key. Free with pr_free; NULL if out of memory. */
char *pr_config_text(const pr_config *config);
/* The settings as a JSON object, owned by the caller; NULL if out of memory. */
json_t *pr_config_json(const pr_config *config);
/* Sets the keys of the object; an unknown key is an error. */
parsrec_status pr_config_from_json(pr_config *config, const json_t *object, parsrec_error *err);

#endif
