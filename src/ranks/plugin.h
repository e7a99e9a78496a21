/* What a message-passing library must do for us: eleven calls. libparsrec-mpi.so (ranks_mpi.c) has them for
 * MPI; it is loaded when a launcher started the program, so the program does not depend on MPI.
 *
 * Messages between two ranks arrive in the order in which they were sent. One thread calls. */
#ifndef PR_RANKS_PLUGIN_H
#define PR_RANKS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

enum { PR_RANKS_PLUGIN_VERSION = 2 };
#define PR_RANKS_PLUGIN_SYMBOL "parsrec_ranks_plugin"

typedef struct pr_ranks_plugin {
    int version; /* PR_RANKS_PLUGIN_VERSION of whoever compiled it; the first member for ever */
    /* Joins the others. NULL, or what went wrong. */
    const char *(*open)(void);
    unsigned (*rank)(void);
    unsigned (*size)(void);
    /* Start a message of at most PR_RANKS_PIECE bytes, which stay where they are until it is through.
     * False: it could not be started. */
    bool (*send)(const void *bytes, size_t size, unsigned to);
    bool (*receive)(void *bytes, size_t size, unsigned from);
    /* How many of the started messages got through since the last call; below 0: one failed. Does
     * not wait. */
    int (*test)(void);
    /* How many are under way, and with whom the first of them is. */
    size_t (*pending)(unsigned *rank);
    /* Whether something of a rank is still to be received. */
    bool (*receiving)(unsigned from);
    /* The library and its version, for messages. */
    const char *(*name)(void);
    void (*close)(void); /* returns when all ranks have called it */
    void (*abort)(void); /* ends all ranks that can be reached; does not return */
} pr_ranks_plugin;

#define PR_RANKS_PIECE ((size_t)1 << 30)

#endif
