/* The routes: path, method, required access and handler. docs/openapi.json describes the same routes; a
 * test compares both. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/app.h"

/* ---- routes ---- */

typedef void handler(app *a, const http_request *request, http_response *response);

/* Decides on which threads a handler runs. */
typedef enum route_pace {
    PACE_QUICK,  /* microseconds: on the thread that read the request */
    PACE_STORED, /* waits for a disk or a database */
    PACE_SLOW,   /* waits for a job */
    PACE_AWAIT,  /* of no route: a quick one whose response awaits events of other servers */
    PACE_LARGE,  /* of no route: a quick one whose body asks for much, such as a batch */
} route_pace;
enum { PACES = 5 };

typedef enum route_access {
    ACCESS_OPEN,  /* no token */
    ACCESS_API,   /* the token, if the server has one */
    ACCESS_ADMIN, /* the token; refused if the server has none */
} route_access;

typedef struct route {
    http_method method;
    const char *path; /* a segment in braces matches any word: "/v1/users/{id}" */
    handler *handle;
    route_pace pace;
    route_access access;
    const char *query; /* the parameters it takes: "q, limit" */
} route;

extern const route routes[];
extern const size_t route_count;

/* The route of a request, or NULL and the response is set: a file of the web page, or an error (404, 405,
 * 401, 403, 400). */
const route *route_find(const app *a, const http_request *request, http_response *response);

/* Completes a response that awaits events: calls the handler again once they are here. After two
 * seconds since `began` the response is a 503. */
void route_await(app *a, const route *r, const http_request *request, double began,
                 http_response *response);

/* Finds the route and answers; for tests. */
void route_answer(app *a, const http_request *request, http_response *response);

/* ---- handlers ---- */

handler handle_recommend;                           /* handle_recommend.c */
handler handle_events, handle_forget;               /* handle_events.c */
handler handle_items, handle_users, handle_user;    /* handle_recommend.c */
handler handle_categories;                          /* handle_recommend.c */
handler handle_groups, handle_relations;            /* handle_relations.c */
handler handle_whatif;                              /* handle_whatif.c */
handler handle_job_start, handle_job;               /* handle_jobs.c */
handler handle_job_cancel;                          /* handle_jobs.c */
handler handle_model, handle_quality;               /* handle_server.c */
handler handle_health, handle_ready, handle_counts; /* handle_server.c */
handler handle_reload, handle_openapi;              /* handle_server.c */

/* A file of the web page; false if there is none at that path. */
bool handle_page(const http_request *request, http_response *response); /* handle_server.c */

/* The current engine, which the caller drops; NULL and a 503 if there is none. */
engine *handler_engine(app *a, http_response *response);

/* ---- answers by jobs (handle_jobs.c), for /v1/relations and /v1/whatif ---- */

/* Submits the request as a job, waits for it up to --work-time, and answers with its result. */
void analysis_answer(app *a, const job_kind *kind, json_t *question, const http_request *request,
                     http_response *response);
/* Answers that there is no room for another job. */
void analysis_refuse(app *a, http_response *response);

/* Whether a client may use this group: one of the data set's own, buyers, clusters or one user; never one
 * that would be read from a file, nor a user who was forgotten. */
parsrec_status analysis_check_group(const engine *e, const char *group, parsrec_error *err);
/* The number of groups that a name gives: the clusters of cluster:N, else one. */
size_t analysis_group_parts(const char *group);

enum { ANALYSIS_CLUSTERS_MOST = 12, ANALYSIS_GROUPS_MOST = 16 };

#endif
