/* Counting links row by row, so that memory holds one dense row and what is kept. */
#include "model/counting/transitions.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "math/topk.h"

/* ---- where items are ---- */

/* Where each item occurs: entries start[i] .. start[i + 1] - 1 of the arrays below are those of item i.
 * What an entry is depends on the kind of link:
 *
 *   PR_WITHIN, PR_ACROSS, PR_TOGETHER   a session that holds the item
 *   PR_AFTER                            an action, that is a place in a user's sequence of items
 *   PR_BY_USER                          a user who bought the item */
typedef struct occurrences {
    const pr_counted *from;
    uint64_t *start;   /* [V + 1] */
    uint32_t *holder;  /* [entries]: the session or user */
    bool *followed;    /* [sessions], PR_ACROSS: the user has another session after it */
    uint64_t *action;  /* [entries], PR_AFTER: the action, ... */
    uint32_t *before;  /* ... how many items of the user precede it ... */
    uint32_t *left;    /* ... and how many follow it */
    pr_user_sets sets; /* PR_BY_USER: what each user bought */
} occurrences;

static void free_occurrences(occurrences *p)
{
    pr_free(p->start);
    pr_free(p->holder);
    pr_free(p->followed);
    pr_free(p->action);
    pr_free(p->before);
    pr_free(p->left);
    pr_user_sets_free(&p->sets);
}

/* Turns counts by item into starts. */
static void begin_rows(uint64_t *start, size_t items)
{
    uint64_t at = 0;
    for (size_t i = 0; i <= items; i++) {
        uint64_t n = i < items ? start[i] : 0;
        start[i] = at;
        at += n;
    }
}

static void count_sessions(occurrences *p)
{
    const pr_dataset *data = p->from->data;
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u], end = pr_counted_end(p->from, u); s < end; s++) {
            p->followed[s] = s + 1 < end;
            for (int64_t a = data->session_offsets[s]; a < data->session_offsets[s + 1]; a++)
                p->start[data->action_items[a]]++;
        }
    begin_rows(p->start, data->items);
}

/* Moves each start to its end and back again. */
static void fill_sessions(occurrences *p)
{
    const pr_dataset *data = p->from->data;
    for (size_t u = 0; u < data->users; u++)
        for (int64_t s = data->user_offsets[u], end = pr_counted_end(p->from, u); s < end; s++)
            for (int64_t a = data->session_offsets[s]; a < data->session_offsets[s + 1]; a++)
                p->holder[p->start[data->action_items[a]]++] = (uint32_t)s;
    memmove(p->start + 1, p->start, data->items * sizeof *p->start);
    p->start[0] = 0;
}

static parsrec_status find_sessions(occurrences *p, const pr_counted *from, parsrec_error *err)
{
    const pr_dataset *data = from->data;
    *p = (occurrences){.from = from};
    p->start = pr_alloc_zero(data->items + 1, sizeof *p->start);
    p->holder = pr_alloc(data->actions, sizeof *p->holder);
    p->followed = pr_alloc_zero(data->sessions, sizeof *p->followed);
    if (p->start == NULL || p->holder == NULL || p->followed == NULL)
        return pr_fail_memory(err);
    count_sessions(p);
    fill_sessions(p);
    return PARSREC_OK;
}

/* ---- places in sequences, and users ---- */

static parsrec_status find_sequences(occurrences *p, const pr_counted *from, parsrec_error *err)
{
    const pr_dataset *data = from->data;
    *p = (occurrences){.from = from};
    p->start = pr_alloc_zero(data->items + 1, sizeof *p->start);
    p->action = pr_alloc(data->actions, sizeof *p->action);
    p->before = pr_alloc(data->actions, sizeof *p->before);
    p->left = pr_alloc(data->actions, sizeof *p->left);
    if (p->start == NULL || p->action == NULL || p->before == NULL || p->left == NULL)
        return pr_fail_memory(err);
    for (int fill = 0; fill < 2; fill++) {
        for (size_t u = 0; u < data->users; u++) {
            int64_t first = data->session_offsets[data->user_offsets[u]];
            int64_t end = data->session_offsets[pr_counted_end(from, u)];
            for (int64_t a = first; a < end; a++) {
                uint64_t *at = &p->start[data->action_items[a]];
                if (fill) {
                    p->action[*at] = (uint64_t)a;
                    p->before[*at] = (uint32_t)(a - first);
                    p->left[*at] = (uint32_t)(end - a - 1);
                }
                (*at)++;
            }
        }
        if (!fill)
            begin_rows(p->start, data->items);
    }
    memmove(p->start + 1, p->start, data->items * sizeof *p->start);
    p->start[0] = 0;
    return PARSREC_OK;
}

