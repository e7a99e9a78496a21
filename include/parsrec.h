/* parsrec.h - next-item recommendation for open baskets, with personal item relationships.
 *
 * You free what you created; pointers returned `const` live as long as their owner; calls never
 * keep your pointers unless they say so. Paths may be "-" for stdin or stdout where a call says so.
 * A loaded object is read-only and may be shared by threads. The library never prints, exits or
 * aborts on input: each call returns a status and, if `err` is not NULL, one sentence in it. */
#ifndef PARSREC_H
#define PARSREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(PARSREC_STATIC) || !defined(__GNUC__)
#define PARSREC_API
#else
#define PARSREC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------ */

/* One list makes the enum, the names and the texts. Values are pinned: scripts may rely on them. */
#define PARSREC_STATUS_MAP(X)                                     \
    X(OK, 0, "success")                                           \
    X(E_ARGUMENT, 10, "an argument is outside its allowed range") \
    X(E_CONFIG, 11, "a setting is unknown or malformed")          \
    X(E_MEMORY, 20, "out of memory")                              \
    X(E_LIMIT, 21, "a stated limit was exceeded")                 \
    X(E_IO, 30, "reading or writing failed")                      \
    X(E_FORMAT, 40, "the file is damaged or of another kind")     \
    X(E_VERSION, 41, "the file was written by a newer version")   \
    X(E_CHECKSUM, 42, "the file does not match its checksum")     \
    X(E_INPUT, 50, "the input data are not valid")                \
    X(E_NOT_FOUND, 60, "no such user, item, category or column")  \
    X(E_STOPPED, 70, "stopped by the caller")                     \
    X(E_DIVERGED, 71, "training diverged")                        \
    X(E_UNSUPPORTED, 80, "not part of this build")

typedef enum parsrec_status {
#define PARSREC_STATUS_ENUM(name, value, text) PARSREC_##name = value,
    PARSREC_STATUS_MAP(PARSREC_STATUS_ENUM)
#undef PARSREC_STATUS_ENUM
} parsrec_status;

/* What went wrong, where, and what to do about it. Set only when a call does not return OK. */
typedef struct parsrec_error {
    parsrec_status status;
    char message[512];
} parsrec_error;

PARSREC_API const char *parsrec_status_name(parsrec_status status); /* "E_FORMAT" */
PARSREC_API const char *parsrec_status_text(parsrec_status status);
PARSREC_API const char *parsrec_version(void); /* "1.2.3" */

/* ---- log and progress -------------------------------------------------------------------- */

typedef enum parsrec_log_level {
    PARSREC_LOG_INFO,
    PARSREC_LOG_WARNING,
} parsrec_log_level;

typedef struct parsrec_progress {
    const char *stage; /* "reading actions.csv" */
    const char *unit;  /* "rows" */
    const char *note;  /* how the work goes, "loss 5.31"; may be NULL */
    uint64_t done;
    uint64_t total; /* 0: not known */
} parsrec_progress;

/* A finished epoch of training. Measures are of the validation sessions, in the paper's protocol with
 * 100 sampled items, or, where no validation session has two items, one fixed target at a time
 * (docs/evaluation.md); 0 when nobody can be validated. */
typedef struct parsrec_epoch {
    uint32_t number; /* from 1 */
    double loss;     /* cross entropy of a predicted item */
    double hit_rate_10, ndcg_10, session_precision_10;
    double seconds, items_per_s; /* of learning, without validation */
    bool earlier;                /* learnt before the run was resumed; both are 0 then */
    const char
        *name; /* of the model, where a call trains several; else NULL. Lives for the callback */
} parsrec_epoch;

/* Callbacks of one call; any may be NULL. They run on the calling thread. */
typedef struct parsrec_hooks {
    void *context;
    void (*on_log)(void *context, parsrec_log_level level, const char *text);
    int (*on_progress)(void *context,
                       const parsrec_progress *progress);        /* non-zero stops cleanly */
    void (*on_epoch)(void *context, const parsrec_epoch *epoch); /* training */
} parsrec_hooks;

/* ---- data sets --------------------------------------------------------------------------- */

/* Users, their sessions in order of time, and the items of each session. */
typedef struct parsrec_data parsrec_data;

PARSREC_API parsrec_status parsrec_data_load(parsrec_data **out, const char *path,
                                             parsrec_error *err);
PARSREC_API void parsrec_data_free(parsrec_data *data); /* NULL is fine */

/* Up to which number the data set has the events of a server's store; 0 for one it has nothing of. */
PARSREC_API uint64_t parsrec_data_events_through(const parsrec_data *data, const char *store_id);

typedef enum parsrec_time_kind {
    PARSREC_TIME_NONE,    /* the source had no times: sessions keep the order of the file */
    PARSREC_TIME_ORDINAL, /* numbers that only order */
    PARSREC_TIME_UNIX,    /* seconds since 1970-01-01T00:00:00Z */
} parsrec_time_kind;

/* The paper's statistics table and what else an analyst asks first. */
typedef struct parsrec_data_stats {
    uint64_t users, sessions, items, actions;
    double actions_per_user, sessions_per_user;
    double density; /* distinct (user, item) pairs / (users * items) */
    double basket_mean;
    uint64_t basket_median, basket_max;
    double single_item_share; /* sessions of one item / sessions */
    double repeat_share;      /* actions whose item the user had in an earlier session / actions */
    uint64_t sessions_per_user_median, sessions_per_user_max;
    uint64_t evaluated_users; /* users with at least three sessions */
    uint64_t categories, category_levels;
    uint64_t items_with_name;
    uint64_t user_features, session_features, item_features;
    parsrec_time_kind time_kind;
    int64_t first_time, last_time;
    bool synthetic; /* the file carries its ground truth */
    bool
        one_item_baskets; /* 95 in 100 sessions or more have one item: mostly a column that was missed */
    bool ordered;         /* import was told that the order within sessions has a meaning */
    char checksum[17]; /* 16 hex digits; empty when the file has none */
} parsrec_data_stats;

PARSREC_API parsrec_status parsrec_data_statistics(const parsrec_data *data,
                                                   parsrec_data_stats *stats, parsrec_error *err);

/* When baskets were bought, in UTC. All 0 where the data have no dates. */
typedef struct parsrec_month {
    int32_t year;
    uint32_t month; /* 1 to 12 */
    uint64_t sessions;
} parsrec_month;

#define PARSREC_MONTHS_MOST 1200

typedef struct parsrec_calendar {
    uint64_t weekday[7];  /* sessions on Monday ... Sunday */
    size_t months;        /* from the first month to the last; 0 when they span over a century */
    parsrec_month *month; /* parsrec_calendar_clear frees them */
} parsrec_calendar;

PARSREC_API parsrec_status parsrec_data_calendar(parsrec_calendar *out, const parsrec_data *data,
                                                 parsrec_error *err);
PARSREC_API void parsrec_calendar_clear(parsrec_calendar *calendar); /* a zeroed one is fine */

/* Users, items or categories of a data set, those in the most sessions first (docs/import.md). A
 * category counts the sessions that have an item of it or of a category below it. */
typedef enum parsrec_thing {
    PARSREC_USER,
    PARSREC_ITEM,
    PARSREC_CATEGORY,
} parsrec_thing;

typedef struct parsrec_listed {
    int32_t number;
    uint64_t sessions; /* that have it; of a user: the user's */
    uint64_t actions;  /* rows; of an item as many as sessions */
    uint64_t users;    /* who had it; of a user: 1 */
} parsrec_listed;

/* All of a kind, or those whose key, name or path contains `text`, whatever its case (ASCII); NULL
 * for all. Free *rows with parsrec_list_free. */
PARSREC_API parsrec_status parsrec_data_list(parsrec_listed **rows, size_t *count,
                                             const parsrec_data *data, parsrec_thing thing,
                                             const char *text, parsrec_error *err);
PARSREC_API void parsrec_list_free(parsrec_listed *rows); /* NULL is fine */

/* UTF-8 that belongs to a data set or model, not terminated; size 0 where there is none or the
 * number is out of range. */
typedef struct parsrec_name {
    const char *bytes;
    size_t size;
} parsrec_name;

PARSREC_API parsrec_name parsrec_data_key(const parsrec_data *data, parsrec_thing thing,
                                          int32_t number); /* a category's own name */
