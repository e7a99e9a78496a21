/* WebAssembly loads no libraries: none is ever found. */
#ifndef DLFCN_H
#define DLFCN_H

#include <stddef.h>

enum { RTLD_NOW, RTLD_LOCAL };

static inline void *dlopen(const char *name, int mode)
{
    (void)name;
    (void)mode;
    return NULL;
}
static inline void *dlsym(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}
static inline int dlclose(void *library)
{
    (void)library;
    return 0;
}

#endif
