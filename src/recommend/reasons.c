/* Rows of one session, some at a time: first the basket as it is, then what is left without each of
 * its newest items, without history, and as anyone. */
#include "recommend/reasons.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/chances.h"
#include "recommend/recommend.h"

enum { ROWS = 8 }; /* at once */

parsrec_status pr_reasons_init(pr_reasons *r, const pr_model *model, size_t capacity,
                               parsrec_error *err)
{
    *r = (pr_reasons){0};
    PR_TRY(pr_scorer_new(&r->session, model, ROWS, capacity, err));
    r->scores = pr_alloc_aligned(ROWS * model->items, sizeof *r->scores);
    r->spare = pr_alloc_aligned(model->items, sizeof *r->spare);
    r->order = pr_alloc(model->items, sizeof *r->order);
    r->basket = pr_alloc(capacity, sizeof *r->basket);
    r->attention = pr_alloc(capacity, sizeof *r->attention);
    r->placed = pr_alloc(capacity, sizeof *r->placed);
    if (r->scores != NULL && r->spare != NULL && r->order != NULL && r->basket != NULL &&
        r->attention != NULL && r->placed != NULL)
        return PARSREC_OK;
    pr_reasons_free(r);
    return pr_fail_memory(err);
}

void pr_reasons_free(pr_reasons *r)
{
    pr_scorer_free(r->session);
    pr_free_aligned(r->scores);
    pr_free_aligned(r->spare);
    pr_free(r->order);
    pr_free(r->basket);
    pr_free(r->attention);
    pr_free(r->placed);
    *r = (pr_reasons){0};
}

/* ---- what is left out ---- */

/* Numbers of omissions: nothing, an item of the basket, the history, the user. */
typedef struct plan {
    const pr_why_question *question;
    size_t first, items; /* the basket's items that are explained */
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

static pr_start start_of(const plan *p, size_t omission)
{
    pr_start start = p->question->start;
    if (omits_history(p, omission))
        return (pr_start){.user = start.user, .features = start.features};
    if (omission > p->items) {
        start.user = PR_ANYONE;
        start.features.user = (pr_feature_row){0};
    }
    return start;
}

/* ---- running rows ---- */

static void run(pr_reasons *r, const plan *p, size_t from, size_t rows)
{
    pr_start starts[ROWS];
    int32_t placed[ROWS];
    for (size_t i = 0; i < rows; i++)
        starts[i] = start_of(p, from + i);
    pr_scorer_start(r->session, starts, rows);
    for (size_t at = 0; at < p->question->size; at++) {
        for (size_t i = 0; i < rows; i++)
            placed[i] = omits_item(p, from + i, at) ? -1 : p->question->basket[at];
        pr_scorer_place(r->session, placed);
    }
    pr_scorer_score_all(r->session, r->scores);
}

/* ---- effects ---- */

static parsrec_effect *effect_of(const plan *p, parsrec_why *why, size_t omission)
{
    if (omission <= p->items)
        return &why->reasons[omission - 1].drop;
    return omits_history(p, omission) ? &why->history : &why->user;
}

static void note(const plan *p, size_t omission, parsrec_why *why, double chance, size_t rank)
{
    if (omission == 0) {
        why->log_probability = chance;
        why->rank = rank;
    } else {
        *effect_of(p, why, omission) =
            (parsrec_effect){.effect = why->log_probability - chance, .rank = rank};
    }
}

/* Reads off one row what an omission does to every item that is explained; the row is lost. */
static void take_row(const pr_reasons *r, const plan *p, size_t omission, pr_real *scores,
                     parsrec_why *whys, size_t count)
{
    const pr_model *model = r->session->model;
    for (size_t i = 0; i < p->question->size; i++)
        scores[p->question->basket[i]] = -(pr_real)INFINITY;
    pr_chances chances = pr_chances_of(model, scores);
    pr_topk_bar(scores, p->question->barred, PR_MASK_BARRED, model->items);
    for (size_t i = 0; i < count; i++) {
        size_t item = (size_t)whys[i].item;
        note(p, omission, &whys[i], pr_log_chance(&chances, scores[item]),
             pr_topk_rank(scores, model->items, item));
    }
}

/* What each effect is of all that speak for the item; rounding speaks for nobody. */
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

/* Most items are new to a user, which is soon seen; a basket that holds one twice counts once. */
static uint64_t count_earlier(const pr_history *h, int32_t item)
{
    uint64_t baskets = 0;
    size_t times = 0;
    for (size_t i = 0; i < h->count; i++)
        times += h->items[i] == item;
    if (times == 0 || h->sessions == NULL)
        return times;
    for (size_t s = 0; s < h->session_count; s++) {
        bool held = false;
        for (int64_t i = h->sessions[s]; i < h->sessions[s + 1]; i++)
            held |= h->items[i - h->sessions[0]] == item;
        baskets += held;
    }
    return baskets;
}

/* Of a basket that is too long, what is not explained counts as the network's. */
static void take_apart(pr_reasons *r, const plan *p, parsrec_why *why)
{
    pr_score_terms parts;
    if (!pr_scorer_terms(r->session, 0, why->item, &parts, r->placed))
        return;
    why->has_parts = true;
    why->parts = (parsrec_parts){(double)parts.network, (double)parts.history, (double)parts.memory,
                                 (double)parts.item};
    for (size_t i = 0; i < p->first; i++)
        why->parts.network += (double)r->placed[i];
    for (size_t i = 0; i < p->items; i++)
        why->reasons[i].part = (double)r->placed[p->first + i];
}

static void begin(pr_reasons *r, const plan *p, parsrec_why *why)
{
    const parsrec_effect none = {.effect = (double)NAN, .share = (double)NAN};
    *why = (parsrec_why){.item = why->item,
                         .history = none,
                         .user = none,
                         .earlier_baskets = count_earlier(&p->question->start.history, why->item),
                         .reason_count = p->items};
    bool looks = r->session->model->kind->attention != NULL;
    for (size_t i = 0; i < p->items; i++)
        why->reasons[i] =
            (parsrec_reason){.item = p->question->basket[p->first + i],
                             .attention = looks ? (double)r->attention[p->first + i] : (double)NAN,
                             .part = (double)NAN};
    take_apart(r, p, why);
}

static size_t rows_from(const plan *p, size_t from)
{
    return omissions(p) - from < ROWS ? omissions(p) - from : ROWS;
}

size_t pr_reasons_best(pr_reasons *r, const pr_why_question *question, size_t k)
{
    plan p = plan_of(question);
    size_t items = r->session->model->items;
    run(r, &p, 0, rows_from(&p, 0));
    r->begun = true;
    memcpy(r->spare, r->scores, items * sizeof *r->spare);
    pr_topk_bar(r->spare, question->barred, UINT8_MAX, items);
    return pr_topk(r->order, r->spare, items, k < items ? k : items);
}

void pr_reasons_find(pr_reasons *r, const pr_why_question *question, parsrec_why *whys,
                     size_t count)
{
    plan p = plan_of(question);
    size_t items = r->session->model->items;
    for (size_t from = 0; from < omissions(&p); from += ROWS) {
        size_t rows = rows_from(&p, from);
        if (!r->begun)
            run(r, &p, from, rows);
        r->begun = false;
        if (from == 0) {
            pr_scorer_attention(r->session, 0, r->attention);
            for (size_t i = 0; i < count; i++)
                begin(r, &p, &whys[i]);
        }
        for (size_t i = 0; i < rows; i++)
            take_row(r, &p, from + i, r->scores + i * items, whys, count);
    }
    for (size_t i = 0; i < count; i++)
        set_shares(&p, &whys[i]);
}
