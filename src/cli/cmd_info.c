/* parsrec info: what is in a data set, or in a model and the data set inside it. One table of facts
 * makes both the text and the JSON. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

/* ---- a model: kind, size and settings ---- */

static bool differs(const parsrec_setting *s)
{
    return strcmp(s->value, s->initial) != 0;
}

static void print_model(const parsrec_model *model)
{
    parsrec_model_facts f;
    pr_digits number;
    parsrec_model_describe(model, &f);
    printf("\nmodel\n");
    printf("  %-26s%20s\n", "kind", f.kind);
    printf("  %-26s%20s\n", "parameters", pr_digits_of(&number, f.parameters));
    printf("  %-26s%20s\n", "bytes of the file", pr_digits_of(&number, f.bytes));
    printf("\nsettings\n");
    parsrec_setting s;
    size_t changed = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        if (differs(&s)) {
            printf("  %-26s%20s   default %s\n", s.key, s.value, s.initial);
            changed++;
        }
    if (changed == 0)
        printf("  all as the defaults\n");
    parsrec_column c;
    for (size_t i = 0; parsrec_model_column(model, i, &c); i++) {
        if (i == 0)
            printf("\nfeatures it reads\n");
        printf("  %-7s ", c.of);
        cli_print_cell((parsrec_name){c.name, strlen(c.name)}, 16);
        printf("%20s\n", c.number ? "numbers" : "words");
    }
    cli_print_weights(model);
}

