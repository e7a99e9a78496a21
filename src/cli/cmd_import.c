/* parsrec import: from tables of who bought which item and when to a data set. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "parsrec.h"
#include "serve/serve.h"

typedef struct import_args {
    const char *output;
    parsrec_import_options import;
    int format, encoding, session_by;
    uint64_t shards; /* NO_SHARDS: a file; 0: the default number */
    bool dictionary;
    const char *shard;      /* "K/S" */
    const char *store_path; /* in place of import.events */
    bool json;
} import_args;

#define NO_SHARDS UINT64_MAX

static const char *const formats[] = {"auto", "csv", "tsv", "reference", NULL};
static const parsrec_input_format format_values[] = {PARSREC_INPUT_AUTO, PARSREC_INPUT_CSV,
                                                     PARSREC_INPUT_TSV, PARSREC_INPUT_REFERENCE};
static const char *const encodings[] = {"utf-8", "latin1", NULL};
static const char *const periods[] = {"column", "day", "week", "month", NULL};
static const parsrec_session_rule period_values[] = {PARSREC_SESSION_COLUMN, PARSREC_SESSION_DAY,
                                                     PARSREC_SESSION_WEEK, PARSREC_SESSION_MONTH};

static const cli_option options[] = {
    CLI_TEXT('o', "output", "DATA", import_args, output, "write the data set to DATA"),
    CLI_TEXT(0, "user", "COL", import_args, import.user_column, "column of the user"),
    CLI_TEXT(0, "session", "COL", import_args, import.session_column,
             "column of the session; '' for none"),
    CLI_TEXT(0, "time", "COL", import_args, import.time_column, "column of the time; '' for none"),
    CLI_TEXT(0, "item", "COL", import_args, import.item_column, "column of the item"),
    CLI_TEXT(0, "quantity", "COL", import_args, import.quantity_column,
             "column of the quantity; rows with 0 or less are returns; '' for none"),
    CLI_TEXT(0, "time-format", "F", import_args, import.time_format,
             "form of the times: '%d.%m.%Y %H:%M', excel, s, ms, us, ns"),
    CLI_TEXT(0, "items", "FILE", import_args, import.items_path,
             "item, name, category and feature columns"),
    CLI_TEXT(0, "users", "FILE", import_args, import.users_path, "user and feature columns"),
    CLI_TEXT(0, "sessions", "FILE", import_args, import.sessions_path,
             "[user,]session and feature columns"),
    CLI_TEXT(0, "number", "COL,...", import_args, import.number_columns,
             "feature columns that must be numbers"),
    CLI_TEXT(0, "categorical", "COL,...", import_args, import.category_columns,
             "feature columns that are categories, even if they are numbers"),
    CLI_TEXT(0, "table", "NAME", import_args, import.table, "databases: read this table"),
    CLI_ADDRESS("query", "SQL", import_args, import.query,
                "databases and Parquet: read the rows of this query"),
    CLI_ADDRESS("events", "STORE", import_args, import.events,
                "also import the purchases in this store of a server"),
    CLI_STORE_FILE(import_args, store_path),
    CLI_TEXT(0, "name", "NAME", import_args, import.name,
             "name of the input in DATA, instead of file or table"),
    CLI_CHOICE(0, "format", import_args, format, formats, "how text inputs are read"),
    CLI_CHOICE(0, "encoding", import_args, encoding, encodings, "encoding of text inputs"),
    CLI_DURATION(0, "session-gap", import_args, import.session_gap,
                 "a longer pause begins a new session: 30m, 2h, 1d"),
    CLI_CHOICE(0, "session-by", import_args, session_by, periods,
               "one session per user per day, week or month (UTC)"),
    CLI_FLAG(0, "sort", import_args, import.sort,
             "order sessions by time instead of refusing times out of order"),
    CLI_FLAG(0, "ordered", import_args, import.ordered,
             "items of a session are in the order in which they were taken"),
    CLI_COUNT(0, "min-actions", import_args, import.min_actions, 0, 1e15,
              "repeatedly drop users and items with fewer than N actions"),
    CLI_COUNT(0, "max-bad", import_args, import.max_bad, 0, 1e15,
              "skip and count up to N bad rows"),
    CLI_BYTES(0, "max-memory", import_args, import.max_memory,
              "sort in temporary files what does not fit (default: what is free)"),
    CLI_OPTIONAL(0, "shards", import_args, shards, 1, PARSREC_SHARDS_MOST,
                 "write a folder of N shards by user (default 256); rows in any order"),
    CLI_FLAG(0, "dictionary", import_args, dictionary,
             "only the dictionary of such a folder: items and times"),
    CLI_TEXT(0, "shard", "K/N", import_args, shard,
             "only shard K, from 0, of a folder with a dictionary"),
    CLI_FLAG(0, "json", import_args, json, "print the report as JSON"),
    CLI_END,
};

