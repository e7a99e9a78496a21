/* The document of a search, its JSON, and best.conf. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/tune.h"
#include "report/canvas.h"
#include "report/charts.h"
#include "report/report.h"

enum { FOR_FILES = PR_IN_MARKDOWN | PR_IN_HTML };

static const pr_trial *best_of(const parsrec_tuning *t)
{
    return &t->trials[t->order[0]];
}

static size_t last_epochs(const parsrec_tuning *t)
{
    return t->rounds[t->round_count - 1].epochs;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- sentences ---- */

/* Which trial is the best and how far that can be relied on. */
static void write_verdict(pr_writer *out, const parsrec_tuning *t)
{
    const pr_trial *best = best_of(t), *first = &t->trials[0];
    pr_write(out, "The best is %s: validation %s %.4f in epoch %zu of %zu.", best->name, t->measure,
             best->value, best->epoch, best->record.epoch_count);
    if (best == first)
        pr_write(out, " Those are the settings as given.");
    else
        pr_write(out,
                 " The settings as given (trial-01) reached %.4f in %zu of %zu epochs; after the "
                 "first round the two had %.4f and %.4f.",
                 first->value, first->record.epoch_count, last_epochs(t), best->first,
                 first->first);
    if (t->done < t->round_count)
        pr_write(out, " %zu of %zu rounds are done.", t->done, t->round_count);
    pr_write(out,
             " The value is the largest of %zu, so expect a little less on other sessions; no "
             "test session was looked at.",
             t->count);
}

/* ---- tables ---- */

static parsrec_status trials_table(pr_report *r, const parsrec_tuning *t, parsrec_error *err)
{
    enum { BEFORE = 4 };
    pr_report_column *columns = pr_alloc_zero(BEFORE + t->space.count, sizeof *columns);
    if (columns == NULL)
        return pr_fail_memory(err);
    columns[0] = (pr_report_column){.heading = "trial"};
    columns[1] = (pr_report_column){.heading = "epochs", .kind = PR_REPORT_NUMBER};
    columns[2] = (pr_report_column){.heading = t->measure, .kind = PR_REPORT_NUMBER, .decimals = 4};
    columns[3] = (pr_report_column){.heading = "best epoch", .kind = PR_REPORT_NUMBER};
    for (size_t k = 0; k < t->space.count; k++)
        columns[BEFORE + k] =
            (pr_report_column){.heading = t->space.ranges[k].key, .kind = PR_REPORT_NUMBER};
    pr_report_table(r, columns, BEFORE + t->space.count);
    pr_free(columns);
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        pr_report_row(r, PR_ROW_PLAIN, trial->name);
        pr_report_number(r, (double)trial->record.epoch_count, PR_PLAIN);
        pr_report_number(r, trial->value, i == 0 ? PR_BEST : PR_PLAIN);
        pr_report_number(r, (double)trial->epoch, PR_PLAIN);
        for (size_t k = 0; k < t->space.count; k++)
            pr_report_words(r, PR_PLAIN, "%s", trial->values[k]);
    }
    return PARSREC_OK;
}

/* One row for each trial and epoch, so that curves can be drawn elsewhere. */
static parsrec_status data_table(pr_report *r, const parsrec_tuning *t, parsrec_error *err)
{
    size_t count = t->space.count + 4;
    pr_report_column *columns = pr_alloc_zero(count, sizeof *columns);
    char place[32];
    if (columns == NULL)
        return pr_fail_memory(err);
    columns[0].heading = "place";
    columns[1].heading = "trial";
    for (size_t k = 0; k < t->space.count; k++)
        columns[2 + k] =
            (pr_report_column){.heading = t->space.ranges[k].key, .kind = PR_REPORT_NUMBER};
    columns[count - 2].heading = "epoch";
    columns[count - 1].heading = t->measure;
    pr_report_only(r, PR_IN_CSV);
    pr_report_table(r, columns, count);
    pr_free(columns);
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        for (size_t e = 0; e < trial->record.epoch_count; e++) {
            snprintf(place, sizeof place, "%zu", i + 1);
            pr_report_row(r, PR_ROW_PLAIN, place);
            pr_report_words(r, PR_PLAIN, "%s", trial->name);
            for (size_t k = 0; k < t->space.count; k++)
                pr_report_words(r, PR_PLAIN, "%s", trial->values[k]);
            pr_report_number(r, (double)(e + 1), PR_PLAIN);
            pr_report_number(r, pr_validation_value(&trial->record.epochs[e], t->measure),
                             PR_PLAIN);
        }
    }
    return PARSREC_OK;
}

