/* The log beside a model: one JSON object a line, appended and flushed, so that a run that ends in
 * any way leaves what it knew. */
#ifndef PR_RUN_LOG_H
#define PR_RUN_LOG_H

#include "train/train.h"

typedef struct pr_run_log {
    FILE *file; /* NULL when the log cannot be written: training does not stop for that */
} pr_run_log;

parsrec_status pr_run_log_open(pr_run_log *log, const char *path, bool append, parsrec_error *err);
void pr_run_log_close(pr_run_log *log);

void pr_run_log_begin(pr_run_log *log, const pr_dataset *data, const pr_train_plan *plan,
                      unsigned threads);
void pr_run_log_epoch(pr_run_log *log, const pr_epoch *epoch);
/* "finished", "stopped" or "failed" and a sentence. */
void pr_run_log_end(pr_run_log *log, const char *event, const char *message);

#endif
