/* Shorter names that stay different. */
#include "base/labels.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

typedef enum kept {
    KEPT_END,
    KEPT_DIFFERENT, /* from where it is unlike other names on */
    KEPT_BOTH,
    KEPT_BEGINNING,
    KEPT_WAYS,
} kept;

typedef struct cutting {
    pr_label_width width;
    void *context;
    int same; /* characters that another name begins with too, in whole words */
} cutting;

static const char dots[] = "…";

static double characters(void *context, const char *text)
{
    (void)context;
    return pr_text_width(text);
}

/* Keeps `keep` of the `all` characters of a text, leaving out up to `same` at its beginning
 * first. */
static void cut(char *out, const char *text, int all, int keep, int same, kept way)
{
    int first = way == KEPT_END || way == KEPT_DIFFERENT ? 0
                : way == KEPT_BOTH                       ? (keep + 1) / 2
                                                         : keep;
    const char *end = pr_utf8_at(text, (size_t)first),
               *rest = pr_utf8_at(text, (size_t)(all - (keep - first)));
    size_t size = (size_t)(end - text);
    memcpy(out, text, size);
    memcpy(out + size, dots, sizeof dots);
    out += size + sizeof dots - 1;
    if (way != KEPT_DIFFERENT || all - keep <= same) {
        strcpy(out, rest);
        return;
    }
    const char *begin = pr_utf8_at(text, (size_t)same);
    size = (size_t)(pr_utf8_at(begin, (size_t)keep) - begin);
    memcpy(out, begin, size);
    memcpy(out + size, dots, sizeof dots);
}

/* The longest cut that fits. */
static void shorten(char *out, const char *text, double limit, const cutting *c, kept way)
{
    int all = pr_text_width(text), keep = all;
    strcpy(out, text);
    while (c->width(c->context, out) > limit && --keep >= 1)
        cut(out, text, all, keep, c->same, way);
}

/* Characters that a name begins with like the name most like it, back to the last space. */
static int same_beginning(const char *const *names, size_t count, size_t i)
{
    size_t same = 0;
    for (size_t j = 0; j < count; j++) {
        size_t n = 0;
        while (names[i][n] != '\0' && names[i][n] == names[j][n])
            n++;
        if (n > same && strcmp(names[i], names[j]) != 0)
            same = n;
    }
    while (same > 0 && names[i][same - 1] != ' ')
        same--;
    int letters = 0;
    for (size_t n = 0; n < same; n++)
        letters += pr_utf8_begins(names[i][n]);
    return letters;
}

static bool looks_like_another(const char *const *cuts, const char *const *names, size_t count,
                               size_t i)
{
    for (size_t j = 0; j < count; j++)
        if (strcmp(cuts[i], cuts[j]) == 0 && strcmp(names[i], names[j]) != 0)
            return true;
    return false;
}

/* A number for a name that no cut makes unique; equal names have the same. */
static size_t number_of(const size_t *numbers, const char *const *names, size_t i)
{
    size_t most = 0;
    for (size_t j = 0; j < i; j++) {
        if (numbers[j] > 0 && strcmp(names[i], names[j]) == 0)
            return numbers[j];
        most = numbers[j] > most ? numbers[j] : most;
    }
    return most + 1;
}

parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err)
{
    char **cuts = pr_alloc_zero(KEPT_WAYS * count, sizeof *cuts);
    size_t *numbers = pr_alloc_zero(count, sizeof *numbers);
    parsrec_status status = cuts != NULL && numbers != NULL ? PARSREC_OK : pr_fail_memory(err);
    cutting c = {width != NULL ? width : characters, context, 0};
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(names[i]) + 2 * sizeof dots + 24;
        out[i] = pr_alloc(bytes, 1);
        c.same = same_beginning(names, count, i);
        for (size_t way = 0; way < KEPT_WAYS && status == PARSREC_OK; way++) {
            char **cut_name = &cuts[way * count + i];
            *cut_name = pr_alloc(bytes, 1);
            if (*cut_name == NULL || out[i] == NULL)
                status = pr_fail_memory(err);
            else
                shorten(*cut_name, names[i], limit, &c, (kept)way);
        }
    }
    for (size_t i = 0; i < count && status == PARSREC_OK; i++) {
        size_t way = 0;
        const char *const *list = (const char *const *)cuts;
        while (way < KEPT_WAYS && looks_like_another(list + way * count, names, count, i))
            way++;
        if (way < KEPT_WAYS) {
            strcpy(out[i], cuts[way * count + i]);
            continue;
        }
        char number[24];
        numbers[i] = number_of(numbers, names, i);
        snprintf(number, sizeof number, " (%zu)", numbers[i]);
        shorten(out[i], names[i], limit - c.width(context, number), &c, KEPT_BEGINNING);
        strcat(out[i], number);
    }
    for (size_t i = 0; cuts != NULL && i < KEPT_WAYS * count; i++)
        pr_free(cuts[i]);
    pr_free(cuts);
    pr_free(numbers);
    return status;
}
