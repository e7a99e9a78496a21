/* Joining the other ranks, exchanges with a deadline, and the calls made of them. */
#include "ranks/ranks.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "ranks/plugin.h"

/* A wait begins by polling, since a large message advances with every poll; others may
 * have the processor meanwhile. After that it sleeps between two polls. */
#define EAGER_SECONDS     5e-3
#define SLEEP_NANOSECONDS 50000
/* After this long a wait is shown to the caller, who may then stop it. */
#define SHOWN_SECONDS 0.3
/* A rank at work says so this often, unless it must more often. */
#define SAID_SECONDS 1.0
/* Rank 0 is waited for longer by this share: if another one is lost, it is rank 0 who says so, and it may
 * have been busy with a checkpoint when the others began to wait for it. */
#define FIRST_SHARE 0.25

struct parsrec_ranks {
    const pr_ranks_plugin *plugin;
    unsigned rank, size;
    double peer_seconds;
    const parsrec_hooks *hooks;
    bool failed;      /* a message could not even be started, or did not get through */
    bool broken;      /* another rank is gone: they cannot be left in order */
    unsigned gone;    /* the one that was waited for in vain */
    bool told;        /* it was rank 0, which had itself waited so long that it has said why */
    bool agreed;      /* on a failure: all ranks know that this is the end */
    double long_wait; /* when a wait ended that was nearly too long; 0: none was */
    bool closed;
    pr_ranks_account account;
    /* Of work under way: */
    signed char *word; /* [size]: the last word of each rank, or SILENT */
    double *heard;     /* [size]: when it came */
    double said;       /* when this rank last sent its own */
    bool stop;         /* another one has failed */
};

/* ---- who started us ---- */

static unsigned long number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoul(text, NULL, 10) : 0;
}

unsigned parsrec_ranks_launched(void)
{
    unsigned long count = 1;
    if (getenv("OMPI_COMM_WORLD_SIZE") != NULL) /* Open MPI */
        count = number_of("OMPI_COMM_WORLD_SIZE");
    else if (getenv("PMI_SIZE") != NULL) /* MPICH, or Slurm by PMI */
        count = number_of("PMI_SIZE");
    else if (getenv("PMIX_RANK") != NULL || getenv("PMI_RANK") != NULL)
        return (unsigned)number_of("SLURM_STEP_NUM_TASKS");
    return count > 1 ? (unsigned)count : 1;
}

/* ---- the plug-in ---- */

/* Beside the program or the library, where the build puts it, or in the folder of libraries or plug-ins
 * that belongs to the program's or the library's. */
static void *open_beside(const char *name)
{
    static const char *const places[] = {"", "/../lib", "/../lib/parsrec", "/../parsrec"};
    Dl_info info;
    char home[4096] = "", path[4200];
    void *handle = NULL;
    if (dladdr(PR_RANKS_PLUGIN_SYMBOL, &info) != 0 && info.dli_fname != NULL)
        snprintf(home, sizeof home, "%s", info.dli_fname);
    if (strchr(home, '/') == NULL) { /* a program that the shell found knows its name alone */
        ssize_t length = readlink("/proc/self/exe", home, sizeof home - 1);
        home[length > 0 ? length : 0] = '\0';
    }
    char *slash = strrchr(home, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places && handle == NULL; i++) {
        snprintf(path, sizeof path, "%s%s/%s", home, places[i], name);
        handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return handle;
}

static parsrec_status load(const pr_ranks_plugin **out, parsrec_error *err)
{
    static const char name[] = "libparsrec-mpi.so";
    const char *named = getenv("PARSREC_MPI");
    bool own = named != NULL && *named != '\0';
    void *handle = own ? dlopen(named, RTLD_NOW | RTLD_GLOBAL) : open_beside(name);
    if (handle == NULL && !own) /* Open MPI's own plug-ins need its symbols: global */
        handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    const char *why = handle == NULL ? dlerror() : NULL;
    *out = handle != NULL ? dlsym(handle, PR_RANKS_PLUGIN_SYMBOL) : NULL;
    if (*out == NULL)
        return pr_fail(
            err, PARSREC_E_UNSUPPORTED,
            "a launcher started several ranks, which need %s (%s); build parsrec with MPI "
            "(Debian: libopenmpi-dev), name the file in PARSREC_MPI, or start one process",
            name, why != NULL ? why : "it is not ours");
    if ((*out)->version != PR_RANKS_PLUGIN_VERSION)
        return pr_fail(err, PARSREC_E_UNSUPPORTED,
                       "%s is of another version of parsrec; install both from one build", name);
    return PARSREC_OK;
}

/* ---- joining and leaving ---- */

/* Joining, leaving and ending the others are calls of the library that may block. */
static char late_words[120];

static void on_late(int number)
{
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, late_words, strlen(late_words));
    (void)ignored;
    _exit(1);
}