PARSREC_API parsrec_name parsrec_data_item_name(const parsrec_data *data, int32_t item);
PARSREC_API int32_t parsrec_data_item_category(const parsrec_data *data, int32_t item); /* or -1 */
/* "FOOD > BAKERY" in buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_data_category_path(const parsrec_data *data, int32_t category,
                                             char *buffer, size_t size);

/* In which order the items of a basket are stored (docs/training.md, Order within baskets). */
typedef enum parsrec_basket_order {
    PARSREC_ORDER_UNKNOWN, /* too few baskets to say */
    PARSREC_ORDER_FREE,    /* it differs from basket to basket, as where people choose it */
    PARSREC_ORDER_NUMBER,  /* sorted by item key, as numbers */
    PARSREC_ORDER_KEY,     /* sorted by item key, as text */
    PARSREC_ORDER_NAME,    /* sorted by item name */
    PARSREC_ORDER_FIXED,   /* one fixed order, as a sort by a key that is not in the data or a hash
                              table leaves it */
} parsrec_basket_order;

PARSREC_API const char *parsrec_basket_order_name(parsrec_basket_order order); /* "number", ... */
PARSREC_API const char *parsrec_basket_order_text(parsrec_basket_order order); /* for people */

typedef struct parsrec_order_report {
    parsrec_basket_order order;
    double sorted_share; /* neighbours in a basket that stand in the order of number, key or name */
    uint64_t pairs;      /* frequent pairs of items */
    double fixed_share;  /* of these, pairs that stand in one order at least 95 % of the time */
    /* How much more often neighbours were neighbours before than other items of a basket; 0: unknown. */
    double neighbour_ratio;
    bool learnt; /* whether training with order = auto learns it */
} parsrec_order_report;

PARSREC_API parsrec_status parsrec_data_order(const parsrec_data *data,
                                              parsrec_order_report *report, parsrec_error *err);

/* Groups of users that the data set itself tells apart, as parsrec_explain and parsrec_whatif take them:
 * "everybody", "truth" where it is known, FEATURE=VALUE for user features of at most 32 words. Number i in
 * buffer, cut to size and terminated; false after the last. */
PARSREC_API bool parsrec_data_group(const parsrec_data *data, size_t i, char *buffer, size_t size);

/* Verifies a data-set or model file completely: structure, checksum, contents. */
typedef struct parsrec_file_report {
    char format[32];   /* "parsrec.data", "parsrec.model", ... */
    uint32_t version;  /* of that format */
    uint64_t bytes;    /* of the whole file */
    uint64_t tensors;  /* padding not counted */
    bool has_checksum; /* files written by other programs may lack one */
} parsrec_file_report;

/* What a file says it is, as in the report; "" when it does not say. */
PARSREC_API parsrec_status parsrec_file_format(const char *path, char format[32],
                                               parsrec_error *err);

PARSREC_API parsrec_status parsrec_file_check(const char *path, parsrec_file_report *report,
                                              parsrec_error *err);

/* ---- import ------------------------------------------------------------------------------ */

typedef enum parsrec_session_rule {
    PARSREC_SESSION_COLUMN, /* by the session column; without one each action is a session */
    PARSREC_SESSION_GAP,    /* a pause longer than session_gap begins a new session */
    PARSREC_SESSION_DAY,    /* one session a user and day (UTC) */
    PARSREC_SESSION_WEEK,   /* weeks begin on Monday (UTC) */
    PARSREC_SESSION_MONTH,
} parsrec_session_rule;

typedef enum parsrec_input_format {
    PARSREC_INPUT_AUTO, /* by prefix, extension and header */
    PARSREC_INPUT_CSV,
    PARSREC_INPUT_TSV,
    PARSREC_INPUT_REFERENCE, /* user_id,time,session_length,session_items */
} parsrec_input_format;

/* What a column was taken for. */
typedef enum parsrec_column_role {
    PARSREC_COLUMN_UNUSED,
    PARSREC_COLUMN_USER,
    PARSREC_COLUMN_SESSION,
    PARSREC_COLUMN_TIME,
    PARSREC_COLUMN_ITEM,
    PARSREC_COLUMN_NAME,     /* of the item, for people */
    PARSREC_COLUMN_CATEGORY, /* a level of the item's category path, broad before narrow */
    PARSREC_COLUMN_NUMBER,   /* a feature that is a number */
    PARSREC_COLUMN_WORDS,    /* a feature whose values are categories */
} parsrec_column_role;

/* Strings are borrowed for the call. A column whose name is NULL is recognised by its name in the
 * header: user, session, time, item and what else they are called (docs/import.md). Session and time may
 * be missing; "" says that there is none. */
typedef struct parsrec_import_options {
    const char *user_column, *session_column, *time_column, *item_column;
    const char *items_path;       /* item,name,category and feature columns; NULL: none */
    const char *users_path;       /* user and feature columns */
    const char *sessions_path;    /* [user,]session and feature columns */
    const char *number_columns;   /* comma-separated feature columns that must be numbers */
    const char *category_columns; /* comma-separated feature columns that are categories */
    const char *table;            /* databases: read this table ... */
    const char *query;            /* ... or the rows of this query */
    const char *events;           /* also the purchases in this store of `parsrec serve`:
                                     sqlite:FILE or postgresql://... The data set notes up to which
                                     event it has them. NULL: none */
    parsrec_input_format format;
    bool latin1; /* input is ISO 8859-1 (or Windows-1252), not UTF-8 */
    bool sort;   /* order sessions by time instead of refusing times out of order */
    parsrec_session_rule session_rule;
    int64_t session_gap;  /* seconds, for PARSREC_SESSION_GAP */
    uint64_t min_actions; /* drop users and items with fewer, until stable; 0 keeps all */
    uint64_t max_bad;     /* skip and count up to so many bad rows instead of failing */
    const char
        *time_format; /* as of strptime, or excel, s, ms, us, ns; NULL: ISO dates or numbers */
    bool ordered;     /* the order of items within a session is that in which they were taken */
} parsrec_import_options;

/* A column of an input, in the order of its header. */
typedef enum parsrec_import_table {
    PARSREC_TABLE_ACTIONS, /* of the first input */
    PARSREC_TABLE_ITEMS,
    PARSREC_TABLE_USERS,
    PARSREC_TABLE_SESSIONS,
} parsrec_import_table;

typedef struct parsrec_import_column {
    parsrec_import_table table;
    parsrec_column_role role;
    bool decimal_comma; /* of a number */
    int level;          /* of a category: 0 is the broadest */
    char name[64];      /* cut where it is longer */
} parsrec_import_column;

#define PARSREC_IMPORT_COLUMNS_MOST 96

/* What became of the input. rows_read = actions kept + everything dropped. */
typedef struct parsrec_import_report {
    uint64_t rows_read;        /* rows of the action inputs, headers not counted */
    uint64_t bad_rows;         /* of them, skipped under max_bad */
    uint64_t bad_table_rows;   /* of the items, users and sessions files, skipped likewise */
    uint64_t repeats_dropped;  /* an item already in the same basket */
    uint64_t filtered_actions; /* dropped by min_actions ... */
    uint64_t filtered_users, filtered_items, filter_rounds;
    uint64_t unknown_items;     /* rows of items_path that name no item of the actions */
    uint64_t unknown_users;     /* rows of users_path that name no user of the actions */
    uint64_t unknown_sessions;  /* rows of sessions_path that name no session of the actions */
    uint64_t items_without_row; /* items that items_path does not list */
    uint64_t users_without_row;
    uint64_t users, sessions, items, actions; /* written */
    char first_bad[512];                      /* the sentence of the first bad row, empty if none */
    uint64_t trimmed_keys;      /* keys of users, sessions and items that had spaces around them */
    uint64_t one_item_sessions; /* of the sessions written */
    /* Every column of every table; column_count counts those beyond the room as well. */
    uint64_t column_count;
    parsrec_import_column columns[PARSREC_IMPORT_COLUMNS_MOST];
} parsrec_import_report;

PARSREC_API parsrec_import_options parsrec_import_default(void);

/* Reads all inputs ("-" is stdin) as one table and writes one data set to out_path, atomically. */
PARSREC_API parsrec_status parsrec_import(const char *out_path, const char *const *inputs,
                                          size_t input_count, const parsrec_import_options *options,
                                          parsrec_import_report *report, const parsrec_hooks *hooks,
                                          parsrec_error *err);

