/* Cuts the list in place: commas, the name, colons. */
#include "compare/model_list.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/model.h"

/* Where the ending of a model file begins, or at the end of the word. */
static size_t ending_of(const char *word)
{
    static const char *const endings[] = {".st", ".model"};
    size_t n = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if (n > size && strcmp(word + n - size, endings[i]) == 0)
            return n - size;
    }
    return n;
}

static bool looks_like_file(const char *word)
{
    return word[0] == '@' || strchr(word, '/') != NULL || word[ending_of(word)] != '\0';
}

/* The name before '=', where the '=' does not belong to a setting or a path. Returns the rest. */
static char *cut_name(char *word, const char **name)
{
    size_t n = strcspn(word, "=:@/");
    *name = NULL;
    if (word[n] != '=')
        return word;
    word[n] = '\0';
    *name = word;
    return word + n + 1;
}

static parsrec_status take_settings(pr_listed_model *e, char *text, parsrec_error *err)
{
    pr_excerpt hold;
    while (text != NULL) {
        char *next = strchr(text, ':');
        if (next != NULL)
            *next++ = '\0';
        if (strchr(text, '=') == NULL)
            return pr_fail(err, PARSREC_E_CONFIG,
                           "the model %s: %s is not a setting; write %s:key=value", e->kind,
                           pr_show(&hold, pr_slice_of(text)), e->kind);
        if (e->set_count == PR_ENTRY_SETTINGS)
            return pr_fail(err, PARSREC_E_LIMIT, "a model can have %d settings", PR_ENTRY_SETTINGS);
        if (strncmp(text, "preset=", 7) == 0)
            e->preset = text + 7;
        else
            e->set[e->set_count++] = text;
        text = next;
    }
    return PARSREC_OK;
}

/* A file goes by its last part without its ending, a kind by itself and what is set. */
static void make_name(pr_listed_model *e)
{
    if (e->path != NULL) {
        const char *slash = strrchr(e->path, '/');
        snprintf(e->name, sizeof e->name, "%s", slash != NULL ? slash + 1 : e->path);
        e->name[ending_of(e->name)] = '\0';
        return;
    }
    size_t used = (size_t)snprintf(e->name, sizeof e->name, "%s", e->kind);
    if (e->preset != NULL && used < sizeof e->name)
        used += (size_t)snprintf(e->name + used, sizeof e->name - used, "-%s", e->preset);
    for (size_t i = 0; i < e->set_count && used < sizeof e->name; i++)
        used += (size_t)snprintf(e->name + used, sizeof e->name - used, "-%s", e->set[i]);
}

/* It becomes part of a file's name. */
static parsrec_status check_name(const pr_model_list *list, const pr_listed_model *e,
                                 const char *given, parsrec_error *err)
{
    pr_excerpt hold;
    const char *name = given != NULL ? given : e->name;
    if (given != NULL && (given[0] == '\0' || strlen(given) >= sizeof e->name))
        return pr_fail(err, PARSREC_E_ARGUMENT, "the name of a model has 1 to %d characters",
                       PR_ENTRY_NAME - 1);
    if (name[0] == '.' || name[0] == '-' || name[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s is not a valid name for a model; it must start with a letter or digit",
                       pr_show(&hold, pr_slice_of(name)));
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F || *c == '/')
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "the name of a model has no control characters and no slash");
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "two models are called %s; give one another name, as in other=%s",
                           pr_show(&hold, pr_slice_of(name)), name);
    return PARSREC_OK;
}

/* A copy that the list owns; NULL without memory. */
static char *keep_text(pr_model_list *list, const char *text)
{
    if (pr_grow(&list->texts, &list->text_capacity, list->text_count + 1, sizeof *list->texts,
                NULL) != PARSREC_OK)
        return NULL;
    char *copy = pr_copy_string(text, strlen(text));
    if (copy != NULL)
        list->texts[list->text_count++] = copy;
    return copy;
}

static pr_listed_model *named(const pr_model_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return &list->entries[i];
    return NULL;
}

static bool same_kind(const pr_listed_model *a, const pr_listed_model *b)
{
    return a->kind != NULL && b->kind != NULL && strcmp(a->kind, b->kind) == 0;
}

/* Adds an entry whose kind or path and settings are set, under `name` or a name made from them. One that
 * comes from a group gives way to one of the same name and kind, whichever is written first. */
static parsrec_status add_entry(pr_model_list *list, pr_listed_model *e, const char *name,
                                parsrec_error *err)
{
    assert((e->kind == NULL) != (e->path == NULL));
    make_name(e);
    pr_listed_model *other = named(list, name != NULL ? name : e->name);
    if (other != NULL && same_kind(e, other) && (e->in_group || other->in_group)) {
        if (!e->in_group) { /* it takes the place of the one that the group brought */
            memcpy(e->name, other->name, sizeof e->name);
            *other = *e;
        }
        return PARSREC_OK;
    }
    PR_TRY(check_name(list, e, name, err));
    if (name != NULL)
        snprintf(e->name, sizeof e->name, "%s", name);
    PR_TRY(pr_grow(&list->entries, &list->capacity, list->count + 1, sizeof *e, err));
    list->entries[list->count++] = *e;
    return PARSREC_OK;
}

