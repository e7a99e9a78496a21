/* Making the blocks and levels, bounds, and the scan. */
#include "math/search.h"

#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/byte_products.h"
#include "math/eigen.h"
#include "math/topk.h"
#include "math/wide.h"

enum {
    BLOCK = PR_SEARCH_BLOCK,
    GROUP = PR_BYTE_GROUP,
    CODE_MOST = PR_BYTE_CODE_MOST,
    SAMPLE_MOST = 8192, /* rows that the axes are fitted to */
    ENOUGH = 32,        /* candidates after which the caller gets a chance to raise the bar */
};

enum { BEGIN, SEEDS, REST }; /* stages of the order of blocks */

static const pr_real NOTHING = (pr_real)-3e38;  /* every block that was not read reaches it */
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

/* One of `parts` of the columns, in whole groups. */
static size_t part_of(size_t width, size_t parts)
{
    return pr_round_up((width + parts - 1) / parts, GROUP);
}

static size_t rest_of(const pr_search *s)
{
    return s->width > s->first ? s->width - s->first : 0;
}

void pr_search_take(pr_search *s, pr_arena *arena, size_t rows, size_t width, size_t blocks)
{
    assert(width > 0 && width <= PR_SEARCH_WIDTH_MOST);
    size_t real = sizeof(pr_real);
    *s = (pr_search){.rows = rows,
                     .width = width,
                     .blocks = blocks,
                     .box = part_of(width, 16),
                     .early = part_of(width, 4),
                     .first = part_of(width, 2)};
    s->line = pr_round_up(rest_of(s) + 2 * sizeof(float), 64);
    s->items = pr_arena_take(arena, blocks * BLOCK, sizeof *s->items);
    s->places = pr_arena_take(arena, rows, sizeof *s->places);
    s->groups = pr_arena_take(arena, blocks, sizeof *s->groups);
    s->mean = pr_arena_take(arena, width, real);
    s->axes = pr_arena_take(arena, width * width, real);
    s->units = pr_arena_take(arena, s->first, real);
    s->boxes = pr_arena_take(arena, pr_round_up(blocks, BLOCK) * 2 * s->box, 1);
    s->box_steps = pr_arena_take(arena, blocks, real);
    s->codes = pr_arena_take(arena, blocks * BLOCK * s->early, 1);
    s->later = pr_arena_take(arena, blocks * BLOCK * (s->first - s->early), 1);
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
    q->early = pr_arena_take(arena, s->blocks, real);
    q->above = pr_arena_take(arena, s->blocks, real);
    q->order = pr_arena_take(arena, s->blocks, sizeof *q->order);
    q->listed = pr_arena_take(arena, s->blocks, sizeof *q->listed);
    q->sums = pr_arena_take(arena, pr_round_up(s->blocks, BLOCK), sizeof *q->sums);
    q->own = pr_arena_take_zero(arena, s->blocks, sizeof *q->own);
    q->own_rest = pr_arena_take(arena, s->blocks * BLOCK, real);
    q->owners = pr_arena_take(arena, s->blocks, sizeof *q->owners);
    q->turned = pr_arena_take(arena, s->width, real);
    q->codes = pr_arena_take(arena, s->first + s->line, 1);
    q->box = pr_arena_take(arena, 2 * s->box, 1);
}

/* ---- columns ---- */

