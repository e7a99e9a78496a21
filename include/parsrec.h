/* parsrec.h - next-item recommendation for open baskets, with personal item relationships.
 *
 * Ownership. You free what you created: every _new, _load or `**out` has a _free that accepts NULL.
 * After a failure there is nothing to free. A pointer returned as `const` is valid as long as the
 * object it came from. No call keeps your pointers unless its comment says so.
 *
 * Errors. The library never prints, exits or aborts on input. A call that can fail returns a status
 * and, if `err` is not NULL, one sentence in it. `err`, `hooks` and the reports of parsrec_import,
 * parsrec_synth and parsrec_train may be NULL, as may the options of the first two. Any other
 * missing argument is E_ARGUMENT unless a comment allows NULL; functions without a status need
 * valid objects.
 *
 * Threads. A loaded data set or model is read-only and may be shared by threads. A scratch belongs
 * to one thread at a time. Live histories do their own locking.
 *
 * Texts are UTF-8. A path may be "-" for stdin or stdout where a call says so. Fill an option
 * struct by its _default function first, so that your code also compiles with later fields. */
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
    X(E_PEER, 72, "another rank is gone")                         \
    X(E_UNSUPPORTED, 80, "not part of this build")

typedef enum parsrec_status {
#define PARSREC_STATUS_ENUM(name, value, text) PARSREC_##name = value,
    PARSREC_STATUS_MAP(PARSREC_STATUS_ENUM)
#undef PARSREC_STATUS_ENUM
} parsrec_status;

/* What went wrong, where, and what to do about it. Written only when a call fails. */
typedef struct parsrec_error {
    parsrec_status status;
    char message[512];
} parsrec_error;

/* Static strings. */
PARSREC_API const char *parsrec_status_name(parsrec_status status); /* "E_FORMAT" */
PARSREC_API const char *parsrec_status_text(parsrec_status status);
PARSREC_API const char *parsrec_version(void); /* "1.2.3" */

/* ---- log and progress -------------------------------------------------------------------- */

typedef enum parsrec_log_level {
    PARSREC_LOG_INFO,
    PARSREC_LOG_WARNING,
} parsrec_log_level;

/* Strings are valid during the callback. */
typedef struct parsrec_progress {
    const char *stage; /* "reading actions.csv" */
    const char *unit;  /* "rows" */
    const char *note;  /* state of the work, "loss 5.31"; may be NULL */
    uint64_t done;
    uint64_t total; /* 0: unknown */
} parsrec_progress;

/* A finished epoch of training. Measures are taken on the validation sessions: by the protocol
 * `remaining` with 100 sampled items or, where no validation session has two items, by `next`
 * (docs/evaluation.md). They are 0 if there is no validation session. */
typedef struct parsrec_epoch {
    uint32_t number; /* from 1 */
    double loss;     /* mean cross entropy per predicted item */
    double hit_rate_10, ndcg_10, session_precision_10;
    double seconds, items_per_s; /* of training, without validation */
    bool earlier;     /* from before the run was resumed; seconds and items_per_s are then 0 */
    const char *name; /* of the model if a call trains several, else NULL; valid in the callback */
} parsrec_epoch;

/* Callbacks of one call; any may be NULL. They run on the calling thread, before the call returns.
 * If on_progress returns non-zero, the call stops, cleans up and returns E_STOPPED. */
typedef struct parsrec_hooks {
    void *context;
    void (*on_log)(void *context, parsrec_log_level level, const char *text);
    int (*on_progress)(void *context, const parsrec_progress *progress);
    void (*on_epoch)(void *context, const parsrec_epoch *epoch); /* training */
} parsrec_hooks;

/* ---- data sets --------------------------------------------------------------------------- */

/* Users, their sessions in order of time, and the items of each session. */
typedef struct parsrec_data parsrec_data;

/* Loads a data set: a file, or a folder of shards (docs/shards.md). */
PARSREC_API parsrec_status parsrec_data_load(parsrec_data **out, const char *path,
                                             parsrec_error *err);
PARSREC_API void parsrec_data_free(parsrec_data *data); /* NULL is fine */

/* Which sessions a split by time tests. */
typedef enum parsrec_split_by {
    PARSREC_SPLIT_BY_AUTO,     /* the kind of the two below that has more test sessions */
    PARSREC_SPLIT_BY_USERS,    /* of each user with two sessions before the time, the first session
                                  from that time on; the sessions before it are its history */
    PARSREC_SPLIT_BY_SESSIONS, /* the first session of each user who begins from that time on, as in
                                  data in which every session is a user of its own */
} parsrec_split_by;

/* How data are split before training and evaluation. Zeroed: not at all, so that the last sessions of
 * each user are held out. At most one of `at`, `days` and `users_path` is set. */
typedef struct parsrec_split_options {
    bool at; /* nobody's sessions from `time` on are learnt from */
    int64_t
        time; /* seconds since 1970, or a number as the source has it where its times only order */
    uint64_t days; /* not 0: the same at the time that leaves this many days for the test */
    const char *users_path; /* not NULL: a file, one key per line; these users test with their last
                               session and train nothing */
    parsrec_split_by by;    /* with `at` or `days` */
} parsrec_split_options;

/* Splits the data; call it before anything else is done with them. Where first sessions or the users
 * of a file test, the newest tenth of the others validates, at most as many users as test. All later
 * sessions are left out. Logs one sentence about what is tested. E_INPUT without times, or when nobody
 * is left to evaluate or to learn from. */
PARSREC_API parsrec_status parsrec_data_split(parsrec_data *data, const parsrec_split_options *how,
                                              const parsrec_hooks *hooks, parsrec_error *err);

/* The number of the last event of a server's store that was imported into the data set; 0 if none
 * of that store was. */
PARSREC_API parsrec_status parsrec_data_events_through(const parsrec_data *data,
                                                       const char *store_id, uint64_t *number,
                                                       parsrec_error *err);

typedef enum parsrec_time_kind {
    PARSREC_TIME_NONE,    /* no times in the source: sessions keep the order of the file */
    PARSREC_TIME_ORDINAL, /* numbers that give an order but no dates */
    PARSREC_TIME_UNIX,    /* seconds since 1970-01-01T00:00:00Z */
} parsrec_time_kind;

/* The paper's statistics table and other figures that an analyst looks at first. */
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
    bool synthetic; /* the file contains its ground truth */
    /* At least 95 % of the sessions have one item. The usual cause is an unrecognised session
     * column. */
    bool one_item_baskets;
    bool ordered;      /* imported with `ordered`: the order within sessions is meaningful */
    char checksum[17]; /* 16 hex digits; empty if the file has none */
} parsrec_data_stats;

PARSREC_API parsrec_status parsrec_data_statistics(const parsrec_data *data,
                                                   parsrec_data_stats *stats, parsrec_error *err);

/* When baskets were bought, in UTC. All 0 if the data have no dates. */
typedef struct parsrec_month {
    int32_t year;
    uint32_t month; /* 1 to 12 */
    uint64_t sessions;
} parsrec_month;

#define PARSREC_MONTHS_MOST 1200

typedef struct parsrec_calendar {
    uint64_t weekday[7];  /* sessions on Monday ... Sunday */
    size_t months;        /* from the first month to the last; 0 above PARSREC_MONTHS_MOST */
    parsrec_month *month; /* parsrec_calendar_clear frees them */
} parsrec_calendar;

PARSREC_API parsrec_status parsrec_data_calendar(parsrec_calendar *out, const parsrec_data *data,
                                                 parsrec_error *err);
PARSREC_API void parsrec_calendar_clear(parsrec_calendar *calendar); /* a zeroed one is fine */

/* Users, items or categories of a data set, by number of sessions, largest first (docs/import.md).
 * A category counts the sessions with an item of it or of a category below it. */
typedef enum parsrec_thing {
    PARSREC_USER,
    PARSREC_ITEM,
    PARSREC_CATEGORY,
} parsrec_thing;

typedef struct parsrec_listed {
    int32_t number;
    uint64_t sessions; /* that contain it; for a user, the user's sessions */
    uint64_t actions;  /* rows; for an item equal to `sessions` */
    uint64_t users;    /* who bought it; for a user, 1 */
} parsrec_listed;

/* All of a kind, or those whose key, name or path contains `text`, ignoring ASCII case; NULL: all.
 * Free *rows with parsrec_list_free. */
PARSREC_API parsrec_status parsrec_data_list(parsrec_listed **rows, size_t *count,
                                             const parsrec_data *data, parsrec_thing thing,
                                             const char *text, parsrec_error *err);
PARSREC_API void parsrec_list_free(parsrec_listed *rows); /* NULL is fine */

/* UTF-8 that belongs to a data set or model and is valid as long as it. Not terminated. Size 0 if
 * there is no name or the number is out of range. */
typedef struct parsrec_name {
    const char *bytes;
    size_t size;
} parsrec_name;

PARSREC_API parsrec_name parsrec_data_key(const parsrec_data *data, parsrec_thing thing,
                                          int32_t number); /* a category's own name */
PARSREC_API parsrec_name parsrec_data_item_name(const parsrec_data *data, int32_t item);
PARSREC_API int32_t parsrec_data_item_category(const parsrec_data *data, int32_t item); /* or -1 */
/* Writes "FOOD > BAKERY" to buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_data_category_path(const parsrec_data *data, int32_t category,
                                             char *buffer, size_t size);

/* In which order the items of a basket are stored (docs/training.md, Order within baskets). */
typedef enum parsrec_basket_order {
    PARSREC_ORDER_UNKNOWN, /* too few pairs that occur together again */
    PARSREC_ORDER_FREE,    /* it differs between baskets, as if shoppers chose it */
    PARSREC_ORDER_NUMBER,  /* sorted by item key, as numbers */
    PARSREC_ORDER_KEY,     /* sorted by item key, as text */
    PARSREC_ORDER_NAME,    /* sorted by item name */
    PARSREC_ORDER_FIXED,   /* one fixed order, such as that of a hash table or of a sort by a key
                              that is not in the data */
} parsrec_basket_order;

PARSREC_API const char *parsrec_basket_order_name(parsrec_basket_order order); /* "number", ... */
PARSREC_API const char *parsrec_basket_order_text(parsrec_basket_order order); /* for people */