parsrec_status pr_user_sets_make(pr_user_sets *out, const pr_counted *from, size_t newest,
                                 parsrec_error *err)
{
    const pr_dataset *data = from->data;
    *out = (pr_user_sets){.users = data->users,
                          .start = pr_alloc(data->users + 1, sizeof *out->start),
                          .item = pr_alloc(data->actions, sizeof *out->item)};
    uint32_t *last = pr_alloc_zero(data->items, sizeof *last); /* the user, from 1, who had it */
    if (out->start == NULL || out->item == NULL || last == NULL) {
        pr_free(last);
        return pr_fail_memory(err);
    }
    uint64_t n = 0;
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = data->session_offsets[pr_counted_end(from, u)];
        int64_t first = data->session_offsets[data->user_offsets[u]];
        if (newest > 0 && end - first > (int64_t)newest)
            first = end - (int64_t)newest;
        out->start[u] = n;
        for (int64_t a = end; a-- > first;) {
            int32_t item = data->action_items[a];
            if (last[item] != (uint32_t)u + 1)
                out->item[n++] = item;
            last[item] = (uint32_t)u + 1;
        }
    }
    out->start[data->users] = n;
    pr_free(last);
    return PARSREC_OK;
}

void pr_user_sets_free(pr_user_sets *sets)
{
    pr_free(sets->start);
    pr_free(sets->item);
    *sets = (pr_user_sets){0};
}

static parsrec_status find_users(occurrences *p, const pr_counted *from, size_t newest,
                                 parsrec_error *err)
{
    size_t items = from->data->items;
    *p = (occurrences){.from = from};
    PR_TRY(pr_user_sets_make(&p->sets, from, newest, err));
    const pr_user_sets *sets = &p->sets;
    p->start = pr_alloc_zero(items + 1, sizeof *p->start);
    p->holder = pr_alloc((size_t)sets->start[sets->users], sizeof *p->holder);
    if (p->start == NULL || p->holder == NULL)
        return pr_fail_memory(err);
    for (uint64_t k = 0; k < sets->start[sets->users]; k++)
        p->start[sets->item[k]]++;
    begin_rows(p->start, items);
    for (size_t u = 0; u < sets->users; u++)
        for (uint64_t k = sets->start[u]; k < sets->start[u + 1]; k++)
            p->holder[p->start[sets->item[k]]++] = (uint32_t)u;
    memmove(p->start + 1, p->start, items * sizeof *p->start);
    p->start[0] = 0;
    return PARSREC_OK;
}

/* ---- one row ---- */

/* The links of one item while they are summed up. */
typedef struct link_row {
    double *sum;      /* [V], zero between rows */
    int32_t *touched; /* [V]: the items whose sum is not zero ... */
    size_t count;     /* ... and their number */
    pr_real *values;  /* [V], scratch of keep_best, as is */
    int32_t *best;    /* [V] */
} link_row;

static void free_row(link_row *d)
{
    pr_free(d->sum);
    pr_free(d->touched);
    pr_free(d->values);
    pr_free(d->best);
}

static parsrec_status make_row(link_row *d, size_t items, parsrec_error *err)
{
    *d = (link_row){.sum = pr_alloc_zero(items, sizeof *d->sum)};
    d->touched = pr_alloc(items, sizeof *d->touched);
    d->values = pr_alloc(items, sizeof *d->values);
    d->best = pr_alloc(items, sizeof *d->best);
    return d->sum != NULL && d->touched != NULL && d->values != NULL && d->best != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

static void add_link(link_row *d, int32_t item, double count)
{
    if (d->sum[item] == 0)
        d->touched[d->count++] = item;
    d->sum[item] += count;
}

/* Links an item to the others of a session, which may be the user's next one; item -1: to all of them.
 * If votes are shared, the session has one vote, divided among them; otherwise one vote for each.
 * Returns whether there was anything to vote for. */
static bool add_session(link_row *d, const pr_dataset *data, size_t session, int32_t item,
                        bool shared)
{
    const int32_t *first = data->action_items + data->session_offsets[session];
    const int32_t *end = data->action_items + data->session_offsets[session + 1];
    size_t n = (size_t)(end - first) - (item >= 0);
    for (const int32_t *b = first; b < end; b++) {
        if (*b != item)
            add_link(d, *b, shared ? 1 / (double)n : 1);
    }
    return n > 0;
}

/* Leaves the `width` strongest links in touched, by ascending item; of equal ones the smaller items. */
static void keep_best(link_row *d, size_t width)
{
    qsort(d->touched, d->count, sizeof *d->touched, pr_ascending_i32);
    if (d->count <= width)
        return;
    for (size_t i = 0; i < d->count; i++)
        d->values[i] = (pr_real)d->sum[d->touched[i]];
    pr_topk(d->best, d->values, d->count, width);
    qsort(d->best, width, sizeof *d->best, pr_ascending_i32);
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++)
        if (kept < width && d->best[kept] == (int32_t)i)
            d->touched[kept++] = d->touched[i]; /* kept <= i: nothing is overwritten too early */
        else
            d->sum[d->touched[i]] = 0;
    d->count = kept;
}

