/* train: checkpoint and model files that are damaged, of another kind, or of another run. */
#include "support/toy_run.h"

#include "train/checkpoint.h"

static const toy_sizes small = {.users = 6, .items = 7, .least = 3, .spread = 2, .sizes = 3};
static toy_shop shop;

/* A run stopped in its second epoch, and a finished one. */
static int make_files(void **state)
{
    parsrec_error err;
    if (toy_open_folder(state) != 0)
        return 1;
    shop = toy_make(small);
    pr_train_plan plan = toy_plan(&toy_kinds[0], 2, 8, 2);
    plan.checkpoint = toy_path("ckpt");
    toy_stop stop = {.at = 5};
    if (toy_train(&shop.data, &plan, 1, &stop, NULL, &err) != PARSREC_E_STOPPED)
        return 1;
    plan.checkpoint = NULL;
    return toy_train(&shop.data, &plan, 1, NULL, NULL, &err) != PARSREC_OK;
}

static int remove_files(void **state)
{
    toy_free(&shop);
    return toy_remove_folder(state);
}

/* What a user would do with the file of that name. */
static parsrec_status resume(const char *path, parsrec_error *err)
{
    pr_train_plan plan = {.resume = path, .checkpoint_seconds = 1e9};
    pr_train_result result;
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, 1, err));
    parsrec_status status = pr_train(&result, &shop.data, &plan, pool, NULL, NULL, err);
    pr_train_result_free(&result);
    pr_pool_free(pool);
    return status;
}

static parsrec_status load(const char *path, parsrec_error *err)
{
    pr_model_file file;
    PR_TRY(pr_model_load(&file, path, err));
    pr_model_file_free(&file);
    return PARSREC_OK;
}

typedef parsrec_status reader(const char *path, parsrec_error *err);

static const struct {
    const char *name;
    reader *read;
} files[] = {{"ckpt", resume}, {"model", load}};

static void whole_files_are_read(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t i = 0; i < 2; i++)
        assert_ok(files[i].read(toy_path(files[i].name), &err));
}

static void one_sentence(const parsrec_error *err)
{
    assert_true(err->message[0] != '\0');
    assert_null(strchr(err->message, '\n'));
}

static void cut_short(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t i = 0; i < 2; i++) {
        toy_bytes b = toy_read(toy_path(files[i].name));
        for (size_t size = 0; size < b.size; size += 1 + b.size / 97) {
            toy_write(toy_path("damaged"), b.bytes, size);
            parsrec_status status = files[i].read(toy_path("damaged"), &err);
            assert_true(status == PARSREC_E_FORMAT);
            one_sentence(&err);
        }
        free(b.bytes);
    }
}

static void one_flipped_bit(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t i = 0; i < 2; i++) {
        toy_bytes b = toy_read(toy_path(files[i].name));
        for (size_t at = 0; at < b.size; at += 1 + b.size / 331) {
            b.bytes[at] ^= (unsigned char)(1 << at % 8);
            toy_write(toy_path("damaged"), b.bytes, b.size);
            b.bytes[at] ^= (unsigned char)(1 << at % 8);
            assert_int_not_equal(files[i].read(toy_path("damaged"), &err), PARSREC_OK);
            one_sentence(&err);
        }
        free(b.bytes);
    }
}

/* ---- well-formed files that say something else ---- */

/* A file written anew, checksum and all, with one thing changed. */
typedef struct change {
    const char *format; /* NULL: as it is; likewise the others */
    uint32_t version;
    const char *key, *value; /* metadata */
    const char *tensor;      /* replaced by `with`; left out when with.name is NULL */
    pr_tensor with;
} change;

static const char *rewrite(const char *name, const change *c)
{
    static const char *const keys[] = {"model", "config", "data", "time_kind"};
    parsrec_error err;
    pr_container *file;
    assert_ok(pr_container_open(&file, toy_path(name), &err));
    pr_metadata metadata[4];
    pr_tensor tensors[256];
    size_t words = 0, count = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *value = pr_container_metadata(file, keys[i]);
        if (c->key != NULL && strcmp(c->key, keys[i]) == 0)
            value = c->value;
        if (value != NULL)
            metadata[words++] = (pr_metadata){keys[i], value};
    }
    assert_true(pr_container_tensors(file) < 256);
    for (size_t i = 0; i < pr_container_tensors(file); i++) {
        const pr_tensor *t = pr_container_at(file, i);
        if (c->tensor == NULL || strcmp(c->tensor, t->name) != 0)
            tensors[count++] = *t;
        else if (c->with.name != NULL)
            tensors[count++] = c->with;
    }
    const char *format = pr_container_metadata(file, "format");
    assert_ok(pr_container_write(toy_path("damaged"), c->format != NULL ? c->format : format,
                                 c->version > 0 ? c->version : 1, metadata, words, tensors, count,
                                 &err));
    pr_container_free(file);
    return toy_path("damaged");
}

