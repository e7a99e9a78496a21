/* Shorter names that stay different. */
#include "base/labels.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

typedef enum kept {
    KEPT_END,
    KEPT_BOTH,
    KEPT_BEGINNING,
    KEPT_WAYS,
} kept;

static const char dots[] = "…";

static double characters(void *context, const char *text)
{
    (void)context;
    return pr_text_width(text);
}

/* Where character number `n` of a text begins. */
static const char *character(const char *text, int n)
{
    for (; n > 0 && *text != '\0'; n--)
        for (text++; ((unsigned char)*text & 0xC0) == 0x80;)
            text++;
    return text;
}

/* Keeps so many characters of a text of `all`. */
static void cut(char *out, const char *text, int all, int keep, kept way)
{
    int first = way == KEPT_END ? 0 : way == KEPT_BOTH ? (keep + 1) / 2 : keep;
    const char *end = character(text, first), *rest = character(text, all - (keep - first));
    size_t size = (size_t)(end - text);
    memcpy(out, text, size);
    memcpy(out + size, dots, sizeof dots - 1);
    strcpy(out + size + sizeof dots - 1, rest);
}

/* The longest cut that fits, and leaves so much room beside it. */
static void shorten(char *out, const char *text, double limit, kept way, pr_label_width width,
                    void *context)
{
    int all = pr_text_width(text), keep = all;
    strcpy(out, text);
    while (width(context, out) > limit && --keep >= 1)
        cut(out, text, all, keep, way);
}

static bool looks_like_another(const char *const *cuts, const char *const *names, size_t count,
                               size_t i)
{
    for (size_t j = 0; j < count; j++)
        if (strcmp(cuts[i], cuts[j]) == 0 && strcmp(names[i], names[j]) != 0)
            return true;
    return false;
}

/* The name's place among those that are different and look alike. */
static size_t number_of(const char *const *cuts, const char *const *names, size_t i)
{
    size_t number = 1;
    for (size_t j = 0; j < i; j++) {
        bool first = strcmp(cuts[i], cuts[j]) == 0 && strcmp(names[i], names[j]) != 0;
        for (size_t k = 0; k < j && first; k++)
            first = strcmp(names[k], names[j]) != 0;
        number += first;
    }
    return number;
}

parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err)
{
    char **cuts = pr_alloc_zero(KEPT_WAYS * count, sizeof *cuts);
    parsrec_status status = cuts != NULL ? PARSREC_OK : pr_fail_memory(err);
    width = width != NULL ? width : characters;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(names[i]) + sizeof dots + 24;
        out[i] = pr_alloc(bytes, 1);
        for (size_t way = 0; way < KEPT_WAYS && status == PARSREC_OK; way++) {
            char **cut_name = &cuts[way * count + i];
            *cut_name = pr_alloc(bytes, 1);
            if (*cut_name == NULL || out[i] == NULL)
                status = pr_fail_memory(err);
            else
                shorten(*cut_name, names[i], limit, (kept)way, width, context);
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
        list += KEPT_BEGINNING * count;
        snprintf(number, sizeof number, " (%zu)", number_of(list, names, i));
        shorten(out[i], names[i], limit - width(context, number), KEPT_BEGINNING, width, context);
        strcat(out[i], number);
    }
    for (size_t i = 0; cuts != NULL && i < KEPT_WAYS * count; i++)
        pr_free(cuts[i]);
    pr_free(cuts);
    return status;
}