/* Appends the row to `out` and clears it. */
static parsrec_status emit(pr_links *out, link_row *d, size_t width, parsrec_error *err)
{
    keep_best(d, width);
    if (out->count + d->count >= UINT32_MAX)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "too many links between items; lower markov.width or links.width");
    PR_TRY(pr_grow(&out->item, &out->item_capacity, out->count + d->count, sizeof *out->item, err));
    PR_TRY(
        pr_grow(&out->times, &out->times_capacity, out->count + d->count, sizeof *out->times, err));
    for (size_t i = 0; i < d->count; i++) {
        out->item[out->count] = (uint32_t)d->touched[i];
        out->times[out->count++] = (float)d->sum[d->touched[i]];
        d->sum[d->touched[i]] = 0;
    }
    d->count = 0;
    return PARSREC_OK;
}

static void add_places(link_row *d, const occurrences *p, uint64_t k, size_t item,
                       const pr_link_rule *rule)
{
    const int32_t *here = p->from->data->action_items + p->action[k];
    size_t later = p->left[k] < rule->steps ? p->left[k] : rule->steps;
    size_t earlier = p->before[k] < rule->steps ? p->before[k] : rule->steps;
    for (size_t i = 1; i <= later; i++)
        if (here[i] != (int32_t)item)
            add_link(d, here[i], pow((double)i, -rule->fade));
    for (size_t i = 1; rule->both_sides && i <= earlier; i++)
        if (*(here - i) != (int32_t)item)
            add_link(d, *(here - i), pow((double)i, -rule->fade));
}

static void add_others(link_row *d, const pr_user_sets *sets, size_t user, size_t item)
{
    for (uint64_t k = sets->start[user]; k < sets->start[user + 1]; k++)
        if (sets->item[k] != (int32_t)item)
            add_link(d, sets->item[k], 1);
}

static void add_row(link_row *d, pr_links *out, const occurrences *p, size_t item,
                    const pr_link_rule *rule)
{
    const pr_dataset *data = p->from->data;
    size_t votes = 0;
    for (uint64_t k = p->start[item]; k < p->start[item + 1]; k++)
        switch (rule->kind) {
        case PR_WITHIN:
        case PR_TOGETHER:
            votes += add_session(d, data, p->holder[k], (int32_t)item, rule->kind == PR_WITHIN);
            break;
        case PR_ACROSS:
            if (p->followed[p->holder[k]])
                votes += add_session(d, data, p->holder[k] + 1, -1, true);
            break;
        case PR_AFTER:
            add_places(d, p, k, item, rule);
            votes++;
            break;
        case PR_BY_USER:
            add_others(d, &p->sets, p->holder[k], item);
            votes++;
            break;
        }
    out->total[item] = (float)votes;
}

/* Counts become strengths; links without any are dropped. */
static void weigh_row(link_row *d, const occurrences *p, size_t item, const pr_link_rule *rule)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++) {
        int32_t to = d->touched[i];
        double weight = rule->weigh(rule->context, (double)(p->start[item + 1] - p->start[item]),
                                    (double)(p->start[to + 1] - p->start[to]), d->sum[to]);
        d->sum[to] = weight > 0 ? weight : 0;
        if (weight > 0)
            d->touched[kept++] = to;
    }
    d->count = kept;
}

/* ---- all rows ---- */

static parsrec_status count_rows(pr_links *out, link_row *d, const occurrences *p,
                                 const pr_link_rule *rule, parsrec_error *err)
{
    enum { ROWS_A_ROUND = 256 };
    const char *stage = rule->kind == PR_ACROSS    ? "linking sessions"
                        : rule->kind == PR_AFTER   ? "linking items of a sequence"
                        : rule->kind == PR_BY_USER ? "linking items of a user"
                                                   : "linking items of a session";
    size_t items = p->from->data->items;
    for (size_t i = 0; i < items; i++) {
        if (i % ROWS_A_ROUND == 0)
            PR_TRY(pr_progress(p->from->hooks, stage, "items", i, items, err));
        add_row(d, out, p, i, rule);
        if (rule->weigh != NULL)
            weigh_row(d, p, i, rule);
        PR_TRY(emit(out, d, rule->width, err));
        out->start[i + 1] = (uint32_t)out->count;
    }
    return PARSREC_OK;
}

