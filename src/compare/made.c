/* Reads the log's last run, or the head of a checkpoint. */
#include "compare/made.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "train/checkpoint.h"

static bool same_config(const pr_config *a, const pr_config *b)
{
    json_t *x = pr_config_json(a), *y = pr_config_json(b);
    bool same = x != NULL && y != NULL && json_equal(x, y) != 0;
    json_decref(x);
    json_decref(y);
    return same;
}

/* The first setting that differs, for the sentence. */
static void name_difference(char *out, size_t size, const pr_config *was, const pr_config *wanted)
{
    char old[64], new[64];
    snprintf(out, size, "other settings");
    for (size_t i = 0; i < pr_config_count(); i++) {
        pr_config_value(was, i, old, sizeof old);
        pr_config_value(wanted, i, new, sizeof new);
        if (strcmp(old, new) == 0)
            continue;
        snprintf(out, size, "%s = %s, not %s", pr_config_key(i), old, new);
        return;
    }
}

static bool read_begin(pr_made *m, const char *bytes, size_t size)
{
    json_t *line;
    const char *event = NULL, *kind = NULL, *data = NULL;
    json_t *config = NULL;
    json_int_t seed = 0;
    bool good = pr_json_parse(&line, bytes, size, "log", NULL) == PARSREC_OK &&
                json_unpack(line, "{s:s, s:s, s:o, s:I, s:s}", "event", &event, "model", &kind,
                            "config", &config, "seed", &seed, "data", &data) == 0 &&
                strcmp(event, "begin") == 0;
    if (good) {
        *m = (pr_made){.config = pr_config_default(), .seed = (uint64_t)seed};
        snprintf(m->kind, sizeof m->kind, "%s", kind);
        snprintf(m->data, sizeof m->data, "%s", data);
        good = pr_config_from_json(&m->config, config, NULL) == PARSREC_OK;
    }
    json_decref(line);
    return good;
}

/* The last line that begins a run tells how the model beside it was made. */
bool pr_made_by_log(pr_made *m, const char *model_path)
{
    pr_path path;
    pr_mapping file;
    bool found = false;
    if (pr_file_map(&file, pr_log_path(&path, model_path), NULL) != PARSREC_OK)
        return false;
    const char *text = (const char *)file.bytes;
    for (size_t at = 0; at < file.size;) {
        const char *end = memchr(text + at, '\n', file.size - at);
        size_t size = end != NULL ? (size_t)(end - text) - at : file.size - at;
        found |= read_begin(m, text + at, size);
        at += size + 1;
    }
    pr_file_unmap(&file);
    return found;
}

parsrec_status pr_made_by_checkpoint(pr_made *m, const char *path, const parsrec_data *data,
                                     const char *checksum, parsrec_error *err)
{
    pr_checkpoint file;
    PR_TRY(pr_checkpoint_open(&file, path, data, err)); /* which compares the data */
    *m = (pr_made){.config = file.config,
                   .seed = file.at.seed,
                   .patience = file.at.patience,
                   .knows_patience = true};
    snprintf(m->kind, sizeof m->kind, "%s", file.kind);
    snprintf(m->data, sizeof m->data, "%s", checksum);
    pr_checkpoint_close(&file);
    return PARSREC_OK;
}

parsrec_status pr_made_wanted(pr_config *config, const parsrec_train_options *o, parsrec_error *err)
{
    char *text;
    PR_TRY(parsrec_config_text(&text, o, err));
    *config = pr_config_default();
    parsrec_status status = pr_config_read(config, text, strlen(text), "settings", err);
    parsrec_text_free(text);
    return status;
}

/* False with the reason when it is not what is wanted. */
bool pr_made_fits(const pr_made *m, const pr_config *wanted, const parsrec_train_options *o,
                  const char *checksum, char *reason, size_t size)
{
    pr_config found = pr_config_as_found(wanted, &m->config);
    if (strcmp(m->kind, o->model) != 0)
        snprintf(reason, size, "it is of the kind %s", m->kind);
    else if (strcmp(m->data, checksum) != 0)
        snprintf(reason, size, "it was trained on other data");
    else if (!same_config(&m->config, &found))
        name_difference(reason, size, &m->config, &found);
    else if (m->seed != o->seed)
        snprintf(reason, size, "seed = %llu, not %llu", (unsigned long long)m->seed,
                 (unsigned long long)o->seed);
    else if (m->knows_patience && m->patience != o->patience)
        snprintf(reason, size, "patience = %llu, not %llu", (unsigned long long)m->patience,
                 (unsigned long long)o->patience);
    else
        return true;
    return false;
}
