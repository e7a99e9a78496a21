/* Batches of users are drawn side by side, a batch per task. What a batch drew stays in its records
 * until the round is over; then the baskets are handed on in order, and re-choice changes them.
 *
 * By selection a basket with something missing is not there. By re-choice a shopper who finds
 * something missing takes another item of its category, or, where the whole category is gone, what
 * the model expects next in a basket that held it: the wish for it is known, the item is not
 * available. (docs/whatif.md) */
#include "whatif/rollout.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/split.h"
#include "eval/walker.h"
#include "model/chances.h"
#include "whatif/cross_effects.h"

/* ---- probabilities ---- */

void pr_chances_lines(float *row, const pr_lines *lines, const pr_real *chances)
{
    for (size_t l = 0; l < lines->count; l++) {
        const pr_line *line = &lines->list[l];
        double sum = 0;
        for (size_t k = 0; k < line->count && line->kind != PR_LINE_NEW; k++)
            sum += chances[line->items[k]];
        row[l] = (float)sum;
    }
}

/* ---- drawing ---- */

enum {
    ROWS = 32,
    BATCHES_PER_ROUND = 8,
    BATCH_BASKETS = 128, /* of a batch, about: whole users */
    PURPOSE_SIZE = 0x771F01,
    PURPOSE_ITEM = 0x771F02,
};

/* What a batch drew. A basket has a place: users in order, and the draws of a user side by side. */
typedef struct batch {
    size_t *sizes;
    int32_t *items; /* [places, most] */
    float *rest;    /* [places, lines] */
    float *part;    /* [places, scenarios · parts] */
    float *taken;   /* [places, scenarios · adds · most] */
} batch;

typedef struct run {
    const pr_rollout *how;
    pr_rng size_rng, item_rng;
    size_t batch_users;           /* of a batch, at most */
    size_t most;                  /* items of a basket, at most */
    size_t part_width, add_width; /* numbers per place of `part` and `taken` */
    batch batches[BATCHES_PER_ROUND];
    size_t last;
    void (*sink)(void *context, const pr_drawn *basket);
    void *context;
    pr_region region;
} run;

/* The size of a past session of the user, each session as likely as the others. */
static size_t past_size(const run *r, size_t user, size_t draw)
{
    const pr_dataset *data = r->how->data;
    size_t first = (size_t)data->user_offsets[user];
    size_t end = (size_t)pr_split_session(data, user, PR_TEST, r->last);
    pr_stream s = pr_stream_at(&r->size_rng, (uint32_t)user, (uint32_t)draw, 0);
    size_t session = first + pr_stream_below(&s, (uint32_t)(end - first));
    size_t size = (size_t)(data->session_offsets[session + 1] - data->session_offsets[session]);
    return size < r->most ? size : r->most;
}

static size_t largest_past(const pr_rollout *how, size_t last)
{
    size_t most = 1;
    for (size_t i = 0; i < how->cohort->user_count; i++) {
        size_t user = (size_t)how->cohort->users[i];
        int64_t end = pr_split_session(how->data, user, PR_TEST, last);
        for (int64_t s = how->data->user_offsets[user]; s < end; s++) {
            size_t size =
                (size_t)(how->data->session_offsets[s + 1] - how->data->session_offsets[s]);
            most = size > most ? size : most;
        }
    }
    return most < PR_ROLLOUT_ITEMS ? most : PR_ROLLOUT_ITEMS;
}

/* Users of a batch. */
static size_t users_of(const run *r, size_t task)
{
    size_t left = r->how->cohort->user_count - task * r->batch_users;
    return left < r->batch_users ? left : r->batch_users;
}

/* One step more than items: at the last one the model says what would come next. */
static size_t list_batch(void *context, size_t task, unsigned thread, pr_walk_basket *out)
{
    const run *r = context;
    const batch *t = &r->batches[task % BATCHES_PER_ROUND];
    size_t place = 0;
    (void)thread;
    for (size_t i = 0; i < users_of(r, task); i++)
        for (size_t draw = 0; draw < r->how->draws; draw++, place++) {
            uint32_t user = (uint32_t)r->how->cohort->users[task * r->batch_users + i];
            t->sizes[place] = past_size(r, user, draw);
            out[place].user = user;
            out[place].session = (uint32_t)pr_split_session(r->how->data, user, PR_TEST, r->last);
            out[place].steps = (uint32_t)t->sizes[place] + 1;
        }
    return place;
}

/* New items compete within the category of the item they are like, or, without categories, with
 * everything: the probability that one of them is taken where `item` would have been. */
