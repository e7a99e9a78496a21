/* What libmicrohttpd alone does on this machine: reads a request with its body and answers with the same
 * bytes every time, from one response that was made beforehand. The server is measured against it.
 *   constant_http THREADS BODY_BYTES     prints its port */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct MHD_Response *constant;

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static int seen;
    (void)context, (void)url, (void)method, (void)version, (void)upload;
    if (*state == NULL || *upload_size > 0) { /* the headers, or a piece of the body */
        *state = &seen;
        *upload_size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, 200, constant);
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    size_t size = argc > 2 ? (size_t)atol(argv[2]) : 1000;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char *body = malloc(size);
    if (body == NULL)
        return 1;
    memset(body, ' ', size);
    constant = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(constant, "Content-Type", "application/json");
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, MHD_OPTION_END);
    if (daemon == NULL)
        return 1;
    printf("%d\n", (int)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    pause();
    return 0;
}