static json_t *settings_json(const parsrec_model *model)
{
    json_t *json = json_object();
    parsrec_setting s;
    int bad = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        bad |= json_object_set_new(json, s.key, json_string(s.value));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *changed_json(const parsrec_model *model)
{
    json_t *json = json_array();
    parsrec_setting s;
    int bad = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        if (differs(&s))
            bad |= json_array_append_new(json, json_string(s.key));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *columns_json(const parsrec_model *model)
{
    json_t *json = json_array();
    parsrec_column c;
    int bad = 0;
    for (size_t i = 0; parsrec_model_column(model, i, &c); i++)
        bad |= json_array_append_new(json, json_pack("{s:s, s:s, s:b}", "of", c.of, "name", c.name,
                                                     "number", (int)c.number));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

/* NULL when out of memory. */
static json_t *model_json(const parsrec_model *model)
{
    parsrec_model_facts f;
    parsrec_model_describe(model, &f);
    json_t *json = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "kind", f.kind, "parameters",
                             (json_int_t)f.parameters, "bytes", (json_int_t)f.bytes, "settings",
                             settings_json(model), "changed", changed_json(model), "features",
                             columns_json(model));
    const char *name;
    double value;
    json_t *weights = json_object();
    for (size_t i = 0; parsrec_model_weight(model, i, &name, &value); i++)
        json_object_set_new(weights, name, json_real(value));
    if (json != NULL && json_object_size(weights) > 0)
        json_object_set(json, "weights", weights);
    json_decref(weights);
    return json;
}

/* ---- the data set, and the command ---- */

typedef struct info_args {
    bool json;
} info_args;

static const cli_option options[] = {
    CLI_FLAG(0, "json", info_args, json, "print the facts as JSON"),
    CLI_END,
};

const cli_command cli_info = {
    .name = "info",
    .summary = "what is in a data set or model, with the paper's statistics table",
    .usage = "parsrec info FILE [options]",
    .details = "density: distinct pairs of user and item / (users x items).\n"
               "repeats: actions whose item the user had in an earlier session.\n"
               "The median of an even number of values is the lower of the middle two.\n",
    .examples = "  parsrec info shop.data\n"
                "  parsrec info shop.model --json\n",
    .options = options,
    .least_words = 1,
    .most_words = 1,
};

typedef enum fact_kind {
    HEADING,
    COUNT,
    MEAN,
    SHARE,
} fact_kind;

typedef struct fact {
    fact_kind kind;
    const char *label, *key;
    size_t offset;
} fact;

#define FACT(kind, label, field)                                 \
    {                                                            \
        kind, label, #field, offsetof(parsrec_data_stats, field) \
    }

static const fact facts[] = {
    {HEADING, "data", NULL, 0},
    FACT(COUNT, "users", users),
    FACT(COUNT, "items", items),
    FACT(COUNT, "actions", actions),
    FACT(COUNT, "sessions", sessions),
    FACT(MEAN, "actions per user", actions_per_user),
    FACT(MEAN, "sessions per user", sessions_per_user),
    FACT(SHARE, "density", density),
    {HEADING, "sessions", NULL, 0},
    FACT(MEAN, "basket size, mean", basket_mean),
    FACT(COUNT, "basket size, median", basket_median),
    FACT(COUNT, "basket size, largest", basket_max),
    FACT(SHARE, "baskets of one item", single_item_share),
    FACT(SHARE, "repeats", repeat_share),
    FACT(COUNT, "sessions per user, median", sessions_per_user_median),
    FACT(COUNT, "sessions per user, most", sessions_per_user_max),
    FACT(COUNT, "users with 3 sessions or more", evaluated_users),
    {HEADING, "catalogue", NULL, 0},
    FACT(COUNT, "items with a name", items_with_name),
    FACT(COUNT, "categories", categories),
    FACT(COUNT, "category levels", category_levels),
    FACT(COUNT, "user features", user_features),
    FACT(COUNT, "session features", session_features),
    FACT(COUNT, "item features", item_features),
};
enum { FACTS = sizeof facts / sizeof *facts, LABEL = 31, VALUE = 15 };

/* All that is shown of a file. */
typedef struct findings {
    const char *path;
    cli_input input;
    parsrec_data_stats stats;
    parsrec_order_report order;
    parsrec_calendar calendar;
    parsrec_listed *items; /* best sellers first */
    size_t item_count;
} findings;

enum { BEST_SELLERS = 10, MONTHS_SHOWN = 24, BAR = 30 };

static parsrec_status look_into(findings *f, parsrec_error *err)
{
    parsrec_status status = cli_input_open(&f->input, f->path, err);
    if (status == PARSREC_OK)
        status = parsrec_data_statistics(f->input.data, &f->stats, err);
    if (status == PARSREC_OK)
        status = parsrec_data_order(f->input.data, &f->order, err);
    if (status == PARSREC_OK)
        status = parsrec_data_calendar(&f->calendar, f->input.data, err);
    if (status == PARSREC_OK)
        status =
            parsrec_data_list(&f->items, &f->item_count, f->input.data, PARSREC_ITEM, NULL, err);
    return status;
}

static const char *const weekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
static const char *const time_kinds[] = {"none", "ordinal", "unix"};

static uint64_t count_of(const fact *f, const parsrec_data_stats *s)
{
    return *(const uint64_t *)(const void *)((const char *)s + f->offset);
}

static double real_of(const fact *f, const parsrec_data_stats *s)
{
    return *(const double *)(const void *)((const char *)s + f->offset);
}

/* A date for unix times within the calendar, else the number itself. */
static const char *time_text(char *out, size_t size, int64_t seconds, parsrec_time_kind kind)
{
    time_t t = (time_t)seconds;
    struct tm parts;
    if (kind != PARSREC_TIME_UNIX || gmtime_r(&t, &parts) == NULL ||
        strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(out, size, "%lld", (long long)seconds);
    return out;
}

/* ---- for people ---- */

static void print_fact(const fact *f, const parsrec_data_stats *s)
{
    pr_digits hold;
    switch (f->kind) {
    case HEADING:
        printf("\n%s\n", f->label);
        break;
    case COUNT:
        printf("  %-*s%*s\n", LABEL, f->label, VALUE, pr_digits_of(&hold, count_of(f, s)));
        break;
    case MEAN:
        printf("  %-*s%*.2f\n", LABEL, f->label, VALUE, real_of(f, s));
        break;
    case SHARE:
        printf("  %-*s%*.3f %%\n", LABEL, f->label, VALUE, 100 * real_of(f, s));
        break;
    }
}

/* True when another of the best sellers has the same name; then its key is shown too. */
static bool name_is_shared(const findings *f, size_t i)
{
    parsrec_name name = parsrec_data_item_name(f->input.data, f->items[i].number);
    for (size_t j = 0; j < f->item_count && j < BEST_SELLERS; j++) {
        parsrec_name other = parsrec_data_item_name(f->input.data, f->items[j].number);
        if (j != i && name.size > 0 && other.size == name.size &&
            memcmp(other.bytes, name.bytes, name.size) == 0)
            return true;
    }
    return false;
}

static void print_best_sellers(const findings *f)
{
    pr_digits number;
    printf("\nbest sellers                                baskets  share of all\n");
    for (size_t i = 0; i < f->item_count && i < BEST_SELLERS; i++) {
        const parsrec_listed *row = &f->items[i];
        parsrec_name name = parsrec_data_item_name(f->input.data, row->number);
        if (name.size == 0)
            name = parsrec_data_key(f->input.data, PARSREC_ITEM, row->number);
        char label[160], key[80] = "";
        if (name_is_shared(f, i))
            cli_fit(key, sizeof key, parsrec_data_key(f->input.data, PARSREC_ITEM, row->number),
                    16);
        int tail = key[0] != '\0' ? pr_text_width(key) + 3 : 0; /* " (key)" */
        cli_fit(label, sizeof label, name, (size_t)(36 - tail));
        fputs("  ", stdout);
        cli_print_text(label);
        if (tail > 0) {
            fputs(" (", stdout);
            cli_print_text(key);
            fputs(")", stdout);
        }
        printf("%*s%13s%12.2f %%\n", 36 - tail - pr_text_width(label), "",
               pr_digits_of(&number, row->sessions),
               100 * (double)row->sessions / (double)f->stats.sessions);
    }
}

static void print_bar(const char *label, uint64_t value, uint64_t largest)
{
    pr_digits number;
    int length = largest > 0 ? (int)((double)value / (double)largest * BAR + .5) : 0;
    printf("  %-12s%13s  %.*s\n", label, pr_digits_of(&number, value), length,
           "##############################");
}

/* Sessions by month, the last two years of them, and by day of the week. */
static void print_calendar(const parsrec_calendar *c)
{
    uint64_t largest = 0;
    size_t from = c->months > MONTHS_SHOWN ? c->months - MONTHS_SHOWN : 0;
    for (size_t i = from; i < c->months; i++)
        largest = c->month[i].sessions > largest ? c->month[i].sessions : largest;
    if (c->months > 0)
        printf("\nbaskets by month (UTC)%s\n", from > 0 ? ", the last 24" : "");
    for (size_t i = from; i < c->months; i++) {
        char label[32];
        snprintf(label, sizeof label, "%04d-%02u", (int)c->month[i].year,
                 (unsigned)c->month[i].month);
        print_bar(label, c->month[i].sessions, largest);
    }
    largest = 0;
    for (size_t i = 0; i < 7; i++)
        largest = c->weekday[i] > largest ? c->weekday[i] : largest;
    if (largest == 0)
        return; /* no dates */
    printf("\nbaskets by day of the week (UTC)\n");
    for (size_t i = 0; i < 7; i++)
        print_bar(weekdays[i], c->weekday[i], largest);
}

static int print_text(const findings *f)
{
    const parsrec_data_stats *s = &f->stats;
    printf("%s\n", f->path);
    if (f->input.model != NULL)
        print_model(f->input.model);
    for (size_t i = 0; i < FACTS; i++)
        print_fact(&facts[i], s);
    pr_digits pairs;
    printf("\norder within baskets\n  %s%s\n", parsrec_basket_order_text(f->order.order),
           f->order.learnt ? ", and neighbours repeat" : "");
    printf("  %-*s%*.3f %%\n", LABEL, "neighbours that are sorted", VALUE,
           100 * f->order.sorted_share);
    if (f->order.enough_pairs)
        printf("  %-*s%*.3f %% of %s\n", LABEL, "pairs in a fixed order", VALUE,
               100 * f->order.fixed_share, pr_digits_of(&pairs, f->order.pairs));
    else
        printf("  %-*s%*s\n", LABEL, "pairs in a fixed order", VALUE, "too few pairs");
    if (f->order.order != PARSREC_ORDER_UNKNOWN)
        printf("  %-*s%*.3f %% of %s\n", LABEL, "repeats that keep the order", VALUE,
               100 * f->order.kept_share, pr_digits_of(&pairs, f->order.repeated_pairs));
    printf("  %-*s%*s\n", LABEL, "learnt by order = auto", VALUE, f->order.learnt ? "yes" : "no");
    printf("\ntime\n");
    if (s->time_kind == PARSREC_TIME_NONE || s->sessions == 0) {
        printf("  sessions keep the order of the source, which had no times\n");
    } else {
        char text[64];
        printf("  %-12s%s\n", "first", time_text(text, sizeof text, s->first_time, s->time_kind));
        printf("  %-12s%s\n", "last", time_text(text, sizeof text, s->last_time, s->time_kind));
    }
    if (s->ordered)
        printf("  %-12s%s\n", "in sessions", "items are in the order in which they were taken");
    print_calendar(&f->calendar);
    print_best_sellers(f);
    printf("\nfile\n  %-12s%s\n", "checksum", s->checksum[0] != '\0' ? s->checksum : "none");
    printf("  %-12s%s\n", "truth", s->synthetic ? "synthetic data with its ground truth" : "none");
    if (s->one_item_baskets)
        printf("\nwarning: %s\n", CLI_ONE_ITEM_BASKETS);
    return cli_close_output("info");
}

/* ---- for machines ---- */

static json_t *time_json(const parsrec_data_stats *s, int64_t time)
{
    return s->time_kind == PARSREC_TIME_NONE ? json_null() : json_integer((json_int_t)time);
}

static json_t *date_json(const parsrec_data_stats *s, int64_t time)
{
    char text[64];
    return s->time_kind == PARSREC_TIME_UNIX
               ? json_string(time_text(text, sizeof text, time, s->time_kind))
               : json_null();
}

static json_t *calendar_json(const parsrec_calendar *c)
{
    json_t *months = json_array(), *days = json_object();
    int bad = months == NULL || days == NULL;
    for (size_t i = 0; i < c->months; i++) {
        char label[32];
        snprintf(label, sizeof label, "%04d-%02u", (int)c->month[i].year,
                 (unsigned)c->month[i].month);
        bad |= json_array_append_new(months, json_pack("{s:s, s:I}", "month", label, "sessions",
                                                       (json_int_t)c->month[i].sessions)) != 0;
    }
    for (size_t i = 0; i < 7; i++)
        bad |= json_object_set_new(days, weekdays[i], json_integer((json_int_t)c->weekday[i])) != 0;
    if (!bad)
        return json_pack("{s:o, s:o}", "months", months, "weekdays", days);
    json_decref(months);
    json_decref(days);
    return NULL;
}

static json_t *best_sellers_json(const findings *f)
{
    json_t *list = json_array();
    int bad = list == NULL;
    for (size_t i = 0; i < f->item_count && i < BEST_SELLERS; i++)
        bad |= json_array_append_new(
                   list, cli_listed_json(f->input.data, PARSREC_ITEM, &f->items[i])) != 0;
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static int print_json(const findings *f)
{
    const parsrec_data_stats *s = &f->stats;
    json_t *json = json_object();
    int bad = json_object_set_new(json, "file", pr_json_string(f->path));
    if (f->input.model != NULL)
        bad |= json_object_set_new(json, "model", model_json(f->input.model));
    for (size_t i = 0; i < FACTS; i++) {
        const fact *row = &facts[i];
        if (row->kind != HEADING)
            bad |=
                json_object_set_new(json, row->key,
                                    row->kind == COUNT ? json_integer((json_int_t)count_of(row, s))
                                                       : json_real(real_of(row, s)));
    }
    bad |= json_object_set_new(json, "order",
                               json_pack("{s:s, s:f, s:I, s:f, s:f, s:b, s:I, s:f}", "kind",
                                         parsrec_basket_order_name(f->order.order), "sorted_share",
                                         f->order.sorted_share, "pairs", (json_int_t)f->order.pairs,
                                         "fixed_share", f->order.fixed_share, "neighbour_ratio",
                                         f->order.neighbour_ratio, "learnt", (int)f->order.learnt,
                                         "repeated_pairs", (json_int_t)f->order.repeated_pairs,
                                         "kept_share", f->order.kept_share));
    bad |= json_object_set_new(json, "time_kind", json_string(time_kinds[s->time_kind]));
    bad |= json_object_set_new(json, "first_time", time_json(s, s->first_time));
    bad |= json_object_set_new(json, "last_time", time_json(s, s->last_time));
    bad |= json_object_set_new(json, "first_date", date_json(s, s->first_time));
    bad |= json_object_set_new(json, "last_date", date_json(s, s->last_time));
    bad |= json_object_set_new(json, "calendar", calendar_json(&f->calendar));
    bad |= json_object_set_new(json, "best_sellers", best_sellers_json(f));
    bad |= json_object_set_new(json, "synthetic", json_boolean(s->synthetic));
    bad |= json_object_set_new(json, "ordered", json_boolean(s->ordered));
    bad |= json_object_set_new(json, "one_item_baskets", json_boolean(s->one_item_baskets));
    bad |= json_object_set_new(json, "checksum",
                               s->checksum[0] != '\0' ? json_string(s->checksum) : json_null());
    if (bad != 0) {
        json_decref(json);
        json = NULL;
    }
    return cli_print_json("info", json);
}

int cmd_info(int argc, char **argv)
{
    info_args a = {0};
    cli_words words;
    int rc = cli_parse(&cli_info, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    findings f = {.path = words.word[0]};
    parsrec_error err = {0};
    parsrec_status status = look_into(&f, &err);
    cli_finish_line();
    if (status == PARSREC_OK)
        rc = a.json ? print_json(&f) : print_text(&f);
    else
        rc = cli_report("info", &err);
    parsrec_calendar_clear(&f.calendar);
    parsrec_list_free(f.items);
    cli_input_close(&f.input);
    return rc;
}
