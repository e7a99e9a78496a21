/* Evaluates the model and the baselines by each protocol; the result as a sentence and as JSON. */
#include "eval/baselines.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/writer.h"
#include "eval/significance.h"
#include "model/counting/counting.h"
#include "model/model_file.h"
#include "model/user_rows.h"

static const char *const kinds[PARSREC_BASELINES] = {"pop", "personal", "recent", "markov", "mix"};

/* The rows of a report. */
static const struct {
    parsrec_protocol protocol;
    bool whole; /* over the whole catalogue; else against sampled items */
} questions[PARSREC_BASELINE_ROWS] = {
    {PARSREC_PROTOCOL_REMAINING, false}, {PARSREC_PROTOCOL_NEXT, false},
    {PARSREC_PROTOCOL_BASKET, true},     {PARSREC_PROTOCOL_REMAINING, true},
    {PARSREC_PROTOCOL_NEXT, true},
};

enum { CUTOFF = 10 }; /* models are compared by NDCG@10 */

/* ---- who is evaluated ---- */

enum {
    USERS_MOST = 3000,
    USERS_LEAST = 200, /* that an interval needs, whatever they cost */
};
/* The most scores that a model computes over the whole catalogue by one protocol. */
static const double scores_most = 1e9;

/* Marks the users to evaluate, evenly spread over those who can be, and counts them in the
 * report. */
static void choose_users(bool *chosen, parsrec_baseline_report *report, const pr_dataset *data,
                         pr_split_part part, size_t last)
{
    size_t users = 0, steps = 0;
    for (size_t u = 0; u < data->users; u++) {
        int64_t first = pr_split_session(data, u, part, last);
        chosen[u] = first >= 0;
        if (first < 0)
            continue;
        int64_t end = part == PR_VALID ? first + 1 : data->user_offsets[u + 1];
        steps += (size_t)(data->session_offsets[end] - data->session_offsets[first]);
        users++;
    }
    double scores = (double)steps * (double)data->items;
    double fit = scores > scores_most ? (double)users * scores_most / scores : (double)users;
    size_t most = fit < USERS_LEAST ? USERS_LEAST : fit > USERS_MOST ? USERS_MOST : (size_t)fit;
    most = users < most ? users : most;
    report->users = pr_users_spread(chosen, data, part, last, most, NULL);
    report->users_of = users;
}

parsrec_status pr_baselines_bring(const pr_model *model, const pr_dataset *data, pr_split_part part,
                                  parsrec_error *err)
{
    parsrec_baseline_report unused;
    parsrec_status status = PARSREC_OK;
    if (model->user_rows == NULL)
        return PARSREC_OK;
    bool *chosen = pr_alloc(data->users, sizeof *chosen);
    if (chosen == NULL)
        return pr_fail_memory(err);
    choose_users(chosen, &unused, data, part, (size_t)model->config.last);
    for (size_t u = 0; u < data->users && status == PARSREC_OK; u++)
        if (chosen[u])
            status = pr_user_rows_want(model->user_rows, 0, pr_known_user(data, u), err);
    pr_free(chosen);
    return status == PARSREC_OK ? pr_user_rows_bring(model->user_rows, model, err) : status;
}

/* ---- one protocol ---- */

/* The models to compare; the first is the one that is compared with the others. */
typedef struct model_list {
    const pr_model *models[PARSREC_BASELINES + 1];
    pr_model *counted[PARSREC_BASELINES + 1]; /* those of them that were made here; else NULL */
    size_t count;
} model_list;

/* What each user adds to NDCG@10 in the last run: *out is [*users], to be freed with pr_free. Every
 * rule has that measure, and the paper's cutoffs include 10. */
static parsrec_status gains_of_users(parsrec_share **out, pr_evaluation *e, size_t *users,
                                     parsrec_error *err)
{
    pr_user_tallies t;
    size_t wanted = 0, k = 0;
    *out = NULL;
    parsrec_status status =
        pr_user_tallies_make(&t, &e->protocol, e->baskets, e->count, PR_ALL, err);
    if (status == PARSREC_OK) {
        while (pr_protocol_measure(&e->protocol, wanted, &k) != PR_NDCG ||
               e->protocol.k[k] != CUTOFF)
            wanted++;
        *out = pr_alloc(t.user_count, sizeof **out);
        status = *out != NULL ? PARSREC_OK : pr_fail_memory(err);
    }
    for (size_t u = 0; *out != NULL && u < t.user_count; u++)
        (*out)[u] = t.rows[u * t.measures + wanted];
    *users = t.user_count;
    pr_user_tallies_free(&t);
    return status;
}

