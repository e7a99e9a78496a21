/* libparsrec-mpi.so: the calls of plugin.h by MPI, Open MPI or MPICH. Only point-to-point messages that
 * do not block: who waits how long, and in which order sums are formed, is decided in ranks.c. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/plugin.h"

static MPI_Comm world = MPI_COMM_NULL;
static MPI_Request *requests;
static unsigned *peers; /* of the requests */
static int *wanted;     /* bytes that a request must bring; -1: it sends */
static int *done;       /* scratch of MPI_Testsome, with the next */
static MPI_Status *statuses;
static size_t count, capacity;
static int own, all = 1;
static char words[MPI_MAX_ERROR_STRING + 1], library[MPI_MAX_LIBRARY_VERSION_STRING + 1];

static const char *words_of(int code)
{
    int length = 0;
    if (MPI_Error_string(code, words, &length) != MPI_SUCCESS)
        strcpy(words, "MPI failed");
    return words;
}

static const char *open_world(void)
{
    int begun = 0, level, code = MPI_Initialized(&begun);
    if (code == MPI_SUCCESS && !begun)
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(MPI_COMM_WORLD, &world);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(world, &own);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(world, &all);
    int length = 0;
    if (code != MPI_SUCCESS)
        return words_of(code);
    if (MPI_Get_library_version(library, &length) != MPI_SUCCESS)
        strcpy(library, "MPI");
    library[strcspn(library, ",\n")] = '\0';
    return NULL;
}

static unsigned own_rank(void)
{
    return (unsigned)own;
}

static unsigned world_size(void)
{
    return (unsigned)all;
}

/* *array has room for `more` elements afterwards; it stays as it is when there is no memory. */
static bool grow(void *array, size_t more, size_t size)
{
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, more * size);
    if (grown != NULL)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

/* Room for one more message. */
static bool room(void)
{
    size_t more = capacity * 2 + 64;
    if (count < capacity)
        return true;
    if (more > INT_MAX || !grow(&requests, more, sizeof *requests) ||
        !grow(&peers, more, sizeof *peers) || !grow(&wanted, more, sizeof *wanted) ||
        !grow(&done, more, sizeof *done) || !grow(&statuses, more, sizeof *statuses))
        return false;
    capacity = more;
    return true;
}

static bool send_bytes(const void *bytes, size_t size, unsigned to)
{
    if (size > PR_RANKS_PIECE || !room() ||
        MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, 0, world, &requests[count]) != MPI_SUCCESS)
        return false;
    wanted[count] = -1;
    peers[count++] = to;
    return true;
}

static bool receive_bytes(void *bytes, size_t size, unsigned from)
{
    if (size > PR_RANKS_PIECE || !room() ||
        MPI_Irecv(bytes, (int)size, MPI_BYTE, (int)from, 0, world, &requests[count]) != MPI_SUCCESS)
        return false;
    wanted[count] = (int)size;
    peers[count++] = from;
    return true;
}

static int test_all(void)
{
    int through = 0;
    if (count == 0)
        return 0;
    if (MPI_Testsome((int)count, requests, &through, done, statuses) != MPI_SUCCESS ||
        through == MPI_UNDEFINED)
        return -1;
    for (int i = 0; i < through; i++) {
        int found = 0, expected = wanted[done[i]];
        /* A message of another size is one of another exchange: the ranks no longer do the same. */
        if (expected >= 0 &&
            (MPI_Get_count(&statuses[i], MPI_BYTE, &found) != MPI_SUCCESS || found != expected))
            return -1;
    }
    size_t kept = 0;
    for (size_t i = 0; through > 0 && i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            requests[kept] = requests[i];
            wanted[kept] = wanted[i];
            peers[kept++] = peers[i];
        }
    count = through > 0 ? kept : count;
    return through;
}

static size_t still_pending(unsigned *rank)
{
    *rank = count > 0 ? peers[0] : 0;
    return count;
}

static bool still_receiving(unsigned from)
{
    for (size_t i = 0; i < count; i++)
        if (wanted[i] >= 0 && peers[i] == from)
            return true;
    return false;
}

static const char *library_name(void)
{
    return library;
}

static void close_world(void)
{
    MPI_Comm_free(&world);
    MPI_Finalize();
    free(requests);
    free(peers);
    free(wanted);
    free(done);
    free(statuses);
}

static void abort_world(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

__attribute__((visibility("default"))) const pr_ranks_plugin parsrec_ranks_plugin;
const pr_ranks_plugin parsrec_ranks_plugin = {
    PR_RANKS_PLUGIN_VERSION,
    open_world,
    own_rank,
    world_size,
    send_bytes,
    receive_bytes,
    test_all,
    still_pending,
    still_receiving,
    library_name,
    close_world,
    abort_world,
};
