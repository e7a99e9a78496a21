/* Why an item is recommended, for the public. */
#include <math.h>

#include "api/loaded.h"
#include "explain/reason_text.h"

/* ---- numbers ---- */

/* The basket's items, each once, as they are placed; marks them. */
static size_t place_once(parsrec_scratch *own, const parsrec_numbers *basket)
{
    uint8_t *barred = own->recommender.barred;
    size_t count = 0;
    for (size_t i = 0; i < basket->count; i++) {
        int32_t item = basket->list[i];
        if ((barred[item] & PR_PLACED) != 0)
            continue;
        barred[item] |= PR_PLACED;
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

parsrec_status pr_answer_why(parsrec_scratch *own, const parsrec_request *request,
                             const parsrec_hit *hits, size_t count, parsrec_why *whys,
                             parsrec_error *err)
{
    pr_question question = {.barred = own->recommender.barred};
    parsrec_source source;
    PR_TRY(pr_request_prepare(own, request, err));
    if (own->reasons.session == NULL)
        PR_TRY(pr_reasons_init(&own->reasons, own->model->file.model,
                               own->recommender.session->capacity, err));
    PR_TRY(pr_request_start(own, request, &question.start, &source, err));
    question.basket = own->reasons.basket;
    question.size = place_once(own, &request->basket);
    PR_TRY(take_hits(own, hits, count, whys, err));
    if (pr_counts_answer(own->model, source))
        explain_popular(own, whys, count);
    else if (count > 0)
        pr_reasons_find(&own->reasons, &question, whys, count);
    return PARSREC_OK;
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

/* ---- JSON ---- */

static json_t *number_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

/* null where there was nothing to leave out. */
static json_t *effect_json(const parsrec_effect *e)
{
    if (isnan(e->effect))
        return json_null();
    return json_pack("{s:o, s:o, s:I}", "effect", number_json(e->effect), "share",
                     number_json(e->share), "rank", (json_int_t)e->rank);
}

static json_t *reason_json(const parsrec_model *model, const parsrec_reason *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o*}", "item",
                     pr_name_json(parsrec_model_key(model, PARSREC_ITEM, r->item)), "name",
                     pr_name_json(parsrec_model_item_name(model, r->item)), "attention",
                     number_json(r->attention), "effect", number_json(r->drop.effect), "share",
                     number_json(r->drop.share), "rank", (json_int_t)r->drop.rank, "part",
                     isnan(r->part) ? NULL : json_real(r->part));
}

/* NULL where a score is no sum. */
static json_t *parts_json(const parsrec_why *why)
{
    const parsrec_parts *p = &why->parts;
    if (!why->has_parts)
        return NULL;
    return json_pack("{s:o, s:o, s:o, s:o}", "network", number_json(p->network), "history",
                     number_json(p->history), "memory", number_json(p->memory), "item",
                     number_json(p->item));
}

json_t *pr_why_json(const parsrec_model *model, const parsrec_why *why)
{
    char sentence[512];
    json_t *basket = json_array();
    int bad = 0;
    for (size_t i = 0; i < why->reason_count; i++)
        bad |= json_array_append_new(basket, reason_json(model, &why->reasons[i]));
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:I, s:o, s:I, s:o*}", "sentence",
        parsrec_why_sentence(model, why, sentence, sizeof sentence), "basket", basket, "history",
        effect_json(&why->history), "user", effect_json(&why->user), "earlier_baskets",
        (json_int_t)why->earlier_baskets, "log_probability", number_json(why->log_probability),
        "rank", (json_int_t)why->rank, "parts", parts_json(why));
    if (bad != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}
