/* Answers by jobs: routes that wait for one, /v1/jobs for clients that poll, and the groups that
 * both kinds of jobs accept. */
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/writer.h"
#include "serve/routes.h"

/* ---- routes that wait for a job ---- */

void analysis_refuse(app *a, http_response *response)
{
    atomic_fetch_add(&a->counts.shed, 1);
    answer_error(response, 503, "overloaded", "%d jobs are waiting already; ask again soon.",
                 JOB_QUEUE);
    response->retry_after = 5;
}

static void answer_view(app *a, job_view *view, http_response *response)
{
    if (view->status == JOB_DONE) {
        answer_owned(response, view->text, view->size, "application/json");
        view->text = NULL;
    } else if (view->status == JOB_FAILED) {
        answer_failure(response, &view->err);
    } else if (atomic_load(&a->stopping)) {
        answer_error(response, 503, "stopping", "The server is about to stop.");
        response->retry_after = 1;
    } else {
        answer_error(response, 503, "too_slow",
                     "This takes longer than a request may wait; ask for it with POST /v1/jobs, "
                     "which reports progress.");
        response->retry_after = 5;
    }
}

void analysis_answer(app *a, const job_kind *kind, json_t *question, const http_request *request,
                     http_response *response)
{
    job_view view;
    parsrec_error err = {0};
    double deadline = pr_now() + (double)a->options->work_seconds;
    switch (jobs_ask(&a->jobs, kind, question, deadline, request->left, &view, &err)) {
    case JOBS_TAKEN:
        answer_view(a, &view, response);
        break;
    case JOBS_FULL:
        analysis_refuse(a, response);
        break;
    case JOBS_REFUSED:
        answer_failure(response, &err);
        break;
    }
    job_view_free(&view);
}

/* ---- groups ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_own_group(const engine *e, const char *group)
{
    char own[512];
    uint64_t clusters;
    if (begins_with(group, "buyers:"))
        return true;
    if (begins_with(group, "cluster:"))
        return pr_parse_u64(pr_slice_of(group + strlen("cluster:")), &clusters) &&
               clusters <= ANALYSIS_CLUSTERS_MOST;
    for (size_t i = 0; parsrec_data_group(engine_data(e), i, own, sizeof own); i++)
        if (strcmp(own, group) == 0)
            return true;
    return false;
}

parsrec_status analysis_check_group(const engine *e, const char *group, parsrec_error *err)
{
    int32_t user;
    pr_excerpt hold;
    if (begins_with(group, "user:")) {
        const char *key = group + strlen("user:");
        PR_TRY(parsrec_live_find(e->live, key, &user, err));
        if ((size_t)user >= parsrec_model_size(e->model, PARSREC_USER) ||
            parsrec_live_forgotten(e->live, key)) /* whose baskets in the data are hidden */
            return pr_fail(err, PARSREC_E_NOT_FOUND,
                           "user %s is known from events alone, and this is about users of the "
                           "model's data; train a model with the events (import --events).",
                           pr_show(&hold, pr_slice_of(key)));
        return PARSREC_OK;
    }
    return is_own_group(e, group)
               ? PARSREC_OK
               : pr_fail(err, PARSREC_E_INPUT, "there is no group %s; /v1/groups lists them.",
                         pr_show(&hold, pr_slice_of(group)));
}

size_t analysis_group_parts(const char *group)
{
    uint64_t clusters;
    if (begins_with(group, "cluster:") &&
        pr_parse_u64(pr_slice_of(group + strlen("cluster:")), &clusters) &&
        clusters <= ANALYSIS_CLUSTERS_MOST && clusters > 0)
        return (size_t)clusters;
    return 1;
}

/* ---- /v1/jobs ---- */

static const job_kind *const kinds[] = {&job_whatif, &job_relations};

/* The state of a job. A result is already JSON and may be large: it is inserted as text after the
 * other fields. Frees the view. */
static void answer_job(job_view *view, http_response *response)
{
    const char *status = job_status_name(view->status);
    if (view->status == JOB_DONE) {
        pr_writer out = {0};
        pr_write(&out,
                 "{\"job\":\"%s\",\"status\":\"%s\",\"progress\":1,\"phase\":\"\",\"result\":",
                 view->id, status);
        pr_write_bytes(&out, view->text, view->size);
        pr_write_bytes(&out, "}", 1);
        size_t size = out.size;
        answer_owned(response, pr_writer_take(&out), size, "application/json");
    } else {
        json_t *json = json_pack("{s:s, s:s, s:f, s:s}", "job", view->id, "status", status,
                                 "progress", view->progress, "phase", view->phase);
        if (json != NULL && view->status == JOB_FAILED)
            json_object_set_new(json, "error", failure_json(&view->err));
        answer_json(response, 200, json);
    }
    job_view_free(view);
}

static void answer_no_job(http_response *response)
{
    answer_error(
        response, 404, "not_found",
        "There is no such job; jobs that no client asks about are dropped, and so are results "
        "when another model is loaded or their user is forgotten. POST /v1/jobs starts it again.");
}

/* ---- starting ---- */

static parsrec_status read_job(const job_kind **kind, json_t **question, json_t *body,
                               parsrec_error *err)
{
    const char *name = json_string_value(json_object_get(body, "kind"));
    *question = json_object_get(body, "request");
    *kind = NULL;
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            *kind = kinds[i];
    if (*kind == NULL)
        return pr_fail(err, PARSREC_E_INPUT, "kind must be whatif or relations.");
    if (!json_is_object(*question) || json_object_size(body) != 2)
        return pr_fail(err, PARSREC_E_INPUT,
                       "a job has the fields kind and request; request is an object.");
    return PARSREC_OK;
}

static void start(app *a, const job_kind *kind, json_t *question, http_response *response)
{
    job_view view;
    parsrec_error err = {0};
    switch (jobs_submit(&a->jobs, kind, question, &view, &err)) {
    case JOBS_TAKEN: {
        bool done = view.status == JOB_DONE;
        answer_job(&view, response);
        if (!done && response->status == 200)
            response->status = 202;
        break;
    }
    case JOBS_FULL:
        analysis_refuse(a, response);
        break;
    case JOBS_REFUSED:
        answer_failure(response, &err);
        break;
    }
}

void handle_job_start(app *a, const http_request *request, http_response *response)
{
    const job_kind *kind;
    json_t *question;
    parsrec_error err = {0};
    json_t *body = read_body(request, response);
    if (body == NULL)
        return;
    if (read_job(&kind, &question, body, &err) == PARSREC_OK)
        start(a, kind, question, response);
    else
        answer_failure(response, &err);
    json_decref(body);
}

/* ---- looking and cancelling ---- */

void handle_job(app *a, const http_request *request, http_response *response)
{
    job_view view;
    if (jobs_look(&a->jobs, request->target.segments[2], &view))
        answer_job(&view, response);
    else
        answer_no_job(response);
}

void handle_job_cancel(app *a, const http_request *request, http_response *response)
{
    job_view view;
    if (jobs_cancel(&a->jobs, request->target.segments[2], &view))
        answer_job(&view, response);
    else
        answer_no_job(response);
}
