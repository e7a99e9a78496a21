/* Comparisons that papers print, ready to run. */
#ifndef PR_PRESET_H
#define PR_PRESET_H

#include "base/status.h"

typedef struct pr_preset {
    const char *name;
    const char *models;
    uint64_t users, sessions; /* of the data that are synthesised */
} pr_preset;

parsrec_status pr_preset_find(const pr_preset **out, const char *name, parsrec_error *err);

/* Makes the preset's data at path, unless the same stand there already. */
parsrec_status pr_preset_data(const pr_preset *preset, const char *path, uint64_t seed,
                              unsigned threads, const parsrec_hooks *hooks, parsrec_error *err);

#endif
