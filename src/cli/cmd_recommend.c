/* parsrec recommend: the best next items of an open basket, from options or from a stream of JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dates.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/recommend_all.h"
#include "cli/shared.h"
#include "cli/terminal.h"
#include "parsrec.h"

enum { BASKET_MOST = 1024, LONGEST_LINE = 1 << 20, READ_BYTES = 1 << 16 };

typedef struct recommend_args {
    const char *user, *time;
    cli_strings basket, exclude, only, category, exclude_category, feature;
    uint64_t k, max_per_category;
    bool guest, explain, strict, json, all;
    const char *output;
    int format; /* 0: as the name of the output says */
    unsigned threads;
    double peer_time;
    parsrec_ranks *ranks; /* with --all */
    const char *model_path, *data_path;
    bool stream;
} recommend_args;

static const char *const formats[] = {"auto", "csv", "jsonl", NULL};

static const cli_option options[] = {
    CLI_TEXT('u', "user", "U", recommend_args, user, "the user of the basket"),
    CLI_FLAG(0, "guest", recommend_args, guest, "no user: the same as omitting --user"),
    CLI_LIST('b', "basket", "A,B,...", recommend_args, basket, "the items in it, in order"),
    CLI_COUNT('k', "k", recommend_args, k, 1, 1000000, "items wanted"),
    CLI_LIST(0, "exclude", "A,B,...", recommend_args, exclude, "never these items"),
    CLI_LIST(0, "only", "A,B,...", recommend_args, only, "only these items"),
    CLI_LIST(0, "category", "C,...", recommend_args, category, "only items of these categories"),
    CLI_LIST(0, "exclude-category", "C,...", recommend_args, exclude_category,
             "never items of these categories"),
    CLI_LIST(0, "feature", "NAME=VALUE", recommend_args, feature,
             "a feature of the session or its user; repeatable"),
    CLI_TEXT(0, "time", "TIME", recommend_args, time,
             "when the basket is open: a date such as 2010-03-02T13:08, or seconds since 1970 "
             "(default: the last date in the data)"),
    CLI_COUNT(0, "max-per-category", recommend_args, max_per_category, 0, 1000000,
              "at most N items of one category (default: no limit)"),
    CLI_FLAG(0, "explain", recommend_args, explain, "say why each item is recommended"),
    CLI_FLAG(0, "strict", recommend_args, strict,
             "fail on an unknown item instead of leaving it out"),
    CLI_FLAG(0, "json", recommend_args, json, "print the answer as JSON"),
    CLI_FLAG(0, "all", recommend_args, all, "answers for every user, into one file"),
    CLI_TEXT('o', "output", "FILE", recommend_args, output,
             "with --all: write them to FILE; - is stdout"),
    CLI_CHOICE(0, "format", recommend_args, format, formats,
               "with --all: of the file; auto: jsonl if FILE ends in .jsonl or .ndjson"),
    CLI_THREADS(recommend_args, threads),
    CLI_PEER_TIME(recommend_args, peer_time),
    CLI_END,
};

const cli_command cli_recommend = {
    .name = "recommend",
    .summary = "the best next items for a user and an open basket",
    .usage = "parsrec recommend MODEL [DATA] [- | --all -o FILE] [options]",
    .details =
        "Items are given by key or exact name, categories by name or path (\"A > B\"), which\n"
        "includes all below them. Lists may be repeated; a name with commas needs its own option.\n"
        "With DATA, users' earlier sessions are those in DATA, also for users that the model\n"
        "was not trained on.\n"
        "With --explain, the number behind each reason is its share of all that speaks for the\n"
        "item, computed by leaving it out; --json has the details.\n"
        "With - each line of standard input is a request, {\"user\": \"U\", \"basket\": [\"A\"]},\n"
        "and each line of output its answer, in order; see docs/recommend.md.\n"
        "With --all, users are answered in order. FILE appears when it is complete; until then\n"
        "there are FILE.part and FILE.mark. After an interruption the same command continues.\n"
        "mpirun -n 4 parsrec recommend --all ... divides the users among 4 processes, with the "
        "same\n"
        "file (docs/scale.md).\n",
    .examples = "  parsrec recommend shop.model --user K02 --basket \"Coffee beans\" -k 4\n"
                "  parsrec recommend shop.model --guest --explain\n"
                "  parsrec recommend shop.model --all -o answers.csv\n",
    .options = options,
    .least_words = 1,
    .most_words = 3,
};

