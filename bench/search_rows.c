/* The search by blocks (math/search.h) alone, on a table of any size that is made from a learnt one.
 *   search_rows MODEL ROWS QUESTIONS [SPREAD]
 * MODEL is a PARSRec with few items. A made row is one of its rows plus SPREAD (0.3) times the difference of two
 * others, and so is its bias: directions and lengths vary as they do in the learnt table. Questions are the outputs
 * of the model for users drawn at random, with three items of one of their sessions in the basket; nothing is known of
 * their past, so the bar starts at nothing, which is harder than an answer to a known user. The first hundred answers
 * are compared with scoring every row. Prints one line: rows, median and p99 in microseconds, the rows that
 * were read, looked at twice and scored on average, compared, different. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "math/topk.h"
#include "model/parsrec/parsrec_scorer.h"
#include "recommend/recommend.h"

enum { K = 10, BASKET = 3, COMPARED = 100, WARM = 20 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void need(parsrec_status status, const parsrec_error *err)
{
    if (status == PARSREC_OK)
        return;
    fprintf(stderr, "search_rows: %s\n", err->message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *room(size_t count, size_t size)
{
    void *memory = pr_alloc_aligned(count, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

typedef struct rows {
    size_t count, width;
    pr_real *table, *bias, *least;
    pr_search search;
    pr_search_query query;
} rows;

/* least[blocks] has the largest bias of a block. */
static void make_rows(rows *r, const pr_arnn_state *s, size_t count, double spread)
{
    size_t items = s->net.d.items, width = s->net.d.dv;
    const pr_real *own = s->net.w.item, *bias = s->bias[PR_MIX_LATER];
    parsrec_error err;
    *r = (rows){.count = count, .width = width};
    r->table = room(count * width, sizeof *r->table);
    r->bias = room(count, sizeof *r->bias);
    for (size_t i = 0; i < count; i++) {
        size_t a = draw(items), b = draw(items), c = draw(items);
        for (size_t j = 0; j < width; j++)
            r->table[i * width + j] =
                own[a * width + j] + (pr_real)spread * (own[b * width + j] - own[c * width + j]);
        r->bias[i] = bias != NULL ? bias[a] + (pr_real)spread * (bias[b] - bias[c]) : 0;
    }
    bool fit;
    size_t blocks = pr_search_blocks(NULL, count, 1);
    pr_arena counter = pr_arena_counter(), memory, mine;
    pr_search_take(&r->search, &counter, count, width, blocks);
    need(pr_arena_init(&memory, counter.used, &err), &err);
    pr_search_take(&r->search, &memory, count, width, blocks);
    need(pr_search_make(&r->search, &fit, r->table, NULL, r->bias, &err), &err);
    counter = pr_arena_counter();
    pr_search_query_take(&r->query, &counter, &r->search);
    need(pr_arena_init(&mine, counter.used, &err), &err);
    pr_search_query_take(&r->query, &mine, &r->search);
    r->least = room(blocks, sizeof *r->least);
    pr_search_extremes(r->least, NULL, &r->search, r->bias);
}

static pr_real score_of(const rows *r, const pr_real *x, size_t row)
{
    pr_real sum = 0;
    for (size_t j = 0; j < r->width; j++)
        sum += r->table[row * r->width + j] * x[j];
    return sum + r->bias[row];
}

static size_t find(rows *r, const pr_real *x, const uint8_t *barred, int32_t *best, pr_real *scores)
{
    pr_topk_heap heap = {best, scores, 0, K};
    int32_t some[PR_SEARCH_ROOM];
    if (!pr_search_ask(&r->query, x, barred))
        exit(1);
    memcpy(r->query.rest, r->least, r->search.blocks * sizeof *r->least);
    pr_search_bound(&r->query);
    for (size_t n; (n = pr_search_next(&r->query, pr_topk_least(&heap), some)) > 0;)
        for (size_t i = 0; i < n; i++) {
            scores[some[i]] = score_of(r, x, (size_t)some[i]);
            pr_topk_offer(&heap, (size_t)some[i]);
        }
    pr_search_end(&r->query);
    return pr_topk_finish(&heap);
}

static void ask(pr_scorer *scorer, const parsrec_model *model)
{
    pr_history past;
    pr_start start = {.user = PR_ANYONE};
    do {
        start.user = (int32_t)draw(model->pasts.users);
        past = pr_user_history(&model->pasts, start.user);
    } while (past.session_count == 0);
    start.history = past;
    const int64_t *open = past.sessions + draw(past.session_count);
    pr_scorer_start(scorer, &start, 1);
    for (int64_t i = open[0]; i < open[1] && i < open[0] + BASKET; i++)
        pr_scorer_place(scorer, past.items + (i - past.sessions[0]));
}

int main(int argc, char **argv)
{
    parsrec_error err;
    parsrec_model *model;
    pr_scorer *scorer;
    if (argc < 4) {
        fputs("usage: search_rows MODEL ROWS QUESTIONS [SPREAD]\n", stderr);
        return 2;
    }
    size_t count = strtoul(argv[2], NULL, 10), asked = strtoul(argv[3], NULL, 10), differ = 0;
    need(parsrec_model_load(&model, argv[1], &err), &err);
    need(pr_scorer_new(&scorer, model->file.model, 1, BASKET, &err), &err);
    static rows r;
    make_rows(&r, scorer->own, count, argc > 4 ? strtod(argv[4], NULL) : 0.3);
    uint8_t *barred = calloc(count, 1);
    pr_real *scores = room(count, sizeof *scores), *all = room(count, sizeof *all);
    double *times = calloc(asked + 1, sizeof *times), read = 0, twice = 0, found = 0;
    int32_t best[K], expected[K];
    for (size_t i = 0; i < WARM + asked; i++) {
        const pr_real *x, *hidden;
        ask(scorer, model);
        pr_arnn_peek(scorer, 0, &x, &hidden);
        double began = now();
        size_t n = find(&r, x, barred, best, scores);
        double took = now() - began;
        if (i < WARM)
            continue;
        times[i - WARM] = took;
        read += (double)r.query.read;
        twice += (double)r.query.looked_twice;
        found += (double)r.query.found;
        if (i - WARM >= COMPARED)
            continue;
        for (size_t row = 0; row < count; row++)
            all[row] = score_of(&r, x, row);
        differ += n != pr_topk(expected, all, count, K) || memcmp(best, expected, sizeof best) != 0;
    }
    qsort(times, asked, sizeof *times, ascending);
    double each = (double)asked;
    printf("%zu %.1f %.1f %.0f %.0f %.0f %d %zu\n", count, times[asked / 2],
           times[asked - 1 - asked / 100], read / each, twice / each, found / each,
           asked < COMPARED ? (int)asked : COMPARED, differ);
    return differ > 0;
}
