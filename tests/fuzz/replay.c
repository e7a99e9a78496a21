/* Replays a corpus folder through a fuzz target, where libFuzzer is not linked. Fails on an empty
 * folder: a replay that replays nothing proves nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 0;
    if (fseek(f, 0, SEEK_END) != 0) {
        fclose(f);
        return 0;
    }
    long size = ftell(f);
    rewind(f);
    /* An exact allocation, so that AddressSanitizer sees a read one byte beyond. */
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    int ok = bytes != NULL && size >= 0 && fread(bytes, 1, (size_t)size, f) == (size_t)size;
    if (ok)
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    fclose(f);
    return ok;
}

int main(int argc, char **argv)
{
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *e; (e = readdir(folder)) != NULL;) {
            char path[4096];
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            replayed += replay_file(path);
        }
        closedir(folder);
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
