/* What relations and what-if have in common: they take seconds, are kept, and end when they take too
 * long. */
#ifndef SERVE_ANALYSIS_H
#define SERVE_ANALYSIS_H

#include "base/writer.h"
#include "serve/app.h"

typedef struct analysis {
    app *app;
    engine *engine;
    parsrec_hooks hooks; /* stop the work when time is up or the server stops */
    double deadline;
    pr_writer key; /* what is asked, for the cache */
} analysis;

/* False when the response is there already: kept, or no model to ask. Otherwise analysis_end follows, or
 * analysis_leave when the request is refused after all. */
bool analysis_begin(analysis *x, app *a, const http_request *request, http_response *response);
/* Answers with a text, which is kept, or with the failure. */
void analysis_end(analysis *x, parsrec_status status, pr_slice text, const parsrec_error *err,
                  http_response *response);
void analysis_leave(analysis *x);

/* Whether a client may name this group: one of the data set's own, buyers, clusters or one user; never one
 * that would be read from a file, nor a user who was forgotten. */
parsrec_status analysis_check_group(const analysis *x, const char *group, parsrec_error *err);

enum { ANALYSIS_CLUSTERS_MOST = 12, ANALYSIS_GROUPS_MOST = 16 };

#endif
