/* Who may ask for what: the bearer token, and requests that a stranger's web page makes a browser send. */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include "serve/routes.h"

enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* The first line of the file, without spaces around it. Free with pr_free. */
parsrec_status token_read(char **out, const char *path, parsrec_error *err);
/* The same for the address of a store. */
parsrec_status store_url_read(char **out, const char *path, parsrec_error *err);
/* Warns on standard error when others on this machine may read a file with a secret; NULL is fine. */
void warn_if_readable(const char *path);

/* Equal bytes, in a time that does not depend on where they differ. */
bool token_equal(const char *given, size_t given_size, const char *token);

/* False when the request may not have it, and the response says so. */
bool access_check(const app *a, const http_request *request, route_access access,
                  http_response *response);

#endif
