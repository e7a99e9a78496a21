/* Access control: the bearer token, and protection from requests that a foreign web page makes a
 * browser send. */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include "serve/routes.h"

enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* The first line of the file, without surrounding spaces. Free with pr_free. */
parsrec_status token_read(char **out, const char *path, parsrec_error *err);
/* Warns on stderr if other users of this machine may read a file with a secret. NULL is fine. */
void warn_if_readable(const char *path);

/* Compares in a time that does not depend on where the bytes differ. */
bool token_equal(const char *given, size_t given_size, const char *token);

/* False if access is denied; the response then says why. */
bool access_check(const app *a, const http_request *request, route_access access,
                  http_response *response);

#endif
