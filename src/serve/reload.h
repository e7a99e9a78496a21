/* A new engine in the place of the old, without a request that fails. */
#ifndef SERVE_RELOAD_H
#define SERVE_RELOAD_H

#include "serve/app.h"

/* Loads and checks the model file; on failure the old one stays. One at a time, others wait. */
parsrec_status reload(app *a, parsrec_error *err);

#endif