static void take_new(const run *r, batch *t, size_t place, size_t step, int32_t item,
                     const pr_real *chances)
{
    const pr_lines *lines = r->how->lines;
    size_t adds = r->how->scenarios->adds, bin = (size_t)lines->bin_of[item];
    for (size_t s = 0; s < r->how->scenarios->count && adds > 0; s++) {
        const pr_scenario *scenario = &r->how->scenarios->list[s];
        float *taken = t->taken + place * r->add_width + s * adds * r->most;
        double rivals = 0, total = 0;
        for (size_t k = 0; k < lines->list[bin].count && !lines->by_item; k++)
            if (!scenario->off[lines->list[bin].items[k]])
                rivals += chances[lines->list[bin].items[k]];
        for (size_t i = 0; i < lines->data->items && lines->by_item; i++)
            if (!scenario->off[i])
                rivals += chances[i];
        for (size_t a = 0; a < adds; a++) {
            int32_t like = lines->list[scenario->adds[a]].items[0];
            bool near = lines->by_item || (size_t)lines->bin_of[like] == bin;
            taken[a * r->most + step] = near ? (float)chances[like] : 0;
            total += near ? chances[like] : 0;
        }
        for (size_t a = 0; a < adds && rivals + total > 0; a++)
            taken[a * r->most + step] /= (float)(rivals + total);
    }
}

/* After the last item: what the model would add to the basket, by line and by part. */
static void look_further(const run *r, batch *t, size_t place, pr_real *scores)
{
    const pr_scenarios *scenarios = r->how->scenarios;
    pr_next_chances(scores, r->how->data->items, t->items + place * r->most, t->sizes[place]);
    pr_chances_lines(t->rest + place * r->how->lines->count, r->how->lines, scores);
    for (size_t n = 0; n < scenarios->count; n++) {
        const pr_scenario *s = &scenarios->list[n];
        float *part = t->part + place * r->part_width + n * scenarios->parts;
        memset(part, 0, s->parts * sizeof *part);
        for (size_t i = 0; i < s->part_item_count; i++)
            part[s->part_of[i]] += (float)scores[s->part_items[i]];
    }
}

static void draw_item(void *context, const pr_walk_step *at, int32_t *placed)
{
    run *r = context;
    batch *t = &r->batches[at->task % BATCHES_PER_ROUND];
    size_t V = r->how->data->items, place = at->basket->index, step = at->number;
    size_t lines = r->how->lines->count;
    int32_t *items = t->items + place * r->most;
    if (step == t->sizes[place])
        look_further(r, t, place, at->scores);
    if (step >= t->sizes[place])
        return;
    pr_next_chances(at->scores, V, items, step);
    pr_bits bits = pr_rng_at(&r->item_rng, at->basket->user, (uint32_t)(place % r->how->draws),
                             (uint32_t)step, 0);
    int32_t item = pr_chances_draw(at->scores, V, pr_unit53(bits.word[0], bits.word[1]));
    if (item < 0) { /* the catalogue is used up: nothing comes after it either */
        t->sizes[place] = step;
        memset(t->rest + place * lines, 0, lines * sizeof *t->rest);
        memset(t->part + place * r->part_width, 0, r->part_width * sizeof *t->part);
        return;
    }
    take_new(r, t, place, step, item, at->scores);
    *placed = items[step] = item;
}

/* The baskets of a round go to the sink in the order of tasks. None is empty unless the weights of a damaged
 * model, each of them finite, give scores that are not. */
static parsrec_status hand_on(void *context, size_t first, size_t count, parsrec_error *err)
{
    run *r = context;
    size_t draws = r->how->draws;
    for (size_t task = first; task < first + count; task++) {
        const batch *t = &r->batches[task % BATCHES_PER_ROUND];
        for (size_t place = 0; place < users_of(r, task) * draws; place++) {
            pr_drawn basket = {
                .user = (size_t)r->how->cohort->users[task * r->batch_users + place / draws],
                .size = t->sizes[place],
                .most = r->most,
                .items = t->items + place * r->most,
                .rest = t->rest + place * r->how->lines->count,
                .part = t->part + place * r->part_width,
                .taken = t->taken + place * r->add_width,
            };
            if (basket.size == 0)
                return pr_fail(err, PARSREC_E_FORMAT,
                               "the model gives no item a probability: with its weights the scores "
                               "are no numbers; train it again");
            r->sink(r->context, &basket);
        }
    }
    return PARSREC_OK;
}

static parsrec_status reserve(run *r, parsrec_error *err)
{
    size_t places = r->batch_users * r->how->draws;
    for (size_t i = 0; i < BATCHES_PER_ROUND; i++) {
        batch *t = &r->batches[i];
        t->sizes = pr_region_take(&r->region, places, sizeof *t->sizes);
        t->items = pr_region_take(&r->region, places, r->most * sizeof *t->items);
        t->rest = pr_region_take(&r->region, places, r->how->lines->count * sizeof *t->rest);
        t->part = pr_region_take(&r->region, places, r->part_width * sizeof *t->part);
        t->taken = pr_region_take(&r->region, places, r->add_width * sizeof *t->taken);
    }
    return pr_region_check(&r->region, err);
}

