/* Answers of routes that wait for a job, and the groups that both kinds of jobs read. */
#include "serve/analysis.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/* ---- answers ---- */

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
                     "which tells how far it is.");
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
    if (begins_with(group, "user:"))
        return parsrec_live_find(e->live, group + strlen("user:"), &user, err);
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
