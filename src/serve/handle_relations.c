/* GET /v1/relations and /v1/groups: maps of item relationships for one user, groups, or
 * everybody. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "serve/routes.h"

/* A map of a few thousand baskets takes seconds, whatever the size of the shop. */
enum { TOP_DEFAULT = 20, TOP_MOST = 100, BASKETS_MOST = 6000 };

#define NAME(id, name) (name),
static const char *const map_names[PARSREC_MAPS] = {PARSREC_MAP_LIST(NAME)};
#undef NAME

/* A parsed request. Its texts belong to the request and to this struct. */
typedef struct asked {
    parsrec_map map;
    parsrec_explain_options options;
    const char *groups[ANALYSIS_GROUPS_MOST];
    char user[TARGET_BYTES_MOST + 8]; /* "user:KEY"; empty: none */
    char *show[TOP_MOST];             /* keys of what the user bought most */
} asked;

/* ---- reading ---- */

static parsrec_status read_map(asked *q, const json_t *value, parsrec_error *err)
{
    const char *word = json_string_value(value);
    size_t map = PARSREC_MAP_DROP;
    if (value != NULL)
        for (map = 0; map < PARSREC_MAPS && (word == NULL || strcmp(word, map_names[map]) != 0);)
            map++;
    if (map == PARSREC_MAPS) {
        char list[80] = "";
        for (size_t i = 0, n = 0; i < PARSREC_MAPS && n < sizeof list; i++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                                  i == 0                  ? ""
                                  : i + 1 == PARSREC_MAPS ? " or "
                                                          : ", ",
                                  map_names[i]);
        return pr_fail(err, PARSREC_E_INPUT, "map must be %s.", list);
    }
    q->map = (parsrec_map)map;
    q->options.maps[map] = true;
    return PARSREC_OK;
}

static parsrec_status read_by(asked *q, const engine *e, const json_t *value, parsrec_error *err)
{
    const char *word = json_string_value(value);
    if (value == NULL)
        q->options.items = parsrec_model_size(e->model, PARSREC_CATEGORY) == 0;
    else if (word != NULL && strcmp(word, "item") == 0)
        q->options.items = true;
    else if (word == NULL || strcmp(word, "category") != 0)
        return pr_fail(err, PARSREC_E_INPUT, "by must be category or item.");
    return PARSREC_OK;
}

static parsrec_status add_group(asked *q, const engine *e, const char *group, parsrec_error *err)
{
    if (q->options.group_count == ANALYSIS_GROUPS_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "at most %d groups.", ANALYSIS_GROUPS_MOST);
    PR_TRY(analysis_check_group(e, group, err));
    q->groups[q->options.group_count++] = group;
    return PARSREC_OK;
}

static parsrec_status read_user(asked *q, const engine *e, const json_t *value, parsrec_error *err)
{
    int size = -1;
    if (value == NULL)
        return PARSREC_OK;
    if (json_is_string(value))
        size = snprintf(q->user, sizeof q->user, "user:%s", json_string_value(value));
    else if (json_is_integer(value))
        size = snprintf(q->user, sizeof q->user, "user:%" JSON_INTEGER_FORMAT,
                        json_integer_value(value));
    if (size < 0 || (size_t)size >= sizeof q->user)
        return pr_fail(err, PARSREC_E_INPUT, "user must be a text of at most %d bytes.",
                       TARGET_BYTES_MOST);
    return add_group(q, e, q->user, err);
}

/* A list of names, or a single name. */
static parsrec_status read_groups(asked *q, const engine *e, const json_t *value,
                                  parsrec_error *err)
{
    if (json_is_string(value))
        return add_group(q, e, json_string_value(value), err);
    if (value != NULL && !json_is_array(value))
        return pr_fail(err, PARSREC_E_INPUT, "group must be a list of texts.");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *group = json_string_value(json_array_get(value, i));
        if (group == NULL)
            return pr_fail(err, PARSREC_E_INPUT, "group[%zu] is not a text.", i);
        PR_TRY(add_group(q, e, group, err));
    }
    return PARSREC_OK;
}

/* For one user, the rows are the items that the user bought most: the overall best sellers may not
 * be among them. A user without purchases gets the overall rows. False if out of memory. */
