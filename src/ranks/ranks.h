/* Several processes, on one machine or many, that work on one task: ranks, as MPI calls them. A launcher
 * (mpirun, srun) starts the same command n times; each process finds out here which one it is.
 *
 *   ranks.c       joining, exchanges with a deadline, the collective calls made of them
 *   plugin.h      what a message-passing library must do: point-to-point messages, eleven calls
 *   ranks_mpi.c   that, by MPI; built into libparsrec-mpi.so, loaded when a launcher's variables are set
 *
 * Life cycle: parsrec_ranks_join, any number of exchanges, parsrec_ranks_close, parsrec_ranks_leave. All ranks make the same
 * calls in the same order; who does not is found out by the sizes or by the deadline.
 *
 * Invariants. No wait is endless: when nothing arrives for the time given to join, the call fails with a
 * sentence that names the rank waited for, and parsrec_ranks_leave then ends all ranks. No rank is replaced while a run is under way; a run is resumed from its checkpoint, on any
 * number of ranks. A rank that fails in a place where the
 * others do not (a full disk) ends them when it leaves; where all come by, parsrec_ranks_agree makes its
 * failure everybody's. Nothing is summed here: the order of sums is the callers' (model/chunk_tree.h), since
 * the reductions of MPI promise none. One thread calls.
 *
 * NULL is one process without others: rank 0 of 1, for which every call does nothing. */
#ifndef PR_RANKS_H
#define PR_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct parsrec_ranks pr_ranks;

/* Adds a parcel to the next exchange. Between two ranks, parcels are received in the order in which
 * they were sent, so both list them alike. Empty ones, and those with oneself, are left out. */
void pr_ranks_send(pr_ranks *ranks, unsigned to, const void *bytes, size_t size);
void pr_ranks_receive(pr_ranks *ranks, unsigned from, void *bytes, size_t size);
/* Everybody gets everybody's part of one block: that of rank r begins at begin[r] and ends at
 * begin[r + 1], in bytes. */
void pr_ranks_share(pr_ranks *ranks, void *block, const size_t *begin);
/* Carries out what was added since the last exchange. E_PEER when nothing arrives any more. */
parsrec_status pr_ranks_exchange(pr_ranks *ranks, parsrec_error *err);

/* Fails on all ranks unless all have the same text; `what` says in the message what it describes. */
parsrec_status pr_ranks_compare(pr_ranks *ranks, const char *text, const char *what,
                                parsrec_error *err);

/* Work of unequal length, during which ranks exchange nothing: trials of a search, a part of the users.
 * Whoever is through waits for the others however long they take, as long as it hears of them: the work
 * must call these hooks, on the calling thread and more often than the time given to join, and they tell
 * the others. When a rank ends with a failure, the hooks of the others ask to stop. */
typedef struct pr_ranks_work {
    parsrec_hooks hooks;
    const parsrec_hooks *outer;
    pr_ranks *ranks;
} pr_ranks_work;
/* The hooks for the work, which pass on to `outer` what they receive; `outer` itself without ranks. */
const parsrec_hooks *pr_ranks_work_begin(pr_ranks_work *work, pr_ranks *ranks,
                                         const parsrec_hooks *outer);
/* Waits for all, whose failure, or `own`, becomes everybody's. */
parsrec_status pr_ranks_work_end(pr_ranks_work *work, parsrec_status own, parsrec_error *err);

/* Where the part of rank r begins when `count` things are dealt in order. */
static inline size_t pr_ranks_begin(size_t count, unsigned size, size_t r)
{
    return count * r / size;
}

/* What this rank did since it joined. */
typedef struct pr_ranks_account {
    double sent;    /* bytes */
    double waited;  /* seconds in exchanges */
    uint64_t calls; /* exchanges */
} pr_ranks_account;
pr_ranks_account pr_ranks_account_of(const pr_ranks *ranks);

#endif
