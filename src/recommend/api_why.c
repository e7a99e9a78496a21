/* Why an item is recommended, for the public. */
#include <math.h>

#include "recommend/answering.h"
#include "recommend/reason_text.h"

/* ---- numbers ---- */

/* The basket's items, each once, as they are placed; marks them. */
static size_t place_once(parsrec_scratch *own, const parsrec_numbers *basket)
{
    uint8_t *barred = own->recommender.barred;
    size_t count = 0;
    for (size_t i = 0; i < basket->count; i++) {
        int32_t item = basket->list[i];
        if ((barred[item] & PR_MASK_PLACED) != 0)
            continue;
        barred[item] |= PR_MASK_PLACED;
        own->reasons.basket[count++] = item;
    }
    return count;
}

static parsrec_status take_hits(const parsrec_scratch *own, const parsrec_hit *hits, size_t count,
                                parsrec_why *whys, parsrec_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int32_t item = hits[i].item;
        if (item < 0 || (size_t)item >= own->model->file.data->items)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "hits[%zu] is item %d, the model's numbers are below %zu", i, (int)item,
                           own->model->file.data->items);
        if (own->recommender.barred[item] != 0)
            return pr_fail(
                err, PARSREC_E_ARGUMENT,
                "hits[%zu], item %d, is in the basket or not allowed by the request; ask "
                "about the hits of its answer",
                i, (int)item);
        whys[i].item = item;
    }
    return PARSREC_OK;
}

/* Nothing speaks for what is popular but that. */
static void explain_popular(const parsrec_scratch *own, parsrec_why *whys, size_t count)
{
    const parsrec_effect none = {.effect = (double)NAN, .share = (double)NAN};
    const pr_real *popularity = own->model->popularity;
    const uint8_t *barred = own->recommender.barred;
    size_t items = own->model->file.data->items;
    double sum = 0;
    for (size_t i = 0; i < items; i++)
        sum += (double)popularity[i];
    for (size_t h = 0; h < count; h++) {
        size_t item = (size_t)whys[h].item, before = 0;
        for (size_t i = 0; i < items; i++)
            before += barred[i] == 0 && (popularity[i] > popularity[item] ||
                                         (popularity[i] == popularity[item] && i < item));
        whys[h] = (parsrec_why){.item = whys[h].item,
                                .log_probability = log((double)popularity[item] / sum),
                                .rank = before + 1,
                                .history = none,
                                .user = none};
    }
}

/* Everything up to the hits. */
static parsrec_status begin_question(parsrec_scratch *own, const parsrec_request *request,
                                     pr_why_question *question, parsrec_source *source,
                                     parsrec_error *err)
{
    *question = (pr_why_question){.barred = own->recommender.barred};
    PR_TRY(pr_request_prepare(own, request, err));
    if (own->reasons.session == NULL)
        PR_TRY(pr_reasons_init(&own->reasons, own->model->file.model,
                               own->recommender.session->capacity, err));
    PR_TRY(pr_request_start(own, request, &question->start, source, err));
    question->basket = own->reasons.basket;
    question->size = place_once(own, &request->basket);
    return PARSREC_OK;
}

parsrec_status pr_answer_why(parsrec_scratch *own, const parsrec_request *request,
                             const parsrec_hit *hits, size_t count, parsrec_why *whys,
                             parsrec_error *err)
{
    pr_why_question question;
    parsrec_source source;
    PR_TRY(begin_question(own, request, &question, &source, err));
    PR_TRY(take_hits(own, hits, count, whys, err));
    if (pr_counts_answer(own->model, source))
        explain_popular(own, whys, count);
    else if (count > 0)
        pr_reasons_find(&own->reasons, &question, whys, count);
    return PARSREC_OK;
}

/* Where scores do not depend on the rows beside them, the rows of the explanation have those of the answer. */
static bool in_one_go(const parsrec_model *model, const parsrec_request *r)
{
    const pr_model *m = model->file.model;
    return m->ready != NULL && m->inputs.count == 0 && r->max_per_category == 0;
}

parsrec_status pr_answer_explained(parsrec_scratch *own, const parsrec_request *request,
                                   parsrec_hit *hits, size_t capacity, parsrec_why *whys,
                                   parsrec_answer *answer, parsrec_error *err)
{
    pr_why_question question;
    if (in_one_go(own->model, request)) {
        PR_TRY(begin_question(own, request, &question, &answer->source, err));
        if (!pr_counts_answer(own->model, answer->source)) {
            size_t wanted = request->k < capacity ? request->k : capacity;
            answer->count = pr_reasons_best(&own->reasons, &question, wanted);
            for (size_t i = 0; i < answer->count; i++) {
                int32_t item = own->reasons.order[i];
                hits[i] = (parsrec_hit){item, (float)own->reasons.scores[item]};
                whys[i].item = item;
            }
            pr_reasons_find(&own->reasons, &question, whys, answer->count);
            return PARSREC_OK;
        }
    }
    PR_TRY(pr_answer_request(own, request, hits, capacity, answer, err));
    return pr_answer_why(own, request, hits, answer->count, whys, err);
}

parsrec_status parsrec_recommend_why(const parsrec_model *model, parsrec_scratch *own,
                                     const parsrec_request *request, const parsrec_hit *hits,
                                     size_t count, parsrec_why *whys, parsrec_error *err)
{
    if (model == NULL || own == NULL || request == NULL || own->model != model ||
        (count > 0 && (hits == NULL || whys == NULL)))
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "parsrec_recommend_why needs a model, a scratch made for it, a request, hits "
            "and room for their reasons");
    own->live = NULL;
    return pr_answer_why(own, request, hits, count, whys, err);
}

char *parsrec_why_sentence(const parsrec_model *model, const parsrec_why *why, char *buffer,
                           size_t size)
{
    return pr_reason_sentence(model->file.data, why, buffer, size);
}
