/* Any text as the list of models of compare: entries with names of their own, or a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare/model_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const pr_model_list *list, size_t i)
{
    const pr_listed_model *e = &list->entries[i];
    if ((e->kind == NULL) == (e->path == NULL) || e->name[0] == '\0' ||
        strchr(e->name, '/') != NULL || memchr(e->name, '\0', sizeof e->name) == NULL ||
        e->set_count > PR_ENTRY_SETTINGS)
        abort();
    for (size_t s = 0; s < e->set_count; s++)
        if (strchr(e->set[s], '=') == NULL)
            abort();
    for (size_t j = 0; j < i; j++)
        if (strcmp(e->name, list->entries[j].name) == 0)
            abort(); /* their files would be the same */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pr_model_list list = {0};
    parsrec_error err = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (pr_model_list_read(&list, text, &err) == PARSREC_OK &&
        pr_model_list_add(&list, "oracle", &err) == PARSREC_OK)
        for (size_t i = 0; i < list.count; i++)
            check_entry(&list, i);
    else if (err.message[0] == '\0')
        abort();
    pr_model_list_free(&list);
    free(text);
    return 0;
}
