/* XXH3 from libxxhash, inlined, with our warnings off inside it. */
#ifndef PR_XXH3_H
#define PR_XXH3_H

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#endif
