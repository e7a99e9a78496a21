/* One thread reads ahead into a ring of pieces while the caller uses what is there. Several pieces,
 * so that neither has to wait for the other at every one of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "import/bytes.h"

enum { PIECES = 8, PIECE_BYTES = 1 << 16 };

typedef struct piece {
    size_t count; /* 0: the end, or a failure */
    bool full;
} piece;

typedef struct ahead {
    pr_bytes base;
    pr_bytes *source;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    piece pieces[PIECES];
    bool stop;                    /* under the lock, as are the pieces, status and error */
    parsrec_status status;        /* of the reading thread, seen at the piece with count 0 */
    parsrec_error error;          /* its sentence */
    unsigned reading;             /* the piece the caller uses */
    size_t used;                  /* of it */
    _Atomic uint64_t done, total; /* the source's position belongs to the reading thread */
    unsigned char bytes[PIECES][PIECE_BYTES];
} ahead;

/* Waits until piece p is as wanted, or stop is set; returns with the lock held. */
static void wait_for(ahead *self, unsigned p, bool full)
{
    pthread_mutex_lock(&self->lock);
    while (self->pieces[p].full != full && !self->stop)
        pthread_cond_wait(&self->changed, &self->lock);
}

static void set_piece(ahead *self, unsigned p, bool full)
{
    self->pieces[p].full = full;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void *read_ahead(void *context)
{
    ahead *self = context;
    for (unsigned p = 0;; p = (p + 1) % PIECES) {
        wait_for(self, p, false);
        bool stop = self->stop;
        pthread_mutex_unlock(&self->lock);
        if (stop)
            return NULL;
        parsrec_error error = {0};
        size_t count = 0;
        parsrec_status status =
            pr_bytes_fill(self->source, self->bytes[p], PIECE_BYTES, &count, &error);
        uint64_t done, total;
        self->source->position(self->source, &done, &total);
        atomic_store(&self->done, done);
        atomic_store(&self->total, total);
        pthread_mutex_lock(&self->lock);
        self->pieces[p].count = status == PARSREC_OK ? count : 0;
        self->status = status;
        self->error = error;
        set_piece(self, p, true);
        if (status != PARSREC_OK || count == 0)
            return NULL;
    }
}

static parsrec_status ahead_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                 parsrec_error *err)
{
    ahead *self = (ahead *)base;
    unsigned p = self->reading;
    wait_for(self, p, true);
    size_t held = self->pieces[p].count - self->used;
    *got = held < size ? held : size;
    parsrec_status status = *got == 0 ? self->status : PARSREC_OK;
    if (status != PARSREC_OK && err != NULL)
        *err = self->error;
    pthread_mutex_unlock(&self->lock);
    memcpy(buffer, self->bytes[p] + self->used, *got);
    self->used += *got;
    if (*got > 0 && *got == held) {
        self->reading = (p + 1) % PIECES;
        self->used = 0;
        pthread_mutex_lock(&self->lock);
        set_piece(self, p, false);
    }
    return status;
}

static void ahead_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    const ahead *self = (const ahead *)base;
    *done = atomic_load(&self->done);
    *total = atomic_load(&self->total);
}

static void ahead_free(pr_bytes *base)
{
    ahead *self = (ahead *)base;
    if (self->running) {
        pthread_mutex_lock(&self->lock);
        self->stop = true;
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    pr_bytes_free(self->source);
    pr_free(base->name);
    pr_free(self);
}

parsrec_status pr_bytes_ahead(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    ahead *self = pr_bytes_layer(sizeof *self, source->name);
    if (self == NULL) {
        pr_bytes_free(source);
        return pr_fail_memory(err);
    }
    self->base.read = ahead_read;
    self->base.position = ahead_position;
    self->base.free = ahead_free;
    self->source = source;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->running = pthread_create(&self->thread, NULL, read_ahead, self) == 0;
    if (!self->running) {
        ahead_free(&self->base);
        return pr_fail(err, PARSREC_E_LIMIT, "cannot start a thread to read ahead");
    }
    *out = &self->base;
    return PARSREC_OK;
}