/* ---- the request ---- */

typedef struct number_list {
    int32_t *list;
    size_t count, capacity;
} number_list;

/* The options that are lists, by the names of the request's fields. */
static const struct {
    const char *key;
    parsrec_thing thing;
    size_t words, numbers; /* offsets in recommend_args and in parsrec_request */
} lists[] = {
#define LIST(key, thing, words, numbers)                                                \
    {                                                                                   \
        key, thing, offsetof(recommend_args, words), offsetof(parsrec_request, numbers) \
    }
    LIST("basket", PARSREC_ITEM, basket, basket),
    LIST("exclude", PARSREC_ITEM, exclude, exclude),
    LIST("only", PARSREC_ITEM, only, only),
    LIST("categories", PARSREC_CATEGORY, category, categories),
    LIST("exclude_categories", PARSREC_CATEGORY, exclude_category, exclude_categories),
#undef LIST
};
enum { LISTS = sizeof lists / sizeof *lists, ONLY = 2 };

typedef struct question {
    const recommend_args *args;
    const parsrec_model *model;
    parsrec_request request;
    int64_t time;
    number_list numbers[LISTS];
    char **unknown; /* items that the model does not know, or names that several have */
    size_t unknown_count, unknown_capacity;
    parsrec_feature features[CLI_LIST_MOST];
    char feature_names[CLI_LIST_MOST][256];
    parsrec_hit *hits;
    parsrec_why *whys;
} question;

static void free_question(question *q)
{
    for (size_t i = 0; i < LISTS; i++)
        pr_free(q->numbers[i].list);
    for (size_t i = 0; i < q->unknown_count; i++)
        pr_free(q->unknown[i]);
    pr_free(q->unknown);
    pr_free(q->hits);
    pr_free(q->whys);
}

/* Adds one name to list `i`. As in a stream, an item that the model does not know is left out, and a
 * category that does not exist is a mistake. */
static parsrec_status add_word(question *q, size_t i, pr_slice text, parsrec_error *err)
{
    number_list *out = &q->numbers[i];
    parsrec_error inner = {0};
    PR_TRY(pr_grow(&out->list, &out->capacity, out->count + 1, sizeof *out->list, err));
    PR_TRY(
        pr_grow(&q->unknown, &q->unknown_capacity, q->unknown_count + 1, sizeof *q->unknown, err));
    char *word = pr_copy_string(text.bytes, text.size);
    if (word == NULL)
        return pr_fail_memory(err);
    parsrec_status status =
        parsrec_model_find(q->model, lists[i].thing, word, &out->list[out->count], &inner);
    if (status == PARSREC_E_NOT_FOUND && lists[i].thing == PARSREC_ITEM && !q->args->strict) {
        q->unknown[q->unknown_count++] = word;
        pr_fail(err, status, "%s: %s", lists[i].key, inner.message); /* if nothing else is left */
        return PARSREC_OK;
    }
    pr_free(word);
    if (status != PARSREC_OK)
        return pr_fail(err, status, "%s: %s", lists[i].key, inner.message);
    out->count++;
    return PARSREC_OK;
}

/* "A,B,C", unless something has exactly this name. */
static parsrec_status add_words(question *q, size_t i, const char *text, parsrec_error *err)
{
    int32_t unused;
    bool whole = parsrec_model_find(q->model, lists[i].thing, text, &unused, NULL) == PARSREC_OK;
    for (const char *end = text; end != NULL; text = end + 1) {
        end = whole ? NULL : strchr(text, ',');
        pr_slice word = {text, end != NULL ? (size_t)(end - text) : strlen(text)};
        word = pr_slice_trim(word);
        if (word.size > 0)
            PR_TRY(add_word(q, i, word, err));
        if (end == NULL)
            break;
    }
    return PARSREC_OK;
}

