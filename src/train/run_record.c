/* Run records: read from the log or a checkpoint, and written as lines of the log. */
#include "train/run_record.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "eval/baselines.h"
#include "model/settle.h"
#include "train/checkpoint.h"

enum { EPOCHS_MOST = 100000 };

/* ---- reading ---- */

const char *const pr_validation_measures[PR_VALIDATION_MEASURES] = {"NDCG@10", "HR@10",
                                                                    "Sess-Prec@10"};

double pr_validation_value(const parsrec_epoch *e, const char *measure)
{
    return strcmp(measure, "HR@10") == 0          ? e->hit_rate_10
           : strcmp(measure, "Sess-Prec@10") == 0 ? e->session_precision_10
                                                  : e->ndcg_10;
}

/* The last line that begins a run says how the model beside the log was made. A line that lacks
 * something leaves the record as it was. */
static void read_begin(pr_run_record *r, json_t *line)
{
    const char *kind, *data;
    json_t *object;
    json_int_t seed;
    pr_config config = pr_config_default();
    if (json_unpack(line, "{s:s, s:o, s:I, s:s}", "model", &kind, "config", &object, "seed", &seed,
                    "data", &data) != 0 ||
        pr_config_from_json(&config, object, NULL) != PARSREC_OK)
        return;
    r->source = PR_RECORD_LOG;
    r->config = config;
    r->seed = (uint64_t)seed;
    snprintf(r->kind, sizeof r->kind, "%s", kind);
    snprintf(r->data, sizeof r->data, "%s", data);
}

/* A resumed run writes its earlier epochs again, so an epoch takes its place by number. They then
 * have 0 seconds, so that the sum counts each epoch once. A line that is not whole is passed
 * over. */
static parsrec_status read_epoch(pr_run_record *r, json_t *line, parsrec_error *err)
{
    json_int_t number;
    parsrec_epoch e = {0};
    int earlier;
    if (json_unpack(line, "{s:I, s:b, s:F, s:F, s:F, s:{s:F, s:F, s:F}}", "epoch", &number,
                    "earlier", &earlier, "loss", &e.loss, "seconds", &e.seconds, "items_per_s",
                    &e.items_per_s, "valid", "HR@10", &e.hit_rate_10, "NDCG@10", &e.ndcg_10,
                    "Sess-Prec@10", &e.session_precision_10) != 0 ||
        number < 1 || number > EPOCHS_MOST || (size_t)number > r->epoch_count + 1)
        return PARSREC_OK;
    e.number = (uint32_t)number;
    e.earlier = earlier != 0;
    r->seconds += e.seconds;
    PR_TRY(pr_grow(&r->epochs, &r->epoch_capacity, (size_t)number, sizeof e, err));
    r->epochs[number - 1] = e;
    r->epoch_count = (size_t)number;
    return PARSREC_OK;
}

static parsrec_status read_log(pr_run_record *r, const char *path, parsrec_error *err)
{
    pr_mapping file;
    parsrec_status status = PARSREC_OK;
    if (pr_file_map(&file, path, NULL) != PARSREC_OK)
        return PARSREC_OK;
    const char *text = (const char *)file.bytes;
    for (size_t at = 0; at < file.size && status == PARSREC_OK;) {
        const char *end = memchr(text + at, '\n', file.size - at);
        size_t size = end != NULL ? (size_t)(end - text) - at : file.size - at;
        json_t *line; /* NULL if the line is not whole: a run may have been killed in it */
        if (pr_json_parse(&line, text + at, size, path, NULL) == PARSREC_E_MEMORY)
            status = pr_fail_memory(err);
        const char *event = json_string_value(json_object_get(line, "event"));
        if (event != NULL && strcmp(event, "begin") == 0)
            read_begin(r, line);
        else if (event != NULL && strcmp(event, "epoch") == 0)
            status = read_epoch(r, line, err);
        json_decref(line);
        at += size + 1;
    }
    pr_file_unmap(&file);
    return status;
}

parsrec_status pr_run_record_read(pr_run_record *r, const char *model_path, const pr_dataset *data,
                                  parsrec_error *err)
{
    pr_path path;
    pr_checkpoint file;
    *r = (pr_run_record){0};
    PR_TRY(read_log(r, pr_log_path(&path, model_path), err));
    if (data == NULL || access(pr_checkpoint_path(&path, model_path), F_OK) != 0)
        return PARSREC_OK;
    PR_TRY(pr_checkpoint_open(&file, path.text, data, err)); /* which compares the data */
    r->source = PR_RECORD_CHECKPOINT;
    r->config = file.config;
    r->seed = file.at.seed;
    r->patience = file.at.patience;
    snprintf(r->kind, sizeof r->kind, "%s", file.kind);
    snprintf(r->data, sizeof r->data, "%s", pr_dataset_checksum(data));
    pr_checkpoint_close(&file);
    return PARSREC_OK;
}

