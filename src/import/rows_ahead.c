/* Rows that another thread reads ahead of the caller, so that decoding them (Parquet: decompression,
 * dictionaries, numbers as text) and gathering them go on side by side.
 *
 * Rows are copied into blocks, which go round: the reading thread fills one while the caller walks
 * through another. A block ends when it is full, at the end of the source, or with a row that is not
 * valid, whose error the caller meets in its place. The first row is read on the caller's thread: a query
 * starts there, and its progress is reported there. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "import/rows.h"

enum { BLOCKS = 4, BLOCK_ROWS = 4096, BLOCK_TEXT = 256 << 10 };

typedef struct block {
    pr_slice *fields; /* [BLOCK_ROWS][columns] */
    uint64_t *lines;
    size_t rows;
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
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* of filled, emptied and stop */
    pthread_cond_t changed;
    uint64_t filled, emptied; /* blocks so far; block n is blocks[n % BLOCKS] */
    bool stop;
    /* The caller's side. */
    bool began;
    block *open; /* the block being walked through; NULL: the next one has to be waited for */
    size_t at;
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

static bool add_row(block *b, const pr_row *row)
{
    size_t bytes = 0;
    for (size_t i = 0; i < row->count; i++)
        bytes += row->fields[i].size;
    if (b->rows == BLOCK_ROWS || !make_room(b, bytes))
        return false;
    pr_slice *fields = b->fields + b->rows * row->count;
    for (size_t i = 0; i < row->count; i++) {
        size_t size = row->fields[i].size;
        if (size > 0)
            memcpy(b->text + b->used, row->fields[i].bytes, size);
        fields[i] = (pr_slice){b->text + b->used, size};
        b->used += size;
    }
    b->lines[b->rows++] = row->line;
    return true;
}

/* Fills a block; *row is what did not fit in the one before, if *left, and then what did not fit here. */
static void fill(ahead *self, block *b, pr_row *row, bool *left)
{
    *b = (block){.fields = b->fields, .lines = b->lines, .text = b->text, .room = b->room};
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
    pthread_mutex_lock(&self->lock);
    while (!self->stop && !last) {
        if (self->filled - self->emptied == BLOCKS) {
            pthread_cond_wait(&self->changed, &self->lock);
            continue;
        }
        block *b = &self->blocks[self->filled % BLOCKS];
        pthread_mutex_unlock(&self->lock);
        fill(self, b, &row, &left);
        last = b->end || (b->status != PARSREC_OK && b->status != PARSREC_E_INPUT);
        pthread_mutex_lock(&self->lock);
        self->filled++;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
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
        b->fields = pr_alloc(BLOCK_ROWS * columns, sizeof *b->fields);
        b->lines = pr_alloc(BLOCK_ROWS, sizeof *b->lines);
        b->text = pr_alloc(BLOCK_TEXT, 1);
        b->room = b->text != NULL ? BLOCK_TEXT : 0;
        if (b->fields == NULL || b->lines == NULL || b->text == NULL)
            return pr_fail_memory(err);
    }
    if (!add_row(&self->blocks[0], row))
        return pr_fail_memory(err);
    self->open = &self->blocks[0];
    self->filled = 1;
    self->began = true;
    self->running = pthread_create(&self->thread, NULL, read_ahead, self) == 0;
    return PARSREC_OK;
}

/* The next block, once it is there; the one before may be filled again. */
static void turn(ahead *self)
{
    pthread_mutex_lock(&self->lock);
    self->emptied += self->open != NULL;
    pthread_cond_signal(&self->changed);
    while (self->filled == self->emptied)
        pthread_cond_wait(&self->changed, &self->lock);
    self->open = &self->blocks[self->emptied % BLOCKS];
    pthread_mutex_unlock(&self->lock);
    self->at = 0;
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
    if (self->at == self->open->rows && !self->running && self->open->status == PARSREC_OK)
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
    block *b = self->open;
    *row =
        (pr_row){b->fields + self->at * base->column_count, base->column_count, b->lines[self->at]};
    self->at++;
    self->given++;
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
    if (self->running) {
        pthread_mutex_lock(&self->lock);
        self->stop = true;
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    for (size_t i = 0; i < BLOCKS; i++) {
        pr_free(self->blocks[i].fields);
        pr_free(self->blocks[i].lines);
        pr_free(self->blocks[i].text);
    }
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
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    *out = &self->base;
    return PARSREC_OK;
}
