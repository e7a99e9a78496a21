/* Documents are built here; report_text.c, report_files.c and report_html.c write them. */
#include "report/report.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* ---- building ---- */

static unsigned formats_of(const pr_report *r)
{
    unsigned formats = r->only != 0 ? r->only : PR_IN_READING;
    return r->wanted != 0 ? formats & r->wanted : formats;
}

void pr_report_only(pr_report *r, unsigned formats)
{
    r->only = formats;
}

bool pr_report_is_wanted(const pr_report *r)
{
    return formats_of(r) != 0;
}

/* Ends the string before and begins one. The first byte is an empty string's. */
static size_t begin_string(pr_report *r)
{
    pr_write_bytes(&r->text, "", 1);
    return r->text.size;
}

static size_t copy_string(pr_report *r, const char *text)
{
    size_t at = begin_string(r);
    pr_write_bytes(&r->text, text, strlen(text));
    return at;
}

static pr_report_block *last_block(pr_report *r)
{
    assert(r->block_count > 0);
    return &r->blocks[r->block_count - 1];
}

/* False where nobody wants it, or there is no memory for it. */
static bool begin_block(pr_report *r, pr_report_kind kind)
{
    unsigned formats = formats_of(r);
    r->skipping = formats == 0;
    if (!r->skipping && pr_grow(&r->blocks, &r->block_capacity, r->block_count + 1,
                                sizeof *r->blocks, NULL) != PARSREC_OK)
        r->text.failed = r->skipping = true;
    if (r->skipping)
        return false;
    r->blocks[r->block_count++] = (pr_report_block){.kind = kind, .formats = formats};
    return true;
}

pr_writer *pr_report_open(pr_report *r, pr_report_kind kind)
{
    assert(kind != PR_REPORT_TABLE && kind != PR_REPORT_FACT && kind != PR_REPORT_FINDING);
    if (!begin_block(r, kind)) {
        r->unseen.size = 0;
        return &r->unseen;
    }
    last_block(r)->text = begin_string(r);
    return &r->text;
}

static void write_list(pr_writer *out, const char *format, va_list list)
{
    char text[1024], *long_text;
    va_list again;
    va_copy(again, list);
    int size = vsnprintf(text, sizeof text, format, list);
    if (size >= 0 && (size_t)size < sizeof text) {
        pr_write_bytes(out, text, (size_t)size);
    } else if (size >= 0 && (long_text = pr_alloc((size_t)size + 1, 1)) != NULL) {
        vsnprintf(long_text, (size_t)size + 1, format, again);
        pr_write_bytes(out, long_text, (size_t)size);
        pr_free(long_text);
    } else {
        out->failed = true;
    }
    va_end(again);
}

void pr_report_add(pr_report *r, pr_report_kind kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_list(pr_report_open(r, kind), format, list);
    va_end(list);
}

void pr_report_fact(pr_report *r, const char *name, const char *format, ...)
{
    va_list list;
    if (!begin_block(r, PR_REPORT_FACT))
        return;
    last_block(r)->text = copy_string(r, name);
    last_block(r)->more = begin_string(r);
    va_start(list, format);
    write_list(&r->text, format, list);
    va_end(list);
}

void pr_report_finding(pr_report *r, const char *sentence, const char *evidence)
{
    if (!begin_block(r, PR_REPORT_FINDING))
        return;
    last_block(r)->text = copy_string(r, sentence);
    last_block(r)->more = copy_string(r, evidence);
}

void pr_report_table(pr_report *r, const pr_report_column *columns, size_t count)
{
    assert(count > 0);
    if (!begin_block(r, PR_REPORT_TABLE))
        return;
    pr_report_block *b = last_block(r);
    b->first_row = r->row_count;
    b->first_column = r->column_count;
    if (pr_grow(&r->columns, &r->column_capacity, r->column_count + count, sizeof *r->columns,
                NULL) != PARSREC_OK) {
        r->text.failed = r->skipping = true;
        return;
    }
    b->column_count = count;
    for (size_t i = 0; i < count; i++)
        r->columns[r->column_count++] = (pr_report_column_entry){
            .heading = copy_string(r, columns[i].heading),
            .unit = columns[i].unit != NULL ? copy_string(r, columns[i].unit) : PR_NO_TEXT,
            .kind = columns[i].kind,
            .decimals = columns[i].decimals,
            .most = columns[i].most};
}

static void add_cell(pr_report *r, pr_report_cell_entry cell)
{
    pr_report_row_entry *row = &r->rows[r->row_count - 1];
    assert(last_block(r)->row_count > 0 && row->cell_count < last_block(r)->column_count);
    if (pr_grow(&r->cells, &r->cell_capacity, r->cell_count + 1, sizeof cell, NULL) != PARSREC_OK) {
        r->text.failed = r->skipping = true;
        return;
    }
    r->cells[r->cell_count++] = cell;
    row->cell_count++;
}

