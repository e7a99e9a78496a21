/* The trials, the best first: for a terminal, as Markdown, CSV and JSON. */
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "compare/tuning.h"

enum { LINE = 79 };

/* ---- words ---- */

static const pr_trial *best_of(const parsrec_tuning *t)
{
    return &t->trials[t->order[0]];
}

static size_t last_epochs(const parsrec_tuning *t)
{
    return t->rounds[t->round_count - 1].epochs;
}

/* What is fixed by --set stands in best.conf too. */
static void write_next_step(pr_writer *out, const parsrec_tuning *t)
{
    pr_write(out, "parsrec train -o best.st %s", t->data_path);
    if (strcmp(t->kind, "parsrec") != 0)
        pr_write(out, " --model %s", t->kind);
    pr_write(out, " --config %s/best.conf --seed %llu", t->folder, (unsigned long long)t->seed);
}

void pr_tuning_verdict(pr_writer *out, const parsrec_tuning *t)
{
    const pr_trial *best = best_of(t), *first = &t->trials[0];
    pr_write(out, "The best is %s: validation %s %.4f in epoch %zu of %zu.", best->name, t->measure,
             best->value, best->epoch, best->learning.count);
    if (best == first)
        pr_write(out, " That is the settings as they were.");
    else
        pr_write(
            out,
            " The settings as they were (trial-01) reached %.4f and were trained for %zu of %zu "
            "epochs; after the first round the two had %.4f and %.4f.",
            first->value, first->learning.count, last_epochs(t), best->first, first->first);
    if (t->done < t->round_count)
        pr_write(out, " %zu of %zu rounds are done.", t->done, t->round_count);
    pr_write(out,
             " The figure is the largest of %zu, so expect a little less on other sessions; no "
             "test session was looked at.",
             t->count);
}

/* ---- the table ---- */

/* A column is as wide as its heading or its longest value. */
static int width_of(const parsrec_tuning *t, size_t range)
{
    size_t width = strlen(t->space.ranges[range].key);
    for (size_t i = 0; i < t->count; i++)
        if (strlen(t->trials[i].values[range]) > width)
            width = strlen(t->trials[i].values[range]);
    return (int)width;
}

static void write_text(pr_writer *out, const parsrec_tuning *t)
{
    pr_write(out, "%-9s %6s %12s %5s", "", "epochs", t->measure, "in");
    for (size_t k = 0; k < t->space.count; k++)
        pr_write(out, "  %*s", width_of(t, k), t->space.ranges[k].key);
    pr_write(out, "\n");
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        pr_write(out, "%-9s %6zu %12.4f %5zu", trial->name, trial->learning.count, trial->value,
                 trial->epoch);
        for (size_t k = 0; k < t->space.count; k++)
            pr_write(out, "  %*s", width_of(t, k), trial->values[k]);
        pr_write(out, "\n");
    }
    pr_write(out, "\n");
    pr_writer words = {0};
    pr_tuning_verdict(&words, t);
    pr_write_wrapped(out, &words, LINE);
    pr_write(out, "\nTo train with these settings:\n  ");
    write_next_step(out, t);
    pr_write(out, "\n");
}

static void write_markdown(pr_writer *out, const parsrec_tuning *t)
{
    pr_write(out, "# Search for settings\n\n");
    pr_tuning_verdict(out, t);
    pr_write(out, "\n\n| trial | epochs | %s | in epoch |", t->measure);
    for (size_t k = 0; k < t->space.count; k++)
        pr_write(out, " %s |", t->space.ranges[k].key);
    pr_write(out, "\n|---|--:|--:|--:|");
    for (size_t k = 0; k < t->space.count; k++)
        pr_write(out, "--:|");
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        pr_write(out, "\n| %s | %zu | %.4f | %zu |", trial->name, trial->learning.count,
                 trial->value, trial->epoch);
        for (size_t k = 0; k < t->space.count; k++)
            pr_write(out, " %s |", trial->values[k]);
    }
    pr_write(out, "\n\nTrials with more epochs come first; trial-01 has the settings as they were. "
                  "The best settings:\n\n```sh\n");
    write_next_step(out, t);
    pr_write(out, "\n```\n\n## How it was made\n\n");
    if (t->command != NULL)
        pr_write(out, "```sh\n%s\n```\n\n", t->command);
    pr_write(out, "parsrec %s; data %s, checksum %s; seed %llu.\n", parsrec_version(), t->data_path,
             t->checksum, (unsigned long long)t->seed);
}

