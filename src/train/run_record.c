/* JSON lines. */
#include "train/run_record.h"

#include "base/json.h"
#include "base/memory.h"
#include "eval/baselines.h"

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

/* Takes the object over. A line that cannot be written is lost; the run goes on. */
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

void pr_run_log_begin(pr_run_log *log, const pr_dataset *data, const pr_model *model, uint64_t seed,
                      unsigned threads, const char *resume)
{
    const char *checksum = pr_dataset_checksum(data);
    put(log, json_pack("{s:s, s:s, s:s, s:o?, s:I, s:I, s:s, s:o}", "event", "begin", "version",
                       parsrec_version(), "model", model->kind->name, "config",
                       pr_config_json(&model->config), "seed", (json_int_t)seed, "threads",
                       (json_int_t)threads, "data", checksum, "resume",
                       resume != NULL ? pr_json_string(resume) : json_null()));
}

void pr_run_log_epoch(pr_run_log *log, const pr_epoch_result *e)
{
    const size_t k = PR_CHOICE_CUTOFF;
    put(log,
        json_pack("{s:s, s:I, s:b, s:f, s:f, s:f, s:I, s:{s:f, s:f, s:f}}", "event", "epoch",
                  "epoch", (json_int_t)e->number, "earlier", (int)e->earlier, "loss", e->loss,
                  "seconds", e->seconds, "items_per_s", e->items_per_s, "validated",
                  (json_int_t)e->valid.baskets, "valid", "HR@10", e->valid.value[PR_ALL][PR_HR][k],
                  "NDCG@10", e->valid.value[PR_ALL][PR_NDCG][k], "Sess-Prec@10",
                  e->valid.value[PR_ALL][PR_SESS_PREC][k]));
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
