/* Reads ranges and draws from them. A draw depends on seed, trial and setting, so that one more setting
 * does not change what others get. */
#include "compare/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "model/config.h"

enum { PURPOSE = 0x7C4E };

/* ---- reading ---- */

static parsrec_status find_setting(size_t *setting, pr_slice key, parsrec_error *err)
{
    pr_excerpt hold;
    for (*setting = 0; *setting < pr_config_count(); ++*setting)
        if (pr_slice_is(key, pr_config_key(*setting)))
            return PARSREC_OK;
    return pr_fail(err, PARSREC_E_CONFIG,
                   "there is no setting %s; parsrec train --print-config lists them",
                   pr_show(&hold, key));
}

/* Any value must be one that the setting can have. */
static parsrec_status check_value(const pr_tune_range *r, const char *value, parsrec_error *err)
{
    pr_config any = pr_config_default();
    return pr_config_set(&any, r->key, value, err);
}

static parsrec_status cut_list(pr_tune_range *r, parsrec_error *err)
{
    size_t capacity = 0;
    for (char *word = r->text; word != NULL;) {
        char *next = strchr(word, ',');
        if (next != NULL)
            *next++ = '\0';
        PR_TRY(check_value(r, word, err));
        PR_TRY(pr_grow(&r->words, &capacity, r->word_count + 1, sizeof *r->words, err));
        r->words[r->word_count++] = word;
        word = next;
    }
    return PARSREC_OK;
}

static parsrec_status read_span(pr_tune_range *r, char *dots, parsrec_error *err)
{
    pr_setting_type type = pr_config_type(r->setting);
    char *high = dots + 2, *log = strstr(high, "(log)");
    r->log = log != NULL && log[5] == '\0';
    if (r->log)
        *log = '\0';
    *dots = '\0';
    if (type != PR_WHOLE && type != PR_NUMBER)
        return pr_fail(err, PARSREC_E_CONFIG, "%s has no numbers to choose from; list its values",
                       r->key);
    r->whole = type == PR_WHOLE;
    PR_TRY(check_value(r, r->text, err));
    PR_TRY(check_value(r, high, err));
    if (!pr_parse_f64(pr_slice_of(r->text), &r->low) ||
        !pr_parse_f64(pr_slice_of(high), &r->high) || r->low >= r->high || (r->log && r->low <= 0))
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s: a range goes from a smaller number to a larger one%s", r->key,
                       r->log ? ", with (log) from above 0" : "");
    return PARSREC_OK;
}

static parsrec_status read_range(pr_tune_range *r, const char *values, parsrec_error *err)
{
    r->key = pr_config_key(r->setting);
    if (strcmp(r->key, "epochs") == 0 || strcmp(r->key, "last") == 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s is the same for all trials; a search cannot choose it", r->key);
    r->text = pr_copy_string(values, strlen(values));
    if (r->text == NULL)
        return pr_fail_memory(err);
    char *dots = strstr(r->text, "..");
    return dots != NULL ? read_span(r, dots, err) : cut_list(r, err);
}

static void free_range(pr_tune_range *r)
{
    pr_free(r->words);
    pr_free(r->text);
}

parsrec_status pr_space_add(pr_space *space, const char *text, parsrec_error *err)
{
    const char *equals = strchr(text, '=');
    pr_excerpt hold;
    pr_tune_range r = {0};
    if (equals == NULL)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "--set: %s is not key=value, key=a,b or key=low..high",
                       pr_show(&hold, pr_slice_of(text)));
    if (strchr(equals, ',') == NULL && strstr(equals, "..") == NULL) {
        PR_TRY(pr_grow(&space->fixed, &space->fixed_capacity, space->fixed_count + 1,
                       sizeof *space->fixed, err));
        space->fixed[space->fixed_count++] = text;
        return PARSREC_OK;
    }
    PR_TRY(find_setting(&r.setting, (pr_slice){text, (size_t)(equals - text)}, err));
    for (size_t i = 0; i < space->count; i++)
        if (space->ranges[i].setting == r.setting)
            return pr_fail(err, PARSREC_E_CONFIG, "%s has two ranges", space->ranges[i].key);
    PR_TRY(pr_grow(&space->ranges, &space->capacity, space->count + 1, sizeof r, err));
    parsrec_status status = read_range(&r, equals + 1, err);
    if (status == PARSREC_OK)
        space->ranges[space->count++] = r;
    else
        free_range(&r);
    return status;
}

void pr_space_free(pr_space *space)
{
    for (size_t i = 0; i < space->count; i++)
        free_range(&space->ranges[i]);
    pr_free(space->ranges);
    pr_free(space->fixed);
    *space = (pr_space){0};
}

/* ---- where the caller names none ---- */

parsrec_status pr_space_usual(pr_space *space, const char *kind, parsrec_error *err)
{
    static const char *const network[] = {"rate=0.0003..0.003(log)",
                                          "weight_decay=0.01..1(log)",
                                          "dim.item=32,64,96,128",
                                          "batch=128,256,512",
                                          "dropout.history=0..0.4",
                                          "dropout.keys=0..0.4",
                                          NULL};
    static const char *const sequence[] = {
        "rate=0.0003..0.003(log)", "dim.item=32,64,128",    "layers=1,2,3",
        "batch=32,64,128",         "dropout.hidden=0..0.5", NULL};
    const char *const *usual = strcmp(kind, "parsrec") == 0 ? network : sequence;
    for (; *usual != NULL; usual++)
        PR_TRY(pr_space_add(space, *usual, err));
    return PARSREC_OK;
}

/* ---- drawing ---- */

/* Three digits are enough to tell values apart, and to read. */
static void write_number(char out[PR_VALUE_SIZE], const pr_tune_range *r, double share)
{
    double value =
        r->log ? r->low * pow(r->high / r->low, share) : r->low + (r->high - r->low) * share;
    snprintf(out, PR_VALUE_SIZE, "%.3g", fmin(fmax(value, r->low), r->high));
}

static void write_whole(char out[PR_VALUE_SIZE], const pr_tune_range *r, double share)
{
    double low = r->low - (r->log ? 0.5 : 0), above = r->high + (r->log ? 0.5 : 1);
    double value =
        r->log ? round(low * pow(above / low, share)) : floor(low + (above - low) * share);
    snprintf(out, PR_VALUE_SIZE, "%.0f", fmin(fmax(value, r->low), r->high));
}

void pr_space_draw(char out[PR_VALUE_SIZE], const pr_tune_range *r, uint64_t seed, size_t trial,
                   size_t draw)
{
    pr_rng rng = pr_rng_make(seed, PURPOSE);
    pr_bits bits = pr_rng_at(&rng, (uint32_t)trial, (uint32_t)r->setting, (uint32_t)draw, 0);
    double share = pr_unit53(bits.word[0], bits.word[1]);
    if (r->word_count > 0)
        snprintf(out, PR_VALUE_SIZE, "%s", r->words[(size_t)(share * (double)r->word_count)]);
    else if (r->whole)
        write_whole(out, r, share);
    else
        write_number(out, r, share);
}