static double mean_of(const parsrec_share *rows, size_t users)
{
    parsrec_share all = {0};
    for (size_t u = 0; u < users; u++) {
        all.sum += rows[u].sum;
        all.weight += rows[u].weight;
    }
    return all.weight > 0 ? all.sum / all.weight : 0;
}

static parsrec_status compare(parsrec_baseline_row *row, parsrec_share *const *gains,
                              const model_list *models, size_t users, pr_pool *pool,
                              parsrec_error *err)
{
    pr_resampling how = pr_resampling_default();
    row->users = users;
    row->value = mean_of(gains[0], users);
    for (size_t i = 1; i < models->count; i++) {
        pr_contrast contrast;
        PR_TRY(pr_paired(&contrast, &(pr_tallies){gains[0], users, 1},
                         &(pr_tallies){gains[i], users, 1}, &how, pool, err));
        row->baselines[row->count++] = (parsrec_baseline){.model = models->models[i]->kind->name,
                                                          .value = mean_of(gains[i], users),
                                                          .low = contrast.difference.low,
                                                          .high = contrast.difference.high};
    }
    /* The verdict is about the baseline with the largest value; the others are only shown. */
    for (size_t i = 1; i < row->count; i++)
        if (row->baselines[i].value > row->baselines[row->best].value)
            row->best = i;
    if (row->count > 0) {
        const parsrec_baseline *best = &row->baselines[row->best];
        row->verdict = best->low > 0    ? PARSREC_VERDICT_AHEAD
                       : best->high < 0 ? PARSREC_VERDICT_BEHIND
                                        : PARSREC_VERDICT_LEVEL;
    }
    return PARSREC_OK;
}

static parsrec_status run_row(parsrec_baseline_row *row, pr_evaluation *e, const model_list *models,
                              pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_share *gains[PARSREC_BASELINES + 1] = {0};
    size_t users = 0;
    parsrec_status status = PARSREC_OK;
    row->baskets = e->count;
    row->negatives = e->protocol.negatives;
    for (size_t i = 0; i < models->count; i++) {
        pr_scores unused;
        PR_TRY_GOTO(pr_evaluation_run(e, models->models[i], pool, hooks, &unused, err));
        PR_TRY_GOTO(gains_of_users(&gains[i], e, &users, err));
    }
    status = compare(row, gains, models, users, pool, err);
done:
    for (size_t i = 0; i < models->count; i++)
        pr_free(gains[i]);
    return status;
}

static parsrec_status add_row(parsrec_baseline_report *report, size_t question,
                              const pr_dataset *data, const pr_eval_protocol *base,
                              const model_list *models, pr_pool *pool, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    pr_evaluation e;
    pr_eval_protocol p = *base;
    p.rule = pr_rules[questions[question].protocol];
    p.negatives = questions[question].whole ? 0 : p.negatives;
    PR_TRY(pr_evaluation_init(&e, data, &p, err));
    parsrec_baseline_row *row = &report->rows[report->row_count];
    *row = (parsrec_baseline_row){.protocol = questions[question].protocol};
    parsrec_status status = PARSREC_OK;
    if (e.count > 0) {
        status = run_row(row, &e, models, pool, hooks, err);
        report->row_count++;
    }
    pr_evaluation_free(&e);
    return status;
}

/* ---- all of them ---- */

/* The model, without counts of the sessions to be predicted, and all baselines but its own kind. */
static parsrec_status make_models(model_list *models, const pr_model *model, const pr_dataset *data,
                                  pr_split_part part, pr_pool *pool, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    pr_scope scope = pr_scope_before(part, (size_t)model->config.last);
    PR_TRY(pr_evaluation_recount(&models->counted[0], model, data, part, NULL, pool, hooks, err));
    models->models[0] = models->counted[0] != NULL ? models->counted[0] : model;
    models->count = 1;
    for (size_t i = 0; i < PARSREC_BASELINES; i++) {
        pr_config config;
        if (strcmp(kinds[i], model->kind->name) == 0)
            continue;
        PR_TRY(pr_model_defaults(&config, kinds[i], err));
        config.last = model->config.last;
        pr_model **to = &models->counted[models->count];
        PR_TRY(pr_count_model(to, kinds[i], &config, data, &scope, pool, hooks, err));
        models->models[models->count++] = *to;
    }
    return PARSREC_OK;
}