/* ---- synthetic data ---------------------------------------------------------------------- */

typedef enum parsrec_size_rule {
    PARSREC_SIZE_REFERENCE, /* ceil(2 + Weibull) clipped to 3..10, as the authors' sample */
    PARSREC_SIZE_PAPER,     /* ceil(Weibull), redrawn until 2..10 */
} parsrec_size_rule;

/* Largest sizes; what fits in memory may be less. */
#define PARSREC_SYNTH_USERS_MOST      2000000000
#define PARSREC_SYNTH_SESSIONS_MOST   2000000000
#define PARSREC_SYNTH_CATEGORIES_MOST 1000
#define PARSREC_SYNTH_PRODUCTS_MOST   10000

/* Columns of what is known of users, sessions and items: none, such as tell something of what is bought
 * (sessions have an occasion and users like brands then, which changes what is bought), such as tell
 * nothing, or both. */
typedef enum parsrec_synth_features {
    PARSREC_FEATURES_NONE,
    PARSREC_FEATURES_SIGNAL,
    PARSREC_FEATURES_NOISE,
    PARSREC_FEATURES_ALL,
} parsrec_synth_features;

typedef struct parsrec_synth_options {
    uint64_t users, sessions, categories, products; /* products: of each category */
    parsrec_size_rule size_rule;
    const char *groups_path; /* JSON with the groups' covariances; NULL: the paper's two */
    bool outside;            /* trips may be lost and slots stay empty, see docs/synthetic.md */
    parsrec_synth_features features;
    const char *csv_path; /* also write the actions as CSV ("-" is stdout); NULL: do not */
    uint64_t seed;
    unsigned threads; /* 0: all cores; the result does not depend on it */
} parsrec_synth_options;

typedef struct parsrec_synth_report {
    uint64_t users, sessions, items, actions, groups;
} parsrec_synth_report;

PARSREC_API parsrec_synth_options parsrec_synth_default(void);

/* Writes synthetic baskets with their ground truth to out_path, atomically; out_path may be NULL
 * when options->csv_path is not. */
PARSREC_API parsrec_status parsrec_synth(const char *out_path, const parsrec_synth_options *options,
                                         parsrec_synth_report *report, const parsrec_hooks *hooks,
                                         parsrec_error *err);

/* The options that a synthetic data set was made with: paths NULL, threads 0. E_NOT_FOUND when the
 * data set is not synthetic. */
PARSREC_API parsrec_status parsrec_synth_options_of(const parsrec_data *data,
                                                    parsrec_synth_options *options,
                                                    parsrec_error *err);

/* ---- a model beside counts --------------------------------------------------------------- */

typedef enum parsrec_split {
    PARSREC_SPLIT_TEST,  /* the last session of each user with three or more */
    PARSREC_SPLIT_VALID, /* the one before */
} parsrec_split;

typedef enum parsrec_protocol {
    PARSREC_PROTOCOL_REMAINING, /* any item that remains in the basket is a right answer (the paper's) */
    PARSREC_PROTOCOL_NEXT,      /* one fixed target at a time, in stored order */
    PARSREC_PROTOCOL_BASKET, /* one list before the basket starts, all of the basket to be found */
} parsrec_protocol;
enum { PARSREC_PROTOCOLS = 3 };

PARSREC_API const char *parsrec_protocol_name(parsrec_protocol protocol); /* "remaining", ... */

/* Models that only count (docs/models.md) and take seconds to make: what any other model must beat. */
enum { PARSREC_BASELINES = 5, PARSREC_BASELINE_ROWS = 5 };

typedef enum parsrec_verdict {
    PARSREC_VERDICT_NONE,   /* nothing to compare */
    PARSREC_VERDICT_AHEAD,  /* the model is ahead of every baseline by more than chance */
    PARSREC_VERDICT_LEVEL,  /* its difference from the best baseline is within chance */
    PARSREC_VERDICT_BEHIND, /* the best baseline is ahead of the model by more than chance */
} parsrec_verdict;

PARSREC_API const char *parsrec_verdict_name(parsrec_verdict verdict); /* "ahead", ... */

typedef struct parsrec_baseline {
    const char *model; /* "pop", "personal", "markov"; static storage */
    double value;      /* NDCG@10 */
    double low, high;  /* interval of 95 % over users of the model's NDCG@10 minus this one */
} parsrec_baseline;

/* One protocol: the model's NDCG@10 and that of the baselines on the same sessions and candidates. */
typedef struct parsrec_baseline_row {
    parsrec_protocol protocol;
    uint64_t negatives; /* sampled items that a basket is ranked against; 0: the whole catalogue */
    uint64_t users, baskets;
    double value;
    parsrec_baseline baselines[PARSREC_BASELINES];
    size_t count, best; /* baselines, and which of them has the highest value */
    parsrec_verdict verdict;
} parsrec_baseline_row;

/* Every protocol with the candidates that `parsrec eval` takes by default, then `remaining` and `next`
 * over the whole catalogue. A protocol by which no session can be evaluated has no row. */
typedef struct parsrec_baseline_report {
    char model[32]; /* its kind; it is not among its own baselines */
    parsrec_split split;
    uint64_t users, users_of; /* evaluated, of those who can be: large data are sampled */
    parsrec_baseline_row rows[PARSREC_BASELINE_ROWS];
    size_t row_count;
    parsrec_verdict verdict; /* behind if any row is, ahead if all are */
} parsrec_baseline_report;

/* One line for people. It names every protocol in which counting is better and the command to use then.
 * Cut to size; empty if the report has no rows. Returns buffer. */
PARSREC_API char *parsrec_baselines_text(const parsrec_baseline_report *report, char *buffer,
                                         size_t size);
/* The report as a JSON object (docs/training.md), with that line as `sentence`. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_baselines_json(char **out, const parsrec_baseline_report *report,
                                                  parsrec_error *err);

/* ---- training ---------------------------------------------------------------------------- */

/* Settings come from the preset, then the config file, then `set`, then epochs; parsrec_config_text
 * shows all keys. A resumed run has the settings, seed and patience of its checkpoint: `model`,
 * `preset` and `config_path` must be NULL, `set` may change rate, clip and epochs. Strings are
 * borrowed for the call. */
typedef struct parsrec_train_options {
    const char *model;       /* kind; NULL: "parsrec" */
    const char *preset;      /* "paper"; NULL: the defaults */
    const char *config_path; /* lines "key = value"; NULL: none */
    const char *const *set;  /* "key=value" each */
    size_t set_count;
    uint64_t epochs;           /* 0: as the settings say */
    uint64_t patience;         /* epochs without a better validation before stopping; 0: never */
    const char *resume;        /* a checkpoint to go on from, or NULL */
    double checkpoint_minutes; /* between checkpoints within an epoch; every epoch ends with one */
    bool keep_checkpoint; /* also of a finished run, so that one of more epochs can go on from it */
    bool skip_baselines;  /* do not compare the trained model with counts */
    uint64_t seed;
    unsigned threads; /* 0: all cores; the model does not depend on it */
} parsrec_train_options;

typedef struct parsrec_train_report {
    uint32_t epochs, best_epoch;
    bool stopped_early; /* by patience */
    parsrec_epoch best;
    const char *best_by; /* the validation measure that chose it; "" when nobody can be validated */
    char checkpoint[4096]; /* where a stopped run can be resumed from; empty after a finished one */
    parsrec_baseline_report baselines; /* on the validation sessions */
} parsrec_train_report;

PARSREC_API parsrec_train_options parsrec_train_default(void);

/* Trains and writes the best model to out_path, atomically; beside it out_path.log (JSON lines),
 * out_path.png and .svg (learning curves) and, while it runs, out_path.ckpt. When on_progress asks
 * to stop, the checkpoint is written and the status is E_STOPPED. E_DIVERGED leaves the last good
 * checkpoint. A log or picture that cannot be written is a warning. A model that counts takes one pass
 * over all sessions but the last of each user: no epochs, no checkpoint, no curves. Last, once the model is
 * written, it is compared with counts on the validation sessions; when on_progress asks to stop in this
 * time, the report has no baselines and the status is OK. */
PARSREC_API parsrec_status parsrec_train(const parsrec_data *data, const char *out_path,
                                         const parsrec_train_options *options,
                                         parsrec_train_report *report, const parsrec_hooks *hooks,
                                         parsrec_error *err);

