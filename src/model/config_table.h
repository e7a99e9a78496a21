/* The rows of the table of settings; config.c reads them, config_text.c shows them. */
#ifndef PR_CONFIG_TABLE_H
#define PR_CONFIG_TABLE_H

#include "model/config.h"

typedef enum pr_setting_type { PR_WHOLE, PR_NUMBER, PR_SWITCH, PR_CHOICE } pr_setting_type;

typedef struct pr_config_setting {
    const char *key;
    pr_setting_type type;
    size_t offset; /* in pr_config */
    double low, high;
    const char *initial;        /* as --set takes it */
    const char *const *choices; /* ends with NULL */
    const char *help;
} pr_config_setting;

extern const pr_config_setting pr_settings[];
extern const size_t pr_setting_count;

#endif
