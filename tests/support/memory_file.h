/* Bytes as a file that has a path and no place on a disk, for readers that take paths. Linux only. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The path of a file with these bytes. The next call reuses the same file. */
static inline const char *memory_file(const void *bytes, size_t size)
{
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("input", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
        abort();
    return path;
}

static char memory_folder_path[40];

static inline int memory_folder_remove_one(const char *path, const struct stat *st, int type,
                                           struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void memory_folder_remove(void)
{
    nftw(memory_folder_path, memory_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A folder, in memory where the system has such a place, that goes when the program ends. */
static inline const char *memory_folder(void)
{
    if (memory_folder_path[0] != '\0')
        return memory_folder_path;
    snprintf(memory_folder_path, sizeof memory_folder_path, "%s/parsrec-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(memory_folder_path) == NULL || atexit(memory_folder_remove) != 0)
        abort();
    return memory_folder_path;
}

#endif
