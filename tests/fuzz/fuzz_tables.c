/* Any bytes as the table of items, users or sessions that import reads beside the actions: a data set that
 * loads and has every user and item of the actions, or a sentence. The first byte says which table. */
#include <parsrec.h>

#include <stdlib.h>
#include <string.h>

#include "support/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { USERS = 4, ITEMS = 5 };

/* The actions, written once. */
static const char *actions(void)
{
    static char path[64];
    if (path[0] != '\0')
        return path;
    snprintf(path, sizeof path, "%s/actions.csv", memory_folder());
    FILE *out = fopen(path, "w");
    if (out == NULL)
        abort();
    fputs("user,session,time,item\n", out);
    for (int u = 0; u < USERS; u++)
        for (int s = 0; s < 3; s++)
            for (int k = 0; k < 2; k++)
                fprintf(out, "u%d,s%d,%d,i%d\n", u, s, 1700000000 + 86400 * s,
                        (u + s + 2 * k) % ITEMS);
    fclose(out);
    return path;
}

static void check_data(const char *path)
{
    parsrec_data *d;
    parsrec_data_stats stats;
    parsrec_error err;
    if (parsrec_data_load(&d, path, &err) != PARSREC_OK ||
        parsrec_data_statistics(d, &stats, &err) != PARSREC_OK || stats.users != USERS ||
        stats.items != ITEMS)
        abort();
    parsrec_data_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[64];
    const char *input = actions();
    parsrec_error err = {0};
    parsrec_import_options o = parsrec_import_default();
    if (size < 1)
        return 0;
    const char *table = memory_file(data + 1, size - 1);
    *(data[0] % 3 == 0   ? &o.items_path
      : data[0] % 3 == 1 ? &o.users_path
                         : &o.sessions_path) = table;
    o.latin1 = (data[0] & 0x40) != 0;
    o.max_bad = (data[0] & 0x80) != 0 ? 100 : 0;
    snprintf(out, sizeof out, "%s/data.st", memory_folder());
    if (parsrec_import(out, &input, 1, &o, NULL, NULL, &err) == PARSREC_OK)
        check_data(out);
    else if (err.message[0] == '\0')
        abort();
    return 0;
}
