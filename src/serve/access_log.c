/* The log of requests. */
#include "serve/access_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/memory.h"

struct access_log {
    pthread_mutex_t lock;
    FILE *file;
    char *path;
};

static FILE *open_file(const char *path)
{
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "ae");
}

parsrec_status access_log_open(access_log **out, const char *path, parsrec_error *err)
{
    access_log *log = pr_alloc_zero(1, sizeof *log);
    *out = NULL;
    if (log == NULL)
        return pr_fail_memory(err);
    pthread_mutex_init(&log->lock, NULL);
    log->path = pr_copy_string(path, strlen(path));
    log->file = open_file(path);
    if (log->path != NULL && log->file != NULL) {
        *out = log;
        return PARSREC_OK;
    }
    parsrec_status status =
        log->path == NULL ? pr_fail_memory(err) : pr_fail_errno(err, PARSREC_E_IO, "%s", path);
    access_log_close(log);
    return status;
}

void access_log_close(access_log *log)
{
    if (log == NULL)
        return;
    if (log->file != NULL && log->file != stdout)
        fclose(log->file);
    else
        fflush(stdout);
    pthread_mutex_destroy(&log->lock);
    pr_free(log->path);
    pr_free(log);
}

/* What a terminal would act on, or would break a line, is shown as '?'. By pieces and not by putc, which
 * would race with whoever else writes to standard output. */
static void write_target(FILE *file, const char *text)
{
    char piece[256];
    while (*text != '\0') {
        size_t n = 0;
        for (; n < sizeof piece && text[n] != '\0'; n++)
            piece[n] = (unsigned char)text[n] <= 0x20 || text[n] == 0x7f ? '?' : text[n];
        fwrite(piece, 1, n, file);
        text += n;
    }
}

void access_log_write(access_log *log, const access_line *line)
{
    struct timeval now;
    struct tm parts;
    char when[32];
    if (log == NULL)
        return;
    gettimeofday(&now, NULL);
    gmtime_r(&now.tv_sec, &parts);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    pthread_mutex_lock(&log->lock);
    fprintf(log->file, "%s.%03ldZ %s ", when, (long)now.tv_usec / 1000, line->method);
    write_target(log->file, line->target);
    fprintf(log->file, " %d %zu %.6f\n", line->status, line->bytes, line->seconds);
    pthread_mutex_unlock(&log->lock);
}

void access_log_flush(access_log *log)
{
    if (log == NULL)
        return;
    pthread_mutex_lock(&log->lock);
    fflush(log->file);
    pthread_mutex_unlock(&log->lock);
}

void access_log_reopen(access_log *log)
{
    if (log == NULL || log->file == stdout)
        return;
    FILE *fresh = open_file(log->path);
    if (fresh == NULL)
        return; /* lines go on into the old file, which is better than nowhere */
    pthread_mutex_lock(&log->lock);
    FILE *old = log->file;
    log->file = fresh;
    pthread_mutex_unlock(&log->lock);
    fclose(old);
}
