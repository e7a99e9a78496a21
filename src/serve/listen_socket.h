/* The socket that a server listens on, from an address as people write it. */
#ifndef SERVE_LISTEN_SOCKET_H
#define SERVE_LISTEN_SOCKET_H

#include "base/status.h"

typedef struct listen_socket {
    int fd;
    bool loopback;    /* only this machine can connect */
    char address[80]; /* "127.0.0.1:8080", "[::1]:40123": as bound, with the port that 0 became */
} listen_socket;

/* "HOST:PORT"; an IPv6 address stands in brackets. */
parsrec_status listen_open(listen_socket *out, const char *address, parsrec_error *err);

#endif
