/* parsrec recommend: the best next items of an open basket. The command line becomes a request as a
 * stream would carry it, so both say and understand the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/recommend_stream.h"
#include "cli/terminal.h"
#include "parsrec.h"

enum { BASKET_MOST = 1024 };

typedef struct recommend_args {
    const char *user;
    cli_strings basket, exclude, only, category, exclude_category, feature;
    uint64_t k, max_per_category;
    bool guest, explain, strict, json;
} recommend_args;

static const cli_option options[] = {
    CLI_TEXT('u', "user", "U", recommend_args, user, "whose basket it is"),
    CLI_FLAG(0, "guest", recommend_args, guest, "nobody's: what is said without --user"),
    CLI_LIST('b', "basket", "A,B,...", recommend_args, basket, "the items in it, in order"),
    CLI_COUNT('k', "k", recommend_args, k, 1, 1000000, "items wanted"),
    CLI_LIST(0, "exclude", "A,B,...", recommend_args, exclude, "never these items"),
    CLI_LIST(0, "only", "A,B,...", recommend_args, only, "none but these items"),
    CLI_LIST(0, "category", "C,...", recommend_args, category,
             "none but items of these categories"),
    CLI_LIST(0, "exclude-category", "C,...", recommend_args, exclude_category,
             "never items of these categories"),
    CLI_LIST(0, "feature", "NAME=VALUE", recommend_args, feature,
             "what is known of the session, or of its user; may be repeated"),
    CLI_COUNT(0, "max-per-category", recommend_args, max_per_category, 0, 1000000,
              "at most N items of one category (default: no limit)"),
    CLI_FLAG(0, "explain", recommend_args, explain, "say why each item is recommended"),
    CLI_FLAG(0, "strict", recommend_args, strict,
             "fail on an item that the model does not know, instead of leaving it out"),
    CLI_FLAG(0, "json", recommend_args, json, "print the answer as JSON"),
    CLI_END,
};

const cli_command cli_recommend = {
    .name = "recommend",
    .summary = "the best next items for a user and an open basket",
    .usage = "parsrec recommend MODEL [DATA] [-] [options]",
    .details =
        "Items are named by key or exact name, categories by name or path (\"A > B\"), with all\n"
        "below them. Lists may be repeated; a name with commas needs an option of its own.\n"
        "With DATA, users' earlier sessions are those in DATA, also of users that the model\n"
        "never saw.\n"
        "With --explain, the number behind each reason is its share of all that speaks for the\n"
        "item, found by leaving it out; --json has the details.\n"
        "With - each line of standard input is a request, {\"user\": \"U\", \"basket\": [\"A\"]},\n"
        "and each line of output its answer, in order; see docs/recommend.md.\n",
    .examples = "  parsrec recommend shop.model --user K02 --basket \"Coffee beans\" -k 4\n"
                "  parsrec recommend shop.model --guest --explain\n",
    .options = options,
    .least_words = 1,
    .most_words = 3,
};

/* ---- the request ---- */

static int append_word(json_t *array, pr_slice word)
{
    word = pr_slice_trim(word);
    return word.size > 0 ? json_array_append_new(array, json_stringn(word.bytes, word.size)) : 0;
}

/* "A,B,C", unless something is called just that. */
static int append_words(json_t *array, const parsrec_model *model, parsrec_thing thing,
                        const char *text)
{
    int32_t unused;
    if (parsrec_model_find(model, thing, text, &unused, NULL) == PARSREC_OK)
        return append_word(array, pr_slice_of(text));
    int bad = 0;
    for (const char *end; (end = strchr(text, ',')) != NULL; text = end + 1)
        bad |= append_word(array, (pr_slice){text, (size_t)(end - text)});
    return bad | append_word(array, pr_slice_of(text));
}

static int set_list(json_t *request, const char *key, const parsrec_model *model,
                    parsrec_thing thing, const cli_strings *list)
{
    json_t *array = json_array();
    int bad = 0;
    for (size_t i = 0; i < list->count; i++)
        bad |= append_words(array, model, thing, list->word[i]);
    return bad | json_object_set_new(request, key, array);
}

