/* Rows that another thread reads ahead of the caller, so that decoding them (Parquet: decompression,
 * dictionaries, numbers as text) and gathering them go on side by side.
 *
 * Rows are copied into blocks, which go round: the reading thread fills one while the caller walks
 * through another. What one thread writes reaches the other slowly, so a block has only the fields that
 * differ from the row above, and the caller puts the rows together again. A block ends when it is full,
 * at the end of the source, or with a row that is not valid, whose error the caller meets in its place.
 * The first row is read on the caller's thread: a query starts there, and its progress is reported
 * there. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "import/rows.h"

/* Sources work in bursts: the blocks take as many rows as a row group of a Parquet file has, so that the
 * caller has rows while the next one is decompressed. */
enum { BLOCKS = 32, BLOCK_ROWS = 4096, BLOCK_TEXT = 64 << 10 };

typedef struct block {
    uint64_t *same;  /* [BLOCK_ROWS]: as in pr_row; 0 in the first row */
    uint32_t *sizes; /* [BLOCK_ROWS * columns]: of the fields that differ, row after row */
    uint64_t line;   /* of the first row; the others follow without a gap */
    size_t rows, size_count;
    char *text;
    size_t used, room;
    bool end; /* nothing follows */
    parsrec_status status;
    parsrec_error error; /* of what follows the rows, if the status is not OK */
} block;

typedef struct ahead {
    pr_rows base;
    pr_rows *source; /* after the start: the reading thread's alone, until that has ended */
    block blocks[BLOCKS];
    pr_thread thread;
    uint64_t filled, emptied; /* under its lock: blocks so far; block n is blocks[n % BLOCKS] */
    /* The caller's side. */
    bool began;
    block *open; /* the block being walked through; NULL: the next one has to be waited for */
    size_t at, size_at, text_at; /* in it: the next row, and where its fields begin */
    pr_slice *fields;            /* of the row given last */
    uint64_t given;
} ahead;

/* ---- the reading thread ---- */

/* False if the text does not fit in a block that has rows already. */
static bool make_room(block *b, size_t bytes)
{
    if (b->room - b->used >= bytes)
        return true;
    if (b->rows > 0)
        return false;
    size_t room = bytes > BLOCK_TEXT ? bytes : BLOCK_TEXT;
    pr_free(b->text);
    b->text = pr_alloc(room, 1);
    b->room = b->text != NULL ? room : 0;
    if (b->text == NULL)
        b->status = pr_fail_memory(&b->error);
    return b->text != NULL;
}

/* The next column from `i` on whose field differs; `columns` after the last. */
static inline size_t next_that_differs(uint64_t same, size_t i, size_t columns)
{
    if (i < 63)
        i += (size_t)__builtin_ctzll(~same >> i); /* bit 63 is never set */
    return i < columns ? i : columns;
}