/* The settings in force as a commented config file. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_config_text(char **out, const parsrec_train_options *options,
                                               parsrec_error *err);
/* Learning curves as lines of text, for a terminal. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_curves_text(char **out, const parsrec_epoch *epochs,
                                               size_t count, size_t columns, parsrec_error *err);
PARSREC_API void parsrec_text_free(char *text); /* NULL is fine */

/* ---- models ------------------------------------------------------------------------------ */

/* A trained model with its catalogue, its users and their pasts. Loading one sets OpenBLAS, where
 * that is the CBLAS in use, to a single thread: requests run side by side instead. */
typedef struct parsrec_model parsrec_model;

PARSREC_API parsrec_status parsrec_model_load(parsrec_model **out, const char *path,
                                              parsrec_error *err);
PARSREC_API void parsrec_model_free(parsrec_model *model); /* NULL is fine */

/* A model of a kind that only counts, made from `data`, which must outlive it; no file is written.
 * options->model names the kind. */
PARSREC_API bool parsrec_model_counts(const char *kind); /* whether a kind only counts */
PARSREC_API parsrec_status parsrec_model_count(parsrec_model **out, const parsrec_data *data,
                                               const parsrec_train_options *options,
                                               const parsrec_hooks *hooks, parsrec_error *err);

/* The data set inside the model file: what it was trained on. */
PARSREC_API const parsrec_data *parsrec_model_data(const parsrec_model *model);

/* How another data set fits a model. */
typedef struct parsrec_pasts_report {
    uint64_t users, new_users;               /* in the data; of these, whom the model never saw */
    uint64_t unknown_items, unknown_actions; /* left out, because the model does not know them */
} parsrec_pasts_report;

/* From now on users' pasts are those in `data`, matched by keys; nothing of `data` is kept. New users
 * get the next numbers; a user whom `data` lacks has no past. Not while other threads use the model. */
PARSREC_API parsrec_status parsrec_model_take_pasts(parsrec_model *model, const parsrec_data *data,
                                                    parsrec_pasts_report *report,
                                                    parsrec_error *err);

typedef struct parsrec_model_facts {
    char kind[32];       /* "parsrec" */
    uint64_t parameters; /* numbers that were learnt */
    uint64_t bytes;      /* of the file */
    uint64_t users, items, categories;
} parsrec_model_facts;

PARSREC_API void parsrec_model_describe(const parsrec_model *model, parsrec_model_facts *facts);

typedef struct parsrec_setting {
    const char *key, *help;
    char value[64], initial[64]; /* the model's, and the default */
} parsrec_setting;

/* Setting number i; false after the last. */
PARSREC_API bool parsrec_model_setting(const parsrec_model *model, size_t i,
                                       parsrec_setting *setting);

/* Weight number i of a model that is a sum of few terms (`mix`), with the name of its term, which lives for
 * ever; false after the last, and for models whose weights say nothing by themselves. */
PARSREC_API bool parsrec_model_weight(const parsrec_model *model, size_t i, const char **name,
                                      double *value);

/* ---- names and numbers ------------------------------------------------------------------- */

/* Numbers are dense, from 0: users, items and categories as parsrec_model_size says. */
#define PARSREC_GUEST (-1)

PARSREC_API size_t parsrec_model_size(const parsrec_model *model, parsrec_thing thing);

/* A user or item by its key, an item also by its exact name, a category by its path ("FOOD > BAKERY")
 * or name; names count where one thing alone bears them. E_NOT_FOUND otherwise. */
PARSREC_API parsrec_status parsrec_model_find(const parsrec_model *model, parsrec_thing thing,
                                              const char *word, int32_t *number,
                                              parsrec_error *err);

PARSREC_API parsrec_name parsrec_model_key(const parsrec_model *model, parsrec_thing thing,
                                           int32_t number); /* a category's own name */
PARSREC_API parsrec_name parsrec_model_item_name(const parsrec_model *model, int32_t item);
PARSREC_API int32_t parsrec_model_item_category(const parsrec_model *model,
                                                int32_t item); /* or -1 */
/* "FOOD > BAKERY" in buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_model_category_path(const parsrec_model *model, int32_t category,
                                              char *buffer, size_t size);

/* ---- recommendation ---------------------------------------------------------------------- */

/* Working memory of one thread for one model, which must outlive it. */
typedef struct parsrec_scratch parsrec_scratch;
/* Histories that grow while requests are answered; see "live histories" below. */
typedef struct parsrec_live parsrec_live;

#define PARSREC_BASKET_MOST 1000000

/* For baskets of up to basket_most items; 0 means 256. */
PARSREC_API parsrec_status parsrec_scratch_new(parsrec_scratch **out, const parsrec_model *model,
                                               size_t basket_most, parsrec_error *err);
PARSREC_API void parsrec_scratch_free(parsrec_scratch *scratch); /* NULL is fine */
/* From now on a request for more items is E_LIMIT; 0 lifts the limit. For servers: whoever asks decides on
 * k, and so on the size of the answer. */
PARSREC_API void parsrec_scratch_limit(parsrec_scratch *scratch, size_t k_most);

typedef struct parsrec_numbers {
    const int32_t *list;
    size_t count;
} parsrec_numbers;

/* The columns that a model reads, one after the other; false behind the last. */
typedef struct parsrec_column {
    const char *of, *name; /* of "user", "session" or "item" */
    bool number;           /* else words */
} parsrec_column;
PARSREC_API bool parsrec_model_column(const parsrec_model *model, size_t i, parsrec_column *column);

/* Something known of the session under way, or of its user, by the name of a column that the model's data
 * set has of sessions or users. */
typedef struct parsrec_feature {
    const char *name;
    const char *word; /* NULL: it is a number, or unknown where that is NAN */
    double number;
} parsrec_feature;

/* Who asks, and which items may be the answer. An empty list restricts nothing. A category stands for
 * everything below it too. */
typedef struct parsrec_request {
    int32_t user; /* or PARSREC_GUEST */
    const parsrec_numbers
        *history;                  /* items bought before, oldest first, instead of the past that is
                                       known of the user; NULL: that one */
    parsrec_numbers basket;        /* in the order they were placed; an item counts once */
    size_t k;                      /* items wanted, at least 1 */
    parsrec_numbers exclude, only; /* items */
    parsrec_numbers exclude_categories, categories;
    size_t max_per_category; /* of the answer's items that are of one category; 0: any number */
    const parsrec_feature *features; /* these replace what the model knows of the user */
    size_t feature_count;
    const parsrec_live *live; /* whose histories are used; NULL: those stored with the model */
    const char
        *session; /* with live: the name under which this basket is being added, so that it is
                            no part of the history; NULL: none */
} parsrec_request;

PARSREC_API parsrec_request parsrec_request_default(void); /* a guest's empty basket, 10 items */

typedef struct parsrec_hit {
    int32_t item;
    float score; /* compares items of one answer; larger is better */
} parsrec_hit;

typedef enum parsrec_source {
    PARSREC_SOURCE_MODEL,  /* the user's own row of the model */
    PARSREC_SOURCE_ANYONE, /* the row for guests and users it never saw buy anything */
    PARSREC_SOURCE_POPULAR, /* what is bought most: nothing is known, neither user nor past nor basket */
} parsrec_source;

PARSREC_API const char *parsrec_source_name(
    parsrec_source source); /* "model", "anyone", "popular" */

typedef struct parsrec_answer {
    size_t count; /* hits, at most k and capacity; fewer when fewer items are left */
    parsrec_source source;
} parsrec_answer;

/* The best next items, best first, never one that is in the basket; of equal scores the smaller number
 * comes first. Allocates nothing. A basket longer than the scratch allows is E_LIMIT. */
PARSREC_API parsrec_status parsrec_recommend(const parsrec_model *model, parsrec_scratch *own,
                                             const parsrec_request *request, parsrec_hit *hits,
                                             size_t capacity, parsrec_answer *answer,
                                             parsrec_error *err);

/* ---- why an item is recommended ---- */

#define PARSREC_REASONS_MOST 32 /* items of a basket that are explained: the newest */

