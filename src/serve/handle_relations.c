/* GET /v1/relations and /v1/groups: maps of what goes with what, for one user, groups, or everybody. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/analysis.h"
#include "serve/handlers.h"

/* A map of a few thousand baskets is there in seconds, whatever the size of the shop. */
enum { TOP_DEFAULT = 20, TOP_MOST = 100, BASKETS_MOST = 6000 };

static const char *const map_names[PARSREC_MAPS] = {"attention", "drop", "lift", "embedding"};

/* What a request asks for; texts live in the request and here. */
typedef struct asked {
    parsrec_map map;
    parsrec_explain_options options;
    const char *groups[ANALYSIS_GROUPS_MOST];
    char user[TARGET_BYTES_MOST + 8]; /* "user:KEY"; empty: none */
    json_t *facts;                    /* of that user */
    const char *show[TOP_MOST];       /* what the user bought most; texts of the facts */
} asked;

/* ---- reading ---- */

static bool read_map(asked *q, const http_request *request, http_response *response)
{
    const char *word = http_target_field(&request->target, "map");
    size_t map = PARSREC_MAP_DROP;
    if (word != NULL)
        for (map = 0; map < PARSREC_MAPS && strcmp(word, map_names[map]) != 0; map++)
            ;
    if (map == PARSREC_MAPS) {
        answer_error(response, 400, "bad_request",
                     "map must be attention, drop, lift or embedding.");
        return false;
    }
    q->map = (parsrec_map)map;
    q->options.maps[map] = true;
    return true;
}

static bool read_by(asked *q, const http_request *request, const analysis *x,
                    http_response *response)
{
    const char *word = http_target_field(&request->target, "by");
    uint64_t top = TOP_DEFAULT;
    bool items = word != NULL ? strcmp(word, "item") == 0
                              : parsrec_model_size(x->engine->model, PARSREC_CATEGORY) == 0;
    if (word != NULL && !items && strcmp(word, "category") != 0) {
        answer_error(response, 400, "bad_request", "by must be category or item.");
        return false;
    }
    q->options.items = items;
    if (!query_count(request, "top", 2, TOP_MOST, &top, response))
        return false;
    q->options.top = top;
    return true;
}

/* user=ID, and group=NAME again and again. */
static bool read_groups(asked *q, const http_request *request, const analysis *x,
                        http_response *response)
{
    parsrec_error err = {0};
    for (size_t i = 0; i < request->target.field_count; i++) {
        const target_field *f = &request->target.fields[i];
        const char *group = strcmp(f->name, "group") == 0 ? f->value : NULL;
        if (strcmp(f->name, "user") == 0 && q->user[0] == '\0') {
            snprintf(q->user, sizeof q->user, "user:%s", f->value);
            group = q->user;
        }
        if (group == NULL)
            continue;
        if (q->options.group_count == ANALYSIS_GROUPS_MOST) {
            answer_error(response, 400, "bad_request", "At most %d groups.", ANALYSIS_GROUPS_MOST);
            return false;
        }
        if (analysis_check_group(x, group, &err) != PARSREC_OK) {
            answer_failure(response, &err);
            return false;
        }
        q->groups[q->options.group_count++] = group;
    }
    q->options.groups = q->groups;
    q->options.difference = http_target_field(&request->target, "difference");
    return true;
}

/* Of one user's items those that the user bought most are shown: what everybody buys most may not be among
 * them at all. Without any, the rows stay everybody's. */
static void show_own_items(asked *q, const analysis *x)
{
    char *text = NULL;
    if (q->user[0] == '\0' || !q->options.items)
        return;
    if (parsrec_live_user_json(&text, x->engine->live, q->user + strlen("user:"), 0, NULL) ==
        PARSREC_OK)
        q->facts = json_loads(text, 0, NULL);
    parsrec_text_free(text);
    const json_t *items = json_object_get(q->facts, "items");
    size_t count = json_array_size(items);
    if (count < 2)
        return;
    q->options.show_count = count < q->options.top ? count : (size_t)q->options.top;
    for (size_t i = 0; i < q->options.show_count; i++)
        q->show[i] = json_string_value(json_object_get(json_array_get(items, i), "item"));
    q->options.show = q->show;
}