/* NAME=VALUE; a value that reads as a number is one. */
static void add_feature(question *q, const char *text)
{
    size_t i = q->request.feature_count++;
    const char *end = strchr(text, '=');
    parsrec_feature *f = &q->features[i];
    snprintf(q->feature_names[i], sizeof *q->feature_names, "%.*s",
             (int)(end != NULL ? (size_t)(end - text) : strlen(text)), text);
    *f = (parsrec_feature){.name = q->feature_names[i]};
    const char *value = end != NULL ? end + 1 : "";
    if (!pr_parse_f64(pr_slice_of(value), &f->number))
        f->word = value;
}

static parsrec_status make_request(question *q, parsrec_error *err)
{
    const recommend_args *a = q->args;
    parsrec_request *r = &q->request;
    *r = parsrec_request_default();
    r->k = (size_t)a->k;
    r->max_per_category = (size_t)a->max_per_category;
    r->features = q->features;
    if (a->time != NULL) {
        if (!pr_parse_i64(pr_slice_of(a->time), &q->time))
            PR_TRY(parsrec_time_read(a->time, &q->time, err));
        r->time = &q->time;
    }
    for (size_t i = 0; i < a->feature.count; i++)
        add_feature(q, a->feature.word[i]);
    if (a->user != NULL &&
        parsrec_model_find(q->model, PARSREC_USER, a->user, &r->user, NULL) != PARSREC_OK)
        r->user = PARSREC_GUEST; /* as everybody whom the model does not know */
    for (size_t i = 0; i < LISTS; i++) {
        const cli_strings *words = (const void *)((const char *)a + lists[i].words);
        size_t unknown = q->unknown_count;
        for (size_t n = 0; n < words->count; n++)
            PR_TRY(add_words(q, i, words->word[n], err));
        if (i == ONLY && q->numbers[i].count == 0 && q->unknown_count > unknown)
            return err->status; /* an empty list would let everything pass */
        *(parsrec_numbers *)((char *)r + lists[i].numbers) =
            (parsrec_numbers){q->numbers[i].list, q->numbers[i].count};
    }
    return PARSREC_OK;
}

/* ---- the answer for people ---- */

static void print_table(const question *q, size_t count)
{
    size_t keys = 0, names = 0;
    for (size_t i = 0; i < count; i++) {
        size_t key = cli_name_width(parsrec_model_key(q->model, PARSREC_ITEM, q->hits[i].item));
        size_t name = cli_name_width(parsrec_model_item_name(q->model, q->hits[i].item));
        keys = key > keys ? key : keys;
        names = name > names ? name : names;
    }
    keys = keys < 4 ? 4 : keys;
    names = names > 0 && names < 4 ? 4 : names;
    fputs("rank  ", stdout);
    cli_print_cell((parsrec_name){"item", 4}, keys);
    if (names > 0)
        cli_print_cell((parsrec_name){"name", 4}, names);
    printf("%9s\n", "score");
    for (size_t i = 0; i < count; i++) {
        printf("%4zu  ", i + 1);
        cli_print_cell(parsrec_model_key(q->model, PARSREC_ITEM, q->hits[i].item), keys);
        if (names > 0)
            cli_print_cell(parsrec_model_item_name(q->model, q->hits[i].item), names);
        printf("%9.4f\n", (double)q->hits[i].score);
        if (q->whys == NULL)
            continue;
        char sentence[512];
        fputs("      ", stdout);
        cli_print_text(parsrec_why_sentence(q->model, &q->whys[i], sentence, sizeof sentence));
        putchar('\n');
    }
}

static void note_unknown(const question *q)
{
    for (size_t i = 0; i < q->unknown_count; i++) {
        parsrec_error why = {0}; /* not known, or shared by several; and what may be meant */
        int32_t unused;
        parsrec_model_find(q->model, PARSREC_ITEM, q->unknown[i], &unused, &why);
        fprintf(stderr, "note: left out: %s\n", why.message);
    }
}

