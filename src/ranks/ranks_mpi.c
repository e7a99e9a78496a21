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
static int *done;       /* scratch of MPI_Testsome */
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

/* Room for one more message. */
static bool grow(void)
{
    if (count < capacity)
        return true;
    size_t more = capacity * 2 + 64;
    if (more > INT_MAX)
        return false;
    MPI_Request *r = realloc(requests, more * sizeof *r);
    requests = r != NULL ? r : requests;
    unsigned *p = realloc(peers, more * sizeof *p);
    peers = p != NULL ? p : peers;
    int *d = realloc(done, more * sizeof *d);
    done = d != NULL ? d : done;
    if (r == NULL || p == NULL || d == NULL)
        return false;
    capacity = more;
    return true;
}

static bool send_bytes(const void *bytes, size_t size, unsigned to)
{
    if (size > PR_RANKS_PIECE || !grow() ||
        MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, 0, world, &requests[count]) != MPI_SUCCESS)
        return false;
    peers[count++] = to;
    return true;
}

static bool receive_bytes(void *bytes, size_t size, unsigned from)
{
    if (size > PR_RANKS_PIECE || !grow() ||
        MPI_Irecv(bytes, (int)size, MPI_BYTE, (int)from, 0, world, &requests[count]) != MPI_SUCCESS)
        return false;
    peers[count++] = from;
    return true;
}

static int test_all(void)
{
    int through = 0;
    if (count == 0)
        return 0;
    if (MPI_Testsome((int)count, requests, &through, done, MPI_STATUSES_IGNORE) != MPI_SUCCESS ||
        through == MPI_UNDEFINED)
        return -1;
    size_t kept = 0;
    for (size_t i = 0; through > 0 && i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            requests[kept] = requests[i];
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
    free(done);
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
    library_name,
    close_world,
    abort_world,
};