/* ---- charts ---- */

/* Trials that were trained for equally many epochs are one curve with gaps between them, in one
 * colour with one name; the best trial has its own, drawn last and above all others. */
typedef struct curve_set {
    pr_curve curves[PR_ROUNDS_MOST + 1];
    char names[PR_ROUNDS_MOST + 1][48];
    size_t count;
    double *x, *y; /* what the curves borrow */
} curve_set;

/* Numbers as they are or by their logarithm, words by their place in the list. */
static double place_of(const pr_tune_range *r, const char *value)
{
    double number;
    if (pr_parse_f64(pr_slice_of(value), &number))
        return r->log && number > 0 ? log10(number) : number;
    for (size_t i = 0; i < r->word_count; i++)
        if (strcmp(r->words[i], value) == 0)
            return (double)i + 1;
    return 0; /* the settings as given may have another word */
}

/* Validation by epoch, or with a range after the first round by the value of its setting. */
static parsrec_status make_curves(curve_set *s, const parsrec_tuning *t, const pr_tune_range *range,
                                  parsrec_error *err)
{
    size_t points = 0, used = 0;
    for (size_t i = 0; i < t->count; i++)
        points += t->trials[i].record.epoch_count + 2;
    *s = (curve_set){.x = pr_alloc(2 * points, sizeof *s->x)};
    if (s->x == NULL)
        return pr_fail_memory(err);
    s->y = s->x + points;
    for (size_t group = 1; group <= t->done + 1; group++) { /* the last is the best trial */
        pr_curve *curve = &s->curves[s->count];
        *curve = (pr_curve){s->names[s->count], s->x + used, s->y + used, 0};
        for (size_t place = group > t->done ? 0 : 1; place < (group > t->done ? 1 : t->count);
             place++) {
            const pr_trial *trial = &t->trials[t->order[place]];
            if (group <= t->done && trial->rounds != group)
                continue;
            size_t epochs = range == NULL ? trial->record.epoch_count : 0;
            for (size_t e = 0; e < epochs; e++, used++) {
                s->x[used] = (double)(e + 1);
                s->y[used] = pr_validation_value(&trial->record.epochs[e], t->measure);
            }
            if (range != NULL) {
                s->x[used] = place_of(range, trial->values[range - t->space.ranges]);
                s->y[used++] = trial->first;
            }
            s->x[used] = s->y[used] = NAN; /* a gap */
            used++;
        }
        curve->count = (size_t)(s->x + used - curve->x);
        if (curve->count == 0)
            continue;
        size_t length = group > t->done ? 0 : t->rounds[group - 1].epochs;
        if (length == 0)
            snprintf(s->names[s->count], sizeof s->names[0], "best");
        else
            snprintf(s->names[s->count], sizeof s->names[0], "%zu epoch%s", length, plural(length));
        s->count++;
    }
    return PARSREC_OK;
}

/* Into a file, or into a document where path is NULL. */
static parsrec_status epoch_chart(const parsrec_tuning *t, const char *path, pr_report *r,
                                  parsrec_error *err)
{
    curve_set s;
    PR_TRY(make_curves(&s, t, NULL, err));
    pr_panel panel = {t->measure, s.curves, s.count, NULL};
    pr_curves chart = {"Validation of every trial", "epoch", &panel, 1};
    parsrec_status status = path != NULL
                                ? pr_curves_draw(&chart, path, err)
                                : pr_curves_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err);
    pr_free(s.x);
    return status;
}