/* Ends the process with a sentence unless guard_end comes in time. */
static void guard_begin(double seconds, const char *words)
{
    snprintf(late_words, sizeof late_words, "%s", words);
    struct sigaction action = {.sa_handler = on_late};
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)ceil(seconds < 1 ? 1 : seconds));
}

static void guard_end(void)
{
    alarm(0);
}

parsrec_status parsrec_ranks_join(parsrec_ranks **out, double peer_seconds,
                                  const parsrec_hooks *hooks, parsrec_error *err)
{
    if (out == NULL || !(peer_seconds > 0 && peer_seconds < 1e6))
        return pr_fail(err, PARSREC_E_ARGUMENT, "joining ranks needs out and a time in seconds");
    *out = NULL;
    if (parsrec_ranks_launched() == 1)
        return PARSREC_OK;
    const pr_ranks_plugin *plugin;
    PR_TRY(load(&plugin, err));
    pr_ranks *r = pr_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return pr_fail_memory(err);
    guard_begin(peer_seconds, "parsrec: the other ranks did not start in time (--peer-time)\n");
    const char *wrong = plugin->open();
    guard_end();
    if (wrong != NULL) {
        pr_free(r);
        return pr_fail(err, PARSREC_E_PEER, "the other ranks cannot be joined: %s", wrong);
    }
    *r = (pr_ranks){.plugin = plugin,
                    .rank = plugin->rank(),
                    .size = plugin->size(),
                    .peer_seconds = peer_seconds,
                    .hooks = hooks};
    r->word = pr_alloc_zero(r->size, sizeof *r->word);
    r->heard = pr_alloc_zero(r->size, sizeof *r->heard);
    if (r->word == NULL || r->heard == NULL) { /* the launcher ends the others with this process */
        pr_free(r->word);
        pr_free(r->heard);
        pr_free(r);
        return pr_fail_memory(err);
    }
    *out = r;
    return PARSREC_OK;
}

void parsrec_ranks_close(pr_ranks *r)
{
    if (r == NULL || r->closed)
        return;
    guard_begin(r->peer_seconds, "parsrec: a rank did not end with the others\n");
    r->plugin->close();
    guard_end();
    r->closed = true;
}

bool parsrec_ranks_speaks(const parsrec_ranks *r)
{
    if (r == NULL || r->rank == 0)
        return true;
    return r->broken ? r->gone == 0 && r->rank == 1 && !r->told : !r->agreed;
}

void parsrec_ranks_leave(parsrec_ranks *r)
{
    enum { SPEAKING_SECONDS = 2 };
    if (r == NULL)
        return;
    if (r->agreed)
        parsrec_ranks_close(r);
    if (!r->closed) {
        if (!parsrec_ranks_speaks(r)) /* the one who does shall not be ended in mid-sentence */
            sleep(SPEAKING_SECONDS);
        guard_begin(SPEAKING_SECONDS, "");
        r->plugin->abort();
    }
    pr_free(r->word);
    pr_free(r->heard);
    pr_free(r);
}

unsigned parsrec_ranks_rank(const parsrec_ranks *r)
{
    return r != NULL ? r->rank : 0;
}

unsigned parsrec_ranks_size(const parsrec_ranks *r)
{
    return r != NULL ? r->size : 1;
}

pr_ranks_account pr_ranks_account_of(const pr_ranks *r)
{
    return r != NULL ? r->account : (pr_ranks_account){0};
}

/* ---- exchanges ---- */