const cli_command cli_import = {
    .name = "import",
    .summary = "turn tables of purchases into a data set",
    .usage = "parsrec import -o DATA INPUT... [options]",
    .details =
        "INPUT is a CSV or TSV file (also .gz, .zst, or - for standard input), the\n"
        "reference's user_id,time,session_length,session_items text, sqlite:FILE,\n"
        "postgresql://..., FILE.parquet, 'parquet:FOLDER/*.parquet', or duckdb:[FILE] with\n"
        "--query over Parquet, CSV and JSON files (these three need DuckDB's library).\n"
        "Columns that no option names are recognised by their names: customer_id, Order ID,\n"
        "InvoiceDate, sku and the like; the report says which column has which role.\n"
        "Names and categories of items are taken from --items FILE, or from the same rows if they\n"
        "have such columns.\n"
        "docs/import.md has the rules. With --shards DATA is a folder, which every command takes "
        "in\n"
        "place of a file; docs/shards.md describes how several processes write one.\n",
    .examples =
        "  parsrec import -o shop.data orders.csv --items products.csv\n"
        "  parsrec import -o visits.data orders.csv --user user --item item --session-by day\n"
        "  parsrec import -o shop.shards orders.csv --shards=16\n",
    .options = options,
    .least_words = 0, /* where --events is given */
    .most_words = SIZE_MAX,
    .addresses = true,
};

/* What there is one of, and what there are several of; nothing is printed of 0. */
static void print_line(uint64_t count, const char *one, const char *several)
{
    pr_digits hold;
    if (count > 0)
        printf("  %15s  %s\n", pr_digits_of(&hold, count), count == 1 ? one : several);
}

/* ---- columns ---- */

static const char *const tables[] = {"actions", "items", "users", "sessions"};
static const char *const roles[] = {"unused", "user",     "session", "time",  "item",
                                    "name",   "category", "number",  "words", "quantity"};

static size_t listed_columns(const parsrec_import_report *r)
{
    return r->column_count < PARSREC_IMPORT_COLUMNS_MOST ? (size_t)r->column_count
                                                         : PARSREC_IMPORT_COLUMNS_MOST;
}

/* The columns of one role in one table, broad categories before narrow; false when there is none. */
static bool print_columns(const parsrec_import_report *r, parsrec_import_table table,
                          parsrec_column_role role, const char *label, const char *between)
{
    size_t printed = 0;
    for (int level = 0; level < 16; level++)
        for (size_t i = 0; i < listed_columns(r); i++) {
            const parsrec_import_column *c = &r->columns[i];
            if (c->table != table || c->role != role || c->level != level)
                continue;
            char name[sizeof c->name];
            memcpy(name, c->name, sizeof name);
            printf("%s%s%s", printed == 0 ? label : between,
                   name[0] != '\0' ? pr_text_clean(name) : "(no name)",
                   c->decimal_comma ? " (decimal comma)" : "");
            printed++;
        }
    return printed > 0;
}

static void print_table(const parsrec_import_report *r, parsrec_import_table table)
{
    static const struct {
        parsrec_column_role role;
        const char *label, *between;
    } keys[] = {{PARSREC_COLUMN_USER, "user = ", ", "},
                {PARSREC_COLUMN_SESSION, "session = ", ", "},
                {PARSREC_COLUMN_TIME, "time = ", ", "},
                {PARSREC_COLUMN_ITEM, "item = ", ", "},
                {PARSREC_COLUMN_NAME, "name = ", ", "},
                {PARSREC_COLUMN_CATEGORY, "category = ", " > "},
                {PARSREC_COLUMN_QUANTITY, "quantity = ", ", "}};
    static const struct {
        parsrec_column_role role;
        const char *label;
    } others[] = {{PARSREC_COLUMN_NUMBER, "numbers: "},
                  {PARSREC_COLUMN_WORDS, "words: "},
                  {PARSREC_COLUMN_UNUSED, "unused: "}};
    bool any = false;
    printf("  %-10s", tables[table]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char label[32];
        snprintf(label, sizeof label, "%s%s", any ? ", " : "", keys[i].label);
        any |= print_columns(r, table, keys[i].role, label, keys[i].between);
    }
    putchar('\n');
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char label[48];
        snprintf(label, sizeof label, "  %10s%s", "", others[i].label);
        if (print_columns(r, table, others[i].role, label, ", "))
            putchar('\n');
    }
}

