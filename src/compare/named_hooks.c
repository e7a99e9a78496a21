/* Passes everything on, with a name in front. */
#include "compare/named_hooks.h"

#include <stdio.h>

#include "base/hooks.h"

static void say_named(void *context, parsrec_log_level level, const char *text)
{
    const pr_named_hooks *h = context;
    pr_say(h->outer, level, "%s: %s", h->name, text);
}

static int progress_named(void *context, const parsrec_progress *progress)
{
    const pr_named_hooks *h = context;
    char stage[160];
    parsrec_progress shown = *progress;
    snprintf(stage, sizeof stage, "%s (%zu of %zu), %s", h->name, h->number, h->count,
             progress->stage);
    shown.stage = stage;
    return h->outer->on_progress(h->outer->context, &shown);
}

static void epoch_named(void *context, const parsrec_epoch *epoch)
{
    const pr_named_hooks *h = context;
    h->outer->on_epoch(h->outer->context, epoch);
}

void pr_named_hooks_init(pr_named_hooks *named, const parsrec_hooks *outer, const char *name,
                         size_t number, size_t count)
{
    *named = (pr_named_hooks){.outer = outer, .name = name, .number = number, .count = count};
    named->hooks.context = named;
    if (outer != NULL && outer->on_log != NULL)
        named->hooks.on_log = say_named;
    if (outer != NULL && outer->on_progress != NULL)
        named->hooks.on_progress = progress_named;
    if (outer != NULL && outer->on_epoch != NULL)
        named->hooks.on_epoch = epoch_named;
}
