/* Telling a service manager, such as systemd, how the server is. */
#ifndef SERVE_SERVICE_MANAGER_H
#define SERVE_SERVICE_MANAGER_H

/* "READY=1", "STOPPING=1"; does nothing where nobody listens. */
void service_manager_tell(const char *state);

#endif
