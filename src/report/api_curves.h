/* Learning curves of a run, as pictures. */
#ifndef PR_API_CURVES_H
#define PR_API_CURVES_H

#include "base/status.h"

/* Writes both pictures. */
parsrec_status pr_learning_curves(const parsrec_epoch *epochs, size_t count, const char *png,
                                  const char *svg, parsrec_error *err);

#endif
