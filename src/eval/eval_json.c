/* Measures become members, name by name. */
#include "eval/eval_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* "HR@10"; "MRR" has no cutoff. Returns buffer. */
static char *name_of(const parsrec_measure *m, char *buffer, size_t size)
{
    if (m->k == 0)
        snprintf(buffer, size, "%s", m->name);
    else
        snprintf(buffer, size, "%s@%llu", m->name, (unsigned long long)m->k);
    return buffer;
}

/* One column of the measures, given by its place in parsrec_measure, as an object. */
static json_t *measures(const parsrec_eval_report *r, size_t column)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        char name[48];
        double value;
        memcpy(&value, (const char *)&r->measures[i] + column, sizeof value);
        json_object_set_new(object, name_of(&r->measures[i], name, sizeof name), number(value));
    }
    return object;
}

static json_t *intervals(const parsrec_eval_report *r)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->measure_count; i++) {
        const parsrec_measure *m = &r->measures[i];
        char name[48];
        json_object_set_new(object, name_of(m, name, sizeof name),
                            json_pack("[f, f]", m->low, m->high));
    }
    return object;
}

static json_t *part(const parsrec_eval_report *r, uint64_t steps, size_t column, size_t random)
{
    return json_pack("{s:I, s:o, s:o}", "steps", (json_int_t)steps, "metrics", measures(r, column),
                     "random", measures(r, random));
}

static const char *candidates_of(const parsrec_eval_options *o)
{
    if (o->negatives == 0)
        return "all";
    switch (o->candidates) {
    case PARSREC_CANDIDATES_POPULAR:
        return "popular";
    case PARSREC_CANDIDATES_FILE:
        return o->candidates_path;
    default:
        return "uniform";
    }
}

json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *o,
                     const parsrec_eval_report *r)
{
    json_t *asked = json_pack(
        "{s:o, s:o, s:s, s:s, s:I, s:b, s:o, s:b}", "model", pr_json_string(model), "data",
        pr_json_string(data), "split", o->split == PARSREC_SPLIT_TEST ? "test" : "valid",
        "protocol", parsrec_protocol_name(o->protocol), "negatives", (json_int_t)r->negatives,
        "full", (int)(o->negatives == 0), "candidates", pr_json_string(candidates_of(o)),
        "exclude_seen", (int)o->exclude_seen);
    json_t *found = json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:f}", "users", (json_int_t)r->users,
        "baskets", (json_int_t)r->baskets, "steps", (json_int_t)r->steps, "metrics",
        measures(r, offsetof(parsrec_measure, value)), "intervals", intervals(r), "random",
        measures(r, offsetof(parsrec_measure, random)), "repeat",
        part(r, r->repeat_steps, offsetof(parsrec_measure, repeat),
             offsetof(parsrec_measure, repeat_random)),
        "new",
        part(r, r->fresh_steps, offsetof(parsrec_measure, fresh),
             offsetof(parsrec_measure, fresh_random)),
        "fingerprint", r->fingerprint, "seconds", r->seconds);
    bool whole = asked != NULL && found != NULL && json_object_update(asked, found) == 0;
    json_decref(found);
    if (!whole)
        json_decref(asked);
    return whole ? asked : NULL;
}
