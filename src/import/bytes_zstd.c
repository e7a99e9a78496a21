/* zstd data of any number of frames, through libzstd. */
#include <zstd.h>

#include "base/memory.h"
#include "import/bytes.h"

enum { INPUT_BYTES = 1 << 17 };

typedef struct zstd {
    pr_bytes base;
    pr_bytes *source;
    ZSTD_DStream *stream;
    ZSTD_inBuffer input;
    bool frame_open, ended;
    unsigned char bytes[INPUT_BYTES];
} zstd;

static parsrec_status refill(zstd *self, parsrec_error *err)
{
    size_t got;
    PR_TRY(self->source->read(self->source, self->bytes, sizeof self->bytes, &got, err));
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
            PR_TRY(refill(self, err));
    }
    *got = output.pos;
    return PARSREC_OK;
}

static void zstd_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    const zstd *self = (const zstd *)base;
    self->source->position(self->source, done, total);
}

static void zstd_free(pr_bytes *base)
{
    zstd *self = (zstd *)base;
    ZSTD_freeDStream(self->stream);
    pr_bytes_free(self->source);
    pr_free(base->name);
    pr_free(self);
}

parsrec_status pr_bytes_zstd(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    zstd *self = pr_bytes_layer(sizeof *self, source->name);
    if (self == NULL) {
        pr_bytes_free(source);
        return pr_fail_memory(err);
    }
    self->base.read = zstd_read;
    self->base.position = zstd_position;
    self->base.free = zstd_free;
    self->source = source;
    self->stream = ZSTD_createDStream();
    if (self->stream == NULL) {
        zstd_free(&self->base);
        return pr_fail_memory(err);
    }
    *out = &self->base;
    return PARSREC_OK;
}