parsrec_status pr_rollout_run(const pr_rollout *how, pr_pool *pool,
                              void (*sink)(void *context, const pr_drawn *basket), void *context,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(how->draws > 0 && how->cohort->user_count > 0);
    run r = {.how = how, .sink = sink, .context = context};
    r.last = (size_t)how->model->config.last;
    r.size_rng = pr_rng_make(how->seed, PURPOSE_SIZE);
    r.item_rng = pr_rng_make(how->seed, PURPOSE_ITEM);
    r.batch_users = how->draws < BATCH_BASKETS ? BATCH_BASKETS / how->draws : 1;
    r.most = largest_past(how, r.last);
    r.part_width = how->scenarios->count * how->scenarios->parts;
    r.add_width = how->scenarios->count * how->scenarios->adds * r.most;
    pr_walk walk = {.model = how->model,
                    .data = how->data,
                    .tasks = (how->cohort->user_count + r.batch_users - 1) / r.batch_users,
                    .tasks_per_round = BATCHES_PER_ROUND,
                    .task_most = r.batch_users * how->draws,
                    .rows = ROWS,
                    .longest = r.most + 1,
                    .stage = "drawing baskets",
                    .basket_count = how->cohort->user_count * how->draws,
                    .context = &r,
                    .list = list_batch,
                    .step = draw_item,
                    .collect = hand_on};
    parsrec_status status = reserve(&r, err);
    if (status == PARSREC_OK)
        status = pr_walk_run(&walk, pool, hooks, err);
    pr_region_free(&r.region);
    return status;
}

/* ---- re-choice ---- */

/* The probability that the next item is of a bin and on the shelf. */
static double on_shelf(const pr_scenario *s, const pr_drawn *b, const float *part, size_t bin)
{
    double chance = s->state[bin] == PR_SHELF_NONE ? 0 : b->rest[bin];
    for (size_t p = 0; p < s->parts; p++)
        if (s->part[p] == bin)
            chance -= part[p];
    return chance > 0 ? chance : 0;
}

/* The same of a line that the caller named. If a part of it is off, the bins inside it count as far
 * as they are on the shelf; a line inside one bin then counts nothing. */
static double named_on_shelf(const pr_rechoice *a, const pr_scenario *s, const pr_drawn *b,
                             const float *part, size_t named)
{
    double chance = 0;
    if (s->state[named] == PR_SHELF_ALL)
        return b->rest[named];
    for (size_t bin = 0; bin < a->lines->bins && s->state[named] == PR_SHELF_PART; bin++)
        if (pr_lines_cover(a->lines, named, bin))
            chance += on_shelf(s, b, part, bin);
    return chance;
}

/* What fills empty slots, by line: probabilities of what is on the shelf after the basket. */
static void add_refill(const pr_rechoice *a, const pr_scenario *s, const pr_drawn *b,
                       const float *part, double slots)
{
    double total = 0;
    for (size_t l = 0; l < a->lines->bins; l++)
        total += on_shelf(s, b, part, l);
    for (size_t l = 0; l < a->lines->count && slots > 0 && total > 1e-12; l++)
        a->refill[l] +=
            slots / total *
            (l < a->lines->bins ? on_shelf(s, b, part, l) : named_on_shelf(a, s, b, part, l));
}

/* Another item of the same bin: the bin keeps the sale, named lines inside it share it by their
 * probabilities. */
static void add_swap(const pr_rechoice *a, const pr_scenario *s, const pr_drawn *b,
                     const float *part, int32_t item, double units)
{
    size_t bin = (size_t)a->lines->bin_of[item];
    double others = on_shelf(s, b, part, bin);
    a->after[bin] += units;
    for (size_t l = a->lines->bins; l < a->lines->count; l++) {
        const pr_line *line = &a->lines->list[l];
        if (line->kind != PR_LINE_NAMED)
            continue;
        if (pr_lines_cover(a->lines, l, bin))
            a->after[l] += units;
        else if (s->state[l] == PR_SHELF_ALL && others > 1e-12 &&
                 (size_t)a->lines->bin_of[line->items[0]] == bin)
            a->after[l] += units * b->rest[l] / others;
    }
}

/* New items take their share of a slot; returns what is left of it. */
static double add_new(const pr_rechoice *a, const pr_scenario *s, size_t number, const pr_drawn *b,
                      size_t slot)
{
    double left = 1;
    for (size_t i = 0; i < s->add_count; i++) {
        double taken = b->taken[(number * a->scenarios->adds + i) * b->most + slot];
        const pr_line *line = &a->lines->list[s->adds[i]];
        a->after[s->adds[i]] += taken;
        left -= taken;
        if (a->lines->by_item || taken <= 0)
            continue;
        size_t bin = (size_t)a->lines->bin_of[line->items[0]];
        a->after[bin] += taken;
        for (size_t l = a->lines->bins; l < a->lines->count; l++)
            if (a->lines->list[l].kind == PR_LINE_NAMED && pr_lines_cover(a->lines, l, bin))
                a->after[l] += taken;
    }
    return left;
}

