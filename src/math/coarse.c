/* Quantising a table and a query, the bound on what that changes, and the rows that remain. */
#include "math/coarse.h"

#include <assert.h>

#include "math/byte_products.h"
#include "math/topk.h"
#include "math/wide.h"

enum {
    BLOCK = PR_BYTE_BLOCK,
    GROUP = PR_BYTE_GROUP,
    CODE_MOST = PR_BYTE_CODE_MOST,
    QUERY_MOST = PR_BYTE_QUERY_MOST,
};

static const pr_real TOO_LARGE = (pr_real)1e30; /* the square of a larger value would not be
                                                 * finite */

size_t pr_coarse_bytes(size_t rows, size_t width)
{
    size_t whole = pr_round_up(rows, BLOCK);
    return whole * (pr_round_up(width, GROUP) + sizeof(pr_real));
}

/* ---- quantising a table ---- */

static pr_real largest(const pr_real *x, size_t n)
{
    pr_real most = 0;
    for (size_t i = 0; i < n && most == most; i++) { /* stops at a NaN */
        pr_real size = x[i] < 0 ? -x[i] : x[i];
        most = size <= most ? most : size;
    }
    return most;
}

/* Updates the largest length of a row's codes and of its rounding error, in steps. */
static void make_row(pr_coarse *c, size_t row, const pr_real *from)
{
    pr_real most = largest(from, c->width), step = most / CODE_MOST;
    double length = 0, error = 0;
    uint8_t *block = c->codes + row / BLOCK * BLOCK * pr_round_up(c->width, GROUP);
    if (!(step < TOO_LARGE)) {
        c->error = (pr_real)INFINITY;
        return;
    }
    for (size_t i = 0; i < c->width; i++) {
        pr_real exact = step > 0 ? from[i] / step : 0;
        double code = (double)(int)(exact + (exact < 0 ? (pr_real)-0.5 : (pr_real)0.5));
        block[pr_byte_at(row % BLOCK, i)] = (uint8_t)(code + PR_BYTE_SHIFT);
        length += code * code;
        error += ((double)exact - code) * ((double)exact - code);
    }
    c->steps[row] = step;
    c->length = (pr_real)fmax((double)c->length, sqrt(length));
    c->error = (pr_real)fmax((double)c->error, sqrt(error));
}

void pr_coarse_make(pr_coarse *coarse, void *memory, const pr_real *table, size_t rows,
                    size_t width)
{
    assert(width <= PR_COARSE_WIDTH_MOST);
    size_t whole = pr_round_up(rows, BLOCK), bytes = whole * pr_round_up(width, GROUP);
    *coarse = (pr_coarse){.rows = rows, .width = width, .codes = memory};
    coarse->steps = (pr_real *)(void *)(coarse->codes + bytes);
    memset(coarse->codes, PR_BYTE_SHIFT, bytes);
    memset(coarse->steps, 0, whole * sizeof *coarse->steps);
    for (size_t r = 0; r < rows; r++)
        make_row(coarse, r, table + r * width);
}

/* ---- quantising a query ---- */

/* |x·w - step·codes·…| ≤ |x| · |error of w| + |error of x| · |codes of w|, plus the rounding of the
 * exact sums of up to `width` additions each. */
static pr_real slack_of(const pr_coarse *c, double length, double error)
{
    double rounding = 2 * (double)c->width * 1.2e-7 * length * (double)(c->length + c->error);
    return (pr_real)((length * (double)c->error + error * (double)c->length + rounding) * 1.0001);
}

/* Codes of x in `width` columns; also the squared lengths of x and of its rounding error, in
 * steps. Returns the sum of the codes. Values are made positive before they are converted to
 * integers, because only then conversion rounds down. */
