/* Text that grows as it is written; whether memory ran out is asked once, at the end. */
#ifndef PR_WRITER_H
#define PR_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Begins zeroed. */
typedef struct pr_writer {
    char *text; /* terminated once anything was written */
    size_t size, capacity;
    bool failed;
} pr_writer;

void pr_write(pr_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pr_write_bytes(pr_writer *writer, const char *bytes, size_t size);
/* For text and attributes of HTML and SVG: & < > " ' become entities, controls U+FFFD, and text
 * from right to left is isolated. */
void pr_write_escaped(pr_writer *writer, const char *text);
/* A field of a CSV file, in quotes where it needs them. Spreadsheets read what begins with = + - @,
 * a tab or a carriage return as a formula; an apostrophe before it makes it text. For names, not
 * for numbers. */
void pr_write_csv(pr_writer *writer, const char *text);
void pr_write_csv_bytes(pr_writer *writer, const char *bytes, size_t size);
/* A JSON string of UTF-8, with its quotes. */
void pr_write_quoted(pr_writer *writer, const char *bytes, size_t size);

/* A JSON number with at most seven digits behind the point, many times quicker than printf; null
 * where it is not finite. */
void pr_write_decimal(pr_writer *writer, double value);
void pr_write_count(pr_writer *writer, uint64_t value);
/* For readers: 12345 as "12,345". */
void pr_write_grouped(pr_writer *writer, uint64_t value);
/* A JSON number that reads back as the very float; null where it is not finite. */
void pr_write_float(pr_writer *writer, float value);

/* The words of another text in lines of at most `width` characters; that text is freed. */
void pr_write_wrapped(pr_writer *writer, pr_writer *words, int width);

/* Hands the text over, to be freed with pr_free; NULL when memory ran out on the way. */
char *pr_writer_take(pr_writer *writer);
/* Writes it to a file, atomically, and frees it, also when it fails. */
parsrec_status pr_writer_save(pr_writer *writer, const char *path, parsrec_error *err);
void pr_writer_free(pr_writer *writer); /* a zeroed one is fine */

/* ---- one file that many tasks write in the order of their numbers, on any thread, without buffering
 * more than the piece that each task has ready ---- */

typedef struct pr_ordered_file pr_ordered_file;

/* Appears under its name complete or not at all (base/files.h). */
parsrec_status pr_ordered_open(pr_ordered_file **out, const char *path, parsrec_error *err);

/* Writes the text of a task, which may come in pieces, and empties it. Waits until every task with
 * a lower number has handed in its `last` piece, so tasks 0, 1, 2, ... must begin in that order, as
 * those of a pool do. A failure is kept, and later text is left out. */
void pr_ordered_write(pr_ordered_file *file, size_t task, pr_writer *text, bool last);

/* The failure that was kept. Not while tasks run. */
parsrec_status pr_ordered_check(const pr_ordered_file *file, parsrec_error *err);

/* Both free the file; a kept failure leaves nothing under its name. */
parsrec_status pr_ordered_commit(pr_ordered_file *file, parsrec_error *err);
void pr_ordered_abort(pr_ordered_file *file); /* NULL is fine */

#endif
