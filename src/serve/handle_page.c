/* The page, out of the program's own memory: a path is looked up in a table and never becomes the name of
 * a file. */
#include <string.h>

#include "serve/handlers.h"
#include "serve/web_files.h"

static const web_file *find(const char *path)
{
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    for (const web_file *f = web_files; f->path != NULL; f++)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

/* "etag", possibly in a list, possibly with W/ in front. */
static bool is_known(const http_request *request, const char *etag)
{
    const char *given = request->if_none_match;
    return given != NULL && (strcmp(given, "*") == 0 || strstr(given, etag) != NULL);
}

bool handle_page(const http_request *request, http_response *response)
{
    const web_file *f = find(request->target.text);
    if (f == NULL)
        return false;
    http_response_free(response);
    *response = (http_response){.status = 200,
                                .type = f->type,
                                .body = (const char *)f->bytes,
                                .size = f->size,
                                .etag = f->etag,
                                .page = true};
    if (is_known(request, f->etag)) {
        response->status = 304;
        response->size = 0;
    }
    return true;
}
