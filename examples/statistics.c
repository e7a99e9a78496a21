/* The smallest program on the library: loads a data set and prints what is in it.
 *   cc statistics.c $(pkg-config --cflags --libs parsrec) -o statistics && ./statistics data.st */
#include <inttypes.h>
#include <parsrec.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: statistics DATA\n");
        return 2;
    }
    parsrec_error err;
    parsrec_data *data;
    parsrec_data_stats stats;
    if (parsrec_data_load(&data, argv[1], &err) != PARSREC_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    parsrec_status status = parsrec_data_statistics(data, &stats, &err);
    parsrec_data_free(data);
    if (status != PARSREC_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("parsrec %s: %" PRIu64 " users, %" PRIu64 " sessions, %" PRIu64 " items, %" PRIu64
           " actions\n",
           parsrec_version(), stats.users, stats.sessions, stats.items, stats.actions);
    return 0;
}
