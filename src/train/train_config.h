/* The settings in force, from a caller's options. */
#ifndef PR_TRAIN_CONFIG_H
#define PR_TRAIN_CONFIG_H

#include "model/config.h"

/* The kind's own, then preset, file, `set` and epochs. */
parsrec_status pr_train_config(pr_config *config, const parsrec_train_options *options,
                               parsrec_error *err);

#endif