void pr_ranks_send(pr_ranks *r, unsigned to, const void *bytes, size_t size)
{
    if (r == NULL || to == r->rank)
        return;
    for (size_t at = 0; at < size && !r->failed; at += PR_RANKS_PIECE) {
        size_t n = size - at < PR_RANKS_PIECE ? size - at : PR_RANKS_PIECE;
        r->failed = !r->plugin->send((const char *)bytes + at, n, to);
        r->account.sent += (double)n;
    }
}

void pr_ranks_receive(pr_ranks *r, unsigned from, void *bytes, size_t size)
{
    if (r == NULL || from == r->rank)
        return;
    for (size_t at = 0; at < size && !r->failed; at += PR_RANKS_PIECE) {
        size_t n = size - at < PR_RANKS_PIECE ? size - at : PR_RANKS_PIECE;
        r->failed = !r->plugin->receive((char *)bytes + at, n, from);
    }
}

void pr_ranks_share(pr_ranks *r, void *block, const size_t *begin)
{
    if (r == NULL)
        return;
    /* Everybody begins with another one, so that nobody is everybody's first. */
    for (unsigned i = 1; i < r->size; i++) {
        unsigned from = (r->rank + r->size - i) % r->size, to = (r->rank + i) % r->size;
        pr_ranks_receive(r, from, (char *)block + begin[from], begin[from + 1] - begin[from]);
        pr_ranks_send(r, to, (const char *)block + begin[r->rank],
                      begin[r->rank + 1] - begin[r->rank]);
    }
}

static parsrec_status lost(pr_ranks *r, unsigned peer, const char *how, parsrec_error *err)
{
    r->broken = true;
    r->gone = peer;
    return pr_fail(err, PARSREC_E_PEER, "rank %u of %u %s", peer, r->size, how);
}

/* Whether rank 0 may have lost patience too, and then has said so. */
static bool is_long(const pr_ranks *r, double seconds)
{
    return seconds > (1 - FIRST_SHARE) * r->peer_seconds;
}

/* Shows a long wait. A caller who wants to stop is obeyed: whoever is waited for may be gone. A launcher that ends
 * the ranks wakes those that are stopped first, and what they still send ends a wait: so it counts as under way for
 * a while. */
static parsrec_status show_wait(pr_ranks *r, unsigned peer, double seconds, parsrec_error *err)
{
    char stage[60];
    snprintf(stage, sizeof stage, "waiting for rank %u", peer);
    if (pr_progress(r->hooks, stage, "seconds", (uint64_t)seconds, (uint64_t)r->peer_seconds,
                    NULL) == PARSREC_OK)
        return PARSREC_OK;
    r->told =
        is_long(r, seconds) || (r->long_wait > 0 && pr_now() < r->long_wait + r->peer_seconds);
    return lost(r, peer, "did not answer before this one was told to stop", err);
}

/* Between two questions of a wait that has lasted so long. */
static void pause_for(double waited)
{
    if (waited < EAGER_SECONDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NANOSECONDS}, NULL);
}

static double patience(const pr_ranks *r, unsigned peer)
{
    return r->peer_seconds * (peer == 0 ? 1 + FIRST_SHARE : 1);
}

static parsrec_status silent(pr_ranks *r, unsigned peer, double seconds, parsrec_error *err)
{
    char how[100];
    snprintf(how, sizeof how, "was not heard of for %.0f s (--peer-time)", seconds);
    return lost(r, peer, how, err);
}

parsrec_status pr_ranks_exchange(pr_ranks *r, parsrec_error *err)
{
    if (r == NULL)
        return PARSREC_OK;
    double began = pr_now(), heard = began, shown = began + SHOWN_SECONDS;
    unsigned peer = 0;
    parsrec_status status = PARSREC_OK;
    while (status == PARSREC_OK && !r->failed && r->plugin->pending(&peer) > 0) {
        int through = r->plugin->test();
        double now = pr_now(), waited = now - heard;
        r->failed = through < 0;
        if (through > 0) {
            r->long_wait = is_long(r, waited) ? now : r->long_wait;
            heard = now;
        } else if (waited > patience(r, peer)) {
            status = silent(r, peer, waited, err);
        } else if (now > shown) {
            status = show_wait(r, peer, waited, err);
            shown = now + SHOWN_SECONDS;
        } else {
            pause_for(waited);
        }
    }
    r->account.waited += pr_now() - began;
    r->account.calls++;
    return r->failed ? lost(r, peer, "cannot be reached", err) : status;
}