static bool show_own_items(asked *q, const engine *e)
{
    parsrec_bought items[TOP_MOST];
    size_t count = 0;
    if (q->user[0] == '\0' || !q->options.items)
        return true;
    parsrec_live_bought(e->live, q->user + strlen("user:"), items, (size_t)q->options.top, &count,
                        NULL); /* an unknown user has bought nothing */
    for (size_t i = 0; i < count && count >= 2; i++) {
        parsrec_name key = parsrec_model_key(e->model, PARSREC_ITEM, items[i].item);
        q->show[i] = pr_copy_string(key.bytes, key.size);
        if (q->show[i] == NULL)
            return false;
        q->options.show_count++;
    }
    q->options.show = q->options.show_count > 0 ? (const char *const *)q->show : NULL;
    return true;
}

static parsrec_status read_question(asked *q, const engine *e, json_t *request, parsrec_error *err)
{
    static const char *const known[] = {"map", "by", "user", "group", "difference", "top", NULL};
    const json_t *difference = json_object_get(request, "difference"),
                 *top = json_object_get(request, "top");
    const char *unknown = unknown_field(request, known);
    json_int_t rows = top != NULL ? json_integer_value(top) : TOP_DEFAULT;
    pr_excerpt hold;
    *q = (asked){.options = parsrec_explain_default()};
    q->options.threads = 0;
    q->options.baskets_most = BASKETS_MOST;
    q->options.no_recovery = true;
    if (unknown != NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "there is no field %s; a request has: map, by, user, group, difference, "
                       "top.",
                       pr_show(&hold, pr_slice_of(unknown)));
    PR_TRY(read_map(q, json_object_get(request, "map"), err));
    PR_TRY(read_by(q, e, json_object_get(request, "by"), err));
    if (rows < 2 || rows > TOP_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "top must be a whole number from 2 to %d.", TOP_MOST);
    q->options.top = (uint64_t)rows;
    PR_TRY(read_user(q, e, json_object_get(request, "user"), err));
    PR_TRY(read_groups(q, e, json_object_get(request, "group"), err));
    if (difference != NULL && !json_is_string(difference))
        return pr_fail(err, PARSREC_E_INPUT, "difference must be a text, such as \"A,B\".");
    q->options.groups = q->groups;
    q->options.difference = json_string_value(difference);
    return PARSREC_OK;
}

/* ---- answering ---- */

/* Values of a map, or of the difference of two; null for unknown cells. */
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

/* "A,B"; the library has checked the names. */
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

/* The relations of a map that the baskets confirm, strongest first, as sentences and numbers; null
 * for a map without sentences. */
static json_t *findings_json(const parsrec_explanation *e, size_t group, parsrec_map map)
{
    enum { MOST = 10, WORDS = 1024 };
    parsrec_relation list[MOST];
    char sentence[WORDS], evidence[WORDS];
    if (map == PARSREC_MAP_EMBEDDING)
        return json_null();
    json_t *out = json_array();
    size_t n = parsrec_explanation_relations(e, group, map, true, list, MOST);
    for (size_t i = 0; i < n; i++) {
        const parsrec_relation *r = &list[i];
        parsrec_relation_sentence(e, map, r, sentence, sizeof sentence);
        parsrec_relation_evidence(e, r, evidence, sizeof evidence);
        json_array_append_new(
            out, json_pack("{s:o, s:o, s:f, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:o, s:o}", "row",
                           pr_json_string(parsrec_explanation_name(e, r->row)), "column",
                           pr_json_string(parsrec_explanation_name(e, r->column)), "value",
                           r->value, "both", (json_int_t)r->both, "row_baskets",
                           (json_int_t)r->row_baskets, "column_baskets",
                           (json_int_t)r->column_baskets, "baskets", (json_int_t)r->baskets, "lift",
                           r->lift, "lift_low", r->low, "lift_high", r->high, "sentence",
                           pr_json_string(sentence), "evidence", pr_json_string(evidence)));
    }
    return out;
}

/* For every two groups, the pairs in which map and baskets both differ; null for a map without
 * sentences. */
static json_t *contrasts_json(const parsrec_explanation *e, parsrec_map map)
{
    enum { MOST = 10, WORDS = 1024 };
    parsrec_group_contrast list[MOST];
    char sentence[WORDS], evidence[WORDS];
    if (map == PARSREC_MAP_EMBEDDING)
        return json_null();
    json_t *out = json_array();
    for (size_t b = 1; parsrec_explanation_group(e, b) != NULL; b++)
        for (size_t a = 0; a < b; a++) {
            json_t *findings = json_array();
            size_t n = parsrec_explanation_contrasts(e, a, b, map, list, MOST);
            for (size_t i = 0; i < n; i++)
                json_array_append_new(
                    findings,
                    json_pack("{s:o, s:o, s:f, s:o, s:o}", "row",
                              pr_json_string(parsrec_explanation_name(e, list[i].first.row)),
                              "column",
                              pr_json_string(parsrec_explanation_name(e, list[i].first.column)),
                              "value", list[i].value, "sentence",
                              pr_json_string(parsrec_contrast_sentence(e, map, &list[i], sentence,
                                                                       sizeof sentence)),
                              "evidence",
                              pr_json_string(parsrec_contrast_evidence(e, &list[i], evidence,
                                                                       sizeof evidence))));
            json_array_append_new(out, json_pack("{s:o, s:o, s:o}", "first",
                                                 pr_json_string(parsrec_explanation_group(e, a)),
                                                 "second",
                                                 pr_json_string(parsrec_explanation_group(e, b)),
                                                 "findings", findings));
        }
    return out;
}

