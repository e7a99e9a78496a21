/* Rows and fields of a CSV file, by libcsv and by our reader: nothing is done with them. */
#include <csv.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "import/rows.h"

typedef struct tally {
    unsigned long rows, fields, bytes;
} tally;

static void on_field(void *text, size_t size, void *context)
{
    (void)text;
    tally *t = context;
    t->fields++;
    t->bytes += size;
}

static void on_row(int last, void *context)
{
    (void)last;
    ((tally *)context)->rows++;
}

static int by_libcsv(const char *path, tally *t)
{
    static char buffer[1 << 18];
    struct csv_parser parser;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || csv_init(&parser, 0) != 0)
        return 1;
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        if (csv_parse(&parser, buffer, (size_t)n, on_field, on_row, t) != (size_t)n)
            return 1;
    csv_fini(&parser, on_field, on_row, t);
    csv_free(&parser);
    close(fd);
    return 0;
}

static int by_ours(const char *path, tally *t)
{
    pr_bytes *bytes;
    pr_rows *rows;
    pr_row row;
    bool end = false;
    pr_csv_options options = {.delimiter = ','};
    if (pr_bytes_open(&bytes, path, NULL) != PARSREC_OK ||
        pr_csv_open(&rows, bytes, &options, NULL) != PARSREC_OK)
        return 1;
    t->rows = 1; /* libcsv gives the header as a row */
    for (size_t i = 0; i < rows->column_count; i++)
        on_field(NULL, rows->columns[i].size, t);
    t->fields = rows->column_count;
    while (rows->next(rows, &row, &end, NULL) == PARSREC_OK && !end) {
        for (size_t i = 0; i < row.count; i++)
            t->bytes += row.fields[i].size;
        t->fields += row.count;
        t->rows++;
    }
    pr_rows_free(rows);
    return !end;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int (*const readers[])(const char *, tally *) = {by_libcsv, by_ours};
    double best[2] = {1e9, 1e9};
    tally tallies[2];
    for (int run = 0; argc > 1 && run < 5; run++) {
        for (int r = 0; r < 2; r++) {
            tallies[r] = (tally){0};
            double began = now();
            if (readers[r](argv[1], &tallies[r]) != 0)
                return 1;
            double seconds = now() - began;
            best[r] = seconds < best[r] ? seconds : best[r];
        }
    }
    if (argc < 2 || memcmp(&tallies[0], &tallies[1], sizeof tallies[0]) != 0)
        return 1;
    int fd = open(argv[1], O_RDONLY);
    double megabytes = (double)lseek(fd, 0, SEEK_END) / 1e6;
    printf("%lu rows, %lu fields, %.1f MB\n", tallies[0].rows, tallies[0].fields, megabytes);
    printf("libcsv  %6.3f s  %6.0f MB/s\n", best[0], megabytes / best[0]);
    printf("ours    %6.3f s  %6.0f MB/s  %.1f times as fast\n", best[1], megabytes / best[1],
           best[0] / best[1]);
    return 0;
}
