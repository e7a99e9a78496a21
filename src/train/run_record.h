/* The record of a training run: what was trained, on what, and how far it came.
 *
 * A run leaves its record in two files. MODEL.ckpt has it beside the numbers that a resume needs;
 * it is removed once the model is written, unless it is to be kept. MODEL.log has it as lines of
 * JSON, one object per line, each flushed when it is written, so that a run that is killed leaves
 * what it knew. compare, ablate and tune read a record to see whether a model in their folder is
 * the one they want and how it learnt; nobody else reads the log.
 *
 * The log is not needed for training: one that cannot be opened is a warning, and lines that cannot
 * be written are lost. A log does not prove that its model was finished: callers look whether the
 * model lies beside it. It does not hold the patience, which a checkpoint does. */
#ifndef PR_RUN_RECORD_H
#define PR_RUN_RECORD_H

#include <stdio.h>

#include "train/train.h"

typedef enum pr_record_source {
    PR_RECORD_NONE,       /* neither file is there, or the log has no beginning */
    PR_RECORD_LOG,        /* the last run in the log */
    PR_RECORD_CHECKPOINT, /* of a run that was interrupted */
} pr_record_source;

/* Begins zeroed; free it with pr_run_record_free. */
typedef struct pr_run_record {
    pr_record_source source;
    char kind[32]; /* of model */
    pr_config config;
    uint64_t seed;
    uint64_t patience;     /* of a checkpoint; 0 from a log */
    char data[17];         /* checksum of the data set */
    parsrec_epoch *epochs; /* [epoch_count]: those of the log, whatever the source is */
    size_t epoch_count, epoch_capacity;
    double seconds; /* of learning, over all runs in the log */
} pr_run_record;

/* Reads MODEL.log and, where `data` is given, MODEL.ckpt, which takes precedence if it is there. A
 * checkpoint that is damaged or belongs to other data is an error; a missing or broken log is
 * not. */
parsrec_status pr_run_record_read(pr_run_record *record, const char *model_path,
                                  const pr_dataset *data, parsrec_error *err);
void pr_run_record_free(pr_run_record *record); /* a zeroed one is fine */

/* Whether a record that was found (source is not PR_RECORD_NONE) is of the run that options ask
 * for, whose settings are `wanted`, on these data. If not, says why in a few words: "seed = 1, not
 * 2". */
bool pr_run_record_fits(const pr_run_record *record, const pr_config *wanted,
                        const parsrec_train_options *options, const pr_dataset *data, char *reason,
                        size_t size);

/* The measures of validation, which runs are chosen by; the first is the usual one. */
enum { PR_VALIDATION_MEASURES = 3 };
extern const char *const pr_validation_measures[PR_VALIDATION_MEASURES];
double pr_validation_value(const parsrec_epoch *epoch, const char *measure);

/* ---- writing the log ---- */

typedef struct pr_run_log {
    FILE *file; /* NULL: nothing is written */
} pr_run_log;

/* append: the run continues the one in the log; else the log begins anew. */
parsrec_status pr_run_log_open(pr_run_log *log, const char *path, bool append, parsrec_error *err);
void pr_run_log_close(pr_run_log *log);

/* Of the record: kind, config, seed and data. resume: the checkpoint that the run continues, or
 * NULL. */
void pr_run_log_begin(pr_run_log *log, const pr_run_record *record, unsigned threads,
                      const char *resume);
void pr_run_log_epoch(pr_run_log *log, const pr_epoch_result *epoch);
/* A model beside counting models; nothing when the report has no rows. */
void pr_run_log_baselines(pr_run_log *log, const parsrec_baseline_report *report);
/* "finished", "stopped" or "failed" and a sentence. */
void pr_run_log_end(pr_run_log *log, const char *event, const char *message);

#endif
