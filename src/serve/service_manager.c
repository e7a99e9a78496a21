/* The readiness protocol of sd_notify(3): one datagram to the socket that NOTIFY_SOCKET names. */
#include "serve/service_manager.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void service_manager_tell(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* a name that is not in the file system */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent =
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    (void)sent; /* a manager that does not listen is not our failure */
    close(fd);
}
