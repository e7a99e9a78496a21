/* Every allocation of every public call fails in turn: the call returns E_MEMORY with a sentence, leaks
 * nothing (LeakSanitizer looks at the end) and works when called again. Jansson's allocations count
 * from the first text that is read on (base/json.c).
 * PARSREC_ALLOCATIONS says how many failures of each call are tried, at equal distances, or "all"
 * (bench/no_memory.sh); PARSREC_CALL names one call. */
#include "support/testing.h"

#include <ftw.h>
#include <sys/stat.h>

#include "base/memory.h"

enum { FAILURES = 12 };

static char base[] = "/tmp/parsrec-memory-XXXXXX";
static char actions[64], items[64], data_path[64], model_path[64], work[64];
static parsrec_data *data;
static parsrec_model *model;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* A folder without anything that an earlier call left. */
static void fresh_folder(void)
{
    nftw(work, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(mkdir(work, 0777), 0);
}

static const char *in_work(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", work, name);
    return path[turn];
}

/* ---- the calls ---- */

static const char *const small[] = {"dim.user=2", "dim.item=2", "length=4", "neighbours=2"};

static parsrec_train_options train_options(const char *kind)
{
    parsrec_train_options o = parsrec_train_default();
    o.model = kind;
    o.set = small;
    o.set_count = sizeof small / sizeof *small;
    o.epochs = parsrec_model_counts(kind) ? 0 : 1;
    o.threads = 1;
    return o;
}

static parsrec_status call_import(parsrec_error *err)
{
    const char *input = actions;
    parsrec_import_options o = parsrec_import_default();
    o.items_path = items;
    return parsrec_import(in_work("data"), &input, 1, &o, NULL, NULL, err);
}

static parsrec_status call_synth(parsrec_error *err)
{
    parsrec_synth_options o = parsrec_synth_default();
    o.users = 3;
    o.sessions = 4;
    o.categories = 3;
    o.products = 2;
    o.features = PARSREC_FEATURES_ALL;
    o.threads = 1;
    return parsrec_synth(in_work("data"), &o, NULL, NULL, err);
}

static parsrec_status call_load(parsrec_error *err)
{
    parsrec_data *d;
    parsrec_data_stats stats;
    parsrec_status status = parsrec_data_load(&d, data_path, err);
    if (status != PARSREC_OK)
        return status;
    status = parsrec_data_statistics(d, &stats, err);
    parsrec_data_free(d);
    return status != PARSREC_OK ? status : parsrec_file_check(model_path, NULL, err);
}

static parsrec_status train_as(const char *kind, parsrec_error *err)
{
    parsrec_train_options o = train_options(kind);
    return parsrec_train(data, in_work("model"), &o, NULL, NULL, err);
}

static parsrec_status call_memory(parsrec_error *err)
{
    parsrec_train_options o = train_options("parsrec");
    parsrec_shop_size shop = {60, 70, 600};
    parsrec_memory needed;
    return parsrec_memory_needed(&needed, &shop, 1, data, &o, err);
}

static parsrec_status train_markov(parsrec_error *err)
{
    parsrec_train_options o = train_options("markov");
    o.set_count = 0;
    return parsrec_train(data, in_work("model"), &o, NULL, NULL, err);
}

/* A counting model, and what it answers. */
static parsrec_status count_and_ask(const char *kind, parsrec_error *err)
{
    static const char request[] = "{\"user\":\"u1\",\"basket\":[\"i1\"],\"k\":3,\"explain\":true}";
    parsrec_model *own = NULL;
    parsrec_scratch *scratch = NULL;
    const char *answer;
    parsrec_train_options o = train_options(kind);
    o.set_count = 0;
    parsrec_status status = parsrec_model_count(&own, data, &o, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&scratch, own, 0, err);
    if (status == PARSREC_OK)
        status = parsrec_recommend_json(own, scratch, NULL, request, strlen(request), &answer, err);
    parsrec_scratch_free(scratch);
    parsrec_model_free(own);
    return status;
}

#define COUNTS(kind)                                       \
    static parsrec_status count_##kind(parsrec_error *err) \
    {                                                      \
        return count_and_ask(#kind, err);                  \
    }
COUNTS(personal)
COUNTS(mix)
COUNTS(tifuknn)
COUNTS(upcf)
COUNTS(pernir)
COUNTS(sknn)
COUNTS(vsknn)
COUNTS(rules)
COUNTS(seqrules)
COUNTS(itemknn)
COUNTS(ease)

#define TRAINS(kind)                                       \
    static parsrec_status train_##kind(parsrec_error *err) \
    {                                                      \
        return train_as(#kind, err);                       \
    }
TRAINS(parsrec)
TRAINS(sasrec)
TRAINS(bert4rec)
TRAINS(tisasrec)
TRAINS(gru4rec)
TRAINS(narm)
TRAINS(stamp)
TRAINS(caser)
TRAINS(dream)
TRAINS(bpr)
TRAINS(fpmc)
TRAINS(ncf)
TRAINS(hrm)
TRAINS(transrec)

static parsrec_status call_export(parsrec_error *err)
{
    return parsrec_export(data_path, in_work("actions.csv"), NULL, err);
}

/* What recommend --all asks. */
static parsrec_status call_many(parsrec_error *err)
{
    enum { USERS = 6, K = 3 };
    int32_t users[USERS];
    parsrec_hit hits[USERS * K];
    parsrec_answer answers[USERS];
    parsrec_request request = parsrec_request_default();
    request.k = K;
    for (int32_t u = 0; u < USERS; u++)
        users[u] = u;
    parsrec_many many = {.request = &request, .users = users, .count = USERS, .threads = 1};
    return parsrec_recommend_many(model, &many, hits, answers, NULL, err);
}

static parsrec_status call_eval(parsrec_error *err)
{
    static parsrec_eval_report report;
    parsrec_eval_options o = parsrec_eval_default();
    o.threads = 1;
    o.dump_path = in_work("scores");
    parsrec_status status = parsrec_eval(model, data, &o, &report, NULL, err);
    char *text = NULL;
    if (status == PARSREC_OK)
        status = parsrec_eval_json(&text, "m", "d", &o, &report, err);
    parsrec_text_free(text);
    return status;
}

static parsrec_status call_explain(parsrec_error *err)
{
    static const char *const groups[] = {"everybody", "cluster:2"};
    parsrec_explanation *e = NULL;
    parsrec_explain_options o = parsrec_explain_default();
    char *text = NULL;
    o.groups = groups;
    o.group_count = 2;
    o.threads = 1;
    parsrec_status status = parsrec_explain(&e, model, data, &o, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_explanation_text(&text, e, PARSREC_TEXT_PLAIN, err);
    if (status == PARSREC_OK)
        status = parsrec_explanation_save(e, work, NULL, err);
    parsrec_text_free(text);
    parsrec_explanation_free(e);
    return status;
}

static parsrec_status call_whatif(parsrec_error *err)
{
    static const char *const drop[] = {"category=FOOD"};
    parsrec_whatif_answer *answer = NULL;
    parsrec_whatif_options o = parsrec_whatif_default();
    char *text = NULL;
    o.drop = drop;
    o.drop_count = 1;
    o.draws = 1;
    o.resamples = 20;
    o.threads = 1;
    const parsrec_model *models[] = {model};
    parsrec_status status = parsrec_whatif(&answer, models, 1, data, &o, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_whatif_text(&text, answer, PARSREC_TEXT_PLAIN, err);
    if (status == PARSREC_OK)
        status = parsrec_whatif_save(answer, work, err);
    parsrec_text_free(text);
    parsrec_whatif_free(answer);
    return status;
}

static parsrec_status finish(parsrec_comparison *c, parsrec_status status, parsrec_error *err)
{
    char *text = NULL;
    if (status == PARSREC_OK)
        status = parsrec_comparison_text(&text, c, PARSREC_TEXT_TERMINAL, err);
    parsrec_text_free(text);
    parsrec_comparison_free(c);
    return status;
}

static parsrec_status call_compare(parsrec_error *err)
{
    parsrec_comparison *c = NULL;
    parsrec_compare_options o = parsrec_compare_default();
    o.models = "pop,parsrec:dim.user=2:dim.item=2:neighbours=2";
    o.epochs = 1;
    o.jobs = 1;
    o.eval.threads = 1;
    parsrec_status status = parsrec_compare(&c, data_path, work, &o, NULL, err);
    return finish(c, status, err);
}

static parsrec_status call_ablate(parsrec_error *err)
{
    static const char *const rows[] = {"narrow:dim.item=4"};
    parsrec_comparison *c = NULL;
    parsrec_ablate_options o = parsrec_ablate_default();
    o.base = "parsrec:dim.user=2:dim.item=2:neighbours=2";
    o.row = rows;
    o.row_count = 1;
    o.how.epochs = 1;
    o.how.jobs = 1;
    o.how.eval.threads = 1;
    parsrec_status status = parsrec_ablate(&c, data_path, work, &o, NULL, err);
    return finish(c, status, err);
}

static parsrec_status call_tune(parsrec_error *err)
{
    static const char *const set[] = {"dim.user=2", "dim.item=2", "neighbours=2",
                                      "rate=0.001,0.01"};
    parsrec_tuning *tuning = NULL;
    parsrec_tune_options o = parsrec_tune_default();
    char *text = NULL;
    o.set = set;
    o.set_count = sizeof set / sizeof *set;
    o.trials = 2;
    o.epochs = 1;
    o.jobs = 1;
    o.threads = 1;
    parsrec_status status = parsrec_tune(&tuning, data_path, work, &o, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_tuning_text(&text, tuning, PARSREC_TEXT_PLAIN, err);
    parsrec_text_free(text);
    parsrec_tuning_free(tuning);
    return status;
}

static parsrec_status call_recommend(parsrec_error *err)
{
    static const char request[] =
        "{\"user\":\"u1\",\"basket\":[\"i1\",\"i2\"],\"k\":3,\"explain\":true}";
    parsrec_model *own = NULL;
    parsrec_scratch *scratch = NULL;
    parsrec_live *live = NULL;
    const int32_t bought[] = {0, 1};
    const char *answer;
    char *text = NULL;
    parsrec_status status = parsrec_model_load(&own, model_path, err);
    if (status == PARSREC_OK)
        status = parsrec_model_take_pasts(own, data, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&scratch, own, 0, err);
    if (status == PARSREC_OK)
        status = parsrec_recommend_json(own, scratch, NULL, request, strlen(request), &answer, err);
    if (status == PARSREC_OK)
        status = parsrec_live_new(&live, own, err);
    if (status == PARSREC_OK)
        status = parsrec_live_add(live, "new", "today", bought, 2, err);
    if (status == PARSREC_OK)
        status = parsrec_recommend_json(own, scratch, &(parsrec_json_options){.live = live},
                                        request, strlen(request), &answer, err);
    if (status == PARSREC_OK)
        status = parsrec_live_user_json(&text, live, "new", 3, err);
    parsrec_text_free(text);
    parsrec_live_free(live);
    parsrec_scratch_free(scratch);
    parsrec_model_free(own);
    return status;
}

/* Live histories: everything that is added, asked, written and read again. */
static parsrec_status call_live(parsrec_error *err)
{
    static const uint8_t secret[PARSREC_HASH_BYTES] = {1}, hash[PARSREC_HASH_BYTES] = {2};
    const int32_t bought[] = {0, 1, 2};
    parsrec_live_note note = {.store = "s", .base = "b"};
    parsrec_live *live = NULL, *again = NULL;
    parsrec_bought list[4];
    size_t count;
    char *text = NULL;
    parsrec_status status = parsrec_live_new(&live, model, err);
    if (status == PARSREC_OK)
        status = parsrec_live_add_at(live, "u1", "today", 1701000000, bought, 3, err);
    if (status == PARSREC_OK)
        status = parsrec_live_cart(live, "new", "open", bought, 2, err);
    if (status == PARSREC_OK)
        status = parsrec_live_bought(live, "u1", list, 4, &count, err);
    if (status == PARSREC_OK)
        status = parsrec_live_forget(live, "u2", err);
    if (status == PARSREC_OK)
        status = parsrec_live_forget_hash(live, secret, hash, err);
    if (status == PARSREC_OK)
        status = parsrec_live_search_json(&text, live, PARSREC_ITEM, "i", 5, err);
    parsrec_text_free(text);
    if (status == PARSREC_OK)
        status = parsrec_live_save(live, &note, in_work("histories"), err);
    if (status == PARSREC_OK)
        status = parsrec_live_new(&again, model, err);
    if (status == PARSREC_OK)
        status = parsrec_live_load(again, &note, in_work("histories"), err);
    if (status == PARSREC_OK)
        status = parsrec_file_check(in_work("histories"), NULL, err);
    parsrec_live_free(again);
    parsrec_live_free(live);
    return status;
}

/* What info and list show. */
static parsrec_status call_lists(parsrec_error *err)
{
    parsrec_listed *rows;
    parsrec_calendar calendar = {0};
    parsrec_order_report order;
    parsrec_train_options o = train_options("parsrec");
    const parsrec_epoch epochs[] = {{.number = 1, .loss = 2}, {.number = 2, .loss = 1}};
    char *text = NULL;
    size_t count;
    parsrec_status status = PARSREC_OK;
    for (int thing = PARSREC_USER; thing <= PARSREC_CATEGORY && status == PARSREC_OK; thing++) {
        status = parsrec_data_list(&rows, &count, data, (parsrec_thing)thing, "o", err);
        if (status == PARSREC_OK)
            parsrec_list_free(rows);
    }
    if (status == PARSREC_OK)
        status = parsrec_data_calendar(&calendar, data, err);
    parsrec_calendar_clear(&calendar);
    if (status == PARSREC_OK)
        status = parsrec_data_order(data, &order, err);
    if (status == PARSREC_OK)
        status = parsrec_config_text(&text, &o, err);
    parsrec_text_free(text);
    text = NULL;
    if (status == PARSREC_OK)
        status = parsrec_curves_text(&text, epochs, 2, 60, err);
    parsrec_text_free(text);
    return status;
}

/* The Quality tab, and eval by several protocols. */
static parsrec_status call_baselines(parsrec_error *err)
{
    static parsrec_eval_report reports[2];
    static parsrec_baseline_report baselines;
    parsrec_eval_options o[] = {parsrec_eval_default(), parsrec_eval_default()};
    char *text = NULL;
    o[0].threads = o[1].threads = 1;
    o[1].protocol = PARSREC_PROTOCOL_NEXT;
    parsrec_status status = parsrec_baselines(&baselines, model, PARSREC_SPLIT_VALID, 1, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_baselines_json(&text, &baselines, err);
    parsrec_text_free(text);
    text = NULL;
    if (status == PARSREC_OK)
        status = parsrec_eval_several(model, data, o, 2, reports, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_eval_several_json(&text, "m", "d", o, reports, 2, err);
    parsrec_text_free(text);
    return status;
}

static parsrec_status call_shards(parsrec_error *err)
{
    const char *input = actions;
    parsrec_data *d = NULL;
    parsrec_import_options o = parsrec_import_default();
    o.items_path = items;
    o.shards = 2;
    parsrec_status status = parsrec_import(in_work("shards"), &input, 1, &o, NULL, NULL, err);
    if (status == PARSREC_OK)
        status = parsrec_data_load(&d, in_work("shards"), err);
    if (status == PARSREC_OK)
        parsrec_data_free(d);
    return status != PARSREC_OK ? status : parsrec_file_check(in_work("shards"), NULL, err);
}

static parsrec_status call_forget(parsrec_error *err)
{
    static const char *const users[] = {"u1", "u3"};
    return parsrec_model_forget(model_path, in_work("model"), users, 2, err);
}

/* `warns`: a log or picture that cannot be written is a warning, so that the call may end well. */
typedef struct call {
    const char *name;
    parsrec_status (*make)(parsrec_error *err);
    bool warns;
} call;

static call calls[] = {
    {"import", call_import, false},
    {"synth", call_synth, false},
    {"load, statistics, check", call_load, false},
    {"export", call_export, false},
    {"train parsrec", train_parsrec, true},
    {"train sasrec", train_sasrec, true},
    {"train bert4rec", train_bert4rec, true},
    {"train tisasrec", train_tisasrec, true},
    {"train gru4rec", train_gru4rec, true},
    {"train narm", train_narm, true},
    {"train stamp", train_stamp, true},
    {"train caser", train_caser, true},
    {"train dream", train_dream, true},
    {"train bpr", train_bpr, true},
    {"train fpmc", train_fpmc, true},
    {"train ncf", train_ncf, true},
    {"train hrm", train_hrm, true},
    {"train transrec", train_transrec, true},
    {"train markov", train_markov, true},
    {"memory of another shop", call_memory, false},
    {"count personal", count_personal, false},
    {"count mix", count_mix, false},
    {"count tifuknn", count_tifuknn, false},
    {"count upcf", count_upcf, false},
    {"count pernir", count_pernir, false},
    {"count sknn", count_sknn, false},
    {"count vsknn", count_vsknn, false},
    {"count rules", count_rules, false},
    {"count seqrules", count_seqrules, false},
    {"count itemknn", count_itemknn, false},
    {"count ease", count_ease, false},
    {"recommend to many", call_many, false},
    {"eval", call_eval, false},
    {"explain", call_explain, false},
    {"whatif", call_whatif, false},
    {"compare", call_compare, true},
    {"ablate", call_ablate, true},
    {"tune", call_tune, true},
    {"recommend", call_recommend, false},
    {"forget", call_forget, false},
    {"live histories", call_live, false},
    {"lists", call_lists, false},
    {"baselines", call_baselines, false},
    {"shards", call_shards, false},
};

/* ---- failures ---- */

static size_t failures_wanted(size_t allocations)
{
    const char *word = getenv("PARSREC_ALLOCATIONS");
    if (word == NULL)
        return FAILURES;
    return strcmp(word, "all") == 0 ? allocations : (size_t)strtoull(word, NULL, 10);
}

static void every_allocation_may_fail(void **state)
{
    const call *c = *state;
    parsrec_error err = {0};
    fresh_folder();
    assert_ok(c->make(&err)); /* what libraries keep for ever is there from now on */
    fresh_folder();
    size_t before = pr_memory_count(), ended_well = 0, tried = 0;
    assert_ok(c->make(&err));
    size_t allocations = pr_memory_count() - before, wanted = failures_wanted(allocations);
    size_t stride = wanted < allocations ? allocations / wanted : 1;
    for (size_t n = 0; n < allocations; n += stride, tried++) {
        fresh_folder();
        err = (parsrec_error){0};
        pr_memory_fail_after(n);
        parsrec_status status = c->make(&err);
        pr_memory_fail_after(SIZE_MAX);
        ended_well += status == PARSREC_OK;
        if (status == PARSREC_OK && c->warns)
            continue;
        if (status != PARSREC_E_MEMORY || err.status != status || err.message[0] == '\0')
            fail_msg("%s, allocation %zu of %zu: status %d, '%s'", c->name, n, allocations,
                     (int)status, err.message);
    }
    printf("%s: %zu of %zu allocations failed in turn, %zu of them with a warning\n", c->name,
           tried, allocations, ended_well);
    assert_true(tried > ended_well);
    fresh_folder();
    assert_ok(c->make(&err));
}

static void write_tables(void)
{
    FILE *a = fopen(actions, "w"), *i = fopen(items, "w");
    assert_true(a != NULL && i != NULL);
    fputs("user,session,time,item\n", a);
    for (int u = 0; u < 6; u++)
        for (int s = 0; s < 4; s++)
            for (int k = 0; k < 2 + (u + s) % 2; k++)
                fprintf(a, "u%d,s%d,%d,i%d\n", u, s, 1700000000 + 86400 * s, (u + s + 2 * k) % 7);
    fputs("item,name,category,price\n", i);
    for (int v = 0; v < 7; v++)
        fprintf(i, "i%d,Item %d,%s,%d\n", v, v, v % 3 == 0 ? "FOOD" : "HOME", v);
    fclose(a);
    fclose(i);
}

static int set_up(void **state)
{
    (void)state;
    parsrec_error err;
    assert_non_null(mkdtemp(base));
    snprintf(actions, sizeof actions, "%s/actions.csv", base);
    snprintf(items, sizeof items, "%s/items.csv", base);
    snprintf(data_path, sizeof data_path, "%s/data", base);
    snprintf(model_path, sizeof model_path, "%s/model", base);
    snprintf(work, sizeof work, "%s/work", base);
    write_tables();
    const char *input = actions;
    parsrec_import_options import = parsrec_import_default();
    import.items_path = items;
    assert_ok(parsrec_import(data_path, &input, 1, &import, NULL, NULL, &err));
    assert_ok(parsrec_data_load(&data, data_path, &err));
    parsrec_train_options train = train_options("parsrec");
    assert_ok(parsrec_train(data, model_path, &train, NULL, NULL, &err));
    assert_ok(parsrec_model_load(&model, model_path, &err));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    parsrec_model_free(model);
    parsrec_data_free(data);
    return nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    enum { CALLS = sizeof calls / sizeof *calls };
    struct CMUnitTest tests[CALLS];
    for (size_t i = 0; i < CALLS; i++)
        tests[i] =
            (struct CMUnitTest){calls[i].name, every_allocation_may_fail, NULL, NULL, &calls[i]};
    cmocka_set_test_filter(getenv("PARSREC_CALL"));
    return cmocka_run_group_tests_name("no memory", tests, set_up, tear_down);
}
