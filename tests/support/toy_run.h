/* Training runs on a toy shop, into files of a folder of their own, for tests that compare bytes. */
#ifndef TOY_RUN_H
#define TOY_RUN_H

#include "support/testing.h"
#include "support/toy_shop.h"

#include "model/model_file.h"
#include "train/train.h"

/* ---- files ---- */

static char toy_folder[64];

static inline const char *toy_path(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", toy_folder, name);
    return p;
}

static inline int toy_open_folder(void **state)
{
    (void)state;
    snprintf(toy_folder, sizeof toy_folder, "/tmp/parsrec-train.XXXXXX");
    return mkdtemp(toy_folder) == NULL;
}

static inline int toy_remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"model", "ckpt", "other", "damaged"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(toy_path(names[i]));
    return rmdir(toy_folder); /* fails when a temporary file was left behind */
}

typedef struct toy_bytes {
    unsigned char *bytes;
    size_t size;
} toy_bytes;

static inline toy_bytes toy_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    toy_bytes b = {.size = (size_t)ftell(f)};
    b.bytes = malloc(b.size);
    rewind(f);
    assert_int_equal(fread(b.bytes, 1, b.size, f), b.size);
    fclose(f);
    return b;
}

static inline void toy_write(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* ---- runs ---- */

/* Every kind that learns; parsrec and sasrec with each of their losses and cells. */
typedef struct toy_kind {
    const char *title, *name, *setting;
    bool field; /* shares its trainer with one above: fewer tests (test_train.c) */
} toy_kind;

static const toy_kind toy_kinds[] = {
    {"parsrec", "parsrec", "loss=ce", false},
    {"parsrec, gru", "parsrec", "cell=gru", false},
    {"parsrec, lstm", "parsrec", "cell=lstm", false},
    {"parsrec, sampled", "parsrec", "loss=sampled", false},
    {"parsrec, pairs", "parsrec", "loss=bpr", false},
    {"sasrec", "sasrec", "loss=ce", false},
    {"sasrec, binary", "sasrec", "loss=bce", false},
    {"bert4rec", "bert4rec", "loss=ce", false},
    {"tisasrec", "tisasrec", "loss=ce", true},
    {"gru4rec", "gru4rec", "loss=ce", true},
    {"gru4rec, sampled", "gru4rec", "loss=bpr-max", true},
    {"narm", "narm", "loss=ce", true},
    {"stamp", "stamp", "loss=ce", true},
    {"caser", "caser", "loss=ce", true},
    {"dream", "dream", "loss=ce", true},
    {"bpr", "bpr", "loss=bpr", true},
    {"fpmc", "fpmc", "loss=bpr", true},
    {"ncf", "ncf", "loss=bce", true},
    {"hrm", "hrm", "loss=bce", true},
    {"transrec", "transrec", "loss=bpr", true},
};
enum { TOY_KINDS = sizeof toy_kinds / sizeof *toy_kinds };

/* A run that learns fast. Sequences are cut to a length that many of a toy shop's exceed. */
static inline pr_train_plan toy_plan(const toy_kind *kind, int dim, int batch, int epochs)
{
    parsrec_error err;
    pr_train_plan plan = {.kind = kind->name, .seed = 11, .checkpoint_seconds = 1e9};
    pr_config *c = &plan.config;
    assert_ok(pr_model_defaults(c, kind->name, &err));
    assert_ok(pr_config_assign(c, kind->setting, &err));
    c->dim_user = c->dim_item = dim;
    c->batch = batch;
    c->epochs = epochs;
    c->length = 9;
    c->rate = 0.01;
    return plan;
}

/* Stops at the progress call of that number, from 1; 0 never. */
typedef struct toy_stop {
    unsigned at, calls;
    bool validating; /* the last call was in a validation */
} toy_stop;

static inline int toy_on_progress(void *context, const parsrec_progress *p)
{
    toy_stop *s = context;
    s->validating = p->note != NULL && strstr(p->note, "validating") != NULL;
    return ++s->calls == s->at;
}

/* Trains and, when the run finishes, writes the model to toy_path("model"). */
static inline parsrec_status toy_train(const pr_dataset *data, const pr_train_plan *plan,
                                       unsigned threads, toy_stop *stop, pr_train_result *keep,
                                       parsrec_error *err)
{
    parsrec_hooks hooks = {.context = stop, .on_progress = toy_on_progress};
    pr_pool *pool;
    pr_train_result result;
    PR_TRY(pr_pool_new(&pool, threads, err));
    parsrec_status status =
        pr_train(&result, data, plan, pool, NULL, stop != NULL ? &hooks : NULL, err);
    pr_pool_free(pool);
    if (status == PARSREC_OK)
        status = pr_model_save(result.model, data, toy_path("model"), err);
    if (status == PARSREC_OK && keep != NULL)
        *keep = result;
    else
        pr_train_result_free(&result);
    return status;
}

static inline void toy_assert_model(const toy_bytes *expected)
{
    toy_bytes b = toy_read(toy_path("model"));
    assert_int_equal(b.size, expected->size);
    assert_memory_equal(b.bytes, expected->bytes, b.size);
    free(b.bytes);
    unlink(toy_path("model"));
}

#endif
