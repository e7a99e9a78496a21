/* The three products with the catalogue that training computes per step, by sgemm and in bf16
 * (docs/adr/0025).
 *   cc -O3 -Iinclude -Isrc bench/bf16.c build/release/src/libparsrec.a \
 *       $(pkg-config --libs jansson sqlite3 libzstd zlib) -lpthread -lm -ldl -o bf16
 *   ./bf16 [ITEMS [BASKETS [WIDTH [ROUNDS]]]]    11997, 128, 64 and 15 unless given
 * BASKETS are the rows of a chunk, WIDTH is dim.item; both must be multiples of 64. sgemm is called
 * as math/softmax_loss.c calls it, in tiles of 512 items. bf16 multiplies pairs of 16-bit numbers
 * and adds in 32 bits (vdpbf16ps). All its operands are converted in every step, the item table
 * too, because every step has its own mask over the table. Rounds of both alternate. Prints what
 * the two instructions reach without memory, then medians of the rounds for one step: each product
 * without converting, converting, and everything. Times are processor times of the thread.
 * Compiles on any x86-64; on a processor without avx512_bf16 it says so and exits with 1. */
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "math/blas.h"
#include "math/softmax_loss.h"

#define BF16    __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define BF16_IN BF16 static inline __attribute__((always_inline))

enum {
    PANEL = 64,   /* columns of a product that are computed together */
    TOGETHER = 6, /* rows: their sums, a line of the panel and a pair use 29 of 32 registers */
    VECTORS = PANEL / PR_LANES,
    DEEP = 64, /* lines of a panel that stay in the first cache */
    STEPS = 10 /* of training per round */
};

/* Two 16-bit numbers that are multiplied together. */
typedef uint32_t pair;

/* ---- converting ---- */

/* 32 adjacent numbers as pairs. */
BF16_IN __m512i pairs_at(const float *from)
{
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + PR_LANES), _mm512_loadu_ps(from));
}

/* along[rows,n/2] = adjacent numbers as pairs, unless NULL; down[rows/2,n] = a number and the one
 * below it, where a missing last row counts as zeros. n is a multiple of 32. */
BF16_IN void pair_both(pair *along, pair *down, const float *from, size_t rows, size_t n)
{
    uint16_t order[2][2 * PR_LANES]; /* which numbers of two rows are in a half of their pairs */
    for (size_t i = 0; i < 2 * PR_LANES; i++) {
        order[0][i] = (uint16_t)(i / 2 + (i % 2) * 2 * PR_LANES);
        order[1][i] = (uint16_t)(order[0][i] + PR_LANES);
    }
    __m512i left_half = _mm512_loadu_si512(order[0]), right_half = _mm512_loadu_si512(order[1]);
    for (size_t r = 0; r < rows; r += 2)
        for (size_t i = 0; i < n; i += 2 * PR_LANES) {
            __m512i upper = pairs_at(from + r * n + i), lower = _mm512_setzero_si512();
            if (r + 1 < rows)
                lower = pairs_at(from + (r + 1) * n + i);
            if (along != NULL)
                _mm512_storeu_si512(along + (r * n + i) / 2, upper);
            if (along != NULL && r + 1 < rows)
                _mm512_storeu_si512(along + ((r + 1) * n + i) / 2, lower);
            pair *to = down + r / 2 * n + i;
            _mm512_storeu_si512(to, _mm512_permutex2var_epi16(upper, left_half, lower));
            _mm512_storeu_si512(to + PR_LANES, _mm512_permutex2var_epi16(upper, right_half, lower));
        }
}

/* to[B/64,D/2,64] = panels of o[B,D] transposed: pairs along a row, 64 rows beside each other. */
BF16_IN void pair_panels(pair *to, pair *room, const float *o, size_t B, size_t D)
{
    size_t pairs = D / 2;
    for (size_t i = 0; i < B * D; i += 2 * PR_LANES)
        _mm512_storeu_si512(room + i / 2, pairs_at(o + i));
    for (size_t b = 0; b < B; b++)
        for (size_t p = 0; p < pairs; p++)
            to[(b / PANEL * pairs + p) * PANEL + b % PANEL] = room[b * pairs + p];
}

/* ---- multiplying ---- */

/* Where the left operand of a product has its pairs: pair p of row r is at[r·row + p·step]. */
typedef struct left {
    const pair *at;
    size_t row, step;
} left;

/* And the right operand: line p of the panel that starts at column n is at[n·panel + p·line]. */
typedef struct right {
    const pair *at;
    size_t panel, line;
} right;