/* Keys of users differ by case; who types one may not know that. */
static void note_other_case(const question *q)
{
    parsrec_model_facts facts;
    pr_slice wanted = pr_slice_of(q->args->user);
    parsrec_model_describe(q->model, &facts);
    for (uint64_t i = 0; i < facts.users; i++) {
        parsrec_name key = parsrec_model_key(q->model, PARSREC_USER, (int32_t)i);
        if (!pr_text_alike((pr_slice){key.bytes, key.size}, wanted))
            continue;
        pr_excerpt hold;
        fprintf(stderr, "note: the model knows a user %s; upper and lower case differ in keys\n",
                pr_show(&hold, (pr_slice){key.bytes, key.size}));
        return;
    }
}

static void print_text(const question *q, const parsrec_answer *answer)
{
    const char *user = q->args->user;
    if (user != NULL && answer->source == PARSREC_SOURCE_ANYONE)
        fprintf(stderr,
                "note: the model was not trained on user '%s', who is served as an unknown user\n",
                user);
    if (user != NULL && answer->source == PARSREC_SOURCE_POPULAR)
        fprintf(stderr, "note: nothing is known of user '%s', who gets the best sellers\n", user);
    if (user != NULL && q->request.user == PARSREC_GUEST)
        note_other_case(q);
    note_unknown(q);
    pr_date_text date;
    if (q->args->time != NULL && answer->when == PARSREC_WHEN_NONE)
        fprintf(stderr, "note: the model's data have no dates, so --time changes nothing\n");
    if (q->args->explain && answer->when == PARSREC_WHEN_DATA)
        fprintf(stderr, "note: asked for %s, the last date in the data; --time is for another\n",
                pr_date_of(&date, answer->time));
    if (answer->count == 0)
        fprintf(stderr, "note: the basket and the filters leave no item to recommend\n");
    else
        print_table(q, answer->count);
}

static parsrec_status answer_question(question *q, parsrec_scratch *own, parsrec_error *err)
{
    parsrec_answer answer;
    const char *text;
    PR_TRY(make_request(q, err));
    size_t items = parsrec_model_size(q->model, PARSREC_ITEM);
    size_t most = q->request.k < items ? q->request.k : items;
    q->hits = pr_alloc(most, sizeof *q->hits);
    q->whys = q->args->explain ? pr_alloc(most, sizeof *q->whys) : NULL;
    if (q->hits == NULL || (q->args->explain && q->whys == NULL))
        return pr_fail_memory(err);
    PR_TRY(parsrec_recommend(q->model, own, &q->request, q->hits, most, &answer, err));
    if (q->args->explain)
        PR_TRY(
            parsrec_recommend_why(q->model, own, &q->request, q->hits, answer.count, q->whys, err));
    if (!q->args->json) {
        print_text(q, &answer);
        return PARSREC_OK;
    }
    parsrec_answer_parts parts = {q->args->user,   &q->request, answer,
                                  q->hits,         q->whys,     (const char *const *)q->unknown,
                                  q->unknown_count};
    PR_TRY(parsrec_answer_json(q->model, own, &parts, &text, err));
    puts(text);
    return PARSREC_OK;
}

/* Names of the model are UTF-8; so must be those on the command line. */
static bool valid(const cli_strings *words)
{
    size_t at;
    for (size_t i = 0; i < words->count; i++)
        if (!pr_utf8_valid(words->word[i], strlen(words->word[i]), &at))
            return false;
    return true;
}

static bool all_valid(const recommend_args *a)
{
    cli_strings user = {.word = {a->user}, .count = a->user != NULL};
    bool good = valid(&user) && valid(&a->feature);
    for (size_t i = 0; i < LISTS; i++)
        good = good && valid((const void *)((const char *)a + lists[i].words));
    return good;
}

static int answer_once(const recommend_args *a, const parsrec_model *model, parsrec_scratch *own)
{
    parsrec_error err = {0};
    question q = {.args = a, .model = model};
    parsrec_status status = answer_question(&q, own, &err);
    free_question(&q);
    return status == PARSREC_OK ? cli_close_output("recommend") : cli_report("recommend", &err);
}

