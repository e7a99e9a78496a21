/* Bytes from outside, in order and once: a file, a pipe, what a decompressor gives. Read in pieces
 * and not mapped: a pipe and a file are then one case, memory stays at one buffer, and a file that
 * shrinks while it is read is an end and not a signal. */
#ifndef PR_BYTES_H
#define PR_BYTES_H

#include "base/status.h"

typedef struct pr_bytes pr_bytes;
struct pr_bytes {
    char *name;       /* for messages; owned */
    pr_bytes *source; /* what a layer reads from, owned; NULL: it reads from outside */
    /* Up to size bytes (size > 0); *got is 0 at the end only. Failures are final. */
    parsrec_status (*read)(pr_bytes *self, void *buffer, size_t size, size_t *got,
                           parsrec_error *err);
    /* Bytes of the file read so far and in all; total 0 when not known. NULL: as the source. */
    void (*position)(const pr_bytes *self, uint64_t *done, uint64_t *total);
    /* Releases what the struct holds besides name, source and itself; NULL: nothing. */
    void (*close)(pr_bytes *self);
};

/* Opens a path, or stdin for "-". What begins like gzip or zstd data is decompressed, regardless of
 * its name. */
parsrec_status pr_bytes_open(pr_bytes **out, const char *path, parsrec_error *err);

/* Layers. Each takes its source over, also when it fails. */
parsrec_status pr_bytes_gzip(pr_bytes **out, pr_bytes *source, parsrec_error *err);
parsrec_status pr_bytes_zstd(pr_bytes **out, pr_bytes *source, parsrec_error *err);
/* Windows-1252, which holds ISO 8859-1, to UTF-8. */
parsrec_status pr_bytes_latin1(pr_bytes **out, pr_bytes *source, parsrec_error *err);
/* Reads ahead on a thread of its own, so that decompressing and parsing overlap. */
parsrec_status pr_bytes_ahead(pr_bytes **out, pr_bytes *source, parsrec_error *err);

/* For new kinds: a zeroed struct of `size` bytes that begins with a pr_bytes, with its name and
 * source set. Takes the source over, which may be NULL; NULL when out of memory. */
void *pr_bytes_new(size_t size, const char *name, pr_bytes *source);
void pr_bytes_free(pr_bytes *bytes); /* and its source; NULL is fine */
void pr_bytes_position(const pr_bytes *bytes, uint64_t *done, uint64_t *total);

/* Reads until the buffer is full or the source ends. */
parsrec_status pr_bytes_fill(pr_bytes *bytes, void *buffer, size_t size, size_t *got,
                             parsrec_error *err);

#endif
