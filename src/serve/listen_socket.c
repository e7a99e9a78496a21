/* Resolving, binding, listening. */
#include "serve/listen_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

enum { BACKLOG = 1024 };

typedef struct host_port {
    char host[256], port[8];
} host_port;

static parsrec_status split(host_port *out, const char *address, parsrec_error *err)
{
    const char *colon = strrchr(address, ':'), *host = address;
    size_t size = colon != NULL ? (size_t)(colon - address) : 0;
    uint64_t port;
    if (size >= 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if (size == 0 || size >= sizeof out->host || colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "'%s' is not an address to listen on; write 127.0.0.1:8080 or [::1]:8080",
                       address);
    if (!pr_parse_u64(pr_slice_of(colon + 1), &port) || port > UINT16_MAX)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "cannot listen on %s: ports go from 1 to 65535, and 0 takes a free one",
                       address);
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    snprintf(out->port, sizeof out->port, "%u", (unsigned)port); /* without zeros in front */
    return PARSREC_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >>
                24) == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static int bind_to(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static void describe(listen_socket *s)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    char host[64] = "", port[8] = "";
    getsockname(s->fd, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(s->address, sizeof s->address, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
    s->loopback = is_loopback((struct sockaddr *)&bound);
}

parsrec_status listen_open(listen_socket *out, const char *address, parsrec_error *err)
{
    host_port words;
    struct addrinfo *found;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    out->fd = -1;
    PR_TRY(split(&words, address, err));
    int code = getaddrinfo(words.host, words.port, &hints, &found);
    if (code != 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "cannot listen on %s: %s", address,
                       gai_strerror(code));
    for (const struct addrinfo *i = found; i != NULL && out->fd < 0; i = i->ai_next)
        out->fd = bind_to(i);
    freeaddrinfo(found);
    if (out->fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "cannot listen on %s", address);
    describe(out);
    return PARSREC_OK;
}
