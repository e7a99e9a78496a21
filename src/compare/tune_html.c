/* The page: the table, validation by epoch of every trial, and by the value of every setting. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/tuning.h"
#include "report/curves.h"
#include "report/page.h"

/* Trials that came equally far are one curve with gaps between them, in one colour with one name; the best
 * trial is one of its own. */
typedef struct sheet {
    pr_curve curves[PR_ROUNDS_MOST + 1];
    char names[PR_ROUNDS_MOST + 1][48];
    size_t count;
    double *numbers; /* that the curves borrow */
    size_t used;
} sheet;

static void name_group(char *name, size_t size, const parsrec_tuning *t, size_t rounds)
{
    if (rounds == 0)
        snprintf(name, size, "best");
    else
        snprintf(name, size, "%zu epoch%s", t->rounds[rounds - 1].epochs,
                 t->rounds[rounds - 1].epochs == 1 ? "" : "s");
}

static void begin_group(sheet *s, const parsrec_tuning *t, size_t rounds)
{
    pr_curve *c = &s->curves[s->count];
    name_group(s->names[s->count], sizeof s->names[0], t, rounds);
    *c = (pr_curve){.name = s->names[s->count], .x = s->numbers + s->used};
    s->count++;
}

/* Groups hold their x first and then their y, which are written behind once all are known. */
static void add_point(double *x, double *y, size_t *count, double at, double value)
{
    x[*count] = at;
    y[(*count)++] = value;
}

/* Which group a trial is of: its rounds, or 0 for the best. */
static size_t group_of(const parsrec_tuning *t, size_t place)
{
    return place == 0 ? 0 : t->trials[t->order[place]].rounds;
}

/* ---- by epoch ---- */

static size_t points_of(const parsrec_tuning *t)
{
    size_t points = 0;
    for (size_t i = 0; i < t->count; i++)
        points += t->trials[i].learning.count + 1;
    return points;
}

static parsrec_status make_sheet(sheet *s, const parsrec_tuning *t,
                                 void (*add)(const parsrec_tuning *t, const pr_trial *trial,
                                             size_t key, double *x, double *y, size_t *count),
                                 size_t key, parsrec_error *err)
{
    size_t points = points_of(t);
    *s = (sheet){.numbers = pr_alloc(2 * points, sizeof *s->numbers)};
    if (s->numbers == NULL)
        return pr_fail_memory(err);
    double *x = s->numbers, *y = s->numbers + points;
    for (size_t step = 0; step <= t->done; step++) { /* the best is drawn last, above all others */
        size_t rounds = (step + 1) % (t->done + 1), count = 0;
        for (size_t place = 0; place < t->count; place++)
            if (group_of(t, place) == rounds)
                add(t, &t->trials[t->order[place]], key, x + s->used, y + s->used, &count);
        if (count == 0)
            continue;
        begin_group(s, t, rounds);
        s->curves[s->count - 1].y = y + s->used;
        s->curves[s->count - 1].count = count;
        s->used += count;
    }
    return PARSREC_OK;
}

static void add_epochs(const parsrec_tuning *t, const pr_trial *trial, size_t key, double *x,
                       double *y, size_t *count)
{
    (void)t;
    (void)key;
    for (size_t e = 0; e < trial->learning.count; e++)
        add_point(x, y, count, trial->learning.epoch[e], trial->learning.value[e]);
    add_point(x, y, count, NAN, NAN);
}

static parsrec_status epoch_chart(const parsrec_tuning *t, const char *path, pr_writer *page,
                                  parsrec_error *err)
{
    sheet s;
    PR_TRY(make_sheet(&s, t, add_epochs, 0, err));
    pr_panel panel = {t->measure, s.curves, s.count, NULL};
    pr_curves chart = {"Validation of every trial", "epoch", &panel, 1};
    parsrec_status status =
        path != NULL ? pr_curves_draw(&chart, path, err) : pr_curves_inline(&chart, page, err);
    pr_free(s.numbers);
    return status;
}

parsrec_status pr_tuning_draw_epochs(const parsrec_tuning *t, const char *path, parsrec_error *err)
{
    return epoch_chart(t, path, NULL, err);
}

/* ---- by value ---- */

/* Numbers as they are or by their logarithm, words by their place in the list. */
static double place_of(const pr_tune_range *r, const char *value)
{
    double number;
    bool is_number = pr_parse_f64(pr_slice_of(value), &number);
    if (is_number)
        return r->log && number > 0 ? log10(number) : number;
    for (size_t i = 0; i < r->word_count; i++)
        if (strcmp(r->words[i], value) == 0)
            return (double)i + 1;
    return 0; /* the settings as they were may have another word */
}