/* The verdict of a report is the worst of its rows, found as the largest. */
_Static_assert(PARSREC_VERDICT_NONE < PARSREC_VERDICT_AHEAD &&
                   PARSREC_VERDICT_AHEAD < PARSREC_VERDICT_LEVEL &&
                   PARSREC_VERDICT_LEVEL < PARSREC_VERDICT_BEHIND,
               "verdicts are ordered from best to worst");

parsrec_status pr_baselines(parsrec_baseline_report *report, const pr_model *model,
                            const pr_dataset *data, pr_split_part part, pr_pool *pool,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    model_list models = {0};
    size_t last = (size_t)model->config.last;
    *report = (parsrec_baseline_report){.split = part == PR_TEST ? PARSREC_SPLIT_TEST
                                                                 : PARSREC_SPLIT_VALID};
    snprintf(report->model, sizeof report->model, "%s", model->kind->name);
    bool *chosen = pr_alloc(data->users, sizeof *chosen);
    if (chosen == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    choose_users(chosen, report, data, part, last);
    if (report->users > 0)
        PR_TRY_GOTO(make_models(&models, model, data, part, pool, hooks, err));
    pr_eval_protocol p = pr_protocol_paper(part);
    p.held_out = p.tested = last;
    p.users = chosen;
    p.negatives = p.negatives < data->items ? p.negatives : data->items;
    for (size_t q = 0; q < PARSREC_BASELINE_ROWS && report->users > 0; q++)
        PR_TRY_GOTO(add_row(report, q, data, &p, &models, pool, hooks, err));
    for (size_t i = 0; i < report->row_count; i++) {
        parsrec_verdict verdict = report->rows[i].verdict;
        report->verdict = verdict > report->verdict ? verdict : report->verdict;
    }
done:
    if (status != PARSREC_OK)
        *report = (parsrec_baseline_report){0};
    for (size_t i = 0; i <= PARSREC_BASELINES; i++)
        pr_model_free(models.counted[i]);
    pr_free(chosen);
    return status;
}

parsrec_status parsrec_baselines(parsrec_baseline_report *report, const parsrec_model *model,
                                 parsrec_split split, unsigned threads, const parsrec_hooks *hooks,
                                 parsrec_error *err)
{
    if (report == NULL || model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_baselines needs a report and a model");
    pr_pool *pool;
    PR_TRY(pr_pool_new(&pool, threads, err));
    parsrec_status status =
        pr_baselines(report, model->file.model, model->file.data,
                     split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST, pool, hooks, err);
    pr_pool_free(pool);
    return status;
}

/* ---- the sentence ---- */

/* "basket 0.0918, personal is better: 0.1236 (markov 0.0870, pop 0.0210)" */
static void write_row(pr_writer *out, const parsrec_baseline_row *row)
{
    const parsrec_baseline *best = &row->baselines[row->best];
    const char *words = row->verdict == PARSREC_VERDICT_BEHIND  ? " is better: "
                        : row->verdict == PARSREC_VERDICT_AHEAD ? NULL
                        : (row->count > 0 && row->baselines[row->best].value > row->value)
                            ? " is slightly better, within chance: "
                            : " is as good within chance: ";
    bool named[PARSREC_BASELINES] = {0};
    size_t shown = 0;
    pr_write(out, "%s %.4f", parsrec_protocol_name(row->protocol), row->value);
    if (row->count > 0 && words != NULL) {
        pr_write(out, ", %s%s%.4f", best->model, words, best->value);
        named[row->best] = true;
        shown++;
    }
    for (bool first = true; shown < row->count; shown++, first = false) {
        size_t next = PARSREC_BASELINES;
        for (size_t i = 0; i < row->count; i++)
            if (!named[i] &&
                (next == PARSREC_BASELINES || row->baselines[i].value > row->baselines[next].value))
                next = i;
        named[next] = true;
        pr_write(out, "%s%s %.4f", first ? " (" : ", ", row->baselines[next].model,
                 row->baselines[next].value);
    }
    bool others = row->count > (words != NULL ? 1 : 0); /* besides the best one, if it was named */
    if (others)
        pr_write(out, ")");
}

static const parsrec_baseline_row *sampled_row(const parsrec_baseline_report *report,
                                               parsrec_protocol protocol)
{
    for (size_t i = 0; i < report->row_count; i++)
        if (report->rows[i].protocol == protocol && report->rows[i].negatives > 0)
            return &report->rows[i];
    return NULL;
}

/* First every protocol once, as `eval` measures it. The rows of the same protocols over the whole
 * catalogue follow only where counting is better there but not against sampled items. */
static void write_sentence(pr_writer *out, const parsrec_baseline_report *report)
{
    const parsrec_baseline_row *behind = NULL;
    bool whole = false;
    pr_write(out, "%s NDCG@10, ", report->split == PARSREC_SPLIT_TEST ? "Test" : "Validation");
    if (report->users < report->users_of)
        pr_write(out, "%llu of ", (unsigned long long)report->users);
    pr_write(out, "%llu user%s, remaining and next against sampled items:",
             (unsigned long long)report->users_of, report->users_of == 1 ? "" : "s");
    for (size_t i = 0; i < report->row_count; i++) {
        const parsrec_baseline_row *row = &report->rows[i];
        const parsrec_baseline_row *sampled = sampled_row(report, row->protocol);
        bool again = sampled != NULL && sampled != row;
        if (row->verdict == PARSREC_VERDICT_BEHIND && behind == NULL)
            behind = row;
        if (again && (row->verdict != PARSREC_VERDICT_BEHIND || sampled->verdict == row->verdict))
            continue;
        pr_write(out, "%s", i == 0 ? " " : again && !whole ? "; over the whole catalogue " : "; ");
        whole |= again;
        write_row(out, row);
    }
    pr_write(out, ".");
    if (behind != NULL)
        pr_write(out, " Where counting is better, use it: parsrec train --model %s.",
                 behind->baselines[behind->best].model);
}

char *parsrec_baselines_text(const parsrec_baseline_report *report, char *buffer, size_t size)
{
    pr_writer line = {0};
    if (report->row_count > 0)
        write_sentence(&line, report);
    if (size > 0)
        snprintf(buffer, size, "%s", line.text != NULL ? line.text : "");
    pr_writer_free(&line);
    return buffer;
}

const char *parsrec_verdict_name(parsrec_verdict verdict)
{
    static const char *const names[] = {"none", "ahead", "level", "behind"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

/* ---- JSON ---- */

static json_t *row_json(const parsrec_baseline_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->count; i++) {
        const parsrec_baseline *b = &row->baselines[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:{s:f, s:f}}", "model", b->model, "value",
                                        b->value, "difference", "low", b->low, "high", b->high));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:o, s:s?, s:s}", "protocol",
                     parsrec_protocol_name(row->protocol), "measure", "NDCG@10", "negatives",
                     (json_int_t)row->negatives, "users", (json_int_t)row->users, "baskets",
                     (json_int_t)row->baskets, "value", row->value, "baselines", list,
                     "best_baseline", row->count > 0 ? row->baselines[row->best].model : NULL,
                     "verdict", parsrec_verdict_name(row->verdict));
}

json_t *pr_baselines_json(const parsrec_baseline_report *report)
{
    char sentence[2048];
    json_t *rows = json_array();
    for (size_t i = 0; i < report->row_count; i++)
        if (json_array_append_new(rows, row_json(&report->rows[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:s, s:s}", "model", report->model, "split",
                     report->split == PARSREC_SPLIT_TEST ? "test" : "valid", "users",
                     (json_int_t)report->users, "users_of", (json_int_t)report->users_of,
                     "protocols", rows, "verdict", parsrec_verdict_name(report->verdict),
                     "sentence", parsrec_baselines_text(report, sentence, sizeof sentence));
}

parsrec_status parsrec_baselines_json(char **out, const parsrec_baseline_report *report,
                                      parsrec_error *err)
{
    if (out == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_baselines_json needs out and a report");
    json_t *json = pr_baselines_json(report);
    *out = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