static inline void copy_bytes(char *to, const char *from, size_t size)
{
    if (size >= 8 || size == 0) { /* a call */
        memcpy(to, from, size);
    } else if (size >= 4) {
        uint32_t head, tail;
        memcpy(&head, from, 4);
        memcpy(&tail, from + size - 4, 4);
        memcpy(to, &head, 4);
        memcpy(to + size - 4, &tail, 4);
    } else {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

/* False if the row does not fit. */
static bool add_row(block *b, const pr_row *row)
{
    size_t bytes = 0, n = row->count;
    uint64_t same = b->rows > 0 ? row->same : 0;
    for (size_t i = next_that_differs(same, 0, n); i < n; i = next_that_differs(same, i + 1, n))
        bytes += row->fields[i].size;
    if (b->rows == BLOCK_ROWS || (b->rows > 0 && row->line != b->line + b->rows) ||
        !make_room(b, bytes))
        return false;
    for (size_t i = next_that_differs(same, 0, n); i < n; i = next_that_differs(same, i + 1, n)) {
        size_t size = row->fields[i].size;
        copy_bytes(b->text + b->used, row->fields[i].bytes, size);
        b->sizes[b->size_count++] = (uint32_t)size;
        b->used += size;
    }
    if (b->rows == 0)
        b->line = row->line;
    b->same[b->rows++] = same;
    return true;
}

/* Fills a block; *row is what did not fit in the one before, if *left, and then what did not fit here. */
static void fill(ahead *self, block *b, pr_row *row, bool *left)
{
    *b = (block){.same = b->same, .sizes = b->sizes, .text = b->text, .room = b->room};
    bool go_on = !*left || add_row(b, row);
    *left = *left && !go_on;
    while (go_on) {
        b->status = self->source->next(self->source, row, &b->end, &b->error);
        go_on = b->status == PARSREC_OK && !b->end;
        if (go_on && !add_row(b, row)) {
            *left = b->status == PARSREC_OK;
            go_on = false;
        }
    }
    assert(b->rows > 0 || b->end || b->status != PARSREC_OK);
}

static void *read_ahead(void *context)
{
    ahead *self = context;
    pr_row row = {0};
    bool left = false, last = false;
    pthread_mutex_lock(&self->thread.lock);
    while (!self->thread.stop && !last) {
        if (self->filled - self->emptied == BLOCKS) {
            pthread_cond_wait(&self->thread.changed, &self->thread.lock);
            continue;
        }
        block *b = &self->blocks[self->filled % BLOCKS];
        pthread_mutex_unlock(&self->thread.lock);
        fill(self, b, &row, &left);
        last = b->end || (b->status != PARSREC_OK && b->status != PARSREC_E_INPUT);
        pthread_mutex_lock(&self->thread.lock);
        self->filled++;
        pthread_cond_signal(&self->thread.changed);
    }
    pthread_mutex_unlock(&self->thread.lock);
    return NULL;
}

/* ---- the caller ---- */

/* The first row, and the thread for the others. Without a thread, the caller reads them all. */
static parsrec_status begin(ahead *self, pr_row *row, bool *end, parsrec_error *err)
{
    parsrec_status status = self->source->next(self->source, row, end, err);
    if (status != PARSREC_OK || *end)
        return status;
    /* The row's fields live until the source is asked again, which the thread will do. */
    size_t columns = self->base.column_count;
    for (size_t i = 0; i < BLOCKS; i++) {
        block *b = &self->blocks[i];
        b->same = pr_alloc(BLOCK_ROWS, sizeof *b->same);
        b->sizes = pr_alloc(BLOCK_ROWS * columns, sizeof *b->sizes);
        b->text = pr_alloc(BLOCK_TEXT, 1);
        b->room = b->text != NULL ? BLOCK_TEXT : 0;
        if (b->same == NULL || b->sizes == NULL || b->text == NULL)
            return pr_fail_memory(err);
    }
    self->fields = pr_alloc(columns, sizeof *self->fields);
    if (self->fields == NULL)
        return pr_fail_memory(err);
    if (!add_row(&self->blocks[0], row))
        return pr_fail_memory(err);
    self->open = &self->blocks[0];
    self->filled = 1;
    self->began = true;
    pr_thread_start(&self->thread, read_ahead, self);
    return PARSREC_OK;
}

/* The next block, once it is there; the one before may be filled again. */
static void turn(ahead *self)
{
    pthread_mutex_lock(&self->thread.lock);
    self->emptied += self->open != NULL;
    pthread_cond_signal(&self->thread.changed);
    while (self->filled == self->emptied)
        pthread_cond_wait(&self->thread.changed, &self->thread.lock);
    self->open = &self->blocks[self->emptied % BLOCKS];
    pthread_mutex_unlock(&self->thread.lock);
    self->at = self->size_at = self->text_at = 0;
}

/* The open block's next row: what differs is there, the rest is as it was. */
static void take_row(ahead *self, pr_row *row)
{
    const block *b = self->open;
    size_t n = self->base.column_count;
    uint64_t same = b->same[self->at];
    for (size_t i = next_that_differs(same, 0, n); i < n; i = next_that_differs(same, i + 1, n)) {
        size_t size = b->sizes[self->size_at++];
        self->fields[i] = (pr_slice){b->text + self->text_at, size};
        self->text_at += size;
    }
    *row = (pr_row){self->fields, n, b->line + self->at, same};
    self->at++;
    self->given++;
}

static parsrec_status ahead_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    ahead *self = (ahead *)base;
    *end = false;
    if (!self->began) {
        PR_TRY(begin(self, row, end, err));
        if (*end)
            return PARSREC_OK;
    }
    if (self->at == self->open->rows && !self->thread.running && self->open->status == PARSREC_OK)
        return self->source->next(self->source, row, end, err);
    while (self->at == self->open->rows) {
        block *b = self->open;
        if (b->status != PARSREC_OK) {
            parsrec_status status = b->status;
            *err = b->error;
            b->status = PARSREC_OK; /* told once; a row that is not valid may be skipped */
            b->end = b->end || status != PARSREC_E_INPUT;
            return status;
        }
        *end = b->end;
        if (b->end)
            return PARSREC_OK;
        turn(self);
    }
    take_row(self, row);
    return PARSREC_OK;
}

static parsrec_status ahead_choose(pr_rows *base, const size_t *columns, size_t count,
                                   parsrec_error *err)
{
    ahead *self = (ahead *)base;
    assert(!self->began);
    return self->source->choose(self->source, columns, count, err);
}

static void ahead_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    *done = ((const ahead *)base)->given;
    *total = 0;
}

static void ahead_free(pr_rows *base)
{
    ahead *self = (ahead *)base;
    pr_thread_free(&self->thread);
    for (size_t i = 0; i < BLOCKS; i++) {
        pr_free(self->blocks[i].same);
        pr_free(self->blocks[i].sizes);
        pr_free(self->blocks[i].text);
    }
    pr_free(self->fields);
    pr_rows_free(self->source);
    pr_free(self);
}

parsrec_status pr_rows_ahead(pr_rows **out, pr_rows *source, parsrec_error *err)
{
    ahead *self = pr_alloc_zero(1, sizeof *self);
    *out = NULL;
    if (self == NULL) {
        pr_rows_free(source);
        return pr_fail_memory(err);
    }
    self->source = source;
    self->base = (pr_rows){.name = source->name,
                           .columns = source->columns,
                           .column_count = source->column_count,
                           .delimiter = source->delimiter,
                           .lines = source->lines,
                           .choose = source->choose != NULL ? ahead_choose : NULL,
                           .next = ahead_next,
                           .position = ahead_position,
                           .free = ahead_free};
    pr_thread_init(&self->thread);
    *out = &self->base;
    return PARSREC_OK;
}
