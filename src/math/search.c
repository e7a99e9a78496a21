/* Making the blocks and levels, bounds, and the scan. */
#include "math/search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "math/blas.h"
#include "math/byte_products.h"
#include "math/eigen.h"
#include "math/wide.h"

enum {
    BLOCK = PR_SEARCH_BLOCK,
    GROUP = PR_BYTE_GROUP,
    CODE_MOST = PR_BYTE_CODE_MOST,
    SAMPLE_MOST = 8192, /* rows that the axes are fitted to */
    ENOUGH = 32,        /* candidates after which the caller gets a chance to raise the bar */
};

static const pr_real TOO_LARGE = (pr_real)1e18; /* a sum of squares would not be finite */
/* Of a sum of `width` products of numbers with their own rounding, in units of the lengths. */
static const double rounding = 6 * 1.2e-7;

static_assert((int)BLOCK == (int)PR_BYTE_BLOCK, "a block of the search is one of byte products");

/* ---- memory ---- */

size_t pr_search_blocks(const uint32_t *group, size_t rows, size_t groups)
{
    size_t counts[PR_SEARCH_GROUPS_MOST] = {0}, blocks = 0;
    assert(groups <= PR_SEARCH_GROUPS_MOST);
    for (size_t r = 0; r < rows; r++)
        counts[group != NULL ? group[r] : 0]++;
    for (size_t g = 0; g < groups; g++)
        blocks += (counts[g] + BLOCK - 1) / BLOCK;
    return blocks;
}

/* Level 1 reads a quarter of the columns; the others and two numbers fill whole cache lines. */
static size_t first_of(size_t width)
{
    return pr_round_up((width + 3) / 4, GROUP);
}

static size_t rest_of(const pr_search *s)
{
    return s->width > s->first ? s->width - s->first : 0;
}

void pr_search_take(pr_search *s, pr_arena *arena, size_t rows, size_t width, size_t blocks)
{
    assert(width > 0 && width <= PR_SEARCH_WIDTH_MOST);
    size_t real = sizeof(pr_real);
    *s = (pr_search){.rows = rows, .width = width, .blocks = blocks, .first = first_of(width)};
    s->line = pr_round_up(rest_of(s) + 2 * sizeof(float), 64);
    s->items = pr_arena_take(arena, blocks * BLOCK, sizeof *s->items);
    s->places = pr_arena_take(arena, rows, sizeof *s->places);
    s->groups = pr_arena_take(arena, blocks, sizeof *s->groups);
    s->mean = pr_arena_take(arena, width, real);
    s->axes = pr_arena_take(arena, width * width, real);
    s->units = pr_arena_take(arena, s->first, real);
    s->codes = pr_arena_take(arena, blocks * BLOCK * s->first, 1);
    s->lines = pr_arena_take(arena, blocks * BLOCK * s->line, 1);
    s->steps = pr_arena_take(arena, blocks, real);
    s->errors = pr_arena_take(arena, blocks, real);
    s->spans = pr_arena_take(arena, blocks, real);
    s->lengths = pr_arena_take(arena, blocks, real);
    for (size_t t = 0; t < PR_SEARCH_TAILS; t++)
        s->tails[t] = pr_arena_take(arena, blocks, real);
}

void pr_search_query_take(pr_search_query *q, pr_arena *arena, const pr_search *s)
{
    size_t real = sizeof(pr_real);
    *q = (pr_search_query){.search = s};
    q->rest = pr_arena_take(arena, s->blocks, real);
    q->reach = pr_arena_take(arena, s->blocks, real);
    q->above = pr_arena_take(arena, s->blocks, real);
    q->own = pr_arena_take_zero(arena, s->blocks, sizeof *q->own);
    q->own_rest = pr_arena_take(arena, s->blocks * BLOCK, real);
    q->owners = pr_arena_take(arena, s->blocks, sizeof *q->owners);
    q->turned = pr_arena_take(arena, s->width, real);
    q->codes = pr_arena_take(arena, s->first + s->line, 1);
}

/* ---- order and axes ---- */

typedef struct place {
    pr_real key;
    uint32_t group;
    int32_t row;
} place;

