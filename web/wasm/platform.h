/* The one file that exists in a browser. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stddef.h>

/* Any file that is opened from now on has these bytes, which must stay until it is closed. */
void browser_hand_over(const void *bytes, size_t size);

#endif
