/* A model's kind, size and settings. */
#include "cli/info_model.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"

static bool differs(const parsrec_setting *s)
{
    return strcmp(s->value, s->initial) != 0;
}

static size_t print_settings(const parsrec_model *model)
{
    parsrec_setting s;
    size_t printed = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++) {
        if (!differs(&s))
            continue;
        printf("  %-26s%20s   default %s\n", s.key, s.value, s.initial);
        printed++;
    }
    return printed;
}

static void print_columns(const parsrec_model *model)
{
    parsrec_column c;
    for (size_t i = 0; parsrec_model_column(model, i, &c); i++) {
        if (i == 0)
            printf("\nfeatures it reads\n");
        printf("  %-7s %-18s%20s\n", c.of, c.name, c.number ? "numbers" : "words");
    }
}

void cli_print_weights(const parsrec_model *model)
{
    const char *name;
    double value;
    for (size_t i = 0; parsrec_model_weight(model, i, &name, &value); i++) {
        if (i == 0)
            printf("\nweights of what is counted\n");
        printf("  %-26s%20.4f\n", name, value);
    }
}

void cli_print_model(const parsrec_model *model)
{
    parsrec_model_facts f;
    pr_digits number;
    parsrec_model_describe(model, &f);
    printf("\nmodel\n");
    printf("  %-26s%20s\n", "kind", f.kind);
    printf("  %-26s%20s\n", "parameters", pr_digits_of(&number, f.parameters));
    printf("  %-26s%20s\n", "bytes of the file", pr_digits_of(&number, f.bytes));
    printf("\nsettings\n");
    if (print_settings(model) == 0)
        printf("  all as the defaults\n");
    print_columns(model);
    cli_print_weights(model);
}

static json_t *settings_json(const parsrec_model *model)
{
    json_t *json = json_object();
    parsrec_setting s;
    int bad = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        bad |= json_object_set_new(json, s.key, json_string(s.value));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *changed_json(const parsrec_model *model)
{
    json_t *json = json_array();
    parsrec_setting s;
    int bad = 0;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        if (differs(&s))
            bad |= json_array_append_new(json, json_string(s.key));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *columns_json(const parsrec_model *model)
{
    json_t *json = json_array();
    parsrec_column c;
    int bad = 0;
    for (size_t i = 0; parsrec_model_column(model, i, &c); i++)
        bad |= json_array_append_new(json, json_pack("{s:s, s:s, s:b}", "of", c.of, "name", c.name,
                                                     "number", (int)c.number));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

/* Adds the member "weights" where there are some. */
static json_t *add_weights(json_t *json, const parsrec_model *model)
{
    const char *name;
    double value;
    json_t *weights = json_object();
    for (size_t i = 0; parsrec_model_weight(model, i, &name, &value); i++)
        json_object_set_new(weights, name, json_real(value));
    if (json != NULL && json_object_size(weights) > 0)
        json_object_set(json, "weights", weights);
    json_decref(weights);
    return json;
}

json_t *cli_model_json(const parsrec_model *model)
{
    parsrec_model_facts f;
    parsrec_model_describe(model, &f);
    json_t *json = json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "kind", f.kind, "parameters",
                             (json_int_t)f.parameters, "bytes", (json_int_t)f.bytes, "settings",
                             settings_json(model), "changed", changed_json(model), "features",
                             columns_json(model));
    return add_weights(json, model);
}