typedef struct parsrec_order_report {
    parsrec_basket_order order;
    double sorted_share; /* of neighbours in a basket: sorted by number, key or name */
    uint64_t pairs;      /* frequent pairs of items */
    double fixed_share;  /* of these: pairs stored in the same order at least 95 % of the time */
    /* How many times as often neighbours in a basket were neighbours in earlier baskets as other
     * pairs of the basket were. 1: order is uninformative; 0: unknown. */
    double neighbour_ratio;
    bool learnt;             /* whether training with order = auto learns it */
    bool enough_pairs;       /* `pairs` are enough for fixed_share to mean something */
    uint64_t repeated_pairs; /* pairs of items that occur together in at least two baskets */
    /* Of two baskets with the same pair: how often they have it in the same order. About 0.5 if the
     * order is free, 1 after a sort; 0 without such pairs. */
    double kept_share;
} parsrec_order_report;

PARSREC_API parsrec_status parsrec_data_order(const parsrec_data *data,
                                              parsrec_order_report *report, parsrec_error *err);

/* Groups of users that the data set defines, as parsrec_explain and parsrec_whatif accept them:
 * "everybody", "truth" if it is known, FEATURE=VALUE for user features with at most 32 different
 * words. Writes group i to buffer, cut to size and terminated; false after the last. */
PARSREC_API bool parsrec_data_group(const parsrec_data *data, size_t i, char *buffer, size_t size);

typedef struct parsrec_file_report {
    char format[32];   /* "parsrec.data", "parsrec.model", ... */
    uint32_t version;  /* of that format */
    uint64_t bytes;    /* of the whole file */
    uint64_t tensors;  /* without padding */
    bool has_checksum; /* files written by other programs may have none */
} parsrec_file_report;

/* Reads only the format that a file declares, as in the report; "" if it declares none. */
PARSREC_API parsrec_status parsrec_file_format(const char *path, char format[32],
                                               parsrec_error *err);

/* Verifies a data-set or model file, or a folder of shards, completely: structure, checksum, contents.
 * The report may be NULL. */
PARSREC_API parsrec_status parsrec_file_check(const char *path, parsrec_file_report *report,
                                              parsrec_error *err);

/* ---- import ------------------------------------------------------------------------------ */

typedef enum parsrec_session_rule {
    PARSREC_SESSION_COLUMN, /* by the session column; without one each action is a session */
    PARSREC_SESSION_GAP,    /* a pause longer than session_gap starts a new session */
    PARSREC_SESSION_DAY,    /* one session per user per day (UTC) */
    PARSREC_SESSION_WEEK,   /* per week, which starts on Monday (UTC) */
    PARSREC_SESSION_MONTH,  /* per month (UTC) */
} parsrec_session_rule;

typedef enum parsrec_input_format {
    PARSREC_INPUT_AUTO, /* detected from prefix, extension and header */
    PARSREC_INPUT_CSV,
    PARSREC_INPUT_TSV,
    PARSREC_INPUT_REFERENCE, /* user_id,time,session_length,session_items */
} parsrec_input_format;

/* How a column was interpreted. */
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
    PARSREC_COLUMN_QUANTITY, /* how many were bought; 0 or less: a return, not a purchase */
} parsrec_column_role;

/* What an import into shards does (docs/shards.md). */
typedef enum parsrec_import_step {
    PARSREC_IMPORT_ALL,        /* everything */
    PARSREC_IMPORT_DICTIONARY, /* the dictionary: needs the items and times of the rows, no users */
    PARSREC_IMPORT_SHARD,      /* one shard of a folder that has a dictionary; the last one that is
                                  written completes the data set */
} parsrec_import_step;

#define PARSREC_SHARDS_DEFAULT 256
#define PARSREC_SHARDS_MOST    4096

/* Strings are borrowed for the call. A column whose name is NULL is recognised by its header: user,
 * session, time, item, quantity and their common synonyms (docs/import.md). Session, time and quantity
 * are optional; "" means that there is no such column. */
typedef struct parsrec_import_options {
    const char *user_column, *session_column, *time_column, *item_column;
    const char *items_path;       /* item,name,category and feature columns; NULL: none */
    const char *users_path;       /* user and feature columns */
    const char *sessions_path;    /* [user,]session and feature columns */
    const char *number_columns;   /* comma-separated feature columns that must be numbers */
    const char *category_columns; /* comma-separated feature columns that are categories */
    const char *table;            /* databases: read this table ... */
    const char *query;            /* ... or the rows of this query */
    const char *events;           /* also import the purchases in this store of `parsrec serve`,
                                     sqlite:FILE or postgresql://...; the data set records the
                                     number of the last event. NULL: none */
    parsrec_input_format format;
    bool latin1; /* input is ISO 8859-1 (or Windows-1252), not UTF-8 */
    bool sort;   /* sort sessions by time instead of rejecting times out of order */
    parsrec_session_rule session_rule;
    int64_t session_gap;     /* seconds, for PARSREC_SESSION_GAP */
    uint64_t min_actions;    /* drop users and items with fewer, until none is left; 0: keep all */
    uint64_t max_bad;        /* skip and count up to this many bad rows instead of failing */
    const char *time_format; /* strptime format, or excel, s, ms, us, ns; NULL: ISO or numbers */
    bool ordered;            /* items within a session are in the order in which they were taken */
    uint64_t max_memory; /* bytes; what does not fit is sorted in temporary files beside out_path.
                                0: as much as the machine has left. The file does not depend on it */
    const char *name;    /* of the input, in the file and so in its checksum; NULL: the names of the
                         inputs. Equal rows under one name give equal files, wherever they are from */
    /* 0: out_path is one file. Otherwise it is a folder of this many shards, which does not depend on
     * the order of the rows and needs times. */
    uint32_t shards;
    parsrec_import_step step;
    uint32_t shard;              /* for PARSREC_IMPORT_SHARD, from 0 */
    const char *quantity_column; /* rows with 0 or less are returns, and left out */
} parsrec_import_options;

/* A column of an input, in the order of its header. */
typedef enum parsrec_import_table {
    PARSREC_TABLE_ACTIONS, /* the first input */
    PARSREC_TABLE_ITEMS,
    PARSREC_TABLE_USERS,
    PARSREC_TABLE_SESSIONS,
} parsrec_import_table;

typedef struct parsrec_import_column {
    parsrec_import_table table;
    parsrec_column_role role;
    bool decimal_comma; /* of a number */
    int level;          /* of a category; 0 is the broadest */
    char name[64];      /* cut if longer */
} parsrec_import_column;

#define PARSREC_IMPORT_COLUMNS_MOST 96

/* What happened to the input. rows_read = actions kept + everything dropped + other_shards. */
typedef struct parsrec_import_report {
    uint64_t rows_read;        /* rows of the action inputs, headers not counted */
    uint64_t bad_rows;         /* of them, skipped because of max_bad */
    uint64_t bad_table_rows;   /* of the items, users and sessions files, also skipped */
    uint64_t repeats_dropped;  /* the item was already in the basket */
    uint64_t filtered_actions; /* dropped by min_actions ... */
    uint64_t filtered_users, filtered_items, filter_rounds;
    uint64_t unknown_items;     /* rows of items_path whose item is not in the actions */
    uint64_t unknown_users;     /* rows of users_path whose user is not in the actions */
    uint64_t unknown_sessions;  /* rows of sessions_path whose session is not in the actions */
    uint64_t items_without_row; /* items that items_path does not list */
    uint64_t users_without_row;
    uint64_t users, sessions, items, actions; /* written */
    char first_bad[512];                      /* message for the first bad row, empty if none */
    uint64_t trimmed_keys;      /* keys of users, sessions and items that had spaces around them */
    uint64_t one_item_sessions; /* of the sessions written */
    uint64_t other_shards;      /* rows that belong to other shards than the one written */
    uint64_t missing_shards;    /* that the folder still lacks */
    uint64_t returns;           /* rows left out because their quantity is 0 or less */
    uint64_t other_names; /* rows of sales that name their item otherwise than its first row */
    /* Every column of every table. column_count also counts those that do not fit in columns[]. */
    uint64_t column_count;
    parsrec_import_column columns[PARSREC_IMPORT_COLUMNS_MOST];
} parsrec_import_report;

PARSREC_API parsrec_import_options parsrec_import_default(void);

/* Reads all inputs ("-" is stdin) as one table and writes one data set to out_path, atomically. No
 * input is needed with options->events, or for a shard that may have no rows. */
PARSREC_API parsrec_status parsrec_import(const char *out_path, const char *const *inputs,
                                          size_t input_count, const parsrec_import_options *options,
                                          parsrec_import_report *report, const parsrec_hooks *hooks,
                                          parsrec_error *err);

/* ---- import of rows in memory ---- */

/* The structs of the Arrow C data and stream interfaces, as its specification defines them under
 * these macros. pyarrow, polars, DuckDB and others fill them; no library is needed. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Tables as streams of record batches. Columns may be text (utf8, large_utf8, utf8_view), whole or
 * floating-point numbers, booleans, dates and timestamps, each also dictionary-encoded; a null is
 * an empty field. Other types may only be in columns that are not used. */
typedef struct parsrec_import_streams {
    struct ArrowArrayStream *actions;
    /* In place of the files of the options; NULL: those files, or none. */
    struct ArrowArrayStream *items, *users, *sessions;
    const char *name; /* of the actions, for messages and for `source` in the file; NULL: "rows" */
} parsrec_import_streams;

/* parsrec_import of rows in memory. Equal rows, options and names give a file with the same bytes.
 * Takes the streams over: all are released before it returns, also on failure. Text is read where
 * it is; a batch is released when its rows are read. */
PARSREC_API parsrec_status parsrec_import_rows(const char *out_path,
                                               const parsrec_import_streams *streams,
                                               const parsrec_import_options *options,
                                               parsrec_import_report *report,
                                               const parsrec_hooks *hooks, parsrec_error *err);

/* The actions of a data set as a table, by the ending of out_path: .parquet, else CSV ("-" is stdout);
 * columns user, session, time (if known) and item, which import reads back. Or a table in a .csv or .jsonl
 * file as .parquet. Parquet needs DuckDB's library (docs/import.md). */
PARSREC_API parsrec_status parsrec_export(const char *in_path, const char *out_path,
                                          const parsrec_hooks *hooks, parsrec_error *err);

/* ---- synthetic data ---------------------------------------------------------------------- */

typedef enum parsrec_size_rule {
    PARSREC_SIZE_REFERENCE, /* ceil(2 + Weibull) clipped to 3..10, as in the authors' sample */
    PARSREC_SIZE_PAPER,     /* ceil(Weibull), redrawn until 2..10 */
} parsrec_size_rule;

