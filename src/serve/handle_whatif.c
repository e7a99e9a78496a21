/* POST /v1/whatif: sales before and after the assortment changes. */
#include <string.h>

#include "base/memory.h"
#include "serve/routes.h"

enum { WORDS_MOST = 64, DRAWS_MOST = 1000, RESAMPLES_MOST = 10000, LEVEL_MOST = 32 };

enum { DROP, ONLY, ADD, WATCH, GROUPS, LISTS };
static const char *const list_names[LISTS] = {"drop", "only", "add", "watch", "groups"};
static const char *const questions[] = {"selection", "rechoice", "both"};
#define NAME(id, name) (name),
static const char *const estimators[] = {PARSREC_ESTIMATOR_LIST(NAME)};
static const char *const missings[] = {PARSREC_MISSING_LIST(NAME)};
#undef NAME

/* A parsed request; its texts belong to the body. */
typedef struct question {
    const char *words[LISTS][WORDS_MOST];
    size_t counts[LISTS];
    size_t asked; /* one of the questions */
    parsrec_whatif_options options;
} question;

/* ---- reading ---- */

static parsrec_status read_list(question *q, size_t which, const json_t *value, parsrec_error *err)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > WORDS_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a list of at most %d texts.",
                       list_names[which], WORDS_MOST);
    for (size_t i = 0; i < count; i++) {
        q->words[which][i] = json_string_value(json_array_get(value, i));
        if (q->words[which][i] == NULL)
            return pr_fail(err, PARSREC_E_INPUT, "%s[%zu] is not a text.", list_names[which], i);
    }
    q->counts[which] = count;
    return PARSREC_OK;
}

static parsrec_status read_choice(size_t *out, const char *key, const json_t *value,
                                  const char *const *words, size_t count, parsrec_error *err)
{
    const char *word = json_string_value(value);
    for (size_t i = 0; word != NULL && i < count; i++)
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return PARSREC_OK;
        }
    return pr_fail(err, PARSREC_E_INPUT, "%s must be one of %s, %s%s", key, words[0], words[1],
                   count > 2 ? " and others; /openapi.json lists them." : ".");
}

static parsrec_status read_number(uint64_t *out, const char *key, const json_t *value, uint64_t low,
                                  uint64_t high, parsrec_error *err)
{
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < (json_int_t)low || n > (json_int_t)high)
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a whole number from %llu to %llu.", key,
                       (unsigned long long)low, (unsigned long long)high);
    *out = (uint64_t)n;
    return PARSREC_OK;
}

static parsrec_status read_setting(question *q, const char *key, const json_t *value,
                                   parsrec_error *err)
{
    parsrec_whatif_options *o = &q->options;
    size_t choice = 0;
    if (strcmp(key, "question") == 0)
        return read_choice(&q->asked, key, value, questions, 3, err);
    if (strcmp(key, "estimator") == 0) {
        PR_TRY(read_choice(&choice, key, value, estimators, 4, err));
        o->estimator = (parsrec_estimator)choice;
        return PARSREC_OK;
    }
    if (strcmp(key, "missing") == 0) {
        PR_TRY(read_choice(&choice, key, value, missings, 2, err));
        o->missing = (parsrec_missing)choice;
        return PARSREC_OK;
    }
    if (strcmp(key, "draws") == 0)
        return read_number(&o->draws, key, value, 0, DRAWS_MOST, err);
    if (strcmp(key, "resamples") == 0)
        return read_number(&o->resamples, key, value, 20, RESAMPLES_MOST, err);
    if (strcmp(key, "level") == 0)
        return read_number(&o->level, key, value, 0, LEVEL_MOST, err);
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_INPUT, "there is no field %s; /openapi.json lists them.",
                   pr_show(&hold, pr_slice_of(key)));
}

static void apply(question *q)
{
    parsrec_whatif_options *o = &q->options;
    o->drop = q->words[DROP];
    o->drop_count = q->counts[DROP];
    o->only = q->words[ONLY];
    o->only_count = q->counts[ONLY];
    o->add = q->words[ADD];
    o->add_count = q->counts[ADD];
    o->watch = q->words[WATCH];
    o->watch_count = q->counts[WATCH];
    o->groups = q->words[GROUPS];
    o->group_count = q->counts[GROUPS];
    o->selection = q->asked != 1;
    o->rechoice = q->asked != 0;
}

static parsrec_status read_question(question *q, const engine *e, json_t *body, parsrec_error *err)
{
    *q = (question){.asked = 1};
    q->options = parsrec_whatif_default();
    q->options.threads = 0;
    q->options.truth_sets = 0;
    for (void *at = json_object_iter(body); at != NULL; at = json_object_iter_next(body, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        size_t list = 0;
        while (list < LISTS && strcmp(key, list_names[list]) != 0)
            list++;
        PR_TRY(list < LISTS ? read_list(q, list, value, err) : read_setting(q, key, value, err));
    }
    if (q->counts[DROP] + q->counts[ONLY] + q->counts[ADD] == 0)
        return pr_fail(err, PARSREC_E_INPUT, "nothing changes; name what to drop, keep or add.");
    if (q->counts[GROUPS] > ANALYSIS_GROUPS_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "at most %d groups.", ANALYSIS_GROUPS_MOST);
    for (size_t i = 0; i < q->counts[GROUPS]; i++)
        PR_TRY(analysis_check_group(e, q->words[GROUPS][i], err));
    apply(q);
    return PARSREC_OK;
}

/* ---- answering ---- */

static parsrec_status check(const engine *e, json_t *request, parsrec_error *err)
{
    question q;
    return read_question(&q, e, request, err);
}

static parsrec_status run(char **text, const engine *e, json_t *request, const parsrec_hooks *hooks,
                          parsrec_error *err)
{
    question q;
    parsrec_whatif_answer *answer = NULL;
    const parsrec_model *models[] = {e->model};
    char *written = NULL;
    PR_TRY(read_question(&q, e, request, err));
    PR_TRY(parsrec_whatif(&answer, models, 1, engine_data(e), &q.options, hooks, err));
    parsrec_status status = parsrec_whatif_text(&written, answer, PARSREC_TEXT_JSON_MODELS, err);
    parsrec_whatif_free(answer);
    if (status == PARSREC_OK && (*text = pr_copy_string(written, strlen(written))) == NULL)
        status = pr_fail_memory(err);
    parsrec_text_free(written);
    return status;
}

/* Stages: sampling baskets, going through the test sessions, and resampling users for intervals. */
static size_t stages(const json_t *request)
{
    (void)request;
    return 3;
}

const job_kind job_whatif = {"whatif", check, run, stages};

void handle_whatif(app *a, const http_request *request, http_response *response)
{
    json_t *body = read_body(request, response);
    if (body != NULL)
        analysis_answer(a, &job_whatif, body, request, response);
    json_decref(body);
}
