/* Mapping and atomic writing. */
#include "base/files.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

parsrec_status pr_file_map(pr_mapping *out, const char *path, parsrec_error *err)
{
    *out = (pr_mapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot open for reading", path);
    struct stat st;
    parsrec_status status = PARSREC_OK;
    if (fstat(fd, &st) != 0)
        status = pr_fail_errno(err, PARSREC_E_IO, "%s: cannot read its size", path);
    else if (S_ISDIR(st.st_mode))
        status = pr_fail(err, PARSREC_E_IO,
                         "%s: is a directory; name a file (only a data set may be a folder)", path);
    else if (!S_ISREG(st.st_mode))
        status = pr_fail(err, PARSREC_E_IO, "%s: is not a plain file; copy it to one first", path);
    else if (st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            status = pr_fail_errno(err, PARSREC_E_IO, "%s: cannot map into memory", path);
        else
            *out = (pr_mapping){bytes, (size_t)st.st_size};
    }
    close(fd);
    return status;
}

void pr_file_unmap(pr_mapping *mapping)
{
    if (mapping->size > 0)
        munmap((void *)(uintptr_t)mapping->bytes, mapping->size);
    *mapping = (pr_mapping){0};
}

void pr_pages_release(const void *bytes, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + size) / page * page;
    if (end > first)
        (void)madvise((void *)first, end - first,
                      MADV_DONTNEED); /* at worst nothing is given back */
}

/* ---- files without a name ---- */

enum { BUFFER_BYTES = 1 << 18 };

static parsrec_status write_all(int fd, const char *name, const unsigned char *bytes, size_t size,
                                parsrec_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size < (1u << 30) ? size : 1u << 30);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            const char *hint =
                errno == ENOSPC || errno == EDQUOT ? " (make room or write to another disk)" : "";
            return pr_fail_errno(err, PARSREC_E_IO, "%s: writing failed%s", name, hint);
        }
        bytes += n;
        size -= (size_t)n;
    }
    return PARSREC_OK;
}

