/* Which paths there are, what they need and who answers. */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "serve/app.h"

typedef void handler(app *a, const http_request *request, http_response *response);

/* Where a handler may run. */
typedef enum route_pace {
    PACE_QUICK,  /* microseconds: where the request was read */
    PACE_STORED, /* waits for a disk or a database */
    PACE_SLOW,   /* waits for a job */
} route_pace;
enum { PACES = 3 };

typedef enum route_access {
    ACCESS_OPEN,  /* anybody */
    ACCESS_API,   /* with the token, if the server has one */
    ACCESS_ADMIN, /* with the token, and not at all where there is none */
} route_access;

typedef struct route {
    http_method method;
    const char *path; /* a segment in braces stands for any word: "/v1/users/{id}" */
    handler *handle;
    route_pace pace;
    route_access access;
    const char *query; /* the parameters it takes: "q, limit" */
} route;

extern const route routes[];
extern const size_t route_count;

/* The route of a request, or NULL and the response says why not: 404, 405, 401, 403, 400. A path that no route
 * has may be a file of the page. */
const route *route_find(const app *a, const http_request *request, http_response *response);

/* Finds the route and answers, all in one: what tests call. */
void route_answer(app *a, const http_request *request, http_response *response);

#endif
