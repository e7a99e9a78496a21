/* Hooks that say which model a message or progress is about. */
#ifndef PR_NAMED_HOOKS_H
#define PR_NAMED_HOOKS_H

#include "base/status.h"

typedef struct pr_named_hooks {
    parsrec_hooks hooks; /* to be passed on; its context is this struct, which must stay in place */
    const parsrec_hooks *outer;
    const char *name;
    size_t number, count;
} pr_named_hooks;

/* Model `number`, from 1, of `count`. Outer hooks may be NULL, and so may any of them. */
void pr_named_hooks_init(pr_named_hooks *named, const parsrec_hooks *outer, const char *name,
                         size_t number, size_t count);

#endif
