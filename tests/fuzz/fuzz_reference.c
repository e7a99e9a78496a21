/* Any bytes as the lines of the reference's text, and on through collecting, ordering, repeats and the
 * filter: the numbers must stay consistent. */
#include <stdint.h>
#include <stdlib.h>

#include "import/assembly.h"
#include "import/collect.h"
#include "import/rows.h"
#include "support/text_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void collect_rows(pr_collect *c, pr_rows *rows)
{
    const pr_action_columns columns = {
        .user = 0, .time = 1, .session = 2, .item = 3, .quantity = PR_NO_COLUMN};
    for (;;) {
        parsrec_error err;
        pr_row row;
        bool end;
        parsrec_status status = rows->next(rows, &row, &end, &err);
        if (status == PARSREC_OK && end)
            return;
        if (status == PARSREC_OK)
            status = pr_collect_row(c, rows, &columns, &row, &err);
        if (status != PARSREC_OK && status != PARSREC_E_INPUT)
            abort();
    }
}

/* Every action of every session is there and in range, and sessions are in order of time. */
static void check_assembly(const pr_assembly *a)
{
    if (a->user_offsets[a->users] != (int64_t)a->sessions ||
        a->session_offsets[a->sessions] != (int64_t)a->actions)
        abort();
    for (size_t u = 0; u < a->users; u++)
        for (int64_t s = a->user_offsets[u] + 1; s < a->user_offsets[u + 1]; s++)
            if (a->times[s] < a->times[s - 1] || a->session_offsets[s] <= a->session_offsets[s - 1])
                abort();
    for (size_t i = 0; i < a->actions; i++)
        if (a->action_items[i] < 0 || (size_t)a->action_items[i] >= a->items)
            abort();
}

static void assemble(pr_collect *c, unsigned least)
{
    pr_assembly a = {0};
    parsrec_import_report report = {0};
    parsrec_error err;
    uint64_t dropped;
    if (c->actions > 0) {
        pr_collect_seal(c);
        if (pr_assembly_make(&a, &c->gathered, c->users.count, c->items.count, &err) != PARSREC_OK)
            abort();
        check_assembly(&a);
        if (pr_assembly_unique(&a, &dropped, &err) != PARSREC_OK ||
            pr_assembly_filter(&a, least, &report, &err) != PARSREC_OK)
            abort();
        check_assembly(&a);
    }
    pr_assembly_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char header[] = "user_id,time,session_length,session_items\n";
    if (size < 1)
        return 0;
    size_t all = sizeof header - 1 + size - 1;
    char *text = malloc(all);
    if (text == NULL)
        return 0;
    memcpy(text, header, sizeof header - 1);
    memcpy(text + sizeof header - 1, data + 1, size - 1);
    pr_rows *csv, *rows;
    parsrec_error err;
    pr_csv_options options = {.delimiter = ',', .buffer = 64};
    pr_collect c = {.sort = data[0] % 2 == 0, .keyed = data[0] / 2 % 2 == 0};
    if (pr_csv_open(&csv, text_source(text, all, 7), &options, &err) != PARSREC_OK ||
        !pr_reference_header(csv) || pr_reference_open(&rows, csv, &err) != PARSREC_OK)
        abort();
    collect_rows(&c, rows);
    assemble(&c, data[0] / 4 % 4);
    pr_collect_free(&c);
    pr_rows_free(rows);
    free(text);
    return 0;
}
