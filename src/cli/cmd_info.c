/* parsrec info: what is in a data set, or in a model and the data set inside it. One table of facts
 * makes both the text and the JSON. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/info_model.h"
#include "cli/output.h"
#include "cli/terminal.h"

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
    .details = "density: different pairs of user and item / (users x items).\n"
               "repeats: actions whose item the user had in an earlier session.\n"
               "Medians are the lower of two middle values.\n",
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
    cli_number hold;
    switch (f->kind) {
    case HEADING:
        printf("\n%s\n", f->label);
        break;
    case COUNT:
        printf("  %-*s%*s\n", LABEL, f->label, VALUE, cli_grouped(&hold, count_of(f, s)));
        break;
    case MEAN:
        printf("  %-*s%*.2f\n", LABEL, f->label, VALUE, real_of(f, s));
        break;
    case SHARE:
        printf("  %-*s%*.3f %%\n", LABEL, f->label, VALUE, 100 * real_of(f, s));
        break;
    }
}

static int print_text(const char *path, const parsrec_model *model, const parsrec_data_stats *s)
{
    printf("%s\n", path);
    if (model != NULL)
        cli_print_model(model);
    for (size_t i = 0; i < FACTS; i++)
        print_fact(&facts[i], s);
    printf("\ntime\n");
    if (s->time_kind == PARSREC_TIME_NONE || s->sessions == 0) {
        printf("  sessions keep the order of the source, which had no times\n");
    } else {
        char text[64];
        printf("  %-12s%s\n", "first", time_text(text, sizeof text, s->first_time, s->time_kind));
        printf("  %-12s%s\n", "last", time_text(text, sizeof text, s->last_time, s->time_kind));
    }
    printf("\nfile\n  %-12s%s\n", "checksum", s->checksum[0] != '\0' ? s->checksum : "none");
    printf("  %-12s%s\n", "truth",
           s->synthetic ? "synthetic data, carries its ground truth" : "none");
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

static int print_json(const char *path, const parsrec_model *model, const parsrec_data_stats *s)
{
    json_t *json = json_object();
    int bad = json_object_set_new(json, "file", cli_json_text(path));
    if (model != NULL)
        bad |= json_object_set_new(json, "model", cli_model_json(model));
    for (size_t i = 0; i < FACTS; i++) {
        const fact *f = &facts[i];
        if (f->kind != HEADING)
            bad |= json_object_set_new(json, f->key,
                                       f->kind == COUNT ? json_integer((json_int_t)count_of(f, s))
                                                        : json_real(real_of(f, s)));
    }
    bad |= json_object_set_new(json, "time_kind", json_string(time_kinds[s->time_kind]));
    bad |= json_object_set_new(json, "first_time", time_json(s, s->first_time));
    bad |= json_object_set_new(json, "last_time", time_json(s, s->last_time));
    bad |= json_object_set_new(json, "first_date", date_json(s, s->first_time));
    bad |= json_object_set_new(json, "last_date", date_json(s, s->last_time));
    bad |= json_object_set_new(json, "synthetic", json_boolean(s->synthetic));
    bad |= json_object_set_new(json, "checksum",
                               s->checksum[0] != '\0' ? json_string(s->checksum) : json_null());
    if (bad != 0) {
        json_decref(json);
        json = NULL;
    }
    return cli_print_json("info", json);
}

/* Loads whichever of the two it is; `data` is the one to describe. */
static parsrec_status load(const char *path, parsrec_model **model, parsrec_data **own,
                           const parsrec_data **data, parsrec_error *err)
{
    char format[32];
    parsrec_status status = parsrec_file_format(path, format, err);
    if (status == PARSREC_OK && strcmp(format, "parsrec.model") == 0) {
        status = parsrec_model_load(model, path, err);
        *data = status == PARSREC_OK ? parsrec_model_data(*model) : NULL;
    } else if (status == PARSREC_OK) {
        status = parsrec_data_load(own, path, err);
        *data = *own;
    }
    return status;
}

int cmd_info(int argc, char **argv)
{
    info_args a = {0};
    cli_words words;
    int rc = cli_parse(&cli_info, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    parsrec_data *own = NULL;
    parsrec_model *model = NULL;
    const parsrec_data *data;
    parsrec_data_stats stats;
    parsrec_error err = {0};
    const char *path = words.word[0];
    if (load(path, &model, &own, &data, &err) == PARSREC_OK &&
        parsrec_data_statistics(data, &stats, &err) == PARSREC_OK)
        rc = a.json ? print_json(path, model, &stats) : print_text(path, model, &stats);
    else
        rc = cli_report("info", &err);
    parsrec_model_free(model);
    parsrec_data_free(own);
    return rc;
}
