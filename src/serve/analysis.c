/* The cache, the clock and the groups of slow answers. */
#include "serve/analysis.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

static int is_over(void *context, const parsrec_progress *progress)
{
    const analysis *x = context;
    (void)progress;
    return atomic_load(&x->app->stopping) || pr_now() > x->deadline;
}

static void write_key(pr_writer *key, const http_request *request)
{
    pr_write_bytes(key, request->target.text, strlen(request->target.text) + 1);
    for (size_t i = 0; i < request->target.field_count; i++) {
        const target_field *f = &request->target.fields[i];
        pr_write_bytes(key, f->name, strlen(f->name) + 1);
        pr_write_bytes(key, f->value, strlen(f->value) + 1);
    }
    pr_write_bytes(key, request->body.bytes, request->body.size);
}

void analysis_leave(analysis *x)
{
    pr_writer_free(&x->key);
    engine_drop(x->engine);
}

bool analysis_begin(analysis *x, app *a, const http_request *request, http_response *response)
{
    *x = (analysis){.app = a, .engine = engine_take(&a->engines)};
    x->hooks = (parsrec_hooks){.context = x, .on_progress = is_over};
    x->deadline = pr_now() + (double)a->options->work_seconds;
    if (x->engine == NULL) {
        answer_error(response, 503, "not_ready", "The model is being loaded; ask again soon.");
        response->retry_after = 1;
        return false;
    }
    write_key(&x->key, request);
    size_t size;
    char *kept = x->key.failed ? NULL
                               : answer_cache_get(&a->cache, (pr_slice){x->key.text, x->key.size},
                                                  engine_state(x->engine), &size);
    if (kept == NULL)
        return true;
    answer_owned(response, kept, size, "application/json");
    analysis_leave(x);
    return false;
}

void analysis_end(analysis *x, parsrec_status status, pr_slice text, const parsrec_error *err,
                  http_response *response)
{
    if (status == PARSREC_OK) {
        answer_text(response, text.bytes, text.size);
        if (!x->key.failed)
            answer_cache_put(&x->app->cache, (pr_slice){x->key.text, x->key.size},
                             engine_state(x->engine), text);
    } else if (status == PARSREC_E_STOPPED) {
        answer_error(response, 503, "too_slow",
                     "This takes longer than the server allows; ask for fewer users or items.");
        response->retry_after = 60;
    } else {
        answer_failure(response, err);
    }
    analysis_leave(x);
}

/* ---- groups ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_own_group(const analysis *x, const char *group)
{
    char own[512];
    uint64_t clusters;
    if (begins_with(group, "buyers:"))
        return true;
    if (begins_with(group, "cluster:"))
        return pr_parse_u64(pr_slice_of(group + strlen("cluster:")), &clusters) &&
               clusters <= ANALYSIS_CLUSTERS_MOST;
    for (size_t i = 0; parsrec_data_group(engine_data(x->engine), i, own, sizeof own); i++)
        if (strcmp(own, group) == 0)
            return true;
    return false;
}

parsrec_status analysis_check_group(const analysis *x, const char *group, parsrec_error *err)
{
    int32_t user;
    pr_excerpt hold;
    if (begins_with(group, "user:"))
        return parsrec_live_find(x->engine->live, group + strlen("user:"), &user, err);
    return is_own_group(x, group)
               ? PARSREC_OK
               : pr_fail(err, PARSREC_E_INPUT, "there is no group %s; /v1/groups lists them.",
                         pr_show(&hold, pr_slice_of(group)));
}
