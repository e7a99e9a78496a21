/* Showing settings: as values, as a commented file, as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/config_table.h"

size_t pr_config_count(void)
{
    return pr_setting_count;
}

const char *pr_config_key(size_t i)
{
    return pr_settings[i].key;
}

const char *pr_config_help(size_t i)
{
    return pr_settings[i].help;
}

static int whole(const pr_config *config, const pr_config_setting *s)
{
    int value;
    memcpy(&value, (const char *)config + s->offset, sizeof value);
    return value;
}

static double number(const pr_config *config, const pr_config_setting *s)
{
    double value;
    memcpy(&value, (const char *)config + s->offset, sizeof value);
    return value;
}

/* The shortest text that reads back as the same number; 30 rather than 3e+01. */
static void number_text(char *buffer, size_t size, double value)
{
    double back;
    bool ordinary = fabs(value) >= 1e-4 && fabs(value) < 1e6;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (sscanf(buffer, "%lf", &back) == 1 && back == value &&
            !(ordinary && strchr(buffer, 'e') != NULL))
            return;
    }
}

char *pr_config_value(const pr_config *config, size_t i, char *buffer, size_t size)
{
    const pr_config_setting *s = &pr_settings[i];
    if (s->type == PR_NUMBER)
        number_text(buffer, size, number(config, s));
    else if (s->type == PR_WHOLE)
        snprintf(buffer, size, "%d", whole(config, s));
    else if (s->type == PR_SWITCH)
        snprintf(buffer, size, "%s", whole(config, s) != 0 ? "on" : "off");
    else
        snprintf(buffer, size, "%s", s->choices[whole(config, s)]);
    return buffer;
}

/* "a|b" or "1..64" */
static void range_text(char *out, size_t size, const pr_config_setting *s)
{
    out[0] = '\0';
    if (s->type == PR_WHOLE || s->type == PR_NUMBER)
        snprintf(out, size, "%g..%g", s->low, s->high);
    else if (s->type == PR_SWITCH)
        snprintf(out, size, "on|off");
    else
        for (size_t i = 0; s->choices[i] != NULL; i++) {
            strncat(out, i > 0 ? "|" : "", size - strlen(out) - 1);
            strncat(out, s->choices[i], size - strlen(out) - 1);
        }
}

char *pr_config_text(const pr_config *config)
{
    size_t size = pr_setting_count * 256, used = 0;
    char *text = pr_alloc_zero(size, 1);
    for (size_t i = 0; text != NULL && i < pr_setting_count; i++) {
        char value[64], range[64];
        range_text(range, sizeof range, &pr_settings[i]);
        pr_config_value(config, i, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "# %s (%s)\n%s = %s\n",
                                 pr_settings[i].help, range, pr_settings[i].key, value);
    }
    return text;
}

static json_t *value_json(const pr_config *config, size_t i)
{
    const pr_config_setting *s = &pr_settings[i];
    switch (s->type) {
    case PR_WHOLE:
        return json_integer(whole(config, s));
    case PR_SWITCH:
        return json_boolean(whole(config, s) != 0);
    case PR_CHOICE:
        return json_string(s->choices[whole(config, s)]);
    default:
        return json_real(number(config, s));
    }
}

json_t *pr_config_json(const pr_config *config)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && i < pr_setting_count; i++)
        if (json_object_set_new(object, pr_settings[i].key, value_json(config, i)) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static void json_text(char *text, size_t size, const json_t *value)
{
    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "on" : "off");
    else if (json_is_integer(value))
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, size, "%.17g", json_real_value(value));
    else
        snprintf(text, size, "(neither text nor number)");
}

parsrec_status pr_config_from_json(pr_config *config, const json_t *object, parsrec_error *err)
{
    if (!json_is_object(object))
        return pr_fail(err, PARSREC_E_CONFIG, "settings must be a JSON object");
    json_t *open = (json_t *)(uintptr_t)object; /* jansson's iterators lack const */
    for (void *at = json_object_iter(open); at != NULL; at = json_object_iter_next(open, at)) {
        char text[64];
        json_text(text, sizeof text, json_object_iter_value(at));
        PR_TRY(pr_config_set(config, json_object_iter_key(at), text, err));
    }
    return PARSREC_OK;
}
