/* One function for each route; each in the file that its name says. */
#ifndef SERVE_HANDLERS_H
#define SERVE_HANDLERS_H

#include "serve/routes.h"

handler handle_recommend;                           /* handle_recommend.c */
handler handle_events, handle_forget;               /* handle_events.c */
handler handle_items, handle_users, handle_user;    /* handle_catalogue.c */
handler handle_categories;                          /* handle_catalogue.c */
handler handle_groups, handle_relations;            /* handle_relations.c */
handler handle_whatif;                              /* handle_whatif.c */
handler handle_job_start, handle_job;               /* handle_jobs.c */
handler handle_job_cancel;                          /* handle_jobs.c */
handler handle_model, handle_quality;               /* handle_model.c */
handler handle_health, handle_ready, handle_counts; /* handle_health.c */
handler handle_reload, handle_openapi;              /* handle_admin.c */

/* A file of the page; false when there is none at that path. */
bool handle_page(const http_request *request, http_response *response); /* handle_page.c */

/* The engine of now, which the caller drops; NULL and a 503 while there is none. */
engine *handler_engine(app *a, http_response *response);

#endif
