/* Plain files and pipes, the layers over them, and the choice of a decompressor by the first
 * bytes. */
#include "import/bytes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/threads.h"

enum { PEEK_BYTES = 4, INPUT_BYTES = 1 << 17 };

/* ---- what all have in common ---- */

void *pr_bytes_new(size_t size, const char *name, pr_bytes *source)
{
    pr_bytes *bytes = pr_alloc_zero(1, size);
    char *copy = pr_copy_string(name, strlen(name));
    if (bytes == NULL || copy == NULL) {
        pr_free(bytes);
        pr_free(copy);
        pr_bytes_free(source);
        return NULL;
    }
    bytes->name = copy;
    bytes->source = source;
    return bytes;
}

void pr_bytes_free(pr_bytes *bytes)
{
    if (bytes == NULL)
        return;
    if (bytes->close != NULL)
        bytes->close(bytes);
    pr_bytes_free(bytes->source);
    pr_free(bytes->name);
    pr_free(bytes);
}

void pr_bytes_position(const pr_bytes *bytes, uint64_t *done, uint64_t *total)
{
    while (bytes->position == NULL)
        bytes = bytes->source;
    bytes->position(bytes, done, total);
}

parsrec_status pr_bytes_fill(pr_bytes *bytes, void *buffer, size_t size, size_t *got,
                             parsrec_error *err)
{
    assert(bytes->read != NULL);
    size_t filled = 0, n = 1;
    while (filled < size && n > 0) {
        PR_TRY(bytes->read(bytes, (char *)buffer + filled, size - filled, &n, err));
        filled += n;
    }
    *got = filled;
    return PARSREC_OK;
}

/* ---- a file or a pipe ---- */

typedef struct plain {
    pr_bytes base;
    int fd;
    uint64_t done, total;
    unsigned char peeked[PEEK_BYTES]; /* read to look at, handed out first */
    size_t peek_count, peek_used;
} plain;

static parsrec_status plain_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                 parsrec_error *err)
{
    plain *self = (plain *)base;
    size_t held = self->peek_count - self->peek_used;
    if (held > 0) {
        *got = held < size ? held : size;
        memcpy(buffer, self->peeked + self->peek_used, *got);
        self->peek_used += *got;
        return PARSREC_OK;
    }
    ssize_t n;
    do {
        n = read(self->fd, buffer, size < (1u << 30) ? size : 1u << 30);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: reading failed", base->name);
    *got = (size_t)n;
    self->done += *got;
    return PARSREC_OK;
}

static void plain_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    const plain *self = (const plain *)base;
    *done = self->done;
    *total = self->total >= self->done ? self->total : 0;
}

static void plain_close(pr_bytes *base)
{
    plain *self = (plain *)base;
    if (self->fd > STDERR_FILENO)
        close(self->fd);
}

static parsrec_status open_file(plain *self, const char *path, parsrec_error *err)
{
    struct stat st;
    bool from_stdin = strcmp(path, "-") == 0;
    self->fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (self->fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot open for reading", path);
    if (fstat(self->fd, &st) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be read", self->base.name);
    if (S_ISDIR(st.st_mode))
        return pr_fail(err, PARSREC_E_IO, "%s: is a directory; name a file in it", self->base.name);
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        self->total = (uint64_t)st.st_size;
    return PARSREC_OK;
}

static parsrec_status open_plain(pr_bytes **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    plain *self =
        pr_bytes_new(sizeof *self, strcmp(path, "-") == 0 ? "standard input" : path, NULL);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = plain_read;
    self->base.position = plain_position;
    self->base.close = plain_close;
    parsrec_status status = open_file(self, path, err);
    if (status != PARSREC_OK)
        pr_bytes_free(&self->base);
    else
        *out = &self->base;
    return status;
}

/* ---- gzip data of any number of members, through zlib ---- */

typedef struct gzip {
    pr_bytes base;
    z_stream stream;
    bool begun, member_open, ended;
    unsigned char input[INPUT_BYTES];
} gzip;

static void *allocate(void *context, unsigned count, unsigned size)
{
    (void)context;
    return pr_alloc(count, size);
}

static void release(void *context, void *memory)
{
    (void)context;
    pr_free(memory);
}

static parsrec_status gzip_refill(gzip *self, size_t *got, parsrec_error *err)
{
    PR_TRY(self->base.source->read(self->base.source, self->input, sizeof self->input, got, err));
    self->stream.next_in = self->input;
    self->stream.avail_in = (unsigned)*got;
    return PARSREC_OK;
}

/* Between members: another one begins, or zeros fill a block, or the file ends. */
static parsrec_status between_members(gzip *self, parsrec_error *err)
{
    z_stream *z = &self->stream;
    for (;;) {
        size_t got = z->avail_in;
        if (got == 0)
            PR_TRY(gzip_refill(self, &got, err));
        if (got == 0) {
            self->ended = true;
            return PARSREC_OK;
        }
        if (*z->next_in != 0)
            break;
        z->next_in++;
        z->avail_in--;
    }
    if (*z->next_in != 0x1F)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: other bytes follow the gzip data; is the file damaged?",
                       self->base.name);
    self->member_open = true;
    return inflateReset(z) == Z_OK ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status inflate_some(gzip *self, parsrec_error *err)
{
    z_stream *z = &self->stream;
    if (z->avail_in == 0) {
        size_t got;
        PR_TRY(gzip_refill(self, &got, err));
        if (got == 0)
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: the gzip data end too early; is the file cut?", self->base.name);
    }
    int rc = inflate(z, Z_NO_FLUSH);
    if (rc == Z_STREAM_END)
        self->member_open = false;
    else if (rc == Z_MEM_ERROR)
        return pr_fail_memory(err);
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the gzip data are damaged (%s)", self->base.name,
                       z->msg != NULL ? z->msg : "zlib gives no reason");
    return PARSREC_OK;
}

static parsrec_status gzip_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                parsrec_error *err)
{
    gzip *self = (gzip *)base;
    unsigned room = size < (1u << 30) ? (unsigned)size : 1u << 30;
    self->stream.next_out = buffer;
    self->stream.avail_out = room;
    while (self->stream.avail_out == room && !self->ended)
        PR_TRY(self->member_open ? inflate_some(self, err) : between_members(self, err));
    *got = room - self->stream.avail_out;
    return PARSREC_OK;
}

