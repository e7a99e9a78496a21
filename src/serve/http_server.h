/* HTTP by libmicrohttpd: sockets on one side, handlers on the other. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "serve/access_log.h"
#include "serve/app.h"
#include "serve/listen_socket.h"

typedef struct http_server http_server;

/* Takes over the socket, also on failure. Everything else must outlive the server. */
parsrec_status http_server_start(http_server **out, app *a, const listen_socket *socket,
                                 access_log *log, parsrec_error *err);
/* Cuts connections whose request does not come to its end, and notices clients who left before their answer;
 * called about every second. */
void http_server_tend(http_server *server);
/* Takes no new connections, lets requests finish for so many seconds, and ends. NULL is fine. */
void http_server_stop(http_server *server, double seconds);

#endif
