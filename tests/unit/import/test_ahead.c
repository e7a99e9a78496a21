/* Rows that another thread reads ahead: the same rows in the same order as from the source, errors in their
 * place, rows longer than a block, and an end whenever the caller likes. */
#include "support/testing.h"

#include "base/memory.h"
#include "import/rows.h"

/* A source of `count` rows of two columns: the number, and a text that is long in some rows. */
typedef struct counter {
    pr_rows base;
    uint64_t at, count;
    uint64_t bad_each; /* every so many rows one is not valid; 0: none */
    uint64_t fail_at;  /* this one fails for good; 0: none */
    size_t long_text;  /* of every 5,000th row */
    bool repeats;      /* the text is that of the row above but in every 7th row, and says so */
    char number[24], *text;
    pr_slice fields[2];
    bool *freed;
} counter;

static const pr_slice names[] = {{"number", 6}, {"text", 4}};

static parsrec_status next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    counter *self = (counter *)base;
    *end = self->at == self->count;
    if (*end)
        return PARSREC_OK;
    self->at++;
    if (self->at == self->fail_at)
        return pr_fail(err, PARSREC_E_IO, "the disk is gone");
    if (self->bad_each > 0 && self->at % self->bad_each == 0)
        return pr_rows_fail(base, self->at, 0, err, "bad");
    self->fields[0] =
        (pr_slice){self->number, (size_t)snprintf(self->number, sizeof self->number, "%llu",
                                                  (unsigned long long)self->at)};
    bool same = self->repeats && self->at % 7 != 1;
    size_t size = self->at % 5000 == 0 ? self->long_text : self->at % 7;
    if (!same) {
        memset(self->text, 'a' + (int)(self->at % 26), size);
        self->fields[1] = (pr_slice){self->text, size};
    }
    *row = (pr_row){self->fields, 2, self->at, same ? pr_row_bit(1) : 0};
    return PARSREC_OK;
}

static void position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    *done = ((const counter *)base)->at;
    *total = 0;
}

static void release(pr_rows *base)
{
    counter *self = (counter *)base;
    *self->freed = true;
    free(self->text);
    free(self);
}

static pr_rows *new_counter(counter wanted, bool *freed)
{
    counter *self = malloc(sizeof *self);
    assert_non_null(self);
    *self = wanted;
    self->text = malloc(wanted.long_text + 8);
    assert_non_null(self->text);
    self->freed = freed;
    *freed = false;
    self->base = (pr_rows){.name = "counter",
                           .columns = names,
                           .column_count = 2,
                           .next = next,
                           .position = position,
                           .free = release};
    return &self->base;
}

/* Reads everything and compares it with the same source read directly. */
static void compare(counter wanted)
{
    bool freed[2];
    parsrec_error err, other_err;
    pr_rows *direct = new_counter(wanted, &freed[0]), *rows;
    assert_ok(pr_rows_ahead(&rows, new_counter(wanted, &freed[1]), &err));
    uint64_t given = 0, repeated = 0;
    for (bool end = false, other_end = false; !end;) {
        pr_row row, other;
        parsrec_status status = rows->next(rows, &row, &end, &err);
        assert_int_equal(status, direct->next(direct, &other, &other_end, &other_err));
        assert_int_equal(end, other_end);
        if (status != PARSREC_OK)
            assert_string_equal(err.message, other_err.message);
        if (status != PARSREC_OK && status != PARSREC_E_INPUT)
            break;
        if (status != PARSREC_OK || end)
            continue;
        given++;
        assert_int_equal(row.line, other.line);
        assert_int_equal(row.count, 2);
        assert_int_equal(row.same & ~other.same, 0);
        repeated += row.same != 0;
        for (size_t i = 0; i < 2; i++)
            assert_true(pr_slice_equal(row.fields[i], other.fields[i]));
    }
    uint64_t done, total;
    rows->position(rows, &done, &total);
    assert_int_equal(done, given);
    assert_true(repeated > 0 || !wanted.repeats); /* where a block begins nothing is known */
    pr_rows_free(rows);
    pr_rows_free(direct);
    assert_true(freed[0] && freed[1]);
}

static void rows_are_those_of_the_source(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 4095, 4096, 4097, 50000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        compare((counter){.count = counts[i]});
    compare((counter){.count = 60000, .long_text = 60000});   /* a block takes one such text */
    compare((counter){.count = 20000, .long_text = 1 << 20}); /* longer than a block */
    compare((counter){.count = 20000, .repeats = true});
    compare((counter){.count = 20000, .repeats = true, .long_text = 300000, .bad_each = 4999});
}

static void errors_stay_in_their_place(void **state)
{
    (void)state;
    compare((counter){.count = 30000, .bad_each = 1});
    compare((counter){.count = 30000, .bad_each = 1000});
    compare((counter){.count = 30000, .bad_each = 2, .long_text = 300000});
    compare((counter){.count = 30000, .fail_at = 1});
    compare((counter){.count = 30000, .fail_at = 20000});
    compare((counter){.count = 30000, .fail_at = 30000, .bad_each = 4096});
}

static void the_caller_may_stop(void **state)
{
    (void)state;
    static const uint64_t stops[] = {0, 1, 10, 5000};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        bool freed;
        parsrec_error err;
        pr_rows *rows;
        assert_ok(pr_rows_ahead(&rows, new_counter((counter){.count = 1000000}, &freed), &err));
        for (uint64_t n = 0; n < stops[i]; n++) {
            pr_row row;
            bool end;
            assert_ok(rows->next(rows, &row, &end, &err));
        }
        pr_rows_free(rows);
        assert_true(freed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_source),
        cmocka_unit_test(errors_stay_in_their_place),
        cmocka_unit_test(the_caller_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
