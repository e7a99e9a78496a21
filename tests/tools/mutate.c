/* mutate FOLDER COUNT [SEED [FIRST]]: makes data sets, models, checkpoints, stored histories and a run record in a
 * new folder, damages them COUNT times (tests/support/mutation.h), seals each with a right checksum and hands it to
 * the public calls in a child process. A file of a data set in shards is put into its place in a copy of the folder.
 * Reports crashes, sanitizer reports, leaks, failures without a sentence, and time or memory far beyond what the
 * undamaged files take. Mutation number i of a seed is always the same one.
 * Status 0: nothing was found; 1: what was found stands in FOLDER as found-NUMBER, with its report. SIGTERM
 * ends the run with the counts so far. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/mutation.h"

#include "base/files.h"
#include "data/shards.h"
#include "parsrec.h"
#include "train/run_record.h"

enum {
    BATCH = 200,         /* mutations of one child process */
    MEMORY_MB = 700,     /* of a child, at most */
    CODE_FOUND = 40,     /* a child ends with: a call behaved wrongly, ... */
    CODE_SANITIZER = 24, /* ... a sanitizer reported */
};

/* Read by the sanitizers at the start of the program; unused without them. */
#define FOR_SANITIZERS(name, text)                                       \
    __attribute__((visibility("default"), used)) const char *name(void); \
    const char *name(void)                                               \
    {                                                                    \
        return text;                                                     \
    }
FOR_SANITIZERS(__asan_default_options,
               "max_allocation_size_mb=200:allocator_may_return_null=1:quarantine_size_mb=16:"
               "malloc_context_size=8:exitcode=24:abort_on_error=0")
FOR_SANITIZERS(__ubsan_default_options, "halt_on_error=1:print_stacktrace=1:exitcode=24")
FOR_SANITIZERS(__lsan_default_options, "print_suppressions=0")
FOR_SANITIZERS(__lsan_default_suppressions, "leak:libfontconfig\n")

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- files to damage ---- */

typedef enum sort {
    DATA,
    MODEL,
    CHECKPOINT,
    PART, /* of a folder of shards */
    HISTORIES,
    RECORD
} sort;

typedef struct recipe {
    const char *name;
    sort sort;
    const char *data, *kind; /* what it is made from; NULL: made by make_data */
    const char *set[8];
} recipe;