parsrec_status parsrec_ranks_broadcast(pr_ranks *r, void *bytes, size_t size, parsrec_error *err)
{
    for (unsigned to = 1; r != NULL && r->rank == 0 && to < r->size; to++)
        pr_ranks_send(r, to, bytes, size);
    if (r != NULL && r->rank != 0)
        pr_ranks_receive(r, 0, bytes, size);
    return pr_ranks_exchange(r, err);
}

/* ---- agreement ---- */

/* All ranks' pieces of `size` bytes, in order; the caller frees them. */
static parsrec_status collect(char **out, pr_ranks *r, const void *own, size_t size,
                              parsrec_error *err)
{
    char *all = pr_alloc_zero(r->size, size);
    size_t *begin = pr_alloc(r->size + 1, sizeof *begin);
    parsrec_status status = PARSREC_OK;
    if (all == NULL || begin == NULL) {
        status = pr_fail_memory(err);
    } else {
        memcpy(all + r->rank * size, own, size);
        for (size_t i = 0; i <= r->size; i++)
            begin[i] = i * size;
        pr_ranks_share(r, all, begin);
        status = pr_ranks_exchange(r, err);
    }
    pr_free(begin);
    if (status != PARSREC_OK) {
        pr_free(all);
        all = NULL;
    }
    *out = all;
    return status;
}

parsrec_status parsrec_ranks_agree(parsrec_ranks *r, parsrec_status own, parsrec_error *err)
{
    char *all;
    parsrec_error mine = {.status = own};
    if (r == NULL || own == PARSREC_E_PEER || r->agreed) /* agreed: on a failure, already */
        return own;
    if (own != PARSREC_OK && err != NULL)
        mine = *err;
    PR_TRY(collect(&all, r, &mine, sizeof mine, err));
    unsigned cause = r->size;
    parsrec_error theirs = {0};
    for (unsigned i = r->size; i-- > 0;) { /* who was only asked to stop is not the cause of it */
        parsrec_error one;
        memcpy(&one, all + i * sizeof one, sizeof one);
        if (one.status == PARSREC_OK || (one.status == PARSREC_E_STOPPED && cause < r->size &&
                                         theirs.status != PARSREC_E_STOPPED))
            continue;
        cause = i;
        theirs = one;
    }
    parsrec_status status = theirs.status;
    if (cause == r->rank && err != NULL)
        *err = theirs;
    else if (cause < r->size && theirs.message[0] != '\0')
        pr_fail(err, status, "rank %u: %.480s", cause, theirs.message);
    pr_free(all);
    r->agreed = status != PARSREC_OK;
    return status;
}

parsrec_status pr_ranks_compare(pr_ranks *r, const char *text, const char *what, parsrec_error *err)
{
    enum { LONGEST = 256 };
    char *all, own[LONGEST] = "";
    if (r == NULL)
        return PARSREC_OK;
    snprintf(own, sizeof own, "%s", text);
    PR_TRY(collect(&all, r, own, sizeof own, err));
    parsrec_status status = PARSREC_OK;
    for (unsigned i = 1; i < r->size && status == PARSREC_OK; i++)
        if (memcmp(all, all + i * LONGEST, LONGEST) != 0)
            status =
                pr_fail(err, PARSREC_E_INPUT,
                        "rank %u has another %s than rank 0 ('%.60s', '%.60s'); all ranks must "
                        "have the same",
                        i, what, all + i * LONGEST, all);
    pr_free(all);
    r->agreed = status != PARSREC_OK;
    return status;
}

/* ---- work of unequal length ----
 *
 * Each rank sends single bytes: that it is still at work, again and again, and at the end that it is done or
 * has failed. There is always one receive from every rank that has not ended. */

enum { SILENT, AT_WORK, DONE, FAILED, ENDED };

static const signed char words[] = {[AT_WORK] = AT_WORK, [DONE] = DONE, [FAILED] = FAILED};

static void say_to_all(pr_ranks *r, int word)
{
    for (unsigned to = 0; to < r->size; to++)
        pr_ranks_send(r, to, &words[word], sizeof *words);
    r->said = pr_now();
}