static void another_version_or_kind(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t i = 0; i < 2; i++) {
        change newer = {.version = 2}, other = {.format = "parsrec.data"}, same = {0};
        assert_ok(files[i].read(rewrite(files[i].name, &same), &err));
        assert_fails(files[i].read(rewrite(files[i].name, &newer), &err), PARSREC_E_VERSION,
                     "version 2, this parsrec reads up to 1");
        assert_fails(files[i].read(rewrite(files[i].name, &other), &err), PARSREC_E_FORMAT,
                     "is a data set, not a");
    }
    assert_fails(load(toy_path("ckpt"), &err), PARSREC_E_FORMAT,
                 "is a checkpoint of a training run, not a model");
    assert_fails(resume(toy_path("model"), &err), PARSREC_E_FORMAT,
                 "is a finished model, not a checkpoint");
}

static void another_data_set(void **state)
{
    (void)state;
    parsrec_error err;
    int32_t was = shop.items[0];
    shop.items[0] = (was + 3) % 7; /* the same sizes */
    assert_fails(resume(toy_path("ckpt"), &err), PARSREC_E_INPUT, "belongs to another data set");
    shop.items[0] = was;
    shop.user_keys[1] = '9';
    assert_fails(resume(toy_path("ckpt"), &err), PARSREC_E_INPUT, "belongs to another data set");
    shop.user_keys[1] = '0';
    assert_ok(resume(toy_path("ckpt"), &err));
}

static void settings_that_do_not_fit(void **state)
{
    (void)state;
    parsrec_error err;
    static const struct {
        change change;
        const char *says;
    } cases[] = {
        {{.key = "model", .value = "prophet"}, "there is no model 'prophet'"},
        {{.key = "model", .value = NULL}, "lacks the metadata"},
        {{.key = "model", .value = "sasrec"}, "position_emb' is missing"},
        {{.key = "config", .value = "{"}, "not valid JSON"},
        {{.key = "config", .value = "[]"}, "must be a JSON object"},
        {{.key = "config", .value = "{\"colour\": 1}"}, "no setting 'colour'"},
        {{.key = "config", .value = "{\"dim.user\": 3, \"dim.item\": 2}"}, "does not divide"},
        /* Would be 17 GB; the shapes are compared before any of it is taken. */
        {{.key = "config", .value = "{\"dim.user\": 4096, \"dim.item\": 4096, \"layers\": 8}"},
         "its settings ask for"},
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            parsrec_status status = files[i].read(rewrite(files[i].name, &cases[k].change), &err);
            if (status == PARSREC_OK || strstr(err.message, cases[k].says) == NULL)
                fail_msg("%s, case %zu: %s", files[i].name, k, err.message);
        }
}