void pr_run_record_free(pr_run_record *r)
{
    pr_free(r->epochs);
    *r = (pr_run_record){0};
}

bool pr_run_record_fits(const pr_run_record *r, const pr_config *wanted,
                        const parsrec_train_options *o, const pr_dataset *data, char *reason,
                        size_t size)
{
    const char *kind = pr_train_kind(o);
    pr_config found = pr_settled(wanted, pr_model_kind_named(kind), data, &r->config);
    char old[64], new[64];
    assert(r->source != PR_RECORD_NONE);
    if (strcmp(r->kind, kind) != 0) {
        snprintf(reason, size, "it is of the kind %s", r->kind);
        return false;
    }
    if (strcmp(r->data, pr_dataset_checksum(data)) != 0) {
        snprintf(reason, size, "it was trained on other data");
        return false;
    }
    for (size_t i = 0; i < pr_config_count(); i++) {
        pr_config_value(&r->config, i, old, sizeof old);
        pr_config_value(&found, i, new, sizeof new);
        if (strcmp(old, new) != 0) {
            snprintf(reason, size, "%s = %s, not %s", pr_config_key(i), old, new);
            return false;
        }
    }
    if (r->seed != o->seed) {
        snprintf(reason, size, "seed = %llu, not %llu", (unsigned long long)r->seed,
                 (unsigned long long)o->seed);
        return false;
    }
    if (r->source == PR_RECORD_CHECKPOINT && r->patience != o->patience) {
        snprintf(reason, size, "patience = %llu, not %llu", (unsigned long long)r->patience,
                 (unsigned long long)o->patience);
        return false;
    }
    return true;
}

/* ---- writing the log ---- */

parsrec_status pr_run_log_open(pr_run_log *log, const char *path, bool append, parsrec_error *err)
{
    log->file = fopen(path, append ? "a" : "w");
    if (log->file == NULL)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: the log cannot be written", path);
    return PARSREC_OK;
}

void pr_run_log_close(pr_run_log *log)
{
    if (log->file != NULL)
        fclose(log->file);
    log->file = NULL;
}

/* Takes the object over. A line that cannot be written is lost; the run continues. */
static void put(pr_run_log *log, json_t *object)
{
    char *text = object != NULL ? pr_json_text(object) : NULL;
    if (text != NULL && log->file != NULL) {
        fprintf(log->file, "%s\n", text);
        fflush(log->file);
    }
    pr_free(text);
    json_decref(object);
}

void pr_run_log_begin(pr_run_log *log, const pr_run_record *r, unsigned threads, const char *resume)
{
    put(log, json_pack("{s:s, s:s, s:s, s:o?, s:I, s:I, s:s, s:o}", "event", "begin", "version",
                       parsrec_version(), "model", r->kind, "config", pr_config_json(&r->config),
                       "seed", (json_int_t)r->seed, "threads", (json_int_t)threads, "data", r->data,
                       "resume", resume != NULL ? pr_json_string(resume) : json_null()));
}

void pr_run_log_epoch(pr_run_log *log, const pr_epoch_result *e)
{
    const size_t k = PR_CHOICE_CUTOFF;
    json_t *line = json_pack(
        "{s:s, s:I, s:b, s:f, s:f, s:f, s:I, s:{s:f, s:f, s:f}}", "event", "epoch", "epoch",
        (json_int_t)e->number, "earlier", (int)e->earlier, "loss", e->loss, "seconds", e->seconds,
        "items_per_s", e->items_per_s, "validated", (json_int_t)e->valid.baskets, "valid", "HR@10",
        e->valid.value[PR_ALL][PR_HR][k], "NDCG@10", e->valid.value[PR_ALL][PR_NDCG][k],
        "Sess-Prec@10", e->valid.value[PR_ALL][PR_SESS_PREC][k]);
    if (line != NULL && (e->next > 0 || e->basket > 0)) {
        json_object_set_new(line, "next", json_pack("{s:f}", "NDCG@10", e->next));
        json_object_set_new(line, "basket", json_pack("{s:f}", "NDCG@10", e->basket));
    }
    put(log, line);
}

void pr_run_log_baselines(pr_run_log *log, const parsrec_baseline_report *report)
{
    json_t *json = report->row_count > 0 ? pr_baselines_json(report) : NULL;
    if (json == NULL)
        return;
    json_object_set_new(json, "event", json_string("baselines"));
    put(log, json);
}

void pr_run_log_end(pr_run_log *log, const char *event, const char *message)
{
    put(log, json_pack("{s:s, s:o}", "event", event, "message", pr_json_string(message)));
}
