/* How a model in the folder was made, and whether that is what is wanted. */
#ifndef PR_MADE_H
#define PR_MADE_H

#include "data/dataset.h"
#include "model/config.h"

typedef struct pr_made {
    char kind[32];
    pr_config config;
    uint64_t seed, patience;
    bool knows_patience; /* a log does not tell it */
    char data[17];       /* checksum of the data */
} pr_made;

/* A finished model, by the last run in the log beside it; false without such a log. */
bool pr_made_by_log(pr_made *m, const char *model_path);
/* An interrupted training, whose data must be these. */
parsrec_status pr_made_by_checkpoint(pr_made *m, const char *path, const parsrec_data *data,
                                     const char *checksum, parsrec_error *err);

/* What is wanted: the settings in force, as training itself would print them. */
parsrec_status pr_made_wanted(pr_config *config, const parsrec_train_options *o,
                              parsrec_error *err);

/* False with the reason in a few words when it is not what is wanted. */
bool pr_made_fits(const pr_made *m, const pr_config *wanted, const parsrec_train_options *o,
                  const char *checksum, char *reason, size_t size);

#endif
