/* Any bytes as CSV: read whole and in pieces of a size that the input chooses; both must give the
 * same rows and the same sentences. */
#include <stdint.h>
#include <stdlib.h>

#include "base/xxh3.h"
#include "data/file_kind.h"
#include "import/rows.h"
#include "support/text_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One number for all rows, line numbers and sentences of a text. */
static uint64_t digest(const char *text, size_t size, size_t piece, size_t buffer)
{
    pr_rows *rows;
    parsrec_error err = {0};
    uint64_t sum = 0;
    pr_csv_options options = {.delimiter = ',', .buffer = buffer};
    pr_bytes *source = text_source(text, size, piece);
    if (source == NULL)
        abort();
    if (pr_csv_open(&rows, source, &options, &err) != PARSREC_OK)
        return XXH3_64bits(err.message, strlen(err.message));
    for (;;) {
        pr_row row;
        bool end;
        parsrec_status status = rows->next(rows, &row, &end, &err);
        if (status == PARSREC_OK && end)
            break;
        if (status != PARSREC_OK && status != PARSREC_E_INPUT)
            abort();
        if (status != PARSREC_OK) {
            sum = XXH3_64bits_withSeed(err.message, strlen(err.message), sum);
            continue;
        }
        if (row.count != rows->column_count)
            abort();
        for (size_t i = 0; i < row.count; i++)
            sum = XXH3_64bits_withSeed(row.fields[i].bytes, row.fields[i].size, sum + row.line);
    }
    pr_rows_free(rows);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t piece = 1 + data[0] % 16, buffer = 4 + data[1];
    const char *text = (const char *)data + 2;
    size -= 2;
    uint64_t whole = digest(text, size, size + 2, 0), parts = digest(text, size, piece, buffer);
    /* What kind of file it is, is guessed from the first buffer; that of the program is large enough for it. */
    bool alike =
        pr_file_kind_of(text, size) == pr_file_kind_of(text, size < buffer ? size : buffer);
    if (alike && whole != parts)
        abort();
    return 0;
}
