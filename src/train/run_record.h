/* The log beside a model: one JSON object a line, appended and flushed, so that a run that ends in
 * any way leaves what it knew. */
#ifndef PR_RUN_RECORD_H
#define PR_RUN_RECORD_H

#include <stdio.h>

#include "train/train.h"

/* A log that could not be opened, or whose disk is full, stays silent: training does not stop for
 * that. */
typedef struct pr_run_log {
    FILE *file; /* NULL: nothing is written */
} pr_run_log;

parsrec_status pr_run_log_open(pr_run_log *log, const char *path, bool append, parsrec_error *err);
void pr_run_log_close(pr_run_log *log);

/* resume: the checkpoint the run goes on from, or NULL. */
void pr_run_log_begin(pr_run_log *log, const pr_dataset *data, const pr_model *model, uint64_t seed,
                      unsigned threads, const char *resume);
void pr_run_log_epoch(pr_run_log *log, const pr_epoch_result *epoch);
/* A model beside counts; nothing when the report has no rows. */
void pr_run_log_baselines(pr_run_log *log, const parsrec_baseline_report *report);
/* "finished", "stopped" or "failed" and a sentence. */
void pr_run_log_end(pr_run_log *log, const char *event, const char *message);

#endif
