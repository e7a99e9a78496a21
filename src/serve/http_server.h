/* HTTP by libmicrohttpd: sockets on one side, handlers on the other. app.h describes how a request
 * passes through. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "base/status.h"
#include "serve/app.h"
#include "serve/http_log.h"

/* ---- the listening socket ---- */

typedef struct listen_socket {
    int fd;
    bool loopback;    /* only this machine can connect */
    char address[80]; /* "127.0.0.1:8080", "[::1]:40123": as bound, with the port that 0 became */
} listen_socket;

/* Binds to "HOST:PORT"; an IPv6 address is in brackets. */
parsrec_status listen_open(listen_socket *out, const char *address, parsrec_error *err);

/* ---- the server ---- */

typedef struct http_server http_server;

/* Certificate and key, PEM; NULL: plain HTTP. */
typedef struct tls_files {
    char *certificate, *key;
} tls_files;

/* Reads the files that the options name and tries whether they are a pair, so that a mistake is found
 * before a store is made. */
parsrec_status tls_files_read(tls_files *out, const serve_options *options, parsrec_error *err);
void tls_files_free(tls_files *files);

/* Takes over the socket and the TLS files, also on failure. Everything else must outlive the server. */
parsrec_status http_server_start(http_server **out, app *a, const listen_socket *socket,
                                 tls_files *tls, access_log *log, parsrec_error *err);
/* Closes connections whose request does not arrive in time, and notices clients who left before their
 * answer. To be called about every second. */
void http_server_tend(http_server *server);
/* Accepts no new connections, waits up to `seconds` for requests to finish, and frees the server. NULL
 * is fine. */
void http_server_stop(http_server *server, double seconds);

#endif
