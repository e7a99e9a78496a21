/* A store's events as CSV, in the order of the store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/writer.h"
#include "serve/serve.h"
#include "serve/store.h"

enum { PIECE = 1 << 16 };

typedef struct export
{
    serve_export *x;
    pr_atomic_file *file;
    pr_writer text;
}
export;

/* RFC 4180: quoted where it holds what would end the field. Keys stay as they are, whatever they begin with:
 * import must find them again. */
static void write_field(pr_writer *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        pr_write(out, "%s", text);
        return;
    }
    pr_write(out, "\"");
    for (; *text != '\0'; text++)
        pr_write(out, *text == '"' ? "\"\"" : "%c", *text);
    pr_write(out, "\"");
}

static void write_time(pr_writer *out, int64_t seconds)
{
    char text[40];
    struct tm parts;
    time_t moment = (time_t)seconds;
    if (seconds == STORE_NO_TIME)
        return;
    if (gmtime_r(&moment, &parts) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(text, sizeof text, "%" PRId64, seconds);
    pr_write(out, "%s", text);
}

static void write_row(pr_writer *out, const store_entry *entry, size_t i)
{
    const store_event *e = &entry->event;
    write_field(out, e->user);
    pr_write(out, ",");
    if (e->session != NULL)
        write_field(out, e->session);
    else
        pr_write(out, "event %llu", (unsigned long long)entry->number);
    pr_write(out, ",");
    write_time(out, e->time);
    pr_write(out, ",");
    write_field(out, e->items[i]);
    pr_write(out, ",%.15g,%s\n", e->quantities[i], store_type_names[e->type]);
}

static parsrec_status flush(export *x, parsrec_error *err)
{
    if (x->text.failed)
        return pr_fail_memory(err);
    PR_TRY(pr_atomic_write(x->file, x->text.text, x->text.size, err));
    x->text.size = 0;
    return PARSREC_OK;
}

static parsrec_status write_entry(void *context, const store_entry *entry, parsrec_error *err)
{
    export *x = context;
    x->x->through = entry->number;
    if (entry->forget || !x->x->types[entry->event.type])
        return PARSREC_OK;
    for (size_t i = 0; i < entry->event.count; i++)
        write_row(&x->text, entry, i);
    x->x->events++;
    x->x->rows += entry->event.count;
    return x->text.size >= PIECE ? flush(x, err) : PARSREC_OK;
}

parsrec_status serve_export_events(serve_export *x, parsrec_error *err)
{
    export own = {.x = x};
    store *s = NULL;
    uint64_t last;
    x->events = x->rows = x->through = 0;
    PR_TRY(store_open_existing(&s, x->store, err));
    snprintf(x->id, sizeof x->id, "%s", store_identity_of(s)->id);
    parsrec_status status = pr_atomic_open(&own.file, x->output, err);
    pr_write(&own.text, "user,session,time,item,quantity,type\n");
    if (status == PARSREC_OK)
        status = store_replay(s, 0, write_entry, &own, &last, err);
    if (status == PARSREC_OK)
        status = flush(&own, err);
    if (status == PARSREC_OK)
        status = pr_atomic_commit(own.file, err);
    else
        pr_atomic_abort(own.file);
    pr_writer_free(&own.text);
    store_close(s);
    return status;
}
