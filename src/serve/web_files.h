/* The files of the page, inside the program. The table is made by the build (CMake, PARSREC_WEB); without
 * the page it has only the end mark. */
#ifndef SERVE_WEB_FILES_H
#define SERVE_WEB_FILES_H

#include <stddef.h>

typedef struct web_file {
    const char *path; /* as in a request, "/assets/app.js"; NULL ends the table */
    const char *type; /* "text/javascript; charset=utf-8" */
    const unsigned char *bytes;
    size_t size;
    const char *etag; /* a hash of the bytes, without quotes */
} web_file;

extern const web_file web_files[]; /* the page itself is "/index.html", served at "/" too */

#endif