static parsrec_status value_charts(pr_report *r, const parsrec_tuning *t, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    char label[64], axis[160];
    double number;
    snprintf(label, sizeof label, "%s after %zu epoch%s", t->measure, t->rounds[0].epochs,
             plural(t->rounds[0].epochs));
    pr_report_add(r, PR_REPORT_GALLERY, "%s", "");
    for (size_t key = 0; key < t->space.count && status == PARSREC_OK; key++) {
        const pr_tune_range *range = &t->space.ranges[key];
        bool words = range->word_count > 0 && !pr_parse_f64(pr_slice_of(range->words[0]), &number);
        curve_set s;
        PR_TRY(make_curves(&s, t, range, err));
        snprintf(axis, sizeof axis, "%s%s", range->log ? "log10 of " : "", range->key);
        for (size_t i = 0; words && i < range->word_count; i++) {
            size_t used = strlen(axis);
            snprintf(axis + used, sizeof axis - used, "%s %zu %s", i > 0 ? "," : ":", i + 1,
                     range->words[i]);
        }
        pr_panel panel = {label, s.curves, s.count, NULL};
        pr_curves chart = {range->key, axis, &panel, 1};
        status = pr_curves_inline(&chart, pr_report_open(r, PR_REPORT_CHART), err);
        pr_free(s.x);
    }
    pr_report_add(r, PR_REPORT_GALLERY_END, "%s", "");
    return status;
}

/* ---- the document ---- */

/* Free it with pr_report_free, also on failure. */
static parsrec_status make_report(pr_report *r, const parsrec_tuning *t, unsigned wanted,
                                  parsrec_error *err)
{
    *r = (pr_report){.wanted = wanted};
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_TITLE, "Search for settings");
    write_verdict(pr_report_open(r, PR_REPORT_LEAD), t);
    pr_report_only(r, 0);
    PR_TRY(trials_table(r, t, err));
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_NOTE,
                  "Trials that were trained for longer come first; trial-01 has the settings as "
                  "given.");
    pr_report_only(r, PR_IN_TEXT);
    write_verdict(pr_report_open(r, PR_REPORT_LEAD), t);
    pr_report_only(r, 0);
    pr_report_add(r, PR_REPORT_TEXT, "To train with these settings:");
    /* Fixed settings are in best.conf too. */
    pr_writer *out = pr_report_open(r, PR_REPORT_CODE);
    pr_write(out, "parsrec train -o best.st %s", t->data_path);
    if (strcmp(t->kind, "parsrec") != 0)
        pr_write(out, " --model %s", t->kind);
    pr_write(out, " --config %s/best.conf --seed %llu", t->folder, (unsigned long long)t->seed);
    if (t->split.at)
        pr_write(out, " --split-at %lld", (long long)t->split.time);
    if (t->split.days > 0)
        pr_write(out, " --test-days %llu", (unsigned long long)t->split.days);
    if (t->split.by != PARSREC_SPLIT_BY_AUTO)
        pr_write(out, " --split-by %s",
                 t->split.by == PARSREC_SPLIT_BY_USERS ? "users" : "sessions");
    if (t->users_path != NULL)
        pr_write(out, " --test-users %s", t->users_path);
    pr_report_only(r, PR_IN_HTML);
    if (pr_report_is_wanted(r)) {
        pr_report_add(r, PR_REPORT_SECTION, "Learning curves");
        PR_TRY(epoch_chart(t, NULL, r, err));
        pr_report_add(r, PR_REPORT_SECTION, "Effect of each setting");
        pr_report_add(r, PR_REPORT_TEXT,
                      "Every trial after the first round, in which all were trained for equally "
                      "many epochs. Other settings differ too, so look for slopes and edges, not "
                      "for single points.");
        PR_TRY(value_charts(r, t, err));
    }
    pr_report_only(r, FOR_FILES);
    pr_report_add(r, PR_REPORT_SECTION, "How it was made");
    if (t->command != NULL)
        pr_report_add(r, PR_REPORT_CODE, "%s", t->command);
    pr_report_fact(r, "data", "%s", t->data_path);
    pr_report_fact(r, "checksum of the data", "%s", t->checksum);
    pr_report_fact(r, "seed", "%llu, of draws and of every training", (unsigned long long)t->seed);
    pr_report_fact(r, "program", "parsrec %s", parsrec_version());
    return data_table(r, t, err);
}

/* ---- JSON ---- */

