/* The token, Host, Origin and Sec-Fetch-Site. */
#include "serve/access.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/memory.h"
#include "serve/serve.h"

/* ---- files with secrets, and the token ---- */

static parsrec_status read_line(char **out, const char *path, size_t least, size_t most,
                                const char *what, parsrec_error *err)
{
    pr_mapping file;
    *out = NULL;
    PR_TRY(pr_file_map(&file, path, err));
    pr_slice line = {(const char *)file.bytes, file.size};
    const char *end = file.size > 0 ? memchr(file.bytes, '\n', file.size) : NULL;
    if (end != NULL)
        line.size = (size_t)(end - line.bytes);
    if (line.size > 0 && line.bytes[line.size - 1] == '\r')
        line.size--;
    if (line.size >= 3 && memcmp(line.bytes, "\xEF\xBB\xBF", 3) == 0)
        line = (pr_slice){line.bytes + 3, line.size - 3}; /* some editors begin a file with it */
    line = pr_slice_trim(line);
    parsrec_status status = PARSREC_OK;
    if (line.size < least || line.size > most)
        status = pr_fail(err, PARSREC_E_INPUT, "%s: the first line must be %s", path, what);
    else if ((*out = pr_copy_string(line.bytes, line.size)) == NULL)
        status = pr_fail_memory(err);
    pr_file_unmap(&file);
    return status;
}

parsrec_status token_read(char **out, const char *path, parsrec_error *err)
{
    return read_line(out, path, TOKEN_LEAST, TOKEN_MOST,
                     "a token of 16 to 512 bytes; 32 random ones in hexadecimal do", err);
}

void warn_if_readable(const char *path)
{
    struct stat file;
    if (path == NULL || stat(path, &file) != 0)
        return;
    if ((file.st_mode & S_IROTH) != 0)
        fprintf(stderr, "warning: others on this machine may read %s; chmod go-r makes it safe\n",
                path);
    else if ((file.st_mode & S_IRGRP) != 0)
        fprintf(stderr, "warning: the group of %s may read it; chmod g-r makes it safe\n", path);
}

parsrec_status serve_read_store_file(char **store, const char *path, parsrec_error *err)
{
    PR_TRY(read_line(store, path, 1, 4096, "a store: sqlite:FILE, postgresql://... or none", err));
    warn_if_readable(path);
    return PARSREC_OK;
}

bool token_equal(const char *given, size_t given_size, const char *token)
{
    assert(given != NULL || given_size == 0);
    size_t size = strlen(token);
    unsigned difference = given_size != size;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned)(unsigned char)token[i] ^
                      (unsigned)(unsigned char)(i < given_size ? given[i] : 0);
    return difference == 0;
}

static bool check_token(const app *a, const http_request *request, route_access access,
                        http_response *response)
{
    static const char scheme[] = "Bearer ";
    const char *given = request->authorization;
    if (access == ACCESS_OPEN)
        return true;
    /* Without a token only this machine can connect (serve.c). With a token it is required on every
     * address, because behind a proxy all requests come from this machine. */
    if (access == ACCESS_API && a->token == NULL && !a->public_listen)
        return true;
    if (a->token == NULL) {
        answer_error(response, 403, "no_token",
                     "This needs a token, and the server has none; start it with --token-file.");
        return false;
    }
    if (given != NULL && strncasecmp(given, scheme, sizeof scheme - 1) == 0) {
        given += sizeof scheme - 1;
        if (token_equal(given, strlen(given), a->token))
            return true;
    }
    answer_error(response, 401, "unauthorized",
                 "This needs the header \"Authorization: Bearer TOKEN\" with the server's token.");
    return false;
}

/* ---- browsers ---- */

static bool is_address(pr_slice host)
{
    char text[64];
    unsigned char address[16];
    if (host.size >= 2 && host.bytes[0] == '[') {
        host.bytes++;
        host.size -= 2;
    }
    if (host.size >= sizeof text)
        return false;
    memcpy(text, host.bytes, host.size);
    text[host.size] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool is_word(pr_slice host, const char *word)
{
    return word != NULL && host.size == strlen(word) &&
           strncasecmp(host.bytes, word, host.size) == 0;
}

/* A name in a foreign domain can be made to point here (DNS rebinding); an address, "localhost" or
 * the server's own name cannot. If other machines can connect, the server may have many names, and
 * the token protects it. */
static bool host_is_ours(const app *a, const http_request *request)
{
    if (request->host == NULL || a->public_listen)
        return true;
    pr_slice host = pr_slice_of(request->host);
    const char *end = strchr(host.bytes, host.bytes[0] == '[' ? ']' : ':');
    if (end != NULL) { /* without the port, and nothing else may follow */
        const char *port = end + (*end == ']');
        host.size = (size_t)(port - host.bytes);
        if (*port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
            return false;
    }
    return is_address(host) || is_word(host, "localhost") || is_word(host, a->options->host);
}

/* Browsers send the origin of the page that makes a request. Our own page has the host of the
 * request. */
static bool origin_is_ours(const http_request *request)
{
    if (request->origin == NULL)
        return true;
    const char *host = strstr(request->origin, "://");
    return host != NULL && request->host != NULL && strcasecmp(host + 3, request->host) == 0;
}

/* A picture or a script that a page names is asked for without an origin. Nobody could read the answer, but
 * /v1/relations would begin a job. Browsers say for every request whether another site made it. */
static bool site_is_ours(const http_request *request)
{
    const char *site = request->fetch_site;
    return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

bool access_check(const app *a, const http_request *request, route_access access,
                  http_response *response)
{
    if (!host_is_ours(a, request)) {
        answer_error(response, 403, "wrong_host",
                     "This server does not go by that name; start it with --host NAME.");
        return false;
    }
    if (!origin_is_ours(request) || (access != ACCESS_OPEN && !site_is_ours(request))) {
        answer_error(response, 403, "wrong_origin", "Other sites' pages may not ask this server.");
        return false;
    }
    return check_token(a, request, access, response);
}