/* What leaving something out does to an item. */
typedef struct parsrec_effect {
    double
        effect; /* the item's log-probability less that without it: above 0 it speaks for the item;
                      NaN where there is nothing to leave out */
    double share; /* of all that speaks for the item, 0 to 1; NaN likewise */
    size_t rank;  /* the item's without it, from 1; 0: not to be recommended at all, or likewise */
} parsrec_effect;

/* An item of the basket. */
typedef struct parsrec_reason {
    int32_t item;
    double
        attention; /* the model's weight on it, mean over heads; NaN: the model has no attention */
    parsrec_effect drop;
    double part; /* what it adds to the score directly; NaN without parts */
} parsrec_reason;

/* A score that is a sum: these parts and those of the basket's items. */
typedef struct parsrec_parts {
    double network; /* what the network makes of user, history and basket together */
    double history; /* the mean of all earlier items */
    double memory;  /* this item in the user's past, and what goes with it there */
    double item;    /* the item's own */
} parsrec_parts;

typedef struct parsrec_why {
    int32_t item;             /* that is recommended */
    double log_probability;   /* as the next one, out of all items that are not in the basket */
    size_t rank;              /* among those that the request allows, from 1 */
    parsrec_effect history;   /* all that is known of earlier baskets */
    parsrec_effect user;      /* who the user is; anyone takes the place */
    uint64_t earlier_baskets; /* of the user's that held the item */
    bool has_parts;           /* the model's score of the item is a sum */
    parsrec_parts parts;
    parsrec_reason reasons[PARSREC_REASONS_MOST];
    size_t reason_count;
} parsrec_why;

/* Why each of these hits is recommended to this request, which must allow them. An item of the basket
 * that is left out does not come into the ranking. The first call with a scratch takes memory, later ones
 * none. */
PARSREC_API parsrec_status parsrec_recommend_why(const parsrec_model *model, parsrec_scratch *own,
                                                 const parsrec_request *request,
                                                 const parsrec_hit *hits, size_t count,
                                                 parsrec_why *whys, parsrec_error *err);

/* "because of Milk (0.61) and Bread (0.22); you also bought it in 12 earlier baskets", with the shares,
 * in buffer, cut to size and terminated; 512 bytes are enough. Returns buffer. */
PARSREC_API char *parsrec_why_sentence(const parsrec_model *model, const parsrec_why *why,
                                       char *buffer, size_t size);

/* How requests are read as JSON. Zeroed means the defaults. */
typedef struct parsrec_json_options {
    size_t k;                 /* of requests that have none; 0: 10 */
    const parsrec_live *live; /* as in parsrec_request; NULL: none, and no field "session" */
    size_t
        batch_most; /* {"requests":[...]} of at most this many is answered by {"answers":[...]}, an
                          answer or {"error":{"code","message"}} each; 0: one request only */
    const char *(*error_code)(parsrec_status status); /* in a batch; NULL: parsrec_status_name */
} parsrec_json_options;

/* Recommendation with a request and an answer as JSON text (docs/recommend.md). Items that the model does
 * not know are left out and listed in the answer, unless the request is strict. The answer is one line,
 * terminated, and lives until the next call with this scratch. `options` may be NULL. */
PARSREC_API parsrec_status parsrec_recommend_json(const parsrec_model *model, parsrec_scratch *own,
                                                  const parsrec_json_options *options,
                                                  const char *request, size_t size,
                                                  const char **answer, parsrec_error *err);

/* The same text for an answer of parsrec_recommend. */
typedef struct parsrec_answer_parts {
    const char *user; /* key as the caller has it, UTF-8; NULL: a guest */
    const parsrec_request *request;
    parsrec_answer answer;
    const parsrec_hit *hits;
    const parsrec_why *whys;    /* of the hits; NULL: without reasons */
    const char *const *unknown; /* items that were left out because the model does not know them */
    size_t unknown_count;
} parsrec_answer_parts;
PARSREC_API parsrec_status parsrec_answer_json(const parsrec_model *model, parsrec_scratch *own,
                                               const parsrec_answer_parts *parts, const char **text,
                                               parsrec_error *err);

/* ---- times ------------------------------------------------------------------------------- */

/* Seconds since 1970 of an ISO 8601 date, or date and time, as import reads them: "2010-03-02",
 * "2010-03-02T13:08:00+01:00"; UTC where no zone is given. E_INPUT with a sentence for anything else. */
PARSREC_API parsrec_status parsrec_time_read(const char *text, int64_t *seconds,
                                             parsrec_error *err);

/* ---- live histories ---------------------------------------------------------------------- */

/* What users bought after the model was made; requests use it by parsrec_request.live. Threads share it:
 * those that read do not wait for each other, those that add take turns. The model must outlive it, and
 * must not take pasts meanwhile. With it a scratch allocates when a history is longer than all before. */
PARSREC_API parsrec_status parsrec_live_new(parsrec_live **out, const parsrec_model *model,
                                            parsrec_error *err);
PARSREC_API void parsrec_live_free(parsrec_live *live); /* NULL is fine */

/* Adds items to a session of a user, who is known by key from then on if not before. Items that are added
 * under one name of a session, which is a matter between the user and the caller, make one session, at the
 * place where it began; NULL makes a session of its own. An item counts once in a session. Numbers below
 * 0 stand for items that the model does not know and are left out. */
PARSREC_API parsrec_status parsrec_live_add(parsrec_live *live, const char *user,
                                            const char *session, const int32_t *items, size_t count,
                                            parsrec_error *err);

/* Puts items into the open basket of that name, which is no purchase: it does not count as past. A request with
 * the session and without a basket is about it. What is added by parsrec_live_add under the same name leaves it.
 * Only the newest few baskets of a user are kept; one without a name is not. */
PARSREC_API parsrec_status parsrec_live_cart(parsrec_live *live, const char *user,
                                             const char *session, const int32_t *items,
                                             size_t count, parsrec_error *err);

/* From now on the user is a guest: neither the model's row nor anything bought so far is used again.
 * What is added later begins a new past. A user nobody knows may be forgotten too. */
PARSREC_API parsrec_status parsrec_live_forget(parsrec_live *live, const char *user,
                                               parsrec_error *err);

/* The same for whoever has a key with this hash, SipHash-2-4 with 128 bits under a secret that is the same in all
 * calls: whoever keeps a list of the forgotten need not keep their keys. */
enum { PARSREC_HASH_BYTES = 16 };
PARSREC_API parsrec_status parsrec_live_forget_hash(parsrec_live *live,
                                                    const uint8_t secret[PARSREC_HASH_BYTES],
                                                    const uint8_t hash[PARSREC_HASH_BYTES],
                                                    parsrec_error *err);
/* Whether the user was forgotten and what the model's data have is hidden; true also when more was added since. */
PARSREC_API bool parsrec_live_forgotten(const parsrec_live *live, const char *user);

/* The number of a user who is known to the model or was added, for requests with these live histories;
 * E_NOT_FOUND for others and for those forgotten. */
PARSREC_API parsrec_status parsrec_live_find(const parsrec_live *live, const char *user,
                                             int32_t *number, parsrec_error *err);

/* What a user bought: different items, those in most baskets first, at most `capacity`. E_NOT_FOUND as
 * parsrec_live_find. */
typedef struct parsrec_bought {
    int32_t item;
    size_t count; /* baskets */
    size_t last;  /* baskets ago; 0: in the newest */
} parsrec_bought;
PARSREC_API parsrec_status parsrec_live_bought(const parsrec_live *live, const char *user,
                                               parsrec_bought *list, size_t capacity, size_t *count,
                                               parsrec_error *err);

/* {"user","known","baskets","items":[{"item","name","category","count","last"}],"recent":[[keys]...]}:
 * different items, those in most baskets first; `last` is how many baskets ago, 0 for the newest; and the
 * newest baskets, newest first, at most `recent`. E_NOT_FOUND as parsrec_live_find; `known` is whether
 * the model has a row for the user. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_live_user_json(char **out, const parsrec_live *live,
                                                  const char *user, size_t recent,
                                                  parsrec_error *err);

/* PARSREC_USER: {"users":[{"user","baskets"}]}, PARSREC_ITEM: {"items":[{"item","name","category"}]}: at
 * most `limit` whose key, or an item's name, holds the text, small letters and capitals alike; those that
 * begin with it first, otherwise in order of their numbers. "" fits all. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_live_search_json(char **out, const parsrec_live *live,
                                                    parsrec_thing thing, const char *text,
                                                    size_t limit, parsrec_error *err);

/* ---- forgetting -------------------------------------------------------------------------- */

