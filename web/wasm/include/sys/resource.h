/* No limit on address space is set in a browser. */
#ifndef SYS_RESOURCE_H
#define SYS_RESOURCE_H

struct rlimit {
    unsigned long long rlim_cur, rlim_max;
};
enum { RLIMIT_AS };
#define RLIM_INFINITY (~0ULL)
static inline int getrlimit(int resource, struct rlimit *limit)
{
    (void)resource;
    limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
    return 0;
}

#endif