static void gzip_close(pr_bytes *base)
{
    gzip *self = (gzip *)base;
    if (self->begun)
        inflateEnd(&self->stream);
}

parsrec_status pr_bytes_gzip(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    gzip *self = pr_bytes_new(sizeof *self, source->name, source);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = gzip_read;
    self->base.close = gzip_close;
    self->stream.zalloc = allocate;
    self->stream.zfree = release;
    self->member_open = true;
    self->begun = inflateInit2(&self->stream, 15 + 16) == Z_OK; /* 16: the gzip wrapper only */
    if (!self->begun) {
        pr_bytes_free(&self->base);
        return pr_fail_memory(err);
    }
    *out = &self->base;
    return PARSREC_OK;
}

/* ---- zstd data of any number of frames, through libzstd ---- */

typedef struct zstd {
    pr_bytes base;
    ZSTD_DStream *stream;
    ZSTD_inBuffer input;
    bool frame_open, ended;
    unsigned char bytes[INPUT_BYTES];
} zstd;

static parsrec_status zstd_refill(zstd *self, parsrec_error *err)
{
    size_t got;
    PR_TRY(self->base.source->read(self->base.source, self->bytes, sizeof self->bytes, &got, err));
    self->input = (ZSTD_inBuffer){self->bytes, got, 0};
    self->ended = got == 0;
    if (self->ended && self->frame_open)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the zstd data end too early; is the file cut?",
                       self->base.name);
    return PARSREC_OK;
}

static parsrec_status zstd_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                parsrec_error *err)
{
    zstd *self = (zstd *)base;
    ZSTD_outBuffer output = {buffer, size, 0};
    /* The decoder may hold output back, so it is asked before more input is read. */
    while (output.pos == 0 && !self->ended) {
        size_t before = self->input.pos;
        size_t rc = ZSTD_decompressStream(self->stream, &output, &self->input);
        if (ZSTD_isError(rc))
            return pr_fail(err, PARSREC_E_FORMAT, "%s: the zstd data are damaged (%s)", base->name,
                           ZSTD_getErrorName(rc));
        if (output.pos > 0 || self->input.pos != before)
            self->frame_open = rc != 0;
        if (output.pos == 0 && self->input.pos == self->input.size)
            PR_TRY(zstd_refill(self, err));
    }
    *got = output.pos;
    return PARSREC_OK;
}

static void zstd_close(pr_bytes *base)
{
    ZSTD_freeDStream(((zstd *)base)->stream);
}

parsrec_status pr_bytes_zstd(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    zstd *self = pr_bytes_new(sizeof *self, source->name, source);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = zstd_read;
    self->base.close = zstd_close;
    self->stream = ZSTD_createDStream();
    if (self->stream == NULL) {
        pr_bytes_free(&self->base);
        return pr_fail_memory(err);
    }
    *out = &self->base;
    return PARSREC_OK;
}

/* ---- Windows-1252 to UTF-8: ISO 8859-1 with letters and signs where that has control codes, and what files
 * called "latin1" mostly are ---- */

enum { LATIN1_BYTES = 1 << 14, UTF8_LONGEST = 3 };

typedef struct latin1 {
    pr_bytes base;
    unsigned char out[LATIN1_BYTES * UTF8_LONGEST];
    size_t used, count;
} latin1;

