/* The version of the library, from the build. */
#include "parsrec.h"

const char *parsrec_version(void)
{
    return PARSREC_VERSION_TEXT;
}
