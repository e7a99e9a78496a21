/* Walker's alias method: a draw by popularity is one cell, and its item or the alias. */
#include "model/proposal.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "data/split.h"

static size_t count_purchases(double *counts, const pr_dataset *data, size_t last)
{
    size_t all = 0;
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = data->session_offsets[pr_split_train_end(data, u, last)];
        for (int64_t a = data->session_offsets[data->user_offsets[u]]; a < end; a++, all++)
            counts[data->action_items[a]]++;
    }
    return all;
}

/* Counts become their powers; returns the sum. */
static double raise_counts(double *counts, size_t n, double power)
{
    double sum = 0;
    for (size_t v = 0; v < n; v++)
        sum += counts[v] = counts[v] > 0 ? pow(counts[v], power) : 0;
    return sum;
}

/* Cells with less than their share are filled up by those with more (Vose). rest[n] has each item's
 * count times n over all counts; cells[n] is scratch: the poor from the front, the rich from the back. */
static void make_aliases(pr_proposal *p, double *rest, uint32_t *cells)
{
    size_t n = p->items, poor = 0, rich = n;
    for (size_t v = n; v-- > 0;)
        cells[rest[v] < 1 ? poor++ : --rich] = (uint32_t)v;
    while (poor > 0 && rich < n) {
        uint32_t from = cells[rich], to = cells[--poor];
        p->keep[to] = (float)rest[to];
        p->alias[to] = from;
        rest[from] -= 1 - rest[to];
        if (rest[from] < 1) { /* it is poor now */
            rich++;
            cells[poor++] = from;
        }
    }
    while (poor > 0)
        p->keep[cells[--poor]] = 1;
    while (rich < n)
        p->keep[cells[rich++]] = 1;
}

parsrec_status pr_proposal_make(pr_proposal *out, const pr_dataset *data, size_t last, double power,
                                parsrec_error *err)
{
    size_t n = data->items;
    *out = (pr_proposal){.items = n,
                         .keep = pr_alloc(n, sizeof *out->keep),
                         .alias = pr_alloc_zero(n, sizeof *out->alias),
                         .purchases = pr_alloc(n, sizeof *out->purchases)};
    double *rest = pr_alloc_zero(n, sizeof *rest);
    uint32_t *cells = pr_alloc(n, sizeof *cells);
    bool taken = out->keep != NULL && out->alias != NULL && out->purchases != NULL &&
                 rest != NULL && cells != NULL;
    if (taken) {
        double all = (double)count_purchases(rest, data, last);
        if (power != 1)
            all = raise_counts(rest, n, power);
        for (size_t v = 0; v < n; v++) {
            double share = all > 0 ? rest[v] / all : 1 / (double)n;
            out->purchases[v] = (float)share;
            rest[v] = share * (double)n;
        }
        make_aliases(out, rest, cells);
    } else {
        pr_proposal_free(out);
    }
    pr_free(rest);
    pr_free(cells);
    return taken ? PARSREC_OK : pr_fail_memory(err);
}

void pr_proposal_free(pr_proposal *p)
{
    pr_free(p->keep);
    pr_free(p->alias);
    pr_free(p->purchases);
    *p = (pr_proposal){0};
}

/* The item of a cell, or its alias. */
static int32_t settle(const pr_proposal *p, uint32_t cell, uint32_t bits)
{
    return (int32_t)((float)(bits >> 8) * 0x1p-24f < p->keep[cell] ? cell : p->alias[cell]);
}

int32_t pr_proposal_draw(const pr_proposal *p, pr_stream *stream, size_t items)
{
    assert(items > 0);
    assert(p == NULL || p->items == items);
    uint32_t cell = pr_stream_below(stream, (uint32_t)items);
    uint32_t bits = pr_stream_u32(stream);
    if (p == NULL || bits & 1) /* the lowest bit decides between the halves, the others the cell */
        return (int32_t)cell;
    return settle(p, cell, bits);
}

int32_t pr_proposal_draw_bought(const pr_proposal *p, pr_stream *stream)
{
    uint32_t cell = pr_stream_below(stream, (uint32_t)p->items);
    return settle(p, cell, pr_stream_u32(stream));
}

double pr_proposal_chance(const pr_proposal *p, int32_t item, size_t items)
{
    assert(item >= 0 && (size_t)item < items);
    double even = 1 / (double)items;
    return p == NULL ? even : (even + (double)p->purchases[item]) / 2;
}
