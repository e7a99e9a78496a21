/* What relations and what-if have in common: groups that a client may name, and answers by jobs. */
#ifndef SERVE_ANALYSIS_H
#define SERVE_ANALYSIS_H

#include "serve/app.h"

/* Submits the request as a job, waits for it no longer than --work-time, and answers with its result. */
void analysis_answer(app *a, const job_kind *kind, json_t *question, const http_request *request,
                     http_response *response);
/* The answer of a server that has no room for another job. */
void analysis_refuse(app *a, http_response *response);

/* Whether a client may name this group: one of the data set's own, buyers, clusters or one user; never one
 * that would be read from a file, nor a user who was forgotten. */
parsrec_status analysis_check_group(const engine *e, const char *group, parsrec_error *err);
/* How many groups a name stands for: the number of clusters, else one. */
size_t analysis_group_parts(const char *group);

enum { ANALYSIS_CLUSTERS_MOST = 12, ANALYSIS_GROUPS_MOST = 16 };

#endif
