/* Explanations for the public. */
#include "base/memory.h"
#include "explain/explain_words.h"
#include "model/loaded.h"

enum { TOP = 60, BASKET = 10 };

parsrec_explain_options parsrec_explain_default(void)
{
    return (parsrec_explain_options){.top = TOP, .basket_most = BASKET};
}

static parsrec_status check(const parsrec_explain_options *o, parsrec_error *err)
{
    if (o->top < 2 || o->top > PR_AXIS_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a map shows 2 to %d rows, not %llu", PR_AXIS_MOST,
                       (unsigned long long)o->top);
    if (o->basket_most < 2 || o->basket_most > PR_TOUR_BASKET_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "2 to %d items of a basket can be looked at",
                       PR_TOUR_BASKET_MOST);
    return PARSREC_OK;
}

static parsrec_status explain(pr_explanation *e, const parsrec_model *model,
                              const parsrec_data *data, const parsrec_explain_options *options,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_pool *pool;
    pr_fitted fitted;
    PR_TRY(check(options, err));
    PR_TRY(pr_fit_data(&fitted, &model->file, data, false, hooks, err));
    parsrec_status status = pr_pool_new(&pool, options->threads, err);
    if (status == PARSREC_OK) {
        pr_explain_request request = {model->file.model, fitted.data, options, pool, hooks};
        status = pr_explain(e, &request, err);
        pr_pool_free(pool);
    }
    pr_fitted_free(&fitted);
    return status;
}

parsrec_status parsrec_explain(parsrec_explanation **out, const parsrec_model *model,
                               const parsrec_data *data, const parsrec_explain_options *options,
                               const parsrec_hooks *hooks, parsrec_error *err)
{
    if (out == NULL || model == NULL || data == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_explain needs out, model, data, options");
    *out = NULL;
    pr_explanation *e = pr_alloc_zero(1, sizeof *e);
    if (e == NULL)
        return pr_fail_memory(err);
    parsrec_status status = explain(e, model, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = e;
    else
        parsrec_explanation_free(e);
    return status;
}

void parsrec_explanation_free(parsrec_explanation *explanation)
{
    if (explanation == NULL)
        return;
    pr_explanation_clear(explanation);
    pr_free(explanation);
}

size_t parsrec_explanation_size(const parsrec_explanation *explanation)
{
    return explanation->axis.count;
}

const char *parsrec_explanation_name(const parsrec_explanation *explanation, size_t row)
{
    return row < explanation->axis.count ? explanation->axis.names[row] : NULL;
}

const char *parsrec_explanation_group(const parsrec_explanation *explanation, size_t group)
{
    return group < explanation->group_count ? explanation->groups[group].name : NULL;
}

static const pr_map_kind kinds[PARSREC_MAPS] = {
    [PARSREC_MAP_ATTENTION] = PR_MAP_ATTENTION,
    [PARSREC_MAP_DROP] = PR_MAP_DROP,
    [PARSREC_MAP_LIFT] = PR_MAP_LIFT,
    [PARSREC_MAP_EMBEDDING] = PR_MAP_EMBEDDING,
};

const double *parsrec_explanation_map(const parsrec_explanation *explanation, size_t group,
                                      parsrec_map map)
{
    if (group >= explanation->group_count || (size_t)map >= PARSREC_MAPS)
        return NULL;
    return pr_explained_map(explanation, group, kinds[map]);
}

size_t parsrec_explanation_relations(const parsrec_explanation *explanation, size_t group,
                                     parsrec_map map, bool confirmed, parsrec_relation *relations,
                                     size_t capacity)
{
    if (group >= explanation->group_count || (size_t)map >= PARSREC_MAPS)
        return 0;
    return pr_relations(relations, capacity, explanation, group, kinds[map], confirmed);
}

char *parsrec_relation_sentence(const parsrec_explanation *explanation, parsrec_map map,
                                const parsrec_relation *relation, char *buffer, size_t size)
{
    return pr_relation_words(explanation, kinds[map], relation, buffer, size);
}

char *parsrec_relation_evidence(const parsrec_explanation *explanation,
                                const parsrec_relation *relation, char *buffer, size_t size)
{
    return pr_evidence_words(explanation, relation, buffer, size);
}

static parsrec_status write_text(pr_writer *text, const pr_explanation *e, parsrec_text_kind kind,
                                 parsrec_error *err)
{
    if (kind == PARSREC_TEXT_PLAIN)
        pr_explanation_plain(text, e);
    else if (kind == PARSREC_TEXT_HTML)
        return pr_explanation_html(text, e, err);
    else if (kind == PARSREC_TEXT_JSON) {
        json_t *json = pr_explanation_json(e, false);
        char *line = json != NULL ? pr_json_text(json) : NULL;
        json_decref(json);
        if (line == NULL)
            return pr_fail_memory(err);
        pr_write(text, "%s\n", line);
        pr_free(line);
    } else
        return pr_fail(err, PARSREC_E_ARGUMENT, "an explanation is plain text, JSON or HTML");
    return PARSREC_OK;
}

parsrec_status parsrec_explanation_text(char **out, const parsrec_explanation *explanation,
                                        parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || explanation == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_explanation_text needs out and explanation");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = write_text(&text, explanation, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status parsrec_explanation_save(const parsrec_explanation *explanation, const char *folder,
                                        const parsrec_hooks *hooks, parsrec_error *err)
{
    if (explanation == NULL || folder == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_explanation_save needs explanation and folder");
    return pr_explanation_save(explanation, folder, hooks, err);
}