static int answer_everybody(const recommend_args *a, const parsrec_model *model)
{
    parsrec_error err = {0};
    question q = {.args = a, .model = model};
    cli_all all = {.output = a->output,
                   .jsonl = a->format == 2 || (a->format == 0 && cli_all_is_jsonl(a->output)),
                   .threads = a->threads,
                   .model_path = a->model_path,
                   .data_path = a->data_path,
                   .ranks = a->ranks};
    parsrec_status status = make_request(&q, &err);
    if (status == PARSREC_OK && parsrec_ranks_rank(a->ranks) == 0)
        note_unknown(&q);
    int rc = status == PARSREC_OK ? cli_recommend_all(model, &q.request, &all)
                                  : cli_end_ranks("recommend", a->ranks, status, &err);
    free_question(&q);
    return rc;
}

/* ---- a stream of requests ---- */

/* Output is flushed whenever the program is about to wait for input: a person or program that asks one
 * thing at a time gets each answer at once, and a pipe full of requests is answered in large pieces. */
typedef struct line_stream {
    char *bytes; /* LONGEST_LINE + READ_BYTES */
    size_t begin, end;
    bool skipping; /* the rest of a line that was too long */
    bool at_end;
    uint64_t line, failed;
    const parsrec_model *model;
    parsrec_scratch *own;
    size_t default_k;
} line_stream;

static void print_error(line_stream *s, const parsrec_error *err)
{
    s->failed++;
    json_t *json =
        json_pack("{s:{s:s, s:o, s:I}}", "error", "code", parsrec_status_name(err->status),
                  "message", pr_json_string(err->message), "line", (json_int_t)s->line);
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    puts(text != NULL ? text : "{\"error\":{\"code\":\"E_MEMORY\",\"message\":\"out of memory\"}}");
    free(text);
    json_decref(json);
}

static void answer(line_stream *s, pr_slice line)
{
    parsrec_error err = {0};
    const char *text;
    s->line++;
    if (line.size > 0 && line.bytes[line.size - 1] == '\r')
        line.size--;
    if (pr_slice_trim(line).size == 0)
        return;
    parsrec_status status =
        line.size > LONGEST_LINE
            ? pr_fail(&err, PARSREC_E_LIMIT, "a request of more than %d bytes; send shorter ones",
                      LONGEST_LINE)
            : parsrec_recommend_json(s->model, s->own, &(parsrec_json_options){.k = s->default_k},
                                     line.bytes, line.size, &text, &err);
    if (status == PARSREC_OK)
        puts(text);
    else
        print_error(s, &err);
}

