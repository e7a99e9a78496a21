/* A search for better settings by successive halving, on validation alone. */
#ifndef PR_TUNE_H
#define PR_TUNE_H

#include "base/status.h"

/* Fills a zeroed tuning and writes the reports into the folder. Free it with pr_tuning_clear, also on
 * failure. */
parsrec_status pr_tune(parsrec_tuning *t, const char *data_path, const char *folder,
                       const parsrec_tune_options *options, const parsrec_hooks *hooks,
                       parsrec_error *err);

#endif