/* c[R,64] = rows of a times a panel; with `add`, added to c. R is a compile-time constant. */
BF16_IN void block(float *c, size_t c_stride, bool add, left a, right b, size_t pairs, size_t R)
{
    __m512 sum[TOGETHER][VECTORS];
#pragma GCC unroll 6
    for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            sum[r][v] =
                add ? _mm512_loadu_ps(c + r * c_stride + v * PR_LANES) : _mm512_setzero_ps();
    for (size_t p = 0; p < pairs; p++) {
        __m512bh line[VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            line[v] = (__m512bh)_mm512_loadu_si512(b.at + p * b.line + v * PR_LANES);
#pragma GCC unroll 6
        for (size_t r = 0; r < R; r++) {
            __m512bh x = (__m512bh)_mm512_set1_epi32((int)a.at[r * a.row + p * a.step]);
#pragma GCC unroll 4
            for (size_t v = 0; v < VECTORS; v++)
                sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, line[v]);
        }
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            _mm512_storeu_ps(c + r * c_stride + v * PR_LANES, sum[r][v]);
}

BF16 static void rows_of_block(float *c, size_t c_stride, bool add, left a, right b, size_t pairs,
                               size_t R)
{
    switch (R) {
    case 1:
        block(c, c_stride, add, a, b, pairs, 1);
        break;
    case 2:
        block(c, c_stride, add, a, b, pairs, 2);
        break;
    case 3:
        block(c, c_stride, add, a, b, pairs, 3);
        break;
    case 4:
        block(c, c_stride, add, a, b, pairs, 4);
        break;
    case 5:
        block(c, c_stride, add, a, b, pairs, 5);
        break;
    default:
        block(c, c_stride, add, a, b, pairs, TOGETHER);
    }
}

/* c[M,N] = a · b; with `add`, added to c. Pieces of panels stay in the first cache. */
BF16 static void multiply(float *c, bool add, left a, right b, size_t M, size_t N, size_t pairs)
{
    for (size_t p = 0; p < pairs; p += DEEP) {
        size_t deep = pairs - p < DEEP ? pairs - p : DEEP;
        for (size_t m = 0; m < M; m += TOGETHER)
            for (size_t n = 0; n < N; n += PANEL) {
                left rows = {a.at + m * a.row + p * a.step, a.row, a.step};
                right panel = {b.at + n * b.panel + p * b.line, b.panel, b.line};
                rows_of_block(c + m * N + n, N, add || p > 0, rows, panel, deep,
                              M - m < TOGETHER ? M - m : TOGETHER);
            }
    }
}

/* ---- a step of training, both ways ---- */

typedef enum part { SCORES, OUTPUTS, TABLE, PRODUCTS, CONVERTING = PRODUCTS, ALL, PARTS } part;
static const char *const names[] = {"scores", "gradient of outputs", "gradient of the table",
                                    "converting", "all"};

typedef struct step {
    size_t V, B, D;
    float *table;                   /* [V,D] */
    float *o;                       /* [B,D] */
    float *score;                   /* [V,B] */
    float *do_;                     /* [B,D] */
    float *tile;                    /* [512,D]: a tile of the table's gradient */
    float *dtable;                  /* [V,D]: all tiles, for the comparison; or NULL */
    pair *o_panels, *o_down, *room; /* [B,D] */
    pair *table_along, *table_down; /* [512,D] and [V,D] */
    pair *score_along, *score_down; /* [512,B] */
    double seconds[PARTS];
} step;

static size_t tile_rows(const step *s, size_t first)
{
    return s->V - first < PR_TILE ? s->V - first : PR_TILE;
}

/* The seconds since the last call go to `sum`. */
static void mark(double *sum)
{
    static double last;
    double t = pr_thread_seconds();
    if (sum != NULL)
        *sum += t - last;
    last = t;
}

static void keep_tile(step *s, size_t first, size_t rows)
{
    if (s->dtable != NULL)
        memcpy(s->dtable + first * s->D, s->tile, rows * s->D * sizeof *s->tile);
}

static void step_sgemm(step *s)
{
    size_t V = s->V, B = s->B, D = s->D;
    mark(NULL);
    for (size_t first = 0; first < V; first += PR_TILE)
        pr_gemm(s->score + first * B, B, pr_mat(s->table + first * D, D), pr_flip(s->o, D), 0,
                tile_rows(s, first), B, D);
    mark(&s->seconds[SCORES]);
    for (size_t first = 0; first < V; first += PR_TILE) {
        size_t rows = tile_rows(s, first);
        const float *score = s->score + first * B;
        pr_gemm(s->do_, D, pr_flip(score, B), pr_mat(s->table + first * D, D), first > 0, B, D,
                rows);
        mark(&s->seconds[OUTPUTS]);
        pr_gemm(s->tile, D, pr_mat(score, B), pr_mat(s->o, D), 0, rows, D, B);
        mark(&s->seconds[TABLE]);
        keep_tile(s, first, rows);
        mark(NULL);
    }
}

BF16 static void step_bf16(step *s)
{
    size_t V = s->V, B = s->B, D = s->D;
    right o_panels = {s->o_panels, D / 2, PANEL}, o_down = {s->o_down, 1, D};
    mark(NULL);
    pair_panels(s->o_panels, s->room, s->o, B, D);
    pair_both(NULL, s->o_down, s->o, B, D);
    for (size_t first = 0; first < V; first += PR_TILE) {
        size_t rows = tile_rows(s, first), at = first * D;
        pair_both(s->table_along, s->table_down + at / 2, s->table + at, rows, D);
        mark(&s->seconds[CONVERTING]);
        multiply(s->score + first * B, false, (left){s->table_along, D / 2, 1}, o_panels, rows, B,
                 D / 2);
        mark(&s->seconds[SCORES]);
    }
    for (size_t first = 0; first < V; first += PR_TILE) {
        size_t rows = tile_rows(s, first);
        pair_both(s->score_along, s->score_down, s->score + first * B, rows, B);
        mark(&s->seconds[CONVERTING]);
        multiply(s->do_, first > 0, (left){s->score_down, 1, B},
                 (right){s->table_down + first * D / 2, 1, D}, B, D, (rows + 1) / 2);
        mark(&s->seconds[OUTPUTS]);
        multiply(s->tile, false, (left){s->score_along, B / 2, 1}, o_down, rows, D, B / 2);
        mark(&s->seconds[TABLE]);
        keep_tile(s, first, rows);
        mark(NULL);
    }
}

/* ---- what the processor can do ---- */

enum { CHAINS = 24, TURNS = 1000000 };

/* Sums in registers; the empty statement keeps a compiler from merging them. */
BF16_IN float spin(float start, bool halves)
{
    __m512 sum[CHAINS], x = _mm512_set1_ps(start);
#pragma GCC unroll 24
    for (size_t i = 0; i < CHAINS; i++)
        sum[i] = x;
    for (size_t turn = 0; turn < TURNS; turn++)
#pragma GCC unroll 24
        for (size_t i = 0; i < CHAINS; i++) {
            sum[i] = halves ? _mm512_dpbf16_ps(sum[i], (__m512bh)x, (__m512bh)x)
                            : _mm512_fmadd_ps(x, x, sum[i]);
            __asm__ volatile("" : "+v"(sum[i]));
        }
#pragma GCC unroll 24
    for (size_t i = 1; i < CHAINS; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_cvtss_f32(sum[0]);
}

BF16 static float spin_fma(float start)
{
    return spin(start, false);
}

BF16 static float spin_bf16(float start)
{
    return spin(start, true);
}

/* GFLOP/s of an instruction with so many operations. */
static double peak(float (*run)(float), double operations)
{
    double start = pr_thread_seconds();
    (void)run(1);
    return operations * CHAINS * TURNS / (pr_thread_seconds() - start) * 1e-9;
}

/* ---- the program ---- */

static void *need(void *memory)
{
    if (memory != NULL)
        return memory;
    fprintf(stderr, "bf16: out of memory\n");
    exit(1);
}

static float *random_numbers(size_t n)
{
    static uint64_t state = 88172645463325252u;
    float *x = need(pr_alloc_aligned(n, sizeof *x));
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        x[i] = (float)(state >> 40) * 0x1p-23f - 1;
    }
    return x;
}

static step make_step(size_t V, size_t B, size_t D)
{
    step s = {.V = V, .B = B, .D = D};
    s.table = random_numbers(V * D);
    s.o = random_numbers(B * D);
    s.score = random_numbers(V * B);
    s.do_ = random_numbers(B * D);
    s.tile = random_numbers(PR_TILE * D);
    s.o_panels = need(pr_alloc_aligned(B * D / 2, sizeof *s.o_panels));
    s.o_down = need(pr_alloc_aligned(B * D / 2, sizeof *s.o_down));
    s.room = need(pr_alloc_aligned(B * D / 2, sizeof *s.room));
    s.table_along = need(pr_alloc_aligned(PR_TILE * D / 2, sizeof *s.table_along));
    s.table_down = need(pr_alloc_aligned((V + 1) * D / 2, sizeof *s.table_down));
    s.score_along = need(pr_alloc_aligned(PR_TILE * B / 2, sizeof *s.score_along));
    s.score_down = need(pr_alloc_aligned(PR_TILE * B / 2, sizeof *s.score_down));
    return s;
}

/* The largest difference of two results, as a share of the largest number. */
static double difference(const float *x, const float *y, size_t n)
{
    double most = 0, top = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)x[i] - (double)y[i]));
        top = fmax(top, fabs((double)x[i]));
    }
    return most / top;
}

