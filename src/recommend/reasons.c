/* One open basket in several rows of a scorer: the first row is the basket as it is, each of the
 * others leaves out one thing: one of the newest items, the history, or the user. What a row lacks
 * changes the probability and the rank of every explained item; the difference to the first row is
 * the effect.
 *
 * First the explanation of a question, for any model; then, under "requests", the public calls,
 * which make a question of a request. */
#include "recommend/reasons.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/chances.h"
#include "model/purchase_times.h"
#include "recommend/recommend.h"

enum {
    ROWS = 8,      /* of the scorer */
    TOGETHER = 16, /* items whose ranks are found in one pass */
};

/* Where there was nothing to leave out. */
static const parsrec_effect no_effect = {.effect = (double)NAN, .share = (double)NAN};

parsrec_status pr_reasons_init(pr_reasons *r, const pr_model *model, size_t capacity,
                               parsrec_error *err)
{
    *r = (pr_reasons){0};
    PR_TRY(pr_scorer_new(&r->scorer, model, ROWS, capacity, err));
    r->scores = pr_alloc_aligned(ROWS * model->items, sizeof *r->scores);
    r->allowed = pr_alloc_aligned(model->items, sizeof *r->allowed);
    r->best = pr_alloc(model->items, sizeof *r->best);
    r->basket = pr_alloc(capacity, sizeof *r->basket);
    r->attention = pr_alloc(capacity, sizeof *r->attention);
    r->placed = pr_alloc(capacity, sizeof *r->placed);
    if (r->scores != NULL && r->allowed != NULL && r->best != NULL && r->basket != NULL &&
        r->attention != NULL && r->placed != NULL)
        return PARSREC_OK;
    pr_reasons_free(r);
    return pr_fail_memory(err);
}

void pr_reasons_free(pr_reasons *r)
{
    pr_scorer_free(r->scorer);
    pr_free_aligned(r->scores);
    pr_free_aligned(r->allowed);
    pr_free(r->best);
    pr_free(r->basket);
    pr_free(r->attention);
    pr_free(r->placed);
    *r = (pr_reasons){0};
}

/* ---- what is left out ---- */

/* Omissions are numbered, and each is a row: 0 omits nothing, 1 to `items` the items of the basket
 * from position `first` on, then come the history and the user, each only if there is one. */
typedef struct plan {
    const pr_why_question *question;
    size_t first, items; /* of a long basket only the newest items are explained */
    bool has_history, has_user;
} plan;

static plan plan_of(const pr_why_question *q)
{
    size_t items = q->size < PARSREC_REASONS_MOST ? q->size : PARSREC_REASONS_MOST;
    return (plan){.question = q,
                  .first = q->size - items,
                  .items = items,
                  .has_history = q->start.history.count > 0 || q->start.vector != NULL,
                  .has_user = q->start.user != PR_ANYONE};
}

/* How many there are, with the one that omits nothing. */
static size_t omissions(const plan *p)
{
    return 1 + p->items + p->has_history + p->has_user;
}

static bool omits_item(const plan *p, size_t omission, size_t place)
{
    return omission >= 1 && omission <= p->items && place == p->first + omission - 1;
}

static bool omits_history(const plan *p, size_t omission)
{
    return p->has_history && omission == 1 + p->items;
}

/* How the row of an omission starts. */
static pr_start start_of(const plan *p, size_t omission)
{
    pr_start start = p->question->start;
    if (omission <= p->items)
        return start;
    start.alike = 0; /* the name was that of the whole start */
    if (omits_history(p, omission)) {
        start.history = (pr_history){.now = start.history.now};
        start.vector = NULL;
    } else {
        start.user = PR_ANYONE;
        start.features.user = (pr_feature_row){0};
    }
    return start;
}

/* ---- running rows ---- */

/* Scores the rows of the omissions from..from+rows-1, at most ROWS. */
static void score_rows(pr_reasons *r, const plan *p, size_t from, size_t rows)
{
    pr_start starts[ROWS];
    int32_t placed[ROWS];
    for (size_t i = 0; i < rows; i++)
        starts[i] = start_of(p, from + i);
    pr_scorer_start(r->scorer, starts, rows);
    for (size_t at = 0; at < p->question->size; at++) {
        for (size_t i = 0; i < rows; i++)
            placed[i] = omits_item(p, from + i, at) ? -1 : p->question->basket[at];
        pr_scorer_place(r->scorer, placed);
    }
    pr_scorer_score_all(r->scorer, r->scores);
}

/* ---- effects ---- */

static parsrec_effect *effect_of(const plan *p, parsrec_why *why, size_t omission)
{
    if (omission <= p->items)
        return &why->reasons[omission - 1].drop;
    return omits_history(p, omission) ? &why->history : &why->user;
}

/* Computes from the row of an omission what it does to every item that is explained. Overwrites the
 * row. */
