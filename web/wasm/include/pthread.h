/* WebAssembly runs on one thread: a lock is always free, nobody is waited for, and a first call is a
 * flag. */
#ifndef PTHREAD_H
#define PTHREAD_H

typedef int pthread_t, pthread_once_t, pthread_mutex_t, pthread_cond_t, pthread_rwlock_t,
    pthread_rwlockattr_t;

#define PTHREAD_ONCE_INIT 0
static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (!*once) {
        *once = 1;
        run();
    }
    return 0;
}

#define NOTHING_TO_DO(call, type)        \
    static inline int call(type *unused) \
    {                                    \
        (void)unused;                    \
        return 0;                        \
    }
#define NOTHING_TO_SET(call, type, second)           \
    static inline int call(type *set, second unused) \
    {                                                \
        (void)unused;                                \
        return *set = 0;                             \
    }
NOTHING_TO_SET(pthread_mutex_init, pthread_mutex_t, const void *)
NOTHING_TO_DO(pthread_mutex_lock, pthread_mutex_t)
NOTHING_TO_DO(pthread_mutex_unlock, pthread_mutex_t)
NOTHING_TO_DO(pthread_mutex_destroy, pthread_mutex_t)
NOTHING_TO_SET(pthread_cond_init, pthread_cond_t, const void *)
NOTHING_TO_SET(pthread_cond_wait, pthread_cond_t, pthread_mutex_t *)
NOTHING_TO_DO(pthread_cond_broadcast, pthread_cond_t)
NOTHING_TO_DO(pthread_cond_destroy, pthread_cond_t)
enum { PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP };
NOTHING_TO_DO(pthread_rwlockattr_init, pthread_rwlockattr_t)
NOTHING_TO_SET(pthread_rwlockattr_setkind_np, pthread_rwlockattr_t, int)
NOTHING_TO_DO(pthread_rwlockattr_destroy, pthread_rwlockattr_t)
NOTHING_TO_SET(pthread_rwlock_init, pthread_rwlock_t, const pthread_rwlockattr_t *)
NOTHING_TO_DO(pthread_rwlock_rdlock, pthread_rwlock_t)
NOTHING_TO_DO(pthread_rwlock_wrlock, pthread_rwlock_t)
NOTHING_TO_DO(pthread_rwlock_unlock, pthread_rwlock_t)
NOTHING_TO_DO(pthread_rwlock_destroy, pthread_rwlock_t)
#undef NOTHING_TO_DO
#undef NOTHING_TO_SET

#endif
