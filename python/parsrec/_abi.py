"""The ctypes mirror of parsrec.h, written by scripts/python_abi.py. Do not edit."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float,
                    c_int, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint32, c_uint64,
                    c_void_p)

BASKET_MOST = 1000000
GUEST = -1
IMPORT_COLUMNS_MOST = 96
MONTHS_MOST = 1200
REASONS_MOST = 32
SHARDS_DEFAULT = 256
SHARDS_MOST = 4096
SYNTH_CATEGORIES_MOST = 1000
SYNTH_PRODUCTS_MOST = 10000
SYNTH_SESSIONS_MOST = 2000000000
SYNTH_USERS_MOST = 2000000000
OK = 0
E_ARGUMENT = 10
E_CONFIG = 11
E_MEMORY = 20
E_LIMIT = 21
E_IO = 30
E_FORMAT = 40
E_VERSION = 41
E_CHECKSUM = 42
E_INPUT = 50
E_NOT_FOUND = 60
E_STOPPED = 70
E_DIVERGED = 71
E_PEER = 72
E_UNSUPPORTED = 80
LOG_INFO = 0
LOG_WARNING = 1
SPLIT_BY_AUTO = 0
SPLIT_BY_USERS = 1
SPLIT_BY_SESSIONS = 2
TIME_NONE = 0
TIME_ORDINAL = 1
TIME_UNIX = 2
USER = 0
ITEM = 1
CATEGORY = 2
ORDER_UNKNOWN = 0
ORDER_FREE = 1
ORDER_NUMBER = 2
ORDER_KEY = 3
ORDER_NAME = 4
ORDER_FIXED = 5
SESSION_COLUMN = 0
SESSION_GAP = 1
SESSION_DAY = 2
SESSION_WEEK = 3
SESSION_MONTH = 4
INPUT_AUTO = 0
INPUT_CSV = 1
INPUT_TSV = 2
INPUT_REFERENCE = 3
COLUMN_UNUSED = 0
COLUMN_USER = 1
COLUMN_SESSION = 2
COLUMN_TIME = 3
COLUMN_ITEM = 4
COLUMN_NAME = 5
COLUMN_CATEGORY = 6
COLUMN_NUMBER = 7
COLUMN_WORDS = 8
COLUMN_QUANTITY = 9
IMPORT_ALL = 0
IMPORT_DICTIONARY = 1
IMPORT_SHARD = 2
TABLE_ACTIONS = 0
TABLE_ITEMS = 1
TABLE_USERS = 2
TABLE_SESSIONS = 3
SIZE_REFERENCE = 0
SIZE_PAPER = 1
FEATURES_NONE = 0
FEATURES_SIGNAL = 1
FEATURES_NOISE = 2
FEATURES_ALL = 3
SPLIT_TEST = 0
SPLIT_VALID = 1
PROTOCOL_REMAINING = 0
PROTOCOL_NEXT = 1
PROTOCOL_BASKET = 2
PROTOCOLS = 3
BASELINES = 5
BASELINE_ROWS = 5
VERDICT_NONE = 0
VERDICT_AHEAD = 1
VERDICT_LEVEL = 2
VERDICT_BEHIND = 3
SOURCE_MODEL = 0
SOURCE_ANYONE = 1
SOURCE_POPULAR = 2
WHEN_NONE = 0
WHEN_REQUEST = 1
WHEN_NOW = 2
WHEN_DATA = 3
HASH_BYTES = 16
CUTOFFS_MOST = 8
CANDIDATES_UNIFORM = 0
CANDIDATES_POPULAR = 1
CANDIDATES_FILE = 2
MEASURES_MOST = 40
MORE_SEEDS_SECONDS = 600
TEXT_PLAIN = 0
TEXT_TERMINAL = 1
TEXT_MARKDOWN = 2
TEXT_CSV = 3
TEXT_JSON = 4
TEXT_JSON_MODELS = 5
TEXT_HTML = 6
MAP_ATTENTION = 0
MAP_DROP = 1
MAP_LIFT = 2
MAP_EMBEDDING = 3
MAPS = 4
RELATION_CONFIRMED = 0
RELATION_FEW = 1
RELATION_UNCERTAIN = 2
RELATION_CONTRADICTED = 3
RELATION_CATEGORY = 4
SELECTION = 0
RECHOICE = 1
ROLLOUT = 0
EXPECTED = 1
TOP10 = 2
COUNTED = 3
MISSING_REFILL = 0
MISSING_LEAVE = 1
WHATIF_LINE = 0
WHATIF_LEAVES = 1
WHATIF_TOTAL = 2
STEP_PARTS = 6


class parsrec_error(Structure):
    pass


parsrec_error._fields_ = [
    ("status", c_int),
    ("message", c_char * 512),
]


class parsrec_progress(Structure):
    pass


parsrec_progress._fields_ = [
    ("stage", c_char_p),
    ("unit", c_char_p),
    ("note", c_char_p),
    ("done", c_uint64),
    ("total", c_uint64),
]


class parsrec_epoch(Structure):
    pass


parsrec_epoch._fields_ = [
    ("number", c_uint32),
    ("loss", c_double),
    ("hit_rate_10", c_double),
    ("ndcg_10", c_double),
    ("session_precision_10", c_double),
    ("seconds", c_double),
    ("items_per_s", c_double),
    ("earlier", c_bool),
    ("name", c_char_p),
]


class parsrec_hooks(Structure):
    pass


parsrec_hooks._fields_ = [
    ("context", c_void_p),
    ("on_log", CFUNCTYPE(None, c_void_p, c_int, c_char_p)),
    ("on_progress", CFUNCTYPE(c_int, c_void_p, POINTER(parsrec_progress))),
    ("on_epoch", CFUNCTYPE(None, c_void_p, POINTER(parsrec_epoch))),
]


class parsrec_split_options(Structure):
    pass


parsrec_split_options._fields_ = [
    ("at", c_bool),
    ("time", c_int64),
    ("days", c_uint64),
    ("users_path", c_char_p),
    ("by", c_int),
]


class parsrec_data_stats(Structure):
    pass


parsrec_data_stats._fields_ = [
    ("users", c_uint64),
    ("sessions", c_uint64),
    ("items", c_uint64),
    ("actions", c_uint64),
    ("actions_per_user", c_double),
    ("sessions_per_user", c_double),
    ("density", c_double),
    ("basket_mean", c_double),
    ("basket_median", c_uint64),
    ("basket_max", c_uint64),
    ("single_item_share", c_double),
    ("repeat_share", c_double),
    ("sessions_per_user_median", c_uint64),
    ("sessions_per_user_max", c_uint64),
    ("evaluated_users", c_uint64),
    ("categories", c_uint64),
    ("category_levels", c_uint64),
    ("items_with_name", c_uint64),
    ("user_features", c_uint64),
    ("session_features", c_uint64),
    ("item_features", c_uint64),
    ("time_kind", c_int),
    ("first_time", c_int64),
    ("last_time", c_int64),
    ("synthetic", c_bool),
    ("one_item_baskets", c_bool),
    ("ordered", c_bool),
    ("checksum", c_char * 17),
]


class parsrec_month(Structure):
    pass


parsrec_month._fields_ = [
    ("year", c_int32),
    ("month", c_uint32),
    ("sessions", c_uint64),
]


class parsrec_calendar(Structure):
    pass


parsrec_calendar._fields_ = [
    ("weekday", c_uint64 * 7),
    ("months", c_size_t),
    ("month", POINTER(parsrec_month)),
]


class parsrec_listed(Structure):
    pass


parsrec_listed._fields_ = [
    ("number", c_int32),
    ("sessions", c_uint64),
    ("actions", c_uint64),
    ("users", c_uint64),
]


class parsrec_name(Structure):
    pass


parsrec_name._fields_ = [
    ("bytes", c_void_p),
    ("size", c_size_t),
]


class parsrec_order_report(Structure):
    pass


parsrec_order_report._fields_ = [
    ("order", c_int),
    ("sorted_share", c_double),
    ("pairs", c_uint64),
    ("fixed_share", c_double),
    ("neighbour_ratio", c_double),
    ("learnt", c_bool),
    ("enough_pairs", c_bool),
    ("repeated_pairs", c_uint64),
    ("kept_share", c_double),
]


class parsrec_file_report(Structure):
    pass


parsrec_file_report._fields_ = [
    ("format", c_char * 32),
    ("version", c_uint32),
    ("bytes", c_uint64),
    ("tensors", c_uint64),
    ("has_checksum", c_bool),
]


class parsrec_import_options(Structure):
    pass


parsrec_import_options._fields_ = [
    ("user_column", c_char_p),
    ("session_column", c_char_p),
    ("time_column", c_char_p),
    ("item_column", c_char_p),
    ("items_path", c_char_p),
    ("users_path", c_char_p),
    ("sessions_path", c_char_p),
    ("number_columns", c_char_p),
    ("category_columns", c_char_p),
    ("table", c_char_p),
    ("query", c_char_p),
    ("events", c_char_p),
    ("format", c_int),
    ("latin1", c_bool),
    ("sort", c_bool),
    ("session_rule", c_int),
    ("session_gap", c_int64),
    ("min_actions", c_uint64),
    ("max_bad", c_uint64),
    ("time_format", c_char_p),
    ("ordered", c_bool),
    ("max_memory", c_uint64),
    ("name", c_char_p),
    ("shards", c_uint32),
    ("step", c_int),
    ("shard", c_uint32),
    ("quantity_column", c_char_p),
]


class parsrec_import_column(Structure):
    pass


parsrec_import_column._fields_ = [
    ("table", c_int),
    ("role", c_int),
    ("decimal_comma", c_bool),
    ("level", c_int),
    ("name", c_char * 64),
]


class parsrec_import_report(Structure):
    pass


parsrec_import_report._fields_ = [
    ("rows_read", c_uint64),
    ("bad_rows", c_uint64),
    ("bad_table_rows", c_uint64),
    ("repeats_dropped", c_uint64),
    ("filtered_actions", c_uint64),
    ("filtered_users", c_uint64),
    ("filtered_items", c_uint64),
    ("filter_rounds", c_uint64),
    ("unknown_items", c_uint64),
    ("unknown_users", c_uint64),
    ("unknown_sessions", c_uint64),
    ("items_without_row", c_uint64),
    ("users_without_row", c_uint64),
    ("users", c_uint64),
    ("sessions", c_uint64),
    ("items", c_uint64),
    ("actions", c_uint64),
    ("first_bad", c_char * 512),
    ("trimmed_keys", c_uint64),
    ("one_item_sessions", c_uint64),
    ("other_shards", c_uint64),
    ("missing_shards", c_uint64),
    ("returns", c_uint64),
    ("other_names", c_uint64),
    ("column_count", c_uint64),
    ("columns", parsrec_import_column * 96),
]


class ArrowSchema(Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", CFUNCTYPE(None, POINTER(ArrowSchema))),
    ("private_data", c_void_p),
]


class ArrowArray(Structure):
    pass


ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))),
    ("private_data", c_void_p),
]


class ArrowArrayStream(Structure):
    pass


ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ("private_data", c_void_p),
]


class parsrec_import_streams(Structure):
    pass


parsrec_import_streams._fields_ = [
    ("actions", POINTER(ArrowArrayStream)),
    ("items", POINTER(ArrowArrayStream)),
    ("users", POINTER(ArrowArrayStream)),
    ("sessions", POINTER(ArrowArrayStream)),
    ("name", c_char_p),
]


class parsrec_synth_options(Structure):
    pass


parsrec_synth_options._fields_ = [
    ("users", c_uint64),
    ("sessions", c_uint64),
    ("categories", c_uint64),
    ("products", c_uint64),
    ("size_rule", c_int),
    ("groups_path", c_char_p),
    ("outside", c_bool),
    ("features", c_int),
    ("csv_path", c_char_p),
    ("seed", c_uint64),
    ("threads", c_uint),
]


class parsrec_synth_report(Structure):
    pass


parsrec_synth_report._fields_ = [
    ("users", c_uint64),
    ("sessions", c_uint64),
    ("items", c_uint64),
    ("actions", c_uint64),
    ("groups", c_uint64),
]


class parsrec_baseline(Structure):
    pass


parsrec_baseline._fields_ = [
    ("model", c_char_p),
    ("value", c_double),
    ("low", c_double),
    ("high", c_double),
]


class parsrec_baseline_row(Structure):
    pass


parsrec_baseline_row._fields_ = [
    ("protocol", c_int),
    ("negatives", c_uint64),
    ("users", c_uint64),
    ("baskets", c_uint64),
    ("value", c_double),
    ("baselines", parsrec_baseline * 5),
    ("count", c_size_t),
    ("best", c_size_t),
    ("verdict", c_int),
]


class parsrec_baseline_report(Structure):
    pass


parsrec_baseline_report._fields_ = [
    ("model", c_char * 32),
    ("split", c_int),
    ("users", c_uint64),
    ("users_of", c_uint64),
    ("rows", parsrec_baseline_row * 5),
    ("row_count", c_size_t),
    ("verdict", c_int),
]


class parsrec_train_options(Structure):
    pass


parsrec_train_options._fields_ = [
    ("model", c_char_p),
    ("preset", c_char_p),
    ("config_path", c_char_p),
    ("set", POINTER(c_char_p)),
    ("set_count", c_size_t),
    ("epochs", c_uint64),
    ("patience", c_uint64),
    ("resume", c_char_p),
    ("checkpoint_minutes", c_double),
    ("keep_checkpoint", c_bool),
    ("skip_baselines", c_bool),
    ("seed", c_uint64),
    ("threads", c_uint),
    ("ranks", c_void_p),
    ("max_memory", c_uint64),
]


class parsrec_train_report(Structure):
    pass


parsrec_train_report._fields_ = [
    ("epochs", c_uint32),
    ("best_epoch", c_uint32),
    ("stopped_early", c_bool),
    ("best", parsrec_epoch),
    ("best_by", c_char_p),
    ("checkpoint", c_char * 4096),
    ("baselines", parsrec_baseline_report),
    ("memory", c_double),
    ("memory_least", c_double),
]


class parsrec_shop_size(Structure):
    pass


parsrec_shop_size._fields_ = [
    ("users", c_uint64),
    ("items", c_uint64),
    ("actions", c_uint64),
]


class parsrec_memory(Structure):
    pass


parsrec_memory._fields_ = [
    ("train", c_double),
    ("train_least", c_double),
    ("tables", c_double),
]


class parsrec_pasts_report(Structure):
    pass


parsrec_pasts_report._fields_ = [
    ("users", c_uint64),
    ("new_users", c_uint64),
    ("unknown_items", c_uint64),
    ("unknown_actions", c_uint64),
]


class parsrec_model_facts(Structure):
    pass


parsrec_model_facts._fields_ = [
    ("kind", c_char * 32),
    ("parameters", c_uint64),
    ("bytes", c_uint64),
    ("users", c_uint64),
    ("items", c_uint64),
    ("categories", c_uint64),
]


class parsrec_setting(Structure):
    pass


parsrec_setting._fields_ = [
    ("key", c_char_p),
    ("help", c_char_p),
    ("value", c_char * 64),
    ("initial", c_char * 64),
]


class parsrec_numbers(Structure):
    pass


parsrec_numbers._fields_ = [
    ("list", POINTER(c_int32)),
    ("count", c_size_t),
]


class parsrec_column(Structure):
    pass


parsrec_column._fields_ = [
    ("of", c_char_p),
    ("name", c_char_p),
    ("number", c_bool),
]


class parsrec_feature(Structure):
    pass


parsrec_feature._fields_ = [
    ("name", c_char_p),
    ("word", c_char_p),
    ("number", c_double),
]


class parsrec_request(Structure):
    pass


parsrec_request._fields_ = [
    ("user", c_int32),
    ("history", POINTER(parsrec_numbers)),
    ("basket", parsrec_numbers),
    ("k", c_size_t),
    ("exclude", parsrec_numbers),
    ("only", parsrec_numbers),
    ("exclude_categories", parsrec_numbers),
    ("categories", parsrec_numbers),
    ("max_per_category", c_size_t),
    ("features", POINTER(parsrec_feature)),
    ("feature_count", c_size_t),
    ("live", c_void_p),
    ("session", c_char_p),
    ("time", POINTER(c_int64)),
]


class parsrec_hit(Structure):
    pass


parsrec_hit._fields_ = [
    ("item", c_int32),
    ("score", c_float),
]


class parsrec_answer(Structure):
    pass


parsrec_answer._fields_ = [
    ("count", c_size_t),
    ("source", c_int),
    ("when", c_int),
    ("time", c_int64),
]


class parsrec_many(Structure):
    pass


parsrec_many._fields_ = [
    ("request", POINTER(parsrec_request)),
    ("users", POINTER(c_int32)),
    ("basket_items", POINTER(c_int32)),
    ("basket_offsets", POINTER(c_int64)),
    ("count", c_size_t),
    ("threads", c_uint),
    ("ranks", c_void_p),
]


class parsrec_effect(Structure):
    pass


parsrec_effect._fields_ = [
    ("effect", c_double),
    ("share", c_double),
    ("rank", c_size_t),
]


class parsrec_reason(Structure):
    pass


parsrec_reason._fields_ = [
    ("item", c_int32),
    ("attention", c_double),
    ("drop", parsrec_effect),
    ("part", c_double),
]


class parsrec_parts(Structure):
    pass


parsrec_parts._fields_ = [
    ("network", c_double),
    ("history", c_double),
    ("memory", c_double),
    ("item", c_double),
]


class parsrec_why(Structure):
    pass


parsrec_why._fields_ = [
    ("item", c_int32),
    ("log_probability", c_double),
    ("rank", c_size_t),
    ("history", parsrec_effect),
    ("user", parsrec_effect),
    ("earlier_baskets", c_uint64),
    ("has_parts", c_bool),
    ("parts", parsrec_parts),
    ("reasons", parsrec_reason * 32),
    ("reason_count", c_size_t),
    ("last_days", c_double),
    ("usual_days", c_double),
]


class parsrec_json_options(Structure):
    pass


parsrec_json_options._fields_ = [
    ("k", c_size_t),
    ("live", c_void_p),
    ("batch_most", c_size_t),
    ("error_code", CFUNCTYPE(c_char_p, c_int)),
    ("check_seen", CFUNCTYPE(c_int, c_void_p, c_uint64, POINTER(parsrec_error))),
    ("context", c_void_p),
    ("now", POINTER(c_int64)),
    ("batch_items_most", c_size_t),
    ("batch_bytes_most", c_size_t),
]


class parsrec_answer_parts(Structure):
    pass


parsrec_answer_parts._fields_ = [
    ("user", c_char_p),
    ("request", POINTER(parsrec_request)),
    ("answer", parsrec_answer),
    ("hits", POINTER(parsrec_hit)),
    ("whys", POINTER(parsrec_why)),
    ("unknown", POINTER(c_char_p)),
    ("unknown_count", c_size_t),
]


class parsrec_live_note(Structure):
    pass


parsrec_live_note._fields_ = [
    ("store", c_char * 40),
    ("base", c_char * 40),
    ("through", c_uint64),
    ("entries", c_uint64),
    ("users", c_uint64),
    ("sessions", c_uint64),
    ("actions", c_uint64),
]


class parsrec_bought(Structure):
    pass


parsrec_bought._fields_ = [
    ("item", c_int32),
    ("count", c_size_t),
    ("last", c_size_t),
]


class parsrec_share(Structure):
    pass


parsrec_share._fields_ = [
    ("sum", c_double),
    ("weight", c_double),
]


class parsrec_eval_options(Structure):
    pass


parsrec_eval_options._fields_ = [
    ("split", c_int),
    ("protocol", c_int),
    ("negatives", c_uint64),
    ("candidates", c_int),
    ("candidates_path", c_char_p),
    ("exclude_seen", c_bool),
    ("users_path", c_char_p),
    ("count_users_path", c_char_p),
    ("last", c_uint64),
    ("k", c_uint64 * 8),
    ("k_count", c_size_t),
    ("place_k", c_uint64),
    ("seed", c_uint64),
    ("threads", c_uint),
    ("dump_path", c_char_p),
    ("on_user", CFUNCTYPE(None, c_void_p, c_uint64, POINTER(parsrec_share), c_size_t)),
    ("user_context", c_void_p),
    ("most_users", c_uint64),
    ("ranks", c_void_p),
]


class parsrec_measure(Structure):
    pass


parsrec_measure._fields_ = [
    ("name", c_char_p),
    ("k", c_uint64),
    ("value", c_double),
    ("low", c_double),
    ("high", c_double),
    ("random", c_double),
    ("repeat", c_double),
    ("fresh", c_double),
    ("repeat_random", c_double),
    ("fresh_random", c_double),
]


class parsrec_eval_report(Structure):
    pass


parsrec_eval_report._fields_ = [
    ("users", c_uint64),
    ("baskets", c_uint64),
    ("steps", c_uint64),
    ("negatives", c_uint64),
    ("repeat_steps", c_uint64),
    ("fresh_steps", c_uint64),
    ("measures", parsrec_measure * 40),
    ("measure_count", c_size_t),
    ("fingerprint", c_char * 17),
    ("seconds", c_double),
]


class parsrec_compare_options(Structure):
    pass


parsrec_compare_options._fields_ = [
    ("models", c_char_p),
    ("preset", c_char_p),
    ("measure", c_char_p),
    ("epochs", c_uint64),
    ("patience", c_uint64),
    ("seed", c_uint64),
    ("seeds", c_uint64),
    ("jobs", c_uint64),
    ("retrain", c_bool),
    ("command", c_char_p),
    ("eval", parsrec_eval_options),
    ("others", POINTER(parsrec_eval_options)),
    ("other_count", c_size_t),
    ("split", parsrec_split_options),
    ("only_listed", c_bool),
]


class parsrec_ablate_options(Structure):
    pass


parsrec_ablate_options._fields_ = [
    ("preset", c_char_p),
    ("rows", c_char_p),
    ("row", POINTER(c_char_p)),
    ("row_count", c_size_t),
    ("base", c_char_p),
    ("how", parsrec_compare_options),
]


class parsrec_tune_options(Structure):
    pass


parsrec_tune_options._fields_ = [
    ("model", c_char_p),
    ("preset", c_char_p),
    ("config_path", c_char_p),
    ("set", POINTER(c_char_p)),
    ("set_count", c_size_t),
    ("trials", c_uint64),
    ("epochs", c_uint64),
    ("cut", c_uint64),
    ("measure", c_char_p),
    ("seed", c_uint64),
    ("jobs", c_uint64),
    ("threads", c_uint),
    ("retrain", c_bool),
    ("command", c_char_p),
    ("split", parsrec_split_options),
    ("ranks", c_void_p),
]


class parsrec_explain_options(Structure):
    pass


parsrec_explain_options._fields_ = [
    ("items", c_bool),
    ("level", c_uint64),
    ("top", c_uint64),
    ("show", POINTER(c_char_p)),
    ("show_count", c_size_t),
    ("maps", c_bool * 4),
    ("groups", POINTER(c_char_p)),
    ("group_count", c_size_t),
    ("difference", c_char_p),
    ("basket_most", c_uint64),
    ("baskets_most", c_uint64),
    ("no_recovery", c_bool),
    ("cluster", c_bool),
    ("threads", c_uint),
    ("model_name", c_char_p),
    ("data_name", c_char_p),
    ("command", c_char_p),
    ("ranks", c_void_p),
]


class parsrec_relation(Structure):
    pass


parsrec_relation._fields_ = [
    ("row", c_size_t),
    ("column", c_size_t),
    ("value", c_double),
    ("category_part", c_double),
    ("category", c_char_p),
    ("strength", c_double),
    ("both", c_uint64),
    ("row_baskets", c_uint64),
    ("column_baskets", c_uint64),
    ("baskets", c_uint64),
    ("expected", c_double),
    ("lift", c_double),
    ("low", c_double),
    ("high", c_double),
    ("verdict", c_int),
]


class parsrec_group_contrast(Structure):
    pass


parsrec_group_contrast._fields_ = [
    ("first_group", c_size_t),
    ("second_group", c_size_t),
    ("first", parsrec_relation),
    ("second", parsrec_relation),
    ("value", c_double),
]


class parsrec_whatif_options(Structure):
    pass


parsrec_whatif_options._fields_ = [
    ("drop", POINTER(c_char_p)),
    ("only", POINTER(c_char_p)),
    ("add", POINTER(c_char_p)),
    ("watch", POINTER(c_char_p)),
    ("groups", POINTER(c_char_p)),
    ("drop_count", c_size_t),
    ("only_count", c_size_t),
    ("add_count", c_size_t),
    ("watch_count", c_size_t),
    ("group_count", c_size_t),
    ("each", c_bool),
    ("selection", c_bool),
    ("rechoice", c_bool),
    ("estimator", c_int),
    ("missing", c_int),
    ("raw", c_bool),
    ("level", c_uint64),
    ("draws", c_uint64),
    ("resamples", c_uint64),
    ("interval", c_double),
    ("truth_sets", c_uint64),
    ("seed", c_uint64),
    ("threads", c_uint),
    ("command", c_char_p),
    ("data_name", c_char_p),
]


class parsrec_whatif_row(Structure):
    pass


parsrec_whatif_row._fields_ = [
    ("scenario", c_char_p),
    ("group", c_char_p),
    ("category", c_char_p),
    ("question", c_int),
    ("estimator", c_int),
    ("watched", c_bool),
    ("dropped", c_bool),
    ("before", c_double),
    ("after", c_double),
    ("low", c_double),
    ("high", c_double),
    ("change", c_double),
    ("change_low", c_double),
    ("change_high", c_double),
    ("test_before", c_double),
    ("test_after", c_double),
    ("true_before", c_double),
    ("true_after", c_double),
    ("floor", c_double),
    ("kind", c_int),
    ("baskets", c_double),
    ("revenue_before", c_double),
    ("revenue_after", c_double),
    ("revenue_low", c_double),
    ("revenue_high", c_double),
    ("revenue_change", c_double),
    ("revenue_change_low", c_double),
    ("revenue_change_high", c_double),
]


class parsrec_machine(Structure):
    pass


parsrec_machine._fields_ = [
    ("features", c_char * 128),
    ("level", c_char_p),
    ("blas", c_char_p),
    ("blas_kernels", c_char_p),
]


class parsrec_train_speed(Structure):
    pass


parsrec_train_speed._fields_ = [
    ("items_per_s", c_double),
    ("gflops", c_double),
    ("sgemm_gflops", c_double),
    ("share", c_double),
    ("loss", c_double),
    ("threads", c_uint),
    ("part_share", c_double * 6),
    ("kernels", c_char * 32),
]


class parsrec_score_speed(Structure):
    pass


parsrec_score_speed._fields_ = [
    ("calls", c_uint64),
    ("median", c_double),
    ("mean", c_double),
    ("p99", c_double),
    ("why_median", c_double),
]


# name: (result, arguments)
FUNCTIONS = {
    "parsrec_status_name": (c_char_p, [c_int]),
    "parsrec_status_text": (c_char_p, [c_int]),
    "parsrec_version": (c_char_p, []),
    "parsrec_data_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(parsrec_error)]),
    "parsrec_data_free": (None, [c_void_p]),
    "parsrec_data_split": (c_int, [c_void_p, POINTER(parsrec_split_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_data_events_through": (c_int, [c_void_p, c_char_p, POINTER(c_uint64), POINTER(parsrec_error)]),
    "parsrec_data_statistics": (c_int, [c_void_p, POINTER(parsrec_data_stats), POINTER(parsrec_error)]),
    "parsrec_data_calendar": (c_int, [POINTER(parsrec_calendar), c_void_p, POINTER(parsrec_error)]),
    "parsrec_calendar_clear": (None, [POINTER(parsrec_calendar)]),
    "parsrec_data_list": (c_int, [POINTER(POINTER(parsrec_listed)), POINTER(c_size_t), c_void_p, c_int, c_char_p, POINTER(parsrec_error)]),
    "parsrec_list_free": (None, [POINTER(parsrec_listed)]),
    "parsrec_data_key": (parsrec_name, [c_void_p, c_int, c_int32]),
    "parsrec_data_item_name": (parsrec_name, [c_void_p, c_int32]),
    "parsrec_data_item_category": (c_int32, [c_void_p, c_int32]),
    "parsrec_data_category_path": (c_char_p, [c_void_p, c_int32, c_char_p, c_size_t]),
    "parsrec_basket_order_name": (c_char_p, [c_int]),
    "parsrec_basket_order_text": (c_char_p, [c_int]),
    "parsrec_data_order": (c_int, [c_void_p, POINTER(parsrec_order_report), POINTER(parsrec_error)]),
    "parsrec_data_group": (c_bool, [c_void_p, c_size_t, c_char_p, c_size_t]),
    "parsrec_file_format": (c_int, [c_char_p, c_char_p, POINTER(parsrec_error)]),
    "parsrec_file_check": (c_int, [c_char_p, POINTER(parsrec_file_report), POINTER(parsrec_error)]),
    "parsrec_import_default": (parsrec_import_options, []),
    "parsrec_import": (c_int, [c_char_p, POINTER(c_char_p), c_size_t, POINTER(parsrec_import_options), POINTER(parsrec_import_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_import_rows": (c_int, [c_char_p, POINTER(parsrec_import_streams), POINTER(parsrec_import_options), POINTER(parsrec_import_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_export": (c_int, [c_char_p, c_char_p, POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_synth_default": (parsrec_synth_options, []),
    "parsrec_synth": (c_int, [c_char_p, POINTER(parsrec_synth_options), POINTER(parsrec_synth_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_synth_options_of": (c_int, [c_void_p, POINTER(parsrec_synth_options), POINTER(parsrec_error)]),
    "parsrec_protocol_name": (c_char_p, [c_int]),
    "parsrec_verdict_name": (c_char_p, [c_int]),
    "parsrec_baselines_text": (c_char_p, [POINTER(parsrec_baseline_report), c_char_p, c_size_t]),
    "parsrec_baselines_json": (c_int, [POINTER(c_void_p), POINTER(parsrec_baseline_report), POINTER(parsrec_error)]),
    "parsrec_ranks_launched": (c_uint, []),
    "parsrec_ranks_join": (c_int, [POINTER(c_void_p), c_double, POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_ranks_rank": (c_uint, [c_void_p]),
    "parsrec_ranks_size": (c_uint, [c_void_p]),
    "parsrec_ranks_agree": (c_int, [c_void_p, c_int, POINTER(parsrec_error)]),
    "parsrec_ranks_broadcast": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(parsrec_error)]),
    "parsrec_ranks_close": (None, [c_void_p]),
    "parsrec_ranks_speaks": (c_bool, [c_void_p]),
    "parsrec_ranks_leave": (None, [c_void_p]),
    "parsrec_train_default": (parsrec_train_options, []),
    "parsrec_train": (c_int, [c_void_p, c_char_p, POINTER(parsrec_train_options), POINTER(parsrec_train_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_memory_needed": (c_int, [POINTER(parsrec_memory), POINTER(parsrec_shop_size), c_size_t, c_void_p, POINTER(parsrec_train_options), POINTER(parsrec_error)]),
    "parsrec_config_text": (c_int, [POINTER(c_void_p), POINTER(parsrec_train_options), POINTER(parsrec_error)]),
    "parsrec_curves_text": (c_int, [POINTER(c_void_p), POINTER(parsrec_epoch), c_size_t, c_size_t, POINTER(parsrec_error)]),
    "parsrec_text_free": (None, [c_void_p]),
    "parsrec_model_load": (c_int, [POINTER(c_void_p), c_char_p, POINTER(parsrec_error)]),
    "parsrec_model_free": (None, [c_void_p]),
    "parsrec_model_counts": (c_bool, [c_char_p]),
    "parsrec_model_count": (c_int, [POINTER(c_void_p), c_void_p, POINTER(parsrec_train_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_model_data": (c_void_p, [c_void_p]),
    "parsrec_model_take_pasts": (c_int, [c_void_p, c_void_p, POINTER(parsrec_pasts_report), POINTER(parsrec_error)]),
    "parsrec_model_describe": (None, [c_void_p, POINTER(parsrec_model_facts)]),
    "parsrec_model_setting": (c_bool, [c_void_p, c_size_t, POINTER(parsrec_setting)]),
    "parsrec_model_weight": (c_bool, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_double)]),
    "parsrec_model_size": (c_size_t, [c_void_p, c_int]),
    "parsrec_model_find": (c_int, [c_void_p, c_int, c_char_p, POINTER(c_int32), POINTER(parsrec_error)]),
    "parsrec_model_named": (c_size_t, [c_void_p, c_char_p, POINTER(c_int32), c_size_t]),
    "parsrec_model_key": (parsrec_name, [c_void_p, c_int, c_int32]),
    "parsrec_model_item_name": (parsrec_name, [c_void_p, c_int32]),
    "parsrec_model_item_category": (c_int32, [c_void_p, c_int32]),
    "parsrec_model_category_path": (c_char_p, [c_void_p, c_int32, c_char_p, c_size_t]),
    "parsrec_scratch_new": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, POINTER(parsrec_error)]),
    "parsrec_scratch_free": (None, [c_void_p]),
    "parsrec_scratch_limit": (None, [c_void_p, c_size_t]),
    "parsrec_model_column": (c_bool, [c_void_p, c_size_t, POINTER(parsrec_column)]),
    "parsrec_request_default": (parsrec_request, []),
    "parsrec_source_name": (c_char_p, [c_int]),
    "parsrec_when_name": (c_char_p, [c_int]),
    "parsrec_recommend": (c_int, [c_void_p, c_void_p, POINTER(parsrec_request), POINTER(parsrec_hit), c_size_t, POINTER(parsrec_answer), POINTER(parsrec_error)]),
    "parsrec_recommend_many": (c_int, [c_void_p, POINTER(parsrec_many), POINTER(parsrec_hit), POINTER(parsrec_answer), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_recommend_why": (c_int, [c_void_p, c_void_p, POINTER(parsrec_request), POINTER(parsrec_hit), c_size_t, POINTER(parsrec_why), POINTER(parsrec_error)]),
    "parsrec_why_sentence": (c_char_p, [c_void_p, POINTER(parsrec_why), c_char_p, c_size_t]),
    "parsrec_recommend_json": (c_int, [c_void_p, c_void_p, POINTER(parsrec_json_options), c_char_p, c_size_t, POINTER(c_char_p), POINTER(parsrec_error)]),
    "parsrec_answer_json": (c_int, [c_void_p, c_void_p, POINTER(parsrec_answer_parts), POINTER(c_char_p), POINTER(parsrec_error)]),
    "parsrec_time_read": (c_int, [c_char_p, POINTER(c_int64), POINTER(parsrec_error)]),
    "parsrec_live_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(parsrec_error)]),
    "parsrec_live_free": (None, [c_void_p]),
    "parsrec_live_add": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_int32), c_size_t, POINTER(parsrec_error)]),
    "parsrec_live_add_at": (c_int, [c_void_p, c_char_p, c_char_p, c_int64, POINTER(c_int32), c_size_t, POINTER(parsrec_error)]),
    "parsrec_live_cart": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_int32), c_size_t, POINTER(parsrec_error)]),
    "parsrec_live_forget": (c_int, [c_void_p, c_char_p, POINTER(parsrec_error)]),
    "parsrec_live_forget_hash": (c_int, [c_void_p, POINTER(c_uint8), POINTER(c_uint8), POINTER(parsrec_error)]),
    "parsrec_live_forgotten": (c_bool, [c_void_p, c_char_p]),
    "parsrec_live_save": (c_int, [c_void_p, POINTER(parsrec_live_note), c_char_p, POINTER(parsrec_error)]),
    "parsrec_live_load": (c_int, [c_void_p, POINTER(parsrec_live_note), c_char_p, POINTER(parsrec_error)]),
    "parsrec_live_find": (c_int, [c_void_p, c_char_p, POINTER(c_int32), POINTER(parsrec_error)]),
    "parsrec_live_bought": (c_int, [c_void_p, c_char_p, POINTER(parsrec_bought), c_size_t, POINTER(c_size_t), POINTER(parsrec_error)]),
    "parsrec_live_user_json": (c_int, [POINTER(c_void_p), c_void_p, c_char_p, c_size_t, POINTER(parsrec_error)]),
    "parsrec_live_search_json": (c_int, [POINTER(c_void_p), c_void_p, c_int, c_char_p, c_size_t, POINTER(parsrec_error)]),
    "parsrec_model_forget": (c_int, [c_char_p, c_char_p, POINTER(c_char_p), c_size_t, POINTER(parsrec_error)]),
    "parsrec_eval_default": (parsrec_eval_options, []),
    "parsrec_eval_measures": (c_int, [POINTER(parsrec_eval_options), POINTER(parsrec_measure), POINTER(c_size_t), POINTER(parsrec_error)]),
    "parsrec_eval": (c_int, [c_void_p, c_void_p, POINTER(parsrec_eval_options), POINTER(parsrec_eval_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_eval_several": (c_int, [c_void_p, c_void_p, POINTER(parsrec_eval_options), c_size_t, POINTER(parsrec_eval_report), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_baselines": (c_int, [POINTER(parsrec_baseline_report), c_void_p, c_int, c_uint, POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_eval_json": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(parsrec_eval_options), POINTER(parsrec_eval_report), POINTER(parsrec_error)]),
    "parsrec_eval_several_json": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(parsrec_eval_options), POINTER(parsrec_eval_report), c_size_t, POINTER(parsrec_error)]),
    "parsrec_model_split": (c_bool, [c_void_p, POINTER(parsrec_split_options)]),
    "parsrec_compare_default": (parsrec_compare_options, []),
    "parsrec_compare": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(parsrec_compare_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_comparison_free": (None, [c_void_p]),
    "parsrec_comparison_text": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(parsrec_error)]),
    "parsrec_ablate_default": (parsrec_ablate_options, []),
    "parsrec_ablate": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(parsrec_ablate_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_tune_default": (parsrec_tune_options, []),
    "parsrec_tune": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(parsrec_tune_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_tuning_free": (None, [c_void_p]),
    "parsrec_tuning_text": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(parsrec_error)]),
    "parsrec_explain_default": (parsrec_explain_options, []),
    "parsrec_explain": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(parsrec_explain_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_explanation_free": (None, [c_void_p]),
    "parsrec_explanation_size": (c_size_t, [c_void_p]),
    "parsrec_explanation_name": (c_char_p, [c_void_p, c_size_t]),
    "parsrec_explanation_group": (c_char_p, [c_void_p, c_size_t]),
    "parsrec_explanation_map": (POINTER(c_double), [c_void_p, c_size_t, c_int]),
    "parsrec_relation_verdict_name": (c_char_p, [c_int]),
    "parsrec_explanation_relations": (c_size_t, [c_void_p, c_size_t, c_int, c_bool, POINTER(parsrec_relation), c_size_t]),
    "parsrec_relation_sentence": (c_char_p, [c_void_p, c_int, POINTER(parsrec_relation), c_char_p, c_size_t]),
    "parsrec_relation_evidence": (c_char_p, [c_void_p, POINTER(parsrec_relation), c_char_p, c_size_t]),
    "parsrec_explanation_contrasts": (c_size_t, [c_void_p, c_size_t, c_size_t, c_int, POINTER(parsrec_group_contrast), c_size_t]),
    "parsrec_contrast_sentence": (c_char_p, [c_void_p, c_int, POINTER(parsrec_group_contrast), c_char_p, c_size_t]),
    "parsrec_contrast_evidence": (c_char_p, [c_void_p, POINTER(parsrec_group_contrast), c_char_p, c_size_t]),
    "parsrec_explanation_text": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(parsrec_error)]),
    "parsrec_explanation_save": (c_int, [c_void_p, c_char_p, POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_question_name": (c_char_p, [c_int]),
    "parsrec_estimator_name": (c_char_p, [c_int]),
    "parsrec_whatif_default": (parsrec_whatif_options, []),
    "parsrec_whatif_kind_name": (c_char_p, [c_int]),
    "parsrec_whatif": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_size_t, c_void_p, POINTER(parsrec_whatif_options), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_whatif_free": (None, [c_void_p]),
    "parsrec_whatif_row_at": (c_bool, [c_void_p, c_size_t, POINTER(parsrec_whatif_row)]),
    "parsrec_whatif_text": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(parsrec_error)]),
    "parsrec_whatif_save": (c_int, [c_void_p, c_char_p, POINTER(parsrec_error)]),
    "parsrec_machine_of": (parsrec_machine, []),
    "parsrec_step_part": (c_char_p, [c_size_t]),
    "parsrec_bench_train": (c_int, [c_void_p, c_char_p, c_double, c_uint, POINTER(c_char_p), c_size_t, POINTER(parsrec_train_speed), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_bench_training": (c_int, [c_void_p, POINTER(parsrec_train_options), c_double, POINTER(parsrec_train_speed), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
    "parsrec_bench_score": (c_int, [c_void_p, c_size_t, c_size_t, c_double, POINTER(parsrec_score_speed), POINTER(parsrec_hooks), POINTER(parsrec_error)]),
}
