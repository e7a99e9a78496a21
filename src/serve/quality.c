/* Evaluation of the served model and of counting models on its test split, in a thread of low priority. */
#include "serve/quality.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

enum { NICE = 10 }; /* with more, a busy machine would let it neither finish nor stop */

static const char *const peers[] = {"pop", "personal", "recent", "markov", "mix"};

typedef struct task {
    quality *to;
    engine *engine;
} task;

/* ---- evaluation ---- */

static int wants_to_stop(void *context, const parsrec_progress *progress)
{
    quality *q = context;
    (void)progress;
    return atomic_load(&q->stop);
}

static json_t *report_json(const char *model, const parsrec_eval_report *r)
{
    json_t *metrics = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        char name[48];
        const parsrec_measure *m = &r->measures[i];
        if (m->k > 0)
            snprintf(name, sizeof name, "%s@%llu", m->name, (unsigned long long)m->k);
        else
            snprintf(name, sizeof name, "%s", m->name);
        json_object_set_new(metrics, name,
                            m->value == m->value
                                ? json_pack("{s:f, s:f, s:f, s:f}", "value", m->value, "low",
                                            m->low, "high", m->high, "random", m->random)
                                : json_null());
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:o}", "model", model, "users", (json_int_t)r->users,
                     "baskets", (json_int_t)r->baskets, "negatives", (json_int_t)r->negatives,
                     "metrics", metrics);
}

static parsrec_status add_row(json_t *rows, const parsrec_model *model, const char *name,
                              const parsrec_data *data, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    parsrec_eval_options options = parsrec_eval_default();
    parsrec_eval_report report;
    options.threads = 1;
    PR_TRY(parsrec_eval(model, data, &options, &report, hooks, err));
    return json_array_append_new(rows, report_json(name, &report)) == 0 ? PARSREC_OK
                                                                        : pr_fail_memory(err);
}

static parsrec_status fill_table(json_t *rows, quality *q, const engine *e, parsrec_error *err)
{
    const parsrec_data *data = parsrec_model_data(e->model);
    parsrec_hooks hooks = {.context = q, .on_progress = wants_to_stop};
    parsrec_model_facts facts;
    parsrec_model_describe(e->model, &facts);
    PR_TRY(add_row(rows, e->model, facts.kind, data, &hooks, err));
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        if (strcmp(peers[i], facts.kind) != 0) {
            parsrec_train_options options = parsrec_train_default();
            parsrec_model *model;
            options.model = peers[i];
            PR_TRY(parsrec_model_count(&model, data, &options, &hooks, err));
            parsrec_status status = add_row(rows, model, peers[i], data, &hooks, err);
            parsrec_model_free(model);
            PR_TRY(status);
        }
    return PARSREC_OK;
}

/* The comparison that ends a training, here on the test sessions; also written to the log. */
static parsrec_status compare_with_counts(json_t **out, quality *q, const engine *e,
                                          parsrec_error *err)
{
    parsrec_hooks hooks = {.context = q, .on_progress = wants_to_stop};
    parsrec_baseline_report report;
    char *text, line[2048];
    PR_TRY(parsrec_baselines(&report, e->model, PARSREC_SPLIT_TEST, 1, &hooks, err));
    PR_TRY(parsrec_baselines_json(&text, &report, err));
    parsrec_status status = pr_json_parse(out, text, strlen(text), "baselines", err);
    parsrec_text_free(text);
    PR_TRY(status);
    if (report.row_count > 0)
        fprintf(stderr, "%s%s\n", report.verdict == PARSREC_VERDICT_BEHIND ? "warning: " : "",
                parsrec_baselines_text(&report, line, sizeof line));
    return PARSREC_OK;
}

static void *evaluate(void *context)
{
    task *t = context;
    parsrec_error err = {0};
    json_t *rows = json_array(), *baselines = NULL;
    /* On Linux each thread has its own nice value. */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    parsrec_status status =
        rows != NULL ? fill_table(rows, t->to, t->engine, &err) : pr_fail_memory(&err);
    if (status == PARSREC_OK)
        status = compare_with_counts(&baselines, t->to, t->engine, &err);
    quality *q = t->to;
    pthread_mutex_lock(&q->lock);
    if (status != PARSREC_E_STOPPED) { /* nothing of an earlier model stays */
        bool good = status == PARSREC_OK;
        json_decref(q->table);
        json_decref(q->baselines);
        q->table = good ? json_incref(rows) : NULL;
        q->baselines = good ? json_incref(baselines) : NULL;
        snprintf(q->failure, sizeof q->failure, "%s", good ? "" : err.message);
    }
    pthread_mutex_unlock(&q->lock);
    json_decref(rows);
    json_decref(baselines);
    engine_drop(t->engine);
    pr_free(t);
    return NULL;
}

/* ---- starting and stopping ---- */

void quality_init(quality *q)
{
    memset(q, 0, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
}

static void stop(quality *q)
{
    if (!q->running)
        return;
    atomic_store(&q->stop, true);
    pthread_join(q->thread, NULL);
    atomic_store(&q->stop, false);
    q->running = false;
}

void quality_free(quality *q)
{
    stop(q);
    json_decref(q->table);
    json_decref(q->baselines);
    pthread_mutex_destroy(&q->lock);
}

void quality_start(quality *q, engine *e)
{
    const struct stat *old = &q->at, *new = &e->file;
    if (q->running && old->st_ino == new->st_ino && old->st_dev == new->st_dev &&
        old->st_size == new->st_size && old->st_mtim.tv_sec == new->st_mtim.tv_sec &&
        old->st_mtim.tv_nsec == new->st_mtim.tv_nsec)
        return;
    stop(q);
    q->at = e->file;
    task *t = pr_alloc(1, sizeof *t);
    if (t == NULL)
        return;
    *t = (task){q, e};
    atomic_fetch_add(&e->users, 1);
    q->running = pthread_create(&q->thread, NULL, evaluate, t) == 0;
    if (!q->running) {
        engine_drop(e);
        pr_free(t);
    }
}

json_t *quality_json(quality *q)
{
    pthread_mutex_lock(&q->lock);
    json_t *json = q->table != NULL ? json_pack("{s:b, s:s, s:s, s:O, s:O}", "ready", 1, "split",
                                                "test", "protocol", "remaining", "models", q->table,
                                                "baselines", q->baselines)
                   : q->failure[0] != '\0'
                       ? json_pack("{s:b, s:o}", "ready", 0, "failure", pr_json_string(q->failure))
                       : json_pack("{s:b}", "ready", 0);
    /* The caller writes the answer after the lock is released, when the table may be replaced. */
    json_t *copy = json_deep_copy(json);
    json_decref(json);
    pthread_mutex_unlock(&q->lock);
    return copy;
}