/* NAME=VALUE; a value that reads as a number is one. */
static int set_features(json_t *request, const cli_strings *list)
{
    json_t *object = json_object();
    int bad = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->word[i], *end = strchr(text, '=');
        size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        pr_slice value = pr_slice_of(end != NULL ? end + 1 : "");
        double number;
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        bool is_number = pr_parse_f64(value, &number);
        bad |= json_object_set_new(
            object, name, is_number ? json_real(number) : json_stringn(value.bytes, value.size));
    }
    return bad | json_object_set_new(request, "features", object);
}

/* NULL when a word is not UTF-8, which JSON and the model's names are, or memory ran out. */
static char *request_text(const recommend_args *a, const parsrec_model *model)
{
    json_t *r = json_object();
    int bad = json_object_set_new(r, "k", json_integer((json_int_t)a->k));
    if (a->user != NULL)
        bad |= json_object_set_new(r, "user", json_string(a->user));
    if (a->explain)
        bad |= json_object_set_new(r, "explain", json_true());
    if (a->strict)
        bad |= json_object_set_new(r, "strict", json_true());
    if (a->max_per_category > 0)
        bad |= json_object_set_new(r, "max_per_category",
                                   json_integer((json_int_t)a->max_per_category));
    if (a->feature.count > 0)
        bad |= set_features(r, &a->feature);
    bad |= set_list(r, "basket", model, PARSREC_ITEM, &a->basket);
    bad |= set_list(r, "exclude", model, PARSREC_ITEM, &a->exclude);
    bad |= set_list(r, "only", model, PARSREC_ITEM, &a->only);
    bad |= set_list(r, "categories", model, PARSREC_CATEGORY, &a->category);
    bad |= set_list(r, "exclude_categories", model, PARSREC_CATEGORY, &a->exclude_category);
    char *text = bad == 0 ? json_dumps(r, JSON_COMPACT) : NULL;
    json_decref(r);
    return text;
}

/* ---- the answer for people ---- */

/* Characters, not bytes; what a terminal would act on is shown as '?'. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; text != NULL && *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_words(const char *text)
{
    cli_print_text(text != NULL ? text : "");
}

static void print_cell(const char *text, size_t width)
{
    print_words(text);
    for (size_t n = width_of(text); n < width + 2; n++)
        putchar(' ');
}

static const char *text_at(const json_t *items, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(items, i), key));
}

static size_t widest(const json_t *items, const char *key)
{
    size_t width = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        size_t own = width_of(text_at(items, i, key));
        width = own > width ? own : width;
    }
    return width > 0 && width < strlen(key) ? strlen(key) : width;
}

static void print_reason(const json_t *item)
{
    const json_t *why = json_object_get(item, "why");
    if (why == NULL)
        return;
    fputs("      ", stdout);
    print_words(json_string_value(json_object_get(why, "sentence")));
    putchar('\n');
}

static void print_table(const json_t *items)
{
    size_t item = widest(items, "item"), name = widest(items, "name");
    fputs("rank  ", stdout);
    print_cell("item", item);
    if (name > 0)
        print_cell("name", name);
    printf("%9s\n", "score");
    for (size_t i = 0; i < json_array_size(items); i++) {
        printf("%4zu  ", i + 1);
        print_cell(text_at(items, i, "item"), item);
        if (name > 0)
            print_cell(text_at(items, i, "name"), name);
        printf("%9.4f\n", json_number_value(json_object_get(json_array_get(items, i), "score")));
        print_reason(json_array_get(items, i));
    }
}

/* A word on standard error where a user is not served as one. */
static void print_source(const recommend_args *a, const char *source)
{
    if (a->user == NULL)
        return;
    if (strcmp(source, parsrec_source_name(PARSREC_SOURCE_ANYONE)) == 0)
        fprintf(stderr, "note: the model was not trained on user '%s', who is served as anyone\n",
                a->user);
    if (strcmp(source, parsrec_source_name(PARSREC_SOURCE_POPULAR)) == 0)
        fprintf(stderr, "note: nothing is known of user '%s', who gets what is bought most\n",
                a->user);
}