/* Upper limits; memory may allow less. */
#define PARSREC_SYNTH_USERS_MOST      2000000000
#define PARSREC_SYNTH_SESSIONS_MOST   2000000000
#define PARSREC_SYNTH_CATEGORIES_MOST 1000
#define PARSREC_SYNTH_PRODUCTS_MOST   10000

/* Feature columns of users, sessions and items. */
typedef enum parsrec_synth_features {
    PARSREC_FEATURES_NONE,
    PARSREC_FEATURES_SIGNAL, /* informative: sessions have an occasion and users prefer brands, and
                                both change what is bought */
    PARSREC_FEATURES_NOISE,  /* uninformative */
    PARSREC_FEATURES_ALL,    /* both */
} parsrec_synth_features;

typedef struct parsrec_synth_options {
    uint64_t users, sessions, categories, products; /* products: per category */
    parsrec_size_rule size_rule;
    const char *groups_path; /* JSON with the groups' covariances; NULL: the paper's two */
    bool outside;            /* trips may be lost and slots may stay empty (docs/synthetic.md) */
    parsrec_synth_features features;
    const char *csv_path; /* also write the actions as CSV ("-" is stdout); NULL: do not */
    uint64_t seed;
    unsigned threads; /* 0: all cores; the result does not depend on it */
} parsrec_synth_options;

typedef struct parsrec_synth_report {
    uint64_t users, sessions, items, actions, groups;
} parsrec_synth_report;

PARSREC_API parsrec_synth_options parsrec_synth_default(void);

/* Writes synthetic baskets with their ground truth to out_path, atomically. out_path may be NULL if
 * options->csv_path is not. */
PARSREC_API parsrec_status parsrec_synth(const char *out_path, const parsrec_synth_options *options,
                                         parsrec_synth_report *report, const parsrec_hooks *hooks,
                                         parsrec_error *err);

/* The options that a synthetic data set was made with: paths NULL, threads 0. E_NOT_FOUND if the
 * data set is not synthetic. */
PARSREC_API parsrec_status parsrec_synth_options_of(const parsrec_data *data,
                                                    parsrec_synth_options *options,
                                                    parsrec_error *err);

/* ---- baselines --------------------------------------------------------------------------- */

typedef enum parsrec_split {
    PARSREC_SPLIT_TEST,  /* the last session of each user with three or more */
    PARSREC_SPLIT_VALID, /* the session before it */
} parsrec_split;

typedef enum parsrec_protocol {
    PARSREC_PROTOCOL_REMAINING, /* any remaining item of the basket is a hit (the paper's) */
    PARSREC_PROTOCOL_NEXT,      /* one fixed target at a time, in stored order */
    PARSREC_PROTOCOL_BASKET, /* one ranking before the basket starts; all its items are targets */
} parsrec_protocol;
enum { PARSREC_PROTOCOLS = 3 };

PARSREC_API const char *parsrec_protocol_name(parsrec_protocol protocol); /* "remaining", ... */

/* Counting models (docs/models.md). They take seconds to make; any other model must beat them. */
enum { PARSREC_BASELINES = 5, PARSREC_BASELINE_ROWS = 5 };

typedef enum parsrec_verdict {
    PARSREC_VERDICT_NONE,   /* nothing to compare */
    PARSREC_VERDICT_AHEAD,  /* the model is significantly better than the best baseline */
    PARSREC_VERDICT_LEVEL,  /* its difference from the best baseline is not significant */
    PARSREC_VERDICT_BEHIND, /* the best baseline is significantly better than the model */
} parsrec_verdict;

PARSREC_API const char *parsrec_verdict_name(parsrec_verdict verdict); /* "ahead", ... */

typedef struct parsrec_baseline {
    const char *model; /* "pop", "personal", "recent", "markov" or "mix"; static */
    double value;      /* NDCG@10 */
    double low, high;  /* 95 % confidence interval over users of the model's NDCG@10 minus this */
} parsrec_baseline;

/* One protocol: NDCG@10 of the model and of the baselines on the same sessions and candidates. */
typedef struct parsrec_baseline_row {
    parsrec_protocol protocol;
    uint64_t negatives; /* sampled items per basket; 0: the whole catalogue */
    uint64_t users, baskets;
    double value;
    parsrec_baseline baselines[PARSREC_BASELINES];
    size_t count, best; /* of baselines; index of the one with the highest value */
    parsrec_verdict verdict;
} parsrec_baseline_row;

/* Every protocol with the default candidates of `parsrec eval`, then `remaining` and `next` over
 * the whole catalogue. A protocol in which no session can be evaluated has no row. */
typedef struct parsrec_baseline_report {
    char model[32]; /* its kind, which is left out of the baselines */
    parsrec_split split;
    uint64_t users, users_of; /* evaluated, and eligible; users of large data are sampled */
    parsrec_baseline_row rows[PARSREC_BASELINE_ROWS];
    size_t row_count;
    parsrec_verdict verdict; /* behind if any row is, ahead if all rows are */
} parsrec_baseline_report;

/* One line for people. It names every protocol in which a counting model is better, and the command
 * to use in that case. Cut to size and terminated; empty if the report has no rows. Returns
 * buffer. */
PARSREC_API char *parsrec_baselines_text(const parsrec_baseline_report *report, char *buffer,
                                         size_t size);
/* The report as a JSON object (docs/training.md), with the line above as `sentence`. Free
 * with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_baselines_json(char **out, const parsrec_baseline_report *report,
                                                  parsrec_error *err);

/* ---- ranks ------------------------------------------------------------------------------- */

/* Several processes that a launcher (mpirun, srun) started with the same command, on one machine or
 * many, and that work on one model (docs/scale.md). Used by one thread. */
typedef struct parsrec_ranks parsrec_ranks;

/* How many processes a launcher started with this one, by its variables; 1 without one. 0: it does not
 * say, and joining them tells. */
PARSREC_API unsigned parsrec_ranks_launched(void);
/* Joins the others. *out is NULL if no launcher started several processes; all calls take that for
 * one process without others. Every later wait for another rank ends with E_PEER when nothing is
 * heard of it for peer_seconds. The hooks, borrowed until the ranks are left, are shown long waits.
 * E_UNSUPPORTED without libparsrec-mpi.so. */
