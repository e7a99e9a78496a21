/* The explanation for programs. */
#include <math.h>

#include "base/memory.h"
#include "explain/explain.h"

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *text(const char *words)
{
    return words == NULL ? json_null() : pr_json_string(words);
}

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *matrix(const double *map, size_t N)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < N; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < N; j++)
            json_array_append_new(row, number(map[i * N + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *relation(const pr_explanation *e, const parsrec_relation *r)
{
    json_t *out = json_pack("{s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "row",
                            text(e->axis.names[r->row]), "column", text(e->axis.names[r->column]),
                            "value", r->value, "both", whole(r->both), "row_baskets",
                            whole(r->row_baskets), "column_baskets", whole(r->column_baskets),
                            "baskets", whole(r->baskets), "expected", number(r->expected), "lift",
                            number(r->lift), "lift_low", number(r->low), "lift_high",
                            number(r->high), "verdict", parsrec_relation_verdict_name(r->verdict));
    json_object_set_new(out, "strength", number(r->strength));
    json_object_set_new(out, "category_part", number(r->category_part));
    json_object_set_new(out, "category", text(r->category));
    return out;
}

static json_t *relations(const pr_explanation *e, size_t group, size_t kind, bool confirmed)
{
    parsrec_relation list[PR_STRONGEST];
    json_t *out = json_array();
    size_t n = pr_relations(list, PR_STRONGEST, e, group, kind, confirmed);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, relation(e, &list[i]));
    return out;
}

/* What the counted lifts of both groups confirm. */
static json_t *contrasts(const pr_explanation *e, size_t kind)
{
    pr_map_contrast list[PR_STRONGEST];
    json_t *out = json_array();
    size_t n = pr_map_contrasts(list, PR_STRONGEST, e, kind);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_pack("{s:o, s:o, s:f, s:o, s:o}", "row",
                                             text(e->axis.names[list[i].first.row]), "column",
                                             text(e->axis.names[list[i].first.column]), "value",
                                             list[i].value, "first", relation(e, &list[i].first),
                                             "second", relation(e, &list[i].second)));
    return out;
}

static json_t *recovery(const pr_recovery *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "rank", number(r->rank), "positive",
                     number(r->positive), "related", number(r->related), "positives",
                     whole(r->positives), "relateds", whole(r->relateds), "pairs", whole(r->pairs));
}

static json_t *group(const pr_explanation *e, size_t g, bool with_maps)
{
    const pr_explained_group *from = &e->groups[g];
    json_t *strongest = json_object(), *recovered = json_object(), *maps = json_object();
    json_t *unconfirmed = json_object();
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        const double *map = pr_explained_map(e, g, k);
        const char *name = pr_map_name(k);
        if (map == NULL)
            continue;
        if (pr_map_is_listed(k)) {
            json_object_set_new(strongest, name, relations(e, g, k, true));
            json_object_set_new(unconfirmed, name, relations(e, g, k, false));
        }
        if (from->recovery[k].pairs > 0 && k != PR_MAP_TRUTH)
            json_object_set_new(recovered, name, recovery(&from->recovery[k]));
        if (with_maps)
            json_object_set_new(maps, name, matrix(map, e->axis.count));
    }
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o}", "group",
                            text(from->name), "users", whole(from->users), "baskets",
                            whole(from->baskets), "steps", whole(from->steps), "cut",
                            whole(from->cut), "agreement", "steps", number(from->step_agreement),
                            "maps", number(from->map_agreement), "strongest", strongest);
    json_object_set_new(out, "unconfirmed", unconfirmed);
    json_object_set_new(out, "recovery", e->has_truth ? recovered : json_null());
    if (!e->has_truth)
        json_decref(recovered);
    if (with_maps)
        json_object_set_new(out, "maps", maps);
    else
        json_decref(maps);
    return out;
}

static json_t *difference(const pr_explanation *e, bool with_maps)
{
    const pr_explained_difference *d = &e->difference;
    json_t *out = json_pack("{s:o, s:o}", "first", text(e->groups[d->a].name), "second",
                            text(e->groups[d->b].name));
    json_t *strongest = json_object(), *recovered = json_object(), *maps = json_object();
    for (size_t i = 0; i < PR_MAP_KINDS; i++) {
        size_t k = pr_map_order[i];
        const char *name = pr_map_name(k);
        const pr_difference_recovery *r = &d->recovery[k];
        if (d->maps[k] == NULL)
            continue;
        if (pr_map_is_listed(k))
            json_object_set_new(strongest, name, contrasts(e, k));
        if (r->pairs > 0 && k != PR_MAP_TRUTH)
            json_object_set_new(recovered, name,
                                json_pack("{s:o, s:o, s:o, s:o}", "rank", number(r->rank),
                                          "different", number(r->different), "differents",
                                          whole(r->differents), "pairs", whole(r->pairs)));
        if (with_maps)
            json_object_set_new(maps, name, matrix(d->maps[k], e->axis.count));
    }
    json_object_set_new(out, "strongest", strongest);
    json_object_set_new(out, "recovery", recovered);
    json_object_set_new(out, "maps", maps);
    return out;
}

json_t *pr_explanation_json(const pr_explanation *e, bool with_maps)
{
    json_t *names = json_array(), *groups = json_array();
    for (size_t i = 0; i < e->axis.count; i++)
        json_array_append_new(names, text(e->axis.names[i]));
    for (size_t g = 0; g < e->group_count; g++)
        json_array_append_new(groups, group(e, g, with_maps));
    return json_pack("{s:o, s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "command",
                     text(e->command), "version", parsrec_version(), "model", text(e->model_name),
                     "kind", e->model_kind, "checksum", e->checksum, "by",
                     e->axis.items ? "item" : "category", "data", text(e->data_name), "basket_most",
                     whole(e->basket_most), "names", names, "groups", groups, "difference",
                     e->has_difference ? difference(e, with_maps) : json_null(), "seconds",
                     e->seconds);
}

parsrec_status pr_explanation_write_json(pr_writer *out, const pr_explanation *e, bool with_maps,
                                         parsrec_error *err)
{
    json_t *json = pr_explanation_json(e, with_maps);
    char *line = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (line == NULL)
        return pr_fail_memory(err);
    pr_write(out, "%s\n", line);
    pr_free(line);
    return PARSREC_OK;
}