/* Writes a model file without these users to out_path, atomically: without their keys, their rows and
 * what they bought. What all users together taught the model stays in it. E_NOT_FOUND if the model has no
 * such user. out_path may be the same file. */
PARSREC_API parsrec_status parsrec_model_forget(const char *model_path, const char *out_path,
                                                const char *const *users, size_t count,
                                                parsrec_error *err);

/* ---- evaluation -------------------------------------------------------------------------- */

enum { PARSREC_CUTOFFS_MOST = 8 };

typedef enum parsrec_candidates {
    PARSREC_CANDIDATES_UNIFORM, /* drawn alike */
    PARSREC_CANDIDATES_POPULAR, /* drawn by the number of actions before the split */
    PARSREC_CANDIDATES_FILE,    /* a list for each user */
} parsrec_candidates;

/* What one user adds to a measure, which is the sum of all sums / the sum of all weights. */
typedef struct parsrec_share {
    double sum, weight;
} parsrec_share;

/* How models are judged (docs/evaluation.md). What a basket's own items are ranked against is the same
 * for every model. Strings are borrowed for the call. */
typedef struct parsrec_eval_options {
    parsrec_split split;
    parsrec_protocol protocol;
    uint64_t negatives;            /* sampled items; 0: the whole catalogue */
    parsrec_candidates candidates; /* where these come from */
    const char *candidates_path;   /* of the file: rows of user and item, or user and items */
    bool exclude_seen;             /* items that the user had before leave the ranking */
    const char *users_path;        /* keys of the users to evaluate; NULL: everybody who can be */
    const char *count_users_path;  /* models that count: whose sessions; NULL: everybody's */
    uint64_t last;                 /* sessions of each user in the test split; 0: as many as the
                                       model was trained to leave out */
    uint64_t k[PARSREC_CUTOFFS_MOST]; /* cutoffs to report */
    size_t k_count;
    uint64_t place_k; /* the best remaining item is placed next when it ranks among so many */
    uint64_t seed;    /* of the sampled items */
    unsigned threads;
    const char *dump_path; /* writes what was ranked there, as JSON lines; NULL: nowhere */
    /* Told of every user evaluated, in order of their numbers, with what the user adds to each measure
     * of the report: for statistics of your own. NULL: nobody asks. */
    void (*on_user)(void *context, uint64_t user, const parsrec_share *shares, size_t measures);
    void *user_context;
} parsrec_eval_options;

/* One number. low and high bound an interval of 95 % over users. `repeat` is measured on items that the
 * user had in an earlier session, `fresh` on those that are new to the user; random is what a ranker
 * that knows nothing gets. NaN where there is nothing to measure. */
typedef struct parsrec_measure {
    const char *name; /* "HR"; lives for ever */
    uint64_t k;       /* 0: a measure without cutoff */
    double value, low, high, random;
    double repeat, fresh, repeat_random, fresh_random;
} parsrec_measure;

enum { PARSREC_MEASURES_MOST = 5 * PARSREC_CUTOFFS_MOST };

typedef struct parsrec_eval_report {
    uint64_t users, baskets, steps;
    uint64_t negatives;                 /* at most so many for a basket; 0: the whole catalogue */
    uint64_t repeat_steps, fresh_steps; /* that have such an item to find */
    parsrec_measure measures[PARSREC_MEASURES_MOST];
    size_t measure_count;
    char fingerprint[17]; /* of protocol, candidates, seed, data and settings of the model */
    double seconds;
} parsrec_eval_report;

PARSREC_API parsrec_eval_options parsrec_eval_default(void);

/* Names and cutoffs of the measures that a report with these options has, in its order; their values
 * are not set. */
PARSREC_API parsrec_status parsrec_eval_measures(const parsrec_eval_options *options,
                                                 parsrec_measure measures[PARSREC_MEASURES_MOST],
                                                 size_t *count, parsrec_error *err);

/* Evaluates on the users of `data`. Users and items are matched with the model's by key: users it does not
 * know are served as unknown users, items it does not have are left out, and a warning says how many. So do
 * parsrec_explain and parsrec_whatif. A model that counts is counted again, from what was before the
 * sessions evaluated. */
PARSREC_API parsrec_status parsrec_eval(const parsrec_model *model, const parsrec_data *data,
                                        const parsrec_eval_options *options,
                                        parsrec_eval_report *report, const parsrec_hooks *hooks,
                                        parsrec_error *err);

/* The same by several options, as a rule one for each protocol: reports[count]. What they have in common
 * is done once. A report without users had nobody to evaluate; E_INPUT when that is so of all. */
PARSREC_API parsrec_status parsrec_eval_several(const parsrec_model *model,
                                                const parsrec_data *data,
                                                const parsrec_eval_options *options, size_t count,
                                                parsrec_eval_report *reports,
                                                const parsrec_hooks *hooks, parsrec_error *err);

/* Compares a model with counts in every protocol, on the data that are in its file. Of large data, users are sampled evenly, so that it
 * takes seconds. */
PARSREC_API parsrec_status parsrec_baselines(parsrec_baseline_report *report,
                                             const parsrec_model *model, parsrec_split split,
                                             unsigned threads, const parsrec_hooks *hooks,
                                             parsrec_error *err);

/* A report as JSON text (docs/evaluation.md); `model` and `data` are the names to put into it. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_eval_json(char **out, const char *model, const char *data,
                                             const parsrec_eval_options *options,
                                             const parsrec_eval_report *report, parsrec_error *err);

/* The members of the first report that has users, as parsrec_eval_json gives them, and "protocols": an
 * object with all reports by the name of their protocol, null for one without users. */
PARSREC_API parsrec_status parsrec_eval_several_json(char **out, const char *model,
                                                     const char *data,
                                                     const parsrec_eval_options *options,
                                                     const parsrec_eval_report *reports,
                                                     size_t count, parsrec_error *err);

/* ---- comparison -------------------------------------------------------------------------- */

/* Strings are borrowed for the call. */
typedef struct parsrec_compare_options {
    const char *models;  /* the list (docs/compare.md); NULL: the preset's */
    const char *preset;  /* "paper-small" or "paper-synthetic"; NULL: none */
    const char *measure; /* that decides who is the best, "HR@10"; NULL: NDCG, or else the first
                            measure, at the largest cutoff */
    uint64_t epochs, patience; /* of every model that learns; 0: as its settings say, and never */
    uint64_t seed;             /* of training, and of the data that a preset makes */
    uint64_t seeds;            /* every model that learns is trained so many times, with seeds from
                                   `seed` on, 1 to 1,000 */
    uint64_t jobs;             /* trainings at the same time; 0: as many as cores and memory allow;
                                   results do not depend on it */
    bool retrain;              /* make again what the folder holds made otherwise */
    const char *command;       /* as it was typed, for the reports; NULL: not told */
    parsrec_eval_options eval; /* the same for all; its threads are those of training too */
    const parsrec_eval_options *others; /* by which the models are evaluated as well, as a rule the
                                            other protocols: values beside those of `eval` */
    size_t other_count;                 /* up to PARSREC_PROTOCOLS - 1 */
    bool only_listed; /* do not add personal, recent, markov and mix to the models */
} parsrec_compare_options;

PARSREC_API parsrec_compare_options parsrec_compare_default(void);

/* Models side by side. */
typedef struct parsrec_comparison parsrec_comparison;

/* Trains what is missing in the folder, evaluates all models on the same users and candidates, and
 * writes report.md, .csv, .json and .html there, with several seeds after each of them. A run that was stopped or killed goes on where it was
 * when called again. data_path may be NULL with a preset, which then makes the data. */