static void add_value(const parsrec_tuning *t, const pr_trial *trial, size_t key, double *x,
                      double *y, size_t *count)
{
    add_point(x, y, count, place_of(&t->space.ranges[key], trial->values[key]), trial->first);
    if (trial->learning.count > 0)
        add_point(x, y, count, NAN, NAN);
}

static void name_axis(char *out, size_t size, const pr_tune_range *r)
{
    double number;
    snprintf(out, size, "%s%s", r->log ? "log10 of " : "", r->key);
    if (r->word_count == 0 || pr_parse_f64(pr_slice_of(r->words[0]), &number))
        return;
    for (size_t i = 0; i < r->word_count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s %zu %s", i > 0 ? "," : ":", i + 1, r->words[i]);
    }
}

static parsrec_status value_charts(pr_writer *page, const parsrec_tuning *t, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    char label[64];
    snprintf(label, sizeof label, "%s after %zu epoch%s", t->measure, t->rounds[0].epochs,
             t->rounds[0].epochs == 1 ? "" : "s");
    pr_page_gallery(page);
    for (size_t key = 0; key < t->space.count && status == PARSREC_OK; key++) {
        sheet s;
        char axis[160];
        PR_TRY(make_sheet(&s, t, add_value, key, err));
        name_axis(axis, sizeof axis, &t->space.ranges[key]);
        pr_panel panel = {label, s.curves, s.count, NULL};
        pr_curves chart = {t->space.ranges[key].key, axis, &panel, 1};
        status = pr_curves_inline(&chart, page, err);
        pr_free(s.numbers);
    }
    pr_page_gallery_end(page);
    return status;
}

/* ---- the page ---- */

static parsrec_status table(pr_writer *page, const parsrec_tuning *t, parsrec_error *err)
{
    const char **headings = pr_alloc(4 + t->space.count, sizeof *headings);
    char text[32];
    if (headings == NULL)
        return pr_fail_memory(err);
    headings[0] = "trial";
    headings[1] = "epochs";
    headings[2] = t->measure;
    headings[3] = "in epoch";
    for (size_t k = 0; k < t->space.count; k++)
        headings[4 + k] = t->space.ranges[k].key;
    pr_page_table(page, headings, 4 + t->space.count);
    pr_free(headings);
    for (size_t i = 0; i < t->count; i++) {
        const pr_trial *trial = &t->trials[t->order[i]];
        (trial == t->trials ? pr_page_aside : pr_page_row)(page, trial->name);
        snprintf(text, sizeof text, "%zu", trial->learning.count);
        pr_page_cell(page, text, PR_CELL_PLAIN);
        snprintf(text, sizeof text, "%.4f", trial->value);
        pr_page_cell(page, text, i == 0 ? PR_CELL_BEST : PR_CELL_PLAIN);
        snprintf(text, sizeof text, "%zu", trial->epoch);
        pr_page_cell(page, text, PR_CELL_PLAIN);
        for (size_t k = 0; k < t->space.count; k++)
            pr_page_cell(page, trial->values[k], PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
    pr_page_quiet(page, "Trials that were trained for longer come first. The grey row has the "
                        "settings as they were.");
    return PARSREC_OK;
}

static void traces(pr_writer *page, const parsrec_tuning *t)
{
    char text[64];
    pr_page_section(page, "How it was made");
    if (t->command != NULL)
        pr_page_code(page, t->command);
    pr_page_list(page);
    pr_page_item(page, "data", t->data_path);
    pr_page_item(page, "checksum of the data", t->checksum);
    snprintf(text, sizeof text, "%llu, of draws and of every training",
             (unsigned long long)t->seed);
    pr_page_item(page, "seed", text);
    snprintf(text, sizeof text, "parsrec %s", parsrec_version());
    pr_page_item(page, "program", text);
    pr_page_list_end(page);
}

parsrec_status pr_tuning_page(pr_writer *page, const parsrec_tuning *t, parsrec_error *err)
{
    pr_writer words = {0};
    pr_tuning_verdict(&words, t);
    char *verdict = pr_writer_take(&words);
    if (verdict == NULL)
        return pr_fail_memory(err);
    pr_page_begin(page, "Search for settings");
    pr_page_lead(page, verdict);
    pr_free(verdict);
    PR_TRY(table(page, t, err));
    pr_page_section(page, "How trials learnt");
    PR_TRY(epoch_chart(t, NULL, page, err));
    pr_page_section(page, "What each setting does");
    pr_page_text(page, "Every trial after the first round, in which all have learnt equally long. "
                       "Other settings differ too, so look for slopes and edges, not for points.");
    PR_TRY(value_charts(page, t, err));
    traces(page, t);
    pr_page_end(page);
    return page->failed ? pr_fail_memory(err) : PARSREC_OK;
}
