/* gzip data of any number of members, through zlib. */
#include <zlib.h>

#include "base/memory.h"
#include "import/bytes.h"

enum { INPUT_BYTES = 1 << 17 };

typedef struct gzip {
    pr_bytes base;
    pr_bytes *source;
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

static parsrec_status refill(gzip *self, size_t *got, parsrec_error *err)
{
    PR_TRY(self->source->read(self->source, self->input, sizeof self->input, got, err));
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
            PR_TRY(refill(self, &got, err));
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
        PR_TRY(refill(self, &got, err));
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

static void gzip_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    const gzip *self = (const gzip *)base;
    self->source->position(self->source, done, total);
}

static void gzip_free(pr_bytes *base)
{
    gzip *self = (gzip *)base;
    if (self->begun)
        inflateEnd(&self->stream);
    pr_bytes_free(self->source);
    pr_free(base->name);
    pr_free(self);
}

parsrec_status pr_bytes_gzip(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    gzip *self = pr_bytes_layer(sizeof *self, source->name);
    if (self == NULL) {
        pr_bytes_free(source);
        return pr_fail_memory(err);
    }
    self->base.read = gzip_read;
    self->base.position = gzip_position;
    self->base.free = gzip_free;
    self->source = source;
    self->stream.zalloc = allocate;
    self->stream.zfree = release;
    self->member_open = true;
    self->begun = inflateInit2(&self->stream, 15 + 16) == Z_OK; /* 16: the gzip wrapper only */
    if (!self->begun) {
        gzip_free(&self->base);
        return pr_fail_memory(err);
    }
    *out = &self->base;
    return PARSREC_OK;
}
