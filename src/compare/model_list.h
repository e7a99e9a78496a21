/* The list of models to compare: "pop,sasrec,sasrec-bce=sasrec:loss=bce,old=@models/old.st". */
#ifndef PR_MODEL_LIST_H
#define PR_MODEL_LIST_H

#include "base/status.h"

enum { PR_ENTRY_SETTINGS = 32, PR_ENTRY_NAME = 64 };
#define PR_NONE ((size_t)-1)

/* One model. The words live in the list. */
typedef struct pr_listed_model {
    char name[PR_ENTRY_NAME];           /* its row, and its file NAME.st */
    const char *kind;                   /* NULL for a ready model */
    const char *path;                   /* of a ready model; else NULL */
    const char *preset;                 /* "preset=paper" among the settings; or NULL */
    const char *set[PR_ENTRY_SETTINGS]; /* "key=value" each */
    size_t set_count;
    bool in_group; /* written as a part of a group: gives way to an entry of its own */
    size_t base;   /* ablation: the entry that this one changes; PR_NONE: none */
} pr_listed_model;

typedef struct pr_model_list {
    pr_listed_model *entries;
    size_t count, capacity;
    char **texts; /* that the words of the entries point into */
    size_t text_count, text_capacity;
} pr_model_list;

/* Entries are separated by commas: KIND, KIND:key=value:key=value, a file as @FILE or as a path with
 * a slash or ending in .st or .model, each with NAME= before it to name it. Without a name it is called by its
 * kind and settings, or by its file.
 *
 * A group of kinds (counts, neighbours, basket, sequence, field) stands for its members, each as if it
 * were written alone, except that a member whose name is taken by an entry of its kind is left out,
 * before or after it. Settings of a group are for the members that learn.
 *
 * Free with pr_model_list_free, also on failure. */
parsrec_status pr_model_list_read(pr_model_list *list, const char *text, parsrec_error *err);
/* One more entry from its parts: a name, "KIND:key=value" and further settings "key=value:key=value", which
 * may be "". The list keeps copies. */
parsrec_status pr_model_list_append(pr_model_list *list, const char *name, const char *spec,
                                    const char *settings, size_t base, parsrec_error *err);
/* One more entry of that kind, unless one of that kind has default settings or its name. The kind is
 * borrowed. */
parsrec_status pr_model_list_add(pr_model_list *list, const char *kind, parsrec_error *err);
void pr_model_list_free(pr_model_list *list); /* a zeroed one is fine */

#endif
