/* Text in memory as a byte source, handed out in pieces of any size. */
#ifndef TEXT_ROWS_H
#define TEXT_ROWS_H

#include <string.h>

#include "base/memory.h"
#include "import/bytes.h"

typedef struct text_bytes {
    pr_bytes base;
    const char *text;
    size_t size, used, piece;
} text_bytes;

static inline parsrec_status text_read(pr_bytes *base, void *buffer, size_t size, size_t *got,
                                       parsrec_error *err)
{
    text_bytes *self = (text_bytes *)base;
    (void)err;
    *got = self->size - self->used;
    *got = *got < self->piece ? *got : self->piece;
    *got = *got < size ? *got : size;
    if (*got > 0)
        memcpy(buffer, self->text + self->used, *got);
    self->used += *got;
    return PARSREC_OK;
}

static inline void text_position(const pr_bytes *base, uint64_t *done, uint64_t *total)
{
    *done = ((const text_bytes *)base)->used;
    *total = ((const text_bytes *)base)->size;
}

/* NULL when out of memory. */
static inline pr_bytes *text_source(const char *text, size_t size, size_t piece)
{
    text_bytes *self = pr_bytes_new(sizeof *self, "t.csv", NULL);
    if (self == NULL)
        return NULL;
    self->base.read = text_read;
    self->base.position = text_position;
    self->text = text;
    self->size = size;
    self->piece = piece;
    return &self->base;
}

#endif