static void take_row(const pr_reasons *r, const plan *p, size_t omission, pr_real *scores,
                     parsrec_why *whys, size_t count)
{
    const pr_model *model = r->scorer->model;
    for (size_t i = 0; i < p->question->size; i++)
        scores[p->question->basket[i]] = -(pr_real)INFINITY;
    pr_chances chances = pr_chances_of(model, scores);
    pr_topk_bar(scores, p->question->barred, PR_MASK_BARRED, model->items);
    int32_t items[TOGETHER];
    size_t ranks[TOGETHER];
    for (size_t i = 0; i < count; i++) {
        if (i % TOGETHER == 0) {
            size_t n = count - i < TOGETHER ? count - i : TOGETHER;
            for (size_t j = 0; j < n; j++)
                items[j] = whys[i + j].item;
            pr_topk_ranks(ranks, scores, model->items, items, n);
        }
        size_t rank = ranks[i % TOGETHER];
        double chance = pr_log_chance(&chances, scores[whys[i].item]);
        if (omission == 0) {
            whys[i].log_probability = chance;
            whys[i].rank = rank;
        } else {
            *effect_of(p, &whys[i], omission) =
                (parsrec_effect){.effect = whys[i].log_probability - chance, .rank = rank};
        }
    }
}

/* Each effect as a share of all positive effects; differences within rounding count as 0. */
static void set_shares(const plan *p, parsrec_why *why)
{
    const double rounding = 1e-5;
    double sum = 0;
    for (size_t o = 1; o < omissions(p); o++)
        if (effect_of(p, why, o)->effect > rounding)
            sum += effect_of(p, why, o)->effect;
    for (size_t o = 1; o < omissions(p); o++) {
        parsrec_effect *e = effect_of(p, why, o);
        e->share = e->effect > rounding ? e->effect / sum : 0;
    }
}

/* ---- what needs no omission ---- */

/* Sessions hold no item twice, so occurrences are baskets. They are counted without looking at
 * sessions, because a history of the request may have none. */
static uint64_t count_earlier(const pr_history *h, int32_t item)
{
    uint64_t baskets = 0;
    for (size_t i = 0; i < h->count; i++)
        baskets += h->items[i] == item;
    return baskets;
}

/* Sets last_days and usual_days as a model that looks at dates computes them. */
static void set_days(const pr_model *model, const pr_history *h, parsrec_why *why)
{
    if (pr_params_find(&model->params, "times.interval") == NULL || h->times == NULL ||
        h->now == PR_NO_TIME)
        return;
    size_t times = 0, first = 0, last = 0;
    for (size_t s = 0; s < h->session_count; s++)
        for (int64_t i = h->sessions[s]; i < h->sessions[s + 1]; i++)
            if (h->items[i - h->sessions[0]] == why->item) {
                first = times++ == 0 ? s : first;
                last = s;
            }
    if (times == 0)
        return;
    pr_real everybody = pr_model_reals(model, "times.interval")[why->item];
    why->last_days = (double)pr_days_since(h, last, h->now);
    why->usual_days =
        (double)pr_usual_days(pr_days_since(h, first, h->times[last]), (pr_real)times, everybody);
}

/* Sets what needs no omission, and all effects to none. The scorer must have the first rows. */
static void begin_why(pr_reasons *r, const plan *p, parsrec_why *why)
{
    *why = (parsrec_why){.item = why->item,
                         .history = no_effect,
                         .user = no_effect,
                         .earlier_baskets = count_earlier(&p->question->start.history, why->item),
                         .reason_count = p->items};
    set_days(r->scorer->model, &p->question->start.history, why);
    bool attends = r->scorer->model->kind->attention != NULL;
    for (size_t i = 0; i < p->items; i++)
        why->reasons[i] = (parsrec_reason){.item = p->question->basket[p->first + i],
                                           .attention = attends ? (double)r->attention[p->first + i]
                                                                : (double)NAN,
                                           .part = (double)NAN};
    pr_score_terms parts;
    if (!pr_scorer_terms(r->scorer, 0, why->item, &parts, r->placed))
        return;
    why->has_parts = true;
    why->parts = (parsrec_parts){(double)parts.network, (double)parts.history, (double)parts.memory,
                                 (double)parts.item};
    for (size_t i = 0; i < p->first; i++) /* items of a long basket that are not explained */
        why->parts.network += (double)r->placed[i];
    for (size_t i = 0; i < p->items; i++)
        why->reasons[i].part = (double)r->placed[p->first + i];
}

/* ---- questions ---- */

/* How many omissions are scored at once, from this one on. */
static size_t rows_from(const plan *p, size_t from)
{
    return omissions(p) - from < ROWS ? omissions(p) - from : ROWS;
}

size_t pr_reasons_best(pr_reasons *r, pr_why_question *question, size_t k)
{
    plan p = plan_of(question);
    size_t items = r->scorer->model->items;
    assert(question->size <= r->scorer->capacity);
    score_rows(r, &p, 0, rows_from(&p, 0));
    question->started = true;
    memcpy(r->allowed, r->scores, items * sizeof *r->allowed);
    pr_topk_bar(r->allowed, question->barred, UINT8_MAX, items);
    return pr_topk(r->best, r->allowed, items, k < items ? k : items);
}