/* One row for each trial and epoch, so that curves can be drawn elsewhere. */
static void write_csv(pr_writer *out, const parsrec_tuning *t)
{
    pr_write(out, "place,trial");
    for (size_t k = 0; k < t->space.count; k++)
        pr_write(out, ",%s", t->space.ranges[k].key);
    pr_write(out, ",epoch,%s\n", t->measure);
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        for (size_t e = 0; e < trial->learning.count; e++) {
            pr_write(out, "%zu,", i + 1);
            pr_write_csv(out, trial->name);
            for (size_t k = 0; k < t->space.count; k++)
                pr_write(out, ",%s", trial->values[k]);
            pr_write(out, ",%zu,%.17g\n", e + 1, trial->learning.value[e]);
        }
    }
}

/* ---- JSON ---- */

static json_t *trial_json(const parsrec_tuning *t, const pr_trial *trial)
{
    json_t *settings = json_object(), *values = json_array();
    for (size_t k = 0; k < t->space.count; k++)
        json_object_set_new(settings, t->space.ranges[k].key, json_string(trial->values[k]));
    for (size_t e = 0; e < trial->learning.count; e++)
        json_array_append_new(values, json_real(trial->learning.value[e]));
    return json_pack("{s:s, s:I, s:I, s:f, s:o, s:o, s:o}", "trial", trial->name, "rounds",
                     (json_int_t)trial->rounds, "best_epoch", (json_int_t)trial->epoch, "value",
                     trial->value, "settings", settings, "validation", values, "file",
                     pr_json_string(trial->path));
}

static json_t *trials_json(const parsrec_tuning *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(list, trial_json(t, &t->trials[t->order[i]]));
    return list;
}

static parsrec_status write_json(pr_writer *out, const parsrec_tuning *t, bool trials_only,
                                 parsrec_error *err)
{
    const char *command = t->command;
    json_t *json =
        trials_only
            ? trials_json(t)
            : json_pack("{s:o, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:s, s:f, s:o}", "command",
                        command != NULL ? pr_json_string(command) : json_null(), "version",
                        parsrec_version(), "data", pr_json_string(t->data_path), "checksum",
                        t->checksum, "model", t->kind, "measure", t->measure, "seed",
                        (json_int_t)t->seed, "epochs", (json_int_t)last_epochs(t), "best",
                        best_of(t)->name, "seconds", t->seconds, "trials", trials_json(t));
    char *text = pr_json_indented(json);
    if (text == NULL)
        return pr_fail_memory(err);
    pr_write(out, "%s\n", text);
    pr_free(text);
    return PARSREC_OK;
}

parsrec_status pr_tuning_write(pr_writer *out, const parsrec_tuning *t, parsrec_text_kind kind,
                               parsrec_error *err)
{
    switch (kind) {
    case PARSREC_TEXT_PLAIN:
    case PARSREC_TEXT_TERMINAL:
        write_text(out, t);
        break;
    case PARSREC_TEXT_MARKDOWN:
        write_markdown(out, t);
        break;
    case PARSREC_TEXT_CSV:
        write_csv(out, t);
        break;
    case PARSREC_TEXT_JSON:
    case PARSREC_TEXT_JSON_MODELS:
        PR_TRY(write_json(out, t, kind == PARSREC_TEXT_JSON_MODELS, err));
        break;
    case PARSREC_TEXT_HTML:
        PR_TRY(pr_tuning_page(out, t, err));
        break;
    }
    return out->failed ? pr_fail_memory(err) : PARSREC_OK;
}