/* Answers all complete lines; the beginning of another one stays. */
static void answer_lines(line_stream *s)
{
    char *newline;
    while ((newline = memchr(s->bytes + s->begin, '\n', s->end - s->begin)) != NULL) {
        size_t next = (size_t)(newline - s->bytes) + 1;
        if (!s->skipping)
            answer(s, (pr_slice){s->bytes + s->begin, next - 1 - s->begin});
        s->skipping = false;
        s->begin = next;
    }
    if (s->end - s->begin > LONGEST_LINE && !s->skipping) {
        answer(s, (pr_slice){s->bytes + s->begin, s->end - s->begin});
        s->skipping = true;
    }
    if (s->skipping)
        s->begin = s->end;
    memmove(s->bytes, s->bytes + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
}

/* False when output is closed or reading fails. */
static bool read_more(line_stream *s)
{
    if (cli_close_output("recommend") != CLI_OK)
        return false;
    ssize_t n;
    do
        n = read(STDIN_FILENO, s->bytes + s->end, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fprintf(stderr, "parsrec recommend: standard input: reading failed: %s\n", strerror(errno));
    s->end += n > 0 ? (size_t)n : 0;
    s->at_end = n == 0;
    return n >= 0;
}

static int answer_stream(const parsrec_model *model, parsrec_scratch *own, size_t default_k)
{
    line_stream s = {.model = model, .own = own, .default_k = default_k};
    s.bytes = pr_alloc(LONGEST_LINE + READ_BYTES, 1);
    if (s.bytes == NULL) {
        fprintf(stderr, "parsrec recommend: out of memory\n");
        return CLI_FAILED;
    }
    bool done = true;
    while (done && !s.at_end) {
        done = read_more(&s);
        answer_lines(&s);
    }
    if (done && s.end > 0) /* the last line may lack its newline */
        answer(&s, (pr_slice){s.bytes, s.end});
    done = done && cli_close_output("recommend") == CLI_OK;
    pr_free(s.bytes);
    pr_digits failed, lines;
    if (s.failed > 0)
        fprintf(stderr,
                "parsrec recommend: %s of %s lines failed; each has an answer with \"error\"\n",
                pr_digits_of(&failed, s.failed), pr_digits_of(&lines, s.line));
    return done && s.failed == 0 ? CLI_OK : CLI_FAILED;
}

/* ---- the command ---- */

static parsrec_status take_pasts(parsrec_model *model, const char *path, bool speaks,
                                 parsrec_error *err)
{
    parsrec_data *data;
    parsrec_pasts_report r;
    pr_digits items, actions;
    parsrec_status status = cli_load_second(&data, path, "recommend", err);
    if (status != PARSREC_OK)
        return status;
    status = parsrec_model_take_pasts(model, data, &r, err);
    parsrec_data_free(data);
    if (status == PARSREC_OK && r.unknown_items > 0 && speaks)
        fprintf(
            stderr,
            "warning: %s: %s item%s that the model does not know %s left out of the users' past "
            "(%s action%s)\n",
            path, pr_digits_of(&items, r.unknown_items), r.unknown_items == 1 ? "" : "s",
            r.unknown_items == 1 ? "is" : "are", pr_digits_of(&actions, r.unknown_actions),
            r.unknown_actions == 1 ? "" : "s");
    return status;
}

static int recommend(void *args, parsrec_ranks *ranks)
{
    recommend_args *a = args;
    parsrec_error err = {0};
    a->ranks = ranks;
    parsrec_model *model = NULL;
    parsrec_scratch *own = NULL;
    parsrec_status status = parsrec_model_load(&model, a->model_path, &err);
    if (status == PARSREC_OK && a->data_path != NULL)
        status = take_pasts(model, a->data_path, parsrec_ranks_rank(ranks) == 0, &err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&own, model, BASKET_MOST, &err);
    status = parsrec_ranks_agree(ranks, status, &err);
    int rc = status != PARSREC_OK ? cli_end_ranks("recommend", ranks, status, &err)
             : a->all             ? answer_everybody(a, model)
             : a->stream          ? answer_stream(model, own, (size_t)a->k)
                                  : answer_once(a, model, own);
    parsrec_scratch_free(own);
    parsrec_model_free(model);
    return rc;
}

static bool names_a_basket(const recommend_args *a)
{
    return a->user != NULL || a->guest || a->explain || a->strict || a->json ||
           a->basket.count > 0 || a->exclude.count > 0 || a->only.count > 0 ||
           a->category.count > 0 || a->exclude_category.count > 0 || a->max_per_category > 0 ||
           a->time != NULL;
}

int cmd_recommend(int argc, char **argv)
{
    recommend_args a = {.k = 10, .peer_time = CLI_PEER_SECONDS};
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
    if (a.all && (stream || a.user != NULL || a.guest || a.explain || a.json || a.output == NULL))
        return cli_usage_error(
            &cli_recommend, "--all needs -o FILE, and says nothing of one user: --user, --guest, "
                            "--explain, --json and - do not go with it");
    if (!a.all && (a.output != NULL || a.format != 0))
        return cli_usage_error(&cli_recommend, "--output and --format go with --all");
    if (!all_valid(&a))
        return cli_usage_error(&cli_recommend, "a name on the command line is not valid UTF-8");
    if (a.guest && a.user != NULL)
        return cli_usage_error(&cli_recommend, "--guest and --user exclude each other");
    a.model_path = words.word[0];
    a.data_path = files > 1 ? words.word[1] : NULL;
    a.stream = stream;
    if (!a.all && parsrec_ranks_launched() != 1)
        return cli_usage_error(&cli_recommend, "without --all it works in one process, and a "
                                               "launcher started several");
    return a.all ? cli_in_ranks("recommend", a.peer_time, recommend, &a) : recommend(&a, NULL);
}