static void numbers_that_do_not_fit(void **state)
{
    (void)state;
    parsrec_error err;
    static const float wide[8];
    static const uint64_t far[9] = {1, 0, 1, 1000, 1000, 1, 0, 1, 1},
                          best[9] = {1, 0, 1, 0, 9, 0, 0, 2, 9},
                          none[9] = {1, 0, 1, 0, 9, 0, 0, 0, 9};
    double epochs[27] = {1, 1e300};
    const struct {
        change change;
        const char *says;
    } cases[] = {
        {{.tensor = "best.user_emb"}, "'best.user_emb' is missing"},
        {{.tensor = "moment2.user_emb", .with = {"moment2.user_emb", PR_F32, 2, {2, 4}, wide}},
         "its settings ask for"},
        {{.tensor = "position"}, "'position' is missing"},
        {{.tensor = "position", .with = {"position", PR_U64, 1, {3}, far}},
         "does not fit the rest"},
        {{.tensor = "position", .with = {"position", PR_U64, 1, {9}, far}},
         "the position is batch 1000"},
        {{.tensor = "position", .with = {"position", PR_U64, 1, {9}, best}},
         "does not fit the rest"},
        {{.tensor = "position", .with = {"position", PR_U64, 1, {9}, none}},
         "does not fit the rest"},
        {{.tensor = "epochs", .with = {"epochs", PR_F64, 2, {0, 27}, epochs}}, "'epochs' does not"},
        {{.tensor = "epochs", .with = {"epochs", PR_F64, 2, {1, 27}, epochs}}, "'epochs' does not"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_fails(resume(rewrite("ckpt", &cases[k].change), &err), PARSREC_E_FORMAT,
                     cases[k].says);
    }
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    parsrec_error err;
    float bad[(6 + 1) * 2] = {[5] = NAN}; /* the users' table, one of them anyone */
    change nan = {.tensor = "param.user_emb", .with = {"param.user_emb", PR_F32, 2, {7, 2}, bad}};
    for (size_t i = 0; i < 2; i++) {
        bad[5] = i == 0 ? NAN : INFINITY;
        assert_fails(files[i].read(rewrite(files[i].name, &nan), &err), PARSREC_E_FORMAT,
                     "is not finite");
    }
}

/* Links between items that lead outside, end nowhere, or differ between the blocks. */
static void links_that_lead_outside(void **state)
{
    (void)state;
    parsrec_error err;
    static const struct {
        const char *tensor;
        uint32_t value;
        const char *says;
    } cases[] = {
        {"param.near.to", 7, "leads to no item"},
        {"param.near.to", UINT32_MAX, "leads to no item"},
        {"param.near.ends", UINT32_MAX, "end nowhere"},
        {"param.near.ends", 1u << 31, "end nowhere"},
        {"best.near.to", 7, "'near.to' does not fit the rest"},
        {"best.near.ends", UINT32_MAX, "'near.ends' does not fit the rest"},
        {"average.near.to", 6, "'near.to' does not fit the rest"},
        {"moment1.near.to", 0x7fc00000, "'near.to' does not fit the rest"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_container *file;
        const pr_tensor *is;
        uint32_t words[256];
        assert_ok(pr_container_open(&file, toy_path("ckpt"), &err));
        assert_ok(pr_container_need(file, cases[i].tensor, PR_U32, 2, &is, &err));
        change c = {.tensor = cases[i].tensor, .with = *is};
        size_t count = (size_t)pr_tensor_count(is);
        assert_in_range(count, 1, sizeof words / sizeof *words);
        memcpy(words, is->data, count * sizeof *words);
        words[0] = cases[i].value;
        c.with.name = cases[i].tensor;
        c.with.data = words;
        pr_container_free(file);
        assert_fails(resume(rewrite("ckpt", &c), &err), PARSREC_E_FORMAT, cases[i].says);
    }
}

/* What parsrec check sees without the data set. */
static void the_check_reads_checkpoints(void **state)
{
    (void)state;
    parsrec_error err;
    static const float wide[8];
    static const uint64_t none[9] = {1, 0, 1, 0, 9, 0, 0, 0, 9};
    float bad[(6 + 1) * 2] = {[5] = NAN};
    const struct {
        change change;
        const char *says;
    } cases[] = {
        {{.tensor = "best.user_emb"}, "'best.user_emb' is missing"},
        {{.tensor = "param.user_emb"}, "does not fit the rest"},
        {{.tensor = "moment2.user_emb", .with = {"moment2.user_emb", PR_F32, 2, {2, 4}, wide}},
         "does not fit the rest"},
        {{.tensor = "moment1.user_emb", .with = {"moment1.user_emb", PR_F32, 2, {7, 2}, bad}},
         "not finite"},
        {{.tensor = "position", .with = {"position", PR_U64, 1, {9}, none}},
         "does not fit the rest"},
        {{.key = "config", .value = "{\"epochs\": -1}"}, "epochs"},
        {{.key = "config", .value = "{\"batch\": 0}"}, "a checkpoint cannot have them"},
        {{.key = "config", .value = "{\"epochs\": 0}"}, "a checkpoint cannot have them"},
    };
    assert_ok(parsrec_file_check(toy_path("ckpt"), NULL, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsrec_status status = parsrec_file_check(rewrite("ckpt", &cases[i].change), NULL, &err);
        if (status == PARSREC_OK || strstr(err.message, cases[i].says) == NULL)
            fail_msg("case %zu: %s", i, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_read),    cmocka_unit_test(cut_short),
        cmocka_unit_test(one_flipped_bit),         cmocka_unit_test(another_version_or_kind),
        cmocka_unit_test(another_data_set),        cmocka_unit_test(settings_that_do_not_fit),
        cmocka_unit_test(numbers_that_do_not_fit), cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(links_that_lead_outside), cmocka_unit_test(the_check_reads_checkpoints),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
