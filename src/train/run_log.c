/* JSON lines. */
#include <stdio.h>

#include "train/run_log.h"

#include "base/memory.h"

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

void pr_run_log_begin(pr_run_log *log, const pr_dataset *data, const pr_train_plan *plan,
                      unsigned threads)
{
    const char *checksum = data->file != NULL ? pr_container_checksum(data->file) : "";
    put(log, json_pack("{s:s, s:s, s:s, s:o?, s:I, s:I, s:s, s:s?}", "event", "begin", "version",
                       parsrec_version(), "model", plan->kind, "config",
                       pr_config_json(&plan->config), "seed", (json_int_t)plan->seed, "threads",
                       (json_int_t)threads, "data", checksum, "resume", plan->resume));
}

void pr_run_log_epoch(pr_run_log *log, const pr_epoch *e)
{
    const size_t k = PR_CHOICE_CUTOFF;
    put(log, json_pack("{s:s, s:i, s:f, s:f, s:f, s:{s:f, s:f, s:f}}", "event", "epoch", "epoch",
                       (int)e->number, "loss", e->loss, "seconds", e->seconds, "items_per_s",
                       e->items_per_s, "valid", "HR@10", e->valid.hit_rate[k], "NDCG@10",
                       e->valid.ndcg[k], "Sess-Prec@10", e->valid.session_precision[k]));
}

void pr_run_log_end(pr_run_log *log, const char *event, const char *message)
{
    put(log, json_pack("{s:s, s:s}", "event", event, "message", message));
}