/* KIND:key=value:... */
static parsrec_status take_kind(pr_listed_model *e, char *word, parsrec_error *err)
{
    char *settings = strchr(word, ':');
    if (settings != NULL)
        *settings++ = '\0';
    e->kind = word;
    return settings != NULL ? take_settings(e, settings, err) : PARSREC_OK;
}

/* ---- groups ---- */

enum { GROUP_MOST = 32 };

static const struct {
    const char *name;
    const char *kinds[GROUP_MOST];
} groups[] = {
    {"counts", {"pop", "personal", "recent", "markov", "mix", "rules", "seqrules"}},
    {"neighbours", {"itemknn", "ease", "sknn", "vsknn", "tifuknn", "upcf", "pernir"}},
    {"basket",
     {"personal", "recent", "mix", "tifuknn", "upcf", "pernir", "fpmc", "hrm", "dream", "parsrec"}},
    {"sequence",
     {"seqrules", "vsknn", "fpmc", "transrec", "gru4rec", "narm", "stamp", "caser", "sasrec",
      "tisasrec", "bert4rec"}},
    {"field", {"pop",     "personal", "recent", "markov", "mix",      "rules",    "seqrules",
               "itemknn", "ease",     "sknn",   "vsknn",  "tifuknn",  "upcf",     "pernir",
               "bpr",     "fpmc",     "ncf",    "hrm",    "transrec", "gru4rec",  "narm",
               "stamp",   "caser",    "dream",  "sasrec", "tisasrec", "bert4rec", "parsrec"}},
};

/* The kinds of a group; NULL if the word, up to its settings, is none. */
static const char *const *group_named(const char *word)
{
    size_t n = strcspn(word, ":");
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        if (strlen(groups[g].name) == n && memcmp(groups[g].name, word, n) == 0)
            return groups[g].kinds;
    return NULL;
}

/* GROUP:key=value:... The settings are for members that learn; the others stay as they are. */
static parsrec_status read_group(pr_model_list *list, const char *const *kinds, char *word,
                                 parsrec_error *err)
{
    pr_listed_model learns = {.base = PR_NONE, .in_group = true}, counts = learns;
    bool set = strchr(word, ':') != NULL, used = !set;
    PR_TRY(take_kind(&learns, word, err));
    for (size_t i = 0; kinds[i] != NULL; i++) {
        const pr_model_kind *kind = pr_model_kind_named(kinds[i]);
        bool takes = set && kind != NULL && kind->learn != NULL;
        pr_listed_model e = takes ? learns : counts;
        e.kind = kinds[i];
        used = used || takes;
        PR_TRY(add_entry(list, &e, NULL, err));
    }
    if (used)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_CONFIG,
                   "the group %s has no model that learns, so it takes no settings; write "
                   "KIND:key=value",
                   word);
}

static parsrec_status read_entry(pr_model_list *list, char *word, parsrec_error *err)
{
    pr_listed_model e = {.base = PR_NONE};
    const char *name;
    word = cut_name(word, &name);
    const char *const *kinds = group_named(word);
    if (kinds != NULL && name != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the group %s cannot have a name; write it alone",
                       word);
    if (kinds != NULL)
        return read_group(list, kinds, word, err);
    if (looks_like_file(word))
        e.path = word[0] == '@' ? word + 1 : word;
    else
        PR_TRY(take_kind(&e, word, err));
    if ((e.path != NULL ? e.path : e.kind)[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the list of models has an empty place; write it as pop,personal,parsrec");
    return add_entry(list, &e, name, err);
}

parsrec_status pr_model_list_read(pr_model_list *list, const char *text, parsrec_error *err)
{
    *list = (pr_model_list){0};
    char *word = keep_text(list, text);
    if (word == NULL)
        return pr_fail_memory(err);
    while (word != NULL) {
        char *next = strchr(word, ',');
        if (next != NULL)
            *next++ = '\0';
        PR_TRY(read_entry(list, word, err));
        word = next;
    }
    return PARSREC_OK;
}

parsrec_status pr_model_list_append(pr_model_list *list, const char *name, const char *spec,
                                    const char *settings, size_t base, parsrec_error *err)
{
    pr_listed_model e = {.base = base};
    assert(base == PR_NONE || base < list->count);
    char *kind = keep_text(list, spec), *more = keep_text(list, settings);
    if (kind == NULL || more == NULL)
        return pr_fail_memory(err);
    PR_TRY(take_kind(&e, kind, err));
    if (e.kind[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT, "the model %s has no kind", name);
    if (more[0] != '\0')
        PR_TRY(take_settings(&e, more, err));
    return add_entry(list, &e, name, err);
}

parsrec_status pr_model_list_add(pr_model_list *list, const char *kind, parsrec_error *err)
{
    pr_listed_model e = {.kind = kind, .base = PR_NONE};
    for (size_t i = 0; i < list->count; i++) {
        const pr_listed_model *other = &list->entries[i];
        bool plain = other->set_count == 0 && other->preset == NULL;
        if (same_kind(&e, other) && (plain || strcmp(other->name, kind) == 0))
            return PARSREC_OK;
    }
    return add_entry(list, &e, NULL, err);
}

void pr_model_list_free(pr_model_list *list)
{
    pr_free(list->entries);
    for (size_t i = 0; i < list->text_count; i++)
        pr_free(list->texts[i]);
    pr_free(list->texts);
    *list = (pr_model_list){0};
}
