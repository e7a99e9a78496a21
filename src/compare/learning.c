/* The log of a training, one JSON object a line (docs/training.md). */
#include "compare/learning.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"

enum { EPOCHS_MOST = 100000 };

/* The validation measure that is drawn: the first of these that the log has. */
static const char *const preferred[] = {"NDCG@10", "HR@10", "Sess-Prec@10"};

static bool read_value(pr_learning *l, const json_t *valid, const char *measure, double *value)
{
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
        const json_t *number = json_object_get(valid, preferred[i]);
        if (!json_is_number(number) || (measure != NULL && strcmp(measure, preferred[i]) != 0))
            continue;
        snprintf(l->measure, sizeof l->measure, "%s", preferred[i]);
        *value = json_number_value(number);
        return true;
    }
    return false;
}

/* A resumed run tells its earlier epochs again, so an epoch takes its place by number. */
static void keep_epoch(pr_learning *l, size_t *capacity, const json_t *line, const char *measure)
{
    json_int_t number = json_integer_value(json_object_get(line, "epoch"));
    double value;
    if (number < 1 || number > EPOCHS_MOST || (size_t)number > l->count + 1 ||
        !read_value(l, json_object_get(line, "valid"), measure, &value))
        return;
    size_t room = *capacity, same = room;
    if (pr_grow(&l->epoch, &room, (size_t)number, sizeof *l->epoch, NULL) != PARSREC_OK ||
        pr_grow(&l->value, &same, (size_t)number, sizeof *l->value, NULL) != PARSREC_OK)
        return; /* the curve is cut; nothing else depends on it */
    *capacity = room;
    l->epoch[number - 1] = (double)number;
    l->value[number - 1] = value;
    l->count = (size_t)number;
}

static void read_line(pr_learning *l, size_t *capacity, const char *bytes, size_t size,
                      const char *measure)
{
    json_t *line;
    if (pr_json_parse(&line, bytes, size, "log", NULL) != PARSREC_OK)
        return; /* a line that was cut */
    const char *event = json_string_value(json_object_get(line, "event"));
    if (event != NULL && strcmp(event, "epoch") == 0) {
        l->seconds += json_number_value(json_object_get(line, "seconds"));
        keep_epoch(l, capacity, line, measure);
    }
    json_decref(line);
}

void pr_learning_read(pr_learning *l, const char *model_path, const char *measure)
{
    pr_path path;
    pr_mapping file;
    size_t capacity = 0;
    *l = (pr_learning){0};
    if (pr_file_map(&file, pr_log_path(&path, model_path), NULL) != PARSREC_OK)
        return;
    const char *text = (const char *)file.bytes;
    for (size_t at = 0; at < file.size;) {
        const char *end = memchr(text + at, '\n', file.size - at);
        size_t size = end != NULL ? (size_t)(end - text) - at : file.size - at;
        read_line(l, &capacity, text + at, size, measure);
        at += size + 1;
    }
    pr_file_unmap(&file);
}

void pr_learning_free(pr_learning *l)
{
    pr_free(l->epoch);
    pr_free(l->value);
    *l = (pr_learning){0};
}