/* What a basket becomes by re-choice: a->after and a->refill, times the user's weight at the end.
 * Sets what happened to its slots in `facts`, without the weight. */
static void add_rechoice(pr_rechoice *a, size_t number, const pr_drawn *b, pr_basket_facts *facts)
{
    const pr_scenario *s = &a->scenarios->list[number];
    const float *part = b->part + number * a->scenarios->parts;
    double empty = 0, kept = 1; /* slots; the share of the basket that is not given up */
    memset(a->after, 0, a->lines->count * sizeof *a->after);
    memset(a->refill, 0, a->lines->count * sizeof *a->refill);
    for (size_t i = 0; i < b->size; i++) {
        int32_t item = b->items[i];
        double units = s->add_count > 0 ? add_new(a, s, number, b, i) : 1;
        if (!s->off[item])
            pr_lines_sell(a->lines, a->after, item, units);
        else if (s->state[a->lines->bin_of[item]] == PR_SHELF_PART && !a->lines->by_item) {
            add_swap(a, s, b, part, item, units);
            facts->swapped += units;
        } else
            empty += units;
    }
    if (a->missing == PARSREC_MISSING_LEAVE && b->size > 0)
        kept = 1 - empty / (double)b->size;
    else
        add_refill(a, s, b, part, empty);
    for (size_t l = 0; l < a->lines->count; l++)
        a->after[l] = kept * a->after[l] + a->refill[l];
    facts->refilled += a->missing == PARSREC_MISSING_LEAVE ? 0 : empty;
    facts->lost += 1 - kept;
    double weight = a->cohort->weight[b->user];
    for (size_t l = 0; l < a->lines->count; l++) {
        a->after[l] *= weight;
        a->refill[l] *= weight;
    }
    pr_sales_add(&a->sales->after[PARSREC_RECHOICE][number], a->cohort, b->user, a->after, weight);
    pr_sales_add(&a->sales->refill[number], a->cohort, b->user, a->refill, weight);
}

/* ---- whole baskets ---- */

static void add_facts(pr_rechoice *a, size_t number, const pr_drawn *b, size_t missing,
                      const pr_basket_facts *facts)
{
    const pr_cohort *c = a->cohort;
    double weight = c->weight[b->user];
    for (size_t i = c->cell_offsets[b->user]; i < c->cell_offsets[b->user + 1]; i++) {
        size_t group = c->cell_group[c->cell_list[i]];
        pr_basket_facts *f = &a->facts[group * a->scenarios->count + number];
        f->baskets += weight;
        f->items += weight * (double)b->size;
        f->touched += missing > 0 ? weight : 0;
        f->touched_items += missing > 0 ? weight * (double)b->size : 0;
        f->swapped += weight * facts->swapped;
        f->refilled += weight * facts->refilled;
        f->lost += weight * facts->lost;
        f->gone += weight * (double)missing;
    }
}

static void add_scenario(pr_rechoice *a, size_t number, const pr_drawn *b)
{
    const pr_scenario *s = &a->scenarios->list[number];
    size_t missing = pr_scenario_missing(s, b->items, b->size);
    double weight = a->cohort->weight[b->user];
    pr_basket_facts facts = {0};
    if (missing == 0)
        pr_sales_add(&a->sales->after[PARSREC_SELECTION][number], a->cohort, b->user, a->row,
                     weight);
    if (missing == 0 && s->add_count == 0)
        pr_sales_add(&a->sales->after[PARSREC_RECHOICE][number], a->cohort, b->user, a->row,
                     weight);
    else
        add_rechoice(a, number, b, &facts);
    add_facts(a, number, b, missing, &facts);
}

void pr_rechoice_basket(void *context, const pr_drawn *b)
{
    pr_rechoice *a = context;
    assert(b->size > 0 && b->size <= PR_ROLLOUT_ITEMS);
    double weight = a->cohort->weight[b->user];
    memset(a->row, 0, a->lines->count * sizeof *a->row);
    for (size_t i = 0; i < b->size; i++)
        pr_lines_sell(a->lines, a->row, b->items[i], weight);
    pr_sales_add(&a->sales->before, a->cohort, b->user, a->row, weight);
    for (size_t s = 0; s < a->scenarios->count; s++)
        add_scenario(a, s, b);
    pr_cross_sums_drawn(a->cross, a->cohort, a->lines, b);
}