/* What is not in the answer because the model does not know it. */
static void print_unknown(const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        pr_excerpt hold;
        const char *word = json_string_value(json_array_get(items, i));
        fprintf(stderr, "note: the model does not know item %s, which is left out\n",
                pr_show(&hold, pr_slice_of(word)));
    }
}

static int print_text(const recommend_args *a, const char *answer)
{
    json_t *json = json_loads(answer, 0, NULL);
    if (json == NULL) {
        fprintf(stderr, "parsrec recommend: out of memory\n");
        return CLI_FAILED;
    }
    const json_t *items = json_object_get(json, "items");
    print_source(a, json_string_value(json_object_get(json, "source")));
    print_unknown(json_object_get(json, "unknown_items"));
    if (json_array_size(items) == 0)
        fprintf(stderr, "note: the basket and the filters leave no item to recommend\n");
    else
        print_table(items);
    json_decref(json);
    return cli_close_output("recommend");
}

/* ---- the command ---- */

static int answer_once(const recommend_args *a, const parsrec_model *model, parsrec_scratch *own)
{
    parsrec_error err = {0};
    const char *answer;
    char *request = request_text(a, model);
    if (request == NULL)
        return cli_usage_error(&cli_recommend, "a name on the command line is not valid UTF-8");
    parsrec_status status =
        parsrec_recommend_json(model, own, request, strlen(request), a->k, &answer, &err);
    free(request);
    if (status != PARSREC_OK)
        return cli_report("recommend", &err);
    if (!a->json)
        return print_text(a, answer);
    puts(answer);
    return cli_close_output("recommend");
}

static parsrec_status take_pasts(parsrec_model *model, const char *path, parsrec_error *err)
{
    parsrec_data *data;
    parsrec_pasts_report r;
    cli_number items, actions;
    parsrec_status status = parsrec_data_load(&data, path, err);
    if (status != PARSREC_OK)
        return status;
    status = parsrec_model_take_pasts(model, data, &r, err);
    parsrec_data_free(data);
    if (status == PARSREC_OK && r.unknown_items > 0)
        fprintf(
            stderr,
            "warning: %s: %s items that the model does not know are left out of the users' past "
            "(%s actions)\n",
            path, cli_grouped(&items, r.unknown_items), cli_grouped(&actions, r.unknown_actions));
    return status;
}

static int recommend(const recommend_args *a, const char *model_path, const char *data_path,
                     bool stream)
{
    parsrec_error err = {0};
    parsrec_model *model = NULL;
    parsrec_scratch *own = NULL;
    parsrec_status status = parsrec_model_load(&model, model_path, &err);
    if (status == PARSREC_OK && data_path != NULL)
        status = take_pasts(model, data_path, &err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&own, model, BASKET_MOST, &err);
    int rc = status != PARSREC_OK ? cli_report("recommend", &err)
             : stream             ? cli_recommend_stream(model, own, (size_t)a->k)
                                  : answer_once(a, model, own);
    parsrec_scratch_free(own);
    parsrec_model_free(model);
    return rc;
}

static bool names_a_basket(const recommend_args *a)
{
    return a->user != NULL || a->guest || a->explain || a->strict || a->json ||
           a->basket.count > 0 || a->exclude.count > 0 || a->only.count > 0 ||
           a->category.count > 0 || a->exclude_category.count > 0 || a->max_per_category > 0;
}

int cmd_recommend(int argc, char **argv)
{
    recommend_args a = {.k = 10};
    cli_words words;
    int rc = cli_parse(&cli_recommend, &a, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    bool stream = words.count > 1 && strcmp(words.word[words.count - 1], "-") == 0;
    size_t files = words.count - stream;
    if (files > 2)
        return cli_usage_error(&cli_recommend, "unexpected argument '%s'", words.word[2]);
    if (stream && names_a_basket(&a))
        return cli_usage_error(
            &cli_recommend, "with - the requests say whose basket it is, what is in it and whether "
                            "to explain; only -k goes with it");
    if (a.guest && a.user != NULL)
        return cli_usage_error(&cli_recommend, "--guest and --user exclude each other");
    return recommend(&a, words.word[0], files > 1 ? words.word[1] : NULL, stream);
}