PR_INLINE int32_t code_any(int8_t *codes, const pr_real *x, pr_real step, size_t width,
                           pr_real *length, pr_real *error)
{
    enum { UP = QUERY_MOST + 1 };
    int32_t sum = 0;
    pr_real lengths[PR_LANES] = {0}, errors[PR_LANES] = {0};
    pr_real scale = step > 0 ? 1 / step : 0;
    for (size_t first = 0; first < width; first += PR_LANES)
        for (size_t i = 0; i < PR_LANES && first + i < width; i++) {
            pr_real exact = x[first + i] * scale;
            int32_t code = (int32_t)(exact + (pr_real)(UP + 0.5)) - UP;
            pr_real lost = exact - (pr_real)code;
            codes[first + i] = (int8_t)code;
            sum += code;
            lengths[i] += exact * exact;
            errors[i] += lost * lost;
        }
    *length = pr_sum(lengths, PR_LANES);
    *error = pr_sum(errors, PR_LANES);
    return sum;
}
PR_LOCAL_LEVELS(int32_t, code, code_any,
                (int8_t * codes, const pr_real *x, pr_real step, size_t width, pr_real *length,
                 pr_real *error),
                (codes, x, step, width, length, error))

void pr_coarse_ask(pr_coarse_query *query, const pr_coarse *coarse, const pr_real *x)
{
    size_t width = coarse->width;
    pr_real length, error;
    query->step = largest(x, width) / QUERY_MOST;
    query->slack = (pr_real)INFINITY;
    if (!(query->step < TOO_LARGE))
        return;
    memset(query->codes + width, 0, pr_round_up(width, GROUP) - width);
    query->shift = PR_BYTE_SHIFT * code(query->codes, x, query->step, width, &length, &error);
    query->slack = query->step * slack_of(coarse, sqrt((double)length), sqrt((double)error));
}

/* ---- sums ---- */

typedef uint64_t block_sums(int32_t *sums, const uint8_t *codes, const int8_t *x, size_t width,
                            int32_t least);

PR_INLINE void scale_any(pr_real *least, const int32_t *sums, int32_t shift, const pr_real *steps,
                         pr_real step, pr_real slack, size_t n)
{
    for (size_t i = 0; i < n; i++)
        least[i] = steps[i] * ((pr_real)(sums[i] - shift) * step - slack);
}
PR_LOCAL_LEVELS(void, scale, scale_any,
                (pr_real * least, const int32_t *sums, int32_t shift, const pr_real *steps,
                 pr_real step, pr_real slack, size_t n),
                (least, sums, shift, steps, step, slack, n))

void pr_coarse_least(pr_real *least, const pr_coarse *c, const pr_coarse_query *query)
{
    block_sums *sum = PR_BYTES_CHOOSE(pr_bytes_plain, pr_bytes_avx2, pr_bytes_avx512);
    size_t width = pr_round_up(c->width, GROUP);
    int32_t sums[BLOCK];
    for (size_t r = 0; r < c->rows; r += BLOCK) {
        sum(sums, c->codes + r * width, query->codes, width, 0);
        scale(least + r, sums, query->shift, c->steps + r, query->step, query->slack,
              c->rows - r < BLOCK ? c->rows - r : BLOCK);
    }
}

/* ---- candidates ---- */

PR_INLINE void most_any(pr_real *scores, const pr_real *steps, pr_real more, size_t n)
{
    pr_add_scaled(scores, steps, more, n);
}
PR_LOCAL_LEVELS(void, raise, most_any,
                (pr_real * scores, const pr_real *steps, pr_real more, size_t n),
                (scores, steps, more, n))

size_t pr_coarse_reach(int32_t *rows, const pr_coarse *coarse, const pr_coarse_query *query,
                       pr_real *least, pr_real bar)
{
    assert(query->slack >= 0);
    pr_real rounding = (pr_real)1e-6 * (1 + (bar < 0 ? -bar : bar)); /* of the terms added since */
    raise(least, coarse->steps, 2 * query->slack, coarse->rows);
    return pr_at_least(rows, least, coarse->rows, bar - rounding);
}
