/* Plain files and pipes, and the choice of a decompressor by the first bytes. */
#include "import/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { PEEK_BYTES = 4 };

typedef struct plain {
    pr_bytes base;
    int fd;
    uint64_t done, total;
    unsigned char peeked[PEEK_BYTES]; /* read to look at, handed out first */
    size_t peek_count, peek_used;
} plain;

void *pr_bytes_layer(size_t size, const char *name)
{
    pr_bytes *layer = pr_alloc_zero(1, size);
    if (layer == NULL)
        return NULL;
    layer->name = pr_copy_string(name, strlen(name));
    if (layer->name == NULL) {
        pr_free(layer);
        return NULL;
    }
    return layer;
}

void pr_bytes_free(pr_bytes *bytes)
{
    if (bytes != NULL)
        bytes->free(bytes);
}

parsrec_status pr_bytes_fill(pr_bytes *bytes, void *buffer, size_t size, size_t *got,
                             parsrec_error *err)
{
    size_t filled = 0, n = 1;
    while (filled < size && n > 0) {
        PR_TRY(bytes->read(bytes, (char *)buffer + filled, size - filled, &n, err));
        filled += n;
    }
    *got = filled;
    return PARSREC_OK;
}

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

static void plain_free(pr_bytes *base)
{
    plain *self = (plain *)base;
    if (self->fd > STDERR_FILENO)
        close(self->fd);
    pr_free(base->name);
    pr_free(self);
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

parsrec_status pr_bytes_plain(pr_bytes **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    plain *self = pr_bytes_layer(sizeof *self, strcmp(path, "-") == 0 ? "standard input" : path);
    if (self == NULL)
        return pr_fail_memory(err);
    self->base.read = plain_read;
    self->base.position = plain_position;
    self->base.free = plain_free;
    parsrec_status status = open_file(self, path, err);
    if (status != PARSREC_OK)
        plain_free(&self->base);
    else
        *out = &self->base;
    return status;
}

parsrec_status pr_bytes_open(pr_bytes **out, const char *path, parsrec_error *err)
{
    static const unsigned char gzip[2] = {0x1F, 0x8B}, zstd[4] = {0x28, 0xB5, 0x2F, 0xFD};
    pr_bytes *source;
    *out = NULL;
    PR_TRY(pr_bytes_plain(&source, path, err));
    plain *self = (plain *)source;
    size_t count;
    parsrec_status status = pr_bytes_fill(source, self->peeked, PEEK_BYTES, &count, err);
    if (status != PARSREC_OK) {
        pr_bytes_free(source);
        return status;
    }
    self->peek_count = count;
    bool is_gzip = count >= sizeof gzip && memcmp(self->peeked, gzip, sizeof gzip) == 0;
    bool is_zstd = count >= sizeof zstd && memcmp(self->peeked, zstd, sizeof zstd) == 0;
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