parsrec_status pr_links_count(pr_links *out, const pr_counted *from, pr_link_kind kind,
                              size_t width, parsrec_error *err)
{
    return pr_links_count_by(out, from, &(pr_link_rule){.kind = kind, .width = width}, err);
}

parsrec_status pr_links_count_by(pr_links *out, const pr_counted *from, const pr_link_rule *rule,
                                 parsrec_error *err)
{
    size_t items = from->data->items;
    occurrences p = {0};
    link_row d = {0};
    parsrec_status status = PARSREC_OK;
    *out = (pr_links){.start = pr_alloc_zero(items + 1, sizeof *out->start),
                      .total = pr_alloc_zero(items, sizeof *out->total)};
    if (out->start == NULL || out->total == NULL)
        status = pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = rule->kind == PR_AFTER     ? find_sequences(&p, from, err)
                 : rule->kind == PR_BY_USER ? find_users(&p, from, rule->newest, err)
                                            : find_sessions(&p, from, err);
    if (status == PARSREC_OK)
        status = make_row(&d, items, err);
    if (status == PARSREC_OK)
        status = count_rows(out, &d, &p, rule, err);
    free_occurrences(&p);
    free_row(&d);
    return status;
}

void pr_links_free(pr_links *links)
{
    pr_free(links->start);
    pr_free(links->total);
    pr_free(links->item);
    pr_free(links->times);
    *links = (pr_links){0};
}

/* ---- as parameters ---- */

typedef struct names {
    char start[32], total[32], item[32], count[32];
} names;

static names names_of(const char *name)
{
    names n;
    snprintf(n.start, sizeof n.start, "%s.start", name);
    snprintf(n.total, sizeof n.total, "%s.total", name);
    snprintf(n.item, sizeof n.item, "%s.item", name);
    snprintf(n.count, sizeof n.count, "%s.count", name);
    return n;
}

parsrec_status pr_transitions_layout(pr_model *model, const char *name, parsrec_error *err)
{
    names n = names_of(name);
    pr_params *p = &model->params;
    PR_TRY(pr_params_add_words(p, n.start, 1, model->items + 1, err));
    PR_TRY(pr_params_add_numbers(p, n.total, 1, model->items, err));
    PR_TRY(pr_params_add_words(p, n.item, PR_ROWS_OPEN, 1, err));
    return pr_params_add_numbers(p, n.count, PR_ROWS_OPEN, 1, err);
}

parsrec_status pr_transitions_size(pr_model *model, const char *name, const pr_links *links,
                                   parsrec_error *err)
{
    names n = names_of(name);
    PR_TRY(pr_params_set_rows(&model->params, n.item, links->count, err));
    return pr_params_set_rows(&model->params, n.count, links->count, err);
}

void pr_transitions_set(pr_model *model, const char *name, const pr_links *links)
{
    assert(pr_params_find(&model->params, names_of(name).item)->rows == links->count);
    names n = names_of(name);
    pr_real *total = pr_model_reals(model, n.total), *count = pr_model_reals(model, n.count);
    memcpy(pr_model_u32(model, n.start), links->start, (model->items + 1) * sizeof *links->start);
    if (links->count > 0)
        memcpy(pr_model_u32(model, n.item), links->item, links->count * sizeof *links->item);
    for (size_t i = 0; i < model->items; i++)
        total[i] = links->total[i];
    for (size_t i = 0; i < links->count; i++)
        count[i] = links->times[i];
}

parsrec_status pr_transitions_verify(const pr_model *model, const char *name, parsrec_error *err)
{
    names n = names_of(name);
    size_t rows = pr_params_find(&model->params, n.item)->rows;
    pr_transitions t = pr_transitions_of(model, name);
    bool good = pr_params_find(&model->params, n.count)->rows == rows && t.start[0] == 0 &&
                t.start[model->items] == rows;
    for (size_t i = 0; i < model->items && good; i++)
        good = t.start[i] <= t.start[i + 1];
    for (size_t e = 0; e < rows && good; e++)
        good = t.item[e] < model->items;
    return good ? PARSREC_OK
                : pr_fail(err, PARSREC_E_FORMAT, "the links '%s' do not fit the items", name);
}

pr_transitions pr_transitions_of(const pr_model *model, const char *name)
{
    names n = names_of(name);
    return (pr_transitions){pr_model_u32(model, n.start), pr_model_u32(model, n.item),
                            pr_model_reals(model, n.total), pr_model_reals(model, n.count)};
}