static double length_of(const pr_real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* The columns of one of the parts that level 0 leaves out: two that level 1 reads, two that level 2 does. */
static void tail_range(const pr_search *s, size_t t, size_t *from, size_t *to)
{
    size_t ends[PR_SEARCH_TAILS + 1] = {s->box, s->early, s->first, s->first + rest_of(s) / 2,
                                        s->width};
    *from = ends[t] < s->width ? ends[t] : s->width;
    *to = ends[t + 1] < s->width ? ends[t + 1] : s->width;
}

/* ---- axes ---- */

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
    for (size_t i = 0; i < s->first; i++) /* standard deviations */
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

/* ---- blocks of rows that are alike ---- */

enum {
    SPOTS = 16, /* coordinates in which rows are told apart: */
    SPOT_KEY = 0,
    SPOT_TAIL,   /* what columns that level 0 does not read can add */
    SPOT_COLUMN, /* and the first columns */
};

static int8_t spot_code(double x)
{
    x = x > CODE_MOST ? CODE_MOST : x < -CODE_MOST ? -CODE_MOST : x;
    return (int8_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* A row by its coordinates, in units of what they add to a score. */
typedef struct spot {
    int32_t row;
    int8_t at[SPOTS];
} spot;

/* What coordinates are multiplied with. */
typedef struct spot_scales {
    double mean; /* of the key */
    double key, column[PR_SEARCH_WIDTH_MOST];
    double tail[PR_SEARCH_TAILS];
} spot_scales;

/* Questions are expected to lie along the axes like rows, only more so, and the scores of rows to differ
 * by this much, as a standard deviation. */
static const double expected_deviation = 1;

static void add_key(double *mean, double *deviation, const pr_real *key, size_t n)
{
    double sum = 0, square = 0;
    for (size_t r = 0; r < n; r++)
        sum += (double)key[r];
    *mean = sum / (double)n;
    for (size_t r = 0; r < n; r++)
        square += ((double)key[r] - *mean) * ((double)key[r] - *mean);
    *deviation = sqrt(square / (double)n);
}

static void make_scales(spot_scales *to, const pr_search *s, const pr_real *key)
{
    size_t used = s->width < s->first ? s->width : s->first;
    double largest, all = 0;
    *to = (spot_scales){0};
    add_key(&to->mean, &largest, key, s->rows);
    for (size_t i = 0; i < used;
         i++) { /* a question's number along an axis: the square of a row's */
        double unit = (double)s->units[i];
        to->column[i] = unit * unit;
        all += to->column[i] * unit * to->column[i] * unit;
    }
    double factor = all > 0 ? expected_deviation / sqrt(all) : 0;
    largest = fmax(largest, factor * to->column[0] * (double)s->units[0]);
    double code = largest > 0 ? CODE_MOST / (4 * largest) : 0;
    to->key = code;
    for (size_t i = 0; i < used; i++)
        to->column[i] *= factor * code;
    for (size_t t = 0; t < PR_SEARCH_TAILS; t++) {
        size_t from, end;
        tail_range(s, t, &from, &end);
        for (size_t i = from; i < end; i++) /* beyond level 1: not more than its last column */
            to->tail[t] += pow(to->column[i < used ? i : used - 1], 2);
        to->tail[t] = sqrt(to->tail[t]);
    }
}

static void make_spot(spot *to, const pr_search *s, const spot_scales *scales, int32_t row,
                      pr_real key, const pr_real *turned)
{
    size_t columns = s->width < SPOTS - SPOT_COLUMN ? s->width : SPOTS - SPOT_COLUMN;
    double tail = 0;
    *to = (spot){.row = row};
    for (size_t t = 0; t < PR_SEARCH_TAILS; t++) {
        size_t from, end;
        tail_range(s, t, &from, &end);
        tail += scales->tail[t] * length_of(turned + from, end - from);
    }
    to->at[SPOT_KEY] = spot_code(((double)key - scales->mean) * scales->key);
    to->at[SPOT_TAIL] = spot_code(tail - CODE_MOST / 2);
    for (size_t i = 0; i < columns; i++)
        to->at[SPOT_COLUMN + i] = spot_code((double)turned[i] * scales->column[i]);
}

/* The coordinate in which spots differ most. */
static size_t widest(const spot *spots, size_t n)
{
    int64_t sum[SPOTS] = {0}, square[SPOTS] = {0};
    size_t step = n / 1024 + 1, used = 0, best = 0;
    double most = -1;
    for (size_t i = 0; i < n; i += step, used++)
        for (size_t c = 0; c < SPOTS; c++) {
            sum[c] += spots[i].at[c];
            square[c] += spots[i].at[c] * spots[i].at[c];
        }
    for (size_t c = 0; c < SPOTS; c++) {
        double mean = (double)sum[c] / (double)used;
        double spread = (double)square[c] / (double)used - mean * mean;
        if (spread > most) {
            most = spread;
            best = c;
        }
    }
    return best;
}

/* Puts the `left` spots that are least in a coordinate first. */
static void divide(spot *spots, size_t n, size_t left, size_t c)
{
    size_t counts[256] = {0}, below = 0, at = 0, end = n;
    int value = -128;
    for (size_t i = 0; i < n; i++)
        counts[spots[i].at[c] + 128]++;
    while (below + counts[value + 128] < left)
        below += counts[value++ + 128];
    size_t equal = left - below; /* of those with this value */
    while (at < end) {
        bool first = spots[at].at[c] < value || (spots[at].at[c] == value && equal > 0);
        if (first) {
            equal -= spots[at].at[c] == value;
            at++;
            continue;
        }
        spot other = spots[--end];
        spots[end] = spots[at];
        spots[at] = other;
    }
    assert(at == left);
}

/* Depth is the logarithm of the number of blocks. */
static void halve(spot *spots, size_t n)
{
    while (n > BLOCK) {
        size_t left = (n + BLOCK - 1) / BLOCK / 2 * BLOCK;
        divide(spots, n, left, widest(spots, n));
        halve(spots + left, n - left);
        n = left;
    }
}

/* turned[n,width] of the n <= BLOCK rows, through raw[n,width]. */
static void turn_rows(pr_real *turned, pr_real *raw, const pr_search *s, const pr_real *table,
                      const int32_t *rows, size_t n)
{
    size_t width = s->width;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < width; i++)
            raw[r * width + i] = table[(size_t)rows[r] * width + i] - s->mean[i];
    pr_gemm(turned, width, pr_mat(raw, width), pr_flip(s->axes, width), 0, n, width, width);
}

/* By group; those of group g begin at offsets[g]. `room` is for two blocks. */
static void fill_spots(spot *spots, const size_t *offsets, const pr_search *s, const pr_real *table,
                       const uint32_t *group, const pr_real *key, pr_real *room)
{
    size_t next[PR_SEARCH_GROUPS_MOST];
    int32_t rows[BLOCK];
    spot_scales scales;
    make_scales(&scales, s, key);
    memcpy(next, offsets, sizeof next);
    for (size_t at = 0, n; at < s->rows; at += n) {
        n = s->rows - at < BLOCK ? s->rows - at : BLOCK;
        for (size_t i = 0; i < n; i++)
            rows[i] = (int32_t)(at + i);
        turn_rows(room, room + BLOCK * s->width, s, table, rows, n);
        for (size_t i = 0; i < n; i++)
            make_spot(&spots[next[group != NULL ? group[at + i] : 0]++], s, &scales, rows[i],
                      key[at + i], room + i * s->width);
    }
}

/* `room` is for two blocks. */
static parsrec_status arrange(pr_search *s, const pr_real *table, const uint32_t *group,
                              const pr_real *key, pr_real *room, parsrec_error *err)
{
    size_t offsets[PR_SEARCH_GROUPS_MOST + 1] = {0}, b = 0;
    spot *spots = pr_alloc(s->rows, sizeof *spots);
    if (spots == NULL)
        return pr_fail_memory(err);
    for (size_t r = 0; r < s->rows; r++)
        offsets[(group != NULL ? group[r] : 0) + 1]++;
    for (size_t g = 0; g < PR_SEARCH_GROUPS_MOST; g++)
        offsets[g + 1] += offsets[g];
    fill_spots(spots, offsets, s, table, group, key, room);
    for (size_t g = 0; g < PR_SEARCH_GROUPS_MOST; g++) {
        halve(spots + offsets[g], offsets[g + 1] - offsets[g]);
        for (size_t at = offsets[g]; at < offsets[g + 1]; at += BLOCK, b++) {
            assert(b < s->blocks);
            s->groups[b] = (uint32_t)g;
            for (size_t i = 0; i < BLOCK; i++) {
                int32_t row = at + i < offsets[g + 1] ? spots[at + i].row : -1;
                s->items[b * BLOCK + i] = row;
                if (row >= 0)
                    s->places[row] = (int32_t)(b * BLOCK + i);
            }
        }
    }
    assert(b == s->blocks);
    pr_free(spots);
    return PARSREC_OK;
}

/* ---- levels ---- */

static pr_real larger(pr_real a, double b)
{
    return (double)a >= b ? a : (pr_real)(b * (1 + 1e-6));
}

static int code_of(pr_real x)
{
    int code = (int)(x + (x < 0 ? (pr_real)-0.5 : (pr_real)0.5));
    return code > CODE_MOST ? CODE_MOST : code < -CODE_MOST ? -CODE_MOST : code;
}

static void make_first(pr_search *s, size_t b, const pr_real *turned, size_t n)
{
    size_t early = s->early, late = s->first - early,
           used = s->width < s->first ? s->width : s->first;
    uint8_t *codes = s->codes + b * BLOCK * early, *later = s->later + b * BLOCK * late;
    pr_real most = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < used; i++) {
            pr_real x = turned[r * s->width + i] / s->units[i];
            most = x > most ? x : -x > most ? -x : most;
        }
    pr_real step = most / CODE_MOST, scale = step > 0 ? 1 / step : 0;
    s->steps[b] = step;
    memset(codes, PR_BYTE_SHIFT, BLOCK * early);
    memset(later, PR_BYTE_SHIFT, BLOCK * late);
    for (size_t r = 0; r < n; r++) {
        double error = 0, span = 0;
        for (size_t i = 0; i < used; i++) {
            pr_real x = turned[r * s->width + i] / s->units[i];
            int code = code_of(x * scale);
            double back = (double)code * (double)step;
            *(i < early ? codes + pr_byte_at(r, i) : later + pr_byte_at(r, i - early)) =
                (uint8_t)(code + PR_BYTE_SHIFT);
            error += ((double)x - back) * ((double)x - back);
            span += back * back;
        }
        s->errors[b] = larger(s->errors[b], sqrt(error));
        s->spans[b] = larger(s->spans[b], sqrt(span));
    }
}

/* The box around n > 0 rows. All of them are inside by their codes. */
static void make_box(pr_search *s, size_t b, const pr_real *turned, size_t n)
{
    double low[PR_SEARCH_WIDTH_MOST], high[PR_SEARCH_WIDTH_MOST], most = 0;
    size_t used = s->width < s->box ? s->width : s->box, at = b % BLOCK;
    uint8_t *codes = s->boxes + b / BLOCK * BLOCK * 2 * s->box;
    for (size_t i = 0; i < used; i++) {
        low[i] = high[i] = (double)turned[i] / (double)s->units[i];
        for (size_t r = 1; r < n; r++) {
            double x = (double)turned[r * s->width + i] / (double)s->units[i];
            low[i] = fmin(low[i], x);
            high[i] = fmax(high[i], x);
        }
        most = fmax(most, fmax(high[i], -low[i]));
    }
    s->box_steps[b] = (pr_real)(most / (CODE_MOST - 1));
    double step = (double)s->box_steps[b];
    for (size_t i = 0; i < used && step > 0; i++) {
        double middle = floor((low[i] + high[i]) / 2 / step + 0.5);
        double half = fmax(high[i] / step - middle, middle - low[i] / step);
        half = fmin(ceil(half * (1 + 1e-6)), CODE_MOST);
        codes[pr_byte_at(at, i)] = (uint8_t)((int)middle + PR_BYTE_SHIFT);
        codes[pr_byte_at(at, s->box + i)] = (uint8_t)((int)half + PR_BYTE_SHIFT);
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
static bool make_block(pr_search *s, size_t b, const pr_real *table, pr_real *turned, pr_real *raw)
{
    size_t width = s->width, n = 0;
    while (n < BLOCK && s->items[b * BLOCK + n] >= 0)
        n++;
    turn_rows(turned, raw, s, table, s->items + b * BLOCK, n);
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
    make_box(s, b, turned, n);
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
    PR_TRY(fit_axes(s, table, err));
    pr_real *memory = pr_alloc_aligned(2 * BLOCK * s->width, sizeof *memory);
    if (memory == NULL)
        return pr_fail_memory(err);
    parsrec_status status = arrange(s, table, group, key, memory, err);
    *fit = status == PARSREC_OK;
    memset(s->boxes, PR_BYTE_SHIFT, pr_round_up(s->blocks, BLOCK) * 2 * s->box);
    for (size_t b = 0; b < s->blocks && *fit; b++)
        *fit = make_block(s, b, table, memory, memory + BLOCK * s->width);
    pr_free_aligned(memory);
    return status;
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
    q->early_shift = q->box_shift = 0;
    for (size_t i = 0; i < s->early; i++)
        q->early_shift += q->codes[i] * PR_BYTE_SHIFT;
    for (size_t i = 0; i < s->box; i++) {
        int8_t code = q->codes[i];
        q->box[i] = code;
        q->box[s->box + i] = code < 0 ? (int8_t)-code : code;
        q->box_shift += (q->box[i] + q->box[s->box + i]) * PR_BYTE_SHIFT;
    }
    q->tail_length = (pr_real)length_of(q->turned + used, rest_of(s));
    q->tail_error = code_query(q->codes + s->first, &q->tail_step, &q->tail_shift, q->turned + used,
                               rest_of(s));
    q->next = q->read = q->looked_twice = q->found = q->ordered = 0;
    q->stage = BEGIN;
    return true;
}

/* Defines a function that sets sums[] of all boxes. */
#define DEFINE_BOXES(name, target, block)                                         \
    target static void name(pr_search_query *q)                                   \
    {                                                                             \
        const pr_search *s = q->search;                                           \
        for (size_t b = 0; b < s->blocks; b += BLOCK)                             \
            block(q->sums + b, s->boxes + b * 2 * s->box, q->box, 2 * s->box, 0); \
    }
DEFINE_BOXES(boxes_plain, , pr_bytes_plain)
#ifdef PR_HAS_BYTE_PRODUCTS
DEFINE_BOXES(boxes_avx2, PR_BYTES_AVX2, pr_bytes_avx2)
DEFINE_BOXES(boxes_avx512, PR_BYTES_AVX512, pr_bytes_avx512)
#endif

typedef struct weights {
    pr_real level, length, unit_length, unit_error, rounding, tails[PR_SEARCH_TAILS];
} weights;

PR_INLINE void bound_any(pr_search_query *q, const weights *w)
{
    const pr_search *s = q->search;
    pr_real *restrict reach = q->reach, *restrict early = q->early, *restrict above = q->above;
    const pr_real *rest = q->rest, small = (pr_real)2e-6, *lengths = s->lengths;
    pr_real step = q->step;
    int32_t shift = q->box_shift;
    for (size_t b = 0; b < s->blocks; b++) {
        pr_real size = rest[b] < 0 ? -rest[b] : rest[b];
        pr_real sure =
            rest[b] + w->level + w->rounding * (lengths[b] + s->mean_length) + small * size;
        pr_real missed = w->unit_error * s->spans[b];
        pr_real lost = sure + missed + w->unit_length * s->errors[b] +
                       w->tails[2] * s->tails[2][b] + w->tails[3] * s->tails[3][b];
        pr_real product = step * s->box_steps[b] * (pr_real)(q->sums[b] - shift);
        pr_real inside = missed + w->unit_error * s->errors[b] + product * (pr_real)1.000001 +
                         (product < 0 ? product * (pr_real)-2e-6 : 0) +
                         w->tails[0] * s->tails[0][b] + w->tails[1] * s->tails[1][b] +
                         w->tails[2] * s->tails[2][b] + w->tails[3] * s->tails[3][b];
        pr_real whole = w->length * lengths[b];
        above[b] = lost;
        early[b] = lost + w->tails[1] * s->tails[1][b];
        reach[b] = sure + (inside < whole ? inside : whole);
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
    PR_BYTES_CHOOSE(boxes_plain, boxes_avx2, boxes_avx512)(q);
    bound(q, &w);
}

/* A bar with room for the rounding of terms that are added to products. */
static pr_real lowered(pr_real bar)
{
    return bar > NOTHING ? bar - (pr_real)4e-6 * (1 + (bar < 0 ? -bar : bar)) : NOTHING;
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
PR_INLINE int32_t least_sum(const pr_search_query *q, size_t b, pr_real lacks, int32_t shift)
{
    pr_real step = q->search->steps[b] * q->step, most = 1 << 29;
    pr_real sum = step > 0 ? lacks / step : lacks > 0 ? most : -most;
    sum = sum > most ? most : sum < -most ? -most : sum;
    sum -= (sum < 0 ? -sum : sum) * (pr_real)1e-6 + 1;
    return (int32_t)sum + shift;
}

/* Defines a look at one block: the rows that level 1 lets through, or that have bounds of their own; their
 * sums[BLOCK] are set. */
#define DEFINE_LOOK(name, target, block)                                                        \
    target static uint64_t name(const pr_search_query *q, size_t b, pr_real bar, int32_t *sums) \
    {                                                                                           \
        const pr_search *s = q->search;                                                         \
        size_t early = s->early, late = s->first - early;                                       \
        int32_t more[BLOCK], least;                                                             \
        uint64_t left = block(sums, s->codes + b * BLOCK * early, q->codes, early,              \
                              least_sum(q, b, bar - q->early[b], q->early_shift)) |             \
                        q->own[b];                                                              \
        if (left == 0)                                                                          \
            return 0;                                                                           \
        uint64_t found = q->own[b];                                                             \
        block(more, s->later + b * BLOCK * late, q->codes + early, late, 0);                    \
        least = least_sum(q, b, bar - q->above[b], q->shift);                                   \
        for (; left != 0; left &= left - 1) {                                                   \
            size_t i = (size_t)__builtin_ctzll(left);                                           \
            sums[i] += more[i];                                                                 \
            found |= (uint64_t)(sums[i] >= least) << i;                                         \
        }                                                                                       \
        return found;                                                                           \
    }
DEFINE_LOOK(look_plain, , pr_bytes_plain)
#ifdef PR_HAS_BYTE_PRODUCTS
DEFINE_LOOK(look_avx2, PR_BYTES_AVX2, pr_bytes_avx2)
DEFINE_LOOK(look_avx512, PR_BYTES_AVX512, pr_bytes_avx512)
#endif

typedef uint64_t look_at(const pr_search_query *q, size_t b, pr_real bar, int32_t *sums);

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

/* ---- the order of blocks ----
 *
 * The sooner the bar is high, the fewer blocks are read. So the few that promise most come first, then those that
 * still reach the bar, in order of what they promise, roughly. */

enum { SEEDS_MOST = 64, BUCKETS = 64 };

/* The bucket of a bound: 0 has the largest. */
static size_t bucket_of(pr_real below_top, pr_real scale)
{
    pr_real bucket = below_top * scale;
    return bucket < BUCKETS - 1 ? (size_t)bucket : BUCKETS - 1; /* what is no number too */
}

/* Blocks that reach the bar, by buckets of their bounds. */
static void order_rest(pr_search_query *q, pr_real bar)
{
    size_t blocks = q->search->blocks, starts[BUCKETS + 1] = {0}, count = 0;
    pr_real top = pr_top(q->reach, blocks);
    pr_real scale = bar > NOTHING && top > bar ? BUCKETS / (top - bar) : 0;
    for (size_t b = 0; b < blocks; b++) {
        q->listed[count] = (int32_t)b;
        count += q->reach[b] >= bar;
    }
    for (size_t i = 0; i < count; i++)
        starts[bucket_of(top - q->reach[q->listed[i]], scale) + 1]++;
    for (size_t i = 0; i < BUCKETS; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        q->order[starts[bucket_of(top - q->reach[q->listed[i]], scale)]++] = q->listed[i];
    q->ordered = count;
}

/* The next block that can reach the bar; `blocks`: there is none. */
static size_t next_block(pr_search_query *q, pr_real bar)
{
    size_t blocks = q->search->blocks;
    for (;;) {
        while (q->next < q->ordered) {
            size_t b = (size_t)q->order[q->next++];
            if (q->reach[b] >= bar)
                return b;
        }
        if (q->stage == REST)
            return blocks;
        q->next = 0;
        if (q->stage++ == BEGIN)
            q->ordered = pr_topk(q->order, q->reach, blocks,
                                 blocks / 64 < SEEDS_MOST ? blocks / 64 : SEEDS_MOST);
        else
            order_rest(q, bar);
    }
}

/* The same, and the one after it is on its way to the cache. */
static size_t take_block(pr_search_query *q, pr_real bar)
{
    const pr_search *s = q->search;
    size_t b = q->ahead, bytes = BLOCK * s->early;
    while (b < s->blocks && !(q->reach[b] >= bar)) /* the bar has risen, or it was a seed */
        b = next_block(q, bar);
    if (b == s->blocks)
        return b;
    q->reach[b] = -(pr_real)INFINITY;
    q->ahead = next_block(q, bar);
    for (size_t i = 0; q->ahead < s->blocks && i < bytes; i += 64)
        __builtin_prefetch(s->codes + q->ahead * bytes + i);
    return b;
}

size_t pr_search_next(pr_search_query *q, pr_real bar, int32_t *rows)
{
    int32_t sums[BLOCK];
    size_t count = 0, blocks = q->search->blocks, b;
    look_at *look = PR_BYTES_CHOOSE(look_plain, look_avx2, look_avx512);
    pr_real least = lowered(bar);
    if (q->stage == BEGIN)
        q->ahead = next_block(q, least);
    while (count < ENOUGH && (b = take_block(q, least)) < blocks) {
        uint64_t found = look(q, b, least, sums);
        q->read += BLOCK;
        if (found != 0)
            count += second(q, b, found, sums, least, rows + count);
    }
    q->found += count;
    return count;
}
