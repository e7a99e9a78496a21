/* Shared libraries that are loaded when they are first needed. A server without pictures and without
 * PostgreSQL runs without cairo and libpq, and does not load what these depend on.
 *
 * Each such library has one table of function pointers: a struct whose members are in the order of
 * `symbols`. Its owner offers one call that loads it (pr_pq_load, pr_cairo_load, ...); the functions
 * may be called once that has returned PARSREC_OK. A library stays loaded until the process ends. */
#ifndef PR_LIBRARY_H
#define PR_LIBRARY_H

#include <stdatomic.h>

#include "base/status.h"

typedef struct pr_library {
    const char *purpose;        /* "PostgreSQL addresses": begins the message if it is missing */
    const char *label;          /* "libpq" */
    const char *advice;         /* "install it (Debian: apt install libpq5)" */
    const char *variable;       /* environment variable that names a file to load instead */
    const char *const *names;   /* files to try, NULL at the end */
    const char *const *symbols; /* functions, NULL at the end */
    void *table;                /* filled with their addresses, one pointer each */
    atomic_bool loaded;
    char *file; /* the name under which it was found; NULL before */
} pr_library;

/* Fills the table. Any thread may call it; later calls are cheap. E_UNSUPPORTED with what to install if
 * the library is missing or lacks a function. If the variable is set, only the file that it names is
 * tried. */
parsrec_status pr_library_load(pr_library *library, parsrec_error *err);

#endif
