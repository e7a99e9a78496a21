/* The rows that ablations know by name. */
#ifndef PR_ABLATION_ROWS_H
#define PR_ABLATION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pr_ablation_row {
    const char *name, *settings; /* "key=value:key=value", on top of the base */
} pr_ablation_row;

/* Rows that depart from one base. */
typedef struct pr_ablation_group {
    const char *preset; /* as --preset names it */
    const char *base;   /* the name of the row that is the base ... */
    const char *spec;   /* ... and its model, as in a list of models */
    bool categories;    /* are features of items here; else the base shares them already (kin) */
    const pr_ablation_row *rows;
    size_t count;
} pr_ablation_group;

extern const pr_ablation_group pr_ablation_groups[];
extern const size_t pr_ablation_group_count;

/* Whether a row is called so; if not, all names in `list`. */
bool pr_ablation_knows(const char *name, size_t name_size, char *list, size_t size);

#endif