static json_t *trial_json(const parsrec_tuning *t, const pr_trial *trial)
{
    json_t *settings = json_object(), *values = json_array();
    for (size_t k = 0; k < t->space.count; k++)
        json_object_set_new(settings, t->space.ranges[k].key, json_string(trial->values[k]));
    for (size_t e = 0; e < trial->record.epoch_count; e++)
        json_array_append_new(values,
                              json_real(pr_validation_value(&trial->record.epochs[e], t->measure)));
    return json_pack("{s:s, s:I, s:I, s:f, s:o, s:o, s:o}", "trial", trial->name, "rounds",
                     (json_int_t)trial->rounds, "best_epoch", (json_int_t)trial->epoch, "value",
                     trial->value, "settings", settings, "validation", values, "file",
                     pr_json_string(trial->path));
}

static parsrec_status write_json(pr_writer *out, const parsrec_tuning *t, bool trials_only,
                                 parsrec_error *err)
{
    json_t *json = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(json, trial_json(t, &t->trials[t->order[i]]));
    if (!trials_only)
        json = json_pack("{s:o, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:s, s:f, s:o}", "command",
                         t->command != NULL ? pr_json_string(t->command) : json_null(), "version",
                         parsrec_version(), "data", pr_json_string(t->data_path), "checksum",
                         t->checksum, "model", t->kind, "measure", t->measure, "seed",
                         (json_int_t)t->seed, "epochs", (json_int_t)last_epochs(t), "best",
                         best_of(t)->name, "seconds", t->seconds, "trials", json);
    return pr_json_write(out, json, err);
}

/* ---- writing ---- */

static parsrec_status write_as(pr_writer *out, const parsrec_tuning *t, parsrec_text_kind kind,
                               parsrec_error *err)
{
    pr_report r;
    if (kind == PARSREC_TEXT_JSON || kind == PARSREC_TEXT_JSON_MODELS)
        return write_json(out, t, kind == PARSREC_TEXT_JSON_MODELS, err);
    parsrec_status status = make_report(&r, t, pr_report_format(kind), err);
    if (status == PARSREC_OK)
        status = pr_report_write(out, &r, kind, err);
    pr_report_free(&r);
    return status;
}

/* As train --config reads it. */
static parsrec_status write_best(const parsrec_tuning *t, parsrec_error *err)
{
    const pr_trial *best = best_of(t);
    parsrec_train_options o = pr_trial_order(t, best, last_epochs(t), 1);
    char path[4200], *text;
    pr_writer out = {0};
    PR_TRY(parsrec_config_text(&text, &o, err));
    snprintf(path, sizeof path, "%s/best.conf", t->folder);
    pr_write(&out, "# %s of parsrec tune: validation %s %.4f in epoch %zu; seed %llu\n%s",
             best->name, t->measure, best->value, best->epoch, (unsigned long long)t->seed, text);
    parsrec_text_free(text);
    return pr_writer_save(&out, path, err);
}

parsrec_status pr_tuning_save(parsrec_tuning *t, parsrec_error *err)
{
    static const struct {
        const char *name;
        parsrec_text_kind kind;
    } files[] = {{"report.md", PARSREC_TEXT_MARKDOWN},
                 {"report.csv", PARSREC_TEXT_CSV},
                 {"report.json", PARSREC_TEXT_JSON},
                 {"report.html", PARSREC_TEXT_HTML}};
    char path[4200];
    t->seconds = pr_now() - t->began;
    PR_TRY(write_best(t, err));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pr_writer out = {0};
        snprintf(path, sizeof path, "%s/%s", t->folder, files[i].name);
        parsrec_status status = write_as(&out, t, files[i].kind, err);
        if (status == PARSREC_OK)
            status = pr_writer_save(&out, path, err);
        else
            pr_writer_free(&out);
        PR_TRY(status);
    }
    if (!pr_canvas_ready(NULL)) /* the page has the chart in any case */
        return PARSREC_OK;
    snprintf(path, sizeof path, "%s/epochs.svg", t->folder);
    return epoch_chart(t, path, NULL, err);
}

parsrec_status parsrec_tuning_text(char **out, const parsrec_tuning *tuning, parsrec_text_kind kind,
                                   parsrec_error *err)
{
    if (out == NULL || tuning == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_tuning_text needs out and tuning");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = write_as(&text, tuning, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