PARSREC_API parsrec_status parsrec_ranks_join(parsrec_ranks **out, double peer_seconds,
                                              const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API unsigned parsrec_ranks_rank(
    const parsrec_ranks *ranks); /* from 0; files are rank 0's */
PARSREC_API unsigned parsrec_ranks_size(const parsrec_ranks *ranks);
/* All ranks call it, each with what it has: the failure of the lowest rank that failed becomes
 * everybody's. */
PARSREC_API parsrec_status parsrec_ranks_agree(parsrec_ranks *ranks, parsrec_status own,
                                               parsrec_error *err);
/* From rank 0 to all. */
PARSREC_API parsrec_status parsrec_ranks_broadcast(parsrec_ranks *ranks, void *bytes, size_t size,
                                                   parsrec_error *err);
/* All ranks call it when what they did together is finished: what follows, each does alone. */
PARSREC_API void parsrec_ranks_close(parsrec_ranks *ranks);
/* Whether this process is the one to print an error: rank 0, or another in its place. */
PARSREC_API bool parsrec_ranks_speaks(const parsrec_ranks *ranks);
/* All ranks call it. Unless they were closed or all agreed on a failure, the call ends this process and
 * all others: print first. NULL is fine. */
PARSREC_API void parsrec_ranks_leave(parsrec_ranks *ranks);

/* ---- training ---------------------------------------------------------------------------- */

/* Settings come from the preset, then the config file, then `set`, then `epochs`; later ones win.
 * parsrec_config_text lists all keys. A resumed run has the settings, seed and patience of its
 * checkpoint: `model`, `preset` and `config_path` must be NULL, and `set` may change only rate,
 * clip and epochs. Strings are borrowed for the call. */
typedef struct parsrec_train_options {
    const char *model;       /* kind; NULL: "parsrec" */
    const char *preset;      /* "paper" or "default"; NULL: the defaults */
    const char *config_path; /* lines "key = value"; NULL: none */
    const char *const *set;  /* set_count strings "key=value" */
    size_t set_count;
    uint64_t epochs;           /* 0: as the settings say */
    uint64_t patience;         /* stop after this many epochs without improvement; 0: never */
    const char *resume;        /* a checkpoint to resume from, or NULL */
    double checkpoint_minutes; /* between checkpoints within an epoch; every epoch ends with one */
    bool keep_checkpoint; /* after a finished run too, so that more epochs can be added later */
    bool skip_baselines;  /* do not compare the trained model with counting models */
    uint64_t seed;
    unsigned threads;     /* 0: all cores; the model does not depend on it */
    parsrec_ranks *ranks; /* other processes that train with this one, or NULL: there are none */
    uint64_t
        max_memory; /* bytes; what does not fit lies in temporary files beside out_path. 0: all is
                             in memory. The model does not depend on it */
} parsrec_train_options;

typedef struct parsrec_train_report {
    uint32_t epochs, best_epoch;
    bool stopped_early; /* by patience */
    parsrec_epoch best;
    const char *best_by;   /* the validation measure that chose it; "" without validation; static */
    char checkpoint[4096]; /* from which a stopped run can be resumed; empty after a finished run */
    parsrec_baseline_report baselines; /* on the validation sessions */
    double memory, memory_least; /* estimated bytes: with all in memory, and the least max_memory */
} parsrec_train_report;

PARSREC_API parsrec_train_options parsrec_train_default(void);

/* Trains and writes the best model to out_path, atomically. Next to it are out_path.log (JSON
 * lines), out_path.png and .svg (learning curves) and, during the run, out_path.ckpt. If
 * on_progress stops the run, the checkpoint is written and the status is E_STOPPED. E_DIVERGED
 * keeps the last good checkpoint. Failure to write the log or a picture is only a warning.
 *
 * With ranks, all of them call this with the same data and options. The model has the same bytes at
 * any number of ranks and threads; only rank 0 writes files and calls hooks. After a finished training
 * the ranks cannot be used again.
 *
 * A counting model takes one pass over all sessions but the last of each user: no epochs, no
 * checkpoint, no curves, no ranks.
 *
 * Once written, the model is compared with the baselines on the validation sessions. If on_progress
 * stops this comparison, the report has no baselines and the status is OK. */
PARSREC_API parsrec_status parsrec_train(const parsrec_data *data, const char *out_path,
                                         const parsrec_train_options *options,
                                         parsrec_train_report *report, const parsrec_hooks *hooks,
                                         parsrec_error *err);

/* How large a shop is. */
typedef struct parsrec_shop_size {
    uint64_t users, items, actions;
} parsrec_shop_size;

typedef struct parsrec_memory {
    double train, train_least; /* bytes, like memory and memory_least of parsrec_train_report */
    double tables; /* what a loaded model computes for its answers, beside its weights */
} parsrec_memory;

/* What shops of other sizes will take if they are like `data`: as many actions per session and sessions per
 * user, as many families per item. Computed from the sizes, nothing is trained. */
PARSREC_API parsrec_status parsrec_memory_needed(parsrec_memory *needed,
                                                 const parsrec_shop_size *shops, size_t count,
                                                 const parsrec_data *data,
                                                 const parsrec_train_options *options,
                                                 parsrec_error *err);

/* The settings in force as a commented config file. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_config_text(char **out, const parsrec_train_options *options,
                                               parsrec_error *err);
/* Learning curves as lines of text, for a terminal. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_curves_text(char **out, const parsrec_epoch *epochs,
                                               size_t count, size_t columns, parsrec_error *err);
PARSREC_API void parsrec_text_free(char *text); /* NULL is fine */

/* ---- models ------------------------------------------------------------------------------ */

/* A trained model with its catalogue, its users and their histories. If the CBLAS in use is
 * OpenBLAS, loading a model sets it to a single thread for the process: requests run in parallel
 * instead. */
typedef struct parsrec_model parsrec_model;

PARSREC_API parsrec_status parsrec_model_load(parsrec_model **out, const char *path,
                                              parsrec_error *err);
PARSREC_API void parsrec_model_free(parsrec_model *model); /* NULL is fine */

/* Whether `kind` is a counting model. */
PARSREC_API bool parsrec_model_counts(const char *kind);
/* Makes a counting model of the kind options->model from `data`, which must outlive it. No file is
 * written. */
PARSREC_API parsrec_status parsrec_model_count(parsrec_model **out, const parsrec_data *data,
                                               const parsrec_train_options *options,
                                               const parsrec_hooks *hooks, parsrec_error *err);

/* The data set inside the model file, which it was trained on. Belongs to the model. */
PARSREC_API const parsrec_data *parsrec_model_data(const parsrec_model *model);

/* How another data set matches a model. */
typedef struct parsrec_pasts_report {
    uint64_t users, new_users;               /* in the data; of these, unknown to the model */
    uint64_t unknown_items, unknown_actions; /* left out because the model does not know the item */
} parsrec_pasts_report;

/* Replaces the histories of all users by those in `data`, matched by key. `data` is copied and may
 * be freed. New users get the next numbers; a user missing in `data` has no history. The report may
 * be NULL. Not thread-safe: no other thread may use the model, and no live histories may refer to
 * it. */
PARSREC_API parsrec_status parsrec_model_take_pasts(parsrec_model *model, const parsrec_data *data,
                                                    parsrec_pasts_report *report,
                                                    parsrec_error *err);

typedef struct parsrec_model_facts {
    char kind[32];       /* "parsrec" */
    uint64_t parameters; /* learned values */
    uint64_t bytes;      /* of the file */
    uint64_t users, items, categories;
} parsrec_model_facts;

PARSREC_API void parsrec_model_describe(const parsrec_model *model, parsrec_model_facts *facts);

typedef struct parsrec_setting {
    const char *key, *help;      /* static */
    char value[64], initial[64]; /* the model's value, and the default */
} parsrec_setting;

/* Setting i; false after the last. */
PARSREC_API bool parsrec_model_setting(const parsrec_model *model, size_t i,
                                       parsrec_setting *setting);

/* Weight i of a model that is a sum of a few terms (`mix`), with the name of the term (static).
 * False after the last, and for models whose weights cannot be interpreted one by one. */
PARSREC_API bool parsrec_model_weight(const parsrec_model *model, size_t i, const char **name,
                                      double *value);

/* ---- names and numbers ------------------------------------------------------------------- */

/* Users, items and categories of a model are numbered from 0 to parsrec_model_size - 1. */
#define PARSREC_GUEST (-1)

PARSREC_API size_t parsrec_model_size(const parsrec_model *model, parsrec_thing thing);

/* Finds a user or item by its key, an item also by its exact name, a category by its path
 * ("FOOD > BAKERY") or name. E_NOT_FOUND if nothing matches or a name is ambiguous. */
PARSREC_API parsrec_status parsrec_model_find(const parsrec_model *model, parsrec_thing thing,
                                              const char *word, int32_t *number,
                                              parsrec_error *err);

/* The items that have exactly this name, in the order of their numbers, `capacity` at most; returns
 * how many. */
PARSREC_API size_t parsrec_model_named(const parsrec_model *model, const char *name, int32_t *items,
                                       size_t capacity);

PARSREC_API parsrec_name parsrec_model_key(const parsrec_model *model, parsrec_thing thing,
                                           int32_t number); /* a category's own name */
PARSREC_API parsrec_name parsrec_model_item_name(const parsrec_model *model, int32_t item);
PARSREC_API int32_t parsrec_model_item_category(const parsrec_model *model,
                                                int32_t item); /* or -1 */
/* Writes "FOOD > BAKERY" to buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_model_category_path(const parsrec_model *model, int32_t category,
                                              char *buffer, size_t size);

/* ---- recommendation ---------------------------------------------------------------------- */

/* Working memory for one model, which must outlive it. For one thread at a time. */
typedef struct parsrec_scratch parsrec_scratch;
/* Histories that grow while requests are served; see "live histories" below. */
typedef struct parsrec_live parsrec_live;

#define PARSREC_BASKET_MOST 1000000
#define PARSREC_UNDATED     INT64_MIN /* where a time is not known */

/* For baskets of up to basket_most items; 0 means 256. */
PARSREC_API parsrec_status parsrec_scratch_new(parsrec_scratch **out, const parsrec_model *model,
                                               size_t basket_most, parsrec_error *err);
PARSREC_API void parsrec_scratch_free(parsrec_scratch *scratch); /* NULL is fine */
/* From now on a request for more than k_most items is E_LIMIT; 0 removes the limit. For servers,
 * where the client chooses k and with it the size of the answer. */
PARSREC_API void parsrec_scratch_limit(parsrec_scratch *scratch, size_t k_most);

typedef struct parsrec_numbers {
    const int32_t *list;
    size_t count;
} parsrec_numbers;

/* A feature column that a model reads. */
typedef struct parsrec_column {
    const char *of, *name; /* of: "user", "session" or "item"; valid as long as the model */
    bool number;           /* else words */
} parsrec_column;
/* Column i; false after the last. */
PARSREC_API bool parsrec_model_column(const parsrec_model *model, size_t i, parsrec_column *column);

/* A known feature of the current session or its user. The name is that of a session or user column
 * in the model's data set. */
typedef struct parsrec_feature {
    const char *name;
    const char *word; /* NULL: the feature is `number`, or unknown if that is NaN */
    double number;
} parsrec_feature;

/* For whom, and which items are allowed. An empty list restricts nothing. A category includes all
 * categories below it. All pointers are borrowed for the call. */
typedef struct parsrec_request {
    int32_t user; /* or PARSREC_GUEST */
    /* Items bought before, oldest first. They replace the user's known history; NULL: use that. */
    const parsrec_numbers *history;
    parsrec_numbers basket;        /* in the order of placing; a repeated item counts once */
    size_t k;                      /* items wanted, at least 1 */
    parsrec_numbers exclude, only; /* items */
    parsrec_numbers exclude_categories, categories;
    size_t max_per_category;         /* items per category in the answer; 0: no limit */
    const parsrec_feature *features; /* replace what the model knows about the user */
    size_t feature_count;
    const parsrec_live *live; /* the histories to use; NULL: those stored with the model */
    const char *session;      /* with `live`: the session under which this basket is being added,
                                 which is then left out of the history; NULL: none */
    /* When the basket is open, in seconds since 1970; NULL: at the last date of the model's histories
     * or of this user's, whichever is later. Only models of data with dates look at it. */
    const int64_t *time;
} parsrec_request;

PARSREC_API parsrec_request parsrec_request_default(void); /* a guest's empty basket, 10 items */

typedef struct parsrec_hit {
    int32_t item;
    float score; /* larger is better; comparable only within one answer */
} parsrec_hit;

typedef enum parsrec_source {
    PARSREC_SOURCE_MODEL,   /* the user's own row of the model */
    PARSREC_SOURCE_ANYONE,  /* the row for guests and unknown users */
    PARSREC_SOURCE_POPULAR, /* best sellers: user, history and basket are all unknown or empty */
} parsrec_source;

PARSREC_API const char *parsrec_source_name(
    parsrec_source source); /* "model", "anyone", "popular" */

/* Where the time of an answer comes from. */
typedef enum parsrec_when {
    PARSREC_WHEN_NONE,    /* neither the model's data nor the histories have dates */
    PARSREC_WHEN_REQUEST, /* the request */
    PARSREC_WHEN_NOW,     /* parsrec_json_options.now */
    PARSREC_WHEN_DATA,    /* the last date in the data */
} parsrec_when;

PARSREC_API const char *parsrec_when_name(parsrec_when when); /* "none", "request", "now", "data" */

typedef struct parsrec_answer {
    size_t count; /* of hits: at most k and capacity, fewer if fewer items are allowed */
    parsrec_source source;
    parsrec_when when;
    int64_t time; /* of the basket, in seconds since 1970; PARSREC_UNDATED with PARSREC_WHEN_NONE */
} parsrec_answer;

/* The best next items, best first, without those in the basket. Ties are broken by the smaller item
 * number. Allocates nothing, except as stated for live histories. A basket longer than the scratch
 * allows is E_LIMIT. Threads may share the model, each with its own scratch. */
PARSREC_API parsrec_status parsrec_recommend(const parsrec_model *model, parsrec_scratch *own,
                                             const parsrec_request *request, parsrec_hit *hits,
                                             size_t capacity, parsrec_answer *answer,
                                             parsrec_error *err);

/* Many requests that differ in the user and the basket. */
typedef struct parsrec_many {
    const parsrec_request *request; /* everything else; its user is not used */
    const int32_t *users;           /* [count], PARSREC_GUEST allowed; NULL: 0 ... count - 1 */
    const int32_t *basket_items;    /* the baskets, one after the other ... */
    const int64_t *basket_offsets;  /* ... and where each begins and ends: [count + 1]; NULL: every
                                       basket is that of `request` */
    size_t count;
    unsigned threads; /* 0: all cores; the answers do not depend on it */
    /* Other processes that divide the requests with this one, or NULL. All call with the same; rank 0
     * gets all answers, the others their part. */
    parsrec_ranks *ranks;
} parsrec_many;

/* The answers of parsrec_recommend to all of them: answers[count], and in hits[count · k] the first
 * answers[i].count of row i; the rest of a row is item -1 with score NaN. If requests fail, the
 * error is that of the first. */
PARSREC_API parsrec_status parsrec_recommend_many(const parsrec_model *model,
                                                  const parsrec_many *many, parsrec_hit *hits,
                                                  parsrec_answer *answers,
                                                  const parsrec_hooks *hooks, parsrec_error *err);

/* ---- why an item is recommended ---- */

#define PARSREC_REASONS_MOST 32 /* basket items that are explained: the newest ones */

/* The effect of one input (a basket item, the history, the user) on a recommended item, measured by
 * leaving the input out. If there is nothing to leave out, the values are NaN, NaN and 0. */
typedef struct parsrec_effect {
    double effect; /* log-probability of the item with the input minus without it; > 0: supports */
    double share;  /* of the sum of all supporting effects, 0 to 1 */
    size_t rank;   /* of the item without the input, from 1; 0: not recommended at all */
} parsrec_effect;

/* An item of the basket. */
typedef struct parsrec_reason {
    int32_t item;
    double attention; /* attention weight, mean over heads; NaN: the model has no attention */
    parsrec_effect drop;
    double part; /* its own term of the score; NaN without parts */
} parsrec_reason;

/* A score that is a sum: these terms and those of the basket items. */
typedef struct parsrec_parts {
    double network; /* of the network, from user, history and basket together */
    double history; /* of the mean of all earlier items */
    double memory;  /* repeat purchases of the item, and co-purchases, in the user's history */
    double item;    /* item bias */
} parsrec_parts;

typedef struct parsrec_why {
    int32_t item;             /* the recommended item */
    double log_probability;   /* of being next, among all items that are not in the basket */
    size_t rank;              /* among the items that the request allows, from 1 */
    parsrec_effect history;   /* of all earlier baskets */
    parsrec_effect user;      /* of the user's own row, against that of an unknown user */
    uint64_t earlier_baskets; /* of the user, with the item */
    bool has_parts;           /* the model's score of the item is a sum */
    parsrec_parts parts;
    parsrec_reason reasons[PARSREC_REASONS_MOST];
    size_t reason_count;
    /* Of an item that the user bought before, where the model looks at dates; else both are 0: the
     * days since, and after how many days it is usually bought again, by this user as far as is known
     * and by everybody. */
    double last_days, usual_days;
} parsrec_why;

/* Why each of these hits, which must be allowed by the request, is recommended: whys[count]. A
 * basket item that is left out does not become a candidate. The first call with a scratch allocates
 * memory, later calls do not. */
PARSREC_API parsrec_status parsrec_recommend_why(const parsrec_model *model, parsrec_scratch *own,
                                                 const parsrec_request *request,
                                                 const parsrec_hit *hits, size_t count,
                                                 parsrec_why *whys, parsrec_error *err);

/* Writes "because of Milk (0.61) and Bread (0.22); you also bought it in 12 earlier baskets, usually
 * every 9 days, last 11 days ago" to buffer, cut to size and terminated. The numbers are shares; 512 bytes are enough. Returns
 * buffer. */
PARSREC_API char *parsrec_why_sentence(const parsrec_model *model, const parsrec_why *why,
                                       char *buffer, size_t size);

/* How requests are read as JSON. Zeroed means the defaults. */
typedef struct parsrec_json_options {
    size_t k;                 /* for requests without one; 0: 10 */
    const parsrec_live *live; /* as in parsrec_request; NULL: none, and no field "session" */
    /* {"requests":[...]} with at most this many is answered by {"answers":[...]}, each an answer or
     * {"error":{"code","message"}}. 0: no batches. */
    size_t batch_most;
    const char *(*error_code)(parsrec_status status); /* in a batch; NULL: parsrec_status_name */
    /* Whether `live` has the events up to this number, the largest "seen" of a request or of a
     * batch. Any status but OK ends the call with it, before anything is computed. NULL: no field
     * "seen". */
    parsrec_status (*check_seen)(void *context, uint64_t number, parsrec_error *err);
    void *context; /* of check_seen */
    /* The time of requests that have none, in seconds since 1970; NULL: as in parsrec_request. It is not
     * used if it lies further behind the last date of the model's histories than these are long: no
     * model has seen such a gap. */
    const int64_t *now;
    size_t batch_items_most; /* sum of k over a batch; more is E_LIMIT. 0: no limit */
    size_t batch_bytes_most; /* of the answers to a batch; more is E_LIMIT. 0: no limit */
} parsrec_json_options;

/* Recommendation with request and answer as JSON text (docs/recommend.md). Unknown items are left
 * out and listed in the answer, unless the request is strict. The answer is one line, terminated;
 * it belongs to the scratch and is valid until the next call with it. `options` may be NULL. */
PARSREC_API parsrec_status parsrec_recommend_json(const parsrec_model *model, parsrec_scratch *own,
                                                  const parsrec_json_options *options,
                                                  const char *request, size_t size,
                                                  const char **answer, parsrec_error *err);

/* The same text for an answer of parsrec_recommend; it is valid as long as there. */
typedef struct parsrec_answer_parts {
    const char *user; /* the caller's key for the user; NULL: a guest */
    const parsrec_request *request;
    parsrec_answer answer;
    const parsrec_hit *hits;
    const parsrec_why *whys;    /* one per hit; NULL: no reasons */
    const char *const *unknown; /* items that were left out: unknown, or names that several have */
    size_t unknown_count;
} parsrec_answer_parts;
PARSREC_API parsrec_status parsrec_answer_json(const parsrec_model *model, parsrec_scratch *own,
                                               const parsrec_answer_parts *parts, const char **text,
                                               parsrec_error *err);

/* ---- times ------------------------------------------------------------------------------- */

/* Converts an ISO 8601 date, or date and time, to seconds since 1970, as import does: "2010-03-02",
 * "2010-03-02T13:08:00+01:00". Without a zone the time is UTC. E_INPUT for anything else. */
PARSREC_API parsrec_status parsrec_time_read(const char *text, int64_t *seconds,
                                             parsrec_error *err);

/* ---- live histories ---------------------------------------------------------------------- */

/* What users bought after the model was made. Requests use it through parsrec_request.live. Threads
 * may share it: a lock lets readers run in parallel and writers one at a time. The model must
 * outlive it, and parsrec_model_take_pasts must not be called in between. With live histories, a
 * scratch allocates when a history is longer than any before. */
PARSREC_API parsrec_status parsrec_live_new(parsrec_live **out, const parsrec_model *model,
                                            parsrec_error *err);
PARSREC_API void parsrec_live_free(parsrec_live *live); /* NULL is fine */

/* Adds purchased items to a session of a user. A new user is known by this key from then on. Items
 * added by the same user under the same session name form one session, in the place where it
 * started; NULL always starts a new session. An item counts once per session. Negative numbers
 * stand for items that the model does not know and are skipped. */
PARSREC_API parsrec_status parsrec_live_add(parsrec_live *live, const char *user,
                                            const char *session, const int32_t *items, size_t count,
                                            parsrec_error *err);

/* The same with the time of the purchase, in seconds since 1970, or PARSREC_UNDATED. The first known
 * one of a session is that of the session. A session that is older than the one before it counts as
 * being of the same time. */
PARSREC_API parsrec_status parsrec_live_add_at(parsrec_live *live, const char *user,
                                               const char *session, int64_t time,
                                               const int32_t *items, size_t count,
                                               parsrec_error *err);

/* Puts items into the user's open basket of that session. This is not a purchase and not part of
 * the history. A JSON request with this session and without a basket uses the open one. Items that
 * are added by parsrec_live_add under the same name leave it. Only the newest few open baskets of a
 * user are kept. Without a session name the call does nothing. */
PARSREC_API parsrec_status parsrec_live_cart(parsrec_live *live, const char *user,
                                             const char *session, const int32_t *items,
                                             size_t count, parsrec_error *err);

/* From now on the user is treated as a guest: the model's row and all purchases so far are no
 * longer used. Later purchases start a new history. OK if the user is unknown. */
PARSREC_API parsrec_status parsrec_live_forget(parsrec_live *live, const char *user,
                                               parsrec_error *err);

/* The same for the user whose key has this hash: SipHash-2-4, 128 bits. The secret must be the same
 * in all calls. A list of forgotten users then need not contain their keys. */
enum { PARSREC_HASH_BYTES = 16 };
PARSREC_API parsrec_status parsrec_live_forget_hash(parsrec_live *live,
                                                    const uint8_t secret[PARSREC_HASH_BYTES],
                                                    const uint8_t hash[PARSREC_HASH_BYTES],
                                                    parsrec_error *err);
/* Whether the user was forgotten, so that the model's data about the user are hidden. Stays true
 * when purchases are added later. */
PARSREC_API bool parsrec_live_forgotten(const parsrec_live *live, const char *user);

/* What a file of live histories was made of, and how much is in it. */
typedef struct parsrec_live_note {
    char store[40];   /* names the store whose events were added; not empty */
    char base[40];    /* checksum of the data to which they were added (parsrec_data_statistics) */
    uint64_t through; /* number of the last entry of the store that is in it */
    uint64_t entries; /* how many entries of the store it stands for */
    uint64_t users, sessions, actions; /* set by both calls: users, baskets and items in the file */
} parsrec_live_note;

/* Writes what was added to live histories, and who was forgotten, so that it need not be added
 * again: docs/format.md. The name of the file is complete or absent at any moment. */
PARSREC_API parsrec_status parsrec_live_save(const parsrec_live *live, parsrec_live_note *note,
                                             const char *path, parsrec_error *err);
/* Reads it into live histories to which nothing was added. The note has the store and the base; the
 * rest is set. E_INPUT for a file that was made of others or with another catalogue; then, and on
 * any failure, nothing was added. */
PARSREC_API parsrec_status parsrec_live_load(parsrec_live *live, parsrec_live_note *note,
                                             const char *path, parsrec_error *err);

/* The number of a user who is in the model or was added, for requests with these live histories.
 * E_NOT_FOUND for other users and for forgotten ones. */
PARSREC_API parsrec_status parsrec_live_find(const parsrec_live *live, const char *user,
                                             int32_t *number, parsrec_error *err);

typedef struct parsrec_bought {
    int32_t item;
    size_t count; /* of baskets with it */
    size_t last;  /* how many baskets ago; 0: in the newest */
} parsrec_bought;
/* The distinct items that a user bought, most frequent first, at most `capacity`. E_NOT_FOUND as in
 * parsrec_live_find. */
PARSREC_API parsrec_status parsrec_live_bought(const parsrec_live *live, const char *user,
                                               parsrec_bought *list, size_t capacity, size_t *count,
                                               parsrec_error *err);

/* {"user","known","baskets","items":[{"item","name","category","count","last"}],"recent":[[keys]]}
 * `known` is whether the model has a row for the user; `items` is as in parsrec_live_bought,
 * without a limit; `recent` has at most that many baskets, newest first. E_NOT_FOUND as in
 * parsrec_live_find. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_live_user_json(char **out, const parsrec_live *live,
                                                  const char *user, size_t recent,
                                                  parsrec_error *err);

/* At most `limit` users or items whose key, or item name, contains the text, ignoring ASCII case:
 * {"users":[{"user","baskets"}]} for PARSREC_USER, {"items":[{"item","name","category"}]} for
 * PARSREC_ITEM. Those that start with the text come first, otherwise by number. "" matches all.
 * Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_live_search_json(char **out, const parsrec_live *live,
                                                    parsrec_thing thing, const char *text,
                                                    size_t limit, parsrec_error *err);

/* ---- forgetting -------------------------------------------------------------------------- */

/* Writes a copy of a model file to out_path, atomically, without the keys, rows and purchases of
 * these users. Parameters that are shared by all users stay as they were trained. E_NOT_FOUND if
 * the model does not have one of the users. out_path may be the same file. */
PARSREC_API parsrec_status parsrec_model_forget(const char *model_path, const char *out_path,
                                                const char *const *users, size_t count,
                                                parsrec_error *err);

/* ---- evaluation -------------------------------------------------------------------------- */

enum { PARSREC_CUTOFFS_MOST = 8 };

typedef enum parsrec_candidates {
    PARSREC_CANDIDATES_UNIFORM, /* all items with equal probability */
    PARSREC_CANDIDATES_POPULAR, /* in proportion to the number of actions before the split */
    PARSREC_CANDIDATES_FILE,    /* a list per user */
} parsrec_candidates;

/* What one user contributes to a measure, which is (sum of all sums) / (sum of all weights). */
typedef struct parsrec_share {
    double sum, weight;
} parsrec_share;

/* How models are evaluated (docs/evaluation.md). The candidates are the same for every model.
 * Strings are borrowed for the call. */
typedef struct parsrec_eval_options {
    parsrec_split split;
    parsrec_protocol protocol;
    uint64_t negatives;            /* sampled items; 0: the whole catalogue */
    parsrec_candidates candidates; /* how they are sampled */
    const char *candidates_path;   /* of the file: rows of user and item, or user and items */
    bool exclude_seen;             /* leave out items that the user bought before */
    const char *users_path;        /* keys of the users to evaluate; NULL: all eligible users */
    const char *count_users_path;  /* counting models: users to count; NULL: all */
    uint64_t last;                 /* sessions per user in the test split; 0: as many as the model
                                       left out in training */
    uint64_t k[PARSREC_CUTOFFS_MOST]; /* cutoffs to report */
    size_t k_count;
    uint64_t place_k; /* the best remaining item is placed next if it ranks in the first place_k */
    uint64_t seed;    /* of the sampled items */
    unsigned threads; /* 0: all cores; the results do not depend on it */
    const char *dump_path; /* file for the rankings, as JSON lines; NULL: none */
    /* Called on the calling thread for every evaluated user, in order of their numbers, with the
     * user's contribution to each measure of the report: for your own statistics. May be NULL. */
    void (*on_user)(void *context, uint64_t user, const parsrec_share *shares, size_t measures);
    void *user_context;
    uint64_t most_users; /* evaluate at most this many users, evenly spread over them; 0: all */
    /* Other processes that divide the baskets with this one, or NULL: there are none. All call with the
     * same model, data and options, and all get the same report; not with dump_path. */
    parsrec_ranks *ranks;
} parsrec_eval_options;

/* One measure. low and high are the 95 % confidence interval over users. `repeat` is restricted to
 * items that the user bought in an earlier session, `fresh` to items that are new to the user;
 * `random` is the expected value of a random ranking. NaN if there is nothing to measure. */
typedef struct parsrec_measure {
    const char *name; /* "HR"; static */
    uint64_t k;       /* 0: a measure without cutoff */
    double value, low, high, random;
    double repeat, fresh, repeat_random, fresh_random;
} parsrec_measure;

enum { PARSREC_MEASURES_MOST = 5 * PARSREC_CUTOFFS_MOST };

typedef struct parsrec_eval_report {
    uint64_t users, baskets, steps;
    uint64_t negatives;                 /* most per basket; 0: the whole catalogue */
    uint64_t repeat_steps, fresh_steps; /* steps that have such a target */
    parsrec_measure measures[PARSREC_MEASURES_MOST];
    size_t measure_count;
    char fingerprint[17]; /* of protocol, candidates, seed, data and settings of the model */
    double seconds;
} parsrec_eval_report;

PARSREC_API parsrec_eval_options parsrec_eval_default(void);

/* Names and cutoffs of the measures in a report with these options, in its order. Values are not
 * set. */
PARSREC_API parsrec_status parsrec_eval_measures(const parsrec_eval_options *options,
                                                 parsrec_measure measures[PARSREC_MEASURES_MOST],
                                                 size_t *count, parsrec_error *err);

/* Evaluates on the users of `data`. Users and items are matched with the model's by key. Users whom
 * it does not know are evaluated as unknown users, unknown items are left out, and a warning gives
 * their numbers; parsrec_explain and parsrec_whatif do the same. A counting model is counted anew,
 * from what precedes the evaluated sessions. */
PARSREC_API parsrec_status parsrec_eval(const parsrec_model *model, const parsrec_data *data,
                                        const parsrec_eval_options *options,
                                        parsrec_eval_report *report, const parsrec_hooks *hooks,
                                        parsrec_error *err);

/* The same with several options, usually one per protocol: reports[count]. Work that they share is
 * done once. A report has no users if none could be evaluated; E_INPUT if that is true of all. */
PARSREC_API parsrec_status parsrec_eval_several(const parsrec_model *model,
                                                const parsrec_data *data,
                                                const parsrec_eval_options *options, size_t count,
                                                parsrec_eval_report *reports,
                                                const parsrec_hooks *hooks, parsrec_error *err);

/* Compares a model with the baselines in every protocol, on the data in its file. Users of large
 * data are sampled evenly, so that it takes seconds. */
PARSREC_API parsrec_status parsrec_baselines(parsrec_baseline_report *report,
                                             const parsrec_model *model, parsrec_split split,
                                             unsigned threads, const parsrec_hooks *hooks,
                                             parsrec_error *err);

/* A report as JSON text (docs/evaluation.md) with the names `model` and `data`. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_eval_json(char **out, const char *model, const char *data,
                                             const parsrec_eval_options *options,
                                             const parsrec_eval_report *report, parsrec_error *err);

/* The members of the first report that has users, as in parsrec_eval_json, and "protocols": an
 * object with all reports by protocol name, null for a report without users. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_eval_several_json(char **out, const char *model,
                                                     const char *data,
                                                     const parsrec_eval_options *options,
                                                     const parsrec_eval_report *reports,
                                                     size_t count, parsrec_error *err);

/* Whether the model was trained on data that were split at a time, and how; only then is *how written.
 * Such a model says nothing about sessions from then on, so its evaluation needs the same split. */
PARSREC_API bool parsrec_model_split(const parsrec_model *model, parsrec_split_options *how);

/* ---- comparison -------------------------------------------------------------------------- */

enum { PARSREC_MORE_SEEDS_SECONDS = 600 };

/* Strings are borrowed for the call. */
typedef struct parsrec_compare_options {
    const char *models;  /* list of models (docs/compare.md); NULL: the preset's */
    const char *preset;  /* "paper-small" or "paper-synthetic"; NULL: none */
    const char *measure; /* that ranks the models, "HR@10"; NULL: NDCG, or else the first measure,
                            at the largest cutoff */
    uint64_t epochs, patience; /* of every trained model; 0: as its settings say, and never */
    uint64_t seed;             /* of training, and of the data that a preset makes */
    uint64_t seeds;            /* trainings per trained model, with seeds `seed`, `seed` + 1, ...;
                                   1 to 1,000; 0: three, or one if the other two would take
                                   more than PARSREC_MORE_SEEDS_SECONDS, by the time of the first */
    uint64_t jobs;             /* parallel trainings; 0: as many as cores and memory allow; the
                                   results do not depend on it */
    bool retrain;              /* replace models in the folder that have other settings */
    const char *command;       /* as typed, for the reports; NULL: not shown */
    parsrec_eval_options eval; /* the same for all; its threads are used for training too. Its ranks
                                   train the models in turn and divide each evaluation; all see the
                                   same folder, and rank 0 writes the reports */
    const parsrec_eval_options *others; /* further evaluations of the same models, usually by the
                                            other protocols; shown next to `eval` */
    size_t other_count;                 /* up to PARSREC_PROTOCOLS - 1 */
    parsrec_split_options split;        /* zeroed: as the model files of the list say, if any */
    bool only_listed; /* do not add personal, recent, markov and mix to the models */
} parsrec_compare_options;

PARSREC_API parsrec_compare_options parsrec_compare_default(void);

/* Models side by side. */
typedef struct parsrec_comparison parsrec_comparison;

/* Trains the models that are missing in the folder, evaluates all of them on the same users and
 * candidates, and writes report.md, .csv, .json and .html there; with several seeds, the reports
 * are written after each seed. Call it again to resume a run that was stopped or killed. data_path
 * may be NULL with a preset, which then makes the data. */
PARSREC_API parsrec_status parsrec_compare(parsrec_comparison **out, const char *data_path,
                                           const char *folder,
                                           const parsrec_compare_options *options,
                                           const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_comparison_free(parsrec_comparison *comparison); /* NULL is fine */

typedef enum parsrec_text_kind {
    PARSREC_TEXT_PLAIN,    /* the table with notes on its significance */
    PARSREC_TEXT_TERMINAL, /* the same, best in bold and second underlined */
    PARSREC_TEXT_MARKDOWN,
    PARSREC_TEXT_CSV,
    PARSREC_TEXT_JSON,
    PARSREC_TEXT_JSON_MODELS, /* an array of one object per model, which extend parsrec_eval_json */
    PARSREC_TEXT_HTML,
} parsrec_text_kind;

/* Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_comparison_text(char **out, const parsrec_comparison *comparison,
                                                   parsrec_text_kind kind, parsrec_error *err);

/* ---- ablation ---------------------------------------------------------------------------- */

/* Strings are borrowed for the call. */
typedef struct parsrec_ablate_options {
    const char *preset;     /* rows "paper", "parts" or "all" (docs/ablate.md); NULL: all, or those
                               named by the next two */
    const char *rows;       /* only these rows of the preset, separated by commas; NULL: all */
    const char *const *row; /* your own rows: "NAME:key=value:key=value" each */
    size_t row_count;
    const char *base;            /* "KIND:key=value", which rows modify; NULL: the preset's */
    parsrec_compare_options how; /* everything else; its models and preset must be NULL */
} parsrec_ablate_options;

PARSREC_API parsrec_ablate_options parsrec_ablate_default(void);

/* A comparison whose rows are one model with one change each, compared with the unchanged model.
 * Files, reports and resuming are as in parsrec_compare. */
PARSREC_API parsrec_status parsrec_ablate(parsrec_comparison **out, const char *data_path,
                                          const char *folder, const parsrec_ablate_options *options,
                                          const parsrec_hooks *hooks, parsrec_error *err);

/* ---- tuning ------------------------------------------------------------------------------ */

/* Strings are borrowed for the call. */
typedef struct parsrec_tune_options {
    const char *model, *preset, *config_path; /* initial settings, as in parsrec_train_options */
    const char *const *set; /* "key=a,b,c", "key=low..high" or "key=low..high(log)" to sample from,
                               "key=value" for all trials; no ranges: the defaults of the kind */
    size_t set_count;
    uint64_t trials, epochs; /* epochs: of a trial in the last round; 0: as the settings say */
    uint64_t cut;        /* the best 1/cut of the trials enter the next round, with cut times the
                            epochs; 2 to 100 */
    const char *measure; /* of validation: "NDCG@10" (also NULL), "HR@10" or "Sess-Prec@10" */
    uint64_t seed;       /* of sampling, and of every training */
    uint64_t jobs;       /* as in parsrec_compare_options */
    unsigned threads;    /* 0: all cores; the results do not depend on it */
    bool retrain;        /* start over if the folder has trials of another search */
    const char *command; /* as typed, for the reports; NULL: not shown */
    parsrec_split_options split;
    /* Other processes that train a part of the trials, or NULL. All call with the same and see the same
     * folder; rank 0 writes the reports. */
    parsrec_ranks *ranks;
} parsrec_tune_options;

PARSREC_API parsrec_tune_options parsrec_tune_default(void);

/* A search for better settings. */
typedef struct parsrec_tuning parsrec_tuning;

/* Successive halving over random settings; the initial settings are one of the trials. Only
 * validation sessions are used. Writes best.conf, for config_path of training, and report.md, .csv,
 * .json, .html and epochs.svg into the folder. Call it again to resume a run that was stopped or
 * killed. */
PARSREC_API parsrec_status parsrec_tune(parsrec_tuning **out, const char *data_path,
                                        const char *folder, const parsrec_tune_options *options,
                                        const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_tuning_free(parsrec_tuning *tuning); /* NULL is fine */

/* Any kind; _JSON_MODELS is an array with one object per trial, best first. Free with
 * parsrec_text_free. */
PARSREC_API parsrec_status parsrec_tuning_text(char **out, const parsrec_tuning *tuning,
                                               parsrec_text_kind kind, parsrec_error *err);

/* ---- explanation ------------------------------------------------------------------------- */

/* Maps of item relationships (docs/explanations.md), with their names. Row i is bought next, column
 * j is in the basket. */
#define PARSREC_MAP_LIST(X)                                                                      \
    X(ATTENTION, "attention") /* share of the attention of row i on column j */                  \
    X(DROP, "drop")           /* effect of j on the log-probability of i, against other items */ \
    X(LIFT, "lift")           /* log of the lift, counted in the baskets without a model */      \
    X(EMBEDDING, "embedding") /* dot products of item embeddings */

typedef enum parsrec_map {
#define PARSREC_MAP_ENUM(id, name) PARSREC_MAP_##id,
    PARSREC_MAP_LIST(PARSREC_MAP_ENUM)
#undef PARSREC_MAP_ENUM
} parsrec_map;
enum { PARSREC_MAPS = 4 };

/* Strings are borrowed for the call. */
typedef struct parsrec_explain_options {
    bool items;              /* rows and columns are items; else categories */
    uint64_t level;          /* of the category tree, 1 at the top; 0: the items' own categories */
    uint64_t top;            /* number of rows, best-selling first; 2 to 1,000 */
    const char *const *show; /* only these rows: keys, names or category paths ... */
    size_t show_count;       /* ... 0: as `top` says */
    bool maps[PARSREC_MAPS]; /* maps to make; none set: all that the model has */
    const char *const *groups; /* of users, as in parsrec explain --group; none: everybody */
    size_t group_count;
    const char *difference; /* "A,B": also the maps of A minus B; NULL: automatic with exactly two
                               groups */
    uint64_t basket_most;   /* items per basket that are used; 2 to 64 */
    uint64_t baskets_most;  /* baskets per group that the model scores, from evenly spaced users;
                               0: all */
    bool no_recovery;       /* synthetic data: do not measure how well maps recover the truth */
    bool cluster;           /* pictures group similar rows; else rows are in catalogue order */
    unsigned threads;       /* 0: all cores; the maps do not depend on it */
    const char *model_name, *data_name; /* for the reports; NULL: not shown */
    const char *command;                /* as typed; NULL: not shown */
    parsrec_ranks *ranks; /* other processes that divide the baskets with this one, or NULL */
} parsrec_explain_options;

PARSREC_API parsrec_explain_options parsrec_explain_default(void);

/* Maps of item relationships, with how well the data support them. */
typedef struct parsrec_explanation parsrec_explanation;

/* Makes the maps from the baskets of the chosen users of `data`, matched with the model by key as
 * in parsrec_eval. On synthetic data it also measures how well each map recovers the truth. */
PARSREC_API parsrec_status parsrec_explain(parsrec_explanation **out, const parsrec_model *model,
                                           const parsrec_data *data,
                                           const parsrec_explain_options *options,
                                           const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_explanation_free(parsrec_explanation *explanation); /* NULL is fine */

/* The number of rows of every map, and the name of a row; NULL after the last. */
PARSREC_API size_t parsrec_explanation_size(const parsrec_explanation *explanation);
PARSREC_API const char *parsrec_explanation_name(const parsrec_explanation *explanation,
                                                 size_t row);
/* The name of a group; NULL after the last. */
PARSREC_API const char *parsrec_explanation_group(const parsrec_explanation *explanation,
                                                  size_t group);
/* [size · size], row-major, NaN for unknown cells; NULL for a map that was not made. Belongs to the
 * explanation. */
PARSREC_API const double *parsrec_explanation_map(const parsrec_explanation *explanation,
                                                  size_t group, parsrec_map map);

/* Whether the baskets support a relationship that a map shows (docs/explanations.md). */
typedef enum parsrec_relation_verdict {
    PARSREC_RELATION_CONFIRMED,    /* enough baskets, and significantly more than by chance */
    PARSREC_RELATION_FEW,          /* too few baskets to decide */
    PARSREC_RELATION_UNCERTAIN,    /* the confidence interval of the lift contains 1 */
    PARSREC_RELATION_CONTRADICTED, /* the lift is below 1 */
    PARSREC_RELATION_CATEGORY,     /* no stronger than other pairs of the same category */
} parsrec_relation_verdict;
PARSREC_API const char *parsrec_relation_verdict_name(
    parsrec_relation_verdict verdict); /* "confirmed" */

/* A pair of rows of an explanation: its value in a map, and its counts in the baskets. */
typedef struct parsrec_relation {
    size_t row, column;
    double value;         /* in the map */
    double category_part; /* the part of it that other pairs of the same category share; >= 0 */
    const char *category; /* that category, NULL without such a part; belongs to the explanation */
    double strength;      /* sort key: the smaller of the map's value without category_part and the
                             log of `low` */
    /* Baskets with both rows, with each of them, and all baskets. */
    uint64_t both, row_baskets, column_baskets, baskets;
    double expected;        /* baskets with both by chance */
    double lift, low, high; /* both / expected, confidence interval; NaN if either was not bought */
    parsrec_relation_verdict verdict;
} parsrec_relation;

/* The relations of a map that the data confirm, or those that they do not, strongest first. Of the
 * two cells of a pair the larger one is used. Returns their number, at most `capacity`; 0 for a map
 * that was not made. */
PARSREC_API size_t parsrec_explanation_relations(const parsrec_explanation *explanation,
                                                 size_t group, parsrec_map map, bool confirmed,
                                                 parsrec_relation *relations, size_t capacity);
/* Writes a relation as a sentence to buffer, cut to size and terminated. Returns buffer. */
PARSREC_API char *parsrec_relation_sentence(const parsrec_explanation *explanation, parsrec_map map,
                                            const parsrec_relation *relation, char *buffer,
                                            size_t size);
/* Writes its counts likewise: "in 132 baskets together (...), 2.71 times as often as by chance
 * (2.10 to 3.40)". */
PARSREC_API char *parsrec_relation_evidence(const parsrec_explanation *explanation,
                                            const parsrec_relation *relation, char *buffer,
                                            size_t size);

/* A pair of rows in which two groups differ. */
typedef struct parsrec_group_contrast {
    size_t first_group, second_group;
    parsrec_relation first, second; /* the same pair in either group */
    double value;                   /* of the first group's map less that of the second's */
} parsrec_group_contrast;

/* The pairs in which two groups differ in a map, and in the same direction in the lifts that were
 * counted, by more than both intervals allow; largest difference first. Returns their number, at
 * most `capacity`; 0 for a map that was not made or has no relations. */
PARSREC_API size_t parsrec_explanation_contrasts(const parsrec_explanation *explanation,
                                                 size_t first_group, size_t second_group,
                                                 parsrec_map map, parsrec_group_contrast *contrasts,
                                                 size_t capacity);
/* Writes a contrast as a sentence to buffer, and its counts, as for relations. Return buffer. */
PARSREC_API char *parsrec_contrast_sentence(const parsrec_explanation *explanation, parsrec_map map,
                                            const parsrec_group_contrast *contrast, char *buffer,
                                            size_t size);
PARSREC_API char *parsrec_contrast_evidence(const parsrec_explanation *explanation,
                                            const parsrec_group_contrast *contrast, char *buffer,
                                            size_t size);

/* PARSREC_TEXT_PLAIN, _JSON (without the maps) or _HTML. Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_explanation_text(char **out,
                                                    const parsrec_explanation *explanation,
                                                    parsrec_text_kind kind, parsrec_error *err);
/* Writes report.html, report.json and each map as CSV, PNG, SVG and PDF into a folder, which is
 * created if missing. */
PARSREC_API parsrec_status parsrec_explanation_save(const parsrec_explanation *explanation,
                                                    const char *folder, const parsrec_hooks *hooks,
                                                    parsrec_error *err);

/* ---- what if ----------------------------------------------------------------------------- */

/* Two questions, each with its own ground truth (docs/whatif.md). */
typedef enum parsrec_question {
    PARSREC_SELECTION, /* units per basket in baskets without the dropped things, against all */
    PARSREC_RECHOICE,  /* what the same shoppers buy when the dropped things are not available */
} parsrec_question;

#define PARSREC_ESTIMATOR_LIST(X)                                                            \
    X(ROLLOUT, "rollout")   /* complete baskets sampled from the model */                    \
    X(EXPECTED, "expected") /* the model's probabilities at each step of the test baskets */ \
    X(TOP10, "top10")       /* its ten best items at each step, as in the paper */           \
    X(COUNTED, "counted")   /* no model: past baskets without the dropped things; selection only */

typedef enum parsrec_estimator {
#define PARSREC_ESTIMATOR_ENUM(id, name) PARSREC_##id,
    PARSREC_ESTIMATOR_LIST(PARSREC_ESTIMATOR_ENUM)
#undef PARSREC_ESTIMATOR_ENUM
} parsrec_estimator;

PARSREC_API const char *parsrec_question_name(parsrec_question question);    /* "selection" */
PARSREC_API const char *parsrec_estimator_name(parsrec_estimator estimator); /* "rollout" */

/* Re-choice: what a shopper does if the whole category of an item is gone. If the category is still
 * available, the item is replaced by another of the same category. */
#define PARSREC_MISSING_LIST(X)                                           \
    X(REFILL, "refill") /* takes another item: baskets keep their size */ \
    X(LEAVE, "leave")   /* takes nothing; may abandon the basket (docs/whatif.md) */

typedef enum parsrec_missing {
#define PARSREC_MISSING_ENUM(id, name) PARSREC_MISSING_##id,
    PARSREC_MISSING_LIST(PARSREC_MISSING_ENUM)
#undef PARSREC_MISSING_ENUM
} parsrec_missing;

/* Strings are borrowed for the call. A thing is "category=NAME", "item=KEY" or just a name. */
typedef struct parsrec_whatif_options {
    const char *const *drop, *const *only; /* things to remove, or the only ones to keep */
    const char *const *add;                /* new items: "item=NAME:like=KEY" */
    const char *const *watch;              /* things to report; none: those that change most */
    const char *const *groups;             /* of users (docs/whatif.md); none: everybody */
    size_t drop_count, only_count, add_count, watch_count, group_count;
    bool each;                   /* every dropped thing is a scenario of its own */
    bool selection, rechoice;    /* questions to answer, at least one; default: rechoice */
    parsrec_estimator estimator; /* shown in the tables */
    parsrec_missing missing;
    bool raw;              /* model estimates without calibration to past sales */
    uint64_t level;        /* of the category tree in the tables, 1 at the top; 0: deepest */
    uint64_t draws;        /* baskets sampled per user; 0: about 40,000 in all */
    uint64_t resamples;    /* bootstrap samples of users, for confidence intervals */
    double interval;       /* confidence level, 0.9 */
    uint64_t truth_sets;   /* synthetic data: test sets generated again from the truth; 0: none */
    uint64_t seed;         /* of draws and resamples */
    unsigned threads;      /* 0: all cores; the answer does not depend on it */
    const char *command;   /* as typed, for the reports; NULL: not shown */
    const char *data_name; /* for the reports; NULL: not shown */
} parsrec_whatif_options;

PARSREC_API parsrec_whatif_options parsrec_whatif_default(void);

/* What a row counts: one category or item, everything that is removed, or the total. */
typedef enum parsrec_whatif_kind {
    PARSREC_WHATIF_LINE,
    PARSREC_WHATIF_LEAVES,
    PARSREC_WHATIF_TOTAL,
} parsrec_whatif_kind;

PARSREC_API const char *parsrec_whatif_kind_name(parsrec_whatif_kind kind); /* "line" */

/* Units per basket, before and after. All baskets have equal weight and an item counts once per
 * basket, so that `before` equals a pivot table of the baskets of the group's users (on synthetic
 * data: of those before the test sessions). NaN for unknown values. */
typedef struct parsrec_whatif_row {
    const char *scenario, *group, *category; /* category: or item; valid as long as the answer */
    parsrec_question question;
    parsrec_estimator estimator;
    bool watched, dropped;
    double before, after, low, high;        /* low, high: confidence interval of `after` */
    double change, change_low, change_high; /* after / before - 1 */
    double test_before, test_after;         /* in the test set; test_after: selection only */
    double true_before, true_after;         /* expected values, on synthetic data */
    double floor; /* mean relative error of the true expected sales on a test set of this size */
    parsrec_whatif_kind kind;
    double baskets; /* of the group, over which `before` is the mean */
    /* Revenue per basket, if items have prices; low and high are the interval of revenue_after. */
    double revenue_before, revenue_after, revenue_low, revenue_high;
    double revenue_change, revenue_change_low, revenue_change_high;
} parsrec_whatif_row;

/* An answer with its reports. */
typedef struct parsrec_whatif_answer parsrec_whatif_answer;

/* Takes one model, or several of the same data set, for example trained with different seeds. */
PARSREC_API parsrec_status parsrec_whatif(parsrec_whatif_answer **out,
                                          const parsrec_model *const *models, size_t model_count,
                                          const parsrec_data *data,
                                          const parsrec_whatif_options *options,
                                          const parsrec_hooks *hooks, parsrec_error *err);
PARSREC_API void parsrec_whatif_free(parsrec_whatif_answer *answer); /* NULL is fine */

/* Row i; false after the last. */
PARSREC_API bool parsrec_whatif_row_at(const parsrec_whatif_answer *answer, size_t i,
                                       parsrec_whatif_row *row);
/* PARSREC_TEXT_PLAIN, _CSV, _JSON (everything), _JSON_MODELS (the rows of the tables) or _HTML.
 * Free with parsrec_text_free. */
PARSREC_API parsrec_status parsrec_whatif_text(char **out, const parsrec_whatif_answer *answer,
                                               parsrec_text_kind kind, parsrec_error *err);
/* Writes report.csv, .json, .html and a chart per scenario and question into a folder, which is
 * created if missing. */
PARSREC_API parsrec_status parsrec_whatif_save(const parsrec_whatif_answer *answer,
                                               const char *folder, parsrec_error *err);

/* ---- the machine ------------------------------------------------------------------------- */

/* What computations use here. Strings live as long as the process. */
typedef struct parsrec_machine {
    char features[128];       /* vector units of the processor: "avx avx2 fma avx512f" */
    const char *level;        /* of our own loops: "avx512", "avx2" or "base" */
    const char *blas;         /* the library of matrix products: "libopenblas.so.0"; NULL: none */
    const char *blas_kernels; /* the processor it is tuned for: "SkylakeX"; NULL: unknown */
} parsrec_machine;

/* Loads the library of matrix products if that has not happened yet. */
PARSREC_API parsrec_machine parsrec_machine_of(void);

/* ---- speed ------------------------------------------------------------------------------- */

enum { PARSREC_STEP_PARTS = 6 };
PARSREC_API const char *parsrec_step_part(size_t part); /* its name; NULL after the last */

typedef struct parsrec_train_speed {
    double items_per_s;  /* predicted items */
    double gflops;       /* per second: operations that the plain network needs for these items */
    double sgemm_gflops; /* per second, of a matrix product with the same threads in this run */
    double share;        /* gflops / sgemm_gflops */
    double loss;         /* of the last batch, per item */
    unsigned threads;
    double part_share[PARSREC_STEP_PARTS]; /* of the training time */
    char kernels[32]; /* the processor that OpenBLAS has chosen, "" if unknown */
} parsrec_train_speed;

/* Trains a model of that kind (NULL: "parsrec" with the preset paper) for about that many seconds,
 * with its settings changed by `set`. */
PARSREC_API parsrec_status parsrec_bench_train(const parsrec_data *data, const char *model,
                                               double seconds, unsigned threads,
                                               const char *const *set, size_t set_count,
                                               parsrec_train_speed *speed,
                                               const parsrec_hooks *hooks, parsrec_error *err);
/* The same with any settings: of the options model, preset, config_path, set and threads are used. */
PARSREC_API parsrec_status parsrec_bench_training(const parsrec_data *data,
                                                  const parsrec_train_options *options,
                                                  double seconds, parsrec_train_speed *speed,
                                                  const parsrec_hooks *hooks, parsrec_error *err);

/* Time per call of parsrec_recommend, in microseconds. */
typedef struct parsrec_score_speed {
    uint64_t calls;
    double median, mean, p99;
    double why_median; /* of parsrec_recommend_why for all hits, in addition */
} parsrec_score_speed;

/* Runs on one thread for about that many seconds. Requests `k` items for the users of the model in
 * turn, with baskets of up to `basket` items from their last sessions. */
PARSREC_API parsrec_status parsrec_bench_score(const parsrec_model *model, size_t basket, size_t k,
                                               double seconds, parsrec_score_speed *speed,
                                               const parsrec_hooks *hooks, parsrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