static int by_group(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* A block by its first place, which has its largest key. */
typedef struct block_place {
    pr_real key;
    size_t first, count;
} block_place;

static int by_key(const void *a, const void *b)
{
    const block_place *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static parsrec_status arrange(pr_search *s, const uint32_t *group, const pr_real *key,
                              parsrec_error *err)
{
    place *places = pr_alloc(s->rows, sizeof *places);
    block_place *blocks = pr_alloc(s->blocks, sizeof *blocks);
    if (places == NULL || blocks == NULL) {
        pr_free(places);
        pr_free(blocks);
        return pr_fail_memory(err);
    }
    for (size_t r = 0; r < s->rows; r++)
        places[r] = (place){key[r], group != NULL ? group[r] : 0, (int32_t)r};
    qsort(places, s->rows, sizeof *places, by_group);
    size_t count = 0;
    for (size_t at = 0, n; at < s->rows; at += n) {
        for (n = 1; n < BLOCK && at + n < s->rows && places[at + n].group == places[at].group;)
            n++;
        assert(count < s->blocks);
        blocks[count++] = (block_place){places[at].key, at, n};
    }
    assert(count == s->blocks);
    qsort(blocks, count, sizeof *blocks, by_key);
    for (size_t b = 0; b < count; b++) {
        s->groups[b] = places[blocks[b].first].group;
        for (size_t i = 0; i < BLOCK; i++) {
            int32_t row = i < blocks[b].count ? places[blocks[b].first + i].row : -1;
            s->items[b * BLOCK + i] = row;
            if (row >= 0)
                s->places[row] = (int32_t)(b * BLOCK + i);
        }
    }
    pr_free(places);
    pr_free(blocks);
    return PARSREC_OK;
}

static parsrec_status fit_axes(pr_search *s, const pr_real *table, parsrec_error *err)
{
    size_t n = s->width, step = (s->rows + SAMPLE_MOST - 1) / SAMPLE_MOST, used = 0;
    double *memory = pr_alloc_zero(2 * n * n + 3 * n, sizeof *memory);
    if (memory == NULL)
        return pr_fail_memory(err);
    double *square = memory, *vectors = square + n * n, *values = vectors + n * n;
    double *mean = values + n, *row = mean + n;
    for (size_t r = 0; r < s->rows; r += step, used++)
        for (size_t i = 0; i < n; i++)
            mean[i] += (double)table[r * n + i];
    for (size_t i = 0; i < n; i++)
        s->mean[i] = (pr_real)(mean[i] / (double)used);
    for (size_t r = 0; r < s->rows; r += step) {
        for (size_t i = 0; i < n; i++)
            row[i] = (double)(table[r * n + i] - s->mean[i]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                square[i * n + j] += row[i] * row[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            square[j * n + i] = square[i * n + j];
    pr_symmetric_eigen(values, vectors, square, n);
    for (size_t i = 0; i < n * n; i++)
        s->axes[i] = (pr_real)vectors[i];
    for (size_t i = 0; i < s->first; i++)
        s->units[i] = i < n && values[i] > 1e-9 * values[0]
                          ? (pr_real)sqrt(values[i] / (double)used)
                          : (pr_real)sqrt(1e-9 * values[0] / (double)used + 1e-30);
    double length = 0;
    for (size_t i = 0; i < n; i++)
        length += (double)s->mean[i] * (double)s->mean[i];
    s->mean_length = (pr_real)sqrt(length);
    pr_free(memory);
    return PARSREC_OK;
}

/* ---- levels ---- */

static double length_of(const pr_real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static pr_real larger(pr_real a, double b)
{
    return (double)a >= b ? a : (pr_real)(b * (1 + 1e-6));
}

/* The columns of one of the parts that level 1 leaves out. */
static void tail_range(const pr_search *s, size_t t, size_t *from, size_t *to)
{
    *from = s->first + t * rest_of(s) / PR_SEARCH_TAILS;
    *to = s->first + (t + 1) * rest_of(s) / PR_SEARCH_TAILS;
}

static int code_of(pr_real x)
{
    int code = (int)(x + (x < 0 ? (pr_real)-0.5 : (pr_real)0.5));
    return code > CODE_MOST ? CODE_MOST : code < -CODE_MOST ? -CODE_MOST : code;
}

static void make_first(pr_search *s, size_t b, const pr_real *turned, size_t n)
{
    size_t first = s->first, used = s->width < first ? s->width : first;
    uint8_t *codes = s->codes + b * BLOCK * first;
    pr_real most = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < used; i++) {
            pr_real x = turned[r * s->width + i] / s->units[i];
            most = x > most ? x : -x > most ? -x : most;
        }
    pr_real step = most / CODE_MOST, scale = step > 0 ? 1 / step : 0;
    s->steps[b] = step;
    memset(codes, PR_BYTE_SHIFT, BLOCK * first);
    for (size_t r = 0; r < n; r++) {
        double error = 0, span = 0;
        for (size_t i = 0; i < used; i++) {
            pr_real x = turned[r * s->width + i] / s->units[i];
            int code = code_of(x * scale);
            double back = (double)code * (double)step;
            codes[pr_byte_at(r, i)] = (uint8_t)(code + PR_BYTE_SHIFT);
            error += ((double)x - back) * ((double)x - back);
            span += back * back;
        }
        s->errors[b] = larger(s->errors[b], sqrt(error));
        s->spans[b] = larger(s->spans[b], sqrt(span));
    }
}

static void make_line(const pr_search *s, size_t at, const pr_real *rest, size_t n)
{
    uint8_t *line = s->lines + at * s->line;
    pr_real most = 0;
    memset(line, PR_BYTE_SHIFT, s->line);
    for (size_t i = 0; i < n; i++)
        most = rest[i] > most ? rest[i] : -rest[i] > most ? -rest[i] : most;
    pr_real step = most / CODE_MOST, scale = step > 0 ? 1 / step : 0;
    double error = 0;
    for (size_t i = 0; i < n; i++) {
        int code = code_of(rest[i] * scale);
        double lost = (double)rest[i] - (double)code * (double)step;
        line[i] = (uint8_t)(code + PR_BYTE_SHIFT);
        error += lost * lost;
    }
    float numbers[2] = {(float)step, (float)(sqrt(error) * (1 + 1e-6))};
    memcpy(line + s->line - sizeof numbers, numbers, sizeof numbers);
}

/* False if a number is not finite. */
static bool make_block(pr_search *s, size_t b, const pr_real *table, pr_real *raw, pr_real *turned)
{
    size_t width = s->width, n = 0;
    for (; n < BLOCK && s->items[b * BLOCK + n] >= 0; n++) {
        const pr_real *from = table + (size_t)s->items[b * BLOCK + n] * width;
        for (size_t i = 0; i < width; i++)
            raw[n * width + i] = from[i] - s->mean[i];
    }
    pr_gemm(turned, width, pr_mat(raw, width), pr_flip(s->axes, width), 0, n, width, width);
    s->errors[b] = s->spans[b] = s->lengths[b] = 0;
    for (size_t t = 0; t < PR_SEARCH_TAILS; t++)
        s->tails[t][b] = 0;
    for (size_t r = 0; r < n; r++) {
        const pr_real *row = turned + r * width;
        double length = length_of(row, width);
        if (!(length < (double)TOO_LARGE))
            return false;
        s->lengths[b] = larger(s->lengths[b], length);
        for (size_t t = 0; t < PR_SEARCH_TAILS; t++) {
            size_t from, to;
            tail_range(s, t, &from, &to);
            s->tails[t][b] = larger(s->tails[t][b], length_of(row + from, to - from));
        }
        make_line(s, b * BLOCK + r, row + s->first, rest_of(s));
    }
    for (size_t r = n; r < BLOCK; r++)
        make_line(s, b * BLOCK + r, NULL, 0);
    make_first(s, b, turned, n);
    return true;
}

parsrec_status pr_search_make(pr_search *s, bool *fit, const pr_real *table, const uint32_t *group,
                              const pr_real *key, parsrec_error *err)
{
    *fit = false;
    for (size_t r = 0; r < s->rows; r++)
        if (!(key[r] > -(pr_real)INFINITY && key[r] < (pr_real)INFINITY))
            return PARSREC_OK;
    for (size_t i = 0; i < s->rows * s->width; i++)
        if (!(table[i] > -TOO_LARGE && table[i] < TOO_LARGE))
            return PARSREC_OK;
    PR_TRY(arrange(s, group, key, err));
    PR_TRY(fit_axes(s, table, err));
    pr_real *memory = pr_alloc_aligned(2 * BLOCK * s->width, sizeof *memory);
    if (memory == NULL)
        return pr_fail_memory(err);
    *fit = true;
    for (size_t b = 0; b < s->blocks && *fit; b++)
        *fit = make_block(s, b, table, memory, memory + BLOCK * s->width);
    pr_free_aligned(memory);
    return PARSREC_OK;
}

void pr_search_extremes(pr_real *most, pr_real *least, const pr_search *s, const pr_real *column)
{
    for (size_t b = 0; b < s->blocks; b++) {
        pr_real top = column[s->items[b * BLOCK]], bottom = top;
        for (size_t i = 1; i < BLOCK && s->items[b * BLOCK + i] >= 0; i++) {
            pr_real x = column[s->items[b * BLOCK + i]];
            top = x > top ? x : top;
            bottom = x < bottom ? x : bottom;
        }
        if (most != NULL)
            most[b] = top;
        if (least != NULL)
            least[b] = bottom;
    }
}

/* ---- a query ---- */

/* codes[n] of x[n], and their step and sum; returns the length of what rounding leaves. */
static pr_real code_query(int8_t *codes, pr_real *step, int32_t *shift, const pr_real *x, size_t n)
{
    pr_real most = 0;
    for (size_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : -x[i] > most ? -x[i] : most;
    *step = most / PR_BYTE_QUERY_MOST;
    pr_real scale = *step > 0 ? 1 / *step : 0;
    double error = 0;
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        pr_real exact = x[i] * scale;
        int code = (int)(exact + (exact < 0 ? (pr_real)-0.5 : (pr_real)0.5));
        double lost = (double)x[i] - (double)code * (double)*step;
        codes[i] = (int8_t)code;
        sum += code;
        error += lost * lost;
    }
    *shift = sum * PR_BYTE_SHIFT;
    return (pr_real)(sqrt(error) * (1 + 1e-6));
}

PR_INLINE void turn_any(pr_real *y, const pr_real *axes, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = pr_dot(axes + i * n, x, n);
}
PR_LOCAL_LEVELS(void, turn, turn_any,
                (pr_real * y, const pr_real *axes, const pr_real *x, size_t n), (y, axes, x, n))

bool pr_search_ask(pr_search_query *q, const pr_real *x, const uint8_t *barred)
{
    const pr_search *s = q->search;
    pr_real inner[PR_SEARCH_WIDTH_MOST];
    size_t used = s->width < s->first ? s->width : s->first;
    double length = length_of(x, s->width), level = 0;
    assert(q->owner_count == 0);
    if (!(length < (double)TOO_LARGE))
        return false;
    turn(q->turned, s->axes, x, s->width);
    for (size_t i = 0; i < s->width; i++)
        level += (double)x[i] * (double)s->mean[i];
    memset(inner, 0, sizeof inner);
    for (size_t i = 0; i < used; i++)
        inner[i] = q->turned[i] * s->units[i];
    memset(q->codes, 0, s->first + s->line);
    q->barred = barred;
    q->level = (pr_real)level;
    q->length = (pr_real)length;
    q->unit_length = (pr_real)length_of(inner, used);
    q->unit_error = code_query(q->codes, &q->step, &q->shift, inner, used);
    q->tail_length = (pr_real)length_of(q->turned + used, rest_of(s));
    q->tail_error = code_query(q->codes + s->first, &q->tail_step, &q->tail_shift, q->turned + used,
                               rest_of(s));
    q->next = q->read = q->looked_twice = q->found = 0;
    return true;
}

typedef struct weights {
    pr_real level, length, unit_length, unit_error, rounding, tails[PR_SEARCH_TAILS];
} weights;

PR_INLINE void bound_any(pr_search_query *q, const weights *w)
{
    const pr_search *s = q->search;
    pr_real *restrict reach = q->reach, *restrict above = q->above;
    const pr_real *rest = q->rest, small = (pr_real)2e-6, *lengths = s->lengths;
    for (size_t b = 0; b < s->blocks; b++) {
        pr_real size = rest[b] < 0 ? -rest[b] : rest[b];
        pr_real sure =
            rest[b] + w->level + w->rounding * (lengths[b] + s->mean_length) + small * size;
        pr_real lost = w->unit_length * s->errors[b] + w->unit_error * s->spans[b] +
                       w->tails[0] * s->tails[0][b] + w->tails[1] * s->tails[1][b] +
                       w->tails[2] * s->tails[2][b] + w->tails[3] * s->tails[3][b];
        above[b] = sure + lost;
        reach[b] = sure + w->length * lengths[b];
    }
}
PR_LOCAL_LEVELS(void, bound, bound_any, (pr_search_query * q, const weights *w), (q, w))

void pr_search_bound(pr_search_query *q)
{
    const pr_search *s = q->search;
    weights w = {.level = q->level,
                 .length = q->length * (pr_real)1.00001,
                 .unit_length = q->unit_length * (pr_real)1.00001,
                 .unit_error = q->unit_error,
                 .rounding = (pr_real)((double)s->width * rounding * (double)q->length)};
    for (size_t t = 0; t < PR_SEARCH_TAILS; t++) {
        size_t from, to;
        tail_range(s, t, &from, &to);
        w.tails[t] = (pr_real)(length_of(q->turned + from, to - from) * 1.00001);
    }
    bound(q, &w);
}

/* A bar with room for the rounding of terms that are added to products. */
static pr_real lowered(pr_real bar)
{
    return bar > -(pr_real)INFINITY ? bar - (pr_real)4e-6 * (1 + (bar < 0 ? -bar : bar)) : bar;
}

void pr_search_own(pr_search_query *q, int32_t row, pr_real rest, pr_real bar)
{
    assert(row >= 0 && (size_t)row < q->search->rows);
    size_t at = (size_t)q->search->places[row], b = at / BLOCK;
    pr_real more = rest - q->rest[b] + (pr_real)4e-6 * (1 + (rest < 0 ? -rest : rest));
    bool none = !(rest > -(pr_real)INFINITY);
    if (!none && q->reach[b] + more < lowered(bar))
        return;
    if (q->own[b] == 0)
        q->owners[q->owner_count++] = (uint32_t)b;
    q->own[b] |= UINT64_C(1) << at % BLOCK;
    q->own_rest[at] = rest;
    if (!none && more > 0) /* also where the block alone would be passed over */
        q->reach[b] += more;
}

void pr_search_end(pr_search_query *q)
{
    for (size_t i = 0; i < q->owner_count; i++)
        q->own[q->owners[i]] = 0;
    q->owner_count = 0;
}

/* ---- level 1 ---- */

/* The least sum of codes with which a row of a block reaches the bar. */
PR_INLINE int32_t least_sum(const pr_search_query *q, size_t b, pr_real lacks)
{
    pr_real step = q->search->steps[b] * q->step, most = 1 << 29;
    pr_real sum = step > 0 ? lacks / step : lacks > 0 ? most : -most;
    sum = sum > most ? most : sum < -most ? -most : sum;
    sum -= (sum < 0 ? -sum : sum) * (pr_real)1e-6 + 1;
    return (int32_t)sum + q->shift;
}

/* Defines a scan: from block q->next on, the next block with rows that level 1 lets through, or with
 * rows of their own; then sums[BLOCK] and *found are set. Returns `blocks` at the end. */
#define DEFINE_SCAN(name, target, block)                                                       \
    target static size_t name(pr_search_query *q, pr_real bar, int32_t *sums, uint64_t *found) \
    {                                                                                          \
        const pr_search *s = q->search;                                                        \
        size_t first = s->first;                                                               \
        for (size_t b = q->next; b < s->blocks; b++) {                                         \
            if (q->reach[b] < bar)                                                             \
                continue;                                                                      \
            q->read += BLOCK;                                                                  \
            *found = block(sums, s->codes + b * BLOCK * first, q->codes, first,                \
                           least_sum(q, b, bar - q->above[b])) |                               \
                     q->own[b];                                                                \
            if (*found != 0)                                                                   \
                return b;                                                                      \
        }                                                                                      \
        return s->blocks;                                                                      \
    }
DEFINE_SCAN(scan_plain, , pr_bytes_plain)
#ifdef PR_HAS_BYTE_PRODUCTS
DEFINE_SCAN(scan_avx2, PR_BYTES_AVX2, pr_bytes_avx2)
DEFINE_SCAN(scan_avx512, PR_BYTES_AVX512, pr_bytes_avx512)
#endif

typedef size_t scan_blocks(pr_search_query *q, pr_real bar, int32_t *sums, uint64_t *found);

/* ---- level 2 ---- */

/* Those of the rows that level 1 found in block b which reach the bar by all their columns. */
PR_INLINE size_t second_any(pr_search_query *q, size_t b, uint64_t found, const int32_t *sums,
                            pr_real bar, int32_t *rows)
{
    const pr_search *s = q->search;
    size_t n = rest_of(s), count = 0;
    const int8_t *codes = q->codes + s->first;
    pr_real step = s->steps[b] * q->step, size = q->rest[b] < 0 ? -q->rest[b] : q->rest[b];
    pr_real lost = q->unit_length * s->errors[b] + q->unit_error * s->spans[b] +
                   (pr_real)((double)s->width * rounding * (double)q->length) *
                       (s->lengths[b] + s->mean_length);
    pr_real base = q->level + lost * (pr_real)1.00001 + (pr_real)2e-6 * (size + step);
    for (; found != 0; found &= found - 1) {
        size_t i = (size_t)__builtin_ctzll(found), at = b * BLOCK + i;
        int32_t row = s->items[at];
        bool own = (q->own[b] >> i & 1) != 0;
        pr_real rest = own ? q->own_rest[at] : q->rest[b];
        if (row < 0 || q->barred[row] != 0 || !(rest > -(pr_real)INFINITY))
            continue;
        pr_real score = rest + base + step * (pr_real)(sums[i] - q->shift);
        if (own && score + q->above[b] - q->rest[b] - base < bar)
            continue;
        const uint8_t *line = s->lines + at * s->line;
        int32_t sum = 0;
        float numbers[2];
        for (size_t c = 0; c < n; c++)
            sum += line[c] * codes[c];
        memcpy(numbers, line + s->line - sizeof numbers, sizeof numbers);
        q->looked_twice++;
        score += (pr_real)numbers[0] * q->tail_step * (pr_real)(sum - q->tail_shift) +
                 (pr_real)numbers[1] * q->tail_length * (pr_real)1.00001 +
                 q->tail_error * (s->lengths[b] + (pr_real)numbers[1]);
        rows[count] = row;
        count += score >= bar;
    }
    return count;
}
PR_LOCAL_LEVELS(size_t, second, second_any,
                (pr_search_query * q, size_t b, uint64_t found, const int32_t *sums, pr_real bar,
                 int32_t *rows),
                (q, b, found, sums, bar, rows))

size_t pr_search_next(pr_search_query *q, pr_real bar, int32_t *rows)
{
    int32_t sums[BLOCK];
    uint64_t found;
    size_t count = 0, blocks = q->search->blocks;
    scan_blocks *scan = PR_BYTES_CHOOSE(scan_plain, scan_avx2, scan_avx512);
    pr_real least =
        bar - (pr_real)4e-6 * (1 + (bar < 0 ? -bar : bar)); /* rounding of other terms */
    while (q->next < blocks && count < ENOUGH) {
        size_t b = scan(q, least, sums, &found);
        if (b < blocks)
            count += second(q, b, found, sums, least, rows + count);
        q->next = b + 1;
    }
    q->found += count;
    return count;
}
