/* The text of the paper's program: user_id,time,session_length,session_items and then the items as
 * further fields of the same line. */
#include <string.h>

#include "base/memory.h"
#include "import/rows.h"

enum { USER, TIME, SESSION, ITEM, COLUMNS };

typedef struct reference {
    pr_rows base;
    pr_rows *csv;
    pr_row line;
    size_t next_item; /* field number in the line; 0: read a new line */
    pr_slice fields[COLUMNS];
} reference;

static const char *const header[COLUMNS] = {"user_id", "time", "session_length", "session_items"};

/* In the order of the text, so that column numbers in messages are those of the text. */
static const pr_slice column_names[COLUMNS] = {
    {"user", 4}, {"time", 4}, {"session", 7}, {"item", 4}};

bool pr_reference_header(const pr_rows *csv)
{
    if (csv->column_count != COLUMNS)
        return false;
    for (size_t i = 0; i < COLUMNS; i++)
        if (!pr_slice_is(csv->columns[i], header[i]))
            return false;
    return true;
}

/* The stated length must be the number of items that follow. */
static parsrec_status check_line(const reference *self, const pr_row *line, parsrec_error *err)
{
    uint64_t length;
    pr_excerpt hold;
    if (line->count < COLUMNS)
        return pr_rows_fail(self->csv, line->line, line->count - 1, err,
                            "%zu fields where at least %d belong; is the line cut?", line->count,
                            COLUMNS);
    pr_slice text = pr_slice_trim(line->fields[SESSION]);
    if (!pr_parse_u64(text, &length))
        return pr_rows_fail(self->csv, line->line, SESSION, err,
                            "session_length %s is not a whole number", pr_show(&hold, text));
    if (length != line->count - ITEM)
        return pr_rows_fail(self->csv, line->line, SESSION, err,
                            "session_length is %llu but %zu items follow; is the line cut?",
                            (unsigned long long)length, line->count - ITEM);
    for (size_t i = ITEM; i < line->count; i++)
        if (line->fields[i].size == 0)
            return pr_rows_fail(self->csv, line->line, i, err, "the item is empty; name it");
    return PARSREC_OK;
}

static parsrec_status reference_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    reference *self = (reference *)base;
    *end = false;
    if (self->next_item == 0 || self->next_item == self->line.count) {
        self->next_item = 0;
        PR_TRY(self->csv->next(self->csv, &self->line, end, err));
        if (*end)
            return PARSREC_OK;
        PR_TRY(check_line(self, &self->line, err));
        self->next_item = ITEM;
        self->fields[USER] = self->line.fields[USER];
        /* A session is what one user had at one time. */
        self->fields[TIME] = self->fields[SESSION] = self->line.fields[TIME];
    }
    self->fields[ITEM] = self->line.fields[self->next_item++];
    *row = (pr_row){self->fields, COLUMNS, self->line.line, 0};
    return PARSREC_OK;
}

static void reference_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    const reference *self = (const reference *)base;
    self->csv->position(self->csv, done, total);
}

static void reference_free(pr_rows *base)
{
    reference *self = (reference *)base;
    pr_rows_free(self->csv);
    pr_free(self);
}

parsrec_status pr_reference_open(pr_rows **out, pr_rows *csv, parsrec_error *err)
{
    *out = NULL;
    reference *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL) {
        pr_rows_free(csv);
        return pr_fail_memory(err);
    }
    pr_csv_allow_ragged(csv);
    self->base = (pr_rows){.name = csv->name,
                           .columns = column_names,
                           .column_count = COLUMNS,
                           .lines = true,
                           .next = reference_next,
                           .position = reference_position,
                           .free = reference_free};
    self->csv = csv;
    *out = &self->base;
    return PARSREC_OK;
}
