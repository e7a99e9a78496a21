/* Reading settings: strict values, ranges in the message. */
#include "model/config.h"

#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "model/config_table.h"

static int *whole_at(pr_config *config, const pr_config_setting *s)
{
    return (int *)(void *)((char *)config + s->offset);
}

static double *number_at(pr_config *config, const pr_config_setting *s)
{
    return (double *)(void *)((char *)config + s->offset);
}

static const pr_config_setting *find(pr_slice key)
{
    for (size_t i = 0; i < pr_setting_count; i++)
        if (pr_slice_is(key, pr_settings[i].key))
            return &pr_settings[i];
    return NULL;
}

static parsrec_status set_number(pr_config *config, const pr_config_setting *s, pr_slice value,
                                 parsrec_error *err)
{
    pr_excerpt hold;
    double number = 0;
    int64_t whole = 0;
    bool read = s->type == PR_WHOLE ? pr_parse_i64(value, &whole) : pr_parse_f64(value, &number);
    if (s->type == PR_WHOLE)
        number = (double)whole;
    if (!read || !(number >= s->low && number <= s->high))
        return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is not a %s from %g to %g", s->key,
                       pr_show(&hold, value), s->type == PR_WHOLE ? "whole number" : "number",
                       s->low, s->high);
    if (s->type == PR_WHOLE)
        *whole_at(config, s) = (int)whole;
    else
        *number_at(config, s) = number;
    return PARSREC_OK;
}

static parsrec_status set_switch(pr_config *config, const pr_config_setting *s, pr_slice value,
                                 parsrec_error *err)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pr_slice_is(value, words[i])) {
            *whole_at(config, s) = i % 2;
            return PARSREC_OK;
        }
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is neither on nor off", s->key,
                   pr_show(&hold, value));
}

static parsrec_status set_choice(pr_config *config, const pr_config_setting *s, pr_slice value,
                                 parsrec_error *err)
{
    char list[128] = "";
    for (int i = 0; s->choices[i] != NULL; i++) {
        if (pr_slice_is(value, s->choices[i])) {
            *whole_at(config, s) = i;
            return PARSREC_OK;
        }
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, s->choices[i], sizeof list - strlen(list) - 1);
    }
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_CONFIG, "setting %s: %s is none of: %s", s->key,
                   pr_show(&hold, value), list);
}

static parsrec_status set(pr_config *config, pr_slice key, pr_slice value, parsrec_error *err)
{
    const pr_config_setting *s = find(key);
    pr_excerpt hold;
    if (s == NULL) {
        pr_suggest near;
        pr_suggest_start(&near, key);
        for (size_t i = 0; i < pr_setting_count; i++)
            pr_suggest_offer(&near, pr_slice_of(pr_settings[i].key));
        return pr_fail(err, PARSREC_E_CONFIG,
                       "there is no setting %s%s; train --print-config lists them all",
                       pr_show(&hold, key), pr_suggest_sentence(&near));
    }
    switch (s->type) {
    case PR_SWITCH:
        return set_switch(config, s, value, err);
    case PR_CHOICE:
        return set_choice(config, s, value, err);
    default:
        return set_number(config, s, value, err);
    }
}

pr_config pr_config_default(void)
{
    pr_config config = {0};
    for (size_t i = 0; i < pr_setting_count; i++)
        (void)pr_config_set(&config, pr_settings[i].key, pr_settings[i].initial, NULL);
    return config;
}

parsrec_status pr_config_set(pr_config *config, const char *key, const char *value,
                             parsrec_error *err)
{
    return set(config, pr_slice_of(key), pr_slice_of(value), err);
}

/* "key = value" between spaces; `where` begins a message. */
static parsrec_status assign(pr_config *config, pr_slice text, const char *where,
                             parsrec_error *err)
{
    const char *equals = memchr(text.bytes, '=', text.size);
    pr_excerpt hold;
    if (equals == NULL)
        return pr_fail(err, PARSREC_E_CONFIG, "%s%s is not key=value", where, pr_show(&hold, text));
    size_t key = (size_t)(equals - text.bytes);
    return set(config, pr_slice_trim((pr_slice){text.bytes, key}),
               pr_slice_trim((pr_slice){equals + 1, text.size - key - 1}), err);
}

parsrec_status pr_config_assign(pr_config *config, const char *assignment, parsrec_error *err)
{
    return assign(config, pr_slice_of(assignment), "--set: ", err);
}

static parsrec_status read_line(pr_config *config, pr_slice line, const char *origin, size_t number,
                                parsrec_error *err)
{
    const char *comment = memchr(line.bytes, '#', line.size);
    if (comment != NULL)
        line.size = (size_t)(comment - line.bytes);
    if (line.size > 0 && line.bytes[line.size - 1] == '\r')
        line.size--;
    line = pr_slice_trim(line);
    if (line.size == 0)
        return PARSREC_OK;
    parsrec_error inner = {0};
    if (assign(config, line, "", &inner) == PARSREC_OK)
        return PARSREC_OK;
    return pr_fail(err, inner.status, "%s:%zu: %s", origin, number, inner.message);
}

parsrec_status pr_config_read(pr_config *config, const char *text, size_t size, const char *origin,
                              parsrec_error *err)
{
    for (size_t at = 0, number = 1; at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        PR_TRY(read_line(config, (pr_slice){text + at, length}, origin, number, err));
        at += length + 1;
    }
    return PARSREC_OK;
}

/* The paper's settings, whatever the defaults become. */
static const char *const paper[] = {
    "dim.user=128",
    "dim.item=128",
    "heads=2",
    "layers=1",
    "stack=query",
    "ffn=none",
    "cell=rnn",
    "layer_norm=on",
    "layer_norm.query=on",
    "dropout.user=0.1",
    "dropout.keys=0.1",
    "history=mean",
    "dropout.history=0.1",
    "dropout.output=step",
    "history.length=0",
    "optimiser=adam",
    "dropout.output_rate=0.1",
    "init=normal",
    "loss=ce",
    "rate=0.001",
    "clip=30",
    "batch=256",
    "epochs=50",
    "adam.beta1=0.9",
    "adam.beta2=0.999",
    "bias=off",
    "pull=off",
    "pull.fade=1",
    "order=any",
    "past=off",
    "recall=off",
    "neighbours=0",
    "kin=off",
    "unique=off",
    "weight_decay=0",
    NULL,
};

parsrec_status pr_config_preset(pr_config *config, const char *name, parsrec_error *err)
{
    pr_excerpt hold;
    if (strcmp(name, "paper") != 0)
        return pr_fail(err, PARSREC_E_CONFIG, "there is no preset %s; there is: paper",
                       pr_show(&hold, pr_slice_of(name)));
    for (const char *const *line = paper; *line != NULL; line++)
        PR_TRY(pr_config_assign(config, *line, err));
    return PARSREC_OK;
}

pr_config pr_config_as_found(const pr_config *wanted, const pr_config *found)
{
    pr_config config = *wanted;
    if (config.order == PR_ORDER_AUTO)
        config.order = found->order;
    return config;
}
