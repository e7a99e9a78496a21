/* The report for programs: each model as parsrec eval --json writes it, with what a comparison adds. */
#include <math.h>

#include "base/memory.h"
#include "compare/compare.h"
#include "eval/evaluation.h"

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *interval(const pr_interval *i)
{
    if (isnan(i->low))
        return json_null();
    return json_pack("[o, o]", number(i->low), number(i->high));
}

static json_t *versus(const parsrec_comparison *c, size_t row)
{
    const pr_contender *r = &c->rows[row];
    size_t reference = pr_comparison_reference(c, row);
    if (reference == PR_NONE)
        return json_null();
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
                     pr_json_string(c->rows[reference].entry->name), "measure",
                     c->columns[c->chosen].name, "difference", number(r->versus.difference.value),
                     "interval", interval(&r->versus.difference), "p", number(r->versus.p),
                     "p_corrected", number(r->p), "interval_over_seeds",
                     interval(&r->versus_spread), "p_over_seeds", number(r->seed_p));
}

/* A training: its seed, its file and what it reached, in the order of the columns. */
static json_t *attempt(const parsrec_comparison *c, const pr_attempt *a)
{
    json_t *metrics = json_object();
    for (size_t i = 0; i < c->column_count; i++)
        json_object_set_new(metrics, c->columns[i].name,
                            number(a->report.measures[c->columns[i].measure].value));
    return json_pack("{s:I, s:o, s:o, s:s}", "seed", (json_int_t)a->seed, "file",
                     pr_json_string(a->path), "metrics", metrics, "fingerprint",
                     a->report.fingerprint);
}

/* null for a model of one seed, which has nothing to add. */
static json_t *seeds(const parsrec_comparison *c, const pr_contender *r)
{
    if (r->judged < 2)
        return json_null();
    json_t *list = json_array(), *intervals = json_object();
    for (size_t i = 0; i < r->judged; i++)
        json_array_append_new(list, attempt(c, &r->attempts[i]));
    for (size_t i = 0; i < c->column_count; i++)
        json_object_set_new(intervals, c->columns[i].name,
                            interval(&r->spread[c->columns[i].measure]));
    return json_pack("{s:o, s:o}", "intervals", intervals, "runs", list);
}

static json_t *settings(const pr_listed_model *e)
{
    json_t *list = json_array();
    if (e->preset != NULL)
        json_array_append_new(list, json_sprintf("preset=%s", e->preset));
    for (size_t i = 0; i < e->set_count; i++)
        json_array_append_new(list, pr_json_string(e->set[i]));
    return list;
}

static json_t *learning(const pr_contender *r)
{
    if (r->learning.count == 0)
        return json_null();
    json_t *values = json_array();
    for (size_t i = 0; i < r->learning.count; i++)
        json_array_append_new(values, json_real(r->learning.value[i]));
    return json_pack("{s:s, s:o, s:f}", "measure", pr_validation_measures[0], "validation", values,
                     "seconds", r->learning.seconds);
}

/* null: not known. */
static json_t *cost(const pr_contender *r)
{
    double known[] = {r->cost.seconds, r->bytes, r->cost.bytes, r->cost.answers};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        known[i] = known[i] > 0 ? known[i] : NAN;
    return json_pack("{s:o, s:o, s:o, s:o}", "seconds", number(known[0]), "training_bytes",
                     number(known[1]), "bytes", number(known[2]), "answers_per_s",
                     number(known[3]));
}

/* All protocols by name, as eval has them; NULL where there is one only. */
static json_t *protocols(const parsrec_comparison *c, const pr_contender *r)
{
    if (c->other_count == 0)
        return NULL;
    json_t *all = json_object();
    const char *name = parsrec_protocol_name(c->eval.protocol);
    json_object_set_new(all, name,
                        pr_eval_json(r->entry->name, c->data_path, &c->eval, &r->report));
    for (size_t i = 0; i < c->other_count; i++)
        json_object_set_new(all, parsrec_protocol_name(c->others[i].protocol),
                            r->others[i].users > 0 ? pr_eval_json(r->entry->name, c->data_path,
                                                                  &c->others[i], &r->others[i])
                                                   : json_null());
    return all;
}

/* The object of eval, and the keys of a comparison after its own. */
static json_t *row_json(const parsrec_comparison *c, size_t row)
{
    const pr_contender *r = &c->rows[row];
    json_t *object = pr_eval_json(r->entry->name, c->data_path, &c->eval, &r->report);
    const char *path = r->attempts[0].path;
    json_t *more =
        json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "kind", r->kind, "settings",
                  settings(r->entry), "parameters", (json_int_t)r->parameters, "file",
                  path[0] != '\0' ? pr_json_string(path) : json_null(),
                  c->ablation ? "versus_base" : "versus_best", versus(c, row), "learning",
                  learning(r), "cost", cost(r), "seeds", seeds(c, r), "not_trained_out", r->gaining,
                  "learns_these_sessions", r->learnt);
    if (object == NULL || more == NULL || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    json_t *all = protocols(c, r);
    if (object != NULL && all != NULL)
        json_object_set(object, "protocols", all);
    json_decref(all);
    return object;
}

static json_t *rows_json(const parsrec_comparison *c)
{
    json_t *list = json_array();
    for (size_t row = 0; row < c->count; row++)
        if (json_array_append_new(list, row_json(c, row)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *report_json(const parsrec_comparison *c)
{
    size_t best = pr_comparison_best(c);
    return json_pack(
        "{s:o, s:s, s:o, s:s, s:{s:I, s:I, s:I}, s:s, s:o, s:{s:I, s:f}, s:{s:I}, s:f, s:o}",
        "command", c->command != NULL ? pr_json_string(c->command) : json_null(), "version",
        parsrec_version(), "data", pr_json_string(c->data_path), "checksum", c->stats.checksum,
        "seeds", "training", (json_int_t)c->seed, "candidates", (json_int_t)c->eval.seed,
        "resamples", (json_int_t)c->resampling.seed, "measure", c->columns[c->chosen].name, "best",
        best != PR_NONE ? pr_json_string(c->rows[best].entry->name) : json_null(), "intervals",
        "resamples", (json_int_t)c->resampling.resamples, "level", c->resampling.level, "tests",
        "resamples", (json_int_t)c->testing.resamples, "seconds", c->seconds, "models",
        rows_json(c));
}

parsrec_status pr_comparison_json(pr_writer *out, const parsrec_comparison *c, bool rows_only,
                                  parsrec_error *err)
{
    return pr_json_write(out, rows_only ? rows_json(c) : report_json(c), err);
}