void pr_report_row(pr_report *r, pr_row_kind kind, const char *name)
{
    if (r->skipping)
        return;
    assert(last_block(r)->kind == PR_REPORT_TABLE);
    if (pr_grow(&r->rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows, NULL) !=
        PARSREC_OK) {
        r->text.failed = r->skipping = true;
        return;
    }
    r->rows[r->row_count++] = (pr_report_row_entry){.kind = kind, .first_cell = r->cell_count};
    last_block(r)->row_count++;
    add_cell(r, (pr_report_cell_entry){.text = copy_string(r, name)});
}

void pr_report_marked_row(pr_report *r, pr_row_kind kind, const char *name, size_t mark)
{
    assert(mark <= strlen(name));
    pr_report_row(r, kind, name);
    if (!r->skipping)
        r->rows[r->row_count - 1].mark = mark;
}

void pr_report_number(pr_report *r, double value, pr_emphasis emphasis)
{
    if (!r->skipping)
        add_cell(r, (pr_report_cell_entry){value, PR_NO_TEXT, emphasis});
}

void pr_report_words(pr_report *r, pr_emphasis emphasis, const char *format, ...)
{
    va_list list;
    if (r->skipping)
        return;
    add_cell(r, (pr_report_cell_entry){NAN, begin_string(r), emphasis});
    va_start(list, format);
    write_list(&r->text, format, list);
    va_end(list);
}

void pr_report_free(pr_report *r)
{
    pr_writer_free(&r->text);
    pr_writer_free(&r->unseen);
    pr_free(r->blocks);
    pr_free(r->columns);
    pr_free(r->rows);
    pr_free(r->cells);
    *r = (pr_report){0};
}

/* ---- numbers ---- */

char *pr_share_text(double value, int decimals, char *buffer, size_t size)
{
    if (isnan(value)) {
        snprintf(buffer, size, "-");
        return buffer;
    }
    snprintf(buffer, size, "%.*f", decimals, fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value);
    char *zero = buffer + (buffer[0] == '-');
    if (zero[0] == '0' && zero[1] == '.')
        memmove(zero, zero + 1, strlen(zero));
    return buffer;
}

const char *pr_report_cell_text(const pr_report *r, const pr_report_block *table, size_t column,
                                const pr_report_cell_entry *cell, char buffer[PR_CELL_BYTES])
{
    const pr_report_column_entry *c = &r->columns[table->first_column + column];
    if (cell->text != PR_NO_TEXT)
        return pr_report_string(r, cell->text);
    if (isnan(cell->number))
        return "-";
    if (c->kind == PR_REPORT_SHARE)
        pr_share_text(cell->number, c->decimals, buffer, PR_CELL_BYTES);
    else
        snprintf(buffer, PR_CELL_BYTES, c->kind == PR_REPORT_SIGNED ? "%+.*f" : "%.*f", c->decimals,
                 cell->number);
    if (c->unit != PR_NO_TEXT) {
        size_t n = strlen(buffer);
        snprintf(buffer + n, PR_CELL_BYTES - n, "%s", pr_report_string(r, c->unit));
    }
    return buffer;
}

/* ---- writing ---- */

unsigned pr_report_format(parsrec_text_kind kind)
{
    switch (kind) {
    case PARSREC_TEXT_PLAIN:
    case PARSREC_TEXT_TERMINAL:
        return PR_IN_TEXT;
    case PARSREC_TEXT_MARKDOWN:
        return PR_IN_MARKDOWN;
    case PARSREC_TEXT_CSV:
        return PR_IN_CSV;
    case PARSREC_TEXT_HTML:
        return PR_IN_HTML;
    default:
        return 0;
    }
}

parsrec_status pr_report_write(pr_writer *out, const pr_report *r, parsrec_text_kind kind,
                               parsrec_error *err)
{
    assert(kind != PARSREC_TEXT_JSON && kind != PARSREC_TEXT_JSON_MODELS);
    if (r->text.failed || r->unseen.failed)
        return pr_fail_memory(err);
    if (kind == PARSREC_TEXT_MARKDOWN)
        pr_report_write_markdown(out, r);
    else if (kind == PARSREC_TEXT_CSV)
        pr_report_write_csv(out, r);
    else if (kind == PARSREC_TEXT_HTML)
        pr_report_write_html(out, r);
    else
        PR_TRY(pr_report_write_text(out, r, kind == PARSREC_TEXT_TERMINAL, err));
    return out->failed ? pr_fail_memory(err) : PARSREC_OK;
}

parsrec_status pr_report_save(const pr_report *r, const char *path, parsrec_text_kind kind,
                              parsrec_error *err)
{
    pr_writer out = {0};
    parsrec_status status = pr_report_write(&out, r, kind, err);
    if (status == PARSREC_OK)
        return pr_writer_save(&out, path, err);
    pr_writer_free(&out);
    return status;
}