PARSREC_API parsrec_status parsrec_compare(parsrec_comparison **out, const char *data_path,
                                           const char *folder,
                                           const parsrec_compare_options *options,
                                           const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_comparison_free(parsrec_comparison *comparison); /* NULL is fine */

typedef enum parsrec_text_kind {
    PARSREC_TEXT_PLAIN,    /* the table and what it is worth */
    PARSREC_TEXT_TERMINAL, /* the same, best in bold and second underlined */
    PARSREC_TEXT_MARKDOWN,
    PARSREC_TEXT_CSV,
    PARSREC_TEXT_JSON,
    PARSREC_TEXT_JSON_MODELS, /* an array with one object a model, as parsrec_eval_json's and more */
    PARSREC_TEXT_HTML,
} parsrec_text_kind;

/* Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_comparison_text(char **out, const parsrec_comparison *comparison,
                                                   parsrec_text_kind kind, parsrec_error *err);

/* ---- ablation ---------------------------------------------------------------------------- */

/* Strings are borrowed for the call. */
typedef struct parsrec_ablate_options {
    const char *preset; /* "paper", "parts" or "all" rows (docs/ablate.md); NULL: all, or those that
                               the next two name */
    const char *rows;   /* of these alone, separated by commas; NULL: all of the preset */
    const char *const *row; /* rows of your own: "NAME:key=value:key=value" each */
    size_t row_count;
    const char *base; /* "KIND:key=value": what rows depart from; NULL: the preset's own */
    parsrec_compare_options how; /* everything else; its models and preset must be NULL */
} parsrec_ablate_options;

PARSREC_API parsrec_ablate_options parsrec_ablate_default(void);

/* A comparison whose rows are one model with one thing changed at a time, each told against the model as
 * it was. Files, reports and going on after a stop as with parsrec_compare. */
PARSREC_API parsrec_status parsrec_ablate(parsrec_comparison **out, const char *data_path,
                                          const char *folder, const parsrec_ablate_options *options,
                                          const parsrec_hooks *hooks, parsrec_error *err);

/* ---- tuning ------------------------------------------------------------------------------ */

/* Strings are borrowed for the call. */
typedef struct parsrec_tune_options {
    const char *model, *preset,
        *config_path;       /* where settings begin, as in parsrec_train_options */
    const char *const *set; /* "key=a,b,c", "key=low..high" or "key=low..high(log)" to draw from,
                               "key=value" for all trials; no ranges: the kind's usual ones */
    size_t set_count;
    uint64_t trials, epochs; /* epochs: of those that come to the end; 0: as the settings say */
    uint64_t cut;        /* one trial in so many goes on to a round that is as many times longer */
    const char *measure; /* of validation: "NDCG@10" (NULL too), "HR@10" or "Sess-Prec@10" */
    uint64_t seed;       /* of the draws, and of every training */
    uint64_t jobs;       /* as in parsrec_compare_options */
    unsigned threads;    /* 0: all cores; results do not depend on it */
    bool retrain;        /* begin again where the folder holds trials of another search */
    const char *command; /* as it was typed, for the reports; NULL: not told */
} parsrec_tune_options;

PARSREC_API parsrec_tune_options parsrec_tune_default(void);

/* A search for better settings. */
typedef struct parsrec_tuning parsrec_tuning;

/* Successive halving over random draws, the settings as they are among them, judged on validation sessions
 * alone. Writes best.conf, for config_path of training, and report.md, .csv, .json, .html and epochs.svg
 * into the folder. A run that was stopped or killed goes on where it was when called again. */
PARSREC_API parsrec_status parsrec_tune(parsrec_tuning **out, const char *data_path,
                                        const char *folder, const parsrec_tune_options *options,
                                        const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_tuning_free(parsrec_tuning *tuning); /* NULL is fine */

/* Any kind; _JSON_MODELS is an array with one object a trial, the best first. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_tuning_text(char **out, const parsrec_tuning *tuning,
                                               parsrec_text_kind kind, parsrec_error *err);

/* ---- explanation ------------------------------------------------------------------------- */

/* Maps of relationships (docs/explanations.md). Row i is what is bought next, column j what is in the
 * basket. */
typedef enum parsrec_map {
    PARSREC_MAP_ATTENTION, /* share of the attention of row i that goes to column j */
    PARSREC_MAP_DROP,      /* log of how many times as likely j makes i as other items do */
    PARSREC_MAP_LIFT, /* log of how many times as often both are bought as by chance: no model */
    PARSREC_MAP_EMBEDDING, /* dot products of what the model learnt of items */
} parsrec_map;
enum { PARSREC_MAPS = 4 };

/* Strings are borrowed for the call. */
typedef struct parsrec_explain_options {
    bool items;              /* rows and columns are items; else categories */
    uint64_t level;          /* of the category tree, 1 at the top; 0: the categories of items */
    uint64_t top;            /* so many rows, those bought most; 2 to 1,000 */
    const char *const *show; /* these rows alone: items or categories, as people call them ... */
    size_t show_count;       /* ... 0: as `top` says */
    bool maps[PARSREC_MAPS]; /* which to make; none: all that the model has */
    const char *const
        *groups; /* of users, as parsrec explain --group takes them; none: everybody */
    size_t group_count;
    const char *difference; /* "A,B": also the first group less the second; NULL: of two groups, if
                               there are two */
    uint64_t basket_most;   /* items of a basket that are looked at; 2 to 64 */
    uint64_t baskets_most; /* the model is asked about so many baskets of a group, those of users at
                               equal distances; 0: all */
    bool no_recovery;      /* on synthetic data: do not measure how well maps recover the truth */
    bool cluster;     /* pictures show rows that are alike together; else as the catalogue does */
    unsigned threads; /* 0: all cores; the maps do not depend on it */
    const char *model_name, *data_name; /* for the reports; NULL: not told */
    const char *command;                /* as it was typed; NULL: not told */
} parsrec_explain_options;

PARSREC_API parsrec_explain_options parsrec_explain_default(void);

/* Maps of relationships, with what they are worth. */
typedef struct parsrec_explanation parsrec_explanation;

/* Walks through all baskets of the chosen users of `data`, which must be the users and items the model
 * was trained on. On synthetic data, how well each map recovers the truth is measured too. */
PARSREC_API parsrec_status parsrec_explain(parsrec_explanation **out, const parsrec_model *model,
                                           const parsrec_data *data,
                                           const parsrec_explain_options *options,
                                           const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_explanation_free(parsrec_explanation *explanation); /* NULL is fine */

/* Rows of every map, and the name of one; NULL beyond the last. */
PARSREC_API size_t parsrec_explanation_size(const parsrec_explanation *explanation);
PARSREC_API const char *parsrec_explanation_name(const parsrec_explanation *explanation,
                                                 size_t row);
/* The name of a group; NULL beyond the last. */
PARSREC_API const char *parsrec_explanation_group(const parsrec_explanation *explanation,
                                                  size_t group);
/* [size · size], row by row, NaN where nothing is known; NULL for a map that was not made. */
PARSREC_API const double *parsrec_explanation_map(const parsrec_explanation *explanation,
                                                  size_t group, parsrec_map map);

/* What the baskets say about a relationship that a map shows (docs/explanations.md). */
typedef enum parsrec_relation_verdict {
    PARSREC_RELATION_CONFIRMED,    /* counted often enough, and more often than by chance */
    PARSREC_RELATION_FEW,          /* too few baskets to tell */
    PARSREC_RELATION_UNCERTAIN,    /* the interval of the counted lift holds 1 */
    PARSREC_RELATION_CONTRADICTED, /* the counted lift is below 1 */
    PARSREC_RELATION_CATEGORY,     /* no more than other pairs of the same category have */
} parsrec_relation_verdict;
PARSREC_API const char *parsrec_relation_verdict_name(
    parsrec_relation_verdict verdict); /* "confirmed" */

/* A pair of rows of an explanation: what a map says of it, and what was counted. */
typedef struct parsrec_relation {
    size_t row, column;
    double value;         /* of the map */
    double category_part; /* of it, what other pairs of the same category have too; 0 or more */
    const char *category; /* which; NULL without such a part; lives as long as the explanation */
    double strength; /* by which relations are ordered: the smaller of what the map says by itself
                             and the log of `low` */
    uint64_t both, row_baskets, column_baskets,
        baskets;            /* that hold both, each, and all there are */
    double expected;        /* baskets with both by chance */
    double lift, low, high; /* both / expected and its interval; NaN where nothing was bought */
    parsrec_relation_verdict verdict;
} parsrec_relation;

/* The strongest relations of a map that the data confirm, or those that they do not, strongest first. Of each
 * pair the larger cell. Returns how many there are, at most `capacity`; 0 for a map that was not made. */
PARSREC_API size_t parsrec_explanation_relations(const parsrec_explanation *explanation,
                                                 size_t group, parsrec_map map, bool confirmed,
                                                 parsrec_relation *relations, size_t capacity);
/* One relation in a sentence, in buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_relation_sentence(const parsrec_explanation *explanation, parsrec_map map,
                                            const parsrec_relation *relation, char *buffer,
                                            size_t size);
/* What was counted of it: "in 132 baskets together (...), 2.71 times as often as by chance (2.10 to 3.40)". */
PARSREC_API char *parsrec_relation_evidence(const parsrec_explanation *explanation,
                                            const parsrec_relation *relation, char *buffer,
                                            size_t size);

/* PARSREC_TEXT_PLAIN, _JSON (without the maps) or _HTML. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_explanation_text(char **out,
                                                    const parsrec_explanation *explanation,
                                                    parsrec_text_kind kind, parsrec_error *err);
/* Writes report.html, report.json and each map as CSV, PNG, SVG and PDF into a folder, which is made if
 * it is not there. */
PARSREC_API parsrec_status parsrec_explanation_save(const parsrec_explanation *explanation,
                                                    const char *folder, const parsrec_hooks *hooks,
                                                    parsrec_error *err);

/* ---- what if ----------------------------------------------------------------------------- */

/* Two questions with two truths (docs/whatif.md). */
typedef enum parsrec_question {
    PARSREC_SELECTION, /* sales a basket among baskets without what is dropped, against all baskets */
    PARSREC_RECHOICE, /* what the same shoppers buy when it is not on the shelf */
} parsrec_question;

typedef enum parsrec_estimator {
    PARSREC_ROLLOUT,  /* complete baskets drawn from the model */
    PARSREC_EXPECTED, /* the model's chances at each step of the test baskets */
    PARSREC_TOP10,    /* its ten best at each step: the paper's */
    PARSREC_COUNTED,  /* no model: past baskets without what is dropped; selection alone */
} parsrec_estimator;

PARSREC_API const char *parsrec_question_name(parsrec_question question);    /* "selection" */
PARSREC_API const char *parsrec_estimator_name(parsrec_estimator estimator); /* "rollout" */

/* What a shopper does who misses something whose whole category is gone, in re-choice. An item whose
 * category is still there is replaced by another of it. */
typedef enum parsrec_missing {
    PARSREC_MISSING_REFILL, /* takes something else: baskets keep their size */
    PARSREC_MISSING_LEAVE, /* takes nothing, and gives the basket up by the share that is missing */
} parsrec_missing;

/* Strings are borrowed for the call. A thing is "category=NAME", "item=KEY" or a name alone. */
typedef struct parsrec_whatif_options {
    const char *const *drop, *const *only; /* things that leave, or that alone stay */
    const char *const *add;                /* "item=NAME:like=KEY": new items */
    const char *const *watch;              /* things to tell of; none: those that change most */
    const char *const *groups;             /* of users (docs/whatif.md); none: everybody */
    size_t drop_count, only_count, add_count, watch_count, group_count;
    bool each;                   /* every dropped thing is a scenario of its own */
    bool selection, rechoice;    /* questions to answer; rechoice alone unless set */
    parsrec_estimator estimator; /* that the tables show */
    parsrec_missing missing;
    bool raw;            /* levels as the model has them, not scaled to past sales */
    uint64_t level;      /* of the category tree that sales are told by, 1 at the top; 0: deepest */
    uint64_t draws;      /* baskets drawn for each user; 0: about 40,000 in all */
    uint64_t resamples;  /* of users, for intervals */
    double interval;     /* 0.9 */
    uint64_t truth_sets; /* synthetic data: test sets made again from the truth; 0: none */
    uint64_t seed;       /* of draws and resamples */
    unsigned threads;    /* 0: all cores; the answer does not depend on it */
    const char *command; /* as it was typed, for the reports; NULL: not told */
    const char *data_name; /* for the reports; NULL: not told */
} parsrec_whatif_options;

PARSREC_API parsrec_whatif_options parsrec_whatif_default(void);

/* What a row counts: one category or item, all that leaves the shelf, or everything together. */
typedef enum parsrec_whatif_kind {
    PARSREC_WHATIF_LINE,
    PARSREC_WHATIF_LEAVES,
    PARSREC_WHATIF_TOTAL,
} parsrec_whatif_kind;

PARSREC_API const char *parsrec_whatif_kind_name(parsrec_whatif_kind kind); /* "line" */

/* Units per basket, before and after. Every basket counts alike and an item once per basket, so that
 * `before` is what a pivot table of the baskets of the group's users says (on synthetic data: of those
 * before the test sessions). NaN for what is not known. */
typedef struct parsrec_whatif_row {
    const char *scenario, *group, *category; /* category: or item; live as long as the answer */
    parsrec_question question;
    parsrec_estimator estimator;
    bool watched, dropped;
    double before, after, low, high;        /* low and high bound `after` */
    double change, change_low, change_high; /* after / before - 1 */
    double test_before, test_after;         /* of the one test set; after: selection alone */
    double true_before, true_after;         /* expected, on synthetic data */
    double floor; /* mean error of the expected sales against a test set of this size, as a share */
    parsrec_whatif_kind kind;
    double baskets; /* of the group, that `before` is a mean over */
    /* Money per basket, where items have prices; low and high bound revenue_after. */
    double revenue_before, revenue_after, revenue_low, revenue_high;
    double revenue_change, revenue_change_low, revenue_change_high;
} parsrec_whatif_row;

/* An answer with its reports. */
typedef struct parsrec_whatif_answer parsrec_whatif_answer;

/* Models of one data set, trained with several seeds, say; one is enough. */
PARSREC_API parsrec_status parsrec_whatif(parsrec_whatif_answer **out,
                                          const parsrec_model *const *models, size_t model_count,
                                          const parsrec_data *data,
                                          const parsrec_whatif_options *options,
                                          const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_whatif_free(parsrec_whatif_answer *answer); /* NULL is fine */

/* Row number i; false after the last. */
PARSREC_API bool parsrec_whatif_row_at(const parsrec_whatif_answer *answer, size_t i,
                                       parsrec_whatif_row *row);
/* PARSREC_TEXT_PLAIN, _CSV, _JSON (all there is), _JSON_MODELS (the rows of the tables) or _HTML. Free
 * with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_whatif_text(char **out, const parsrec_whatif_answer *answer,
                                               parsrec_text_kind kind, parsrec_error *err);
/* Writes report.csv, .json, .html and, for each scenario and question, a chart into a folder, which is
 * made if it is not there. */
PARSREC_API parsrec_status parsrec_whatif_save(const parsrec_whatif_answer *answer,
                                               const char *folder, parsrec_error *err);

/* ---- speed ------------------------------------------------------------------------------- */

enum { PARSREC_STEP_PARTS = 6 };
PARSREC_API const char *parsrec_step_part(size_t part); /* its name; NULL beyond the last */

typedef struct parsrec_train_speed {
    double items_per_s;  /* predicted items */
    double gflops;       /* a second, of what the plain network needs for them */
    double sgemm_gflops; /* this machine's own matrix product, same threads, same run */
    double share;        /* gflops / sgemm_gflops */
    double loss;         /* of the last batch, an item */
    unsigned threads;
    double part_share[PARSREC_STEP_PARTS]; /* where the time of training goes */
    char kernels[32];                      /* the processor OpenBLAS works for, "" if unknown */
} parsrec_train_speed;

/* Trains a model of that kind (NULL: "parsrec", by the preset paper) for about so many seconds, with
 * `set` on top of its settings. */
PARSREC_API parsrec_status parsrec_bench_train(const parsrec_data *data, const char *model,
                                               double seconds, unsigned threads,
                                               const char *const *set, size_t set_count,
                                               parsrec_train_speed *speed,
                                               const parsrec_hooks *hooks, parsrec_error *err);

/* What one call of parsrec_recommend takes, in microseconds. */
typedef struct parsrec_score_speed {
    uint64_t calls;
    double median, mean, p99;
    double why_median; /* of parsrec_recommend_why for all hits, on top */
} parsrec_score_speed;

/* One thread asks for `k` items, for users of the model in turn, with baskets of up to `basket` items from
 * their last sessions, for about so many seconds. */
PARSREC_API parsrec_status parsrec_bench_score(const parsrec_model *model, size_t basket, size_t k,
                                               double seconds, parsrec_score_speed *speed,
                                               const parsrec_hooks *hooks, parsrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