/* Code points of 0x80..0x9F; the five that Windows leaves open stay control codes. */
static const uint16_t upper_controls[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

static size_t encode(unsigned char c, unsigned char *out)
{
    unsigned code = c >= 0x80 && c < 0xA0 ? upper_controls[c - 0x80] : c;
    if (code < 0x80) {
        out[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (unsigned char)(0xC0 | code >> 6);
        out[1] = (unsigned char)(0x80 | (code & 0x3F));
        return 2;
    }
    out[0] = (unsigned char)(0xE0 | code >> 12);
    out[1] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    out[2] = (unsigned char)(0x80 | (code & 0x3F));
    return 3;
}

static parsrec_status latin1_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                  parsrec_error *err)
{
    latin1 *self = (latin1 *)base;
    if (self->used == self->count) {
        unsigned char piece[LATIN1_BYTES];
        size_t n;
        PR_TRY(self->base.source->read(self->base.source, piece, sizeof piece, &n, err));
        self->used = self->count = 0;
        for (size_t i = 0; i < n; i++)
            self->count += encode(piece[i], self->out + self->count);
    }
    size_t held = self->count - self->used;
    *got = held < size ? held : size;
    memcpy(buffer, self->out + self->used, *got);
    self->used += *got;
    return PARSREC_OK;
}

parsrec_status pr_bytes_latin1(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    latin1 *self = pr_bytes_new(sizeof *self, source->name, source);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = latin1_read;
    *out = &self->base;
    return PARSREC_OK;
}

/* ---- reading ahead: one thread fills a ring of pieces while the caller uses what is there; several pieces,
 * so that neither has to wait for the other at every one of them ---- */

enum { PIECES = 8, PIECE_BYTES = 1 << 16 };

typedef struct piece {
    size_t count; /* 0: the end, or a failure */
    bool full;
} piece;

typedef struct ahead {
    pr_bytes base;
    pr_thread thread;
    piece pieces[PIECES];         /* under its lock, as are status and error */
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
    pthread_mutex_lock(&self->thread.lock);
    while (self->pieces[p].full != full && !self->thread.stop)
        pthread_cond_wait(&self->thread.changed, &self->thread.lock);
}

static void set_piece(ahead *self, unsigned p, bool full)
{
    self->pieces[p].full = full;
    pthread_cond_signal(&self->thread.changed);
    pthread_mutex_unlock(&self->thread.lock);
}

static void *read_ahead(void *context)
{
    ahead *self = context;
    for (unsigned p = 0;; p = (p + 1) % PIECES) {
        wait_for(self, p, false);
        bool stop = self->thread.stop;
        pthread_mutex_unlock(&self->thread.lock);
        if (stop)
            return NULL;
        parsrec_error error = {0};
        size_t count = 0;
        parsrec_status status =
            pr_bytes_fill(self->base.source, self->bytes[p], PIECE_BYTES, &count, &error);
        uint64_t done, total;
        pr_bytes_position(self->base.source, &done, &total);
        atomic_store(&self->done, done);
        atomic_store(&self->total, total);
        pthread_mutex_lock(&self->thread.lock);
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
    pthread_mutex_unlock(&self->thread.lock);
    memcpy(buffer, self->bytes[p] + self->used, *got);
    self->used += *got;
    if (*got > 0 && *got == held) {
        self->reading = (p + 1) % PIECES;
        self->used = 0;
        pthread_mutex_lock(&self->thread.lock);
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

static void ahead_close(pr_bytes *base)
{
    pr_thread_free(&((ahead *)base)->thread);
}

parsrec_status pr_bytes_ahead(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    ahead *self = pr_bytes_new(sizeof *self, source->name, source);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = ahead_read;
    self->base.position = ahead_position;
    self->base.close = ahead_close;
    pr_thread_init(&self->thread);
    if (!pr_thread_start(&self->thread, read_ahead, self)) {
        pr_bytes_free(&self->base);
        return pr_fail(err, PARSREC_E_LIMIT, "cannot start a thread to read ahead");
    }
    *out = &self->base;
    return PARSREC_OK;
}

/* ---- by the first bytes ---- */

parsrec_status pr_bytes_open(pr_bytes **out, const char *path, parsrec_error *err)
{
    static const unsigned char gzip_mark[2] = {0x1F, 0x8B}, zstd_mark[4] = {0x28, 0xB5, 0x2F, 0xFD};
    pr_bytes *source;
    *out = NULL;
    PR_TRY(open_plain(&source, path, err));
    plain *self = (plain *)source;
    size_t count;
    parsrec_status status = pr_bytes_fill(source, self->peeked, PEEK_BYTES, &count, err);
    if (status != PARSREC_OK) {
        pr_bytes_free(source);
        return status;
    }
    self->peek_count = count;
    bool is_gzip =
        count >= sizeof gzip_mark && memcmp(self->peeked, gzip_mark, sizeof gzip_mark) == 0;
    bool is_zstd =
        count >= sizeof zstd_mark && memcmp(self->peeked, zstd_mark, sizeof zstd_mark) == 0;
    if (!is_gzip && !is_zstd) {
        *out = source;
        return PARSREC_OK;
    }
    pr_bytes *decoder;
    bool is_file = self->total > 0;
    PR_TRY((is_gzip ? pr_bytes_gzip : pr_bytes_zstd)(&decoder, source, err));
    /* Not ahead of a pipe: giving up would have to wait for its writer. */
    if (is_file)
        return pr_bytes_ahead(out, decoder, err);
    *out = decoder;
    return PARSREC_OK;
}
