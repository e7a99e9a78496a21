/* Any bytes as JSON, for Jansson and for the reader of the page without a server (web/wasm/json.c): both
 * refuse them, or both write them again in the same way. A zero byte is refused before Jansson sees it
 * (base/json.c), because it passes over some. The build gives the functions of the latter
 * names that begin with browser_. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct browser_json;
struct browser_json *browser_json_loadb(const char *bytes, size_t size, size_t flags, void *error);
size_t browser_json_dumpb(const struct browser_json *json, char *bytes, size_t size, size_t flags);
void browser_json_delete(struct browser_json *json);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t flags[] = {JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY |
                                       JSON_REAL_PRECISION(17),
                                   JSON_REAL_PRECISION(6)};
    json_error_t error, other[2]; /* ours is smaller */
    bool zero = size > 0 && memchr(data, '\0', size) != NULL;
    json_t *theirs =
        zero ? NULL : json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &error);
    struct browser_json *ours =
        browser_json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, other);
    if ((theirs == NULL) != (ours == NULL))
        abort();
    if (theirs == NULL)
        return 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        size_t n = json_dumpb(theirs, NULL, 0, flags[i]);
        char *a = malloc(n + 1), *b = malloc(n + 1);
        if (a == NULL || b == NULL || json_dumpb(theirs, a, n, flags[i]) != n ||
            browser_json_dumpb(ours, b, n, flags[i]) != n || memcmp(a, b, n) != 0)
            abort();
        free(a);
        free(b);
    }
    json_decref(theirs);
    browser_json_delete(ours);
    return 0;
}