#define SMALL "dim.user=4", "dim.item=4", "length=5", "batch=16"
static const recipe recipes[] = {
    {"synth.data", DATA, NULL, NULL, {NULL}},
    {"shop.data", DATA, NULL, NULL, {NULL}},
    {"plain.data", DATA, NULL, NULL, {NULL}},
    {"shards/shard-0000.st", PART, NULL, NULL, {NULL}},
    {"shards/shard-0001.st", PART, NULL, NULL, {NULL}},
    {"shards/dictionary.st", PART, NULL, NULL, {NULL}},
    {"shards/manifest.st", PART, NULL, NULL, {NULL}},
    {"features.model",
     MODEL,
     "synth.data",
     "parsrec",
     {SMALL, "features.user=on", "features.session=on"}},
    {"shop.model", MODEL, "shop.data", "parsrec", {SMALL, "features.item=on"}},
    {"plain.model", MODEL, "plain.data", "parsrec", {SMALL, "neighbours=3", "cell=gru"}},
    {"sasrec.model", MODEL, "plain.data", "sasrec", {SMALL}},
    {"bert4rec.model", MODEL, "plain.data", "bert4rec", {SMALL}},
    {"pop.model", MODEL, "plain.data", "pop", {NULL}},
    {"personal.model", MODEL, "shop.data", "personal", {NULL}},
    {"recent.model", MODEL, "plain.data", "recent", {NULL}},
    {"markov.model", MODEL, "shop.data", "markov", {NULL}},
    {"oracle.model", MODEL, "synth.data", "oracle", {NULL}},
    {"random.model", MODEL, "plain.data", "random", {NULL}},
    {"mix.model", MODEL, "shop.data", "mix", {NULL}},
    {"tifuknn.model", MODEL, "plain.data", "tifuknn", {NULL}},
    {"upcf.model", MODEL, "plain.data", "upcf", {NULL}},
    {"pernir.model", MODEL, "shop.data", "pernir", {NULL}},
    {"sknn.model", MODEL, "plain.data", "sknn", {NULL}},
    {"vsknn.model", MODEL, "shop.data", "vsknn", {NULL}},
    {"rules.model", MODEL, "plain.data", "rules", {NULL}},
    {"seqrules.model", MODEL, "plain.data", "seqrules", {NULL}},
    {"itemknn.model", MODEL, "shop.data", "itemknn", {NULL}},
    {"ease.model", MODEL, "plain.data", "ease", {NULL}},
    {"gru4rec.model", MODEL, "plain.data", "gru4rec", {SMALL}},
    {"bpr.model", MODEL, "plain.data", "bpr", {SMALL}},
    {"fpmc.model", MODEL, "shop.data", "fpmc", {SMALL}},
    {"ncf.model", MODEL, "plain.data", "ncf", {SMALL}},
    {"hrm.model", MODEL, "shop.data", "hrm", {SMALL}},
    {"transrec.model", MODEL, "plain.data", "transrec", {SMALL}},
    {"tisasrec.model", MODEL, "shop.data", "tisasrec", {SMALL}},
    {"dream.model", MODEL, "shop.data", "dream", {SMALL}},
    {"narm.model", MODEL, "plain.data", "narm", {SMALL}},
    {"stamp.model", MODEL, "plain.data", "stamp", {SMALL}},
    {"caser.model", MODEL, "shop.data", "caser", {SMALL}},
    {"sharded.model", MODEL, "shards", "parsrec", {SMALL, "features.user=on"}},
    {"features.ckpt",
     CHECKPOINT,
     "synth.data",
     "parsrec",
     {SMALL, "features.user=on", "features.item=on"}},
    {"shop.ckpt", CHECKPOINT, "shop.data", "parsrec", {SMALL, "history=decayed"}},
    {"plain.ckpt", CHECKPOINT, "plain.data", "parsrec", {SMALL, "neighbours=3", "loss=sampled"}},
    {"sasrec.ckpt", CHECKPOINT, "plain.data", "sasrec", {SMALL}},
    {"bert4rec.ckpt", CHECKPOINT, "plain.data", "bert4rec", {SMALL}},
    {"gru4rec.ckpt", CHECKPOINT, "plain.data", "gru4rec", {SMALL, "loss=bpr-max", "negatives=4"}},
    {"bpr.ckpt", CHECKPOINT, "plain.data", "bpr", {SMALL}},
    {"fpmc.ckpt", CHECKPOINT, "shop.data", "fpmc", {SMALL}},
    {"ncf.ckpt", CHECKPOINT, "plain.data", "ncf", {SMALL}},
    {"hrm.ckpt", CHECKPOINT, "plain.data", "hrm", {SMALL}},
    {"dream.ckpt", CHECKPOINT, "shop.data", "dream", {SMALL}},
    {"narm.ckpt", CHECKPOINT, "plain.data", "narm", {SMALL}},
    {"stamp.ckpt", CHECKPOINT, "plain.data", "stamp", {SMALL}},
    {"caser.ckpt", CHECKPOINT, "shop.data", "caser", {SMALL}},
    {"transrec.ckpt", CHECKPOINT, "plain.data", "transrec", {SMALL}},
    {"tisasrec.ckpt", CHECKPOINT, "shop.data", "tisasrec", {SMALL}},
    {"sharded.ckpt",
     CHECKPOINT,
     "shards",
     "parsrec",
     {SMALL, "features.user=on", "average=auto", "loss=sampled"}},
    {"shop.histories", HISTORIES, NULL, NULL, {NULL}},
    {"compared/one.st.log", RECORD, NULL, NULL, {NULL}},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static void must(parsrec_status status, const parsrec_error *err)
{
    if (status == PARSREC_OK)
        return;
    fprintf(stderr, "mutate: %s\n", err->message);
    exit(2);
}

/* A shop with two levels of categories, a feature, times; or with none of these. */
static void write_csv(void)
{
    FILE *actions = fopen("shop.csv", "w"), *items = fopen("items.csv", "w");
    FILE *users = fopen("users.csv", "w");
    MUTATION_NEED(actions != NULL && items != NULL && users != NULL);
    fputs("user,session,time,item\n", actions);
    for (int u = 0; u < 12; u++)
        for (int k = 0; k < 4 + u % 3; k++)
            for (int i = 0; i < 1 + (u + k) % 4; i++)
                fprintf(actions, "u%d,s%d,%d,i%d\n", u, k, 1700000000 + 86400 * k,
                        (u * 3 + (k * k + u) % 5 + i) % 17);
    fputs("item,name,category,price\n", items);
    for (int i = 0; i < 17; i++)
        fprintf(items, "i%d,Item %d,%s > C%d,%d\n", i, i, i % 2 == 0 ? "FOOD" : "HOME", i % 5, i);
    fputs("user,age,town\n", users);
    for (int u = 0; u < 12; u++)
        fprintf(users, "u%d,%d,t%d\n", u, 20 + u, u % 3);
    MUTATION_NEED(fclose(actions) == 0 && fclose(items) == 0 && fclose(users) == 0);
}

static void new_note(parsrec_live_note *note)
{
    *note = (parsrec_live_note){.store = "the store", .base = "the base", .through = 9};
}

/* What users of the shop bought since, open baskets, and somebody who was forgotten. */
static void make_histories(const char *name)
{
    parsrec_error err = {0};
    parsrec_model *model;
    parsrec_live *live;
    parsrec_live_note note;
    char user[16], session[16];
    new_note(&note);
    must(parsrec_model_load(&model, "shop.model", &err), &err);
    must(parsrec_live_new(&live, model, &err), &err);
    for (int i = 0; i < 40; i++) {
        const int32_t items[] = {i % 17, (i * 5 + 3) % 17};
        snprintf(user, sizeof user, "u%d", i % 15); /* three of them are new */
        snprintf(session, sizeof session, "later %d", i / 20);
        if (i % 7 == 6)
            must(parsrec_live_cart(live, user, session, items, 2, &err), &err);
        else
            must(parsrec_live_add_at(live, user, session, 1700900000 + 5000 * i, items, 2, &err),
                 &err);
    }
    must(parsrec_live_forget(live, "u3", &err), &err);
    must(parsrec_live_save(live, &note, name, &err), &err);
    parsrec_live_free(live);
    parsrec_model_free(model);
}

static parsrec_compare_options compared_options(void)
{
    parsrec_compare_options o = parsrec_compare_default();
    o.models = "one=parsrec:dim.user=4:dim.item=4:length=5:batch=16:epochs=2";
    o.only_listed = true;
    o.seeds = 1;
    o.jobs = 1;
    o.eval.threads = 1;
    return o;
}

static void make_compared(void)
{
    parsrec_error err = {0};
    parsrec_comparison *c;
    parsrec_compare_options o = compared_options();
    must(parsrec_compare(&c, "shop.data", "compared", &o, NULL, &err), &err);
    parsrec_comparison_free(c);
}

static void make_data(const char *name)
{
    parsrec_error err = {0};
    if (strcmp(name, "synth.data") == 0) {
        parsrec_synth_options o = parsrec_synth_default();
        o.users = 10;
        o.sessions = 5;
        o.categories = 4;
        o.products = 4;
        o.features = PARSREC_FEATURES_ALL;
        o.threads = 1;
        must(parsrec_synth(name, &o, NULL, NULL, &err), &err);
        return;
    }
    const char *input = "shop.csv";
    parsrec_import_options o = parsrec_import_default();
    write_csv();
    if (strcmp(name, "shop.data") == 0)
        o.items_path = "items.csv";
    if (strncmp(name, "shards/", 7) == 0) {
        o.items_path = "items.csv";
        o.users_path = "users.csv";
        o.shards = 2;
        name = "shards";
    }
    must(parsrec_import(name, &input, 1, &o, NULL, NULL, &err), &err);
}

static int stop_in_second_epoch(void *context, const parsrec_progress *progress)
{
    int *calls = context;
    return strcmp(progress->stage, "training") == 0 && progress->done > progress->total / 3 &&
           ++*calls == 2;
}

static void make_trained(const recipe *r)
{
    parsrec_error err = {0};
    parsrec_data *data;
    parsrec_train_options o = parsrec_train_default();
    char out[64];
    int calls = 0;
    parsrec_hooks hooks = {.context = &calls, .on_progress = stop_in_second_epoch};
    snprintf(out, sizeof out, "%.*s", (int)strcspn(r->name, "."), r->name);
    strcat(out, r->sort == MODEL ? ".model" : "");
    o.model = r->kind;
    o.set = r->set;
    while (o.set_count < sizeof r->set / sizeof *r->set && r->set[o.set_count] != NULL)
        o.set_count++;
    o.epochs = parsrec_model_counts(r->kind) ? 0 : 3;
    o.threads = 1;
    must(parsrec_data_load(&data, r->data, &err), &err);
    parsrec_status status =
        parsrec_train(data, out, &o, NULL, r->sort == CHECKPOINT ? &hooks : NULL, &err);
    if (r->sort == MODEL || status != PARSREC_E_STOPPED)
        must(status, &err);
    parsrec_data_free(data);
}

/* ---- the calls ---- */

/* A call may refuse a damaged file with a sentence; it must not run out of memory over it. */
static bool went_well(const char *call, parsrec_status status, const parsrec_error *err)
{
    if (status == PARSREC_OK)
        return true;
    if (status != PARSREC_E_MEMORY && err->message[0] != '\0')
        return false;
    fprintf(stderr, "%s: status %d, '%s'\n", call, (int)status, err->message);
    _exit(CODE_FOUND);
}
#define CALL(function, ...) \
    (err = (parsrec_error){0}, went_well(#function, function(__VA_ARGS__, &err), &err))

static void evaluate(const parsrec_model *model, const parsrec_data *data, pr_stream *s)
{
    parsrec_error err;
    parsrec_eval_report *report = malloc(sizeof *report);
    parsrec_eval_options o = parsrec_eval_default();
    o.protocol = (parsrec_protocol)mutation_pick(s, 3);
    o.negatives = mutation_pick(s, 2) * 7;
    o.candidates =
        mutation_pick(s, 2) == 0 ? PARSREC_CANDIDATES_UNIFORM : PARSREC_CANDIDATES_POPULAR;
    o.exclude_seen = mutation_pick(s, 4) == 0;
    o.threads = 1;
    CALL(parsrec_eval, model, data, &o, report, NULL);
    free(report);
}

static void explain(const parsrec_model *model, const parsrec_data *data, pr_stream *s)
{
    parsrec_error err;
    parsrec_explanation *e = NULL;
    parsrec_explain_options o = parsrec_explain_default();
    char group[300];
    const char *groups = group;
    o.items = mutation_pick(s, 2) == 0;
    o.threads = 1;
    if (mutation_pick(s, 2) == 0 &&
        parsrec_data_group(data, mutation_pick(s, 4), group, sizeof group)) {
        o.groups = &groups;
        o.group_count = 1;
    }
    char *text = NULL;
    if (CALL(parsrec_explain, &e, model, data, &o, NULL) &&
        CALL(parsrec_explanation_text, &text, e, PARSREC_TEXT_JSON))
        parsrec_text_free(text);
    parsrec_explanation_free(e);
}

static void what_if(const parsrec_model *model, const parsrec_data *data, pr_stream *s)
{
    parsrec_error err;
    parsrec_whatif_answer *answer = NULL;
    parsrec_whatif_options o = parsrec_whatif_default();
    parsrec_name key = parsrec_model_key(model, PARSREC_ITEM, 0);
    char thing[400], *text = NULL;
    const char *drop = thing;
    snprintf(thing, sizeof thing, "item=%.*s", (int)(key.size < 300 ? key.size : 300), key.bytes);
    if (mutation_pick(s, 2) == 0 && parsrec_model_size(model, PARSREC_CATEGORY) > 0) {
        char path[300];
        parsrec_model_category_path(model, 0, path, sizeof path);
        snprintf(thing, sizeof thing, "category=%s", path);
    }
    o.drop = &drop;
    o.drop_count = 1;
    o.draws = 1;
    o.resamples = 20; /* the least */
    o.truth_sets = 1;
    o.threads = 1;
    o.estimator = (parsrec_estimator)mutation_pick(s, 4);
    if (CALL(parsrec_whatif, &answer, &model, 1, data, &o, NULL) &&
        CALL(parsrec_whatif_text, &text, answer, PARSREC_TEXT_JSON))
        parsrec_text_free(text);
    parsrec_whatif_free(answer);
}

static void study(const parsrec_model *model, const parsrec_data *data, pr_stream *s)
{
    switch (mutation_pick(s, 4)) {
    case 0:
        explain(model, data, s);
        break;
    case 1:
        what_if(model, data, s);
        break;
    default:
        evaluate(model, data, s);
    }
}

static void recommend(const parsrec_model *model, pr_stream *s)
{
    parsrec_error err;
    parsrec_scratch *own = NULL;
    parsrec_hit hits[8];
    parsrec_why *why = malloc(8 * sizeof *why);
    parsrec_answer answer;
    parsrec_request request = parsrec_request_default();
    size_t items = parsrec_model_size(model, PARSREC_ITEM),
           users = parsrec_model_size(model, PARSREC_USER);
    int32_t basket[3];
    parsrec_model_facts facts;
    parsrec_model_describe(model, &facts);
    request.basket.list = basket;
    bool ready = CALL(parsrec_scratch_new, &own, model, 0);
    for (int round = 0; ready && round < 4; round++) {
        request.user = round == 0 || users == 0 ? PARSREC_GUEST : (int32_t)mutation_pick(s, users);
        request.basket.count = items > 0 ? (size_t)round % 4 : 0;
        for (size_t i = 0; i < request.basket.count; i++)
            basket[i] = (int32_t)mutation_pick(s, items);
        if (CALL(parsrec_recommend, model, own, &request, hits, 8, &answer) && round > 1) {
            char sentence[600];
            if (CALL(parsrec_recommend_why, model, own, &request, hits, answer.count, why) &&
                answer.count > 0)
                parsrec_why_sentence(model, why, sentence, sizeof sentence);
        }
    }
    parsrec_scratch_free(own);
    free(why);
}

/* To everybody, and what a model tells of itself. */
static void recommend_to_all(const parsrec_model *model)
{
    enum { K = 3, USERS = 12 };
    parsrec_error err;
    parsrec_hit hits[K * USERS];
    parsrec_answer answers[USERS];
    parsrec_setting setting;
    parsrec_column column;
    const char *name;
    double weight;
    size_t users = parsrec_model_size(model, PARSREC_USER);
    parsrec_request request = parsrec_request_default();
    request.k = K;
    parsrec_many many = {.request = &request, .count = users < USERS ? users : USERS, .threads = 1};
    CALL(parsrec_recommend_many, model, &many, hits, answers, NULL);
    for (size_t i = 0; parsrec_model_setting(model, i, &setting); i++)
        ;
    for (size_t i = 0; parsrec_model_weight(model, i, &name, &weight); i++)
        ;
    for (size_t i = 0; parsrec_model_column(model, i, &column); i++)
        ;
}

static void live(const parsrec_model *model)
{
    parsrec_error err;
    parsrec_live *live = NULL;
    parsrec_scratch *own = NULL;
    char *text = NULL;
    const char *answer;
    static const char request[] = "{\"user\":\"new\",\"k\":3,\"explain\":true}";
    const int32_t items[] = {0, (int32_t)parsrec_model_size(model, PARSREC_ITEM) - 1};
    if (CALL(parsrec_live_new, &live, model) &&
        CALL(parsrec_live_add, live, "new", "today", items, 2) &&
        CALL(parsrec_scratch_new, &own, model, 0)) {
        const parsrec_json_options options = {.k = 5, .live = live};
        CALL(parsrec_recommend_json, model, own, &options, request, strlen(request), &answer);
        if (CALL(parsrec_live_user_json, &text, live, "new", 3))
            parsrec_text_free(text);
        if (CALL(parsrec_live_search_json, &text, live, PARSREC_ITEM, "i", 5))
            parsrec_text_free(text);
        CALL(parsrec_live_forget, live, "u1");
    }
    parsrec_scratch_free(own);
    parsrec_live_free(live);
}

static void compare(const char *data, const char *folder, const char *models)
{
    parsrec_error err;
    parsrec_comparison *c = NULL;
    parsrec_compare_options o = compared_options();
    char *text = NULL;
    if (models != NULL)
        o.models = models;
    if (CALL(parsrec_compare, &c, data, folder, &o, NULL) &&
        CALL(parsrec_comparison_text, &text, c, PARSREC_TEXT_JSON))
        parsrec_text_free(text);
    parsrec_comparison_free(c);
}

static void try_model(const char *path, pr_stream *s)
{
    parsrec_error err;
    parsrec_model *model = NULL;
    const char *users[] = {"u1", "u2"};
    if (!CALL(parsrec_model_load, &model, path))
        return;
    recommend(model, s);
    recommend_to_all(model);
    live(model);
    if (mutation_pick(s, 8) == 0)
        compare("shop.data", "compared.models", "personal,one=@mutant");
    study(model, parsrec_model_data(model), s);
    parsrec_model_free(model);
    CALL(parsrec_model_forget, path, "forgotten", users, 1 + mutation_pick(s, 2));
}

/* Histories on any model of the same catalogue. */
static void try_histories(const char *path, pr_stream *s)
{
    static const char *const models[] = {"shop.model",     "personal.model", "markov.model",
                                         "mix.model",      "pernir.model",   "vsknn.model",
                                         "itemknn.model",  "fpmc.model",     "hrm.model",
                                         "tisasrec.model", "dream.model",    "caser.model"};
    parsrec_error err;
    parsrec_model *model = NULL;
    parsrec_live *live = NULL;
    parsrec_scratch *own = NULL;
    parsrec_live_note note;
    const char *answer;
    char *text = NULL, request[100];
    const int32_t items[] = {2, 3};
    new_note(&note);
    must(parsrec_model_load(&model, models[mutation_pick(s, sizeof models / sizeof *models)], &err),
         &err);
    must(parsrec_live_new(&live, model, &err), &err);
    must(parsrec_scratch_new(&own, model, 0, &err), &err);
    if (!CALL(parsrec_live_load, live, &note, path))
        goto done;
    for (int round = 0; round < 3; round++) {
        const parsrec_json_options options = {.k = 5, .live = live};
        char user[16];
        snprintf(user, sizeof user, "u%zu", mutation_pick(s, 16));
        snprintf(request, sizeof request,
                 "{\"user\":\"%s\",\"session\":\"later 1\",\"k\":3,\"explain\":true}", user);
        CALL(parsrec_recommend_json, model, own, &options, request, strlen(request), &answer);
        if (CALL(parsrec_live_user_json, &text, live, user, 3))
            parsrec_text_free(text);
        CALL(parsrec_live_add_at, live, user, "later 1", 1701000000, items, 2);
        CALL(parsrec_live_cart, live, user, "later 2", items, 2);
        if (round == 1)
            CALL(parsrec_live_forget, live, user);
    }
    if (CALL(parsrec_live_search_json, &text, live, PARSREC_USER, "u", 20))
        parsrec_text_free(text);
    new_note(&note);
    if (CALL(parsrec_live_save, live, &note,
             "stored")) { /* what was read can be written and read */
        parsrec_live_free(live);
        live = NULL;
        must(parsrec_live_new(&live, model, &err), &err);
        must(parsrec_live_load(live, &note, "stored", &err), &err);
    }
done:
    parsrec_scratch_free(own);
    parsrec_live_free(live);
    parsrec_model_free(model);
}

static void copy_file(const char *from, const char *to)
{
    pr_mapping file;
    FILE *out = fopen(to, "wb");
    MUTATION_NEED(pr_file_map(&file, from, NULL) == PARSREC_OK && out != NULL);
    MUTATION_NEED(fwrite(file.bytes, 1, file.size, out) == file.size && fclose(out) == 0);
    pr_file_unmap(&file);
}

/* The record of a model that is compared again. The comparison of the next one finds the record as it was. */
static bool try_record(const char *path, const recipe *r)
{
    parsrec_error err;
    pr_run_record record;
    char *text = NULL;
    copy_file(r->name, "record.log");
    copy_file(path, r->name);
    bool good = CALL(pr_run_record_read, &record, "compared/one.st", NULL) &&
                record.source != PR_RECORD_NONE;
    if (good && record.epoch_count > 0 &&
        CALL(parsrec_curves_text, &text, record.epochs, record.epoch_count, 60))
        parsrec_text_free(text);
    pr_run_record_free(&record);
    compare("shop.data", "compared", NULL);
    copy_file("record.log", r->name);
    return good;
}

static void try_training(const parsrec_data *data, const char *resume, const char *kind,
                         pr_stream *s)
{
    parsrec_error err;
    static const char *const set[] = {SMALL};
    parsrec_train_options o = parsrec_train_default();
    o.resume = resume;
    o.model = kind;
    o.set = set;
    o.set_count = resume == NULL ? sizeof set / sizeof *set : 0;
    o.epochs = resume == NULL ? 1 : 3;
    o.threads = 1;
    if (resume != NULL && mutation_pick(s, 4) == 0)
        o.max_memory = 300000000; /* parts in files */
    o.skip_baselines = true;      /* try_data compares models often enough */
    CALL(parsrec_train, data, "trained", &o, NULL, NULL);
}

static void look_at(const parsrec_data *data)
{
    parsrec_error err;
    parsrec_listed *rows = NULL;
    parsrec_calendar calendar = {0};
    parsrec_order_report order;
    parsrec_synth_options made;
    parsrec_train_options o = parsrec_train_default();
    const parsrec_shop_size shop = {1000, 100, 20000};
    parsrec_memory needed;
    char path[40];
    size_t count;
    for (int thing = PARSREC_USER; thing <= PARSREC_CATEGORY; thing++)
        if (CALL(parsrec_data_list, &rows, &count, data, (parsrec_thing)thing,
                 thing == PARSREC_ITEM ? "i" : NULL))
            parsrec_list_free(rows);
    if (CALL(parsrec_data_calendar, &calendar, data))
        parsrec_calendar_clear(&calendar);
    CALL(parsrec_data_order, data, &order);
    CALL(parsrec_synth_options_of, data, &made);
    CALL(parsrec_memory_needed, &needed, &shop, 1, data, &o);
    for (int32_t i = -1; i < 30; i++)
        parsrec_data_category_path(data, parsrec_data_item_category(data, i), path, sizeof path);
}

/* Counting models of it, a model trained on it, and models that were made before met with it. */
static void try_data(const char *path, const recipe *r, pr_stream *s)
{
    static const char *const counting[] = {
        "pop",    "personal", "recent", "markov", "random", "oracle",   "mix",     "tifuknn",
        "pernir", "upcf",     "sknn",   "vsknn",  "rules",  "seqrules", "itemknn", "ease"};
    static const char *const learning[] = {"parsrec", "sasrec",   "bert4rec", "gru4rec", "narm",
                                           "stamp",   "caser",    "bpr",      "fpmc",    "ncf",
                                           "hrm",     "transrec", "dream",    "tisasrec"};
    parsrec_error err;
    parsrec_data *data = NULL;
    parsrec_data_stats stats;
    parsrec_model *model = NULL;
    parsrec_train_options o = parsrec_train_default();
    parsrec_pasts_report report;
    char older[64];
    if (!CALL(parsrec_data_load, &data, path))
        return;
    CALL(parsrec_data_statistics, data, &stats);
    look_at(data);
    if (mutation_pick(s, 4) == 0)
        CALL(parsrec_export, path, "exported.csv", NULL);
    o.model = counting[mutation_pick(s, sizeof counting / sizeof *counting)];
    o.threads = 1;
    if (CALL(parsrec_model_count, &model, data, &o, NULL)) {
        recommend(model, s);
        study(model, data, s);
        parsrec_model_free(model);
    }
    if (mutation_pick(s, 2) == 0)
        try_training(data, NULL, learning[mutation_pick(s, sizeof learning / sizeof *learning)], s);
    snprintf(older, sizeof older, "%.*s.model", (int)strcspn(r->name, "."), r->name);
    if (strcmp(r->name, "synth.data") == 0)
        snprintf(older, sizeof older, "features.model");
    model = NULL;
    if (CALL(parsrec_model_load, &model, older)) {
        study(model, data, s);
        if (CALL(parsrec_model_take_pasts, model, data, &report))
            recommend(model, s);
        parsrec_model_free(model);
    }
    parsrec_data_free(data);
}

static void try_checkpoint(const char *path, const recipe *r, pr_stream *s)
{
    parsrec_error err;
    parsrec_data *data = NULL;
    if (!CALL(parsrec_data_load, &data, r->data))
        return;
    try_training(data, path, NULL, s);
    parsrec_data_free(data);
}

/* The damaged file in a folder whose other files are good: as the manifest is, and once more with one
 * that names it. */
static bool try_part(const char *path, const recipe *r, pr_stream *s)
{
    static const char *const parts[] = {"dictionary.st", "manifest.st", "shard-0000.st",
                                        "shard-0001.st"};
    parsrec_error err;
    parsrec_data *data = NULL;
    uint32_t lacking;
    char from[64], to[64];
    mkdir("part", 0777);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(from, sizeof from, "shards/%s", parts[i]);
        snprintf(to, sizeof to, "part/%s", parts[i]);
        copy_file(strcmp(from, r->name) == 0 ? path : from, to);
    }
    if (CALL(parsrec_data_load, &data, "part"))
        parsrec_data_free(data);
    if (strcmp(r->name, "shards/dictionary.st") == 0) /* shards belong to the one as it was */
        return CALL(parsrec_file_check, "part/dictionary.st", NULL);
    if (strcmp(r->name, "shards/manifest.st") == 0) {
        CALL(parsrec_file_check, "part/manifest.st", NULL);
    } else if (CALL(pr_shards_finish, "part", &lacking)) {
        try_data("part", r, s);
    }
    return CALL(parsrec_file_check, "part", NULL);
}

/* Everything that can be asked of one file; whether the check let it pass. */
static bool try_file(const char *path, const recipe *r, pr_stream *s)
{
    parsrec_error err;
    parsrec_file_report report;
    char format[32];
    if (r->sort == PART)
        return try_part(path, r, s);
    if (r->sort == RECORD)
        return try_record(path, r);
    CALL(parsrec_file_format, path, format);
    bool good = CALL(parsrec_file_check, path, &report);
    if (r->sort == DATA)
        try_data(path, r, s);
    else if (r->sort == MODEL)
        try_model(path, s);
    else if (r->sort == HISTORIES)
        try_histories(path, s);
    else
        try_checkpoint(path, r, s);
    return good;
}

/* ---- children ---- */

/* What a child tells as it goes. */
typedef struct progress {
    size_t at, accepted;
    double slowest; /* CPU seconds of one mutation */
    char what[700];
} progress;

typedef struct hunt {
    uint64_t seed;
    double seconds_most; /* CPU time of one mutation */
    progress *shared;
    size_t found;
} hunt;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* SIGPROF ends the child when one mutation takes longer. */
static void set_alarm(double seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds + 1}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* The first RECIPES numbers are the files as they are. */
static void one_mutation(const hunt *h, size_t i)
{
    pr_rng rng = pr_rng_make(h->seed, UINT64_C(0x6d7574617465)); /* "mutate" */
    pr_stream s = pr_stream_at(&rng, (uint32_t)i, (uint32_t)(i >> 32), 0);
    const recipe *r = &recipes[i < RECIPES ? i : mutation_pick(&s, RECIPES)];
    double before = cpu_seconds();
    if (r->sort == RECORD) {
        char what[64] = "";
        if (i >= RECIPES)
            mutation_record(r->name, "mutant", what, &s);
        else
            copy_file(r->name, "mutant");
        snprintf(h->shared->what, sizeof h->shared->what, "%s: %s", r->name, what);
    } else {
        mutation *m = mutation_open(r->name), *whole = mutation_open(r->name);
        while (i >= RECIPES && mutation_same(m, whole))
            mutation_apply(m, &s);
        mutation_free(whole);
        snprintf(h->shared->what, sizeof h->shared->what, "%s: %s", r->name, m->what);
        mutation_seal(m, "mutant");
        mutation_free(m);
    }
    set_alarm(h->seconds_most);
    h->shared->accepted += try_file("mutant", r, &s);
    double took = cpu_seconds() - before;
    h->shared->slowest = took > h->shared->slowest ? took : h->shared->slowest;
}

static _Noreturn void child(const hunt *h, size_t first, size_t count)
{
    struct rlimit memory = {(rlim_t)MEMORY_MB << 20, (rlim_t)MEMORY_MB << 20};
    int log = open("report", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    MUTATION_NEED(log >= 0 && dup2(log, STDERR_FILENO) >= 0);
    if (!SANITIZED) /* the shadow of a sanitizer is larger than any limit */
        setrlimit(RLIMIT_AS, &memory);
    for (size_t i = first; i < first + count; i++) {
        h->shared->at = i;
        one_mutation(h, i);
    }
    h->shared->at = first + count; /* leaks are looked for at exit */
    set_alarm(60);
    exit(0);
}

static void keep(const char *name, size_t i, const char *ending)
{
    char to[64];
    snprintf(to, sizeof to, "found-%zu%s", i, ending);
    rename(name, to);
}

/* Runs mutations in one process. The number of those that were tried: fewer when one ended it. */
static size_t run_batch(hunt *h, size_t first, size_t count)
{
    int status;
    struct rusage used;
    fflush(stdout); /* or the child would print it again */
    pid_t id = fork();
    MUTATION_NEED(id >= 0);
    if (id == 0) {
        signal(SIGTERM, SIG_DFL);
        child(h, first, count);
    }
    while (wait4(id, &status, 0, &used) < 0)
        MUTATION_NEED(errno == EINTR);
    bool large = used.ru_maxrss > MEMORY_MB * 1024L;
    bool leaked = WIFEXITED(status) && h->shared->at == first + count;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !large)
        return count;
    if ((leaked || large) && count > 1) { /* which of them? */
        for (size_t i = first; i < first + count; i++)
            run_batch(h, i, 1);
        return count;
    }
    size_t at = h->shared->at < first + count ? h->shared->at : first;
    const char *why = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "takes too long"
                      : WIFSIGNALED(status)                   ? strsignal(WTERMSIG(status))
                      : leaked                                ? "leaks"
                      : large                                 ? "takes too much memory"
                      : WEXITSTATUS(status) == CODE_FOUND     ? "behaves wrongly"
                      : WEXITSTATUS(status) == CODE_SANITIZER ? "sanitizer report"
                                                              : "unexpected exit";
    printf("mutation %zu: %s: %s\n", at, why, h->shared->what);
    fflush(stdout);
    keep("mutant", at, "");
    keep("report", at, ".txt");
    h->found++;
    return at - first + 1;
}

static void make_files(void)
{
    int status;
    pid_t id = fork();
    MUTATION_NEED(id >= 0);
    for (size_t i = 0; id == 0 && i < RECIPES; i++) {
        if (recipes[i].sort == HISTORIES)
            make_histories(recipes[i].name);
        else if (recipes[i].sort == RECORD)
            make_compared();
        else if (recipes[i].kind == NULL)
            make_data(recipes[i].name);
        else
            make_trained(&recipes[i]);
    }
    if (id == 0)
        _exit(0);
    MUTATION_NEED(waitpid(id, &status, 0) == id && status == 0);
}

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

int main(int argc, char **argv)
{
    if (argc < 3 || mkdir(argv[1], 0777) != 0 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: mutate NEW_FOLDER COUNT [SEED [FIRST]]\n");
        return 2;
    }
    size_t count = strtoull(argv[2], NULL, 10), first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    hunt h = {.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1, .seconds_most = 60};
    h.shared =
        mmap(NULL, sizeof *h.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUTATION_NEED(h.shared != MAP_FAILED);
    make_files();
    run_batch(&h, 0, RECIPES);
    if (h.found > 0 || h.shared->accepted != RECIPES) {
        printf("the files as they are are not read\n");
        return 1;
    }
    h.seconds_most = 10 + 20 * h.shared->slowest;
    printf("an undamaged file takes %.2f s at most, a damaged one may take %.1f s\n",
           h.shared->slowest, h.seconds_most);
    h.shared->slowest = 0;
    h.shared->accepted = 0;
    size_t i = first;
    signal(SIGTERM, stop); /* the counts so far are good ones */
    while (i < first + count && !stopped) {
        size_t left = first + count - i;
        i += run_batch(&h, RECIPES + i, left < BATCH ? left : BATCH);
        if (i % 5000 < BATCH && i >= 5000) {
            printf("%zu tried, %zu found\n", i - first, h.found);
            fflush(stdout);
        }
    }
    printf("%zu mutations, %zu passed the check, %zu found; the slowest took %.2f s\n", i - first,
           h.shared->accepted, h.found, h.shared->slowest);
    return h.found > 0;
}