static void listen_to(pr_ranks *r, unsigned from)
{
    r->word[from] = SILENT;
    pr_ranks_receive(r, from, &r->word[from], sizeof *r->word);
}

/* Takes what has arrived, without waiting. The rank that has not ended and was silent the longest; the own
 * one if all have. */
static unsigned listen_around(pr_ranks *r)
{
    unsigned last = r->rank;
    /* A question that finds something through, such as the own word, may not look for more. */
    for (int nothing = 0, through; nothing < 2 && !r->failed; nothing += through == 0) {
        through = r->plugin->test();
        r->failed = through < 0;
    }
    for (unsigned from = 0; from < r->size && !r->failed; from++) {
        if (from == r->rank || r->word[from] == ENDED)
            continue;
        if (!r->plugin->receiving(from)) {
            int word = r->word[from];
            r->heard[from] = pr_now();
            r->stop = r->stop || word == FAILED;
            r->word[from] = ENDED;
            if (word != AT_WORK)
                continue;
            listen_to(r, from);
        }
        last = last == r->rank || r->heard[from] < r->heard[last] ? from : last;
    }
    return last;
}

static bool is_silent(const pr_ranks *r, unsigned peer)
{
    return peer != r->rank && pr_now() - r->heard[peer] > patience(r, peer);
}

static int on_progress(void *context, const parsrec_progress *progress)
{
    const pr_ranks_work *w = context;
    pr_ranks *r = w->ranks;
    int stop = 0;
    if (w->outer != NULL && w->outer->on_progress != NULL)
        stop = w->outer->on_progress(w->outer->context, progress);
    if (pr_now() - r->said > fmin(r->peer_seconds / 10, SAID_SECONDS)) {
        say_to_all(r, AT_WORK);
        unsigned last = listen_around(r);
        r->stop =
            r->stop || r->failed || is_silent(r, last); /* which pr_ranks_work_end will tell */
    }
    return stop != 0 || r->stop;
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    const parsrec_hooks *outer = ((const pr_ranks_work *)context)->outer;
    outer->on_log(outer->context, level, text);
}

static void on_epoch(void *context, const parsrec_epoch *epoch)
{
    const parsrec_hooks *outer = ((const pr_ranks_work *)context)->outer;
    outer->on_epoch(outer->context, epoch);
}

const parsrec_hooks *pr_ranks_work_begin(pr_ranks_work *w, pr_ranks *r, const parsrec_hooks *outer)
{
    *w = (pr_ranks_work){.outer = outer, .ranks = r};
    if (r == NULL)
        return outer;
    bool logs = outer != NULL && outer->on_log != NULL;
    bool epochs = outer != NULL && outer->on_epoch != NULL;
    w->hooks = (parsrec_hooks){w, logs ? on_log : NULL, on_progress, epochs ? on_epoch : NULL};
    r->stop = false;
    r->said = pr_now();
    for (unsigned from = 0; from < r->size; from++) {
        r->heard[from] = r->said;
        listen_to(r, from);
    }
    return &w->hooks;
}

parsrec_status pr_ranks_work_end(pr_ranks_work *w, parsrec_status own, parsrec_error *err)
{
    pr_ranks *r = w->ranks;
    if (r == NULL)
        return own;
    double began = pr_now(), shown = began + SHOWN_SECONDS;
    unsigned peer = 0, other;
    say_to_all(r, own == PARSREC_OK ? DONE : FAILED);
    while (peer = listen_around(r),
           !r->failed && (peer != r->rank || r->plugin->pending(&other) > 0)) {
        double now = pr_now();
        if (is_silent(r, peer))
            return silent(r, peer, now - r->heard[peer], err);
        if (now > shown) { /* a wish to stop is told to the others when they have ended */
            parsrec_status wish =
                pr_progress(r->hooks, "waiting for other ranks", "seconds", (uint64_t)(now - began),
                            0, own == PARSREC_OK ? err : NULL);
            own = own == PARSREC_OK ? wish : own;
            shown = now + SHOWN_SECONDS;
        }
        pause_for(now - began);
    }
    r->account.waited += pr_now() - began;
    r->account.calls++;
    if (r->failed)
        return lost(r, peer, "cannot be reached", err);
    return parsrec_ranks_agree(r, own, err);
}