/* One step both ways, and the largest difference. bf16 keeps 8 bits of every number. */
static double compare(step *s)
{
    size_t numbers[PRODUCTS] = {s->V * s->B, s->B * s->D, s->V * s->D};
    float *exact[PRODUCTS], *own[PRODUCTS] = {s->score, s->do_, random_numbers(s->V * s->D)};
    double most = 0;
    s->dtable = own[TABLE];
    step_sgemm(s);
    for (part p = SCORES; p < PRODUCTS; p++) {
        exact[p] = random_numbers(numbers[p]);
        memcpy(exact[p], own[p], numbers[p] * sizeof *own[p]);
    }
    step_bf16(s);
    for (part p = SCORES; p < PRODUCTS; p++) {
        most = fmax(most, difference(exact[p], own[p], numbers[p]));
        pr_free_aligned(exact[p]);
    }
    pr_free_aligned(s->dtable);
    s->dtable = NULL;
    return most;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_size);
    return x[n / 2];
}

/* Seconds per step of a round. */
typedef struct round_times {
    double sgemm[PARTS], bf16[PARTS];
} round_times;

static void measure(double seconds[PARTS], step *s, void (*run)(step *))
{
    memset(s->seconds, 0, sizeof s->seconds);
    for (int i = 0; i < STEPS; i++)
        run(s);
    for (part p = SCORES; p < ALL; p++) {
        seconds[p] = s->seconds[p] / STEPS;
        s->seconds[ALL] += s->seconds[p];
    }
    seconds[ALL] = s->seconds[ALL] / STEPS;
}

