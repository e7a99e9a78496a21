/* parsrec synth: the paper's generator, from options to file. */
#ifndef PR_SYNTH_H
#define PR_SYNTH_H

#include "base/status.h"
#include "data/dataset.h"

/* Sizes within range and small enough for this machine's memory; else a sentence. */
parsrec_status pr_synth_check(const parsrec_synth_options *options, bool keep_truth,
                              parsrec_error *err);

/* As parsrec_synth; `report` must not be NULL. */
parsrec_status pr_synth(const char *out_path, const parsrec_synth_options *options,
                        parsrec_synth_report *report, const parsrec_hooks *hooks,
                        parsrec_error *err);

/* The actions as CSV (user,session,time,item) into an open file. */
struct pr_atomic_file;
parsrec_status pr_synth_csv(struct pr_atomic_file *file, const pr_dataset *data,
                            const parsrec_hooks *hooks, parsrec_error *err);

#endif