static bool read_question(asked *q, const http_request *request, const analysis *x,
                          http_response *response)
{
    q->options = parsrec_explain_default();
    q->options.threads = 1;
    q->options.baskets_most = BASKETS_MOST;
    q->options.no_recovery = true;
    return read_map(q, request, response) && read_by(q, request, x, response) &&
           read_groups(q, request, x, response);
}

/* ---- answering ---- */

/* Values of a map, or of one less another; null where nothing is known. */
static json_t *values_json(const double *map, const double *less, size_t size)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < size; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < size; j++) {
            double value = map[i * size + j] - (less != NULL ? less[i * size + j] : 0);
            json_array_append_new(row, isfinite(value) ? json_real(value) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static size_t group_named(const parsrec_explanation *e, const char *name, size_t size)
{
    size_t g = 0;
    for (const char *own; (own = parsrec_explanation_group(e, g)) != NULL; g++)
        if (strlen(own) == size && memcmp(own, name, size) == 0)
            break;
    return g;
}

/* "A,B", whose names the library has checked. */
static json_t *difference_json(const parsrec_explanation *e, parsrec_map map, const char *words)
{
    const char *comma = words != NULL ? strchr(words, ',') : NULL;
    if (comma == NULL)
        return json_null();
    size_t a = group_named(e, words, (size_t)(comma - words));
    size_t b = group_named(e, comma + 1, strlen(comma + 1));
    const double *first = parsrec_explanation_map(e, a, map);
    const double *second = parsrec_explanation_map(e, b, map);
    if (first == NULL || second == NULL)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "first", pr_json_string(parsrec_explanation_group(e, a)),
                     "second", pr_json_string(parsrec_explanation_group(e, b)), "values",
                     values_json(first, second, parsrec_explanation_size(e)));
}

static json_t *maps_json(const parsrec_explanation *e, const asked *q)
{
    size_t size = parsrec_explanation_size(e);
    json_t *names = json_array(), *groups = json_array();
    for (size_t i = 0; i < size; i++)
        json_array_append_new(names, pr_json_string(parsrec_explanation_name(e, i)));
    for (size_t g = 0; parsrec_explanation_group(e, g) != NULL; g++) {
        const double *map = parsrec_explanation_map(e, g, q->map);
        json_array_append_new(
            groups, json_pack("{s:o, s:o}", "name", pr_json_string(parsrec_explanation_group(e, g)),
                              "values", map != NULL ? values_json(map, NULL, size) : json_null()));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "map", map_names[q->map], "by",
                     q->options.items ? "item" : "category", "names", names, "groups", groups,
                     "difference", difference_json(e, q->map, q->options.difference));
}

static parsrec_status explain(analysis *x, const asked *q, char **text, parsrec_error *err)
{
    parsrec_explanation *e = NULL;
    PR_TRY(
        parsrec_explain(&e, x->engine->model, engine_data(x->engine), &q->options, &x->hooks, err));
    json_t *json = maps_json(e, q);
    *text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(json);
    parsrec_explanation_free(e);
    return *text != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void handle_relations(app *a, const http_request *request, http_response *response)
{
    analysis x;
    asked q = {0};
    parsrec_error err = {0};
    char *text = NULL;
    if (!analysis_begin(&x, a, request, response))
        return;
    if (!read_question(&q, request, &x, response)) {
        analysis_leave(&x);
        return;
    }
    show_own_items(&q, &x);
    parsrec_status status = explain(&x, &q, &text, &err);
    json_decref(q.facts);
    analysis_end(&x, status, pr_slice_of(text != NULL ? text : ""), &err, response);
    free(text);
}

/* ---- groups ---- */

void handle_groups(app *a, const http_request *request, http_response *response)
{
    static const char *const clusters[] = {"cluster:2", "cluster:3", "cluster:4"};
    char name[512];
    (void)request;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    json_t *list = json_array();
    for (size_t i = 0; parsrec_data_group(engine_data(e), i, name, sizeof name); i++)
        json_array_append_new(list, pr_json_string(name));
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        json_array_append_new(list, json_string(clusters[i]));
    answer_json(response, 200, json_pack("{s:o}", "groups", list));
    engine_drop(e);
}