/* Opens a file in the folder and takes its name away. */
static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    char name[4200];
    int length = snprintf(name, sizeof name, "%s/.parsrec-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

parsrec_status pr_scratch_open(pr_scratch_file *file, const char *beside, parsrec_error *err)
{
    const char *slash = strrchr(beside, '/'), *chosen = getenv("TMPDIR");
    struct stat st;
    bool plain = strcmp(beside, "-") != 0 && (stat(beside, &st) != 0 || S_ISREG(st.st_mode));
    char folder[4096] = ".";
    if (!plain)
        snprintf(folder, sizeof folder, "%s",
                 chosen != NULL && chosen[0] != '\0' ? chosen : "/tmp");
    else if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash == beside ? 1 : slash - beside),
                 beside);
    *file = (pr_scratch_file){.fd = open_nameless(folder)};
    if (file->fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot write a temporary file in it", folder);
    file->open = true;
    snprintf(file->name, sizeof file->name, "temporary file in %.140s", folder);
    file->buffer = pr_alloc(BUFFER_BYTES, 1);
    return file->buffer != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_scratch_flush(pr_scratch_file *file, parsrec_error *err)
{
    size_t size = file->buffered;
    file->buffered = 0;
    return write_all(file->fd, file->name, file->buffer, size, err);
}

parsrec_status pr_scratch_append(pr_scratch_file *file, const void *bytes, size_t size,
                                 parsrec_error *err)
{
    file->size += size;
    if (size > BUFFER_BYTES - file->buffered)
        PR_TRY(pr_scratch_flush(file, err));
    if (size > BUFFER_BYTES)
        return write_all(file->fd, file->name, bytes, size, err);
    memcpy(file->buffer + file->buffered, bytes, size);
    file->buffered += size;
    return PARSREC_OK;
}

parsrec_status pr_scratch_read(const pr_scratch_file *file, uint64_t at, void *bytes, size_t size,
                               parsrec_error *err)
{
    assert(file->buffered == 0);
    unsigned char *to = bytes;
    while (size > 0) {
        ssize_t n = pread(file->fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be read", file->name);
        if (n == 0)
            return pr_fail(err, PARSREC_E_IO, "%s: is shorter than what was written", file->name);
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return PARSREC_OK;
}

parsrec_status pr_scratch_map(pr_mapping *out, const pr_scratch_file *file, parsrec_error *err)
{
    assert(file->buffered == 0);
    *out = (pr_mapping){0};
    if (file->size == 0)
        return PARSREC_OK;
    void *bytes = mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (bytes == MAP_FAILED)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be mapped into memory", file->name);
    *out = (pr_mapping){bytes, (size_t)file->size};
    return PARSREC_OK;
}

parsrec_status pr_scratch_reserve(pr_scratch_file *file, uint64_t size, parsrec_error *err)
{
    assert(file->size == 0);
    int error = posix_fallocate(file->fd, 0, (off_t)size);
    errno = error;
    if (error != 0)
        return pr_fail_errno(err, PARSREC_E_IO,
                             "%s: no room for %.0f MB (make room or write to another disk)",
                             file->name, (double)size / 1e6);
    file->size = size;
    return PARSREC_OK;
}

void pr_scratch_close(pr_scratch_file *file)
{
    if (file->open)
        close(file->fd);
    pr_free(file->buffer);
    *file = (pr_scratch_file){0};
}

/* ---- files that appear complete ---- */

struct pr_atomic_file {
    int fd;
    char *path;      /* final name, links resolved; as given when written directly */
    char *temporary; /* NULL when written directly */
    unsigned char *buffer;
    size_t used;
};

static void release(pr_atomic_file *file)
{
    if (file->fd > STDERR_FILENO)
        close(file->fd);
    pr_free(file->path);
    pr_free(file->temporary);
    pr_free(file->buffer);
    pr_free(file);
}

void pr_atomic_abort(pr_atomic_file *file)
{
    if (file == NULL)
        return;
    if (file->temporary != NULL && file->fd >= 0)
        unlink(file->temporary);
    release(file);
}

/* The file that a link names which leads nowhere yet. NULL with errno set. */
static char *follow(const char *link)
{
    char target[4096], joined[8192];
    const char *slash = strrchr(link, '/');
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return NULL;
    target[length] = '\0';
    int folder = target[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - link);
    int size = snprintf(joined, sizeof joined, "%.*s%s", folder, link, target);
    if (size < 0 || (size_t)size >= sizeof joined) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return pr_copy_string(joined, (size_t)size);
}

/* The place where the file will stand: links are followed, so that writing through a link keeps
 * the link. NULL with errno set. */
static char *resolve(const char *path)
{
    struct stat st;
    char *real = realpath(path, NULL), *copy = NULL;
    if (real != NULL) {
        copy = pr_copy_string(real, strlen(real));
    } else if (errno != ENOENT) {
        return NULL;
    } else if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *next = follow(path); /* no circle: that is ELOOP above */
        copy = next != NULL ? resolve(next) : NULL;
        pr_free(next);
        return copy;
    } else {
        copy = pr_copy_string(path, strlen(path));
    }
    free(real);
    if (copy == NULL)
        errno = ENOMEM;
    return copy;
}

parsrec_status pr_output_place(char **place, bool *direct, const char *path, parsrec_error *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    *place = NULL;
    *direct = exists && !S_ISREG(st.st_mode);
    if (exists && S_ISDIR(st.st_mode))
        return pr_fail(err, PARSREC_E_IO, "%s: is a directory; name a file to write", path);
    *place = *direct ? pr_copy_string(path, strlen(path)) : resolve(path);
    if (*place == NULL && (*direct || errno == ENOMEM))
        return pr_fail_memory(err);
    if (*place == NULL)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be written", path);
    return PARSREC_OK;
}

static parsrec_status open_direct(pr_atomic_file *file, const char *path, parsrec_error *err)
{
    file->fd = strcmp(path, "-") == 0 ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    if (file->fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot open for writing", path);
    return PARSREC_OK;
}

/* ---- temporary names ---- */

/* NAME.4711-0.tmp: the process and a number of its own. A writer holds a lock on its file for as
 * long as it writes, so that whoever can lock one knows that its writer is gone. Process numbers do
 * not show it: they are used again, and another container on the same disk has its own. */
static bool is_temporary_of(const char *entry, const char *name, size_t length)
{
    int end = 0;
    unsigned process, number;
    return strncmp(entry, name, length) == 0 &&
           sscanf(entry + length, ".%u-%u.tmp%n", &process, &number, &end) == 2 && end > 0 &&
           entry[length + (size_t)end] == '\0';
}

/* Removes a folder and the files in it. */
static void remove_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; listing != NULL && (e = readdir(listing)) != NULL;)
        unlinkat(dirfd(listing), e->d_name, 0); /* fails for . and .. */
    if (listing != NULL)
        closedir(listing);
    else if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes what writers of this file left behind when they were killed. The path is cut in two
 * meanwhile. */
static void remove_stale(char *path)
{
    char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *folder = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL)
        *slash = '\0';
    DIR *listing = opendir(folder);
    if (slash != NULL)
        *slash = '/';
    for (struct dirent *e; listing != NULL && (e = readdir(listing)) != NULL;) {
        if (!is_temporary_of(e->d_name, name, strlen(name)))
            continue;
        int fd = openat(dirfd(listing), e->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            unlinkat(dirfd(listing), e->d_name, 0) != 0 && errno == EISDIR)
            remove_folder(dirfd(listing), e->d_name);
        if (fd >= 0)
            close(fd);
    }
    if (listing != NULL)
        closedir(listing);
}

/* Whether the new file is ours: another writer that cleans up may have locked or removed it first.
 * Where the file system has no locks, no writer cleans up. */
static bool claim(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* A number that no other temporary name of this process has. */
static unsigned next_number(void)
{
    static atomic_uint number;
    return atomic_fetch_add(&number, 1);
}

/* Gives a file or folder the owner, the group and the rights of the one at `path` that it is about to
 * replace, as far as we may. Another group gets no more than everybody. */
static void keep_rights(int fd, const char *path)
{
    struct stat old, now;
    if (stat(path, &old) != 0)
        return;
    mode_t rights = old.st_mode & 0777u;
    bool same_group = fchown(fd, old.st_uid, old.st_gid) == 0 ||
                      fchown(fd, (uid_t)-1, old.st_gid) == 0 ||
                      (fstat(fd, &now) == 0 && now.st_gid == old.st_gid);
    if (!same_group)
        rights &= 0707u | (rights & 07u) << 3;
    (void)fchmod(fd, rights); /* some file systems keep no rights */
}

static parsrec_status open_temporary(pr_atomic_file *file, const char *path, parsrec_error *err)
{
    size_t room = strlen(file->path) + sizeof ".4294967295-4294967295.tmp";
    file->temporary = pr_alloc(room, 1);
    if (file->temporary == NULL)
        return pr_fail_memory(err);
    remove_stale(file->path);
    /* A new result has the rights that any new file would have. One that replaces another gets those of
     * the other when it is complete, and is nobody else's until then. */
    mode_t rights = access(file->path, F_OK) == 0 ? 0600 : 0666;
    for (;;) {
        snprintf(file->temporary, room, "%s.%u-%u.tmp", file->path, (unsigned)getpid(),
                 next_number());
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights);
        if (file->fd >= 0 && claim(file->fd))
            return PARSREC_OK;
        if (file->fd >= 0)
            close(file->fd);
        else if (errno != EEXIST)
            return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be written", path);
        file->fd = -1;
    }
}

static parsrec_status open_output(pr_atomic_file *file, const char *path, parsrec_error *err)
{
    bool direct = true;
    file->buffer = pr_alloc(BUFFER_BYTES, 1);
    if (file->buffer == NULL)
        return pr_fail_memory(err);
    if (strcmp(path, "-") != 0)
        PR_TRY(pr_output_place(&file->path, &direct, path, err));
    else if ((file->path = pr_copy_string("standard output", strlen("standard output"))) == NULL)
        return pr_fail_memory(err);
    return direct ? open_direct(file, path, err) : open_temporary(file, path, err);
}

parsrec_status pr_atomic_open(pr_atomic_file **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_atomic_file *file = pr_alloc_zero(1, sizeof *file);
    if (file == NULL)
        return pr_fail_memory(err);
    file->fd = -1;
    parsrec_status status = open_output(file, path, err);
    if (status != PARSREC_OK) {
        pr_atomic_abort(file);
        return status;
    }
    *out = file;
    return PARSREC_OK;
}

static parsrec_status flush(pr_atomic_file *file, parsrec_error *err)
{
    size_t used = file->used;
    file->used = 0;
    return write_all(file->fd, file->path, file->buffer, used, err);
}

parsrec_status pr_atomic_write(pr_atomic_file *file, const void *bytes, size_t size,
                               parsrec_error *err)
{
    if (size > BUFFER_BYTES - file->used)
        PR_TRY(flush(file, err));
    if (size >= BUFFER_BYTES)
        return write_all(file->fd, file->path, bytes, size, err);
    memcpy(file->buffer + file->used, bytes, size);
    file->used += size;
    return PARSREC_OK;
}

parsrec_status pr_atomic_overwrite(pr_atomic_file *file, uint64_t at, const void *bytes,
                                   size_t size, parsrec_error *err)
{
    assert(file->temporary != NULL);
    PR_TRY(flush(file, err));
    if (lseek(file->fd, (off_t)at, SEEK_SET) < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: writing failed", file->path);
    PR_TRY(write_all(file->fd, file->path, bytes, size, err));
    if (lseek(file->fd, 0, SEEK_END) < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: writing failed", file->path);
    return PARSREC_OK;
}

const char *pr_atomic_temporary(const pr_atomic_file *file)
{
    return file->temporary;
}

parsrec_status pr_atomic_flush(pr_atomic_file *file, parsrec_error *err)
{
    PR_TRY(flush(file, err));
    if (file->temporary != NULL && fsync(file->fd) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: writing failed", file->path);
    return PARSREC_OK;
}

/* The rename itself must survive a power cut. Some file systems cannot sync a folder; then the
 * rename is as durable as they make it. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        slash[slash == path] = '\0'; /* the path is not needed any more */
    int fd = open(slash != NULL ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

parsrec_status pr_put_in_place(int fd, const char *temporary, char *place, parsrec_error *err)
{
    keep_rights(fd, place);
    if (rename(temporary, place) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be put in place", place);
    sync_folder(place);
    return PARSREC_OK;
}

parsrec_status pr_atomic_commit(pr_atomic_file *file, parsrec_error *err)
{
    parsrec_status status = pr_atomic_flush(file, err);
    if (file->temporary == NULL) {
        release(file);
        return status;
    }
    if (status == PARSREC_OK)
        status = pr_put_in_place(file->fd, file->temporary, file->path, err);
    if (status != PARSREC_OK) {
        pr_atomic_abort(file);
        return status;
    }
    release(file);
    return PARSREC_OK;
}

/* ---- folders ---- */

parsrec_status pr_folder_begin(const char *folder, bool *made, parsrec_error *err)
{
    struct stat there;
    if (mkdir(folder, 0777) == 0)
        *made = true;
    else if (errno != EEXIST)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: the folder cannot be made", folder);
    if (stat(folder, &there) != 0 || !S_ISDIR(there.st_mode))
        return pr_fail(err, PARSREC_E_IO, "%s is not a folder; name another with -o", folder);
    if (access(folder, W_OK) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s: nothing can be written there", folder);
    return PARSREC_OK;
}

void pr_folder_end(const char *folder, bool made)
{
    if (made)
        rmdir(folder); /* fails unless it is empty */
}

parsrec_status pr_folder_make(const char *folder, parsrec_error *err)
{
    bool made;
    return pr_folder_begin(folder, &made, err);
}

parsrec_status pr_folder_check(const char *folder, parsrec_error *err)
{
    bool made = false;
    parsrec_status status = pr_folder_begin(folder, &made, err);
    pr_folder_end(folder, made);
    return status;
}

parsrec_status pr_new_folder_open(pr_new_folder *f, const char *path, parsrec_error *err)
{
    *f = (pr_new_folder){.path = resolve(path), .lock = -1};
    if (f->path == NULL)
        return errno == ENOMEM ? pr_fail_memory(err)
                               : pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be written", path);
    size_t length = strlen(f->path), room = length + sizeof ".4294967295-4294967295.tmp";
    while (length > 1 && f->path[length - 1] == '/') /* the temporary name stands beside it */
        f->path[--length] = '\0';
    f->temporary = pr_alloc(room, 1);
    if (f->temporary == NULL)
        return pr_fail_memory(err);
    remove_stale(f->path);
    mode_t rights = access(f->path, F_OK) == 0 ? 0700 : 0777; /* as with files */
    int made;
    do
        snprintf(f->temporary, room, "%s.%u-%u.tmp", f->path, (unsigned)getpid(), next_number());
    while ((made = mkdir(f->temporary, rights)) != 0 && errno == EEXIST);
    if (made == 0)
        f->lock = open(f->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock >= 0 && claim(f->lock))
        return PARSREC_OK;
    return pr_fail_errno(err, PARSREC_E_IO, "%s: the folder cannot be made", path);
}

parsrec_status pr_new_folder_commit(pr_new_folder *f, parsrec_error *err)
{
    keep_rights(f->lock, f->path);
    (void)fsync(f->lock); /* where a folder can be synced */
    bool replaces = renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0;
    if (!replaces && rename(f->temporary, f->path) != 0) {
        /* Something is there, and the file system cannot exchange two names. */
        if (errno != ENOTEMPTY && errno != EEXIST)
            return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be put in place", f->path);
        remove_folder(AT_FDCWD, f->path);
        if (rename(f->temporary, f->path) != 0)
            return pr_fail_errno(err, PARSREC_E_IO, "%s: cannot be put in place", f->path);
    }
    if (replaces)
        remove_folder(AT_FDCWD, f->temporary);
    pr_free(f->temporary);
    f->temporary = NULL; /* nothing to abort */
    sync_folder(f->path);
    return PARSREC_OK;
}

void pr_new_folder_abort(pr_new_folder *f)
{
    if (f->temporary != NULL && f->lock >= 0)
        remove_folder(AT_FDCWD, f->temporary);
    if (f->path != NULL && f->lock >= 0)
        close(f->lock);
    pr_free(f->path);
    pr_free(f->temporary);
    *f = (pr_new_folder){0};
}

static const char *beside(pr_path *hold, const char *path, const char *ending)
{
    snprintf(hold->text, sizeof hold->text, "%s%s", path, ending);
    return hold->text;
}

const char *pr_checkpoint_path(pr_path *hold, const char *model_path)
{
    return beside(hold, model_path, ".ckpt");
}

const char *pr_log_path(pr_path *hold, const char *model_path)
{
    return beside(hold, model_path, ".log");
}