void pr_reasons_find(pr_reasons *r, const pr_why_question *question, parsrec_why *whys,
                     size_t count)
{
    plan p = plan_of(question);
    size_t items = r->scorer->model->items;
    assert(question->size <= r->scorer->capacity);
    for (size_t i = 0; i < count; i++)
        assert(question->barred[whys[i].item] == 0);
    for (size_t from = 0; from < omissions(&p); from += ROWS) {
        size_t rows = rows_from(&p, from);
        if (from > 0 || !question->started)
            score_rows(r, &p, from, rows);
        if (from == 0) {
            pr_scorer_attention(r->scorer, 0, r->attention);
            for (size_t i = 0; i < count; i++)
                begin_why(r, &p, &whys[i]);
        }
        for (size_t i = 0; i < rows; i++)
            take_row(r, &p, from + i, r->scores + i * items, whys, count);
    }
    for (size_t i = 0; i < count; i++)
        set_shares(&p, &whys[i]);
}

/* ---- requests ---- */

/* Checks that the request allows the hits, and sets the items of whys[count] to theirs. */
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

/* Best sellers have no reasons: nothing is known of the user, and the basket is empty. */
static void explain_popular(const parsrec_scratch *own, parsrec_why *whys, size_t count)
{
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
                                .history = no_effect,
                                .user = no_effect};
    }
}

/* Makes a question of a request, and marks what may not be recommended. The basket has each item
 * once, in the order of placing. */
static parsrec_status make_question(parsrec_scratch *own, const parsrec_request *request,
                                    pr_why_question *question, parsrec_answer *answer,
                                    parsrec_error *err)
{
    *question = (pr_why_question){.barred = own->recommender.barred};
    PR_TRY(pr_request_prepare(own, request, err));
    if (own->reasons.scorer == NULL)
        PR_TRY(pr_reasons_init(&own->reasons, own->model->file.model,
                               own->recommender.scorer->capacity, err));
    PR_TRY(pr_request_start(own, request, &question->start, answer, err));
    assert(request->basket.count <= own->reasons.scorer->capacity);
    question->basket = own->reasons.basket;
    for (size_t i = 0; i < request->basket.count; i++)
        if (pr_mark_placed(own->recommender.barred, request->basket.list[i]))
            own->reasons.basket[question->size++] = request->basket.list[i];
    return PARSREC_OK;
}

parsrec_status parsrec_recommend_why(const parsrec_model *model, parsrec_scratch *own,
                                     const parsrec_request *request, const parsrec_hit *hits,
                                     size_t count, parsrec_why *whys, parsrec_error *err)
{
    pr_why_question question;
    parsrec_answer answer;
    if (model == NULL || own == NULL || request == NULL || own->model != model ||
        (count > 0 && (hits == NULL || whys == NULL)))
        return pr_fail(
            err, PARSREC_E_ARGUMENT,
            "parsrec_recommend_why needs a model, a scratch made for it, a request, hits "
            "and room for their reasons");
    PR_TRY(make_question(own, request, &question, &answer, err));
    PR_TRY(take_hits(own, hits, count, whys, err));
    if (pr_counts_answer(model, answer.source))
        explain_popular(own, whys, count);
    else if (count > 0)
        pr_reasons_find(&own->reasons, &question, whys, count);
    return PARSREC_OK;
}

parsrec_status pr_recommend_explained(parsrec_scratch *own, const parsrec_request *request,
                                      parsrec_hit *hits, size_t capacity, parsrec_why *whys,
                                      parsrec_answer *answer, parsrec_error *err)
{
    pr_why_question question;
    const pr_model *m = own->model->file.model;
    /* The first row of an explanation is the basket as it is. It has the scores of the answer if
     * they do not depend on the rows beside it: with prepared tables, and without features of users
     * and sessions. A limit per category may need more than the best k. */
    if (m->ready != NULL && m->inputs.count == 0 && request->max_per_category == 0) {
        PR_TRY(make_question(own, request, &question, answer, err));
        if (!pr_counts_answer(own->model, answer->source)) {
            size_t wanted = request->k < capacity ? request->k : capacity;
            answer->count = pr_reasons_best(&own->reasons, &question, wanted);
            for (size_t i = 0; i < answer->count; i++) {
                int32_t item = own->reasons.best[i];
                hits[i] = (parsrec_hit){item, (float)own->reasons.scores[item]};
                whys[i].item = item;
            }
            pr_reasons_find(&own->reasons, &question, whys, answer->count);
            return PARSREC_OK;
        }
    }
    PR_TRY(parsrec_recommend(own->model, own, request, hits, capacity, answer, err));
    return parsrec_recommend_why(own->model, own, request, hits, answer->count, whys, err);
}
