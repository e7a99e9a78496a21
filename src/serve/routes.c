/* The table of routes and the search in it. */
#include "serve/routes.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "serve/access.h"
#include "serve/event_flow.h"

const route routes[] = {
    {HTTP_POST, "/v1/recommend", handle_recommend, PACE_QUICK, ACCESS_API, ""},
    {HTTP_POST, "/v1/events", handle_events, PACE_STORED, ACCESS_API, ""},
    {HTTP_GET, "/v1/items", handle_items, PACE_QUICK, ACCESS_API, "q, limit"},
    {HTTP_GET, "/v1/categories", handle_categories, PACE_QUICK, ACCESS_API, ""},
    {HTTP_GET, "/v1/users", handle_users, PACE_QUICK, ACCESS_API, "q, limit"},
    {HTTP_GET, "/v1/users/{id}", handle_user, PACE_QUICK, ACCESS_API, ""},
    {HTTP_DELETE, "/v1/users/{id}", handle_forget, PACE_STORED, ACCESS_ADMIN, ""},
    {HTTP_GET, "/v1/groups", handle_groups, PACE_QUICK, ACCESS_API, ""},
    {HTTP_GET, "/v1/relations", handle_relations, PACE_SLOW, ACCESS_API,
     "map, by, user, group, difference, top"},
    {HTTP_POST, "/v1/whatif", handle_whatif, PACE_SLOW, ACCESS_API, ""},
    {HTTP_POST, "/v1/jobs", handle_job_start, PACE_QUICK, ACCESS_API, ""},
    {HTTP_GET, "/v1/jobs/{id}", handle_job, PACE_QUICK, ACCESS_API, ""},
    {HTTP_DELETE, "/v1/jobs/{id}", handle_job_cancel, PACE_QUICK, ACCESS_API, ""},
    {HTTP_GET, "/v1/model", handle_model, PACE_QUICK, ACCESS_API, ""},
    {HTTP_GET, "/v1/quality", handle_quality, PACE_QUICK, ACCESS_API, ""},
    {HTTP_POST, "/v1/admin/reload", handle_reload, PACE_STORED, ACCESS_ADMIN, ""},
    {HTTP_GET, "/openapi.json", handle_openapi, PACE_QUICK, ACCESS_OPEN, ""},
    {HTTP_GET, "/healthz", handle_health, PACE_QUICK, ACCESS_OPEN, ""},
    {HTTP_GET, "/readyz", handle_ready, PACE_QUICK, ACCESS_OPEN, ""},
    {HTTP_GET, "/metrics", handle_counts, PACE_QUICK, ACCESS_API, ""},
};
const size_t route_count = sizeof routes / sizeof *routes;
_Static_assert(sizeof routes / sizeof *routes <= METRIC_ROUTES_MOST, "room for counts");

/* Compares the segments of a pattern with those of a request. */
static bool matches(const char *pattern, const http_target *target)
{
    size_t i = 0;
    for (const char *rest = pattern; rest != NULL; i++) {
        const char *segment = rest + 1, *end = strchr(segment, '/');
        size_t size = end != NULL ? (size_t)(end - segment) : strlen(segment);
        if (i == target->segment_count)
            return false;
        const char *given = target->segments[i];
        bool any = segment[0] == '{' && given[0] != '\0';
        if (!any && (strlen(given) != size || memcmp(given, segment, size) != 0))
            return false;
        rest = end;
    }
    return i == target->segment_count;
}

/* Answers a request for which there is no route; `methods` are those that its path has. */
static const route *missing(const http_request *request, const bool *methods,
                            http_response *response)
{
    static const char *const lists[] = {
        "",       "GET, HEAD",         "POST",         "GET, HEAD, POST",
        "DELETE", "GET, HEAD, DELETE", "POST, DELETE", "GET, HEAD, POST, DELETE"};
    const char *allow =
        lists[methods[HTTP_GET] + 2 * methods[HTTP_POST] + 4 * methods[HTTP_DELETE]];
    if (allow[0] != '\0') {
        answer_error(response, 405, "method_not_allowed", "This path takes %s.", allow);
        response->allow = allow;
    } else if (request->method != HTTP_GET || !handle_page(request, response)) {
        answer_error(response, 404, "not_found",
                     "There is nothing at this path; /openapi.json lists what there is.");
    }
    return NULL;
}

static bool is_listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    if (size == 0) /* strstr would find it everywhere */
        return false;
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

/* `group` is a list. */
static bool is_repeated(const http_target *target, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(target->fields[k].name, target->fields[i].name) == 0)
            return strcmp(target->fields[i].name, "group") != 0;
    return false;
}

/* A misspelt parameter is an error; otherwise its default would be used without notice. So is one that is
 * given twice, as a field of a body is: one of its values would not count. */
static bool check_query(const route *r, const http_target *target, http_response *response)
{
    pr_excerpt hold;
    for (size_t i = 0; i < target->field_count; i++) {
        const char *name = target->fields[i].name;
        if (is_listed(r->query, name)) {
            if (!is_repeated(target, i))
                continue;
            answer_error(response, 400, "bad_request", "The query parameter %s is given twice.",
                         pr_show(&hold, pr_slice_of(name)));
            return false;
        }
        answer_error(response, 400, "bad_request",
                     "There is no query parameter %s; this path takes %s.",
                     pr_show(&hold, pr_slice_of(name)), r->query[0] != '\0' ? r->query : "none");
        return false;
    }
    return true;
}

const route *route_find(const app *a, const http_request *request, http_response *response)
{
    bool methods[HTTP_OTHER + 1] = {false};
    for (size_t i = 0; i < route_count; i++) {
        if (!matches(routes[i].path, &request->target))
            continue;
        if (routes[i].method == request->method)
            return access_check(a, request, routes[i].access, response) &&
                           check_query(&routes[i], &request->target, response)
                       ? &routes[i]
                       : NULL;
        methods[routes[i].method] = true;
    }
    return access_check(a, request, ACCESS_OPEN, response) ? missing(request, methods, response)
                                                           : NULL;
}

void route_await(app *a, const route *r, const http_request *request, double began,
                 http_response *response)
{
    assert(r != NULL);
    static const double most_seconds = 2;
    while (response->awaits > 0) {
        parsrec_error err = {0};
        uint64_t number = response->awaits;
        response->awaits = 0;
        if (event_flow_await(a, number, began + most_seconds, &err) == PARSREC_OK)
            r->handle(a, request, response);
        else
            answer_failure(response, &err);
    }
}

void route_answer(app *a, const http_request *request, http_response *response)
{
    const route *r = route_find(a, request, response);
    if (r == NULL)
        return;
    r->handle(a, request, response);
    route_await(a, r, request, pr_now(), response);
}