static void print_all_columns(const parsrec_import_report *r)
{
    printf("columns\n");
    for (int t = PARSREC_TABLE_ACTIONS; t <= PARSREC_TABLE_SESSIONS; t++) {
        bool any = false;
        for (size_t i = 0; i < listed_columns(r); i++)
            any |= (int)r->columns[i].table == t;
        if (any)
            print_table(r, (parsrec_import_table)t);
    }
}

static json_t *columns_json(const parsrec_import_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < listed_columns(r); i++) {
        const parsrec_import_column *c = &r->columns[i];
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:b}", "table", tables[c->table],
                                              "column", pr_json_string(c->name), "role",
                                              roles[c->role], "decimal_comma", c->decimal_comma));
    }
    return list;
}

/* ---- the report ---- */

static void print_report(const char *output, const parsrec_import_report *r)
{
    char rounds[96];
    snprintf(rounds, sizeof rounds, "action%s dropped with them, in %llu round%s",
             r->filtered_actions == 1 ? "" : "s", (unsigned long long)r->filter_rounds,
             r->filter_rounds == 1 ? "" : "s");
    print_all_columns(r);
    printf("read\n");
    print_line(r->rows_read, "row", "rows");
    print_line(r->other_shards, "of them belongs to another shard",
               "of them belong to other shards");
    print_line(r->trimmed_keys, "key had spaces around it, which were removed",
               "keys had spaces around them, which were removed");
    print_line(r->other_names, "row names its item otherwise than its first row, which counts",
               "rows name their item otherwise than its first row, which counts");
    printf("dropped\n");
    print_line(r->bad_rows, "bad row", "bad rows");
    print_line(r->returns, "return: a row with a quantity of 0 or less",
               "returns: rows with a quantity of 0 or less");
    print_line(r->bad_table_rows, "bad row of the items, users or sessions file",
               "bad rows of the items, users or sessions file");
    print_line(r->repeats_dropped, "repeat of an item within its basket",
               "repeats of an item within its basket");
    print_line(r->filtered_users, "user with too few actions", "users with too few actions");
    print_line(r->filtered_items, "item with too few actions", "items with too few actions");
    print_line(r->filtered_actions, rounds, rounds);
    print_line(r->unknown_items, "row of the items file that names no item of the actions",
               "rows of the items file that name no item of the actions");
    print_line(r->unknown_users, "row of the users file that names no user of the actions",
               "rows of the users file that name no user of the actions");
    print_line(r->unknown_sessions, "row of the sessions file that names no session",
               "rows of the sessions file that name no session");
    if (r->bad_rows + r->returns + r->repeats_dropped + r->filtered_actions + r->unknown_items +
            r->unknown_users + r->unknown_sessions + r->bad_table_rows ==
        0)
        printf("  %15s\n", "nothing");
    printf("kept, in %s\n", output);
    print_line(r->users, "user", "users");
    print_line(r->sessions, "session", "sessions");
    print_line(r->items, "item", "items");
    print_line(r->actions, "action", "actions");
    print_line(r->one_item_sessions, "session of one item", "sessions of one item");
    print_line(r->missing_shards, "shard is still to be written", "shards are still to be written");
    print_line(r->items_without_row, "item that the items file does not list",
               "items that the items file does not list");
    print_line(r->users_without_row, "user that the users file does not list",
               "users that the users file does not list");
    if (r->first_bad[0] != '\0')
        printf("first bad row\n  %s\n", r->first_bad);
}

static int print_json(const parsrec_import_report *r)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"rows_read", r->rows_read},
        {"bad_rows", r->bad_rows},
        {"bad_table_rows", r->bad_table_rows},
        {"repeats_dropped", r->repeats_dropped},
        {"filtered_actions", r->filtered_actions},
        {"filtered_users", r->filtered_users},
        {"filtered_items", r->filtered_items},
        {"filter_rounds", r->filter_rounds},
        {"unknown_items", r->unknown_items},
        {"unknown_users", r->unknown_users},
        {"unknown_sessions", r->unknown_sessions},
        {"items_without_row", r->items_without_row},
        {"users_without_row", r->users_without_row},
        {"users", r->users},
        {"sessions", r->sessions},
        {"items", r->items},
        {"actions", r->actions},
        {"trimmed_keys", r->trimmed_keys},
        {"one_item_sessions", r->one_item_sessions},
        {"other_shards", r->other_shards},
        {"missing_shards", r->missing_shards},
        {"returns", r->returns},
        {"other_names", r->other_names},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(object, counts[i].key, json_integer((json_int_t)counts[i].value));
    json_object_set_new(object, "first_bad", json_string(r->first_bad));
    json_object_set_new(object, "columns", columns_json(r));
    char *text = pr_json_text(object);
    json_decref(object);
    if (text == NULL) {
        fprintf(stderr, "parsrec import: out of memory\n");
        return CLI_FAILED;
    }
    puts(text);
    pr_free(text);
    return CLI_OK;
}

