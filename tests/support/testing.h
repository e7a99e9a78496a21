/* What every unit test includes: cmocka in its required order, and comparisons it lacks. */
#ifndef TESTING_H
#define TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "parsrec.h"

/* Asks `difference <= tolerance`, so NaN fails. */
#define assert_close(actual, expected, tolerance)                                        \
    do {                                                                                 \
        double ac_a = (actual), ac_e = (expected), ac_t = (tolerance);                   \
        if (!(fabs(ac_a - ac_e) <= ac_t))                                                \
            fail_msg("%s = %.12g, expected %.12g within %g", #actual, ac_a, ac_e, ac_t); \
    } while (0)

/* A call that must succeed; shows its sentence when it does not. Needs `parsrec_error err`. */
#define assert_ok(call)                             \
    do {                                            \
        if ((call) != PARSREC_OK)                   \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

/* A call that must fail with that status and name `text` in its sentence. */
#define assert_fails(call, expected_status, text)                                           \
    do {                                                                                    \
        parsrec_status af_status = (call);                                                  \
        if (af_status != (expected_status))                                                 \
            fail_msg("%s: status %d (%s), expected %d", #call, (int)af_status,              \
                     af_status != PARSREC_OK ? err.message : "ok", (int)(expected_status)); \
        if (strstr(err.message, text) == NULL)                                              \
            fail_msg("%s: '%s' does not say '%s'", #call, err.message, text);               \
    } while (0)

#endif
