/* The answer as JSON. */
#include <math.h>

#include "base/json.h"
#include "base/memory.h"
#include "whatif/answer.h"

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* What is not known is null. */
static json_t *row_json(const parsrec_whatif_row *r)
{
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "scenario", pr_json_string(r->scenario), "question", parsrec_question_name(r->question),
        "estimator", parsrec_estimator_name(r->estimator), "group", pr_json_string(r->group),
        "category", pr_json_string(r->category), "watched", r->watched, "dropped", r->dropped,
        "before", number(r->before), "after", number(r->after), "low", number(r->low), "high",
        number(r->high), "change", number(r->change), "change_low", number(r->change_low),
        "change_high", number(r->change_high), "test_before", number(r->test_before), "test_after",
        number(r->test_after), "true_before", number(r->true_before), "true_after",
        number(r->true_after), "floor", number(r->floor), "kind", parsrec_whatif_kind_name(r->kind),
        "baskets", number(r->baskets), "revenue_before", number(r->revenue_before), "revenue_after",
        number(r->revenue_after), "revenue_low", number(r->revenue_low), "revenue_high",
        number(r->revenue_high), "revenue_change", number(r->revenue_change), "revenue_change_low",
        number(r->revenue_change_low), "revenue_change_high", number(r->revenue_change_high));
}

/* Those of the estimator chosen, or of all. */
static json_t *rows_json(const pr_whatif_result *a, bool chosen)
{
    json_t *list = json_array();
    parsrec_whatif_row r;
    for (size_t i = 0; parsrec_whatif_row_at(a, i, &r); i++) {
        if (isnan(r.after) || (chosen && r.estimator != a->estimator))
            continue;
        if (json_array_append_new(list, row_json(&r)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *agreement_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t s = 0; a->agreement != NULL && s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t g = 0; g < a->cohort.group_count; g++) {
                    const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
                    if (isnan(x->points) || !a->asked[q])
                        continue;
                    json_array_append_new(
                        list,
                        json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scenario",
                                  pr_json_string(a->scenarios.list[s].name), "question",
                                  parsrec_question_name((parsrec_question)q), "estimator",
                                  parsrec_estimator_name((parsrec_estimator)e), "group",
                                  pr_json_string(a->groups.list[g].name), "rank_correlation",
                                  number(x->rank), "error_points", number(x->points), "mape",
                                  number(x->error), "mape_floor", number(x->floor), "mape_test_set",
                                  number(x->test), "coverage", number(x->coverage)));
                }
    return list;
}

static json_t *hanging_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->hanging_count; i++) {
        const pr_hanging *h = &a->hanging[i];
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:f, s:f, s:f}", "group",
                      pr_json_string(a->groups.list[h->group].name), "without",
                      pr_json_string(a->lines.list[a->spill.hub[h->hub]].name), "category",
                      pr_json_string(a->lines.list[h->bin].name), "beyond", h->beyond, "selection",
                      h->change[PARSREC_SELECTION], "rechoice", h->change[PARSREC_RECHOICE]));
    }
    return list;
}

static json_t *facts_json(const pr_whatif_result *a)
{
    json_t *list = json_array();
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t s = 0; s < a->scenarios.count; s++) {
            const pr_basket_facts *f = &a->facts[g * a->scenarios.count + s];
            json_array_append_new(list,
                                  json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                                            "scenario", pr_json_string(a->scenarios.list[s].name),
                                            "group", pr_json_string(a->groups.list[g].name),
                                            "baskets", f->baskets, "touched", f->touched, "items",
                                            f->items, "touched_items", f->touched_items, "swapped",
                                            f->swapped, "refilled", f->refilled, "lost", f->lost));
        }
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? pr_json_string(text) : json_null();
}

static json_t *answer_json(const pr_whatif_result *a)
{
    return json_pack("{s:o, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:s, s:s, s:b, s:f, s:o, "
                     "s:o, s:o, s:o}",
                     "command", text_or_null(a->command), "version", parsrec_version(), "data",
                     text_or_null(a->data_name), "checksum", a->checksum, "models",
                     (json_int_t)a->model_count, "users", (json_int_t)a->cohort.user_count, "draws",
                     (json_int_t)a->draws, "resamples", (json_int_t)a->resamples, "interval",
                     a->interval, "seed", (json_int_t)a->seed, "estimator",
                     parsrec_estimator_name(a->estimator), "missing",
                     a->missing == PARSREC_MISSING_LEAVE ? "leave" : "refill", "raw", a->raw,
                     "seconds", a->seconds, "rows", rows_json(a, false), "agreement",
                     agreement_json(a), "hanging", hanging_json(a), "baskets", facts_json(a));
}

parsrec_status pr_whatif_json(pr_writer *out, const pr_whatif_result *a, bool rows_only,
                              parsrec_error *err)
{
    json_t *json = rows_only ? rows_json(a, true) : answer_json(a);
    char *text = pr_json_indented(json);
    if (text == NULL)
        return pr_fail_memory(err);
    pr_write(out, "%s\n", text);
    pr_free(text);
    return PARSREC_OK;
}
