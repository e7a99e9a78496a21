/* One line for each request: when, what, how it ended and how long it took. Without ids of users unless
 * they are asked for. */
#ifndef SERVE_ACCESS_LOG_H
#define SERVE_ACCESS_LOG_H

#include "base/status.h"

typedef struct access_log access_log;

typedef struct access_line {
    const char *method, *target; /* the route's path, or the request's own */
    int status;
    size_t bytes;
    double seconds;
} access_line;

/* "-" is stdout. */
parsrec_status access_log_open(access_log **out, const char *path, parsrec_error *err);
void access_log_close(access_log *log); /* NULL is fine, here and below */
void access_log_write(access_log *log, const access_line *line);
void access_log_flush(access_log *log);  /* every second or so */
void access_log_reopen(access_log *log); /* after the file was moved away */

#endif