/* Medians of the rounds. */
static void print_times(const round_times *t, size_t rounds, const step *s)
{
    double *sgemm = need(pr_alloc(3 * rounds, sizeof *sgemm)), *bf16 = sgemm + rounds,
           *ratio = bf16 + rounds, work = 2e-9 * (double)(s->V * s->B * s->D);
    printf("%-22s %9s %9s %9s %9s %7s\n", "", "sgemm ms", "GFLOP/s", "bf16 ms", "GFLOP/s",
           "faster");
    for (part p = SCORES; p < PARTS; p++) {
        for (size_t i = 0; i < rounds; i++) {
            sgemm[i] = t[i].sgemm[p];
            bf16[i] = t[i].bf16[p];
            ratio[i] = sgemm[i] / bf16[i];
        }
        double products = p == ALL ? PRODUCTS : 1, slow = median(sgemm, rounds),
               fast = median(bf16, rounds), faster = median(ratio, rounds);
        if (p == CONVERTING)
            printf("%-22s %9s %9s %9.3f\n", names[p], "", "", 1e3 * fast);
        else
            printf("%-22s %9.3f %9.1f %9.3f %9.1f %7.2f  (%.2f to %.2f)\n", names[p], 1e3 * slow,
                   products * work / slow, 1e3 * fast, products * work / fast, faster, ratio[0],
                   ratio[rounds - 1]);
    }
    pr_free(sgemm);
}

static size_t number(const char *text, const char *what, size_t multiple)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end == '\0' && n > 0 && n <= 1000000 && n % multiple == 0)
        return n;
    fprintf(stderr, "bf16: %s must be a multiple of %zu up to a million, not '%s'\n", what,
            multiple, text);
    exit(2);
}

int main(int argc, char **argv)
{
    size_t V = argc > 1 ? number(argv[1], "ITEMS", 1) : 11997;
    size_t B = argc > 2 ? number(argv[2], "BASKETS", PANEL) : 128;
    size_t D = argc > 3 ? number(argv[3], "WIDTH", PANEL) : 64;
    size_t rounds = argc > 4 ? number(argv[4], "ROUNDS", 1) : 15;
    if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512bw")) {
        fprintf(stderr,
                "bf16: this processor has no avx512_bf16, so there is nothing to compare\n");
        return 1;
    }
    step s = make_step(V, B, D);
    double off = compare(&s);
    printf("%zu items, %zu baskets, width %zu, kernels of sgemm: %s\n", V, B, D,
           pr_blas_core() != NULL ? pr_blas_core() : "unknown");
    printf("largest difference of the results: %.2f%% of the largest number\n", 100 * off);
    if (!(off < 0.02)) {
        fprintf(stderr, "bf16: the two ways do not compute the same products\n");
        return 1;
    }
    round_times *t = need(pr_alloc(rounds, sizeof *t));
    double *fma = need(pr_alloc(2 * rounds, sizeof *fma)), *bf16 = fma + rounds;
    for (size_t i = 0; i < rounds; i++) {
        fma[i] = peak(spin_fma, 2 * PR_LANES);
        bf16[i] = peak(spin_bf16, 4 * PR_LANES);
        measure(t[i].sgemm, &s, step_sgemm);
        measure(t[i].bf16, &s, step_bf16);
    }
    printf("registers alone, GFLOP/s: fma %.0f, vdpbf16ps %.0f\n", median(fma, rounds),
           median(bf16, rounds));
    print_times(t, rounds, &s);
    return 0;
}
