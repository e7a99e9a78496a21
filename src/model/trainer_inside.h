/* The trainer from the inside: memory in trainer.c, work in trainer_batch.c. */
#ifndef PR_TRAINER_INSIDE_H
#define PR_TRAINER_INSIDE_H

#include "math/optimise.h"
#include "model/trainer.h"

enum {
    CHUNK_ROWS = 128,   /* large enough for fast products, two to a batch of 256 */
    CHUNK_CELLS = 4096, /* rows times steps: bounds memory when baskets are long */
    LEAST_ROWS = 16,
    SPAN = 16384, /* numbers in one task of adding up and updating */
};

/* A stretch of one parameter. */
typedef struct pr_span {
    size_t at, n;
    bool lazy;
    bool decays;
} pr_span;

struct pr_trainer {
    pr_model *model;
    pr_pool *pool;
    pr_limits limits;
    uint64_t seed, step;
    size_t chunk_max; /* chunks a batch can have */
    pr_real *gradient, *moment[2];
    pr_real *extra; /* gradients of chunks 1, 2, ...; chunk 0 uses `gradient` */
    pr_arena *arenas;
    unsigned threads;
    pr_chunk *chunks;
    size_t chunk_count;
    uint32_t *order; /* rows of the batch, dealt out to chunks */
    uint8_t *masks;
    pr_real *user_gradient;
    int32_t *users, *touched;
    size_t touched_count;
    uint32_t *stamp; /* of each user row: the last batch that touched it */
    uint32_t stamp_now;
    pr_span *spans;
    size_t span_count;
    double *squares; /* of each span */
    pr_real *common; /* [categories, most columns]: what a category's items share, parents' too */
    const pr_batch *batch;
    pr_adam adam;
    pr_real clip;
    double *parts; /* [threads, PR_STEP_PARTS]; NULL: not measured */
};

/* Kin: the rows of a table are what each item has learnt itself and what its categories share
 * (docs/math.md, Kin). Updates act on the parts. */
size_t pr_shared_width(const pr_model *model); /* most columns of a table with shared parts, or 0 */
/* After the gradient of the tables is there: that of the shared parts. Returns its square. */
double pr_shared_gradient(pr_trainer *t);
void pr_shared_subtract(pr_trainer *t); /* leaves each item its own part in the tables ... */
void pr_shared_add(pr_trainer *t); /* ... and puts the shared ones, as they are now, on top again */

static inline size_t pr_chunk_rows(size_t steps)
{
    size_t rows = CHUNK_CELLS / (steps > 0 ? steps : 1);
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    return rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
}

/* More than one are an even number, so that two threads have equal shares. */
static inline size_t pr_chunk_count(size_t rows, size_t steps)
{
    size_t chunks = (rows + pr_chunk_rows(steps) - 1) / pr_chunk_rows(steps);
    return chunks > 1 ? (chunks + 1) / 2 * 2 : chunks;
}

#endif