/* ---- the command ---- */

/* --shards, --dictionary and --shard, of which the last two are steps of the first. */
static int settle_shards(import_args *a)
{
    parsrec_import_options *o = &a->import;
    if (a->shard != NULL && (a->dictionary || a->shards != NO_SHARDS))
        return cli_usage_error(&cli_import, "--shard K/N excludes --shards and --dictionary");
    if (a->shards == NO_SHARDS && !a->dictionary && a->shard == NULL)
        return CLI_CONTINUE;
    o->shards =
        a->shards == NO_SHARDS || a->shards == 0 ? PARSREC_SHARDS_DEFAULT : (uint32_t)a->shards;
    if (a->dictionary)
        o->step = PARSREC_IMPORT_DICTIONARY;
    if (a->shard == NULL)
        return CLI_CONTINUE;
    const char *slash = strchr(a->shard, '/');
    uint64_t number = 0, count = 0;
    if (slash == NULL || !pr_parse_u64((pr_slice){a->shard, (size_t)(slash - a->shard)}, &number) ||
        !pr_parse_u64(pr_slice_of(slash + 1), &count) || count > PARSREC_SHARDS_MOST ||
        number >= count)
        return cli_usage_error(
            &cli_import, "--shard %s: expected K/N, such as 17/256; the first is 0/256", a->shard);
    o->step = PARSREC_IMPORT_SHARD;
    o->shard = (uint32_t)number;
    o->shards = (uint32_t)count;
    return CLI_CONTINUE;
}

/* Checks and conversions that the option table cannot express. */
static int settle(import_args *a)
{
    if (a->output == NULL)
        return cli_usage_error(&cli_import, "no output; pass -o DATA");
    if (a->import.session_gap > 0 && a->session_by > 0)
        return cli_usage_error(&cli_import, "--session-gap and --session-by exclude each other");
    if (a->import.table != NULL && a->import.query != NULL)
        return cli_usage_error(&cli_import, "--table and --query exclude each other");
    a->import.format = format_values[a->format];
    a->import.latin1 = a->encoding == 1;
    a->import.session_rule =
        a->import.session_gap > 0 ? PARSREC_SESSION_GAP : period_values[a->session_by];
    return settle_shards(a);
}

int cmd_import(int argc, char **argv)
{
    import_args a = {.import = parsrec_import_default(), .shards = NO_SHARDS};
    cli_words words;
    int rc = cli_parse(&cli_import, &a, &words, argc, argv);
    if (rc == CLI_CONTINUE)
        rc = settle(&a);
    if (rc != CLI_CONTINUE)
        return rc;
    if (words.count == 0 && a.import.events == NULL && a.store_path == NULL && a.shard == NULL)
        return cli_usage_error(&cli_import, "name an INPUT to read, or a store with --events");
    if (a.import.events != NULL && a.store_path != NULL)
        return cli_usage_error(&cli_import, "--events and --store-file exclude each other");
    bool data_on_stdout = strcmp(a.output, "-") == 0;
    if (data_on_stdout && a.json)
        return cli_usage_error(&cli_import, "--json and data cannot share standard output");
    parsrec_error err = {0};
    parsrec_import_report report;
    char *store = NULL;
    parsrec_status status = PARSREC_OK;
    if (a.store_path != NULL) {
        status = serve_read_store_file(&store, a.store_path, &err);
        a.import.events = store;
    }
    if (status == PARSREC_OK)
        status = parsrec_import(a.output, words.word, words.count, &a.import, &report, cli_hooks(),
                                &err);
    pr_free(store);
    if (status != PARSREC_OK)
        return cli_report("import", &err);
    cli_finish_line();
    if (a.json) {
        rc = print_json(&report);
        if (rc != CLI_OK)
            return rc;
    } else if (!data_on_stdout) {
        print_report(a.output, &report);
    }
    return cli_close_output("import");
}