static json_t *maps_json(const parsrec_explanation *e, const asked *q)
{
    size_t size = parsrec_explanation_size(e);
    json_t *names = json_array(), *groups = json_array();
    for (size_t i = 0; i < size; i++)
        json_array_append_new(names, pr_json_string(parsrec_explanation_name(e, i)));
    for (size_t g = 0; parsrec_explanation_group(e, g) != NULL; g++) {
        const double *map = parsrec_explanation_map(e, g, q->map);
        json_array_append_new(groups,
                              json_pack("{s:o, s:o, s:o}", "name",
                                        pr_json_string(parsrec_explanation_group(e, g)), "values",
                                        map != NULL ? values_json(map, NULL, size) : json_null(),
                                        "findings", findings_json(e, g, q->map)));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "map", map_names[q->map], "by",
                     q->options.items ? "item" : "category", "names", names, "groups", groups,
                     "difference", difference_json(e, q->map, q->options.difference), "contrasts",
                     contrasts_json(e, q->map));
}

static parsrec_status explain(char **text, const engine *e, const asked *q,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_explanation *x = NULL;
    PR_TRY(parsrec_explain(&x, e->model, engine_data(e), &q->options, hooks, err));
    json_t *json = maps_json(x, q);
    char *written = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    *text = written != NULL ? pr_copy_string(written, strlen(written)) : NULL;
    free(written);
    json_decref(json);
    parsrec_explanation_free(x);
    return *text != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status check(const engine *e, json_t *request, parsrec_error *err)
{
    asked q;
    return read_question(&q, e, request, err);
}

static parsrec_status run(char **text, const engine *e, json_t *request, const parsrec_hooks *hooks,
                          parsrec_error *err)
{
    asked q;
    PR_TRY(read_question(&q, e, request, err));
    parsrec_status status =
        show_own_items(&q, e) ? explain(text, e, &q, hooks, err) : pr_fail_memory(err);
    for (size_t i = 0; i < q.options.show_count; i++)
        pr_free(q.show[i]);
    return status;
}

static size_t stages(const json_t *request)
{
    const json_t *groups = json_object_get(request, "group");
    size_t count = json_object_get(request, "user") != NULL;
    for (size_t i = 0; i < json_array_size(groups); i++)
        count += analysis_group_parts(json_string_value(json_array_get(groups, i)));
    if (json_is_string(groups))
        count += analysis_group_parts(json_string_value(groups));
    return count > 0 ? count : 1;
}

const job_kind job_relations = {"relations", check, run, stages};

/* The query as a job request. NULL if out of memory. */
static json_t *request_of(const http_target *target)
{
    json_t *request = json_object(), *groups = json_array();
    uint64_t top;
    int bad = 0;
    for (size_t i = 0; i < target->field_count; i++) {
        const target_field *f = &target->fields[i];
        if (strcmp(f->name, "group") == 0)
            bad |= json_array_append_new(groups, json_string(f->value));
        else if (strcmp(f->name, "top") == 0 && pr_parse_u64(pr_slice_of(f->value), &top))
            bad |= json_object_set_new(request, f->name,
                                       json_integer(top <= TOP_MOST ? (json_int_t)top : 0));
        else
            bad |= json_object_set_new(request, f->name, json_string(f->value));
    }
    if (json_array_size(groups) > 0)
        bad |= json_object_set(request, "group", groups);
    json_decref(groups);
    if (bad == 0 && request != NULL)
        return request;
    json_decref(request);
    return NULL;
}

void handle_relations(app *a, const http_request *request, http_response *response)
{
    json_t *question = request_of(&request->target);
    if (question != NULL)
        analysis_answer(a, &job_relations, question, request, response);
    else
        answer_json(response, 200, NULL); /* out of memory */
    json_decref(question);
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
