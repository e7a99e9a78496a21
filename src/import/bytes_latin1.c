/* Windows-1252 to UTF-8. It is ISO 8859-1 with letters and signs where that has control codes, and
 * what files called "latin1" mostly are. */
#include <string.h>

#include "base/memory.h"
#include "import/bytes.h"

enum { PIECE = 1 << 14, LONGEST = 3 };

typedef struct latin1 {
    pr_bytes base;
    pr_bytes *source;
    unsigned char out[PIECE * LONGEST];
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
        unsigned char piece[PIECE];
        size_t n;
        PR_TRY(self->source->read(self->source, piece, sizeof piece, &n, err));
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

static void latin1_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    const latin1 *self = (const latin1 *)base;
    self->source->position(self->source, done, total);
}

static void latin1_free(pr_bytes *base)
{
    latin1 *self = (latin1 *)base;
    pr_bytes_free(self->source);
    pr_free(base->name);
    pr_free(self);
}

parsrec_status pr_bytes_latin1(pr_bytes **out, pr_bytes *source, parsrec_error *err)
{
    *out = NULL;
    latin1 *self = pr_bytes_layer(sizeof *self, source->name);
    if (self == NULL) {
        pr_bytes_free(source);
        return pr_fail_memory(err);
    }
    self->base.read = latin1_read;
    self->base.position = latin1_position;
    self->base.free = latin1_free;
    self->source = source;
    *out = &self->base;
    return PARSREC_OK;
}
